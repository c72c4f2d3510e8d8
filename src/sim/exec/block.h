/* block.h - a block from begin to end.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_EXEC_BLOCK_H
#define ATTNSCOPE_SIM_EXEC_BLOCK_H

#include <stdatomic.h>

#include "sim/exec/worker.h"

/* Bytes of host memory that a thread needs for its block in flight. */
uint64_t worker_bytes(const struct sim_program *p, const struct sim_launch *l);
void worker_open(struct worker *t); /* program, launch, memory and options are set */
void worker_close(struct worker *t);

/* Runs block `index`; false: stopped by `halt`. */
bool block_run(struct worker *t, uint64_t index, const atomic_bool *halt, atomic_ullong *executed);

#endif
