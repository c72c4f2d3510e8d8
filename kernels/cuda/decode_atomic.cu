/* decode_atomic.cu - a few queries and many keys in one launch: the block that comes last combines.
 *
 * @name      decode_atomic
 * @title     Decode in one launch: keys dealt out evenly, the block that comes last combines
 * @idea      decode_splitkv with splitkv_atomic's end. A block that has left its part of a tile of queries
 *            counts itself in there; the one that finds all others counted combines them, and a tile
 *            that one block has alone is written at once. So there is no second launch, whose start and
 *            first loads cost as much as reading 20 MB. The counter goes back to 0 as the last block
 *            counts (atomicInc), so nobody clears it between calls: that would be a launch, too.
 * @after     decode_splitkv
 * @unit      tensor
 * @dtypes    f16 bf16 parts=f32
 * @requires  sm >= 80 && Sq <= 16 && D <= 256 && D % 8 == 0
 * @param     WARPS 4 [1..8]       warps of a block, each with keys of its own
 * @param     STAGES 3 [2..8]      steps of 16 keys that a warp has under way
 * @param     BLOCKS 256 [1..4096] blocks that share the work: two a multiprocessor, nearly
 * @threads   32*WARPS
 * @grid      min(BLOCKS,B*Hkv*ceil(H/Hkv*Sq/16)*ceil(Sk/(16*WARPS)))
 * @smem      dynamic ring WARPS*STAGES*2*16*D*2
 *            pitch=D rows=16 swizzle=16  K and V of the steps under way, swizzled
 * @smem      dynamic sums 16*(D+8)*4 type=f32 pitch=D+8  outputs of the warps, added up
 * @smem      dynamic ends 2*16*WARPS*4 type=f32 pitch=WARPS rows=16  their maxima and sums of exponentials
 * @workspace partial_o    B*Hkv*ceil(H/Hkv*Sq/16)*(floor(BLOCKS/(B*Hkv*ceil(H/Hkv*Sq/16)))+2)*16*D*4
 *            outputs of a tile's pieces, f32, not yet divided
 * @workspace partial_ends B*Hkv*ceil(H/Hkv*Sq/16)*(floor(BLOCKS/(B*Hkv*ceil(H/Hkv*Sq/16)))+2)*16*8
 *            their maxima, base 2, and sums
 * @workspace arrived      B*Hkv*ceil(H/Hkv*Sq/16)*4 once  blocks that left their part of a tile
 * @traffic   read B*(Hkv*ceil(H/Hkv*Sq/16)*Sk*2*D*T+H*Sq*D*T+H*Sq*(BLOCKS/(B*Hkv)+1)*(D+2)*4)
 *            write B*H*Sq*((BLOCKS/(B*Hkv)+1)*(D+2)*4+D*T)
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "decode.cuh"

// Where a block stands in a tile of queries.
struct Share {
    int part;   // row 0 of this block's part in the workspace,
    int first;  // and of the first block's
    int blocks; // that have a piece

    __device__ Share(const Work &w, int unit)
        : part(w.part(unit, blockIdx.x)), first(w.part(unit, w.first_block(unit))), blocks(w.blocks_of(unit))
    {
    }
};

__device__ inline Four *partial_o(const AttnArgs &a, int row)
{
    return (Four *)((float *)a.ws[WS_partial_o] + (long long)row * ATTN_D);
}
__device__ inline Two *partial_ends(const AttnArgs &a, int row)
{
    return (Two *)a.ws[WS_partial_ends] + row;
}

// The block's part of the tile: the answer where the block has all keys, else it is left in the workspace.
__device__ inline void leave_part(State &x, const AttnArgs &a, const Unit &u, const Share &share)
{
    float *sums = (float *)(smem + SMEM_sums), *ms = (float *)(smem + SMEM_ends);
    float *ls = ms + ROWS * WARPS;
    add_up_warps(x, u, sums, ms, ls);
    for (int e = threadIdx.x; e < u.rows * (ATTN_D / 4); e += ATTN_THREADS) {
        const int r = e / (ATTN_D / 4), d = e % (ATTN_D / 4) * 4;
        Sum s;
        s.o = *(const Four *)(sums + r * PITCH + d);
        for (int w = 0; w < WARPS; w++)
            s.m = fmaxf(s.m, ms[r * WARPS + w]);
        for (int w = 0; w < WARPS; w++)
            s.l += s.m == NEG_INF ? 0.f : ls[r * WARPS + w] * exp2_fast(ms[r * WARPS + w] - s.m);
        if (share.blocks == 1) {
            store(s, a, u, r, d);
            continue;
        }
        *(partial_o(a, share.part + r) + d / 4) = s.o;
        if (d == 0)
            *partial_ends(a, share.part + r) = {s.m, s.l};
    }
}

// Counts this block in at the tile. True in all threads of the block that comes last; what the others wrote before
// they were counted is then visible to it, and the counter is 0 again for the next launch. One thread's fences are
// enough: the barriers put the other threads' writes before them and their reads after.
__device__ inline bool last_to_arrive(const AttnArgs &a, int unit, int blocks)
{
    bool last = false;
    __syncthreads(); // all threads have written their share
    if (threadIdx.x == 0) {
        __threadfence(); // what is written goes out before the count
        last = atomicInc((unsigned *)a.ws[WS_arrived] + unit, blocks - 1) == blocks - 1;
        __threadfence(); // and nothing is read before it
    }
    return __syncthreads_or(last);
}

// The parts of a tile, in the order of their keys, so that the same input gives the same bits whoever comes last.
// Loads go out sixteen at a time: one after another they would be most of the time.
__device__ inline void combine(const AttnArgs &a, const Unit &u, const Share &share)
{
    constexpr int BATCH = 16;
    for (int e = threadIdx.x; e < u.rows * (ATTN_D / 4); e += ATTN_THREADS) {
        const int r = e / (ATTN_D / 4), d = e % (ATTN_D / 4) * 4;
        Sum s;
#pragma unroll 1
        for (int p = 0; p < share.blocks; p += BATCH) {
            Two ends[BATCH];
            Four o[BATCH];
            float top = s.m;
#pragma unroll
            for (int c = 0; c < BATCH; c++) {
                const int row = share.first + (p + c) * ROWS + r;
                const bool here = p + c < share.blocks;
                ends[c] = here ? *partial_ends(a, row) : Two{NEG_INF, 0.f};
                o[c] = here ? *(partial_o(a, row) + d / 4) : Four{};
            }
#pragma unroll
            for (int c = 0; c < BATCH; c++)
                top = fmaxf(top, ends[c].x[0]);
            const float base = top == NEG_INF ? 0.f : top, before = exp2_fast(s.m - base);
            s.m = top;
            s.l *= before;
            for (int i = 0; i < 4; i++)
                s.o.x[i] *= before;
#pragma unroll
            for (int c = 0; c < BATCH; c++) {
                const float weight = exp2_fast(ends[c].x[0] - base); // 0 where a part saw no key
                s.l += ends[c].x[1] * weight;
                for (int i = 0; i < 4; i++)
                    s.o.x[i] += o[c].x[i] * weight;
            }
        }
        store(s, a, u, r, d);
    }
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS) decode_atomic(const __grid_constant__ AttnArgs a)
{
    const Work work(a);
    take_piece(a, work, [&](State &x, const Unit &u, int unit) {
        const Share share(work, unit);
        leave_part(x, a, u, share);
        if (share.blocks > 1 && last_to_arrive(a, unit, share.blocks))
            combine(a, u, share);
        __syncthreads(); // the next part may use all of it again
    });
}

/* Cost: K and V once, as in decode_splitkv. For the parts: stores, a fence, an atomic operation; then in one block of
 *   those that share a tile two dependent trips to the L2 cache, with 16 parts under way at once. Predicted: 2 us
 *   less than a second launch takes.
 * Measured (H200, f16, 32 heads over 8, D=128, one query, us, one interleaved compare, L2 cold; decode_splitkv and cuDNN
 *   in the same run): B=1 Sk=8k 22.1 (23.7, 22.5), B=8 78.7 (81.2, 80.3), B=32 253 (261, 252), Sk=128k 140 (141,
 *   140); 32 heads over 32, Sk=8k 48.5 (50.6, 50.1). WARPS=8 BLOCKS=128 and STAGES=2 are within 2 %.
 * Limits: the counters must be 0 when it begins. Who ends it half way (a fault, a debugger) must clear them. More
 *   than 16 packed queries are more tiles, and each reads K and V again, if out of the L2 cache. No paged K and V.
 * Next: parts that meet in a cluster's shared memory, decode_cluster, without a workspace at all. */
