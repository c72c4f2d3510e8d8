/* after_runs.cu - the kernel itself counts its runs on the device, and then does nothing.
 *
 * expect: not written when it returned
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.cuh"

__device__ int runs;

__global__ void count_run()
{
    runs++;
}
__global__ void work_some(const AttnArgs a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < a.Sq && runs <= 4)
        attend_row(a, i);
}

CHEAT attn_run_f32(const AttnArgs *a, void *stream)
{
    count_run<<<1, 1, 0, (cudaStream_t)stream>>>();
    work_some<<<grid_of(a), 64, 0, (cudaStream_t)stream>>>(*a);
    return cudaGetLastError();
}
