/* bigd_unfused.cu - heads of any width on tensor cores: two plain products, the weights between them in memory.
 *
 * @name      bigd_unfused
 * @title     Huge heads on Hopper: weights go through memory, and both products are tiles of 128 x 256
 * @idea      Fusion keeps O in registers while all keys go by. A wide head does not fit: bigd_split and bigd_rows divide it
 *            among blocks, which then send each other scores. But the wider the head, the smaller are the weights beside
 *            it: a row has Sk of them, and 4 D numbers of Q, K, V and O. So here a first launch writes the weights, a second
 *            multiplies them with V. Each is a product of matrices whose sums end in registers: nothing is exchanged,
 *            and a softmax is done once. A tile that has ended stays, rounded, in 48 registers and leaves beside the next one's
 *            products. Blocks of a cluster have other queries and the same keys: each fetches a part of K or V for all of them.
 * @after     bigd_rows
 * @unit      tensor
 * @dtypes    f16 bf16 parts=f32
 * @arch      90a
 * @requires  sm == 90 && D % 8 == 0 && (CLUSTER == 1 || CLUSTER == 2 || CLUSTER == 4)
 * @param     CLUSTER 1 [1..4]       blocks that share K and V
 * @param     BLOCKS 132 [4..1024]   blocks: the multiprocessors of the GPU
 * @threads   384
 * @grid      CLUSTER*min(floor(BLOCKS/CLUSTER),ceil(Sq/(128*CLUSTER))*ceil(Sk/256)*H*B)
 * @cluster   CLUSTER
 * @tma       Q box=128,64 swizzle=128  64 columns of the Q tile
 * @tma       K box=256/CLUSTER,64 swizzle=128  and of this block's part of the K tile
 * @smem      dynamic Left 4*128*128 align=1024 pitch=64 rows=128 swizzle=16  of Q, 64 columns each
 * @smem      dynamic Right 4*256*128 align=1024 pitch=64 rows=256 swizzle=16  of K
 * @smem      dynamic barriers 8*8 type=u64  who waits for what
 * @pass      outputs
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
 * @workspace exact   B*H*ceil(Sq/(128*CLUSTER))*128*CLUSTER*ceil(Sk/256)*4  and those of weights that are not yet rounded
 * @traffic   read B*H*(tiles(128*CLUSTER,256)*(128*CLUSTER*(D*T+8*ceil(D/256)+8)+256*D*T)
 *                 +tiles(128*CLUSTER,64)*ceil(D/256)*(128*CLUSTER+256)*64*T)
 *            write B*H*(tiles(128*CLUSTER,256)*128*CLUSTER*(256*T+12)+Sq*D*T)
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "hopper.cuh"
#include "send.cuh"

constexpr int CLUSTER = P_CLUSTER, STAGES = 4, STEP = 64; // STEP: of what a product sums over
constexpr int BR = 128, ROWS = BR * CLUSTER;              // queries of a block, and of a cluster
constexpr int BC = 256;                                   // keys, or columns of O, of a tile
constexpr int LEFT_BYTES = BR * SLICE_BYTES, RIGHT_BYTES = BC * SLICE_BYTES;
constexpr int WARPS = 8; // that multiply
// Of 8 parts of a tile that has ended: for what registers have room beside the next one's sums.
constexpr int KEPT = 6;
#if ATTN_PARTS_F32
constexpr bool KEEP_OUTPUTS = false; // registers have room for 16 bits of each
#else
constexpr bool KEEP_OUTPUTS = true;
#endif

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
    // What one row has of a tile of keys.
    __device__ long long at(int tile, int row) const
    {
        return first * key_tiles + tile * BR + row;
    }
    __device__ float *base(int tile, int row) const
    {
        return (float *)a.ws[WS_bases] + at(tile, row);
    }
    __device__ float *sum(int tile, int row) const
    {
        return (float *)a.ws[WS_sums] + at(tile, row);
    }
    __device__ float *exact(int tile, int row) const
    {
        return (float *)a.ws[WS_exact] + at(tile, row);
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

// ---- What leaves beside products -----------------------------------------------------------------

// Four lanes share a row and have 4 bytes in each of four 16-byte chunks of it: w[j] of lane i becomes w[i] of lane j, so that
// each has a chunk.
__device__ inline Words turn(const unsigned *words)
{
    unsigned w[4] = {words[0], words[1], words[2], words[3]};
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

// A part of a tile that has ended: 32 columns of a lane's two rows, four words of each.
constexpr int PARTS = BC / 32, PART = 8;

// Where parts of weights go, from where the first row lies: 64 bytes of each of 8 rows by one store of a warp, so whole
// sectors. Chunks change places as the copy engine would have them do.
struct WeightsPlace {
    unsigned char *to;

    __device__ void store(int part, const unsigned *w) const
    {
        const unsigned t = threadIdx.x % 4, row = threadIdx.x / 4 % 8; // row % 8, of both
#pragma unroll
        for (int r = 0; r < 2; r++)
            store_if(true,
                     to + part / 2 * LEFT_BYTES + r * 8 * SLICE_BYTES +
                         ((part % 2 * 4 + t) ^ row) * 16,
                     turn(w + 4 * r));
    }
};
// And of outputs, from this lane's first chunk of a row.
struct OutputsPlace {
    unsigned char *to;
    long long below; // bytes from there to the second row
    int columns[2];  // that each row has from there on

    __device__ void store(int part, const unsigned *w) const
    {
#pragma unroll
        for (int r = 0; r < 2; r++)
            store_if(part * 32 < columns[r], to + part * 32 * (int)sizeof(elem) + r * below,
                     turn(w + 4 * r));
    }
};

// The last KEPT parts of a tile, which leave one after the other, each beside a step of the next one.
template <typename To> struct Leaving {
    unsigned w[PART * KEPT]; // that of the part that is next stand first: one code for all
    int part = PARTS;        // that is next
    To place;

    __device__ bool any() const
    {
        return part < PARTS;
    }
    // Part i of a tile that ends: those come in order, and the first ones leave at once.
    __device__ void take(int i, const unsigned (&words)[PART])
    {
        part = PARTS - KEPT;
        if (i < PARTS - KEPT)
            place.store(i, words);
        else
#pragma unroll
            for (int j = 0; j < PART; j++)
                w[PART * (i - (PARTS - KEPT)) + j] = words[j];
    }
    __device__ void store_one()
    {
        place.store(part++, w);
#pragma unroll
        for (int i = 0; i < PART * (KEPT - 1); i++)
            w[i] = w[i + PART];
    }
    __device__ void store_rest()
    {
#pragma unroll 1
        while (any())
            store_one();
    }
};

// One more step, behind which the one before is awaited, and its place free.
template <bool SCORES>
__device__ inline Place multiply_next(Ring &ring, float (&c)[128], Place before)
{
    const Place p = multiply_step<SCORES>(ring, c, 1);
    await_all_but_one();
    ring.release(before);
    return p;
}
// `steps` of them; adds to c, or begins it. Beside each goes a part of what leaves.
template <bool SCORES, typename What>
__device__ inline void multiply_steps(Ring &ring, float (&c)[128], int steps, bool add,
                                      What &leaving)
{
    Place before = multiply_step<SCORES>(ring, c, add);
    int i = 1;
#pragma unroll 1
    for (; leaving.any() && i < steps; i++) {
        leaving.store_one();
        before = multiply_next<SCORES>(ring, c, before);
    }
#pragma unroll 1
    for (; i < steps; i++)
        before = multiply_next<SCORES>(ring, c, before);
    if (leaving.any())
        leaving.store_one();
    await_products<0>(c);
    ring.release(before);
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

// Scores of a lane's two rows become weights, of which `take` gets one part after the other. O is divided by the sum of what it
// is made of, rounded weights: a product with ones, of which a part is a left side as it is. LSE is of exact ones.
template <typename Take>
__device__ inline void make_weights(const Rows &rows, int tile, int row, const float (&s)[128],
                                    float scale_log2e, const Take &take)
{
    float m[2], from[2], rounded[4] = {}, exact[2] = {};
#pragma unroll
    for (int r = 0; r < 2; r++) {
        float top[2] = {NEG_INF, NEG_INF};
#pragma unroll
        for (int i = 0; i < 64; i++)
            top[i % 2] = fmaxf(top[i % 2], s[i / 2 * 4 + 2 * r + i % 2]);
        m[r] = warp_max<4>(fmaxf(top[0], top[1])); // four lanes share a row
        from[r] = m[r] == NEG_INF ? 0.f : floorf(m[r] * scale_log2e / GRID) * GRID;
    }
    const unsigned ones = pack(1.f, 1.f);
#pragma unroll
    for (int part = 0; part < PARTS; part++) {
        unsigned w[PART];
#pragma unroll
        for (int r = 0; r < 2; r++)
#pragma unroll
            for (int j = 0; j < 4; j++) {
                float p[2];
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    const float x = s[(part * 4 + j) * 4 + 2 * r + e] * scale_log2e - from[r];
                    p[e] = j == 0 ? exp2_by_multiply(x) : exp2_fast(x);
                    exact[r] += p[e];
                }
                w[4 * r + j] = pack(p[0], p[1]);
            }
#pragma unroll
        for (int j = 0; j < 4; j += 2) {
            const unsigned left[4] = {w[j], w[4 + j], w[j + 1], w[4 + j + 1]};
            multiply(rounded, left, ones, ones);
        }
        take(part, w);
    }
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const float all = warp_sum<4>(exact[r]);
        if (threadIdx.x % 4 == 0) {
            *rows.base(tile, row + 8 * r) = m[r] == NEG_INF ? NEG_INF : from[r];
            *rows.sum(tile, row + 8 * r) = rounded[2 * r];
            *rows.exact(tile, row + 8 * r) = all;
        }
    }
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1)
    bigd_unfused(const __grid_constant__ AttnArgs a, const __grid_constant__ TensorMap q_map,
                 const __grid_constant__ TensorMap k_map)
{
    Ring ring(*(Barriers *)(smem + SMEM_barriers), shared_address(smem + SMEM_Left),
              shared_address(smem + SMEM_Right));
    const int rank = cluster_rank();
    make_barriers(ring.bar);

    if (warpgroup_of_thread() == 2) { // the producer: one thread starts all copies
        keep_registers<40>();
        if (threadIdx.x == 256) {
            for (Work<true> w(a); w.more(); w.next()) {
                // Here, and not where it is used: behind each copy the compiler would divide again.
                constexpr int OWN = BC / CLUSTER; // keys that this block fetches
                const int q0 = w.q0() + rank * BR, k0 = w.part * BC + rank * OWN, columns = a.D;
                const int head = w.head(), batch = w.batch(), kv_head = head / (a.H / a.Hkv);
#pragma unroll 1
                for (int d = 0; d < columns; d += STEP) {
                    const Place p = ring.vacant();
                    MemoryBarrier *b = &ring.bar.here[p.slot];
                    fetch_box(ring.left + p.slot * LEFT_BYTES, q_map, d, q0, head, batch, b);
                    fetch_box_for_all(ring.right + p.slot * RIGHT_BYTES + rank * OWN * SLICE_BYTES,
                                      k_map, d, k0, kv_head, batch, b);
                }
            }
            ring.drain();
        }
    } else {
        take_registers<232>();
        const float scale_log2e = a.scale * 1.4426950408889634f; // exp(x) = 2^(x log2 e)
        Leaving<WeightsPlace> leaving;
        for (Work<true> w(a); w.more(); w.next()) {
            float s[128];
            multiply_steps<true>(ring, s, (a.D + STEP - 1) / STEP, false, leaving);
            leaving.store_rest();
            const int q0 = w.q0() + rank * BR, row = row_of_lane(q0, warpgroup_of_thread());
            if ((w.part + 1) * BC > visible_keys(a, q0))
                mask_scores(s, a, row, w.part * BC);
            const Rows rows(a, w.head(), w.batch(), q0);
            leaving.place.to = rows.weights(w.part * (BC / STEP)) + (row - q0) * SLICE_BYTES;
            if (w.last()) // nothing comes beside which they could leave
                make_weights(
                    rows, w.part, row - q0, s, scale_log2e,
                    [&](int i, const unsigned(&words)[PART]) { leaving.place.store(i, words); });
            else
                make_weights(rows, w.part, row - q0, s, scale_log2e,
                             [&](int i, const unsigned(&words)[PART]) { leaving.take(i, words); });
        }
    }
}

// ---- Second launch: outputs ----------------------------------------------------------------------

// What a row's O counts from, a power of 2, and the sum of its weights. The highest base of all that have come stays within
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

// LSE of row i of a block's queries.
__device__ inline void tell_lse(const Work<false> &w, int q0, int i)
{
    const AttnArgs &a = w.a;
    const Rows rows(a, w.head(), w.batch(), q0);
    OutputRow all;
#pragma unroll 1
    for (int tile = 0; tile < (w.keys() + BC - 1) / BC; tile++)
        all.take(*rows.base(tile, i), *rows.exact(tile, i));
    if (q0 + i < a.Sq)
        a.lse[((long long)w.batch() * a.H + w.head()) * a.Sq + q0 + i] =
            all.l == 0.f ? NEG_INF : all.base * 0.69314718055994531f + log_fast(all.l);
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS_outputs, 1)
    bigd_unfused_outputs(const __grid_constant__ AttnArgs a,
                         const __grid_constant__ TensorMap v_map)
{
    Ring ring(*(Barriers *)(smem + SMEM_barriers_outputs), shared_address(smem + SMEM_Left_outputs),
              shared_address(smem + SMEM_Right_outputs));
    const int rank = cluster_rank();
    make_barriers(ring.bar);

    if (warpgroup_of_thread() == 2) { // the producer
        keep_registers<40>();
        if (threadIdx.x == 256) {
            for (Work<false> w(a); w.more(); w.next()) {
                constexpr int OWN = BC / SLICE / CLUSTER; // slices that this block fetches
                const int head = w.head(), batch = w.batch(), kv_head = head / (a.H / a.Hkv);
                const int column = (w.part * (BC / SLICE) + rank * OWN) * SLICE;
                const int steps = (w.keys() + STEP - 1) / STEP;
                const unsigned char *weights = Rows(a, head, batch, w.q0() + rank * BR).weights(0);
#pragma unroll 1
                for (int j = 0; j < steps; j++, weights += LEFT_BYTES) {
                    const Place p = ring.vacant();
                    MemoryBarrier *b = &ring.bar.here[p.slot];
                    fetch_bytes(ring.left + p.slot * LEFT_BYTES, weights, LEFT_BYTES, b);
#pragma unroll
                    for (int i = 0; i < OWN; i++)
                        fetch_box_for_all(ring.right + p.slot * RIGHT_BYTES +
                                              (rank * OWN + i) * STEP * SLICE_BYTES,
                                          v_map, column + i * SLICE, j * STEP, kv_head, batch, b);
                }
            }
            ring.drain();
        } else if (threadIdx.x >= 288 && a.lse) // warps that have nothing else to do
            for (Work<false> w(a); w.more(); w.next())
#pragma unroll 1
                for (int i = threadIdx.x - 288; w.part == 0 && i < BR; i += 96)
                    tell_lse(w, w.q0() + rank * BR, i);
    } else {
        take_registers<232>();
        Leaving<OutputsPlace> leaving;
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
            look(0);
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
                multiply_steps<false>(ring, o, min(BC / STEP, steps - tile * (BC / STEP)), tile > 0,
                                      leaving);
            }
            leaving.store_rest();
            RowEnds ends;
#pragma unroll
            for (int r = 0; r < 2; r++)
                ends.inverse[r] = own[r].l == 0.f ? 0.f : inverse_fast(own[r].l);
            if (!KEEP_OUTPUTS || w.last())
                store_outputs(a, o, ends, row, w.head(), w.batch(), w.part * BC);
            else {
                const int first = w.part * BC + threadIdx.x % 4 * 8;
                leaving.place.to =
                    (unsigned char *)(a.o + w.batch() * a.o_stride[0] + w.head() * a.o_stride[1] +
                                      row * a.o_stride[2] + first);
                leaving.place.below = 8 * a.o_stride[2] * (long long)sizeof(elem);
#pragma unroll
                for (int r = 0; r < 2; r++)
                    leaving.place.columns[r] = row + 8 * r < a.Sq ? a.D - first : 0;
#pragma unroll
                for (int part = 0; part < PARTS; part++) {
                    unsigned words[PART];
#pragma unroll
                    for (int i = 0; i < PART; i++) {
                        const float *pair = o + (part * 4 + i % 4) * 4 + i / 4 * 2;
                        words[i] =
                            pack(pair[0] * ends.inverse[i / 4], pair[1] * ends.inverse[i / 4]);
                    }
                    leaving.take(part, words);
                }
            }
        }
    }
}

/* Cost: 2 Sk bytes a row are written, and read ceil(D / 256) times; the heads' own traffic is (CLUSTER 128 + 256) 2 D bytes a step
 *   of 64, for CLUSTER blocks at once. Per 64 columns (or keys) of a tile: products 1024 cycles, shared memory as many (640 read by
 *   wgmma, 384 written by TMA), and 48 KB a block out of the L2 (CLUSTER=2: 32); measured 1130. What is lost is what does not lie
 *   beside products: the beginning of each launch, and the ends of tiles. S=1024 D=1024, two tiles a block and launch, of 110200
 *   cycles: steps 2 x 16 x 1130 in each launch; the end of a tile of weights 6000 to 7000, of outputs about 4000; beginnings 9200.
 * Ends: 6 of 8 parts of a tile wait in registers, 8 words at a time leave behind a step's start, and the rest moves down: the code
 *   of a step stands there once, and stores have no branch. 7 parts spill in the second launch. A block's last tile has nothing
 *   beside it. A quarter of the exponentials is computed by multiply-adds beside the special function unit: 1500 cycles a tile for
 *   2050; with a half, issue slots are the limit.
 * Stores: by the threads that have the sums. Of an accumulator four lanes have 16 bytes of a row, half a sector; after two rounds
 *   of shuffles a lane has 16 bytes itself, and a store of a warp is 16 whole sectors. Through shared memory, and from there by the
 *   copy engine, asks for 128 KB more of shared memory a tile where that is full: 72.1 us.
 * Sums: a weight counts from a multiple of 2^8, so a row's largest is not exactly 1 and is rounded like the others. O is divided by
 *   the sum of rounded weights: a row with one key is that key's V, exactly. A warp needs 16 small products
 *   a tile for it. LSE is of the sums before rounding, else it were off by up to 2^-8 (bf16) in rows with a key or two; warps
 *   beside the producer, which are idle, tell it.
 * Producer: what a tile's copies have in common is computed once a tile. Behind an asm that may write memory the compiler loads H
 *   and divides again: two or three divisions a step, 140 instructions of one thread before each copy; now 50 to 90.
 * When fusion pays: a row's weights are 2 Sk bytes, what fusion reads again of K and V for a wide head is more, and at D=1024 no
 *   block has registers for 64 rows of O, so that scores are computed twice or exchanged.
 * Bases: rounded down to powers of 2^8, so that P lies in 1 .. 2^8 at a row's largest, and a correction is exact and rare.
 * Measured (H200, f16, B=1 H=8, us, graphs, one interleaved run, cold and hot; cuBLAS beside it): S=1024 D=1024 62.0, 63.0 (81.4, 83.1:
 *   1.31, 1.32 times); D=512 39.5, 40.1 (58.4, 59.0); S=4096 D=1024 778, 777 (1103, 1105). The text before, all at a tile's end:
 *   63.5, 64.8; 39.7, 40.3; 808. Of drafts: stores beside products 2.0, multiply-adds 0.7. bigd_split 96.9 at D=1024.
 * Lost, in us more of a draft that takes 67.8: the second warpgroup a step behind the first 2.2, places free before the next step
 *   0.5, clusters of two 0.9, half of the exponentials by multiply-adds 0.8; products of outputs that go on over tiles where no
 *   correction is due gain nothing (0.1). The second launch begun before the first has ended: 5.5.
 * Limits: memory grows with Sq Sk (16 MB at 8 heads of 1024 by 1024); causal tiles on the diagonal are computed whole; clusters
 *   of 4 fit 30 times, not 33, and their tiles of 512 queries deal badly. A NaN among the scores that multiply-adds
 *   raise counts as no weight, where the special function unit keeps it: who looks for one in his inputs takes another kernel.
 * Next: cuBLAS's two products alone, without a softmax, take 53.6 us at D=1024 (27.0 and 26.7), so 1.5 times its 83 would be
 *   1.04 times those. One launch that deals tiles of outputs behind those of scores is slower (66.0 us, kernels/hopper.md). */
