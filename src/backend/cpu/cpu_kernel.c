/* cpu_kernel.c - the CPU kernels that are built in, by name, and what the program does for every one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cpu/cpu_kernel.h"

#include <string.h>

#include "backend/pool.h"
#include "base/status.h"
#include "kernel/descriptor.h"

const struct cpu_kernel cpu_kernels[] = {
    {"naive", attn_naive},
    {"row_online", attn_row_online},
    {"fa1_2022", attn_fa1_2022},
    {"qtile_seq", attn_qtile_seq},
    {"fa2", attn_fa2},
    {"splitkv", attn_splitkv},
    {"cpu_tiled", attn_cpu_tiled},
    {"decode_splitkv", attn_decode_splitkv},
    {NULL, NULL},
};

const struct cpu_kernel *cpu_kernel_find(const char *name)
{
    for (const struct cpu_kernel *k = cpu_kernels; k->name; k++)
        if (strcmp(k->name, name) == 0)
            return k;
    return NULL;
}

/* ---- what a kernel asks for ---- */

static void run(const struct cpu_launch *l, int64_t blocks, cpu_block_fn *body, void *ctx)
{
    pool_run(l->pool, blocks, body, ctx);
}

static void *scratch(const struct cpu_launch *l, int thread, size_t bytes)
{
    return pool_scratch(l->pool, thread, bytes);
}

static int64_t param(const struct cpu_launch *l, const char *name)
{
    const int i = desc_param_index(l->desc, name);
    if (i < 0)
        fatal("kernel %s has no parameter %s", l->desc->name, name);
    return l->params->v[i];
}

static void run_lending(const struct cpu_launch *l, int64_t blocks, cpu_block_fn *body, void *ctx)
{
    pool_run_lending(l->pool, blocks, body, ctx);
}

static int idle(const struct cpu_launch *l)
{
    return pool_find_idle(l->pool);
}

static void hand(const struct cpu_launch *l, int thread, cpu_block_fn *body, const void *data,
                 size_t bytes)
{
    pool_hand(l->pool, thread, body, data, bytes);
}

const struct cpu_host cpu_host = {.run = run,
                                  .scratch = scratch,
                                  .param = param,
                                  .run_lending = run_lending,
                                  .idle = idle,
                                  .hand = hand,
                                  .name_block = pool_name_block};
