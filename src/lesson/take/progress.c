/* progress.c - a learner's progress and predictions in SQLite.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "lesson/take/progress.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "lesson/lesson.h"

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS lesson_progress ("
    "  lesson TEXT NOT NULL, step TEXT NOT NULL, state TEXT NOT NULL, time TEXT NOT NULL,"
    "  PRIMARY KEY (lesson, step));"
    "CREATE TABLE IF NOT EXISTS lesson_prediction ("
    "  lesson TEXT NOT NULL, step TEXT NOT NULL, name TEXT NOT NULL, guess REAL, outcome REAL,"
    "  is_right INTEGER NOT NULL, device TEXT, version TEXT NOT NULL, time TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS lesson_value ("
    "  lesson TEXT NOT NULL, name TEXT NOT NULL, value REAL, time TEXT NOT NULL,"
    "  PRIMARY KEY (lesson, name));"
    "CREATE TABLE IF NOT EXISTS lesson_now ("
    "  one INTEGER PRIMARY KEY CHECK (one = 1), lesson TEXT NOT NULL, step INTEGER NOT NULL,"
    "  serial INTEGER NOT NULL, time TEXT NOT NULL);";

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unknown"
#endif

static enum status failed(struct sqlite3 *db, struct err *err)
{
    return err_set(err, ST_FAIL, "progress cannot be kept: %s", sqlite3_errmsg(db));
}

enum status progress_open(struct sqlite3 *db, struct err *err)
{
    if (!db || sqlite3_exec(db, schema, NULL, NULL, NULL) == SQLITE_OK)
        return ST_OK;
    return failed(db, err);
}

/* Prepares, binds up to two texts, and steps once. *row: there was a row. */
static sqlite3_stmt *ask(struct sqlite3 *db, const char *sql, const char *a, const char *b,
                         bool *row)
{
    sqlite3_stmt *s = NULL;
    *row = false;
    if (!db || sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        return NULL;
    if (a)
        sqlite3_bind_text(s, 1, a, -1, SQLITE_STATIC);
    if (b)
        sqlite3_bind_text(s, 2, b, -1, SQLITE_STATIC);
    *row = sqlite3_step(s) == SQLITE_ROW;
    return s;
}

struct sqlite3 *progress_db(struct session *s)
{
    struct store *store = session_store(s);
    struct sqlite3 *db = store ? store_handle(store) : NULL;
    struct err err = ERR_INIT;
    if (progress_open(db, &err) == ST_OK)
        return db;
    session_note(s, "%s", err.text);
    return NULL;
}

enum progress progress_get(struct sqlite3 *db, const char *lesson, const char *step)
{
    bool row;
    sqlite3_stmt *s = ask(db, "SELECT state FROM lesson_progress WHERE lesson = ?1 AND step = ?2",
                          lesson, step, &row);
    enum progress p = PROGRESS_NONE;
    if (row) {
        const char *state = (const char *)sqlite3_column_text(s, 0);
        p = state && strcmp(state, "done") == 0 ? PROGRESS_DONE : PROGRESS_SKIPPED;
    }
    sqlite3_finalize(s);
    return p;
}

enum status progress_set(struct sqlite3 *db, const char *lesson, const char *step,
                         enum progress state, struct err *err)
{
    if (!db || state == PROGRESS_NONE)
        return ST_OK;
    static const char sql[] =
        "INSERT INTO lesson_progress VALUES (?1, ?2, ?3, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))"
        " ON CONFLICT (lesson, step) DO UPDATE SET state = excluded.state, time = excluded.time"
        " WHERE state <> 'done'";
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        return failed(db, err);
    sqlite3_bind_text(s, 1, lesson, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 2, step, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 3, state == PROGRESS_DONE ? "done" : "skipped", -1, SQLITE_STATIC);
    int rc = sqlite3_step(s);
    sqlite3_finalize(s);
    return rc == SQLITE_DONE ? ST_OK : failed(db, err);
}

static void bind_real(sqlite3_stmt *s, int at, double x)
{
    if (isfinite(x))
        sqlite3_bind_double(s, at, x);
    else
        sqlite3_bind_null(s, at);
}

enum status progress_predict(struct sqlite3 *db, const struct prediction *p, struct err *err)
{
    static const char sql[] =
        "INSERT INTO lesson_prediction VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,"
        " strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))";
    sqlite3_stmt *s = NULL;
    if (!db)
        return ST_OK;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        return failed(db, err);
    sqlite3_bind_text(s, 1, p->lesson, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 2, p->step, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 3, p->name, -1, SQLITE_STATIC);
    bind_real(s, 4, p->guess);
    bind_real(s, 5, p->outcome);
    sqlite3_bind_int(s, 6, p->right);
    sqlite3_bind_text(s, 7, p->device, -1, SQLITE_STATIC); /* NULL binds NULL */
    sqlite3_bind_text(s, 8, PACKAGE_VERSION, -1, SQLITE_STATIC);
    int rc = sqlite3_step(s);
    sqlite3_finalize(s);
    return rc == SQLITE_DONE ? ST_OK : failed(db, err);
}

enum status progress_keep(struct sqlite3 *db, const char *lesson, const char *name, double value,
                          struct err *err)
{
    static const char sql[] = "INSERT OR REPLACE INTO lesson_value VALUES (?1, ?2, ?3,"
                              " strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))";
    sqlite3_stmt *s = NULL;
    if (!db)
        return ST_OK;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        return failed(db, err);
    sqlite3_bind_text(s, 1, lesson, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 2, name, -1, SQLITE_STATIC);
    bind_real(s, 3, value);
    int rc = sqlite3_step(s);
    sqlite3_finalize(s);
    return rc == SQLITE_DONE ? ST_OK : failed(db, err);
}

void progress_kept(struct sqlite3 *db, const char *lesson,
                   void (*take)(void *ctx, const char *name, double value), void *ctx)
{
    bool row;
    sqlite3_stmt *s =
        ask(db, "SELECT name, value FROM lesson_value WHERE lesson = ?1 AND value IS NOT NULL",
            lesson, NULL, &row);
    for (; row; row = sqlite3_step(s) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(s, 0);
        if (name)
            take(ctx, name, sqlite3_column_double(s, 1));
    }
    sqlite3_finalize(s);
}

void progress_now(struct sqlite3 *db, const char *lesson, int step)
{
    static const char sql[] =
        "INSERT INTO lesson_now VALUES (1, ?1, ?2, 1, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))"
        " ON CONFLICT (one) DO UPDATE SET lesson = excluded.lesson, step = excluded.step,"
        " serial = serial + 1, time = excluded.time";
    sqlite3_stmt *s = NULL;
    if (!db || sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        return; /* what was done is told when it cannot be kept; this is for the moment */
    sqlite3_bind_text(s, 1, lesson, -1, SQLITE_STATIC);
    sqlite3_bind_int(s, 2, step);
    (void)sqlite3_step(s);
    sqlite3_finalize(s);
}

bool progress_where(struct sqlite3 *db, struct progress_place *out)
{
    bool row;
    sqlite3_stmt *s = ask(db, "SELECT lesson, step, serial FROM lesson_now", NULL, NULL, &row);
    const char *lesson = row ? (const char *)sqlite3_column_text(s, 0) : NULL;
    *out = (struct progress_place){0};
    if (lesson) {
        snprintf(out->lesson, sizeof out->lesson, "%s", lesson);
        out->step = sqlite3_column_int(s, 1);
        out->serial = sqlite3_column_int64(s, 2);
    }
    sqlite3_finalize(s);
    return lesson != NULL;
}

static int steps_called(const struct lesson *l, const char *title)
{
    int n = 0;
    for (int i = 0; i < lesson_steps(l); i++)
        n += strcmp(lesson_step_title(l, i), title) == 0;
    return n;
}

int progress_steps_done(struct sqlite3 *db, const struct lesson *l)
{
    bool row;
    int done = 0;
    sqlite3_stmt *s =
        ask(db, "SELECT step FROM lesson_progress WHERE lesson = ?1 AND state = 'done'",
            lesson_name(l), NULL, &row);
    for (; row; row = sqlite3_step(s) == SQLITE_ROW) {
        const char *title = (const char *)sqlite3_column_text(s, 0);
        done += title ? steps_called(l, title) : 0;
    }
    sqlite3_finalize(s);
    return done;
}

static int place_of(const char *name)
{
    for (int i = 0; lesson_at(i); i++)
        if (strcmp(lesson_name(lesson_at(i)), name) == 0)
            return i;
    return -1;
}

static bool is_open(struct sqlite3 *db, const struct lesson *l)
{
    return progress_steps_done(db, l) < lesson_steps(l);
}

int lesson_after(struct sqlite3 *db, int i)
{
    while (lesson_at(++i))
        if (is_open(db, lesson_at(i)))
            return i;
    return -1;
}

int lesson_in_progress(struct sqlite3 *db)
{
    struct progress_place at;
    const int last = progress_where(db, &at) ? place_of(at.lesson) : -1;
    if (last < 0 || is_open(db, lesson_at(last)))
        return last < 0 ? 0 : last;
    const int next = lesson_after(db, last);
    return next < 0 ? last : next;
}

void progress_score(struct sqlite3 *db, const char *lesson, int *made, int *right)
{
    bool row;
    sqlite3_stmt *s =
        ask(db,
            "SELECT count(*), coalesce(sum(is_right), 0) FROM lesson_prediction WHERE rowid IN"
            " (SELECT min(rowid) FROM lesson_prediction WHERE lesson = ?1 GROUP BY step, name)",
            lesson, NULL, &row);
    *made = row ? sqlite3_column_int(s, 0) : 0;
    *right = row ? sqlite3_column_int(s, 1) : 0;
    sqlite3_finalize(s);
}

enum status progress_clear(struct sqlite3 *db, const char *lesson, struct err *err)
{
    static const char *const sql[] = {"DELETE FROM lesson_progress WHERE lesson = ?1",
                                      "DELETE FROM lesson_value WHERE lesson = ?1"};
    for (int i = 0; db && i < 2; i++) {
        bool row;
        sqlite3_stmt *s = ask(db, sql[i], lesson, NULL, &row);
        if (sqlite3_finalize(s) != SQLITE_OK || !s)
            return failed(db, err);
    }
    return ST_OK;
}
