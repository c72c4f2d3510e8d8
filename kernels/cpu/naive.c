/* naive.c - attention as the formula reads: three launches, the score matrix in memory.
 *
 * @name      naive
 * @title     Three passes, the whole score matrix in memory
 * @idea      S = scale * Q K^T, P = softmax(S) row by row, O = P V, one launch each. Every score goes
 *            to memory and comes back for the next step, so traffic grows with Sq * Sk while the
 *            inputs grow only with Sq + Sk. Everything later on the ladder exists to avoid this.
 * @dtypes    f16 bf16 f32
 * @param     THREADS 256 [32..1024]  scores, then outputs, of one block; as many threads on a GPU
 * @grid      Sq*ceil(Sk/THREADS) H B
 * @pass      softmax
 * @grid      ceil(Sq*32/THREADS) H B
 * @pass      pv
 * @grid      ceil(Sq*D/THREADS) H B
 * @workspace scores B*H*Sq*Sk*4  S, then P in its place, f32
 * @traffic   read B*H*ceil(pairs*(D*T*(1+1/THREADS)+8+D*T+4*D/min(D,THREADS))) write B*H*(pairs*(1+1)*4+Sq*D*T)
 *
 * Cost: 4 D FLOPs per (query, key) pair, and the score matrix is written twice and read twice, 16
 *   bytes a pair. A score costs D multiply-adds and at once a trip to memory: as soon as the matrix
 *   outgrows the caches, the trip is what takes the time.
 * Limits: memory. S = 32k needs 4 GiB a head. Products use no tiles: K and V are requested for every
 *   query anew.
 * Next: row_online keeps the scores of one query in fast memory, a few at a time.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attn_cpu.h"

enum { CHUNK = 64 }; /* keys converted to float at a time, for 16-bit inputs */

static float *score_row(const struct block *blk, int64_t i)
{
    return (float *)blk->a->ws[0] + row_number(blk, i) * blk->a->Sk;
}

/* Pass 1: THREADS neighbouring scores of one row. Masked ones are not computed. */
static void scores_block(const struct block *blk)
{
    const struct AttnArgs *a = blk->a;
    const int64_t width = cpu_param(blk->l, "THREADS"), per_row = ceil_div(a->Sk, width);
    const int64_t i = blk->x / per_row, first = blk->x % per_row * width;
    const int64_t end = min64(first + width, visible_keys(a, i));
    float *tile = shared_floats(blk, (CHUNK + 1) * a->D), *q_buf = tile + CHUNK * a->D;
    int64_t pitch;
    const float *q = rows_as_floats(blk, q_row(blk, i), 0, 1, a->D, q_buf, &pitch);
    for (int64_t j = first; j < end; j += CHUNK) {
        const int64_t n = min64(CHUNK, end - j);
        const float *k = rows_as_floats(blk, k_row(blk, j), a->k_stride[2], n, a->D, tile, &pitch);
        blk->simd->scores(q, k, pitch, n, a->D, a->scale * LOG2E, score_row(blk, i) + j);
    }
}

/* Pass 2: softmax of THREADS / 32 rows, a warp's worth of threads each. */
static void softmax_block(const struct block *blk)
{
    const struct AttnArgs *a = blk->a;
    const int64_t rows = cpu_param(blk->l, "THREADS") / 32;
    for (int64_t i = blk->x * rows; i < min64((blk->x + 1) * rows, a->Sq); i++) {
        float *s = score_row(blk, i);
        const int64_t n = visible_keys(a, i);
        const float m = blk->simd->max(s, n), l = blk->simd->exp2_sum(s, m, n);
        if (n > 0)
            blk->simd->scale(s, 1 / l, n);
        if (a->lse)
            a->lse[row_number(blk, i)] = n > 0 ? (float)((m + log2((double)l)) * LN2) : -INFINITY;
    }
}

/* Output columns [d, d + n) of row i. */
static void output_part(const struct block *blk, int64_t i, int64_t d, int64_t n)
{
    const struct AttnArgs *a = blk->a;
    const int64_t keys = visible_keys(a, i);
    float *tile = shared_floats(blk, (CHUNK + 1) * n), *o = tile + CHUNK * n;
    memset(o, 0, (size_t)n * sizeof *o);
    for (int64_t j = 0; j < keys; j += CHUNK) {
        const int64_t count = min64(CHUNK, keys - j);
        int64_t pitch;
        const float *v = rows_as_floats(blk, element(blk->l->dtype, v_row(blk, j), d),
                                        a->v_stride[2], count, n, tile, &pitch);
        blk->simd->add_rows(o, score_row(blk, i) + j, v, pitch, count, n);
    }
    store_columns(blk, i, d, n, o);
}

/* Pass 3: THREADS neighbouring elements of the head's output, which may span rows. */
static void pv_block(const struct block *blk)
{
    const int64_t D = blk->a->D, width = cpu_param(blk->l, "THREADS");
    const int64_t end = min64((blk->x + 1) * width, blk->a->Sq * D);
    for (int64_t at = blk->x * width; at < end;) {
        const int64_t n = min64(D - at % D, end - at);
        output_part(blk, at / D, at % D, n);
        at += n;
    }
}

void attn_naive(const struct AttnArgs *a, const struct cpu_launch *l)
{
    const int64_t threads = cpu_param(l, "THREADS");
    run_grid(a, l, a->Sq * ceil_div(a->Sk, threads), scores_block);
    run_grid(a, l, ceil_div(a->Sq, threads / 32), softmax_block);
    run_grid(a, l, ceil_div((int64_t)a->Sq * a->D, threads), pv_block);
}
