/* eng.cu - an engineer's kernel: own header, own flags, nvcc. For tests/gpu/own.
 * @name     eng
 * @title    One thread per query, own header, nvcc
 * @after    naive
 * @dtypes   f16 f32
 * @requires D <= 128
 * @param    THREADS 64 [32..256]  queries per block
 * @threads  THREADS
 * @grid     ceil(Sq/THREADS) H B
 * @compiler nvcc
 * @include  inc
 * @flags    -O3 -DENG=1
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include "attn.cuh"
#include "mine.h" // in inc/

extern "C" __global__ void eng(const __grid_constant__ AttnArgs a)
{
    const int i = blockIdx.x * P_THREADS + threadIdx.x;
    if (i >= a.Sq)
        return;
    float m = NEG_INF, l = 0.f, acc[ATTN_D] = {};
    for (int j = 0; j < visible_keys(a, i); j++) {
        float s = 0.f;
        for (int d = 0; d < a.D; d++)
            s += to_float(q_row(a, i)[d]) * to_float(k_row(a, j)[d]);
        s *= a.scale * MINE_ONE;
        const float m_new = fmaxf(m, s);
        const float p = expf(s - m_new) * ENG;
        const float correction = expf(m - m_new);
        l = l * correction + p;
        m = m_new;
        for (int d = 0; d < a.D; d++)
            acc[d] = acc[d] * correction + p * to_float(v_row(a, j)[d]);
    }
    for (int d = 0; d < a.D; d++)
        o_row(a, i)[d] = to_elem(acc[d] * safe_inverse(l));
    store_lse(a, i, m, l);
}
