/* fault.c - see fault.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/fault.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "measure/reference.h"

static float *widened(const struct shape *s, const void *from, size_t n)
{
    float *to = xmalloc((n ? n : 1) * sizeof *to);
    dtype_to_float(s->dtype, from, to, n);
    return to;
}

struct evaluator evaluator_new(const struct shape *s, const struct tensors *t)
{
    struct evaluator e = {.s = s, .scale = (double)(float)(1 / sqrt((double)s->D))};
    e.q = widened(s, t->q, shape_q_elems(s));
    e.k = widened(s, t->k, shape_kv_elems(s));
    e.v = widened(s, t->v, shape_kv_elems(s));
    e.sq = shape_strides(s, s->H, s->Sq);
    e.skv = shape_strides(s, s->Hkv, s->Sk);
    e.o = xmalloc((size_t)s->D * sizeof *e.o);
    e.part = xmalloc((size_t)s->D * sizeof *e.part);
    e.scores = xmalloc((size_t)(s->Sk + 512) * sizeof *e.scores);
    return e;
}

void evaluator_free(struct evaluator *e)
{
    free(e->q);
    free(e->k);
    free(e->v);
    free(e->o);
    free(e->part);
    free(e->scores);
    free(e->sums);
}

static int64_t round_up(int64_t x, int64_t to)
{
    return (x + to - 1) / to * to;
}

/* Keys that row i sees: 0 .. the result - 1. */
static int64_t seen_keys(const struct shape *s, const struct fault *f, int64_t i)
{
    const int64_t right = shape_row_keys(s, i);
    switch (f->mask) {
    case MASK_ALL:
        return s->Sk;
    case MASK_LESS:
        return s->causal && right > 0 ? right - 1 : right;
    case MASK_MORE:
        return s->causal && right < s->Sk ? right + 1 : right;
    case MASK_MORE_IF_ANY:
        return s->causal && right > 0 && right < s->Sk ? right + 1 : right;
    case MASK_CORNER:
        return i + 1 < s->Sk ? i + 1 : s->Sk;
    case MASK_CAUSAL:
        return i + 1 + s->Sk - s->Sq < 0       ? 0
               : i + 1 + s->Sk - s->Sq < s->Sk ? i + 1 + s->Sk - s->Sq
                                               : s->Sk;
    case MASK_ROUND:
        return round_up(right, f->bc) < s->Sk ? round_up(right, f->bc) : s->Sk;
    default:
        return right;
    }
}

/* `of`: HEAD_OF_K or HEAD_OF_V. */
static int64_t kv_head(const struct shape *s, const struct fault *f, int64_t h, int of)
{
    switch (f->head_of == HEAD_OF_BOTH || (int)f->head_of == of ? f->head : HEAD_RIGHT) {
    case HEAD_MODULO:
        return h % s->Hkv;
    case HEAD_CLAMPED:
        return h < s->Hkv ? h : s->Hkv - 1;
    case HEAD_FIRST:
        return 0;
    default:
        return h / (s->H / s->Hkv);
    }
}

/* The first and last key of the loop; `pad`: keys of score 0 and value 0 after them. */
static void key_range(const struct shape *s, const struct fault *f, int64_t seen, int64_t *from,
                      int64_t *to, int64_t *pad)
{
    const int64_t bc = f->bc ? f->bc : 1, tiles = (seen + bc - 1) / bc;
    *from = f->keys == KEYS_NOT_FIRST_TILE && seen > bc ? bc : 0;
    *to = seen;
    *pad = 0;
    if (f->keys == KEYS_PADDED && seen == s->Sk)
        *pad = round_up(seen, bc) - seen;
    if (f->keys == KEYS_FULL_TILES)
        *to = seen / bc * bc;
    if (f->keys == KEYS_NOT_LAST_TILE)
        *to = tiles > 1 ? (tiles - 1) * bc : seen;
    if (f->part > 0)
        *to = (int64_t)(f->part * (double)seen) / bc * bc;
    if (f->but_last && *to > f->but_last)
        *to -= f->but_last;
}

/* A diagnosis evaluates hundreds of faults, and half of its time is in these two: by pairs, which every x86-64 and aarch64 has
 * registers for, and as many sums at once as additions are under way. */
enum { PAIR = 2, SUMS = 4 };
typedef double doubles __attribute__((vector_size(PAIR * sizeof(double)), aligned(8), may_alias));
typedef float floats __attribute__((vector_size(PAIR * sizeof(float)), aligned(4), may_alias));
#define WIDENED(at) __builtin_convertvector(*(const floats *)(at), doubles)

static double dot_product(const float *q, const float *k, int64_t n)
{
    doubles sum[SUMS] = {{0}};
    int64_t d = 0;
    for (; d + PAIR * SUMS <= n; d += PAIR * SUMS)
#pragma GCC unroll 4
        for (int i = 0; i < SUMS; i++)
            sum[i] += WIDENED(q + d + PAIR * i) * WIDENED(k + d + PAIR * i);
    const doubles all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    double dot = all[0] + all[1];
    for (; d < n; d++)
        dot += (double)q[d] * (double)k[d];
    return dot;
}

static void add_row(double p, const float *v, double *o, int64_t n)
{
    int64_t d = 0;
    for (; d + PAIR <= n; d += PAIR)
        *(doubles *)(o + d) += p * WIDENED(v + d);
    for (; d < n; d++)
        o[d] += p * (double)v[d];
}

/* One pass of the online softmax over keys from .. to - 1, and `pad` keys of score 0 behind them; o is
 * not yet divided by l. Scores are in e->scores. */
struct state {
    double m, l;
    double *o;
    double owed; /* the factor of the tile before, for those who are late */
};

/* The key that stands in this one's place in its tile. */
static int64_t stale(int how, int64_t bc, int64_t Sk, int64_t key)
{
    if (how == STALE_ALL_FIRST || (how == STALE_LAST_FIRST && bc && key / bc == (Sk - 1) / bc))
        return bc ? key % bc : key;
    return bc && key >= bc && (how == STALE_EACH || (how == STALE_ODD && key / bc % 2)) ? key - bc
                                                                                        : key;
}

/* The row of V that is added for key j, and the element of it for d; NULL: that is beyond the end. */
static const float *value_at(const struct evaluator *e, const struct fault *f, int64_t kv,
                             int64_t j, int64_t d)
{
    const int64_t Sk = e->s->Sk, D = e->s->D, tile = f->v_transposed;
    int64_t row = f->v_shift ? ((j + f->v_shift) % Sk + Sk) % Sk : stale(f->stale_v, f->bc, Sk, j);
    if (tile) {
        const int64_t flat = d * tile + j % tile;
        row = j / tile * tile + flat / D;
        d = flat % D;
    }
    return row < Sk ? (f->v_of_k ? e->k : e->v) + kv + row * e->skv.s + d : NULL;
}

static void add_value(const struct evaluator *e, const struct fault *f, int64_t kv, int64_t j,
                      double p, double *o)
{
    const int64_t D = e->s->D;
    const float *v = value_at(e, f, kv, j, 0);
    if (!f->v_transposed)
        add_row(p, v, o, D);
    for (int64_t d = 0; d < D && f->v_transposed; d++) {
        v = value_at(e, f, kv, j, d);
        o[d] += v ? p * (double)*v : 0;
    }
}

static void add_tile(struct evaluator *e, const struct fault *f, struct state *t, int64_t kv,
                     int64_t from, int64_t end, int64_t to)
{
    const int64_t D = e->s->D;
    double top = t->m;
    for (int64_t j = from; j < end; j++)
        top = fmax(top, e->scores[j]);
    const double shrink = isinf(t->m) ? 0 : exp((t->m - top) * (f->power > 0 ? f->power : 1));
    const bool first = isinf(t->m);
    const double shrink_o = first ? shrink : f->keep_o ? 1 : f->late_o ? t->owed : shrink;
    t->l *= first ? shrink : f->keep_l ? 1 : f->late_l ? t->owed : shrink;
    t->owed = first ? 1 : shrink;
    t->m = top;
    for (int64_t d = 0; d < D; d++)
        t->o[d] *= shrink_o;
    for (int64_t j = from; j < end; j++) {
        const double p = (f->first_twice && j == from ? 2 : 1) * exp(e->scores[j] - top);
        t->l += p;
        if (j < to)
            add_value(e, f, kv, j, p, t->o);
    }
}

static bool comes_twice(const struct evaluator *e, const struct fault *f, int64_t end, int64_t to)
{
    return (f->twice == TWICE_LAST && end == e->s->Sk) || (f->twice == TWICE_SEEN && end == to);
}

/* One that covers the last of all keys, of which this row may see a part, counts as the last. */
static int64_t tile_end(const struct evaluator *e, const struct fault *f, int64_t at, int64_t bc)
{
    return f->twice == TWICE_LAST && at + bc > e->s->Sk ? e->s->Sk : at + bc;
}

static void add_tiles(struct evaluator *e, const struct fault *f, struct state *t, int64_t kv,
                      int64_t from, int64_t end, int64_t to)
{
    const int64_t bc = f->bc ? f->bc : e->s->Sk, tiles = (end - from + bc - 1) / bc;
    for (int64_t i = 0; i < tiles; i++) {
        const int64_t at = from + (f->backward ? tiles - 1 - i : i) * bc;
        if (f->skip && i == f->skip)
            continue;
        const int64_t until = tile_end(e, f, at, bc), last = until < end ? until : end;
        add_tile(e, f, t, kv, at, last, to);
        if (comes_twice(e, f, f->twice == TWICE_LAST ? until : last, to))
            add_tile(e, f, t, kv, at, last, to);
    }
}

static void make_scores(struct evaluator *e, const struct fault *f, const struct row_place *at,
                        int64_t kv, int64_t to, int64_t pad)
{
    const int64_t head = (at->h + f->q_head + e->s->H) % e->s->H,
                  batch = f->q_first_batch ? 0 : at->b;
    const float *q = e->q + batch * e->sq.b + head * e->sq.h + at->i * e->sq.s;
    const double scale = e->scale * (f->scale > 0 ? f->scale : 1);
    const int64_t end = f->dim_count ? f->dim_from + f->dim_count : e->s->D;
    for (int64_t j = 0; j < to + pad; j++) {
        const float *k = e->k + kv + stale(f->stale_k, f->bc, e->s->Sk, j) * e->skv.s;
        const double dot =
            j < to ? dot_product(q + f->dim_from, k + f->dim_from, end - f->dim_from) : 0;
        e->scores[j] = f->masked_zero && j >= shape_row_keys(e->s, at->i) ? 0 : dot * scale;
    }
}

/* ---- sums over queries ---- */

static void make_sums(struct evaluator *e, const struct fault *f, int64_t row)
{
    const struct shape *s = e->s;
    const int64_t head = row / s->Sq;
    if (e->sums && e->sums_of == head && e->sums_over == (int)f->over)
        return;
    free(e->sums);
    e->sums = xcalloc((size_t)s->Sk + 1, sizeof *e->sums);
    e->sums_of = head;
    e->sums_over = (int)f->over;
    for (int64_t i = 0; i < s->Sq; i++) {
        const struct row_place at = row_place_of(s, head * s->Sq + i);
        const int64_t keys = shape_row_keys(s, i);
        double top = f->over == OVER_QUERIES_UNDER_MAX ? -INFINITY : 0;
        make_scores(e, f, &at, kv_head(s, f, at.h, HEAD_OF_K) * e->skv.h + at.b * e->skv.b, keys,
                    0);
        for (int64_t j = 0; j < keys && f->over == OVER_QUERIES_UNDER_MAX; j++)
            top = fmax(top, e->scores[j]);
        for (int64_t j = 0; j < keys; j++)
            e->sums[j] += exp(e->scores[j] - top);
    }
}

static void evaluate_over_queries(struct evaluator *e, const struct fault *f, int64_t row)
{
    const struct shape *s = e->s;
    const struct row_place at = row_place_of(s, row);
    const int64_t keys = shape_row_keys(s, at.i), of_batch = at.b * e->skv.b;
    double top = f->over == OVER_QUERIES_UNDER_MAX ? -INFINITY : 0;
    make_sums(e, f, row);
    make_scores(e, f, &at, kv_head(s, f, at.h, HEAD_OF_K) * e->skv.h + of_batch, keys, 0);
    for (int64_t j = 0; j < keys && f->over == OVER_QUERIES_UNDER_MAX; j++)
        top = fmax(top, e->scores[j]);
    memset(e->o, 0, (size_t)s->D * sizeof *e->o);
    for (int64_t j = 0; j < keys; j++)
        add_value(e, f, kv_head(s, f, at.h, HEAD_OF_V) * e->skv.h + of_batch, j,
                  exp(e->scores[j] - top) / e->sums[j], e->o);
}

/* ---- what earlier rows have left ---- */

/* The first of the rows that have left something to `row`, which may be itself. */
static int64_t first_before(const struct shape *s, const struct fault *f, int64_t i)
{
    const int64_t step = f->carry_step, low = f->carry_tile ? i / f->carry_tile * f->carry_tile : 0;
    (void)s;
    if (f->carry_once)
        return i - step >= low ? i - step : i;
    return i - (i - low) / step * step;
}

/* State `t` as the next row begins with it. */
static void hand_on(const struct evaluator *e, const struct fault *f, struct state *t)
{
    const bool keep_l = f->carry != CARRY_O && f->carry != CARRY_MIXED_O,
               keep_o = f->carry != CARRY_L && f->carry != CARRY_MIXED_L;
    if (!keep_l)
        t->l = 0;
    for (int64_t d = 0; d < e->s->D && !keep_o; d++)
        t->o[d] = 0;
}

static void evaluate_carried(struct evaluator *e, const struct fault *f, int64_t row)
{
    const struct shape *s = e->s;
    const struct row_place at = row_place_of(s, row);
    const bool mixed = f->carry == CARRY_MIXED_L || f->carry == CARRY_MIXED_O;
    const int64_t kv = kv_head(s, f, at.h, HEAD_OF_K) * e->skv.h + at.b * e->skv.b;
    struct state t = {-INFINITY, 0, e->part, 1};
    double l = 0;
    memset(e->part, 0, (size_t)s->D * sizeof *e->part);
    memset(e->o, 0, (size_t)s->D * sizeof *e->o);
    for (int64_t i = first_before(s, f, at.i); i <= at.i; i += f->carry_step) {
        const struct row_place one = {at.b, at.h, i};
        const int64_t keys = shape_row_keys(s, i);
        make_scores(e, f, &one, kv, keys, 0);
        if (keys)
            add_tiles(e, f, &t, kv, 0, keys, keys);
        if (mixed) { /* added as they are; each under its own maximum */
            const bool last = i == at.i;
            l += last || f->carry == CARRY_MIXED_L ? t.l : 0;
            for (int64_t d = 0; d < s->D; d++)
                e->o[d] += last || f->carry == CARRY_MIXED_O ? t.o[d] : 0;
            t = (struct state){-INFINITY, 0, e->part, 1};
            memset(e->part, 0, (size_t)s->D * sizeof *e->part);
        } else if (i != at.i)
            hand_on(e, f, &t);
    }
    for (int64_t d = 0; d < s->D; d++) {
        const double sum = mixed ? l : t.l, o = mixed ? e->o[d] : t.o[d];
        e->o[d] = sum > 0 ? o / sum : 0;
    }
}

void evaluate(struct evaluator *e, const struct fault *f, int64_t row)
{
    const struct shape *s = e->s;
    const struct row_place at = row_place_of(s, row);
    const int64_t of_batch = (f->first_batch ? 0 : at.b) * e->skv.b;
    const int64_t kv = kv_head(s, f, at.h, HEAD_OF_K) * e->skv.h + of_batch,
                  values = kv_head(s, f, at.h, HEAD_OF_V) * e->skv.h + of_batch;
    int64_t from, to, pad;
    if (f->over || f->carry) {
        (f->over ? evaluate_over_queries : evaluate_carried)(e, f, row);
        return;
    }
    key_range(s, f, seen_keys(s, f, at.i), &from, &to, &pad);
    make_scores(e, f, &at, kv, to, pad);
    const int64_t splits = f->splits ? f->splits : 1, bc = f->bc ? f->bc : 1;
    const int64_t per = round_up((to + pad - from + splits - 1) / splits, bc);
    double m = -INFINITY, l = 0;
    memset(e->o, 0, (size_t)s->D * sizeof *e->o);
    for (int64_t part = from; part < to + pad; part += per) {
        struct state t = {-INFINITY, 0, e->part, 1};
        memset(t.o, 0, (size_t)s->D * sizeof *t.o);
        add_tiles(e, f, &t, values, part, part + per < to + pad ? part + per : to + pad, to);
        const double top = fmax(m, t.m), old = isinf(m) ? 0 : exp(m - top), new = exp(t.m - top);
        m = top;
        l = l * old + t.l * new;
        for (int64_t d = 0; d < s->D; d++)
            e->o[d] = e->o[d] * old + t.o[d] * new;
    }
    for (int64_t d = 0; d < s->D && !f->undivided; d++)
        e->o[d] = l > 0 ? e->o[d] / l : 0;
}
