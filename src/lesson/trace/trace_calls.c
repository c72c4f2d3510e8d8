/* trace_calls.c - `trace calls`: one piece of work, timed call after call on this machine, and what a
 * careless clock makes of it.
 *
 * The work is what naive's first pass does to memory: it writes a score for each of Sk x Sk pairs (here
 * a single product each, so that memory decides). Its memory is got, and touched by a call that is not
 * counted, before the clock starts. break=first counts that call; break=alloc gets the memory anew
 * within the clock, each time.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/mem.h"
#include "lesson/trace/trace_query.h"

enum { SIZE_MOST = 2048, CALLS_MOST = 100 };
enum { COUNT_RIGHT, COUNT_FIRST, COUNT_ALLOC };

struct calls_row {
    int64_t call;
    double call_us, min_us, mean_us;
    char *origin;
};
static const struct field fields[] = {
    FIELD(FIELD_INT, calls_row, call, .doc = "The call's number, from 1."),
    FIELD(FIELD_REAL, calls_row, call_us, .title = "us", .unit = "us", .doc = "Its time."),
    FIELD(FIELD_REAL, calls_row, min_us, .title = "min so far", .unit = "us",
          .doc = "The shortest of all so far."),
    FIELD(FIELD_REAL, calls_row, mean_us, .title = "mean so far", .unit = "us",
          .doc = "The mean of all so far."),
    FIELD(FIELD_TEXT, calls_row, origin, .doc = "live: measured now on this processor."),
    {.name = NULL},
};
static const struct row_type calls_type = ROW_TYPE(calls_row, {fields, 0});

// clang-format off
const struct columns trace_calls_columns = {
    .type = &calls_type,
    .list = (const struct column[]){
        {.field = "call"},
        {.field = "call_us"},
        {.field = "min_us"},
        {.field = "mean_us"},
        {.field = "origin"},
        {0},
    },
};
// clang-format on

struct calls {
    int64_t size, calls;
    int broken;
    float *scores; /* MAP_FAILED: there are none */
};

static size_t bytes_of(const struct calls *c)
{
    return (size_t)(c->size * c->size) * sizeof *c->scores;
}

/* From the system, not from malloc(), which may keep what was given back. */
static enum status get_memory(struct calls *c, struct err *err)
{
    c->scores = mmap(NULL, bytes_of(c), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return c->scores != MAP_FAILED
               ? ST_OK
               : err_set(err, ST_FAIL, "no memory for the scores: %s", strerror(errno));
}

static void drop_memory(struct calls *c)
{
    if (c->scores != MAP_FAILED)
        (void)munmap(c->scores, bytes_of(c));
    c->scores = MAP_FAILED;
}

/* Through volatile: each score is written, whatever the compiler thinks of it. */
static void work(struct calls *c)
{
    volatile float *out = c->scores;
    for (int64_t i = 0; i < c->size; i++)
        for (int64_t j = 0; j < c->size; j++)
            out[i * c->size + j] = (float)i * (float)j;
}

static enum status one_call(struct calls *c, double *us, struct err *err)
{
    const double start = seconds_now();
    enum status st = ST_OK;
    if (c->broken == COUNT_ALLOC) {
        drop_memory(c);
        st = get_memory(c, err);
    }
    if (st == ST_OK)
        work(c);
    *us = (seconds_now() - start) * 1e6;
    return st;
}

static enum status all_calls(struct calls *c, struct rowset *rows, struct err *err)
{
    double us = 0, sum = 0, least = INFINITY;
    enum status st = c->broken == COUNT_FIRST ? ST_OK : one_call(c, &us, err);
    for (int64_t i = 1; i <= c->calls && st == ST_OK; i++) {
        st = one_call(c, &us, err);
        sum += us;
        least = fmin(least, us);
        struct calls_row *row = rowset_add(rows);
        row->call = i;
        row->call_us = us;
        row->min_us = least;
        row->mean_us = sum / (double)i;
        row->origin = xstrdup("live");
    }
    return st;
}

static enum status follow_calls(struct session *s, struct cmd_call *c, struct err *err)
{
    static const char *const breaks[] = {"nothing", "first", "alloc", NULL};
    struct calls calls = {.size = 1024, .calls = 8, .scores = MAP_FAILED};
    enum status st = trace_key_int(c, "Sk", 1, SIZE_MOST, &calls.size, err);
    if (st == ST_OK)
        st = trace_key_int(c, "calls", 1, CALLS_MOST, &calls.calls, err);
    if (st == ST_OK)
        st = trace_key_word(c, "break", breaks, &calls.broken, err);
    if (st == ST_OK)
        st = call_finish(s, c, err);
    if (st == ST_OK)
        st = get_memory(&calls, err);
    struct rowset rows = {.type = &calls_type};
    if (st == ST_OK)
        st = all_calls(&calls, &rows, err);
    if (st == ST_OK)
        st = call_rows(s, c, &rows, &trace_calls_columns);
    drop_memory(&calls);
    rowset_clear(&rows);
    return st;
}

const struct trace_view trace_calls = {
    .word = "calls", .columns = &trace_calls_columns, .exec = follow_calls};
