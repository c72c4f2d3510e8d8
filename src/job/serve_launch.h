/* serve_launch.h - what the launch worker's halves share: running once, and timing.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_JOB_SERVE_LAUNCH_H
#define ATTNSCOPE_JOB_SERVE_LAUNCH_H

#include "job/gpu_lock.h"
#include "job/peer.h"
#include "job/request.h"

/* One kernel of the job under way. */
struct entry {
    struct slot *slot; /* NULL: it cannot run, row.reason says why, or need not */
    bool skip;         /* not ours to run */
    struct run_row row;
    double once_s;    /* duration of its first run, then of the fastest of the warm-up */
    double usual_mhz; /* highest clock of the warm-up; NaN: none is known */
    struct timing *timing;
    int repeat;      /* runs per sample */
    double *samples; /* seconds; NaN where the sample was dropped */
    size_t nsamples, capsamples;
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
    struct job_request request; /* the job under way */
    struct entry *entries;
    int lost;            /* the entry after which another process goes on; -1: none */
    bool spent;          /* something failed that should not: another process may do better */
    json_t *traces;      /* of JOB_TRACE and JOB_PROFILE: one object or null per entry */
    bool careful;        /* say which kernel comes before every sample: one of them kills workers */
    enum status written; /* of the output file that was asked for */
    struct err write_err;
};

/* All rows, with "ready" set or not. */
void launch_send_rows(struct launch *l, bool ready);
/* Array of the rows as they stand. */
json_t *launch_rows(const struct launch *l);

/* Kernel and parameters of a row, before anything has run. */
void launch_describe_params(const struct launch *l, const struct kernel_desc *d,
                            const struct param_values *v, struct run_row *row);
/* Takes over what the backend says about a row: driver, kind of launch, warnings. */
void launch_describe(struct launch *l, struct entry *e);

/* Entry e has failed with `st`. If that is more than a refusal, the job is over for this process, and the
 * other entries go on in another. */
void launch_blame(struct launch *l, const struct entry *e, enum status st);

/* "BR=32 MAP=duplicate" over the defaults. */
enum status launch_params(const struct kernel_desc *d, const char *text, struct param_values *v,
                          struct err *err);

/* Loads entry i, runs it once and sends its output. */
enum status launch_check(struct launch *l, int i, struct err *err);

/* Opens the request's backend, unless it is open. */
enum status launch_need_backend(struct launch *l, struct err *err);

/* JOB_COMPILE: what its extra is. The caller owns it. */
enum status launch_compile(struct launch *l, json_t **extra, struct err *err);
/* JOB_LISTING, likewise. */
json_t *launch_listing(struct launch *l);

/* JOB_TRACE, JOB_PROFILE: entry i, which has been checked, into l->traces. What there is of a profile
 * when counting fails is kept, too: the plan. */
enum status launch_trace(struct launch *l, int i, struct err *err);
enum status launch_profile(struct launch *l, int i, struct err *err);

/* Warms up and samples every entry that can run, and fills the rows. */
void launch_time(struct launch *l);

#endif
