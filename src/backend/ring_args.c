/* ring_args.c - see ring_args.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/ring_args.h"

#include "backend/args.h"

/* ---- pieces of tensors ---- */

static int64_t heads_of(const struct ring *r, enum ring_side side)
{
    return side == RING_KEYS ? r->shape.Hkv : r->shape.H;
}

struct strides ring_strides(const struct ring *r, int gpu, enum ring_side side)
{
    return shape_strides(&r->shape, heads_of(r, side), ring_count(r, gpu, side));
}

/* Where chunk i begins among the GPU's own rows. */
static int64_t row_of_chunk(const struct ring *r, int gpu, int i, enum ring_side side)
{
    return i ? ring_rows(r, gpu, 0, side).rows : 0;
}

void ring_each_row(const struct ring *r, int gpu, int chunk, enum ring_side side, ring_row_fn *f,
                   void *ctx)
{
    const struct shape *s = &r->shape;
    const int64_t heads = heads_of(r, side), T = (int64_t)dtype_size(s->dtype);
    const struct strides all = shape_strides(s, heads, side == RING_KEYS ? s->Sk : s->Sq),
                         mine = ring_strides(r, gpu, side);
    const struct ring_rows rows = ring_rows(r, gpu, chunk, side);
    const int64_t at = row_of_chunk(r, gpu, chunk, side);
    for (int64_t b = 0; b < s->B; b++)
        for (int64_t h = 0; h < heads; h++)
            for (int64_t i = 0; i < rows.rows; i++)
                f(ctx, (b * all.b + h * all.h + (rows.first + i) * all.s) * T,
                  (b * mine.b + h * mine.h + (at + i) * mine.s) * T, (size_t)(s->D * T));
}

void ring_each_lse(const struct ring *r, int gpu, ring_row_fn *f, void *ctx)
{
    const struct shape *s = &r->shape;
    int64_t at = 0;
    for (int i = 0; i < r->mine; i++) {
        const struct ring_rows rows = ring_rows(r, gpu, i, RING_QUERIES);
        for (int64_t head = 0; head < s->B * s->H; head++, at += rows.rows * 4)
            f(ctx, (head * s->Sq + rows.first) * 4, at, (size_t)rows.rows * 4);
    }
}

/* ---- memory of a card ---- */

int ring_own_part(const struct ring *r, int gpu)
{
    return r->gathers ? gpu : 0;
}

bool ring_has_part(const struct ring *r, int gpu, int part)
{
    return part == ring_own_part(r, gpu) || (r->gathers && gpu == 0 && part < r->gpus);
}

static uint64_t heads(const struct ring *r)
{
    return (uint64_t)(r->shape.B * r->shape.H);
}

static uint64_t row_bytes(const struct ring *r)
{
    return (uint64_t)r->shape.D * dtype_size(r->shape.dtype);
}

uint64_t ring_tensor_bytes(const struct ring *r, int gpu)
{
    return heads(r) * (uint64_t)ring_count(r, gpu, RING_QUERIES) * row_bytes(r);
}

uint64_t ring_lse_bytes(const struct ring *r, int gpu)
{
    return heads(r) * (uint64_t)ring_count(r, gpu, RING_QUERIES) * sizeof(float);
}

uint64_t ring_shard_half(const struct ring *r, int whose)
{
    return (uint64_t)(ring_shard_bytes(r, whose) / 2);
}

uint64_t ring_slot_bytes(const struct ring *r, int gpu)
{
    uint64_t most = ring_shard_half(r, gpu);
    for (int g = 0; g < r->gpus && !r->gathers; g++)
        most = ring_shard_half(r, g) > most ? ring_shard_half(r, g) : most;
    return most;
}

static uint64_t chunk_rows(const struct ring *r, int gpu, int i)
{
    return heads(r) * (uint64_t)ring_rows(r, gpu, i, RING_QUERIES).rows;
}

uint64_t ring_sum_bytes(const struct ring *r, int gpu, int i)
{
    return ring_parts(r, gpu, i) ? chunk_rows(r, gpu, i) * (uint64_t)r->shape.D * sizeof(float) : 0;
}

uint64_t ring_sum_lse_bytes(const struct ring *r, int gpu, int i)
{
    return ring_parts(r, gpu, i) ? chunk_rows(r, gpu, i) * sizeof(float) : 0;
}

/* Of the larger chunk. */
static uint64_t part_rows(const struct ring *r, int gpu)
{
    uint64_t most = 0;
    for (int i = 0; i < r->mine; i++)
        most = chunk_rows(r, gpu, i) > most ? chunk_rows(r, gpu, i) : most;
    return most;
}

uint64_t ring_part_tensor(const struct ring *r, int gpu)
{
    return part_rows(r, gpu) * (uint64_t)r->shape.D * dtype_size(r->parts);
}

uint64_t ring_part_lse(const struct ring *r, int gpu)
{
    return part_rows(r, gpu) * sizeof(float);
}

/* ---- launches ---- */

static void set_strides(int64_t to[3], struct strides s)
{
    to[0] = s.b;
    to[1] = s.h;
    to[2] = s.s;
}

static void *address(uint64_t at)
{
    return (void *)(uintptr_t)at;
}

struct AttnArgs ring_attn_args(const struct ring *r, const struct ring_memory *m,
                               const struct ring_meeting *x, const struct shape *local,
                               uint64_t seed)
{
    const int holds = r->turn[x->gpu][x->step].holds, slot = x->step % 2,
              own = ring_own_part(r, x->gpu);
    const struct strides q = ring_strides(r, x->gpu, RING_QUERIES),
                         k = ring_strides(r, holds, RING_KEYS);
    const uint64_t T = dtype_size(r->shape.dtype),
                   qs = (uint64_t)(row_of_chunk(r, x->gpu, x->i, RING_QUERIES) * q.s) * T,
                   ks = (uint64_t)(row_of_chunk(r, holds, x->j, RING_KEYS) * k.s) * T;
    struct AttnArgs a = attn_args(local, seed);
    a.q = address(m->q + qs);
    a.k = address(m->kv[slot][0] + ks);
    a.v = address(m->kv[slot][1] + ks);
    a.o = address(m->part[own]);
    a.lse = address(m->part_lse[own]);
    set_strides(a.q_stride, q);
    set_strides(a.k_stride, k);
    set_strides(a.v_stride, k);
    set_strides(a.o_stride,
                (struct strides){local->H * local->Sq * local->D, local->Sq * local->D, local->D});
    for (int i = 0; i < DESC_WS_MAX; i++)
        a.ws[i] = address(m->ws[i]);
    return a;
}

struct ring_merge_args ring_merge_args(const struct ring *r, const struct ring_memory *m, int gpu,
                                       int i, int part, int before)
{
    const struct shape *s = &r->shape;
    const struct strides o = ring_strides(r, gpu, RING_QUERIES);
    const int64_t at = row_of_chunk(r, gpu, i, RING_QUERIES);
    return (struct ring_merge_args){.part = m->part[part],
                                    .part_lse = m->part_lse[part],
                                    .sum = m->sum[i],
                                    .sum_lse = m->sum_lse[i],
                                    .o = m->o + (uint64_t)(at * o.s) * dtype_size(s->dtype),
                                    .lse = m->lse ? m->lse + (uint64_t)at * heads(r) * sizeof(float)
                                                  : 0,
                                    .o_stride = {o.b, o.h, o.s},
                                    .B = (int32_t)s->B,
                                    .H = (int32_t)s->H,
                                    .rows = (int32_t)ring_rows(r, gpu, i, RING_QUERIES).rows,
                                    .D = (int32_t)s->D,
                                    .first = before == 0,
                                    .last = before + 1 == ring_parts(r, gpu, i)};
}

const char *ring_merge_entry(const struct ring *r)
{
    static const char *const same[DTYPE_COUNT] = {[DTYPE_F16] = "ring_merge_f16",
                                                  [DTYPE_BF16] = "ring_merge_bf16",
                                                  [DTYPE_F32] = "ring_merge_f32"},
                             *const of_f32[DTYPE_COUNT] = {[DTYPE_F16] = "ring_merge_f32_to_f16",
                                                           [DTYPE_BF16] = "ring_merge_f32_to_bf16",
                                                           [DTYPE_F32] = "ring_merge_f32"};
    return (r->parts == DTYPE_F32 ? of_f32 : same)[r->shape.dtype];
}
