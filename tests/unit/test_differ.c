/* test_differ.c - in what two plans differ, and barriers counted in a text.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/differ.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "kernel/lex.h"
#include "tap.h"

static int barriers(const char *text)
{
    return lex_barriers_in_loops(text, strlen(text));
}

static void test_barriers(void)
{
    CU_ASSERT_EQUAL(barriers("__syncthreads();"), 0);
    CU_ASSERT_EQUAL(
        barriers("for (int i = 0; i < n; i++) { a(); __syncthreads(); } __syncthreads();"), 1);
    CU_ASSERT_EQUAL(barriers("for (;;) __syncthreads(); __syncthreads();"), 1);
    CU_ASSERT_EQUAL(barriers("while (x) { if (y) { __syncthreads(); } __syncthreads(); }"), 2);
    CU_ASSERT_EQUAL(barriers("do { __syncthreads(); } while (x); __syncthreads();"), 1);
    CU_ASSERT_EQUAL(barriers("/* for (;;) { __syncthreads(); } */ f(\"for {\"); __syncthreads();"),
                    0);
    CU_ASSERT_EQUAL(barriers("for (;;) { for (;;) { } __syncthreads(); } } } __syncthreads();"), 1);
    CU_ASSERT_EQUAL(barriers(""), 0);
}

static struct kernel_desc desc; /* without a source: no barriers are known */

/* A plan of one pass; registers below 0: not known, so that blocks and warps are bounds. */
static struct plan plan_of(int64_t threads, int64_t regs, int64_t smem, double requested)
{
    struct plan p = {.desc = &desc, .npasses = 1, .requested_bytes = requested};
    struct plan_pass *m = &p.passes[0];
    m->threads = threads;
    m->grid[0] = m->grid[1] = m->grid[2] = 1;
    m->regs = regs < 0 ? INT_UNKNOWN : regs;
    m->spill_bytes = INT_UNKNOWN;
    m->smem_bytes = smem;
    m->occ.blocks_per_sm = 2;
    m->occ.active_warps = 2 * threads / 32;
    m->occ.waves = 1.5;
    m->occ.upper_bound = regs < 0;
    return p;
}

static const struct difference *find(const struct difference *d, const char *figure)
{
    for (int i = 0; i < DIFFERENCES; i++)
        if (!strcmp(d[i].figure, figure))
            return &d[i];
    return NULL;
}

static void test_strongest_first(void)
{
    struct difference d[DIFFERENCES];
    const struct plan a = plan_of(128, 64, 1024, 8000), b = plan_of(256, 80, 1024, 1000);
    const int n = plan_differ(&a, &b, d);
    CU_ASSERT_EQUAL(n, 5); /* requested; threads, threads launched, warps; registers */
    CU_ASSERT_STRING_EQUAL(d[0].figure, "requested");
    CU_ASSERT_EQUAL(d[0].ratio, 8);
    CU_ASSERT_EQUAL(difference_favours(&d[0]), 1);
    CU_ASSERT_STRING_EQUAL(d[1].figure, "warps an SM"); /* as far apart as threads, and it speaks */
    CU_ASSERT_STRING_EQUAL(d[4].figure, "registers");
    CU_ASSERT_EQUAL(difference_favours(&d[4]), -1);
    CU_ASSERT_EQUAL(difference_favours(find(d, "warps an SM")), 1);
    CU_ASSERT_FALSE(difference_ranks(find(d, "SMEM")));
    CU_ASSERT_EQUAL(plan_differ(&a, &a, d), 0);
}

/* 44000 bytes of shared memory against none are far apart, and explain nothing: what speaks for one of them
 * comes first, and of that what goes the way of a time that is known. */
static void test_speaks_first(void)
{
    struct difference d[DIFFERENCES];
    const struct plan a = plan_of(256, 40, 0, 70000), b = plan_of(128, 128, 44032, 1000);
    int n = plan_differ(&a, &b, d);
    CU_ASSERT_STRING_EQUAL(d[0].figure, "requested");
    CU_ASSERT_STRING_EQUAL(d[1].figure, "warps an SM");
    CU_ASSERT_STRING_EQUAL(d[2].figure, "SMEM");
    CU_ASSERT_EQUAL(difference_favours(&d[0]), 1);
    differences_as_time(d, n, 1);
    CU_ASSERT_STRING_EQUAL(d[0].figure, "requested");
    differences_as_time(d, n, 0);
    CU_ASSERT_STRING_EQUAL(d[0].figure, "warps an SM");
    CU_ASSERT_STRING_EQUAL(d[1].figure, "requested");
    CU_ASSERT_STRING_EQUAL(d[2].figure, "SMEM");
    n = plan_differ(&a, &a, d);
    differences_as_time(d, n, 0);
    CU_ASSERT_EQUAL(n, 0);
}

/* A grid of 64 blocks leaves half of 132 SMs empty; one of 128 of 58 or of 500 fills them alike. */
static void test_busy(void)
{
    const struct device gpu = {.sms = 58};
    struct difference d[DIFFERENCES];
    struct plan a = plan_of(128, 64, 1024, 1000), b = a;
    a.device = b.device = &gpu;
    a.passes[0].grid[0] = 29, b.passes[0].grid[0] = 128;
    (void)plan_differ(&a, &b, d);
    const struct difference *busy = find(d, "busy SMs");
    CU_ASSERT_FATAL(busy != NULL);
    CU_ASSERT_EQUAL(busy->value[0], 29);
    CU_ASSERT_EQUAL(busy->value[1], 58);
    CU_ASSERT_EQUAL(difference_favours(busy), 1);
    CU_ASSERT_STRING_EQUAL(d[0].figure, "busy SMs");
    a.passes[0].grid[0] = 500;
    (void)plan_differ(&a, &b, d);
    CU_ASSERT_FALSE(difference_ranks(find(d, "busy SMs")));
}

/* What hangs on unknown registers is never ranked, and favours nobody. */
static void test_bounds(void)
{
    struct difference d[DIFFERENCES];
    const struct plan a = plan_of(128, -1, 1024, 1000), b = plan_of(256, 80, 2048, 1000);
    const int n = plan_differ(&a, &b, d);
    const struct difference *warps = find(d, "warps an SM"), *regs = find(d, "registers");
    CU_ASSERT_STRING_EQUAL(warps->bound[0], "<=");
    CU_ASSERT_STRING_EQUAL(warps->bound[1], "");
    CU_ASSERT_TRUE(isnan(warps->ratio));
    CU_ASSERT_EQUAL(difference_favours(warps), -1);
    CU_ASSERT_TRUE(isnan(regs->value[0]) && isnan(regs->ratio));
    CU_ASSERT_TRUE(warps - d >= n && regs - d >= n);
    /* behind what ranks: first what differs all the same, then what is alike, then what is not known */
    int last = 0;
    for (int i = n; i < DIFFERENCES; i++) {
        const bool known = isfinite(d[i].value[0]) && isfinite(d[i].value[1]);
        const int is = known && d[i].value[0] != d[i].value[1] ? 0 : known ? 1 : 2;
        CU_ASSERT_TRUE(is >= last);
        last = is;
    }
    CU_ASSERT_EQUAL(last, 2);
    CU_ASSERT_TRUE(warps < find(d, "requested") && find(d, "requested") < regs);
}

/* A zero has no ratio; what differs all the same is ranked, as if it were one, among what speaks for neither. */
static void test_zero(void)
{
    struct difference d[DIFFERENCES];
    const struct plan a = plan_of(128, 64, 0, 1000), b = plan_of(128, 64, 4096, 3000);
    CU_ASSERT_EQUAL(plan_differ(&a, &b, d), 2);
    CU_ASSERT_STRING_EQUAL(d[0].figure, "requested");
    CU_ASSERT_STRING_EQUAL(d[1].figure, "SMEM");
    CU_ASSERT_TRUE(isnan(d[1].ratio));
}

/* A few spilled bytes are little beside units that are fifteen times as fast. */
static void test_spill_and_units(void)
{
    struct difference d[DIFFERENCES];
    struct plan a = plan_of(128, 168, 1024, 1000), b = plan_of(128, 255, 1024, 1000);
    a.passes[0].spill_bytes = 0, b.passes[0].spill_bytes = 64;
    a.peak_tflops = 66.9, b.peak_tflops = 989;
    CU_ASSERT_EQUAL(plan_differ(&a, &b, d), 3);
    CU_ASSERT_STRING_EQUAL(d[0].figure, "units' TFLOP/s");
    CU_ASSERT_EQUAL(difference_favours(&d[0]), 1);
    CU_ASSERT_STRING_EQUAL(d[1].figure, "spilled"); /* little, but it speaks */
    CU_ASSERT_EQUAL(difference_favours(&d[1]), 0);
    CU_ASSERT_STRING_EQUAL(d[2].figure, "registers");
}

/* Blocks of all three directions take part. */
static void test_grid(void)
{
    struct difference d[DIFFERENCES];
    struct plan a = plan_of(128, 64, 1024, 1000), b = a;
    memcpy(a.passes[0].grid, (int64_t[]){4, 6, 10}, sizeof a.passes[0].grid);
    memcpy(b.passes[0].grid, (int64_t[]){2, 3, 5}, sizeof b.passes[0].grid);
    CU_ASSERT_TRUE(plan_differ(&a, &b, d) >= 1);
    const struct difference *threads = find(d, "threads launched");
    CU_ASSERT_FATAL(threads != NULL);
    CU_ASSERT_EQUAL(threads->value[0], 128 * 240);
    CU_ASSERT_EQUAL(threads->value[1], 128 * 30);
    CU_ASSERT_EQUAL(threads->ratio, 8);
}

static void test_no_pass(void)
{
    struct difference d[DIFFERENCES];
    const struct plan a = {.desc = &desc}, b = plan_of(128, 64, 0, 1000);
    CU_ASSERT_EQUAL(plan_differ(&a, &b, d), 0);
}

static const struct tap_test tests[] = {
    {"barriers in loops", test_barriers},       {"the strongest first", test_strongest_first},
    {"bounds are not ranked", test_bounds},     {"one has none", test_zero},
    {"a plan without a launch", test_no_pass},  {"blocks of three directions", test_grid},
    {"spills and units", test_spill_and_units}, {"what speaks comes first", test_speaks_first},
    {"SMs without a block", test_busy},
};

TAP_MAIN("differ", tests)
