/* fa1_2022.cu - FlashAttention as published in May 2022: K/V outside, queries inside.
 *
 * @name      fa1_2022
 * @title     FlashAttention-1 (2022): a block per head, K/V outside, O through global memory
 * @idea      Bring a K/V tile on chip once and let all queries of the head pass by it. Since a query
 *            returns for every K/V tile, its unfinished output, maximum and sum wait in global memory
 *            in between, and the output is kept normalised so that it is a valid answer at any time.
 * @after     row_online
 * @dtypes    f16 bf16 f32 parts=f32
 * @requires  D <= 256 && BR % 2 == 0 && BC % 16 == 0
 * @param     BR 16 [2..64]   query rows per inner tile; 16 threads serve a row
 * @param     BC 64 [16..256] key rows per outer tile
 * @param     PAD 2 [0..16]   extra elements per row of Q and K, against bank conflicts
 * @threads   16*BR
 * @grid      1 H B
 * @smem      dynamic Ks BC*(D+PAD)*T pitch=D+PAD        K tile
 * @smem      dynamic Vs BC*D*T       pitch=D            V tile
 * @smem      dynamic Qs BR*(D+PAD)*T pitch=D+PAD        Q tile
 * @smem      dynamic Ps BR*BC*4      type=f32 pitch=BC  exponentials of the scores of the tile
 * @workspace o_acc B*H*Sq*D*4  unfinished output, f32
 * @workspace m     B*H*Sq*4    running maximum
 * @workspace l     B*H*Sq*4    running sum of exponentials
 * @traffic   read B*H*(2*Sk*D*T+tiles(BR,BC)*BR*D*T+max(0,tiles(BR,BC)*BR-Sq)*(D+2)*4)
 *            write B*H*(Sq*D*T+max(0,tiles(BR,BC)*BR-Sq)*(D+2)*4)
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attn.cuh"

constexpr int BR = P_BR, BC = P_BC, PITCH = ATTN_D + P_PAD;
constexpr int LANES = 16; // threads per query row: half a warp

// Launch bounds of 1 block: the compiler shall use registers rather than spill for more blocks.
extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1)
    fa1_2022(const __grid_constant__ AttnArgs a)
{
    elem *Ks = (elem *)(smem + SMEM_Ks), *Vs = (elem *)(smem + SMEM_Vs);
    const int r = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    elem *q = (elem *)(smem + SMEM_Qs) + r * PITCH; // this thread's row of Q, and of P
    float *p = (float *)(smem + SMEM_Ps) + r * BC;

    for (int k0 = 0; k0 < a.Sk; k0 += BC) { // outer: K/V tiles
        __syncthreads();                    // all queries have passed by the tile before
        load_tile<BC, PITCH>(Ks, k_row(a, k0), a.k_stride[2], a.Sk - k0, a.D);
        load_tile<BC, ATTN_D>(Vs, v_row(a, k0), a.v_stride[2], a.Sk - k0, a.D);
        __syncthreads();

        for (int q0 = 0; q0 < a.Sq; q0 += BR) { // inner: query tiles
            // The first K/V tile must meet every row, also those that see no key at all.
            if (k0 > 0 && visible_keys_of_tile(a, q0, BR) <= k0)
                continue;
            const int i = q0 + r;
            const bool exists = i < a.Sq;
            const int n_keys = exists ? visible_keys(a, i) : 0;
            const int n = max(0, min(BC, n_keys - k0)); // keys of this tile that row i sees

            for (int d = lane; d < ATTN_D; d += LANES)
                q[d] = exists && d < a.D ? q_row(a, i)[d] : elem{};
            __syncwarp(); // a row's q and p belong to one half warp: no barrier of the block

            // S: this lane's keys are lane, lane + 16, ...
            float s[BC / LANES], m_tile = NEG_INF;
#pragma unroll
            for (int c = 0; c < BC / LANES; c++) {
                const elem *k = Ks + (lane + c * LANES) * PITCH;
                float dot = 0.f;
#pragma unroll 8
                for (int d = 0; d < ATTN_D; d++)
                    dot += to_float(q[d]) * to_float(k[d]);
                s[c] = lane + c * LANES < n ? a.scale * dot : NEG_INF;
                m_tile = fmaxf(m_tile, s[c]);
            }

            // What the row knew before this tile. The row's last tile turns it into the answer.
            const long long row = row_number(a, i);
            float *const o_ws = (float *)a.ws[WS_o_acc] + row * ATTN_D;
            float *const m_ws = (float *)a.ws[WS_m] + row;
            float *const l_ws = (float *)a.ws[WS_l] + row;
            const bool waits = k0 > 0 && n > 0;
            const float m = waits ? *m_ws : NEG_INF, l = waits ? *l_ws : 0.f; // @show m l

            const float m_new = fmaxf(m, warp_max<LANES>(m_tile));
            float sum = 0.f;
#pragma unroll
            for (int c = 0; c < BC / LANES; c++) {
                const float x = n > 0 ? expf(s[c] - m_new) : 0.f; // without keys: -inf - -inf
                p[lane + c * LANES] = x;
                sum += x;
            }
            const float kept = waits ? l * expf(m - m_new) : 0.f; // the old sum in the new units
            const float l_new = kept + warp_sum<LANES>(sum);
            const float inverse = safe_inverse(l_new); // @show m_new l_new
            const float old_share = waits ? kept / l_new : 0.f; // exactly 1 if nothing was added
            __syncwarp();

            // O = O * old sum / new sum + P V / new sum: a finished answer after every tile.
            const bool finished = k0 + BC >= n_keys;
            if (exists && (n > 0 || k0 == 0)) {
                for (int d = lane; d < a.D; d += LANES) {
                    float acc = 0.f;
                    for (int j = 0; j < n; j++)
                        acc += p[j] * to_float(Vs[j * ATTN_D + d]);
                    acc *= inverse; // @show acc
                    if (waits)
                        acc += old_share * o_ws[d];
                    if (finished)
                        o_row(a, i)[d] = to_elem(acc);
                    else
                        o_ws[d] = acc;
                }
                if (lane == 0 && finished)
                    store_lse(a, i, m_new, l_new);
                if (lane == 0 && !finished) {
                    *m_ws = m_new;
                    *l_ws = l_new;
                }
            }
            __syncwarp(); // q and p of the next query tile take their place
        }
    }
}

/* Cost: with Tc = Sk/BC outer tiles, Q is read Tc times and O makes Tc - 1 round trips in f32: 8 D
 *   bytes a row and tile. At D = 128, BC = 64 that is 16 bytes per (query, key) pair, 40 % of what
 *   naive asks for because of its scores (24 + D/8); with one tile (Sk <= BC) it is nothing.
 * Limits: B*H blocks whatever Sq is: 8 heads keep 8 multiprocessors busy. The published code took
 *   128 or 256 keys a tile, tensor cores, and four warps along the keys.
 * Next: qtile_seq swaps the loops: a block per query tile, and nothing has to wait outside. */
