// send.cuh - stores into another block's shared memory that a barrier there counts (st.async, sm_90).
//
// A store to another block and an arrival that releases it wait until all earlier stores of the thread are seen by the
// whole GPU: about a microsecond. These go their way without: the barrier, of the block that is stored to, ends
// its phase when as many bytes as it was told to expect have come, and who waits for it there sees them. They publish
// nothing else: that something has been read is said by an arrival.
//
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "cluster.cuh"

// Comes to the cluster's barrier where nothing that was written need be seen but barriers: without a fence.
__device__ inline void cluster_arrive_only()
{
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

// `there` and `barrier` by in_block(), both of one block; 4 or 16 bytes, at a multiple of them.
__device__ inline void send_there(unsigned there, unsigned barrier, float x)
{
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %2, [%1];" ::"r"(there), "r"(barrier), "f"(x)
                 : "memory");
}
__device__ inline void send_there(unsigned there, unsigned barrier, const Four &x)
{
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%2, %3, %4, %5}, [%1];" ::"r"(there),
                 "r"(barrier), "f"(x.x[0]), "f"(x.x[1]), "f"(x.x[2]), "f"(x.x[3])
                 : "memory");
}
// Who has made a block's barriers says so before the cluster meets, and before that nobody sends.
__device__ inline void publish_counters()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
// An arrival, after which the phase also waits for so many bytes.
__device__ inline void expect_sent(MemoryBarrier *b, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(b)), "r"(bytes) : "memory");
}
// Waits, asleep, for the end of the phase of this parity.
__device__ inline void await_sent(MemoryBarrier *b, int parity)
{
    asm volatile("{ .reg .pred done;\n"
                 "again: mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n"
                 "@!done bra again; }" ::"r"(shared_address(b)),
                 "r"(parity)
                 : "memory");
}
// One arrival at another block's barrier: what this thread has read may be written over.
__device__ inline void arrive_there(unsigned barrier)
{
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}
