/* bigd_split.cu - heads of up to 1024 columns on tensor cores: warpgroups and blocks divide the columns.
 *
 * @name      bigd_split
 * @title     Huge heads on Hopper: 256 columns of O a warpgroup, scores summed over two blocks
 * @idea      64 queries by 256 columns of O fill the registers of a warpgroup; a wider head must be divided. Up to
 *            512 columns the two warpgroups of a block take the same 64 queries and half of O's columns each.
 *            Both compute all scores: one product more, for which neither waits for the other. Up to 1024
 *            columns two blocks of a cluster take half of the columns of Q, K, V and O each. Their scores are
 *            parts of sums: each sends its part to the other's shared memory, and both do the same softmax,
 *            beside the P V of the tile before.
 * @after     bigd_cluster
 * @unit      tensor
 * @dtypes    f16 bf16
 * @arch      90a
 * @requires  sm == 90 && D <= 1024 && D % 8 == 0 && BC % 16 == 0
 * @param     BC 64 [32..64]              key rows per tile
 * @param     SLOTS (D<=512?5:4) [4..12]  places in shared memory for a tile of K or V, or for half of it beyond D=256
 * @threads   384
 * @grid      ceil(Sq/(128/(1+(D>256))))*(1+(D>512)) H B
 * @cluster   1+(D>512)
 * @tma       Q box=64,64 swizzle=128  copies of the Q tile
 * @tma       K box=BC,64 swizzle=128  and of K and V tiles
 * @tma       V box=BC,64 swizzle=128
 * @smem      dynamic Qs 128*ceil(D/(64*(1+(D>256)+2*(D>512))))*128
 *            align=1024 pitch=64 rows=64 swizzle=16  this block's columns of the Q tile, in slices of 64
 * @smem      dynamic Ring SLOTS*BC*ceil(D/(64*(1+(D>256)+2*(D>512))))*128
 *            align=1024 pitch=64 rows=BC swizzle=16  K and V tiles as they come, in slices of 64 columns
 * @smem      dynamic Parts (D>512)*64*BC*4 type=f32  the other block's part of the scores
 * @smem      dynamic barriers 8*(3+2*SLOTS) type=u64  who waits for what
 * @traffic   read B*H*(Sq*D*T+tiles(128/(1+(D>256)),BC)*2*BC*D*T) write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "cluster.cuh"
#include "hopper.cuh"

constexpr int BC = P_BC, SLOTS = P_SLOTS;
// Warpgroups that have the same rows and divide the columns of O, and blocks that divide all columns.
constexpr int SHARERS = ATTN_D > 256 ? 2 : 1, BLOCKS = ATTN_D > 512 ? 2 : 1;
constexpr int GROUPS = 2 / SHARERS, BR = GROUPS * 64;
constexpr int PARTS = BLOCKS * SHARERS;
constexpr int WIDTH = (ATTN_D + 64 * PARTS - 1) / (64 * PARTS) * 64; // columns of a warpgroup
constexpr int OWN = SHARERS * WIDTH;                                 // and of a block
constexpr int SLOT_BYTES = BC * WIDTH * 2;
constexpr int WARPS = 8; // that multiply
static_assert(WIDTH <= 256, "a product has at most 256 columns");

struct Barriers {
    MemoryBarrier q_here, part_here, part_free, here[SLOTS], free[SLOTS];
};

// ---- The ring ------------------------------------------------------------------------------------

// Tiles come in the order in which they are read: K | K V | K V | ... V, WIDTH columns a slot. Of K both warpgroups
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

// A phase of another block's barrier; what the warp did before is seen there after it.
__device__ inline void arrive_in(const MemoryBarrier *b, int rank)
{
    __syncwarp();
    if (threadIdx.x % 32 == 0)
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
                         in_block(shared_address(b), rank))
                     : "memory");
}
// As await(), for what another block has done.
__device__ inline void await_there(const MemoryBarrier *b, int parity)
{
    asm volatile("{ .reg .pred done;\n"
                 "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again; }" ::"r"(shared_address(b)),
                 "r"(parity)
                 : "memory");
}

// Scores first .. first + BC / 4 - 1 of every lane, to the same lanes of the other block.
template <int first>
__device__ inline void send_half(const float (&s)[BC / 2], const float *parts, int other)
{
    const unsigned there = in_block(shared_address(parts + threadIdx.x % 128 * 4), other);
#pragma unroll
    for (int i = first; i < first + BC / 4; i += 4)
        asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(there + i * 128 * 4),
                     "f"(s[i]), "f"(s[i + 1]), "f"(s[i + 2]), "f"(s[i + 3])
                     : "memory");
}
// S += the other block's part. Both warpgroups have the same part: each sends half of it.
__device__ inline void add_other_part(float (&s)[BC / 2], Barriers &bar, const float *parts,
                                      int warpgroup, int rank, int parity)
{
    const int other = rank ^ 1;
    await_there(&bar.part_free, parity ^ 1); // it has read the part before
    if (warpgroup == 0)
        send_half<0>(s, parts, other);
    else
        send_half<BC / 4>(s, parts, other);
    arrive_in(&bar.part_here, other);
    await_there(&bar.part_here, parity);
#pragma unroll
    for (int i = 0; i < BC / 2; i += 4) {
        const Four x = *(const Four *)(parts + i * 128 + threadIdx.x % 128 * 4);
        for (int e = 0; e < 4; e++)
            s[i + e] += x.x[e];
    }
    arrive_in(&bar.part_free, other);
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1)
    bigd_split(const __grid_constant__ AttnArgs a, const __grid_constant__ TensorMap q_map,
               const __grid_constant__ TensorMap k_map, const __grid_constant__ TensorMap v_map)
{
    Barriers &bar = *(Barriers *)(smem + SMEM_barriers);
    const unsigned Qs = shared_address(smem + SMEM_Qs), ring = shared_address(smem + SMEM_Ring);
    const int rank = BLOCKS == 1 ? 0 : cluster_rank();
    const int tile = blockIdx.x / BLOCKS, all = gridDim.x / BLOCKS;
    const int head = head_of_block(), batch = batch_of_block(), kv_head = head / (a.H / a.Hkv);
    const int q0 = (a.causal ? all - 1 - tile : tile) * BR; // the longest go first
    const int first = rank * OWN;                           // column
    const int tiles = (visible_keys_of_tile(a, q0, BR) + BC - 1) / BC;

    if (threadIdx.x == 0) {
        barrier_make(&bar.q_here, 1);
        barrier_make(&bar.part_here, WARPS); // a lane of every warp arrives
        barrier_make(&bar.part_free, WARPS);
        for (int i = 0; i < SLOTS; i++) {
            barrier_make(&bar.here[i], 1);
            barrier_make(&bar.free[i], WARPS);
        }
        publish_barriers();
    }
    if (BLOCKS == 2) {
        cluster_arrive();
        cluster_wait();
    } else {
        __syncthreads();
    }

    if (warpgroup_of_thread() == 2) { // the producer: one thread starts all copies
        keep_registers<24>();
        if (threadIdx.x % 128 == 0 && tiles > 0) {
            expect_bytes(&bar.q_here, BR * OWN * 2);
#pragma unroll 1
            for (int i = 0; i < 2; i++) // 64 rows, WIDTH columns each
                fetch_slices<64>(Qs + i * 64 * WIDTH * 2, q_map, first + (SHARERS == 2) * i * WIDTH,
                                 q0 + (SHARERS == 1) * i * 64, head, batch, &bar.q_here);
            Producer out{bar, ring, first, kv_head, batch};
            out.fetch(k_map, 0);
            for (int j = 1; j < tiles; j++) {
                out.fetch(k_map, j * BC);
                out.fetch(v_map, (j - 1) * BC);
            }
            out.fetch(v_map, (tiles - 1) * BC);
        }
    } else {
        take_registers<240>();
        const int warpgroup = warpgroup_of_thread(), group = SHARERS == 1 ? warpgroup : 0;
        const int row0 = q0 + group * 64, row = row_of_lane(row0, 0);
        const float *parts = (const float *)(smem + SMEM_Parts);
        const unsigned q_rows = Qs + group * 64 * WIDTH * 2;
        const float scale_log2e = a.scale * 1.4426950408889634f; // exp(x) = 2^(x log2 e)
        float o[WIDTH / 2] = {};                                 // not yet divided by l
        float s[BC / 2];
        unsigned p[BC / 4];
        SoftmaxRows rows;
        Place at, k[SHARERS], v[SHARERS];
        // The next tile's scores, on their way; a group of products a slot.
        const auto begin_scores = [&] {
#pragma unroll
            for (int i = 0; i < SHARERS; i++) {
                k[i] = at.next();
                await(&bar.here[k[i].slot], k[i].parity);
                begin_products();
                start_scores(s, q_rows + i * 64 * WIDTH * 2, ring + k[i].slot * SLOT_BYTES, i > 0);
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
            commit_products();
        };
        // Scores have come: whole, and masked where the group's first row does not see the whole tile.
        const auto complete_scores = [&](int j) {
            if (BLOCKS == 2)
                add_other_part(s, bar, parts, warpgroup, rank, j % 2);
            if ((j + 1) * BC > visible_keys(a, row0))
                mask_scores(s, a, row, j * BC);
        };
        if (tiles > 0) {
            await(&bar.q_here, 0);
            begin_scores();
            await_products<0>(s);
#pragma unroll
            for (int i = 0; i < SHARERS; i++)
                release(bar, k[i]);
            complete_scores(0);
            rows.update(s, scale_log2e);
            pack_scores(p, s);

            for (int j = 1; j < tiles; j++) {
                begin_scores();
                begin_outputs();
                if (SHARERS == 2) {
                    await_products<2>(s);
                    release(bar, k[0]);
                }
                await_products<1>(s);
                release(bar, k[SHARERS - 1]);
                complete_scores(j);
                const bool outgrown = rows.update(s, scale_log2e);
                settle(s);
                settle(rows.l);
                await_products<0>(o);
#pragma unroll
                for (int i = 0; i < SHARERS; i++) {
                    // The other warpgroup's, too: a slot that is not filled yet may still be its K's.
                    await(&bar.here[v[i].slot], v[i].parity);
                    release(bar, v[i]);
                }
                if (outgrown)
                    rows.correct(o);
                pack_scores(p, s);
            }
            begin_outputs();
            await_products<0>(o);
        }
        const RowEnds ends =
            end_rows(a, rows, row, head, batch, first == 0 && (SHARERS == 1 || warpgroup == 0));
        store_outputs(a, o, ends, row, head, batch, first + (SHARERS == 2) * warpgroup * WIDTH);
    }
    if (BLOCKS == 2) { // nobody leaves while the other may still reach into its shared memory
        __syncwarp();
        cluster_arrive();
        cluster_wait();
    }
}

/* Cost: at D <= 512 three products of 64 x BC x D for the two that there are, as both warpgroups compute all scores;
 *   K and V are read once for 64 queries, 2 D BC elements a tile: 272 MB at S=1024 H=8 D=512, of which the L2 cache
 *   gave 6.3 TB/s. A tile of 64 keys is 128 KB and Q 64 KB, so the ring holds little more than one tile: K's halves
 *   are given free one by one, as soon as the products that read them are through.
 * Registers: O 128, S 32, P 16 a thread; as fa3_warpspec, 168 at launch, then 24 and 240.
 * Measured (H200, f16, B=1 H=8, us, L2 hot, graphs; cuBLAS, the best of PyTorch's backends): S=1024 D=512 43 (60, 126),
 *   S=4096 545 (776, 1794), S=1024 D=1024 145 (fails its check, 288). With K's halves given free together 60 at D=512.
 * Limits: at D=1024 each multiprocessor sends 16 KB of f32 a tile to its neighbour, and waits for as much: 237 TFLOP/s
 *   for 397. Causal tiles on the diagonal are computed whole. Needs TMA, so D must be a multiple of 8.
 *   Where each warpgroup computes the scores of its own columns only, and gets the others' through shared memory, so
 *   that no score is computed twice, it takes as long (43 for 42, at S=4096 532 for 537): products are not what it waits for.
 * Next: not written yet: query tiles that share K and V by multicast, now that places are given free early. */
