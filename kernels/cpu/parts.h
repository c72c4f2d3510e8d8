/* parts.h - what the kernels share whose blocks divide the keys of a query: partial outputs become one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_KERNELS_PARTS_H
#define ATTNSCOPE_KERNELS_PARTS_H

#include "attn_cpu.h"

/* Row i from its n parts, [n][D] and their LSEs, base 2: o = sum of weight * part, weight = 2^(its LSE - LSE of the
 * whole row). `weights` and `o` are memory for n and D floats. */
static inline void combine_parts(const struct block *blk, int64_t i, const float *parts,
                                 const float *lse, int64_t n, float *weights, float *o)
{
    const int64_t D = blk->a->D;
    memcpy(weights, lse, (size_t)n * sizeof *weights);
    memset(o, 0, (size_t)D * sizeof *o);
    const float m = blk->simd->max(weights, n);
    float l = 0;
    if (m > -INFINITY) { /* else no part saw a key */
        l = blk->simd->exp2_sum(weights, m, n);
        blk->simd->scale(weights, 1 / l, n);
        blk->simd->add_rows(o, weights, parts, D, n, D);
    }
    store_row(blk, i, o, m, l);
}

#endif
