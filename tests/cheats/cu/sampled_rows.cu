/* sampled_rows.cu - computes the rows that a check is likely to look at, and guesses the others.
 *
 * expect: wrong|float32|mean|max_diff
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.cuh"

__global__ void some_rows(const AttnArgs a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= a.Sq)
        return;
    if (i == 0 || i == a.Sq - 1 || i % 16 == 0 || i % 16 == 15)
        attend_row(a, i);
    else
        for (int d = 0; d < a.D; d++)
            o_row(a, i)[d] = v_row(a, 0)[d];
}

CHEAT attn_run_f32(const AttnArgs *a, void *stream)
{
    some_rows<<<grid_of(a), 64, 0, (cudaStream_t)stream>>>(*a);
    return cudaGetLastError();
}
