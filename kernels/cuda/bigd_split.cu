/* bigd_split.cu - heads of up to 1024 columns on tensor cores: warpgroups and blocks divide the columns.
 *
 * @name      bigd_split
 * @title     Huge heads on Hopper: two blocks divide the columns and send each other their part of the scores
 * @idea      64 queries by 256 columns of O fill the registers of a warpgroup; a wider head must be divided. Two blocks
 *            of a cluster take half of the columns of Q, K, V and O each: up to 512 columns a warpgroup has rows of
 *            its own, up to 1024 both have the same rows and half of the block's columns of O. A block's scores are
 *            parts of sums: it sends them to the other's shared memory by stores that a barrier there counts, so that
 *            nobody waits for a fence, and both do the same softmax. A part is on its way while the next scores
 *            and the outputs of the tile before are multiplied.
 * @after     bigd_cluster
 * @unit      tensor
 * @dtypes    f16 bf16 parts=f32
 * @arch      90a
 * @requires  sm == 90 && D <= 1024 && D % 8 == 0 && BC % 16 == 0
 * @param     BC 64 [32..64]              key rows per tile
 * @param     SLOTS 4 [4..12]           places in shared memory for a tile of K or V, or for half of it beyond D=512
 * @threads   384
 * @grid      ceil(Sq/(128/(1+(D>512))))*2 H B
 * @cluster   2
 * @tma       Q box=64,64 swizzle=128  copies of the Q tile
 * @tma       K box=BC,64 swizzle=128  and of K and V tiles
 * @tma       V box=BC,64 swizzle=128
 * @smem      dynamic Qs 128*ceil(D/(128*(1+(D>512))))*128
 *            align=1024 pitch=64 rows=64 swizzle=16  this block's columns of the Q tile, in slices of 64
 * @smem      dynamic Ring SLOTS*BC*ceil(D/(128*(1+(D>512))))*128
 *            align=1024 pitch=64 rows=BC swizzle=16  K and V tiles as they come, in slices of 64 columns
 * @smem      dynamic Parts 128/(1+(D>512))*BC*4 type=f32  the other block's part of the scores
 * @smem      dynamic barriers 8*(5+2*SLOTS) type=u64  who waits for what
 * @traffic   read B*H*(Sq*D*T+tiles(128/(1+(D>512)),BC)*2*BC*D*T) write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "hopper.cuh"
#include "send.cuh"

constexpr int BC = P_BC, SLOTS = P_SLOTS;
// Warpgroups that have the same rows and divide the block's columns of O, and groups with rows of their own.
constexpr int BLOCKS = 2, SHARERS = ATTN_D > 512 ? 2 : 1, GROUPS = 2 / SHARERS, BR = GROUPS * 64;
constexpr int PARTS = BLOCKS * SHARERS;
constexpr int WIDTH = (ATTN_D + 64 * PARTS - 1) / (64 * PARTS) * 64; // columns of a warpgroup
constexpr int OWN = SHARERS * WIDTH;                                 // and of a block
constexpr int SLOT_BYTES = BC * WIDTH * 2;
constexpr int WARPS = 8; // that multiply
static_assert(WIDTH <= 256, "a product has at most 256 columns");

struct Barriers {
    MemoryBarrier q_here, part_here[GROUPS], part_free[GROUPS], here[SLOTS], free[SLOTS];
};

// ---- The ring ------------------------------------------------------------------------------------

// Tiles come in the order in which they are read: K | K | K V | K V | ... V | V, WIDTH columns a slot. Of K both warpgroups
// read all slots; of V, where they share the rows, each its own.
struct Place {
    int slot = 0, parity = 0;
    __device__ Place next()
    {
        const Place here = *this;
        slot = slot + 1 == SLOTS ? 0 : slot + 1;
        parity ^= slot == 0;
        return here;
    }
};

// WIDTH columns from `column` on, of ROWS rows.
template <int ROWS>
__device__ inline void fetch_slices(unsigned to, const TensorMap &map, int column, int row,
                                    int head, int batch, MemoryBarrier *b)
{
#pragma unroll 1
    for (int c = 0; c < WIDTH / SLICE; c++)
        asm volatile(
            "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
            "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(to + c * ROWS * SLICE_BYTES),
            "l"(&map), "r"(column + c * SLICE), "r"(row), "r"(head), "r"(batch),
            "r"(shared_address(b))
            : "memory");
}

// What the one thread that starts copies knows.
struct Producer {
    Barriers &bar;
    unsigned ring;
    int first, head, batch; // column of the block
    Place at;

    __device__ void fetch(const TensorMap &map, int row)
    {
#pragma unroll 1
        for (int part = 0; part < SHARERS; part++) {
            const Place p = at.next();
            await(&bar.free[p.slot], p.parity ^ 1);
            expect_bytes(&bar.here[p.slot], SLOT_BYTES);
            fetch_slices<BC>(ring + p.slot * SLOT_BYTES, map, first + part * WIDTH, row, head,
                             batch, &bar.here[p.slot]);
        }
    }
};

// The warp has read what is in the slot.
__device__ inline void release(Barriers &bar, Place p)
{
    if (threadIdx.x % 32 == 0)
        arrive(&bar.free[p.slot]);
}

// ---- Products -------------------------------------------------------------------------------------

// S = Q K^T over WIDTH columns, or += over further ones. Q's slices have 64 rows each.
__device__ inline void start_scores(float (&s)[BC / 2], unsigned q_slices, unsigned k_slot,
                                    bool more)
{
    // Else all steps' addresses of Q wait in registers that O has none left of.
    asm volatile("" : "+r"(q_slices));
    const unsigned long long q = operand(q_slices, 64), k = operand(k_slot, BC);
#pragma unroll
    for (int d = 0; d < WIDTH / 16; d++) // 16 columns are 32 bytes; 4 such steps fill a slice
        multiply_shared(s, q + (d / 4 * 64 * SLICE_BYTES + d % 4 * 32) / 16,
                        k + (d / 4 * BC * SLICE_BYTES + d % 4 * 32) / 16, more || d > 0);
}
__device__ inline void start_outputs(float (&o)[WIDTH / 2], const unsigned (&p)[BC / 4],
                                     unsigned v_slot)
{
    const unsigned long long v = operand(v_slot, BC);
#pragma unroll
    for (int j = 0; j < BC / 16; j++)
        multiply_registers(o, p + 4 * j, v + j * 16 * SLICE_BYTES / 16);
}

// ---- Parts of scores --------------------------------------------------------------------------------

// A group's 64 rows have a part of their own. Where both warpgroups have the same rows each sends half of it.
constexpr int PART = 64 * BC;

struct Parts {
    Barriers &bar;
    int warpgroup, group, other; // other: the block's rank

    // Score i of every lane, to i + 3.
    __device__ float *place(int i) const
    {
        return (float *)(smem + SMEM_Parts) + group * PART + i * 128 + threadIdx.x % 128 * 4;
    }
    template <int from, int to> __device__ void send_some(const float (&s)[BC / 2]) const
    {
        const unsigned there = in_block(shared_address(place(0)), other);
        const unsigned barrier = in_block(shared_address(&bar.part_here[group]), other);
#pragma unroll
        for (int i = from; i < to; i += 4)
            send_there(there + i * 128 * 4, barrier, Four{s[i], s[i + 1], s[i + 2], s[i + 3]});
    }
    // Tile j's, once the other block has read that of the tile before.
    __device__ void send(const float (&s)[BC / 2], int j) const
    {
        if (threadIdx.x == (SHARERS == 1) * warpgroup * 128)
            expect_bytes(&bar.part_here[group], PART * 4);
        await(&bar.part_free[group], j % 2 ^ 1);
        if (SHARERS == 1)
            send_some<0, BC / 2>(s);
        else if (warpgroup == 0)
            send_some<0, BC / 4>(s);
        else
            send_some<BC / 4, BC / 2>(s);
    }
    // S += the other block's part. After the last tile it waits for no place, and may have ended.
    __device__ void add(float (&s)[BC / 2], int j, bool last) const
    {
        await(&bar.part_here[group], j % 2);
#pragma unroll
        for (int i = 0; i < BC / 2; i += 4) {
            const Four x = *(const Four *)place(i);
            for (int e = 0; e < 4; e++)
                s[i + e] += x.x[e];
        }
        __syncwarp();
        if (threadIdx.x % 32 == 0 && !last)
            arrive_there(in_block(shared_address(&bar.part_free[group]), other));
    }
};

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1)
    bigd_split(const __grid_constant__ AttnArgs a, const __grid_constant__ TensorMap q_map,
               const __grid_constant__ TensorMap k_map, const __grid_constant__ TensorMap v_map)
{
    Barriers &bar = *(Barriers *)(smem + SMEM_barriers);
    const unsigned Qs = shared_address(smem + SMEM_Qs), ring = shared_address(smem + SMEM_Ring);
    const int rank = cluster_rank();
    const int tile = blockIdx.x / BLOCKS, all = gridDim.x / BLOCKS;
    const int head = head_of_block(), batch = batch_of_block(), kv_head = head / (a.H / a.Hkv);
    const int q0 = (a.causal ? all - 1 - tile : tile) * BR; // the longest go first
    const int first = rank * OWN;                           // column
    const int tiles = (visible_keys_of_tile(a, q0, BR) + BC - 1) / BC;

    if (threadIdx.x == 0) {
        barrier_make(&bar.q_here, 1);
        for (int i = 0; i < GROUPS; i++) {
            barrier_make(&bar.part_here[i], 1);
            barrier_make(&bar.part_free[i], WARPS / GROUPS); // a lane of every warp arrives
        }
        for (int i = 0; i < SLOTS; i++) {
            barrier_make(&bar.here[i], 1);
            barrier_make(&bar.free[i], WARPS);
        }
        publish_barriers();
    }
    cluster_arrive_only();
    cluster_wait();

    if (warpgroup_of_thread() == 2) { // the producer: one thread starts all copies
        keep_registers<24>();
        if (threadIdx.x % 128 == 0 && tiles > 0) {
            expect_bytes(&bar.q_here, BR * OWN * 2);
#pragma unroll 1
            for (int i = 0; i < 2; i++) // 64 rows, WIDTH columns each
                fetch_slices<64>(Qs + i * 64 * WIDTH * 2, q_map, first + (SHARERS == 2) * i * WIDTH,
                                 q0 + (SHARERS == 1) * i * 64, head, batch, &bar.q_here);
            Producer out{bar, ring, first, kv_head, batch};
            for (int j = 0; j < tiles + 2; j++) {
                if (j < tiles)
                    out.fetch(k_map, j * BC);
                if (j >= 2)
                    out.fetch(v_map, (j - 2) * BC);
            }
        }
    } else {
        take_registers<240>();
        const int warpgroup = warpgroup_of_thread(), group = SHARERS == 1 ? warpgroup : 0;
        const int row0 = q0 + group * 64, row = row_of_lane(row0, 0);
        const Parts parts = {bar, warpgroup, group, rank ^ 1};
        const unsigned q_rows = Qs + group * 64 * WIDTH * 2;
        const float scale_log2e = a.scale * 1.4426950408889634f; // exp(x) = 2^(x log2 e)
        float o[WIDTH / 2] = {};                                 // not yet divided by l
        float s[BC / 2], next[BC / 2]; // own part of a tile's scores, later its exponentials; and of the next tile's
        unsigned p[BC / 4];
        SoftmaxRows rows;
        Place at, k[SHARERS], v[SHARERS];
        // A tile's scores, on their way; a group of products a slot.
        const auto begin_scores = [&](float(&to)[BC / 2]) {
#pragma unroll
            for (int i = 0; i < SHARERS; i++) {
                k[i] = at.next();
                await(&bar.here[k[i].slot], k[i].parity);
                begin_products();
                start_scores(to, q_rows + i * 64 * WIDTH * 2, ring + k[i].slot * SLOT_BYTES, i > 0);
                commit_products();
            }
        };
        const auto begin_outputs = [&] {
#pragma unroll
            for (int i = 0; i < SHARERS; i++)
                v[i] = at.next();
            const Place mine = SHARERS == 2 && warpgroup == 1 ? v[SHARERS - 1] : v[0];
            await(&bar.here[mine.slot], mine.parity);
            begin_products();
            start_outputs(o, p, ring + mine.slot * SLOT_BYTES);
        };
        // The other warpgroup's half, too, even before it has come: the K that was there has been read by it, as parts
        // of a later tile than that K's have been exchanged.
        const auto release_values = [&] {
#pragma unroll
            for (int i = 0; i < SHARERS; i++)
                release(bar, v[i]);
        };
        // Scores become exponentials: both parts, masked where the group's first row does not see the whole tile.
        const auto soften = [&](int j) {
            parts.add(s, j, j == tiles - 1);
            if ((j + 1) * BC > visible_keys(a, row0))
                mask_scores(s, a, row, j * BC);
            const bool outgrown = rows.update(s, scale_log2e);
            settle(s);
            settle(rows.l);
            return outgrown;
        };
        if (tiles > 0) {
            await(&bar.q_here, 0);
            begin_scores(s);
            await_products<0>(s);
#pragma unroll
            for (int i = 0; i < SHARERS; i++)
                release(bar, k[i]);
            parts.send(s, 0);

            // The softmax of tile j - 1 beside the scores of tile j and the outputs of tile j - 2.
            for (int j = 1; j < tiles; j++) {
                begin_scores(next);
                if (j > 1)
                    begin_outputs();
                commit_products(); // at first an empty group
                if (SHARERS == 2) { // half of the tile has been read: its place is wanted soon
                    await_products<2>(next);
                    release(bar, k[0]);
                }
                const bool outgrown = soften(j - 1);
                await_products<1>(next);
                release(bar, k[SHARERS - 1]);
                parts.send(next, j);
                await_products<0>(o);
                if (j > 1)
                    release_values();
                if (outgrown)
                    rows.correct(o);
                pack_scores(p, s);
#pragma unroll
                for (int i = 0; i < BC / 2; i++)
                    s[i] = next[i];
            }
            if (tiles > 1)
                begin_outputs();
            commit_products();
            const bool outgrown = soften(tiles - 1);
            await_products<0>(o);
            if (tiles > 1)
                release_values();
            if (outgrown)
                rows.correct(o);
            pack_scores(p, s);
            begin_outputs();
            commit_products();
            await_products<0>(o);
        }
        const RowEnds ends =
            end_rows(a, rows, row, head, batch, first == 0 && (SHARERS == 1 || warpgroup == 0));
        store_outputs(a, o, ends, row, head, batch, first + (SHARERS == 2) * warpgroup * WIDTH);
    }
}

/* Cost: at D <= 512 the two products that there are, for 128 queries by a block of two: K and V are read once for them,
 *   2 D BC elements a tile by both. Each block sends 32 KB of f32 a tile of 64 keys and gets as much. At D > 512 both
 *   warpgroups of a block compute the same scores: a product more, and half of the bytes sent.
 * Waits: a part is a trip to the neighbour (about 1 us) that a fence would double: a store and an arrival that releases
 *   it wait until all earlier stores of the thread are seen by the whole GPU (MEMBAR.ALL.GPU in SASS). Stores that the
 *   neighbour's barrier counts need none, and by the lookahead the trip lies behind the next tile's scores.
 * Registers: O 128, S 32 and 32, P 16 a thread; as fa3_warpspec, 168 at launch, then 24 and 240.
 * Measured (H200, f16, B=1 H=8, us, L2 hot, graphs, interleaved with cuBLAS, which is in brackets): S=1024 D=512 41.5 (59.9),
 *   S=4096 511 (779), causal 309 (712); S=1024 D=1024 102 (83.7), S=4096 D=1024 1327 (1117). cuBLAS is right at D=1024
 *   where its sums are told to stay in f32 (CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION), and takes no longer for it.
 *   Without the lookahead, of an earlier run, 42.3 for 39.3, S=4096 530 for 492, D=1024 107 for 104; with fences, and two
 *   blocks at D=1024 only, 44.5, 565, 147.
 * Limits: a ring of 128 KB beside Q and the parts holds two tiles at D=512, one at D=1024. Causal tiles on the diagonal
 *   are computed whole. Needs TMA, so D must be a multiple of 8; below D=257 half of what is loaded is zeros.
 * Next: bigd_rows, up to 512 columns, sends half of the parts and computes each exponential once. */
