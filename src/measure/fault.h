/* fault.h - a row of the output as a kernel with one fault computes it.
 *
 * Kernels go wrong in ways that are known: a mask that is off by one, a tile that is not rescaled, another
 * group's keys. A fault says what is done instead of the right thing; evaluate() does that, in float64 and
 * tile by tile as the kernel would. diagnose.c holds what comes out against what a kernel gave.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_MEASURE_FAULT_H
#define ATTNSCOPE_MEASURE_FAULT_H

#include "spec/input.h"
#include "spec/shape.h"

/* What a kernel with one fault does instead; all zero does everything right. */
struct fault {
    double scale; /* times the right one; 0: 1 */
    enum {
        MASK_RIGHT,
        MASK_ALL,
        MASK_LESS,
        MASK_MORE,
        MASK_MORE_IF_ANY,
        MASK_CORNER,
        MASK_CAUSAL,
        MASK_ROUND
    } mask;
    enum { HEAD_RIGHT, HEAD_MODULO, HEAD_CLAMPED, HEAD_FIRST } head;
    enum {
        HEAD_OF_BOTH,
        HEAD_OF_K,
        HEAD_OF_V
    } head_of; /* whose head that is; the other's is right */
    enum { KEYS_RIGHT, KEYS_PADDED, KEYS_FULL_TILES, KEYS_NOT_LAST_TILE, KEYS_NOT_FIRST_TILE } keys;
    int bc;           /* keys of a tile, where it matters */
    int64_t but_last; /* keys left out at the end */
    double part;      /* only this share of the tiles is visited; 0: all */
    bool keep_o, keep_l, undivided, v_of_k, first_batch;
    int v_shift;
    bool late_o, late_l;         /* rescaled by the factor of the tile before */
    int skip;                    /* the number of a tile, from 0, that is not visited; 0: none */
    int64_t dim_from, dim_count; /* scores are of these elements of D alone; 0: of all */
    /* A tile has the keys, or the values, of the one before: every other tile, or each. Or of the first: the last
     * tile of all keys, or each. */
    enum { STALE_NOT, STALE_ODD, STALE_EACH, STALE_LAST_FIRST, STALE_ALL_FIRST } stale_k, stale_v;
    bool first_twice;   /* the first key of each tile counts twice */
    int q_head;         /* heads from the right one to that whose Q is read, around */
    bool q_first_batch; /* Q is that of the first batch */
    bool backward;      /* the last tile first */
    int splits;         /* parts of the keys, combined at the end; 0: 1 */
    bool masked_zero;   /* keys behind the diagonal that `mask` lets in have the score 0 */
    int v_transposed;   /* V's tiles of so many keys are read as if they lay the other way; 0: no */
    enum {
        TWICE_NOT,
        TWICE_LAST,
        TWICE_SEEN
    } twice;      /* the last tile: of all keys, or of those that the row sees */
    double power; /* rescaling is by the difference of the maxima times this; 0: 1 */
    /* What the rows before have left is where this one begins: maximum, and sum, O or both; MIXED: the maximum is new, so
     * they are added as they are. The rows are `carry_step` apart, within a tile of `carry_tile` or, 0, the head; the one
     * before alone or all of them. */
    enum { CARRY_NOT, CARRY_ALL, CARRY_L, CARRY_O, CARRY_MIXED_L, CARRY_MIXED_O } carry;
    int carry_step, carry_tile;
    bool carry_once;
    /* Divided by the sum over the queries of each key: of exp(score), or of that under each row's maximum. */
    enum { OVER_KEYS, OVER_QUERIES, OVER_QUERIES_UNDER_MAX } over;
};

/* The tensors of a problem, widened, and room for a row. */
struct evaluator {
    const struct shape *s;
    double scale;              /* the right one: 1/sqrt(D) */
    float *q, *k, *v;          /* in the tensors' layout */
    struct strides sq, skv;    /* of Q and the output; of K and V */
    double *o, *part, *scores; /* D, D, and Sk rounded up */
    double *sums; /* Sk, of what fault.over says, for the head sums_of; NULL: none yet */
    int64_t sums_of;
    int sums_over;
};

/* `s` is borrowed; the tensors are copied. End it with evaluator_free(). */
struct evaluator evaluator_new(const struct shape *s, const struct tensors *t);
void evaluator_free(struct evaluator *e);
/* Makes e->o row (b * H + h) * Sq + i as a kernel with this fault gives it; 0 where nothing is summed. Its
 * scores, times the scale, are in e->scores. */
void evaluate(struct evaluator *e, const struct fault *f, int64_t row);

#endif
