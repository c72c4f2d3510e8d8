/* fa1_2022.c - FlashAttention as published in May 2022: K/V outside, queries inside.
 *
 * @name      fa1_2022
 * @title     FlashAttention-1 (May 2022): a block per head, K/V tiles outside, O through memory
 * @idea      Bring a K/V tile close once and let all queries of the head pass by it. Since a query
 *            returns for every K/V tile, its unfinished output, maximum and sum wait in memory in
 *            between, and the output is kept normalised so that it is a valid answer at any time.
 * @after     row_online
 * @dtypes    f16 bf16 f32
 * @param     BR 16 [1..1024]  query rows per inner tile
 * @param     BC 64 [1..1024]  key rows per outer tile
 * @grid      1 H B
 * @workspace o_acc B*H*Sq*D*4  unfinished output, f32
 * @workspace m     B*H*Sq*4    running maximum
 * @workspace l     B*H*Sq*4    running sum of exponentials
 * @traffic   read B*H*(2*Sk*D*T+tiles(BR,BC)*BR*(D*T+(D+2)*4)+Sq*(D+2)*4) write B*H*(Sq*D*T+(tiles(BR,BC)*BR+Sq)*(D+2)*4)
 *
 * Cost: with Tc = Sk/BC outer tiles, Q is read Tc times and O, m and l make Tc round trips in f32:
 *   8 (D + 2) bytes a row and tile. K and V are read once.
 * Limits: B*H blocks whatever Sq is: with one head, one core works and the others watch. The round
 *   trips hit the cache while a head's O (4 Sq D bytes) fits, which hides here what hurts on a GPU.
 * Next: qtile_seq swaps the loops: a block per query tile, and nothing has to wait outside.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attn_cpu.h"

enum { WS_O, WS_M, WS_L };

static float *waiting(const struct block *blk, int ws, int64_t i)
{
    return (float *)blk->a->ws[ws] + row_number(blk, i) * (ws == WS_O ? blk->a->D : 1);
}

/* Row i meets n keys of the tile: o = o * (old sum / new sum) + P V / new sum. s has room for n. */
static void row_meets_tile(const struct block *blk, int64_t i, const float *q, const float *k,
                           const float *v, int64_t n, float *s)
{
    const int64_t D = blk->a->D;
    float *o = waiting(blk, WS_O, i), *m = waiting(blk, WS_M, i), *l = waiting(blk, WS_L, i);
    blk->simd->scores(q, k, D, n, D, blk->a->scale * LOG2E, s);
    const float m_new = fmaxf(*m, blk->simd->max(s, n));
    const float kept = *l * exp2f(*m - m_new); /* the old sum in the new units */
    const float l_new = kept + blk->simd->exp2_sum(s, m_new, n);
    blk->simd->scale(o, kept / l_new, D);
    blk->simd->scale(s, 1 / l_new, n);
    blk->simd->add_rows(o, s, v, D, n, D);
    *m = m_new;
    *l = l_new;
}

static void forget(const struct block *blk)
{
    for (int64_t i = 0; i < blk->a->Sq; i++) {
        memset(waiting(blk, WS_O, i), 0, (size_t)blk->a->D * sizeof(float));
        *waiting(blk, WS_M, i) = -INFINITY;
        *waiting(blk, WS_L, i) = 0;
    }
}

static void head_block(const struct block *blk)
{
    const struct AttnArgs *a = blk->a;
    const int64_t D = a->D, BR = cpu_param(blk->l, "BR"), BC = cpu_param(blk->l, "BC");
    float *k = shared_floats(blk, (2 * BC + BR) * D + BC);
    float *v = k + BC * D, *q = v + BC * D, *s = q + BR * D;
    forget(blk);
    for (int64_t j = 0; j < a->Sk; j += BC) { /* outer: K/V tiles */
        const int64_t keys = min64(BC, a->Sk - j);
        load_tile(blk, k, k_row(blk, j), a->k_stride[2], keys);
        load_tile(blk, v, v_row(blk, j), a->v_stride[2], keys);
        for (int64_t i0 = 0; i0 < a->Sq; i0 += BR) { /* inner: query tiles */
            const int64_t rows = min64(BR, a->Sq - i0);
            if (visible_keys(a, i0 + rows - 1) <= j)
                continue;
            load_tile(blk, q, q_row(blk, i0), a->q_stride[2], rows);
            for (int64_t r = 0; r < rows; r++) {
                const int64_t n = min64(keys, visible_keys(a, i0 + r) - j);
                if (n > 0)
                    row_meets_tile(blk, i0 + r, q + r * D, k, v, n, s);
            }
        }
    }
    for (int64_t i = 0; i < a->Sq; i++)
        store_row(blk, i, waiting(blk, WS_O, i), *waiting(blk, WS_M, i), *waiting(blk, WS_L, i));
}

void attn_fa1_2022(const struct AttnArgs *a, const struct cpu_launch *l)
{
    run_grid(a, l, 1, head_block);
}
