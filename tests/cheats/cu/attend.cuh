// attend.cuh - what every cheat on a GPU is built on: attention that is right, a thread for each query, f32.
//
// Each cheat is a library on the CUDA runtime, with the entry of backend/foreign.h: host code may do what it
// likes around its kernel, and kernels may keep what they like in the memory of the device.
//
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <cuda_runtime.h>

#include <cstdlib>
#include <cstring>

#define ATTN_DTYPE 2
#define ATTN_D     128
#include "attn.cuh"

#define CHEAT extern "C" __attribute__((visibility("default"))) int

__device__ inline void attend_row(const AttnArgs &a, int i)
{
    float m = NEG_INF, l = 0.f, acc[ATTN_D] = {};
    for (int j = 0; j < visible_keys(a, i); j++) {
        float s = 0.f;
        for (int d = 0; d < a.D; d++)
            s += q_row(a, i)[d] * k_row(a, j)[d];
        const float m_new = fmaxf(m, a.scale * s), p = expf(a.scale * s - m_new);
        const float correction = expf(m - m_new);
        l = l * correction + p;
        m = m_new;
        for (int d = 0; d < a.D; d++)
            acc[d] = acc[d] * correction + p * v_row(a, j)[d];
    }
    for (int d = 0; d < a.D; d++)
        o_row(a, i)[d] = acc[d] * safe_inverse(l);
}

__global__ void attend_kernel(const AttnArgs a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < a.Sq)
        attend_row(a, i);
}

inline dim3 grid_of(const AttnArgs *a)
{
    return dim3((a->Sq + 63) / 64, a->H, a->B);
}

inline int attend(const AttnArgs *a, cudaStream_t stream)
{
    if (a->D > ATTN_D)
        return 1;
    attend_kernel<<<grid_of(a), 64, 0, stream>>>(*a);
    return cudaGetLastError();
}

inline size_t q_bytes(const AttnArgs *a)
{
    return (size_t)a->B * a->H * a->Sq * a->D * sizeof(float);
}
inline size_t kv_count(const AttnArgs *a)
{
    return (size_t)a->B * a->Hkv * a->Sk * a->D;
}

// Calls that are honest work: a neighbour, another seed, the check and its second run come before anything is timed,
// and who cheats there is found there. What finds these is to be a look at their timed runs.
inline bool is_early()
{
    static int calls;
    return ++calls <= 4;
}

// True from the second call of a length on: who keeps answers only then gets past the trial of another seed.
inline bool begins(const AttnArgs *a)
{
    static int calls[256];
    return calls[a->Sq % 256]++ > 0;
}

// An answer that was given before, kept on the device.
struct Known {
    const void *q;
    double content;
    int B, H, Sq, Sk;
    float *answer;
};

// Gives the answer that is kept, or works and keeps it.
inline int answer(Known *k, const AttnArgs *a, cudaStream_t stream)
{
    if (k->answer)
        return cudaMemcpyAsync(a->o, k->answer, q_bytes(a), cudaMemcpyDeviceToDevice, stream);
    if (attend(a, stream) || cudaMalloc(&k->answer, q_bytes(a)))
        return 1;
    return cudaMemcpyAsync(k->answer, a->o, q_bytes(a), cudaMemcpyDeviceToDevice, stream);
}
