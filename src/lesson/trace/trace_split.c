/* trace_split.c - `trace splitkv`: the keys of one query divided among blocks, and the combination.
 *
 * Pass 1 as the kernel splitkv does it: a split is a range of whole tiles and leaves a finished output
 * and its LSE. Pass 2 weights the parts by exp(LSE - LSE of the row). `break=` takes other weights.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/mem.h"
#include "lesson/trace/trace_query.h"

struct split_row {
    char *split;
    int64_t keys;
    double m, l, o, out, lse, weight;
    int64_t finite;
    double want, max_diff;
};

/* A split without keys has no output. */
static json_t *output_json(const void *at)
{
    const struct split_row *row = at;
    const struct field out = TRACE_REAL(split_row, out);
    return row->keys ? field_to_json(&out, row) : NULL;
}

// clang-format off
#define REAL(m_, ...) TRACE_REAL(split_row, m_, .doc = __VA_ARGS__)
static const struct field fields[] = {
    FIELD(FIELD_TEXT, split_row, split, .doc = "The split; all: the combination."),
    FIELD(FIELD_INT,  split_row, keys, .doc = "How many keys it has."),
    REAL(m, "Largest score of its keys.", .digits = 3),
    REAL(l, "Sum of their exponentials."),
    REAL(o, "Its output, one column of it, not divided by l."),
    FIELD_MADE("o_over_l", output_json, "Its output.", .title = "o/l", .flags = FIELD_NUMERIC),
    REAL(lse,    "m + log(l).", .title = "LSE"),
    REAL(weight, "Its share of the output.", .digits = 3),
    FIELD(FIELD_INT, split_row, finite, .doc = "1: o_over_l is a number."),
    REAL(want,     "The right answer.", .title = "right"),
    REAL(max_diff, "The distance to it."),
    FIELD(FIELD_REAL, split_row, out, .flags = FIELD_LOCAL), /* what o_over_l is made of: a copy of the row has it, too */
    {.name = NULL},
};
#undef REAL
static const struct row_type split_type = ROW_TYPE(split_row, {fields, 0});

const struct columns trace_splitkv_columns = {
    .type = &split_type,
    .list = (const struct column[]){
        {.field = "split"},
        {.field = "keys"},
        {.field = "m"},
        {.field = "l"},
        {.field = "o", .drop = 2},
        {.field = "lse"},
        {.field = "o_over_l"},
        {.field = "weight"},
        {.field = "want", .drop = 1},
        {0},
    },
};
// clang-format on

struct part {
    int64_t keys;
    float m, l, o; /* over its keys alone; o not divided */
    float out, lse;
};

static struct part part_of(const struct trace *t, int64_t from, int64_t to)
{
    struct part p = {.keys = to > from ? to - from : 0, .m = -INFINITY, .lse = -INFINITY};
    for (int64_t j = from; j < to; j++)
        p.m = fmaxf(p.m, t->score[j]);
    for (int64_t j = from; j < to; j++) {
        float e = expf(t->score[j] - p.m);
        p.l += e;
        p.o += e * t->v[j * t->shape.D];
    }
    if (p.keys) {
        p.out = p.o / p.l;
        p.lse = p.m + logf(p.l);
    }
    return p;
}

/* Weight of a part, before all are divided by their sum. A split without keys has LSE -inf: 0. */
static float weight_of(const struct trace *t, const struct part *p, float top)
{
    if (t->broken == BREAK_WEIGHTS)
        return p->keys ? 1 : 0;
    return expf(p->lse - (t->broken == BREAK_MAX ? 0 : top));
}

static void add_part(struct rowset *rows, const char *split, const struct part *p, float weight,
                     double right)
{
    struct split_row *row = rowset_add(rows);
    row->split = xstrdup(split);
    row->keys = p->keys;
    row->m = (double)p->m;
    row->l = (double)p->l;
    row->o = (double)p->o;
    row->out = (double)p->out;
    row->lse = (double)p->lse;
    row->weight = (double)weight;
    row->finite = isfinite(p->out);
    row->want = right;
    row->max_diff = fabs((double)p->out - right);
}

static struct part split_at(const struct trace *t, int64_t i)
{
    const int64_t tiles = (t->shape.Sk + t->bc - 1) / t->bc;
    const int64_t keys = (tiles + t->splits - 1) / t->splits * t->bc;
    const int64_t end = (i + 1) * keys;
    return part_of(t, i * keys, end < t->shape.Sk ? end : t->shape.Sk);
}

static void trace_split_rows(const struct trace *t, struct rowset *rows)
{
    const double right = trace_right_output(t);
    struct part all = {.keys = t->shape.Sk, .m = -INFINITY};
    float top = -INFINITY, sum = 0;
    for (int64_t i = 0; i < t->splits; i++) {
        const struct part p = split_at(t, i);
        all.m = fmaxf(all.m, p.m);
        top = fmaxf(top, p.lse);
    }
    for (int64_t i = 0; i < t->splits; i++) {
        const struct part p = split_at(t, i);
        sum += weight_of(t, &p, top);
    }
    for (int64_t i = 0; i < t->splits; i++) {
        const struct part p = split_at(t, i);
        const float w = weight_of(t, &p, top) / sum, scale = p.keys ? expf(p.m - all.m) : 0;
        all.out += p.keys ? w * p.out : 0;
        all.l += scale * p.l;
        all.o += scale * p.o;
        char name[24];
        snprintf(name, sizeof name, "%lld", (long long)i);
        add_part(rows, name, &p, w, right);
    }
    all.lse = all.m + logf(all.l);
    add_part(rows, "all", &all, 1, right);
}

const struct trace_view trace_splitkv = {
    .word = "splitkv",
    .rows = trace_split_rows,
    .columns = &trace_splitkv_columns,
    .breaks = 1u << BREAK_MAX | 1u << BREAK_WEIGHTS,
};
