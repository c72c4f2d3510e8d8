/* sweep_where.h - what a measured sweep would run, and where, before it runs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_SWEEP_WHERE_H
#define ATTNSCOPE_COMMAND_SWEEP_WHERE_H

#include "command/ask/sweep_walk.h"

extern const struct columns where_columns;
/* Adds a row for each point that is missing: number, place on the axes, host, device. `rows` is empty, without a type yet;
 * the caller clears it. */
void sweep_where(const struct sweep_walk *k, struct rowset *rows);
/* Appends a line for each machine: "box (me@gpu.lab): 12 points of 2 kernels each, about 40 s". */
void sweep_say_where(const struct sweep_walk *k, struct str *out);

#endif
