// counted.cuh - parts of an answer in global memory: blocks are counted in, and the last to come adds them up.
//
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
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
// Loads go out BATCH at a time: one after another they would be most of the time.
template <int BATCH> __device__ inline void combine(const AttnArgs &a, const Unit &u, const Share &share)
{
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
