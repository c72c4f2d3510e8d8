/* scores.c - a learner's predictions and progress, read from the results file; and `lesson export`.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "lesson/classroom/scores.h"

#include <sqlite3.h>
#include <string.h>

#include "lesson/action.h"
#include "lesson/lesson.h"
#include "lesson/take/progress.h"

/* Database text need not be UTF-8, and JSON must be. */
static json_t *column_text(sqlite3_stmt *q, int i)
{
    const char *text = (const char *)sqlite3_column_text(q, i);
    return text && str_is_utf8(text) ? json_string(text) : json_null();
}

static json_t *column_value(sqlite3_stmt *q, int i)
{
    switch (sqlite3_column_type(q, i)) {
    case SQLITE_INTEGER:
        return json_integer(sqlite3_column_int64(q, i));
    case SQLITE_FLOAT:
        return json_real(sqlite3_column_double(q, i));
    case SQLITE_TEXT:
        return column_text(q, i);
    default:
        return json_null();
    }
}

static json_t *rows_of(struct sqlite3 *db, const char *sql, const char *lesson, struct err *err)
{
    sqlite3_stmt *q = NULL;
    json_t *rows = json_array();
    int rc = db ? sqlite3_prepare_v2(db, sql, -1, &q, NULL) : SQLITE_OK;
    if (q && rc == SQLITE_OK)
        sqlite3_bind_text(q, 1, lesson, -1, SQLITE_STATIC); /* NULL binds NULL */
    while (q && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        json_t *row = json_object();
        for (int i = 0; i < sqlite3_column_count(q); i++)
            json_object_set_new(row, sqlite3_column_name(q, i), column_value(q, i));
        json_array_append_new(rows, row);
    }
    sqlite3_finalize(q);
    if (rc == SQLITE_OK || rc == SQLITE_DONE)
        return rows;
    err_set(err, ST_FAIL, "predictions cannot be read: %s", sqlite3_errmsg(db));
    json_decref(rows);
    return NULL;
}

json_t *scores_predictions(struct sqlite3 *db, const char *lesson, struct err *err)
{
    json_t *rows = rows_of(db,
                           "SELECT time, lesson, step, name, guess, outcome, is_right AS \"right\","
                           " device, version FROM lesson_prediction"
                           " WHERE ?1 IS NULL OR lesson = ?1 ORDER BY rowid",
                           lesson, err);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        const json_t *right = json_object_get(row, "right");
        json_object_set_new(row, "right", json_boolean(json_integer_value(right) != 0));
    }
    return rows;
}

json_t *scores_steps(struct sqlite3 *db, struct err *err)
{
    return rows_of(db,
                   "SELECT time, lesson, step, state FROM lesson_progress"
                   " WHERE ?1 IS NULL OR lesson = ?1 ORDER BY time, rowid",
                   NULL, err);
}

/* ---- lesson export ---- */

// clang-format off
static const struct columns columns[1] = {{
    .list = (const struct column[]){
        {.field = "time",    .title = "time",       .left = true, .drop = 4},
        {.field = "lesson",  .title = "lesson",     .left = true},
        {.field = "step",    .title = "step",       .left = true, .drop = 2},
        {.field = "name",    .title = "prediction", .left = true},
        {.field = "guess",   .title = "guess"},
        {.field = "outcome", .title = "outcome"},
        {.field = "right",   .title = "right",      .left = true},
        {.field = "device",  .title = "device",     .left = true, .drop = 1},
        {.field = "version", .title = "version",    .left = true, .drop = 3},
        {0},
    },
}};
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
    json_t *rows = scores_predictions(progress_db(s), l ? lesson_name(l) : NULL, err);
    if (!rows)
        return ST_FAIL;
    st = action_csv(s, c, rows, columns);
    json_decref(rows);
    return st;
}

const struct lesson_action action_export = {
    .name = "export",
    .usage = "[LESSON]",
    .summary = "predictions made so far, as CSV",
    .exec = exec_export,
};
