/* cuda_inputs.c - Q, K and V on the device.
 *
 * Every kernel of a job reads the same copies. One that writes to them would make the next one fail its
 * check, so after each checked run they are read back and held against a sum of what was copied in.
 * The bus carries them in the time in which the reference computes a row.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda_state.h"
#include "base/mem.h"

enum { BOUNCE_BYTES = 4 << 20 };

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

static enum status add_device_sum(struct backend *b, cu_pointer from, size_t bytes, uint64_t *sum,
                                  struct err *err)
{
    for (size_t at = 0; at < bytes; at += BOUNCE_BYTES) {
        const size_t n = bytes - at < BOUNCE_BYTES ? bytes - at : BOUNCE_BYTES;
        enum status st =
            cuda_check(b, NULL, "cuMemcpyDtoH", b->api.copy_out(b->bounce, from + at, n), err);
        if (st != ST_OK)
            return st;
        *sum = add_sum(*sum, b->bounce, n);
    }
    return ST_OK;
}

static size_t kv_bytes(const struct backend *b)
{
    return shape_kv_elems(&b->shape) * dtype_size(b->shape.dtype);
}

static enum status device_sum(struct backend *b, uint64_t *sum, struct err *err)
{
    *sum = 0;
    enum status st = add_device_sum(b, b->q, cuda_tensor_bytes(b), sum, err);
    if (st == ST_OK)
        st = add_device_sum(b, b->k, kv_bytes(b), sum, err);
    if (st == ST_OK)
        st = add_device_sum(b, b->v, kv_bytes(b), sum, err);
    return st;
}

enum status cuda_inputs_intact(struct backend *b, const char *who, struct err *err)
{
    uint64_t sum;
    enum status st = device_sum(b, &sum, err);
    if (st != ST_OK && who)
        err_prefix(err, "%s", who);
    if (st != ST_OK || sum == b->inputs_sum)
        return st;
    if (!who)
        return err_set(err, ST_FAIL, "the inputs on the GPU are not those that were copied to it");
    b->spent = xasprintf("%s: it overwrote its inputs", who);
    return err_set(err, ST_FAIL, "%s: it overwrote its inputs, Q, K or V", who);
}

/* ---- copying in ---- */

void cuda_free_inputs(struct backend *b)
{
    cuda_release(b, &b->q);
    cuda_release(b, &b->k);
    cuda_release(b, &b->v);
    free(b->bounce);
    b->bounce = NULL;
    b->has_inputs = false;
}

static enum status copy_tensor(struct backend *b, const void *host, size_t bytes, cu_pointer *out,
                               struct err *err)
{
    enum status st = cuda_alloc(b, "a copy of the inputs", bytes, out, err);
    if (st == ST_OK)
        st = cuda_check(b, NULL, "cuMemcpyHtoD", b->api.copy_in(*out, host, bytes), err);
    b->inputs_sum = add_sum(b->inputs_sum, host, bytes);
    return st;
}

enum status cuda_set_inputs(struct backend *b, const struct problem *p, const struct tensors *host,
                            struct err *err)
{
    enum status st = cuda_alive(b, "the inputs", err);
    if (st != ST_OK)
        return st;
    cuda_drop_slots(b);
    cuda_free_inputs(b);
    b->shape = p->shape;
    b->seed = p->seed;
    b->inputs_sum = 0;
    b->bounce = xmalloc(BOUNCE_BYTES);
    st = copy_tensor(b, host->q, host->q_bytes, &b->q, err);
    if (st == ST_OK)
        st = copy_tensor(b, host->k, host->kv_bytes, &b->k, err);
    if (st == ST_OK)
        st = copy_tensor(b, host->v, host->kv_bytes, &b->v, err);
    if (st == ST_OK)
        st = cuda_inputs_intact(b, NULL, err);
    if (st != ST_OK)
        cuda_free_inputs(b);
    b->has_inputs = st == ST_OK;
    return st;
}
