/* fa2_mma_short.cu - many short sequences: all keys of a row at once.
 *
 * @name      fa2_mma_short
 * @title     Short sequences: all keys at once, no loop and no running maximum
 * @idea      Where a tile has room for all keys there is nothing to correct later: Q, K and V are asked for
 *            before anything is waited for, a row's maximum is known before its first exponential, and O
 *            begins at 0. What falls away are the loop, the rescaling and most of the registers, as a warp
 *            has 16 rows: six blocks share a multiprocessor, and some multiply while others wait.
 * @after     fa2_mma
 * @unit      tensor
 * @dtypes    f16 bf16
 * @requires  sm >= 80 && D <= 128 && D % 8 == 0 && BR % 16 == 0 && BC % 16 == 0 && Sk <= BC
 *            && B*max(Sq, Sk)*max(H, Hkv)*D <= 2147483648
 * @param     BR 64 [16..128]    query rows per tile, 16 a warp
 * @param     BC 64 [16..256]    key rows of the tile: Sk at most
 * @threads   BR*2
 * @grid      ceil(Sq/BR) H B
 * @smem      dynamic Qs BR*D*T pitch=D swizzle=16  Q tile, swizzled; O on its way out
 * @smem      dynamic Ks BC*D*T pitch=D swizzle=16  K tile, swizzled
 * @smem      dynamic Vs BC*D*T pitch=D swizzle=16  V tile, swizzled
 * @traffic   read B*H*(Sq*D*T+ceil(Sq/BR)*2*Sk*D*T) write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "mma.cuh"
#include "short.cuh"

constexpr int BR = P_BR, BC = P_BC;
// Blocks that an SM's registers are to suffice for: scores, outputs, and 36 more a lane.
constexpr int LANE = BC / 2 + ATTN_D / 2 + 36, BLOCKS = 65536 / (ATTN_THREADS * LANE) > 0 ? 65536 / (ATTN_THREADS * LANE) : 1;

__device__ void copy_tiles(const AttnArgs &a, int q0);
__device__ void store_tile(const AttnArgs &a, const unsigned char *out, int row0);

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, BLOCKS)
    fa2_mma_short(const __grid_constant__ AttnArgs a)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, t = lane % 4;
    const LaneAddress q_lane(shared_address(smem + SMEM_Qs) + warp * 16 * ROW_BYTES, lane % 16, lane / 16); // for ldmatrix
    const LaneAddress k_lane(shared_address(smem + SMEM_Ks), lane / 16 * 8 + lane % 8, lane / 8 % 2);
    const LaneAddress v_lane(shared_address(smem + SMEM_Vs), lane % 16, lane / 16);
    const int row0 = blockIdx.x * BR + warp * 16; // the warp's first row; this lane has parts of
    const int row = row0 + lane / 4;              // row and row + 8, in columns 2t and 2t + 1 of every 8

    copy_tiles(a, blockIdx.x * BR);
    wait_copies<1>();
    __syncthreads(); // Q and K are there

    // S = Q K^T: 16 rows by BC keys.
    float s[BC / 8][4] = {};
#pragma unroll
    for (int d = 0; d < CHUNKS; d += 2) {
        unsigned q[4], k[4];
        load_matrices(q, q_lane.at(0, d));
#pragma unroll
        for (int n = 0; n < BC / 16; n++) {
            load_matrices(k, k_lane.at(n, d));
            multiply(s[2 * n], q, k[0], k[1]);
            multiply(s[2 * n + 1], q, k[2], k[3]);
        }
    }

    // Mask, only where the first row of the warp does not see the whole tile.
    if (BC > visible_keys(a, row0))
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const int n_visible = visible_keys(a, row + e / 2 * 8) - 2 * t - e % 2;
#pragma unroll
            for (int n = 0; n < BC / 8; n++)
                if (n * 8 >= n_visible)
                    s[n][e] = NEG_INF;
        }

    // P = 2^(S - m), and its sums.
    const float scale_log2e = a.scale * 1.4426950408889634f; // exp(x) = 2^(x log2 e)
    float m[2] = {NEG_INF, NEG_INF}, l[2] = {};
#pragma unroll
    for (int r = 0; r < 2; r++) {
#pragma unroll
        for (int n = 0; n < BC / 8; n++)
            m[r] = fmaxf(m[r], fmaxf(s[n][2 * r], s[n][2 * r + 1]));
        m[r] = warp_max<4>(m[r]); // four lanes share a row
        m[r] *= scale_log2e;
        const float base = fmaxf(m[r], LOWEST);
#pragma unroll
        for (int n = 0; n < BC / 8; n++)
#pragma unroll
            for (int e = 2 * r; e < 2 * r + 2; e++)
                l[r] += s[n][e] = exp2_fast(s[n][e] * scale_log2e - base);
        l[r] = warp_sum<4>(l[r]);
    }

    wait_copies<0>();
    __syncthreads(); // V is there

    // O = P V: neighbouring tiles of scores are the left side.
    float o[ATTN_D / 8][4] = {};
#pragma unroll
    for (int j = 0; j < BC / 16; j++) {
        unsigned p[4], v[4];
        for (int h = 0; h < 4; h++)
            p[h] = pack(s[2 * j + h / 2][h % 2 * 2], s[2 * j + h / 2][h % 2 * 2 + 1]);
#pragma unroll
        for (int d = 0; d < CHUNKS; d += 2) {
            load_matrices_transposed(v, v_lane.at(j, d));
            multiply(o[d], p, v[0], v[1]);
            multiply(o[d + 1], p, v[2], v[3]);
        }
    }

    // The division; O goes out through the warp's own rows of Qs, which it has read.
    unsigned char *out = smem + SMEM_Qs + warp * 16 * ROW_BYTES;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        if (t == 0 && row + 8 * r < a.Sq)
            store_lse_of(a, row + 8 * r, m[r], l[r]);
        const float inverse = inverse_of_sum(l[r]);
#pragma unroll
        for (int n = 0; n < ATTN_D / 8; n++)
            *(unsigned *)(out + swizzled(lane / 4 + r * 8, n) + t * 4) = pack(o[n][2 * r] * inverse, o[n][2 * r + 1] * inverse);
    }
    __syncwarp();
    store_tile(a, out, row0);
}

// The copies of ROWS rows from row0 on into a swizzled tile. What lies beyond the last row is masked or not stored;
// columns beyond D become 0.
template <int ROWS>
__device__ inline void copy_rows(unsigned tile, const elem *x, const long long (&s)[3], int head, int row0, int n_rows,
                                 int D)
{
    constexpr int STEP = ATTN_THREADS / CHUNKS;
    if (ATTN_THREADS % CHUNKS == 0) { // a thread stays in its column
        const unsigned c = threadIdx.x % CHUNKS, r0 = threadIdx.x / CHUNKS;
        const Head from(x, s, head, c * CHUNK, n_rows);
#pragma unroll
        for (int i = 0; i < ROWS; i += STEP)
            if (ROWS % STEP == 0 || i + r0 < ROWS)
                copy_async(tile + swizzled(i + r0, c), from.row(row0 + i + r0), c * CHUNK < D);
    } else {
        const Head from(x, s, head, 0, n_rows);
#pragma unroll 4
        for (unsigned e = threadIdx.x; e < ROWS * CHUNKS; e += ATTN_THREADS) {
            const unsigned r = e / CHUNKS, c = e % CHUNKS;
            copy_async(tile + swizzled(r, c), from.row(row0 + r) + c * CHUNK, c * CHUNK < D);
        }
    }
}
// All copies of the block, K's in front of V's: two groups.
__device__ inline void copy_tiles(const AttnArgs &a, int q0)
{
    const int kv_head = kv_head_of_block(a);
    copy_rows<BR>(shared_address(smem + SMEM_Qs), a.q, a.q_stride, head_of_block(), q0, a.Sq, a.D);
    copy_rows<BC>(shared_address(smem + SMEM_Ks), a.k, a.k_stride, kv_head, 0, a.Sk, a.D);
    commit_copies();
    copy_rows<BC>(shared_address(smem + SMEM_Vs), a.v, a.v_stride, kv_head, 0, a.Sk, a.D);
    commit_copies();
}

// A warp's 16 rows, 16 bytes a lane.
__device__ inline void store_tile(const AttnArgs &a, const unsigned char *out, int row0)
{
    const Head to(a.o, a.o_stride, head_of_block(), 0, a.Sq);
#pragma unroll
    for (int e = 0; e < 16 * CHUNKS; e += 32) {
        const unsigned r = (e + threadIdx.x % 32) / CHUNKS, c = (e + threadIdx.x % 32) % CHUNKS;
        if (row0 + r < a.Sq && c * CHUNK < a.D)
            *(Vec<CHUNK> *)(to.out(row0 + r) + c * CHUNK) = *(const Vec<CHUNK> *)(out + swizzled(r, c));
    }
}

/* Cost: at B=64, H=24, S=64, D=32 25 MB in and out of the L2 cache, 4.6 us at 5.5 TB/s; exponentials 1.5, products 1.2,
 *   and 1536 blocks take 1.7 us to begin and end if they are empty. A warp has 500 instructions, 600 with strides of
 *   64 bits and an integer division in front of the first copy: 12 blocks an SM, 3 us to issue. What counts is that all of
 *   it goes on side by side: a warp with 32 rows, as in fa2_mma, holds 167 registers a lane, with 16 and no correction
 *   72; six blocks of four warps share an SM. Left to itself the compiler puts one product after another, and it was 8.0.
 * Measured (H200, f16, us, L2 hot, graphs of 20 launches; in parentheses as it was before and the best of PyTorch's backends
 *   in the same run): B=64 H=24 S=64 D=32 6.83 (7.16, 19.4), B=8 H=4 S=128 D=64 BC=128 3.08 (3.17, 5.58), BR=32 3.11,
 *   H=8 S=256 D=64 BR=32 BC=256 3.73 (4.40, 6.83), H=1 S=64 D=64 BR=32 2.34 (2.50, 4.85).
 * Limits: Sk up to 256; BC is to follow the longest, as empty tiles of keys are multiplied, too. One query tile is one
 *   block: one head of a few hundred rows is for splitkv_columns.
 * Next: fa3_wgmma for long sequences. */
