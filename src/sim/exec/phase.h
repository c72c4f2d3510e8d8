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

#endif
