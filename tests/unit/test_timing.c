/* test_timing.c - when sampling stops, and which samples count.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/number.h"
#include "measure/load.h"
#include "measure/timing.h"
#include "tap.h"

static uint64_t rng_state = 11;

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

/* Feeds samples of 10 ms with this relative noise until it stops; returns why, and how many. */
static const char *run(const struct timing_rule *rule, double noise, size_t *n, double *wall)
{
    struct timing *t = timing_new(rule);
    const char *why;
    *wall = 0;
    while (!(why = timing_done(t, *wall))) {
        double s = 0.01 * (1 + noise * normal());
        timing_add(t, s, NAN, NAN);
        *wall += s;
    }
    *n = timing_count(t);
    timing_free(t);
    return why;
}

static void test_quiet_stops_by_cv(void)
{
    struct timing_rule rule = TIMING_DEFAULT;
    size_t n;
    double wall;
    CU_ASSERT_STRING_EQUAL(run(&rule, 0.001, &n, &wall), "cv");
    CU_ASSERT(wall >= rule.min_s && wall < rule.min_s + 0.03);
    rule.min_s = 0;
    CU_ASSERT_STRING_EQUAL(run(&rule, 0.001, &n, &wall), "cv");
    CU_ASSERT_EQUAL(n, 10); /* min_n */
}

static void test_even_noise_stops_by_steadiness(void)
{
    struct timing_rule rule = TIMING_DEFAULT;
    size_t n;
    double wall;
    rule.max_s = 60;
    CU_ASSERT_STRING_EQUAL(run(&rule, 0.05, &n, &wall), "steady");
    printf("# 5 %% of noise: steady after %zu samples\n", n);
    CU_ASSERT(n >= 65 && n % 16 == 0);
    CU_ASSERT(wall < 30);
}

static void test_wall_limit(void)
{
    struct timing_rule rule = TIMING_DEFAULT;
    struct timing *t = timing_new(&rule);
    CU_ASSERT_PTR_NULL(timing_done(t, 4.99));
    CU_ASSERT_STRING_EQUAL(timing_done(t, 5), "time"); /* even without a sample */
    timing_free(t);
    rule.n = 1000;
    size_t n;
    double wall;
    CU_ASSERT_STRING_EQUAL(run(&rule, 0, &n, &wall), "time");
    CU_ASSERT(wall >= 5 && wall < 5.1);
}

static void test_fixed_count(void)
{
    struct timing_rule rule = TIMING_DEFAULT;
    size_t n;
    double wall;
    rule.n = 3;
    CU_ASSERT_STRING_EQUAL(run(&rule, 0.5, &n, &wall), "n");
    CU_ASSERT_EQUAL(n, 3);
    rule.n = 200; /* and no other rule ends it */
    CU_ASSERT_STRING_EQUAL(run(&rule, 0, &n, &wall), "n");
    CU_ASSERT_EQUAL(n, 200);
}

/* The coefficient of variation is that of a sample: over n - 1. Of ten that are d above and below 1 it is d * sqrt(10 / 9). */
static void test_cv_is_of_a_sample(void)
{
    for (int over = 0; over < 2; over++) {
        struct timing_rule rule = TIMING_DEFAULT;
        rule.min_s = 0;
        rule.cv = 0.01;
        struct timing *t = timing_new(&rule);
        const double d = rule.cv / sqrt(10 / 9.0) * (over ? 1.001 : 0.999);
        for (int i = 0; i < 10; i++)
            timing_add(t, i % 2 ? 1 + d : 1 - d, NAN, NAN);
        CU_ASSERT_EQUAL(timing_done(t, 1) == NULL, over);
        timing_free(t);
    }
}

static void test_one_sample_is_no_cv(void)
{
    struct timing_rule rule = TIMING_DEFAULT;
    rule.min_n = 1;
    rule.min_s = 0;
    struct timing *t = timing_new(&rule);
    timing_add(t, 1, NAN, NAN);
    CU_ASSERT_PTR_NULL(timing_done(t, 1));
    timing_free(t);
}

/* Samples at a throttled clock take twice as long; they must not show in the figures. */
static void test_low_clock_is_dropped(void)
{
    struct timing_rule rule = TIMING_DEFAULT;
    struct timing *t = timing_new(&rule);
    struct run_row row;
    record_init(run_fields, &row);
    for (int i = 0; i < 100; i++) {
        bool low = i % 5 == 1;
        timing_add(t, low ? 2e-3 : 1e-3, low ? 900 : 1950, 1980);
    }
    timing_fill(t, &row);
    CU_ASSERT_EQUAL(row.n, 80);
    CU_ASSERT_EQUAL(row.dropped, 20);
    CU_ASSERT_DOUBLE_EQUAL(row.p95_us, 1000, 1e-9);
    CU_ASSERT_EQUAL(row.sm_clock_mhz, 1950);
    CU_ASSERT_PTR_NULL(row.reason);
    CU_ASSERT_FALSE(timing_unstable(t));
    for (size_t i = 0; i < timing_count(t); i++)
        CU_ASSERT_EQUAL(timing_samples(t)[i], 1e-3);
    timing_free(t);
    record_clear(run_fields, &row);
}

/* A clock that never reaches its usual rate must not lead to an empty result. */
static void test_always_low_is_kept(void)
{
    struct timing_rule rule = TIMING_DEFAULT;
    struct timing *t = timing_new(&rule);
    struct run_row row;
    record_init(run_fields, &row);
    for (int i = 0; i < 50; i++)
        timing_add(t, 1e-3 * (i + 1), 900, 1980);
    timing_fill(t, &row);
    CU_ASSERT(timing_unstable(t));
    CU_ASSERT_EQUAL(row.n, 50);
    CU_ASSERT_EQUAL(row.dropped, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(row.reason);
    CU_ASSERT_STRING_EQUAL(row.reason, "unstable: 50 of 50 samples ran below 75 % of the usual "
                                       "clock; they were kept");
    for (size_t i = 0; i < timing_count(t); i++)
        CU_ASSERT_DOUBLE_EQUAL(timing_samples(t)[i], 1e-3 * (double)(i + 1), 1e-12);
    timing_free(t);
    record_clear(run_fields, &row);
}

/* One sample beside a slow neighbour, and that at a low clock: it is no series without a median. */
static void test_few_are_judged_at_the_end(void)
{
    for (int n = 1; n <= 4; n++)
        for (int low = 0; low <= n; low++) {
            struct timing *t = timing_new(&TIMING_DEFAULT);
            struct run_row row;
            record_init(run_fields, &row);
            for (int i = 0; i < n; i++)
                timing_add(t, 1e-3, i < low ? 900 : 1980, 1980);
            CU_ASSERT_EQUAL(timing_count(t), (size_t)(n - low));
            timing_close(t);
            timing_fill(t, &row);
            CU_ASSERT_EQUAL(row.n, 2 * low > n ? n : n - low);
            CU_ASSERT_EQUAL(row.n + row.dropped, n);
            CU_ASSERT(row.n > 0);
            CU_ASSERT_EQUAL(row.reason != NULL, 2 * low > n);
            timing_free(t);
            record_clear(run_fields, &row);
        }
}

/* Half of them low is not most of them: those are dropped. One more, and all are kept, in their order, with no stop rule's memory of
 * the series that was begun anew. */
static void test_half_low(void)
{
    struct timing *t = timing_new(&TIMING_DEFAULT);
    for (int i = 0; i < 40; i++)
        timing_add(t, i % 2 ? 2e-3 : 1e-3, i % 2 ? 900 : 1980, 1980);
    CU_ASSERT(!timing_unstable(t) && timing_count(t) == 20);
    timing_free(t);
    t = timing_new(&TIMING_DEFAULT);
    for (int i = 0; i < 200; i++) /* noise that stays as it is: steady */
        timing_add(t, i % 2 ? 1.1e-3 : 1e-3, 1980, 1980);
    CU_ASSERT_STRING_EQUAL(timing_done(t, 1), "steady");
    for (int i = 0; i < 201; i++)
        timing_add(t, 2e-3 * (i + 1), 900, 1980);
    CU_ASSERT(timing_unstable(t) && timing_count(t) == 401);
    CU_ASSERT_PTR_NULL(timing_done(t, 1)); /* of all of them the noise grows */
    CU_ASSERT_EQUAL(timing_samples(t)[0], 1e-3);
    CU_ASSERT_EQUAL(timing_samples(t)[400], 2e-3 * 201);
    timing_free(t);
    t = timing_new(&TIMING_DEFAULT);
    for (int i = 0; i < 12; i++) /* begun anew, and no window of 64 yet */
        timing_add(t, 1e-3 * (i + 1), 900, 1980);
    CU_ASSERT(timing_unstable(t) && timing_count(t) == 12);
    CU_ASSERT_PTR_NULL(timing_done(t, 1));
    timing_free(t);
}

static void test_clock_floor_off_or_unknown(void)
{
    struct timing_rule rule = TIMING_DEFAULT;
    struct timing *t = timing_new(&rule);
    timing_add(t, 1, NAN, 1980);
    timing_add(t, 1, 900, NAN);
    CU_ASSERT_EQUAL(timing_count(t), 2);
    timing_free(t);
    rule.clock_floor = 0;
    t = timing_new(&rule);
    timing_add(t, 1, 1, 1980);
    CU_ASSERT_EQUAL(timing_count(t), 1);
    timing_free(t);
}

static void test_fill_figures(void)
{
    struct timing_rule rule = TIMING_DEFAULT;
    struct timing *t = timing_new(&rule);
    struct run_row row;
    record_init(run_fields, &row);
    timing_fill(t, &row);
    CU_ASSERT(isnan(row.median_us) && isnan(row.sm_clock_mhz) && row.n == 0);
    for (int i = 1; i <= 100; i++)
        timing_add(t, i * 1e-6, NAN, NAN);
    timing_fill(t, &row);
    CU_ASSERT_DOUBLE_EQUAL(row.min_us, 1, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(row.median_us, 50.5, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(row.q1_us, 25.75, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(row.mean_us, 50.5, 1e-9);
    CU_ASSERT_EQUAL(json_array_size(row.recent_us), TIMING_RECENT);
    CU_ASSERT_DOUBLE_EQUAL(json_real_value(json_array_get(row.recent_us, 0)), 37, 1e-9);
    timing_free(t);
    record_clear(run_fields, &row);
}

static void test_cap(void)
{
    struct timing_rule rule = TIMING_DEFAULT;
    struct timing *t = timing_new(&rule);
    for (int i = 0; i < TIMING_MAX + 10; i++)
        timing_add(t, 1e-6, NAN, NAN);
    CU_ASSERT_EQUAL(timing_count(t), TIMING_MAX);
    CU_ASSERT_STRING_EQUAL(timing_done(t, 0), "n");
    timing_free(t);
}

/* Samples of a disturbed moment are as if they had not been, but counted as dropped; what the rules go by, too. */
static void test_take_back(void)
{
    const struct timing_rule rule = TIMING_DEFAULT;
    struct timing *t = timing_new(&rule), *clean = timing_new(&rule);
    struct run_row row, same;
    record_init(run_fields, &row);
    record_init(run_fields, &same);
    for (int i = 0; i < 40; i++) {
        const double seconds = 1e-3 * (1 + 0.01 * (i % 7));
        timing_add(t, seconds, i % 4 ? 1980 : 900, 1980);
        timing_add(clean, seconds, i % 4 ? 1980 : 900, 1980);
        if (i != 19)
            continue;
        const size_t mark = timing_mark(t);
        for (int j = 0; j < 15; j++)
            timing_add(t, 9e-3, j % 2 ? 1980 : 900, 1980);
        timing_take_back(t, mark);
        timing_take_back(t, mark); /* nothing is left to take */
    }
    timing_fill(t, &row);
    timing_fill(clean, &same);
    CU_ASSERT_EQUAL(row.n, same.n);
    CU_ASSERT_EQUAL(row.dropped, same.dropped + 15);
    CU_ASSERT_DOUBLE_EQUAL(row.median_us, same.median_us, 0);
    CU_ASSERT_DOUBLE_EQUAL(row.cv_pct, same.cv_pct, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(row.throttled_pct, same.throttled_pct, 1e-9);
    timing_take_back(t, 0);
    timing_fill(t, &row);
    CU_ASSERT(row.n == 0 && isnan(row.median_us) && row.dropped == 55);
    CU_ASSERT_PTR_NULL(timing_done(t, 0.1));
    record_clear(run_fields, &row);
    record_clear(run_fields, &same);
    timing_free(t);
    timing_free(clean);
}

/* One of two threads that share a core. */
struct sharer {
    sem_t told, may_end;
    double waited_s; /* for the core, as the kernel tells it of this thread alone; 0: it does not */
};

static void burn_and_tell(struct sharer *x)
{
    double ran, ns = 0;
    struct timespec t;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    while (t.tv_sec == 0 && t.tv_nsec < 20000000);
    FILE *f = fopen("/proc/thread-self/schedstat", "r");
    x->waited_s = f && fscanf(f, "%lf %lf", &ran, &ns) == 2 ? ns * 1e-9 : 0;
    if (f)
        fclose(f);
}

static void *share(void *ctx)
{
    struct sharer *x = ctx;
    burn_and_tell(x);
    sem_post(&x->told);
    sem_wait(&x->may_end); /* of a thread that has ended nobody knows */
    return NULL;
}

/* What threads had to wait for a core they wanted, too, each of them. */
static void test_waits_for_a_core(void)
{
    cpu_set_t had, one;
    pthread_t thread;
    struct sharer here = {.waited_s = 0}, other = {.waited_s = 0};
    int core = 0;
    CU_ASSERT_EQUAL_FATAL(sched_getaffinity(0, sizeof had, &had), 0);
    while (!CPU_ISSET(core, &had))
        core++;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    (void)sched_setaffinity(0, sizeof one, &one);
    sem_init(&other.told, 0, 0);
    sem_init(&other.may_end, 0, 0);
    const double begin = load_wanted_s(false);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, share, &other), 0);
    burn_and_tell(&here);
    sem_wait(&other.told);
    const double ran = load_wanted_s(false), wanted = load_wanted_s(true);
    CU_ASSERT(ran - begin >= 0.02);
    CU_ASSERT(wanted - ran >= here.waited_s + other.waited_s);
    sem_post(&other.may_end);
    pthread_join(thread, NULL);
    (void)sched_setaffinity(0, sizeof had, &had);
}

static const struct tap_test tests[] = {
    {"waiting for a core is wanting it", test_waits_for_a_core},
    {"a quiet kernel stops by its spread", test_quiet_stops_by_cv},
    {"even noise stops by steadiness", test_even_noise_stops_by_steadiness},
    {"the wall limit ends everything", test_wall_limit},
    {"a fixed count is kept", test_fixed_count},
    {"cv of a sample", test_cv_is_of_a_sample},
    {"one sample has no spread", test_one_sample_is_no_cv},
    {"samples at a low clock are dropped", test_low_clock_is_dropped},
    {"disturbed samples can be taken back", test_take_back},
    {"a clock that is always low is kept", test_always_low_is_kept},
    {"half at a low clock", test_half_low},
    {"few samples are judged at the end", test_few_are_judged_at_the_end},
    {"clock floor off, clock unknown", test_clock_floor_off_or_unknown},
    {"figures of the row", test_fill_figures},
    {"the cap", test_cap},
};
TAP_MAIN("timing", tests)
