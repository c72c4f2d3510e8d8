/* seventh.cu - is wrong in every seventh run.
 *
 * expect: wrong
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.cuh"

__device__ int runs;

__global__ void count_run()
{
    runs++;
}
__global__ void mostly(const AttnArgs a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= a.Sq)
        return;
    if (runs % 7)
        attend_row(a, i);
    else
        for (int d = 0; d < a.D; d++)
            o_row(a, i)[d] = 0.f;
}

CHEAT attn_run_f32(const AttnArgs *a, void *stream)
{
    count_run<<<1, 1, 0, (cudaStream_t)stream>>>();
    mostly<<<grid_of(a), 64, 0, (cudaStream_t)stream>>>(*a);
    return cudaGetLastError();
}
