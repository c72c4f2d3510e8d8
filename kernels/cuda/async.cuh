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

// Waits until `threads` threads, a multiple of 32, have come to barrier `id` here or at arrive().
__device__ inline void meet(int id, int threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
// Comes to the barrier without waiting: for the side that hands something over.
__device__ inline void arrive(int id, int threads)
{
    __threadfence_block();
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
