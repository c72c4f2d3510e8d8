/* request.h - a job request: what a front end asks of a worker.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_JOB_REQUEST_H
#define ATTNSCOPE_JOB_REQUEST_H

#include <jansson.h>

#include "job/remote.h"
#include "measure/options.h"
#include "spec/input.h"

enum job_kind {
    JOB_RUN,     /* check every entry, then time them; interleaved if asked */
    JOB_CHECK,   /* check only */
    JOB_TRACE,   /* check, then run once more with a stamp at the begin and end of every block; in
                    job_extra() {"traces": one object, false or null per entry}, see backend/trace.h */
    JOB_PROFILE, /* check, then count what the hardware does; in job_extra() {"profiles": one object
                    or null per entry}, see backend_ops.profile */
    JOB_LOOK, /* run only to look at a line, as `look` says: no check, no figures; in job_extra() {"looks":
                    one object or null per entry}, see backend_ops.look */
    JOB_DEBUG, /* hold a block of entry 0 still and answer what job_ask() asks, until it is cancelled; in job_extra()
                    {"debugs": [{number, answer}]}, see backend/debug.h */
    JOB_COMPILE, /* compile every entry's CUDA source for `sm`, without a GPU; result in
                    job_extra(), see serve_code.c */
    JOB_LISTING, /* compile entry 0 likewise and list its PTX and SASS, see serve_listing.c */
    JOB_PEAK,    /* doctor --peak: FMA peak, cache and memory bandwidth; result in job_extra() */
};

/* The list in job_extra() with an item for each entry, null while nothing is known of it; NULL: this
 * kind of job has none. What an earlier worker of the job sent stays in it. */
const char *job_extra_list(enum job_kind kind);

struct job_entry {
    char *kernel;
    char *params; /* "BR=32 BC=64", may be "" or NULL: all defaults */
};

/* Start with {0} or from a literal; members are owned by the request. */
struct job_request {
    enum job_kind kind;
    struct problem problem;
    struct options options;    /* backend and l2 are settled: "cpu", "cold" or "hot" */
    struct job_entry *entries; /* at most 64 */
    int nentries;
    bool interleave;      /* A B A B ...: compare */
    int sm;               /* JOB_COMPILE, JOB_LISTING: compute capability times ten, 89 */
    struct look_at look;  /* JOB_LOOK */
    struct remote remote; /* where; not on the wire */
    char *output;         /* write entry 0's output here as .npy, or NULL */
};
/* Frees the members and makes all zero. */
void job_request_clear(struct job_request *r);
/* `dst` is overwritten, not cleared. */
void job_request_copy(struct job_request *dst, const struct job_request *src);
json_t *job_request_to_json(const struct job_request *r);
/* Clears `r` and fills it; on failure it stays clear. Strict: ST_USAGE names the member. */
enum status job_request_from_json(struct job_request *r, const json_t *o, struct err *err);

#endif
