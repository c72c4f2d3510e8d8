/* ring_args.h - what a GPU of a ring is given: where its pieces of the tensors lie, and the arguments of its launches.
 *
 * The same for simulated GPUs and for real ones: addresses are the backend's, all else follows from the plan.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_RING_ARGS_H
#define ATTNSCOPE_BACKEND_RING_ARGS_H

#include <stdint.h>

#include "kernel/attn_args.h"
#include "kernel/descriptor.h"
#include "plan/ring.h"

/* ---- pieces of tensors ---- */

/* The tensor of a GPU alone: its chunks one behind the other, as the whole would be laid out. */
struct strides ring_strides(const struct ring *r, int gpu, enum ring_side side);
/* Calls for every row of a chunk: where it begins in the whole and in the piece, in bytes. */
typedef void ring_row_fn(void *ctx, int64_t whole, int64_t piece, size_t bytes);
void ring_each_row(const struct ring *r, int gpu, int chunk, enum ring_side side, ring_row_fn *f,
                   void *ctx);
/* The same of an LSE, whose pieces lie by chunk, then by batch, head, row. */
void ring_each_lse(const struct ring *r, int gpu, ring_row_fn *f, void *ctx);

/* ---- memory of a card ---- */

/* Addresses; 0: it has no such thing. */
struct ring_memory {
    uint64_t q, o, lse, kv[2][2];                          /* kv: K and V of each slot */
    uint64_t part[RING_GPUS_MAX], part_lse[RING_GPUS_MAX]; /* by ring_own_part() */
    uint64_t sum[RING_MINE_MAX], sum_lse[RING_MINE_MAX], ws[DESC_WS_MAX];
};
/* Of the parts that a GPU has room for, the one that it makes itself. */
int ring_own_part(const struct ring *r, int gpu);
/* How many bytes each takes: what of it a card does not have is 0. */
uint64_t ring_tensor_bytes(const struct ring *r, int gpu); /* Q; O where it has one */
uint64_t ring_lse_bytes(const struct ring *r, int gpu);    /* of its rows of the output */
uint64_t ring_slot_bytes(const struct ring *r,
                         int gpu); /* K of a slot, or V: the widest, or what stays */
uint64_t ring_shard_half(const struct ring *r, int whose);     /* K, or V, of a GPU */
uint64_t ring_sum_bytes(const struct ring *r, int gpu, int i); /* f32 */
uint64_t ring_sum_lse_bytes(const struct ring *r, int gpu, int i);
bool ring_has_part(const struct ring *r, int gpu, int part);
uint64_t ring_part_tensor(const struct ring *r, int gpu); /* a part without its LSE */
uint64_t ring_part_lse(const struct ring *r, int gpu);

/* ---- launches ---- */

/* Chunk i of a card's queries against chunk j of the keys that it has in a step. */
struct ring_meeting {
    int gpu, step, i, j;
};
struct AttnArgs ring_attn_args(const struct ring *r, const struct ring_memory *m,
                               const struct ring_meeting *x, const struct shape *local,
                               uint64_t seed);

/* The parameter of kernels/ring/merge.cu. */
struct ring_merge_args {
    uint64_t part, part_lse, sum, sum_lse, o, lse;
    int64_t o_stride[3];
    int32_t B, H, rows, D;
    int32_t first, last;
};
_Static_assert(sizeof(struct ring_merge_args) == 96, "MergeArgs of kernels/ring/merge.cu");
enum { RING_MERGE_WARPS = 4 }; /* of a block; a warp takes a row */
/* Part number `part` into the answer of chunk i, which has had `before` parts. */
struct ring_merge_args ring_merge_args(const struct ring *r, const struct ring_memory *m, int gpu,
                                       int i, int part, int before);
/* "ring_merge_f32_to_f16": parts in f32, the answer in f16; "ring_merge_f16": both in f16. */
const char *ring_merge_entry(const struct ring *r);

#endif
