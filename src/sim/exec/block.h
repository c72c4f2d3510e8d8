/* block.h - a block from begin to end.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_EXEC_BLOCK_H
#define ATTNSCOPE_SIM_EXEC_BLOCK_H

#include <stdatomic.h>

#include "sim/exec/worker.h"

/* Bytes of host memory that a thread needs for its block in flight. */
uint64_t worker_bytes(const struct sim_program *p, const struct sim_launch *l);
/* Bytes of the worker's arrays. */
struct worker_parts {
    uint64_t registers, predicates, local;
};
struct worker_parts worker_parts(const struct worker *t);
void worker_open(struct worker *t); /* program, launch, memory and options are set */
void worker_close(struct worker *t);

/* A block's beginning: everything as it is before its first instruction, but for hazards. */
void block_begin(struct worker *t, uint64_t index);
/* Nobody can go on: the fault that says who waits where, and the block's end. */
void block_deadlock(struct block *b);

/* Runs block `index`; false: stopped by `halt`. */
bool block_run(struct worker *t, uint64_t index, const atomic_bool *halt, atomic_ullong *executed);

/* ---- Of a launch, whoever drives its blocks (run.c). ---- */

/* ST_USAGE where it makes no sense. */
enum status grid_check(const struct sim_program *p, const struct sim_launch *l, struct err *err);
/* Makes the variables of the program's module that are not in the memory yet; the pool of constants of 32 lanes, which
 * the caller frees. */
enum status grid_constants(struct sim_memory *m, const struct sim_program *p, char **out,
                           struct err *err);
/* Bodies of instructions for this machine. */
warp_run_fn *grid_runner(void);

#endif
