/* fa3_persistent.cu - a block a multiprocessor, and a pipeline that never runs empty.
 *
 * @name      fa3_persistent
 * @title     Hopper: blocks that stay, one pipeline over all their query tiles
 * @idea      As many blocks as multiprocessors, each with a list of query tiles. The first scores
 *            of a tile are just the next product after the last of the tile before, so copies,
 *            products and softmax go on across the border, and O is written while others multiply.
 *            When causal, the longest tiles are dealt first, back and forth, so that all blocks
 *            end together, and a warpgroup passes by key tiles that only the others' rows see.
 * @after     fa3_overlap
 * @unit      tensor
 * @dtypes    f16 bf16 parts=f32
 * @arch      90a
 * @requires  sm == 90 && D <= 256 && D % 8 == 0 && BR % 64 == 0 && BC % 16 == 0
 *            && (BR < 192 || D <= 64 && BC <= 128)
 * @param     BR (D<=64?192:128) [64..192]  query rows per tile, 64 a warpgroup
 * @param     BC 128 [64..176]       key rows per tile; beyond D=128 at most 80
 * @param     STAGES (D<=64?3:2) [2..4]     tiles of K, and of V, in shared memory
 * @param     BLOCKS 132 [1..1024]   blocks: the multiprocessors of the GPU
 * @threads   BR*2+128
 * @grid      min(BLOCKS,ceil(Sq/BR)*H*B)
 * @tma       Q box=BR,D swizzle=128                           copies of the Q tile
 * @tma       K box=min(BC,192-112*(D>128)),D swizzle=128      and of K and V tiles
 * @tma       V box=min(BC,192-112*(D>128)),D swizzle=128
 * @smem      dynamic Qs (1+(D<=128))*BR*ceil(D/64)*128
 *            align=1024 pitch=64 rows=BR swizzle=16  Q tiles, in slices of 64 columns
 * @smem      dynamic Ks STAGES*min(BC,192-112*(D>128))*ceil(D/64)*128
 *            align=1024 pitch=64 rows=min(BC,192-112*(D>128)) swizzle=16  K tiles
 * @smem      dynamic Vs STAGES*min(BC,192-112*(D>128))*ceil(D/64)*128
 *            align=1024 pitch=64 rows=min(BC,192-112*(D>128)) swizzle=16  V tiles
 * @smem      dynamic barriers 8*(2*(1+(D<=128))+4*STAGES)+16*(1+(D<=128)) type=u64  who waits for what,
 *            and which tiles are on
 * @traffic   read B*H*(Sq*D*T+tiles(BR,min(BC,192-112*(D>128)))*2*min(BC,192-112*(D>128))*D*T)
 *            write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "hopper.cuh"

constexpr int BR = P_BR, BC = ATTN_D > 128 && P_BC > 80 ? 80 : P_BC, STAGES = P_STAGES;
constexpr int Q_STAGES = 1 + (ATTN_D <= 128);
constexpr long long L2_BYTES = 32 << 20; // of K and V that stay in the cache
constexpr int CONSUMERS = BR / 64;       // warpgroups that multiply
// The scores of a key tile are started beside P V of the one before, so K falls free before that V does. Who
// asks for V in front of the K that follows waits with both. At D=64, with three stages, it does not pay.
constexpr bool K_FIRST = ATTN_D > 64;

// A query tile of the launch: first row, and number of key tiles.
struct Tile {
    int head, batch, q0, n;
};

struct Shared {
    MemoryBarrier q_here[Q_STAGES], q_free[Q_STAGES];
    MemoryBarrier k_here[STAGES], v_here[STAGES], k_free[STAGES], v_free[STAGES];
    Tile tile[Q_STAGES]; // the one whose Q is there; n = 0: there are no more
};

// All query tiles of the launch, dealt to the blocks like cards. When causal, those that see the most keys
// come first, and every other deal goes round backwards, so that all blocks end together. A pack of cards
// is the heads whose K and V lie in the L2 cache side by side.
struct Deck {
    int q_tiles, heads, pack, deals; // pack: of so many heads; deals: a pack's
    int deal = 0;

    __device__ Deck(const AttnArgs &a)
    {
        q_tiles = (a.Sq + BR - 1) / BR;
        heads = pack = a.B * a.H;
        if (a.causal)
            pack = (int)min((long long)pack, max(1ll, (L2_BYTES) / ((long long)a.Sk * a.D * 4)));
        deals = (pack * q_tiles + gridDim.x - 1) / gridDim.x;
    }
    // This block's next tile that has keys; n = 0 when there is none.
    __device__ Tile next(const AttnArgs &a)
    {
        for (;; deal++) {
            const int first = deal / deals * pack,
                      size = min(pack, heads - first); // heads of this pack
            if (size <= 0)
                return {0, 0, 0, 0};
            const int card =
                deal % deals * gridDim.x + (deal % 2 ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
            const int q0 = (a.causal ? q_tiles - 1 - card / size : card % q_tiles) * BR;
            const int n =
                card < size * q_tiles ? (visible_keys_of_tile(a, q0, BR) + BC - 1) / BC : 0;
            if (n > 0) {
                deal++;
                const int h =
                    first + (a.causal ? card % size : card / q_tiles); // counted over all batches
                return {h % a.H, h / a.H, q0, n};
            }
        }
    }
};

// The key tiles of t that this warpgroup's rows see, 1 at least; the others' rows may see one more.
__device__ inline int own_tiles(const AttnArgs &a, Tile t, int warpgroup)
{
    if (!a.causal || BC < BR - 64) // it might be more than one
        return t.n;
    return max(1, (visible_keys_of_tile(a, t.q0 + warpgroup * 64, 64) + BC - 1) / BC);
}
// For all lanes, read by the one that says later that it may be overwritten.
__device__ inline Tile read_tile(const Tile &shared)
{
    Tile t = {};
    if (threadIdx.x % 32 == 0)
        t = shared;
    return {__shfl_sync(FULL_WARP, t.head, 0), __shfl_sync(FULL_WARP, t.batch, 0),
            __shfl_sync(FULL_WARP, t.q0, 0), __shfl_sync(FULL_WARP, t.n, 0)};
}
__device__ inline RowEnds end(const AttnArgs &a, const SoftmaxRows &rows, Tile t, int warpgroup)
{
    return end_rows(a, rows, row_of_lane(t.q0, warpgroup), t.head, t.batch);
}
__device__ inline void store(const AttnArgs &a, const float (&o)[COLUMNS / 2], RowEnds ends, Tile t,
                             int warpgroup)
{
    store_outputs(a, o, ends, row_of_lane(t.q0, warpgroup), t.head, t.batch);
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1)
    fa3_persistent(const __grid_constant__ AttnArgs a, const __grid_constant__ TensorMap q_map,
                   const __grid_constant__ TensorMap k_map, const __grid_constant__ TensorMap v_map)
{
    Shared &sh = *(Shared *)(smem + SMEM_barriers);
    const unsigned Qs = shared_address(smem + SMEM_Qs), Ks = shared_address(smem + SMEM_Ks);
    const unsigned Vs = shared_address(smem + SMEM_Vs);

    if (threadIdx.x == 0) {
        for (int i = 0; i < Q_STAGES; i++) {
            barrier_make(&sh.q_here[i], 1);
            barrier_make(&sh.q_free[i], CONSUMERS * 4);
        }
        for (int i = 0; i < STAGES; i++) {
            barrier_make(&sh.k_here[i], 1);
            barrier_make(&sh.v_here[i], 1);
            barrier_make(&sh.k_free[i], CONSUMERS * 4); // a lane of every warp arrives
            barrier_make(&sh.v_free[i], CONSUMERS * 4);
        }
        publish_barriers();
    }
    __syncthreads();

    if (warpgroup_of_thread() == CONSUMERS) { // the producer: one thread starts all copies
        keep_registers<BR == 192 ? 32 : 24>();
        if (threadIdx.x % 128 == 0) {
            Deck deck(a);
            Tile of = {}; // of the key tile before
            int q_use = 0, use = 0;
            auto fetch_v = [&](Tile t, int j, int use) {
                const int stage = use % STAGES;
                await(&sh.v_free[stage], use / STAGES % 2 ^ 1);
                fetch_tile<BC>(Vs + stage * BC * TILE_ROW, v_map, j * BC, t.head / (a.H / a.Hkv),
                               t.batch, &sh.v_here[stage]);
            };
            for (;; q_use++) {
                const Tile t = deck.next(a);
                const int q_stage = q_use % Q_STAGES;
                await(&sh.q_free[q_stage], q_use / Q_STAGES % 2 ^ 1);
                sh.tile[q_stage] = t;
                if (t.n == 0)
                    break;
                fetch_tile<BR>(Qs + q_stage * BR * TILE_ROW, q_map, t.q0, t.head, t.batch,
                               &sh.q_here[q_stage]);
                for (int j = 0; j < t.n; j++, use++) {
                    const int stage = use % STAGES;
                    await(&sh.k_free[stage], use / STAGES % 2 ^ 1);
                    fetch_tile<BC>(Ks + stage * BC * TILE_ROW, k_map, j * BC,
                                   t.head / (a.H / a.Hkv), t.batch, &sh.k_here[stage]);
                    if (!K_FIRST)
                        fetch_v(t, j, use);
                    else if (use > 0)
                        fetch_v(of, j > 0 ? j - 1 : of.n - 1, use - 1);
                    of = t;
                }
            }
            if (K_FIRST && use > 0)
                fetch_v(of, of.n - 1, use - 1);
            arrive(&sh.q_here[q_use % Q_STAGES]); // with a tile of n = 0
        }
    } else {
        take_registers<BR == 192 ? 160 : 240>();
        const int warpgroup = warpgroup_of_thread();
        const unsigned q_rows = Qs + warpgroup * 64 * SLICE_BYTES;
        const float scale_log2e = a.scale * 1.4426950408889634f; // exp(x) = 2^(x log2 e)
        float o[COLUMNS / 2] = {};                               // not yet divided by l
        float s[BC / 2];
        unsigned p[BC / 4];
        SoftmaxRows rows;
        if (a.causal) { // tiles without keys
            const int empty = max(a.Sq - a.Sk, 0) / BR;
            for (int w = blockIdx.x; w < empty * a.H * a.B; w += gridDim.x) {
                const Tile t = {w / empty % a.H, w / empty / a.H, w % empty * BR, 0};
                store(a, o, end(a, rows, t, warpgroup), t, warpgroup);
            }
        }

        await(&sh.q_here[0], 0);
        Tile t = read_tile(sh.tile[0]);
        if (t.n == 0)
            return;
        int n = own_tiles(a, t, warpgroup);
        // The first scores of all have nothing to run beside.
        await(&sh.k_here[0], 0);
        begin_products();
        start_scores<BR, BC>(s, q_rows, Ks);
        commit_products();
        await_products<0>(s);
        if (threadIdx.x % 32 == 0) {
            arrive(&sh.k_free[0]);
            if (n == 1)
                arrive(&sh.q_free[0]);
        }
        if (BC > visible_keys(a, t.q0 + warpgroup * 64))
            mask_scores(s, a, row_of_lane(t.q0, warpgroup), 0);
        rows.update(s, scale_log2e);
        pack_scores(p, s);

        // From here on P of one key tile waits for its V, and j is the key tile after it.
        int q_use = 0, use = 0;
        int pending, pending_parity;
        Tile of = t; // whose outputs o are
        for (int j = 1;; j++) {
            const bool ends = j == n;
            const int before = use % STAGES, parity_v = use / STAGES % 2; // of V
            if (ends) {
                if (n < t.n) { // pass one by
                    use++;
                    await(&sh.k_here[use % STAGES], use / STAGES % 2);
                    await(&sh.v_here[use % STAGES], use / STAGES % 2);
                    if (threadIdx.x % 32 == 0) {
                        arrive(&sh.k_free[use % STAGES]);
                        arrive(&sh.v_free[use % STAGES]);
                    }
                }
                q_use++;
                await(&sh.q_here[q_use % Q_STAGES], q_use / Q_STAGES % 2);
                t = read_tile(sh.tile[q_use % Q_STAGES]);
                if (t.n == 0) {
                    pending = before, pending_parity = parity_v;
                    break;
                }
                j = 0;
                n = own_tiles(a, t, warpgroup);
            }
            use++;
            const int stage = use % STAGES; // of K
            await(&sh.k_here[stage], use / STAGES % 2);
            begin_products();
            start_scores<BR, BC>(s, q_rows + q_use % Q_STAGES * BR * TILE_ROW,
                                 Ks + stage * BC * TILE_ROW);
            commit_products();
            await(&sh.v_here[before], parity_v);
            begin_products();
            start_outputs<BC>(o, p, Vs + before * BC * TILE_ROW);
            commit_products();

            RowEnds row_ends;
            if (ends) {
                row_ends = end(a, rows, of, warpgroup);
                rows = SoftmaxRows();
            }
            await_products<1>(s);
            if (threadIdx.x % 32 == 0) {
                arrive(&sh.k_free[stage]);
                if (j == n - 1)
                    arrive(&sh.q_free[q_use % Q_STAGES]);
            }
            if ((j + 1) * BC > visible_keys(a, t.q0 + warpgroup * 64))
                mask_scores(s, a, row_of_lane(t.q0, warpgroup), j * BC);
            const bool outgrown = rows.update(s, scale_log2e);
            settle(s);
            settle(rows.l);
            if (!ends && j + 1 < n) // the compiler moves nothing of the softmax behind this
                await(&sh.k_here[(use + 1) % STAGES], (use + 1) / STAGES % 2);
            await_products<0>(o);
            if (threadIdx.x % 32 == 0)
                arrive(&sh.v_free[before]);
            pack_scores(p, s);
            if (ends) {
                store(a, o, row_ends, of, warpgroup);
#pragma unroll
                for (int i = 0; i < COLUMNS / 2; i++)
                    o[i] = 0.f;
                of = t;
            } else if (outgrown)
                rows.correct(o);
        }
        await(&sh.v_here[pending], pending_parity);
        begin_products();
        start_outputs<BC>(o, p, Vs + pending * BC * TILE_ROW);
        commit_products();
        await_products<0>(o);
        store(a, o, end(a, rows, of, warpgroup), of, warpgroup);
    }
}

/* The producer deals: it knows the next tile, writes its place beside the barriers before it asks
 *   for Q, and the consumers learn it with Q. Up to D=128 there are two Q tiles, so that the next
 *   is there in time. From D=80 on it asks in the order in which tiles fall free, K first.
 * Cost: as fa3_overlap, without a prologue and an epilogue for each tile: of 5 steps at S=512 (4
 *   key tiles) one is saved.
 * Measured (H200, f16, H=16, B*S=16k, D=128, TFLOP/s): S=512 503 (fa3_overlap 421), causal 309
 *   (268); S=4096 651 (652), causal 610 (577). K first is worth 1.17 at S=512, 1.06 at S=2048 and
 *   1.03 at S=4096; at D=256 1.04 at S=512 and 3 per cent either way beyond; at D=64, with three
 *   consumers and three stages, it costs a fifth without a mask. BR=192 STAGES=3, the default at
 *   D=64, is worth 1.14 there over BR=128 STAGES=2 (S=4096).
 * Limits: the lists are made for BLOCKS blocks that all run at once. Otherwise as fa3_wgmma;
 *   registers as fa3_warpspec.
 * Next: not written yet: a cluster of two blocks that share each K/V tile (multicast), O by the
 *   copy engine. What was tried and lost: kernels/hopper.md. */
