/* half2_tile.cu - small tiles and packed 16-bit arithmetic, for short sequences and small heads.
 *
 * @name      half2_tile
 * @title     Half2 tiles: pairs of 16-bit elements, tiles of 24 or 32 keys
 * @idea      For heads as small as D=32 and sequences as short as 64, tiles are cut to fit: 24 keys
 *            instead of 32, rows of pairs (half2) an odd number of words apart. With ACC=f16 one
 *            instruction does two multiply-adds, at the price of sums in 16 bits.
 * @after     qtile_tpq
 * @dtypes    f16 parts=f32
 * @requires  D <= 128 && D % 8 == 0 && BC % 4 == 0 && (BC / 4) % BLOCK == 0
 *            && (PREFETCH == 0 || STAGES == 2)
 * @param     BR 32 [8..128]     query rows per tile; 4 threads each
 * @param     BC 24 [4..128]     key rows per tile
 * @param     PAD 1 [0..8]       extra pairs (4 bytes) per row of Q, K and V
 * @param     BLOCK 2 [1..8]     keys that a thread multiplies at a time with one load of Q
 * @param     BARRIER conditional|always  whether the last tile, too, ends with a barrier (STAGES=1)
 * @param     STAGES 1 [1..2]    buffers for K and V
 * @param     PREFETCH no|yes    load the next tile into registers before this one is used (STAGES=2)
 * @param     ACC f32|f16        products and sums in 32 bits, or in pairs of 16
 * @threads   4*BR
 * @grid      ceil(Sq/BR) H B
 * @smem      dynamic Qs BR*(D/2+PAD)*4        pitch=D+2*PAD          Q tile
 * @smem      dynamic Ks STAGES*BC*(D/2+PAD)*4 pitch=D+2*PAD rows=BC  K tiles
 * @smem      dynamic Vs STAGES*BC*(D/2+PAD)*4 pitch=D+2*PAD rows=BC  V tiles
 * @smem      dynamic Ps BR*(BC+2)*4           type=f32 pitch=BC+2    exponentials of the scores
 * @traffic   read B*H*(Sq*D*T+tiles(BR,BC)*2*BC*D*T) write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attn.cuh"

constexpr int BR = P_BR, BC = P_BC, BLOCK = P_BLOCK, STAGES = P_STAGES, THREADS = ATTN_THREADS;
constexpr int PAIRS = ATTN_D / 2, PITCH = PAIRS + P_PAD, P_PITCH = BC + 2;
constexpr int LANES = 4;             // that share a row
constexpr int OWN = PAIRS / LANES;   // pairs of output columns of a lane: first, first + 4, ...

using pair = unsigned; // two f16, the first in the lower half
__device__ float2 unpack(pair x);
__device__ pair pack(float x, float y);

#if P_ACC == 0
using sums = float2; // two sums at once, over the first and the second elements of pairs
#else
using sums = pair;
#endif
__device__ void add_product(sums &s, pair a, pair b);
__device__ void scale(sums &s, float f);
__device__ float2 value(sums s);

// A tile on its way: 8 elements a load, several loads a thread.
template <int ROWS> struct Tile {
    static constexpr int PER_ROW = ATTN_D / 8, LOADS = (ROWS * PER_ROW + THREADS - 1) / THREADS;
    Vec<8> x[LOADS];
    __device__ void load(const elem *src, long long stride, int valid, int D);
    __device__ void store(pair *tile) const;
};

extern "C" __global__ void __launch_bounds__(ATTN_THREADS) half2_tile(const __grid_constant__ AttnArgs a)
{
    pair *Qs = (pair *)(smem + SMEM_Qs), *Ks = (pair *)(smem + SMEM_Ks), *Vs = (pair *)(smem + SMEM_Vs);
    float *Ps = (float *)(smem + SMEM_Ps);
    const int r = threadIdx.x / LANES, first = threadIdx.x % LANES;
    const int q0 = blockIdx.x * BR, n_keys = visible_keys_of_tile(a, q0, BR);
    const int n_mine = visible_keys(a, q0 + r);
    const float scale_log2e = a.scale * 1.4426950408889634f; // exp(x) = 2^(x log2 e)
    Tile<BC> K, V;
    const auto load = [&](int k0) {
        K.load(k_row(a, k0), a.k_stride[2], a.Sk - k0, a.D);
        V.load(v_row(a, k0), a.v_stride[2], a.Sk - k0, a.D);
    };

    Tile<BR> Q;
    Q.load(q_row(a, q0), a.q_stride[2], a.Sq - q0, a.D);
    if (P_PREFETCH && n_keys > 0)
        load(0);
    Q.store(Qs);
    sums o[OWN] = {};
    float m = NEG_INF, l = 0.f;

    for (int k0 = 0, stage = 0; k0 < n_keys; k0 += BC, stage = (stage + 1) % STAGES) {
        pair *k_tile = Ks + stage * BC * PITCH, *v_tile = Vs + stage * BC * PITCH;
        if (!P_PREFETCH)
            load(k0);
        K.store(k_tile);
        V.store(v_tile);
        __syncthreads(); // tiles (and Q) are there
        if (P_PREFETCH && k0 + BC < n_keys)
            load(k0 + BC);

        // Scores of keys first, first + 4, ..., BLOCK of them with one load of Q.
        float m_new = m;
        for (int j = first; j < BC; j += LANES * BLOCK) {
            sums s[BLOCK] = {};
#pragma unroll 8
            for (int d = 0; d < PAIRS; d++) {
                const pair q = Qs[r * PITCH + d];
#pragma unroll
                for (int b = 0; b < BLOCK; b++)
                    add_product(s[b], q, k_tile[(j + b * LANES) * PITCH + d]);
            }
#pragma unroll
            for (int b = 0; b < BLOCK; b++) {
                const int key = j + b * LANES;
                const float2 v = value(s[b]);
                const float score = k0 + key < n_mine ? (v.x + v.y) * scale_log2e : NEG_INF;
                Ps[r * P_PITCH + key] = score;
                m_new = fmaxf(m_new, score);
            }
        }
        m_new = warp_max<LANES>(m_new);
        // A row that has seen no key yet has m = -inf, and -inf - -inf is no number.
        const float base = m_new == NEG_INF ? 0.f : m_new, correction = exp2f(m - base);
        m = m_new;
        l *= correction;
#pragma unroll
        for (int c = 0; c < OWN; c++)
            scale(o[c], correction);
        for (int j = first; j < BC; j += LANES) {
            const float p = exp2f(Ps[r * P_PITCH + j] - base);
            l += p;
            Ps[r * P_PITCH + j] = p;
        }
        __syncwarp(); // the row is shared by neighbours only

        for (int j = 0; j < BC; j++) {
            const float p = Ps[r * P_PITCH + j];
            const pair pp = pack(p, p);
#pragma unroll
            for (int c = 0; c < OWN; c++)
                add_product(o[c], pp, v_tile[j * PITCH + first + c * LANES]);
        }
        if (STAGES == 1 && (P_BARRIER == 1 || k0 + BC < n_keys))
            __syncthreads(); // nobody reads these tiles any more
    }

    l = warp_sum<LANES>(l);
    if (q0 + r >= a.Sq)
        return;
    const float inverse = safe_inverse(l);
#pragma unroll
    for (int c = 0; c < OWN; c++) {
        const int d = (first + c * LANES) * 2;
        const float2 v = value(o[c]);
        if (d < a.D)
#if !ATTN_PARTS_F32
            *(pair *)(o_row(a, q0 + r) + d) = pack(v.x * inverse, v.y * inverse);
#else
            o_row(a, q0 + r).put(d, v.x * inverse, v.y * inverse);
#endif
    }
    if (first == 0)
        store_lse(a, q0 + r, m * 0.6931471805599453f, l); // ln 2: back to natural logarithms
}

// ---- Pairs ---------------------------------------------------------------------------------------

__device__ inline float2 unpack(pair x)
{
    float2 f;
    asm("{ .reg .b16 lo, hi; mov.b32 {lo, hi}, %2; cvt.f32.f16 %0, lo; cvt.f32.f16 %1, hi; }"
        : "=f"(f.x), "=f"(f.y)
        : "r"(x));
    return f;
}
__device__ inline pair pack(float x, float y)
{
    pair r;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(y), "f"(x));
    return r;
}

#if P_ACC == 0
__device__ inline void add_product(sums &s, pair a, pair b)
{
    const float2 x = unpack(a), y = unpack(b);
    s.x += x.x * y.x;
    s.y += x.y * y.y;
}
__device__ inline void scale(sums &s, float f)
{
    s.x *= f;
    s.y *= f;
}
__device__ inline float2 value(sums s)
{
    return s;
}
#else
__device__ inline void add_product(sums &s, pair a, pair b)
{
    asm("fma.rn.f16x2 %0, %1, %2, %0;" : "+r"(s) : "r"(a), "r"(b));
}
__device__ inline void scale(sums &s, float f)
{
    asm("mul.rn.f16x2 %0, %0, %1;" : "+r"(s) : "r"(pack(f, f)));
}
__device__ inline float2 value(sums s)
{
    return unpack(s);
}
#endif

// ---- Tiles ---------------------------------------------------------------------------------------

template <int ROWS> __device__ inline void Tile<ROWS>::load(const elem *src, long long stride, int valid, int D)
{
#pragma unroll
    for (int i = 0; i < LOADS; i++) {
        const int e = i * THREADS + threadIdx.x, r = e / PER_ROW, d = e % PER_ROW * 8;
        x[i] = {};
        if (r < min(valid, ROWS) && d < D)
            x[i] = *(const Vec<8> *)(src + r * stride + d);
    }
}
template <int ROWS> __device__ inline void Tile<ROWS>::store(pair *tile) const
{
#pragma unroll
    for (int i = 0; i < LOADS; i++) {
        const int e = i * THREADS + threadIdx.x, r = e / PER_ROW, d = e % PER_ROW * 4;
        if (r < ROWS)
            for (int n = 0; n < 4; n++) // an odd pitch keeps rows from being 16-byte aligned
                tile[r * PITCH + d + n] = ((const pair *)&x[i])[n];
    }
}

/* Cost: BLOCK+1 loads of a pair for BLOCK pair products. Rows D/2+PAD words apart: with D=32, PAD=1
 *   gives 17, which is odd, so that neighbouring rows begin in different banks; PAD=2 gives 18, and
 *   every 16th row meets. One word less a row is 6 % of the tiles at D=32, not more.
 *   A tile that does not divide Sk is part empty: 64 keys are two tiles of 32 but three of 24, 72 keys;
 *   at S=64 BC=32 took 12 % less time on an H200.
 * Limits: sums in 16 bits (ACC=f16) lose what falls below 2^-11 of the sum: the check says how much.
 *   A barrier costs what the slowest warp is late, a few cycles where all do the same.
 * Next: fa2_mma_plain lets tensor cores multiply. */
