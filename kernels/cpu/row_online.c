/* row_online.c - one query per block; K and V in blocks, softmax corrected as it goes.
 *
 * @name      row_online
 * @title     One query per block, K/V in blocks of 64, online softmax
 * @idea      The maximum of a row is not known before its last key, so keep a running maximum m, a
 *            running sum l and an output that is right for the keys seen so far. When a block of
 *            keys raises the maximum, multiply both by exp(m_old - m_new). The result is exact, and
 *            no score ever goes to memory.
 * @after     naive
 * @dtypes    f16 bf16 f32
 * @param     BC 64 [1..1024]  keys per block of keys
 * @grid      Sq H B
 * @traffic   read B*H*(Sq*D*T+pairs*2*D*T) write B*H*Sq*D*T
 *
 * Cost: as naive without the score matrix, plus one correction of D columns per block of keys: D
 *   multiplications beside 4 BC D FLOPs, about 0.4 %.
 * Limits: a block serves one query, so K and V are requested Sq times: 4 D FLOPs for 2 D T bytes. Only
 *   a cache can save that, while K and V fit. 16-bit inputs are converted again for every query.
 * Next: fa1_2022 lets a K/V tile that is close by serve many queries.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attn_cpu.h"

static void row_block(const struct block *blk)
{
    const struct AttnArgs *a = blk->a;
    const int64_t i = blk->x, D = a->D, BC = cpu_param(blk->l, "BC");
    float *s = shared_floats(blk, BC + BC * D + 2 * D);
    float *tile = s + BC, *q_buf = tile + BC * D, *o = q_buf + D;
    int64_t pitch;
    const float *q = rows_as_floats(blk, q_row(blk, i), 0, 1, D, q_buf, &pitch);
    float m = -INFINITY, l = 0;
    memset(o, 0, (size_t)D * sizeof *o);

    const int64_t end = visible_keys(a, i);
    for (int64_t j = 0; j < end; j += BC) {
        const int64_t n = min64(BC, end - j);
        const float *k = rows_as_floats(blk, k_row(blk, j), a->k_stride[2], n, D, tile, &pitch);
        blk->simd->scores(q, k, pitch, n, D, a->scale * LOG2E, s);

        const float m_new = fmaxf(m, blk->simd->max(s, n));
        const float correction = exp2f(m - m_new); /* 0 for the first keys: m is -inf */
        l = l * correction + blk->simd->exp2_sum(s, m_new, n);
        m = m_new;

        const float *v = rows_as_floats(blk, v_row(blk, j), a->v_stride[2], n, D, tile, &pitch);
        blk->simd->scale(o, correction, D);
        blk->simd->add_rows(o, s, v, pitch, n, D);
    }
    if (end > 0)
        blk->simd->scale(o, 1 / l, D);
    store_row(blk, i, o, m, l);
}

void attn_row_online(const struct AttnArgs *a, const struct cpu_launch *l)
{
    run_grid(a, l, a->Sq, row_block);
}
