/* test_diagnose.c - is the planted fault named, and is no wrong one called certain?
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "measure/diagnose.h"
#include "planted.h"
#include "tap.h"

/* The names that are right for a planted fault. */
static const char *const answers[FAULTS][4] = {
    [LAST_KEY] = {"key_missed", "diagonal", "tail_dropped"},
    [CAUSAL_MORE] = {"diagonal"},
    [CAUSAL_LESS] = {"diagonal"},
    [TOP_LEFT] = {"mask_top_left"},
    [NO_RESCALE] = {"rescale"},
    [NO_RESCALE_SUM] = {"rescale_sum"},
    [NO_MAX] = {"overflow"},
    [HALF_ACCUMULATOR] = {"low_precision"},
    [COARSE_P] = {"low_precision"},
    [WRONG_SCALE] = {"scale"},
    [ROW_ZERO] = {"row_zero"},
    [ROW_SWAP] = {"other_row"},
    [UNWRITTEN] = {"unwritten"},
    [UNWRITTEN_ROWS] = {"unwritten"},
    [GQA_SWAP] = {"head_of_group"},
    [V_SHIFT] = {"values_shifted"},
    [RAGGED] = {"tail_counted"},
    [SPLIT_LOST] = {"split_missed", "tile_missed", "tail_dropped", "key_missed"},
    [NO_DIVISION] = {"undivided"},
    [TF32] = {"low_precision"},
    [NAN_EMPTY] = {"empty_nan"},
};

/* A shape on which a fault has room to show: several tiles, several heads, uneven lengths. */
static struct problem roomy_problem(void)
{
    struct problem p = PROBLEM_DEFAULT;
    p.shape.B = rnd_in(1, 2);
    p.shape.Hkv = rnd_in(1, 3);
    p.shape.H = p.shape.Hkv * rnd_in(1, 3);
    p.shape.hkv_given = true;
    p.shape.Sq = rnd_in(5, 60);
    p.shape.Sk = rnd_in(20, 150);
    p.shape.D = rnd_in(0, 1) ? 16 : 32;
    p.shape.dtype = (enum dtype)rnd_in(0, DTYPE_COUNT - 1);
    p.shape.causal = rnd_in(0, 1);
    p.shape.layout = (enum layout)rnd_in(0, LAYOUT_COUNT - 1);
    p.seed = rnd();
    return p;
}

static struct variant roomy_variant(const struct shape *s)
{
    struct variant v = random_variant(s);
    v.bc = v.bc == 1 ? 8 : v.bc;
    return v;
}

static bool is_right(enum fault fault, const char *name)
{
    for (int i = 0; i < 4 && answers[fault][i]; i++)
        if (strcmp(answers[fault][i], name) == 0)
            return true;
    return false;
}

struct tally {
    int planted, named, wrongly_certain, certain;
};

static void ask(struct bench *b, const struct sim *s, struct tally *t)
{
    struct diagnosis d;
    struct err err = ERR_INIT;
    const enum status st = diagnose(b->ref, &b->p, &b->t, b->guarded, 0, &d, &err);
    const bool right = st == ST_OK && d.nsuspects && is_right(s->fault, d.suspects[0].cause->name);
    t->planted++;
    t->named += right;
    t->certain += st == ST_OK && d.nsuspects && d.suspects[0].certain;
    if (st == ST_OK && d.nsuspects && d.suspects[0].certain && !right)
        t->wrongly_certain++;
    if (!right) {
        char shape[SHAPE_TEXT], *said = st == ST_OK ? diagnosis_sentence(&d) : xstrdup(err.text);
        shape_format(&b->p.shape, shape, sizeof shape);
        if (getenv("DIAGNOSE_VERBOSE") || (st == ST_OK && d.nsuspects && d.suspects[0].certain))
            printf("# %s, %s, bc=%d splits=%d backward=%d: %s\n", fault_names[s->fault], shape,
                   s->how.bc, s->how.splits, s->how.backward, said ? said : "nothing");
        free(said);
    }
    if (st == ST_OK)
        diagnosis_clear(&d);
}

static void plant(enum fault fault, struct tally *t)
{
    struct problem p = is_subtle(fault) ? subtle_problem() : roomy_problem();
    struct variant v = roomy_variant(&p.shape);
    if (fault == NO_MAX)
        p.input = INPUT_LARGE;
    if (!applies(fault, &p.shape, &v))
        return;
    struct bench b = bench_new(&p, 0);
    struct sim s = sim_of(&b, v, fault);
    struct run_row row;
    record_init(run_fields, &row);
    if (is_visible(&b, &s) && !run_and_judge(&b, &s, &row))
        ask(&b, &s, t);
    record_clear(run_fields, &row);
    bench_free(&b);
}

static void test_faults_are_named(void)
{
#if defined(__SANITIZE_ADDRESS__) /* looks for wrong accesses, and fewer problems show those */
    enum { TRIES = 400, ENOUGH = 3 };
#else
    enum { TRIES = 400, ENOUGH = 8 };
#endif
    int kinds = 0, named = 0;
    for (int fault = 1; fault < FAULTS; fault++) {
        struct tally t = {0};
        if (!answers[fault][0])
            continue;
        for (int i = 0; i < TRIES && t.planted < ENOUGH; i++)
            plant((enum fault)fault, &t);
        printf("# %-48s planted %2d named %2d certain %2d\n", fault_names[fault], t.planted,
               t.named, t.certain);
        CU_ASSERT(t.planted >= ENOUGH * 3 / 4);
        CU_ASSERT_EQUAL(t.wrongly_certain, 0);
        kinds++;
        named += t.named * 10 >= t.planted * 8;
    }
    printf("# %d of %d kinds are named first in four of five problems\n", named, kinds);
    CU_ASSERT(named * 5 >= kinds * 4);
}

static const struct tap_test tests[] = {
    {"planted faults are named, and no wrong cause is certain", test_faults_are_named},
};
TAP_MAIN("diagnose", tests)
