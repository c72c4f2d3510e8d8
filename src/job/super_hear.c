/* super_hear.c - what workers say, frame by frame, and what follows from it.
 *
 * Every frame is checked against what its sender may say at this moment; anything else makes the
 * sender a faulty process.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/sanitize.h"
#include "job/super_state.h"

static const double hearing_s = 0.0005; /* one dispatch hears a worker no longer */

static enum status nonsense(struct err *err, const char *what)
{
    return err_set(err, ST_FAIL, "%s", what);
}

/* An entry's index under `name`, or -1 where `several` is allowed. */
static bool read_entry(const struct job *j, const json_t *o, const char *name, bool several,
                       int *entry)
{
    const json_t *v = json_object_get(o, name);
    json_int_t i = json_integer_value(v);
    if (!json_is_integer(v) || i >= j->request.nentries || i < (several ? -1 : 0))
        return false;
    *entry = (int)i;
    return true;
}

static bool read_seconds(const json_t *o, double *seconds)
{
    const json_t *v = json_object_get(o, "seconds");
    *seconds = json_number_value(v);
    return json_is_number(v) && *seconds >= 0 && *seconds < 1e7;
}

static enum status hear_hello(struct proc *p, enum wire_type type, const json_t *o, struct err *err)
{
    const char *role = json_string_value(json_object_get(o, "role"));
    if (type != WIRE_HELLO || !role || strcmp(role, p->role) != 0)
        return nonsense(err, "it did not say hello first");
    p->greeted = true;
    return ST_OK;
}

static enum status hear_estimate(struct super *s, enum role role, const json_t *o, struct err *err)
{
    struct job *j = s->active;
    double seconds;
    int entry;
    enum wire_phase phase = wire_phase_find(json_string_value(json_object_get(o, "phase")));
    if (!read_seconds(o, &seconds) || !read_entry(j, o, "entry", true, &entry) ||
        phase == PHASE_COUNT)
        return nonsense(err, "its estimate is none");
    if (role == LAUNCH && entry >= 0 && j->entries[entry].over)
        return nonsense(err, "it runs a kernel that it was told to skip");
    job_announce(j, role, phase, entry, seconds);
    const json_t *others = json_object_get(o, "others");
    if (role == LAUNCH && phase == PHASE_QUEUE && json_is_integer(others))
        job_announce_queue(j, (int)json_integer_value(others));
    s->changed = true;
    expect_sign(s, &s->procs[role], job_silence(j, seconds, wire_phase_runs(phase)));
    return ST_OK;
}

static enum status hear_output(struct super *s, const json_t *o, int fd, struct err *err)
{
    struct job *j = s->active;
    int entry;
    if (!read_entry(j, o, "entry", false, &entry) || j->entries[entry].seen ||
        j->entries[entry].over || j->ready)
        return nonsense(err, "an output that nobody expected");
    j->entries[entry].seen = true;
    if (!isfinite(j->cancel_by))
        super_judge(s, j, entry, fd);
    return ST_OK;
}

/* Outputs judged and everything ready: on to the timing, or to the end. */
void super_advance(struct super *s)
{
    struct job *j = s->active;
    struct proc *launch = &s->procs[LAUNCH];
    if (!j || j->unjudged)
        return;
    if (j->done) {
        enum job_state end = isfinite(j->cancel_by) ? JOB_CANCELLED
                             : j->error             ? JOB_FAILED
                                                    : JOB_DONE;
        super_finish(s, j, end);
    } else if (j->ready && j->state == JOB_CHECKING && j->request.kind == JOB_RUN &&
               !isfinite(j->cancel_by)) {
        struct err why = ERR_INIT;
        j->state = JOB_TIMING;
        s->changed = true;
        expect_sign(s, launch, job_silence(j, 0, false));
        if (wire_send(launch->wire, WIRE_GO, NULL, -1, 0, &why) != ST_OK)
            launch->closed_since = seconds_now();
    }
}

/* What an earlier worker of the job has traced or counted stays. */
static void take_extra(struct job *j, json_t *extra)
{
    const char *list = job_extra_list(j->request.kind);
    json_t *old = list ? json_object_get(j->extra, list) : NULL,
           *items = list ? json_object_get(extra, list) : NULL;
    size_t i;
    json_t *item;
    json_array_foreach(old, i, item)
    {
        if (json_is_null(json_array_get(items, i)))
            json_array_set(items, i, item);
    }
    json_decref(j->extra);
    j->extra = json_is_object(extra) ? json_incref(extra) : NULL;
}

static enum status hear_rows(struct super *s, json_t *o, struct err *err)
{
    struct job *j = s->active;
    enum status st = job_take_rows(j, json_object_get(o, "rows"), err);
    s->changed = true;
    if (st == ST_OK && json_object_get(o, "extra"))
        take_extra(j, json_object_get(o, "extra"));
    if (st == ST_OK && json_is_true(json_object_get(o, "ready"))) {
        j->ready = true;
        j->entry = -1;
        s->procs[LAUNCH].deadline = INFINITY; /* it waits for us now */
    }
    return st;
}

/* The worker is of no more use after what this kernel did or met. The others go on in a new one. */
static void hear_lost(struct super *s, const json_t *o)
{
    struct job *j = s->active;
    struct err why = ERR_INIT;
    int lost;
    if (!json_object_get(o, "lost") || !read_entry(j, o, "lost", false, &lost))
        return;
    proc_drop(&s->procs[LAUNCH], &s->graves);
    if (isfinite(j->cancel_by) ||
        !job_go_on_without(j, lost, json_is_true(json_object_get(o, "fault"))))
        return;
    if (super_send_job(s, j, &why) != ST_OK)
        job_give_up(j, why.text);
}

static enum status hear_done(struct super *s, json_t *o, struct err *err)
{
    struct job *j = s->active;
    const char *error = json_string_value(json_object_get(o, "error"));
    enum status st = job_take_rows(j, json_object_get(o, "rows"), err);
    if (st != ST_OK && !error) /* a worker that could not read the request has no rows */
        return st;
    take_extra(j, json_object_get(o, "extra"));
    if (error) {
        free(j->error);
        j->error = sanitize_line(error);
        j->no_gpu = json_is_true(json_object_get(o, "no_gpu"));
    }
    j->done = true;
    s->procs[LAUNCH].deadline = INFINITY;
    hear_lost(s, o);
    return ST_OK;
}

static enum status hear_verdict(struct super *s, json_t *o, struct err *err)
{
    struct job *j = s->active;
    int entry;
    if (!read_entry(j, o, "entry", false, &entry) || !j->entries[entry].unjudged)
        return nonsense(err, "a verdict that nobody asked for");
    enum status st = job_take_verdict(j, entry, json_object_get(o, "row"), err);
    s->changed = true;
    if (st == ST_OK)
        super_judged(s, j, entry);
    return st;
}

/* One frame. Any status but ST_OK makes the process a faulty one. */
static enum status hear_frame(struct super *s, enum role role, enum wire_type type, json_t *o,
                              int fd, struct err *err)
{
    struct proc *p = &s->procs[role];
    struct job *j = s->active;
    if (isfinite(p->deadline)) /* then there is a job */
        expect_sign(s, p, job_silence(j, 0, false));
    if (!p->greeted)
        return hear_hello(p, type, o, err);
    if (!super_busy(s, role) || json_integer_value(json_object_get(o, "job")) != j->id)
        return err_set(err, ST_FAIL, "%s out of turn", wire_type_name(type));
    if (j->state == JOB_STARTING) {
        j->state = JOB_CHECKING;
        s->changed = true;
    }
    if (type == WIRE_ESTIMATE)
        return hear_estimate(s, role, o, err);
    if (type == WIRE_VERDICT && role == JUDGE)
        return hear_verdict(s, o, err);
    if (type == WIRE_OUTPUT && role == LAUNCH)
        return hear_output(s, o, fd, err);
    if (type == WIRE_ROWS && role == LAUNCH)
        return hear_rows(s, o, err);
    if (type == WIRE_DONE && role == LAUNCH)
        return hear_done(s, o, err);
    return err_set(err, ST_FAIL, "%s out of turn", wire_type_name(type));
}

static void hear_nonsense(struct super *s, enum role role, const struct err *why)
{
    char *what = xasprintf("sent nonsense (%s) and was stopped", why->text);
    super_fault(s, role, false, what);
    free(what);
}

/* Takes in what a worker has said, for at most hearing_s. */
void super_hear(struct super *s, enum role role)
{
    struct proc *p = &s->procs[role];
    double until = seconds_now() + hearing_s;
    proc_read_log(p, &s->log);
    while (p->wire && isnan(p->closed_since)) {
        enum wire_type type;
        json_t *payload;
        int fd;
        struct err why = ERR_INIT;
        if (seconds_now() > until) {
            s->more = true;
            return;
        }
        enum status st = wire_recv(p->wire, &type, &payload, &fd, &why);
        if (st == ST_NO)
            return;
        if (st == ST_OK)
            st = hear_frame(s, role, type, payload, fd, &why);
        else if (wire_closed(p->wire)) {
            p->closed_since = seconds_now();
            return;
        }
        json_decref(payload);
        if (fd >= 0)
            close(fd);
        if (st != ST_OK)
            hear_nonsense(s, role, &why);
    }
}
