/* super.c - the supervisor: one queue of jobs, two workers, and what to do when they fail.
 *
 * A job's way: its request goes to the launch worker, which runs every entry once and sends each
 * output; the supervisor passes it to the judge; when all verdicts are in and the launch worker is
 * ready, GO starts the timing, so that judging never competes with it for the CPU. Any surprise
 * ends the process with SIGKILL and costs one sentence. A kernel that takes its launch worker down
 * is left out, and a new worker goes on with the others. A judge that dies is replaced: outputs are
 * kept until they are judged.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "job/super.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/sanitize.h"
#include "base/str.h"
#include "job/crew.h"
#include "job/far.h"
#include "job/job.h"
#include "job/judging.h"
#include "job/state.h"

struct super {
    struct crew crew;
    struct job *active, *queue;
    int last_id;
    double dispatched;    /* when super_dispatch() was last called */
    bool changed;         /* a job, since the last dispatch */
    bool more;            /* frames were left unread for the next dispatch */
    struct super *beside; /* that is looked after with this one; NULL: none, or no more */
    void (*turn)(void *ctx);
    void *turn_ctx;
};

/* Is the role's process at work for the active job? */
static inline bool is_busy(const struct super *s, enum role role)
{
    const struct job *j = s->active;
    if (!j || role >= FAR || j->far)
        return far_is_busy(j, role);
    return role == LAUNCH ? !j->done : j->unjudged > 0 || j->asked >= 0;
}

static void finish_job(struct super *s, struct job *j, enum job_state state);
static void start_over(struct super *s);
static void take_fault(struct super *s, enum role role, bool died, const char *what);
static enum status send_job(struct super *s, struct job *j, struct err *err);

/* ---- what workers say ---- */

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

/* ---- jobs on another machine ---- */

static enum status hear_far(struct super *s, enum role role, enum wire_type type, json_t *o,
                            struct err *err)
{
    struct far_news news = {0};
    const enum status st = far_hear(&s->crew, role, s->active, type, o, &news, err);
    s->changed |= news.changed;
    if (!st && news.ended)
        finish_job(s, s->active, news.state);
    return st;
}

/* What it leaves of the job is told by advance(). */
static void lose_far(struct super *s, enum role role, const char *what)
{
    s->changed |= is_busy(s, role);
    if (far_lose(&s->crew, role, s->active, what))
        start_over(s);
}

/* ---- what workers say of jobs here ---- */

static void hear_queue(struct job *j, const json_t *o)
{
    const json_t *ahead = json_object_get(o, "ahead"), *others = json_object_get(o, "others"),
                 *wait = json_object_get(o, "wait");
    job_announce_queue(j,
                       &(struct job_queue){
                           .ahead = json_is_integer(ahead) ? (int)json_integer_value(ahead) : -1,
                           .others = json_is_integer(others) ? (int)json_integer_value(others) : -1,
                           .wait_s = json_is_number(wait) ? json_number_value(wait) : NAN,
                           .program = json_string_value(json_object_get(o, "program"))});
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
    if (role == LAUNCH && entry >= 0 && (j->entries[entry].over || j->entries[entry].later))
        return nonsense(err, "it runs a kernel that it was told to skip");
    if (role == LAUNCH &&
        crew_take_natives(&s->crew, j, json_object_get(o, "natives"), err) != ST_OK)
        return ST_FAIL;
    job_announce(j, role, phase, entry, seconds);
    if (role == LAUNCH && phase == PHASE_QUEUE)
        hear_queue(j, o);
    s->changed = true;
    crew_expect(&s->crew, role, job_silence(j, seconds, wire_phase_runs(phase)));
    return ST_OK;
}

static enum status hear_output(struct super *s, const json_t *o, int fd, struct err *err)
{
    struct job *j = s->active;
    int entry;
    const char *further = json_string_value(json_object_get(o, "what"));
    const bool known = read_entry(j, o, "entry", false, &entry);
    if (known && further && !j->entries[entry].over)
        return job_keep_extra(j, entry, further, json_object_get(o, "problem"), fd, err);
    if (!known || j->entries[entry].seen || j->entries[entry].over || j->ready)
        return nonsense(err, "an output that nobody expected");
    j->entries[entry].seen = true;
    if (!isfinite(j->cancel_by))
        judging_send(&s->crew, j, entry, fd);
    return ST_OK;
}

/* Outputs judged and everything ready: on to the timing, or to the end. */
static void advance(struct super *s)
{
    struct job *j = s->active;
    struct proc *launch = &s->crew.procs[LAUNCH];
    if (!j || j->unjudged || (!isfinite(j->cancel_by) && judging_extras(&s->crew, j)))
        return;
    if (j->done) {
        enum job_state end = isfinite(j->cancel_by) ? JOB_CANCELLED
                             : j->error             ? JOB_FAILED
                                                    : JOB_DONE;
        job_explain_apart(j);
        finish_job(s, j, end);
    } else if (j->ready && j->state == JOB_CHECKING && j->request.kind == JOB_RUN &&
               !isfinite(j->cancel_by)) {
        struct err why = ERR_INIT;
        j->state = JOB_TIMING;
        s->changed = true;
        crew_expect(&s->crew, LAUNCH, job_silence(j, 0, false));
        if (wire_send(launch->wire, WIRE_GO, NULL, -1, 0, &why) != ST_OK)
            launch->closed_since = seconds_now();
    }
}

static enum status hear_rows(struct super *s, json_t *o, struct err *err)
{
    struct job *j = s->active;
    enum status st = job_take_rows(j, json_object_get(o, "rows"), err);
    s->changed = true;
    if (st == ST_OK && json_object_get(o, "extra"))
        job_take_extra(j, json_object_get(o, "extra"));
    if (st == ST_OK && json_is_true(json_object_get(o, "ready"))) {
        j->ready = true;
        j->entry = -1;
        s->crew.procs[LAUNCH].deadline = INFINITY; /* it waits for us now */
    }
    return st;
}

/* Does anything wait for another worker: after what a kernel did or met, by which this one is of no more use,
 * or because it was not this one's? */
static bool goes_on(struct job *j, const json_t *o)
{
    int lost;
    if (json_object_get(o, "lost") && read_entry(j, o, "lost", false, &lost))
        return job_go_on_without(j, lost, json_is_true(json_object_get(o, "fault")));
    if (json_is_true(json_object_get(o, "doubtful")) && !j->apart)
        return job_set_apart(j);
    return job_next_part(j);
}

static void hear_the_rest(struct super *s, const json_t *o)
{
    struct job *j = s->active;
    struct err why = ERR_INIT;
    if (json_object_get(o, "lost"))
        crew_drop(&s->crew, LAUNCH);
    if (isfinite(j->cancel_by) || !goes_on(j, o))
        return;
    crew_drop(&s->crew, LAUNCH);
    if (send_job(s, j, &why) != ST_OK)
        job_give_up(j, why.text);
}

static enum status hear_done(struct super *s, json_t *o, struct err *err)
{
    struct job *j = s->active;
    const char *error = json_string_value(json_object_get(o, "error"));
    enum status st = job_take_rows(j, json_object_get(o, "rows"), err);
    if (st != ST_OK && !error) /* a worker that could not read the request has no rows */
        return st;
    job_take_extra(j, json_object_get(o, "extra"));
    if (error) {
        free(j->error);
        j->error = sanitize_line(error);
        j->no_gpu = json_is_true(json_object_get(o, "no_gpu"));
    }
    j->done = true;
    s->crew.procs[LAUNCH].deadline = INFINITY;
    job_judge_clock(j);
    hear_the_rest(s, o);
    return ST_OK;
}

/* The judge could not judge what it was asked about: entry i's output, or where `extra` that one. */
static void take_unjudged(struct super *s, struct job *j, int i, int extra, const char *why)
{
    char *clean = sanitize_line(why), *sentence;
    sentence =
        xasprintf("%s: the judge could not judge it: %s", j->request.entries[i].kernel, clean);
    str_addf(&s->crew.log, "%s\n", sentence);
    if (extra >= 0)
        job_leave_extra(j, extra, clean);
    else
        job_leave_unjudged(j, i, sentence);
    free(sentence);
    free(clean);
}

static enum status hear_verdict(struct super *s, json_t *o, struct err *err)
{
    struct job *j = s->active;
    int entry;
    const bool known = read_entry(j, o, "entry", false, &entry);
    const char *unjudged = json_string_value(json_object_get(o, "unjudged"));
    if (known && j->asked >= 0 && j->extras[j->asked].entry == entry) {
        const int i = j->asked;
        j->asked = -1;
        if (j->unjudged)
            crew_expect(&s->crew, JUDGE, job_silence(j, 0, false));
        else
            s->crew.procs[JUDGE].deadline = INFINITY;
        s->changed = true;
        if (unjudged)
            take_unjudged(s, j, entry, i, unjudged);
        else
            job_take_extra_verdict(j, i, json_object_get(o, "row"));
        return ST_OK;
    }
    if (!known || !j->entries[entry].unjudged)
        return nonsense(err, "a verdict that nobody asked for");
    s->changed = true;
    if (unjudged) {
        if (j->entries[entry].unjudged == 1) /* no newer output of it waits */
            take_unjudged(s, j, entry, -1, unjudged);
        else
            judging_take(&s->crew, j, entry);
        if (!j->unjudged)
            s->crew.procs[JUDGE].deadline = INFINITY;
        return ST_OK;
    }
    enum status st = job_take_verdict(j, entry, json_object_get(o, "row"), err);
    if (st == ST_OK)
        judging_take(&s->crew, j, entry);
    return st;
}

/* One frame. Any status but ST_OK makes the process a faulty one. */
static enum status hear_frame(struct super *s, enum role role, enum wire_type type, json_t *o,
                              int fd, struct err *err)
{
    struct proc *p = &s->crew.procs[role];
    struct job *j = s->active;
    if (role >= FAR)
        return hear_far(s, role, type, o, err);
    if (isfinite(p->deadline)) /* then there is a job */
        crew_expect(&s->crew, role, job_silence(j, 0, false));
    if (!p->greeted)
        return proc_greet(p, type, o, err);
    if (!is_busy(s, role) || json_integer_value(json_object_get(o, "job")) != j->id)
        return err_set(err, ST_FAIL, "%s out of turn", wire_type_name(type));
    if (j->state == JOB_STARTING) {
        j->state = JOB_CHECKING;
        s->changed = true;
    }
    if (role == LAUNCH)
        job_hear_clock(j, json_number_value(json_object_get(o, "clock")), p->pid);
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
    take_fault(s, role, false, what);
    free(what);
}

/* Another would be no better. */
static void refuse_worker(struct super *s, enum role role, const struct err *why)
{
    const bool hit = is_busy(s, role);
    crew_drop(&s->crew, role);
    str_addf(&s->crew.log, "%s\n", why->text);
    if (role >= FAR && hit)
        told_cut(s->active, why->text);
    else if (role == LAUNCH && s->active)
        job_give_up(s->active, why->text);
}

/* Takes in what a worker has said, without waiting, for at most hearing_s. */
static void hear(struct super *s, enum role role)
{
    struct proc *p = &s->crew.procs[role];
    double until = seconds_now() + hearing_s;
    proc_read_log(p, &s->crew.log);
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
        if (st == ST_USAGE)
            refuse_worker(s, role, &why);
        else if (st != ST_OK)
            hear_nonsense(s, role, &why);
    }
}

static const double hello_s = 10;      /* for a new worker to say hello */
static const double cancel_s = 0.05;   /* for a worker to stop by itself */
static const double closing_s = 0.1;   /* between closing its connection and ending */
static const double farewell_s = 0.01; /* super_free waits this long for the killed */

/* ---- ends ---- */

static void unlink_job(struct super *s, struct job *j)
{
    if (s->active == j)
        s->active = NULL;
    struct job **p = &s->queue;
    while (*p && *p != j)
        p = &(*p)->next;
    if (*p)
        *p = j->next;
    j->super = NULL;
    j->next = NULL;
}

/* The job is over. A process that is still busy with it is of no more use, nor is one that has had
 * counters on: what it timed next might not be what others time. */
static void finish_job(struct super *s, struct job *j, enum job_state state)
{
    if (s->active == j && !j->far) {
        if (!j->done || j->request.kind == JOB_PROFILE)
            crew_drop(&s->crew, LAUNCH);
        if (j->unjudged || j->asked >= 0)
            crew_drop(&s->crew, JUDGE);
        s->crew.procs[LAUNCH].deadline = s->crew.procs[JUDGE].deadline = INFINITY;
    }
    unlink_job(s, j);
    j->state = state;
    s->changed = true;
    if (j->orphan)
        job_destroy(j);
}

/* The same, as a failure; takes the sentence. */
static void fail_job(struct super *s, struct job *j, char *sentence)
{
    free(j->error);
    j->error = sentence;
    finish_job(s, j, JOB_FAILED);
}

/* Puts the active job back to the front of the queue. */
static void start_over(struct super *s)
{
    struct job *j = s->active;
    j->veteran = false;
    j->done = true;
    j->far = 0;
    j->next = s->queue;
    s->queue = j;
    s->active = NULL;
}

/* ---- deadlines ---- */

/* Were we away when the deadline came: stopped with all the others, as by a frozen group or a machine that swaps? Then
 * nobody has been silent for as long as it seems, and it begins anew. */
static bool was_away(struct proc *p)
{
    static const double away_s = 1;
    const double now = seconds_now();
    if (!(now > p->deadline + away_s))
        return false;
    p->deadline = now + p->silence;
    return true;
}

static void enforce_deadline(struct super *s, enum role role)
{
    struct proc *p = &s->crew.procs[role];
    if (!p->pid || seconds_now() < p->deadline || was_away(p))
        return;
    struct str what = {0};
    bool died = proc_ended(p, &what); /* unseen, if a child of its holds the socket */
    if (!died)
        proc_add_silence(p, s->active ? s->active->request.options.timeout_s : 0, &what);
    take_fault(s, role, died, what.data);
    str_free(&what);
}

/* A process that closed its connection usually is about to end; its status is the better story. */
static void settle_closed(struct super *s, enum role role)
{
    struct proc *p = &s->crew.procs[role];
    if (isnan(p->closed_since))
        return;
    struct str how = {0};
    if (proc_ended(p, &how)) {
        p->log_after = 0;
        proc_read_log(p, &s->crew.log);
        if (str_starts(how.data, "ended"))
            proc_add_last_words(p, &how);
        take_fault(s, role, true, how.data);
    } else if (seconds_now() > p->closed_since + closing_s) {
        take_fault(s, role, true, "closed its connection and was stopped");
    }
    str_free(&how);
}

/* ---- starting a job ---- */

/* Gives the job to the launch worker, a new one if need be, and makes sure of a judge. A worker that does not
 * take it is about to end, which settle_closed() will tell. */
static enum status send_job(struct super *s, struct job *j, struct err *err)
{
    struct proc *launch = &s->crew.procs[LAUNCH];
    if (j->request.remote.name)
        return far_start(&s->crew, j, err);
    enum status st = crew_leave_out_guilty(&s->crew, j, err);
    if (st != ST_OK)
        return st;
    if (launch->wire)
        crew_part_with_strangers(&s->crew, j);
    j->veteran = launch->greeted;
    st = crew_need(&s->crew, LAUNCH, err);
    const bool judged = j->request.kind != JOB_PEAK && j->request.kind != JOB_COMPILE &&
                        j->request.kind != JOB_LISTING && j->request.kind != JOB_DEBUG;
    if (st == ST_OK && judged)
        st = crew_need(&s->crew, JUDGE, err);
    if (st != ST_OK)
        return st;
    json_t *msg =
        json_pack("{s:i, s:o, s:o, s:b}", "job", j->id, "request", job_request_to_json(&j->request),
                  "skip", job_skipped(j), "careful", j->careful);
    if (wire_send(launch->wire, WIRE_JOB, msg, -1, 0, err) != ST_OK)
        launch->closed_since = seconds_now();
    json_decref(msg);
    j->done = false;
    double limit = j->request.options.timeout_s > 0 ? j->request.options.timeout_s : hello_s;
    crew_expect(&s->crew, LAUNCH, launch->greeted ? job_silence(j, 0, true) : limit);
    return ST_OK;
}

/* The launch worker has failed; the rest of the job goes on in a new one if it can. */
static void go_on(struct super *s, struct job *j, const char *what)
{
    struct err why = ERR_INIT;
    char *sentence = job_fault_sentence(j, LAUNCH, what);
    s->changed = true;
    str_addf(&s->crew.log, "%s\n", sentence);
    if (!(job_is_doubtful(j) ? job_set_apart(j) : job_go_on(j, sentence)))
        job_give_up(j, sentence);
    else if (send_job(s, j, &why) != ST_OK)
        job_give_up(j, why.text);
    free(sentence);
}

/* Where nobody knows yet who did it, the next try will tell, and count. */
static void count_fault(struct super *s, enum role role, bool hit)
{
    const struct job *j = s->active;
    int entry = -1;
    if (!s->crew.procs[role].greeted) {
        blame_add(&s->crew.blame, NULL, seconds_now());
        return;
    }
    if (!hit || (role == LAUNCH && (job_is_doubtful(j) || job_is_puzzling(j) ||
                                    (j->state == JOB_STARTING && j->veteran))))
        return;
    if (role == LAUNCH)
        entry = job_suspect(j);
    else
        entry = j->asked >= 0 ? j->extras[j->asked].entry : job_judged_entry(j);
    blame_add(&s->crew.blame, entry >= 0 ? j->request.entries[entry].kernel : NULL, seconds_now());
}

/* A process failed, and how: "died (signal 9, killed)". `died`: it did by itself, which another that is given
 * the same work need not. It goes, the budget shrinks, and the job it was busy with goes on without it or
 * ends; unless the process was an old one that never answered: it may have died before it knew of the job. */
static void take_fault(struct super *s, enum role role, bool died, const char *what)
{
    struct job *j = s->active;
    bool hit = is_busy(s, role);
    if (role >= FAR) {
        lose_far(s, role, what);
        return;
    }
    if (hit)
        j->killed |= s->crew.procs[role].killed;
    count_fault(s, role, hit);
    crew_drop(&s->crew, role);
    if (!hit) {
        str_addf(&s->crew.log, "the idle %s %s\n", crew_roles[role], what);
        return;
    }
    if (isfinite(j->cancel_by))
        finish_job(s, j, JOB_CANCELLED);
    else if (role == LAUNCH && j->state == JOB_STARTING && j->veteran)
        start_over(s);
    else if (role == LAUNCH)
        go_on(s, j, what);
    else {
        s->changed = true;
        judging_again(&s->crew, j, died, what);
    }
}

static void start_next(struct super *s)
{
    if (s->active || !s->queue)
        return;
    struct job *j = s->active = s->queue;
    struct err why = ERR_INIT;
    s->queue = j->next;
    j->next = NULL;
    s->changed = true;
    if (send_job(s, j, &why) != ST_OK)
        fail_job(s, j, xstrdup(why.text));
}

/* ---- the loop's side ---- */

/* A child of the worker's may hold its connection open; that it has ended counts, once its last words
 * are heard. */
static void hear_to_the_end(struct super *s, enum role role)
{
    struct proc *p = &s->crew.procs[role];
    const bool ended = proc_has_ended(p);
    const pid_t pid = p->pid;
    struct err why = ERR_INIT;
    if (p->wire && wire_has_more(p->wire) && wire_flush(p->wire, &why) != ST_OK &&
        isnan(p->closed_since))
        p->closed_since = seconds_now();
    hear(s, role);
    if (ended && !s->more && p->pid == pid && isnan(p->closed_since))
        p->closed_since = seconds_now();
}

/* Frames that have waited for us say nothing about their sender's clock. */
static void notice_absence(struct super *s)
{
    static const double away_s = 0.3;
    const double now = seconds_now();
    if (s->active && s->active->clocks.frames && now - s->dispatched > away_s)
        s->active->clocks.unsure = true;
    s->dispatched = now;
}

static bool dispatch(struct super *s)
{
    s->more = false;
    notice_absence(s);
    graveyard_visit(&s->crew.graves);
    for (int role = 0; role < ROLES; role++)
        hear_to_the_end(s, (enum role)role);
    for (int role = FAR; role < ROLES; role++)
        crew_ask_far(&s->crew, (enum role)role);
    for (int role = 0; role < ROLES; role++) {
        settle_closed(s, (enum role)role);
        enforce_deadline(s, (enum role)role);
    }
    if (s->active && seconds_now() > s->active->cancel_by)
        finish_job(s, s->active, JOB_CANCELLED);
    advance(s);
    start_next(s);
    bool changed = s->changed;
    s->changed = false;
    return changed;
}

bool super_dispatch(struct super *s)
{
    bool changed = false;
    for (struct super *at = s; at; at = at->beside)
        changed |= dispatch(at);
    if (changed && s->turn)
        s->turn(s->turn_ctx);
    return changed;
}

void super_on_turn(struct super *s, void (*turn)(void *ctx), void *ctx)
{
    s->turn = turn;
    s->turn_ctx = ctx;
}

void super_join(struct super *s, struct super *other)
{
    other->beside = s->beside;
    s->beside = other;
}

void super_part(struct super *s, struct super *other)
{
    while (s && s->beside != other)
        s = s->beside;
    if (s)
        s->beside = other->beside;
    other->beside = NULL;
}

const char *super_backend(const struct super *s)
{
    const struct job *j = s->active ? s->active : s->queue;
    return j && !j->request.remote.name ? j->request.options.backend : NULL;
}

static int own_fds(const struct super *s, struct pollfd *fds, int max)
{
    int n = 0;
    double now = seconds_now();
    for (int role = 0; role < ROLES; role++) {
        const struct proc *p = &s->crew.procs[role];
        if (p->wire && isnan(p->closed_since) && n < max)
            fds[n++] =
                (struct pollfd){.fd = wire_fd(p->wire),
                                .events = (short)(POLLIN | (wire_has_more(p->wire) ? POLLOUT : 0))};
        if (p->end_fd >= 0 && isnan(p->closed_since) && n < max)
            fds[n++] = (struct pollfd){.fd = p->end_fd, .events = POLLIN};
        if (p->log_fd >= 0 && now >= p->log_after && n < max)
            fds[n++] = (struct pollfd){.fd = p->log_fd, .events = POLLIN};
    }
    return n;
}

int super_fds(const struct super *s, struct pollfd *fds, int max)
{
    int n = 0;
    for (; s; s = s->beside)
        n += own_fds(s, fds + n, max - n);
    return n;
}

/* Seconds. */
static double own_wait(const struct super *s)
{
    double now = seconds_now(), wait = graveyard_wait(&s->crew.graves);
    for (int role = 0; role < ROLES; role++)
        wait = fmin(wait, proc_wait(&s->crew.procs[role], now));
    if (s->active)
        wait = fmin(wait, s->active->cancel_by - now);
    if (s->more || s->changed || (!s->active && s->queue))
        wait = 0;
    return wait;
}

int super_timeout_ms(const struct super *s)
{
    double wait = INFINITY;
    for (; s; s = s->beside)
        wait = fmin(wait, own_wait(s));
    if (isinf(wait))
        return -1;
    return wait <= 0 ? 0 : (int)ceil(fmin(wait, 1e6) * 1e3);
}

void super_wait(struct super *s, struct job *j, bool (*cancelled)(void *ctx),
                void (*progress)(void *ctx, const struct job *j), void *ctx)
{
    enum { LOOK_MS = 50 }; /* how often `cancelled` is asked */
    while (!job_ended(j)) {
        if (super_dispatch(s) && progress)
            progress(ctx, j);
        if (job_ended(j))
            return;
        if (cancelled && cancelled(ctx))
            job_cancel(j);
        struct pollfd fds[SUPER_FDS_MAX];
        int n = super_fds(s, fds, SUPER_FDS_MAX), ms = super_timeout_ms(s);
        if (cancelled && (ms < 0 || ms > LOOK_MS))
            ms = LOOK_MS;
        poll(fds, (nfds_t)n, ms);
    }
}

/* ---- life ---- */

struct super *super_new(const char *worker)
{
    struct super *s = xcalloc(1, sizeof *s);
    s->crew = crew_new(worker);
    return s;
}

void super_set_patience(struct super *s, double factor)
{
    s->crew.patience = factor;
}

void super_free(struct super *s)
{
    if (!s)
        return;
    for (int role = 0; role < ROLES; role++)
        crew_drop(&s->crew, (enum role)role);
    while (s->queue)
        finish_job(s, s->queue, JOB_CANCELLED);
    if (s->active)
        finish_job(s, s->active, JOB_CANCELLED);
    crew_clear(&s->crew, farewell_s);
    free(s);
}

struct job *super_submit(struct super *s, const struct job_request *r)
{
    struct job *j = job_new(s, ++s->last_id, r);
    struct job **end = &s->queue;
    while (*end)
        end = &(*end)->next;
    *end = j;
    s->changed = true;
    return j;
}

void job_cancel(struct job *j)
{
    struct super *s = j->super;
    if (!s || isfinite(j->cancel_by))
        return;
    if (j != s->active) {
        finish_job(s, j, JOB_CANCELLED);
        return;
    }
    if (j->far) { /* whatever the line does, it is over here */
        far_cancel(&s->crew, j);
        finish_job(s, j, JOB_CANCELLED);
        return;
    }
    if (j->unjudged ||
        j->asked >= 0) { /* its answer interests nobody, and it would hold up the next job */
        crew_drop(&s->crew, JUDGE);
        j->unjudged = 0;
        j->asked = -1;
    }
    j->cancel_by = seconds_now() + cancel_s;
    struct err why = ERR_INIT;
    if (!j->done && wire_send(s->crew.procs[LAUNCH].wire, WIRE_CANCEL, NULL, -1, 0, &why) != ST_OK)
        finish_job(s, j, JOB_CANCELLED);
    else if (j->done)
        advance(s);
}

void job_free(struct job *j)
{
    if (!j)
        return;
    j->orphan = true;
    if (j->super)
        job_cancel(j);
    else
        job_destroy(j);
}

/* ---- asking ---- */

int job_ask(struct job *j, const json_t *ask)
{
    struct super *s = j->super;
    struct err why = ERR_INIT;
    if (ask ? !job_listens(j) : !s || !j->asks || job_ended(j) || j->done)
        return 0;
    j->asks += ask != NULL;
    json_t *msg = json_pack("{s:i, s:i}", "job", j->id, "number", j->asks);
    if (ask)
        json_object_set(msg, "ask", (json_t *)(uintptr_t)ask);
    crew_expect(&s->crew, LAUNCH, job_silence(j, 0, false));
    if (wire_send(s->crew.procs[LAUNCH].wire, WIRE_ASK, msg, -1, 0, &why) != ST_OK)
        s->crew.procs[LAUNCH].closed_since = seconds_now();
    json_decref(msg);
    return j->asks;
}

/* ---- for doctor and tests ---- */

int super_pid(const struct super *s, const char *role)
{
    for (int i = 0; i < ROLES; i++)
        if (strcmp(role, crew_roles[i]) == 0)
            return (int)s->crew.procs[i].pid;
    return 0;
}

int super_restarts(const struct super *s)
{
    return s->crew.restarts;
}

const char *super_log(struct super *s)
{
    return crew_log(&s->crew);
}
