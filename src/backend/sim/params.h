/* params.h - what a launch by the simulator is given: its size, and the kernel's parameters.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_SIM_PARAMS_H
#define ATTNSCOPE_BACKEND_SIM_PARAMS_H

#include "kernel/attn_args.h"
#include "plan/plan.h"
#include "sim/sim.h"

/* Pass `pass` of a plan, without parameters; `cc`: see sim_launch. */
struct sim_launch sim_launch_of(const struct plan *plan, const struct plan_pass *pass, int cc);

/* The kernel's arguments, then its tensor maps, as launch->params, which the caller frees whatever the status. ST_NO: a tensor has
 * no such map. */
enum status sim_params(const struct plan *plan, const struct plan_pass *pass,
                       const struct PagedArgs *args, struct sim_launch *launch, struct err *err);

#endif
