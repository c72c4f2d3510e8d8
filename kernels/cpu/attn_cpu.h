/* attn_cpu.h - what the CPU kernels share: addresses, the mask, rows to and from floats.
 *
 * The counterpart of kernels/cuda/attn.cuh. A kernel hands a grid to run_grid(), as a launch does;
 * one of its blocks runs on one thread of the pool, as a block runs on one multiprocessor, and keeps
 * its tiles in that thread's scratch memory, as in shared memory. Nothing here is a kernel's idea.
 *
 * Scores are kept times log2(e): exp(x) = 2^(x log2 e), and powers of 2 are what hardware has.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_KERNELS_ATTN_CPU_H
#define ATTNSCOPE_KERNELS_ATTN_CPU_H

#include <math.h>
#include <string.h>

#include "backend/cpu/cpu_kernel.h"

#define LOG2E 1.4426950408889634f
#define LN2   0.6931471805599453

/* What a block knows of its launch and of its place in the grid. */
struct block {
    const struct AttnArgs *a;
    const struct cpu_launch *l;
    const struct cpu_simd *simd;
    int64_t x;  /* blockIdx.x */
    int b, h;   /* batch and query head: blockIdx.z and .y */
    int thread; /* of the pool; for scratch memory only */
};

typedef void block_fn(const struct block *blk);

struct grid_ctx {
    const struct AttnArgs *a;
    const struct cpu_launch *l;
    block_fn *fn;
    int64_t nx;
};

static inline void run_block(void *ctx, int64_t index, int thread)
{
    const struct grid_ctx *g = (const struct grid_ctx *)ctx;
    const int64_t head = index / g->nx;
    const struct block blk = {.a = g->a,
                              .l = g->l,
                              .simd = g->l->simd,
                              .x = index % g->nx,
                              .b = (int)(head / g->a->H),
                              .h = (int)(head % g->a->H),
                              .thread = thread};
    g->fn(&blk);
}

/* Launches nx x H x B blocks and waits for them. */
static inline void run_grid(const struct AttnArgs *a, const struct cpu_launch *l, int64_t nx,
                            block_fn *fn)
{
    struct grid_ctx g = {a, l, fn, nx};
    l->host->run(l, nx * a->H * a->B, run_block, &g);
}

static inline int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static inline int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Keys that query i sees: the mask is aligned at the bottom right. */
static inline int64_t visible_keys(const struct AttnArgs *a, int64_t i)
{
    if (!a->causal)
        return a->Sk;
    return min64(max64(i + a->Sk - a->Sq + 1, 0), a->Sk);
}

/* Number of a query among all: the index of lse and of per-row workspace. */
static inline int64_t row_number(const struct block *blk, int64_t i)
{
    return ((int64_t)blk->b * blk->a->H + blk->h) * blk->a->Sq + i;
}

/* Element size as a pointer step. */
static inline const void *element(enum dtype t, const void *base, int64_t index)
{
    return (const char *)base + index * (t == DTYPE_F32 ? 4 : 2);
}

static inline const void *q_row(const struct block *blk, int64_t i)
{
    const int64_t *s = blk->a->q_stride;
    return element(blk->l->dtype, blk->a->q, blk->b * s[0] + blk->h * s[1] + i * s[2]);
}

/* Query heads share K/V heads in groups of H / Hkv. */
static inline int64_t kv_head(const struct block *blk)
{
    return blk->h / (blk->a->H / blk->a->Hkv);
}

static inline const void *k_row(const struct block *blk, int64_t j)
{
    const int64_t *s = blk->a->k_stride;
    return element(blk->l->dtype, blk->a->k, blk->b * s[0] + kv_head(blk) * s[1] + j * s[2]);
}

static inline const void *v_row(const struct block *blk, int64_t j)
{
    const int64_t *s = blk->a->v_stride;
    return element(blk->l->dtype, blk->a->v, blk->b * s[0] + kv_head(blk) * s[1] + j * s[2]);
}

/* Copies n rows of D elements, `stride` elements apart, into a tile of floats without gaps. */
static inline void load_tile(const struct block *blk, float *tile, const void *rows, int64_t stride,
                             int64_t n)
{
    for (int64_t r = 0; r < n; r++)
        blk->simd->to_float(blk->l->dtype, element(blk->l->dtype, rows, r * stride),
                            tile + r * blk->a->D, blk->a->D);
}

/* n rows of `cols` elements as floats: in place when they are floats already, else converted into
 * buf. *pitch is from row to row of the result. */
static inline const float *rows_as_floats(const struct block *blk, const void *rows, int64_t stride,
                                          int64_t n, int64_t cols, float *buf, int64_t *pitch)
{
    *pitch = stride;
    if (blk->l->dtype == DTYPE_F32)
        return (const float *)rows;
    for (int64_t r = 0; r < n; r++)
        blk->simd->to_float(blk->l->dtype, element(blk->l->dtype, rows, r * stride), buf + r * cols,
                            cols);
    *pitch = cols;
    return buf;
}

/* Output columns [d, d + n) of query i, rounded once. */
static inline void store_columns(const struct block *blk, int64_t i, int64_t d, int64_t n,
                                 const float *o)
{
    const int64_t *s = blk->a->o_stride;
    const int64_t at = blk->b * s[0] + blk->h * s[1] + i * s[2] + d;
    blk->simd->from_float(blk->l->dtype, o, (void *)element(blk->l->dtype, blk->a->o, at), n);
}

/* A whole output row and its LSE, from the sum l of 2^(s - m). l = 0: a row without a key. */
static inline void store_row(const struct block *blk, int64_t i, const float *o, float m, float l)
{
    store_columns(blk, i, 0, blk->a->D, o);
    if (blk->a->lse)
        blk->a->lse[row_number(blk, i)] = l > 0 ? (float)((m + log2((double)l)) * LN2) : -INFINITY;
}

/* Scratch memory ("shared memory") of the block. One call a block. */
static inline float *shared_bytes(const struct block *blk, size_t bytes)
{
    return (float *)blk->l->host->scratch(blk->l, blk->thread, bytes);
}

static inline float *shared_floats(const struct block *blk, int64_t floats)
{
    return shared_bytes(blk, (size_t)floats * sizeof(float));
}

#endif
