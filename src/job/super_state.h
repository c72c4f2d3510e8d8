/* super_state.h - the supervisor's inside, shared by its files: super.c (queue, processes, ends),
 * super_hear.c (what workers say) and super_judge.c (outputs on their way to a verdict).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_JOB_SUPER_STATE_H
#define ATTNSCOPE_JOB_SUPER_STATE_H

#include "job/job.h"
#include "base/clock.h"
#include "job/proc.h"

enum { FAULTS_MAX = 5 }; /* in a minute; then no more restarts for a while */

struct super {
    char *given; /* worker path asked for, or NULL */
    struct proc procs[ROLES];
    bool started[ROLES]; /* ever; the next start is a restart */
    int restarts;
    struct graveyard graves;
    struct job *active, *queue;
    int last_id;
    double patience;           /* 1, but for tests */
    double faults[FAULTS_MAX]; /* when the last ones were; a ring */
    int nfaults;
    struct str log, clean_log; /* as it came; as it may be shown */
    bool changed;              /* a job, since the last dispatch */
    bool more;                 /* frames were left unread for the next dispatch */
};

/* Is the role's process at work for the active job? */
static inline bool super_busy(const struct super *s, enum role role)
{
    const struct job *j = s->active;
    return j && (role == LAUNCH ? !j->done : j->unjudged > 0);
}

/* The process owes a sign of life within `seconds`. */
static inline void expect_sign(const struct super *s, struct proc *p, double seconds)
{
    p->silence = seconds * s->patience;
    p->deadline = seconds_now() + p->silence;
}

/* The job is over. A process that is still busy with it is dropped. */
void super_finish(struct super *s, struct job *j, enum job_state state);
/* The same, as a failure; takes the sentence. */
void super_fail(struct super *s, struct job *j, char *sentence);
/* Makes sure that the role's process runs, as far as the budget allows. */
enum status super_need_proc(struct super *s, enum role role, struct err *err);
/* A process failed, and how: "died (signal 9, killed)". `died`: it did by itself, which another that
 * is given the same work need not. */
void super_fault(struct super *s, enum role role, bool died, const char *what);
/* Gives the job to the launch worker, a new one if need be, and makes sure of a judge. */
enum status super_send_job(struct super *s, struct job *j, struct err *err);

/* super_judge.c. The judge gets entry i's output, of which the job keeps a copy of its own. */
void super_judge(struct super *s, struct job *j, int i, int fd);
/* It has answered. */
void super_judged(struct super *s, struct job *j, int i);
/* The judge is gone: what it had not answered goes to another, except for an output that judges do
 * not survive. */
void super_judge_again(struct super *s, struct job *j, bool died, const char *what);

/* Takes in what a worker has said, without waiting and not for long. */
void super_hear(struct super *s, enum role role);
/* Outputs judged and everything ready: on to the timing, or to the end. */
void super_advance(struct super *s);

#endif
