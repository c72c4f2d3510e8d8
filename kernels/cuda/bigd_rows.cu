/* bigd_rows.cu - heads of up to 512 columns on tensor cores: each of two blocks does the softmax of half of the rows.
 *
 * @name      bigd_rows
 * @title     Huge heads on Hopper: two blocks divide the columns, and the rows of the softmax
 * @idea      In bigd_split both blocks send all of their part of the scores and do the same softmax. Here a block owns one of
 *            every lane's two rows: it gets the other's part of that row, does its softmax and sends back the weights, half
 *            as wide as scores. So half of the parts travel, and each exponential is computed once. Two trips stand behind a
 *            tile's scores in place of one: both lie behind the products of later tiles.
 * @after     bigd_split
 * @unit      tensor
 * @dtypes    f16 bf16 parts=f32
 * @arch      90a
 * @requires  sm == 90 && D <= 512 && D % 8 == 0 && BC % 32 == 0
 * @param     BC 64 [32..64]              key rows per tile
 * @param     SLOTS 4 [4..12]           places in shared memory for a tile of K or V
 * @threads   384
 * @grid      ceil(Sq/128)*2 H B
 * @cluster   2
 * @tma       Q box=64,64 swizzle=128  copies of the Q tile
 * @tma       K box=BC,64 swizzle=128  and of K and V tiles
 * @tma       V box=BC,64 swizzle=128
 * @smem      dynamic Qs 128*ceil(D/128)*128 align=1024 pitch=64 rows=64 swizzle=16  this block's columns of the Q tile, in slices of 64
 * @smem      dynamic Ring SLOTS*BC*ceil(D/128)*128
 *            align=1024 pitch=64 rows=BC swizzle=16  K and V tiles as they come, in slices of 64 columns
 * @smem      dynamic Parts 64*BC*4 type=f32  the other block's part of this block's rows
 * @smem      dynamic Weights 2*64*BC*2  the other block's weights of its rows, of two tiles
 * @smem      dynamic Bases 2*256*4 type=f32  and what they count from; at the end what its rows are divided by
 * @smem      dynamic barriers 8*(14+2*SLOTS) type=u64  who waits for what
 * @traffic   read B*H*(Sq*D*T+tiles(128,BC)*2*BC*D*T) write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "hopper.cuh"
#include "send.cuh"

constexpr int BC = P_BC, SLOTS = P_SLOTS;
constexpr int BLOCKS = 2, GROUPS = 2, BR = GROUPS * 64;
constexpr int WIDTH = (ATTN_D + 64 * BLOCKS - 1) / (64 * BLOCKS) * 64; // columns of a block
constexpr int SLOT_BYTES = BC * WIDTH * 2;
constexpr int WARPS = 8; // that multiply
static_assert(WIDTH <= 256, "a product has at most 256 columns");

struct Barriers {
    MemoryBarrier q_here[GROUPS], part_here[GROUPS], part_free[GROUPS], here[SLOTS], free[SLOTS];
    MemoryBarrier weights_here[2][GROUPS], weights_free[2][GROUPS]; // of even and of odd tiles
};

// ---- The ring ------------------------------------------------------------------------------------

// Tiles come in the order in which they are read: K | K | K | K V | K V | ... V | V | V.
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

// The block's columns of ROWS rows.
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
        const Place p = at.next();
        await(&bar.free[p.slot], p.parity ^ 1);
        expect_bytes(&bar.here[p.slot], SLOT_BYTES);
        fetch_slices<BC>(ring + p.slot * SLOT_BYTES, map, first, row, head, batch,
                         &bar.here[p.slot]);
    }
};

// The warp has read what is in the slot.
__device__ inline void release(Barriers &bar, Place p)
{
    if (threadIdx.x % 32 == 0)
        arrive(&bar.free[p.slot]);
}

// ---- Products -------------------------------------------------------------------------------------

// S = Q K^T over the block's columns. Q's slices have 64 rows each.
__device__ inline void start_scores(float (&s)[BC / 2], unsigned q_slices, unsigned k_slot)
{
    // Else all steps' addresses of Q wait in registers that O has none left of.
    asm volatile("" : "+r"(q_slices));
    const unsigned long long q = operand(q_slices, 64), k = operand(k_slot, BC);
#pragma unroll
    for (int d = 0; d < WIDTH / 16; d++) // 16 columns are 32 bytes; 4 such steps fill a slice
        multiply_shared(s, q + (d / 4 * 64 * SLICE_BYTES + d % 4 * 32) / 16,
                        k + (d / 4 * BC * SLICE_BYTES + d % 4 * 32) / 16, d > 0);
}
__device__ inline void start_outputs(float (&o)[WIDTH / 2], const unsigned (&p)[BC / 4],
                                     unsigned v_slot)
{
    const unsigned long long v = operand(v_slot, BC);
#pragma unroll
    for (int j = 0; j < BC / 16; j++)
        multiply_registers(o, p + 4 * j, v + j * 16 * SLICE_BYTES / 16);
}

// ---- What the blocks send each other ----------------------------------------------------------------

// A lane's row: with rank 0 the first of its two, with rank 1 the second; the other block's lane has the other one.
struct Exchange {
    Barriers &bar;
    int group, rank;

    __device__ float *part(int i) const
    {
        return (float *)(smem + SMEM_Parts) + group * 32 * BC + i * 128 + threadIdx.x % 128 * 4;
    }
    // Of tile j.
    __device__ float *weights(int i, int j) const
    {
        return (float *)(smem + SMEM_Weights) + (j % 2 * GROUPS + group) * 16 * BC + i * 128 +
               threadIdx.x % 128 * 4;
    }
    __device__ float *base(int j) const
    {
        return (float *)(smem + SMEM_Bases) + j % 2 * 256 + threadIdx.x;
    }
    __device__ unsigned there(const void *here) const
    {
        return in_block(shared_address(here), rank ^ 1);
    }
    __device__ void expect(MemoryBarrier *b, int bytes) const
    {
        if (threadIdx.x % 128 == 0)
            expect_bytes(b, bytes);
    }
    // The warp has read what came.
    __device__ void free(MemoryBarrier *b) const
    {
        __syncwarp();
        if (threadIdx.x % 32 == 0)
            arrive_there(there(b));
    }
    // Tile j's scores: the other's row goes, one's own stays.
    __device__ void send_part(float (&mine)[BC / 4], const float (&s)[BC / 2], int j) const
    {
        expect(&bar.part_here[group], 128 * BC);
        await(&bar.part_free[group], j % 2 ^ 1);
        const unsigned to = there(part(0)), barrier = there(&bar.part_here[group]);
#pragma unroll
        for (int i = 0; i < BC / 4; i += 4) {
            Four x;
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const float first = s[2 * i + e / 2 * 4 + e % 2];
                const float second = s[2 * i + e / 2 * 4 + 2 + e % 2];
                x.x[e] = rank ? first : second;
                mine[i + e] = rank ? second : first;
            }
            send_there(to + i * 128 * 4, barrier, x);
        }
    }
    __device__ void add_part(float (&mine)[BC / 4], int j, bool last) const
    {
        await(&bar.part_here[group], j % 2);
#pragma unroll
        for (int i = 0; i < BC / 4; i += 4) {
            const Four x = *(const Four *)part(i);
            for (int e = 0; e < 4; e++)
                mine[i + e] += x.x[e];
        }
        if (!last)
            free(&bar.part_free[group]);
    }
    __device__ void send_weights(const unsigned (&w)[BC / 8], float from, int j) const
    {
        expect(&bar.weights_here[j % 2][group], 64 * BC + 512);
        await(&bar.weights_free[j % 2][group], j / 2 % 2 ^ 1);
        const unsigned barrier = there(&bar.weights_here[j % 2][group]);
#pragma unroll
        for (int i = 0; i < BC / 8; i += 4)
            send_there(there(weights(i, j)), barrier,
                       Four{__uint_as_float(w[i]), __uint_as_float(w[i + 1]),
                            __uint_as_float(w[i + 2]), __uint_as_float(w[i + 3])});
        send_there(there(base(j)), barrier, from);
    }
    // Both rows' weights become the left side of a product; returns what the other's count from.
    __device__ float take_weights(unsigned (&p)[BC / 4], const unsigned (&w)[BC / 8], int j,
                                  bool last) const
    {
        await(&bar.weights_here[j % 2][group], j / 2 % 2);
#pragma unroll
        for (int i = 0; i < BC / 8; i += 4) {
            const Words x = *(const Words *)weights(i, j);
#pragma unroll
            for (int e = 0; e < 4; e++) {
                p[2 * (i + e)] = rank ? x.w[e] : w[i + e];
                p[2 * (i + e) + 1] = rank ? w[i + e] : x.w[e];
            }
        }
        const float from = *base(j);
        if (!last)
            free(&bar.weights_free[j % 2][group]);
        return from;
    }
    // After the last tile: the other's rows' factor for one's own. The phase is that of a tile more.
    __device__ float swap(float inverse, int j) const
    {
        expect(&bar.weights_here[j % 2][group], 512);
        await(&bar.weights_free[j % 2][group], j / 2 % 2 ^ 1);
        send_there(there(base(j)), there(&bar.weights_here[j % 2][group]), inverse);
        await(&bar.weights_here[j % 2][group], j / 2 % 2);
        return *base(j);
    }
};

// ---- Softmax of a lane's one row -----------------------------------------------------------------------

struct Row {
    float m = NEG_INF, l[2] = {}; // base of the exponentials, a score; sums of this lane's keys

    // Scores become weights, still in f32; the base follows the maximum only where it is outgrown.
    __device__ void update(float (&x)[BC / 4], float scale_log2e)
    {
        float top[2] = {m, m};
#pragma unroll
        for (int i = 0; i < BC / 4; i++)
            top[i % 2] = fmaxf(top[i % 2], x[i]);
        const float high = warp_max<4>(fmaxf(top[0], top[1])); // four lanes share a row
        if ((high - m) * scale_log2e > LAZY) {
            const float c = m == NEG_INF ? 0.f : exp2_fast((m - high) * scale_log2e);
            l[0] *= c;
            l[1] *= c;
            m = high;
        }
        const float base = m == NEG_INF ? 0.f : m * scale_log2e;
#pragma unroll
        for (int i = 0; i < BC / 4; i++) {
            x[i] = exp2_fast(x[i] * scale_log2e - base);
            l[i % 2] += x[i];
        }
    }
};

// O counts from `was`, the next weights from `now`.
__device__ inline float correction(float was, float now, float scale_log2e)
{
    return was == now || was == NEG_INF ? 1.f : exp2_fast((was - now) * scale_log2e);
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1)
    bigd_rows(const __grid_constant__ AttnArgs a, const __grid_constant__ TensorMap q_map,
              const __grid_constant__ TensorMap k_map, const __grid_constant__ TensorMap v_map)
{
    Barriers &bar = *(Barriers *)(smem + SMEM_barriers);
    const unsigned Qs = shared_address(smem + SMEM_Qs), ring = shared_address(smem + SMEM_Ring);
    const int rank = cluster_rank();
    const int tile = blockIdx.x / BLOCKS, all = gridDim.x / BLOCKS;
    const int head = head_of_block(), batch = batch_of_block(), kv_head = head / (a.H / a.Hkv);
    const int q0 = (a.causal ? all - 1 - tile : tile) * BR; // the longest go first
    const int first = rank * WIDTH;                         // column
    const int tiles = (visible_keys_of_tile(a, q0, BR) + BC - 1) / BC;

    if (threadIdx.x == 0) {
        for (int i = 0; i < GROUPS; i++) {
            barrier_make(&bar.q_here[i], 1);
            barrier_make(&bar.part_here[i], 1);
            barrier_make(&bar.part_free[i], WARPS / GROUPS); // a lane of every warp arrives
            for (int j = 0; j < 2; j++) {
                barrier_make(&bar.weights_here[j][i], 1);
                barrier_make(&bar.weights_free[j][i], WARPS / GROUPS);
            }
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
            Producer out{bar, ring, first, kv_head, batch};
            const auto fetch_q = [&](int i) { // 64 rows
                expect_bytes(&bar.q_here[i], 64 * WIDTH * 2);
                fetch_slices<64>(Qs + i * 64 * WIDTH * 2, q_map, first, q0 + i * 64, head, batch,
                                 &bar.q_here[i]);
            };
            fetch_q(0);
            for (int j = 0; j < tiles + 3; j++) {
                if (j < tiles)
                    out.fetch(k_map, j * BC);
                if (j == 0)
                    fetch_q(1);
                if (j >= 3)
                    out.fetch(v_map, (j - 3) * BC);
            }
        }
    } else {
        take_registers<240>();
        const int group = warpgroup_of_thread();
        const int row0 = q0 + group * 64, row = row_of_lane(row0, 0);
        const Exchange other = {bar, group, rank};
        const unsigned q_rows = Qs + group * 64 * WIDTH * 2;
        const float scale_log2e = a.scale * 1.4426950408889634f; // exp(x) = 2^(x log2 e)
        float o[WIDTH / 2] = {};                                 // not yet divided by l
        float next[BC / 2]; // a tile's scores as they come
        float mine[BC / 4]; // this block's row of them, later its weights
        unsigned fresh[BC / 8] = {}, kept[BC / 8]; // own weights of two tiles
        unsigned p[BC / 4];                        // the product's left side
        Row own;
        float m_kept = NEG_INF;                   // what kept weights count from,
        float m_own = NEG_INF, m_other = NEG_INF; // and O's two rows
        Place at, k, v;
        // The scores of tile j, the softmax of tile j - 1, the outputs of tile j - 3. What a step lacks at the beginning and at the
        // end is no branch between products: there the compiler closes groups of them early, and all would be waited for.
        const auto step = [&](int j, bool scores, bool outputs) {
            if (scores) {
                k = at.next();
                await(&bar.here[k.slot], k.parity);
                begin_products();
                start_scores(next, q_rows, ring + k.slot * SLOT_BYTES);
                commit_products();
            }
            if (outputs) {
                v = at.next();
                await(&bar.here[v.slot], v.parity);
                begin_products();
                start_outputs(o, p, ring + v.slot * SLOT_BYTES);
                commit_products();
            }
#pragma unroll
            for (int i = 0; i < BC / 8; i++)
                kept[i] = fresh[i];
            m_kept = own.m;
            if (scores || j == tiles) {
                other.add_part(mine, j - 1, j == tiles);
                if (j * BC > visible_keys(a, row0)) {
                    const int n_visible =
                        visible_keys(a, row + 8 * rank) - (j - 1) * BC - threadIdx.x % 4 * 2;
#pragma unroll
                    for (int i = 0; i < BC / 4; i++)
                        if (i / 2 * 8 + i % 2 >= n_visible)
                            mine[i] = NEG_INF;
                }
                own.update(mine, scale_log2e);
#pragma unroll
                for (int i = 0; i < BC / 8; i++)
                    fresh[i] = pack(mine[2 * i], mine[2 * i + 1]);
                other.send_weights(fresh, own.m, j - 1);
            }
            if (scores) {
                outputs ? await_products<1>(next) : await_products<0>(next);
                release(bar, k);
                other.send_part(mine, next, j);
            }
            if (outputs) {
                await_products<0>(o);
                release(bar, v);
            }
            if (j >= 2 && j < tiles + 2) {
                const float from = other.take_weights(p, kept, j - 2, j == tiles + 1);
                const float mine_c = correction(m_own, m_kept, scale_log2e),
                            other_c = correction(m_other, from, scale_log2e);
                m_own = m_kept;
                m_other = from;
                if (__any_sync(FULL_WARP, mine_c != 1.f || other_c != 1.f)) {
                    const float c[2] = {rank ? other_c : mine_c, rank ? mine_c : other_c};
#pragma unroll
                    for (int i = 0; i < WIDTH / 2; i++)
                        o[i] *= c[i % 4 / 2];
                }
            }
        };
        if (tiles > 0) {
            await(&bar.q_here[group], 0);
            k = at.next();
            await(&bar.here[k.slot], k.parity);
            begin_products();
            start_scores(next, q_rows, ring + k.slot * SLOT_BYTES);
            commit_products();
            await_products<0>(next);
            release(bar, k);
            other.send_part(mine, next, 0);

            for (int j = 1; j < tiles + 3; j++)
                if (j < tiles) {
                    if (j >= 3)
                        step(j, true, true);
                    else
                        step(j, true, false);
                } else if (j >= 3)
                    step(j, false, true);
                else
                    step(j, false, false);
        }
        const float l = warp_sum<4>(own.l[0] + own.l[1]); // four lanes share a row
        if (threadIdx.x % 4 == 0 && row + 8 * rank < a.Sq && a.lse)
            a.lse[((long long)batch * a.H + head) * a.Sq + row + 8 * rank] =
                own.m * a.scale + log_fast(l);
        const float inverse = l == 0.f ? 0.f : inverse_fast(l); // a row without a key
        const float theirs = tiles > 0 ? other.swap(inverse, tiles) : 0.f;
        const RowEnds ends = {{rank ? theirs : inverse, rank ? inverse : theirs}};
        store_outputs(a, o, ends, row, head, batch, first);
    }
}

/* Cost: for a tile of 64 keys a warpgroup sends 8 KB of scores and 4.5 KB of weights and bases, where bigd_split sends 16 KB;
 *   each lane has 16 exponentials in place of 32. Products, and bytes of K and V, are those of bigd_split.
 * Waits: scores go at the end of a step, are added in the next, weights go at its end and multiply in the one after: two trips
 *   lie behind two steps' products. So V is read three tiles behind K; at the beginning and at the end steps lack one of them.
 * Begin: the first warpgroup's queries and the first keys are asked for first, the other's queries behind them: 1.4 us less
 *   than with both in front of the keys, as 128 blocks ask at once for 12 MB.
 * Registers: O 128, scores 32, one row's 16, three times 8 weights; 168 at launch, then 24 and 240; no spills.
 * Measured (H200, f16, B=1 H=8 S=1024 D=512, us, graphs, one interleaved run; cuBLAS in it 59.5 hot and 58.7 cold, bigd_split
 *   41.5 and 41.6): 38.3 hot, 38.4 cold: 1.55 and 1.53 times cuBLAS. With both warpgroups' queries first 39.8 and 39.7; with
 *   turns at the tensor cores, as fa3_pingpong takes them, 40.2 and 40.1. S=4096, queries first: 484 (bigd_split 509, cuBLAS 772).
 * Limits: up to 512 columns: beyond, a warpgroup's O is a quarter of the columns. Without the exchange bigd_split took 28.8 of
 *   38 us; what is left of it here is a chain of waits. Causal tiles on the diagonal are computed whole.
 * Next: nothing exchanged: weights through memory, and both products plain ones. */
