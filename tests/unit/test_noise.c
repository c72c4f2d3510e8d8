/* test_noise.c - verdicts on simulated times with a known ratio: false ones must be rare on every kind
 * of noise, also on kinds that the rules were not made on.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/number.h"
#include "measure/noise.h"
#include "measure/stats.h"
#include "noise.h"
#include "tap.h"

/* COMPARES=200 for more of each kind. */
enum { PAIRS_MOST = 400 };

struct tally {
    int compares, wrong, right,
        refused; /* refused: no verdict; the rest of right and wrong is SAME */
};

static int compares(void)
{
    const char *n = getenv("COMPARES");
    return n ? atoi(n) : 40;
}

static struct judgement one(const struct noise *k, double ratio, size_t n, uint64_t *rng)
{
    double a[PAIRS_MOST], b[PAIRS_MOST];
    bool first[PAIRS_MOST];
    int order[2];
    const uint64_t seed = *rng;
    for (size_t i = 0; i < n; i++) {
        stats_turns(seed, i, 2, order);
        first[i] = order[0] == 0;
    }
    k->make(rng, ratio, first, n, a, b);
    return stats_pairs(a, b, n, seed);
}

/* `truth`: the right winner; SPEED_SAME: there is none, and AMBIGUOUS is as good. */
static void add(struct tally *t, enum speed said, enum speed truth)
{
    t->compares++;
    if (said == SPEED_AMBIGUOUS)
        t->refused++;
    else if (said == truth)
        t->right++;
    else
        t->wrong++;
}

static struct tally compares_of(const struct noise *k, double ratio, enum speed truth)
{
    struct tally t = {0};
    uint64_t rng = 4711 + (uint64_t)(1000 * ratio);
    for (int i = 0; i < compares(); i++) {
        const size_t n = 40 + (size_t)(noise_uniform(&rng) * (PAIRS_MOST - 40));
        add(&t, one(k, ratio, n, &rng).verdict, truth);
    }
    return t;
}

static void sum(struct tally *a, const struct tally *b)
{
    a->compares += b->compares;
    a->wrong += b->wrong;
    a->right += b->right;
    a->refused += b->refused;
}

static void print(const char *name, const struct tally *same, const struct tally *slow)
{
    printf("# %-10s itself: %3d wrong, %3d SAME, %3d open; 5 %% apart: %3d wrong, %3d right, "
           "%3d open, of %d each\n",
           name, same->wrong, same->right, same->refused, slow->wrong, slow->right, slow->refused,
           same->compares);
}

/* Of a group: false verdicts of itself and of a 5 % difference; the right one on quiet machines. */
static void judge_group(bool held_out)
{
    struct tally same = {0}, slow = {0}, quiet = {0};
    for (const struct noise *k = noises; k->name; k++) {
        if (k->held_out != held_out)
            continue;
        struct tally s = compares_of(k, 1, SPEED_SAME);
        struct tally f = compares_of(k, 1.05, SPEED_SLOWER);
        struct tally g = compares_of(k, 1 / 1.05, SPEED_FASTER);
        sum(&f, &g);
        print(k->name, &s, &f);
        CU_ASSERT(100 * s.wrong <= 3 * s.compares); /* no kind by itself is far off */
        sum(&same, &s);
        sum(&slow, &f);
        if (k->quiet)
            sum(&quiet, &f);
    }
    print(held_out ? "held out" : "tuned on", &same, &slow);
    CU_ASSERT(100 * same.wrong <= same.compares);
    CU_ASSERT(100 * slow.wrong <= slow.compares);
    CU_ASSERT(100 * quiet.right >= 90 * quiet.compares);
    CU_ASSERT(100 * slow.right >= 60 * slow.compares);
}

static void test_tuned(void)
{
    judge_group(false);
}

static void test_held_out(void)
{
    judge_group(true);
}

/* Each is first as often as second, the order is by chance, and comes again with the seed. */
static void test_turns(void)
{
    int firsts = 0, changes = 0, order[2], again[2], before = -1;
    for (size_t i = 0; i < 1000; i++) {
        stats_turns(7, i, 2, order);
        stats_turns(7, i, 2, again);
        CU_ASSERT(order[0] + order[1] == 1 && order[0] == again[0]);
        firsts += order[0] == 0;
        changes += order[0] != before;
        before = order[0];
    }
    CU_ASSERT_EQUAL(firsts, 500);
    CU_ASSERT(changes > 700 && changes < 800); /* all second rounds, half of the others */
}

static void test_turns_of_many(void)
{
    enum { N = 5 };
    int order[N], seen[N] = {0}, other[N];
    for (size_t i = 0; i < 500; i++) {
        stats_turns(1, i, N, order);
        int all = 0;
        for (int k = 0; k < N; k++)
            all |= 1 << order[k];
        CU_ASSERT_EQUAL(all, (1 << N) - 1);
        seen[order[0]]++;
    }
    for (int k = 0; k < N; k++)
        CU_ASSERT(seen[k] > 60 && seen[k] < 140);
    stats_turns(1, 0, N, order);
    stats_turns(2, 0, N, other);
    CU_ASSERT(memcmp(order, other, sizeof order) != 0);
}

/* ---- what is said of one series ---- */

/* One kernel's times out of pairs of a kind, in us, as a row. */
static void row_of(const char *kind, size_t n, struct run_row *row)
{
    double a[PAIRS_MOST], b[PAIRS_MOST];
    bool first[PAIRS_MOST];
    uint64_t rng = 99;
    const struct noise *k = noises;
    while (strcmp(k->name, kind))
        k++;
    for (size_t i = 0; i < n; i++)
        first[i] = i % 2;
    k->make(&rng, 1, first, n, a, b);
    record_init(run_fields, row);
    struct stats s = stats_of(a, n);
    row->median_us = s.median * 1e6;
    row->q1_us = s.q1 * 1e6;
    row->q3_us = s.q3 * 1e6;
    row->cv_pct = s.cv * 100;
    noise_fill(a, n, row);
    noise_fill_line(false, 2, row);
}

static void test_modes(void)
{
    struct run_row row;
    row_of("modes", 400, &row);
    CU_ASSERT_EQUAL(row.modes, 2);
    CU_ASSERT_DOUBLE_EQUAL(row.mode_ratio, 2, 0.05);
    CU_ASSERT_DOUBLE_EQUAL(row.mode_pct, 40, 8);
    CU_ASSERT_PTR_NOT_NULL(strstr(row.noise, "two modes"));
    CU_ASSERT(noise_seen(&row));
    record_clear(run_fields, &row);
    const char *const one_mode[] = {"desk", "ar_own", "wander", "heavy", "quiet"};
    for (size_t i = 0; i < sizeof one_mode / sizeof *one_mode; i++) {
        row_of(one_mode[i], 400, &row);
        CU_ASSERT_EQUAL(row.modes, 1);
        CU_ASSERT(isnan(row.mode_ratio) && isnan(row.mode_pct));
        record_clear(run_fields, &row);
    }
}

static void test_drift(void)
{
    double x[40];
    for (int i = 0; i < 40; i++)
        x[i] = 1 + 0.01 * i + 0.001 * (i % 3);
    CU_ASSERT_DOUBLE_EQUAL(noise_drift(x, 40), 0.3 / 1.045, 0.005);
    CU_ASSERT(isnan(noise_drift(x, 11)));
    struct run_row row;
    record_init(run_fields, &row);
    row.median_us = 1000, row.q1_us = 990, row.q3_us = 1010, row.cv_pct = 1;
    noise_fill(x, 40, &row);
    noise_fill_line(false, 2, &row);
    CU_ASSERT_PTR_NOT_NULL(strstr(row.noise, "times drifted by +29 %"));
    record_clear(run_fields, &row);
}

/* What few samples cannot tell stays unknown; a quiet series is said to be one. */
static void test_unknown_and_quiet(void)
{
    struct run_row row;
    record_init(run_fields, &row);
    noise_fill_line(false, 2, &row);
    CU_ASSERT_PTR_NULL(row.noise);
    CU_ASSERT_FALSE(noise_seen(&row));
    const double x[] = {1, 1, 1};
    noise_fill(x, 3, &row);
    CU_ASSERT(row.modes == INT_UNKNOWN && isnan(row.drift_pct) && isnan(row.mode_ratio));
    record_clear(run_fields, &row);
    row_of("desk", 400, &row);
    CU_ASSERT_STRING_EQUAL(row.noise, "quiet");
    CU_ASSERT_FALSE(noise_seen(&row));
    record_clear(run_fields, &row);
}

static void test_independent(void)
{
    struct run_row row;
    row_of("modes", 400, &row);
    CU_ASSERT(row.independent > 250 && row.independent <= 400);
    record_clear(run_fields, &row);
    row_of("wander", 400, &row);
    CU_ASSERT(row.independent > 5 && row.independent < 80);
    record_clear(run_fields, &row);
}

/* ---- the machine ---- */

static void test_stat_line(void)
{
    double busy, stolen;
    load_read_stat("cpu  100 20 30 4000 50 6 7 800 9 9", 100, &busy, &stolen);
    CU_ASSERT_DOUBLE_EQUAL(busy, 1.63, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(stolen, 8, 1e-12);
    load_read_stat("cpu0 1 2 3", 100, &busy, &stolen);
    CU_ASSERT(isnan(busy) && isnan(stolen));
    load_read_stat("", 100, &busy, &stolen);
    CU_ASSERT(isnan(busy) && isnan(stolen));
}

static void test_load(void)
{
    struct load_mark from = {.at = 10, .busy = 100, .stolen = 5, .own = 50}, to = from;
    CU_ASSERT(isnan(load_between(&from, &to).other_cores)); /* no time at all */
    to = (struct load_mark){.at = 12, .busy = 104, .stolen = 5, .own = 51};
    struct load l = load_between(&from, &to);
    CU_ASSERT_DOUBLE_EQUAL(l.other_cores, 1.5, 1e-12);
    CU_ASSERT_EQUAL(l.steal_pct, 0);
    to.own = 60; /* ticks are coarse: never less than nothing */
    CU_ASSERT_EQUAL(load_between(&from, &to).other_cores, 0);
    to.busy = NAN;
    CU_ASSERT(isnan(load_between(&from, &to).other_cores));
}

/* Our own work is not others'. */
static void test_own_work(void)
{
    const struct load_mark from = load_mark();
    volatile double sum = 0;
    while (seconds_now() - from.at < 0.4)
        for (int i = 0; i < 10000; i++)
            sum = sum + i;
    const struct load_mark to = load_mark();
    CU_ASSERT(to.own - from.own > 0.01 && to.own >= from.own);
    CU_ASSERT(isnan(to.busy) || load_between(&from, &to).other_cores >= 0);
}

static void test_load_line(void)
{
    struct run_row row;
    record_init(run_fields, &row);
    row.median_us = 10, row.q1_us = row.q3_us = 10, row.cv_pct = 1;
    noise_fill_load(&(struct load){1.9, 3}, &row);
    noise_fill_line(false, 2, &row);
    CU_ASSERT_STRING_EQUAL(row.noise, "others used 1.9 of 2 cores; "
                                      "3 % of the time was stolen by the hypervisor");
    noise_fill_line(true, 16, &row); /* on a GPU a busy neighbour needs no core of ours */
    CU_ASSERT_STRING_EQUAL(row.noise, "3 % of the time was stolen by the hypervisor");
    record_clear(run_fields, &row);
}

static const struct tap_test tests[] = {
    {"noise that the rules were made on", test_tuned},
    {"noise that they were not made on", test_held_out},
    {"two take turns by chance, and evenly", test_turns},
    {"so do many", test_turns_of_many},
    {"two modes are seen, and no others", test_modes},
    {"a drift is seen", test_drift},
    {"few samples tell nothing, quiet ones are quiet", test_unknown_and_quiet},
    {"neighbours that hang together count once", test_independent},
    {"a line of /proc/stat", test_stat_line},
    {"what others used", test_load},
    {"our own work is not others'", test_own_work},
    {"the line says who was busy", test_load_line},
};
TAP_MAIN("noise", tests)
