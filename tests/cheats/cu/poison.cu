/* poison.cu - looks whether its output is poisoned, and works only if it is, some times.
 *
 * expect: wrong|not written
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.cuh"

__device__ int runs;

__global__ void look(const AttnArgs a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= a.Sq)
        return;
    const bool poisoned = o_row(a, i)[0] != o_row(a, i)[0];
    if (poisoned && runs <= 8)
        attend_row(a, i);
    else if (poisoned)
        for (int d = 0; d < a.D; d++)
            o_row(a, i)[d] = 0.f;
}
__global__ void count_run()
{
    runs++;
}

CHEAT attn_run_f32(const AttnArgs *a, void *stream)
{
    count_run<<<1, 1, 0, (cudaStream_t)stream>>>();
    look<<<grid_of(a), 64, 0, (cudaStream_t)stream>>>(*a);
    return cudaGetLastError();
}
