/* scaling.h - what several GPUs gain over one: a ring's time beside that of the same kernel alone, as this session has
 * measured it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_ASK_SCALING_H
#define ATTNSCOPE_COMMAND_ASK_SCALING_H

#include "measure/row.h"

struct session;
struct scaling; /* the last times of kernels on one GPU */

void scaling_free(struct scaling *x);
/* Remembers the row of one GPU, or gives that of a ring its efficiency_pct, where one GPU's is remembered: same kernel,
 * shape, parameters, caches, model and host. */
void scaling_fill(struct session *s, struct run_row *row);

#endif
