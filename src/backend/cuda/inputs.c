/* inputs.c - Q, K and V on the device.
 *
 * Every kernel of a job reads the same copies. One that writes to them would make the next one fail its
 * check, so after each checked run they are read back and held against a sum of what was copied in.
 * The bus carries them in the time in which the reference computes a row.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cuda/inputs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { BOUNCE_BYTES = 4 << 20 };

size_t inputs_tensor_bytes(const struct inputs *in)
{
    return shape_q_elems(&in->shape) * dtype_size(in->shape.dtype);
}

size_t inputs_output_bytes(const struct inputs *in)
{
    return inputs_tensor_bytes(in) + 2 * OUTPUT_GUARD_BYTES;
}

/* Order matters, so that an exchange of elements shows. Eight bytes a step. */
static uint64_t add_sum(uint64_t sum, const void *data, size_t len)
{
    const char *p = data;
    for (; len >= 8; p += 8, len -= 8) {
        uint64_t word;
        memcpy(&word, p, sizeof word);
        sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
        sum ^= sum >> 32;
    }
    for (; len; p++, len--)
        sum = (sum ^ (unsigned char)*p) * 0x9e3779b97f4a7c15u;
    return sum;
}

static enum status add_device_sum(struct gpu *g, const struct inputs *in, cu_pointer from,
                                  size_t bytes, uint64_t *sum, struct err *err)
{
    for (size_t at = 0; at < bytes; at += BOUNCE_BYTES) {
        const size_t n = bytes - at < BOUNCE_BYTES ? bytes - at : BOUNCE_BYTES;
        enum status st =
            gpu_check(g, NULL, "cuMemcpyDtoH", g->api.copy_out(in->bounce, from + at, n), err);
        if (st != ST_OK)
            return st;
        *sum = add_sum(*sum, in->bounce, n);
    }
    return ST_OK;
}

static size_t kv_bytes(const struct inputs *in)
{
    return shape_kv_elems(&in->shape) * dtype_size(in->shape.dtype);
}

static enum status device_sum(struct gpu *g, const struct inputs *in, uint64_t *sum,
                              struct err *err)
{
    *sum = 0;
    enum status st = add_device_sum(g, in, in->q, inputs_tensor_bytes(in), sum, err);
    if (st == ST_OK)
        st = add_device_sum(g, in, in->k, kv_bytes(in), sum, err);
    if (st == ST_OK)
        st = add_device_sum(g, in, in->v, kv_bytes(in), sum, err);
    return st;
}

enum status inputs_intact(struct gpu *g, const struct inputs *in, const char *who, struct err *err)
{
    uint64_t sum;
    enum status st = device_sum(g, in, &sum, err);
    if (st != ST_OK && who)
        err_prefix(err, "%s", who);
    if (st != ST_OK || sum == in->sum)
        return st;
    if (!who)
        return err_set(err, ST_FAIL, "the inputs on the GPU are not those that were copied to it");
    g->spent = xasprintf("%s: it overwrote its inputs", who);
    return err_set(err, ST_FAIL, "%s: it overwrote its inputs, Q, K or V", who);
}

/* ---- copying in ---- */

void inputs_drop(struct gpu *g, struct inputs *in)
{
    gpu_release(g, &in->q);
    gpu_release(g, &in->k);
    gpu_release(g, &in->v);
    free(in->bounce);
    in->bounce = NULL;
    in->present = false;
}

static enum status copy_tensor(struct gpu *g, struct inputs *in, const void *host, size_t bytes,
                               cu_pointer *out, struct err *err)
{
    enum status st = gpu_alloc(g, "a copy of the inputs", bytes, out, err);
    if (st == ST_OK)
        st = gpu_check(g, NULL, "cuMemcpyHtoD", g->api.copy_in(*out, host, bytes), err);
    in->sum = add_sum(in->sum, host, bytes);
    return st;
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
    in->sum = 0;
    in->bounce = xmalloc(BOUNCE_BYTES);
    st = copy_tensor(g, in, host->q, host->q_bytes, &in->q, err);
    if (st == ST_OK)
        st = copy_tensor(g, in, host->k, host->kv_bytes, &in->k, err);
    if (st == ST_OK)
        st = copy_tensor(g, in, host->v, host->kv_bytes, &in->v, err);
    if (st == ST_OK)
        st = inputs_intact(g, in, NULL, err);
    if (st != ST_OK)
        inputs_drop(g, in);
    in->present = st == ST_OK;
    return st;
}
