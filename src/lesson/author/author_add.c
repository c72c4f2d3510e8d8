/* author_add.c - lesson add: a lesson that lies somewhere else is found by its name from then on; and lesson
 * list. Its path is on record, not its text: what is changed there is taken as it is then.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "lesson/action.h"
#include "lesson/lesson.h"

/* The full path, without links; a line has room for it. */
static enum status full_path(const char *file, char **out, struct err *err)
{
    *out = realpath(file, NULL);
    if (!*out)
        return err_set(err, ST_USAGE, "cannot open %s: %s", file, strerror(errno));
    return strchr(*out, '\n')
               ? err_set(err, ST_USAGE, "the name of this file has a line break; call it otherwise")
               : ST_OK;
}

static enum status put_on_record(const struct session *s, const char *path, struct err *err)
{
    char *list;
    struct str line = {0};
    enum status st = path_for(PATH_DATA, LESSONS_ADDED, "your lessons", &list, err);
    str_addf(&line, "%s\n", path);
    if (!st)
        st = path_make_parent(list, err);
    if (!st)
        st = session_write(s, list, str_text(&line), line.len, true, err);
    str_free(&line);
    free(list);
    return st;
}

static enum status exec_add(struct session *s, struct cmd_call *c, struct err *err)
{
    const struct lesson *l = NULL;
    char *path = NULL;
    enum status st = ST_OK;
    if (c->nwords != 2)
        st = err_set(err, ST_USAGE, "lesson add needs a file, for example: lesson add banks-2.md");
    if (!st)
        st = call_finish(s, c, err);
    if (!st && !session_may(s, MAY_WRITE))
        st = err_set(err, ST_USAGE, "adding lessons is off in this restricted session");
    if (!st)
        st = full_path(c->words[1].text, &path, err);
    if (!st)
        st = lesson_take_in(path, &l, err);
    if (!st)
        st = put_on_record(s, path, err);
    if (!st)
        str_addf(
            c->out,
            "%s: \"%s\", %d steps, is among your lessons now\nTake it: attnscope lesson %s\nIs it "
            "fit to be taught: attnscope lesson check %s\n",
            lesson_name(l), lesson_title(l), lesson_steps(l), lesson_name(l), lesson_name(l));
    free(path);
    return st;
}

const struct lesson_action action_add = {
    .name = "add",
    .usage = "FILE",
    .summary = "a lesson of yours, found by its name from then on",
    .exec = exec_add,
};
