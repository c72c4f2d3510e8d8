/* test_trace_warp.c - `trace access`, `trace reduce` and `trace banks`: what a warp of a kernel reads, and how it
 * adds up, as the simulator executes it; `trace pipe` and `trace calls`: tiles on their way, and a clock; `trace splitkv` and
 * `trace sum`: parts that are joined, and one sum in several orders.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

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

static const char *text(const json_t *rows, size_t i, const char *name)
{
    const char *t = json_string_value(json_object_get(json_array_get(rows, i), name));
    return t ? t : "";
}

/* Whoever reads it, and however: a row of K is read once, all of it. */
static void test_every_byte_once(void)
{
    static const int heads[] = {64, 256};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        for (int vec = 1; vec <= 4; vec += 3)
            for (int strided = 0; strided < 2; strided++) {
                json_t *rows = trace("access row_online f32 D=%d VEC=%d ACCESS=%s operand=K",
                                     heads[i], vec, strided ? "strided" : "coalesced");
                CU_ASSERT_EQUAL(total(rows, "used_bytes"), heads[i] * 4);
                CU_ASSERT_EQUAL(total(rows, "sectors"), last(rows, "sectors_so_far"));
                CU_ASSERT(strncmp(text(rows, 0, "element"), "K[0][0][0][0]", 14) == 0);
                CU_ASSERT_STRING_EQUAL(text(rows, 0, "file"), "row_online.cu");
                CU_ASSERT_STRING_EQUAL(text(rows, 0, "origin"), "sim");
                json_decref(rows);
            }
}

/* The words of the formula choose a kernel that shows the same. */
static void test_sectors(void)
{
    static const struct {
        const char *args;
        double loads, sectors;
    } cases[] = {
        {"VEC=1", 2, 8},
        {"D=64 VEC=1 ACCESS=strided", 2, 16},
        {"D=256 VEC=1", 8, 32},
        {"D=256 VEC=1 ACCESS=strided dtype=f32", 8, 256}, /* each lane in a sector of its own */
        {"D=256 VEC=4", 2, 32},
        {"D=256 VEC=4 ACCESS=strided", 2, 64},
        {"D=64 VEC=4 ACCESS=strided", 1, 8}, /* one load: no stride */
        {"D=512 VEC=1 ACCESS=strided", 16, 512},
        {"D=1024", 8, 128},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *rows = trace("access %s", cases[i].args);
        if (last(rows, "sectors_so_far") != cases[i].sectors)
            printf("# access %s: %g\n", cases[i].args, last(rows, "sectors_so_far"));
        CU_ASSERT_EQUAL(json_array_size(rows), cases[i].loads);
        CU_ASSERT_EQUAL(last(rows, "sectors_so_far"), cases[i].sectors);
        json_decref(rows);
    }
}

/* Distances 16, 8, 4, 2, 1; each step doubles what a lane's number stands for. */
static void test_shuffles(void)
{
    json_t *sum = trace("reduce"), *max = trace("reduce row_online f32 op=max");
    CU_ASSERT_EQUAL_FATAL(json_array_size(sum), 5);
    CU_ASSERT_EQUAL_FATAL(json_array_size(max), 5);
    for (size_t i = 0; i < 5; i++) {
        CU_ASSERT_EQUAL(field(sum, i, "from"), 16 >> i);
        CU_ASSERT_EQUAL(field(sum, i, "numbers"), 2 << i);
        CU_ASSERT_EQUAL(field(sum, i, "adds"), 32);
        CU_ASSERT(i == 0 || field(max, i, "value") >= field(max, i - 1, "value"));
    }
    CU_ASSERT_DOUBLE_EQUAL(field(sum, 3, "value") + field(sum, 3, "value_1"), last(sum, "value"),
                           1e-5); /* the even lanes' and the odd ones' */
    CU_ASSERT(field(sum, 3, "max_diff") > 0.01);
    CU_ASSERT(last(sum, "max_diff") < 1e-5);
    CU_ASSERT_EQUAL(last(max, "max_diff"), 0);
    CU_ASSERT(strstr(text(max, 0, "place"), "attn.cuh") != NULL);
    json_t *four = trace("reduce qtile_tpq f16"); /* groups of four lanes */
    CU_ASSERT_EQUAL(json_array_size(four), 2);
    CU_ASSERT_EQUAL(last(four, "numbers"), 4);
    CU_ASSERT(last(four, "max_diff") < 1e-4);
    json_t *second = trace("reduce turn=2");
    CU_ASSERT_EQUAL(json_array_size(second), 5);
    CU_ASSERT(last(second, "value") != last(sum, "value"));
    CU_ASSERT(last(second, "max_diff") < 1e-5);
    json_decref(second);
    json_decref(four);
    json_decref(sum);
    json_decref(max);
}

/* One after another through shared memory; at one word; in other orders. */
static void test_one_word(void)
{
    json_t *one = trace("reduce how=one");
    CU_ASSERT_EQUAL(json_array_size(one), 8); /* warps of row_online */
    CU_ASSERT_EQUAL(last(one, "numbers"), 8);
    CU_ASSERT(last(one, "max_diff") < 1e-6);
    json_decref(one);
    json_t *atomic = trace("reduce how=atomic");
    CU_ASSERT_EQUAL_FATAL(json_array_size(atomic), 32);
    for (size_t i = 0; i < 32; i++) {
        CU_ASSERT_EQUAL(field(atomic, i, "lane"), i);
        CU_ASSERT_EQUAL(field(atomic, i, "adds"), 1);
    }
    CU_ASSERT(last(atomic, "max_diff") < 1e-5);
    json_decref(atomic);
    double first = NAN;
    int others = 0;
    for (int order = 0; order < 8; order++) {
        json_t *rows = trace("reduce row_atomic f32 S=128 buffer=Red op=sum order=%d", order);
        CU_ASSERT_EQUAL(json_array_size(rows), 4); /* a warp each */
        CU_ASSERT_EQUAL(last(rows, "numbers"), 128);
        CU_ASSERT(last(rows, "max_diff") < 1e-4);
        first = order ? first : last(rows, "value");
        others += last(rows, "value") != first;
        json_decref(rows);
    }
    CU_ASSERT(others > 0);
    json_t *short_one = trace("reduce how=atomic lanes=5");
    CU_ASSERT_EQUAL(json_array_size(short_one), 5);
    CU_ASSERT(last(short_one, "want") == last(short_one, "want") &&
              last(short_one, "max_diff") > 0);
    json_decref(short_one);
}

/* Maps as they are printed: no wavefront brings two words of one bank, and all wavefronts are there. */
static void check_map(const json_t *rows)
{
    char seen[40][33] = {{0}};
    int most = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const char *map = text(rows, i, "map");
        CU_ASSERT_EQUAL(strlen(map), 32);
        CU_ASSERT_EQUAL(field(rows, i, "bank"), (double)((int)field(rows, i, "offset") / 4 % 32));
        CU_ASSERT(map[(int)field(rows, i, "bank")] != '.');
        for (int b = 0; b < 32 && map[b]; b++) {
            const int go = map[b] == '.' ? -1 : map[b] <= '9' ? map[b] - '0' : map[b] - 'a' + 10;
            if (go < 0)
                continue;
            CU_ASSERT(go >= 1 && go < 40 && !seen[go][b]);
            seen[go][b] = 1;
            most = go > most ? go : most;
        }
    }
    CU_ASSERT_EQUAL(most, last(rows, "wavefronts"));
    CU_ASSERT_EQUAL(most, last(rows, "goes"));
}

static void test_banks(void)
{
    static const struct {
        const char *args, *element;
        double goes, ideal;
    } cases[] = {
        {"", "Ks[0][0]", 32, 4},
        {"D=64 PAD=8", "Ks[0][0]", 4, 4},
        {"fa2_mma_plain PAD=16 buffer=Ks", "Ks[0][0]", 8, 4},
        {"fa2_mma_plain bf16 D=128 buffer=Vs", "Vs[0][0]", 32, 4},
        {"swizzle=yes", "Ks[0][0]", 4, 4},
        {"VEC=1 dtype=f32 PAD=0", "Qs[0][0]", 32, 4},
        {"VEC=1 dtype=f32 PAD=1", "Qs[0][0]", 1, 1},
        {"qtile_seq f16 PAD=2 buffer=Qs", "Qs[0][0]", 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *rows = trace("banks %s", cases[i].args);
        if (last(rows, "wavefronts") != cases[i].goes)
            printf("# banks %s: %g\n", cases[i].args, last(rows, "wavefronts"));
        CU_ASSERT_EQUAL(json_array_size(rows), 32);
        CU_ASSERT_EQUAL(last(rows, "wavefronts"), cases[i].goes);
        CU_ASSERT_EQUAL(last(rows, "ideal"), cases[i].ideal);
        CU_ASSERT_STRING_EQUAL(text(rows, 0, "element"), cases[i].element);
        if (cases[i].goes == last(rows, "goes") && i < 5)
            check_map(rows);
        json_decref(rows);
    }
    for (int turn = 1; turn <= 16; turn += 3) {
        json_t *rows = trace("banks fa2_mma_swizzle buffer=Ks turn=%d", turn);
        CU_ASSERT_EQUAL(last(rows, "wavefronts"), 4);
        check_map(rows);
        json_decref(rows);
    }
}

/* The same in another block and warp; the rows say which. */
static void test_where(void)
{
    json_t *rows = trace("banks fa2 H=2 S=200 block=1,1 warp=2 buffer=Ps");
    CU_ASSERT_EQUAL(field(rows, 0, "warp"), 2);
    const json_t *block = json_object_get(json_array_get(rows, 0), "block");
    CU_ASSERT_EQUAL(json_integer_value(json_array_get(block, 0)), 1);
    CU_ASSERT_EQUAL(json_integer_value(json_array_get(block, 1)), 1);
    const double line = field(rows, 0, "line");
    json_t *same = trace("banks fa2 H=2 S=200 block=1,1 warp=2 line=%g", line);
    CU_ASSERT_EQUAL(field(same, 0, "line"), line);
    json_decref(same);
    json_decref(rows);
    json_t *store = trace("access fa2 operand=O");
    CU_ASSERT_STRING_EQUAL(text(store, 0, "instruction"), "st.global.u16");
    CU_ASSERT(strncmp(text(store, 0, "element"), "O[", 2) == 0);
    json_decref(store);
    json_t *pass = trace("access splitkv operand=partial_o"); /* a kernel of two launches */
    CU_ASSERT(json_array_size(pass) > 0);
    json_decref(pass);
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

/* Four splits of 5 tiles: the last has no key, which weighs nothing, also where weights are wrong. */
static void test_splits(void)
{
    static const int64_t keys[] = {8, 8, 4, 0, 20};
    for (int wrong = 0; wrong < 2; wrong++) {
        json_t *rows = trace("splitkv Sk=20 BC=4 SPLITS=4%s", wrong ? " break=weights" : "");
        CU_ASSERT_EQUAL_FATAL(json_array_size(rows), 5);
        double weights = 0;
        for (size_t i = 0; i < 5; i++) {
            CU_ASSERT_EQUAL(field(rows, i, "keys"), keys[i]);
            weights += i < 4 ? field(rows, i, "weight") : 0;
        }
        CU_ASSERT_DOUBLE_EQUAL(weights, 1, 1e-6);
        CU_ASSERT(field(rows, 3, "weight") == 0 && field(rows, 3, "l") == 0);
        CU_ASSERT_DOUBLE_EQUAL(last(rows, "l"), /* of the maximum that all have */
                               exp(last(rows, "lse") - last(rows, "m")), 1e-4);
        CU_ASSERT_EQUAL(last(rows, "max_diff") < 1e-6, !wrong);
        CU_ASSERT(!wrong || fabs(field(rows, 0, "weight") - 1 / 3.) < 1e-6);
        json_decref(rows);
    }
}

/* The same numbers forward, backward, as a tree, and as they may arrive. */
static void test_sums(void)
{
    static const char *const orders[] = {"forward",   "backward",  "tree",
                                         "arrival 1", "arrival 2", "arrival 3"};
    json_t *rows = trace("sum Sk=3000 tries=3");
    CU_ASSERT_EQUAL_FATAL(json_array_size(rows), 6);
    for (size_t i = 0; i < 6; i++) {
        CU_ASSERT_STRING_EQUAL(text(rows, i, "order"), orders[i]);
        CU_ASSERT_EQUAL(field(rows, i, "steps"), i == 2 ? 12 : 2999);
        CU_ASSERT_DOUBLE_EQUAL(field(rows, i, "sum"), field(rows, 0, "want"), 1e-3);
        CU_ASSERT(!i || field(rows, i, "distinct") >= field(rows, i - 1, "distinct"));
    }
    CU_ASSERT_EQUAL(field(rows, 0, "distinct"), 1);
    CU_ASSERT_NOT_EQUAL(field(rows, 1, "sum"),
                        field(rows, 0, "sum")); /* so many that order tells */
    CU_ASSERT(last(rows, "distinct") > 2);
    json_decref(rows);
}

static void test_refused(void)
{
    static const char *const bad[] = {"access VEC=3",
                                      "access D=0",
                                      "access nosuch",
                                      "access softmax",
                                      "access fa2 operand=Z",
                                      "access fa2,naive",
                                      "reduce how=else",
                                      "reduce op=mean",
                                      "reduce shift=1",
                                      "reduce break=step",
                                      "reduce naive how=atomic",
                                      "reduce turn=4096",
                                      "banks VEC=3",
                                      "banks VEC=2",
                                      "banks column=3",
                                      "banks swizzle=maybe",
                                      "banks fa2 line=x",
                                      "banks fa2 line=:5",
                                      "banks fa2 line=5:",
                                      "banks fa2 line=-3",
                                      "banks fa2 line=99999999",
                                      "banks fa2 line=1",
                                      "banks fa2 line=attn.cuh:1",
                                      "banks fa2 line=nosuch.cu:57",
                                      "banks fa2 block=1",
                                      "banks fa2 block=0,0,0,0",
                                      "banks fa2 block=x",
                                      "banks fa2 warp=31",
                                      "banks fa2 warp=32",
                                      "banks fa2 turn=0",
                                      "banks fa2 turn=4096",
                                      "banks fa2 buffer=Zs",
                                      "banks fa2 lanes=0",
                                      "banks fa2 foo=1",
                                      "banks fa3_wgmma",
                                      "banks cublas",
                                      "pipe Sk=30",
                                      "pipe STAGES=0",
                                      "pipe break=max",
                                      "pipe fa2",
                                      "softmax break=wait",
                                      "calls Sk=9999",
                                      "calls break=wait"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CU_ASSERT_PTR_NULL(trace("%s", bad[i]));
}

static const struct tap_test tests[] = {
    {"a row is read once, whatever the pattern", test_every_byte_once},
    {"sectors", test_sectors},
    {"sums and maxima by shuffles", test_shuffles},
    {"one after another, and at one word", test_one_word},
    {"banks", test_banks},
    {"which block, warp and line", test_where},
    {"tiles on their way", test_pipe},
    {"a wait left out", test_pipe_faults},
    {"calls, one after another", test_calls},
    {"splits, and their weights", test_splits},
    {"one sum in several orders", test_sums},
    {"what is refused", test_refused},
};

HOME_MAIN("trace_warp", tests)
