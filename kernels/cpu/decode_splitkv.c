/* decode_splitkv.c - a few queries and many keys: as fast as K and V come out of memory.
 *
 * @name      decode_splitkv
 * @title     Decode: heads that share K and V together, lanes along D, pieces of the keys
 * @idea      One new query a sequence reads all of K and V once for hardly any arithmetic, so all that
 *            counts is bytes on their way. The query heads that share K and V are the rows of one tile,
 *            so K and V are read once for all of them, straight from memory into registers, converted on
 *            the way, the next tile asked for ahead. Pieces of KEYS keys are blocks of their own, so
 *            that all cores read, whatever the batch; a second launch weighs their outputs.
 * @after     splitkv
 * @dtypes    f16 bf16 f32
 * @param     BR 64 [1..1024]      packed query rows per block
 * @param     BC 32 [1..4096]      keys per tile: K and V of one stay in L1 or L2
 * @param     KEYS 256 [1..65536]  keys per piece
 * @grid      ceil(H/Hkv*Sq/BR)*ceil(Sk/KEYS) Hkv B
 * @pass      combine
 * @grid      Sq H B
 * @workspace partial_o   B*H*Sq*ceil(Sk/KEYS)*D*4  outputs of the pieces, f32
 * @workspace partial_lse B*H*Sq*ceil(Sk/KEYS)*4    their LSE, base 2
 * @traffic   read B*(Hkv*ceil(H/Hkv*Sq/BR)*Sk*2*D*T+H*Sq*ceil(Sk/KEYS)*(D*T+(D+1)*4))
 *            write B*H*Sq*(ceil(Sk/KEYS)*(D+1)*4+D*T)
 *
 * Cost: 2 D T bytes a key and head of K/V, and 4 (D + 1) bytes a row and piece, written and read. With
 *   H/Hkv*Sq = 4 rows a core computes three times as fast as memory gives it 16-bit keys; from some 12 rows
 *   on it is multiply-adds that count.
 * How: simd_decode.h has the arithmetic. This file only walks the grid.
 * Limits: lanes along D add up across lanes, which costs a third of the multiply-adds at D=128: with
 *   64 queries and more cpu_tiled is faster.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "parts.h"

enum { WS_PARTIAL_O, WS_PARTIAL_LSE };

static int64_t pieces(const struct block *blk)
{
    return ceil_div(blk->a->Sk, cpu_param(blk->l, "KEYS"));
}

/* What a row leaves for the second pass, its parts side by side; rows of a group of heads follow each other. */
static float *partial_o(const struct block *blk, int64_t row)
{
    return (float *)blk->a->ws[WS_PARTIAL_O] + row_number(blk, row) * pieces(blk) * blk->a->D;
}

static float *partial_lse(const struct block *blk, int64_t row)
{
    return (float *)blk->a->ws[WS_PARTIAL_LSE] + row_number(blk, row) * pieces(blk);
}

/* Pass 1: BR packed rows of the heads from blk->h on, and one piece of the keys. */
static void piece_block(const struct block *blk)
{
    const struct AttnArgs *a = blk->a;
    const int64_t KEYS = cpu_param(blk->l, "KEYS"), BR = cpu_param(blk->l, "BR");
    const int64_t n = pieces(blk), piece = blk->x % n, row = blk->x / n * BR;
    const int64_t all = (int64_t)a->H / a->Hkv * a->Sq;
    struct decode_job j = {
        .q = q_row(blk, 0),
        .k = k_row(blk, 0),
        .v = v_row(blk, 0),
        .o = partial_o(blk, 0) + piece * a->D,
        .lse = partial_lse(blk, 0) + piece,
        .head_stride = a->q_stride[1],
        .q_stride = a->q_stride[2],
        .k_stride = a->k_stride[2],
        .v_stride = a->v_stride[2],
        .o_stride = n * a->D,
        .lse_stride = n,
        .row = row,
        .rows = min64(BR, all - row),
        .queries = a->Sq,
        .D = a->D,
        .BC = cpu_param(blk->l, "BC"),
        .first = piece * KEYS,
        .end = min64(a->Sk, (piece + 1) * KEYS),
        .first_end = a->causal ? (int64_t)a->Sk - a->Sq + 1 : a->Sk,
        .end_step = a->causal,
        .scale = a->scale,
        .dtype = blk->l->dtype,
    };
    j.scratch = shared_bytes(blk, blk->simd->decode_scratch(&j));
    blk->simd->decode(&j);
}

/* Pass 2: a row. */
static void combine_block(const struct block *blk)
{
    const int64_t n = pieces(blk);
    float *weights = shared_floats(blk, n + blk->a->D);
    combine_parts(blk, blk->x, partial_o(blk, blk->x), partial_lse(blk, blk->x), n, weights,
                  weights + n);
}

/* A block per head of K/V: its first query head stands for all of them. */
static void run_piece(void *ctx, int64_t index, int thread)
{
    const struct grid_ctx *g = ctx;
    const int64_t group = g->a->H / g->a->Hkv, kv = index / g->nx;
    run_block(ctx, kv * group * g->nx + index % g->nx, thread);
}

void attn_decode_splitkv(const struct AttnArgs *a, const struct cpu_launch *l)
{
    const int64_t rows = (int64_t)a->H / a->Hkv * a->Sq;
    const int64_t nx = ceil_div(rows, cpu_param(l, "BR")) * ceil_div(a->Sk, cpu_param(l, "KEYS"));
    struct grid_ctx g = {a, l, piece_block, nx};
    l->host->run(l, nx * a->Hkv * a->B, run_piece, &g);
    run_grid(a, l, a->Sq, combine_block);
}
