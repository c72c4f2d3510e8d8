/* test_noise.c - verdicts on simulated times with a known ratio: false ones must be rare on every kind
 * of noise, also on kinds that the rules were not made on.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static const struct tap_test tests[] = {
    {"noise that the rules were made on", test_tuned},
    {"noise that they were not made on", test_held_out},
    {"two take turns by chance, and evenly", test_turns},
    {"so do many", test_turns_of_many},
};
TAP_MAIN("noise", tests)
