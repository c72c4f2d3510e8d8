/* splitkv_wgmma.cu - short sequences, several heads: warpgroups of a cluster share the keys, one step for each.
 *
 * @name      splitkv_wgmma
 * @title     Short sequences by wgmma: a step for all keys, dealt out to the warpgroups of a cluster
 * @idea      For eight heads of 512 rows splitkv_cluster reads each key for 16 or 32 rows only, and the L2 cache
 *            cannot keep up. A warpgroup has 64 rows, and its keys come once into shared memory, from where
 *            wgmma multiplies. As the warpgroups of a block and the blocks of a cluster share the keys, each has
 *            one step: the copy engine brings Q, K and V at once, and there is no loop, no second stage and no
 *            running maximum. Warpgroups add up in shared memory, each a part of the columns; what another block
 *            finishes is sent to it, where a barrier counts the bytes: one trip, and no fence.
 * @after     splitkv_columns
 * @unit      tensor
 * @dtypes    f16 bf16
 * @arch      90a
 * @requires  sm == 90 && D <= 128 && D % 8 == 0 && BC % 16 == 0 && Sk <= 8*BC*GROUPS
 *            && (GROUPS <= 2 || GROUPS == 4 && D <= 64) && B*max(Sq, Sk)*max(H, Hkv)*D <= 2147483648
 * @param     BC 128 [64..128]     keys of a warpgroup
 * @param     GROUPS 2 [1..4]      warpgroups of a block
 * @threads   128*GROUPS
 * @grid      ceil(Sq/64)*ceil(Sk/(BC*GROUPS)) H B
 * @cluster   ceil(Sk/(BC*GROUPS))
 * @tma       Q box=64,D swizzle=128  copies of the Q tile
 * @tma       K box=BC,D swizzle=128  and of K and V tiles
 * @tma       V box=BC,D swizzle=128
 * @smem      dynamic Qs 64*ceil(D/64)*128
 *            align=1024 pitch=64 rows=64 swizzle=16  Q tile, in slices of 64 columns
 * @smem      dynamic Ks GROUPS*128*ceil(D/64)*128
 *            align=1024 pitch=64 rows=128 swizzle=16  a K tile for each warpgroup, or its part of the outputs
 * @smem      dynamic Vs GROUPS*BC*ceil(D/64)*128
 *            align=1024 pitch=64 rows=BC swizzle=16  and a V tile
 * @smem      dynamic parts GROUPS*ceil(D/64)*8*128*16 over=Ks type=f32  outputs of the warpgroups, as lanes hold them
 * @smem      dynamic ends GROUPS*32*16 type=f32                  their maxima and sums of exponentials
 * @smem      dynamic barriers (1+2*GROUPS)*8 type=u64  K of each warpgroup is here, V, what other blocks send
 * @smem      dynamic sent ceil(Sk/(BC*GROUPS))*(ceil(ceil(D/64)*8/GROUPS/ceil(Sk/(BC*GROUPS)))*4+1)*GROUPS*512
 *            type=f32  from each other block the same, of what this one finishes
 * @traffic   read B*H*ceil(Sq/64)*(64*D+ceil(Sk/(BC*GROUPS))*BC*GROUPS*2*D)*T write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "cluster.cuh"
#include "hopper.cuh"
#include "parts.cuh"
#include "send.cuh"
#include "short.cuh"

constexpr int BR = 64, BC = P_BC, GROUPS = P_GROUPS;
constexpr int QUADS = COLUMNS / 8;    // of a lane: four accumulators, two of row g and two of g + 8
constexpr int MINE = QUADS / GROUPS;  // of them a warpgroup adds up those of its block
constexpr int SLOT = ATTN_THREADS * 16, ENDS = SLOT / 4; // bytes of a quad of all threads; of rows, one for four threads

// What lies in shared memory goes by addresses of 32 bits: pointers would be made into them again and again.
struct Places {
    unsigned smem;
    __device__ unsigned keys_here(int group) const { return smem + SMEM_barriers + group * 8; }
    __device__ unsigned values_here(int group) const { return keys_here(GROUPS + group); }
    __device__ unsigned all_sent() const { return keys_here(2 * GROUPS); }
    __device__ unsigned keys(int group) const { return smem + SMEM_Ks + group * 128 * TILE_ROW; }
    __device__ unsigned values(int group) const { return smem + SMEM_Vs + group * BC * TILE_ROW; }
    // Of this thread, or of its rows g and g + 8. A warpgroup's part is as long as 128 of its keys, and lies over them.
    __device__ unsigned part(int group, int quad) const
    {
        return smem + SMEM_parts + (group * QUADS + quad) * 2048 + threadIdx.x % 128 * 16;
    }
    __device__ unsigned ends(int group) const { return smem + SMEM_ends + (group * 32 + threadIdx.x % 128 / 4) * 16; }
    // What a block has sent lies together: maxima and sums, then quads.
    __device__ unsigned sent_ends(int block, int turns) const
    {
        return smem + SMEM_sent + block * (turns * SLOT + ENDS) + threadIdx.x / 4 * 16;
    }
    __device__ unsigned sent(int block, int turns, int slot) const
    {
        return smem + SMEM_sent + block * (turns * SLOT + ENDS) + ENDS + slot * SLOT + threadIdx.x * 16;
    }
};

// ---- The step --------------------------------------------------------------------------------------

// Scores become P = 2^(s - m), and this lane's sums; m in powers of 2. All keys of the row are here, so nothing follows.
struct Ends {
    float m[2], sum[4] = {}; // by e of s[4n + e]

    __device__ Ends(float (&s)[BC / 2], float scale_log2e)
    {
        float top[4] = {NEG_INF, NEG_INF, NEG_INF, NEG_INF};
#pragma unroll
        for (int i = 0; i < BC / 2; i++)
            top[i % 4] = fmaxf(top[i % 4], s[i]);
        float base[2];
#pragma unroll
        for (int r = 0; r < 2; r++) {
            m[r] = warp_max<4>(fmaxf(top[2 * r], top[2 * r + 1])) * scale_log2e; // four lanes share a row
            base[r] = m[r] == NEG_INF ? 0.f : m[r];
        }
#pragma unroll
        for (int i = 0; i < BC / 2; i++)
            sum[i % 4] += s[i] = exp2_fast(s[i] * scale_log2e - base[i % 4 / 2]);
    }
};

// ---- Shared memory by address --------------------------------------------------------------------

__device__ inline void store_four(unsigned there, const Four &x)
{
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(there), "f"(x.x[0]), "f"(x.x[1]), "f"(x.x[2]), "f"(x.x[3])
                 : "memory");
}
__device__ inline Four load_four(unsigned there)
{
    Four x;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(x.x[0]), "=f"(x.x[1]), "=f"(x.x[2]), "=f"(x.x[3])
                 : "r"(there)
                 : "memory");
    return x;
}
__device__ inline void make(unsigned barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
__device__ inline void expect(unsigned barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ inline void await_first(unsigned barrier)
{
    asm volatile("{ .reg .pred done;\n"
                 "again: mbarrier.try_wait.parity.shared.b64 done, [%0], 0;\n"
                 "@!done bra again; }" ::"r"(barrier)
                 : "memory");
}
template <int ROWS>
__device__ inline void fetch(unsigned tile, const TensorMap &map, int row, int head, unsigned barrier)
{
#pragma unroll
    for (int c = 0; c < SLICES; c++)
        asm volatile(
            "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
            "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(tile + c * ROWS * SLICE_BYTES),
            "l"(&map), "r"(c * SLICE), "r"(row), "r"(head), "r"(batch_of_block()), "r"(barrier)
            : "memory");
}

// ---- The parts become one --------------------------------------------------------------------------

// What is known of rows g and g + 8, and this thread's part of their outputs: quads `group`, group + GROUPS, ...
struct Rows {
    float m[2], l[2];
    Four o[MINE];

    __device__ Four ends() const { return {m[0], l[0], m[1], l[1]}; }
};

// Over the warpgroups of the block, each for its quads.
__device__ inline void add_groups(Rows &x, const Places &at, int group, const float (&o)[COLUMNS / 2])
{
    store_four(at.ends(group), x.ends()); // four lanes the same
#pragma unroll
    for (int n = 0; n < QUADS; n++)
        store_four(at.part(group, n), {o[4 * n], o[4 * n + 1], o[4 * n + 2], o[4 * n + 3]});
    __syncthreads();
    Four ends[GROUPS];
    float weight[GROUPS][2];
#pragma unroll
    for (int w = 0; w < GROUPS; w++)
        ends[w] = load_four(at.ends(w));
#pragma unroll
    for (int r = 0; r < 2; r++) {
        x.m[r] = LOWEST;
        x.l[r] = 0.f;
#pragma unroll
        for (int w = 0; w < GROUPS; w++)
            x.m[r] = fmaxf(x.m[r], ends[w].x[2 * r]);
#pragma unroll
        for (int w = 0; w < GROUPS; w++) {
            weight[w][r] = exp2_fast(ends[w].x[2 * r] - x.m[r]);
            x.l[r] += ends[w].x[2 * r + 1] * weight[w][r];
        }
    }
#pragma unroll
    for (int k = 0; k < MINE; k++) {
        x.o[k] = {};
#pragma unroll
        for (int w = 0; w < GROUPS; w++) {
            const Four y = load_four(at.part(w, k * GROUPS + group));
#pragma unroll
            for (int e = 0; e < 4; e++)
                x.o[k].x[e] += y.x[e] * weight[w][e / 2];
        }
    }
}

// Blocks take turns at a thread's quads: `block` finishes this one, the slot-th that it does.
struct Turn {
    int block = 0, slot = 0;
    __device__ void next(int blocks)
    {
        if (++block == blocks) {
            block = 0;
            slot++;
        }
    }
};
struct Crew { // of the cluster
    int blocks, rank, turns; // at most, of a block
};

// Quads that others finish go to them: the barrier there counts the bytes.
__device__ inline void send(const Rows &x, const Places &at, const Crew &c)
{
#pragma unroll 1
    for (int b = threadIdx.x % 4; b < c.blocks; b += 4)
        if (b != c.rank)
            send_there(in_block(at.sent_ends(c.rank, c.turns), b), in_block(at.all_sent(), b), x.ends());
    Turn turn;
#pragma unroll
    for (int k = 0; k < MINE; k++) {
        if (turn.block != c.rank)
            send_there(in_block(at.sent(c.rank, c.turns, turn.slot), turn.block), in_block(at.all_sent(), turn.block),
                       x.o[k]);
        turn.next(c.blocks);
    }
}
__device__ inline void add_blocks(Rows &x, const Places &at, const Crew &c)
{
    float top[2] = {fmaxf(x.m[0], LOWEST), fmaxf(x.m[1], LOWEST)};
#pragma unroll 1
    for (int b = 0; b < c.blocks; b++)
        if (b != c.rank) {
            const Four ends = load_four(at.sent_ends(b, c.turns));
            top[0] = fmaxf(top[0], ends.x[0]);
            top[1] = fmaxf(top[1], ends.x[2]);
        }
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const float weight = exp2_fast(x.m[r] - top[r]);
        x.m[r] = top[r];
        x.l[r] *= weight;
#pragma unroll
        for (int k = 0; k < MINE; k++) {
            x.o[k].x[2 * r] *= weight;
            x.o[k].x[2 * r + 1] *= weight;
        }
    }
#pragma unroll 1
    for (int b = 0; b < c.blocks; b++)
        if (b != c.rank) {
            const Four ends = load_four(at.sent_ends(b, c.turns));
            const float weight[2] = {exp2_fast(ends.x[0] - top[0]), exp2_fast(ends.x[2] - top[1])};
            x.l[0] += ends.x[1] * weight[0];
            x.l[1] += ends.x[3] * weight[1];
            Turn turn;
#pragma unroll
            for (int k = 0; k < MINE; k++) {
                if (turn.block == c.rank) {
                    const Four y = load_four(at.sent(b, c.turns, turn.slot));
#pragma unroll
                    for (int e = 0; e < 4; e++)
                        x.o[k].x[e] += y.x[e] * weight[e / 2];
                }
                turn.next(c.blocks);
            }
        }
}

// The quads that this block finishes, and the LSE. `i`: this lane's first row.
__device__ inline void store(const AttnArgs &a, const Rows &x, int i, int group, const Crew &c)
{
    const int t = threadIdx.x % 4;
    const Head o(a.o, a.o_stride, head_of_block(), group * 8 + 2 * t, a.Sq);
#pragma unroll
    for (int r = 0; r < 2; r++) {
        if (i + 8 * r >= a.Sq)
            break;
        const float inverse = inverse_of_sum(x.l[r]);
        elem *out = o.out(i + 8 * r);
        Turn turn;
#pragma unroll
        for (int k = 0; k < MINE; k++) {
            if (turn.block == c.rank && (k * GROUPS + group) * 8 + 2 * t < a.D)
                *(unsigned *)(out + k * GROUPS * 8) = pack(x.o[k].x[2 * r] * inverse, x.o[k].x[2 * r + 1] * inverse);
            turn.next(c.blocks);
        }
        if (c.rank == 0 && group == 0 && t == 0)
            store_lse_of(a, i + 8 * r, x.m[r], x.l[r]);
    }
}

// Blocks of one cluster are neighbours in x; the hardware has the quotient.
__device__ inline int cluster_number()
{
    int n;
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(n));
    return n;
}

// One thread makes the barriers and asks for all tiles at once: nobody has to see the barriers before.
__device__ inline void ask(const AttnArgs &a, const Places &at, int q0, const Crew &c, const TensorMap &q_map,
                           const TensorMap &k_map, const TensorMap &v_map)
{
    const int kv_head = kv_head_of_block(a);
#pragma unroll
    for (int i = 0; i < 1 + 2 * GROUPS; i++)
        make(at.keys_here(i), 1);
    publish_barriers();
    expect(at.keys_here(0), (BR + BC) * TILE_ROW); // Q comes with the first keys
    fetch<BR>(at.smem + SMEM_Qs, q_map, q0, head_of_block(), at.keys_here(0));
#pragma unroll
    for (int w = 0; w < 2 * GROUPS; w++) {
        if (w > 0)
            expect(at.keys_here(w), BC * TILE_ROW);
        fetch<BC>(w < GROUPS ? at.keys(w) : at.values(w - GROUPS), w < GROUPS ? k_map : v_map, (c.rank * GROUPS + w % GROUPS) * BC,
                  kv_head, at.keys_here(w));
    }
    int n = 0; // quads that this block finishes
    for (int k = c.rank; k < MINE; k += c.blocks)
        n++;
    expect(at.all_sent(), (c.blocks - 1) * (n * SLOT + ENDS));
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1)
    splitkv_wgmma(const __grid_constant__ AttnArgs a, const __grid_constant__ TensorMap q_map,
                  const __grid_constant__ TensorMap k_map, const __grid_constant__ TensorMap v_map)
{
    const Places at{shared_address(smem)};
    const int q0 = cluster_number() * BR;
    Crew c{cluster_blocks(), cluster_rank(), 0};
    if (threadIdx.x == 0)
        ask(a, at, q0, c, q_map, k_map, v_map);
    __syncthreads();
    cluster_arrive_only(); // others may send as soon as this block's barriers are made

    const int group = warpgroup_of_thread(), key = (c.rank * GROUPS + group) * BC, row = row_of_lane(q0, 0);
    float s[BC / 2], o[COLUMNS / 2] = {};
    await_first(at.keys_here(0));
    if (GROUPS > 1)
        await_first(at.keys_here(group));
    begin_products();
    start_scores<BR, BC>(s, at.smem + SMEM_Qs, at.keys(group));
    commit_products();
    c.turns = (MINE + c.blocks - 1) / c.blocks; // meanwhile: the division that is needed later
    asm volatile("" : "+r"(c.turns));
    await_products<0>(s);
    if (key + BC > visible_keys(a, q0)) // the first row does not see the whole tile
        mask_scores(s, a, row, key);
    const Ends end(s, a.scale * 1.4426950408889634f); // exp(x) = 2^(x log2 e)
    unsigned p[BC / 4];
    pack_scores(p, s);

    settle(o);
    await_first(at.values_here(group));
    begin_products();
    start_outputs<BC>(o, p, at.values(group));
    commit_products();
    if (GROUPS > 1)
        meet(1 + group, 128); // all four warps are done with the keys: their part may take the place
    Rows x;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        x.m[r] = end.m[r];
        x.l[r] = warp_sum<4>(end.sum[2 * r] + end.sum[2 * r + 1]);
    }
    await_products<0>(o);

    if (GROUPS > 1)
        add_groups(x, at, group, o);
    else
#pragma unroll
        for (int k = 0; k < MINE; k++)
            x.o[k] = {o[4 * k], o[4 * k + 1], o[4 * k + 2], o[4 * k + 3]};
    cluster_wait();
    if (c.blocks > 1) {
        send(x, at, c);
        await_first(at.all_sent());
        add_blocks(x, at, c);
    }
    store(a, x, row, group, c);
}

/* Cost: at H=8, S=512, D=64 128 blocks of two warpgroups, clusters of two: a warpgroup multiplies 64 x 128 x 64 twice,
 *   1024 cycles of the SM's tensor cores for all four products, and has 64 exponentials a lane. The L2 cache sends each
 *   head's K and V once for 64 rows: 8.4 MB, 1.5 us at 5.5 TB/s, where 16 rows would make it 34 MB.
 * Measured (H200, f16, D=64, us, L2 hot, graphs of 20 launches; in parentheses as it was before, fa3_wgmma BR=64 BC=64 and
 *   the best of PyTorch's backends in the same run): H=8 S=512 5.06 (5.49, -, 8.98), H=4 S=512 4.82 (5.29, -, 9.05),
 *   H=8 S=1k GROUPS=4 12.19 (14.36, 13.32, 13.75), S=512 BC=128 GROUPS=1 4.04 (4.95, -, 8.84).
 *   Before, parts lay in shared memory until the cluster had met, behind a fence (0.2 us), and were then read from the other
 *   blocks one after another, four trips; all warpgroups' barriers were made and seen before the first copy was asked
 *   for, behind 100 instructions, now 48. Copies by cp.async in place of the copy engine: 0.7 us more.
 * Limits: clusters of 8 blocks: Sk up to 2048 with the defaults. The number of blocks should not pass the GPU's SMs: BC=96
 *   at H=8 S=512, 192 blocks, takes 8.6, and at H=16 S=512 D=128 fa3_wgmma BR=64 BC=64 is twice as fast.
 * Next: fa2_mma_short for many heads: there blocks of one head each fill the GPU. */
