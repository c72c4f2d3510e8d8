/* fa2.cu - FlashAttention-2's forward pass on scalar units: a warp owns whole query rows.
 *
 * @name      fa2
 * @title     FlashAttention-2, scalar: a warp owns whole query rows
 * @idea      The warps of a block divide the query rows, not the keys. A row's maximum, sum and
 *            exponentials then never leave a warp: two barriers a K/V tile instead of five, and
 *            between loading a tile and releasing it no warp waits for another.
 * @after     fa2_keys
 * @dtypes    f16 bf16 f32 parts=f32
 * @requires  D <= 256 && BR % 16 == 0 && BC % 32 == 0 && PAD % 4 == 0
 * @param     BR 64 [16..128]   query rows per tile; a warp for every 16
 * @param     BC 64 [32..128]   key rows per tile
 * @param     PAD 4 [0..16]     extra elements per row of Q and K, against bank conflicts
 * @threads   2*BR
 * @grid      ceil(Sq/BR) H B
 * @smem      dynamic Qs BR*(D+PAD)*T pitch=D+PAD          Q tile
 * @smem      dynamic Ks BC*(D+PAD)*T pitch=D+PAD          K tile
 * @smem      dynamic Vs BC*D*T       pitch=D              V tile
 * @smem      dynamic Ps BR*(BC+8)*4  type=f32 pitch=BC+8  exponentials of the scores of the tile
 * @traffic   read B*H*(Sq*D*T+tiles(BR,BC)*2*BC*D*T) write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attn.cuh"

constexpr int BR = P_BR, BC = P_BC, PITCH = ATTN_D + P_PAD, P_PITCH = BC + 8;
// A warp's 32 lanes form a grid of LR x LK over its 16 rows and all keys of the tile.
constexpr int LK = 8, LR = 32 / LK;
constexpr int ROWS = 16 / LR;                    // of a lane: row0, row0 + LR, ...
constexpr int KEYS = BC / LK;                    // of a lane: col0, col0 + LK, ...
constexpr int VECS = (ATTN_D / 4 + LK - 1) / LK; // fours of output columns: col0, col0 + LK, ...

// Launch bounds of 1 block: the compiler shall use registers rather than spill for more blocks.
extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1)
    fa2(const __grid_constant__ AttnArgs a)
{
    elem *Qs = (elem *)(smem + SMEM_Qs), *Ks = (elem *)(smem + SMEM_Ks);
    elem *Vs = (elem *)(smem + SMEM_Vs);
    float *Ps = (float *)(smem + SMEM_Ps);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row0 = warp * 16 + lane / LK, col0 = lane % LK;
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

    for (int k0 = 0; k0 < n_keys; k0 += BC) { // @show m l acc k0
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
                const Four k = load4(Ks + (col0 + c * LK) * PITCH + d);
#pragma unroll
                for (int i = 0; i < ROWS; i++)
                    for (int e = 0; e < 4; e++)
                        s[i][c] += q[i].x[e] * k.x[e];
            }
        }

        // Scale and mask; the row's new maximum over the lanes that share the row. @show s
        float m_new[ROWS];
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const int n = visible_keys(a, q0 + row0 + i * LR) - k0;
            m_new[i] = m[i];
#pragma unroll
            for (int c = 0; c < KEYS; c++) {
                s[i][c] = col0 + c * LK < n ? s[i][c] * scale_log2e : NEG_INF;
                m_new[i] = fmaxf(m_new[i], s[i][c]);
            }
            m_new[i] = warp_max<LK>(m_new[i]);
        }

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
                Ps[(row0 + i * LR) * P_PITCH + col0 + c * LK] = p;
            }
#pragma unroll
            for (int c = 0; c < VECS; c++)
                for (int e = 0; e < 4; e++)
                    acc[i][c].x[e] *= correction;
        }
        __syncwarp(); // P of these rows is read by this warp alone @show m l acc

        // O += P V, four keys at a time.
#pragma unroll 1
        for (int j = 0; j < BC; j += 4) { // @show acc
            Four p[ROWS];
#pragma unroll
            for (int i = 0; i < ROWS; i++)
                p[i] = *(const Four *)(Ps + (row0 + i * LR) * P_PITCH + j);
#pragma unroll
            for (int x = 0; x < 4; x++)
#pragma unroll
                for (int c = 0; c < VECS; c++) {
                    if (col0 + c * LK >= ATTN_D / 4)
                        continue;
                    const Four v = load4(Vs + (j + x) * ATTN_D + (col0 + c * LK) * 4);
#pragma unroll
                    for (int i = 0; i < ROWS; i++)
                        for (int e = 0; e < 4; e++)
                            acc[i][c].x[e] += p[i].x[x] * v.x[e];
                }
        } // @show m l acc
    }

    // The one division. l was gathered lane by lane: add the lanes that share the row.
#pragma unroll
    for (int i = 0; i < ROWS; i++)
        l[i] = warp_sum<LK>(l[i]);
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const int row = q0 + row0 + i * LR;
        if (row >= a.Sq)
            continue;
        const float inverse = safe_inverse(l[i]);
#pragma unroll
        for (int c = 0; c < VECS; c++)
            for (int e = 0; e < 4; e++) {
                const int d = (col0 + c * LK) * 4 + e;
                if (d < a.D)
                    o_row(a, row)[d] = to_elem(acc[i][c].x[e] * inverse);
            }
        if (col0 == 0)
            store_lse(a, row, m[i] * 0.6931471805599453f, l[i]); // ln 2: back to natural logarithms
    }
}

/* Cost: 4 columns of a 4 x 8 patch take 12 loads of 4 elements for 128 FMAs. Barriers per K/V tile: 2.
 * Limits: scalar units have 1/16 (A100) of the tensor cores' rate. ceil(Sq/BR) H B blocks: one query
 *   tile keeps one multiprocessor busy, however long K is. Loads are not overlapped with products.
 *   P V multiplies masked keys by 0: inf or NaN in V at a masked key of a visited tile shows.
 * Next: splitkv also divides the keys among blocks. */
