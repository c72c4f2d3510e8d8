/* options.h - how measurements are made: what a user sets besides shape and inputs, and what a request
 * tells a worker.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_MEASURE_OPTIONS_H
#define ATTNSCOPE_MEASURE_OPTIONS_H

#include "backend/backend.h"
#include "base/record.h"
#include "measure/timing.h"

struct options {
    char *backend; /* NULL: chosen, cuda if usable else cpu */
    char *host;    /* the machine on which kernels run, by its name; NULL: this one */
    char *gpu;     /* device model for plans; NULL: the GPU present, else L4 */
    struct timing_rule rule;
    char *l2; /* "cold" "hot" "both" */
    enum launch_kind launch;
    int device, threads, streams;
    int blocks, hazards; /* enum sim_blocks, enum sim_hazards */
    int gpus, shards;    /* that share a run as a ring; enum ring_shards */
    char *devices;       /* which they are, "0,1,2,3"; NULL: `device` and those behind it */
    char *
        nodes; /* machines that have them, "here,box"; in a request also where each is (job/nodes.h); NULL: one */
    int transport; /* enum transport_kind: what carries data between them */
    int without;   /* line that the simulator leaves out; 0: none */
    double sim_s;  /* wall-clock seconds that a simulated run may take; 0: as many as it needs */
    int cc; /* of the GPU whose tensor cores the simulator adds like: 89; 0: of one that the PTX is for */
    char *ptx_from;   /* simulate PTX of this compiler or none, "clang 14.0.6"; NULL: as it comes */
    double timeout_s; /* silence allowed while a kernel runs; 0: 5 s, or ten times the worker's own
                         estimate if that is longer */
};
/* One line per key a user may set; feeds set, the wire, help, completion, the configuration file, the
 * options menu and the manual. */
extern const struct field option_keys[];
/* The rest of the timing rule: on the wire, and nobody's key. */
extern const struct field timing_fields[];

void options_init(struct options *o); /* the defaults */
void options_clear(struct options *o);
void options_copy(struct options *dst, const struct options *src); /* dst is cleared first */
/* The backend that runs them: the one that is named, else a GPU's on another machine, which is gone to for that, else
 * the best of this one. NULL: this build has none of that name. */
const struct backend_info *options_runner(const struct options *o);
/* What of them a backend needs to know. */
struct backend_options options_backend(const struct options *o);

#endif
