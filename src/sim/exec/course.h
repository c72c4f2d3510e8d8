/* course.h - a block's phases in their order: recorded while it runs, kept for one block of each class.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_EXEC_COURSE_H
#define ATTNSCOPE_SIM_EXEC_COURSE_H

#include "sim/sim.h"

/* The next phase of the course, begun once. Rounds of a loop that did exactly the same become one. */
void course_add(struct sim_course *c, const struct sim_phase *phase);
/* For another block; memory is kept. */
void course_reset(struct sim_course *c);
void course_free(struct sim_course *c); /* what is in it */

/* Keeps a copy where it is the first block of its class so far, or comes before the one that is kept. Which ones stay
 * is the same in whatever order blocks end. */
void courses_keep(struct sim_result *r, const struct sim_course *c, uint64_t block, uint64_t class);
/* All blocks have ended: for how many runs each stands; in order of blocks. `cluster`: blocks that ran as one. */
void courses_finish(struct sim_result *r, uint32_t cluster);

#endif
