/* bigd_hidden.cu - bigd_unfused with what lies at the ends of tiles and launches put beside products. A draft: no GPU has run it.
 *
 * @name      bigd_hidden
 * @title     Huge heads on Hopper: bigd_unfused, and the ends of its tiles beside products
 * @idea      In bigd_unfused nothing multiplies while a tile of weights or outputs is computed and stored, and both launches begin
 *            from nothing. Here the tile's end is kept, rounded, in 64 registers and leaves beside the steps of the next one (HIDE);
 *            a part of the exponentials is computed by multiply-adds (POLY); one warpgroup is ahead of the other, so that their
 *            ends lie beside each other's products (LAG); places are free a step sooner (SOON); and what the second launch does
 *            not need the first for goes before its wait (AHEAD). Each is a parameter, so that each is measured by itself.
 * @after     bigd_unfused
 * @unit      tensor
 * @dtypes    f16 bf16 parts=f32
 * @arch      90a
 * @requires  sm == 90 && D % 8 == 0 && (CLUSTER == 1 || CLUSTER == 2 || CLUSTER == 4)
 * @param     CLUSTER 1 [1..4]       blocks that share K and V
 * @param     BLOCKS 132 [4..1024]   blocks: the multiprocessors of the GPU
 * @param     HIDE 1 [0..1]          1: weights and outputs leave beside the next tile's products
 * @param     POLY 1 [0..2]          of four exponentials by multiply-adds
 * @param     FLOW 1 [0..1]          1: outputs are awaited where a correction is due, not every 256 keys
 * @param     LAG 0 [0..2]           steps that the second warpgroup stays behind the first
 * @param     SOON 0 [0..1]          1: a step's products are awaited, and its place is free, before the next step begins
 * @param     AHEAD 1 [0..1]         1: the second launch may begin before the first has ended, and asks for V first
 * @threads   384
 * @grid      CLUSTER*min(floor(BLOCKS/CLUSTER),ceil(Sq/(128*CLUSTER))*ceil(Sk/256)*H*B)
 * @cluster   CLUSTER
 * @tma       Q box=128,64 swizzle=128  64 columns of the Q tile
 * @tma       K box=256/CLUSTER,64 swizzle=128  and of this block's part of the K tile
 * @smem      dynamic Left 4*128*128 align=1024 pitch=64 rows=128 swizzle=16  of Q, 64 columns each
 * @smem      dynamic Right 4*256*128 align=1024 pitch=64 rows=256 swizzle=16  of K
 * @smem      dynamic barriers 8*8 type=u64  who waits for what
 * @pass      outputs
 * @ahead     AHEAD
 * @threads   384
 * @grid      CLUSTER*min(floor(BLOCKS/CLUSTER),ceil(Sq/(128*CLUSTER))*ceil(D/256)*H*B)
 * @cluster   CLUSTER
 * @tma       V box=64,64 swizzle=128  64 keys and 64 columns of V
 * @smem      dynamic Left_outputs 4*128*128 align=1024 pitch=64 rows=128 swizzle=16  weights, of 64 keys each
 * @smem      dynamic Right_outputs 4*64*4*128 align=1024 pitch=64 rows=64 swizzle=16  V, in slices of 64 columns
 * @smem      dynamic barriers_outputs 8*8 type=u64  who waits for what
 * @workspace weights B*H*ceil(Sq/(128*CLUSTER))*128*CLUSTER*ceil(Sk/256)*256*T  as the copy engine would lay them
 * @workspace bases   B*H*ceil(Sq/(128*CLUSTER))*128*CLUSTER*ceil(Sk/256)*4  what the weights of 256 keys count from
 * @workspace sums    B*H*ceil(Sq/(128*CLUSTER))*128*CLUSTER*ceil(Sk/256)*4  and their sums
 * @traffic   read B*H*(tiles(128*CLUSTER,256)*(128*CLUSTER*(D*T+8*ceil(D/256))+256*D*T)
 *                 +tiles(128*CLUSTER,64)*ceil(D/256)*(128*CLUSTER+256)*64*T)
 *            write B*H*(tiles(128*CLUSTER,256)*128*CLUSTER*(256*T+8)+Sq*D*T)
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "hopper.cuh"
#include "send.cuh"

#if ATTN_PARTS_F32
constexpr bool HIDE = false; // 64 registers hold 16 bits of each output
#else
constexpr bool HIDE = P_HIDE;
#endif
constexpr bool FLOW = P_FLOW, SOON = P_SOON, AHEAD = P_AHEAD;
constexpr int POLY = P_POLY, LAG = P_LAG;
constexpr int KEPT_SCORES = 7, KEPT_OUTPUTS = 5; // of 8 parts of a tile: what registers have room for

constexpr int CLUSTER = P_CLUSTER, STAGES = 4, STEP = 64; // STEP: of what a product sums over
constexpr int BR = 128, ROWS = BR * CLUSTER;              // queries of a block, and of a cluster
constexpr int BC = 256;                                   // keys, or columns of O, of a tile
constexpr int LEFT_BYTES = BR * SLICE_BYTES, RIGHT_BYTES = BC * SLICE_BYTES;
constexpr int WARPS = 8; // that multiply

struct Barriers {
    MemoryBarrier here[STAGES], free[STAGES];
};

// ---- What is to be done --------------------------------------------------------------------------

// The tiles of a launch, dealt to the clusters like cards: ROWS queries with 256 keys (scores), or with 256 columns (outputs).
template <bool SCORES> struct Work {
    const AttnArgs &a;
    int groups;  // of ROWS queries, of a head
    int row = 0; // one of all heads' groups
    int part;    // a tile of it

    __device__ Work(const AttnArgs &args)
        : a(args), groups((a.Sq + ROWS - 1) / ROWS), part(blockIdx.x / CLUSTER)
    {
        find();
    }
    __device__ bool more() const
    {
        return row < groups * a.H * a.B;
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
    __device__ int parts() const
    {
        return ((SCORES ? keys() : a.D) + BC - 1) / BC;
    }
    __device__ bool last() const
    {
        Work after = *this;
        after.next();
        return !after.more();
    }
    __device__ void find()
    {
        if (SCORES && a.causal)
            while (more() && part >= parts()) {
                part -= parts();
                row++;
            }
        else {
            row += part / parts();
            part %= parts();
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
    unsigned warpgroup;

    __device__ Ring(Barriers &barriers, unsigned l, unsigned r) : bar(barriers), left(l), right(r), warpgroup(warpgroup_of_thread())
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
    // Behind the last step. Who stays behind the others awaits that as many places as it stays behind have been filled further
    // on: here with nothing. And before a block ends, all have told it what they have read.
    __device__ void drain()
    {
        for (int i = 0; i < LAG; i++) {
            const Place p = at.next();
            await(&bar.free[p.slot], p.parity ^ 1);
            arrive(&bar.here[p.slot]);
        }
        for (int i = LAG; i < STAGES; i++) {
            const Place p = at.next();
            await(&bar.free[p.slot], p.parity ^ 1);
        }
    }
    __device__ Place filled()
    {
        const Place p = at.next();
        if (LAG > 0) {
            const unsigned later = p.slot + LAG * warpgroup;
            await(&bar.here[later % STAGES], p.parity ^ later / STAGES);
        }
        await(&bar.here[p.slot], p.parity);
        return p;
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
    if (CLUSTER == 1)
        __syncthreads();
    else {
        cluster_arrive_only();
        cluster_wait();
    }
}

// ---- From launch to launch -----------------------------------------------------------------------

// Where the launcher lets launches overlap: the next one may begin as soon as a multiprocessor has room for it ...
__device__ inline void let_next_begin()
{
    if (AHEAD)
        asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
// ... and waits here until the one before has ended, and what it stored is seen.
__device__ inline void await_launch_before()
{
    if (AHEAD)
        asm volatile("griddepcontrol.wait;" ::: "memory");
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
// As await_products(), of sums that more is added to: nothing of them may be read.
template <int pending> __device__ inline void await_groups()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

// Sums over STEP columns of Q and K, or keys of weights and V: one step of the ring.
template <bool SCORES> __device__ inline Place multiply_step(Ring &ring, float (&c)[128], int add)
{
    const Place p = ring.filled();
    const unsigned long long left =
        operand(ring.left + p.slot * LEFT_BYTES + ring.warpgroup * 64 * SLICE_BYTES, BR);
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

// ---- What leaves beside products -----------------------------------------------------------------

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
// One store, or none: no branch between products.
__device__ inline void store_if(bool yes, void *to, const Words &x)
{
    asm volatile("{ .reg .pred yes; setp.ne.s32 yes, %5, 0;\n"
                 "@yes st.global.v4.b32 [%0], {%1, %2, %3, %4}; }" ::"l"(to),
                 "r"(x.w[0]), "r"(x.w[1]), "r"(x.w[2]), "r"(x.w[3]), "r"((int)yes)
                 : "memory");
}

// A lane's part of a tile that has ended: of two rows 64 columns each, in PARTS of 32 columns. The first ones leave at once, where
// registers do not suffice for all.
template <bool SCORES> struct Leaving {
    static constexpr int PARTS = BC / 32, KEPT = SCORES ? KEPT_SCORES : KEPT_OUTPUTS;
    unsigned w[8 * KEPT]; // of the part that is next: 0 .. 7
    int part = PARTS;     // that is next
    unsigned char *to;    // where the first row lies; of outputs this lane's first chunk there
    long long below = 0;  // bytes from there to the second row
    int columns[2];       // of outputs: how many each row has from there on

    __device__ bool any() const
    {
        return HIDE && part < PARTS;
    }
    // A tile has ended, here are all its words, each part's one behind the other.
    __device__ void begin(const unsigned (&all)[8 * PARTS])
    {
#pragma unroll
        for (int i = 0; i < PARTS - KEPT; i++)
            store(i, all + 8 * i);
        part = PARTS - KEPT;
#pragma unroll
        for (int i = 0; i < 8 * KEPT; i++)
            w[i] = all[8 * (PARTS - KEPT) + i];
    }
    // Part i, x: two chunks of a lane; by all lanes of the warp.
    __device__ void store(int i, const unsigned *x) const
    {
        const unsigned t = threadIdx.x % 4, row = threadIdx.x / 4 % 8; // row % 8, of both
        const int at = SCORES ? i / 2 * LEFT_BYTES + (((i % 2 * 4 + t) ^ row) * 16)
                              : i * 32 * (int)sizeof(elem);
#pragma unroll
        for (int r = 0; r < 2; r++) {
            unsigned four[4] = {x[4 * r], x[4 * r + 1], x[4 * r + 2], x[4 * r + 3]};
            store_if(SCORES || i * 32 < columns[r],
                     to + at + (SCORES ? r * 8 * SLICE_BYTES : r * below), turn(four));
        }
    }
    __device__ void store_part()
    {
        store(part, w);
#pragma unroll
        for (int i = 0; i < 8 * (KEPT - 1); i++)
            w[i] = w[i + 8];
        part++;
    }
    __device__ void store_rest()
    {
#pragma unroll 1
        while (any())
            store_part();
    }
};

// One more, behind which the one before is awaited, and its place free.
template <bool SCORES>
__device__ inline Place multiply_next(Ring &ring, float (&c)[128], Place before)
{
    const Place p = multiply_step<SCORES>(ring, c, 1);
    await_groups<1>();
    ring.release(before);
    return p;
}
// At most `steps` of them; adds to c, or begins it. Beside each goes a part of what leaves. `more` is asked before each but the
// first, and the warpgroup's threads give the same answer. How many they were.
template <bool SCORES, typename More>
__device__ inline int multiply_steps(Ring &ring, float (&c)[128], int steps, bool add,
                                     Leaving<SCORES> &leaving, const More &more)
{
    Place before = multiply_step<SCORES>(ring, c, add);
    int i = 1;
    bool on = true;
    if (HIDE)
#pragma unroll 1
        for (; leaving.any() && i < steps && (on = more(i)); i++) {
            leaving.store_part();
            before = multiply_next<SCORES>(ring, c, before);
        }
#pragma unroll 1
    for (; on && i < steps && more(i); i++)
        if (SOON) {
            await_groups<0>();
            ring.release(before);
            before = multiply_step<SCORES>(ring, c, 1);
        } else
            before = multiply_next<SCORES>(ring, c, before);
    if (leaving.any())
        leaving.store_part();
    await_products<0>(c);
    ring.release(before);
    return i;
}

// ---- First launch: weights -----------------------------------------------------------------------

// Weights count from bases that are multiples of 2^8: so those of neighbouring tiles are mostly the same, and a
// correction from one to another is exact.
constexpr float GRID = 8.f;

// 2^x to 7e-6, of x below 120, without the special function unit; 0 of -127 and less.
__device__ inline float exp2_by_multiply(float x)
{
    constexpr float ROUND = 12582912.f; // 1.5 * 2^23: what is added to it loses its fraction
    x = fmaxf(x, -127.f);
    const float whole = x + ROUND, f = x - (whole - ROUND); // -1/2 .. 1/2
    const float y =
        fmaf(fmaf(fmaf(fmaf(0.00965671029f, f, 0.0558382829f), f, 0.240225301f), f, 0.693136734f),
             f, 1.f);
    return __int_as_float(__float_as_int(y) + (__float_as_int(whole) << 23));
}

// Scores of a lane's two rows become weights. They are given away four columns of chunks at a time: `take` gets the row
// (0, 1), the first chunk, and a word of each of four.
template <typename Take>
__device__ inline void make_weights(float *base, float *sum, const float (&s)[128],
                                    float scale_log2e, const Take &take)
{
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
                    const float x = s[(n + j) * 4 + 2 * r + e] * scale_log2e - from;
                    p[e] = j < POLY ? exp2_by_multiply(x) : exp2_fast(x);
                    l[e] += p[e];
                }
                w[j] = pack(p[0], p[1]);
            }
            take(r, n, w);
        }
        const float all = warp_sum<4>(l[0] + l[1]);
        if (threadIdx.x % 4 == 0) {
            base[8 * r] = m == NEG_INF ? NEG_INF : from;
            sum[8 * r] = all;
        }
    }
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1)
    bigd_hidden(const __grid_constant__ AttnArgs a, const __grid_constant__ TensorMap q_map,
                 const __grid_constant__ TensorMap k_map)
{
    Ring ring(*(Barriers *)(smem + SMEM_barriers), shared_address(smem + SMEM_Left),
              shared_address(smem + SMEM_Right));
    const int rank = cluster_rank();
    if (threadIdx.x == 256) {
        prefetch_map(q_map);
        prefetch_map(k_map);
    }
    make_barriers(ring.bar);
    let_next_begin();

    if (warpgroup_of_thread() == 2) { // the producer: one thread starts all copies
        keep_registers<24>();
        if (threadIdx.x == 256) {
            for (Work<true> w(a); w.more(); w.next())
#pragma unroll 1
                for (int d = 0; d < a.D; d += STEP) {
                    const Place p = ring.vacant();
                    MemoryBarrier *b = &ring.bar.here[p.slot];
                    constexpr int OWN = BC / CLUSTER; // keys that this block fetches
                    fetch_box(ring.left + p.slot * LEFT_BYTES, q_map, d, w.q0() + rank * BR,
                              w.head(), w.batch(), b);
                    fetch_box_for_all(ring.right + p.slot * RIGHT_BYTES + rank * OWN * SLICE_BYTES,
                                      k_map, d, w.part * BC + rank * OWN, w.head() / (a.H / a.Hkv),
                                      w.batch(), b);
                }
            ring.drain();
        }
    } else {
        take_registers<240>();
        const float scale_log2e = a.scale * 1.4426950408889634f; // exp(x) = 2^(x log2 e)
        Leaving<true> leaving;
        for (Work<true> w(a); w.more(); w.next()) {
            float s[128];
            multiply_steps<true>(ring, s, (a.D + STEP - 1) / STEP, false, leaving,
                                 [](int) { return true; });
            leaving.store_rest();
            const int q0 = w.q0() + rank * BR, row = row_of_lane(q0, warpgroup_of_thread());
            if ((w.part + 1) * BC > visible_keys(a, q0))
                mask_scores(s, a, row, w.part * BC);
            const Rows rows(a, w.head(), w.batch(), q0);
            unsigned char *const to =
                rows.weights(w.part * (BC / STEP)) + (row - q0) * SLICE_BYTES;
            float *const base = rows.base(w.part, row - q0), *const sum = rows.sum(w.part, row - q0);
            if (HIDE && !w.last()) {
                unsigned all[64];
                make_weights(base, sum, s, scale_log2e, [&](int r, int n, unsigned(&word)[4]) {
#pragma unroll
                    for (int j = 0; j < 4; j++)
                        all[n * 2 + r * 4 + j] = word[j];
                });
                leaving.to = to;
                leaving.begin(all);
            } else { // at once: 64 bytes of each of 8 rows by one store of a warp, so whole sectors
                make_weights(base, sum, s, scale_log2e, [&](int r, int n, unsigned(&word)[4]) {
                    const int t = threadIdx.x % 4, place = (n % 8 + t) ^ (threadIdx.x / 4 % 8);
                    *(Words *)(to + n / 8 * LEFT_BYTES + r * 8 * SLICE_BYTES + place * 16) =
                        turn(word);
                });
            }
        }
    }
}

// ---- Second launch: outputs ----------------------------------------------------------------------

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

// Whether any of the warpgroup's threads says so: products that follow are of all of them.
__device__ inline bool any_of_warpgroup(bool x)
{
    int any;
    asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 0;\n"
                 "bar.red.or.pred q, %2, 128, p; selp.s32 %0, 1, 0, q; }"
                 : "=r"(any)
                 : "r"((int)x), "r"(1 + warpgroup_of_thread())
                 : "memory");
    return __any_sync(FULL_WARP, any); // shows the compiler that all lanes have the same
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS_outputs, 1)
    bigd_hidden_outputs(const __grid_constant__ AttnArgs a,
                         const __grid_constant__ TensorMap v_map)
{
    Ring ring(*(Barriers *)(smem + SMEM_barriers_outputs), shared_address(smem + SMEM_Left_outputs),
              shared_address(smem + SMEM_Right_outputs));
    const int rank = cluster_rank();
    if (threadIdx.x == 256)
        prefetch_map(v_map);
    make_barriers(ring.bar);

    if (warpgroup_of_thread() == 2) { // the producer
        keep_registers<24>();
        if (threadIdx.x == 256) {
            bool begun = false;
            for (Work<false> w(a); w.more(); w.next()) {
                const Rows rows(a, w.head(), w.batch(), w.q0() + rank * BR);
                const int steps = (w.keys() + STEP - 1) / STEP;
                const auto fetch_weights = [&](Place p, int j) {
                    fetch_bytes(ring.left + p.slot * LEFT_BYTES, rows.weights(j), LEFT_BYTES,
                                &ring.bar.here[p.slot]);
                };
                const auto fetch_values = [&](Place p, int j) {
                    constexpr int OWN = BC / SLICE / CLUSTER; // slices that this block fetches
#pragma unroll
                    for (int i = rank * OWN, n = 0; n < OWN; i++, n++)
                        fetch_box_for_all(ring.right + p.slot * RIGHT_BYTES +
                                              i * STEP * SLICE_BYTES,
                                          v_map, w.part * BC + i * SLICE, j * STEP,
                                          w.head() / (a.H / a.Hkv), w.batch(),
                                          &ring.bar.here[p.slot]);
                };
                int j = 0;
                if (AHEAD && !begun) { // V of the first steps needs nothing of the launch before
                    Place again = ring.at;
#pragma unroll 1
                    for (; j < min(steps, STAGES); j++)
                        fetch_values(ring.vacant(), j);
                    await_launch_before();
#pragma unroll 1
                    for (int i = 0; i < j; i++)
                        fetch_weights(again.next(), i);
                    begun = true;
                }
#pragma unroll 1
                for (; j < steps; j++) {
                    const Place p = ring.vacant();
                    fetch_weights(p, j);
                    fetch_values(p, j);
                }
            }
            ring.drain();
        }
    } else {
        take_registers<240>();
        await_launch_before();
        Leaving<false> leaving;
        for (Work<false> w(a); w.more(); w.next()) {
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
            int tile = 0, j = 0;
            float c[2];
            const auto take = [&] { // the next tile of keys begins
#pragma unroll
                for (int r = 0; r < 2; r++)
                    c[r] = own[r].take(base[r], sum[r]);
                look(++tile);
            };
            look(0);
            if (steps > 0)
                take();
            while (j < steps) { // until a tile wants a correction
                if (j > 0 && __any_sync(FULL_WARP, c[0] != 1.f || c[1] != 1.f))
#pragma unroll
                    for (int i = 0; i < 128; i++)
                        o[i] *= c[i % 4 / 2];
                j += multiply_steps<false>(ring, o, steps - j, j > 0, leaving, [&](int i) {
                    if ((j + i) % (BC / STEP) != 0)
                        return true;
                    take();
                    return FLOW && !any_of_warpgroup(c[0] != 1.f || c[1] != 1.f);
                });
            }
            leaving.store_rest();
            RowEnds ends;
#pragma unroll
            for (int r = 0; r < 2; r++) {
                const int i = row + 8 * r;
                if (w.part == 0 && threadIdx.x % 4 == 0 && i < a.Sq && a.lse)
                    a.lse[((long long)w.batch() * a.H + w.head()) * a.Sq + i] =
                        own[r].l == 0.f ? NEG_INF
                                        : own[r].base * 0.69314718055994531f + log_fast(own[r].l);
                ends.inverse[r] = own[r].l == 0.f ? 0.f : inverse_fast(own[r].l);
            }
            if (HIDE && !w.last()) {
                const int first = w.part * BC + threadIdx.x % 4 * 8;
                unsigned all[64];
#pragma unroll
                for (int r = 0; r < 2; r++) {
#pragma unroll
                    for (int n = 0; n < BC / 8; n++)
                        all[n / 4 * 8 + r * 4 + n % 4] =
                            pack(o[n * 4 + 2 * r] * ends.inverse[r],
                                 o[n * 4 + 2 * r + 1] * ends.inverse[r]);
                    leaving.columns[r] = row + 8 * r < a.Sq ? a.D - first : 0;
                }
                leaving.to = (unsigned char *)(a.o + w.batch() * a.o_stride[0] +
                                               w.head() * a.o_stride[1] + row * a.o_stride[2] +
                                               first);
                leaving.below = 8 * a.o_stride[2] * (long long)sizeof(elem);
                leaving.begin(all);
            } else
                store_outputs(a, o, ends, row, w.head(), w.batch(), w.part * BC);
        }
    }
}

/* Cost, in cycles of one H200's multiprocessor, D=1024 S=1024, two tiles a block and launch (bigd_unfused CLUSTER=1, of 110200): steps
 *   2 x 16 x 1130 in each launch; the end of a tile of weights 6000 to 7000, of which 2050 the special function unit has to do for
 *   the exponentials and some 3500 are stores of all blocks at once; of outputs about 4000; launches and their beginning 9200.
 * HIDE: 64 registers keep a tile, 8 words at a time leave behind a step's start, and the rest moves down: the
 *   code of a step stands there once, and stores have no branch. Of weights 7 of 8 parts are kept and of outputs 5, else registers
 *   spill: 240 are 128 sums, 56 words, addresses. The last tile of a block has nothing beside it and is stored as before. Expected:
 *   2 of 63.5 us.
 * POLY: a quarter of the exponentials by eight instructions each; both units are through after 1500 cycles in place of 2050. A half
 *   would make the issue slots the limit. Expected: 0.3 to 0.6 us.
 * FLOW: in bigd_unfused products of outputs are awaited every 256 keys. A correction is rare, so the warpgroup asks for one by a
 *   vote beside its products, and goes on. All of it must agree: a product is one of four warps, from one place in the code. Expected:
 *   0.5 to 1 us.
 * LAG: the second warpgroup waits until LAG steps further on have been filled, so that it stays behind the first: the first then has
 *   its exponentials while the second multiplies. It takes a place of four from what is on its way. Expected: 1 us less to 1 more.
 * SOON: a place is free when its step is through, not one step later; both warpgroups take turns by that. Expected: 0.5 us less or more.
 * AHEAD: V of the first four steps, tensor maps and barriers come before the wait for the first launch. The launcher lets launches
 *   overlap by the line @ahead. A block of the second has no room before one of the first has ended. Expected: 1.5 to 2.5 us.
 * CLUSTER=1: meets nobody. It reads half as much again out of the L2 and was as fast at S=1024.
 * HIDE, POLY, FLOW and AHEAD: 58 to 59 us cold, 1.40 times cuBLAS. For 1.5 (55.5) another 3 us are missing: the ends of the last tiles, exposed in
 *   both launches, and 100 cycles a step over what products take.
 * Seen in the machine code (sm_90a, D=1024): no spills but 4 to 12 bytes with POLY=2 or LAG=2; no product serialised; in each of six
 *   places of a step (first, hidden, plain; both launches) four HGMMA between one ARRIVE and one DEPBAR. With SOON=1 the compiler puts a
 *   wait above the stores before it, so the steps beside which something leaves go as with SOON=0. */
