/* shares.c - see shares.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cuda/shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/spot.h"
#include "base/clock.h"
#include "base/mem.h"

/* ---- pieces of a turn ---- */

/* Bytes of a tensor of the turn, which is the problem's rotated by `by`. */
static void copy_turned(const struct shares *x, int tensor, uint64_t turn, int64_t at, void *to,
                        size_t bytes)
{
    const char *from = x->ranks->host[tensor];
    const size_t whole = x->ranks->bytes[tensor],
                 by = input_turn_bytes(&x->ring->shape, (enum tensor_id)tensor, turn);
    const size_t start = ((size_t)at + by) % whole,
                 first = bytes < whole - start ? bytes : whole - start;
    memcpy(to, from + start, first);
    memcpy((char *)to + first, from, bytes - first);
}

/* Rows that lie side by side on both sides are copied in one go. */
struct run {
    const struct shares *x;
    int tensor;
    uint64_t turn;
    int64_t whole, piece; /* where the run begins */
    size_t bytes;         /* 0: none yet */
};

static void flush_run(struct run *r)
{
    if (r->bytes)
        copy_turned(r->x, r->tensor, r->turn, r->whole, r->x->piece + r->piece, r->bytes);
    r->bytes = 0;
}

static void take_row(void *ctx, int64_t whole, int64_t piece, size_t bytes)
{
    struct run *r = ctx;
    if (r->bytes && r->whole + (int64_t)r->bytes == whole &&
        r->piece + (int64_t)r->bytes == piece) {
        r->bytes += bytes;
        return;
    }
    flush_run(r);
    r->whole = whole;
    r->piece = piece;
    r->bytes = bytes;
}

/* The piece of GPU i into x->piece; its bytes. */
static size_t make_piece(struct shares *x, int i, int tensor, uint64_t turn)
{
    const enum ring_side side = tensor == TENSOR_Q ? RING_QUERIES : RING_KEYS;
    struct run r = {.x = x, .tensor = tensor, .turn = turn};
    for (int c = 0; c < x->ring->mine; c++)
        ring_each_row(x->ring, i, c, side, take_row, &r);
    flush_run(&r);
    return (size_t)(side == RING_KEYS ? ring_shard_half(x->ring, i)
                                      : ring_tensor_bytes(x->ring, i));
}

static enum status put(struct shares *x, int i, int tensor, cu_pointer to, uint64_t turn,
                       struct err *err)
{
    const size_t bytes = make_piece(x, i, tensor, turn);
    const struct gpu *g = rank_enter(x->ranks, i);
    cu_result r = g->api.copy_in(to, x->piece, bytes);
    if (r == CU_SUCCESS)
        r = g->api.device_sync();
    return rank_check(x->ranks, i, x->kernel, "cuMemcpyHtoD", r, err);
}

/* ---- poison ---- */

static cu_result fill(const struct gpu *g, cu_pointer p, unsigned char with, uint64_t bytes)
{
    return p && bytes ? g->api.fill8(p, with, (size_t)bytes, g->streams[0]) : CU_SUCCESS;
}

static cu_result poison_output(const struct shares *x, int i, const struct gpu *g)
{
    const uint64_t bytes = ring_tensor_bytes(x->ring, i);
    uint32_t wide;
    uint16_t narrow;
    memcpy(&wide, output_poison_f32, sizeof wide);
    memcpy(&narrow, output_poison_f16, sizeof narrow);
    if (!ring_answers(x->ring, i))
        return CU_SUCCESS;
    return x->ring->shape.dtype == DTYPE_F32
               ? g->api.fill32(x->seats[i].at.o, wide, (size_t)bytes / 4, g->streams[0])
               : g->api.fill16(x->seats[i].at.o, narrow, (size_t)bytes / 2, g->streams[0]);
}

enum { NO_NUMBER = 0xff }; /* a NaN in every type */

/* What was there of a run before must not stand in for what is yet to come by. */
static cu_result poison_coming(const struct shares *x, int i, const struct gpu *g)
{
    const struct ring_memory *m = &x->seats[i].at;
    cu_result r = fill(g, m->kv[1][0], NO_NUMBER, ring_slot_bytes(x->ring, i));
    if (r == CU_SUCCESS)
        r = fill(g, m->kv[1][1], NO_NUMBER, ring_slot_bytes(x->ring, i));
    for (int p = 0; p < x->ring->gpus && r == CU_SUCCESS; p++) {
        r = fill(g, m->part[p], NO_NUMBER, ring_part_tensor(x->ring, i));
        if (r == CU_SUCCESS)
            r = fill(g, m->part_lse[p], NO_NUMBER, ring_part_lse(x->ring, i));
    }
    return r;
}

enum status shares_put(struct shares *x, uint64_t turn, struct err *err)
{
    enum status st = ST_OK;
    for (int i = x->ranks->begin; i < x->ranks->end && st == ST_OK; i++) {
        const struct ring_memory *m = &x->seats[i].at;
        st = put(x, i, TENSOR_Q, m->q, turn, err);
        if (st == ST_OK)
            st = put(x, i, TENSOR_K, m->kv[0][0], turn, err);
        if (st == ST_OK)
            st = put(x, i, TENSOR_V, m->kv[0][1], turn, err);
        const struct gpu *g = rank_enter(x->ranks, i);
        cu_result r = st == ST_OK ? poison_output(x, i, g) : CU_SUCCESS;
        if (st == ST_OK && r == CU_SUCCESS)
            r = poison_coming(x, i, g);
        if (st == ST_OK)
            st = rank_check(x->ranks, i, x->kernel, "cuMemsetD8Async", r, err);
    }
    return st == ST_OK ? ranks_sync(x->ranks, x->kernel, err) : st;
}

static cu_result guard(const struct gpu *g, cu_pointer whole, uint64_t bytes)
{
    const cu_result r = fill(g, whole, output_guard_byte, whole ? OUTPUT_GUARD_BYTES : 0);
    return r == CU_SUCCESS && whole
               ? fill(g, whole + OUTPUT_GUARD_BYTES + bytes, output_guard_byte, OUTPUT_GUARD_BYTES)
               : r;
}

static cu_result poison_answers(const struct shares *x, int i, const struct gpu *g)
{
    const struct seat *s = &x->seats[i];
    uint32_t pattern;
    memcpy(&pattern, output_poison_f32, sizeof pattern);
    cu_result r = guard(g, s->outputs, ring_tensor_bytes(x->ring, i));
    if (r == CU_SUCCESS)
        r = guard(g, s->lses, ring_lse_bytes(x->ring, i));
    if (r == CU_SUCCESS && s->lses)
        r = g->api.fill32(s->at.lse, pattern, (size_t)ring_lse_bytes(x->ring, i) / 4,
                          g->streams[0]);
    for (int k = 0; k < DESC_WS_MAX && r == CU_SUCCESS; k++)
        r = fill(g, s->at.ws[k], NO_NUMBER, (uint64_t)s->ws_bytes[k]);
    for (int c = 0; c < x->ring->mine && r == CU_SUCCESS; c++) {
        r = fill(g, s->at.sum[c], NO_NUMBER, ring_sum_bytes(x->ring, i, c));
        if (r == CU_SUCCESS)
            r = fill(g, s->at.sum_lse[c], NO_NUMBER, ring_sum_lse_bytes(x->ring, i, c));
    }
    return r;
}

enum status shares_poison(struct shares *x, struct err *err)
{
    enum status st = ST_OK;
    for (int i = x->ranks->begin; i < x->ranks->end && st == ST_OK; i++)
        st = rank_check(x->ranks, i, x->kernel, "cuMemsetD8Async",
                        poison_answers(x, i, rank_enter(x->ranks, i)), err);
    return st == ST_OK ? ranks_sync(x->ranks, x->kernel, err) : st;
}

/* ---- looking at inputs ---- */

static enum status read_back(struct shares *x, int i, cu_pointer from, size_t bytes,
                             struct err *err)
{
    const struct gpu *g = rank_enter(x->ranks, i);
    memset(x->back, NO_NUMBER, bytes); /* a copy that brings nothing is none */
    return rank_check(x->ranks, i, x->kernel, "cuMemcpyDtoH", g->api.copy_out(x->back, from, bytes),
                      err);
}

/* Does memory of GPU i have the piece of GPU `whose`? */
static enum status holds(struct shares *x, int i, int whose, int tensor, cu_pointer at,
                         uint64_t turn, bool *same, struct err *err)
{
    const size_t bytes = make_piece(x, whose, tensor, turn);
    const enum status st = read_back(x, i, at, bytes, err);
    *same = st == ST_OK && !memcmp(x->piece, x->back, bytes);
    return st;
}

static enum status blame_slot(struct shares *x, int i, int whose, struct err *err)
{
    if (whose == i)
        return err_caught(err, "%s: it overwrote its inputs, K or V of GPU %d", x->kernel, i);
    return err_set(err, ST_FAIL,
                   "%s: what GPU %d has of GPU %d's keys and values is not what GPU %d began with: "
                   "a send brought others, or the kernel overwrote them",
                   x->kernel, i, whose, whose);
}

static enum status slots_intact(struct shares *x, int i, uint64_t turn, struct err *err)
{
    enum status st = ST_OK;
    const int last = x->ring->steps - 1;
    for (int step = last > 0 ? last - 1 : 0; step <= last && st == ST_OK; step++)
        for (int k = 0; k < 2 && st == ST_OK; k++) {
            const int whose = x->ring->turn[i][step].holds;
            bool same = false;
            st = holds(x, i, whose, k ? TENSOR_V : TENSOR_K, x->seats[i].at.kv[step % 2][k], turn,
                       &same, err);
            if (st == ST_OK && !same)
                st = blame_slot(x, i, whose, err);
        }
    return st;
}

enum status shares_intact(struct shares *x, uint64_t turn, struct err *err)
{
    enum status st = ST_OK;
    for (int i = x->ranks->begin; i < x->ranks->end && st == ST_OK; i++) {
        bool same = false;
        st = holds(x, i, i, TENSOR_Q, x->seats[i].at.q, turn, &same, err);
        if (st == ST_OK && !same)
            st = err_caught(err, "%s: it overwrote its inputs, Q of GPU %d", x->kernel, i);
        if (st == ST_OK)
            st = slots_intact(x, i, turn, err);
    }
    return st;
}

/* ---- looking at outputs ---- */

static bool is_filled(const unsigned char *p, size_t n)
{
    size_t i = 0;
    while (i < n && p[i] == output_guard_byte)
        i++;
    return i == n;
}

/* Output or LSE of GPU i, of `bytes` without its guards, into x->back as a whole. */
static enum status read_guarded(struct shares *x, int i, cu_pointer whole, uint64_t bytes,
                                struct err *err)
{
    return read_back(x, i, whole, (size_t)bytes + 2 * OUTPUT_GUARD_BYTES, err);
}

/* Where rows of a piece go in the whole. */
struct placed {
    unsigned char *whole;
    const unsigned char *piece;
};
static void place_row(void *ctx, int64_t whole, int64_t piece, size_t bytes)
{
    const struct placed *p = ctx;
    memcpy(p->whole + whole, p->piece + piece, bytes);
}

/* The first guards that are broken are shown: one GPU's. */
static void place_guards(unsigned char *dst, size_t whole, const unsigned char *piece, size_t bytes)
{
    unsigned char *behind = dst + OUTPUT_GUARD_BYTES + whole;
    if (is_filled(dst, OUTPUT_GUARD_BYTES))
        memcpy(dst, piece, OUTPUT_GUARD_BYTES);
    if (is_filled(behind, OUTPUT_GUARD_BYTES))
        memcpy(behind, piece + OUTPUT_GUARD_BYTES + bytes, OUTPUT_GUARD_BYTES);
}

/* What a GPU ends with of each row: the output's elements, or its LSE. */
struct kept {
    cu_pointer whole; /* guard, tensor, guard; on its GPU */
    uint64_t bytes;
};
static struct kept kept_of(const struct shares *x, int i, bool lse)
{
    return lse ? (struct kept){x->seats[i].lses, ring_lse_bytes(x->ring, i)}
               : (struct kept){x->seats[i].outputs, ring_tensor_bytes(x->ring, i)};
}

static void place(const struct ring *r, int i, bool lse, struct placed *p)
{
    if (lse)
        ring_each_lse(r, i, place_row, p);
    for (int c = 0; c < r->mine && !lse; c++)
        ring_each_row(r, i, c, RING_QUERIES, place_row, p);
}

enum status shares_gather(struct shares *x, bool lse, void *dst, struct err *err)
{
    const struct ring *r = x->ring;
    const size_t whole = lse ? (size_t)(r->shape.B * r->shape.H * r->shape.Sq) * sizeof(float)
                             : x->ranks->bytes[TENSOR_Q];
    unsigned char *o = dst;
    enum status st = ST_OK;
    memset(o, output_guard_byte, whole + 2 * OUTPUT_GUARD_BYTES);
    for (int i = x->ranks->begin; i < x->ranks->end && st == ST_OK; i++) {
        const struct kept k = kept_of(x, i, lse);
        if (!ring_answers(r, i))
            continue;
        st = read_guarded(x, i, k.whole, k.bytes, err);
        if (st != ST_OK)
            break;
        place(r, i, lse, &(struct placed){o + OUTPUT_GUARD_BYTES, x->back + OUTPUT_GUARD_BYTES});
        place_guards(o, whole, x->back, (size_t)k.bytes);
    }
    return st;
}

static enum status guards_intact(struct shares *x, int i, struct err *err)
{
    const uint64_t bytes = ring_tensor_bytes(x->ring, i);
    enum status st = read_guarded(x, i, x->seats[i].outputs, bytes, err);
    if (st == ST_OK && !(is_filled(x->back, OUTPUT_GUARD_BYTES) &&
                         is_filled(x->back + OUTPUT_GUARD_BYTES + bytes, OUTPUT_GUARD_BYTES)))
        st = err_set(err, ST_FAIL, "%s: a timed run wrote beside the output of GPU %d", x->kernel,
                     i);
    return st;
}

/* ---- a row of a timed run ---- */

static uint64_t draw(struct shares *x)
{
    x->chance = x->chance * 6364136223846793005u + 1442695040888963407u;
    return x->chance >> 20;
}

/* A row of the whole is in one place of a GPU's piece. */
struct wanted {
    int64_t whole, piece;
    bool found;
};
static void find_row(void *ctx, int64_t whole, int64_t piece, size_t bytes)
{
    struct wanted *w = ctx;
    (void)bytes;
    if (whole == w->whole) {
        w->piece = piece;
        w->found = true;
    }
}

static int64_t offset_in(const void *base, const void *p)
{
    return (const char *)p - (const char *)base;
}

static char *turned_rows(const struct shares *x, int tensor, uint64_t turn, int64_t at,
                         int64_t rows, int64_t stride)
{
    const struct shape *s = &x->ring->shape;
    const size_t bytes = rows ? (size_t)((rows - 1) * stride + s->D) * dtype_size(s->dtype) : 0;
    char *copy = xmalloc(bytes + 1);
    copy_turned(x, tensor, turn, at, copy, bytes);
    return copy;
}

/* Row `row` of the whole output, which GPU i has at `o`. */
static enum status look_at_row(struct shares *x, int i, int64_t row, cu_pointer o, uint64_t turn,
                               struct err *err)
{
    const struct shape *s = &x->ring->shape;
    static const char base[1];
    struct spot spot = spot_of_row(s, base, base, base, base, row);
    const size_t bytes = (size_t)s->D * dtype_size(s->dtype);
    char *q = turned_rows(x, TENSOR_Q, turn, offset_in(base, spot.q), 1, 0),
         *k = turned_rows(x, TENSOR_K, turn, offset_in(base, spot.k), spot.keys, spot.k_stride),
         *v = turned_rows(x, TENSOR_V, turn, offset_in(base, spot.v), spot.keys, spot.v_stride);
    enum status st = read_back(x, i, o, bytes, err);
    spot.q = q, spot.k = k, spot.v = v, spot.o = x->back;
    if (st == ST_OK && !spot_is_right(&spot)) {
        const size_t size = dtype_size(s->dtype);
        const bool poisoned =
            !memcmp(x->back, size == 4 ? output_poison_f32 : output_poison_f16, size);
        st = shares_intact(x, turn, err);
        if (st == ST_OK)
            st = err_set(err, ST_FAIL,
                         poisoned ? "%s: the output of GPU %d was not written when a timed run "
                                    "returned"
                                  : "%s: the output of GPU %d in a timed run is wrong",
                         x->kernel, i);
    }
    free(q);
    free(k);
    free(v);
    return st;
}

static enum status look_at_gpu(struct shares *x, int i, uint64_t turn, struct err *err)
{
    const struct ring *r = x->ring;
    const struct shape *s = &r->shape;
    const struct ring_rows chunk =
        ring_rows(r, i, (int)(draw(x) % (uint64_t)r->mine), RING_QUERIES);
    const int64_t query = chunk.first + (int64_t)(draw(x) % (uint64_t)chunk.rows),
                  head = (int64_t)(draw(x) % (uint64_t)(s->B * s->H));
    const struct strides o = shape_strides(s, s->H, s->Sq);
    struct wanted w = {.whole = (head / s->H * o.b + head % s->H * o.h + query * o.s) *
                                (int64_t)dtype_size(s->dtype)};
    for (int c = 0; c < r->mine && !w.found; c++)
        ring_each_row(r, i, c, RING_QUERIES, find_row, &w);
    return look_at_row(x, i, head * s->Sq + query, x->seats[i].at.o + (uint64_t)w.piece, turn, err);
}

/* Keys of a head take a while: of large ones a GPU's turn comes less often. */
static bool is_worth_a_look(const struct shares *x, int i)
{
    static const double often = 16 << 20; /* bytes that are gone through for every sample */
    const struct shape *s = &x->ring->shape;
    const double bytes = 2.0 * (double)s->Sk * (double)s->D * (double)dtype_size(s->dtype);
    const int every = (int)ceil(bytes * x->ring->gpus / often);
    return (x->looked + i) % (every > 1 ? every : 1) == 0;
}

enum status shares_look(struct shares *x, uint64_t turn, bool all, struct err *err)
{
    enum status st = ST_OK;
    for (int i = x->ranks->begin; i < x->ranks->end && st == ST_OK; i++) {
        if (!ring_answers(x->ring, i))
            continue;
        if (all)
            st = guards_intact(x, i, err);
        if (st == ST_OK && (all || is_worth_a_look(x, i)))
            st = look_at_gpu(x, i, turn, err);
    }
    x->looked++;
    return st;
}

/* ---- life ---- */

enum status shares_make(struct shares *x, struct ranks *ranks, const struct ring *ring,
                        struct seat *seats, const char *kernel, struct err *err)
{
    size_t most = 0;
    *x = (struct shares){.ranks = ranks,
                         .ring = ring,
                         .seats = seats,
                         .kernel = kernel,
                         .chance = (uint64_t)(seconds_now() * 1e9)};
    for (int i = 0; i < ring->gpus; i++) { /* of others, too: their keys come by */
        const size_t q = (size_t)ring_tensor_bytes(ring, i), k = (size_t)ring_shard_half(ring, i);
        most = q > most ? q : most;
        most = k > most ? k : most;
        most = ring_lse_bytes(ring, i) > most ? (size_t)ring_lse_bytes(ring, i) : most;
    }
    x->piece = malloc(most + 2 * OUTPUT_GUARD_BYTES);
    x->back = malloc(most + 2 * OUTPUT_GUARD_BYTES);
    return x->piece && x->back ? ST_OK
                               : err_set(err, ST_FAIL, "%s: no memory for a GPU's pieces", kernel);
}

void shares_clear(struct shares *x)
{
    free(x->piece);
    free(x->back);
}
