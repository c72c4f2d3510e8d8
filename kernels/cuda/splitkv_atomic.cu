/* splitkv_atomic.cu - split-KV in one launch: the block that comes last combines.
 *
 * @name      splitkv_atomic
 * @title     Split-KV in one launch: the last block to arrive combines
 * @idea      The partial outputs of splitkv need no second launch. Every block counts itself in at
 *            its query tile when its part is written; the one that finds all others counted has
 *            come last, everything is there, and it combines. No block ever waits for another.
 * @after     splitkv
 * @dtypes    f16 bf16 f32 parts=f32
 * @requires  D <= 256 && BR % 16 == 0 && BC % 8 == 0 && PAD % 4 == 0
 * @param     BR 64 [16..128]     query rows per tile; a warp for every 16
 * @param     BC 64 [16..128]     key rows per tile
 * @param     PAD 4 [0..16]       extra elements per row of Q and K, against bank conflicts
 * @param     SPLITS 8 [1..128]   blocks that share the keys of a query tile
 * @threads   2*BR
 * @grid      ceil(Sq/BR)*SPLITS H B
 * @smem      dynamic Qs BR*(D+PAD)*T pitch=D+PAD          Q tile
 * @smem      dynamic Ks BC*(D+PAD)*T pitch=D+PAD          K tile
 * @smem      dynamic Vs BC*D*T       pitch=D              V tile
 * @smem      dynamic Ps BR*(BC+8)*4  type=f32 pitch=BC+8  exponentials of the scores of the tile
 * @workspace partial_o   B*H*Sq*SPLITS*D*4  partial outputs, f32
 * @workspace partial_lse B*H*Sq*SPLITS*4    their LSE, base 2
 * @workspace arrived     B*H*ceil(Sq/BR)*4 zero  blocks that left their part, per query tile
 * @traffic
 *   read  B*H*(SPLITS*Sq*D*T+tiles(BR,BC)*2*BC*D*T+Sq*SPLITS*(D+1)*4+ceil(Sq/BR)*SPLITS*4)
 *   write B*H*(Sq*SPLITS*(D+1)*4+ceil(Sq/BR)*SPLITS*4+Sq*D*T)
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attn.cuh"

constexpr int BR = P_BR, BC = P_BC, PITCH = ATTN_D + P_PAD, P_PITCH = BC + 8;
constexpr int SPLITS = P_SPLITS;

// A warp owns 16 rows; its lanes form a grid of LR x LK over 16 rows x BC keys. Lanes that differ
// in lk alone work on the same rows.
constexpr int LK = 8, LR = 32 / LK;
constexpr int ROWS = 16 / LR; // rows of a lane: row0, row0 + LR, ...
constexpr int KEYS = BC / LK; // keys of a lane: col0, col0 + LK, ...
// Output columns go by fours: a lane owns vectors col0, col0 + LK, ... of the ATTN_D / 4.
constexpr int VECS = (ATTN_D / 4 + LK - 1) / LK;

__device__ float *partial_o(const AttnArgs &a, int i, int split);
__device__ float *partial_lse(const AttnArgs &a, int i);
__device__ bool last_to_arrive(const AttnArgs &a, int tile);
__device__ void combine_row(const AttnArgs &a, int i);

// Launch bounds of 1 block: the compiler shall use registers rather than spill for more blocks.
extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1)
    splitkv_atomic(const __grid_constant__ AttnArgs a)
{
    elem *Qs = (elem *)(smem + SMEM_Qs), *Ks = (elem *)(smem + SMEM_Ks);
    elem *Vs = (elem *)(smem + SMEM_Vs);
    float *Ps = (float *)(smem + SMEM_Ps);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row0 = warp * 16 + lane / LK, col0 = lane % LK;
    const int q0 = blockIdx.x / SPLITS * BR, split = blockIdx.x % SPLITS;
    const float scale_log2e = a.scale * 1.4426950408889634f; // exp(x) = 2^(x log2 e)

    // Splits are whole tiles, as equal as possible and the same for every row of the tile; the last
    // ones may be empty, or beyond the mask.
    const int tiles = (a.Sk + BC - 1) / BC;
    const int tiles_per_split = (tiles + SPLITS - 1) / SPLITS;
    const int first_key = min(tiles, split * tiles_per_split) * BC;
    const int end_key = min(visible_keys_of_tile(a, q0, BR),
                            min(tiles, (split + 1) * tiles_per_split) * BC);

    load_tile<BR, PITCH>(Qs, q_row(a, q0), a.q_stride[2], a.Sq - q0, a.D);
    Four acc[ROWS][VECS] = {}; // O, not yet divided by l
    float m[ROWS], l[ROWS];    // l: this lane's keys only, until the end
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        m[i] = NEG_INF;
        l[i] = 0.f;
    }

    for (int k0 = first_key; k0 < end_key; k0 += BC) {
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

        // Scale and mask; maximum over the lanes that share the row; P = 2^(S - m).
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const int n = visible_keys(a, q0 + row0 + i * LR) - k0;
            float m_new = m[i];
#pragma unroll
            for (int c = 0; c < KEYS; c++) {
                s[i][c] = col0 + c * LK < n ? s[i][c] * scale_log2e : NEG_INF;
                m_new = fmaxf(m_new, s[i][c]);
            }
            m_new = warp_max<LK>(m_new);
            // A row that has seen no key yet has m = -inf, and -inf - -inf is no number.
            const float base = m_new == NEG_INF ? 0.f : m_new;
            const float correction = exp2f(m[i] - base);
            m[i] = m_new;
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
        __syncwarp(); // P of these rows is read by this warp alone

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
                    if (col0 + c * LK >= ATTN_D / 4)
                        continue;
                    const Four v = load4(Vs + (j + x) * ATTN_D + (col0 + c * LK) * 4);
#pragma unroll
                    for (int i = 0; i < ROWS; i++)
                        for (int e = 0; e < 4; e++)
                            acc[i][c].x[e] += p[i].x[x] * v.x[e];
                }
        }
    }

    // A finished answer for these keys. Rows without any leave LSE = -inf and no output: a weight
    // of 0 that the last block must not multiply with whatever is in the workspace.
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const float sum = warp_sum<LK>(l[i]);
        const int row = q0 + row0 + i * LR;
        if (row >= a.Sq)
            continue;
        if (col0 == 0)
            partial_lse(a, row)[split] = sum == 0.f ? NEG_INF : m[i] + log2f(sum);
        if (sum == 0.f)
            continue;
        const float inverse = 1.f / sum;
#pragma unroll
        for (int c = 0; c < VECS; c++) {
            if (col0 + c * LK >= ATTN_D / 4)
                continue;
            for (int e = 0; e < 4; e++)
                acc[i][c].x[e] *= inverse;
            *(Four *)(partial_o(a, row, split) + (col0 + c * LK) * 4) = acc[i][c];
        }
    }

    if (last_to_arrive(a, blockIdx.x / SPLITS))
        for (int i = q0 + warp; i < min(q0 + BR, a.Sq); i += ATTN_THREADS / 32)
            combine_row(a, i);
}

// What the splits of row i leave for the last block.
__device__ inline float *partial_o(const AttnArgs &a, int i, int split)
{
    return (float *)a.ws[WS_partial_o] + (row_number(a, i) * SPLITS + split) * ATTN_D;
}
__device__ inline float *partial_lse(const AttnArgs &a, int i)
{
    return (float *)a.ws[WS_partial_lse] + row_number(a, i) * SPLITS;
}

// Counts this block in at its query tile. True in all threads of the block that comes last; what
// the others wrote before they were counted is then visible to it. One thread's fences are enough:
// the barriers put the other threads' writes before them and their reads after.
__device__ inline bool last_to_arrive(const AttnArgs &a, int tile)
{
    const long long head = (long long)batch_of_block() * a.H + head_of_block();
    const long long tiles = (a.Sq + BR - 1) / BR;
    unsigned *arrived = (unsigned *)a.ws[WS_arrived] + head * tiles + tile;
    bool last = false;
    __syncthreads(); // all threads have written their share
    if (threadIdx.x == 0) {
        __threadfence(); // what is written goes out before the count
        last = atomicAdd(arrived, 1) == SPLITS - 1;
        __threadfence(); // and nothing is read before it
    }
    return __syncthreads_or(last);
}

// One warp per row: O = sum of w_s O_s with w_s = 2^(LSE_s - max) / sum, in the order of the
// splits.
__device__ inline void combine_row(const AttnArgs &a, int i)
{
    const int lane = threadIdx.x % 32;
    const float *lse = partial_lse(a, i);

    float max = NEG_INF;
    for (int s = lane; s < SPLITS; s += 32)
        max = fmaxf(max, lse[s]);
    max = warp_max(max);

    constexpr int COLS = (ATTN_D + 31) / 32; // columns lane, lane + 32, ...
    float acc[COLS] = {}, sum = 0.f;
    for (int s = 0; s < SPLITS; s++) {
        if (lse[s] == NEG_INF)
            continue;
        const float weight = exp2f(lse[s] - max);
        sum += weight;
#pragma unroll
        for (int c = 0; c < COLS; c++)
            if (lane + c * 32 < ATTN_D)
                acc[c] += weight * partial_o(a, i, s)[lane + c * 32];
    }
    const float inverse = safe_inverse(sum);
#pragma unroll
    for (int c = 0; c < COLS; c++)
        if (lane + c * 32 < a.D)
            o_row(a, i)[lane + c * 32] = to_elem(acc[c] * inverse);
    if (lane == 0)
        store_lse(a, i, max * 0.6931471805599453f, sum); // ln 2: back to natural logarithms
}

/* Why not atomicAdd on O: a part O_s has the weight exp(LSE_s - LSE), and nobody knows the LSE of
 *   the row before the last part. A block that finds a new maximum would have to change m, l and
 *   O at once, and an atomic operation changes one word. What can be made to work: a lock per
 *   query tile, held while m, l and O change (blocks queue up, and the order of arrival decides the
 *   last bits); or a launch that finds all LSEs first, then atomicAdd of weighted parts (K is read
 *   twice, and the order still decides). Here one counter is atomic and the sum has a fixed order:
 *   the same bits every time, whoever comes last.
 * Cost: as splitkv, less a launch, plus one atomic operation a block. The counters must be 0 at the
 *   start: the launcher clears them, and that takes its time too.
 * Limits: the combination of a query tile is the work of one block of 2 BR threads while the others
 *   have gone; splitkv gives it to BR/4 blocks. With many splits that is the longest part.
 * Try: atomicInc(arrived, SPLITS - 1) wraps to 0 at the last block, so that clearing once will do.
 * Next: not written yet: a cluster of blocks hands the parts over in shared memory, without the
 *   workspace. */
