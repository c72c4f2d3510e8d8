/* prepare.c - lesson prepare: runs beforehand what a demonstration will run, so that kernels are
 * compiled and figures recorded when the room is full.
 *
 * What is measured goes into the recording "prepared" among the user's own. Lessons show its rows
 * where nothing can be measured any more: a GPU that is taken away, a network that fails.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/path.h"
#include "lesson/action.h"
#include "lesson/text/parsed.h"
#include "lesson/classroom/route.h"
#include "lesson/author/walk.h"
#include "lesson/take/recorded.h"

struct prepare_row {
    char *lesson;
    int64_t step;
    char *command;
    int ready;
    double seconds;
    char *reason;
};
static const struct field prepare_fields[] = {
    FIELD(FIELD_TEXT, prepare_row, lesson, .doc = "Whose command it is."),
    FIELD(FIELD_INT, prepare_row, step, .doc = "The step that shows it."),
    FIELD(FIELD_TEXT, prepare_row, command, .doc = "What was run."),
    FIELD(FIELD_BOOL, prepare_row, ready, .doc = "The step can show what came of it."),
    FIELD(FIELD_REAL, prepare_row, seconds, .title = "s", .unit = "s", .digits = 2,
          .doc = "How long it took."),
    FIELD(FIELD_TEXT, prepare_row, reason, .doc = "Why it is not ready, or what is shown instead."),
    {.name = NULL},
};
static const struct row_type prepare_type = ROW_TYPE(prepare_row, {prepare_fields, 0});

struct prepare {
    struct session *session;
    bool list;          /* only say what would be run */
    struct rowset rows; /* one a command */
    struct texts seen;  /* commands that were run already */
    int failed;
    enum status status; /* ST_CANCELLED ends it */
};

/* What the newest rows have to say against being shown; NULL: nothing. Borrowed. */
static const char *complaint(const struct rowset *rows)
{
    for (size_t i = 0; i < rows->n; i++) {
        const struct row *row = rows->rows[i];
        const char *reason = row_text(row, "reason");
        if (row_is(row, "check", "fail"))
            return "a check failed";
        if (reason && row_text(row, "backend") && !row_text(row, "check"))
            return reason; /* a plan that is refused may be what a step is about */
    }
    return NULL;
}

static void prepare_command(struct prepare *p, const struct lesson *l, int step, const char *line,
                            bool shown)
{
    struct err err = ERR_INIT;
    struct rows got = {0};
    struct str out = {0};
    const double start = seconds_now();
    const enum status st = p->list || shown
                               ? ST_OK
                               : session_apart(p->session, SESSION_LESSON, line, &got, &out, &err);
    const char *why = st && *err.text ? err.text : complaint(&got.results);
    const bool ok = !st && !why;
    char *instead = xasprintf("no GPU here: %s, step %d, shows a recording of the program's",
                              l->name, step + 1);
    why = shown ? instead : why;
    struct prepare_row *row = rowset_add(&p->rows);
    row->lesson = xstrdup(l->name);
    row->step = step + 1;
    row->command = xstrdup(line);
    row->ready = p->list ? -1 : ok;
    row->seconds = p->list ? REAL_UNKNOWN : round((seconds_now() - start) * 1e3) / 1e3;
    row->reason = why ? xstrdup(why) : NULL;
    free(instead);
    p->failed += !ok && !p->list;
    p->status = st;
    rows_clear(&got);
    str_free(&out);
}

/* What learners here will run: of figures that a recording has, the measurement if there is a GPU. */
static char *line_of(const struct session *s, const struct item *it)
{
    return it->recording && backend_gpu_is_here() ? measured_command(s, it) : xstrdup(it->text);
}

static bool is_shown(const struct item *it)
{
    return it->recording && !backend_gpu_is_here();
}

static void prepare_item(struct prepare *p, const struct lesson *l, int step, const struct item *it)
{
    char *line = line_of(p->session, it);
    if (p->status != ST_CANCELLED && texts_add(&p->seen, line))
        prepare_command(p, l, step, line, is_shown(it));
    free(line);
}

static void prepare_steps(struct prepare *p, const struct lesson *l, int first, int last)
{
    for (int step = first; step <= last; step++)
        for (size_t i = 0; i < l->steps[step].nitems; i++)
            if (l->steps[step].items[i].kind == ITEM_RUN)
                prepare_item(p, l, step, &l->steps[step].items[i]);
}

static enum status prepare_route(struct prepare *p, struct err *err)
{
    struct route r;
    enum status st = route_read(&r, err);
    for (size_t i = 0; !st && i < r.nparts; i++)
        if (r.parts[i].lesson)
            prepare_steps(p, r.parts[i].lesson, r.parts[i].first - 1, r.parts[i].last - 1);
    if (!st)
        route_clear(&r);
    return st;
}

/* Lessons that are named, else the parts of the route. */
static enum status prepare_all(struct prepare *p, const struct cmd_call *c, struct err *err)
{
    if (c->nwords == 1)
        return prepare_route(p, err);
    const struct lesson *l;
    for (int i = 1; i < c->nwords; i++)
        if (strcmp(c->words[i].text, "all") != 0) {
            enum status st = lesson_find(c->words[i].text, &l, err);
            if (st)
                return st;
            prepare_steps(p, l, 0, lesson_steps(l) - 1);
        } else {
            for (int k = 0; (l = lesson_at(k)); k++)
                prepare_steps(p, l, 0, lesson_steps(l) - 1);
        }
    return ST_OK;
}

/* Names are looked up before anything runs. */
static enum status check_names(const struct cmd_call *c, struct err *err)
{
    const struct lesson *l;
    enum status st = ST_OK;
    for (int i = 1; i < c->nwords && !st; i++)
        if (strcmp(c->words[i].text, "all") != 0)
            st = lesson_find(c->words[i].text, &l, err);
    return st;
}

static enum status open_recording(struct session *s, char **path, struct err *err)
{
    if (s->rows.recorder)
        return err_set(err, ST_USAGE, "something is being recorded; record off ends it");
    enum status st =
        path_for(PATH_DATA, "recordings/" LIBRARY_PREPARED ".rec", "the recording", path, err);
    if (!st)
        st = path_make_parent(*path, err);
    return st ? st : recorder_open(*path, RECORDER_REPLACE, 200, &s->rows.recorder, err);
}

// clang-format off
static const struct columns columns = {
    .type = &prepare_type,
    .list = (const struct column[]){
        {.field = "lesson"},
        {.field = "step"},
        {.field = "ready", .optional = true},
        {.field = "seconds", .optional = true},
        {.field = "command", .wrap = true},
        {.field = "reason", .optional = true},
        {0},
    },
};
// clang-format on

static enum status run_all(struct prepare *p, struct cmd_call *c, struct err *err)
{
    char *path = NULL;
    struct err closing = ERR_INIT;
    enum status st = p->list ? ST_OK : open_recording(p->session, &path, err);
    if (!st)
        st = prepare_all(p, c, err);
    if (p->session->rows.recorder && path) {
        const enum status closed = session_record_off(p->session, &closing);
        if (!st && closed)
            st = err_set(err, closed, "%s", closing.text);
    }
    free(path);
    return st;
}

static enum status exec_prepare(struct session *s, struct cmd_call *c, struct err *err)
{
    struct prepare p = {.session = s, .list = call_option(c, "list") != NULL};
    action_formats(c);
    enum status st = call_finish(s, c, err);
    if (!st && !session_may(s, MAY_WRITE))
        st = err_set(err, ST_USAGE, "recording is off in this restricted session");
    if (!st)
        st = check_names(c, err);
    if (st)
        return st;
    p.rows.type = &prepare_type;
    st = run_all(&p, c, err);
    if (!st)
        st = call_rows(s, c, &p.rows, &columns);
    if (!st && p.status == ST_CANCELLED)
        st = err_set(err, ST_CANCELLED, "stopped; what is recorded so far stays");
    else if (!st && p.failed)
        st = err_set(err, ST_NO, "%d of %zu commands are not ready", p.failed, p.rows.n);
    rowset_clear(&p.rows);
    texts_clear(&p.seen);
    return st;
}

const struct lesson_action action_prepare = {
    .name = "prepare",
    .usage = "[LESSON...|all] [--list]",
    .summary = "for the teacher: compile and record beforehand what a demo will run",
    .columns = &columns,
    .exec = exec_prepare,
};
