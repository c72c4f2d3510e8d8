/* trace_split.c - `trace splitkv`: the keys of one query divided among blocks, and the combination.
 *
 * Pass 1 as the kernel splitkv does it: a split is a range of whole tiles and leaves a finished output
 * and its LSE. Pass 2 weights the parts by exp(LSE - LSE of the row). `break=` takes other weights.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "lesson/trace/trace_query.h"

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

static json_t *part_row(const char *split, const struct part *p, float weight, double right)
{
    json_t *row = json_object();
    json_object_set_new(row, "split", json_string(split));
    json_object_set_new(row, "keys", json_integer(p->keys));
    json_object_set_new(row, "m", trace_real((double)p->m));
    json_object_set_new(row, "l", trace_real((double)p->l));
    json_object_set_new(row, "o", trace_real((double)p->o));
    json_object_set_new(row, "o_over_l", p->keys ? trace_real((double)p->out) : json_null());
    json_object_set_new(row, "lse", trace_real((double)p->lse));
    json_object_set_new(row, "weight", trace_real((double)weight));
    json_object_set_new(row, "finite", json_integer(isfinite(p->out)));
    json_object_set_new(row, "want", trace_real(right));
    json_object_set_new(row, "max_diff", trace_real(fabs((double)p->out - right)));
    return row;
}

static struct part split_at(const struct trace *t, int64_t i)
{
    const int64_t tiles = (t->shape.Sk + t->bc - 1) / t->bc;
    const int64_t keys = (tiles + t->splits - 1) / t->splits * t->bc;
    const int64_t end = (i + 1) * keys;
    return part_of(t, i * keys, end < t->shape.Sk ? end : t->shape.Sk);
}

static json_t *trace_split_rows(const struct trace *t)
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
    json_t *rows = json_array();
    for (int64_t i = 0; i < t->splits; i++) {
        const struct part p = split_at(t, i);
        const float w = weight_of(t, &p, top) / sum, scale = p.keys ? expf(p.m - all.m) : 0;
        all.out += p.keys ? w * p.out : 0;
        all.l += scale * p.l;
        all.o += scale * p.o;
        char name[24];
        snprintf(name, sizeof name, "%lld", (long long)i);
        json_array_append_new(rows, part_row(name, &p, w, right));
    }
    all.lse = all.m + logf(all.l);
    json_array_append_new(rows, part_row("all", &all, 1, right));
    return rows;
}

// clang-format off
static const struct columns trace_split_columns[1] = {{
    .list = (const struct column[]){
        {.field = "split",    .title = "split",  .left = true},
        {.field = "keys",     .title = "keys"},
        {.field = "m",        .title = "m",      .digits = 3},
        {.field = "l",        .title = "l",      .digits = 4},
        {.field = "o",        .title = "o",      .digits = 4, .drop = 2},
        {.field = "lse",      .title = "LSE",    .digits = 4},
        {.field = "o_over_l", .title = "o/l",    .digits = 4},
        {.field = "weight",   .title = "weight", .digits = 3},
        {.field = "want",     .title = "right",  .digits = 4, .drop = 1},
        {0},
    },
}};
// clang-format on

const struct trace_view trace_splitkv = {
    .word = "splitkv",
    .rows = trace_split_rows,
    .columns = trace_split_columns,
    .breaks = 1u << BREAK_MAX | 1u << BREAK_WEIGHTS,
};
