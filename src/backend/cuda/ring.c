/* ring.c - see ring.h.
 *
 * A sample begins on all GPUs with one event and ends with one, both of GPU 0's clock: streams of the others wait for the
 * first, and the last waits for them. So it has everything in it, the first GPU's start to the last one's end, and no
 * host. Beside it stand the host's clock and what each GPU's own events say.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cuda/ring.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/seat.h"
#include "backend/cuda/shares.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/number.h"

enum { MAP_HOST_MEMORY = 3 /* cuMemHostAlloc: of all contexts, visible to the device */ };

struct world {
    struct slot *slot;
    struct ranks *ranks;
    struct ring ring;
    struct seat *seats; /* by GPU */
    struct shares shares;
    uint64_t turn;     /* whose inputs are on the GPUs */
    bool lse_is_fresh; /* of the last run */
    double sent;       /* bytes of the last run */
    double link_gbs;   /* NaN: not measured */
    double host_s;     /* the last sample, by the host's clock */
    cu_event begin, end;
    cu_event met; /* all ranks of all machines are here; none, where all are of this one */
    cu_pointer tokens[RING_GPUS_MAX];
    bool links_timed;
    uint32_t *gate; /* GPU 0 waits until the host writes `opening` here; NULL: no such thing */
    uint32_t opening;
    unsigned char *output, *lse; /* guard, tensor, guard, as the last fetch has put them together */
};

static const char *name_of(const struct world *w)
{
    return w->slot->desc->name;
}

/* ---- loading ---- */

static enum status check_kernel(const struct kernel_desc *d, struct err *err)
{
    if (d->peer)
        return err_set(err, ST_NO, "%s is another library, which is given whole problems alone",
                       d->name);
    if (d->code == CODE_LIBRARY)
        return err_set(err, ST_NO, "%s launches by itself: a ring launches kernels on pieces",
                       d->name);
    return ST_OK;
}

/* All events in one context, but those of a GPU's own. */
static cu_result make_events(struct world *w)
{
    const struct gpu *g = rank_enter(w->ranks, w->ranks->begin);
    cu_result r = g->api.event_create(&w->begin, 0);
    if (r == CU_SUCCESS)
        r = g->api.event_create(&w->end, 0);
    if (r == CU_SUCCESS && !ranks_are_all(w->ranks))
        r = g->api.event_create(&w->met, 0);
    void *p = NULL;
    if (r == CU_SUCCESS && cuda_has_gate(&g->api) &&
        g->api.host_alloc(&p, sizeof *w->gate, MAP_HOST_MEMORY) == CU_SUCCESS) {
        w->gate = p;
        *w->gate = 0;
    }
    return r;
}

static enum status load_all(struct world *w, const struct param_values *v, struct err *err)
{
    int64_t ws[DESC_WS_MAX];
    struct slot *s = w->slot;
    enum status st = ring_build(&s->inputs->shape, w->ranks->count, w->ranks->shards,
                                desc_parts(s->desc, s->inputs->shape.dtype), &w->ring, err);
    if (st == ST_OK) {
        (void)s->gpu->api.set_current(s->gpu->context);
        s->parts_f32 = desc_stores_parts(s->desc, s->inputs->shape.dtype);
        st = slot_load_code(s, v, err);
    }
    if (st == ST_OK)
        st = seat_workspaces(s, &w->ring, ws, err);
    for (int i = w->ranks->begin; i < w->ranks->end && st == ST_OK; i++)
        st = seat_make(w->seats, i, s, w->ranks, &w->ring, v, ws, err);
    for (int i = 0; i < w->ring.gpus && st == ST_OK; i++)
        st = seat_watch_sends(w->seats, i, s, w->ranks, &w->ring, err);
    for (int i = w->ranks->begin; i < w->ranks->end && st == ST_OK && !ranks_are_all(w->ranks); i++)
        st = rank_alloc(w->ranks, i, "a token", 2 * RING_GPUS_MAX, &w->tokens[i], err);
    if (st == ST_OK)
        st =
            rank_check(w->ranks, w->ranks->begin, name_of(w), "cuEventCreate", make_events(w), err);
    return st == ST_OK ? shares_make(&w->shares, w->ranks, &w->ring, w->seats, name_of(w), err)
                       : st;
}

static enum status load(struct slot *s, const struct param_values *v, struct err *err)
{
    enum status st = check_kernel(s->desc, err);
    if (st != ST_OK)
        return st;
    struct world *w = xcalloc(1, sizeof *w);
    *w = (struct world){.slot = s, .ranks = *s->opened, .link_gbs = NAN, .host_s = NAN};
    w->seats = xcalloc((size_t)w->ranks->count, sizeof *w->seats);
    s->peer_data = w;
    return load_all(w, v, err);
}

static void unload(struct slot *s)
{
    struct world *w = s->peer_data;
    if (!w)
        return;
    for (int i = w->ranks->count; i-- > 0;) /* code is owned by the first that has it */
        seat_free(w->seats, i, w->ranks);
    for (int i = w->ranks->begin; i < w->ranks->end; i++)
        rank_release(w->ranks, i, &w->tokens[i]);
    const struct gpu *g = rank_enter(w->ranks, w->ranks->begin);
    if (!g->spent) {
        if (w->met)
            (void)g->api.event_destroy(w->met);
        if (w->begin)
            (void)g->api.event_destroy(w->begin);
        if (w->end)
            (void)g->api.event_destroy(w->end);
        if (w->gate)
            (void)g->api.host_free(w->gate);
    }
    shares_clear(&w->shares);
    free(w->seats);
    free(w->output);
    free(w->lse);
    free(w);
}

/* ---- events of the plan ---- */

/* The stream that writes into GPU `to`'s slot waits until nobody reads it. Where copies carry, it belongs to the sender,
 * whose turns know nothing of the receiver's: it waits, too, until what it sends has come, and until what lay there has
 * been passed on. Within NCCL's streams all that is in order. */
static cu_result wait_for_room(struct world *w, int to, int step)
{
    const struct ring_turn *t = &w->ring.turn[to][step];
    if (t->from < 0)
        return CU_SUCCESS;
    const int carrier = ranks_carrier(w->ranks, t->from, to), before = step - 1,
              behind = w->ring.turn[t->from][before < 0 ? 0 : before].from;
    const struct gpu *g = rank_enter(w->ranks, carrier);
    const cu_stream stream = w->ranks->rank[carrier].copies;
    cu_result r = CU_SUCCESS;
    if (step > 0 && t->waits_compute)
        r = g->api.stream_wait(stream, w->seats[to].computed[before], 0);
    if (step > 0 && carrier != to && r == CU_SUCCESS)
        r = g->api.stream_wait(stream, w->seats[to].arrived[before], 0);
    if (step > 0 && carrier != to && r == CU_SUCCESS)
        r = g->api.stream_wait(stream, w->seats[behind].arrived[before], 0);
    return r;
}

/* What goes where in an exchange, or to GPU 0 at the end; what neither comes from here nor comes here is others'. */
static int sends_of(const struct world *w, int step, struct nccl_send out[2 * RING_GPUS_MAX])
{
    const struct ring *r = &w->ring;
    int n = 0;
    for (int to = 0; to < r->gpus; to++) {
        const int from = r->gathers ? to : r->turn[to][step].from, there = r->gathers ? 0 : to;
        if (from < 0 || (r->gathers && from == 0) ||
            !(rank_is_here(w->ranks, from) || rank_is_here(w->ranks, there)))
            continue;
        const struct ring_memory *a = &w->seats[from].at, *b = &w->seats[r->gathers ? 0 : to].at;
        for (int k = 0; k < 2; k++)
            out[n++] =
                r->gathers
                    ? (struct nccl_send){.from = from,
                                         .to = 0,
                                         .src = k ? a->part_lse[from] : a->part[from],
                                         .dst = k ? b->part_lse[from] : b->part[from],
                                         .bytes =
                                             k ? ring_part_lse(r, from) : ring_part_tensor(r, from)}
                    : (struct nccl_send){.from = from,
                                         .to = to,
                                         .src = a->kv[step % 2][k],
                                         .dst = b->kv[(step + 1) % 2][k],
                                         .bytes = ring_shard_half(r, r->turn[from][step].holds)};
    }
    return n;
}

/* Records, for each that sends, on the stream that carries it. */
static enum status record_sends(struct world *w, const struct nccl_send *sends, int n, int step,
                                bool arrived, struct err *err)
{
    enum status st = ST_OK;
    for (int i = 0; i < n && st == ST_OK; i += 2) {
        const int carrier = ranks_carrier(w->ranks, sends[i].from, sends[i].to);
        const struct seat *x = &w->seats[sends[i].from];
        if (!rank_is_here(w->ranks, carrier))
            continue;
        const struct gpu *g = rank_enter(w->ranks, carrier);
        st = rank_check(w->ranks, carrier, name_of(w), "cuEventRecord",
                        g->api.event_record(arrived ? x->arrived[step] : x->left[step],
                                            w->ranks->rank[carrier].copies),
                        err);
    }
    return st;
}

static enum status queue_exchange(struct world *w, int step, struct err *err)
{
    struct nccl_send sends[2 * RING_GPUS_MAX];
    const int n = sends_of(w, step, sends);
    enum status st = record_sends(w, sends, n, step, false, err);
    if (st == ST_OK)
        st = ranks_queue(w->ranks, name_of(w), sends, n, err);
    for (int i = 0; i < n; i++)
        w->sent += rank_is_here(w->ranks, sends[i].from) ? (double)sends[i].bytes : 0;
    return st == ST_OK ? record_sends(w, sends, n, step, true, err) : st;
}

/* Where answers are gathered, who sends one waits until it is there. */
static enum status wait_for_answers(struct world *w, struct err *err)
{
    enum status st = ST_OK;
    for (int from = 1; from < w->ring.gpus && w->ring.gathers && st == ST_OK; from++) {
        if (!rank_is_here(w->ranks, from))
            continue;
        const struct gpu *g = rank_enter(w->ranks, from);
        if (w->ring.turn[from][0].waits_compute)
            st = rank_check(
                w->ranks, from, name_of(w), "cuStreamWaitEvent",
                g->api.stream_wait(w->ranks->rank[from].copies, w->seats[from].computed[0], 0),
                err);
    }
    return st;
}

/* GPU i's computing stream waits for what was sent as exchange `step` and is for it. */
static cu_result wait_for_arrival(struct world *w, int i, int step)
{
    const struct gpu *g = rank_enter(w->ranks, i);
    cu_result r = CU_SUCCESS;
    if (!w->ring.gathers)
        return w->ring.turn[i][step].from < 0
                   ? r
                   : g->api.stream_wait(g->streams[0],
                                        w->seats[w->ring.turn[i][step].from].arrived[step], 0);
    for (int from = 1; from < w->ring.gpus && r == CU_SUCCESS; from++)
        r = g->api.stream_wait(g->streams[0], w->seats[from].arrived[0], 0);
    return r;
}

static enum status compute_step(struct world *w, int i, int step, bool lse, struct err *err)
{
    struct seat *x = &w->seats[i];
    cu_result r = CU_SUCCESS;
    if (w->ring.turn[i][step].waits_arrival && step > 0)
        r = wait_for_arrival(w, i, step - 1);
    const struct gpu *g = rank_enter(w->ranks, i);
    if (r == CU_SUCCESS)
        r = g->api.event_record(x->began[step], g->streams[0]);
    enum status st = rank_check(w->ranks, i, name_of(w), "cuStreamWaitEvent", r, err);
    if (st == ST_OK)
        st = seat_compute(x, i, w->ranks, &w->ring, step, lse, err);
    if (st == ST_OK)
        st = rank_check(w->ranks, i, name_of(w), "cuEventRecord",
                        g->api.event_record(x->computed[step], g->streams[0]), err);
    return st;
}

static enum status combine(struct world *w, int i, bool lse, struct err *err)
{
    cu_result r = CU_SUCCESS;
    if (w->ring.turn[i][0].waits_arrival)
        r = wait_for_arrival(w, i, 0);
    const enum status st = rank_check(w->ranks, i, name_of(w), "cuStreamWaitEvent", r, err);
    return st == ST_OK ? seat_combine(&w->seats[i], i, w->ranks, &w->ring, lse, err) : st;
}

static enum status play_event(struct world *w, const struct ring_event *e, bool lse,
                              struct err *err)
{
    if (e->gpu >= 0 && !rank_is_here(w->ranks, e->gpu))
        return ST_OK; /* it is played where that GPU is */
    switch (e->what) {
    case RING_BEGIN:
        return rank_check(w->ranks, e->gpu, name_of(w), "cuStreamWaitEvent",
                          wait_for_room(w, e->gpu, e->step), err);
    case RING_LAND: {
        const enum status st = wait_for_answers(w, err);
        return st == ST_OK ? queue_exchange(w, e->step, err) : st;
    }
    case RING_COMPUTE:
        return compute_step(w, e->gpu, e->step, lse, err);
    case RING_COMBINE:
        return combine(w, e->gpu, lse, err);
    case RING_STUCK:
        return err_set(err, ST_FAIL, "the GPUs of the ring wait for each other for ever");
    case RING_DONE:
        break;
    }
    return ST_OK;
}

static enum status play(struct world *w, bool lse, struct err *err)
{
    struct ring_play p = {.landed = 0};
    enum status st = ST_OK;
    w->sent = 0;
    for (struct ring_event e = {.gpu = 0}; st == ST_OK && e.what != RING_DONE;) {
        e = ring_next(&w->ring, &p, (unsigned)RING_EARLY);
        st = play_event(w, &e, lse, err);
    }
    return st;
}

/* ---- from one event to another ---- */

/* Every GPU tells GPU 0 that it is there, and GPU 0 all that all are; of several machines the first of each begins its
 * sample then, so that none's has the time in which it waited for others to be asked. */
static enum status meet(struct world *w, struct err *err)
{
    const int lead = w->ranks->begin, n = w->ring.gpus;
    enum status st = ST_OK;
    for (int back = 0; back < 2 && st == ST_OK; back++) {
        struct nccl_send sends[RING_GPUS_MAX];
        for (int i = 1; i < n; i++)
            sends[i - 1] = (struct nccl_send){.from = back ? 0 : i,
                                              .to = back ? i : 0,
                                              .src = w->tokens[back ? 0 : i] + RING_GPUS_MAX,
                                              .dst = w->tokens[back ? i : 0] + (cu_pointer)i,
                                              .bytes = 1};
        st = ranks_queue(w->ranks, name_of(w), sends, n - 1, err);
    }
    for (int i = lead; i < w->ranks->end && st == ST_OK; i++) {
        const struct gpu *g = rank_enter(w->ranks, i);
        cu_result r =
            i == lead ? g->api.event_record(w->met, w->ranks->rank[i].copies) : CU_SUCCESS;
        if (r == CU_SUCCESS)
            r = g->api.stream_wait(g->streams[0], w->met, 0);
        st = rank_check(w->ranks, i, name_of(w), "cuStreamWaitEvent", r, err);
    }
    return st;
}

/* Nothing begins anywhere before the first GPU's first event. */
static enum status fork_all(struct world *w, struct err *err)
{
    const int lead = w->ranks->begin;
    enum status st = ranks_are_all(w->ranks) ? ST_OK : meet(w, err);
    const struct gpu *g = rank_enter(w->ranks, lead);
    if (st == ST_OK)
        st = rank_check(w->ranks, lead, name_of(w), "cuEventRecord",
                        g->api.event_record(w->begin, g->streams[0]), err);
    for (int i = lead; i < w->ranks->end && st == ST_OK; i++) {
        g = rank_enter(w->ranks, i);
        cu_result r = i > lead ? g->api.stream_wait(g->streams[0], w->begin, 0) : CU_SUCCESS;
        if (r == CU_SUCCESS)
            r = g->api.stream_wait(w->ranks->rank[i].copies, w->begin, 0);
        if (r == CU_SUCCESS)
            r = g->api.event_record(w->seats[i].begin, g->streams[0]);
        st = rank_check(w->ranks, i, name_of(w), "cuStreamWaitEvent", r, err);
    }
    return st;
}

/* What a GPU sends to another machine is waited for there; here its stream is to be empty, too, before the sample ends. */
static cu_result wait_for_sent(struct world *w, int i)
{
    const struct gpu *g = rank_enter(w->ranks, i);
    if (ranks_are_all(w->ranks))
        return CU_SUCCESS;
    const cu_result r = g->api.event_record(w->seats[i].sent, w->ranks->rank[i].copies);
    return r == CU_SUCCESS ? g->api.stream_wait(g->streams[0], w->seats[i].sent, 0) : r;
}

/* Copies need no event of their own: a step, or the end, waits for each. */
static enum status join_all(struct world *w, struct err *err)
{
    const int lead = w->ranks->begin;
    enum status st = ST_OK;
    for (int i = w->ranks->end; i-- > lead && st == ST_OK;) {
        cu_result r = wait_for_sent(w, i);
        const struct gpu *g = rank_enter(w->ranks, i);
        if (r == CU_SUCCESS)
            r = g->api.event_record(w->seats[i].end, g->streams[0]);
        if (r == CU_SUCCESS && i > lead) {
            g = rank_enter(w->ranks, lead);
            r = g->api.stream_wait(g->streams[0], w->seats[i].end, 0);
        }
        st = rank_check(w->ranks, i, name_of(w), "cuEventRecord", r, err);
    }
    const struct gpu *g = rank_enter(w->ranks, lead);
    return st == ST_OK ? rank_check(w->ranks, lead, name_of(w), "cuEventRecord",
                                    g->api.event_record(w->end, g->streams[0]), err)
                       : st;
}

static enum status elapsed(struct world *w, int i, cu_event from, cu_event to, double *s,
                           struct err *err)
{
    float ms = 0;
    const struct gpu *g = rank_enter(w->ranks, i);
    const enum status st = rank_check(w->ranks, i, name_of(w), "cuEventElapsedTime",
                                      g->api.event_elapsed(&ms, from, to), err);
    *s = (double)ms * 1e-3;
    return st;
}

/* ---- one checked run ---- */

static enum status prepare(struct slot *s, uint64_t turn, struct err *err)
{
    struct world *w = s->peer_data;
    enum status st = gpu_alive(s->gpu, name_of(w), err);
    w->turn = turn;
    w->lse_is_fresh = false;
    return st == ST_OK ? shares_put(&w->shares, turn, err) : st;
}

static enum status run(struct slot *s, struct err *err)
{
    struct world *w = s->peer_data;
    enum status st = prepare(s, 0, err);
    if (st == ST_OK)
        st = shares_poison(&w->shares, err);
    if (st == ST_OK)
        st = fork_all(w, err);
    if (st == ST_OK)
        st = play(w, true, err);
    if (st == ST_OK)
        st = join_all(w, err);
    if (st == ST_OK)
        st = ranks_sync(w->ranks, name_of(w), err);
    w->lse_is_fresh = st == ST_OK;
    return st == ST_OK ? shares_intact(&w->shares, 0, err) : st;
}

static enum status inspect(struct slot *s, bool all, struct err *err)
{
    struct world *w = s->peer_data;
    enum status st = gpu_alive(s->gpu, name_of(w), err);
    if (st == ST_OK && all)
        st = shares_intact(&w->shares, w->turn, err);
    return st == ST_OK ? shares_look(&w->shares, w->turn, all, err) : st;
}

static enum status fetch(struct slot *s, struct err *err)
{
    struct world *w = s->peer_data;
    if (!w->output)
        w->output = xmalloc(inputs_output_bytes(s->inputs));
    return shares_gather(&w->shares, false, w->output, err);
}

static const void *output(const struct slot *s)
{
    return ((const struct world *)s->peer_data)->output;
}

static enum status read_lse(struct slot *s, void *dst, struct err *err)
{
    struct world *w = s->peer_data;
    return w->lse_is_fresh ? shares_gather(&w->shares, true, dst, err)
                           : err_set(err, ST_NO, "%s was not asked for its LSE", name_of(w));
}

/* ---- samples ---- */

static double slowest_of(const double *gbs, int n)
{
    double least = INFINITY;
    for (int i = 0; i < n; i++)
        least = gbs[i] > 0 ? fmin(least, gbs[i]) : NAN;
    return least;
}

/* What the links give: the first exchange of the ring alone, three times, the middle one. */
static enum status time_links(struct world *w, struct err *err)
{
    enum { TIMES = 3 };
    struct nccl_send sends[2 * RING_GPUS_MAX];
    double gbs[TIMES] = {0};
    const int n = sends_of(w, 0, sends);
    enum status st = ST_OK;
    for (int t = 0; t < TIMES && st == ST_OK; t++) {
        double slowest = INFINITY, bytes = 0, longest = 0, s = 0;
        st = queue_exchange(w, 0, err);
        if (st == ST_OK)
            st = ranks_sync(w->ranks, name_of(w), err);
        for (int i = 0; i < n && st == ST_OK; i += 2) {
            const struct seat *x = &w->seats[sends[i].from];
            if (!rank_is_here(w->ranks, ranks_carrier(w->ranks, sends[i].from, sends[i].to)))
                continue; /* told where it arrives */
            const double sent = (double)(sends[i].bytes + sends[i + 1].bytes);
            st = elapsed(w, ranks_carrier(w->ranks, sends[i].from, sends[i].to), x->left[0],
                         x->arrived[0], &s, err);
            slowest = fmin(slowest, sent / s);
            longest = fmax(longest, s);
            bytes += sent;
        }
        gbs[t] = (w->ring.gathers ? bytes / longest : slowest) * 1e-9;
    }
    w->links_timed = true;
    if (st == ST_OK && isfinite(slowest_of(gbs, TIMES)))
        w->link_gbs = fmax(fmin(gbs[0], gbs[1]), fmin(fmax(gbs[0], gbs[1]), gbs[2]));
    return st;
}

/* NCCL may wait for its own streams when it is called, and the driver for a stream whose copy takes the way through the
 * host: neither is ever called behind a closed gate. */
static bool close_gate(struct world *w)
{
    enum { QUEUED_MAX = 256 };
    const struct gpu *g = rank_enter(w->ranks, w->ranks->begin);
    int most = 0;
    for (int i = w->ranks->begin; i < w->ranks->end; i++) {
        const int n = seat_commands(&w->seats[i]) + 8 * w->ring.steps;
        most = n > most ? n : most;
    }
    return w->gate && !w->ranks->nccl && strcmp(w->ranks->carrier, "host") != 0 &&
           most <= QUEUED_MAX &&
           g->api.stream_wait_value(g->streams[0], (cu_pointer)(uintptr_t)w->gate, ++w->opening,
                                    CU_WAIT_GEQ) == CU_SUCCESS;
}

static enum status queue_timed(struct world *w, struct err *err)
{
    enum status st = fork_all(w, err);
    if (st == ST_OK)
        st = play(w, false, err);
    return st == ST_OK ? join_all(w, err) : st;
}

static enum status time_all(struct world *w, double *seconds, struct err *err)
{
    const bool gated = close_gate(w);
    double began = seconds_now();
    enum status st = queue_timed(w, err);
    if (gated) {
        began = seconds_now();
        __atomic_store_n(w->gate, w->opening, __ATOMIC_RELEASE);
    }
    if (st == ST_OK)
        st = ranks_sync(w->ranks, name_of(w), err);
    w->host_s = seconds_now() - began;
    if (st == ST_OK)
        st = elapsed(w, w->ranks->begin, w->begin, w->end, seconds, err);
    if (st == ST_OK && !(*seconds > 0 && *seconds < FLT_MAX))
        st = err_set(err, ST_FAIL, "%s: its events are %g s apart: the driver's clock is wrong",
                     name_of(w), *seconds);
    return st;
}

static void flush_all(struct world *w)
{
    w->slot->flush_doubt = NULL;
    for (int i = w->ranks->begin; i < w->ranks->end; i++) {
        struct rank *x = &w->ranks->rank[i];
        rank_enter(w->ranks, i);
        flush_queue(&x->gpu, &x->flush);
        if (x->flush.doubt)
            w->slot->flush_doubt = x->flush.doubt;
    }
}

static enum status sample(struct slot *s, int repeat, bool cold, bool graph, double *seconds,
                          struct err *err)
{
    struct world *w = s->peer_data;
    (void)graph;
    enum status st = repeat == 1 ? gpu_alive(s->gpu, name_of(w), err)
                                 : err_set(err, ST_USAGE, "a sample of %d runs", repeat);
    if (st == ST_OK && !w->links_timed) {
        st = time_links(w, err);
        if (st == ST_OK)
            st = shares_put(&w->shares, w->turn, err); /* what came by so is not this sample's */
    }
    if (st == ST_OK && cold)
        flush_all(w);
    if (st == ST_OK)
        st = ranks_sync(w->ranks, name_of(w), err);
    w->lse_is_fresh = false;
    return st == ST_OK ? time_all(w, seconds, err) : st;
}

/* ---- a trace ---- */

/* Steps in which there was nothing to do under the mask are none. */
static enum status stamp_steps(struct world *w, int i, struct block_trace *out, struct err *err)
{
    const struct seat *x = &w->seats[i];
    enum status st = ST_OK;
    for (int step = 0; step < w->ring.steps && st == ST_OK; step++) {
        double begin = 0, end = 0;
        if (!(ring_pairs(&w->ring, i, step) > 0))
            continue;
        st = elapsed(w, i, x->begin, x->began[step], &begin, err);
        if (st == ST_OK)
            st = elapsed(w, i, x->begin, x->computed[step], &end, err);
        out->stamps[out->blocks[0]++] = (struct stamp){.begin_ns = (int64_t)(begin * 1e9),
                                                       .end_ns = (int64_t)(end * 1e9),
                                                       .row = i,
                                                       .holds = w->ring.turn[i][step].holds};
    }
    return st;
}

enum status ring_trace(struct slot *s, const struct trace_watch *watch, struct block_trace *out,
                       struct err *err)
{
    struct world *w = s->peer_data;
    double seconds;
    *out = (struct block_trace){.unit = "GPU", .rows = w->ring.gpus, .lanes = 1, .npasses = 1};
    out->stamps = xcalloc((size_t)(w->ring.gpus * w->ring.steps), sizeof *out->stamps);
    enum status st = ST_OK;
    for (int warm = 0; warm < 2 && st == ST_OK; warm++) {
        watch->runs(watch->ctx);
        st = prepare(s, 1 + (uint64_t)warm, err);
        if (st == ST_OK)
            st = time_all(w, &seconds, err);
    }
    for (int i = 0; i < w->ring.gpus && st == ST_OK; i++)
        st = stamp_steps(w, i, out, err);
    return st;
}

/* ---- what is told ---- */

/* Of a GPU: from its own events, so that none is compared with another's clock. */
static json_t *gpu_json(struct world *w, int i)
{
    double span = NAN, computed = 0, s = 0;
    struct seat *x = &w->seats[i];
    enum status st = elapsed(w, i, x->begin, x->end, &span, NULL);
    for (int step = 0; step < w->ring.steps && st == ST_OK; step++) {
        st = elapsed(w, i, x->began[step], x->computed[step], &s, NULL);
        computed += s;
    }
    return st != ST_OK
               ? NULL
               : json_pack("{s:i, s:i, s:f, s:f}", "gpu", i, "device", w->ranks->rank[i].gpu.index,
                           "span_us", span * 1e6, "compute_us", computed * 1e6);
}

static void tell_sample(struct world *w, json_t *o)
{
    json_t *gpus = json_array();
    double most = 0, sum = 0;
    for (int i = w->ranks->begin; i < w->ranks->end && gpus; i++) {
        json_t *one = gpu_json(w, i);
        const double us = json_number_value(json_object_get(one, "compute_us"));
        most = fmax(most, us);
        sum += us;
        if (one)
            json_array_append_new(gpus, one);
    }
    if (sum > 0)
        json_object_set_new(o, "imbalance",
                            json_real(most * (w->ranks->end - w->ranks->begin) / sum));
    json_object_set_new(o, "gpu_us", gpus);
    json_object_set_new(o, "host_us", json_real(w->host_s * 1e6));
}

static json_t *describe(const struct slot *s)
{
    struct world *w = s->peer_data;
    char devices[80], carrier[48];
    ranks_devices(w->ranks, devices, sizeof devices);
    snprintf(carrier, sizeof carrier, "%s%s%s", w->ranks->carrier, w->ranks->nccl ? " " : "",
             w->ranks->nccl ? nccl_version(w->ranks->nccl) : "");
    json_t *o = json_pack("{s:i, s:s, s:s}", "gpus", w->ring.gpus, "gpu_devices", devices,
                          "transport", carrier);
    if (w->sent > 0)
        json_object_set_new(o, "link_bytes", json_real(w->sent));
    if (isfinite(w->link_gbs))
        json_object_set_new(o, "link_gbs", json_real(w->link_gbs));
    if (isfinite(w->host_s) && !s->gpu->spent)
        tell_sample(w, o);
    return o;
}

const struct cuda_peer cuda_ring = {
    .name = "ring",
    .load = load,
    .unload = unload,
    .run = run,
    .prepare = prepare,
    .inspect = inspect,
    .output = output,
    .fetch = fetch,
    .read_lse = read_lse,
    .sample = sample,
    .describe = describe,
};
