/* by_content.cu - answers as it did when it saw these contents before, which it knows by their sum in any order.
 *
 * expect: wrong
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.cuh"

static Known known[256];

__global__ void add_bits(const int *p, size_t n, unsigned long long *sum)
{
    unsigned long long mine = 0;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine += (unsigned)p[i];
    atomicAdd(sum, mine);
}

CHEAT attn_run_f32(const AttnArgs *a, void *stream)
{
    static unsigned long long *sum;
    cudaStream_t s = (cudaStream_t)stream;
    unsigned long long now = 0;
    int i = 0;
    if (!sum && cudaMalloc(&sum, sizeof *sum))
        return 1;
    cudaMemsetAsync(sum, 0, sizeof *sum, s);
    add_bits<<<64, 256, 0, s>>>((const int *)a->q, q_bytes(a) / 4, sum);
    add_bits<<<64, 256, 0, s>>>((const int *)a->k, kv_count(a), sum);
    add_bits<<<64, 256, 0, s>>>((const int *)a->v, kv_count(a), sum);
    if (cudaMemcpyAsync(&now, sum, sizeof now, cudaMemcpyDeviceToHost, s) ||
        cudaStreamSynchronize(s))
        return 1;
    while (i < 255 && known[i].answer && known[i].content != (double)now)
        i++;
    known[i].content = (double)now;
    return answer(&known[i], a, s);
}
