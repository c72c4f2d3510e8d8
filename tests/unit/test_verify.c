/* test_verify.c - calibration of the check: right kernels pass, planted faults never do.
 *
 * A simulated kernel, written independently of the reference, computes attention in float32 the
 * way real kernels do - tiles in various orders, online softmax, split K/V, exp or exp2, P rounded
 * or not - and can be told to make one of many classical mistakes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/sanitized.h"
#include "base/mem.h"
#include "measure/reference.h"
#include "measure/verify.h"
#include "planted.h"
#include "tap.h"

/* ---- the two calibrations ---- */

/* The plain build counts; a sanitized one looks for wrong accesses, and fewer shapes show those. */
#if SANITIZED
enum { SHARE = 5 };
#else
enum { SHARE = 1 };
#endif

static void test_right_kernels_pass(void)
{
    enum { SHAPES = 20000 / SHARE, ALLOWED = 1 }; /* less than once in 10^4 */
    int failed = 0;
    struct run_row row;
    record_init(run_fields, &row);
    for (int i = 0; i < SHAPES; i++) {
        struct problem p = random_problem();
        struct bench b = bench_new(&p, 0);
        struct sim s = sim_of(&b, random_variant(&p.shape), NONE);
        if (!run_and_judge(&b, &s, &row)) {
            describe(&p, &s.how, &row);
            failed++;
        }
        bench_free(&b);
    }
    record_clear(run_fields, &row);
    printf("# %d of %d random shapes raised a false alarm\n", failed, SHAPES);
    CU_ASSERT(failed <= ALLOWED);
}

struct tally {
    int planted, caught, invisible;
};

static void plant(enum fault fault, struct tally *t)
{
    struct problem p = is_subtle(fault) ? subtle_problem() : random_problem();
    struct variant v = random_variant(&p.shape);
    if (fault == NO_MAX)
        p.input = INPUT_LARGE;
    if (!applies(fault, &p.shape, &v))
        return;
    struct bench b = bench_new(&p, 0);
    struct sim s = sim_of(&b, v, fault);
    struct run_row row;
    record_init(run_fields, &row);
    if (!is_visible(&b, &s)) {
        t->invisible++;
    } else {
        t->planted++;
        if (!run_and_judge(&b, &s, &row)) {
            t->caught++;
            CU_ASSERT(row.reason && strlen(row.reason) > 20);
        } else {
            printf("# missed: %s\n", fault_names[fault]);
            describe(&p, &v, &row);
        }
    }
    record_clear(run_fields, &row);
    bench_free(&b);
}

static void test_planted_faults_fail(void)
{
    enum { TRIES = 4000, ENOUGH = SHARE > 1 ? 24 : 120, FEW = 24 };
    int planted = 0, caught = 0;
    for (int fault = 1; fault < FAULTS; fault++) {
        struct tally t = {0};
        for (int i = 0; i < TRIES && t.planted < (is_subtle(fault) ? FEW : ENOUGH); i++)
            plant((enum fault)fault, &t);
        printf("# %-48s planted %3d caught %3d (%d more changed nothing)\n", fault_names[fault],
               t.planted, t.caught, t.invisible);
        CU_ASSERT(t.planted >= 20);
        CU_ASSERT_EQUAL(t.caught, t.planted);
        planted += t.planted;
        caught += t.caught;
    }
    printf("# %d of %d planted faults of %d kinds caught\n", caught, planted, FAULTS - 1);
}

/* ---- the reference itself ---- */

/* Against an evaluation in double that shares no code with it. */
static void test_reference_is_right(void)
{
    double worst = 0;
    for (int i = 0; i < 300; i++) {
        struct problem p = random_problem();
        struct bench b = bench_new(&p, 0);
        const struct variant v = {.bc = 16, .splits = 1, .lanes = 1};
        struct sim s = sim_of(&b, v, NONE);
        s.exact = true;
        simulate(&s, b.out);
        CU_ASSERT_EQUAL(reference_rows(b.ref), p.shape.B * p.shape.H * p.shape.Sq);
        for (size_t e = 0; e < shape_q_elems(&p.shape); e++)
            worst = fmax(worst, fabs(b.out[e] - b.ref->value[e]) / (1 + fabs(b.out[e])));
        bench_free(&b);
    }
    printf("# largest difference of two float64 evaluations: %.2g\n", worst);
    CU_ASSERT(worst < 1e-12);
}

static struct problem medium_problem(enum dtype type, enum input_kind input)
{
    struct problem p = PROBLEM_DEFAULT;
    p.shape.H = 4;
    p.shape.Hkv = 2;
    p.shape.hkv_given = true;
    p.shape.Sq = 300;
    p.shape.Sk = 203;
    p.shape.D = 16;
    p.shape.dtype = type;
    p.shape.causal = true;
    p.input = input;
    return p;
}

/* Any number of threads gives the same reference and the same judgement, to the last bit. */
static void test_threads_do_not_matter(void)
{
    struct problem p = medium_problem(DTYPE_F32, INPUT_NORMAL);
    struct bench b = bench_new(&p, 0);
    struct pool *pool = pool_new(3);
    struct reference *other;
    struct run_row one, three;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL_FATAL(reference_new(&p, &b.t, pool, 0, &other, &err), ST_OK);
    record_init(run_fields, &one);
    record_init(run_fields, &three);
    const struct variant v = {.bc = 16, .splits = 1, .lanes = 1};
    struct sim s = sim_of(&b, v, NONE);
    CU_ASSERT(run_and_judge(&b, &s, &one));
    verify_output(other, b.guarded, pool, &three);
    json_t *a = record_to_json(run_fields, &one), *c = record_to_json(run_fields, &three);
    CU_ASSERT(json_equal(a, c));
    json_decref(a);
    json_decref(c);
    record_clear(run_fields, &one);
    record_clear(run_fields, &three);
    reference_free(other);
    pool_free(pool);
    bench_free(&b);
}

/* ---- when not all rows have a float64 answer ---- */

static double work(const struct problem *p)
{
    return shape_flops(&p->shape);
}

static void test_sampled_right_kernels_pass(void)
{
    struct run_row row;
    record_init(run_fields, &row);
    for (int type = 0; type < DTYPE_COUNT; type++)
        for (int input = 0; input < INPUT_FILES; input++)
            for (double share = 0.1; share > 0.001; share /= 50) {
                struct problem p = medium_problem((enum dtype)type, (enum input_kind)input);
                struct bench b = bench_new(&p, work(&p) * share);
                struct sim s = sim_of(&b, random_variant(&p.shape), NONE);
                if (!run_and_judge(&b, &s, &row)) {
                    describe(&p, &s.how, &row);
                    CU_FAIL("false alarm");
                }
                CU_ASSERT(row.checked_rows >= 90 && row.checked_rows < row.total_rows);
                CU_ASSERT_EQUAL(row.total_rows, 4 * 300);
                CU_ASSERT_EQUAL(row.checked_rows, reference_rows(b.ref));
                bench_free(&b);
            }
    record_clear(run_fields, &row);
}

/* First and last rows, and the neighbourhood of tile edges, are always among the judged ones. */
static void test_sampling(void)
{
    struct problem p = medium_problem(DTYPE_F16, INPUT_NORMAL);
    struct bench b = bench_new(&p, work(&p) * 0.1);
    int edges = 0;
    CU_ASSERT_EQUAL(b.ref->rows[0], 0);
    CU_ASSERT_EQUAL(b.ref->rows[b.ref->judged - 1], b.ref->total - 1);
    for (int64_t i = 0; i < b.ref->judged; i++) {
        int64_t in_tile = b.ref->rows[i] % 300 % 16;
        edges += in_tile == 0 || in_tile == 1 || in_tile == 15;
        CU_ASSERT(i == 0 || b.ref->rows[i] > b.ref->rows[i - 1]);
    }
    CU_ASSERT(edges * 5 > b.ref->judged * 2); /* half by choice, against 3 in 16 by chance */
    bench_free(&b);
}

static bool is_judged(const struct reference *r, int64_t row)
{
    for (int64_t i = 0; i < r->judged; i++)
        if (r->rows[i] == row)
            return true;
    return false;
}

/* One wrong row among 1200, and not one of those that were sampled, is found and named. */
static void test_unsampled_row(void)
{
    int planted = 0, caught = 0;
    struct run_row row;
    char where[64];
    record_init(run_fields, &row);
    for (int type = 0; type < DTYPE_COUNT; type++) {
        struct problem p = medium_problem((enum dtype)type, INPUT_NORMAL);
        struct bench b = bench_new(&p, work(&p) * 0.1);
        struct sim s = sim_of(&b, random_variant(&p.shape), NONE);
        simulate(&s, b.out);
        for (int64_t r = 0; r < b.ref->total; r += 37) {
            if (is_judged(b.ref, r) || shape_row_keys(&p.shape, r % 300) == 0)
                continue;
            double mine[16], *at = b.out + r * 16;
            memcpy(mine, at, sizeof mine);
            memset(at, 0, sizeof mine);
            if (r % 2)
                memcpy(at, at - 16, sizeof mine); /* its neighbour's result */
            write_output(&b, &s);
            memcpy(at, mine, sizeof mine);
            verify_output(b.ref, b.guarded, NULL, &row);
            snprintf(where, sizeof where, "h%d row %d ", (int)(r / 300), (int)(r % 300));
            planted++;
            caught += strcmp(row.check, "fail") == 0 && strstr(row.reason, where);
        }
        bench_free(&b);
    }
    record_clear(run_fields, &row);
    printf("# %d of %d wrong rows between the sampled ones were found\n", caught, planted);
    CU_ASSERT(planted > 30);
    CU_ASSERT_EQUAL(caught, planted);
}

/* Beyond even that, garbage is still seen. */
static void test_hull(void)
{
    struct problem p = medium_problem(DTYPE_F16, INPUT_NORMAL);
    struct bench b = bench_new(&p, work(&p) * 0.002);
    struct run_row row;
    record_init(run_fields, &row);
    CU_ASSERT_PTR_NULL(b.ref->screen);
    const struct variant v = {.bc = 16, .splits = 1, .lanes = 1};
    struct sim s = sim_of(&b, v, NONE);
    simulate(&s, b.out);
    int64_t r = 130;
    while (is_judged(b.ref, r))
        r++;
    const double bad[] = {100, NAN, -INFINITY};
    for (int i = 0; i < 3; i++) {
        double right = b.out[r * 16 + 5];
        b.out[r * 16 + 5] = bad[i];
        write_output(&b, &s);
        verify_output(b.ref, b.guarded, NULL, &row);
        CU_ASSERT_STRING_EQUAL(row.check, "fail");
        CU_ASSERT(row.reason && strstr(row.reason, "col 5"));
        b.out[r * 16 + 5] = right;
    }
    record_clear(run_fields, &row);
    bench_free(&b);
}

/* ---- what it says ---- */

static struct problem small_problem(void)
{
    struct problem p = PROBLEM_DEFAULT;
    p.shape.H = p.shape.Hkv = 2;
    p.shape.Sq = p.shape.Sk = 64;
    p.shape.D = 16;
    return p;
}

static void expect_reason(struct bench *b, struct sim *s, enum fault fault, int64_t victim,
                          const char *part)
{
    struct run_row row;
    record_init(run_fields, &row);
    s->fault = fault;
    s->victim = victim;
    bool passed = run_and_judge(b, s, &row);
    CU_ASSERT_FALSE(passed);
    if (!row.reason || !strstr(row.reason, part)) {
        printf("# wanted \"%s\", got \"%s\"\n", part, row.reason ? row.reason : "nothing");
        CU_FAIL("wrong reason");
    }
    record_clear(run_fields, &row);
}

static void test_reasons(void)
{
    struct problem p = small_problem();
    struct bench b = bench_new(&p, 0);
    const struct variant v = {.bc = 16, .splits = 1, .lanes = 1};
    struct sim s = sim_of(&b, v, NONE);
    expect_reason(&b, &s, UNWRITTEN, (64 + 7) * 16 + 3,
                  "1 of 2048 elements was never written, the first at b0 h1 row 7 col 3");
    expect_reason(&b, &s, UNWRITTEN_ROWS, 0,
                  "32 of 2048 elements were never written, the first at b0 h0 row 63 col 0");
    expect_reason(&b, &s, WRITE_AFTER, 0, "1 byte after the output was overwritten");
    expect_reason(&b, &s, WRITE_BEFORE, 8, "1 byte before the output was overwritten");
    expect_reason(&b, &s, INF_ELEMENT, 64 + 9, "an infinity where the reference has");
    expect_reason(&b, &s, INF_ELEMENT, 64 + 9, "at b0 h1 row 9 col 0");
    expect_reason(&b, &s, ROW_ZERO, 64 + 9, "at b0 h1 row 9 col ");
    expect_reason(&b, &s, ROW_ZERO, 64 + 9, "is over 2 x ");
    bench_free(&b);
}

static void test_row_fields(void)
{
    struct problem p = small_problem();
    struct bench b = bench_new(&p, 0);
    const struct variant v = {.bc = 16, .splits = 1, .lanes = 1, .rounded_p = true};
    struct sim s = sim_of(&b, v, NONE);
    struct run_row row;
    record_init(run_fields, &row);
    row.reason = xstrdup("an earlier one");
    CU_ASSERT(run_and_judge(&b, &s, &row));
    CU_ASSERT_PTR_NULL(row.reason);
    CU_ASSERT(row.max_diff > 0 && row.mean_diff <= row.rms_diff && row.rms_diff <= row.max_diff);
    CU_ASSERT_DOUBLE_EQUAL(row.error_ratio, row.max_diff / row.baseline_max_diff, 1e-12);
    CU_ASSERT(row.rounding_ratio > 0.9 && row.rounding_ratio < 1.6);
    CU_ASSERT_EQUAL(row.checked_rows, 128);
    CU_ASSERT_EQUAL(json_object_size(row.worst), 4);
    s.fault = ROW_ZERO;
    s.victim = 70;
    CU_ASSERT_FALSE(run_and_judge(&b, &s, &row));
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(row.worst, "h")), 1);
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(row.worst, "row")), 6);
    record_clear(run_fields, &row);
    bench_free(&b);
}

static void test_pair(void)
{
    struct problem p = small_problem();
    struct bench b = bench_new(&p, 0);
    const struct variant v = {.bc = 16, .splits = 1, .lanes = 1};
    struct sim s = sim_of(&b, v, NONE);
    simulate(&s, b.out);
    write_output(&b, &s);
    size_t bytes = b.bytes + 2 * OUTPUT_GUARD_BYTES;
    char *other = xmalloc(bytes);
    memcpy(other, b.guarded, bytes);
    CU_ASSERT_EQUAL(verify_pair(&p, b.guarded, other, NULL), 0);
    double x = dtype_get(DTYPE_F16, other + OUTPUT_GUARD_BYTES, 77);
    dtype_set(DTYPE_F16, other + OUTPUT_GUARD_BYTES, 77, x + 1);
    CU_ASSERT_DOUBLE_EQUAL(verify_pair(&p, b.guarded, other, NULL), 1, 2e-3);
    dtype_set(DTYPE_F16, other + OUTPUT_GUARD_BYTES, 77, NAN);
    CU_ASSERT(isnan(verify_pair(&p, b.guarded, other, NULL)));
    free(other);
    bench_free(&b);
}

/* Outputs that take several pieces, the last of them short: a difference counts wherever it is, and the largest of them. */
static void test_large_pair(void)
{
    struct problem p = small_problem();
    CU_ASSERT_EQUAL_FATAL(shape_parse("B=1 H=3 Sq=1111 Sk=64 D=40 f16", &p.shape, NULL), ST_OK);
    const size_t n = shape_q_elems(&p.shape), at[] = {0, 1023, 1024, 65535, 65536, n - 1};
    char *a = xcalloc(n * 2 + 2 * OUTPUT_GUARD_BYTES, 1),
         *b = xcalloc(n * 2 + 2 * OUTPUT_GUARD_BYTES, 1);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        dtype_set(DTYPE_F16, b + OUTPUT_GUARD_BYTES, at[i], -0.5);
        CU_ASSERT_EQUAL(verify_pair(&p, a, b, NULL), 0.5);
        dtype_set(DTYPE_F16, a + OUTPUT_GUARD_BYTES, n / 2, 0.25); /* a smaller one besides */
        CU_ASSERT_EQUAL(verify_pair(&p, a, b, NULL), 0.5);
        dtype_set(DTYPE_F16, a + OUTPUT_GUARD_BYTES, n / 2, NAN); /* what is no number, of one */
        CU_ASSERT(isnan(verify_pair(&p, a, b, NULL)));
        dtype_set(DTYPE_F16, b + OUTPUT_GUARD_BYTES, n / 2, NAN); /* and of both */
        CU_ASSERT_EQUAL(verify_pair(&p, a, b, NULL), 0.5);
        dtype_set(DTYPE_F16, a + OUTPUT_GUARD_BYTES, n / 2, 0);
        dtype_set(DTYPE_F16, b + OUTPUT_GUARD_BYTES, n / 2, 0);
        dtype_set(DTYPE_F16, b + OUTPUT_GUARD_BYTES, at[i], 0);
    }
    memset(a, 1, OUTPUT_GUARD_BYTES); /* what is beside an output is none of it */
    memset(a + OUTPUT_GUARD_BYTES + n * 2, 1, OUTPUT_GUARD_BYTES);
    CU_ASSERT_EQUAL(verify_pair(&p, a, b, NULL), 0);
    free(a);
    free(b);
    problem_clear(&p);
}

/* A single key is exact in every type: nothing to be wrong by, and nothing may be. */
static void test_exact_case(void)
{
    struct problem p = small_problem();
    p.shape.Sk = 1;
    struct bench b = bench_new(&p, 0);
    const struct variant v = {.bc = 16, .splits = 1, .lanes = 1, .rounded_p = true};
    struct sim s = sim_of(&b, v, NONE);
    struct run_row row;
    record_init(run_fields, &row);
    CU_ASSERT(run_and_judge(&b, &s, &row));
    CU_ASSERT_EQUAL(row.max_diff, 0);
    CU_ASSERT_EQUAL(row.error_ratio, 1);
    record_clear(run_fields, &row);
    bench_free(&b);
}

/* ---- LSE ---- */

/* log(sum exp) of a row in float32, keys from the last to the first, online: not as the reference does it. */
static float lse_of_row(const struct bench *b, int64_t row)
{
    const struct shape *s = &b->p.shape;
    const struct row_place at = row_place_of(s, row);
    const float *q = b->q + row * s->D,
                *k = b->k + (at.b * s->Hkv + at.h / (s->H / s->Hkv)) * s->Sk * s->D;
    float max = -INFINITY, sum = 0;
    for (int64_t j = shape_row_keys(s, at.i); j-- > 0;) {
        float score = 0;
        for (int64_t d = 0; d < s->D; d++)
            score += q[d] * k[j * s->D + d];
        score *= (float)(1 / sqrt((double)s->D));
        if (score > max) {
            sum = sum * expf(max - score) + 1;
            max = score;
        } else {
            sum += expf(score - max);
        }
    }
    return sum > 0 ? max + logf(sum) : -INFINITY;
}

/* A guarded LSE; `written`: all rows, else none. The caller frees it. */
static char *lse_of(const struct bench *b, bool written)
{
    const struct shape *s = &b->p.shape;
    const size_t bytes = lse_guarded_bytes(s);
    char *lse = xmalloc(bytes);
    memset(lse, output_guard_byte, bytes);
    for (int64_t row = 0; row < s->B * s->H * s->Sq; row++) {
        const float x = written ? lse_of_row(b, row) : 0;
        memcpy(lse + OUTPUT_GUARD_BYTES + (size_t)row * sizeof x,
               written ? (const void *)&x : output_poison_f32, sizeof x);
    }
    return lse;
}

static void put_lse(char *lse, int64_t row, float x)
{
    memcpy(lse + OUTPUT_GUARD_BYTES + (size_t)row * sizeof x, &x, sizeof x);
}

static void test_right_lse_passes(void)
{
    int failed = 0;
    for (int i = 0; i < 600 / SHARE; i++) {
        const struct problem p = random_problem();
        struct bench b = bench_new(&p, 0);
        struct run_row row;
        record_init(run_fields, &row);
        char *lse = lse_of(&b, true);
        verify_lse(b.ref, lse, &row);
        failed += row.check != NULL || !isfinite(row.lse_max_diff);
        if (row.check)
            printf("# %s\n", row.reason);
        free(lse);
        record_clear(run_fields, &row);
        bench_free(&b);
    }
    CU_ASSERT_EQUAL(failed, 0);
}

static void expect_lse(const struct bench *b, const char *lse, const char *part)
{
    struct run_row row;
    record_init(run_fields, &row);
    row.check = xstrdup("pass");
    verify_lse(b->ref, lse, &row);
    CU_ASSERT_STRING_EQUAL(row.check, part ? "fail" : "pass");
    if (part && (!row.reason || !strstr(row.reason, part))) {
        printf("# wanted \"%s\", got \"%s\"\n", part, row.reason ? row.reason : "nothing");
        CU_FAIL("wrong reason");
    }
    record_clear(run_fields, &row);
}

static void test_lse_faults(void)
{
    struct problem p = small_problem();
    p.shape.causal = true;
    p.shape.Sk = p.shape.Sq - 3; /* three rows without a key */
    struct bench b = bench_new(&p, 0);
    const int64_t total = p.shape.B * p.shape.H * p.shape.Sq;
    char *lse = lse_of(&b, true), *none = lse_of(&b, false);
    expect_lse(&b, lse, NULL);
    expect_lse(&b, none, NULL); /* it writes none */
    const float last = lse_of_row(&b, total - 1);
    put_lse(lse, total - 1, last / 0.69314718f); /* base 2 */
    expect_lse(&b, lse, "its LSE is off by");
    put_lse(lse, total - 1, last + 0.05f);
    expect_lse(&b, lse, "b0 h1 row 63");
    put_lse(lse, total - 1, NAN);
    expect_lse(&b, lse, "infinite or NaN");
    put_lse(lse, total - 1, last);
    put_lse(lse, 1, 0); /* no key: -inf */
    expect_lse(&b, lse, "in 1 rows, the first b0 h0 row 1");
    put_lse(lse, 1, -INFINITY);
    expect_lse(&b, lse, NULL);
    memcpy(lse + OUTPUT_GUARD_BYTES + 7 * sizeof last, output_poison_f32, sizeof last);
    expect_lse(&b, lse, "its LSE was not written in 1 of 128 rows, the first b0 h0 row 7");
    none[lse_guarded_bytes(&p.shape) - 1] = 0;
    expect_lse(&b, none, "1 bytes around its LSE");
    free(lse);
    free(none);
    bench_free(&b);
}

/* What failed for its output keeps that reason. */
static void test_lse_of_failed(void)
{
    struct problem p = small_problem();
    struct bench b = bench_new(&p, 0);
    char *lse = lse_of(&b, true);
    struct run_row row;
    put_lse(lse, 5, 1e9f);
    record_init(run_fields, &row);
    row.check = xstrdup("fail");
    row.reason = xstrdup("the output");
    verify_lse(b.ref, lse, &row);
    CU_ASSERT_STRING_EQUAL(row.reason, "the output");
    CU_ASSERT(row.lse_max_diff > 1e8);
    record_clear(run_fields, &row);
    free(lse);
    bench_free(&b);
}

/* Every element of an output of any length is poisoned, its guards are whole, and nothing beyond them is touched. */
static void test_poison(void)
{
    enum { MOST = 3 * 4096 + 52, AROUND = 8 };
    static unsigned char memory[MOST + 2 * (OUTPUT_GUARD_BYTES + AROUND)];
    static const size_t lengths[] = {0, 1, 2, 3, 1023, 1024, 1025, 2048, 2049, 3072, MOST / 4};
    unsigned char *const o = memory + AROUND + OUTPUT_GUARD_BYTES;
    for (size_t i = 0; i < 2 * sizeof lengths / sizeof *lengths; i++) {
        const enum dtype t = i % 2 ? DTYPE_F32 : DTYPE_BF16;
        const size_t size = dtype_size(t), bytes = lengths[i / 2] * size;
        const void *const element = t == DTYPE_F32 ? output_poison_f32 : output_poison_f16;
        memset(memory, 0x11, sizeof memory);
        output_guard(o, bytes);
        output_poison(o, bytes, t);
        size_t right = 0, guards = 0;
        for (size_t at = 0; at < bytes; at += size)
            right += memcmp(o + at, element, size) == 0;
        for (size_t at = 0; at < OUTPUT_GUARD_BYTES; at++)
            guards += (size_t)(o[at + bytes] == output_guard_byte) +
                      (size_t)(*(o - 1 - at) == output_guard_byte);
        CU_ASSERT_EQUAL(right, lengths[i / 2]);
        CU_ASSERT_EQUAL(guards, 2 * OUTPUT_GUARD_BYTES);
        CU_ASSERT_EQUAL(memory[AROUND - 1], 0x11);
        CU_ASSERT_EQUAL(o[bytes + OUTPUT_GUARD_BYTES], 0x11);
    }
}

static const struct tap_test tests[] = {
    {"outputs of any length are poisoned between their guards", test_poison},
    {"a right LSE passes on random shapes", test_right_lse_passes},
    {"a wrong LSE is told, and none is none", test_lse_faults},
    {"an LSE does not hide what is wrong with the output", test_lse_of_failed},
    {"the reference agrees with another float64 evaluation", test_reference_is_right},
    {"right kernels pass on 20000 random shapes", test_right_kernels_pass},
    {"planted faults never pass", test_planted_faults_fail},
    {"threads do not change a bit", test_threads_do_not_matter},
    {"right kernels pass when rows are sampled", test_sampled_right_kernels_pass},
    {"the sample has the ends and the tile edges", test_sampling},
    {"a wrong row between the sampled ones is found", test_unsampled_row},
    {"garbage is found without any answer", test_hull},
    {"reasons say what, where and by how much", test_reasons},
    {"fields of the row", test_row_fields},
    {"a pair of large outputs", test_large_pair},
    {"the difference of two outputs", test_pair},
    {"a single key is exact", test_exact_case},
};
TAP_MAIN("verify", tests)
