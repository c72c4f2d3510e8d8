/* cuda_time.c - one sample: events around launches, with the host's launch cost kept out.
 *
 * Between two events lies what the GPU does from the first to the second, waiting for the host included.
 * So nothing may be waited for:
 *   gate   the stream first waits for a word in host memory. The host queues event, work, event
 *          behind it and then writes the word: all is there before the GPU begins. (A spinning
 *          kernel does the same but takes an SM.)
 *   graph  many short runs are recorded once and replayed with one call, so that the GPU finds the
 *          next run ready. Used for hot samples of several runs.
 *   flush  a cold sample is one run behind a read of twice the L2, in the same stream (cuda_flush.c).
 * The clock is read after the work, outside the events.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "backend/peer/cuda_peer.h"
#include "base/number.h"

enum {
    GATED_LAUNCHES_MAX = 64, /* a queue holds about a thousand; a full one would wait for ever */
    MAP_HOST_MEMORY = 2,     /* cuMemHostAlloc: visible to the device */
};

/* ---- opening and closing ---- */

static void make_gate(struct backend *b)
{
    void *p = NULL;
    if (!cuda_has_gate(&b->api) ||
        b->api.host_alloc(&p, sizeof *b->gate, MAP_HOST_MEMORY) != CU_SUCCESS)
        return;
    b->gate = p;
    *b->gate = 0;
}

static enum status make_events(struct backend *b, struct err *err)
{
    cu_result r = b->api.event_create(&b->begin, 0);
    if (r == CU_SUCCESS)
        r = b->api.event_create(&b->end, 0);
    if (r == CU_SUCCESS)
        r = b->api.event_create(&b->fork, 0);
    for (int i = 1; i < b->nstreams && r == CU_SUCCESS; i++)
        r = b->api.event_create(&b->joins[i], 0);
    return cuda_check(b, NULL, "cuEventCreate", r, err);
}

enum status cuda_make_timers(struct backend *b, struct err *err)
{
    cu_result r = CU_SUCCESS;
    for (int i = 0; i < b->nstreams && r == CU_SUCCESS; i++)
        r = b->api.stream_create(&b->streams[i], CU_STREAM_NONBLOCKING);
    enum status st = cuda_check(b, NULL, "cuStreamCreate", r, err);
    if (st == ST_OK)
        st = make_events(b, err);
    if (st == ST_OK)
        make_gate(b);
    return st;
}

void cuda_free_timers(struct backend *b)
{
    cuda_free_sweep(b);
    if (b->spent)
        return;
    const cu_event events[] = {b->begin, b->end, b->fork};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (events[i])
            (void)b->api.event_destroy(events[i]);
    for (int i = 0; i < b->nstreams; i++) {
        if (b->joins[i])
            (void)b->api.event_destroy(b->joins[i]);
        if (b->streams[i])
            (void)b->api.stream_destroy(b->streams[i]);
    }
    if (b->gate)
        (void)b->api.host_free(b->gate);
}

/* ---- work ---- */

/* `repeat` rounds: one run in every stream, side by side. Stream 0 forks before and joins after. */
static enum status queue_all(struct backend *b, struct slot *s, int repeat, struct err *err)
{
    cu_result r = CU_SUCCESS;
    if (b->nstreams > 1)
        r = b->api.event_record(b->fork, b->streams[0]);
    for (int i = 1; i < b->nstreams && r == CU_SUCCESS; i++)
        r = b->api.stream_wait(b->streams[i], b->fork, 0);
    enum status st = cuda_check(b, s->desc->name, "cuStreamWaitEvent", r, err);
    for (int n = 0; n < repeat; n++)
        for (int i = 0; i < b->nstreams && st == ST_OK; i++)
            st = cuda_queue(b, s, i, err);
    if (st != ST_OK)
        return st;
    for (int i = 1; i < b->nstreams && r == CU_SUCCESS; i++) {
        r = b->api.event_record(b->joins[i], b->streams[i]);
        if (r == CU_SUCCESS)
            r = b->api.stream_wait(b->streams[0], b->joins[i], 0);
    }
    return cuda_check(b, s->desc->name, "cuStreamWaitEvent", r, err);
}

/* Records `repeat` runs as a graph. ST_NO: this kernel cannot be recorded; launch it plainly. */
static enum status record_graph(struct backend *b, struct slot *s, int repeat, struct err *err)
{
    cu_graph graph = NULL;
    if (b->api.capture_begin(b->streams[0], CU_CAPTURE_THREAD_LOCAL) != CU_SUCCESS)
        return ST_NO;
    enum status st = queue_all(b, s, repeat, err);
    cu_result r = b->api.capture_end(b->streams[0], &graph);
    if (st == ST_OK && r == CU_SUCCESS)
        r = b->api.graph_instantiate(&s->graph, graph, 0);
    if (graph)
        (void)b->api.graph_destroy(graph);
    s->graph_repeat = repeat;
    return st != ST_OK ? st : r == CU_SUCCESS ? ST_OK : ST_NO;
}

static enum status need_graph(struct backend *b, struct slot *s, int repeat, struct err *err)
{
    if (!cuda_has_graphs(&b->api))
        return ST_NO;
    if (s->graph_repeat == repeat)
        return s->graph ? ST_OK : ST_NO;
    if (s->graph)
        (void)b->api.graph_exec_destroy(s->graph);
    s->graph = NULL;
    return record_graph(b, s, repeat, err);
}

static enum status queue_work(struct backend *b, struct slot *s, int repeat, bool graph,
                              struct err *err)
{
    s->launched = graph ? "graph" : "stream";
    if (!graph)
        return queue_all(b, s, repeat, err);
    return cuda_check(b, s->desc->name, "cuGraphLaunch",
                      b->api.graph_launch(s->graph, b->streams[0]), err);
}

/* ---- a sample ---- */

static bool close_gate(struct backend *b, const struct slot *s, int repeat, bool graph)
{
    const int commands = graph ? 1 : repeat * b->nstreams * s->commands;
    if (!b->gate || s->library || commands > GATED_LAUNCHES_MAX)
        return false; /* a library may wait for its own work: with the gate, for ever */
    return b->api.stream_wait_value(b->streams[0], (cu_pointer)(uintptr_t)b->gate, ++b->turn,
                                    CU_WAIT_GEQ) == CU_SUCCESS;
}

static void open_gate(struct backend *b)
{
    __atomic_store_n(b->gate, b->turn, __ATOMIC_RELEASE);
}

static enum status time_work(struct backend *b, struct slot *s, int repeat, bool graph,
                             struct err *err)
{
    const char *name = s->desc->name;
    const bool gated = close_gate(b, s, repeat, graph);
    enum status st =
        cuda_check(b, name, "cuEventRecord", b->api.event_record(b->begin, b->streams[0]), err);
    if (st == ST_OK)
        st = queue_work(b, s, repeat, graph, err);
    if (st == ST_OK)
        st = cuda_check(b, name, "cuEventRecord", b->api.event_record(b->end, b->streams[0]), err);
    if (gated)
        open_gate(b);
    if (st == ST_OK)
        st = cuda_check(b, name, "cuStreamSynchronize", b->api.stream_sync(b->streams[0]), err);
    return st;
}

enum status cuda_sample(struct backend *b, struct slot *s, int repeat, double *seconds,
                        double *clock_mhz, struct err *err)
{
    float ms = 0;
    if (repeat < 1)
        return err_set(err, ST_USAGE, "a sample of %d runs", repeat);
    enum status st = cuda_alive(b, s->desc->name, err);
    if (st != ST_OK)
        return st;
    if (s->python) {
        st = cuda_peer_sample(b, s, repeat, seconds, err);
        b->flush_asked = false;
        *clock_mhz = nvml_sm_clock_mhz(b->nvml);
        return st;
    }
    const bool wanted =
        b->launch == LAUNCH_AUTO ? repeat > 1 && !s->library : b->launch == LAUNCH_GRAPH;
    const enum status graph = wanted ? need_graph(b, s, repeat, err) : ST_NO;
    if (graph != ST_OK && graph != ST_NO)
        return graph;
    if (b->flush_asked)
        cuda_flush_now(b);
    b->flush_asked = false;
    st = time_work(b, s, repeat, graph == ST_OK, err);
    if (st == ST_OK)
        st = cuda_check(b, s->desc->name, "cuEventElapsedTime",
                        b->api.event_elapsed(&ms, b->begin, b->end), err);
    if (st == ST_OK && !(ms > 0 && ms < FLT_MAX))
        st = err_set(err, ST_FAIL, "%s: its events are %g ms apart: the driver's clock is wrong",
                     s->desc->name, (double)ms);
    if (st != ST_OK)
        return st;
    *seconds = (double)ms * 1e-3 / ((double)repeat * b->nstreams);
    *clock_mhz = nvml_sm_clock_mhz(b->nvml);
    return ST_OK;
}
