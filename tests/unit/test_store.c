/* test_store.c - results that outlive the program: finding, SIGKILL, and files from strangers.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/store.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "measure/origin.h"
#include "store/merge.h"
#include "tap.h"

static char folder[64];

static char *in_folder(const char *name)
{
    return xasprintf("%s/%s", folder, name);
}

static struct store *open_new(const char *name)
{
    struct err err = ERR_INIT;
    struct store *s = NULL;
    char *path = in_folder(name);
    CU_ASSERT_EQUAL(store_open(path, &s, &err), ST_OK);
    if (!s)
        printf("# %s\n", err.text);
    free(path);
    return s;
}

static struct run_row make_row(const char *kernel, const char *shape, double median)
{
    struct run_row row;
    record_init(run_fields, &row);
    row.kernel = xstrdup(kernel);
    row.params = xstrdup("BR=32");
    row.shape = xstrdup(shape);
    row.backend = xstrdup("cpu");
    row.device = xstrdup("Test CPU, 2 threads");
    row.check = xstrdup("pass");
    row.median_us = median;
    row.recent_us = json_pack("[f,f]", 1.0, 2.0);
    return row;
}

static void add(struct store *s, const char *kernel, const char *shape, double median)
{
    struct err err = ERR_INIT;
    struct run_row row = make_row(kernel, shape, median);
    CU_ASSERT_EQUAL(store_add(s, &row, "run it", NULL, &err), ST_OK);
    record_clear(run_fields, &row);
}

static size_t count(struct store *s, struct store_query q)
{
    struct rowset rows = {.type = &stored_type};
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(store_find(s, &q, &rows, &err), ST_OK);
    size_t n = rows.n;
    rowset_clear(&rows);
    return n;
}

static void test_find(void)
{
    struct store *s = open_new("find.db");
    add(s, "naive", "B=1 H=8 S=1024 D=64 f16", 10);
    add(s, "naive", "B=1 H=8 S=10240 D=64 f16", 20);
    add(s, "fa2", "B=1 H=8 S=1024 D=64 f16 causal", 30);
    CU_ASSERT_EQUAL(count(s, (struct store_query){.limit = 0}), 3);
    CU_ASSERT_EQUAL(count(s, (struct store_query){.limit = 2}), 2);
    CU_ASSERT_EQUAL(count(s, (struct store_query){.kernel = "naive"}), 2);
    CU_ASSERT_EQUAL(count(s, (struct store_query){.kernel = "nai"}), 0);
    CU_ASSERT_EQUAL(count(s, (struct store_query){.shape = "S=1024"}), 2);
    CU_ASSERT_EQUAL(count(s, (struct store_query){.shape = " D=64  S=1024 causal "}), 1);
    CU_ASSERT_EQUAL(count(s, (struct store_query){.shape = "=64"}), 0);
    CU_ASSERT_EQUAL(count(s, (struct store_query){.shape = "Sq=1024 fp16"}), 2); /* not its text */
    CU_ASSERT_EQUAL(count(s, (struct store_query){.shape = "causal=no Hkv=8"}), 2);
    CU_ASSERT_EQUAL(count(s, (struct store_query){.device = "test cpu"}), 3);
    CU_ASSERT_EQUAL(count(s, (struct store_query){.backend = "cuda"}), 0);
    CU_ASSERT_EQUAL(count(s, (struct store_query){.kernel = "' OR 1=1 --"}), 0);
    store_close(s);
}

static void test_rows(void)
{
    struct store *s = open_new("rows.db");
    struct rowset rows = {.type = &stored_type};
    struct run_row row = make_row("naive", "S=1024", 12.5);
    row.time = xstrdup("2031-02-03T04:05:06Z");
    row.worst = json_pack("{s:i}", "b", 3);
    CU_ASSERT_EQUAL(store_add(s, &row, "run naive S=1k", NULL, NULL), ST_OK);
    record_clear(run_fields, &row);
    CU_ASSERT_EQUAL(store_find(s, &(struct store_query){.limit = 1}, &rows, NULL), ST_OK);
    const struct kept_row *row0 = row_kept(rowset_at(&rows, 0));
    CU_ASSERT_PTR_NOT_NULL_FATAL(row0);
    CU_ASSERT_EQUAL(row0->id, 1);
    CU_ASSERT_STRING_EQUAL(row0->run.time, "2031-02-03T04:05:06Z");
    CU_ASSERT_STRING_EQUAL(row0->command, "run naive S=1k");
    CU_ASSERT_PTR_NULL(row0->recording);
    CU_ASSERT_EQUAL(row0->run.median_us, 12.5);
    CU_ASSERT(isnan(row0->run.mean_us));     /* unknown stays unknown */
    CU_ASSERT_PTR_NULL(row0->run.recent_us); /* never stored */
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(row0->run.worst, "b")), 3);
    json_t *o = row_json(rows.rows[0]);
    const char *name = json_object_iter_key(json_object_iter(o));
    CU_ASSERT_STRING_EQUAL(name, "id"); /* as every script has read it so far */
    CU_ASSERT(json_is_null(json_object_get(o, "mean_us")));
    CU_ASSERT_PTR_NULL(json_object_get(o, "recent_us"));
    CU_ASSERT_PTR_NULL(json_object_get(o, "recording"));
    json_decref(o);
    rowset_clear(&rows);
    store_close(s);
}

/* All of them or none: also while another program holds the file. */
static struct merged merge_of(struct store *into, struct store *from, int64_t after)
{
    struct merge m = {0};
    struct merged n = {0};
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(merge_begin(&m, into, after, &err), ST_OK);
    CU_ASSERT_EQUAL(merge_store(&m, into, from, &n, &err), ST_OK);
    merge_clear(&m);
    return n;
}

static void add_many(struct store *s, int from, int to, int step)
{
    char shape[32];
    for (int i = from; i != to; i += step) {
        snprintf(shape, sizeof shape, "B=%d H=1 S=64 D=32 f32", i + 1);
        add(s, i % 3 ? "naive" : "fa2", shape, 10 + i);
    }
}

/* Each row once, whichever store it comes from and in whatever order, the oldest first; the same again adds nothing. */
static void test_merge(void)
{
    struct store *into = open_new("into.db"), *some = open_new("some.db"),
                 *more = open_new("more.db");
    CU_ASSERT_FATAL(into && some && more);
    add_many(into, 0, 40, 1);
    add_many(some, 99, 19, -1); /* 20 to 99, of which 20 to 39 are there */
    add_many(some, 95, 99, 1);  /* and some twice */
    add_many(more, 60, 130, 7);
    struct merged n = merge_of(into, some, 0);
    CU_ASSERT(n.added == 60 && n.had == 24 && !n.altered && !n.damaged);
    CU_ASSERT_EQUAL(count(into, (struct store_query){.limit = 1000}), 100);
    n = merge_of(into, some, 0);
    CU_ASSERT(n.added == 0 && n.had == 84);
    n = merge_of(into, more, 0); /* 60, 67, 74, 81, 88, 95 are there; 102, 109, 116, 123 are not */
    CU_ASSERT(n.added == 4 && n.had == 6);
    n = merge_of(into, into, 0);
    CU_ASSERT(n.added == 0 && n.had == 104);
    /* in the order of the other store: 99 came first there, and has the least number here */
    struct rowset rows = {.type = &stored_type};
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(store_find(into, &(struct store_query){.limit = 1000}, &rows, &err), ST_OK);
    CU_ASSERT_EQUAL(row_kept(rows.rows[rows.n - 1 - 40])->run.median_us, 10 + 99);
    CU_ASSERT_EQUAL(row_kept(rows.rows[rows.n - 1 - 41])->run.median_us, 10 + 98);
    CU_ASSERT_STRING_EQUAL(row_kept(rows.rows[0])->command, "run it");
    /* rows behind a number alone are known: what came before is added once more */
    const int64_t last = row_kept(rows.rows[0])->id;
    rowset_clear(&rows);
    n = merge_of(into, more, last);
    CU_ASSERT(n.added == 10 && n.had == 0);
    n = merge_of(into, more, last);
    CU_ASSERT(n.added == 0 && n.had == 10);
    store_close(into);
    store_close(some);
    store_close(more);
}

/* What was changed by hand is left out; what was recorded is kept as it was when it was measured; another command is another row. */
static void test_merge_origins(void)
{
    struct store *into = open_new("origins.db");
    struct merge m = {0};
    struct merged n = {0};
    struct err err = ERR_INIT;
    CU_ASSERT_FATAL(into != NULL);
    struct rowset rows = {.type = &recorded_type};
    static const char *const origins[] = {"recorded", ORIGIN_ALTERED, "live", "recorded"};
    for (int i = 0; i < 4; i++) {
        struct kept_row *row = rowset_add(&rows);
        row->run = make_row("naive", "B=1 H=1 S=64 D=32 f32", 5);
        row->run.origin = xstrdup(origins[i]);
        row->command = xstrdup(i == 3 ? "another" : "run it");
    }
    CU_ASSERT_EQUAL(merge_begin(&m, into, 0, &err), ST_OK);
    CU_ASSERT_EQUAL(merge_rows(&m, into, &rows, &n, &err), ST_OK);
    CU_ASSERT(n.added == 2 && n.had == 1 && n.altered == 1);
    merge_clear(&m);
    rowset_clear(&rows);
    rows = (struct rowset){.type = &stored_type};
    CU_ASSERT_EQUAL(store_find(into, &(struct store_query){.limit = 10}, &rows, &err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(rows.n, 2);
    for (int i = 0; i < 2; i++)
        CU_ASSERT_STRING_EQUAL(row_kept(rows.rows[i])->run.origin, "live");
    rowset_clear(&rows);
    store_close(into);
}

static void test_remove(void)
{
    struct store *s = open_new("remove.db"), *other = open_new("remove.db");
    struct err err = ERR_INIT;
    for (int i = 0; i < 5; i++)
        add(s, i % 2 ? "fa2" : "naive", "B=1 H=8 S=1024 D=64 f16", i + 1);
    CU_ASSERT_EQUAL(sqlite3_exec(store_handle(other), "BEGIN IMMEDIATE", 0, 0, 0), SQLITE_OK);
    CU_ASSERT_EQUAL(store_remove(s, (const int64_t[]){1, 4}, 2, &err), ST_FAIL);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "cannot remove results from"));
    CU_ASSERT_EQUAL(sqlite3_exec(store_handle(other), "COMMIT", 0, 0, 0), SQLITE_OK);
    CU_ASSERT_EQUAL(count(s, (struct store_query){.limit = 9}), 5);
    CU_ASSERT_EQUAL(store_remove(s, (const int64_t[]){1, 4, 99}, 3, &err), ST_OK);
    CU_ASSERT_EQUAL(count(other, (struct store_query){.limit = 9}), 3);
    CU_ASSERT_EQUAL(count(other, (struct store_query){.kernel = "naive"}), 2);
    add(s, "late", "B=1 H=8 S=1024 D=64 f16", 1);
    CU_ASSERT_EQUAL(count(s, (struct store_query){.limit = 9}), 4);
    CU_ASSERT_EQUAL(count(s, (struct store_query){.before = "2020"}), 0);
    CU_ASSERT_EQUAL(count(s, (struct store_query){.before = "9"}), 4);
    store_close(s);
    store_close(other);
}

static void test_reopen(void)
{
    store_close(open_new("re.db"));
    struct store *a = open_new("re.db"), *b = open_new("re.db");
    add(a, "one", "S=1", 1);
    add(b, "two", "S=1", 1);
    CU_ASSERT_EQUAL(count(a, (struct store_query){.limit = 9}), 2);
    CU_ASSERT(store_handle(a) != NULL);
    store_close(a);
    store_close(b);
}

/* What is under way: noted once, with when and after which result, until it is finished; each by its own text. */
static void test_under_way(void)
{
    struct store *s = open_new("way.db");
    struct store_begun a, b, again;
    add(s, "one", "S=1", 1);
    CU_ASSERT_EQUAL_FATAL(store_begin(s, "sweep a", &a), ST_OK);
    CU_ASSERT_EQUAL(a.after, 1);
    CU_ASSERT(strlen(a.time) >= strlen("2026-01-01T00:00:00") && a.time[10] == 'T');
    CU_ASSERT(strncmp(a.time, "20", 2) == 0);
    add(s, "two", "S=1", 1);
    CU_ASSERT_EQUAL(store_begin(s, "sweep b", &b), ST_OK);
    CU_ASSERT_EQUAL(b.after, 2);
    CU_ASSERT_EQUAL(store_begin(s, "sweep a", &again), ST_OK);
    CU_ASSERT_EQUAL(again.after, 1);
    CU_ASSERT_STRING_EQUAL(again.time, a.time);
    store_finish(s, "sweep b"); /* the other stays */
    CU_ASSERT_EQUAL(store_begin(s, "sweep a", &again), ST_OK);
    CU_ASSERT_EQUAL(again.after, 1);
    store_finish(s, "sweep a");
    CU_ASSERT_EQUAL(store_begin(s, "sweep a", &again), ST_OK);
    CU_ASSERT_EQUAL(again.after, 2); /* anew */
    store_close(s);
}

/* Adds rows for ever and reports each acknowledged one. */
static void child_adds(const char *name, int report)
{
    struct store *s = open_new(name);
    struct run_row row = make_row("naive", "S=1024", 1);
    for (;;)
        if (store_add(s, &row, "run", NULL, NULL) != ST_OK || write(report, "x", 1) != 1)
            _exit(1);
}

/* Acknowledged rows that the child had before it was killed after some microseconds. */
static long kill_child(const char *name, useconds_t after)
{
    int pipe_fd[2];
    char buf[4096];
    long acknowledged = 0;
    CU_ASSERT_EQUAL_FATAL(pipe(pipe_fd), 0);
    pid_t pid = fork();
    if (pid == 0)
        child_adds(name, pipe_fd[1]);
    close(pipe_fd[1]);
    acknowledged += read(pipe_fd[0], buf, 1); /* wait until it is in full swing */
    usleep(after);
    kill(pid, SIGKILL);
    for (ssize_t n; (n = read(pipe_fd[0], buf, sizeof buf)) > 0;)
        acknowledged += n;
    waitpid(pid, NULL, 0);
    close(pipe_fd[0]);
    return acknowledged;
}

static void test_sigkill(void)
{
    long expected = 0;
    for (int i = 0; i < 25; i++) {
        expected += kill_child("kill.db", (useconds_t)(i * 400));
        struct store *s = open_new("kill.db");
        long found = (long)count(s, (struct store_query){.limit = 1 << 30});
        /* A row may be stored and not yet reported when the signal comes; never the other way. */
        CU_ASSERT(found >= expected && found <= expected + 1);
        expected = found;
        store_close(s);
    }
    printf("# %ld rows through 25 kills\n", expected);
}

static void test_two_writers(void)
{
    store_close(open_new("two.db"));
    pid_t pid[2];
    for (int i = 0; i < 2; i++)
        if ((pid[i] = fork()) == 0) {
            struct store *s = open_new("two.db");
            for (int k = 0; k < 200; k++)
                add(s, "naive", "S=1", 1);
            store_close(s);
            _exit(CU_get_number_of_failures() ? 1 : 0);
        }
    for (int i = 0; i < 2; i++) {
        int status = -1;
        waitpid(pid[i], &status, 0);
        CU_ASSERT_EQUAL(status, 0);
    }
    struct store *s = open_new("two.db");
    CU_ASSERT_EQUAL(count(s, (struct store_query){.limit = 1000}), 400);
    store_close(s);
}

/* In a process that cannot write a byte to any file: a full disk. True if the old rows are read,
 * a new one is refused with a sentence, and no new file opens. */
static bool reads_without_space(void)
{
    struct store *s = NULL;
    struct err err = ERR_INIT;
    char *old = in_folder("full.db"), *fresh = in_folder("fresh.db");
    struct rowset rows = {.type = &stored_type};
    struct run_row row = make_row("naive", "S=1", 1);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = 0, .rlim_max = 0});
    bool good = store_open(fresh, &s, &err) == ST_FAIL && !s;
    good = good && store_open(old, &s, &err) == ST_OK;
    good = good && store_find(s, &(struct store_query){.limit = 99}, &rows, &err) == ST_OK &&
           rows.n == 50;
    good = good && store_add(s, &row, "run", NULL, &err) == ST_FAIL &&
           strstr(err.text, "reading only");
    store_close(s);
    rowset_clear(&rows);
    record_clear(run_fields, &row);
    free(old);
    free(fresh);
    return good;
}

static void make_results(const char *name);

static void test_full_disk(void)
{
    make_results("full.db");
    pid_t pid = fork();
    if (pid == 0)
        _exit(reads_without_space() ? 0 : 1);
    int status = -1;
    waitpid(pid, &status, 0);
    CU_ASSERT_EQUAL(status, 0);
    struct store *s = open_new("full.db"); /* with space again, it is as before */
    add(s, "naive", "S=1", 1);
    CU_ASSERT_EQUAL(count(s, (struct store_query){.limit = 99}), 51);
    store_close(s);
}

/* ---- files from strangers ---- */

static enum status open_foreign(const char *name, struct store **s, struct err *err)
{
    char *path = in_folder(name);
    enum status st = store_open_foreign(path, s, err);
    free(path);
    return st;
}

static void sql(const char *name, const char *text)
{
    sqlite3 *db;
    char *path = in_folder(name), *why = NULL;
    CU_ASSERT_EQUAL(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, text, NULL, NULL, &why) != SQLITE_OK)
        CU_FAIL("test's own SQL");
    if (why)
        printf("# %s\n", why);
    sqlite3_close(db);
    free(path);
}

/* A results file as one would copy it: closed, hence without a WAL beside it. */
static void make_results(const char *name)
{
    struct store *s = open_new(name);
    for (int i = 0; i < 50; i++)
        add(s, "naive", "B=1 H=8 S=1024 D=64 f16", i);
    store_close(s);
}

static void test_foreign(void)
{
    struct store *s;
    struct err err = ERR_INIT;
    make_results("from a friend?.db");
    CU_ASSERT_EQUAL(open_foreign("from a friend?.db", &s, &err), ST_OK);
    CU_ASSERT_EQUAL(count(s, (struct store_query){.limit = 99}), 50);
    struct run_row row = make_row("naive", "S=1", 1);
    CU_ASSERT_EQUAL(store_add(s, &row, "run", NULL, &err), ST_USAGE);
    CU_ASSERT_EQUAL(store_remove(s, (const int64_t[]){1}, 1, &err), ST_USAGE);
    CU_ASSERT(sqlite3_exec(store_handle(s), "DELETE FROM results", 0, 0, 0) != SQLITE_OK);
    CU_ASSERT(sqlite3_exec(store_handle(s), "ATTACH ':memory:' AS x", 0, 0, 0) != SQLITE_OK);
    record_clear(run_fields, &row);
    store_close(s);
}

static void expect_refusal(const char *name, const char *says)
{
    struct store *s = NULL;
    struct err err = ERR_INIT;
    CU_ASSERT(open_foreign(name, &s, &err) != ST_OK && !s);
    CU_ASSERT(strstr(err.text, says) != NULL);
    if (!strstr(err.text, says))
        printf("# %s: %s\n", name, err.text);
}

static void test_foreign_refused(void)
{
    expect_refusal("missing.db", "no results file");
    expect_refusal(".", "is a folder, not a file");
    sql("other.db", "CREATE TABLE t(a)");
    expect_refusal("other.db", "not one of attnscope");
    make_results("newer.db");
    sql("newer.db", "PRAGMA user_version=77");
    expect_refusal("newer.db", "format 77");
    make_results("view.db");
    sql("view.db", "ALTER TABLE results RENAME TO r2; CREATE VIEW results AS SELECT * FROM r2");
    expect_refusal("view.db", "not one of attnscope");
    char *path = in_folder("text.db");
    FILE *f = fopen(path, "w");
    fprintf(f, "these are no results at all, just words, and enough of them for a header. "
               "these are no results at all, just words, and enough of them for a header.");
    fclose(f);
    free(path);
    expect_refusal("text.db", "not a database");
}

/* Own file of a newer version: refused with a sentence, not overwritten. */
static void test_newer_own(void)
{
    struct store *s = NULL;
    struct err err = ERR_INIT;
    store_close(open_new("future.db"));
    sql("future.db", "PRAGMA user_version=2");
    char *path = in_folder("future.db");
    CU_ASSERT_EQUAL(store_open(path, &s, &err), ST_FAIL);
    CU_ASSERT(strstr(err.text, "newer attnscope") && !s);
    free(path);
}

static void test_hostile_rows(void)
{
    make_results("hostile.db");
    sql("hostile.db",
        "UPDATE results SET row='{\"median_us\":\"fast\"}' WHERE id=1;"
        "UPDATE results SET row=x'ff00fe', command=x'ff' WHERE id=2;"
        "UPDATE results SET row='[1,2', time=x'c3' WHERE id=3;"
        "UPDATE results SET row='{\"kernel\":\"a\\u001b[31m\",\"zzz\":1}' WHERE id=4;");
    struct store *s;
    struct err err = ERR_INIT;
    struct rowset rows = {.type = &stored_type};
    CU_ASSERT_EQUAL_FATAL(open_foreign("hostile.db", &s, &err), ST_OK);
    CU_ASSERT_EQUAL(store_find(s, &(struct store_query){.limit = 99}, &rows, &err), ST_OK);
    CU_ASSERT_EQUAL(rows.n, 50);
    for (size_t i = 47; i < 50; i++) { /* ids 3, 2, 1 */
        const struct kept_row *row = row_kept(rows.rows[i]);
        CU_ASSERT_STRING_EQUAL(row->run.reason, "the stored row is damaged");
        CU_ASSERT_STRING_EQUAL(row->run.kernel, "naive");
        CU_ASSERT(row->run.time && str_is_utf8(row->run.time));
    }
    CU_ASSERT_FALSE(row_has(rows.rows[46], "zzz"));
    rowset_clear(&rows);
    store_close(s);
}

/* Bytes changed at random: a sentence or rows, never a crash. */
static void test_mutations(void)
{
    make_results("base.db");
    char *from = in_folder("base.db"), *to = in_folder("mutant.db");
    static unsigned char image[1 << 17];
    FILE *f = fopen(from, "rb");
    size_t n = fread(image, 1, sizeof image, f);
    fclose(f);
    CU_ASSERT(n > 4096 && n < sizeof image);
    unsigned seed = 12345, opened = 0;
    for (int round = 0; round < 300; round++) {
        static unsigned char copy[sizeof image];
        memcpy(copy, image, n);
        for (int k = 0; k < 1 + round % 8; k++) {
            seed = seed * 1664525 + 1013904223;
            copy[(seed >> 8) % (round % 2 ? n : 4096)] = (unsigned char)(seed >> 24);
        }
        f = fopen(to, "wb");
        fwrite(copy, 1, round % 10 == 9 ? n / 2 : n, f);
        fclose(f);
        struct store *s = NULL;
        struct err err = ERR_INIT;
        struct rowset rows = {.type = &stored_type};
        if (store_open_foreign(to, &s, &err) != ST_OK) {
            CU_ASSERT(err.text[0] && !s);
            continue;
        }
        opened++;
        if (store_find(s, &(struct store_query){.limit = 99}, &rows, &err) != ST_OK)
            CU_ASSERT(err.text[0] != 0);
        rowset_clear(&rows);
        store_close(s);
    }
    printf("# %u of 300 mutants opened\n", opened);
    CU_ASSERT(opened > 0 && opened < 300); /* both ways were walked */
    free(from);
    free(to);
}

static void test_unwritable(void)
{
    struct store *s = NULL;
    struct err err = ERR_INIT;
    CU_ASSERT(store_open("/proc/nope/results.db", &s, &err) != ST_OK);
    CU_ASSERT(err.text[0] && !s);
    char *path = in_folder("garbage.db");
    FILE *f = fopen(path, "w");
    for (int i = 0; i < 1000; i++)
        fprintf(f, "no database ");
    fclose(f);
    CU_ASSERT_EQUAL(store_open(path, &s, &err), ST_FAIL);
    CU_ASSERT(strstr(err.text, "garbage.db") && !s);
    free(path);
}

static const struct tap_test tests[] = {
    {"filters", test_find},
    {"a row comes back as it was", test_rows},
    {"merged, each row once", test_merge},
    {"merged: origins and commands", test_merge_origins},
    {"rows are removed, all or none", test_remove},
    {"opened again, and twice", test_reopen},
    {"what is under way", test_under_way},
    {"acknowledged rows survive SIGKILL", test_sigkill},
    {"two writers", test_two_writers},
    {"a full disk: old rows can still be read", test_full_disk},
    {"a friend's file is read and never written", test_foreign},
    {"files that are none of ours are refused", test_foreign_refused},
    {"one's own file from a newer version", test_newer_own},
    {"hostile rows", test_hostile_rows},
    {"mutated files", test_mutations},
    {"no place, no database", test_unwritable},
};

int main(void)
{
    snprintf(folder, sizeof folder, "/tmp/attnscope-store-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    int status = tap_run("store", tests, sizeof tests / sizeof *tests);
    char *command[] = {(char *)"rm", (char *)"-rf", folder, NULL};
    pid_t pid = fork();
    if (pid == 0)
        execvp(command[0], command);
    waitpid(pid, NULL, 0);
    return status;
}
