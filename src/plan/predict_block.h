/* predict_block.h - what the time model is made of, for its own files: a block alone, blocks side by side, a launch.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_PLAN_PREDICT_BLOCK_H
#define ATTNSCOPE_PLAN_PREDICT_BLOCK_H

#include "plan/predict.h"
#include "plan/schedule.h"

struct block_cost {
    double lone;                  /* S */
    double once;                  /* the share of it that no block is spared, however short it is */
    double late;                  /* cycles that only the last blocks take beyond the others */
    double pipe;                  /* M, of `busiest` */
    double demand[PREDICT_PIPES]; /* of the whole block */
    enum predict_unit busiest;
    bool beside; /* its cycles are those of warpgroups that work beside each other */
};
/* What the phase takes of a lone block. */
struct phase_cost {
    double waits, queue; /* cycles of its busiest warp, and those behind the others of its block */
    double demand[PREDICT_PIPES];
    enum predict_unit wait, unit; /* what most of the waits are for; the busiest unit */
};
/* The cycles of a launch. */
struct launch_time {
    double cycles, tail; /* tail: of them, beyond what full SMs would take */
    double side;         /* blocks side by side while there are enough */
};

/* Of the blocks of a launch, those of its first wave, which find nothing in the L2. */
double cold_share(const struct predict_pass *p, const struct predict_gpu *g);
struct phase_cost phase_cost(const struct predict_phase *ph, const struct predict_pass *p,
                             const struct predict_gpu *g, double cold);
struct block_cost cost_of(const struct predict_pass *p, const struct predict_gpu *g);
/* r blocks side by side on an SM, in cycles. */
double together(const struct block_cost *c, double r);
/* What their parts add up to, by which the time is shared among them: what blocks wait for themselves, and the work of all but one. */
double parts_together(const struct block_cost *c, double r);
struct launch_time launch_time(const struct predict_pass *p, const struct predict_gpu *g,
                               const struct block_cost *c);
/* Sends each block of p to the SM that is free first, `side` at a time while there are enough; begins and ends in cycles. The end of
 * the last. */
double place_blocks(const struct predict_pass *p, const struct predict_gpu *g,
                    const struct block_cost *c, double side, struct sched_block *out);
/* The least that memory needs, us; NaN figures bound nothing. */
double memory_us(const struct predict_pass *p, const struct predict_gpu *g,
                 enum predict_unit *unit);
/* Both together: each hides most of the other, and nothing where they are alike, as a first load and the last product are
 * hidden by nothing. *memory: what memory_us() says. */
double pass_us(const struct predict_pass *p, const struct predict_gpu *g,
               const struct launch_time *t, enum predict_unit *memory);
double launch_us(const struct predict_gpu *g);
double run_us(const struct predict_gpu *g);

#endif
