// decode.cuh - what the kernels for a few queries share: the heads that share K and V as the rows of one tile of 16,
// keys dealt out evenly, a warp that copies its own 16 keys a step, and what a step does. How the parts become one
// is each kernel's idea.
//
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "parts.cuh"

constexpr int ROWS = 16, KEYS = 16; // of a tensor-core tile: packed queries, keys of a step
constexpr int WARPS = P_WARPS, STAGES = P_STAGES;
constexpr int BC = KEYS * WARPS;             // keys of a key tile, divided among the warps
constexpr int PITCH = ATTN_D + 8;            // of outputs in shared memory: rows begin 8 banks apart
constexpr int STEP_BYTES = KEYS * ROW_BYTES; // of K, and of V

// A tile of packed queries, those of the heads that share K and V head by head: row r is query i(r) of head h(r).
struct Unit {
    int batch, kv_head, group, first, rows; // first packed query, and how many there are

    __device__ Unit(const AttnArgs &a, int b, int kv, int row_tile) : batch(b), kv_head(kv)
    {
        group = a.H / a.Hkv;
        first = row_tile * ROWS;
        rows = min(ROWS, group * a.Sq - first);
    }
    __device__ int i(const AttnArgs &a, int r) const { return (first + r) % a.Sq; }
    __device__ int h(const AttnArgs &a, int r) const { return kv_head * group + (first + r) / a.Sq; }
};

// ---- Work dealt out evenly -----------------------------------------------------------------------

// All work of the launch: `units` tiles of 16 packed queries, each with `tiles` key tiles; in a row, cut into
// `blocks` pieces that are equal but for one tile. The queries of the heads that share K and V are packed head
// by head.
struct Work {
    int row_tiles, tiles, units, blocks, each, more; // tiles of all units: each * blocks + more

    __device__ Work(const AttnArgs &a)
    {
        row_tiles = (a.H / a.Hkv * a.Sq + ROWS - 1) / ROWS;
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
    // The blocks that have a piece of `unit`, from this one on and so many.
    __device__ int first_block(int unit) const { return block_of(unit * tiles); }
    __device__ int blocks_of(int unit) const { return block_of((unit + 1) * tiles - 1) - first_block(unit) + 1; }
    // Where `block` leaves row 0 of its part of `unit`: a unit has room for as many parts as it can have.
    __device__ int part(int unit, int block) const
    {
        return (unit * (P_BLOCKS / units + 2) + block - first_block(unit)) * ROWS;
    }
};

// Tile `unit` of the row of work.
__device__ inline Unit unit_of(const AttnArgs &a, const Work &w, int unit)
{
    const int head = unit / w.row_tiles;
    return Unit(a, head / a.Hkv, head % a.Hkv, unit % w.row_tiles);
}

// ---- A step --------------------------------------------------------------------------------------

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

    __device__ void begin(const AttnArgs &a, const Unit &u)
    {
        const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
        for (int half = 0; half < 2; half++) { // row g, then g + 8: (r, 2t) and (r, 2t + 8) of each 16 columns
            const int r = g + half * 8;
            const elem *row = a.q + u.batch * a.q_stride[0] + u.h(a, r) * a.q_stride[1] +
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

// A step's scores, in powers of 2, become P in 16 bits, the right side of P V; top: the largest of rows lane / 4 and
// lane / 4 + 8, and whether one has grown beyond what was known.
__device__ inline void take_scores(State &x, unsigned (&p)[4], float (&s)[2][4], const float (&top)[2], bool grown)
{
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
    p[0] = pack(s[0][0], s[0][1]), p[1] = pack(s[0][2], s[0][3]);
    p[2] = pack(s[1][0], s[1][1]), p[3] = pack(s[1][2], s[1][3]);
}

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
    unsigned p[4];
    take_scores(x, p, s, top, grown);
#pragma unroll
    for (int d = 0; d < CHUNKS; d += 2) {
        unsigned v[4];
        load_matrices_transposed(v, v_lane.at(0, d));
        multiply(x.o[d], p, v[0], v[1]);
        multiply(x.o[d + 1], p, v[2], v[3]);
    }
}

// ---- The loop ------------------------------------------------------------------------------------

// Keys that lie one after another, so that nothing need be looked up before a step is started.
struct Rows {
    __device__ Rows(const AttnArgs &) {}
    __device__ void look_up(const AttnArgs &, const Unit &, int) {}
    __device__ void start(unsigned ring, const AttnArgs &a, const Unit &u, int key) const { start_step(ring, a, u, key); }
};

// A block's piece of the work: end(x, u, unit) is called with what the warps know whenever the last of its keys of a
// tile of queries is done. All threads of the block; the ring is at SMEM_ring. Places: where the keys lie.
template <class Places, class Args, class End>
__device__ inline void take_piece(const Args &a, const Work &work, End end)
{
    const int warp = threadIdx.x / 32;
    const unsigned ring = shared_address(smem + SMEM_ring) + warp * STAGES * 2 * STEP_BYTES;
    const int first = work.first_of(blockIdx.x);
    const int n = work.first_of(blockIdx.x + 1) - first; // tiles of this piece
    int unit = first / work.tiles, tile = first % work.tiles;

    // The copies run STAGES - 1 steps ahead, across the ends of heads, and the look-ups one more.
    int ahead_unit = unit, ahead_tile = tile;
    Unit ahead = unit_of(a, work, unit), u = ahead;
    Places places(a);
    places.look_up(a, ahead, ahead_tile * BC + warp * KEYS);
    State x;
    bool begins = true; // a tile of queries
#pragma unroll 1
    for (int i = 1 - STAGES; i < n; i++) {
        const int next = i + STAGES - 1;
        if (next < n) {
            places.start(ring + next % STAGES * 2 * STEP_BYTES, a, ahead, ahead_tile * BC + warp * KEYS);
            if (++ahead_tile == work.tiles && next + 1 < n) {
                ahead_tile = 0;
                ahead = unit_of(a, work, ++ahead_unit);
            }
            places.look_up(a, ahead, ahead_tile * BC + warp * KEYS);
        }
        commit_copies(); // an empty group at the end keeps the count
        if (i < 0)
            continue;
        if (begins)
            x.begin(a, u);
        wait_copies<STAGES - 1>(); // of this lane,
        __syncwarp();              // and of the others
        take_step(x, ring + i % STAGES * 2 * STEP_BYTES, a, u, tile * BC + warp * KEYS);
        __syncwarp(); // all have read the step that the next copies take the place of
        begins = ++tile == work.tiles;
        if (begins || i == n - 1)
            end(x, u, unit);
        if (begins && i < n - 1) {
            tile = 0;
            u = unit_of(a, work, ++unit);
        }
    }
}

// ---- The end -------------------------------------------------------------------------------------

// The warps' outputs become the block's, weighted by 2^(m - largest m) and added up one warp after another in `sums`;
// maxima and sums of row r and warp w are then at r * WARPS + w of `ms` and `ls`. All threads of the block.
__device__ inline void add_up_warps(State &x, const Unit &u, float *sums, float *ms, float *ls)
{
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
            for (int r = 0; r < 2; r++)
                if (g + 8 * r < u.rows)
#pragma unroll
                    for (int n = 0; n < ATTN_D / 8; n++) {
                        Two *sum = (Two *)(sums + (g + 8 * r) * PITCH + n * 8 + 2 * t);
                        const Two before = w ? *sum : Two{};
                        *sum = {before.x[0] + x.o[n][2 * r] * weight[r], before.x[1] + x.o[n][2 * r + 1] * weight[r]};
                    }
        __syncthreads();
    }
}

// Four columns of a row that is done.
__device__ inline void store(const Sum &s, const AttnArgs &a, const Unit &u, int r, int d)
{
    const float inverse = safe_inverse(s.l);
#if !ATTN_PARTS_F32
    Vec<4> y;
    for (int e = 0; e < 4; e++)
        y.x[e] = to_elem(s.o.x[e] * inverse);
    if (d < a.D)
        *(Vec<4> *)(a.o + u.batch * a.o_stride[0] + u.h(a, r) * a.o_stride[1] + u.i(a, r) * a.o_stride[2] + d) = y;
#else
    if (d < a.D)
        part_row(a, u.batch, u.h(a, r), u.i(a, r)).put(d, s.o.x, inverse);
#endif
    if (d == 0 && a.lse)
        a.lse[((long long)u.batch * a.H + u.h(a, r)) * a.Sq + u.i(a, r)] =
            s.l == 0.f ? NEG_INF : (s.m + log2f(s.l)) * 0.6931471805599453f; // ln 2
}
