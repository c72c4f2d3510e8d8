/* fa2_mma_lazy.cu - FlashAttention-2 on tensor cores that rescales its output only when it must.
 *
 * @name      fa2_mma_lazy
 * @title     FlashAttention-2 with mma.sync: O is rescaled only when it must be
 * @idea      O = acc / l holds for any base of the exponentials, not only for the maximum. So the outputs are
 *            rescaled only when a row's maximum has outgrown its base by more than 2^8: P up to 256
 *            is as exact in floating point as P up to 1, and after the first tiles that is rare.
 * @after     fa2_mma_rows
 * @unit      tensor
 * @dtypes    f16 bf16 parts=f32
 * @requires  sm >= 80 && D <= 256 && D % 8 == 0 && BR % 32 == 0 && BC % 16 == 0
 *            && max(BR, BC)*H*D <= 1073741824
 * @param     BR 128 [32..256]   query rows per tile; a warp for every 32, beyond D=128 for every 16
 * @param     BC 64 [16..128]    key rows per tile
 * @threads   BR*2/(1+(D<=128))
 * @grid      ceil(Sq/BR) H B
 * @smem      dynamic Qs BR*D*T pitch=D swizzle=16  Q tile, swizzled
 * @smem      dynamic Ks BC*D*T pitch=D swizzle=16  K tile, swizzled
 * @smem      dynamic Vs BC*D*T pitch=D swizzle=16  V tile, swizzled
 * @traffic   read B*H*(Sq*D*T+tiles(BR,BC)*2*BC*D*T) write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "mma.cuh"
#if ATTN_PARTS_F32
#include "mma_parts.cuh"
#endif

constexpr int BR = P_BR, BC = P_BC;
constexpr int M = BR / 16 / (ATTN_THREADS / 32); // fragments of 16 rows that a warp owns
constexpr float LAZY = 8.f;                      // a base may lag behind the maximum by 2^LAZY

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1)
    fa2_mma_lazy(const __grid_constant__ AttnArgs a)
{
    const unsigned Qs = shared_address(smem + SMEM_Qs), Ks = shared_address(smem + SMEM_Ks);
    const unsigned Vs = shared_address(smem + SMEM_Vs);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const LaneAddress q_lane(Qs, lane % 16, lane / 16); // for ldmatrix
    const LaneAddress k_lane(Ks, lane / 16 * 8 + lane % 8, lane / 8 % 2);
    const LaneAddress v_lane(Vs, lane % 16, lane / 16);
    const int q0 = blockIdx.x * BR;
    const int warp_row = q0 + warp * 16 * M; // this warp's rows begin here; this lane has parts of
    const int row = warp_row + lane / 4;     // rows row + 8 r, r = 0 .. 2M-1,
    const int col = lane % 4 * 2;            // in columns col and col + 1 of every 8
    const int n_keys = visible_keys_of_tile(a, q0, BR);
    const float scale_log2e = a.scale * 1.4426950408889634f; // exp(x) = 2^(x log2 e)

    // A group of copies each: Q and the first K, then V, K, V, K ...
    const elem *k_next = k_row(a, 0), *v_next = v_row(a, 0);
    copy_tile_async<BR, ATTN_THREADS>(Qs, q_row(a, q0), a.q_stride[2], a.Sq - q0, a.D);
    copy_tile_async<BC, ATTN_THREADS>(Ks, k_next, a.k_stride[2], a.Sk, a.D);
    commit_copies();
    float o[M][ATTN_D / 8][4] = {}; // not yet divided by l
    float m[2 * M], l[2 * M];       // base of the exponentials (a score), sum of this lane's keys
#pragma unroll
    for (int r = 0; r < 2 * M; r++) {
        m[r] = NEG_INF;
        l[r] = 0.f;
    }

    for (int k0 = 0; k0 < n_keys; k0 += BC) { // @show m l
        wait_copies<0>();
        __syncthreads(); // K is there, and nobody reads the V before any more
        copy_tile_async<BC, ATTN_THREADS>(Vs, v_next, a.v_stride[2], a.Sk - k0, a.D);
        commit_copies();
        v_next += BC * a.v_stride[2];

        // S = Q K^T: 16 M rows by BC keys.
        float s[M][BC / 8][4] = {};
#pragma unroll
        for (int d = 0; d < CHUNKS; d += 2) {
            unsigned q[M][4], k[4];
#pragma unroll
            for (int i = 0; i < M; i++)
                load_matrices(q[i], q_lane.at(warp * M + i, d));
#pragma unroll
            for (int n = 0; n < BC / 16; n++) {
                load_matrices(k, k_lane.at(n, d));
#pragma unroll
                for (int i = 0; i < M; i++) {
                    multiply(s[i][2 * n], q[i], k[0], k[1]);
                    multiply(s[i][2 * n + 1], q[i], k[2], k[3]);
                }
            }
        }

        wait_copies<0>();
        __syncthreads(); // V is there, and nobody reads K any more
        k_next += BC * a.k_stride[2];
        if (k0 + BC < n_keys)
            copy_tile_async<BC, ATTN_THREADS>(Ks, k_next, a.k_stride[2], a.Sk - k0 - BC, a.D);
        commit_copies();

        // Mask, only where the first row of the warp does not see the whole tile.
        if (k0 + BC > visible_keys(a, warp_row))
#pragma unroll
            for (int i = 0; i < M; i++)
                for (int e = 0; e < 4; e++) {
                    const int n_visible = visible_keys(a, row + i * 16 + e / 2 * 8) - k0 - col - e % 2;
#pragma unroll
                    for (int n = 0; n < BC / 8; n++)
                        if (n * 8 >= n_visible)
                            s[i][n][e] = NEG_INF;
                }

        // The maximum of every row; has one outgrown its base?
        float top[2 * M];
        bool outgrown = false;
#pragma unroll
        for (int r = 0; r < 2 * M; r++) {
            top[r] = m[r];
#pragma unroll
            for (int n = 0; n < BC / 8; n++)
                top[r] = fmaxf(top[r], fmaxf(s[r / 2][n][r % 2 * 2], s[r / 2][n][r % 2 * 2 + 1]));
            top[r] = warp_max<4>(top[r]); // four lanes share a row
            outgrown |= (top[r] - m[r]) * scale_log2e > LAZY;
        }
        if (__any_sync(FULL_WARP, outgrown)) {
#pragma unroll
            for (int r = 0; r < 2 * M; r++) {
                // A row that has seen no key yet has m = -inf, and -inf - -inf is no number.
                const float correction =
                    top[r] == NEG_INF ? 1.f : exp2_fast((m[r] - top[r]) * scale_log2e);
                m[r] = top[r];
                l[r] *= correction;
#pragma unroll
                for (int n = 0; n < ATTN_D / 8; n++)
                    for (int e = r % 2 * 2; e < r % 2 * 2 + 2; e++)
                        o[r / 2][n][e] *= correction;
            }
        }

        // P = 2^(S - m), and O += P V: neighbouring tiles of scores are the left side.
#pragma unroll
        for (int r = 0; r < 2 * M; r++) {
            const float base = m[r] == NEG_INF ? 0.f : m[r] * scale_log2e;
#pragma unroll
            for (int n = 0; n < BC / 8; n++)
                for (int e = r % 2 * 2; e < r % 2 * 2 + 2; e++) {
                    float &x = s[r / 2][n][e];
                    x = exp2_fast(x * scale_log2e - base);
                    l[r] += x;
                }
        }
#pragma unroll
        for (int j = 0; j < BC / 16; j++) { // @show m l
            unsigned p[M][4], v[4];
#pragma unroll
            for (int i = 0; i < M; i++)
                for (int h = 0; h < 4; h++) {
                    const float *x = s[i][2 * j + h / 2] + h % 2 * 2;
                    p[i][h] = pack(x[0], x[1]);
                }
#pragma unroll
            for (int d = 0; d < CHUNKS; d += 2) {
                load_matrices_transposed(v, v_lane.at(j, d));
#pragma unroll
                for (int i = 0; i < M; i++) {
                    multiply(o[i][d], p[i], v[0], v[1]);
                    multiply(o[i][d + 1], p[i], v[2], v[3]);
                }
            }
        } // @show o
    }
    wait_copies<0>(); // of a block without keys

#if !ATTN_PARTS_F32
    // The one division. l was gathered lane by lane: add the four lanes that share a row.
#pragma unroll
    for (int r = 0; r < 2 * M; r++) {
        l[r] = warp_sum<4>(l[r]);
        const int i = row + r * 8;
        if (i >= a.Sq)
            continue;
        const float inverse = safe_inverse(l[r]);
#pragma unroll
        for (int n = 0; n < ATTN_D / 8; n++) {
            const float *x = o[r / 2][n] + r % 2 * 2;
            if (n * 8 < a.D)
                *(unsigned *)(o_row(a, i) + n * 8 + col) = pack(x[0] * inverse, x[1] * inverse);
        }
        if (col == 0)
            store_lse(a, i, m[r] * a.scale, l[r]);
    }
#else
    store_parts(a, o, l, m, row, col);
#endif
}

/* Cost: one vote of the warp a tile; what is saved is D multiplications a row and tile.
 * Limits: only the range bounds it: P goes to 16 bits, and f16 ends at 65504.
 *   P V multiplies masked keys by 0: inf or NaN in V at a masked key of a visited tile shows.
 * Next: fa2_mma_wide stores 16 bytes at a time. */
