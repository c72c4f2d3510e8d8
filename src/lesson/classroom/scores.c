/* scores.c - a learner's predictions and progress, read from the results file; and `lesson export`.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "lesson/classroom/scores.h"

#include <sqlite3.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "lesson/action.h"
#include "lesson/lesson.h"
#include "lesson/take/progress.h"

// clang-format off
static const struct field prediction_fields[] = {
    FIELD(FIELD_TEXT, prediction_row, time, .doc = "When the step was done, UTC."),
    FIELD(FIELD_TEXT, prediction_row, lesson, .doc = "The lesson."),
    FIELD(FIELD_TEXT, prediction_row, step, .doc = "The heading of the step."),
    FIELD(FIELD_TEXT, prediction_row, name, .title = "prediction", .doc = "The name of the question."),
    FIELD(FIELD_REAL, prediction_row, guess, .doc = "What was guessed; of a choice the number of the option."),
    FIELD(FIELD_REAL, prediction_row, outcome, .doc = "What came out."),
    FIELD(FIELD_BOOL, prediction_row, right, .doc = "Was it right?"),
    FIELD(FIELD_TEXT, prediction_row, device, .doc = "On what it came out so."),
    FIELD(FIELD_TEXT, prediction_row, version, .doc = "Of which attnscope."),
    {.name = NULL},
};
static const struct field progress_fields[] = {
    FIELD(FIELD_TEXT, progress_row, time, .doc = "When, UTC."),
    FIELD(FIELD_TEXT, progress_row, lesson, .doc = "The lesson."),
    FIELD(FIELD_TEXT, progress_row, step, .doc = "The heading of the step."),
    FIELD(FIELD_TEXT, progress_row, state, .doc = "done or skipped."),
    {.name = NULL},
};
const struct row_type prediction_type = ROW_TYPE(prediction_row, {prediction_fields, 0});
const struct row_type progress_type = ROW_TYPE(progress_row, {progress_fields, 0});
// clang-format on

/* Database text need not be UTF-8, which no output can show. */
static char *column_text(sqlite3_stmt *q, int i)
{
    const char *text = (const char *)sqlite3_column_text(q, i);
    return text && str_is_utf8(text) ? xstrdup(text) : NULL;
}

/* What is no number is unknown. */
static double column_real(sqlite3_stmt *q, int i)
{
    const int type = sqlite3_column_type(q, i);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT ? sqlite3_column_double(q, i)
                                                          : REAL_UNKNOWN;
}

typedef void read_fn(sqlite3_stmt *q, void *row);

static void read_prediction(sqlite3_stmt *q, void *row)
{
    struct prediction_row *p = row;
    p->time = column_text(q, 0);
    p->lesson = column_text(q, 1);
    p->step = column_text(q, 2);
    p->name = column_text(q, 3);
    p->guess = column_real(q, 4);
    p->outcome = column_real(q, 5);
    p->right = sqlite3_column_int64(q, 6) != 0;
    p->device = column_text(q, 7);
    p->version = column_text(q, 8);
}

static void read_progress(sqlite3_stmt *q, void *row)
{
    struct progress_row *p = row;
    p->time = column_text(q, 0);
    p->lesson = column_text(q, 1);
    p->step = column_text(q, 2);
    p->state = column_text(q, 3);
}

static enum status read_rows(struct sqlite3 *db, const char *sql, const char *lesson, read_fn *read,
                             struct rowset *rows, struct err *err)
{
    sqlite3_stmt *q = NULL;
    int rc = db ? sqlite3_prepare_v2(db, sql, -1, &q, NULL) : SQLITE_OK;
    if (q && rc == SQLITE_OK)
        sqlite3_bind_text(q, 1, lesson, -1, SQLITE_STATIC); /* NULL binds NULL */
    while (q && (rc = sqlite3_step(q)) == SQLITE_ROW)
        read(q, rowset_add(rows));
    sqlite3_finalize(q);
    if (rc == SQLITE_OK || rc == SQLITE_DONE)
        return ST_OK;
    return err_set(err, ST_FAIL, "predictions cannot be read: %s", sqlite3_errmsg(db));
}

enum status scores_predictions(struct sqlite3 *db, const char *lesson, struct rowset *rows,
                               struct err *err)
{
    return read_rows(db,
                     "SELECT time, lesson, step, name, guess, outcome, is_right, device, version"
                     " FROM lesson_prediction WHERE ?1 IS NULL OR lesson = ?1 ORDER BY rowid",
                     lesson, read_prediction, rows, err);
}

enum status scores_steps(struct sqlite3 *db, struct rowset *rows, struct err *err)
{
    return read_rows(db,
                     "SELECT time, lesson, step, state FROM lesson_progress"
                     " WHERE ?1 IS NULL OR lesson = ?1 ORDER BY time, rowid",
                     NULL, read_progress, rows, err);
}

/* ---- lesson export ---- */

// clang-format off
static const struct columns columns = {
    .type = &prediction_type,
    .list = (const struct column[]){
        {.field = "time", .drop = 4},
        {.field = "lesson"},
        {.field = "step", .drop = 2},
        {.field = "name"},
        {.field = "guess"},
        {.field = "outcome"},
        {.field = "right"},
        {.field = "device", .drop = 1},
        {.field = "version", .drop = 3},
        {0},
    },
};
// clang-format on

static enum status exec_export(struct session *s, struct cmd_call *c, struct err *err)
{
    const struct lesson *l = NULL;
    enum status st = ST_OK;
    if (c->nwords > 2)
        st = err_set(err, ST_USAGE, "lesson export takes one lesson, or none for all");
    else if (c->nwords == 2)
        st = lesson_find(c->words[1].text, &l, err);
    action_formats(c);
    if (!st)
        st = call_finish(s, c, err);
    if (st)
        return st;
    struct rowset rows = {.type = &prediction_type};
    st = scores_predictions(progress_db(s), l ? lesson_name(l) : NULL, &rows, err);
    if (!st)
        st = action_csv(s, c, &rows, &columns);
    rowset_clear(&rows);
    return st;
}

const struct lesson_action action_export = {
    .name = "export",
    .usage = "[LESSON]",
    .summary = "predictions made so far, as CSV",
    .columns = &columns,
    .exec = exec_export,
};
