/* inputs.c - Q, K and V on the device.
 *
 * Every kernel of a job reads the same copies. One that writes to them would make the next one fail its
 * check, so after each checked run, and after those timed ones whose output is judged, they are read back and
 * held against a sum of what was copied in. The bus carries them in the time in which the reference computes a
 * row. All other timed runs have their inputs filled anew before them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cuda/inputs.h"

#include <stdlib.h>
#include <string.h>

#include "backend/cuda/unit_sum.h"
#include "base/mem.h"

size_t inputs_tensor_bytes(const struct inputs *in)
{
    return shape_q_elems(&in->shape) * dtype_size(in->shape.dtype);
}

size_t inputs_output_bytes(const struct inputs *in)
{
    return inputs_tensor_bytes(in) + 2 * OUTPUT_GUARD_BYTES;
}

/* A sum over bytes that begin with number `first` of a tensor's. */
struct running_sum {
    size_t first;
    uint64_t sum;
};

static void add_part(void *ctx, const char *part, size_t at, size_t n)
{
    struct running_sum *s = ctx;
    __atomic_fetch_add(&s->sum, unit_sum(part, n, (s->first + at) / 2), __ATOMIC_RELAXED);
}

/* Adds the bytes from `begin` to `end` of a tensor on the device, which begin with number `first` of the
 * problem's. */
static enum status add_device_sum(struct gpu *g, const struct inputs *in, cu_pointer tensor,
                                  size_t begin, size_t end, size_t first, uint64_t *sum,
                                  struct err *err)
{
    struct running_sum s = {.first = first, .sum = *sum};
    const enum status st =
        bounce_read(in->bounce, g, NULL, tensor + begin, end - begin, add_part, &s, err);
    *sum = s.sum;
    return st;
}

static size_t set_bytes(const struct inputs *in, int tensor)
{
    const struct shape *s = &in->shape;
    return (tensor == TENSOR_Q ? shape_q_elems(s) : shape_kv_elems(s)) * dtype_size(s->dtype);
}

/* Of a rotated tensor, from where the original begins. */
static enum status tensor_sum(struct gpu *g, const struct inputs *in, const struct input_set *set,
                              int tensor, uint64_t *sum, struct err *err)
{
    const size_t bytes = set_bytes(in, tensor), start = (bytes - set->by[tensor]) % bytes;
    *sum = 0;
    enum status st = add_device_sum(g, in, set->at[tensor], start, bytes, 0, sum, err);
    return st == ST_OK ? add_device_sum(g, in, set->at[tensor], 0, start, bytes - start, sum, err)
                       : st;
}

static enum status set_intact(struct gpu *g, const struct inputs *in, const struct input_set *set,
                              bool *intact, struct err *err)
{
    enum status st = ST_OK;
    for (int i = 0; i < 3 && st == ST_OK; i++) {
        uint64_t sum;
        st = tensor_sum(g, in, set, i, &sum, err);
        *intact = *intact && (st != ST_OK || sum == in->sum[i]);
    }
    for (int i = 0; i < 2 && set->pool[i] && st == ST_OK; i++)
        st = pools_look(g, &in->pools, set->at[TENSOR_K + i], set->pool[i], intact, err);
    return st;
}

enum status inputs_intact(struct gpu *g, const struct inputs *in, int i, const char *who,
                          struct err *err)
{
    bool intact = true;
    enum status st = set_intact(g, in, &in->sets[i % in->count], &intact, err);
    if (st == ST_OK)
        st = set_intact(g, in, &in->source, &intact, err);
    if (st != ST_OK && who)
        err_prefix(err, "%s", who);
    if (st != ST_OK || intact)
        return st;
    if (!who)
        return err_set(err, ST_FAIL, "the inputs on the GPU are not those that were copied to it");
    g->spent = xasprintf("%s: it overwrote its inputs", who);
    return err_caught(err, "%s: it overwrote its inputs, Q, K or V", who);
}

/* ---- copying in ---- */

void inputs_drop(struct gpu *g, struct inputs *in)
{
    gpu_release(g, &in->whole);
    gpu_release(g, &in->ring);
    pools_close(g, &in->pools);
    in->present = false;
    in->count = 0;
}

static cu_pointer behind(cu_pointer base, size_t bytes)
{
    enum { ALIGN = 256 };
    return base + (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* Where a set's tensors lie in memory that begins at `base`; returns where the next set may begin. */
static cu_pointer place_set(const struct inputs *in, cu_pointer base, bool pools,
                            struct input_set *set)
{
    *set = (struct input_set){.at = {0}};
    for (int i = 0; i < 3; i++) {
        set->at[i] = base;
        base = behind(base, set_bytes(in, i));
    }
    for (int i = 0; i < 2 && pools && in->shape.page; i++) {
        set->pool[i] = base;
        base = behind(base, page_pool_bytes(&in->shape));
    }
    return base;
}

enum status inputs_fill(struct gpu *g, struct inputs *in, int i, uint64_t turn, const char *who,
                        struct err *err)
{
    struct input_set *to = &in->sets[i % in->count];
    cu_result r = CU_SUCCESS;
    for (int t = 0; t < 3 && r == CU_SUCCESS; t++) {
        const size_t bytes = set_bytes(in, t),
                     by = input_turn_bytes(&in->shape, (enum tensor_id)t, turn);
        to->by[t] = by;
        r = g->api.copy_on(to->at[t], in->source.at[t] + by, bytes - by, g->streams[0]);
        if (r == CU_SUCCESS && by)
            r = g->api.copy_on(to->at[t] + (bytes - by), in->source.at[t], by, g->streams[0]);
    }
    enum status st = gpu_check(g, who, "cuMemcpyDtoDAsync", r, err);
    for (int k = 0; k < 2 && to->pool[k] && st == ST_OK; k++)
        st = pools_fill(g, &in->pools, to->at[TENSOR_K + k], to->pool[k], who, err);
    return st;
}

/* So many that all of them, outputs too, fit into half of the L2: what is hot stays so. */
static int count_sets(const struct gpu *g, const struct inputs *in)
{
    const size_t each = 2 * set_bytes(in, TENSOR_Q) + 2 * set_bytes(in, TENSOR_K) +
                        2 * (in->shape.page ? page_pool_bytes(&in->shape) : 0);
    const size_t l2 = g->model.l2_bytes > 0 ? (size_t)g->model.l2_bytes : 0, fit = l2 / 2 / each;
    return fit > INPUTS_SETS_MAX ? INPUTS_SETS_MAX : fit > 1 ? (int)fit : 1;
}

static enum status copy_tensor(struct gpu *g, struct inputs *in, int tensor, const void *host,
                               struct err *err)
{
    const size_t bytes = set_bytes(in, tensor);
    struct running_sum s = {.first = 0};
    bounce_each(in->bounce, host, bytes, add_part, &s);
    in->sum[tensor] = s.sum;
    return gpu_copy_in(g, NULL, in->source.at[tensor], host, bytes, err);
}

/* The source, and a first set, which is looked at: what arrives there has arrived in the source. */
static enum status copy_inputs(struct gpu *g, struct inputs *in, const struct tensors *host,
                               struct err *err)
{
    const void *const from[3] = {host->q, host->k, host->v};
    struct input_set probe;
    const size_t whole = (size_t)place_set(in, 0, false, &probe),
                 each = (size_t)place_set(in, 0, true, &probe);
    in->count = count_sets(g, in);
    enum status st = gpu_alloc(g, "a copy of the inputs", whole, &in->whole, err);
    if (st == ST_OK)
        st = gpu_alloc(g, "a copy of the inputs", each * (size_t)in->count, &in->ring, err);
    place_set(in, in->whole, false, &in->source);
    for (int i = 0; i < in->count; i++)
        place_set(in, in->ring + (cu_pointer)each * (cu_pointer)i, true, &in->sets[i]);
    if (st == ST_OK)
        st = pools_open(g, &in->shape, in->seed, &in->pools, err);
    for (int i = 0; i < 3 && st == ST_OK; i++)
        st = copy_tensor(g, in, i, from[i], err);
    if (st == ST_OK)
        st = inputs_fill(g, in, 0, 0, NULL, err);
    if (st == ST_OK)
        st = gpu_check(g, NULL, "cuStreamSynchronize", g->api.stream_sync(g->streams[0]), err);
    return st == ST_OK ? inputs_intact(g, in, 0, NULL, err) : st;
}

enum status inputs_set(struct gpu *g, struct inputs *in, const struct problem *p,
                       const struct tensors *host, struct err *err)
{
    enum status st = gpu_alive(g, "the inputs", err);
    if (st != ST_OK)
        return st;
    inputs_drop(g, in);
    in->shape = p->shape;
    in->seed = p->seed;
    st = copy_inputs(g, in, host, err);
    if (st != ST_OK)
        inputs_drop(g, in);
    in->present = st == ST_OK;
    return st;
}
