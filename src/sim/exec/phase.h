/* phase.h - what a block does between two barriers that all of its warps pass.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_EXEC_PHASE_H
#define ATTNSCOPE_SIM_EXEC_PHASE_H

#include "sim/exec/worker.h"

/* The block begins, a barrier opens, the block ends. */
void phase_block_begin(struct block *b);
void phase_begin(struct block *b, const struct code *barrier);
void phase_block_end(struct block *b);
/* Of an array of `*n` phases the one that begins at `begins`; added when it is new. */
struct sim_phase *phase_of(struct sim_phase **all, size_t *n, size_t *cap, int64_t begins);

#endif
