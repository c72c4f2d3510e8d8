/* libmine.cu - a library with the C entry, on the CUDA runtime. For tests/gpu/own.
 *
 * attn_run launches into the stream it is given; attn_waits also waits for it, as some libraries do;
 * attn_faults writes where nothing is.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <cuda_runtime.h>

#define ATTN_DTYPE 0
#define ATTN_D     64
#include "attn.cuh"

__global__ void one_thread_a_query(const AttnArgs a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= a.Sq)
        return;
    float m = NEG_INF, l = 0.f, acc[ATTN_D] = {};
    for (int j = 0; j < visible_keys(a, i); j++) {
        float s = 0.f;
        for (int d = 0; d < a.D; d++)
            s += to_float(q_row(a, i)[d]) * to_float(k_row(a, j)[d]);
        const float m_new = fmaxf(m, a.scale * s), p = expf(a.scale * s - m_new);
        const float correction = expf(m - m_new);
        l = l * correction + p;
        m = m_new;
        for (int d = 0; d < a.D; d++)
            acc[d] = acc[d] * correction + p * to_float(v_row(a, j)[d]);
    }
    for (int d = 0; d < a.D; d++)
        o_row(a, i)[d] = to_elem(acc[d] * safe_inverse(l));
}

extern "C" int attn_run(const AttnArgs *a, void *stream)
{
    if (a->D > ATTN_D)
        return 1;
    const dim3 grid((a->Sq + 63) / 64, a->H, a->B);
    one_thread_a_query<<<grid, 64, 0, (cudaStream_t)stream>>>(*a);
    return cudaGetLastError();
}

extern "C" int attn_waits(const AttnArgs *a, void *stream)
{
    const int rc = attn_run(a, stream);
    return rc ? rc : cudaStreamSynchronize((cudaStream_t)stream);
}

extern "C" int attn_faults(const AttnArgs *a, void *stream)
{
    AttnArgs b = *a;
    b.o = (elem *)16;
    return attn_run(&b, stream);
}
