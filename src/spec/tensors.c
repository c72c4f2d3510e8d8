/* tensors.c - Q, K and V in memory, from the generator or from .npy files.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "spec/input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/number.h"
#include "spec/tensor_file.h"

enum { CHUNK = 4096, PART = 64 * CHUNK };

/* One tensor to fill: where, and what it is. */
struct target {
    const struct problem *p;
    const struct input_crew *crew; /* NULL: nobody helps */
    enum tensor_id id;
    unsigned char *data;
    int64_t heads, rows;
};

static size_t target_elems(const struct target *t)
{
    return (size_t)(t->p->shape.B * t->heads * t->rows * t->p->shape.D);
}

/* Copies `n` elements that begin at logical index `first` to where the layout puts them. */
static void place(const struct target *t, uint64_t first, const unsigned char *elems, size_t n)
{
    const struct shape *s = &t->p->shape;
    const size_t size = dtype_size(s->dtype);
    const struct strides stride = shape_strides(s, t->heads, t->rows);
    const uint64_t D = (uint64_t)s->D;
    while (n) {
        const uint64_t row = first / D, d = first % D;
        const int64_t in_head = (int64_t)(row % (uint64_t)t->rows);
        const int64_t head = (int64_t)(row / (uint64_t)t->rows);
        const int64_t at = head / t->heads * stride.b + head % t->heads * stride.h +
                           in_head * stride.s + (int64_t)d;
        const size_t run = D - d < n ? (size_t)(D - d) : n;
        memcpy(t->data + (size_t)at * size, elems, run * size);
        elems += run * size;
        first += run;
        n -= run;
    }
}

/* All n of them, by whoever helps. */
static void in_parts(const struct input_crew *crew, int64_t n,
                     void (*part)(void *ctx, int64_t i, int thread), void *ctx)
{
    if (crew && n > 1)
        crew->run(crew->crew, n, part, ctx);
    else
        for (int64_t i = 0; i < n; i++)
            part(ctx, i, 0);
}

static int64_t parts_of(size_t total)
{
    return (int64_t)((total + PART - 1) / PART);
}

static void fill_chunk(const struct target *t, size_t first, size_t n)
{
    const struct shape *s = &t->p->shape;
    const size_t size = dtype_size(s->dtype);
    float values[CHUNK];
    unsigned char rounded[CHUNK * sizeof(float)];
    input_values(t->p->input, t->p->seed, t->id, s, first, n, values);
    if (s->layout == LAYOUT_BHSD) { /* logical order is memory order */
        dtype_from_float(s->dtype, values, t->data + first * size, n);
        return;
    }
    dtype_from_float(s->dtype, values, rounded, n);
    place(t, first, rounded, n);
}

static void fill_part(void *ctx, int64_t part, int thread)
{
    const struct target *t = ctx;
    const size_t total = target_elems(t), from = (size_t)part * PART,
                 end = total - from < PART ? total : from + PART;
    (void)thread;
    for (size_t at = from; at < end; at += CHUNK)
        fill_chunk(t, at, end - at < CHUNK ? end - at : CHUNK);
}

static void fill_generated(struct target *t)
{
    in_parts(t->crew, parts_of(target_elems(t)), fill_part, t);
}

/* The file must still be what the shape says: either may have changed since input= was given. */
static enum status check_file(const struct target *t, const struct tensor_file *f, struct err *err)
{
    const struct shape *s = &t->p->shape;
    enum dtype dtype = s->dtype;
    const enum status st = tensor_file_dtype(f, s->dtype, &dtype, err);
    if (st)
        return st;
    if (f->b == s->B && f->h == t->heads && f->s == t->rows && f->d == s->D && dtype == s->dtype)
        return ST_OK;
    return err_set(err, ST_USAGE,
                   "%s holds (%lld,%lld,%lld,%lld) %s but the shape asks %s for "
                   "(%lld,%lld,%lld,%lld) %s; give input= again, or input=normal",
                   f->path, (long long)f->b, (long long)f->h, (long long)f->s, (long long)f->d,
                   dtype_name(dtype), tensor_names[t->id], (long long)s->B, (long long)t->heads,
                   (long long)t->rows, (long long)s->D, dtype_name(s->dtype));
}

static enum status fill_from_file(const struct target *t, struct err *err)
{
    const char *path = t->p->files[t->id];
    struct tensor_file f;
    enum status st = tensor_file_open(path, &f, err);
    if (!st)
        st = check_file(t, &f, err);
    if (st)
        return st;
    if (t->p->shape.layout == LAYOUT_BHSD)
        return npy_read(path, &f.npy, t->data, err);
    unsigned char *elems = malloc(f.npy.data_bytes);
    if (!elems)
        return err_set(err, ST_FAIL, "no memory for %s (%zu bytes)", path, f.npy.data_bytes);
    st = npy_read(path, &f.npy, elems, err);
    if (!st)
        place(t, 0, elems, target_elems(t));
    free(elems);
    return st;
}

static enum status fill(struct target *t, struct err *err)
{
    if (t->p->input == INPUT_FILES)
        return fill_from_file(t, err);
    fill_generated(t);
    return ST_OK;
}

/* Fails with a sentence, not fatally: the size is the user's wish. */
static enum status allocate(size_t bytes, void **out, struct err *err)
{
    char text[NUMBER_BUF];
    if ((*out = mem_alloc_wide(bytes)))
        return ST_OK;
    return err_set(err, ST_FAIL, "no memory for a tensor of %s",
                   number_fmt_bytes(text, (double)bytes));
}

/* ---- turns -------------------------------------------------------------------------------- */

size_t input_turn_bytes(const struct shape *s, enum tensor_id t, uint64_t turn)
{
    enum { MANY_ROWS = 64 };
    const uint64_t elems = t == TENSOR_Q ? shape_q_elems(s) : shape_kv_elems(s);
    const uint64_t rows = elems / (uint64_t)s->D;
    const uint64_t unit = rows >= MANY_ROWS ? (uint64_t)s->D : 1, count = elems / unit;
    if (!turn || count < 2)
        return 0;
    const uint64_t by = 1 + hash_mix(turn + (uint64_t)(t + 1) * 0x9e3779b97f4a7c15u) % (count - 1);
    return (size_t)(by * unit) * dtype_size(s->dtype);
}

void input_rotate(void *dst, const void *src, size_t bytes, size_t by)
{
    memcpy(dst, (const char *)src + by, bytes - by);
    memcpy((char *)dst + (bytes - by), src, by);
}

struct rotation {
    char *dst;
    const char *src;
    size_t bytes, by;
};

/* What comes to one place of the rotated tensor and behind it, `n` bytes, which may begin again meanwhile. */
static void rotate_part(void *ctx, int64_t part, int thread)
{
    const struct rotation *r = ctx;
    const size_t at = (size_t)part * PART, n = r->bytes - at < PART ? r->bytes - at : PART,
                 from = (at + r->by) % r->bytes,
                 straight = r->bytes - from < n ? r->bytes - from : n;
    (void)thread;
    memcpy(r->dst + at, r->src + from, straight);
    memcpy(r->dst + at + straight, r->src, n - straight);
}

/* Puts a whole tensor into its place in the problem's turn. */
static enum status turn_tensor(const struct target *t, void **data, size_t bytes, struct err *err)
{
    const size_t by = input_turn_bytes(&t->p->shape, t->id, t->p->turn);
    void *turned = NULL;
    if (!by)
        return ST_OK;
    enum status st = allocate(bytes, &turned, err);
    if (st)
        return st;
    struct rotation r = {turned, *data, bytes, by};
    in_parts(t->crew, parts_of(bytes), rotate_part, &r);
    free(*data);
    *data = turned;
    return ST_OK;
}

enum status tensors_make(const struct problem *p, struct tensors *out, struct err *err)
{
    return tensors_make_by(NULL, p, out, err);
}

enum status tensors_make_by(const struct input_crew *crew, const struct problem *p,
                            struct tensors *out, struct err *err)
{
    const struct shape *s = &p->shape;
    *out = (struct tensors){0};
    enum status st = shape_check(s, err);
    if (!st)
        st = shape_check_memory(s, mem_available_bytes(), err);
    if (st)
        return st;
    out->q_bytes = shape_q_elems(s) * dtype_size(s->dtype);
    out->kv_bytes = shape_kv_elems(s) * dtype_size(s->dtype);
    void **const data[3] = {&out->q, &out->k, &out->v};
    for (int i = 0; i < 3 && !st; i++) {
        const bool q = i == TENSOR_Q;
        st = allocate(q ? out->q_bytes : out->kv_bytes, data[i], err);
        struct target t = {.p = p,
                           .crew = crew,
                           .id = (enum tensor_id)i,
                           .data = *data[i],
                           .heads = q ? s->H : s->Hkv,
                           .rows = q ? s->Sq : s->Sk};
        if (!st)
            st = fill(&t, err);
        if (!st)
            st = turn_tensor(&t, data[i], q ? out->q_bytes : out->kv_bytes, err);
    }
    if (st)
        tensors_free(out);
    return st;
}

void tensors_free(struct tensors *t)
{
    free(t->q);
    free(t->k);
    free(t->v);
    *t = (struct tensors){0};
}
