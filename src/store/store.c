/* store.c - results in SQLite: one's own file, created where needed, and other people's, with gloves.
 *
 * Own files are in WAL mode, where a commit survives a SIGKILL without an fsync in the interface's
 * loop; on network file systems, where WAL's shared memory does not work, the old journal is used.
 *
 * A row is kept twice: as columns that queries filter by, and whole as JSON, so that a new field
 * needs no migration. What comes out passes through the field table again, hence a damaged or
 * hostile row can at worst say less.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/store.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "base/whose.h"
#include "spec/shape.h"

struct store {
    sqlite3 *db;
    char *path;
    sqlite3_stmt *insert; /* prepared on first use */
    bool foreign;
    bool read_only;           /* one's own, but its disk is full or read-only */
    struct timespec deadline; /* of the statement under way, on a foreign file */
};

enum {
    SCHEMA_VERSION = 1,
    APPLICATION_ID = 0x41545343, /* "ATSC" */
    BUSY_MS = 1000,
    FOREIGN_MAX = 256 << 20, /* bytes of another person's file */
    FOREIGN_SECONDS = 2,     /* for any one statement on it */
    FOREIGN_OPS = 10000,     /* virtual machine steps between looks at the clock */
};

static const char schema[] = "CREATE TABLE results("
                             " id INTEGER PRIMARY KEY,"
                             " time TEXT NOT NULL," /* ISO 8601, UTC */
                             " kernel TEXT NOT NULL,"
                             " params TEXT NOT NULL,"
                             " shape TEXT NOT NULL,"
                             " backend TEXT NOT NULL,"
                             " device TEXT NOT NULL,"
                             " check_ TEXT NOT NULL," /* 'pass', 'fail' or '' */
                             " median_us REAL,"
                             " command TEXT NOT NULL,"
                             " row TEXT NOT NULL);" /* all fields, JSON */
                             "CREATE INDEX results_kernel ON results(kernel, id);";

/* ---- plumbing ---- */

/* ST_FAIL: "cannot <doing> <path>: <SQLite's reason>". */
static enum status store_fail(const struct store *s, const char *doing, struct err *err)
{
    const bool foreign_tables =
        s->db && sqlite3_errcode(s->db) == SQLITE_OK; /* SQLite finds no fault */
    return err_set(err, ST_FAIL, "cannot %s %s: %s", doing, s->path,
                   !s->db           ? "out of memory"
                   : foreign_tables ? "its tables are not those of this program; move it away"
                                    : sqlite3_errmsg(s->db));
}

static bool db_exec(struct store *s, const char *sql)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

/* The single integer that `sql` yields, or `otherwise`. */
static int64_t db_int(struct store *s, const char *sql, int64_t otherwise)
{
    sqlite3_stmt *q = NULL;
    if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) == SQLITE_OK && sqlite3_step(q) == SQLITE_ROW)
        otherwise = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return otherwise;
}

static struct store *store_new(char *path, bool foreign)
{
    struct store *s = xcalloc(1, sizeof *s);
    s->path = path;
    s->foreign = foreign;
    return s;
}

/* shape_has() for SQL: what people ask of a shape is more than its text. */
static void sql_shape_has(sqlite3_context *c, int count, sqlite3_value **v)
{
    const char *text = count == 2 ? (const char *)sqlite3_value_text(v[0]) : NULL;
    const char *words = text ? (const char *)sqlite3_value_text(v[1]) : NULL;
    sqlite3_result_int(c, words && shape_has(text, words));
}

/* A pipe in the place of the file, or of those that SQLite lays beside it, would be waited for. */
static enum status may_open(const struct store *s, struct err *err)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    enum status st = ST_OK;
    for (size_t i = 0; !st && i < sizeof endings / sizeof *endings; i++) {
        char *path = xasprintf("%s%s", s->path, endings[i]);
        st = file_may_open(path, err);
        free(path);
    }
    return st ? ST_FAIL : ST_OK;
}

/* The interface's memory is budgeted: a small page cache, no twenty pages of it before they are needed, and
 * hardly any lookaside. After the first opening the library keeps what was said then. */
static bool db_open(struct store *s, const char *name, int flags)
{
    sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0);
    if (sqlite3_open_v2(name, &s->db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        return false;
    sqlite3_extended_result_codes(s->db, 1);
    sqlite3_create_function(s->db, "shape_has", 2,
                            SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL,
                            sql_shape_has, NULL, NULL);
    sqlite3_busy_timeout(s->db, BUSY_MS);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_LOOKASIDE, NULL, 128, 48);
    return db_exec(s, "PRAGMA cache_size=-256; PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY;");
}

void store_close(struct store *s)
{
    if (!s)
        return;
    sqlite3_finalize(s->insert);
    sqlite3_close(s->db);
    free(s->path);
    free(s);
}

struct sqlite3 *store_handle(struct store *s)
{
    return s->db;
}

/* Read-only and without locks or side files: for what cannot or must not be written. */
static const char immutable[] = "mode=ro&immutable=1";

/* "file:/a%20b.db?mode=ro". */
static char *file_uri(const char *path, const char *query)
{
    struct str uri = {0};
    str_add(&uri, "file:");
    for (const char *p = path; *p; p++) {
        bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                     (*p >= '0' && *p <= '9') || strchr("/._-", *p);
        if (plain)
            str_addc(&uri, *p);
        else
            str_addf(&uri, "%%%02X", (unsigned char)*p);
    }
    str_addf(&uri, "?%s", query);
    return str_take(&uri);
}

/* A plain table of that name: no view, no virtual table. */
static bool has_results_table(struct store *s)
{
    return db_int(s,
                  "SELECT count(*) FROM sqlite_master WHERE name='results' AND type='table'"
                  " AND substr(sql,1,13)='CREATE TABLE '",
                  0) == 1;
}

/* ---- one's own file ---- */

/* WAL needs memory shared between its users, which network file systems do not give. */
static bool on_network(const char *path)
{
    static const unsigned magics[] = {
        0x6969 /* NFS */,      0xff534d42 /* CIFS */,
        0xfe534d42 /* SMB2 */, 0x0bd00bd0 /* Lustre */,
        0x47504653 /* GPFS */, 0x19830326 /* BeeGFS */,
        0x5346414f /* AFS */,  0x00c36400 /* Ceph */,
        0x01021997 /* 9P */,   0x65735546 /* FUSE: sshfs and the like */,
    };
    struct statfs fs;
    if (statfs(path, &fs) != 0)
        return false;
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if ((unsigned)fs.f_type == magics[i])
            return true;
    return false;
}

/* Sets the journal. Another process may be doing the same, and the mode belongs to the file: a
 * refusal here is no loss. */
static void set_journal(struct store *s)
{
    if (on_network(s->path))
        db_exec(s, "PRAGMA journal_mode=TRUNCATE; PRAGMA synchronous=FULL;");
    else
        db_exec(s, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;");
}

/* Creates the schema unless another process was faster. */
static bool create_schema(struct store *s)
{
    if (!db_exec(s, "BEGIN IMMEDIATE"))
        return false;
    bool ok = true;
    if (db_int(s, "PRAGMA user_version", -1) == 0) {
        char *version = xasprintf("PRAGMA application_id=%d; PRAGMA user_version=%d;",
                                  APPLICATION_ID, SCHEMA_VERSION);
        ok = db_exec(s, schema) && db_exec(s, version);
        free(version);
    }
    return db_exec(s, ok ? "COMMIT" : "ROLLBACK") && ok;
}

static enum status prepare_own(struct store *s, struct err *err)
{
    if (!db_open(s, s->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE))
        return store_fail(s, "open", err);
    int64_t version = db_int(s, "PRAGMA user_version", -1);
    if (version < 0)
        return store_fail(s, "read", err);
    if (version > SCHEMA_VERSION)
        return err_set(err, ST_FAIL, "%s was written by a newer attnscope (format %d, known: %d)",
                       s->path, (int)version, SCHEMA_VERSION);
    set_journal(s);
    if (version == 0 && !create_schema(s))
        return store_fail(s, "write", err);
    return ST_OK;
}

/* On a full or read-only disk SQLite cannot make the side files of a WAL; what was stored can still
 * be read, without them if need be. */
static bool prepare_reading(struct store *s)
{
    const char *const ways[] = {"mode=ro", immutable};
    for (int i = 0; i < 2; i++) {
        char *uri = file_uri(s->path, ways[i]);
        sqlite3_close(s->db);
        s->db = NULL;
        bool opened = db_open(s, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
        free(uri);
        if (opened && db_int(s, "PRAGMA user_version", -1) == SCHEMA_VERSION &&
            has_results_table(s))
            return true;
    }
    return false;
}

static enum status hand_over(struct store *s, enum status st, struct store **out)
{
    if (st != ST_OK) {
        store_close(s);
        s = NULL;
    }
    *out = s;
    return st;
}

enum status store_open(const char *path, struct store **out, struct err *err)
{
    *out = NULL;
    char *name = path ? xstrdup(path) : NULL;
    enum status st = path ? ST_OK : path_for(PATH_DATA, "results.db", "results", &name, err);
    if (st == ST_OK)
        st = path_make_parent(name, err);
    if (st != ST_OK) {
        free(name);
        return st;
    }
    struct store *s = store_new(name, false);
    st = may_open(s, err);
    if (st)
        return hand_over(s, st, out);
    st = prepare_own(s, err);
    bool busy = (sqlite3_errcode(s->db) & 0xff) == SQLITE_BUSY; /* then somebody is writing it */
    if (st != ST_OK && !busy && prepare_reading(s)) {
        s->read_only = true;
        st = ST_OK;
    }
    return hand_over(s, st, out);
}

/* ---- somebody else's file ---- */

static int foreign_progress(void *arg)
{
    const struct store *s = arg;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > s->deadline.tv_sec ||
           (now.tv_sec == s->deadline.tv_sec && now.tv_nsec > s->deadline.tv_nsec);
}

static void store_start_clock(struct store *s)
{
    clock_gettime(CLOCK_MONOTONIC, &s->deadline);
    s->deadline.tv_sec += FOREIGN_SECONDS;
}

/* SQLite's own advice for files from strangers: nothing in the schema may run code, and nothing
 * may be large. */
static void harden(struct store *s)
{
    static const int limits[][2] = {
        {SQLITE_LIMIT_LENGTH, 1000000},     {SQLITE_LIMIT_SQL_LENGTH, 100000},
        {SQLITE_LIMIT_COLUMN, 100},         {SQLITE_LIMIT_EXPR_DEPTH, 64},
        {SQLITE_LIMIT_COMPOUND_SELECT, 3},  {SQLITE_LIMIT_VDBE_OP, 25000},
        {SQLITE_LIMIT_FUNCTION_ARG, 8},     {SQLITE_LIMIT_ATTACHED, 0},
        {SQLITE_LIMIT_TRIGGER_DEPTH, 1},    {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50},
        {SQLITE_LIMIT_VARIABLE_NUMBER, 64}, {SQLITE_LIMIT_WORKER_THREADS, 0},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        sqlite3_limit(s->db, limits[i][0], limits[i][1]);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    sqlite3_progress_handler(s->db, FOREIGN_OPS, foreign_progress, s);
    db_exec(s, "PRAGMA cell_size_check=ON");
}

static bool passes_quick_check(struct store *s)
{
    sqlite3_stmt *q = NULL;
    bool ok = sqlite3_prepare_v2(s->db, "PRAGMA quick_check(1)", -1, &q, NULL) == SQLITE_OK &&
              sqlite3_step(q) == SQLITE_ROW && sqlite3_column_text(q, 0) &&
              strcmp((const char *)sqlite3_column_text(q, 0), "ok") == 0;
    sqlite3_finalize(q);
    return ok;
}

static enum status prepare_foreign(struct store *s, struct err *err)
{
    char *uri = file_uri(s->path, immutable);
    store_start_clock(s);
    bool opened = db_open(s, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
    free(uri);
    if (!opened)
        return store_fail(s, "open", err);
    harden(s);
    if (!passes_quick_check(s))
        return err_set(err, ST_FAIL, "%s is damaged or no results file", s->path);
    if (db_int(s, "PRAGMA application_id", 0) != APPLICATION_ID || !has_results_table(s))
        return err_set(err, ST_FAIL, "%s is a database, but not one of attnscope's results",
                       s->path);
    if (db_int(s, "PRAGMA user_version", -1) != SCHEMA_VERSION)
        return err_set(err, ST_FAIL, "%s has format %d, this attnscope reads %d", s->path,
                       (int)db_int(s, "PRAGMA user_version", -1), SCHEMA_VERSION);
    return ST_OK;
}

const char *store_named(void)
{
    const char *path = secure_getenv("ATTNSCOPE_RESULTS");
    return path && *path == '/' ? path : NULL;
}

enum status store_open_foreign(const char *path, struct store **out, struct err *err)
{
    *out = NULL;
    struct stat st;
    if (file_may_open(path, err) != ST_OK)
        return ST_USAGE;
    if (stat(path, &st) != 0)
        return err_set(err, ST_USAGE, "no results file at %s", path);
    if (st.st_size > FOREIGN_MAX)
        return err_set(err, ST_USAGE, "%s is too large: at most %d MiB are read", path,
                       FOREIGN_MAX >> 20);
    struct store *s = store_new(xstrdup(path), true);
    return hand_over(s, prepare_foreign(s, err), out);
}

/* ---- appending ---- */

static void bind_text(sqlite3_stmt *q, int i, const char *text)
{
    sqlite3_bind_text(q, i, text ? text : "", -1, SQLITE_STATIC);
}

static const char theirs[] =
    "merged_whose"; /* beside the fields: whose a row was that was taken in */

/* All fields that are known, without the samples of the live view. */
static char *stored_text(const struct run_row *row, const char *whose)
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
    if (whose)
        json_object_set_new(o, theirs, json_string(whose));
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

/* Is it one's own, and can it be written to? */
static enum status may_write(const struct store *s, struct err *err)
{
    if (s->foreign)
        return err_set(err, ST_USAGE, "%s is open for reading only", s->path);
    if (s->read_only && path_may_write(s->path, err) != ST_OK)
        return ST_FAIL;
    if (s->read_only)
        return err_set(err, ST_FAIL, "%s could be opened for reading only: is its disk full?",
                       s->path);
    return ST_OK;
}

enum status store_add(struct store *s, const struct run_row *row, const char *command,
                      const char *whose, struct err *err)
{
    static const char sql[] =
        "INSERT INTO results(time,kernel,params,shape,backend,device,check_,median_us,command,row)"
        " VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10)";
    enum status may = may_write(s, err);
    if (may)
        return may;
    if (!s->insert &&
        sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &s->insert, NULL))
        return store_fail(s, "store a result in", err);
    char *when = row->time ? xstrdup(row->time) : time_now();
    char *text = stored_text(row, whose);
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

/* ---- removing ---- */

static bool remove_all(struct store *s, const int64_t *ids, size_t n)
{
    sqlite3_stmt *q = NULL;
    bool ok = !sqlite3_prepare_v2(s->db, "DELETE FROM results WHERE id=?1", -1, &q, NULL);
    for (size_t i = 0; i < n && ok; i++) {
        sqlite3_bind_int64(q, 1, ids[i]);
        ok = sqlite3_step(q) == SQLITE_DONE;
        sqlite3_reset(q);
    }
    sqlite3_finalize(q);
    return ok;
}

enum status store_remove(struct store *s, const int64_t *ids, size_t n, struct err *err)
{
    enum status may = may_write(s, err);
    if (may)
        return may;
    if (!db_exec(s, "BEGIN IMMEDIATE"))
        return store_fail(s, "remove results from", err);
    if (!remove_all(s, ids, n) || !db_exec(s, "COMMIT")) {
        store_fail(s, "remove results from", err);
        db_exec(s, "ROLLBACK");
        return ST_FAIL;
    }
    db_exec(s, "VACUUM"); /* refused while another process reads: the room is used again then */
    return ST_OK;
}

/* A text column; a damaged file may hold anything there. */
static const char *column(sqlite3_stmt *q, int i)
{
    const unsigned char *t = sqlite3_column_text(q, i);
    return t ? (const char *)t : "";
}

/* ---- what is under way ---- */

/* Runs one statement about `what`. */
static bool step_once(struct store *s, const char *sql, const char *what)
{
    sqlite3_stmt *q = NULL;
    bool ok = !sqlite3_prepare_v2(s->db, sql, -1, &q, NULL);
    if (ok) {
        char *now = time_now();
        bind_text(q, 1, what);
        if (sqlite3_bind_parameter_count(q) > 1)
            bind_text(q, 2, now);
        ok = sqlite3_step(q) == SQLITE_DONE;
        free(now);
    }
    sqlite3_finalize(q);
    return ok;
}

static bool read_begun(struct store *s, const char *what, struct store_begun *out)
{
    sqlite3_stmt *q = NULL;
    bool ok = !sqlite3_prepare_v2(s->db, "SELECT began,after FROM unfinished WHERE what=?1", -1, &q,
                                  NULL);
    if (ok)
        bind_text(q, 1, what);
    ok = ok && sqlite3_step(q) == SQLITE_ROW;
    if (ok) {
        snprintf(out->time, sizeof out->time, "%s", column(q, 0));
        out->after = sqlite3_column_int64(q, 1);
    }
    sqlite3_finalize(q);
    return ok;
}

enum status store_begin(struct store *s, const char *what, struct store_begun *out)
{
    static const char table[] = "CREATE TABLE IF NOT EXISTS unfinished("
                                " what TEXT PRIMARY KEY, began TEXT NOT NULL,"
                                " after INTEGER NOT NULL)" /* the newest result then */;
    static const char insert[] = "INSERT OR IGNORE INTO unfinished"
                                 " SELECT ?1,?2,ifnull(max(id),0) FROM results";
    *out = (struct store_begun){.after = 0};
    const bool ok = !may_write(s, NULL) && db_exec(s, table) && step_once(s, insert, what) &&
                    read_begun(s, what, out);
    return ok ? ST_OK : ST_FAIL;
}

void store_finish(struct store *s, const char *what)
{
    if (!may_write(s, NULL))
        step_once(s, "DELETE FROM unfinished WHERE what=?1", what);
}

/* ---- finding ---- */

/* A statement under construction: SQL and the texts to bind, in order. */
struct finder {
    struct str sql;
    char *binds[10];
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

/* A foreign file may hold what is no UTF-8, which no output can show. */
static char *column_text(sqlite3_stmt *q, int i)
{
    const char *text = column(q, i);
    return xstrdup(str_is_utf8(text) ? text : "?");
}

/* Whose a row was before it was merged, in a file of one's own; of others' files it is theirs, whatever it says. */
static const char *taken_from(const json_t *stored, const char *whose)
{
    const char *said = json_string_value(json_object_get(stored, theirs));
    if (!said || strcmp(whose, whose_words[WHOSE_YOURS]) != 0)
        return whose;
    for (int i = 0; whose_words[i]; i++)
        if (!strcmp(said, whose_words[i]))
            return whose_words[i];
    return whose_words[WHOSE_SOMEONES];
}

/* The stored row, through the field table; what is damaged says so instead of vanishing. */
static void read_row(sqlite3_stmt *q, const char *whose, struct kept_row *row)
{
    json_t *stored = json_loads(column(q, 4), 0, NULL);
    if (!json_is_object(stored) || record_from_json(run_fields, &row->run, stored, NULL) != ST_OK) {
        record_clear(run_fields, &row->run);
        row->run.kernel = column_text(q, 3);
        row->run.reason = xstrdup("the stored row is damaged");
        row->damaged = true;
    }
    row->whose = xstrdup(taken_from(stored, whose));
    json_decref(stored);
    run_row_drop_samples(&row->run);
    free(row->run.time);
    row->run.time = column_text(q, 1);
    row->command = column_text(q, 2);
    row->id = sqlite3_column_int64(q, 0);
}

static enum status collect(struct store *s, struct finder *f, struct rowset *rows, struct err *err)
{
    struct rowset found = {.type = &stored_type};
    sqlite3_stmt *q = NULL;
    const char *whose = whose_words[whose_at(s->path).is];
    enum status st = finder_prepare(s, f, &q, err);
    if (st == ST_OK) {
        int rc;
        while ((rc = sqlite3_step(q)) == SQLITE_ROW)
            read_row(q, whose, rowset_add(&found));
        if (rc == SQLITE_DONE)
            rowset_append(rows, &found);
        else
            st = store_fail(s, "read", err);
    }
    rowset_clear(&found);
    sqlite3_finalize(q);
    return st;
}

enum status store_find(struct store *s, const struct store_query *q, struct rowset *rows,
                       struct err *err)
{
    struct finder f = {.nbinds = 0};
    str_add(&f.sql, "SELECT id,time,command,kernel,row FROM results");
    finder_and(&f, "kernel=?", q->kernel);
    finder_and(&f, "backend=?", q->backend);
    finder_and(&f, "instr(lower(device),lower(?))>0", q->device);
    char *after = q->after > 0 ? xasprintf("%lld", (long long)q->after) : NULL;
    finder_and(&f, "command=?", q->command);
    finder_and(&f, "id>CAST(? AS INTEGER)", after);
    finder_and(&f, "time>=?", q->since);
    finder_and(&f, "time<?", q->before);
    finder_and(&f, "shape_has(shape,?)", q->shape);
    str_addf(&f.sql, " ORDER BY id DESC LIMIT %d", q->limit > 0 ? q->limit : 20);
    enum status st = collect(s, &f, rows, err);
    finder_clear(&f);
    free(after);
    return st;
}
