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

static int64_t kv_head(const struct shape *s, const struct fault *f, int64_t h)
{
    switch (f->head) {
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

static void add_tile(struct evaluator *e, const struct fault *f, struct state *t, int64_t kv,
                     int64_t from, int64_t end, int64_t to)
{
    const int64_t D = e->s->D, Sk = e->s->Sk;
    double top = t->m;
    for (int64_t j = from; j < end; j++)
        top = fmax(top, e->scores[j]);
    const double shrink = isinf(t->m) ? 0 : exp(t->m - top);
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
        if (j >= to)
            continue;
        const int64_t value =
            f->v_shift ? ((j + f->v_shift) % Sk + Sk) % Sk : stale(f->stale_v, f->bc, Sk, j);
        const float *v = (f->v_of_k ? e->k : e->v) + kv + value * e->skv.s;
        for (int64_t d = 0; d < D; d++)
            t->o[d] += p * (double)v[d];
    }
}

static void add_tiles(struct evaluator *e, const struct fault *f, struct state *t, int64_t kv,
                      int64_t from, int64_t end, int64_t to)
{
    const int64_t bc = f->bc ? f->bc : e->s->Sk, tiles = (end - from + bc - 1) / bc;
    for (int64_t i = 0; i < tiles; i++) {
        const int64_t at = from + (f->backward ? tiles - 1 - i : i) * bc;
        if (f->skip && i == f->skip)
            continue;
        add_tile(e, f, t, kv, at, at + bc < end ? at + bc : end, to);
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
        double dot = 0;
        const float *k = e->k + kv + stale(f->stale_k, f->bc, e->s->Sk, j) * e->skv.s;
        for (int64_t d = f->dim_from; j < to && d < end; d++)
            dot += (double)q[d] * (double)k[d];
        e->scores[j] = dot * scale;
    }
}

void evaluate(struct evaluator *e, const struct fault *f, int64_t row)
{
    const struct shape *s = e->s;
    const struct row_place at = row_place_of(s, row);
    const int64_t kv = kv_head(s, f, at.h) * e->skv.h + (f->first_batch ? 0 : at.b) * e->skv.b;
    int64_t from, to, pad;
    key_range(s, f, seen_keys(s, f, at.i), &from, &to, &pad);
    make_scores(e, f, &at, kv, to, pad);
    const int64_t splits = f->splits ? f->splits : 1, bc = f->bc ? f->bc : 1;
    const int64_t per = round_up((to + pad - from + splits - 1) / splits, bc);
    double m = -INFINITY, l = 0;
    memset(e->o, 0, (size_t)s->D * sizeof *e->o);
    for (int64_t part = from; part < to + pad; part += per) {
        struct state t = {-INFINITY, 0, e->part, 1};
        memset(t.o, 0, (size_t)s->D * sizeof *t.o);
        add_tiles(e, f, &t, kv, part, part + per < to + pad ? part + per : to + pad, to);
        const double top = fmax(m, t.m), old = isinf(m) ? 0 : exp(m - top), new = exp(t.m - top);
        m = top;
        l = l * old + t.l * new;
        for (int64_t d = 0; d < s->D; d++)
            e->o[d] = e->o[d] * old + t.o[d] * new;
    }
    for (int64_t d = 0; d < s->D && !f->undivided; d++)
        e->o[d] = l > 0 ? e->o[d] / l : 0;
}
