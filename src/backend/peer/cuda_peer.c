/* cuda_peer.c - picks the library behind a peer; the Python ones on a GPU.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/peer/cuda_peer.h"

#include <stdlib.h>
#include <string.h>

static const struct cuda_peer *const peers[] = {&cuda_peer_cublas, &cuda_peer_cudnn};

static const struct cuda_peer *find_peer(const char *name)
{
    for (size_t i = 0; i < sizeof peers / sizeof *peers; i++)
        if (strcmp(peers[i]->name, name) == 0)
            return peers[i];
    return NULL;
}

/* The inputs as they are on the device, which is what our kernels read. */
static enum status copy_inputs(void *ctx, void *q, void *k, void *v, struct err *err)
{
    struct backend *b = ctx;
    const size_t size = dtype_size(b->shape.dtype);
    const size_t q_bytes = shape_q_elems(&b->shape) * size;
    const size_t kv_bytes = shape_kv_elems(&b->shape) * size;
    cu_result r = b->api.copy_out(q, b->q, q_bytes);
    if (r == CU_SUCCESS)
        r = b->api.copy_out(k, b->k, kv_bytes);
    if (r == CU_SUCCESS)
        r = b->api.copy_out(v, b->v, kv_bytes);
    return cuda_check(b, NULL, "cuMemcpyDtoH", r, err);
}

static enum status load_python(struct backend *b, struct slot *s, struct err *err)
{
    const struct python_problem p = {.shape = b->shape,
                                     .device = b->index,
                                     .sweep_bytes = cuda_sweep_bytes(b),
                                     .copy = copy_inputs,
                                     .ctx = b};
    if (b->nstreams > 1)
        return err_set(err, ST_NO,
                       "%s runs in one stream: streams=N is for kernels in this process",
                       s->desc->name);
    if (!b->pythons)
        b->pythons = pythons_new();
    char *name = desc_python_name(s->desc);
    enum status st = python_load(b->pythons, &p, name, &s->python, err);
    free(name);
    return st;
}

enum status cuda_peer_load(struct backend *b, struct slot *s, const struct param_values *v,
                           struct err *err)
{
    s->peer = find_peer(s->desc->peer);
    return s->peer ? s->peer->load(b, s, v, err) : load_python(b, s, err);
}

void cuda_peer_unload(struct backend *b, struct slot *s)
{
    if (s->peer)
        s->peer->unload(b, s);
    if (s->python)
        python_unload(s->python);
    free(s->version);
}

void cuda_peer_close(struct backend *b)
{
    if (b->cublas)
        cuda_peer_cublas.close(b->cublas, !b->spent);
    if (b->cudnn)
        cuda_peer_cudnn.close(b->cudnn, !b->spent);
    pythons_free(b->pythons);
}

enum status cuda_peer_sample(struct backend *b, struct slot *s, int repeat, double *seconds,
                             struct err *err)
{
    const bool graph = b->launch == LAUNCH_AUTO ? repeat > 1 : b->launch == LAUNCH_GRAPH;
    return python_sample(s->python, repeat, b->flush_asked, graph, seconds, err);
}
