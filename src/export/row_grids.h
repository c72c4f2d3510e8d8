/* row_grids.h - rows as lines and heat maps: a figure over one or two axes, a series for each kernel.
 *
 * A sweep brings its model; these are for measurements at shapes that differ in one number, whichever
 * commands they came from, and for the sweeps of older programs, known by their columns.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_EXPORT_ROW_GRIDS_H
#define ATTNSCOPE_EXPORT_ROW_GRIDS_H

#include "export/sheet.h"

/* Median times over the one number in which the shapes differ, where there is one of three values or more.
 * Parameters set series apart only where nothing else does. Adds nothing where the rows give none. */
void shapes_grid(const struct sheet *sh, struct charts *out);
/* The figure of a sweep over its axes. Columns are the kernel, one or two axes, a figure, and at most check
 * and reason; every point has a row for each kernel, in one order. Adds nothing for other tables. */
void sweep_grid(const struct sheet *sh, struct charts *out);

/* "GB/s" for a metric; "" when it has none or is not known. */
const char *metric_unit(const char *metric);

#endif
