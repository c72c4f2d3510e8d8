/* store.c - appending and finding.
 *
 * A row is kept twice: as columns that queries filter by, and whole as JSON, so that a new field
 * needs no migration. What comes out passes through the field table again, hence a damaged or
 * hostile row can at worst say less.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/store.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "store/store_state.h"

enum { WORDS_MAX = 32 }; /* shape words in a query */

/* ---- appending ---- */

static void bind_text(sqlite3_stmt *q, int i, const char *text)
{
    sqlite3_bind_text(q, i, text ? text : "", -1, SQLITE_STATIC);
}

/* All fields that are known, without the samples of the live view. */
static char *row_text(const struct run_row *row)
{
    json_t *o = run_row_result(row);
    const char *key;
    json_t *value;
    void *next;
    json_object_foreach_safe(o, next, key, value)
    {
        if (json_is_null(value))
            json_object_del(o, key);
    }
    char *text = json_dumps(o, JSON_COMPACT);
    json_decref(o);
    return text;
}

static char *time_now(void)
{
    char buf[32];
    time_t t = time(NULL);
    struct tm tm;
    strftime(buf, sizeof buf, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &tm));
    return xstrdup(buf);
}

enum status store_add(struct store *s, const struct run_row *row, const char *command,
                      struct err *err)
{
    static const char sql[] =
        "INSERT INTO results(time,kernel,params,shape,backend,device,check_,median_us,command,row)"
        " VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10)";
    if (s->foreign)
        return err_set(err, ST_USAGE, "%s is open for reading only", s->path);
    if (s->read_only && path_may_write(s->path, err) != ST_OK)
        return ST_FAIL;
    if (s->read_only)
        return err_set(err, ST_FAIL, "%s could be opened for reading only: is its disk full?",
                       s->path);
    if (!s->insert &&
        sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &s->insert, NULL))
        return store_fail(s, "store a result in", err);
    char *when = row->time ? xstrdup(row->time) : time_now();
    char *text = row_text(row);
    const char *columns[] = {when,         row->kernel, row->params, row->shape,
                             row->backend, row->device, row->check};
    for (int i = 0; i < 7; i++)
        bind_text(s->insert, i + 1, columns[i]);
    sqlite3_bind_double(s->insert, 8, row->median_us); /* NaN becomes NULL */
    bind_text(s->insert, 9, command);
    bind_text(s->insert, 10, text);
    int rc = sqlite3_step(s->insert);
    enum status st = rc == SQLITE_DONE ? ST_OK : store_fail(s, "store a result in", err);
    sqlite3_reset(s->insert);
    sqlite3_clear_bindings(s->insert);
    free(text);
    free(when);
    return st;
}

/* ---- finding ---- */

/* A statement under construction: SQL and the texts to bind, in order. */
struct finder {
    struct str sql;
    char *binds[WORDS_MAX + 8];
    int nbinds;
};

static void finder_and(struct finder *f, const char *condition, const char *value)
{
    if (!value)
        return;
    str_add(&f->sql, f->nbinds ? " AND " : " WHERE ");
    str_add(&f->sql, condition);
    f->binds[f->nbinds++] = xstrdup(value);
}

/* Every word of `shape` must be a word of the stored shape: S=1024 does not find S=10240. A word after
 * ! must not be one; "!W=" none that begins so. */
static void finder_shape(struct finder *f, const char *shape)
{
    for (int n = 0; shape && n < WORDS_MAX; n++) {
        shape += strspn(shape, " ");
        size_t len = strcspn(shape, " ");
        if (len == 0)
            return;
        const bool without = *shape == '!';
        const char *end = shape[len - 1] == '=' ? "" : " "; /* "W=" begins a word */
        char *word = xasprintf(" %.*s%s", (int)len - without, shape + without, end);
        finder_and(f, without ? "instr(' '||shape||' ',?)=0" : "instr(' '||shape||' ',?)>0", word);
        free(word);
        shape += len;
    }
}

static enum status finder_prepare(struct store *s, struct finder *f, sqlite3_stmt **q,
                                  struct err *err)
{
    store_start_clock(s);
    if (sqlite3_prepare_v2(s->db, str_text(&f->sql), -1, q, NULL) != SQLITE_OK)
        return store_fail(s, "read", err);
    for (int i = 0; i < f->nbinds; i++)
        bind_text(*q, i + 1, f->binds[i]);
    return ST_OK;
}

static void finder_clear(struct finder *f)
{
    for (int i = 0; i < f->nbinds; i++)
        free(f->binds[i]);
    str_free(&f->sql);
}

/* A text column; a damaged file may hold anything there. */
static const char *column(sqlite3_stmt *q, int i)
{
    const unsigned char *t = sqlite3_column_text(q, i);
    return t ? (const char *)t : "";
}

/* json_string() refuses what is no UTF-8, which a foreign file may hold. */
static json_t *json_text(const char *text)
{
    json_t *o = json_string(text);
    return o ? o : json_string("?");
}

/* The stored row, through the field table; what is damaged says so instead of vanishing. */
static json_t *row_object(sqlite3_stmt *q)
{
    struct run_row row;
    record_init(run_fields, &row);
    json_t *stored = json_loads(column(q, 4), 0, NULL);
    if (!json_is_object(stored) || record_from_json(run_fields, &row, stored, NULL) != ST_OK) {
        record_clear(run_fields, &row);
        row.kernel = xstrdup(column(q, 3));
        row.reason = xstrdup("the stored row is damaged");
    }
    json_decref(stored);
    json_t *o = json_object();
    json_object_set_new(o, "id", json_integer(sqlite3_column_int64(q, 0)));
    json_object_set_new(o, "time", json_text(column(q, 1)));
    json_object_set_new(o, "command", json_text(column(q, 2)));
    json_t *fields = run_row_result(&row);
    json_object_update_missing(o, fields);
    json_decref(fields);
    record_clear(run_fields, &row);
    return o;
}

static enum status collect(struct store *s, struct finder *f, json_t **rows, struct err *err)
{
    *rows = NULL;
    sqlite3_stmt *q = NULL;
    enum status st = finder_prepare(s, f, &q, err);
    if (st == ST_OK) {
        json_t *found = json_array();
        int rc;
        while ((rc = sqlite3_step(q)) == SQLITE_ROW)
            json_array_append_new(found, row_object(q));
        if (rc == SQLITE_DONE) {
            *rows = found;
        } else {
            json_decref(found);
            st = store_fail(s, "read", err);
        }
    }
    sqlite3_finalize(q);
    return st;
}

static struct finder finder_new(void)
{
    struct finder f = {.nbinds = 0};
    str_add(&f.sql, "SELECT id,time,command,kernel,row FROM results");
    return f;
}

enum status store_find(struct store *s, const struct store_query *q, json_t **rows, struct err *err)
{
    struct finder f = finder_new();
    finder_and(&f, "kernel=?", q->kernel);
    finder_and(&f, "backend=?", q->backend);
    finder_and(&f, "instr(lower(device),lower(?))>0", q->device);
    finder_and(&f, "time>=?", q->since);
    finder_shape(&f, q->shape);
    str_addf(&f.sql, " ORDER BY id DESC LIMIT %d", q->limit > 0 ? q->limit : 20);
    enum status st = collect(s, &f, rows, err);
    finder_clear(&f);
    return st;
}

json_t *store_latest(struct store *s, const char *kernel, const char *params, const char *shape,
                     const char *backend)
{
    struct finder f = finder_new();
    finder_and(&f, "kernel=?", kernel);
    finder_and(&f, "params=?", params);
    finder_and(&f, "shape=?", shape);
    finder_and(&f, "backend=?", backend);
    finder_and(&f, "check_=?", "pass");
    str_add(&f.sql, " ORDER BY id DESC LIMIT 1");
    json_t *rows = NULL, *row = NULL;
    if (collect(s, &f, &rows, NULL) == ST_OK)
        row = json_incref(json_array_get(rows, 0));
    json_decref(rows);
    finder_clear(&f);
    return row;
}
