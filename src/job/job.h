/* job.h - one job as the supervisor keeps it: how far it is, and its rows.
 *
 * Rows grow from two sides: time fields come from the launch worker, check fields from the judge
 * and from nobody else, for the launch worker runs code that the user edits.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_JOB_JOB_H
#define ATTNSCOPE_JOB_JOB_H

#include "job/lateness.h"
#include "job/super.h"
#include "job/wire.h"

enum { FARS = 3 };
/* From FAR on: connections to other machines, each of which does all of a job. */
enum role { LAUNCH, JUDGE, FAR, ROLES = FAR + FARS };

/* How far one entry is. */
struct entry_state {
    bool seen;    /* the present launch worker has sent its output */
    bool over;    /* finished with an earlier worker, or lost with it: not run again */
    int unjudged; /* of its outputs, those that the judge has not answered */
    int turn;     /* when the oldest of these was sent */
    int output;   /* the last one, for another judge if this one dies; -1: judged, or none */
    bool
        doubted; /* of its further outputs one could not be judged: it cannot pass; nor where a run was cut short */
    bool elsewhere; /* it has failed, by the output of another problem than the row's */
    bool retried;   /* a judge has died over it */
    bool again;     /* it goes to the next judge */
    bool loaded;    /* the present launch worker has been at it */
    bool native;    /* somebody's machine code, which can spoil the worker for others */
    bool failed;    /* a run of it did, or could not be made, which is no refusal */
    bool later;     /* waits for a worker of its own */
};

/* An output beside that of the checked run: of a timed run, of another problem. It goes to the judge when
 * nothing else is there, one after another, and those of timed runs when all timing is over. */
struct extra_output {
    int entry;
    char *what;      /* "the last timed run" */
    json_t *problem; /* what it was made from */
    int fd;
    bool retried; /* a judge has died over it */
};

struct job {
    struct super *super; /* NULL once the job has ended */
    struct job *next;    /* in the queue */
    int id;
    struct job_request request;
    enum job_state state;
    struct run_row *rows; /* nentries, and one that stays blank */
    json_t *extra;
    char *error;
    bool no_gpu; /* what is missing is a GPU */
    bool killed; /* a worker was killed over it, perhaps from outside */
    int far;     /* the role that does all of it on another machine; 0: none */
    int entry;   /* the launch worker is busy with it; -1: with several, or none */
    struct entry_state *entries;
    int unjudged;  /* outputs that the judge has not answered */
    int last_turn; /* of the outputs that were sent to it */
    struct extra_output *extras;
    size_t nextras, capextras;
    int asked;              /* which of them the judge has; -1: none */
    json_t *judged;         /* the problem of the last of them; NULL: there was none */
    char *phase[FAR];       /* "first run of fa2", as last announced; NULL: nothing yet */
    double estimate_s[FAR]; /* and how long until the next sign of life */
    struct lateness clocks; /* the launch worker's beside ours while it times */
    bool ready;             /* every entry has run once */
    int asks;               /* so many were asked of it */
    bool done;              /* the launch worker has said DONE, or was never asked */
    double cancel_by;       /* the launch worker must have stopped; INFINITY: nobody cancelled */
    bool careful;           /* a worker died and nobody knows which kernel did it; now we want to */
    bool apart;   /* a worker died and each of several could have done it: natives run alone now */
    bool veteran; /* its launch worker served an earlier job */
    bool orphan;  /* the caller has let go of it */
};

struct job *job_new(struct super *s, int id, const struct job_request *r);
void job_destroy(struct job *j);

/* Seconds of silence to allow a worker that says it needs `seconds`; `run`: while a kernel runs,
 * for which the user's own limit counts. */
double job_silence(const struct job *j, double seconds, bool run);

/* "qtile_seq: the worker died (signal 11, ...) while checking". The caller frees it. */
char *job_fault_sentence(const struct job *j, enum role role, const char *what);

/* Takes note of an estimate. */
void job_announce(struct job *j, enum role role, enum wire_phase phase, int entry, double seconds);
/* The launch worker waits for the GPU, and so do `others`; -1: nobody knows how many. */
struct job_queue {
    int ahead, others;   /* who come first, and all who wait, without us; -1: unknown */
    double wait_s;       /* NaN: unknown */
    const char *program; /* it does not queue, and computes; NULL: a measurement */
};
void job_announce_queue(struct job *j, const struct job_queue *q);

/* Whose doing the launch worker's failure is, as far as one can know: the kernel that it was at, or the only
 * native one; -1: nobody's. */
int job_suspect(const struct job *j);
/* Could another than the suspect have done it? Not where they have been set apart. */
bool job_is_doubtful(const struct job *j);
/* Will only another worker, which says which kernel comes, show whose doing it is? */
bool job_is_puzzling(const struct job *j);
/* From now on every native kernel runs in a worker of its own, the others in one. True: some are left to run. */
bool job_set_apart(struct job *j);
/* Says in the rows why there is no ratio, where that is because kernels were set apart. */
void job_explain_apart(struct job *j);
/* The worker has done all that was its part. True: others wait for theirs; the job is then as after job_go_on(). */
bool job_next_part(struct job *j);

/* The launch worker has failed, as `sentence` says. The kernel it was busy with is lost and gets the
 * sentence as its reason. True when the others can go on in a new worker: the job is then as if it
 * had not started, but for the entries that are over. */
bool job_go_on(struct job *j, const char *sentence);
/* The launch worker itself says that another must go on after this entry. `fault`: the kernel's, which
 * makes the job a failed one; else a failure like many. As job_go_on(). */
bool job_go_on_without(struct job *j, int entry, bool fault);
/* Entry i is not run, as `sentence` says. */
void job_leave_out(struct job *j, int i, const char *sentence);
/* Runs of these entries have failed, as another machine says. ST_FAIL: they make no sense. */
enum status job_take_failed(struct job *j, const json_t *list, struct err *err);
/* All whose runs have. The caller owns the list. */
json_t *job_failed(const struct job *j);
/* No new worker: what is not over gets `sentence` as its reason. The job ends when the judge has
 * answered. */
void job_give_up(struct job *j, const char *sentence);

/* The judge is busy with it: the oldest output that it has not answered; -1: none. */
int job_judged_entry(const struct job *j);
/* Entry i will not be judged, as `sentence` says. */
void job_leave_unjudged(struct job *j, int i, const char *sentence);
/* Lets go of an output that no judge will need. */
void job_drop_output(struct job *j, int i);

/* The judge has answered one output of entry i; it is let go of, unless others are compared with it. Is any
 * other left to be answered? */
bool job_take_answer(struct job *j, int i);
/* The judge is gone: marks what it has not answered as to be judged again, and the base if anything else is. Is
 * there any? */
bool job_take_back(struct job *j);

/* Takes `extra` from a worker, which may be changed. What an earlier worker of the job has traced or counted
 * stays. */
void job_take_extra(struct job *j, json_t *extra);
/* Indices of the entries that the next worker leaves alone: an earlier one has finished them or did not survive
 * them, or they wait for one of their own. The caller owns the list. */
json_t *job_skipped(struct job *j);
/* Takes note of which entries are native, from a worker's list, NULL: none. ST_FAIL: it makes no sense. */
enum status job_take_natives(struct job *j, const json_t *list, struct err *err);

/* Merges the launch worker's array of rows, or the judge's row for one entry. The objects may be
 * changed. ST_FAIL when they are none of ours. */
enum status job_take_rows(struct job *j, json_t *rows, struct err *err);
enum status job_take_verdict(struct job *j, int entry, json_t *row, struct err *err);

/* Keeps an output of entry i's until the judge is free for it; takes the problem's reference and not the
 * descriptor. ST_FAIL: it makes no sense. */
enum status job_keep_extra(struct job *j, int entry, const char *what, json_t *problem, int fd,
                           struct err *err);
/* The next one that may be judged now, if possible on the problem of the one before; -1: none. */
int job_next_extra(const struct job *j);
void job_drop_extra(struct job *j, int i);
/* The judge's verdict on it: a failure makes the entry's row one. */
void job_take_extra_verdict(struct job *j, int i, const json_t *row);
/* Nobody could judge it, as `sentence` says: then the row is not known to be right. */
void job_leave_extra(struct job *j, int i, const char *sentence);

/* A row that is not right is not ranked, nor is anything against a base that is not right. */
/* Cuts texts without measure: rows are shown. */
void job_bound_texts(json_t *row);
void job_rank_rows(struct job *j);

/* A frame of the launch worker's, of process `pid`, says that its clock is at `theirs`. */
void job_hear_clock(struct job *j, double theirs, pid_t pid);
/* Its timing is over: had it another clock than we have, no row of it passes. */
void job_judge_clock(struct job *j);

#endif
