/* trial.h - a kernel of the ladder, its shipped PTX and inputs, ready for sim_run() in this very process: for tests that want
 * all counts and none of the cage.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TESTS_TRIAL_H
#define ATTNSCOPE_TESTS_TRIAL_H

#include "backend/compile/ptx.h"
#include "kernel/attn_args.h"
#include "plan/plan.h"
#include "sim/sim.h"
#include "spec/input.h"

struct trial {
    struct plan plan;
    struct ptx ptx;
    struct problem problem;
    struct tensors tensors;
    struct sim_program *program[DESC_PASSES_MAX];
    double lower_s; /* text to programs, of all passes */
};

/* The kernel's defaults for the shape. ST_NO: it does not take the shape, or none of its PTX ships. `t` must be cleared
 * whatever the status. */
enum status trial_make(struct trial *t, const struct kernel_desc *d, const struct device *dev,
                       const struct shape *shape, struct err *err);
void trial_clear(struct trial *t);

/* Global memory with Q, K, V, O, LSE and the workspace, and the kernel's argument with their addresses. sim_memory_free() frees. */
struct sim_memory *trial_memory(const struct trial *t, struct PagedArgs *args);
/* Of launch `pass`, with its tensor maps; trial_launch_clear() frees. */
struct sim_launch trial_launch(const struct trial *t, int pass, const struct PagedArgs *args);
void trial_launch_clear(struct sim_launch *l);

/* A block's share of the L1 in launch `pass`. */
uint64_t trial_l1(const struct trial *t, int pass);

double cpu_seconds(void); /* of this process, all threads together */

#endif
