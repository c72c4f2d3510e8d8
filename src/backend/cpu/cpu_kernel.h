/* cpu_kernel.h - what a kernel in kernels/cpu/ looks like.
 *
 * A CPU kernel is a C file with the same header comment as a CUDA kernel (@name, @title, @idea,
 * @after, @dtypes, @requires, @param, @grid, @workspace, @traffic; no @smem) and one function of the type below. It
 * walks the same grid as its CUDA namesake; pool_run() plays the GPU, a pool thread plays an SM.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CPU_KERNEL_H
#define ATTNSCOPE_BACKEND_CPU_KERNEL_H

#include "backend/cpu/cpu_simd.h"
#include "backend/pool.h"
#include "kernel/attn_args.h"
#include "kernel/descriptor.h"

struct cpu_launch {
    const struct kernel_desc *desc;
    const struct param_values *params;
    enum dtype dtype;
    struct pool *pool;
    const struct cpu_simd *simd; /* vector code for this machine */
};

/* One run of the whole kernel, all passes. */
typedef void cpu_kernel_fn(const struct AttnArgs *a, const struct cpu_launch *l);

/* kernels/cpu/<name>.c */
cpu_kernel_fn attn_naive, attn_row_online, attn_fa1_2022, attn_qtile_seq, attn_fa2, attn_splitkv,
    attn_cpu_tiled;

struct cpu_kernel {
    const char *name;
    cpu_kernel_fn *run;
};
extern const struct cpu_kernel cpu_kernels[]; /* name NULL at the end; in cpu_kernel.c */
const struct cpu_kernel *cpu_kernel_find(const char *name);

/* The value of parameter `name`; the descriptor must have it. */
int64_t cpu_param(const struct cpu_launch *l, const char *name);

#endif
