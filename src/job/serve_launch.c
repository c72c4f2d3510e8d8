/* serve_launch.c - the worker that runs kernels: jobs one after another, and what each takes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/launch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backend/cpu_host.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/str.h"
#include "job/serve.h"
#include "job/serve_check.h"
#include "job/serve_code.h"
#include "job/serve_extra.h"
#include "job/serve_listing.h"
#include "job/serve_share.h"
#include "job/serve_time.h"
#include "measure/load.h"
#include "spec/npy.h"

static void unload(struct launch *l, struct entry *e)
{
    if (e->slot)
        l->ops->unload(l->backend, e->slot);
    e->slot = NULL;
}

/* Runs every entry once. What cannot run says so in its row and does not hold up the others. */
static void check_entries(struct launch *l)
{
    for (int i = 0; i < l->request.nentries && launch_goes_on(l) && !peer_stop(&l->peer); i++) {
        struct err why = ERR_INIT;
        if (l->entries[i].skip)
            continue;
        if (share_give_way(l) < 0)
            break;
        enum status st = l->request.kind == JOB_LOOK    ? launch_look(l, i, &why)
                         : l->request.kind == JOB_DEBUG ? launch_debug(l, i, &why)
                                                        : launch_check(l, i, &why);
        if (st == ST_OK && l->request.kind == JOB_TRACE)
            st = launch_trace(l, i, &why);
        if (st == ST_OK && l->request.kind == JOB_PROFILE)
            st = launch_profile(l, i, &why);
        else if (st == ST_NO && l->request.kind == JOB_PROFILE &&
                 (l->entries[i].row.hazards > 0 || why.caught))
            (void)launch_profile(l, i, NULL); /* what stopped it has been seen */
        if (st != ST_OK) {
            unload(l, &l->entries[i]);
            launch_fail(l, &l->entries[i], st, &why);
        }
        launch_send_rows(l, false); /* known even if the next one takes us down */
    }
}

/* ---- jobs ---- */

/* Until the outputs are judged. True: go on; false: stop. */
static bool wait_for_go(struct launch *l)
{
    enum wire_type type;
    json_t *payload;
    int fd;
    if (!peer_next(&l->peer, &type, &payload, &fd))
        return false;
    json_decref(payload);
    if (fd >= 0)
        close(fd);
    l->peer.cancelled |= type == WIRE_CANCEL;
    l->peer.gone |= type != WIRE_CANCEL && type != WIRE_GO;
    return type == WIRE_GO;
}

static void entries_new(struct launch *l)
{
    l->entries = xcalloc((size_t)l->request.nentries + 1, sizeof *l->entries);
    for (int i = 0; i < l->request.nentries; i++)
        record_init(run_fields, &l->entries[i].row);
    l->traces = json_array();
    for (int i = 0; i < l->request.nentries; i++)
        json_array_append_new(l->traces, json_null());
}

static void entries_free(struct launch *l)
{
    for (int i = 0; i < l->request.nentries; i++) {
        struct entry *e = &l->entries[i];
        unload(l, e);
        record_clear(run_fields, &e->row);
        timing_free(e->timing);
        free(e->samples);
        free(e->low);
    }
    free(l->entries);
    l->entries = NULL;
    json_decref(l->traces);
    l->traces = NULL;
}

static enum status run_job(struct launch *l, struct err *err)
{
    const char *output = l->request.output;
    enum status st = output ? npy_check_target(output, err) : ST_OK;
    if (st == ST_OK)
        st = launch_need_backend(l, err);
    if (st != ST_OK)
        return st;
    l->written = ST_OK;
    launch_announce_code(l);
    if (share_take(l)) {
        if (l->info->times && (l->request.kind == JOB_RUN || l->request.kind == JOB_CHECK))
            st = launch_try_others(l, err);
        if (st == ST_OK && launch_goes_on(l))
            st = launch_need_inputs(l, err);
        if (st == ST_OK && launch_goes_on(l))
            check_entries(l);
    }
    gpu_lock_release(l->lock);
    if (st != ST_OK)
        return st;
    if (l->request.kind == JOB_RUN && launch_goes_on(l) && !peer_stop(&l->peer)) {
        launch_send_rows(l, true);
        if (wait_for_go(l) && share_take(l))
            launch_take_times(l);
        gpu_lock_release(l->lock);
    }
    if (l->written != ST_OK && err)
        *err = l->write_err;
    return l->written;
}

static bool next_peak(void *ctx, const char *what, double seconds)
{
    struct launch *l = ctx;
    (void)what;
    peer_estimate(&l->peer, PHASE_PEAK, -1, seconds);
    return !peer_stop(&l->peer);
}

static void name_peak(struct launch *l, const struct load_mark *from, struct peak *p)
{
    char date[32];
    const struct load_mark to = load_mark();
    launch_set_text(&p->device, l->ops->device_name(l->backend));
    launch_set_text(&p->backend, l->info->name);
    launch_set_text(&p->time, host_date(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ"));
    p->other_cores = load_between(from, &to).other_cores;
}

/* How fast the backend's device is. */
static enum status peak_job(struct launch *l, json_t **extra, struct err *err)
{
    const struct peak_watch watch = {next_peak, l};
    struct peak peak;
    enum status st = launch_need_backend(l, err);
    if (st == ST_OK && !l->ops->peak)
        st = err_set(err, ST_NO, "backend=%s has no peak to measure", l->info->name);
    if (st != ST_OK || !share_take(l))
        return st;
    const struct load_mark from = load_mark();
    struct share_watch others;
    share_watch_start(&others);
    st = l->ops->peak(l->backend, &watch, &peak, err);
    if (st == ST_OK && share_is_met(l, &others, true))
        st = err_set(err, ST_FAIL, "%s computed on this GPU meanwhile: this is no peak",
                     others.name);
    gpu_lock_release(l->lock);
    if (st == ST_OK) {
        name_peak(l, &from, &peak);
        *extra = peak_to_json(&peak);
    }
    peak_clear(&peak);
    return st;
}

static void send_done(struct launch *l, enum status st, const struct err *err, json_t *extra)
{
    json_t *done =
        json_pack("{s:o, s:o}", "rows", launch_rows(l), "extra", extra ? extra : json_null());
    json_object_set_new(done, "error", st == ST_OK ? json_null() : json_string(err->text));
    if (l->lost >= 0)
        json_object_update_new(
            done, json_pack("{s:i, s:b}", "lost", l->lost, "fault", launch_is_spent(l)));
    if (l->doubtful)
        json_object_set_new(done, "doubtful", json_true());
    json_object_set_new(done, "no_gpu", json_boolean(st == ST_NO_GPU));
    if (!wire_fits(done)) { /* a stranger's code may have any number of lines; the worker stays */
        json_object_set_new(done, "extra", json_null());
        json_object_set_new(done, "error", json_string("what was counted is too much to be told"));
    }
    peer_send(&l->peer, WIRE_DONE, done, -1);
}

/* Entries that an earlier worker has finished, or did not survive. */
static void skip_entries(struct launch *l, const json_t *skip)
{
    size_t at;
    json_t *v;
    json_array_foreach(skip, at, v)
    {
        json_int_t i = json_is_integer(v) ? json_integer_value(v) : -1;
        if (i >= 0 && i < l->request.nentries)
            l->entries[i].skip = true;
    }
}

/* Nobody keeps other machines' GPUs while nothing is asked, and who asks may be gone when it has its answer. */
static void leave_nodes(struct launch *l)
{
    if (!l->request.options.nodes || launch_is_spent(l))
        return;
    for (int i = 0; i < l->request.nentries; i++)
        unload(l, &l->entries[i]);
    launch_close(l);
}

static void serve_job(struct launch *l, const json_t *payload)
{
    struct err err = ERR_INIT;
    json_t *extra = NULL;
    registry_refresh(l->registry); /* the user's kernels as they are now */
    l->peer.job = (int)json_integer_value(json_object_get(payload, "job"));
    l->peer.cancelled = false;
    l->lost = -1;
    l->doubtful = false;
    enum status st = job_request_from_json(&l->request, json_object_get(payload, "request"), &err);
    entries_new(l);
    skip_entries(l, json_object_get(payload, "skip"));
    l->careful = json_is_true(json_object_get(payload, "careful"));
    if (st == ST_OK)
        switch (l->request.kind) {
        case JOB_PEAK:
            st = peak_job(l, &extra, &err);
            break;
        case JOB_COMPILE:
            st = launch_compile(l, &extra, &err);
            break;
        case JOB_LISTING:
            extra = launch_listing(l);
            break;
        default:
            st = run_job(l, &err);
        }
    if (st == ST_OK && job_extra_list(l->request.kind))
        extra = json_pack("{s:O}", job_extra_list(l->request.kind), l->traces);
    l->spent = l->lost >= 0 || l->doubtful || st == ST_FAIL ||
               st == ST_NO_GPU; /* drivers fail once and for all */
    leave_nodes(l);
    send_done(l, st, &err, extra);
    entries_free(l);
    job_request_clear(&l->request);
    l->peer.gone |= launch_is_spent(l) || l->spent; /* another process starts afresh */
}

int serve_launch(int fd)
{
    struct launch l = {.peer = peer_open(fd, "launch"), .registry = registry_new()};
    enum wire_type type;
    json_t *payload;
    int given;
    while (peer_next(&l.peer, &type, &payload, &given)) {
        if (type == WIRE_JOB)
            serve_job(&l, payload);
        else if (type != WIRE_CANCEL) /* of a job that has just ended */
            l.peer.gone = true;
        json_decref(payload);
        if (given >= 0)
            close(given);
    }
    launch_close(&l);
    launch_forget_makers(&l);
    problem_clear(&l.problem);
    registry_free(l.registry);
    peer_close(&l.peer);
    return 0;
}
