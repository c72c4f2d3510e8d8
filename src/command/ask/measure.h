/* measure.h - requests as jobs: what can run goes to the workers, what cannot becomes a row with its
 * reason. Every job of the program starts here: a verb's, a screen's, a sweep's, edit's compilation,
 * source's listing, doctor's peak.
 *
 * measure() waits for rows. Whoever wants more of the job, or has a loop of its own, uses
 * measure_start(), looks at the rows as they grow (measure_wait() waits for them), and ends with one
 * of measure_finish(), measure_end(), measure_close() and measure_drop().
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_MEASURE_H
#define ATTNSCOPE_COMMAND_MEASURE_H

#include "command/ask/request.h"

struct measure_how {
    enum job_kind kind;
    bool interleave; /* the kernels take turns */
    bool
        hosts; /* host= may be a list: rows of one machine after the other, each with its own ratios */
    bool no_store;              /* keep the rows in a recording alone */
    const char *verb;           /* for the recorded command; a literal */
    const char *output;         /* .npy for the first kernel, or NULL; only for measure() */
    const char *backend;        /* JOB_COMPILE: whose compiler; NULL: the GPU's */
    const struct look_at *look; /* JOB_LOOK: what is looked at; NULL else */
    struct super
        *super; /* in whose workers; NULL: the session's, which measure_wait() waits with */
    int sm;     /* JOB_COMPILE, JOB_LISTING: compute capability times ten; 0: of the GPU here */
};
struct measured {
    struct run_rows rows; /* in the request's order */
    int ran, failed;      /* rows with figures; rows whose check failed */
    int unknown;          /* rows whose check has no answer: the reference is not finite */
    int broke;            /* rows whose run failed, or could not be made, and whose check has not */
    bool killed;          /* a worker was killed, which cost rows: another try may have them */
    int need_gpu;         /* rows of kernels that exist for CUDA alone, where there is no GPU */
    struct run_rows beside; /* of the simulator, beside live ones of `rows`: simulate.h */
    enum status status;     /* ST_OK, ST_CANCELLED, ST_FAIL */
    struct err err;         /* for status, or why nothing ran */
};
/* Runs r; rows come for every kernel, with a reason where there is no figure. */
void measure(struct session *s, const struct request *r, const struct measure_how *how,
             struct measured *out);
void measured_clear(struct measured *m);
/* "B=1 H=8 S=1024 D=64 f16 | cpu, Xeon ... | L2 cold | seed 42": what all rows share. */
void measured_heading(const struct run_rows *rows, struct str *out, int width);
/* A row's kernel for a line below the table, with its changed parameters where another of `rows` has the same kernel:
 * "fa2 (BR=32)". The caller frees it. */
char *measured_name(const struct session *s, const struct run_rows *rows,
                    const struct run_row *row);
/* Are both rows of one host? */
bool measured_on_one(const struct run_row *a, const struct run_row *b);
/* The exit status of a measured command, in order of weight: cancelled, broken, nothing ran, a
 * check failed. `shown`: the rows have been printed, and their reasons need not be said again. */
enum status measured_status(const struct measured *m, bool shown, struct err *err);

/* A request that is being done: one pass, with cold or hot caches. */
struct measuring;
/* Submits what can run; `r` is copied. Where l2 is both, cold comes first and alone. A backend without
 * a clock checks where times are asked. */
struct measuring *measure_start(struct session *s, const struct request *r,
                                const struct measure_how *how);
/* Until it has ended or the front end has cancelled it. */
void measure_wait(const struct measuring *m);
const struct request *measure_request(const struct measuring *m); /* the copy */
/* NULL: nothing can run. */
struct job *measure_job(const struct measuring *m);
/* What is being done now, as job_phase(). */
const char *measure_phase(const struct measuring *m);
/* Has the job ended, if there is one? */
bool measure_ended(const struct measuring *m);
/* The row of kernel i as far as it is known; NULL when it cannot run. */
const struct run_row *measure_row(const struct measuring *m, int i);
/* What the job has of kernel i besides its row, job_extra_list(); NULL: nothing. Borrowed. */
const json_t *measure_item(const struct measuring *m, int i);
/* Why kernel i has no figures, in the job's words; NULL: the job has ended well. */
const char *measure_failure(const struct measuring *m);

/* Fills `out` with what is there, cancels what still runs, keeps the results in the store and in the
 * recording under way, frees. */
void measure_finish(struct measuring *m, struct measured *out);
/* The same for a front end that is no command: the rows are also $1 .. $last and there for export. */
void measure_end(struct measuring *m, struct measured *out);
/* As measure_finish(), but nothing is kept anywhere. */
void measure_close(struct measuring *m, struct measured *out);
/* Cancels what still runs and forgets all of it; NULL is allowed. */
void measure_drop(struct measuring *m);
/* Why kernel i of a request cannot run on the backend that it asks for; false if it can. */
bool measure_refuses(const struct request *r, int i, struct err *why);

#endif
