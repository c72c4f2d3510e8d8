// async.cuh - work that goes on while a thread does something else: copies from global to shared memory
// that bypass registers (cp.async, sm_80), and barriers among some warps of a block.
//
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The 32-bit address that shared-memory instructions take.
__device__ inline unsigned shared_address(const void *p)
{
    unsigned a;
    asm("{ .reg .u64 p; cvta.to.shared.u64 p, %1; cvt.u32.u64 %0, p; }" : "=r"(a) : "l"(p));
    return a;
}

// ---- Copies -------------------------------------------------------------------------------------

// 16 bytes, or 16 bytes of zero where `valid` is false (the address is not touched then).
__device__ inline void copy_async(unsigned shared, const void *global, bool valid)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(global),
                 "r"(valid ? 16 : 0)
                 : "memory");
}
// Closes the group of this thread's copies so far.
__device__ inline void commit_copies()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
// Waits until at most `pending` groups of this thread are under way. A barrier must follow before
// other threads' copies are read.
template <int pending> __device__ inline void wait_copies()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

// ---- Barriers by number (1 to 15; 0 is __syncthreads) -------------------------------------------

// Waits until `threads` threads, a multiple of 32, have come to barrier `id`.
__device__ inline void meet(int id, int threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// ---- Barriers in memory (mbarrier, sm_80): who hands over does not wait -------------------------

// Each round, or phase, ends when `arrivals` have come. Phases are told apart by their parity: 0 is the
// first. A barrier of the block must follow before others use it.
using MemoryBarrier = unsigned long long;
__device__ inline void barrier_make(MemoryBarrier *b, int arrivals)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(b)), "r"(arrivals) : "memory");
}
// What this thread has read and written so far is done for whoever waits.
__device__ inline void arrive(MemoryBarrier *b)
{
    asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(shared_address(b)) : "memory");
}
// Arrives when this thread's copies so far have come, whatever the thread does meanwhile.
__device__ inline void arrive_with_copies(MemoryBarrier *b)
{
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_address(b)) : "memory");
}
// Waits for the end of the phase of this parity.
__device__ inline void barrier_wait(MemoryBarrier *b, int parity)
{
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(shared_address(b)), "r"(parity)
                     : "memory");
}
