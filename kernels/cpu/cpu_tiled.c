/* cpu_tiled.c - attention as fast as a CPU's vector units allow.
 *
 * @name      cpu_tiled
 * @title     Queries across the vector lanes, one register block for both products, exp in registers
 * @idea      Let a vector lane be a query. Then S^T = K Q^T and O^T = V^T P^T are the same small
 *            product, fed one scalar at a time from K and V as they lie in memory and in whole
 *            vectors from a buffer in L1; maximum, sum and rescale need no reduction across lanes;
 *            and the powers of 2 are taken while the scores are still in registers. As lanes know
 *            nothing of each other, a thread that runs out of tiles takes half of another's queries.
 * @after     fa2
 * @dtypes    f16 bf16 f32
 * @param     BR 64 [1..1024]   query rows per tile; best a multiple of 64
 * @param     BC 192 [1..4096]  key rows per tile; best a multiple of 6, in 16 bits of 96
 * @param     LEND 1 [0..1]     threads that run out of tiles get half of the queries of one under way
 * @grid      ceil(Sq/BR) H B
 * @traffic   read B*H*(Sq*D*T+tiles(BR,BC)*2*BC*D*T) write B*H*Sq*D*T
 *
 * Cost: per vector of scores 2 D fused multiply-adds, and for the softmax 8 to 12 instructions that
 *   compete for the same ports: 94 % of the peak is the ceiling at D = 64 with AVX-512. A Zen 4 reaches 92 to 95 % of what
 *   its thread's multiply-adds alone have (AVX2: 86 to 90 %), a Xeon 87 to 91 % of them where its core is whole, and 66 to
 *   71 % while the core's other hardware thread works, too.
 * How: simd_tiled.h has the arithmetic; simd_avx512.c, simd_avx2.c, simd_neon.c and simd_generic.c
 *   compile it, and ATTNSCOPE_CPU forces one of them. In 16 bits the two products may have instructions of
 *   their own: simd_pairs.h (bf16, AVX512-BF16, 1.8 times the rate of floats on a Zen 4) and simd_amx.h
 *   (bf16 2.5 times, f16 1.1 to 1.6 times floats on a Xeon). This file only walks the grid. tests/gpu/phases.c
 *   times what a tile spends its time on.
 * LEND: cores are never equally fast (neighbours, clocks, small cores), so the last tiles end at different times.
 *   After each tile of keys a thread looks whether another waits; that one goes on with half of the queries, from
 *   the same key on, in the memory where they are. Each query meets the same keys in the same order, whoever has
 *   it, so the bits of the result depend neither on threads nor on their times. `timeline cpu_tiled backend=cpu`
 *   shows it; LEND=0 is without.
 * Limits: fewer than 16 queries leave lanes empty, and one query tile keeps one core busy: decoding
 *   wants decode_splitkv. Large D (above some 500) no longer keeps Q^T and O^T in the cache.
 *   With many queries and AMX, BR=128 or 256 has K and V converted for twice or four times as many: a tenth
 *   to a fifth less time from S=1k on; with few it leaves cores without a tile.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attn_cpu.h"

/* Who lends queries: the launch, and what it has given. */
struct lender {
    struct tiled_lender base; /* first: hand() gets its address */
    const struct cpu_launch *l;
};

struct lent {
    const struct cpu_launch *l;
    struct tiled_rest rest;
};

static struct lender lender_of(const struct cpu_launch *l);

static void run_lent(void *ctx, int64_t block, int thread)
{
    struct lent *x = ctx;
    struct tiled_job *j = &x->rest.job;
    struct lender lender = lender_of(x->l);
    (void)block;
    j->lender = &lender.base;
    j->scratch = x->l->host->scratch(x->l, thread, x->l->simd->tiled_scratch(j));
    x->l->simd->tiled_rest(&x->rest);
}

static int find_idle(struct tiled_lender *lender)
{
    const struct cpu_launch *l = ((struct lender *)lender)->l;
    return l->host->idle(l);
}

static void hand_over(struct tiled_lender *lender, int thread, const struct tiled_rest *r)
{
    const struct cpu_launch *l = ((struct lender *)lender)->l;
    const struct lent x = {l, *r};
    l->host->hand(l, thread, run_lent, &x, sizeof x);
}

static struct lender lender_of(const struct cpu_launch *l)
{
    return (struct lender){{find_idle, hand_over}, l};
}

static void tile_block(const struct block *blk)
{
    const struct AttnArgs *a = blk->a;
    struct lender lender = lender_of(blk->l);
    const enum dtype t = blk->l->dtype;
    const int64_t BR = cpu_param(blk->l, "BR");
    const int64_t i0 = blk->x * BR;
    const int64_t o_at = blk->b * a->o_stride[0] + blk->h * a->o_stride[1] + i0 * a->o_stride[2];
    struct tiled_job j = {
        .q = q_row(blk, i0),
        .k = k_row(blk, 0),
        .v = v_row(blk, 0),
        .o = (void *)element(t, a->o, o_at),
        .lse = a->lse ? a->lse + row_number(blk, i0) : NULL,
        .q_stride = a->q_stride[2],
        .k_stride = a->k_stride[2],
        .v_stride = a->v_stride[2],
        .o_stride = a->o_stride[2],
        .rows = min64(BR, a->Sq - i0),
        .room = min64(BR, a->Sq),
        .D = a->D,
        .BC = cpu_param(blk->l, "BC"),
        .first_end = a->causal ? i0 + a->Sk - a->Sq + 1 : a->Sk,
        .end_step = a->causal,
        .Sk = a->Sk,
        .scale = a->scale,
        .dtype = t,
        .lender = cpu_param(blk->l, "LEND") ? &lender.base : NULL,
    };
    j.scratch = shared_bytes(blk, blk->simd->tiled_scratch(&j));
    blk->simd->tiled(&j);
}

/* Under the mask later query tiles have more keys. Longest first, over all heads, so that no core is
 * left with a long tile at the end; without a mask head by head, while its K and V are in the cache. */
static void run_tile(void *ctx, int64_t index, int thread)
{
    const struct grid_ctx *g = ctx;
    const int64_t heads = (int64_t)g->a->H * g->a->B;
    if (g->a->causal)
        index = index % heads * g->nx + (g->nx - 1 - index / heads);
    g->l->host->name_block(index);
    run_block(ctx, index, thread);
}

void attn_cpu_tiled(const struct AttnArgs *a, const struct cpu_launch *l)
{
    const int64_t nx = ceil_div(a->Sq, cpu_param(l, "BR"));
    struct grid_ctx g = {a, l, tile_block, nx};
    const bool lend = cpu_param(l, "LEND") != 0;
    (lend ? l->host->run_lending : l->host->run)(l, nx * a->H * a->B, run_tile, &g);
}
