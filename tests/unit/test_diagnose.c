/* test_diagnose.c - is the planted fault named, and is no wrong one called certain?
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sanitized.h"
#include "base/mem.h"
#include "measure/diagnose.h"
#include "backend/backend.h"
#include "draw/errors.h"
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
#if SANITIZED /* looks for wrong accesses, and fewer problems show those */
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
        CU_ASSERT(t.named * 2 >= t.planted); /* none is lost among the others */
        CU_ASSERT(SANITIZED || fault != NO_MAX ||
                  t.certain > 0); /* scores that wear out exp leave no doubt */
        kinds++;
        named += t.named * 10 >= t.planted * 8;
    }
    printf("# %d of %d kinds are named first in four of five problems\n", named, kinds);
    CU_ASSERT(named * 5 >= kinds * 4);
}

/* ---- the fields and the picture ---- */

/* One row of one head written nowhere: where it is stands in the row, and in the picture. */
static void test_map(void)
{
    struct problem p = PROBLEM_DEFAULT;
    p.shape.B = 2, p.shape.H = p.shape.Hkv = 3, p.shape.Sq = p.shape.Sk = 128, p.shape.D = 32;
    struct bench b = bench_new(&p, 0);
    struct variant v = random_variant(&p.shape);
    struct sim s = sim_of(&b, v, NONE);
    struct run_row row;
    struct diagnosis d;
    struct err err = ERR_INIT;
    record_init(run_fields, &row);
    simulate(&s, b.out);
    poison(&b);
    write_output(&b, &s);
    const size_t at = (size_t)((4 * 128 + 100) * 32) * 2; /* b1 h1 row 100 */
    memset(b.guarded + OUTPUT_GUARD_BYTES + at, 0, 64);
    verify_output(b.ref, b.guarded, NULL, &row);
    CU_ASSERT_FALSE(run_row_passed(&row));
    const int64_t tile = diagnose_tile_rows(&p.shape);
    CU_ASSERT_EQUAL_FATAL(diagnose(b.ref, &p, &b.t, b.guarded, tile, &d, &err), ST_OK);
    CU_ASSERT(d.nsuspects && !strcmp(d.suspects[0].cause->name, "row_zero"));
    CU_ASSERT(d.nsuspects && d.suspects[0].explained == 1); /* of the wrong rows, not of all */
    diagnosis_fill(&d, &p.shape, &row);
    CU_ASSERT_EQUAL(json_array_size(row.causes), (size_t)d.nsuspects);
    const json_t *first = json_array_get(row.causes, 0);
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(first, "cause")), "row_zero");
    CU_ASSERT_EQUAL(json_real_value(json_object_get(first, "explained")), 1);
    CU_ASSERT(row.bad_rows == 1 && fabs(row.bad_pct - 100.0 / 768) < 1e-9);
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(row.first_bad, "b")), 1);
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(row.first_bad, "h")), 1);
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(row.first_bad, "row")), 100);
    struct chart *c = error_chart(&row);
    CU_ASSERT_PTR_NOT_NULL_FATAL(c);
    CU_ASSERT(chart_errors.sound(c->model));
    struct canvas *canvas = canvas_new(60, 7, GLYPHS_ASCII);
    struct str text = {0};
    const struct chart_view whole = CHART_WHOLE;
    chart_errors.cells(canvas, (struct rect){0, 0, 60, 7}, c->model, &whole);
    canvas_to_text(canvas, &text);
    CU_ASSERT_EQUAL(tile, 16);
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), "b1 h1   ......1."));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), "b1 h2   ........"));
    json_t *o = chart_to_json(c);
    struct chart *back = chart_from_json(o);
    CU_ASSERT(back && back->kind == &chart_errors);
    json_decref(o);
    chart_free(back);
    chart_free(c);
    str_free(&text);
    canvas_free(canvas);
    diagnosis_clear(&d);
    record_clear(run_fields, &row);
    bench_free(&b);
}

/* However long and wide the output, the map stays within what a row carries. */
static void test_map_size(void)
{
    const int64_t sizes[][3] = {
        {1, 1, 1}, {1, 8, 1024}, {4, 32, 131072}, {1, 1, 1 << 20}, {64, 64, 1}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct shape s = SHAPE_DEFAULT;
        s.B = sizes[i][0], s.H = s.Hkv = sizes[i][1], s.Sq = s.Sk = sizes[i][2];
        const int64_t rows = diagnose_tile_rows(&s), tiles = (s.Sq + rows - 1) / rows;
        CU_ASSERT(rows >= 1 && tiles <= 256);
        CU_ASSERT(tiles * s.B * s.H <= DIAGNOSE_CELLS || s.B * s.H > DIAGNOSE_CELLS);
    }
}

/* No picture without a map, and none of one that is not whole. */
static void test_no_picture(void)
{
    static const char *const maps[] = {
        "{}",
        "{\"tile_rows\": 16, \"heads\": 1, \"share\": []}",
        "{\"tile_rows\": 0, \"heads\": 1, \"share\": [[1]]}",
        "{\"tile_rows\": 16, \"heads\": 1, \"share\": [[1, 0], [1]]}",
        "{\"tile_rows\": 16, \"heads\": 0, \"share\": [[1]]}",
    };
    struct run_row row;
    record_init(run_fields, &row);
    CU_ASSERT_PTR_NULL(error_chart(&row));
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        row.error_map = json_loads(maps[i], 0, NULL);
        CU_ASSERT_PTR_NULL(error_chart(&row));
        json_decref(row.error_map);
        row.error_map = NULL;
    }
    record_clear(run_fields, &row);
}

/* Where the reference has no finite answer the check has none; what is wrong elsewhere fails still. */
static void test_unknown_reference(void)
{
    struct problem p = PROBLEM_DEFAULT;
    p.shape.H = p.shape.Hkv = 2, p.shape.Sq = p.shape.Sk = 40, p.shape.D = 32;
    p.shape.dtype = DTYPE_F32;
    struct bench b = bench_new(&p, 0);
    struct err err = ERR_INIT;
    struct run_row row;
    dtype_set(DTYPE_F32, b.t.k, 5, NAN); /* a key of head 0: all its rows */
    reference_free(b.ref);
    CU_ASSERT_EQUAL_FATAL(reference_new(&p, &b.t, NULL, 0, &b.ref, &err), ST_OK);
    record_init(run_fields, &row);
    struct sim s = sim_of(&b, random_variant(&p.shape), NONE);
    simulate(&s, b.out);
    poison(&b);
    write_output(&b, &s);
    verify_output(b.ref, b.guarded, NULL, &row);
    CU_ASSERT_PTR_NULL(row.check);
    CU_ASSERT(row.reason && strstr(row.reason, "not finite in 40 of 80 rows"));
    dtype_set(DTYPE_F32, b.guarded + OUTPUT_GUARD_BYTES, 60 * 32, 3);
    verify_output(b.ref, b.guarded, NULL, &row);
    CU_ASSERT(row.check && !strcmp(row.check, "fail"));
    record_clear(run_fields, &row);
    bench_free(&b);
}

static const struct tap_test tests[] = {
    {"where it is wrong: fields and picture", test_map},
    {"the map stays small", test_map_size},
    {"no picture of a broken map", test_no_picture},
    {"an unknown reference gives no answer", test_unknown_reference},
    {"planted faults are named, and no wrong cause is certain", test_faults_are_named},
};
TAP_MAIN("diagnose", tests)
