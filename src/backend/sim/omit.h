/* omit.h - a kernel without one of the lines that order its threads: what is that barrier there for?
 *
 * Such lines are counted through the kernel's source from 1: where its PTX has bar.sync and its kin, bar.warp.sync, a wait
 * for cp.async, an arrival at an mbarrier, or a fence. Whatever of these the line has is left out, in all passes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_SIM_OMIT_H
#define ATTNSCOPE_BACKEND_SIM_OMIT_H

#include "backend/sim/launch.h"

/* Begin with {0}; omitted_clear() frees. The job is valid while this is. */
struct omitted {
    struct sim_job job; /* the other, but for its PTX */
    char *ptx, *place;  /* place: "fa2.cu:60"; NULL: nothing was left out */
};

/* The job without line number j->without, 0: all of it. ST_USAGE with a list of lines when it has none of that number. */
enum status omit_wait(const struct sim_job *j, struct omitted *out, struct err *err);
void omitted_clear(struct omitted *o);

#endif
