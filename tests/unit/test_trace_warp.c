/* test_trace_warp.c - `trace access` and `trace reduce`: what a warp reads, and how it adds up.
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

static void test_refused(void)
{
    static const char *const bad[] = {"access VEC=3",    "access D=66 VEC=4", "access D=0",
                                      "reduce lanes=12", "reduce lanes=64",   "reduce how=else",
                                      "access Sk=4",     "reduce shift=x",    "access softmax"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CU_ASSERT_PTR_NULL(trace("%s", bad[i]));
}

static const struct tap_test tests[] = {
    {"a row is read once, whatever the pattern", test_every_byte_once},
    {"sectors", test_sectors},
    {"sums and maxima", test_reductions},
    {"planted faults", test_faults},
    {"what is refused", test_refused},
};

HOME_MAIN("trace_warp", tests)
