/* ranks.c - see ranks.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cuda/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/str.h"

/* ---- one of several ---- */

struct gpu *rank_enter(struct ranks *r, int i)
{
    struct gpu *g = &r->rank[i].gpu;
    if (!g->spent)
        (void)g->api.set_current(g->context);
    return g;
}

/* "GPU 2 of 4 (device 3)" */
static void name_rank(const struct ranks *r, int i, struct err *err)
{
    err_prefix(err, "GPU %d of %d (device %d)", i, r->count, r->rank[i].gpu.index);
}

static enum status tell(struct ranks *r, int i, enum status st, struct err *err)
{
    struct gpu *g = &r->rank[i].gpu;
    if (g->spent && r->first && !r->first->spent)
        r->first->spent = xasprintf("GPU %d of %d: %s", i, r->count, g->spent);
    if (st != ST_OK && err)
        name_rank(r, i, err);
    return st;
}

enum status rank_check(struct ranks *r, int i, const char *who, const char *call, cu_result result,
                       struct err *err)
{
    return tell(r, i, gpu_check(&r->rank[i].gpu, who, call, result, err), err);
}

enum status rank_alloc(struct ranks *r, int i, const char *what, size_t bytes, cu_pointer *out,
                       struct err *err)
{
    *out = 0;
    return bytes ? tell(r, i, gpu_alloc(rank_enter(r, i), what, bytes, out, err), err) : ST_OK;
}

void rank_release(struct ranks *r, int i, cu_pointer *p)
{
    if (*p)
        gpu_release(rank_enter(r, i), p);
}

/* ---- which way it goes ---- */

static bool all_differ(const struct ranks *r)
{
    for (int i = r->begin; i < r->end; i++)
        for (int k = r->begin; k < i; k++)
            if (r->rank[i].gpu.index == r->rank[k].gpu.index)
                return false;
    return true;
}

static bool all_same(const struct ranks *r)
{
    for (int i = r->begin + 1; i < r->end; i++)
        if (r->rank[i].gpu.index != r->rank[r->begin].gpu.index)
            return false;
    return true;
}

/* Copies go straight from GPU to GPU where both ends agree; else through the host, by the driver. */
static bool join(struct ranks *r, int from, int to)
{
    enum { ALREADY = 704 };
    const struct gpu *a = &r->rank[from].gpu, *b = &r->rank[to].gpu;
    int can = 0;
    if (a->index == b->index)
        return true;
    if (!a->api.peer_can || !a->api.peer_enable ||
        a->api.peer_can(&can, a->device, b->device) != CU_SUCCESS || !can)
        return false;
    rank_enter(r, from);
    const cu_result result = a->api.peer_enable(b->context, 0);
    return result == CU_SUCCESS || result == ALREADY;
}

static bool join_all(struct ranks *r)
{
    bool straight = true;
    for (int from = 0; from < r->count; from++)
        for (int to = 0; to < r->count; to++)
            straight &= from == to || join(r, from, to);
    return straight;
}

static enum status use_copies(struct ranks *r, struct err *err)
{
    if (!ranks_are_all(r))
        return err_set(err, ST_NO, "between machines NCCL alone carries data");
    if (!r->rank[0].gpu.api.copy_peer && !all_same(r))
        return err_set(err, ST_NO, "this driver does not copy from GPU to GPU: CUDA 4 is needed");
    const bool straight = join_all(r);
    r->carrier = all_same(r) ? "local" : straight ? "peer" : "host";
    return ST_OK;
}

static void enter_rank(void *ctx, int i)
{
    (void)rank_enter(ctx, i);
}

static enum status use_nccl(struct ranks *r, const struct nccl_id *id, struct err *err)
{
    int devices[RING_GPUS_MAX];
    const int n = r->end - r->begin;
    for (int i = 0; i < n; i++)
        devices[i] = r->rank[r->begin + i].gpu.index;
    if (!all_differ(r))
        return err_set(err, ST_NO, "NCCL takes every GPU once, and one is named more than once");
    const enum status st = id ? nccl_join(id, r->count, r->begin, n, enter_rank, r, &r->nccl, err)
                              : nccl_open(devices, n, &r->nccl, err);
    if (st == ST_OK)
        r->carrier = "nccl";
    return st;
}

static enum status choose_carrier(struct ranks *r, const struct ranks_asked *asked, struct err *err)
{
    struct err why = ERR_INIT;
    const bool straight = asked->transport == TRANSPORT_PEER && ranks_are_all(r) &&
                          r->rank[0].gpu.api.copy_peer && join_all(r);
    if (straight)
        return use_copies(r, err);
    const enum transport_kind wanted =
        asked->transport == TRANSPORT_PEER ? TRANSPORT_AUTO : asked->transport;
    const bool must = wanted == TRANSPORT_NCCL || (asked->id && wanted == TRANSPORT_AUTO),
               nccl = must || (wanted == TRANSPORT_AUTO && all_differ(r));
    const enum status st = nccl ? use_nccl(r, asked->id, &why) : ST_NO;
    if (st == ST_OK)
        return ST_OK;
    if (must)
        return err_set(err, ST_NO, "%s", why.text);
    if (nccl)
        r->note = xasprintf("the driver copies in NCCL's place: %s", why.text);
    return use_copies(r, err);
}

/* ---- opening and closing ---- */

static enum status open_rank(struct ranks *r, int i, int device, struct err *err)
{
    struct rank *x = &r->rank[i];
    enum status st = gpu_open(&x->gpu, device, 1, err);
    r->end = i + 1;
    if (st != ST_OK)
        return st;
    const struct cuda_api *api = &x->gpu.api;
    /* Copies begin as soon as they may: blocks of a kernel that fills the GPU come after them. */
    return rank_check(r, i, NULL, "cuStreamCreate",
                      api->stream_create_first
                          ? api->stream_create_first(&x->copies, CU_STREAM_NONBLOCKING, -1)
                          : api->stream_create(&x->copies, CU_STREAM_NONBLOCKING),
                      err);
}

/* What the machine has, before anything is opened. */
static enum status check_devices(const struct gpu *first, const int *devices, int n,
                                 struct err *err)
{
    for (int i = 0; i < n; i++)
        if (devices[i] >= first->api.devices)
            return err_set(err, ST_NO_GPU,
                           "gpus=%d needs device %d, and this machine has %d GPU%s, numbered from "
                           "0; device=0,0 names one more than once",
                           n, devices[i], first->api.devices, first->api.devices == 1 ? "" : "s");
    return ST_OK;
}

enum status ranks_open(struct ranks *r, struct gpu *first, const struct ranks_asked *asked,
                       struct err *err)
{
    *r = (struct ranks){
        .first = first, .count = asked->count, .begin = asked->begin, .end = asked->begin};
    enum status st = check_devices(first, asked->devices, asked->n, err);
    for (int i = 0; i < asked->n && st == ST_OK; i++)
        st = open_rank(r, asked->begin + i, asked->devices[i], err);
    return st == ST_OK ? choose_carrier(r, asked, err) : st;
}

static bool usable(const struct ranks *r)
{
    bool all = !r->first || !r->first->spent;
    for (int i = r->begin; i < r->end; i++)
        all = all && !r->rank[i].gpu.spent;
    return all;
}

static void drop_inputs(struct ranks *r)
{
    for (int i = 0; i < 3; i++) {
        free(r->host[i]);
        r->host[i] = NULL;
    }
}

void ranks_close(struct ranks *r)
{
    nccl_close(r->nccl, usable(r));
    drop_inputs(r);
    for (int i = r->begin; i < r->end; i++) {
        struct rank *x = &r->rank[i];
        rank_enter(r, i);
        flush_free(&x->gpu, &x->flush);
        if (x->copies && !x->gpu.spent)
            (void)x->gpu.api.stream_destroy(x->copies);
        gpu_close(&x->gpu);
    }
    free(r->note);
    if (r->first && r->first->context && !r->first->spent)
        (void)r->first->api.set_current(r->first->context);
}

enum status ranks_set_inputs(struct ranks *r, const struct tensors *host, struct err *err)
{
    const void *const from[3] = {host->q, host->k, host->v};
    drop_inputs(r);
    for (int i = 0; i < 3; i++) {
        r->bytes[i] = i == TENSOR_Q ? host->q_bytes : host->kv_bytes;
        r->host[i] = malloc(r->bytes[i] ? r->bytes[i] : 1);
        if (!r->host[i])
            return err_set(err, ST_FAIL, "no memory for a copy of %s", tensor_names[i]);
        memcpy(r->host[i], from[i], r->bytes[i]);
    }
    return ST_OK;
}

/* ---- sends ---- */

/* NCCL's receive is complete where it was queued; a copy is queued where it reads. */
int ranks_carrier(const struct ranks *r, int from, int to)
{
    return r->nccl ? to : from;
}

static cu_result copy_one(struct ranks *r, const struct nccl_send *s)
{
    const struct gpu *from = rank_enter(r, s->from), *to = &r->rank[s->to].gpu;
    const cu_stream stream = r->rank[s->from].copies;
    return from->index == to->index
               ? from->api.copy_on(s->dst, s->src, s->bytes, stream)
               : from->api.copy_peer(s->dst, to->context, s->src, from->context, s->bytes, stream);
}

/* What was queued may wait for ever for what does not come any more: nothing of these GPUs is called again. */
static void spend_all(struct ranks *r)
{
    static const char why[] = "NCCL has failed";
    for (int i = r->begin; i < r->end; i++)
        if (!r->rank[i].gpu.spent)
            r->rank[i].gpu.spent = xstrdup(why);
    if (!r->first->spent)
        r->first->spent = xstrdup(why);
}

static enum status nccl_said(struct ranks *r, const char *who, enum status st, struct err *err)
{
    if (st == ST_OK)
        return st;
    spend_all(r);
    if (err)
        err_prefix(err, "%s", who);
    return st;
}

enum status ranks_queue(struct ranks *r, const char *who, const struct nccl_send *sends, int n,
                        struct err *err)
{
    cu_stream streams[RING_GPUS_MAX] = {NULL};
    enum status st = ST_OK;
    for (int i = r->begin; i < r->end; i++)
        streams[i] = r->rank[i].copies;
    if (!r->nccl) {
        for (int i = 0; i < n && st == ST_OK; i++)
            st =
                rank_check(r, sends[i].from, who, "cuMemcpyPeerAsync", copy_one(r, &sends[i]), err);
        return st;
    }
    st = nccl_queue(r->nccl, sends, n, streams, err);
    return nccl_said(r, who, st, err);
}

static void rest(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

/* One that has failed leaves the others waiting for what it was to send: so all are looked at in turn. */
static enum status watch(struct ranks *r, const char *who, bool *busy, struct err *err)
{
    *busy = false;
    for (int i = r->begin; i < r->end; i++) {
        const struct rank *x = &r->rank[i];
        const cu_stream streams[2] = {x->gpu.streams[0], x->copies};
        rank_enter(r, i);
        for (int k = 0; k < 2; k++) {
            const cu_result result = x->gpu.api.stream_query(streams[k]);
            *busy |= result == CU_NOT_READY;
            if (result != CU_NOT_READY && result != CU_SUCCESS)
                return rank_check(r, i, who, "cuStreamQuery", result, err);
        }
    }
    return *busy && r->nccl ? nccl_said(r, who, nccl_healthy(r->nccl, err), err) : ST_OK;
}

enum status ranks_sync(struct ranks *r, const char *who, struct err *err)
{
    bool busy = r->rank[r->begin].gpu.api.stream_query != NULL;
    enum status st = ST_OK;
    while (busy && (st = watch(r, who, &busy, err)) == ST_OK)
        if (busy)
            rest();
    for (int i = r->begin; i < r->end && st == ST_OK; i++) {
        const struct gpu *g = rank_enter(r, i);
        st = rank_check(r, i, who, "cuStreamSynchronize", g->api.stream_sync(r->rank[i].copies),
                        err);
        if (st == ST_OK)
            st = rank_check(r, i, who, "cuStreamSynchronize", g->api.stream_sync(g->streams[0]),
                            err);
    }
    return st;
}

void ranks_devices(const struct ranks *r, char *buf, size_t size)
{
    size_t len = 0;
    buf[0] = '\0';
    for (int i = r->begin; i < r->end && len < size; i++)
        len += (size_t)snprintf(buf + len, size - len, "%s%d", i > r->begin ? "," : "",
                                r->rank[i].gpu.index);
}
