// cluster.cuh - blocks that run side by side and read each other's shared memory (sm_90).
//
// A cluster is a few blocks, neighbours in x, on neighbouring multiprocessors, all started together. An
// address of one's own shared memory becomes that of the same place in another block's by the block's rank;
// such loads take about 200 cycles and pass by the L2 cache. Somebody else's shared memory is there from a
// first meeting of the cluster on, and until its block ends: hence another meeting after the last load.
//
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "async.cuh"
#include "attn.cuh"

__device__ inline int cluster_blocks()
{
    int n;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(n));
    return n;
}
__device__ inline int cluster_rank()
{
    int n;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(n));
    return n;
}

// All threads of the cluster come by; what they wrote before is seen after. The two halves may stand apart.
__device__ inline void cluster_arrive()
{
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ inline void cluster_wait()
{
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// The place `shared` of this block, in the block of that rank.
__device__ inline unsigned in_block(unsigned shared, int rank)
{
    unsigned there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared), "r"(rank));
    return there;
}
__device__ inline float load_there(unsigned there)
{
    float x;
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(x) : "r"(there) : "memory");
    return x;
}
__device__ inline Four load4_there(unsigned there)
{
    Four x;
    asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(x.x[0]), "=f"(x.x[1]), "=f"(x.x[2]), "=f"(x.x[3])
                 : "r"(there)
                 : "memory");
    return x;
}
// Goes its way; it is there for whoever meets this thread afterwards.
__device__ inline void store_there(unsigned there, float x)
{
    asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(there), "f"(x) : "memory");
}
