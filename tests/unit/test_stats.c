/* test_stats.c - quantiles, spread, and verdicts on kernels with known speed and noisy times.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure/stats.h"
#include "tap.h"

static uint64_t rng_state = 7;

static double uniform(void)
{
    uint64_t z = (rng_state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* Values worked out by hand from the definition of type 7. */
/* Three to five pairs of a very noisy run: an interval around the median, and still a ratio. */
static void test_few_pairs(void)
{
    const double a[] = {1, 9, 2, 30, 4}, b[] = {10, 3, 5, 2, 4};
    for (size_t n = 3; n <= 5; n++) {
        struct ratio r = stats_ratio(a, b, n, 1);
        CU_ASSERT(r.lo > 0 && r.lo < r.mid && r.mid < r.hi);
    }
}

/* A pair with a time that is none is left out, whichever side has it. */
static void test_pairs_that_are_none(void)
{
    static const double none[] = {0, -1, NAN, INFINITY, -INFINITY};
    double a[40], b[40];
    for (size_t i = 0; i < 40; i++) {
        a[i] = 2 + (double)(i % 5) / 100;
        b[i] = 1 + (double)(i % 3) / 100;
    }
    const struct ratio whole = stats_ratio(a, b, 30, 1);
    for (size_t i = 30; i < 40; i++)
        (i % 2 ? a : b)[i] = none[(i - 30) / 2];
    const struct ratio r = stats_ratio(a, b, 40, 1);
    CU_ASSERT(r.mid == whole.mid && r.lo == whole.lo && r.hi == whole.hi);
    CU_ASSERT(isfinite(r.hi));
}

/* Three to twelve pairs of one kernel on a machine with noise: a winner less than once in a hundred. */
static void test_few_pairs_of_one_kernel(void)
{
    enum { ROUNDS = 1500 };
    int wrong = 0, right = 0;
    for (size_t n = 3; n <= 12; n++)
        for (int i = 0; i < ROUNDS / 10; i++) {
            double a[12], b[12];
            for (size_t k = 0; k < n; k++) {
                b[k] = exp(0.1 * normal());
                a[k] = exp(0.1 * normal());
            }
            struct judgement j = stats_pairs(a, b, n, (uint64_t)i);
            wrong += j.verdict == SPEED_FASTER || j.verdict == SPEED_SLOWER;
            for (size_t k = 0; k < n; k++)
                a[k] *= 3;
            right += stats_pairs(a, b, n, (uint64_t)i).verdict == SPEED_SLOWER;
        }
    printf("# few pairs: %d of %d false, three times as long is seen in %d\n", wrong, ROUNDS,
           right);
    CU_ASSERT(wrong <= ROUNDS / 100);
    CU_ASSERT(right >= ROUNDS * 85 / 100);
}

/* Times that hang together: ahead in one long piece of the run is not ahead. */
static void test_doubts(void)
{
    enum { N = 120 };
    double a[N], b[N];
    for (int i = 0; i < N; i++)
        a[i] = b[i] = 1 + 1e-3 * normal();
    for (int i = 0; i < N; i++) /* more than half of the run, at one go */
        a[i] = b[i] * (i < 70 ? 1.1 : 0.995) * (1 + 1e-4 * normal());
    struct judgement j = stats_pairs(a, b, N, 1);
    CU_ASSERT_EQUAL(j.verdict, SPEED_AMBIGUOUS);
    CU_ASSERT(j.independent < 9);
    for (int d = DOUBT_FEW; d <= DOUBT_CHANCE; d++)
        CU_ASSERT(strlen(stats_doubt((enum doubt)d)) > 20);
    CU_ASSERT_PTR_NULL(stats_doubt(DOUBT_NONE));
}

/* A clock that goes in steps of a tenth of the time. */
enum { STEPS_N = 200 };
static void coarse_pairs(double speed, double *a, double *b)
{
    for (int i = 0; i < STEPS_N; i++) {
        a[i] = rint(10 * speed * exp(0.04 * normal()));
        b[i] = rint(10.7 * exp(0.04 * normal()));
    }
}

/* Equal times say nothing about their neighbours, in whichever order they came. */
static void test_coarse_clock(void)
{
    enum { ROUNDS = 200 };
    double a[STEPS_N], b[STEPS_N], least = STEPS_N;
    int few = 0, right = 0, wrong = 0;
    for (int i = 0; i < ROUNDS; i++) {
        coarse_pairs(1, a, b);
        struct judgement j = stats_pairs(a, b, STEPS_N, (uint64_t)i);
        few += j.doubt == DOUBT_FEW;
        right += j.verdict == SPEED_FASTER;
        least = fmin(least, stats_independent(a, STEPS_N));
        coarse_pairs(1.07, a, b);
        j = stats_pairs(a, b, STEPS_N, (uint64_t)i);
        wrong += j.verdict == SPEED_FASTER || j.verdict == SPEED_SLOWER;
    }
    printf("# coarse clock: faster in %d of %d, %d of them too dependent, %d false; of %d times "
           "%.0f count\n",
           right, ROUNDS, few, wrong, STEPS_N, least);
    CU_ASSERT_EQUAL(few, 0);
    CU_ASSERT(right >= ROUNDS * 95 / 100);
    CU_ASSERT(wrong <= ROUNDS / 100);
    CU_ASSERT(least > STEPS_N / 3.0);
    for (int i = 0; i < STEPS_N; i++) /* two values, and a long piece of each */
        a[i] = i < STEPS_N * 6 / 10 ? 20 : 21;
    CU_ASSERT(stats_independent(a, STEPS_N) < 9);
    for (int i = 0; i < STEPS_N; i++)
        a[i] = 20;
    CU_ASSERT_EQUAL(stats_independent(a, STEPS_N), STEPS_N);
}

/* Times that hang together hide no winner that every single pair shows. */
static void test_plain_winner(void)
{
    enum { N = 42 };
    double a[N], b[N];
    for (int i = 0; i < N; i++) {
        b[i] = i % 5 == 0 ? 9 : 1;
        a[i] = (i < 20 ? 22 : 15) * exp(0.1 * normal());
    }
    struct judgement j = stats_pairs(a, b, N, 1);
    CU_ASSERT_EQUAL(j.verdict, SPEED_SLOWER);
    j = stats_pairs(b, a, N, 1);
    CU_ASSERT_EQUAL(j.verdict, SPEED_FASTER);
}

static void test_quantiles(void)
{
    const double x[] = {4, 1, 3, 2, 10};
    struct stats s = stats_of(x, 5);
    CU_ASSERT_EQUAL(s.min, 1);
    CU_ASSERT_EQUAL(s.q1, 2);
    CU_ASSERT_EQUAL(s.median, 3);
    CU_ASSERT_EQUAL(s.q3, 4);
    CU_ASSERT_DOUBLE_EQUAL(s.p95, 8.8, 1e-12); /* position 3.8: 4 + 0.8 * 6 */
    CU_ASSERT_EQUAL(s.max, 10);
    CU_ASSERT_EQUAL(s.mean, 4);
    CU_ASSERT_DOUBLE_EQUAL(s.cv, sqrt(50.0 / 4) / 4, 1e-12);
    CU_ASSERT_EQUAL(s.n, 5);
    s = stats_of(x, 4); /* 1 2 3 4 */
    CU_ASSERT_DOUBLE_EQUAL(s.q1, 1.75, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(s.median, 2.5, 1e-12);
}

static void test_few_values(void)
{
    const double x[] = {5};
    struct stats s = stats_of(x, 0);
    CU_ASSERT(isnan(s.median) && isnan(s.mean) && isnan(s.cv) && s.n == 0);
    s = stats_of(x, 1);
    CU_ASSERT(s.median == 5 && s.p95 == 5 && isnan(s.cv));
}

/* One hiccup in a hundred leaves the median and the quartiles where they were. */
static void test_outlier(void)
{
    double x[101];
    for (int i = 0; i < 101; i++)
        x[i] = 100 + 0.1 * (i % 10);
    struct stats before = stats_of(x, 101);
    x[50] = 1e6;
    struct stats after = stats_of(x, 101);
    CU_ASSERT_DOUBLE_EQUAL(before.median, after.median, 0.11);
    CU_ASSERT_DOUBLE_EQUAL(before.q3, after.q3, 0.11);
    CU_ASSERT(after.cv > 1);
}

/* Pairs of times as a busy laptop gives them: drift common to both members, a few percent of
 * noise, now and then an interruption. b is the base; a runs `speed` times as long. */
enum { PAIRS = 60 };
static void noisy_pairs(double speed, double *a, double *b)
{
    double drift = 0, slope = 0.3 * uniform();
    for (int i = 0; i < PAIRS; i++) {
        drift += 0.01 * normal();
        double common = 1e-3 * (1 + slope * i / PAIRS) * exp(drift);
        a[i] = common * speed * exp(0.02 * normal()) * (uniform() < 0.03 ? 3 : 1);
        b[i] = common * exp(0.02 * normal()) * (uniform() < 0.03 ? 3 : 1);
    }
}

static int count_verdicts(double speed, const char *verdict)
{
    int n = 0;
    double a[PAIRS], b[PAIRS];
    for (int i = 0; i < 100; i++) {
        noisy_pairs(speed, a, b);
        n += strcmp(stats_verdict(stats_ratio(a, b, PAIRS, 42)), verdict) == 0;
    }
    return n;
}

static void test_same_kernel(void)
{
    int same = count_verdicts(1, "SAME"), unsure = count_verdicts(1, "AMBIGUOUS");
    printf("# itself: %d SAME and, in another 100, %d AMBIGUOUS\n", same, unsure);
    int wrong = count_verdicts(1, "FASTER") + count_verdicts(1, "SLOWER");
    CU_ASSERT(wrong <= 4); /* of 200: at least 98 of 100 are SAME or AMBIGUOUS */
}

static void test_faster_kernel(void)
{
    int faster = count_verdicts(0.95, "FASTER"), slower = count_verdicts(1 / 0.95, "SLOWER");
    printf("# 5 %% faster: %d of 100 FASTER; 5 %% slower: %d of 100 SLOWER\n", faster, slower);
    CU_ASSERT(faster >= 95);
    CU_ASSERT(slower >= 95);
}

static void test_quiet_machine(void)
{
    double a[PAIRS], b[PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        a[i] = 1 + 1e-4 * normal();
        b[i] = 1 + 1e-4 * normal();
    }
    CU_ASSERT_STRING_EQUAL(stats_verdict(stats_ratio(a, b, PAIRS, 1)), "SAME");
}

/* The interval should hold the true ratio about 95 times in 100. */
static void test_coverage(void)
{
    int covered = 0;
    double a[PAIRS], b[PAIRS];
    for (int i = 0; i < 400; i++) {
        noisy_pairs(1.1, a, b);
        struct ratio r = stats_ratio(a, b, PAIRS, (uint64_t)i);
        CU_ASSERT_FATAL(r.lo <= r.mid && r.mid <= r.hi);
        covered += r.lo <= 1.1 && 1.1 <= r.hi;
    }
    printf("# the 95 %% interval held the true ratio %d times in 400\n", covered);
    CU_ASSERT(covered >= 364 && covered <= 399);
}

/* The same of two series that were not taken in turns, of different lengths. */
static void test_coverage_apart(void)
{
    enum { ROUNDS = 300, NA = 60, NB = 90 };
    int covered = 0, wrong = 0;
    double a[NA], b[NB];
    for (int i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < NA; k++)
            a[k] = 1.1 * (1 + 0.02 * normal());
        for (int k = 0; k < NB; k++)
            b[k] = 1 + 0.02 * normal();
        struct ratio r = stats_ratio_apart(a, NA, b, NB, (uint64_t)i);
        CU_ASSERT_FATAL(r.lo <= r.mid && r.mid <= r.hi);
        covered += r.lo <= 1.1 && 1.1 <= r.hi;
        r = stats_ratio_apart(a, NA / 2, a + NA / 2, NA / 2, (uint64_t)i); /* itself */
        wrong += !strcmp(stats_verdict(r), "FASTER") || !strcmp(stats_verdict(r), "SLOWER");
    }
    printf("# apart: held the true ratio %d times in %d; itself called different %d times\n",
           covered, ROUNDS, wrong);
    CU_ASSERT(covered >= ROUNDS * 91 / 100 && covered < ROUNDS);
    CU_ASSERT(wrong <= ROUNDS * 2 / 100);
}

static void test_deterministic(void)
{
    double a[PAIRS], b[PAIRS];
    noisy_pairs(1, a, b);
    struct ratio x = stats_ratio(a, b, PAIRS, 3), y = stats_ratio(a, b, PAIRS, 3);
    CU_ASSERT(x.lo == y.lo && x.mid == y.mid && x.hi == y.hi);
    struct ratio z = stats_ratio(a, b, PAIRS, 4);
    CU_ASSERT(x.lo != z.lo || x.hi != z.hi);
}

static void test_too_few_pairs(void)
{
    const double fast[] = {1, 1, 1, 1}, slow[] = {2, 2, 2, 2};
    CU_ASSERT_STRING_EQUAL(stats_verdict(stats_ratio(fast, slow, 0, 1)), "AMBIGUOUS");
    CU_ASSERT_STRING_EQUAL(stats_verdict(stats_ratio(fast, slow, 2, 1)), "AMBIGUOUS");
    CU_ASSERT_STRING_EQUAL(stats_verdict(stats_ratio(fast, slow, 4, 1)), "FASTER");
    const double broken[] = {NAN, 0, -1, INFINITY};
    CU_ASSERT(isnan(stats_ratio(broken, slow, 4, 1).mid));
}

/* Beyond 1000 pairs neighbours are merged: same answer, bounded work. */
static void test_many_pairs(void)
{
    static double a[50000], b[50000];
    for (int i = 0; i < 50000; i++) {
        a[i] = 0.9 * exp(0.1 * normal());
        b[i] = exp(0.1 * normal());
    }
    struct ratio r = stats_ratio(a, b, 50000, 1);
    CU_ASSERT_DOUBLE_EQUAL(r.mid, 0.9, 0.005);
    CU_ASSERT(r.hi - r.lo < 0.01);
    CU_ASSERT_STRING_EQUAL(stats_verdict(r), "FASTER");
}

static void test_verdicts(void)
{
    CU_ASSERT_STRING_EQUAL(stats_verdict((struct ratio){0.9, 0.8, 0.98}), "FASTER");
    CU_ASSERT_STRING_EQUAL(stats_verdict((struct ratio){0.985, 0.98, 0.995}), "AMBIGUOUS");
    CU_ASSERT_STRING_EQUAL(stats_verdict((struct ratio){1, 0.99, 1.01}), "SAME");
    CU_ASSERT_STRING_EQUAL(stats_verdict((struct ratio){1.2, 1.02, 1.3}), "SLOWER");
    CU_ASSERT_STRING_EQUAL(stats_verdict((struct ratio){NAN, NAN, NAN}), "AMBIGUOUS");
}

static const struct tap_test tests[] = {
    {"quantiles of type 7, spread", test_quantiles},
    {"few pairs still give a ratio", test_few_pairs},
    {"pairs without a time are left out", test_pairs_that_are_none},
    {"few pairs name no false winner", test_few_pairs_of_one_kernel},
    {"a winner for part of the run is none", test_doubts},
    {"what every pair shows is no noise", test_plain_winner},
    {"none and one value", test_few_values},
    {"an outlier does not move the quartiles", test_outlier},
    {"a kernel against itself is never faster", test_same_kernel},
    {"5 % faster is found", test_faster_kernel},
    {"a quiet machine says SAME", test_quiet_machine},
    {"the interval covers the truth", test_coverage},
    {"apart: the interval covers the truth", test_coverage_apart},
    {"the same seed gives the same interval", test_deterministic},
    {"too few pairs settle nothing", test_too_few_pairs},
    {"many pairs", test_many_pairs},
    {"verdicts at their limits", test_verdicts},
    {"a coarse clock makes no neighbours", test_coarse_clock},
};
TAP_MAIN("stats", tests)
