/* python_gpu.c - kernels that live in Python, on a GPU: the child has its own copies of the inputs, its own
 * clock and its own flush.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "backend/cuda/flush.h"
#include "backend/peer/cuda_peer.h"
#include "backend/peer/python.h"

/* The inputs as they are on the device, which is what our kernels read. */
static enum status copy_inputs(void *ctx, void *q, void *k, void *v, struct err *err)
{
    const struct slot *s = ctx;
    const struct inputs *in = s->inputs;
    struct gpu *g = s->gpu;
    const size_t size = dtype_size(in->shape.dtype);
    const size_t kv_bytes = shape_kv_elems(&in->shape) * size;
    const cu_pointer *from = in->source.at;
    cu_result r = g->api.copy_out(q, from[TENSOR_Q], shape_q_elems(&in->shape) * size);
    if (r == CU_SUCCESS)
        r = g->api.copy_out(k, from[TENSOR_K], kv_bytes);
    if (r == CU_SUCCESS)
        r = g->api.copy_out(v, from[TENSOR_V], kv_bytes);
    return gpu_check(g, NULL, "cuMemcpyDtoH", r, err);
}

static enum status load(struct slot *s, const struct param_values *v, struct err *err)
{
    const struct python_problem p = {.shape = s->inputs->shape,
                                     .device = s->gpu->index,
                                     .sweep_bytes = flush_bytes(s->gpu),
                                     .copy = copy_inputs,
                                     .ctx = s};
    struct python_slot *own = NULL;
    (void)v;
    if (s->gpu->nstreams > 1)
        return err_set(err, ST_NO,
                       "%s runs in one stream: streams=N is for kernels in this process",
                       s->desc->name);
    if (!*s->opened)
        *s->opened = pythons_new();
    char *name = desc_python_name(s->desc);
    enum status st = python_load(*s->opened, &p, name, &own, err);
    free(name);
    s->peer_data = own;
    return st;
}

static void unload(struct slot *s)
{
    if (s->peer_data)
        python_unload(s->peer_data);
}

static void close_pythons(void *opened, bool usable)
{
    (void)usable;
    pythons_free(opened);
}

static void drop(void *opened)
{
    pythons_drop(opened);
}

static enum status run(struct slot *s, struct err *err)
{
    return python_run(s->peer_data, err);
}

static enum status prepare(struct slot *s, uint64_t turn, struct err *err)
{
    return python_prepare(s->peer_data, turn, err);
}

static enum status inspect(struct slot *s, bool all, struct err *err)
{
    return python_inspect(s->peer_data, all, err);
}

static enum status fetch(struct slot *s, struct err *err)
{
    return python_fetch(s->peer_data, err);
}

static const void *output(const struct slot *s)
{
    return python_output(s->peer_data);
}

static enum status sample(struct slot *s, int repeat, bool cold, bool graph, double *seconds,
                          struct err *err)
{
    return python_sample(s->peer_data, repeat, cold, graph, seconds, err);
}

static json_t *describe(const struct slot *s)
{
    return python_describe(s->peer_data);
}

const struct cuda_peer cuda_peer_python = {
    .name = "python",
    .load = load,
    .unload = unload,
    .close = close_pythons,
    .drop = drop,
    .run = run,
    .prepare = prepare,
    .inspect = inspect,
    .output = output,
    .fetch = fetch,
    .sample = sample,
    .describe = describe,
};
