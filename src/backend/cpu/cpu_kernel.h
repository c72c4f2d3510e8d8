/* cpu_kernel.h - what a kernel in C looks like, built in or a user's own.
 *
 * A CPU kernel is a C file with the same header comment as a CUDA kernel (@name, @title, @idea,
 * @after, @dtypes, @requires, @param, @grid, @workspace, @traffic; no @smem) and one function of the
 * type below, called attn_<name>. It walks the same grid as its CUDA namesake; a pool of threads plays
 * the GPU, a thread of it plays an SM.
 *
 * This header and those it includes are also what a user's kernel is compiled with, so they need
 * nothing but a C compiler. Such a kernel links with nothing of the program either: what it asks of
 * the program goes through struct cpu_host.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CPU_KERNEL_H
#define ATTNSCOPE_BACKEND_CPU_KERNEL_H

#include "backend/cpu/cpu_simd.h"
#include "kernel/attn_args.h"

struct cpu_launch;
typedef void cpu_block_fn(void *ctx, int64_t block, int thread);

struct cpu_host {
    /* Runs body(ctx, block, thread) for every block 0..blocks-1 and returns when all are done. */
    void (*run)(const struct cpu_launch *l, int64_t blocks, cpu_block_fn *body, void *ctx);
    /* Memory of one thread, at least `bytes`, 64-byte aligned: the block's "shared memory". Contents are
     * undefined. Valid until the thread asks again. */
    void *(*scratch)(const struct cpu_launch *l, int thread, size_t bytes);
    /* The value of a parameter; the descriptor must have it. */
    int64_t (*param)(const struct cpu_launch *l, const char *name);
    /* As run, where a body may hand a part of what it does to a thread that has no block left: idle() finds one, which waits
     * until hand() gives it body(data, -1, thread), with a copy of the data; -1: none. */
    void (*run_lending)(const struct cpu_launch *l, int64_t blocks, cpu_block_fn *body, void *ctx);
    int (*idle)(const struct cpu_launch *l);
    void (*hand)(const struct cpu_launch *l, int thread, cpu_block_fn *body, const void *data,
                 size_t bytes);
    /* For who takes blocks in another order: the thread works on block number `block` of the grid. */
    void (*name_block)(int64_t block);
};
extern const struct cpu_host cpu_host; /* of this program; in cpu_kernel.c */

struct kernel_desc;
struct param_values;
struct pool;

struct cpu_launch {
    const struct cpu_host *host;
    const struct cpu_simd *simd; /* vector code for this machine */
    enum dtype dtype;
    /* The program's own. */
    const struct kernel_desc *desc;
    const struct param_values *params;
    struct pool *pool;
};

/* One run of the whole kernel, all passes. */
typedef void cpu_kernel_fn(const struct AttnArgs *a, const struct cpu_launch *l);

/* The value of parameter `name`; the descriptor must have it. */
static inline int64_t cpu_param(const struct cpu_launch *l, const char *name)
{
    return l->host->param(l, name);
}

/* kernels/cpu/<name>.c */
cpu_kernel_fn attn_naive, attn_row_online, attn_fa1_2022, attn_qtile_seq, attn_fa2, attn_splitkv,
    attn_cpu_tiled, attn_decode_splitkv;

struct cpu_kernel {
    const char *name;
    cpu_kernel_fn *run;
};
extern const struct cpu_kernel cpu_kernels[]; /* built in; name NULL at the end; in cpu_kernel.c */
const struct cpu_kernel *cpu_kernel_find(const char *name);

#endif
