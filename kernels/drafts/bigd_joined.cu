/* bigd_joined.cu - bigd_unfused in one launch: tiles of outputs are dealt behind those of scores. A draft: slower.
 *
 * @name      bigd_joined
 * @title     Huge heads on Hopper: both products of bigd_unfused in one launch
 * @idea      bigd_unfused ends a launch and begins another where its weights are complete. Here the same clusters go on: behind
 *            the tiles of scores those of outputs are dealt, and who copies weights waits until the tiles of scores of its
 *            queries have been counted. They were dealt a round before, so that the wait is short.
 * @after     bigd_unfused
 * @unit      tensor
 * @dtypes    f16 bf16 parts=f32
 * @arch      90a
 * @requires  sm == 90 && D % 8 == 0
 * @param     CLUSTER 2 [1..2]       blocks that share K and V
 * @param     BLOCKS 132 [4..132]    blocks: at most the multiprocessors of the GPU
 * @threads   384
 * @grid      CLUSTER*min(floor(BLOCKS/CLUSTER),ceil(Sq/(128*CLUSTER))*(ceil(Sk/256)+ceil(D/256))*H*B)
 * @cluster   CLUSTER
 * @tma       Q box=128,64 swizzle=128  64 columns of the Q tile
 * @tma       K box=256/CLUSTER,64 swizzle=128  and of this block's part of the K tile
 * @tma       V box=64,64 swizzle=128  64 keys and 64 columns of V
 * @smem      dynamic Left 4*128*128 align=1024 pitch=64 rows=128 swizzle=16  of Q, or weights of 64 keys
 * @smem      dynamic Right 4*256*128 align=1024 pitch=64 rows=256 swizzle=16  of K, or V in slices of 64 columns
 * @smem      dynamic barriers 8*8 type=u64  who waits for what
 * @workspace weights B*H*ceil(Sq/(128*CLUSTER))*128*CLUSTER*ceil(Sk/256)*256*T  as the copy engine would lay them
 * @workspace bases   B*H*ceil(Sq/(128*CLUSTER))*128*CLUSTER*ceil(Sk/256)*4  what the weights of 256 keys count from
 * @workspace sums    B*H*ceil(Sq/(128*CLUSTER))*128*CLUSTER*ceil(Sk/256)*4  and their sums
 * @workspace done    B*H*ceil(Sq/(128*CLUSTER))*4 once  warpgroups that have stored a tile of weights of these queries; later
 *            also blocks that have seen that all are there, of which the last makes it 0 again
 * @traffic   read B*H*(tiles(128*CLUSTER,256)*(128*CLUSTER*(D*T+8*ceil(D/256))+256*D*T)
 *                 +tiles(128*CLUSTER,64)*ceil(D/256)*(128*CLUSTER+256)*64*T)
 *            write B*H*(tiles(128*CLUSTER,256)*128*CLUSTER*(256*T+8)+Sq*D*T)
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "hopper.cuh"
#include "send.cuh"

constexpr int CLUSTER = P_CLUSTER, STAGES = 4, STEP = 64; // STEP: of what a product sums over
constexpr int BR = 128, ROWS = BR * CLUSTER;              // queries of a block, and of a cluster
constexpr int BC = 256;                                   // keys, or columns of O, of a tile
constexpr int LEFT_BYTES = BR * SLICE_BYTES, RIGHT_BYTES = BC * SLICE_BYTES;
constexpr int WARPS = 8; // that multiply

struct Barriers {
    MemoryBarrier here[STAGES], free[STAGES];
};

// ---- What is to be done --------------------------------------------------------------------------

// All tiles, dealt to the clusters like cards: first those of scores (ROWS queries with 256 keys), then those of outputs (with
// 256 columns).
struct Work {
    const AttnArgs &a;
    int groups; // of ROWS queries, of a head
    bool scores = true;
    int row = 0; // one of all heads' groups
    int part;    // a tile of it

    __device__ Work(const AttnArgs &args)
        : a(args), groups((a.Sq + ROWS - 1) / ROWS), part(blockIdx.x / CLUSTER)
    {
        find();
    }
    __device__ int rows() const
    {
        return groups * a.H * a.B;
    }
    __device__ bool more() const
    {
        return row < rows();
    }
    __device__ void next()
    {
        part += gridDim.x / CLUSTER;
        find();
    }
    __device__ int head() const
    {
        return row / groups % a.H;
    }
    __device__ int batch() const
    {
        return row / groups / a.H;
    }
    __device__ int q0() const // the longest go first
    {
        return (groups - 1 - row % groups) * ROWS;
    }
    __device__ int keys() const
    {
        return visible_keys_of_tile(a, q0(), ROWS);
    }
    __device__ int key_tiles() const
    {
        return (keys() + BC - 1) / BC;
    }
    __device__ int columns() const // tiles of them
    {
        return (a.D + BC - 1) / BC;
    }
    __device__ void find()
    {
        while (scores && more() && part >= key_tiles()) {
            part -= key_tiles();
            row++;
        }
        if (scores && !more()) {
            scores = false;
            row = 0;
        }
        if (!scores) {
            row += part / columns();
            part %= columns();
        }
    }
};

// ---- The workspace -------------------------------------------------------------------------------

// 128 rows by 64 weights are a block of 16 KB that a plain copy brings to where a product reads it.
struct Rows {
    const AttnArgs &a;
    long long first; // of all heads' padded rows
    int key_tiles;

    __device__ Rows(const AttnArgs &args, int head, int batch, int q0)
        : a(args), key_tiles((args.Sk + BC - 1) / BC)
    {
        const int padded = (a.Sq + ROWS - 1) / ROWS * ROWS;
        first = ((long long)batch * a.H + head) * padded + q0;
    }
    __device__ unsigned char *weights(int step) const
    {
        return (unsigned char *)a.ws[WS_weights] +
               (first / BR * key_tiles * (BC / STEP) + step) * LEFT_BYTES;
    }
    __device__ float *base(int tile, int row) const
    {
        return (float *)a.ws[WS_bases] + first * key_tiles + tile * BR + row;
    }
    __device__ float *sum(int tile, int row) const
    {
        return (float *)a.ws[WS_sums] + first * key_tiles + tile * BR + row;
    }
};

// ---- What is there -------------------------------------------------------------------------------

__device__ inline unsigned *done_of(const Work &w)
{
    return (unsigned *)w.a.ws[WS_done] + w.row;
}
// A warp that has nothing else to do tells that a warpgroup's weights of a tile are there: who stored them would have to wait until
// the whole GPU sees them. Both wait for each other, so that neither is a tile ahead.
__device__ inline void meet_teller(int warpgroup)
{
    meet(1 + warpgroup, 128 + 32);
}
__device__ inline void tell_stored(const Work &w, int warpgroup)
{
    meet_teller(warpgroup);
    if (threadIdx.x % 32 == 0) {
        __threadfence();
        atomicAdd(done_of(w), 1u);
    }
}
// One thread waits for all weights of these queries, then lets the copy engine read them.
__device__ inline void await_stored(const Work &w)
{
    unsigned *done = done_of(w), seen;
    const unsigned all = w.key_tiles() * CLUSTER * 2; // warpgroups
    do
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(done) : "memory");
    while (seen < all);
    if (atomicAdd(done, 1u) + 1 == all + w.columns() * CLUSTER)
        atomicExch(done, 0u);
    asm volatile("fence.proxy.async;" ::: "memory");
}

// ---- Copies --------------------------------------------------------------------------------------

// Where a step's left and right side lie, and which turn of the place that is.
struct Place {
    int slot = 0, parity = 0;
    __device__ Place next()
    {
        const Place here = *this;
        slot = slot + 1 == STAGES ? 0 : slot + 1;
        parity ^= slot == 0;
        return here;
    }
};

__device__ inline void fetch_box(unsigned to, const TensorMap &map, int column, int row, int head,
                                 int batch, MemoryBarrier *b)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(to),
                 "l"(&map), "r"(column), "r"(row), "r"(head), "r"(batch), "r"(shared_address(b))
                 : "memory");
}
// To this place of all blocks of the cluster; each one's barrier counts the bytes.
__device__ inline void fetch_box_for_all(unsigned to, const TensorMap &map, int column, int row,
                                         int head, int batch, MemoryBarrier *b)
{
    if (CLUSTER == 1)
        fetch_box(to, map, column, row, head, batch, b);
    else
        asm volatile(
            "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
            ".multicast::cluster [%0], [%1, {%2, %3, %4, %5}], [%6], %7;" ::"r"(to),
            "l"(&map), "r"(column), "r"(row), "r"(head), "r"(batch), "r"(shared_address(b)),
            "h"((unsigned short)((1 << CLUSTER) - 1))
            : "memory");
}
__device__ inline void fetch_bytes(unsigned to, const void *from, int bytes, MemoryBarrier *b)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(shared_address(b))
                 : "memory");
}

// The steps of all of a block's tiles, one behind the other: the first copies of a tile are under way beside the last
// products of the one before.
struct Ring {
    Barriers &bar;
    unsigned left, right;
    Place at;

    __device__ Ring(Barriers &barriers, unsigned l, unsigned r) : bar(barriers), left(l), right(r)
    {
    }
    // The place for the next step, once all blocks that write to it or read it have read what was there.
    __device__ Place vacant()
    {
        const Place p = at.next();
        await(&bar.free[p.slot], p.parity ^ 1);
        expect_bytes(&bar.here[p.slot], LEFT_BYTES + RIGHT_BYTES);
        return p;
    }
    // Before a block ends, all have told it what they have read.
    __device__ void drain()
    {
        for (int i = 0; i < STAGES; i++) {
            const Place p = at.next();
            await(&bar.free[p.slot], p.parity ^ 1);
        }
    }
    __device__ Place filled()
    {
        const Place p = at.next();
        await(&bar.here[p.slot], p.parity);
        return p;
    }
    // Waits for the next place without going on.
    __device__ void look() const
    {
        await(&bar.here[at.slot], at.parity);
    }
    // The warp has read what is there.
    __device__ void release(Place p) const
    {
        if (threadIdx.x % 32 < CLUSTER) {
            if (CLUSTER == 1)
                arrive(&bar.free[p.slot]);
            else
                arrive_there(in_block(shared_address(&bar.free[p.slot]), threadIdx.x % 32));
        }
    }
};

__device__ inline void make_barriers(Barriers &bar)
{
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            barrier_make(&bar.here[i], 1);
            barrier_make(&bar.free[i], WARPS * CLUSTER);
        }
        publish_barriers();
    }
    cluster_arrive_only();
    cluster_wait();
}

// ---- Products ------------------------------------------------------------------------------------

FROM_SHARED(256, N15, C15, "%128", "%129", "%130")
// C (64 x 256) = A B, or += with `add`: both in shared memory, B (16 x 256) with its columns side by side.
__device__ inline void multiply_beside(float (&c)[128], unsigned long long a, unsigned long long b,
                                       int add)
{
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %130, 0;\n" WGMMA(
                     256) "{" N15 "}, %128, %129, p, 1, 1, 0, 1; }"
                 : C15
                 : "l"(a), "l"(b), "r"(add));
}
// As await_products(), of sums that the products under way add to: nothing of them may be read.
__device__ inline void await_all_but_one()
{
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
}

// Sums over STEP columns of Q and K, or keys of weights and V: one step of the ring.
template <bool SCORES> __device__ inline Place multiply_step(Ring &ring, float (&c)[128], int add)
{
    const Place p = ring.filled();
    const unsigned warpgroup = threadIdx.x / 128;
    const unsigned long long left =
        operand(ring.left + p.slot * LEFT_BYTES + warpgroup * 64 * SLICE_BYTES, BR);
    const unsigned long long right = operand(ring.right + p.slot * RIGHT_BYTES, SCORES ? BC : STEP);
    begin_products();
#pragma unroll
    for (int i = 0; i < STEP / 16; i++)
        if (SCORES)
            multiply_shared(c, left + i * 32 / 16, right + i * 32 / 16, add || i > 0);
        else
            multiply_beside(c, left + i * 32 / 16, right + i * 16 * SLICE_BYTES / 16, add || i > 0);
    commit_products();
    return p;
}
// `steps` of them; adds to c, or begins it.
template <bool SCORES>
__device__ inline void multiply_steps(Ring &ring, float (&c)[128], int steps, bool add)
{
    Place before = multiply_step<SCORES>(ring, c, add);
#pragma unroll 1
    for (int i = 1; i < steps; i++) {
        const Place p = multiply_step<SCORES>(ring, c, 1);
        await_all_but_one();
        ring.release(before);
        before = p;
    }
    await_products<0>(c);
    ring.release(before);
}

// ---- Weights -----------------------------------------------------------------------

// Weights count from bases that are multiples of 2^8: so those of neighbouring tiles are mostly the same, and a
// correction from one to another is exact.
constexpr float GRID = 8.f;

// Four lanes share a row and have 4 bytes in each of four 16-byte chunks of it: w[j] of lane i becomes w[i] of lane j, so that
// each has a chunk.
__device__ inline Words turn(unsigned (&w)[4])
{
#pragma unroll
    for (int step = 1; step <= 2; step *= 2)
#pragma unroll
        for (int j = 0; j < 4; j++)
            if (!(j & step)) {
                const bool odd = threadIdx.x & step;
                const unsigned other = __shfl_xor_sync(FULL_WARP, odd ? w[j] : w[j + step], step);
                (odd ? w[j] : w[j + step]) = other;
            }
    return {w[0], w[1], w[2], w[3]};
}

// Scores of a lane's two rows become weights, and go straight to memory, `to` where the first row lies: 64 bytes of each of 8
// rows by one store of a warp, so whole sectors. Chunks change places as the copy engine would have them do.
__device__ inline void store_weights(unsigned char *to, float *base, float *sum,
                                     const float (&s)[128], float scale_log2e)
{
    const int t = threadIdx.x % 4, row = threadIdx.x / 4 % 8; // row % 8, of both
#pragma unroll
    for (int r = 0; r < 2; r++) {
        float top[2] = {NEG_INF, NEG_INF}, l[2] = {};
#pragma unroll
        for (int i = 0; i < 64; i++)
            top[i % 2] = fmaxf(top[i % 2], s[i / 2 * 4 + 2 * r + i % 2]);
        const float m = warp_max<4>(fmaxf(top[0], top[1])); // four lanes share a row
        const float from = m == NEG_INF ? 0.f : floorf(m * scale_log2e / GRID) * GRID;
#pragma unroll
        for (int n = 0; n < BC / 8; n += 4) {
            unsigned w[4];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                float p[2];
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    p[e] = exp2_fast(s[(n + j) * 4 + 2 * r + e] * scale_log2e - from);
                    l[e] += p[e];
                }
                w[j] = pack(p[0], p[1]);
            }
            *(Words *)(to + n / 8 * LEFT_BYTES + r * 8 * SLICE_BYTES + ((n % 8 + t) ^ row) * 16) =
                turn(w);
        }
        const float all = warp_sum<4>(l[0] + l[1]);
        if (t == 0) {
            base[8 * r] = m == NEG_INF ? NEG_INF : from;
            sum[8 * r] = all;
        }
    }
}

// ---- Outputs -------------------------------------------------------------------------------------

// What O counts from, a power of 2, and the sum of weights, of one row. The highest base of all that have come stays within
// 2^DEEP of it: weights that lie deeper are taken for larger ones and still vanish beside the row's largest.
constexpr float DEEP = 48.f;

struct OutputRow {
    float base = NEG_INF, highest = NEG_INF, l = 0.f;

    // O's factor before a tile of that base is added.
    __device__ float take(float next, float sum)
    {
        highest = fmaxf(highest, next);
        const float to = next == NEG_INF ? base : fmaxf(next, highest - DEEP);
        const float c = to == base ? 1.f : exp2_fast(base - to);
        base = to;
        l = l * c + sum;
        return c;
    }
};

// ---- The launch ----------------------------------------------------------------------------------

// What one thread fetches for a tile.
__device__ inline void fetch_scores(Ring &ring, const Work &w, int rank, const TensorMap &q_map,
                                    const TensorMap &k_map)
{
    constexpr int OWN = BC / CLUSTER; // keys that this block fetches
#pragma unroll 1
    for (int d = 0; d < w.a.D; d += STEP) {
        const Place p = ring.vacant();
        MemoryBarrier *b = &ring.bar.here[p.slot];
        fetch_box(ring.left + p.slot * LEFT_BYTES, q_map, d, w.q0() + rank * BR, w.head(),
                  w.batch(), b);
        fetch_box_for_all(ring.right + p.slot * RIGHT_BYTES + rank * OWN * SLICE_BYTES, k_map, d,
                          w.part * BC + rank * OWN, w.head() / (w.a.H / w.a.Hkv), w.batch(), b);
    }
}
__device__ inline void fetch_outputs(Ring &ring, const Work &w, int rank, const TensorMap &v_map)
{
    constexpr int OWN = BC / SLICE / CLUSTER; // slices that this block fetches
    const Rows rows(w.a, w.head(), w.batch(), w.q0() + rank * BR);
    const int steps = (w.keys() + STEP - 1) / STEP;
    if (steps > 0)
        await_stored(w); // before its arrival tells others, who read sums themselves
#pragma unroll 1
    for (int j = 0; j < steps; j++) {
        const Place p = ring.vacant();
        MemoryBarrier *b = &ring.bar.here[p.slot];
#pragma unroll
        for (int i = rank * OWN, n = 0; n < OWN; i++, n++)
            fetch_box_for_all(ring.right + p.slot * RIGHT_BYTES + i * STEP * SLICE_BYTES, v_map,
                              w.part * BC + i * SLICE, j * STEP, w.head() / (w.a.H / w.a.Hkv),
                              w.batch(), b);
        fetch_bytes(ring.left + p.slot * LEFT_BYTES, rows.weights(j), LEFT_BYTES, b);
    }
}

__device__ inline void make_scores(Ring &ring, const Work &w, int rank)
{
    const AttnArgs &a = w.a;
    const float scale_log2e = a.scale * 1.4426950408889634f; // exp(x) = 2^(x log2 e)
    float s[128];
    multiply_steps<true>(ring, s, (a.D + STEP - 1) / STEP, false);
    const int q0 = w.q0() + rank * BR, row = row_of_lane(q0, warpgroup_of_thread());
    if ((w.part + 1) * BC > visible_keys(a, q0))
        mask_scores(s, a, row, w.part * BC);
    const Rows rows(a, w.head(), w.batch(), q0);
    store_weights(rows.weights(w.part * (BC / STEP)) + (row - q0) * SLICE_BYTES,
                  rows.base(w.part, row - q0), rows.sum(w.part, row - q0), s, scale_log2e);
    meet_teller(warpgroup_of_thread());
}
__device__ inline void make_outputs(Ring &ring, const Work &w, int rank)
{
    const AttnArgs &a = w.a;
    const int q0 = w.q0() + rank * BR, row = row_of_lane(q0, warpgroup_of_thread());
    const Rows rows(a, w.head(), w.batch(), q0);
    const int steps = (w.keys() + STEP - 1) / STEP, tiles = (w.keys() + BC - 1) / BC;
    float o[128] = {}; // not yet divided by l
    OutputRow own[2];
    float base[2], sum[2]; // of the next tile
    const auto look = [&](int tile) {
#pragma unroll
        for (int r = 0; r < 2; r++)
            if (tile < tiles) {
                base[r] = *rows.base(tile, row - q0 + 8 * r);
                sum[r] = *rows.sum(tile, row - q0 + 8 * r);
            }
    };
    if (tiles > 0) {
        ring.look(); // so the thread that copies knows that all is there
        look(0);
    }
    for (int tile = 0; tile < tiles; tile++) {
        float c[2];
#pragma unroll
        for (int r = 0; r < 2; r++)
            c[r] = own[r].take(base[r], sum[r]);
        look(tile + 1);
        if (tile > 0 && __any_sync(FULL_WARP, c[0] != 1.f || c[1] != 1.f))
#pragma unroll
            for (int i = 0; i < 128; i++)
                o[i] *= c[i % 4 / 2];
        multiply_steps<false>(ring, o, min(BC / STEP, steps - tile * (BC / STEP)), tile > 0);
    }
    RowEnds ends;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const int i = row + 8 * r;
        if (w.part == 0 && threadIdx.x % 4 == 0 && i < a.Sq && a.lse)
            a.lse[((long long)w.batch() * a.H + w.head()) * a.Sq + i] =
                own[r].l == 0.f ? NEG_INF : own[r].base * 0.69314718055994531f + log_fast(own[r].l);
        ends.inverse[r] = own[r].l == 0.f ? 0.f : inverse_fast(own[r].l);
    }
    store_outputs(a, o, ends, row, w.head(), w.batch(), w.part * BC);
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1)
    bigd_joined(const __grid_constant__ AttnArgs a, const __grid_constant__ TensorMap q_map,
                const __grid_constant__ TensorMap k_map, const __grid_constant__ TensorMap v_map)
{
    Ring ring(*(Barriers *)(smem + SMEM_barriers), shared_address(smem + SMEM_Left),
              shared_address(smem + SMEM_Right));
    const int rank = cluster_rank();
    make_barriers(ring.bar);

    if (warpgroup_of_thread() == 2) {
        keep_registers<56>();
        if (threadIdx.x == 256) { // one thread starts all copies
            for (Work w(a); w.more(); w.next())
                if (w.scores)
                    fetch_scores(ring, w, rank, q_map, k_map);
                else
                    fetch_outputs(ring, w, rank, v_map);
            ring.drain();
        } else if (threadIdx.x / 32 == 9 || threadIdx.x / 32 == 10)
            for (Work w(a); w.more() && w.scores; w.next())
                tell_stored(w, threadIdx.x / 32 - 9);
    } else {
        take_registers<224>();
        for (Work w(a); w.more(); w.next())
            if (w.scores)
                make_scores(ring, w, rank);
            else
                make_outputs(ring, w, rank);
    }
}

/* Cost: that of bigd_unfused without the second launch and its beginning. With 66 clusters and 128 tiles of each kind (H=8 S=1024
 *   D=1024) the scores that a tile of outputs reads were dealt a round before. Predicted 60 to 62 us there; measured 66.0 cold, 66.8 hot, where
 *   bigd_unfused of the same hour took 64.6 and 66.2 (H200; S=4096 855 for 814): it is wrong that a launch is what costs. It stays as
 *   the one kernel here whose blocks wait for blocks of any number, run there with a thread for each (tests/cli/sim.sh).
 * Registers: the thread that copies has both kinds of tiles to find, and 40 are too few for it: 56, and 224 for who multiplies.
 * Limits: blocks wait for blocks of any number, so all must run at once, or the GPU hangs: BLOCKS at most its multiprocessors;
 *   clusters of 2, of which an H200 holds 66, and not of 4, of which it holds 30, not 33; and no other launch beside it, not one of
 *   itself either (streams=2), which would have some of the places. A kernel of the ladder would take its tiles from a counter
 *   instead, so that a tile never waits for one that is not yet taken. Simulated, it wants a thread for each cluster (threads=N).
 * Compiled (nvcc 13.0, D=1024): no spill; of a step four wgmma between one fence and one wait, as in bigd_unfused; 80 instructions. */
