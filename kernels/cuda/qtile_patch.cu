/* qtile_patch.cu - a block per query tile; a lane keeps a patch of scores.
 *
 * @name      qtile_patch
 * @title     A block per query tile, a patch of scores per lane
 * @idea      A lane computes a patch of scores, 8 rows by 4 keys, and of outputs, 8 rows by 4 columns:
 *            a value read from shared memory is used 4 to 8 times, and read four at a time. The warps
 *            divide the keys of a tile, as FlashAttention-1's do, so maxima, sums and exponentials
 *            cross them.
 * @after     qtile_tpq
 * @dtypes    f16 bf16 f32 parts=f32
 * @requires  D <= 256 && BR % 16 == 0 && BC % 32 == 0 && PAD % 4 == 0 && BC % (BR/4) == 0
 * @param     BR 64 [16..128]   query rows per tile; a warp for every 16
 * @param     BC 64 [32..128]   key rows per tile
 * @param     PAD 4 [0..16]     extra elements per row of Q and K, against bank conflicts
 * @threads   2*BR
 * @grid      ceil(Sq/BR) H B
 * @smem      dynamic Qs BR*(D+PAD)*T pitch=D+PAD          Q tile
 * @smem      dynamic Ks BC*(D+PAD)*T pitch=D+PAD          K tile
 * @smem      dynamic Vs BC*D*T       pitch=D              V tile
 * @smem      dynamic Ps BR*(BC+8)*4  type=f32 pitch=BC+8  exponentials of the scores of the tile
 * @smem      dynamic Xs BR*(BR/16)*4 type=f32 pitch=BR    row maxima and sums that warps exchange
 * @traffic   read B*H*(Sq*D*T+tiles(BR,BC)*2*BC*D*T) write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attn.cuh"

constexpr int BR = P_BR, BC = P_BC, PITCH = ATTN_D + P_PAD, P_PITCH = BC + 8;
// A warp's 32 lanes form a grid of LR x LK over all rows of the tile and the warp's BC / WARPS keys.
constexpr int WARPS = ATTN_THREADS / 32, LK = 4, LR = 32 / LK, STEP = LK * WARPS;
constexpr int ROWS = BR / LR;                        // of a lane: row0, row0 + LR, ...
constexpr int KEYS = BC / STEP;                      // of a lane: col0, col0 + STEP, ...
constexpr int VECS = (ATTN_D / 4 + STEP - 1) / STEP; // fours of output columns: col0, col0 + STEP, ...

template <class Op> __device__ void across_warps(float (&x)[ROWS], float *Xs, int row0, Op op);

// Launch bounds of 1 block: the compiler shall use registers rather than spill for more blocks.
extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1)
    qtile_patch(const __grid_constant__ AttnArgs a)
{
    elem *Qs = (elem *)(smem + SMEM_Qs), *Ks = (elem *)(smem + SMEM_Ks);
    elem *Vs = (elem *)(smem + SMEM_Vs);
    float *Ps = (float *)(smem + SMEM_Ps), *Xs = (float *)(smem + SMEM_Xs);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row0 = lane / LK, col0 = warp * LK + lane % LK;
    const int q0 = blockIdx.x * BR;
    const int n_keys = visible_keys_of_tile(a, q0, BR);

    load_tile<BR, PITCH>(Qs, q_row(a, q0), a.q_stride[2], a.Sq - q0, a.D);
    Four acc[ROWS][VECS] = {}; // O, normalised between tiles
    float m[ROWS], l[ROWS];    // the same in all threads that share a row
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        m[i] = NEG_INF;
        l[i] = 0.f;
    }

    for (int k0 = 0; k0 < n_keys; k0 += BC) { // @show m l acc
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
                s[i][c] = col0 + c * STEP < n ? s[i][c] * a.scale : NEG_INF;
                m_new[i] = fmaxf(m_new[i], s[i][c]);
            }
            m_new[i] = warp_max<LK>(m_new[i]);
        }
        across_warps(m_new, Xs, row0, [](float x, float y) { return fmaxf(x, y); });

        // P = exp(S - m). FA-1: O is normalised between tiles; undo that, under the new maximum.
        float sum[ROWS] = {};
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            // A row that has seen no key yet has m = -inf, and -inf - -inf is no number.
            const float base = m_new[i] == NEG_INF ? 0.f : m_new[i];
            l[i] *= expf(m[i] - base);
            m[i] = m_new[i];
#pragma unroll
            for (int c = 0; c < KEYS; c++) {
                const float p = expf(s[i][c] - base);
                sum[i] += p;
                Ps[(row0 + i * LR) * P_PITCH + col0 + c * STEP] = p;
            }
            sum[i] = warp_sum<LK>(sum[i]);
#pragma unroll
            for (int c = 0; c < VECS; c++)
                for (int e = 0; e < 4; e++)
                    acc[i][c].x[e] *= l[i];
        }
        across_warps(sum, Xs, row0, [](float x, float y) { return x + y; }); // P is there, too

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
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            l[i] += sum[i];
            const float divisor = l[i] == 0.f ? 1.f : l[i]; // 0 while the row has seen no key
#pragma unroll
            for (int c = 0; c < VECS; c++)
                for (int e = 0; e < 4; e++)
                    acc[i][c].x[e] /= divisor;
        } // @show m l acc
    }

#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const int row = q0 + row0 + i * LR;
        if (row >= a.Sq)
            continue;
#pragma unroll
        for (int c = 0; c < VECS; c++)
            for (int e = 0; e < 4; e++) {
                const int d = (col0 + c * STEP) * 4 + e;
                if (d < a.D)
                    o_row(a, row)[d] = to_elem(acc[i][c].x[e]);
            }
        if (col0 == 0)
            store_lse(a, row, m[i], l[i]);
    }
}

// Combines one value per row over the warps, which all have keys of every row.
template <class Op> __device__ void across_warps(float (&x)[ROWS], float *Xs, int row0, Op op)
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

/* Cost: 4 columns of an 8 x 4 patch take 12 loads of 4 elements for 128 FMAs, where qtile_tpq loads once
 *   per FMA. Barriers per K/V tile: 6, of which four exchange maxima and sums.
 * Limits: beside the products stands what FlashAttention-1 does for every tile: an exponential by its
 *   definition, and outputs multiplied by the old sum and divided by the new one.
 * Next: fa2_keys leaves that out. */
