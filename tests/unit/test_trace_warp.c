/* test_trace_warp.c - `trace access`, `trace reduce` and `trace banks`: what a warp reads, and how it adds
 * up; `trace pipe` and `trace calls`: tiles on their way, and a clock.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/mem.h"
#include "command/command.h"
#include "command/session.h"
#include "home.h"
#include "lesson/lesson.h"

/* The rows of `trace ...`; NULL when it is refused. */
static json_t *trace(const char *format, ...)
{
    char rest[200];
    va_list ap;
    va_start(ap, format);
    vsnprintf(rest, sizeof rest, format, ap);
    va_end(ap);
    char *line = xasprintf("trace %s --json", rest);
    command_register_core();
    struct session *s = session_new("test");
    struct str out = {0};
    struct err err = ERR_INIT;
    const enum status st = command_line(s, line, &out, &err);
    json_t *rows = st == ST_OK ? json_loads(str_text(&out), 0, NULL) : NULL;
    str_free(&out);
    session_free(s);
    free(line);
    return rows;
}

static double field(const json_t *rows, size_t i, const char *name)
{
    return json_number_value(json_object_get(json_array_get(rows, i), name));
}

static double last(const json_t *rows, const char *name)
{
    return field(rows, json_array_size(rows) - 1, name);
}

static double total(const json_t *rows, const char *name)
{
    double sum = 0;
    for (size_t i = 0; i < json_array_size(rows); i++)
        sum += field(rows, i, name);
    return sum;
}

/* Whoever reads it, and however: a row is read once, all of it. */
static void test_every_byte_once(void)
{
    static const int heads[] = {8, 40, 64, 96, 128, 256, 1000, 8192};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        for (int vec = 1; vec <= 4; vec *= 2)
            for (int strided = 0; strided < 2; strided++) {
                json_t *rows = trace("access D=%d VEC=%d ACCESS=%s dtype=%s", heads[i], vec,
                                     strided ? "strided" : "coalesced", i % 2 ? "f16" : "f32");
                CU_ASSERT_EQUAL(total(rows, "used_bytes"), heads[i] * (i % 2 ? 2 : 4));
                CU_ASSERT_EQUAL(total(rows, "sectors"), last(rows, "sectors_so_far"));
                json_decref(rows);
            }
}

static void test_sectors(void)
{
    static const struct {
        const char *args;
        double loads, sectors;
    } cases[] = {
        {"D=64", 2, 8},
        {"D=64 ACCESS=strided", 2, 16},
        {"D=256", 8, 32},
        {"D=256 ACCESS=strided", 8, 256}, /* each lane in a sector of its own */
        {"D=1024 ACCESS=strided", 32, 1024},
        {"D=256 VEC=4", 2, 32},
        {"D=256 VEC=4 ACCESS=strided", 2, 64},
        {"D=64 VEC=4 ACCESS=strided", 1, 8}, /* one load: no stride */
        {"D=256 VEC=4 dtype=f16", 2, 16},
        {"D=40 ACCESS=strided", 2, 10}, /* 20 lanes with two each; the others have nothing */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *rows = trace("access %s", cases[i].args);
        CU_ASSERT_EQUAL(json_array_size(rows), cases[i].loads);
        CU_ASSERT_EQUAL(last(rows, "sectors_so_far"), cases[i].sectors);
        json_decref(rows);
    }
}

static void test_reductions(void)
{
    for (int lanes = 1; lanes <= 32; lanes *= 2)
        for (int max = 0; max < 2; max++) {
            const char *op = max ? "max" : "sum";
            json_t *tree = trace("reduce lanes=%d op=%s", lanes, op);
            json_t *one = trace("reduce lanes=%d op=%s how=one", lanes, op);
            json_t *atomic = trace("reduce lanes=%d op=%s how=atomic order=3", lanes, op);
            CU_ASSERT_EQUAL(json_array_size(tree), log2(lanes));
            CU_ASSERT_EQUAL(json_array_size(one), (size_t)lanes);
            CU_ASSERT_EQUAL(json_array_size(atomic), (size_t)lanes);
            CU_ASSERT(lanes == 1 || last(tree, "max_diff") < 1e-5);
            CU_ASSERT(last(one, "max_diff") < 1e-5);
            CU_ASSERT_DOUBLE_EQUAL(last(atomic, "value"), last(one, "value"), max ? 0 : 1e-5);
            json_decref(tree);
            json_decref(one);
            json_decref(atomic);
        }
}

/* What break= leaves out shows, and where the lessons say that it hides it does. */
static void test_faults(void)
{
    json_t *step = trace("reduce break=step"), *right = trace("reduce");
    CU_ASSERT_EQUAL(json_array_size(step), json_array_size(right) - 1);
    CU_ASSERT_EQUAL(last(step, "value"), field(right, 3, "value"));
    CU_ASSERT(last(step, "max_diff") > 0.1);
    json_t *hidden = trace("reduce op=max how=one break=start");
    json_t *seen = trace("reduce op=max how=one break=start shift=-9");
    CU_ASSERT_EQUAL(last(hidden, "max_diff"), 0);
    CU_ASSERT_EQUAL(last(seen, "value"), 0);
    CU_ASSERT(last(seen, "max_diff") > 1);
    json_decref(step);
    json_decref(right);
    json_decref(hidden);
    json_decref(seen);
}

/* Conflicts of 8 rows read by 16 bytes, and of 32 lanes with a row each. */
static void test_banks(void)
{
    static const struct {
        const char *args;
        double lanes, goes;
    } cases[] = {
        {"D=16", 8, 2},
        {"D=32", 8, 4},
        {"D=64", 8, 8},
        {"D=128", 8, 8},
        {"D=64 PAD=8", 8, 1},
        {"D=64 PAD=16", 8, 2},
        {"D=64 PAD=32", 8, 4},
        {"D=64 dtype=f32", 8, 8},
        {"D=64 dtype=f32 PAD=4", 8, 1},
        {"D=64 dtype=f32 VEC=1", 32, 32},
        {"D=64 dtype=f32 VEC=1 PAD=1", 32, 1},
        {"D=64 dtype=f32 VEC=1 PAD=4", 32, 4},
        {"D=64 dtype=f32 VEC=2", 16, 16},
        {"D=1 VEC=1", 32, 1}, /* two lanes a word, which is brought once */
        {"D=64 VEC=1 PAD=2", 32, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *rows = trace("banks %s", cases[i].args);
        if (last(rows, "goes") != cases[i].goes)
            printf("# banks %s: %g goes\n", cases[i].args, last(rows, "goes"));
        CU_ASSERT_EQUAL(last(rows, "goes"), cases[i].goes);
        CU_ASSERT_EQUAL((double)json_array_size(rows), cases[i].lanes);
        json_decref(rows);
    }
    for (int column = 0; column < 8; column++) {
        json_t *rows = trace("banks swizzle=yes column=%d", column);
        CU_ASSERT_EQUAL(last(rows, "goes"), 1);
        json_decref(rows);
    }
}

/* However it is buffered, the output is that of the softmax, bit for bit; only the cycles differ. */
static void test_pipe(void)
{
    json_t *softmax = trace("softmax Sk=32");
    double before = INFINITY;
    for (int stages = 1; stages <= 8; stages *= 2)
        for (int issue = 0; issue < 600; issue += 250) {
            json_t *rows = trace("pipe Sk=32 STAGES=%d issue=%d", stages, issue);
            CU_ASSERT_EQUAL(json_array_size(rows), 8);
            CU_ASSERT_EQUAL(last(rows, "o_over_l"), last(softmax, "o_over_l"));
            CU_ASSERT_EQUAL(total(rows, "k_of"), 28);
            CU_ASSERT_EQUAL(total(rows, "v_of"), 28);
            CU_ASSERT_EQUAL(last(rows, "end_cycle"), 8 * 276 + total(rows, "wait_cycles"));
            CU_ASSERT(issue > 0 || last(rows, "end_cycle") <= before);
            before = issue ? before : last(rows, "end_cycle");
            json_decref(rows);
        }
    json_t *alone = trace("pipe Sk=32 STAGES=1 load=700 work=276");
    CU_ASSERT_EQUAL(last(alone, "end_cycle"), 8 * (700 + 276));
    json_decref(alone);
    json_decref(softmax);
}

/* A missing wait shows where it matters alone: slow copies, or a fast loader. */
static void test_pipe_faults(void)
{
    static const struct {
        const char *args;
        bool right;
    } cases[] = {
        {"load=276 break=wait", true},
        {"load=277 break=wait", false},
        {"STAGES=3 load=552 break=wait", true},
        {"STAGES=3 load=553 break=wait", false},
        {"issue=276 break=empty", true},
        {"issue=100 break=empty", false},
        {"STAGES=8 issue=100 break=empty", true}, /* a buffer for every tile */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *rows = trace("pipe Sk=32 work=276 %s", cases[i].args);
        if ((last(rows, "max_diff") < 1e-6) != cases[i].right)
            printf("# pipe %s: off by %g\n", cases[i].args, last(rows, "max_diff"));
        CU_ASSERT_EQUAL(last(rows, "max_diff") < 1e-6, cases[i].right);
        CU_ASSERT(cases[i].right || total(rows, "k_of") + total(rows, "v_of") != 56);
        json_decref(rows);
    }
    json_t *rows = trace("pipe issue=2000 break=wait"); /* nothing has come yet */
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json_array_get(rows, 1), "k_of")),
                           "old");
    json_decref(rows);
}

static void test_calls(void)
{
    static const char *const breaks[] = {"nothing", "first", "alloc"};
    for (size_t i = 0; i < 3; i++) {
        json_t *rows = trace("calls Sk=64 calls=5 break=%s", breaks[i]);
        CU_ASSERT_EQUAL(json_array_size(rows), 5);
        CU_ASSERT_DOUBLE_EQUAL(total(rows, "call_us"), 5 * last(rows, "mean_us"),
                               1e-6 * total(rows, "call_us"));
        for (size_t k = 0; k < 5; k++) {
            CU_ASSERT(field(rows, k, "call_us") > 0);
            CU_ASSERT(last(rows, "min_us") <= field(rows, k, "call_us"));
        }
        json_decref(rows);
    }
}

static void test_refused(void)
{
    static const char *const bad[] = {
        "access VEC=3",       "access D=66 VEC=4",       "access D=0",
        "reduce lanes=12",    "reduce lanes=64",         "reduce how=else",
        "access Sk=4",        "reduce shift=x",          "access softmax",
        "banks VEC=3",        "banks lanes=9",           "banks column=8",
        "banks PAD=1",        "banks swizzle=yes PAD=8", "banks swizzle=yes D=32",
        "pipe Sk=30",         "pipe STAGES=0",           "pipe break=max",
        "softmax break=wait", "calls Sk=9999",           "calls break=wait"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CU_ASSERT_PTR_NULL(trace("%s", bad[i]));
}

static const struct tap_test tests[] = {
    {"a row is read once, whatever the pattern", test_every_byte_once},
    {"sectors", test_sectors},
    {"sums and maxima", test_reductions},
    {"planted faults", test_faults},
    {"banks", test_banks},
    {"tiles on their way", test_pipe},
    {"a wait left out", test_pipe_faults},
    {"calls, one after another", test_calls},
    {"what is refused", test_refused},
};

HOME_MAIN("trace_warp", tests)
