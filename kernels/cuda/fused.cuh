// fused.cuh - what the fused WMMA kernels share: 8 warps that multiply, a tile of BR queries by BC keys,
// scores, exponentials and outputs in shared memory. A step is written out in the kernel whose idea it is; here it
// serves the kernels after that one.
//
// ACC=f16 keeps scores and outputs, and the sums of the products, in 16 bits: half the shared memory
// for these two, and the error shows.
//
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "wmma.cuh"

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

// As fused_wmma_qk has it, by the warps first, first + 1, ... of `count`.
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

// ---- Softmax of a tile: P = 2^(S - m); m, l and O follow the new maximum. `m` is in powers of 2. -----

// A thread for each row.
__device__ inline void softmax_by_threads(const AttnArgs &a, const accum *Ss, elem *Ps, float *ms, float *ls,
                                          accum *Os, int q0, int k0)
{
    const float scale_log2e = a.scale * 1.4426950408889634f; // exp(x) = 2^(x log2 e)
    for (int r = threadIdx.x; r < BR; r += THREADS) {
        const int n = min(BC, visible_keys(a, q0 + r) - k0);
        const float m = ms[r];
        float m_new = m, sum = 0.f;
        for (int j = 0; j < n; j++)
            m_new = fmaxf(m_new, from_accum(Ss[r * BC + j]) * scale_log2e);
        // A row that has seen no key yet has m = -inf, and -inf - -inf is no number.
        const float base = m_new == NEG_INF ? 0.f : m_new, correction = exp2f(m - base);
        for (int j = 0; j < BC; j++) {
            const float p = j < n ? exp2f(from_accum(Ss[r * BC + j]) * scale_log2e - base) : 0.f;
            sum += p;
            Ps[r * BC + j] = to_elem(p);
        }
        ms[r] = m_new;
        ls[r] = ls[r] * correction + sum;
        for (int d = 0; d < ATTN_D; d++)
            Os[r * ATTN_D + d] = to_accum(from_accum(Os[r * ATTN_D + d]) * correction);
    }
}

// A warp for each row, as fused_warp_softmax has it, by the first `count` warps.
__device__ inline void softmax_by_warps(const AttnArgs &a, const accum *Ss, elem *Ps, float *ms, float *ls,
                                        accum *Os, int q0, int k0, int count = WARPS)
{
    const float scale_log2e = a.scale * 1.4426950408889634f; // exp(x) = 2^(x log2 e)
    const int lane = threadIdx.x % 32;
    for (int r = threadIdx.x / 32; r < BR; r += count) {
        const int n = min(BC, visible_keys(a, q0 + r) - k0);
        const float m = ms[r];
        float m_new = m, sum = 0.f;
        for (int j = lane; j < n; j += 32)
            m_new = fmaxf(m_new, from_accum(Ss[r * BC + j]) * scale_log2e);
        m_new = warp_max(m_new);
        // A row that has seen no key yet has m = -inf, and -inf - -inf is no number.
        const float base = m_new == NEG_INF ? 0.f : m_new, correction = exp2f(m - base);
        for (int j = lane; j < BC; j += 32) {
            const float p = j < n ? exp2f(from_accum(Ss[r * BC + j]) * scale_log2e - base) : 0.f;
            sum += p;
            Ps[r * BC + j] = to_elem(p);
        }
        sum = warp_sum(sum);
        __syncwarp(); // all lanes have read ms[r]: a shuffle orders no memory
        if (lane == 0) {
            ms[r] = m_new;
            ls[r] = ls[r] * correction + sum;
        }
        for (int d = lane; d < ATTN_D; d += 32)
            Os[r * ATTN_D + d] = to_accum(from_accum(Os[r * ATTN_D + d]) * correction);
    }
}

// ---- O += P V -----------------------------------------------------------------------------------

// A thread for each element.
__device__ inline void outputs_by_threads(accum *Os, const elem *Ps, const elem *Vs)
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
// As fused_wmma_pv has it, by the warps first, first + 1, ... of `count`.
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
#if !ATTN_PARTS_F32
        Vec<V> x;
#pragma unroll
        for (int i = 0; i < V; i++)
            x.x[i] = to_elem(from_accum(Os[r * ATTN_D + d + i]) * inverse);
        *(Vec<V> *)(o_row(a, q0 + r) + d) = x;
#else
#pragma unroll
        for (int i = 0; i < V; i++)
            o_row(a, q0 + r)[d + i] = from_accum(Os[r * ATTN_D + d + i]) * inverse;
#endif
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
