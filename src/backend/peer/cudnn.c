/* cudnn.c - the peer "cudnn": fused attention through cuDNN's backend interface.
 *
 * All of it is one dlopen and about a dozen kinds of descriptors, far less than a child process, and
 * it runs in our streams under our gate and graphs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/peer/cudnn_graph.h"
#include "backend/finder.h"
#include "base/mem.h"

/* ---- opening ---- */

/* cuDNN opens these by name and relies on the loader; what is loaded already is found. */
static void open_helpers(void)
{
    struct found found;
    (void)find_wanted(WANT_NVRTC, &found, NULL);
    (void)find_wanted(WANT_CUBLASLT, &found, NULL);
}

static enum status open_cudnn(struct cudnn *c, struct err *err)
{
    static const struct symbol entries[] = {
#define CUDNN_ENTRY(member, symbol, result, params) \
    {symbol, NULL, offsetof(struct cudnn, member), false},
        CUDNN_ENTRIES(CUDNN_ENTRY)
#undef CUDNN_ENTRY
            {"cudnnGetLastErrorString", NULL, offsetof(struct cudnn, last_error), true},
    };
    enum status st = find_wanted(WANT_CUDNN, &c->found, err);
    if (st != ST_OK) {
        err_prefix(err, "cudnn");
        return st;
    }
    open_helpers();
    const char *lacks =
        find_symbols(c->found.library, entries, sizeof entries / sizeof *entries, c);
    if (lacks)
        return err_set(err, ST_NO, "cudnn: this libcudnn has no %s; cuDNN 9 is needed", lacks);
    const int r = c->create(&c->handle);
    return r == 0 ? ST_OK
                  : err_set(err, ST_FAIL, "cudnn: cudnnCreate: %s (%d)", c->error_text(r), r);
}

static void close_cudnn(void *library, bool usable)
{
    struct cudnn *c = library;
    if (c->handle && usable)
        (void)c->destroy(c->handle);
    free(c);
}

static enum status need_cudnn(struct slot *s, struct err *err)
{
    if (*s->opened)
        return ST_OK;
    struct cudnn *c = xcalloc(1, sizeof *c);
    enum status st = open_cudnn(c, err);
    if (st != ST_OK)
        close_cudnn(c, true);
    else
        *s->opened = c;
    return st;
}

/* ---- slots ---- */

static void pack_lane(struct attention *a, const struct slot *slot, int lane)
{
    const struct inputs *in = slot->inputs;
    const struct shape *s = &in->shape;
    const cu_pointer output = slot->lanes[lane].output + OUTPUT_GUARD_BYTES;
    int64_t uids[VIRTUAL] = {Q, K, V, O, SCALE};
    const cu_pointer *from = in->sets[lane % in->count].at;
    void *data[VIRTUAL] = {(void *)(uintptr_t)from[TENSOR_Q], (void *)(uintptr_t)from[TENSOR_K],
                           (void *)(uintptr_t)from[TENSOR_V], (void *)(uintptr_t)output, &a->scale};
    void *workspace = (void *)(uintptr_t)a->workspaces[lane % slot->gpu->nstreams];
    int n = 5;
    if (s->causal) {
        uids[n] = NEGATIVE;
        data[n++] = &a->negative;
    }
    if (s->causal && s->Sq != s->Sk) {
        uids[n] = SHIFT;
        data[n++] = &a->shift;
    }
    descriptor pack = a->packs[lane] = cudnn_make(a, KIND_PACK);
    cudnn_set(a, pack, PACK_UIDS, TYPE_INT64, n, uids);
    cudnn_set(a, pack, PACK_POINTERS, TYPE_POINTER, n, data);
    cudnn_set(a, pack, PACK_WORKSPACE, TYPE_POINTER, 1, &workspace);
    cudnn_finalize(a, pack, "the arguments");
}

static enum status refuse(const struct attention *a, struct err *err)
{
    if (a->r)
        return err_set(err, ST_NO, "cudnn: cuDNN refuses %s: %s (%d)", a->what,
                       a->c->error_text(a->r), a->r);
    char said[1024] = "";
    if (a->c->last_error)
        a->c->last_error(said, sizeof said);
    const char *why = strstr(said, "Reason: ");
    return err_set(err, ST_NO,
                   "cudnn: cuDNN has no fused engine for this shape on this device%s%.*s",
                   why ? ": " : "", why ? (int)strcspn(why + 8, "\n") : 0, why ? why + 8 : "");
}

static enum status alloc_workspaces(struct slot *s, struct attention *a, struct err *err)
{
    int64_t bytes = 0, n = 0;
    if (!cudnn_step(a, "the workspace's size",
                    a->c->get(a->plan, PLAN_WORKSPACE, TYPE_INT64, 1, &n, &bytes)))
        return refuse(a, err);
    enum status st = ST_OK;
    while (a->nlanes < s->gpu->nstreams && st == ST_OK)
        st = gpu_alloc(s->gpu, "cudnn: its workspace", (size_t)bytes, &a->workspaces[a->nlanes++],
                       err);
    return st;
}

static enum status load(struct slot *s, const struct param_values *v, struct err *err)
{
    enum status st = need_cudnn(s, err);
    (void)v;
    if (st != ST_OK)
        return st;
    struct attention *a = s->peer_data = xcalloc(1, sizeof *a);
    a->c = *s->opened;
    a->next_uid = 100;
    a->scale = (float)(1 / sqrt((double)s->inputs->shape.D));
    a->negative = -INFINITY;
    a->shift = (int32_t)(s->inputs->shape.Sk - s->inputs->shape.Sq);
    a->packs = xcalloc(CUDA_STREAMS_MAX, sizeof *a->packs);
    a->workspaces = xcalloc((size_t)s->gpu->nstreams, sizeof *a->workspaces);
    cudnn_build_graph(a, &s->inputs->shape);
    cudnn_choose(a);
    if (!a->plan)
        return refuse(a, err);
    s->version = xasprintf("cuDNN %s", a->c->found.version);
    s->commands = 4;
    return alloc_workspaces(s, a, err);
}

static void unload(struct slot *s)
{
    struct attention *a = s->peer_data;
    if (!a)
        return;
    for (int i = a->count; i-- > 0 && !s->gpu->spent;)
        (void)a->c->free(a->all[i]);
    for (int i = 0; i < a->nlanes; i++)
        gpu_release(s->gpu, &a->workspaces[i]);
    free(a->packs);
    free(a->workspaces);
    free(a);
}

/* Lanes are made after loading, so arguments are packed when they are first needed. */
static enum status queue(struct slot *s, int lane, struct err *err)
{
    struct attention *a = s->peer_data;
    if (!a->packs[lane])
        pack_lane(a, s, lane);
    if (a->r)
        return refuse(a, err);
    int r = a->c->set_stream(a->c->handle, s->gpu->streams[lane % s->gpu->nstreams]);
    if (r == 0)
        r = a->c->execute(a->c->handle, a->plan, a->packs[lane]);
    return r == 0 ? ST_OK
                  : err_set(err, ST_FAIL, "cudnn: cudnnBackendExecute: %s (%d)",
                            a->c->error_text(r), r);
}

const struct cuda_peer cuda_peer_cudnn = {
    .name = "cudnn",
    .load = load,
    .queue = queue,
    .unload = unload,
    .close = close_cudnn,
};
