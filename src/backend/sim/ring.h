/* ring.h - a ring of simulated GPUs: each with a memory of its own, in which any kernel of ours works on what came by.
 *
 * A card cannot reach another's memory: what it has not been sent counts as never written, so a step that does not wait
 * for its keys is found as any other read too early. The order is that of ring_next() (plan/ring.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_SIM_RING_H
#define ATTNSCOPE_BACKEND_SIM_RING_H

#include <jansson.h>

#include "backend/sim/launch.h"

/* What a run of it told; the arrays and `text` are the caller's, filled here. */
struct sim_ring_told {
    json_t *passes,
        *findings; /* as those of a run on one GPU, over all of them; `merge` is the last pass */
    json_t *gpus;  /* an object each: gpu, launches, sent_bytes, counters */
    uint64_t lost, unwatched;
    double link_bytes, imbalance; /* warp instructions of the busiest GPU over the mean */
    struct str text;              /* that kernels printed */
};
/* Is the kernel one that can be run on pieces? ST_NO: why not. Counts its launches' blocks into *blocks. */
enum status sim_ring_takes(const struct plan *whole, const struct ring *ring, uint64_t *blocks,
                           struct err *why);
/* Runs j->ring, which is not NULL. What was found is in `told` whatever the status. */
enum status sim_ring_run(const struct sim_job *j, struct cage_board *board,
                         struct sim_ring_told *told, struct err *err);

#endif
