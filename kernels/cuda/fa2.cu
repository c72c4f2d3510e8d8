/* fa2.cu - FlashAttention-2's forward pass on scalar units.
 *
 * @name      fa2
 * @title     FlashAttention-2, scalar: O unnormalised in registers, warps own rows
 * @idea      Less beside the products: the output is divided once at the end instead of after every
 *            tile, exponentials are powers of 2 with log2(e) folded into the scale, every lane keeps
 *            a patch of scores and of outputs so that a value read from shared memory is used 4 to 8
 *            times, and a warp owns whole query rows, so that between loading a K/V tile and
 *            releasing it no warp waits for another. (WARPS=keys divides the tile by keys instead,
 *            as FlashAttention-1 did.)
 * @after     qtile_tpq
 * @dtypes    f16 bf16 f32
 * @requires  D <= 256 && BR % 16 == 0 && BC % 32 == 0 && PAD % 4 == 0
 *            && (WARPS == 0 || BC % (BR/4) == 0)
 * @param     BR 64 [16..128]   query rows per tile; a warp for every 16
 * @param     BC 64 [32..128]   key rows per tile
 * @param     PAD 4 [0..16]     extra elements per row of Q and K, against bank conflicts
 * @param     WARPS rows|keys   how the warps of a block divide a tile of scores
 * @threads   2*BR
 * @grid      ceil(Sq/BR) H B
 * @smem      dynamic Qs BR*(D+PAD)*T             Q tile
 * @smem      dynamic Ks BC*(D+PAD)*T             K tile
 * @smem      dynamic Vs BC*D*T                   V tile
 * @smem      dynamic Ps BR*(BC+8)*4              exponentials of the scores of the tile
 * @smem      dynamic Xs (WARPS==1)*BR*(BR/16)*4  row maxima and sums that warps exchange (WARPS=keys)
 * @traffic   read B*H*(Sq*D*T+tiles(BR,BC)*2*BC*D*T) write B*H*Sq*D*T
 *
 * Cost: 4 columns of a 4 x 8 patch take 12 loads of 4 elements for 128 FMAs, where qtile_tpq loads
 *   once per FMA. Barriers per K/V tile: 2; with WARPS=keys 5, and maximum and P cross the warps.
 * Limits: scalar units have 1/16 (A100) of the tensor cores' rate. ceil(Sq/BR) H B blocks: one query
 *   tile keeps one multiprocessor busy, however long K is. Loads are not overlapped with products.
 *   P V multiplies masked keys by 0: inf or NaN in V at a masked key of a visited tile shows.
 * Next: splitkv also divides the keys among blocks.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef P_BR
#define P_BR 64
#endif
#ifndef P_BC
#define P_BC 64
#endif
#ifndef P_PAD
#define P_PAD 4
#endif
#ifndef P_WARPS
#define P_WARPS 0
#endif
#ifndef ATTN_THREADS
#define ATTN_THREADS (2 * P_BR)
#endif
#include "attn.cuh"
#ifndef SMEM_Qs
#define SMEM_Qs 0
#define SMEM_Ks (SMEM_Qs + ALIGN16(P_BR * (ATTN_D + P_PAD) * sizeof(elem)))
#define SMEM_Vs (SMEM_Ks + ALIGN16(P_BC * (ATTN_D + P_PAD) * sizeof(elem)))
#define SMEM_Ps (SMEM_Vs + P_BC * ATTN_D * sizeof(elem))
#define SMEM_Xs (SMEM_Ps + P_BR * (P_BC + 8) * 4)
#endif

constexpr int BR = P_BR, BC = P_BC, PITCH = ATTN_D + P_PAD, P_PITCH = BC + 8;
constexpr int WARPS = ATTN_THREADS / 32;
constexpr bool BY_ROWS = P_WARPS == 0;

// The 32 lanes of a warp form a grid of LR x LK over the warp's part of the scores, which is 16
// rows of all keys (rows), or all rows of BC / WARPS keys (keys). Lanes that differ in lk alone work
// on the same rows.
constexpr int LK = BY_ROWS ? 8 : 4, LR = 32 / LK;
constexpr int ROWS = BY_ROWS ? 16 / LR : BR / LR; // rows of a lane: row0, row0 + LR, ...
constexpr int STEP = BY_ROWS ? LK : LK * WARPS;   // keys of a lane: col0, col0 + STEP, ...
constexpr int KEYS = BC / STEP;
static_assert(BC % STEP == 0, "every key of the tile needs a lane");
// Output columns go by fours: a lane owns vectors col0, col0 + STEP, ... of the ATTN_D / 4.
constexpr int VECS = (ATTN_D / 4 + STEP - 1) / STEP;

struct alignas(16) Four {
    float x[4];
};
// Four neighbours, by one load.
__device__ inline Four load4(const elem *p)
{
    const Vec<4> v = *(const Vec<4> *)p;
    return {to_float(v.x[0]), to_float(v.x[1]), to_float(v.x[2]), to_float(v.x[3])};
}

// Combines one value per row over the warps that share the rows (WARPS=keys).
template <class Op> __device__ inline void across_warps(float (&x)[ROWS], float *Xs, int row0, Op op)
{
    __syncthreads(); // Xs may still be read
    if (threadIdx.x % LK == 0)
        for (int i = 0; i < ROWS; i++)
            Xs[threadIdx.x / 32 * BR + row0 + i * LR] = x[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        x[i] = Xs[row0 + i * LR];
        for (int w = 1; w < WARPS; w++)
            x[i] = op(x[i], Xs[w * BR + row0 + i * LR]);
    }
}

// Launch bounds of 1 block: the compiler shall use registers rather than spill for more blocks.
extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1)
    fa2(const __grid_constant__ AttnArgs a)
{
    elem *Qs = (elem *)(smem + SMEM_Qs), *Ks = (elem *)(smem + SMEM_Ks);
    elem *Vs = (elem *)(smem + SMEM_Vs);
    float *Ps = (float *)(smem + SMEM_Ps), *Xs = (float *)(smem + SMEM_Xs);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row0 = (BY_ROWS ? warp * 16 : 0) + lane / LK;
    const int col0 = (BY_ROWS ? 0 : warp * LK) + lane % LK;
    const int q0 = blockIdx.x * BR;
    const int n_keys = visible_keys_of_tile(a, q0, BR);
    const float scale_log2e = a.scale * 1.4426950408889634f; // exp(x) = 2^(x log2 e)

    load_tile<BR, PITCH>(Qs, q_row(a, q0), a.q_stride[2], a.Sq - q0, a.D);
    Four acc[ROWS][VECS] = {}; // O, not yet divided by l
    float m[ROWS], l[ROWS];    // l: this lane's keys only, until the end
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        m[i] = NEG_INF;
        l[i] = 0.f;
    }

    for (int k0 = 0; k0 < n_keys; k0 += BC) {
        __syncthreads(); // nobody reads the tile before any more
        load_tile<BC, PITCH>(Ks, k_row(a, k0), a.k_stride[2], a.Sk - k0, a.D);
        load_tile<BC, ATTN_D>(Vs, v_row(a, k0), a.v_stride[2], a.Sk - k0, a.D);
        __syncthreads();

        // S = Q K^T, four columns at a time.
        float s[ROWS][KEYS] = {};
#pragma unroll 2
        for (int d = 0; d < ATTN_D; d += 4) {
            Four q[ROWS];
#pragma unroll
            for (int i = 0; i < ROWS; i++)
                q[i] = load4(Qs + (row0 + i * LR) * PITCH + d);
#pragma unroll
            for (int c = 0; c < KEYS; c++) {
                const Four k = load4(Ks + (col0 + c * STEP) * PITCH + d);
#pragma unroll
                for (int i = 0; i < ROWS; i++)
                    for (int e = 0; e < 4; e++)
                        s[i][c] += q[i].x[e] * k.x[e];
            }
        }

        // Scale and mask; the row's new maximum over the lanes that share the row.
        float m_new[ROWS];
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const int n = visible_keys(a, q0 + row0 + i * LR) - k0;
            m_new[i] = m[i];
#pragma unroll
            for (int c = 0; c < KEYS; c++) {
                s[i][c] = col0 + c * STEP < n ? s[i][c] * scale_log2e : NEG_INF;
                m_new[i] = fmaxf(m_new[i], s[i][c]);
            }
            m_new[i] = warp_max<LK>(m_new[i]);
        }
        if (!BY_ROWS)
            across_warps(m_new, Xs, row0, [](float x, float y) { return fmaxf(x, y); });

        // P = 2^(S - m); what was gathered under the old maximum shrinks.
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            // A row that has seen no key yet has m = -inf, and -inf - -inf is no number.
            const float base = m_new[i] == NEG_INF ? 0.f : m_new[i];
            const float correction = exp2f(m[i] - base);
            m[i] = m_new[i];
            l[i] *= correction;
#pragma unroll
            for (int c = 0; c < KEYS; c++) {
                const float p = exp2f(s[i][c] - base);
                l[i] += p;
                Ps[(row0 + i * LR) * P_PITCH + col0 + c * STEP] = p;
            }
#pragma unroll
            for (int c = 0; c < VECS; c++)
                for (int e = 0; e < 4; e++)
                    acc[i][c].x[e] *= correction;
        }
        if (BY_ROWS)
            __syncwarp(); // P of these rows is read by this warp alone
        else
            __syncthreads();

        // O += P V, four keys at a time.
#pragma unroll 1
        for (int j = 0; j < BC; j += 4) {
            Four p[ROWS];
#pragma unroll
            for (int i = 0; i < ROWS; i++)
                p[i] = *(const Four *)(Ps + (row0 + i * LR) * P_PITCH + j);
#pragma unroll
            for (int x = 0; x < 4; x++)
#pragma unroll
                for (int c = 0; c < VECS; c++) {
                    if (col0 + c * STEP >= ATTN_D / 4)
                        continue;
                    const Four v = load4(Vs + (j + x) * ATTN_D + (col0 + c * STEP) * 4);
#pragma unroll
                    for (int i = 0; i < ROWS; i++)
                        for (int e = 0; e < 4; e++)
                            acc[i][c].x[e] += p[i].x[x] * v.x[e];
                }
        }
    }

    // The one division. l was gathered lane by lane: add the lanes that share the row.
#pragma unroll
    for (int i = 0; i < ROWS; i++)
        l[i] = warp_sum<LK>(l[i]);
    if (!BY_ROWS)
        across_warps(l, Xs, row0, [](float x, float y) { return x + y; });
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const int row = q0 + row0 + i * LR;
        if (row >= a.Sq)
            continue;
        const float inverse = safe_inverse(l[i]);
#pragma unroll
        for (int c = 0; c < VECS; c++)
            for (int e = 0; e < 4; e++) {
                const int d = (col0 + c * STEP) * 4 + e;
                if (d < a.D)
                    o_row(a, row)[d] = to_elem(acc[i][c].x[e] * inverse);
            }
        if (col0 == 0)
            store_lse(a, row, m[i] * 0.6931471805599453f, l[i]); // ln 2: back to natural logarithms
    }
}
