/* Recordings: what is written is read back, a killed writer costs the last line at most, nothing is
 * overwritten, and look-ups find the newest passing row.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/recording.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "measure/origin.h"
#include "tap.h"

static char folder[64];

static char *in_folder(const char *name)
{
    return xasprintf("%s/%s", folder, name);
}

static struct run_row make_row(const char *kernel, double median, const char *time)
{
    struct run_row row;
    record_init(run_fields, &row);
    row.kernel = xstrdup(kernel);
    row.params = xstrdup("BR=32");
    row.shape = xstrdup("B=1 H=8 S=1024 D=64 f16");
    row.backend = xstrdup("cuda");
    row.device = xstrdup("Test GPU");
    row.origin = xstrdup("live");
    row.l2 = xstrdup("cold");
    row.check = xstrdup("pass");
    row.time = xstrdup(time);
    row.driver = xstrdup("580.1");
    row.median_us = median;
    row.seed = 42;
    row.n = 3;
    row.samples_us = json_pack("[f,f,f,s,f]", median, median + 1, median - 1, "no", -4.0);
    return row;
}

static void write_one(struct recorder *r, const char *kernel, double median, const char *time)
{
    struct run_row row = make_row(kernel, median, time);
    struct err err = ERR_INIT;
    json_t *plan = json_pack("{s:i}", "smem_bytes", 8192);
    CU_ASSERT_EQUAL(recorder_row(r, &row, "run it", plan, &err), ST_OK);
    json_decref(plan);
    record_clear(run_fields, &row);
}

/* A recording of two rows and a table. */
static char *make_file(const char *name)
{
    char *path = in_folder(name);
    struct recorder *r;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL_FATAL(recorder_open(path, RECORDER_NEW, 1000, &r, &err), ST_OK);
    write_one(r, "fa2", 10.5, "2026-01-01T00:00:00Z");
    write_one(r, "naive", 100, "2026-01-01T00:00:01Z");
    json_t *table =
        json_pack("{s:s, s:[{s:s, s:s}], s:[{s:s, s:s}]}", "command", "run it", "columns", "field",
                  "kernel", "title", "kernel", "rows", "kernel", "fa2", "origin", "live");
    CU_ASSERT_EQUAL(recorder_table(r, table, &err), ST_OK);
    json_decref(table);
    CU_ASSERT_EQUAL(recorder_rows(r), 2);
    CU_ASSERT_EQUAL(recorder_close(r, &err), ST_OK);
    return path;
}

static struct recording *read_file(const char *path)
{
    struct recording *rec;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL_FATAL(recording_read(path, &rec, &err), ST_OK);
    return rec;
}

static const char *text_of(const json_t *o, const char *field)
{
    const char *text = json_string_value(json_object_get(o, field));
    return text ? text : "";
}

/* Digits of a column as they may be printed; of what is none, the usual ones. And whose it is, of every row. */
static void test_columns_and_whose(void)
{
    static const int digits[][2] = {{5, 5}, {17, 17}, {18, 0}, {-3, 0}, {1000000, 0}};
    char *path = in_folder("digits.rec");
    struct recorder *r;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL_FATAL(recorder_open(path, RECORDER_NEW, 1000, &r, &err), ST_OK);
    write_one(r, "fa2", 10.5, "2026-01-01T00:00:00Z");
    write_one(r, "naive", 100, "2026-01-01T00:00:01Z");
    for (int i = 0; i < 5; i++) {
        json_t *table = json_pack("{s:s, s:[{s:s, s:s, s:i}], s:[{s:s, s:s}]}", "command", "run it",
                                  "columns", "field", "kernel", "title", "kernel", "digits",
                                  digits[i][0], "rows", "kernel", "fa2", "origin", "live");
        CU_ASSERT_EQUAL(recorder_table(r, table, &err), ST_OK);
        json_decref(table);
    }
    CU_ASSERT_EQUAL(recorder_close(r, &err), ST_OK);
    struct recording *rec = read_file(path);
    CU_ASSERT_EQUAL_FATAL(json_array_size(rec->tables), 5);
    for (size_t i = 0; i < 5; i++) {
        const json_t *col =
            json_array_get(json_object_get(json_array_get(rec->tables, i), "columns"), 0);
        CU_ASSERT_EQUAL(json_integer_value(json_object_get(col, "digits")), digits[i][1]);
    }
    CU_ASSERT_EQUAL_FATAL(rec->nrows, 2);
    recording_belongs(rec, NULL);
    for (size_t i = 0; i < 2; i++)
        CU_ASSERT_STRING_EQUAL(row_kept(rec->rows[i].row)->whose, "shipped");
    recording_free(rec);
    unlink(path);
    free(path);
}

static void test_round_trip(void)
{
    char *path = make_file("a.rec");
    struct recording *rec = read_file(path);
    CU_ASSERT_STRING_EQUAL(rec->name, "a");
    CU_ASSERT_STRING_EQUAL(rec->header.device, "Test GPU");
    CU_ASSERT_STRING_EQUAL(rec->header.driver, "580.1");
    CU_ASSERT_EQUAL(rec->header.seed, 42);
    CU_ASSERT_EQUAL_FATAL(rec->nrows, 2);
    const struct recorded_row *r = &rec->rows[0];
    CU_ASSERT_STRING_EQUAL(row_text(r->row, "origin"), "recorded");
    CU_ASSERT_STRING_EQUAL(row_text(r->row, "command"), "run it");
    CU_ASSERT_STRING_EQUAL(row_text(r->row, "recording"), "a");
    CU_ASSERT_EQUAL(r->run->median_us, 10.5);
    CU_ASSERT_PTR_NULL(r->run->samples_us);
    CU_ASSERT_EQUAL_FATAL(r->nsamples, 3); /* what is no time was left out */
    CU_ASSERT_EQUAL(r->samples[1], 11.5);
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(r->plan, "smem_bytes")), 8192);
    CU_ASSERT_EQUAL_FATAL(json_array_size(rec->tables), 1);
    const json_t *shown =
        json_array_get(json_object_get(json_array_get(rec->tables, 0), "rows"), 0);
    CU_ASSERT_STRING_EQUAL(text_of(shown, "origin"), "recorded");
    CU_ASSERT_PTR_NULL(rec->note);
    recording_free(rec);
    free(path);
}

static void test_never_overwrites(void)
{
    char *path = make_file("b.rec");
    struct recorder *r, *second;
    struct err err = ERR_INIT;
    struct stat before, after;
    stat(path, &before);
    CU_ASSERT_EQUAL(recorder_open(path, RECORDER_NEW, 10, &r, &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "--force"));
    stat(path, &after);
    CU_ASSERT_EQUAL(before.st_size, after.st_size);
    CU_ASSERT_EQUAL_FATAL(recorder_open(path, RECORDER_APPEND, 2, &r, &err), ST_OK);
    CU_ASSERT_EQUAL(recorder_open(path, RECORDER_APPEND, 2, &second, &err), ST_USAGE);
    write_one(r, "third", 5, "2026-01-02T00:00:00Z");
    recorder_close(r, NULL);
    struct recording *rec = read_file(path);
    CU_ASSERT_EQUAL_FATAL(rec->nrows, 3);
    CU_ASSERT(rec->rows[2].nsamples <= 2);
    recording_free(rec);
    CU_ASSERT_EQUAL_FATAL(recorder_open(path, RECORDER_REPLACE, 0, &r, &err), ST_OK);
    write_one(r, "alone", 5, "2026-01-02T00:00:00Z");
    recorder_close(r, NULL);
    rec = read_file(path);
    CU_ASSERT_EQUAL(rec->nrows, 1);
    CU_ASSERT_EQUAL(rec->rows[0].nsamples, 0);
    recording_free(rec);
    CU_ASSERT_EQUAL(recorder_open(folder, RECORDER_APPEND, 2, &r, &err), ST_USAGE);
    char *other = in_folder("text");
    FILE *f = fopen(other, "w");
    fputs("my diary\n", f);
    fclose(f);
    CU_ASSERT_EQUAL(recorder_open(other, RECORDER_APPEND, 2, &r, &err), ST_USAGE);
    free(other);
    free(path);
}

/* Every prefix of a recording opens, once its header is whole, with all rows that are whole. */
static void test_cut_off(void)
{
    char *path = make_file("c.rec"), *text;
    size_t len, lines = 0;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL_FATAL(str_read_file(path, 1 << 20, &text, &len, &err), ST_OK);
    for (size_t n = 0; n <= len; n++) {
        struct recording *rec;
        const bool whole = n == 0 || text[n - 1] == '\n' || (n < len && text[n] == '\n');
        lines += n && text[n - 1] == '\n';
        enum status st = recording_parse("c", text, n, &rec, &err);
        if (lines == 0 && !whole)
            CU_ASSERT_EQUAL(st, ST_USAGE);
        if (st)
            continue;
        CU_ASSERT_EQUAL(rec->note == NULL, whole);
        if (lines >= 1 && whole && n && text[n - 1] == '\n')
            CU_ASSERT_EQUAL(rec->nrows, lines > 3 ? 2 : lines - 1);
        recording_free(rec);
    }
    /* A cut-off file can be gone on with: the broken line stays alone. */
    CU_ASSERT_EQUAL(truncate(path, (off_t)len - 9), 0);
    struct recorder *r;
    CU_ASSERT_EQUAL_FATAL(recorder_open(path, RECORDER_APPEND, 10, &r, &err), ST_OK);
    write_one(r, "after", 5, "2026-01-02T00:00:00Z");
    recorder_close(r, NULL);
    struct recording *rec = read_file(path);
    CU_ASSERT_EQUAL(rec->nrows, 3);
    CU_ASSERT_PTR_NOT_NULL(rec->note);
    recording_free(rec);
    free(text);
    free(path);
}

/* A writer that is killed: every row that it had acknowledged is there. */
static void test_killed(void)
{
    for (int round = 0; round < 10; round++) {
        char *name = xasprintf("k%d.rec", round), *path = in_folder(name);
        int pipes[2];
        CU_ASSERT_EQUAL_FATAL(pipe(pipes), 0);
        pid_t pid = fork();
        if (pid == 0) {
            struct recorder *r;
            if (recorder_open(path, RECORDER_NEW, 1000, &r, NULL) != ST_OK)
                _exit(1);
            for (;;) {
                write_one(r, "fa2", 10, "2026-01-01T00:00:00Z");
                if (write(pipes[1], "x", 1) != 1)
                    _exit(1);
            }
        }
        close(pipes[1]);
        char got[64];
        ssize_t told = read(pipes[0], got, 1);
        usleep(1000 * (useconds_t)round);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        for (ssize_t n; (n = read(pipes[0], got, sizeof got)) > 0;)
            told += n;
        close(pipes[0]);
        struct recording *rec = read_file(path);
        CU_ASSERT(told > 0 && rec->nrows >= (size_t)told);
        CU_ASSERT(rec->nrows <= (size_t)told + 1);
        recording_free(rec);
        free(path);
        free(name);
    }
}

static void refuse(const char *text, const char *why)
{
    struct recording *rec;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(recording_parse("x", text, strlen(text), &rec, &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, why));
    if (!strstr(err.text, why))
        printf("# %s\n", err.text);
}

static const char head[] =
    "{\"type\":\"header\",\"format\":\"attnscope-recording\",\"format_version\":1}\n";

/* The one line `bad` behind a good header is left out, and said to be. */
static void spoil(const char *bad, const char *why)
{
    struct recording *rec;
    char *text = xasprintf("%s%s\n{\"type\":\"row\",\"row\":{\"kernel\":\"good\"}}\n", head, bad);
    CU_ASSERT_EQUAL_FATAL(recording_parse("x", text, strlen(text), &rec, NULL), ST_OK);
    CU_ASSERT_EQUAL(rec->nrows, 1);
    CU_ASSERT(rec->note && strstr(rec->note, why) && strstr(rec->note, "line 2"));
    if (!rec->note || !strstr(rec->note, why))
        printf("# %s\n", rec->note);
    recording_free(rec);
    free(text);
}

static void test_strangers(void)
{
    refuse("hello\n", "no JSON");
    refuse("[1]\n", "no object with a type");
    refuse("{\"type\":\"row\",\"row\":{}}\n", "header");
    refuse("{\"type\":\"header\",\"format\":\"other\"}\n", "another format");
    refuse("{\"type\":\"header\",\"format\":\"attnscope-recording\",\"format_version\":2}\n",
           "newer");
    refuse("{\"type\":\"header\",\"format\":\"attnscope-recording\"}\n", "format_version");
    spoil("{\"type\":\"row\",\"row\":{\"kernel\":5}}", "kernel must be text");
    spoil("{\"type\":\"row\",\"row\":{\"kernel\":\"x\",\"median_us\":\"fast\"}}", "a number");
    spoil("{\"type\":\"row\",\"row\":{\"kernel\":\"x\",\"median_us\":-5}}", "a time that is none");
    spoil("{\"type\":\"row\",\"row\":{\"kernel\":\"x\",\"median_us\":1e999}}", "no JSON");
    spoil("{\"type\":\"row\",\"row\":{\"kernel\":\"x\",\"seed\":99999999999999999999}}", "no JSON");
    spoil("{\"type\":\"row\",\"row\":{}}", "names no kernel");
    spoil("{\"type\":\"row\"}", "must be a JSON object");
    spoil("{\"type\":\"table\",\"columns\":[],\"rows\":[]}", "no columns");
    spoil("{\"type\":\"table\",\"columns\":[{\"field\":1}],"
          "\"rows\":[]}",
          "no columns");
    spoil("{\"type\":\"x\",\"a\":[[[[[[[[[[[[[[1]]]]]]]]]]]]]]}", "too deeply");
    struct str deep = {0};
    str_add(&deep, "{\"type\":\"x\"");
    for (int i = 0; i < 14; i++) /* objects as well as arrays */
        str_add(&deep, ",\"a\":{\"b\":1");
    for (int i = 0; i < 15; i++)
        str_addc(&deep, '}');
    spoil(str_text(&deep), "too deeply");
    str_clear(&deep);
    str_add(&deep, "{\"type\":\"x\",\"a\":");
    for (int i = 0; i < 100000; i++)
        str_addc(&deep, '[');
    spoil(str_text(&deep), "no JSON");
    str_free(&deep);
}

static void test_ratio(void)
{
    double a[40], b[40];
    for (int i = 0; i < 40; i++) {
        a[i] = 20 + 0.01 * (i % 7);
        b[i] = 10 + 0.01 * (i % 5);
    }
    struct recorded_row now = {.samples = a, .nsamples = 40}, was = {.samples = b, .nsamples = 40};
    struct ratio r = recorded_ratio(&now, &was);
    CU_ASSERT(r.lo <= r.mid && r.mid <= r.hi && r.lo > 1.99 && r.hi < 2.01);
    CU_ASSERT_STRING_EQUAL(stats_verdict(r), "SLOWER");
    r = recorded_ratio(&was, &was);
    CU_ASSERT_STRING_EQUAL(stats_verdict(r), "SAME");
    was.nsamples = 5; /* too few for an interval */
    r = recorded_ratio(&now, &was);
    CU_ASSERT(isnan(r.lo) && r.mid > 1.9);
    CU_ASSERT_STRING_EQUAL(stats_verdict(r), "AMBIGUOUS");
    was.nsamples = 0;
    CU_ASSERT(isnan(recorded_ratio(&now, &was).mid));
}

static void test_library(void)
{
    char *data = in_folder("data/attnscope/recordings"), *from = make_file("lib.rec"), *to;
    struct err err = ERR_INIT;
    setenv("XDG_DATA_HOME", (to = in_folder("data")), 1);
    free(to);
    for (char *p = data + strlen(folder) + 1; p; p = strchr(p + 1, '/')) {
        char *part = xstrndup(data, (size_t)(p - data));
        mkdir(part, 0700);
        free(part);
    }
    mkdir(data, 0700);
    to = xasprintf("%s/mine.rec", data);
    CU_ASSERT_EQUAL(rename(from, to), 0);
    char *prepared = xasprintf("%s/" LIBRARY_PREPARED ".rec", data);
    CU_ASSERT_EQUAL(link(to, prepared), 0);
    struct library *l = library_new();
    const struct recording *rec;
    CU_ASSERT_EQUAL(library_open(l, "mine", &rec, &err), ST_OK);
    CU_ASSERT_PTR_EQUAL(library_opened(l, 0), rec);
    CU_ASSERT_EQUAL(library_open(l, "mina", &rec, &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "\"mine\""));
    struct recorder *r;
    char *newer = in_folder("newer.rec");
    CU_ASSERT_EQUAL_FATAL(recorder_open(newer, RECORDER_NEW, 9, &r, &err), ST_OK);
    write_one(r, "fa2", 7, "2026-06-01T00:00:00Z");
    recorder_close(r, NULL);
    struct recording_query q = {.kernel = "fa2", .device = "test gpu", .l2 = "cold"};
    const struct recorded_row *best = library_best(l, &q);
    CU_ASSERT_PTR_NOT_NULL_FATAL(best);
    CU_ASSERT_EQUAL(best->run->median_us, 10.5);
    CU_ASSERT_EQUAL(library_open(l, newer, &rec, &err), ST_OK);
    best = library_best(l, &q);
    CU_ASSERT_EQUAL(best->run->median_us, 7);
    q.device = "no such GPU"; /* shipped recordings have real ones */
    CU_ASSERT_PTR_NULL(library_best(l, &q));
    q = (struct recording_query){.kernel = "fa2", .params = "BR=64"};
    CU_ASSERT_PTR_NULL(library_best(l, &q));
    q = (struct recording_query){.kernel = "fa2", .device = "test gpu"};
    library_look(l, LIBRARY_LESSONS);
    CU_ASSERT_EQUAL(library_open(l, "mine", &rec, &err), ST_USAGE);
    CU_ASSERT_EQUAL(library_open(l, newer, &rec, &err), ST_USAGE);
    CU_ASSERT_EQUAL(library_open(l, LIBRARY_PREPARED, &rec, &err), ST_OK);
    CU_ASSERT_PTR_NOT_NULL(library_best(l, &q));
    library_look(l, LIBRARY_SHIPPED);
    CU_ASSERT_EQUAL(library_open(l, "mine", &rec, &err), ST_USAGE);
    CU_ASSERT_EQUAL(library_open(l, newer, &rec, &err), ST_USAGE);
    CU_ASSERT_EQUAL(library_open(l, LIBRARY_PREPARED, &rec, &err), ST_USAGE);
    CU_ASSERT_PTR_NULL(library_best(l, &q)); /* neither the prepared one nor what was opened */
    CU_ASSERT_EQUAL(library_open(l, "h200-short", &rec, &err), ST_OK);
    library_look(l, LIBRARY_ALL);
    CU_ASSERT_EQUAL(library_open(l, "mine", &rec, &err), ST_OK);
    library_free(l);
    unlink(prepared);
    free(prepared);
    free(newer);
    free(from);
    free(to);
    free(data);
}

/* The text of a recording with `from` put in the place of `to`, once; what its note says. The caller frees both. */
static char *altered(const char *text, const char *from, const char *to, struct recording **rec)
{
    struct err err = ERR_INIT;
    const char *at = strstr(text, from);
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    char *other = xasprintf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    CU_ASSERT_EQUAL_FATAL(recording_parse("a", other, strlen(other), rec, &err), ST_OK);
    return other;
}

static void count_altered(void *ctx, const struct run_row *row)
{
    int *n = ctx;
    n[0]++;
    n[1] += row->origin && !strcmp(row->origin, ORIGIN_ALTERED);
    n[2] += row->time != NULL;
}

/* Seals: a figure, the header, a line that is gone or moved. */
static void test_seals(void)
{
    static const char *const says[] = {"1 line was changed by hand since it was recorded: ALTERED",
                                       "where and when it was recorded was changed by hand",
                                       "lines were taken out, put in or moved"};
    char *path = make_file("sealed.rec"), *text;
    size_t len;
    struct recording *rec;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL_FATAL(str_read_file(path, 1 << 20, &text, &len, &err), ST_OK);
    const char *first = strchr(text, '\n') + 1, *second = strchr(first, '\n') + 1;
    char *row = xstrndup(first, (size_t)(second - first));
    char *twice = xasprintf("%s%s", text, text); /* two recordings in one file */
    CU_ASSERT_EQUAL_FATAL(recording_parse("a", twice, strlen(twice), &rec, &err), ST_OK);
    CU_ASSERT_EQUAL(rec->nrows, 4);
    CU_ASSERT(rec->note && strstr(rec->note, "put in"));
    recording_free(rec);
    free(twice);
    const char *const from[] = {"10.5", "\"program_version\":\"", row},
                      *const to[] = {"9.5", "\"program_version\":\"x", ""};
    CU_ASSERT_PTR_NOT_NULL(strstr(text, from[1]));
    for (int i = 0; i < 3 && strstr(text, from[i]); i++) {
        char *other = altered(text, from[i], to[i], &rec);
        CU_ASSERT(rec->note && strstr(rec->note, says[i]));
        if (!rec->note || !strstr(rec->note, says[i]))
            printf("# %s\n", rec->note ? rec->note : "(no note)");
        int n[3] = {0};
        recording_scan_foreign(other, strlen(other), count_altered, n);
        CU_ASSERT(n[0] == (i == 2 ? 1 : 2) && n[1] == (i == 0) && n[2] == n[0]);
        recording_free(rec);
        free(other);
    }
    int n[3] = {0};
    CU_ASSERT_EQUAL_FATAL(recording_parse("a", text, len, &rec, &err), ST_OK);
    recording_each(rec, count_altered, n);
    CU_ASSERT(n[0] == 2 && n[1] == 0);
    struct rowset rows = {.type = &recorded_type};
    recording_rows(rec, &rows);
    CU_ASSERT_EQUAL(rows.n, 2);
    rowset_clear(&rows);
    recording_free(rec);
    free(row);
    free(text);
    unlink(path);
    CU_ASSERT_EQUAL(recording_read(path, &rec, &err), ST_USAGE); /* it is gone */
    CU_ASSERT_PTR_NULL(rec);
    free(path);
}

/* As many rows, tables and bytes as somebody likes: what is beyond the limits is told. */
static void test_limits(void)
{
    static const char row
        [] = "{\"type\":\"row\",\"time\":\"2026-01-01T00:00:00Z\",\"row\":{\"kernel\":\"a\"}}\n",
     table[] =
         "{\"type\":\"table\",\"columns\":[{\"field\":\"a\",\"title\":\"a\"}],\"rows\":[{\"a\":1}],"
         "\"charts\":[{\"origin\":\"live\",\"of\":[[1],{\"origin\":\"live\"}]}]}\n";
    struct recording *rec;
    struct err err = ERR_INIT;
    struct str s = {0};
    str_add(&s, head);
    str_add(&s, row);
    for (int i = 0; i < RECORDING_ROWS_MAX / 10 + 1; i++)
        str_add(&s, table);
    const size_t end = s.len;
    for (size_t i = 0; i <= RECORDING_LINE_MAX; i++)
        str_addc(&s, ' ');
    str_add(&s, "\n");
    CU_ASSERT_EQUAL_FATAL(recording_parse("a", str_text(&s), s.len, &rec, &err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(json_array_size(rec->tables), RECORDING_ROWS_MAX / 10);
    CU_ASSERT_STRING_EQUAL(rec->rows[0].run->time, "2026-01-01T00:00:00Z");
    CU_ASSERT(rec->note &&
              strstr(rec->note, "it is longer than 4 MiB; only the first 100000 rows were read"));
    char *charts =
        json_dumps(json_object_get(json_array_get(rec->tables, 0), "charts"), JSON_COMPACT);
    CU_ASSERT_STRING_EQUAL(charts,
                           "[{\"origin\":\"recorded\",\"of\":[[1],{\"origin\":\"recorded\"}]}]");
    free(charts);
    recording_free(rec);
    int n[3] = {0};
    recording_scan(str_text(&s), strlen(head) + strlen(row), count_altered, n);
    CU_ASSERT(n[0] == 1 && n[1] == 0 && n[2] == 1); /* its time is the line's */
    s.len = end;
    s.data[end] = '\0';
    for (int i = 0; i < RECORDING_ROWS_MAX; i++)
        str_add(&s, row);
    CU_ASSERT_EQUAL_FATAL(recording_parse("a", str_text(&s), s.len, &rec, &err), ST_OK);
    CU_ASSERT_EQUAL(rec->nrows, RECORDING_ROWS_MAX);
    CU_ASSERT(rec->note && strstr(rec->note, "only the first 100000 rows"));
    recording_free(rec);
    CU_ASSERT_EQUAL(recording_parse("a", "", (size_t)RECORDING_FILE_MAX + 1, &rec, &err),
                    ST_USAGE); /* nothing of it is read */
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "larger than 64 MiB"));
    str_free(&s);
}

static const struct tap_test tests[] = {
    {"columns, and whose it is", test_columns_and_whose},
    {"what is written is read back", test_round_trip},
    {"an existing file is never overwritten by accident", test_never_overwrites},
    {"a cut-off file opens without its last line", test_cut_off},
    {"a killed writer loses no acknowledged row", test_killed},
    {"files from strangers end in a sentence", test_strangers},
    {"seals tell what was changed by hand", test_seals},
    {"rows, tables and bytes beyond the limits", test_limits},
    {"the ratio of two recordings has an honest interval", test_ratio},
    {"recordings are found by name, rows by what they measured", test_library},
};

int main(void)
{
    snprintf(folder, sizeof folder, "/tmp/attnscope-recording-XXXXXX");
    if (!mkdtemp(folder))
        return 99;
    int rc = tap_run("recording", tests, sizeof tests / sizeof *tests);
    char *command[] = {(char *)"rm", (char *)"-rf", folder, NULL};
    pid_t pid = fork();
    if (pid == 0)
        execvp(command[0], command);
    waitpid(pid, NULL, 0);
    return rc;
}
