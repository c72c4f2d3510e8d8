// mma_parts.cuh - how fa2_mma and its neighbours store a part of an answer (attn.cuh, "Parts of an answer").
//
// Asked for by them where parts are wanted, and nothing stands outside the condition: the code of one GPU, and what was
// measured of it, hangs on none of this.
//
// SPDX-License-Identifier: GPL-3.0-or-later
#if ATTN_PARTS_F32
#pragma once
#include "mma.cuh"

// The answer of a warp with M times 16 rows as it is, row `row` and every 8th after it by this lane. Nothing is packed, so
// nothing need pass shared memory to be stored 16 bytes at a time. l was gathered lane by lane.
template <int M>
__device__ inline void store_parts(const AttnArgs &a, const float (&o)[M][ATTN_D / 8][4], float (&l)[2 * M],
                                   const float (&m)[2 * M], int row, int col)
{
#pragma unroll
    for (int r = 0; r < 2 * M; r++) {
        l[r] = warp_sum<4>(l[r]);
        const int i = row + r * 8;
        if (i >= a.Sq)
            continue;
        const float inverse = safe_inverse(l[r]);
#pragma unroll
        for (int n = 0; n < ATTN_D / 8; n++) {
            const float *x = o[r / 2][n] + r % 2 * 2;
            if (n * 8 < a.D)
                o_row(a, i).put(n * 8 + col, x[0] * inverse, x[1] * inverse);
        }
        if (col == 0)
            store_lse(a, i, m[r] * a.scale, l[r]);
    }
}
#endif
