/* cuda_pipeline.h - copies to shared memory that bypass registers, for clang alone, in place of NVIDIA's header of this
 * name: __pipeline_memcpy_async, __pipeline_commit, __pipeline_wait_prior.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

// clang-format off

/* `size` bytes, 4, 8 or 16, the last `zero` of them as zeros. */
__attn_fn void __pipeline_memcpy_async(void *shared, const void *global, size_t size, size_t zero = 0)
{
    const unsigned to = (unsigned)__cvta_generic_to_shared(shared), bytes = (unsigned)(size - zero);
    const size_t from = __cvta_generic_to_global(global);
    if (size == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
    else if (size == 8)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
__attn_fn void __pipeline_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
#define __pipeline_wait_prior(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
