/* splitkv_wgmma.cu - short sequences, several heads: warpgroups of a cluster share the keys, one step for each.
 *
 * @name      splitkv_wgmma
 * @title     Short sequences by wgmma: a step for all keys, dealt out to the warpgroups of a cluster
 * @idea      For eight heads of 512 rows splitkv_cluster reads each key for 16 or 32 rows only, and the L2 cache
 *            cannot keep up. A warpgroup has 64 rows, and its keys come once into shared memory, from where
 *            wgmma multiplies. As the warpgroups of a block and the blocks of a cluster share the keys, each has
 *            one step: the copy engine brings Q, K and V at once, and there is no loop, no second stage and no
 *            running maximum. The parts meet in shared memory as those of splitkv_cluster do.
 * @after     splitkv_columns
 * @unit      tensor
 * @dtypes    f16 bf16
 * @arch      90a
 * @requires  sm == 90 && D <= 128 && D % 8 == 0 && BC % 16 == 0 && Sk <= 8*BC*GROUPS && (GROUPS <= 2 || D <= 64)
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
 * @smem      dynamic Ks GROUPS*BC*ceil(D/64)*128
 *            align=1024 pitch=64 rows=BC swizzle=16  a K tile for each warpgroup
 * @smem      dynamic Vs GROUPS*BC*ceil(D/64)*128
 *            align=1024 pitch=64 rows=BC swizzle=16  and a V tile
 * @smem      dynamic parts GROUPS*64*(D+8)*4 type=f32 pitch=D+8 rows=64  outputs of the warpgroups
 * @smem      dynamic ends 2*64*GROUPS*4 type=f32 pitch=64 rows=GROUPS    their maxima and sums of exponentials
 * @smem      dynamic barriers (2+2*GROUPS)*8 type=u64  Q is here, K and V of each warpgroup; all have read
 * @traffic   read B*H*ceil(Sq/64)*(64*D+ceil(Sk/(BC*GROUPS))*BC*GROUPS*2*D)*T write B*H*Sq*D*T
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "cluster.cuh"
#include "hopper.cuh"
#include "parts.cuh"
#include "send.cuh"

constexpr int BR = 64, BC = P_BC, GROUPS = P_GROUPS;
constexpr int PITCH = ATTN_D + 8; // of the parts: rows begin 8 banks apart

struct Barriers {
    MemoryBarrier q_here;
    struct {
        MemoryBarrier k_here, v_here;
    } of[GROUPS];
    MemoryBarrier all_read; // by the warps of the cluster
};
struct alignas(8) Two {
    float x[2];
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

// ---- The parts become one --------------------------------------------------------------------------

// Maxima of a warpgroup's rows; their sums are behind those of all warpgroups.
__device__ inline float *ends(int group)
{
    return (float *)(smem + SMEM_ends) + group * BR;
}
__device__ inline float *part(int group)
{
    return (float *)(smem + SMEM_parts) + group * BR * PITCH;
}

// `row` and row + 8 are this lane's.
__device__ inline void leave_ends(const Ends &end, int group, int row)
{
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const float l = warp_sum<4>(end.sum[2 * r] + end.sum[2 * r + 1]);
        if (threadIdx.x % 4 == 0) {
            ends(group)[row + 8 * r] = end.m[r];
            ends(group + GROUPS)[row + 8 * r] = l;
        }
    }
}
__device__ inline void leave_part(const float (&o)[COLUMNS / 2], int group, int row)
{
#pragma unroll
    for (int r = 0; r < 2; r++)
#pragma unroll
        for (int n = 0; n < ATTN_D / 8; n++)
            *(Two *)(part(group) + (row + 8 * r) * PITCH + n * 8 + threadIdx.x % 4 * 2) = {o[4 * n + 2 * r],
                                                                                    o[4 * n + 2 * r + 1]};
}

// This block's slice of the tile's outputs: four columns a thread, over all warpgroups of all blocks, in their order.
__device__ inline void add_up(const AttnArgs &a, int q0, int rank, int blocks)
{
    const int n = min(BR, a.Sq - q0) * (ATTN_D / 4);
#pragma unroll 1
    for (int e = rank * ATTN_THREADS + threadIdx.x; e < n; e += blocks * ATTN_THREADS) {
        const int r = e / (ATTN_D / 4), d = e % (ATTN_D / 4) * 4;
        const unsigned o = shared_address(part(0) + r * PITCH + d), m = shared_address(ends(0) + r);
        Sum s;
#pragma unroll 1
        for (int b = 0; b < blocks; b++) {
            const unsigned there = in_block(o, b), m_there = in_block(m, b);
#pragma unroll
            for (int w = 0; w < GROUPS; w++)
                s.add(load_there(m_there + w * BR * 4), load_there(m_there + (w + GROUPS) * BR * 4),
                      load4_there(there + w * BR * PITCH * 4));
        }
        const float inverse = s.l == 0.f ? 0.f : inverse_fast(s.l);
        Vec<4> y;
        for (int c = 0; c < 4; c++)
            y.x[c] = to_elem(s.o.x[c] * inverse);
        if (d < a.D)
            *(Vec<4> *)(o_row(a, q0 + r) + d) = y;
        if (d == 0 && a.lse)
            a.lse[row_number(a, q0 + r)] = s.m * 0.6931471805599453f + log_fast(s.l); // ln 2: natural logarithms
    }
}

// Blocks of one cluster are neighbours in x; the hardware has the quotient.
__device__ inline int cluster_number()
{
    int n;
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(n));
    return n;
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS)
    splitkv_wgmma(const __grid_constant__ AttnArgs a, const __grid_constant__ TensorMap q_map,
                  const __grid_constant__ TensorMap k_map, const __grid_constant__ TensorMap v_map)
{
    Barriers &bar = *(Barriers *)(smem + SMEM_barriers);
    const int blocks = cluster_blocks(), rank = cluster_rank(), group = warpgroup_of_thread();
    const int q0 = cluster_number() * BR, key = (rank * GROUPS + group) * BC, row = row_of_lane(0, 0);
    const unsigned Qs = shared_address(smem + SMEM_Qs), Ks = shared_address(smem + SMEM_Ks) + group * BC * TILE_ROW;
    const unsigned Vs = shared_address(smem + SMEM_Vs) + group * BC * TILE_ROW;

    if (threadIdx.x == 0) {
        for (int i = 0; i < 1 + 2 * GROUPS; i++)
            barrier_make(&bar.q_here + i, 1);
        barrier_make(&bar.all_read, blocks * GROUPS * 4);
        publish_barriers();
    }
    __syncthreads();
    if (threadIdx.x % 128 == 0) {
        const int head = head_of_block(), batch = batch_of_block();
        int kv_head = head;
        if (a.H != a.Hkv) // two divisions, in front of the first copy
            kv_head /= a.H / a.Hkv;
        if (group == 0)
            fetch_tile<BR>(Qs, q_map, q0, head, batch, &bar.q_here);
        fetch_tile<BC>(Ks, k_map, key, kv_head, batch, &bar.of[group].k_here);
        fetch_tile<BC>(Vs, v_map, key, kv_head, batch, &bar.of[group].v_here);
    }

    float s[BC / 2], o[COLUMNS / 2] = {};
    await(&bar.q_here, 0);
    await(&bar.of[group].k_here, 0);
    begin_products();
    start_scores<BR, BC>(s, Qs, Ks);
    commit_products();
    await_products<0>(s);
    if (key + BC > visible_keys(a, q0)) // the first row does not see the whole tile
        mask_scores(s, a, q0 + row, key);
    const Ends end(s, a.scale * 1.4426950408889634f); // exp(x) = 2^(x log2 e)
    unsigned p[BC / 4];
    pack_scores(p, s);

    settle(o);
    await(&bar.of[group].v_here, 0);
    begin_products();
    start_outputs<BC>(o, p, Vs);
    commit_products();
    leave_ends(end, group, row); // meanwhile
    await_products<0>(o);
    leave_part(o, group, row);
    cluster_arrive();
    cluster_wait();
    add_up(a, q0, rank, blocks);

    // What others read of this block stays until they have it: an arrival of each warp, which needs no fence.
    __syncwarp();
    if (threadIdx.x % 32 < blocks)
        arrive_there(in_block(shared_address(&bar.all_read), threadIdx.x % 32));
    if (threadIdx.x == 0)
        await(&bar.all_read, 0);
}

/* Cost: at H=8, S=512, D=64 128 blocks of two warpgroups, clusters of two: a warpgroup multiplies 64 x 128 x 64 twice,
 *   1024 cycles of the SM's tensor cores for all four products, and has 64 exponentials a lane. The L2 cache sends each
 *   head's K and V once for 64 rows: 8.4 MB, 1.5 us at 5.5 TB/s, where 16 rows would make it 34 MB. A meeting of the
 *   cluster whose arrival releases what was written is 0.2 us, the trip to the neighbour and the meeting after it 0.4.
 * Measured (H200, f16, D=64, us, L2 hot, graphs of 20 launches; splitkv_cluster at its best, fa3_wgmma BR=64 BC=64 and
 *   the best of PyTorch's backends in the same run): H=8 S=512 5.24 (7.93, 7.82, 9.14), S=512 BC=64 GROUPS=1 4.8 (5.49,
 *   -, 8.82), by a draft; this form by compare 5.5 (7.8, 8.0). With the sums of a row before P V in place of beside it
 *   and a fence at the end 5.72 and 5.2.
 *   Copies by cp.async, 12 of 16 bytes a lane, in place of the copy engine: 5.97 at H=8 S=512, as 300 instructions stand
 *   in front of the last one and 150 with the copy engine.
 * Limits: clusters of 8 blocks: Sk up to 2048 with the defaults. With 128 blocks or more of 64 rows the keys need not be
 *   shared, and fa3_wgmma or fa3_persistent are faster (H=8 S=1024).
 * Next: fa2_mma_short for many heads: there blocks of one head each fill the GPU. */
