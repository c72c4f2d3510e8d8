/* notes.c - for who presents a lesson: notes, questions, commands and hints of a step, on demand or
 * on a second terminal that follows the lesson.
 *
 * The lesson tells where it is through the store of its progress.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "lesson/action.h"
#include "lesson/text/parsed.h"
#include "lesson/text/wrap.h"
#include "lesson/take/progress.h"
#include "lesson/verbs.h"

static const double look_seconds = 0.2;

static void add(struct str *out, const char *mark, const char *text, int width)
{
    char *line = xasprintf("%s %s", mark, text);
    text_wrap(out, line, 2, width > 0 ? width : 1 << 20);
    free(line);
}

static void add_item(struct str *out, const struct item *it, int width)
{
    if (it->kind == ITEM_RUN)
        add(out, "$", it->text, width);
    if (it->kind == ITEM_FIGURE)
        add(out, "=", it->text, width);
    if (item_asks(it))
        add(out, "?", it->text, width);
    for (size_t k = 0; k < it->noptions; k++) {
        char *line = xasprintf("%s: %s", it->options[k].word, it->options[k].text);
        add(out, "   ", line, width);
        free(line);
    }
}

void lesson_notes(const struct lesson *l, int step, int width, struct str *out)
{
    const struct lesson_stage *at = &l->steps[step];
    str_addf(out, "%s, step %d of %zu: %s", l->title, step + 1, l->nsteps, at->title);
    if (at->minutes)
        str_addf(out, " (%lld min)", (long long)at->minutes);
    str_addc(out, '\n');
    if (at->answer)
        add(out, "A", at->answer, width);
    if (at->wrong)
        add(out, "W", at->wrong, width);
    for (size_t i = 0; i < at->nnotes; i++)
        add(out, "*", at->notes[i], width);
    if (!at->nnotes && !at->answer && !at->wrong)
        str_add(out, "(no notes)\n");
    for (size_t i = 0; i < at->nitems; i++)
        add_item(out, &at->items[i], width);
    for (size_t i = 0; i < at->nhints; i++)
        add(out, "H", at->hints[i], width);
    if ((size_t)step + 1 < l->nsteps)
        str_addf(out, "next: %s\n", l->steps[step + 1].title);
}

/* ---- following ---- */

static void show(struct session *s, struct str *out)
{
    if (s->front.output)
        s->front.output(s->front.ctx, out);
    else
        fwrite(str_text(out), 1, out->len, stdout);
    fflush(stdout);
    str_clear(out);
}

/* What changed since `seen` is shown; false: nothing. */
static bool look(struct session *s, struct sqlite3 *db, int64_t *seen, int width, struct str *out)
{
    struct progress_place at;
    const struct lesson *l;
    if (!progress_where(db, &at) || at.serial == *seen)
        return false;
    *seen = at.serial;
    if (lesson_find(at.lesson, &l, NULL) != ST_OK || at.step < 0 || at.step >= lesson_steps(l))
        return false; /* of another version */
    str_add(out, "\n");
    lesson_notes(l, at.step, width, out);
    show(s, out);
    return true;
}

static enum status follow(struct session *s, int64_t count, int width, struct str *out,
                          struct err *err)
{
    struct sqlite3 *db = progress_db(s);
    int64_t seen = -1;
    if (s->front.wait)
        return err_set(err, ST_USAGE, "--follow is for a second terminal; here p shows the notes");
    if (!db)
        return err_set(err, ST_FAIL, "the lesson cannot be followed without its record");
    struct progress_place at;
    if (!progress_where(db, &at))
        session_note(s, "waiting for a lesson to begin; Ctrl-C ends this");
    for (int64_t shown = 0; !session_cancelled(s) && (!count || shown < count);) {
        if (look(s, db, &seen, width, out))
            shown++;
        else
            (void)session_sleep(s, look_seconds);
    }
    return ST_OK;
}

/* ---- the verb ---- */

static enum status show_all(struct session *s, const char *name, int64_t step, int width,
                            struct str *out, struct err *err)
{
    struct progress_place at;
    const struct lesson *l;
    if (!name && progress_where(progress_db(s), &at)) {
        name = at.lesson;
        step = step ? step : at.step + 1;
    }
    if (!name)
        return err_set(err, ST_USAGE, "notes takes a lesson; none was begun yet");
    enum status st = lesson_find(name, &l, err);
    if (st != ST_OK)
        return st;
    if (step > lesson_steps(l))
        return err_set(err, ST_USAGE, "%s has %d steps", lesson_name(l), lesson_steps(l));
    for (int i = 0; i < lesson_steps(l); i++)
        if (!step || i + 1 == step) {
            str_add(out, out->len ? "\n" : "");
            lesson_notes(l, i, width, out);
        }
    return ST_OK;
}

/* `notes NAME` or `lesson notes NAME` */
static enum status exec_notes(struct session *s, struct cmd_call *c, struct err *err)
{
    const int first = strcmp(c->entry->name, "lesson") == 0;
    const char *step_text = call_key(c, "step"), *count_text = call_key(c, "count");
    const bool follows = call_option(c, "follow") != NULL;
    int64_t step = 0, count = 0;
    if (c->nwords > first + 1 || (follows && c->nwords > first))
        return err_set(err, ST_USAGE, "notes takes one lesson, or --follow");
    enum status st = step_text ? number_parse_int("step", step_text, 1, 1000, &step, err) : ST_OK;
    if (st == ST_OK && count_text)
        st = number_parse_int("count", count_text, 1, 1000000, &count, err);
    if (st == ST_OK)
        st = call_finish(s, c, err);
    if (st != ST_OK)
        return st;
    const int width = s->front.width > 20 && s->front.width < 100 ? s->front.width : 100;
    if (follows)
        return follow(s, count, width, c->out, err);
    return show_all(s, c->nwords > first ? c->words[first].text : NULL, step, width, c->out, err);
}

const struct lesson_action action_notes = {
    .name = "notes",
    .usage = "[LESSON] [--follow]",
    .summary = "for the teacher: answers, usual wrong ones, minutes of each step",
    .exec = exec_notes,
};

static const struct cmd_key keys[] = {
    {"step", "of this step alone, from 1", NULL},
    {"count", "with --follow: end after so many steps", NULL},
    {"--follow", "go along with the lesson that is taken on another terminal", NULL},
    {NULL, NULL, NULL},
};

const struct cmd_entry cmd_notes = {
    .name = "notes",
    .group = "Learn",
    .usage = "[NAME] [step=N] | --follow",
    .summary = "for the teacher: the answers of a lesson's steps, usual wrong ones, minutes, hints",
    .help =
        "Marks: A the answer, W the usual wrong one and why it tempts, * a note, ? a question,\n"
        "$ a command, = a figure, H a hint. Without a name: the step that was opened last. With "
        "--follow the notes change with the lesson that runs on\n"
        "the projector; Ctrl-C ends it. On the Lessons screen p shows the notes of the step.\n"
        "\n"
        "  notes measure\n"
        "  notes --follow\n",
    .arg = ARG_LESSON,
    .keys = keys,
    .exec = exec_notes,
};
