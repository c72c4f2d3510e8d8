/* timer.c - one sample: events around launches, with the host's launch cost kept out.
 *
 * Between two events lies what the GPU does from the first to the second, waiting for the host included.
 * So nothing may be waited for:
 *   gate   the stream first waits for a word in host memory. The host queues event, work, event
 *          behind it and then writes the word: all is there before the GPU begins. (A spinning
 *          kernel does the same but takes an SM.)
 *   graph  many short runs are recorded once and replayed with one call, so that the GPU finds the
 *          next run ready. Used for hot samples of several runs.
 *   flush  a cold sample is one run behind a read of twice the L2, in the same stream (flush.c).
 * The clock is read after the work, outside the events.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cuda/timer.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/number.h"

enum {
    GATED_LAUNCHES_MAX = 64, /* a queue holds about a thousand; a full one would wait for ever */
    MAP_HOST_MEMORY = 2,     /* cuMemHostAlloc: visible to the device */
};

/* ---- opening and closing ---- */

static void make_gate(struct gpu *g, struct timer *t)
{
    void *p = NULL;
    if (!cuda_has_gate(&g->api) ||
        g->api.host_alloc(&p, sizeof *t->gate, MAP_HOST_MEMORY) != CU_SUCCESS)
        return;
    t->gate = p;
    *t->gate = 0;
}

static enum status make_events(struct gpu *g, struct timer *t, struct err *err)
{
    cu_result r = g->api.event_create(&t->begin, 0);
    if (r == CU_SUCCESS)
        r = g->api.event_create(&t->end, 0);
    if (r == CU_SUCCESS)
        r = g->api.event_create(&t->fork, 0);
    for (int i = 1; i < g->nstreams && r == CU_SUCCESS; i++)
        r = g->api.event_create(&t->joins[i], 0);
    return gpu_check(g, NULL, "cuEventCreate", r, err);
}

enum status timer_open(struct gpu *g, struct timer *t, struct err *err)
{
    enum status st = make_events(g, t, err);
    if (st == ST_OK)
        make_gate(g, t);
    return st;
}

void timer_close(struct gpu *g, struct timer *t)
{
    if (g->spent)
        return;
    const cu_event events[] = {t->begin, t->end, t->fork};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (events[i])
            (void)g->api.event_destroy(events[i]);
    for (int i = 0; i < g->nstreams; i++)
        if (t->joins[i])
            (void)g->api.event_destroy(t->joins[i]);
    if (t->gate)
        (void)g->api.host_free(t->gate);
}

/* ---- work ---- */

/* `repeat` rounds: one run in every stream, side by side. Stream 0 forks before and joins after. */
static enum status queue_all(struct timer *t, struct slot *s, int repeat, struct err *err)
{
    struct gpu *g = s->gpu;
    cu_result r = CU_SUCCESS;
    if (g->nstreams > 1)
        r = g->api.event_record(t->fork, g->streams[0]);
    for (int i = 1; i < g->nstreams && r == CU_SUCCESS; i++)
        r = g->api.stream_wait(g->streams[i], t->fork, 0);
    enum status st = gpu_check(g, s->desc->name, "cuStreamWaitEvent", r, err);
    for (int n = 0; n < repeat; n++)
        for (int i = 0; i < g->nstreams && st == ST_OK; i++)
            st = slot_queue(s, n * g->nstreams + i, err);
    if (st != ST_OK)
        return st;
    for (int i = 1; i < g->nstreams && r == CU_SUCCESS; i++) {
        r = g->api.event_record(t->joins[i], g->streams[i]);
        if (r == CU_SUCCESS)
            r = g->api.stream_wait(g->streams[0], t->joins[i], 0);
    }
    return gpu_check(g, s->desc->name, "cuStreamWaitEvent", r, err);
}

/* Records `repeat` runs as a graph. ST_NO: this kernel cannot be recorded; launch it plainly. */
static enum status record_graph(struct timer *t, struct slot *s, int repeat, struct err *err)
{
    struct gpu *g = s->gpu;
    cu_graph graph = NULL;
    if (g->api.capture_begin(g->streams[0], CU_CAPTURE_THREAD_LOCAL) != CU_SUCCESS)
        return ST_NO;
    enum status st = queue_all(t, s, repeat, err);
    cu_result r = g->api.capture_end(g->streams[0], &graph);
    if (st == ST_OK && r == CU_SUCCESS)
        r = g->api.graph_instantiate(&s->graph, graph, 0);
    if (graph)
        (void)g->api.graph_destroy(graph);
    s->graph_repeat = repeat;
    return st != ST_OK ? st : r == CU_SUCCESS ? ST_OK : ST_NO;
}

static enum status need_graph(struct timer *t, struct slot *s, int repeat, struct err *err)
{
    struct gpu *g = s->gpu;
    if (!cuda_has_graphs(&g->api))
        return ST_NO;
    if (s->graph_repeat == repeat)
        return s->graph ? ST_OK : ST_NO;
    if (s->graph)
        (void)g->api.graph_exec_destroy(s->graph);
    s->graph = NULL;
    return record_graph(t, s, repeat, err);
}

static enum status queue_work(struct timer *t, struct slot *s, int repeat, bool graph,
                              struct err *err)
{
    struct gpu *g = s->gpu;
    s->launched = graph ? "graph" : "stream";
    if (!graph)
        return queue_all(t, s, repeat, err);
    return gpu_check(g, s->desc->name, "cuGraphLaunch",
                     g->api.graph_launch(s->graph, g->streams[0]), err);
}

/* ---- a sample ---- */

static bool close_gate(struct timer *t, const struct slot *s, int repeat, bool graph)
{
    struct gpu *g = s->gpu;
    const int commands = graph ? 1 : repeat * g->nstreams * s->commands;
    if (!t->gate || s->library || commands > GATED_LAUNCHES_MAX)
        return false; /* a library may wait for its own work: with the gate, for ever */
    return g->api.stream_wait_value(g->streams[0], (cu_pointer)(uintptr_t)t->gate, ++t->turn,
                                    CU_WAIT_GEQ) == CU_SUCCESS;
}

static void open_gate(struct timer *t)
{
    __atomic_store_n(t->gate, t->turn, __ATOMIC_RELEASE);
}

/* The last element of the first run's output: is it as it was before? */
static enum status look_at_output(struct slot *s, struct err *err)
{
    const size_t size = dtype_size(s->inputs->shape.dtype);
    const cu_pointer end = s->lanes[0].output + OUTPUT_GUARD_BYTES + inputs_tensor_bytes(s->inputs);
    unsigned char last[4]; /* unwritten, until the copy says otherwise */
    memcpy(last, size == 4 ? output_poison_f32 : output_poison_f16, size);
    enum status st = gpu_check(s->gpu, s->desc->name, "cuMemcpyDtoH",
                               s->gpu->api.copy_out(last, end - size, size), err);
    s->late |=
        st == ST_OK && memcmp(last, size == 4 ? output_poison_f32 : output_poison_f16, size) == 0;
    return st;
}

/* A library may launch where our events do not see it. Its stream has ended: is its output there, and how long is
 * the device busy still? The least of all looks counts, for any of them may have waited for the processor, or come late
 * itself: what the output says then hangs on no clock. */
static enum status look_behind(struct slot *s, struct err *err)
{
    enum status st = look_at_output(s, err);
    const double begin = seconds_now();
    if (st == ST_OK)
        st = gpu_check(s->gpu, s->desc->name, "cuCtxSynchronize", s->gpu->api.device_sync(), err);
    s->behind_s = fmin(s->behind_s, seconds_now() - begin);
    s->looks++;
    return st == ST_OK ? look_at_output(s, err) : st;
}

/* What keeps the clock down is so only while the device works; asking takes some 20 us of the host. */
static void look_at_state(struct slot *s)
{
    enum { EVERY = 4 };
    if (s->samples++ % EVERY)
        return;
    const unsigned held = nvml_held(s->gpu->nvml);
    s->state_looks++;
    for (int i = 0; i < NVML_HELD_COUNT; i++)
        s->held[i] += (int)(held >> i & 1);
}

static enum status time_work(struct timer *t, struct slot *s, int repeat, bool graph,
                             struct err *err)
{
    struct gpu *g = s->gpu;
    const char *name = s->desc->name;
    const bool gated = close_gate(t, s, repeat, graph);
    enum status st =
        gpu_check(g, name, "cuEventRecord", g->api.event_record(t->begin, g->streams[0]), err);
    if (st == ST_OK)
        st = queue_work(t, s, repeat, graph, err);
    if (st == ST_OK)
        st = gpu_check(g, name, "cuEventRecord", g->api.event_record(t->end, g->streams[0]), err);
    if (gated)
        open_gate(t);
    if (st == ST_OK)
        look_at_state(s);
    if (st == ST_OK)
        st = gpu_check(g, name, "cuStreamSynchronize", g->api.stream_sync(g->streams[0]), err);
    return st == ST_OK && s->library ? look_behind(s, err) : st;
}

/* One in our own streams. */
static enum status sample_here(struct timer *t, struct slot *s, struct flush *flush, int repeat,
                               bool cold, double *seconds, struct err *err)
{
    struct gpu *g = s->gpu;
    float ms = 0;
    const bool wanted =
        t->launch == LAUNCH_AUTO ? repeat > 1 && !s->library : t->launch == LAUNCH_GRAPH;
    const enum status graph = wanted ? need_graph(t, s, repeat, err) : ST_NO;
    if (graph != ST_OK && graph != ST_NO)
        return graph;
    if (cold) {
        flush_queue(g, flush);
        s->flush_doubt = flush->doubt;
    }
    enum status st = time_work(t, s, repeat, graph == ST_OK, err);
    if (st == ST_OK)
        st = gpu_check(g, s->desc->name, "cuEventElapsedTime",
                       g->api.event_elapsed(&ms, t->begin, t->end), err);
    if (st == ST_OK && !(ms > 0 && ms < FLT_MAX))
        st = err_set(err, ST_FAIL, "%s: its events are %g ms apart: the driver's clock is wrong",
                     s->desc->name, (double)ms);
    if (st == ST_OK)
        *seconds = (double)ms * 1e-3 / ((double)repeat * g->nstreams);
    return st;
}

enum status timer_sample(struct timer *t, struct slot *s, struct flush *flush, int repeat,
                         double *seconds, double *clock_mhz, struct err *err)
{
    if (repeat < 1)
        return err_set(err, ST_USAGE, "a sample of %d runs", repeat);
    enum status st = gpu_alive(s->gpu, s->desc->name, err);
    if (st != ST_OK)
        return st;
    const bool cold = t->cold, elsewhere = slot_is_elsewhere(s);
    if (!elsewhere && repeat > slot_sets(s))
        return err_set(err, ST_USAGE, "a sample of %d runs has inputs for %d", repeat,
                       slot_sets(s));
    const bool graph = t->launch == LAUNCH_AUTO ? !cold : t->launch == LAUNCH_GRAPH;
    st = elsewhere ? s->peer->sample(s, repeat, cold, graph, seconds, err)
                   : sample_here(t, s, flush, repeat, cold, seconds, err);
    if (st == ST_OK || elsewhere) {
        t->cold = false;
        *clock_mhz = nvml_sm_clock_mhz(s->gpu->nvml);
    }
    return st;
}
