/* seat.c - see seat.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cuda/seat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernel/blob.h"

/* ---- code ---- */

/* A GPU that comes twice has one context, and its code once. */
static struct slot *code_of_same_gpu(const struct seat *seats, int i, struct slot *s,
                                     const struct ranks *ranks)
{
    if (ranks->rank[i].gpu.index == s->gpu->index)
        return s;
    for (int k = ranks->begin; k < i; k++)
        if (ranks->rank[k].gpu.index == ranks->rank[i].gpu.index)
            return seats[k].code;
    return NULL;
}

static enum status load_code(struct seat *seats, int i, struct slot *s, struct ranks *ranks,
                             const struct param_values *v, struct err *err)
{
    struct seat *x = &seats[i];
    x->code = code_of_same_gpu(seats, i, s, ranks);
    if (x->code)
        return ST_OK;
    x->code = slot_new(s->desc, &ranks->rank[i].gpu, s->inputs, s->compilers);
    x->code->parts_f32 = s->parts_f32;
    x->owns = true;
    return slot_load_code(x->code, v, err);
}

/* nvcc writes its own version; nothing in it is newer than 7.2, which drivers of CUDA 11.2 and newer take. */
static void declare_older(char *ptx)
{
    char *at = strstr(ptx, "\n.version ");
    if (at)
        memcpy(at + strlen("\n.version "), "7.2", 3);
}

static enum status load_merge(struct seat *x, int i, struct slot *s, struct ranks *ranks,
                              const struct ring *r, struct err *err)
{
    const struct blob *b = blob_find("kernels/ring/merge.ptx");
    const struct cuda_api *api = &ranks->rank[i].gpu.api;
    if (!b)
        return err_set(err, ST_FAIL, "kernels/ring/merge.ptx is missing");
    char *text = xstrndup(b->data, blob_size(b));
    declare_older(text);
    cu_result result = api->module_load(&x->merge_code, text);
    free(text);
    if (result != CU_SUCCESS)
        x->merge_code = NULL;
    else
        result = api->module_function(&x->merge, x->merge_code, ring_merge_entry(r));
    return rank_check(ranks, i, s->desc->name, "cuModuleLoadData (the merge's PTX)", result, err);
}

/* ---- memory ---- */

static enum status take(struct ranks *ranks, int i, const struct slot *s, const char *what,
                        uint64_t bytes, cu_pointer *out, struct err *err)
{
    char name[160];
    snprintf(name, sizeof name, "%s: %s", s->desc->name, what);
    return rank_alloc(ranks, i, name, (size_t)bytes, out, err);
}

/* Guarded, as every output. */
static enum status take_output(struct seat *x, int i, const struct slot *s, struct ranks *ranks,
                               const struct ring *r, struct err *err)
{
    if (!ring_answers(r, i))
        return ST_OK;
    enum status st = take(ranks, i, s, "its output",
                          ring_tensor_bytes(r, i) + 2 * OUTPUT_GUARD_BYTES, &x->outputs, err);
    if (st == ST_OK)
        st = take(ranks, i, s, "its LSE", ring_lse_bytes(r, i) + 2 * OUTPUT_GUARD_BYTES, &x->lses,
                  err);
    x->at.o = x->outputs + OUTPUT_GUARD_BYTES;
    x->at.lse = x->lses + OUTPUT_GUARD_BYTES;
    return st;
}

static enum status take_slots(struct seat *x, int i, const struct slot *s, struct ranks *ranks,
                              const struct ring *r, struct err *err)
{
    enum status st = ST_OK;
    for (int n = 0; n < (r->steps > 1 ? 4 : 2) && st == ST_OK; n++)
        st = take(ranks, i, s, "a slot for keys and values", ring_slot_bytes(r, i),
                  &x->at.kv[n / 2][n % 2], err);
    return st;
}

static enum status take_answers(struct seat *x, int i, const struct slot *s, struct ranks *ranks,
                                const struct ring *r, struct err *err)
{
    enum status st = ST_OK;
    for (int c = 0; c < r->mine && st == ST_OK; c++) {
        st = take(ranks, i, s, "the answer so far", ring_sum_bytes(r, i, c), &x->at.sum[c], err);
        if (st == ST_OK)
            st = take(ranks, i, s, "the answer so far", ring_sum_lse_bytes(r, i, c),
                      &x->at.sum_lse[c], err);
    }
    for (int p = 0; p < r->gpus && st == ST_OK; p++) {
        if (!ring_has_part(r, i, p))
            continue;
        st = take(ranks, i, s, "a partial answer", ring_part_tensor(r, i), &x->at.part[p], err);
        if (st == ST_OK)
            st =
                take(ranks, i, s, "a partial answer", ring_part_lse(r, i), &x->at.part_lse[p], err);
    }
    return st;
}

static enum status take_workspaces(struct seat *x, int i, const struct slot *s, struct ranks *ranks,
                                   const int64_t ws[DESC_WS_MAX], struct err *err)
{
    char what[96];
    enum status st = ST_OK;
    for (int k = 0; k < s->desc->nws && st == ST_OK; k++) {
        snprintf(what, sizeof what, "its workspace %s", s->desc->ws[k].name);
        x->ws_bytes[k] = s->desc->ws[k].once ? 0 : ws[k];
        st = take(ranks, i, s, what, ws[k] > 0 ? (uint64_t)ws[k] : 1, &x->at.ws[k], err);
        if (st == ST_OK && s->desc->ws[k].once && ws[k] > 0) {
            const struct gpu *g = rank_enter(ranks, i);
            st = rank_check(ranks, i, s->desc->name, "cuMemsetD8Async",
                            g->api.fill8(x->at.ws[k], 0, (size_t)ws[k], g->streams[0]), err);
        }
    }
    return st;
}

static enum status take_memory(struct seat *x, int i, const struct slot *s, struct ranks *ranks,
                               const struct ring *r, const int64_t ws[DESC_WS_MAX], struct err *err)
{
    enum status st = take(ranks, i, s, "its queries", ring_tensor_bytes(r, i), &x->at.q, err);
    if (st == ST_OK)
        st = take_output(x, i, s, ranks, r, err);
    if (st == ST_OK)
        st = take_slots(x, i, s, ranks, r, err);
    if (st == ST_OK)
        st = take_answers(x, i, s, ranks, r, err);
    return st == ST_OK ? take_workspaces(x, i, s, ranks, ws, err) : st;
}

/* ---- what it launches ---- */

enum status seat_workspaces(const struct slot *s, const struct ring *r, int64_t bytes[DESC_WS_MAX],
                            struct err *err)
{
    enum status st = ST_OK;
    memset(bytes, 0, DESC_WS_MAX * sizeof *bytes);
    for (int g = 0; g < r->gpus; g++)
        for (int n = 0; n < r->mine * r->mine && st == ST_OK; n++) {
            struct shape local;
            struct plan p;
            (void)ring_local(r, g, n / r->mine, g, n % r->mine, &local);
            st = plan_brief(s->desc, &local, &s->plan.params, &s->gpu->model, NULL, &p, err);
            for (int k = 0; k < s->desc->nws && st == ST_OK; k++)
                bytes[k] = p.ws_bytes[k] > bytes[k] ? p.ws_bytes[k] : bytes[k];
            plan_clear(&p);
        }
    return st;
}

static enum status plan_meeting(struct seat *x, const struct slot *s, struct ranks *ranks,
                                const struct ring *r, const struct ring_meeting *at,
                                const struct shape *local, struct err *err)
{
    struct meeting *m = &x->meetings[x->count++];
    m->at = *at;
    enum status st = plan_brief(s->desc, local, &x->code->plan.params,
                                &ranks->rank[at->gpu].gpu.model, NULL, &m->plan, err);
    m->args = (struct PagedArgs){.attn = ring_attn_args(r, &x->at, at, local, s->inputs->seed)};
    return st == ST_OK ? slot_make_maps(&ranks->rank[at->gpu].gpu, s->desc->name, &m->plan,
                                        &m->args.attn, &m->maps, err)
                       : st;
}

static struct fusion fusion_of(const struct seat *x, const struct ring *r, int gpu, int chunk,
                               int part, int before)
{
    struct fusion f = {.args = ring_merge_args(r, &x->at, gpu, chunk, part, before)};
    const int64_t rows = (int64_t)f.args.B * f.args.H * f.args.rows;
    f.blocks = (unsigned)((rows + RING_MERGE_WARPS - 1) / RING_MERGE_WARPS);
    return f;
}

static enum status plan_all(struct seat *x, int i, const struct slot *s, struct ranks *ranks,
                            const struct ring *r, struct err *err)
{
    int done[RING_MINE_MAX] = {0};
    enum status st = ST_OK;
    for (int n = 0; n < r->steps * r->mine * r->mine && st == ST_OK; n++) {
        const struct ring_meeting at = {i, n / (r->mine * r->mine), n / r->mine % r->mine,
                                        n % r->mine};
        struct shape local;
        if (!ring_local(r, i, at.i, r->turn[i][at.step].holds, at.j, &local))
            continue;
        if (!r->gathers)
            x->fusions[x->count] = fusion_of(x, r, i, at.i, 0, done[at.i]++);
        st = plan_meeting(x, s, ranks, r, &at, &local, err);
    }
    for (int p = 0; p < ring_parts(r, i, 0) && r->gathers; p++)
        x->fusions[p] = fusion_of(x, r, i, 0, p, p);
    return st;
}

/* ---- events ---- */

/* Of a GPU's own steps. */
static cu_result make_events(struct seat *x, struct ranks *ranks, int i, const struct ring *r)
{
    const struct gpu *g = rank_enter(ranks, i);
    cu_result result = g->api.event_create(&x->begin, 0);
    if (result == CU_SUCCESS)
        result = g->api.event_create(&x->end, 0);
    if (result == CU_SUCCESS && !ranks_are_all(ranks))
        result = g->api.event_create(&x->sent, 0);
    for (int step = 0; step < r->steps && result == CU_SUCCESS; step++) {
        result = g->api.event_create(&x->began[step], 0);
        if (result == CU_SUCCESS)
            result = g->api.event_create(&x->computed[step], 0);
    }
    return result;
}

enum status seat_watch_sends(struct seat *seats, int i, const struct slot *s, struct ranks *ranks,
                             const struct ring *r, struct err *err)
{
    struct seat *x = &seats[i];
    /* events belong to the GPU that records them */
    const int carrier = ranks_carrier(ranks, i, r->gathers ? 0 : (i + 1) % r->gpus);
    cu_result result = CU_SUCCESS;
    if (!rank_is_here(ranks, carrier))
        return ST_OK;
    const struct gpu *g = rank_enter(ranks, carrier);
    for (int step = 0; step < r->steps && result == CU_SUCCESS; step++) {
        result = g->api.event_create(&x->left[step], 0);
        if (result == CU_SUCCESS)
            result = g->api.event_create(&x->arrived[step], 0);
    }
    return rank_check(ranks, carrier, s->desc->name, "cuEventCreate", result, err);
}

/* ---- the whole ---- */

enum status seat_make(struct seat *seats, int i, struct slot *s, struct ranks *ranks,
                      const struct ring *r, const struct param_values *v,
                      const int64_t ws[DESC_WS_MAX], struct err *err)
{
    struct seat *x = &seats[i];
    rank_enter(ranks, i);
    enum status st = load_code(seats, i, s, ranks, v, err);
    if (st == ST_OK)
        st = load_merge(x, i, s, ranks, r, err);
    if (st == ST_OK)
        st = take_memory(x, i, s, ranks, r, ws, err);
    if (st == ST_OK)
        st = plan_all(x, i, s, ranks, r, err);
    if (st == ST_OK)
        st = rank_check(ranks, i, s->desc->name, "cuEventCreate", make_events(x, ranks, i, r), err);
    return st;
}

static void free_memory(struct seat *x, int i, struct ranks *ranks)
{
    rank_release(ranks, i, &x->at.q);
    rank_release(ranks, i, &x->outputs);
    rank_release(ranks, i, &x->lses);
    for (int n = 0; n < 4; n++)
        rank_release(ranks, i, &x->at.kv[n / 2][n % 2]);
    for (int c = 0; c < RING_MINE_MAX; c++) {
        rank_release(ranks, i, &x->at.sum[c]);
        rank_release(ranks, i, &x->at.sum_lse[c]);
    }
    for (int p = 0; p < RING_GPUS_MAX; p++) {
        rank_release(ranks, i, &x->at.part[p]);
        rank_release(ranks, i, &x->at.part_lse[p]);
    }
    for (int k = 0; k < DESC_WS_MAX; k++)
        rank_release(ranks, i, &x->at.ws[k]);
}

static void free_events(struct seat *x, const struct gpu *g)
{
    for (int step = 0; step < RING_GPUS_MAX; step++) {
        const cu_event events[] = {x->began[step], x->computed[step], x->left[step],
                                   x->arrived[step]};
        for (size_t k = 0; k < sizeof events / sizeof *events; k++)
            if (events[k])
                (void)g->api.event_destroy(events[k]);
    }
    if (x->begin)
        (void)g->api.event_destroy(x->begin);
    if (x->end)
        (void)g->api.event_destroy(x->end);
    if (x->sent)
        (void)g->api.event_destroy(x->sent);
}

void seat_free(struct seat *seats, int i, struct ranks *ranks)
{
    struct seat *x = &seats[i];
    const bool here = rank_is_here(ranks, i); /* else it has events alone, of what it sends here */
    const struct gpu *g = rank_enter(ranks, here ? i : ranks->begin);
    if (here)
        free_memory(x, i, ranks);
    for (int n = 0; n < x->count; n++) {
        plan_clear(&x->meetings[n].plan);
        free(x->meetings[n].maps);
    }
    if (!g->spent)
        free_events(x, g);
    if (x->merge_code && !g->spent)
        (void)g->api.module_unload(x->merge_code);
    if (x->owns)
        slot_free(x->code);
}

/* ---- launching ---- */

static cu_result launch_meeting(const struct gpu *g, const struct seat *x, struct meeting *m)
{
    const struct kernel_desc *d = x->code->desc;
    cu_result r = CU_SUCCESS;
    for (int k = 0; k < d->nws && r == CU_SUCCESS; k++)
        if (d->ws[k].zero)
            r = g->api.fill8(x->at.ws[k], 0, (size_t)m->plan.ws_bytes[k], g->streams[0]);
    for (int pass = 0; pass < m->plan.npasses && r == CU_SUCCESS; pass++)
        r = slot_launch(g, x->code->functions[pass], &m->plan.passes[pass], &m->args,
                        m->maps ? m->maps[pass] : NULL, g->streams[0]);
    return r;
}

static cu_result launch_merge(const struct gpu *g, const struct seat *x, const struct fusion *f,
                              bool lse)
{
    struct ring_merge_args a = f->args;
    void *params[] = {&a};
    a.lse = lse ? a.lse : 0;
    return g->api.launch(x->merge, f->blocks, 1, 1, RING_MERGE_WARPS * 32, 1, 1, 0, g->streams[0],
                         params, NULL);
}

enum status seat_compute(struct seat *x, int i, struct ranks *ranks, const struct ring *r, int step,
                         bool lse, struct err *err)
{
    const struct gpu *g = rank_enter(ranks, i);
    cu_result result = CU_SUCCESS;
    for (int n = 0; n < x->count && result == CU_SUCCESS; n++) {
        if (x->meetings[n].at.step != step)
            continue;
        result = launch_meeting(g, x, &x->meetings[n]);
        if (result == CU_SUCCESS && !r->gathers)
            result = launch_merge(g, x, &x->fusions[n], lse);
    }
    return rank_check(ranks, i, x->code->desc->name, "cuLaunchKernel", result, err);
}

enum status seat_combine(struct seat *x, int i, struct ranks *ranks, const struct ring *r, bool lse,
                         struct err *err)
{
    const struct gpu *g = rank_enter(ranks, i);
    cu_result result = CU_SUCCESS;
    for (int p = 0; p < r->gpus && result == CU_SUCCESS; p++)
        result = launch_merge(g, x, &x->fusions[p], lse);
    return rank_check(ranks, i, x->code->desc->name, "cuLaunchKernel", result, err);
}

int seat_commands(const struct seat *x)
{
    int n = 0;
    for (int k = 0; k < x->count; k++)
        n += x->meetings[k].plan.npasses + x->code->desc->nws + 1;
    return n;
}
