// owned.cuh - parts of an answer in the shared memory of a cluster: each block owns some of it, the others send theirs there,
// and its barrier counts the bytes.
//
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "decode.cuh"
#include "send.cuh"

// Maxima and sums of row r are at ends[r * WARPS + w].
__device__ inline float *maxima()
{
    return (float *)(smem + SMEM_ends);
}
__device__ inline float *sums()
{
    return maxima() + ROWS * WARPS;
}
__device__ inline float *part(int w)
{
    return (float *)(smem + SMEM_parts) + w * ROWS * PITCH;
}

// Each warp's outputs lie down in the ring's place, which nobody needs any more.
__device__ inline void leave_part(State &x, const Unit &u)
{
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const int row = g + 8 * r;
        x.l[r] = warp_sum<4>(x.l[r]);
        if (t == 0) {
            maxima()[row * WARPS + warp] = x.m[r];
            sums()[row * WARPS + warp] = x.l[r];
        }
        if (row < u.rows)
#pragma unroll
            for (int n = 0; n < ATTN_D / 8; n++)
                *(Two *)(part(warp) + row * PITCH + n * 8 + 2 * t) = {x.o[n][2 * r], x.o[n][2 * r + 1]};
    }
}

// The outputs, four columns an element, are divided among the blocks of the cluster: `chunk` elements each.
struct Owners {
    int rank, blocks, n, chunk;

    __device__ Owners(const Unit &u)
        : rank(cluster_rank()), blocks(cluster_blocks()), n(u.rows * (ATTN_D / 4)), chunk((n + blocks - 1) / blocks)
    {
    }
    __device__ int own() const
    {
        return max(0, min(chunk, n - rank * chunk));
    }
    // What this block gets: of each block its elements, and the maxima and sums of all rows.
    __device__ Four *got(int block, int e) const
    {
        return (Four *)(smem + SMEM_got) + block * chunk + e % chunk;
    }
    __device__ Four *got_end(int block, int row) const
    {
        return (Four *)(smem + SMEM_got_ends) + block * ROWS + row;
    }
    __device__ MemoryBarrier *all_here() const
    {
        return (MemoryBarrier *)(smem + SMEM_all_here);
    }
    __device__ void send(Four *place, int owner, const Four &x) const
    {
        send_there(in_block(shared_address(place), owner), in_block(shared_address(all_here()), owner), x);
    }
};

// Over the warps: a block that is alone has the answer, others send each element to its owner.
template <class SumOfWarps, class Store>
__device__ inline void add_up_warps(const AttnArgs &a, const Unit &u, const Owners &to, SumOfWarps sum_of_warps, Store store)
{
    for (int e = threadIdx.x; e < to.n; e += ATTN_THREADS) {
        const int r = e / (ATTN_D / 4), d = e % (ATTN_D / 4) * 4;
        const Sum s = sum_of_warps(r, d);
        if (to.blocks == 1)
            store(s, a, u, r, d);
        else
            to.send(to.got(to.rank, e), e / to.chunk, s.o);
        if (to.blocks > 1 && d == 0)
#pragma unroll 1
            for (int b = 0; b < to.blocks; b++)
                to.send(to.got_end(to.rank, r), b, Four{s.m, s.l});
    }
}

// Over the blocks, in the order of their ranks: this block's elements.
template <class Store>
__device__ inline void add_up_blocks(const AttnArgs &a, const Unit &u, const Owners &to, Store store)
{
    for (int i = threadIdx.x; i < to.own(); i += ATTN_THREADS) {
        const int e = to.rank * to.chunk + i, r = e / (ATTN_D / 4), d = e % (ATTN_D / 4) * 4;
        Sum s;
        for (int b = 0; b < to.blocks; b++) {
            const Four end = *to.got_end(b, r);
            s.add(end.x[0], end.x[1], *to.got(b, e));
        }
        store(s, a, u, r, d);
    }
}
