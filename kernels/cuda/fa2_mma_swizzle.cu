/* fa2_mma_swizzle.cu - FlashAttention-2 on tensor cores without bank conflicts.
 *
 * @name      fa2_mma_swizzle
 * @title     FlashAttention-2 with mma.sync and swizzled tiles
 * @idea      Chunks of 16 bytes change places within their row, by an xor with the row's number. The
 *            8 rows that ldmatrix reads at once then lie in 8 different groups of banks: one
 *            wavefront instead of eight, without a byte of padding. Nothing else changes.
 * @after     fa2_mma_plain
 * @unit      tensor
 * @dtypes    f16 bf16 parts=f32
 * @requires  sm >= 80 && D <= 256 && D % 8 == 0 && BR % 16 == 0 && BC % 16 == 0
 *            && max(BR, BC)*H*D <= 1073741824
 * @param     BR 64 [16..256]   query rows per tile; a warp for every 16
 * @param     BC 64 [16..128]   key rows per tile
 * @threads   2*BR
 * @grid      ceil(Sq/BR) H B
 * @smem      dynamic Qs BR*D*T pitch=D swizzle=16  Q tile, swizzled
 * @smem      dynamic Ks BC*D*T pitch=D swizzle=16  K tile, swizzled
 * @smem      dynamic Vs BC*D*T pitch=D swizzle=16  V tile, swizzled
 * @traffic   read B*H*(Sq*D*T+tiles(BR,BC)*2*BC*D*T) write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "mma.cuh"

constexpr int BR = P_BR, BC = P_BC;

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1)
    fa2_mma_swizzle(const __grid_constant__ AttnArgs a)
{
    const unsigned Qs = shared_address(smem + SMEM_Qs), Ks = shared_address(smem + SMEM_Ks);
    const unsigned Vs = shared_address(smem + SMEM_Vs);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const LaneAddress q_lane(Qs, lane % 16, lane / 16); // for ldmatrix
    const LaneAddress k_lane(Ks, lane / 16 * 8 + lane % 8, lane / 8 % 2);
    const LaneAddress v_lane(Vs, lane % 16, lane / 16);
    const int q0 = blockIdx.x * BR;
    const int warp_row = q0 + warp * 16;   // this warp's 16 rows begin here;
    const int row = warp_row + lane / 4;   // this lane has parts of rows `row` and row + 8,
    const int col = lane % 4 * 2;          // in columns col and col + 1 of every 8
    const int n_keys = visible_keys_of_tile(a, q0, BR);
    const float scale_log2e = a.scale * 1.4426950408889634f; // exp(x) = 2^(x log2 e)

    copy_tile_16<BR, ATTN_THREADS>(smem + SMEM_Qs, q_row(a, q0), a.q_stride[2], a.Sq - q0, a.D,
                                   swizzled);
    float o[ATTN_D / 8][4] = {}; // not yet divided by l
    float m[2] = {NEG_INF, NEG_INF}, l[2] = {}; // l: this lane's keys only, until the end

    for (int k0 = 0; k0 < n_keys; k0 += BC) { // @show m l o
        __syncthreads(); // nobody reads the tile before any more
        copy_tile_16<BC, ATTN_THREADS>(smem + SMEM_Ks, k_row(a, k0), a.k_stride[2], a.Sk - k0,
                                       a.D, swizzled);
        copy_tile_16<BC, ATTN_THREADS>(smem + SMEM_Vs, v_row(a, k0), a.v_stride[2], a.Sk - k0,
                                       a.D, swizzled);
        __syncthreads();

        // S = Q K^T: 16 rows by BC keys.
        float s[BC / 8][4] = {};
#pragma unroll
        for (int d = 0; d < CHUNKS; d += 2) {
            unsigned q[4], k[4];
            load_matrices(q, q_lane.at(warp, d));
#pragma unroll
            for (int n = 0; n < BC / 16; n++) {
                load_matrices(k, k_lane.at(n, d));
                multiply(s[2 * n], q, k[0], k[1]);
                multiply(s[2 * n + 1], q, k[2], k[3]);
            }
        }

        // Mask, only where the first row of the warp does not see the whole tile.
        if (k0 + BC > visible_keys(a, warp_row))
#pragma unroll
            for (int n = 0; n < BC / 8; n++)
                for (int e = 0; e < 4; e++)
                    if (k0 + n * 8 + col + e % 2 >= visible_keys(a, row + e / 2 * 8))
                        s[n][e] = NEG_INF;

        // P = 2^(S - m); what was gathered under the old maximum shrinks.
#pragma unroll
        for (int r = 0; r < 2; r++) {
            float m_new = m[r];
#pragma unroll
            for (int n = 0; n < BC / 8; n++)
                m_new = fmaxf(m_new, fmaxf(s[n][2 * r], s[n][2 * r + 1]));
            m_new = warp_max<4>(m_new); // four lanes share a row
            // A row that has seen no key yet has m = -inf, and -inf - -inf is no number.
            const float base = m_new == NEG_INF ? 0.f : m_new * scale_log2e;
            const float correction = exp2_fast(m[r] * scale_log2e - base);
            m[r] = m_new;
            l[r] *= correction;
#pragma unroll
            for (int n = 0; n < BC / 8; n++)
                for (int e = 2 * r; e < 2 * r + 2; e++)
                    l[r] += s[n][e] = exp2_fast(s[n][e] * scale_log2e - base);
#pragma unroll
            for (int n = 0; n < ATTN_D / 8; n++)
                for (int e = 2 * r; e < 2 * r + 2; e++)
                    o[n][e] *= correction;
        }

        // O += P V: neighbouring tiles of scores are the left side. @show m l o
#pragma unroll
        for (int j = 0; j < BC / 16; j++) {
            const unsigned p[4] = {pack(s[2 * j][0], s[2 * j][1]), pack(s[2 * j][2], s[2 * j][3]),
                                   pack(s[2 * j + 1][0], s[2 * j + 1][1]),
                                   pack(s[2 * j + 1][2], s[2 * j + 1][3])};
#pragma unroll
            for (int d = 0; d < CHUNKS; d += 2) {
                unsigned v[4];
                load_matrices_transposed(v, v_lane.at(j, d));
                multiply(o[d], p, v[0], v[1]);
                multiply(o[d + 1], p, v[2], v[3]);
            }
        } // @show m l o
    }

    // The one division. l was gathered lane by lane: add the four lanes that share a row.
#pragma unroll
    for (int r = 0; r < 2; r++) {
        l[r] = warp_sum<4>(l[r]);
        const int i = row + r * 8;
        if (i >= a.Sq)
            continue;
        const float inverse = safe_inverse(l[r]);
#pragma unroll
        for (int n = 0; n < ATTN_D / 8; n++)
            if (n * 8 < a.D)
#if !ATTN_PARTS_F32
                *(unsigned *)(o_row(a, i) + n * 8 + col) =
                    pack(o[n][2 * r] * inverse, o[n][2 * r + 1] * inverse);
#else
                o_row(a, i).put(n * 8 + col, o[n][2 * r] * inverse, o[n][2 * r + 1] * inverse);
#endif
        if (col == 0)
            store_lse(a, i, m[r] * a.scale, l[r]);
    }
}

/* Cost: as fa2_mma_plain, with one wavefront for 8 rows: 2 cycles of shared memory an instruction.
 *   One xor more per address; it is known when the kernel is compiled but for the lane's own part.
 *   Addresses take registers: 130 where fa2_mma_plain has 124 (sm_90, D=64), so three blocks of a
 *   multiprocessor instead of four. On an H200 PAD=8 was faster than this, by 7 to 33 %.
 * Limits: between the barriers around a load nothing is multiplied: global latency is paid in full
 *   per tile, and the data pass through registers on their way. D must be a multiple of 8.
 *   P V multiplies masked keys by 0: inf or NaN in V at a masked key of a visited tile shows.
 * Next: fa2_mma_async loads while it multiplies. */
