/* measure.h - requests as jobs: what can run goes to the workers, what cannot becomes a row with its
 * reason.
 *
 * measure() waits; a front end with a loop of its own uses measure_start(), looks at the rows as
 * they grow, and ends with measure_finish().
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_MEASURE_H
#define ATTNSCOPE_COMMAND_MEASURE_H

#include "command/ask/request.h"

struct measure_how {
    enum job_kind kind;
    bool interleave;
    bool no_store;
    const char *verb;   /* for the recorded command */
    const char *output; /* .npy for the first kernel, or NULL */
};
struct measured {
    json_t *rows;       /* array, in the request's order; owned */
    int ran, failed;    /* rows with figures; rows whose check failed */
    int need_gpu;       /* rows of kernels that exist for CUDA alone, where there is no GPU */
    enum status status; /* ST_OK, ST_CANCELLED, ST_FAIL */
    struct err err;     /* for status, or why nothing ran */
};
/* Runs r; rows come for every kernel, with a reason where there is no figure. */
void measure(struct session *s, const struct request *r, const struct measure_how *how,
             struct measured *out);
void measured_clear(struct measured *m);
/* "B=1 H=8 S=1024 D=64 f16 | cpu, Xeon ... | L2 cold | seed 42": what all rows share. */
void measured_heading(const json_t *rows, struct str *out, int width);
/* The exit status of a measured command, in order of weight: cancelled, broken, nothing ran, a
 * check failed. `shown`: the rows have been printed, and their reasons need not be said again. */
enum status measured_status(const struct measured *m, bool shown, struct err *err);

/* One pass with cold or hot caches that is under way. */
struct measuring;
/* Submits what can run; `r` is borrowed until the end, `how` is copied. Where l2 is both, cold
 * comes first and alone. */
struct measuring *measure_start(struct session *s, const struct request *r,
                                const struct measure_how *how);
/* NULL: nothing can run. */
struct job *measure_job(const struct measuring *m);
/* Where kernel i is among the job's entries; -1: it cannot run. */
int measure_entry(const struct measuring *m, int i);
/* Has the job ended, if there is one? */
bool measure_ended(const struct measuring *m);
/* The row of kernel i as far as it is known; NULL when it cannot run. */
const struct run_row *measure_row(const struct measuring *m, int i);
/* Fills `out` with what is there, cancels what still runs, keeps the results in the store, frees. */
void measure_finish(struct measuring *m, struct measured *out);
/* Why kernel i of a request cannot run on the backend that it asks for; false if it can. */
bool measure_refuses(const struct request *r, int i, struct err *why);

#endif
