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
#include "job/super.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/sanitize.h"
#include "base/str.h"
#include "job/super_state.h"

static const double fault_window_s = 60; /* at most FAULTS_MAX faults in it */
static const double hello_s = 10;        /* for a new worker to say hello */
static const double cancel_s = 0.05;     /* for a worker to stop by itself */
static const double closing_s = 0.1;     /* between closing its connection and ending */
static const double farewell_s = 0.01;   /* super_free waits this long for the killed */

static const char *const role_names[ROLES] = {[LAUNCH] = "launch", [JUDGE] = "judge"};

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
void super_finish(struct super *s, struct job *j, enum job_state state)
{
    if (s->active == j) {
        if (!j->done || j->request.kind == JOB_PROFILE)
            proc_drop(&s->procs[LAUNCH], &s->graves);
        if (j->unjudged)
            proc_drop(&s->procs[JUDGE], &s->graves);
        s->procs[LAUNCH].deadline = s->procs[JUDGE].deadline = INFINITY;
    }
    unlink_job(s, j);
    j->state = state;
    s->changed = true;
    if (j->orphan)
        job_destroy(j);
}

void super_fail(struct super *s, struct job *j, char *sentence)
{
    free(j->error);
    j->error = sentence;
    super_finish(s, j, JOB_FAILED);
}

/* Puts the active job back to the front of the queue. */
static void start_over(struct super *s)
{
    struct job *j = s->active;
    j->veteran = false;
    j->done = true;
    j->next = s->queue;
    s->queue = j;
    s->active = NULL;
}

/* Seconds until the budget allows another start. */
static double budget_wait(const struct super *s)
{
    if (s->nfaults < FAULTS_MAX)
        return 0;
    double oldest = s->faults[s->nfaults % FAULTS_MAX];
    return fmax(0, oldest + fault_window_s - seconds_now());
}

/* ---- deadlines ---- */

static void enforce_deadline(struct super *s, enum role role)
{
    struct proc *p = &s->procs[role];
    if (!p->pid || seconds_now() < p->deadline)
        return;
    struct str what = {0};
    bool died = proc_ended(p, &what); /* unseen, if a child of its holds the socket */
    if (!died)
        str_addf(&what, "gave no sign of life for %.1f s and was stopped", p->silence);
    super_fault(s, role, died, what.data);
    str_free(&what);
}

/* ": out of memory", the last line of the log, when there is one. */
static void add_last_words(const struct super *s, struct str *how)
{
    size_t end = s->log.len;
    while (end && s->log.data[end - 1] == '\n')
        end--;
    size_t begin = end;
    while (begin && s->log.data[begin - 1] != '\n' && end - begin < 200)
        begin--;
    if (begin < end) {
        str_add(how, ": ");
        sanitize(how, s->log.data + begin, end - begin, false);
    }
}

/* A process that closed its connection usually is about to end; its status is the better story. */
static void settle_closed(struct super *s, enum role role)
{
    struct proc *p = &s->procs[role];
    if (isnan(p->closed_since))
        return;
    struct str how = {0};
    if (proc_ended(p, &how)) {
        p->log_after = 0;
        proc_read_log(p, &s->log);
        if (str_starts(how.data, "ended"))
            add_last_words(s, &how);
        super_fault(s, role, true, how.data);
    } else if (seconds_now() > p->closed_since + closing_s) {
        super_fault(s, role, true, "closed its connection and was stopped");
    }
    str_free(&how);
}

/* ---- starting a job ---- */

enum status super_need_proc(struct super *s, enum role role, struct err *err)
{
    struct proc *p = &s->procs[role];
    if (p->wire)
        return ST_OK;
    double wait = budget_wait(s);
    if (wait > 0)
        return err_set(err, ST_FAIL,
                       "the worker failed %d times within a minute and is not started again for "
                       "now; give the command again in %.0f s",
                       FAULTS_MAX, ceil(wait));
    char *path;
    enum status st = proc_find(s->given, &path, err);
    if (st != ST_OK)
        return st;
    st = proc_spawn(p, path, err);
    free(path);
    s->restarts += st == ST_OK && s->started[role];
    s->started[role] |= st == ST_OK;
    return st;
}

/* Indices of the entries that an earlier worker has finished or did not survive. */
static json_t *over_entries(const struct job *j)
{
    json_t *list = json_array();
    for (int i = 0; i < j->request.nentries; i++)
        if (j->entries[i].over)
            json_array_append_new(list, json_integer(i));
    return list;
}

/* Gives the job to the workers. A launch worker that does not take it is about to end, which
 * settle_closed() will tell. */
enum status super_send_job(struct super *s, struct job *j, struct err *err)
{
    struct proc *launch = &s->procs[LAUNCH];
    j->veteran = launch->greeted;
    enum status st = super_need_proc(s, LAUNCH, err);
    const bool judged = j->request.kind != JOB_PEAK && j->request.kind != JOB_COMPILE &&
                        j->request.kind != JOB_LISTING;
    if (st == ST_OK && judged)
        st = super_need_proc(s, JUDGE, err);
    if (st != ST_OK)
        return st;
    json_t *msg =
        json_pack("{s:i, s:o, s:o, s:b}", "job", j->id, "request", job_request_to_json(&j->request),
                  "skip", over_entries(j), "careful", j->careful);
    if (wire_send(launch->wire, WIRE_JOB, msg, -1, 0, err) != ST_OK)
        launch->closed_since = seconds_now();
    json_decref(msg);
    j->done = false;
    double limit = j->request.timeout_s > 0 ? j->request.timeout_s : hello_s;
    expect_sign(s, launch, launch->greeted ? job_silence(j, 0, true) : limit);
    return ST_OK;
}

/* The launch worker has failed; the rest of the job goes on in a new one if it can. */
static void go_on(struct super *s, struct job *j, const char *what)
{
    struct err why = ERR_INIT;
    char *sentence = job_fault_sentence(j, LAUNCH, what);
    s->changed = true;
    str_addf(&s->log, "%s\n", sentence);
    if (!job_go_on(j, sentence))
        job_give_up(j, sentence);
    else if (super_send_job(s, j, &why) != ST_OK)
        job_give_up(j, why.text);
    free(sentence);
}

/* A process failed: it goes, the budget shrinks, and the job it was busy with goes on without it or
 * ends; unless the process was an old one that never answered: it may have died before it knew of
 * the job. */
void super_fault(struct super *s, enum role role, bool died, const char *what)
{
    struct job *j = s->active;
    bool hit = super_busy(s, role);
    s->faults[s->nfaults++ % FAULTS_MAX] = seconds_now();
    proc_drop(&s->procs[role], &s->graves);
    if (!hit) {
        str_addf(&s->log, "the idle %s %s\n", role_names[role], what);
        return;
    }
    if (isfinite(j->cancel_by))
        super_finish(s, j, JOB_CANCELLED);
    else if (role == LAUNCH && j->state == JOB_STARTING && j->veteran)
        start_over(s);
    else if (role == LAUNCH)
        go_on(s, j, what);
    else
        super_judge_again(s, j, died, what);
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
    if (super_send_job(s, j, &why) != ST_OK)
        super_fail(s, j, xstrdup(why.text));
}

/* ---- the loop's side ---- */

/* A child of the worker's may hold its connection open; that it has ended counts, once its last words
 * are heard. */
static void hear_to_the_end(struct super *s, enum role role)
{
    struct proc *p = &s->procs[role];
    const bool ended = proc_has_ended(p);
    const pid_t pid = p->pid;
    super_hear(s, role);
    if (ended && !s->more && p->pid == pid && isnan(p->closed_since))
        p->closed_since = seconds_now();
}

bool super_dispatch(struct super *s)
{
    s->more = false;
    graveyard_visit(&s->graves);
    for (int role = 0; role < ROLES; role++)
        hear_to_the_end(s, (enum role)role);
    for (int role = 0; role < ROLES; role++) {
        settle_closed(s, (enum role)role);
        enforce_deadline(s, (enum role)role);
    }
    if (s->active && seconds_now() > s->active->cancel_by)
        super_finish(s, s->active, JOB_CANCELLED);
    super_advance(s);
    start_next(s);
    bool changed = s->changed;
    s->changed = false;
    return changed;
}

int super_fds(const struct super *s, struct pollfd *fds, int max)
{
    int n = 0;
    double now = seconds_now();
    for (int role = 0; role < ROLES; role++) {
        const struct proc *p = &s->procs[role];
        if (p->wire && isnan(p->closed_since) && n < max)
            fds[n++] = (struct pollfd){.fd = wire_fd(p->wire), .events = POLLIN};
        if (p->end_fd >= 0 && isnan(p->closed_since) && n < max)
            fds[n++] = (struct pollfd){.fd = p->end_fd, .events = POLLIN};
        if (p->log_fd >= 0 && now >= p->log_after && n < max)
            fds[n++] = (struct pollfd){.fd = p->log_fd, .events = POLLIN};
    }
    return n;
}

/* Seconds until this process needs attention by the clock. */
static double proc_wait(const struct proc *p, double now)
{
    double wait = p->pid ? p->deadline - now : INFINITY;
    if (!isnan(p->closed_since))
        wait = fmin(wait, 0.001);
    if (p->log_fd >= 0 && p->log_after > now)
        wait = fmin(wait, p->log_after - now);
    return wait;
}

int super_timeout_ms(const struct super *s)
{
    double now = seconds_now(), wait = graveyard_wait(&s->graves);
    for (int role = 0; role < ROLES; role++)
        wait = fmin(wait, proc_wait(&s->procs[role], now));
    if (s->active)
        wait = fmin(wait, s->active->cancel_by - now);
    if (s->more || s->changed || (!s->active && s->queue))
        wait = 0;
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
    s->given = worker ? xstrdup(worker) : NULL;
    s->patience = 1;
    for (int role = 0; role < ROLES; role++)
        s->procs[role] = proc_none(role_names[role]);
    return s;
}

void super_set_patience(struct super *s, double factor)
{
    s->patience = factor;
}

void super_free(struct super *s)
{
    if (!s)
        return;
    for (int role = 0; role < ROLES; role++)
        proc_drop(&s->procs[role], &s->graves);
    while (s->queue)
        super_finish(s, s->queue, JOB_CANCELLED);
    if (s->active)
        super_finish(s, s->active, JOB_CANCELLED);
    graveyard_clear(&s->graves, farewell_s);
    str_free(&s->log);
    str_free(&s->clean_log);
    free(s->given);
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
        super_finish(s, j, JOB_CANCELLED);
        return;
    }
    if (j->unjudged) { /* its answer interests nobody, and it would hold up the next job */
        proc_drop(&s->procs[JUDGE], &s->graves);
        j->unjudged = 0;
    }
    j->cancel_by = seconds_now() + cancel_s;
    struct err why = ERR_INIT;
    if (!j->done && wire_send(s->procs[LAUNCH].wire, WIRE_CANCEL, NULL, -1, 0, &why) != ST_OK)
        super_finish(s, j, JOB_CANCELLED);
    else if (j->done)
        super_advance(s);
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

/* ---- for doctor and tests ---- */

int super_pid(const struct super *s, const char *role)
{
    for (int i = 0; i < ROLES; i++)
        if (strcmp(role, role_names[i]) == 0)
            return (int)s->procs[i].pid;
    return 0;
}

int super_restarts(const struct super *s)
{
    return s->restarts;
}

const char *super_log(struct super *s)
{
    str_clear(&s->clean_log);
    sanitize(&s->clean_log, str_text(&s->log), s->log.len, true);
    return str_text(&s->clean_log);
}
