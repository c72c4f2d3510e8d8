/* author_new.c - lesson new: a lesson to begin with. It parses, and its gates do not hold until its
 * author has written what they ask.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "lesson/action.h"
#include "lesson/lesson.h"

/* The gates name `$small.todo`, a field that no row has: an unknown value holds no gate. */
static const char skeleton[] =
    "# TODO: what one learns here, in a line\n"
    "\n"
    "What the lesson is about, for whoever reads this file. Learners do not see this paragraph.\n"
    "How long it takes is read here: 15 minutes.\n"
    "\n"
    "## TODO: one idea\n"
    "\n"
    "Explain one idea, on less than a screen. Set a word of the trade in italics where it first\n"
    "comes, such as *tile*; it must be in the glossary. For stress there is **bold**.\n"
    "\n"
    "```attnscope\n"
    "# A number to guess, the rows that it follows from, and how near is right. `small = plan "
    "...`\n"
    "# calls the row of a command $small.\n"
    "predict ratio = $large.compulsory_bytes / $small.compulsory_bytes within 20% :\n"
    "  TODO: ask for a number, in which unit?\n"
    "small = plan naive S=1k gpu=L4 only=traffic\n"
    "large = plan naive S=2k gpu=L4 only=traffic\n"
    "reveal ratio : TODO: explain the gap with {$small.compulsory_bytes:bytes} and\n"
    "  {$large.compulsory_bytes:bytes}.\n"
    "# A relation between results, never a bare number. Put what you mean in the place of "
    "$small.todo.\n"
    "expect $large.compulsory_bytes > $small.todo * $small.compulsory_bytes :\n"
    "  TODO: what is wrong if it does not hold | TODO: what is right if it does\n"
    "hint TODO: the concept\n"
    "hint TODO: the place to look\n"
    "hint TODO: nearly the answer\n"
    "# For who teaches it: what is right, what is said instead and why that tempts, minutes.\n"
    "answer TODO\n"
    "wrong TODO\n"
    "minutes 8\n"
    "```\n"
    "\n"
    "## TODO: break it\n"
    "\n"
    "Say what is wrong with a kernel, or a shape, and let them find what shows it.\n"
    "\n"
    "```attnscope\n"
    "choice limit : TODO: which one?\n"
    "option smem when $tile.limit_smem <= $tile.limit_regs : shared memory\n"
    "option regs when $tile.limit_smem > $tile.limit_regs : registers\n"
    "tile = plan fused_dyn_smem D=64 gpu=L4 only=shared,limits\n"
    "reveal limit\n"
    "expect $tile.blocks_per_sm >= $tile.todo : TODO | TODO\n"
    "hint TODO\n"
    "answer TODO\n"
    "wrong TODO\n"
    "minutes 7\n"
    "```\n";

static bool is_lesson_name(const char *name)
{
    const size_t len = strlen(name);
    return len > 0 && len <= 40 && islower((unsigned char)*name) &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == len;
}

/* An action would hide a lesson of its name. */
static bool is_action(const char *name)
{
    topic_fn *words = command_words_at(ARG_LESSON);
    struct topic t;
    for (size_t i = 0; words && words(i, &t); i++)
        if (strcmp(t.kind, "action") == 0 && strcmp(t.name, name) == 0)
            return true;
    return false;
}

static enum status check_name(const char *name, struct err *err)
{
    const struct lesson *l;
    if (!is_lesson_name(name))
        return err_set(err, ST_USAGE,
                       "a lesson is named with small letters, digits and -, such as my-kernel");
    if (is_action(name))
        return err_set(err, ST_USAGE, "\"%s\" is what lesson does already; take another name",
                       name);
    if (lesson_find(name, &l, NULL) == ST_OK && strcmp(lesson_name(l), name) == 0)
        return err_set(err, ST_USAGE, "there is a lesson \"%s\" already", name);
    return ST_OK;
}

static enum status exec_new(struct session *s, struct cmd_call *c, struct err *err)
{
    enum status st = ST_OK;
    if (c->nwords != 2)
        st = err_set(err, ST_USAGE, "lesson new needs a name, for example: lesson new my-kernel");
    if (!st)
        st = check_name(c->words[1].text, err);
    if (!st)
        st = call_finish(s, c, err);
    if (st)
        return st;
    char *file = xasprintf("lessons/90-%s.md", c->words[1].text);
    char *path;
    st = path_for(PATH_DATA, file, "your lessons", &path, err);
    if (!st && access(path, F_OK) == 0)
        st = err_set(err, ST_USAGE, "\"%s\" exists already", path);
    if (!st && session_may(s, MAY_WRITE))
        st = path_make_parent(path, err);
    if (!st)
        st = session_write(s, path, skeleton, sizeof skeleton - 1, false, err);
    if (!st)
        str_addf(c->out,
                 "%s\nEdit it, then: attnscope lesson check %s\nForm and directives: man 5 "
                 "attnscope-lesson, lessons/README.md\n",
                 path, c->words[1].text);
    free(path);
    free(file);
    return st;
}

const struct lesson_action action_new = {
    .name = "new",
    .usage = "NAME",
    .summary = "a lesson to begin with, among your own",
    .exec = exec_new,
};
