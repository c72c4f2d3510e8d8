/* launch.h - the launch worker's own: the job under way, its backend, its inputs, its rows.
 *
 * serve_launch.c takes jobs in and calls what each needs: serve_check.c, serve_time.c and so on, which
 * work on this.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_JOB_LAUNCH_H
#define ATTNSCOPE_JOB_LAUNCH_H

#include "backend/compile/compile.h"
#include "base/procstate.h"
#include "job/gpu_lock.h"
#include "job/peer.h"
#include "job/request.h"

enum { CHILDREN_MAX = 64 };

/* One kernel of the job under way. */
struct entry {
    struct slot *slot; /* NULL: it cannot run, row.reason says why, or need not */
    bool skip;         /* not ours to run */
    struct run_row row;
    double once_s; /* duration of its first run, then of the fastest of the warm-up */
    double
        around_s; /* the longest that was spent on a sample's inputs; for a start, the whole first run */
    double usual_mhz; /* highest clock of the warm-up; NaN: none is known */
    struct timing *timing;
    int repeat;   /* runs per sample */
    bool foreign; /* code of the user's that runs on the host: it may have threads and processes */
    pid_t children[CHILDREN_MAX]; /* of ours when it was loaded */
    int nchildren;
    bool leaves; /* it has left processes behind, or the process otherwise than it was */
    double sampled_s,
        wanted_s; /* of somebody's code: all samples so far, and in them the time of cores that threads
                                 of this process used or waited for */
    double
        looked_s; /* since its first sample, on looking closely: at all inputs, and for the judge */
    bool unfinished; /* a run of it came to no end of its own: it has no verdict */
    size_t picked;   /* the sample whose output is judged, beside the last one's */
    double *samples; /* seconds; NaN where the sample was dropped */
    double *low;     /* of those that were dropped for a low clock, which may yet count; else NaN */
    size_t nsamples, capsamples, caplow;
    size_t alone,
        alone_timed; /* of them, and of the timing's, those that no other program disturbed for certain */
};

/* A compiler, as far as it was asked about. */
struct maker {
    char *version; /* "nvrtc 13.0"; NULL: not asked, or it is not here, */
    char *why;     /* for this reason */
};

struct launch {
    struct peer peer;
    struct registry *registry;
    const struct backend_ops *ops;
    const struct backend_info *info; /* of the same backend */
    struct gpu_lock *lock;   /* of the backend's device; NULL: none is needed, or to be had */
    struct backend *backend; /* kept from job to job while the options stay the same */
    struct backend_options options;
    struct problem problem; /* the backend's present inputs */
    bool has_inputs;
    char *again; /* room for a second run's output: what is fresh costs more than what it is for */
    size_t again_bytes;
    struct job_request request; /* the job under way */
    struct entry *entries;
    uint64_t turn_picked,
        turn_last;  /* what the inputs of judged samples are: the same for all kernels */
    int lost;       /* the entry after which another process goes on; -1: none */
    bool spent;     /* something failed that should not: another process may do better */
    json_t *traces; /* of JOB_TRACE and JOB_PROFILE: one object or null per entry */
    bool doubtful;  /* one of several that run in this process did it; each alone will show who */
    struct procstate
        *state;          /* of this process before code of the user's ran in it; NULL: none has */
    bool careful;        /* say which kernel comes before every sample: one of them kills workers */
    enum status written; /* of the output file that was asked for */
    struct err write_err;
    struct maker makers[COMPILERS]; /* for JOB_COMPILE */
    struct run_watch watch;         /* of the backend's runs, which is us */
    double told;                    /* when it was last said that one gets on */
};

/* All rows, with "ready" set or not. */
void launch_send_rows(struct launch *l, bool ready);
/* Array of the rows as they stand. */
json_t *launch_rows(const struct launch *l);

/* What an entry asks for, as its backend has it; NULL: there is no such thing. */
const struct kernel_desc *launch_desc(const struct launch *l, int i);
/* Kernel and parameters of a row, before anything has run. */
void launch_describe_params(const struct launch *l, const struct kernel_desc *d,
                            const struct param_values *v, struct run_row *row);
/* Replaces a text of a row by a copy of `value`. */
void launch_set_text(char **member, const char *value);
/* Takes over what the backend says about a row: driver, kind of launch, warnings. */
void launch_describe(struct launch *l, struct entry *e);
/* Takes over what its last run has told: counts, hazards. */
void launch_tell_outcome(struct launch *l, struct entry *e);

/* Ends the children of this process that are not among the n in `before`, and theirs; returns one of them,
 * 0: there was none. */
int launch_end_new_children(const pid_t *before, int n);

/* Is entry i machine code of somebody's that runs in this very process? */
bool launch_is_native(const struct launch *l, int i);
/* Of those that were loaded so far, how many. */
int launch_count_natives(const struct launch *l);
/* Takes note of how this process is, for launch_look_behind(). */
void launch_know_process(struct launch *l);
/* Tells the supervisor which entries are, and that processes may be left behind. */
void launch_announce_code(struct launch *l);

/* Entry e cannot go on, which its row then says; one that was caught has failed its check. As launch_blame(). */
void launch_fail(struct launch *l, struct entry *e, enum status st, const struct err *why);
/* Entry e has failed with `st`. If that is more than a refusal, the job is over for this process, and the
 * other entries go on in another. */
void launch_blame(struct launch *l, const struct entry *e, enum status st);

/* "BR=32 MAP=duplicate" over the defaults for the shape. */
enum status launch_params(const struct kernel_desc *d, const struct shape *s, const char *text,
                          struct param_values *v, struct err *err);

/* Seconds that one run on the shape takes on no machine that is still usable, for estimates. */
double launch_run_s(const struct shape *s);

/* Opens the request's backend, unless it is open. */
enum status launch_need_backend(struct launch *l, struct err *err);
/* Is there more for this process to do? Not after a kernel that has spoilt it, or where one of several has. */
bool launch_goes_on(const struct launch *l);
/* Can this process do no more? */
bool launch_is_spent(const struct launch *l);
void launch_close(struct launch *l);
/* Makes the problem's inputs and gives them to the backend, unless it has them. The second: the request's. */
enum status launch_set_inputs(struct launch *l, const struct problem *p, struct err *err);
enum status launch_need_inputs(struct launch *l, struct err *err);

#endif
