/* fa2_mma_plain.cu - FlashAttention-2 on tensor cores, with tiles that lie row by row.
 *
 * @name      fa2_mma_plain
 * @title     FlashAttention-2 with mma.sync; K/V rows on the same banks
 * @idea      The two products go to the tensor cores: a warp multiplies 16 query rows with mma.sync,
 *            4096 operations an instruction. Scores never leave the registers: the accumulator of
 *            Q K^T, rounded to 16 bits, has just the layout that P needs as the left side of P V.
 * @after     fa2
 * @unit      tensor
 * @dtypes    f16 bf16 parts=f32
 * @requires  sm >= 80 && D <= 256 && D % 8 == 0 && BR % 16 == 0 && BC % 16 == 0 && PAD % 8 == 0
 *            && max(BR, BC)*H*D <= 1073741824
 * @param     BR 64 [16..256]   query rows per tile; a warp for every 16
 * @param     BC 64 [16..128]   key rows per tile
 * @param     PAD 0 [0..64]     extra elements per row of Q, K and V; 8 ends the bank conflicts
 * @threads   2*BR
 * @grid      ceil(Sq/BR) H B
 * @smem      dynamic Qs BR*(D+PAD)*T pitch=D+PAD  Q tile
 * @smem      dynamic Ks BC*(D+PAD)*T pitch=D+PAD  K tile
 * @smem      dynamic Vs BC*(D+PAD)*T pitch=D+PAD  V tile
 * @traffic   read B*H*(Sq*D*T+tiles(BR,BC)*2*BC*D*T) write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "mma.cuh"

constexpr int BR = P_BR, BC = P_BC, PITCH = ATTN_D + P_PAD;

// Bytes from the start of a tile to chunk `chunk` of row `row`.
__device__ inline int in_tile(int row, int chunk)
{
    return row * PITCH * 2 + chunk * 16;
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1)
    fa2_mma_plain(const __grid_constant__ AttnArgs a)
{
    const unsigned Qs = shared_address(smem + SMEM_Qs), Ks = shared_address(smem + SMEM_Ks);
    const unsigned Vs = shared_address(smem + SMEM_Vs);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int q0 = blockIdx.x * BR;
    const int warp_row = q0 + warp * 16;   // this warp's 16 rows begin here;
    const int row = warp_row + lane / 4;   // this lane has parts of rows `row` and row + 8,
    const int col = lane % 4 * 2;          // in columns col and col + 1 of every 8
    const int n_keys = visible_keys_of_tile(a, q0, BR);
    const float scale_log2e = a.scale * 1.4426950408889634f; // exp(x) = 2^(x log2 e)

    copy_tile_16<BR, ATTN_THREADS>(smem + SMEM_Qs, q_row(a, q0), a.q_stride[2], a.Sq - q0, a.D,
                                   in_tile);
    float o[ATTN_D / 8][4] = {}; // not yet divided by l
    float m[2] = {NEG_INF, NEG_INF}, l[2] = {}; // l: this lane's keys only, until the end

    for (int k0 = 0; k0 < n_keys; k0 += BC) { // @show m l o
        __syncthreads(); // nobody reads the tile before any more
        copy_tile_16<BC, ATTN_THREADS>(smem + SMEM_Ks, k_row(a, k0), a.k_stride[2], a.Sk - k0,
                                       a.D, in_tile);
        copy_tile_16<BC, ATTN_THREADS>(smem + SMEM_Vs, v_row(a, k0), a.v_stride[2], a.Sk - k0,
                                       a.D, in_tile);
        __syncthreads();

        // S = Q K^T: 16 rows by BC keys.
        float s[BC / 8][4] = {};
#pragma unroll
        for (int d = 0; d < CHUNKS; d += 2) {
            unsigned q[4], k[4];
            load_matrices(q, Qs + in_tile(warp * 16 + lane % 16, d + lane / 16));
#pragma unroll
            for (int n = 0; n < BC / 16; n++) {
                load_matrices(k, Ks + in_tile(n * 16 + lane / 16 * 8 + lane % 8, d + lane / 8 % 2));
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
                load_matrices_transposed(v, Vs + in_tile(j * 16 + lane % 16, d + lane / 16));
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

/* Cost: per K/V tile a warp issues BC*D/64 mma.sync for 16*BC*D*4 operations, and reads all of K and
 *   V from shared memory: 256 bytes an instruction, 2 cycles at 128 B a cycle even without conflicts.
 * Limits: ldmatrix reads the same chunk of 8 rows. With PAD=0 and D a multiple of 64 these lie on
 *   the same 4 banks: 8 wavefronts instead of 1, and shared memory sets the pace. D must be a
 *   multiple of 8, so that rows can be read 16 bytes at a time. Loads are not overlapped.
 *   P V multiplies masked keys by 0: inf or NaN in V at a masked key of a visited tile shows.
 * Next: fa2_mma_swizzle ends the conflicts without padding. */
