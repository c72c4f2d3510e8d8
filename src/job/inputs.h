/* inputs.h - Q, K and V for a worker, filled by as many threads as help.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_JOB_INPUTS_H
#define ATTNSCOPE_JOB_INPUTS_H

#include "backend/pool.h"
#include "spec/input.h"

/* As tensors_make(). `pool`: NULL where the caller has none; then large ones are filled by threads that end with the call. */
enum status job_inputs_make(struct pool *pool, const struct problem *p, struct tensors *out,
                            struct err *err);

#endif
