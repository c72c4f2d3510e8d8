/* decode_splitkv.cu - a few queries and many keys: as fast as K and V come out of memory.
 *
 * @name      decode_splitkv
 * @title     Decode: heads that share K and V in one tile, keys dealt out evenly
 * @idea      One new query a sequence reads all of K and V once for hardly any arithmetic, so all that
 *            counts is bytes on their way. The query heads that share K and V are the rows of one tile
 *            of 16, so K and V are read once for all of them. All key tiles of all heads are one row of
 *            work that is cut into equal pieces, whatever the batch, so every block reads equally
 *            much. A warp copies its own 16 keys a step and never waits for another warp.
 * @after     splitkv
 * @unit      tensor
 * @dtypes    f16 bf16
 * @requires  sm >= 80 && Sq <= 16 && D <= 256 && D % 8 == 0
 * @param     WARPS 4 [1..8]       warps of a block, each with keys of its own
 * @param     STAGES 3 [2..8]      steps of 16 keys that a warp has under way
 * @param     BLOCKS 256 [1..4096] blocks that share the work: two a multiprocessor, nearly
 * @threads   32*WARPS
 * @grid      min(BLOCKS,B*Hkv*ceil(H/Hkv*Sq/16)*ceil(Sk/(16*WARPS)))
 * @smem      dynamic ring WARPS*STAGES*2*16*D*2
 *            pitch=D rows=16 swizzle=16  K and V of the steps under way, swizzled
 * @smem      dynamic sums 16*(D+8)*4 type=f32 pitch=D+8  outputs of the warps, added up
 * @smem      dynamic ends 2*16*WARPS*4 type=f32 pitch=WARPS rows=16  their maxima and sums of exponentials
 * @pass      combine
 * @threads   128
 * @grid      Sq H B
 * @smem      static parts 4*(D+4)*4 type=f32 pitch=D+4  what each warp added up
 * @workspace partial_o   B*Hkv*ceil(H/Hkv*Sq/16)*(floor(BLOCKS/(B*Hkv*ceil(H/Hkv*Sq/16)))+2)*16*D*4
 *            outputs of a tile's pieces, f32
 * @workspace partial_lse B*Hkv*ceil(H/Hkv*Sq/16)*(floor(BLOCKS/(B*Hkv*ceil(H/Hkv*Sq/16)))+2)*16*4
 *            their LSE, base 2
 * @traffic   read B*(Hkv*ceil(H/Hkv*Sq/16)*Sk*2*D*T+H*Sq*D*T+H*Sq*(BLOCKS/(B*Hkv)+1)*(D+1)*4)
 *            write B*H*Sq*((BLOCKS/(B*Hkv)+1)*(D+1)*4+D*T)
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "mma.cuh"

constexpr int ROWS = 16, KEYS = 16; // of a tensor-core tile: packed queries, keys of a step
constexpr int WARPS = P_WARPS, STAGES = P_STAGES;
constexpr int BC = KEYS * WARPS;             // keys of a key tile, divided among the warps
constexpr int PITCH = ATTN_D + 8;            // of the sums: rows begin 8 banks apart
constexpr int STEP_BYTES = KEYS * ROW_BYTES; // of K, and of V

// All work of the launch: `units` tiles of 16 packed queries, each with `tiles` key tiles; in a row, cut into
// `blocks` pieces that are equal but for one tile. The queries of the heads that share K and V are packed head
// by head.
struct Work {
    int group, row_tiles, tiles, units, blocks, each, more; // tiles of all units: each * blocks + more

    __device__ Work(const AttnArgs &a)
    {
        group = a.H / a.Hkv;
        row_tiles = (group * a.Sq + ROWS - 1) / ROWS;
        tiles = (a.Sk + BC - 1) / BC;
        units = a.B * a.Hkv * row_tiles;
        blocks = min(P_BLOCKS, units * tiles);
        each = units * tiles / blocks;
        more = units * tiles % blocks;
    }
    // Longer and shorter pieces alternate: no unit is cut into more than blocks / units + 2.
    __device__ int first_of(int block) const { return block * each + block * more / blocks; }
    // The block whose piece tile `at` of the row is in.
    __device__ int block_of(int at) const
    {
        int block = min((int)((float)at / ((float)each + (float)more / (float)blocks)), blocks - 1);
        while (first_of(block) > at) // floats are not exact
            block--;
        while (first_of(block + 1) <= at)
            block++;
        return block;
    }
    // Where `block` leaves row 0 of its part of `unit`: a unit has room for as many parts as it can have.
    __device__ int part(int unit, int block) const
    {
        return (unit * (P_BLOCKS / units + 2) + block - block_of(unit * tiles)) * ROWS;
    }
};

// A tile of packed queries: row r is query i(r) of head h(r).
struct Unit {
    int batch, kv_head, first, rows; // first packed query, and how many there are

    __device__ Unit(const AttnArgs &a, const Work &w, int unit)
    {
        batch = unit / (a.Hkv * w.row_tiles);
        kv_head = unit / w.row_tiles % a.Hkv;
        first = unit % w.row_tiles * ROWS;
        rows = min(ROWS, w.group * a.Sq - first);
    }
    __device__ int i(const AttnArgs &a, int r) const { return (first + r) % a.Sq; }
    __device__ int h(const AttnArgs &a, const Work &w, int r) const
    {
        return kv_head * w.group + (first + r) / a.Sq;
    }
};

// One step on its way: 16 keys of K and of V, by the lanes of one warp. Keys beyond the end become 0.
__device__ inline void start_step(unsigned ring, const AttnArgs &a, const Unit &u, int key)
{
    const elem *k = a.k + u.batch * a.k_stride[0] + u.kv_head * a.k_stride[1] + key * a.k_stride[2];
    const elem *v = a.v + u.batch * a.v_stride[0] + u.kv_head * a.v_stride[1] + key * a.v_stride[2];
#pragma unroll
    for (int e = 0; e < KEYS * CHUNKS / 32; e++) {
        const int x = e * 32 + threadIdx.x % 32, r = x / CHUNKS, c = x % CHUNKS;
        const bool here = key + r < a.Sk && c * CHUNK < a.D;
        copy_async(ring + swizzled(r, c), k + r * a.k_stride[2] + c * CHUNK, here);
        copy_async(ring + STEP_BYTES + swizzled(r, c), v + r * a.v_stride[2] + c * CHUNK, here);
    }
}

struct alignas(8) Two {
    float x[2];
};

// What a warp knows of its rows lane / 4 and lane / 4 + 8.
struct State {
    unsigned q[ATTN_D / 16][4];
    float o[ATTN_D / 8][4], m[2], l[2]; // m in powers of 2; l: this lane's keys only

    __device__ void begin(const AttnArgs &a, const Work &w, const Unit &u)
    {
        const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
        for (int half = 0; half < 2; half++) { // row g, then g + 8: (r, 2t) and (r, 2t + 8) of each 16 columns
            const int r = g + half * 8;
            const elem *row = a.q + u.batch * a.q_stride[0] + u.h(a, w, r) * a.q_stride[1] +
                              u.i(a, r) * a.q_stride[2];
#pragma unroll
            for (int c = 0; c < ATTN_D / 8; c++)
                q[c / 2][c % 2 * 2 + half] =
                    r < u.rows && c * 8 < a.D ? *(const unsigned *)(row + c * 8 + 2 * t) : 0;
        }
#pragma unroll
        for (int n = 0; n < ATTN_D / 8; n++)
            for (int e = 0; e < 4; e++)
                o[n][e] = 0.f;
        m[0] = m[1] = NEG_INF;
        l[0] = l[1] = 0.f;
    }
};

// The 16 keys from `key` on, which lie at `ring`.
__device__ inline void take_step(State &x, unsigned ring, const AttnArgs &a, const Unit &u, int key)
{
    const int lane = threadIdx.x % 32;
    const LaneAddress k_lane(ring, lane / 16 * 8 + lane % 8, lane / 8 % 2);
    const LaneAddress v_lane(ring + STEP_BYTES, lane % 16, lane / 16);
    float s[2][4] = {};
#pragma unroll
    for (int d = 0; d < CHUNKS; d += 2) {
        unsigned k[4];
        load_matrices(k, k_lane.at(0, d));
        multiply(s[0], x.q[d / 2], k[0], k[1]);
        multiply(s[1], x.q[d / 2], k[2], k[3]);
    }
    const float scale_log2e = a.scale * 1.4426950408889634f; // exp(x) = 2^(x log2 e)
    float top[2];
    bool grown = false;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        // Only the last keys, or those that the first query may not see, need the mask.
        const bool edge = key + KEYS > visible_keys(a, 0);
        const int n = edge ? visible_keys(a, u.i(a, lane / 4 + 8 * r)) - key - lane % 4 * 2 : KEYS;
#pragma unroll
        for (int e = 0; e < 4; e++) {
            float &y = s[e / 2][2 * r + e % 2];
            y = e / 2 * 8 + e % 2 < n ? y * scale_log2e : NEG_INF;
        }
        top[r] = warp_max<4>(fmaxf(fmaxf(s[0][2 * r], s[0][2 * r + 1]),
                                   fmaxf(s[1][2 * r], s[1][2 * r + 1]))); // four lanes share a row
        grown |= top[r] > x.m[r];
    }
    if (__any_sync(FULL_WARP, grown)) { // seldom, after the first steps
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const float m = fmaxf(x.m[r], top[r]);
            // A row that has seen no key yet has m = -inf, and -inf - -inf is no number.
            const float correction = m == NEG_INF ? 1.f : exp2_fast(x.m[r] - m);
            x.m[r] = m;
            x.l[r] *= correction;
#pragma unroll
            for (int n = 0; n < ATTN_D / 8; n++)
                for (int e = 2 * r; e < 2 * r + 2; e++)
                    x.o[n][e] *= correction;
        }
    }
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const float base = x.m[r] == NEG_INF ? 0.f : x.m[r];
#pragma unroll
        for (int e = 0; e < 4; e++) {
            float &y = s[e / 2][2 * r + e % 2];
            x.l[r] += y = exp2_fast(y - base);
        }
    }
    const unsigned p[4] = {pack(s[0][0], s[0][1]), pack(s[0][2], s[0][3]), pack(s[1][0], s[1][1]),
                           pack(s[1][2], s[1][3])};
#pragma unroll
    for (int d = 0; d < CHUNKS; d += 2) {
        unsigned v[4];
        load_matrices_transposed(v, v_lane.at(0, d));
        multiply(x.o[d], p, v[0], v[1]);
        multiply(x.o[d + 1], p, v[2], v[3]);
    }
}

// The warps' parts become the block's: weighted by 2^(m - largest m), added up one warp after another in
// shared memory, and left in the workspace with their LSE.
__device__ inline void leave_part(State &x, const AttnArgs &a, const Unit &u, int part)
{
    float *sums = (float *)(smem + SMEM_sums), *ms = (float *)(smem + SMEM_ends);
    float *ls = ms + ROWS * WARPS;
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        x.l[r] = warp_sum<4>(x.l[r]);
        if (t == 0) {
            ms[(g + 8 * r) * WARPS + warp] = x.m[r];
            ls[(g + 8 * r) * WARPS + warp] = x.l[r];
        }
    }
    __syncthreads();
    float weight[2];
#pragma unroll
    for (int r = 0; r < 2; r++) {
        float top = NEG_INF;
        for (int w = 0; w < WARPS; w++)
            top = fmaxf(top, ms[(g + 8 * r) * WARPS + w]);
        weight[r] = top == NEG_INF ? 0.f : exp2_fast(x.m[r] - top);
    }
#pragma unroll 1 // short code: it is fetched for one use
    for (int w = 0; w < WARPS; w++) {
        if (w == warp)
#pragma unroll
            for (int n = 0; n < ATTN_D / 8; n++)
#pragma unroll
                for (int r = 0; r < 2; r++) {
                    Two *sum = (Two *)(sums + (g + 8 * r) * PITCH + n * 8 + 2 * t);
                    const Two before = w ? *sum : Two{};
                    *sum = {before.x[0] + x.o[n][2 * r] * weight[r],
                            before.x[1] + x.o[n][2 * r + 1] * weight[r]};
                }
        __syncthreads();
    }
    float *out = (float *)a.ws[WS_partial_o] + (long long)part * ATTN_D;
    for (int e = threadIdx.x; e < u.rows * ATTN_D / 4; e += ATTN_THREADS) {
        const int r = e * 4 / ATTN_D;
        Four y = *(const Four *)(sums + r * PITCH + e * 4 % ATTN_D);
        float top = NEG_INF, sum = 0.f;
        for (int w = 0; w < WARPS; w++)
            top = fmaxf(top, ms[r * WARPS + w]);
        for (int w = 0; w < WARPS; w++)
            sum += top == NEG_INF ? 0.f : ls[r * WARPS + w] * exp2_fast(ms[r * WARPS + w] - top);
        const float inverse = safe_inverse(sum);
        for (int c = 0; c < 4; c++)
            y.x[c] *= inverse;
        ((Four *)out)[e] = y;
        if (e * 4 % ATTN_D == 0)
            ((float *)a.ws[WS_partial_lse])[part + r] = sum == 0.f ? NEG_INF : top + log2f(sum);
    }
    __syncthreads(); // the next part may use all of it again
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS)
    decode_splitkv(const __grid_constant__ AttnArgs a)
{
    const Work work(a);
    const int warp = threadIdx.x / 32;
    const unsigned ring = shared_address(smem + SMEM_ring) + warp * STAGES * 2 * STEP_BYTES;
    const int first = work.first_of(blockIdx.x);
    const int n = work.first_of(blockIdx.x + 1) - first; // tiles of this piece
    int unit = first / work.tiles, tile = first % work.tiles;

    // The copies run STAGES - 1 steps ahead, across the ends of heads.
    int ahead_unit = unit, ahead_tile = tile;
    Unit ahead(a, work, unit), u = ahead;
    State x;
    bool begins = true; // a tile of queries
#pragma unroll 1
    for (int i = 1 - STAGES; i < n; i++) {
        const int next = i + STAGES - 1;
        if (next < n) {
            start_step(ring + next % STAGES * 2 * STEP_BYTES, a, ahead, ahead_tile * BC + warp * KEYS);
            if (++ahead_tile == work.tiles && next + 1 < n) {
                ahead_tile = 0;
                ahead = Unit(a, work, ++ahead_unit);
            }
        }
        commit_copies(); // an empty group at the end keeps the count
        if (i < 0)
            continue;
        if (begins)
            x.begin(a, work, u);
        wait_copies<STAGES - 1>(); // of this lane,
        __syncwarp();              // and of the others
        take_step(x, ring + i % STAGES * 2 * STEP_BYTES, a, u, tile * BC + warp * KEYS);
        __syncwarp(); // all have read the step that the next copies take the place of
        begins = ++tile == work.tiles;
        if (begins || i == n - 1)
            leave_part(x, a, u, work.part(unit, blockIdx.x));
        if (begins && i < n - 1) {
            tile = 0;
            u = Unit(a, work, ++unit);
        }
    }
}

// Pass 2, a block per row: its parts weighted by 2^(LSE - largest LSE), in their order.
extern "C" __global__ void __launch_bounds__(ATTN_THREADS_combine)
    decode_splitkv_combine(const __grid_constant__ AttnArgs a)
{
    constexpr int C_WARPS = ATTN_THREADS_combine / 32, FOURS = (ATTN_D / 4 + 31) / 32;
    __shared__ float parts[C_WARPS][ATTN_D + 4];
    const Work work(a);
    const int i = blockIdx.x, h = blockIdx.y, batch = blockIdx.z;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int packed = h % work.group * a.Sq + i;
    const int unit = (batch * a.Hkv + h / work.group) * work.row_tiles + packed / ROWS;
    const int first = work.block_of(unit * work.tiles);
    const int n = work.block_of((unit + 1) * work.tiles - 1) - first + 1;
    const long long row = work.part(unit, first) + packed % ROWS; // of the first part
    const float *lse = (const float *)a.ws[WS_partial_lse] + row;

    // Loads go out eight at a time: one after another they would be most of the time.
    float top = NEG_INF;
    for (int s0 = lane; s0 < n; s0 += 8 * 32) {
        float x[8];
#pragma unroll
        for (int c = 0; c < 8; c++)
            x[c] = s0 + c * 32 < n ? lse[(s0 + c * 32) * ROWS] : NEG_INF;
#pragma unroll
        for (int c = 0; c < 8; c++)
            top = fmaxf(top, x[c]);
    }
    top = warp_max(top);
    Four acc[FOURS] = {};
    float sum = 0.f;
#pragma unroll 1
    for (int s0 = warp; s0 < n; s0 += 8 * C_WARPS) {
        Four y[8][FOURS];
        float weight[8];
#pragma unroll
        for (int c = 0; c < 8; c++) {
            const int s = s0 + c * C_WARPS;
            weight[c] = s < n ? lse[s * ROWS] : NEG_INF; // -inf also where a part saw no key: it is 0
#pragma unroll
            for (int f = 0; f < FOURS; f++) {
                y[c][f] = {};
                if (s < n && lane + 32 * f < ATTN_D / 4)
                    y[c][f] = ((const Four *)((const float *)a.ws[WS_partial_o] +
                                              (row + s * ROWS) * ATTN_D))[lane + 32 * f];
            }
        }
#pragma unroll
        for (int c = 0; c < 8; c++) {
            weight[c] = weight[c] == NEG_INF ? 0.f : exp2_fast(weight[c] - top);
            sum += weight[c];
#pragma unroll
            for (int f = 0; f < FOURS; f++)
                for (int e = 0; e < 4; e++)
                    acc[f].x[e] += weight[c] * y[c][f].x[e];
        }
    }
#pragma unroll
    for (int c = 0; c < FOURS; c++)
        if (lane + 32 * c < ATTN_D / 4)
            for (int e = 0; e < 4; e++)
                parts[warp][(lane + 32 * c) * 4 + e] = acc[c].x[e];
    if (lane == 0)
        parts[warp][ATTN_D] = sum;
    __syncthreads();

    sum = 0.f;
    for (int w = 0; w < C_WARPS; w++)
        sum += parts[w][ATTN_D];
    const float inverse = safe_inverse(sum);
    elem *out = a.o + batch * a.o_stride[0] + h * a.o_stride[1] + i * a.o_stride[2];
#pragma unroll 1
    for (int d = threadIdx.x; d < a.D; d += ATTN_THREADS_combine) {
        float y = 0.f;
        for (int w = 0; w < C_WARPS; w++)
            y += parts[w][d];
        out[d] = to_elem(y * inverse);
    }
    if (threadIdx.x == 0 && a.lse)
        a.lse[((long long)batch * a.H + h) * a.Sq + i] =
            sum == 0.f ? NEG_INF : (top + log2f(sum)) * 0.6931471805599453f; // ln 2
}

/* Cost: K and V once, from memory, and 16 rows of arithmetic for the 1 to 16 that count, which
 *   nobody notices: 16 keys are 8 KB at D=128, 430 cycles of a multiprocessor's share of memory and
 *   130 of its tensor cores. By Little's law 4.5 TB/s at 0.8 us need 27 KB on their way a
 *   multiprocessor; here they are up to 192 KB. Besides, whatever K and V are: two launches, the
 *   first keys, the parts out and in again, about 10 us.
 * Measured (H200, f16, 32 heads over 8, D=128, one query, us, L2 hot): 34 MB (Sk=8k) 15.9, splitkv
 *   BR=16 SPLITS=32 486, cuDNN 11.0; B=8, 268 MB, 72.2 (3.7 TB/s), cuDNN 67.0; B=32, 1074 MB, 253
 *   (4.2 TB/s), cuDNN 241; Sk=128k, 537 MB, 134, cuDNN 127. Eight queries, causal, B=8: 87, the best
 *   peer 212. Sums with rows 8 banks apart instead of on the same banks took 5 us off; pieces that
 *   end where heads end (BLOCKS=256, not 264) 3 us at B=8.
 * Limits: more than 16 packed queries are more tiles, and each reads K and V again, if out of the L2
 *   cache. At short Sk the second launch is a third of the time. Up to 16 queries; no paged K and V.
 * Next: not written yet: parts that meet in a cluster's shared memory, so that one launch does. */
