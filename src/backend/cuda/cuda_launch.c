/* cuda_launch.c - arguments, memory and launches of a loaded kernel.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/peer/cuda_peer.h"
#include "base/mem.h"

size_t cuda_tensor_bytes(const struct backend *b)
{
    return shape_q_elems(&b->shape) * dtype_size(b->shape.dtype);
}

size_t cuda_output_bytes(const struct backend *b)
{
    return cuda_tensor_bytes(b) + 2 * OUTPUT_GUARD_BYTES;
}

/* ---- lanes ---- */

static void set_strides(int64_t dst[3], const struct shape *s, int64_t heads, int64_t rows)
{
    const struct strides st = shape_strides(s, heads, rows);
    dst[0] = st.b;
    dst[1] = st.h;
    dst[2] = st.s;
}

static void *device_address(cu_pointer p)
{
    return (void *)(uintptr_t)p;
}

static void make_args(const struct backend *b, struct lane *l)
{
    const struct shape *p = &b->shape;
    struct AttnArgs *a = &l->args;
    *a = (struct AttnArgs){.q = device_address(b->q),
                           .k = device_address(b->k),
                           .v = device_address(b->v),
                           .o = device_address(l->output + OUTPUT_GUARD_BYTES),
                           .seed = b->seed,
                           .B = (int32_t)p->B,
                           .H = (int32_t)p->H,
                           .Hkv = (int32_t)p->Hkv,
                           .Sq = (int32_t)p->Sq,
                           .Sk = (int32_t)p->Sk,
                           .D = (int32_t)p->D,
                           .causal = p->causal,
                           .scale = (float)(1 / sqrt((double)p->D))};
    for (int i = 0; i < DESC_WS_MAX; i++)
        a->ws[i] = device_address(l->ws[i]);
    set_strides(a->q_stride, p, p->H, p->Sq);
    set_strides(a->k_stride, p, p->Hkv, p->Sk);
    set_strides(a->v_stride, p, p->Hkv, p->Sk);
    set_strides(a->o_stride, p, p->H, p->Sq);
}

static enum status make_lane(struct backend *b, struct slot *s, struct lane *l, struct err *err)
{
    char what[160];
    snprintf(what, sizeof what, "%s: its output", s->desc->name);
    enum status st = cuda_alloc(b, what, cuda_output_bytes(b), &l->output, err);
    for (int i = 0; i < s->desc->nws && st == ST_OK; i++) {
        snprintf(what, sizeof what, "%s: its workspace %s (%s bytes)", s->desc->name,
                 s->desc->ws[i].name, expr_text(s->desc->ws[i].bytes));
        st = cuda_alloc(b, what, (size_t)s->plan.ws_bytes[i], &l->ws[i], err);
    }
    make_args(b, l);
    return st;
}

enum status cuda_make_lanes(struct backend *b, struct slot *s, struct err *err)
{
    enum status st = ST_OK;
    s->lanes = xcalloc((size_t)b->nstreams, sizeof *s->lanes);
    while (s->nlanes < b->nstreams && st == ST_OK)
        st = make_lane(b, s, &s->lanes[s->nlanes++], err);
    return st;
}

void cuda_free_lanes(struct backend *b, struct slot *s)
{
    for (int i = 0; i < s->nlanes; i++) {
        cuda_release(b, &s->lanes[i].output);
        for (int k = 0; k < DESC_WS_MAX; k++)
            cuda_release(b, &s->lanes[i].ws[k]);
    }
    free(s->lanes);
    s->lanes = NULL;
    s->nlanes = 0;
}

/* ---- launching ---- */

static cu_result launch_pass(struct backend *b, const struct slot *s, int pass, int stream)
{
    const struct plan_pass *p = &s->plan.passes[pass];
    void *params[] = {&s->lanes[stream].args};
    struct cu_launch_attribute cluster = {.id = CU_ATTR_CLUSTER_DIM,
                                          .value.cluster = {(unsigned)p->cluster, 1, 1}};
    const struct cu_launch_config c = {
        .grid = {(unsigned)p->grid[0], (unsigned)p->grid[1], (unsigned)p->grid[2]},
        .block = {(unsigned)p->threads, 1, 1},
        .dynamic_smem = (unsigned)p->dynamic_smem,
        .stream = b->streams[stream],
        .attrs = &cluster,
        .nattrs = 1,
    };
    if (p->cluster > 1)
        return b->api.launch_ex(&c, s->functions[pass], params, NULL);
    return b->api.launch(s->functions[pass], c.grid[0], c.grid[1], c.grid[2], c.block[0], 1, 1,
                         c.dynamic_smem, c.stream, params, NULL);
}

enum status cuda_queue(struct backend *b, struct slot *s, int i, struct err *err)
{
    return s->peer ? s->peer->queue(b, s, i, err) : cuda_queue_passes(b, s, i, err);
}

enum status cuda_queue_passes(struct backend *b, struct slot *s, int i, struct err *err)
{
    const char *name = s->desc->name;
    enum status st = ST_OK;
    for (int k = 0; k < s->desc->nws && st == ST_OK; k++)
        if (s->desc->ws[k].zero)
            st = cuda_check(
                b, name, "cuMemsetD8Async",
                b->api.fill8(s->lanes[i].ws[k], 0, (size_t)s->plan.ws_bytes[k], b->streams[i]),
                err);
    if (s->library && st == ST_OK)
        return foreign_call(s->desc, s->library, &s->lanes[i].args, b->streams[i], err);
    for (int pass = 0; pass < s->plan.npasses && st == ST_OK; pass++)
        st = cuda_check(b, name, "cuLaunchKernel", launch_pass(b, s, pass, i), err);
    return st;
}

/* ---- one checked run ---- */

static cu_result poison_tensor(struct backend *b, cu_pointer tensor)
{
    const size_t n = shape_q_elems(&b->shape);
    uint32_t wide;
    uint16_t narrow;
    memcpy(&wide, output_poison_f32, sizeof wide);
    memcpy(&narrow, output_poison_f16, sizeof narrow);
    return b->shape.dtype == DTYPE_F32 ? b->api.fill32(tensor, wide, n, b->streams[0])
                                       : b->api.fill16(tensor, narrow, n, b->streams[0]);
}

/* Everything the kernel must write before it reads: the output, guarded, and the workspace, which
 * holds NaNs for a start. */
static enum status poison(struct backend *b, struct slot *s, struct err *err)
{
    const struct lane *l = &s->lanes[0];
    const cu_pointer tensor = l->output + OUTPUT_GUARD_BYTES;
    const cu_pointer behind = tensor + cuda_tensor_bytes(b);
    const cu_stream stream = b->streams[0];
    const size_t guard = OUTPUT_GUARD_BYTES;
    cu_result r = b->api.fill8(l->output, output_guard_byte, guard, stream);
    if (r == CU_SUCCESS)
        r = b->api.fill8(behind, output_guard_byte, guard, stream);
    if (r == CU_SUCCESS)
        r = poison_tensor(b, tensor);
    for (int i = 0; i < s->desc->nws && r == CU_SUCCESS; i++)
        r = b->api.fill8(l->ws[i], 0xff, (size_t)s->plan.ws_bytes[i], stream);
    return cuda_check(b, s->desc->name, "cuMemsetD8Async", r, err);
}

enum status cuda_run(struct backend *b, struct slot *s, struct err *err)
{
    enum status st = cuda_alive(b, s->desc->name, err);
    if (st == ST_OK && s->python)
        return python_run(s->python, err);
    if (st == ST_OK)
        st = poison(b, s, err);
    if (st == ST_OK)
        st = cuda_queue(b, s, 0, err);
    if (st == ST_OK)
        st = cuda_check(b, s->desc->name, "cuStreamSynchronize", b->api.stream_sync(b->streams[0]),
                        err);
    if (st == ST_OK)
        st = cuda_inputs_intact(b, s->desc->name, err);
    return st;
}

enum status cuda_read_output(struct backend *b, struct slot *s, void *dst, struct err *err)
{
    enum status st = cuda_alive(b, s->desc->name, err);
    if (st != ST_OK)
        return st;
    if (s->python) {
        memcpy(dst, python_output(s->python), cuda_output_bytes(b));
        return ST_OK;
    }
    return cuda_check(b, s->desc->name, "cuMemcpyDtoH",
                      b->api.copy_out(dst, s->lanes[0].output, cuda_output_bytes(b)), err);
}
