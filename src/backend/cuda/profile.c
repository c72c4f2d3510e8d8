/* profile.c - hardware counters of one run of a kernel, through CUPTI's range profiler.
 *
 * Every launch is a range. A GPU counts few things at once, so the run is replayed until all are
 * counted. We replay it ourselves where CUPTI lets us: then every replay can begin with cold caches,
 * and nothing has to be saved and put back, for a run writes only what it wrote before. Where it does
 * not, CUPTI replays each launch by itself.
 *
 * Nothing here waits for the host while launches are held back: with counters on, a launch may return
 * only when the kernel has ended, so there is no gate.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cuda/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "backend/counters.h"
#include "backend/cuda/cupti.h"
#include "base/mem.h"
#include "plan/row.h"

enum { RANGES_MAX = 64, REPLAYS_MORE = 8 };

struct image {
    uint8_t *bytes;
    size_t size;
};

struct profiler {
    struct slot *slot;
    struct flush *flush;
    bool cold;
    struct cupti api;
    bool refused; /* the machine does not permit it: nothing else is worth trying */
    struct image
        available;       /* counters that the machine leaves us; the host object keeps a pointer */
    struct image config; /* what to count in which replay */
    struct image data;   /* what was counted */
    cupti_host host;
    cupti_range range;
    const char *names[COUNTERS]; /* by index into the table; NULL: this chip has none */
    size_t needed;               /* replays, as planned */
    size_t replays;              /* as made */
    struct counter_values launches[RANGES_MAX];
    int nlaunches;
};

/* ---- calls ---- */

static enum status call(struct profiler *p, const char *name, cupti_result r, struct err *err)
{
    p->refused |= cupti_refuses(r);
    return cupti_check(&p->api, name, r, err);
}

#define CALL(p, name, params, err) call(p, cupti_symbol(#name), (p)->api.name(params), err)

static void image_free(struct image *i)
{
    free(i->bytes);
    *i = (struct image){0};
}

static void image_make(struct image *i, size_t size)
{
    image_free(i);
    *i = (struct image){.bytes = xcalloc(1, size ? size : 1), .size = size};
}

/* ---- the host's side: what this chip can count ---- */

/* What the machine leaves us of the chip's counters; without it the library takes all. */
static enum status read_availability(struct profiler *p, struct err *err)
{
    struct image *out = &p->available;
    struct cupti_availability a = {.size = CUPTI_SIZE(struct cupti_availability, image),
                                   .context = p->slot->gpu->context};
    if (!p->api.availability)
        return ST_OK;
    cupti_result r = p->api.availability(&a);
    if (r == CUPTI_OK && a.image_size) {
        image_make(out, a.image_size);
        a.image = out->bytes;
        r = p->api.availability(&a);
    }
    if (r != CUPTI_OK)
        image_free(out);
    return cupti_refuses(r) ? call(p, "cuptiProfilerGetCounterAvailability", r, err) : ST_OK;
}

static enum status open_host(struct profiler *p, struct err *err)
{
    struct cupti_initialize init = {.size = CUPTI_SIZE(struct cupti_initialize, priv)};
    struct cupti_chip chip = {.size = CUPTI_SIZE(struct cupti_chip, name),
                              .device = (size_t)p->slot->gpu->device};
    enum status st = CALL(p, initialize, &init, err);
    if (st == ST_OK)
        st = CALL(p, chip, &chip, err);
    if (st == ST_OK)
        st = read_availability(p, err);
    if (st == ST_OK) {
        struct cupti_host_initialize h = {.size = CUPTI_SIZE(struct cupti_host_initialize, host),
                                          .type = CUPTI_TYPE_RANGE,
                                          .chip = chip.name,
                                          .availability = p->available.bytes};
        st = CALL(p, host_open, &h, err);
        p->host = st == ST_OK ? h.host : NULL;
    }
    return st;
}

/* True if the chip has the metric; then it will be counted. */
static bool add_metric(struct profiler *p, const char *name)
{
    struct cupti_metric m = {
        .size = CUPTI_SIZE(struct cupti_metric, type), .host = p->host, .metric = name};
    struct cupti_add_metrics a = {.size = CUPTI_SIZE(struct cupti_add_metrics, count),
                                  .host = p->host,
                                  .metrics = &name,
                                  .count = 1};
    return p->api.metric(&m) == CUPTI_OK && p->api.add_metrics(&a) == CUPTI_OK;
}

static enum status choose_metrics(struct profiler *p, struct err *err)
{
    int found = 0;
    for (int i = 0; i < COUNTERS; i++) {
        for (int k = 0; k < COUNTER_NAMES && counters[i].names[k] && !p->names[i]; k++)
            if (add_metric(p, counters[i].names[k]))
                p->names[i] = counters[i].names[k];
        found += p->names[i] != NULL;
    }
    return found ? ST_OK
                 : err_set(err, ST_NO, "no counters: libcupti knows none of ours for this GPU");
}

static enum status make_config(struct profiler *p, struct err *err)
{
    struct cupti_config_size s = {.size = CUPTI_SIZE(struct cupti_config_size, bytes),
                                  .host = p->host};
    enum status st = CALL(p, config_size, &s, err);
    if (st != ST_OK)
        return st;
    image_make(&p->config, s.bytes);
    struct cupti_config c = {.size = CUPTI_SIZE(struct cupti_config, image),
                             .host = p->host,
                             .bytes = p->config.size,
                             .image = p->config.bytes};
    struct cupti_passes n = {.size = CUPTI_SIZE(struct cupti_passes, passes),
                             .bytes = p->config.size,
                             .image = p->config.bytes};
    st = CALL(p, config, &c, err);
    if (st == ST_OK)
        st = CALL(p, passes, &n, err);
    p->needed = n.passes;
    return st;
}

/* ---- the device's side ---- */

static enum status make_data(struct profiler *p, struct err *err)
{
    const char *names[COUNTERS];
    size_t n = 0;
    for (int i = 0; i < COUNTERS; i++)
        if (p->names[i])
            names[n++] = p->names[i];
    struct cupti_data_size s = {.size = CUPTI_SIZE(struct cupti_data_size, bytes),
                                .range = p->range,
                                .metrics = names,
                                .count = n,
                                .max_ranges = RANGES_MAX,
                                .max_nodes = RANGES_MAX};
    enum status st = CALL(p, data_size, &s, err);
    if (st != ST_OK)
        return st;
    image_make(&p->data, s.bytes);
    struct cupti_data d = {.size = CUPTI_SIZE(struct cupti_data, image),
                           .range = p->range,
                           .bytes = p->data.size,
                           .image = p->data.bytes};
    return CALL(p, data_init, &d, err);
}

static enum status set_config(struct profiler *p, int replay, struct err *err)
{
    struct cupti_set_config c = {.size = CUPTI_SIZE(struct cupti_set_config, target_level),
                                 .range = p->range,
                                 .config_size = p->config.size,
                                 .config = p->config.bytes,
                                 .data_size = p->data.size,
                                 .data = p->data.bytes,
                                 .ranges = CUPTI_RANGE_AUTO,
                                 .replay = replay,
                                 .max_ranges = RANGES_MAX,
                                 .levels = 1,
                                 .least_level = 1,
                                 .target_level = 1};
    return CALL(p, set_config, &c, err);
}

/* Between start and stop there is the run and nothing else. */
static enum status replay_once(struct profiler *p, bool *done, struct err *err)
{
    struct cupti_range_only start = {.size = CUPTI_SIZE(struct cupti_range_only, range),
                                     .range = p->range};
    struct cupti_stop stop = {.size = CUPTI_SIZE(struct cupti_stop, all_submitted),
                              .range = p->range};
    struct gpu *g = p->slot->gpu;
    const char *name = p->slot->desc->name;
    if (p->cold)
        flush_queue(g, p->flush);
    enum status st =
        gpu_check(g, name, "cuStreamSynchronize", g->api.stream_sync(g->streams[0]), err);
    if (st == ST_OK)
        st = CALL(p, start, &start, err);
    if (st != ST_OK)
        return st;
    st = slot_queue(p->slot, 0, err);
    if (st == ST_OK)
        st = gpu_check(g, name, "cuStreamSynchronize", g->api.stream_sync(g->streams[0]), err);
    const cupti_result r = p->api.stop(&stop);
    *done = stop.all_submitted;
    p->replays++;
    return st == ST_OK ? call(p, cupti_symbol("stop"), r, err) : st;
}

static enum status replay_all(struct profiler *p, int replay, struct err *err)
{
    struct cupti_decode d = {.size = CUPTI_SIZE(struct cupti_decode, dropped), .range = p->range};
    bool done = false;
    enum status st = ST_OK;
    for (p->replays = 0; st == ST_OK && !done;) {
        st = replay_once(p, &done, err);
        done |= replay == CUPTI_REPLAY_KERNEL;
        if (!done && p->replays > p->needed + REPLAYS_MORE)
            st = err_set(err, ST_NO, "no counters: libcupti planned %zu replays and wants more",
                         p->needed);
    }
    if (st == ST_OK)
        st = CALL(p, decode, &d, err);
    if (st == ST_OK && d.dropped)
        st = err_set(err, ST_NO, "no counters: a run has more than %d launches", RANGES_MAX);
    return st;
}

/* ---- figures ---- */

/* NaN where the library cannot tell. */
static double evaluate(const struct profiler *p, size_t range, int counter)
{
    const char *name = p->names[counter];
    double value = NAN;
    struct cupti_evaluate e = {.size = CUPTI_SIZE(struct cupti_evaluate, values),
                               .host = p->host,
                               .data = p->data.bytes,
                               .data_size = p->data.size,
                               .range = range,
                               .metrics = &name,
                               .count = 1,
                               .values = &value};
    if (!name || p->api.evaluate(&e) != CUPTI_OK)
        return NAN;
    return isfinite(value) ? value * counters[counter].scale : NAN;
}

/* Launches of a run, by the plan; 0: a library's, whose number only it knows. */
static int planned_launches(const struct slot *s)
{
    return s->library || s->peer ? 0 : s->plan.npasses;
}

static enum status read_figures(struct profiler *p, struct err *err)
{
    struct cupti_data_info info = {.size = CUPTI_SIZE(struct cupti_data_info, ranges),
                                   .data = p->data.bytes,
                                   .data_size = p->data.size};
    const int planned = planned_launches(p->slot),
              elapsed = (int)(counter_find("elapsed_cycles") - counters);
    enum status st = CALL(p, data_info, &info, err);
    if (st != ST_OK)
        return st;
    if (!info.ranges || info.ranges > RANGES_MAX || (planned && info.ranges != (size_t)planned))
        return err_set(err, ST_NO, "no counters: libcupti saw %zu launches where the run has %d",
                       info.ranges, planned);
    p->nlaunches = (int)info.ranges;
    for (int i = 0; i < p->nlaunches; i++) {
        for (int k = 0; k < COUNTERS; k++)
            p->launches[i].v[k] = evaluate(p, (size_t)i, k);
        if (p->launches[i].v[elapsed] <= 0)
            return err_set(err, ST_NO, "no counters: no cycle passed while launch %d ran", i + 1);
    }
    return ST_OK;
}

/* ---- a profile ---- */

/* ST_NO: not in this way. */
static enum status count_with(struct profiler *p, int replay, struct err *err)
{
    struct cupti_enable e = {.size = CUPTI_SIZE(struct cupti_enable, range),
                             .context = p->slot->gpu->context};
    enum status st = CALL(p, enable, &e, err);
    if (st != ST_OK)
        return st;
    p->range = e.range;
    st = make_data(p, err);
    if (st == ST_OK)
        st = set_config(p, replay, err);
    if (st == ST_OK)
        st = replay_all(p, replay, err);
    if (st == ST_OK)
        st = read_figures(p, err);
    struct cupti_range_only d = {.size = CUPTI_SIZE(struct cupti_range_only, range),
                                 .range = p->range};
    (void)p->api.disable(&d);
    return st;
}

static json_t *launches_json(const struct profiler *p)
{
    json_t *list = json_array();
    for (int i = 0; i < p->nlaunches; i++) {
        json_t *o = counters_to_json(&p->launches[i]);
        const char *name = planned_launches(p->slot) ? p->slot->plan.passes[i].name : NULL;
        json_object_set_new(o, "name", name ? json_string(name) : json_null());
        json_array_append_new(list, o);
    }
    return list;
}

static void add_figures(const struct profiler *p, int replay, json_t *out)
{
    const struct counter_values run = counters_join(p->launches, p->nlaunches);
    json_object_set_new(out, "counters", counters_to_json(&run));
    json_object_set_new(out, "launches", launches_json(p));
    json_object_set_new(out, "replays", json_integer((json_int_t)p->needed));
    json_object_set_new(out, "replay", json_string(replay == CUPTI_REPLAY_USER ? "run" : "launch"));
    json_object_set_new(out, "l2",
                        json_string(!p->cold                      ? "hot"
                                    : replay == CUPTI_REPLAY_USER ? "cold"
                                                                  : "mixed"));
}

static enum status count(struct profiler *p, json_t *out, struct err *err)
{
    static const int ways[] = {CUPTI_REPLAY_USER, CUPTI_REPLAY_KERNEL};
    enum status st = open_host(p, err);
    if (st == ST_OK)
        st = choose_metrics(p, err);
    if (st == ST_OK)
        st = make_config(p, err);
    if (st != ST_OK)
        return st;
    st = ST_NO;
    for (size_t i = 0; i < sizeof ways / sizeof *ways && st == ST_NO && !p->refused; i++) {
        struct err first = ERR_INIT;
        st = count_with(p, ways[i],
                        i ? &first : err); /* the first way's reason is the one to tell */
        if (st == ST_OK)
            add_figures(p, ways[i], out);
        else if (i && (st == ST_FAIL || p->refused) && err)
            *err = first;
    }
    return st;
}

enum status slot_profile(struct slot *s, struct flush *flush, bool cold, json_t *out,
                         struct err *err)
{
    enum status st = gpu_alive(s->gpu, s->desc->name, err);
    if (st != ST_OK)
        return st;
    if (slot_is_elsewhere(s))
        return err_set(err, ST_NO,
                       "%s runs in a Python process of its own, whose counters are not read here",
                       s->desc->name);
    if (s->plan.npasses)
        json_object_set_new(out, "plan", plan_to_json(&s->plan));
    struct profiler *p = xcalloc(1, sizeof *p);
    *p = (struct profiler){.slot = s, .flush = flush, .cold = cold};
    st = cupti_open(&p->api, err);
    if (st == ST_OK)
        st = count(p, out, err);
    if (p->host) {
        struct cupti_host_only h = {.size = CUPTI_SIZE(struct cupti_host_only, host),
                                    .host = p->host};
        (void)p->api.host_close(&h);
    }
    image_free(&p->available);
    image_free(&p->config);
    image_free(&p->data);
    free(p);
    return st;
}
