// fused.cuh - what the fused WMMA kernels share: 8 warps that multiply, a tile of BR queries by BC keys,
// scores, exponentials and outputs in shared memory. Each kernel adds its one idea to these steps.
//
// ACC=f16 keeps scores and outputs, and the sums of the products, in 16 bits: half the shared memory
// for these two, and the error shows.
//
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "wmma.cuh"

#ifndef P_BR
#define P_BR 32
#endif
#ifndef P_BC
#define P_BC 32
#endif
#ifndef P_STAGES
#define P_STAGES 2
#endif
#ifndef P_ACC
#define P_ACC 0
#endif
#ifndef P_MINBLOCKS
#define P_MINBLOCKS 2
#endif
#ifndef ATTN_THREADS
#define ATTN_THREADS 256
#endif

constexpr int BR = P_BR, BC = P_BC, STAGES = P_STAGES, THREADS = ATTN_THREADS, WARPS = THREADS / 32;

#if P_ACC == 0
using accum = float;
__device__ inline float from_accum(accum x)
{
    return x;
}
__device__ inline accum to_accum(float x)
{
    return x;
}
using Sum = Accumulator;
#else
static_assert(ATTN_DTYPE == 0, "16-bit sums exist for f16 operands");
using accum = elem;
__device__ inline float from_accum(accum x)
{
    return to_float(x);
}
__device__ inline accum to_accum(float x)
{
    return to_elem(x);
}
struct Sum {
    unsigned x[4];
};
__device__ inline void load_c(Sum &c, const elem *p, int ld)
{
    asm volatile("wmma.load.c.sync.aligned.row" WMMA_SHAPE ".shared.f16 {%0, %1, %2, %3}, [%4], %5;"
                 : WMMA_OUT4(c.x)
                 : "r"(shared_address(p)), "r"(ld)
                 : "memory");
}
__device__ inline void store_c(elem *p, const Sum &c, int ld)
{
    asm volatile("wmma.store.d.sync.aligned.row" WMMA_SHAPE
                 ".shared.f16 [%0], {%1, %2, %3, %4}, %5;" ::"r"(shared_address(p)),
                 "r"(c.x[0]), "r"(c.x[1]), "r"(c.x[2]), "r"(c.x[3]), "r"(ld)
                 : "memory");
}
#define HALF_MMA(order)                                                                              \
    asm volatile("wmma.mma.sync.aligned.row." order WMMA_SHAPE ".f16.f16 {%0, %1, %2, %3}, "         \
                 "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15, %16, %17, %18, %19}, "    \
                 "{%0, %1, %2, %3};"                                                                 \
                 : "+r"(c.x[0]), "+r"(c.x[1]), "+r"(c.x[2]), "+r"(c.x[3])                            \
                 : WMMA_IN8(a.r), WMMA_IN8(b.r))
template <bool col> __device__ inline void multiply(Sum &c, const FragmentA &a, const FragmentB &b)
{
    if constexpr (col)
        HALF_MMA("col");
    else
        HALF_MMA("row");
}
#endif

// ---- Q K^T --------------------------------------------------------------------------------------

// Scores of the tile, 16 x 16 at a time, by the warps first, first + 1, ... of `count`.
__device__ inline void scores_wmma(accum *Ss, const elem *Qs, const elem *Ks, int first = 0,
                                   int count = WARPS)
{
    for (int t = threadIdx.x / 32 - first; t < BR / 16 * (BC / 16); t += count) {
        const int i = t / (BC / 16) * 16, j = t % (BC / 16) * 16;
        Sum s = {};
#pragma unroll
        for (int d = 0; d < ATTN_D; d += 16) {
            FragmentA q;
            FragmentB k;
            load_a(q, Qs + i * ATTN_D + d, ATTN_D);
            load_b_transposed(k, Ks + j * ATTN_D + d, ATTN_D);
            multiply<true>(s, q, k);
        }
        store_c(Ss + i * BC + j, s, BC);
    }
}
__device__ inline void scores_scalar(accum *Ss, const elem *Qs, const elem *Ks)
{
    for (int e = threadIdx.x; e < BR * BC; e += THREADS) {
        const elem *q = Qs + e / BC * ATTN_D, *k = Ks + e % BC * ATTN_D;
        float s = 0.f;
#pragma unroll 8
        for (int d = 0; d < ATTN_D; d++)
            s += to_float(q[d]) * to_float(k[d]);
        Ss[e] = to_accum(s);
    }
}

// ---- Softmax of a tile: P = 2^(S - m); m, l and O follow the new maximum. ------------------------

// By `lanes` neighbours of a warp for each row, the rows first, first + step, ... `m` is in powers of 2.
template <int lanes>
__device__ inline void softmax_rows(const AttnArgs &a, const accum *Ss, elem *Ps, float *ms, float *ls,
                                    accum *Os, int q0, int k0, int first, int step)
{
    const float scale_log2e = a.scale * 1.4426950408889634f; // exp(x) = 2^(x log2 e)
    const int part = threadIdx.x % lanes;
    for (int r = first; r < BR; r += step) {
        const int n = min(BC, visible_keys(a, q0 + r) - k0);
        const float m = ms[r];
        float m_new = m, sum = 0.f;
        for (int j = part; j < n; j += lanes)
            m_new = fmaxf(m_new, from_accum(Ss[r * BC + j]) * scale_log2e);
        m_new = warp_max<lanes>(m_new);
        // A row that has seen no key yet has m = -inf, and -inf - -inf is no number.
        const float base = m_new == NEG_INF ? 0.f : m_new, correction = exp2f(m - base);
        for (int j = part; j < BC; j += lanes) {
            const float p = j < n ? exp2f(from_accum(Ss[r * BC + j]) * scale_log2e - base) : 0.f;
            sum += p;
            Ps[r * BC + j] = to_elem(p);
        }
        sum = warp_sum<lanes>(sum);
        if constexpr (lanes > 1) // a thread for a row meets nobody: with BR=16 half of a warp has no row
            __syncwarp();        // all lanes have read ms[r]: a shuffle orders no memory
        if (part == 0) {
            ms[r] = m_new;
            ls[r] = ls[r] * correction + sum;
        }
        for (int d = part; d < ATTN_D; d += lanes)
            Os[r * ATTN_D + d] = to_accum(from_accum(Os[r * ATTN_D + d]) * correction);
    }
}

// ---- O += P V -----------------------------------------------------------------------------------

__device__ inline void outputs_wmma(accum *Os, const elem *Ps, const elem *Vs, int first = 0,
                                    int count = WARPS)
{
    for (int t = threadIdx.x / 32 - first; t < BR / 16 * (ATTN_D / 16); t += count) {
        const int i = t / (ATTN_D / 16) * 16, d = t % (ATTN_D / 16) * 16;
        Sum o;
        load_c(o, Os + i * ATTN_D + d, ATTN_D);
#pragma unroll
        for (int j = 0; j < BC; j += 16) {
            FragmentA p;
            FragmentB v;
            load_a(p, Ps + i * BC + j, BC);
            load_b(v, Vs + j * ATTN_D + d, ATTN_D);
            multiply<false>(o, p, v);
        }
        store_c(Os + i * ATTN_D + d, o, ATTN_D);
    }
}
__device__ inline void outputs_scalar(accum *Os, const elem *Ps, const elem *Vs)
{
    for (int e = threadIdx.x; e < BR * ATTN_D; e += THREADS) {
        const elem *p = Ps + e / ATTN_D * BC, *v = Vs + e % ATTN_D;
        float o = 0.f;
#pragma unroll 8
        for (int j = 0; j < BC; j++)
            o += to_float(p[j]) * to_float(v[j * ATTN_D]);
        Os[e] = to_accum(from_accum(Os[e]) + o);
    }
}

// ---- Begin and end ------------------------------------------------------------------------------

__device__ inline void clear_outputs(accum *Os, float *ms, float *ls)
{
    for (int e = threadIdx.x; e < BR * ATTN_D; e += THREADS)
        Os[e] = to_accum(0.f);
    for (int r = threadIdx.x; r < BR; r += THREADS) {
        ms[r] = NEG_INF;
        ls[r] = 0.f;
    }
}

// O / l, V elements at a time, by the first `count` threads.
template <int V>
__device__ inline void store_columns(const AttnArgs &a, const accum *Os, const float *ls, int q0,
                                     int count = THREADS)
{
    for (int e = threadIdx.x; e < BR * (ATTN_D / V); e += count) {
        const int r = e / (ATTN_D / V), d = e % (ATTN_D / V) * V;
        if (q0 + r >= a.Sq || d >= a.D)
            continue;
        const float inverse = safe_inverse(ls[r]);
        Vec<V> x;
#pragma unroll
        for (int i = 0; i < V; i++)
            x.x[i] = to_elem(from_accum(Os[r * ATTN_D + d + i]) * inverse);
        *(Vec<V> *)(o_row(a, q0 + r) + d) = x;
    }
}
__device__ inline void store_sums(const AttnArgs &a, const float *ms, const float *ls, int q0,
                                  int count = THREADS)
{
    for (int r = threadIdx.x; r < BR && q0 + r < a.Sq; r += count)
        store_lse(a, q0 + r, ms[r] * 0.6931471805599453f, ls[r]); // ln 2: natural logarithms
}
// May rows of this tensor be read 16 bytes at a time?
__device__ inline bool rows_by_16_bytes(const AttnArgs &a, long long stride)
{
    return a.D % 8 == 0 && stride % 8 == 0;
}
// Starts the copy of `valid` rows; where rows cannot be read by 16 bytes, copies at once. By the
// threads first, first + 1, ... of `count`.
__device__ inline void start_rows(const AttnArgs &a, elem *tile, int rows, const elem *src, long long stride,
                                  int valid, int first, int count)
{
    if (!rows_by_16_bytes(a, stride)) {
        for (int e = threadIdx.x - first; e < rows * ATTN_D; e += count) {
            const int r = e / ATTN_D, d = e % ATTN_D;
            tile[e] = r < valid && d < a.D ? src[r * stride + d] : to_elem(0.f);
        }
        return;
    }
    for (int e = threadIdx.x - first; e < rows * (ATTN_D / 8); e += count) {
        const int r = e / (ATTN_D / 8), d = e % (ATTN_D / 8) * 8;
        const bool inside = r < valid && d < a.D;
        copy_async(shared_address(tile + r * ATTN_D + d), inside ? src + r * stride + d : src, inside);
    }
}
