/* row_charts.h - the pictures of a sheet: those that came with its rows, and those that the rows'
 * fields give.
 *
 * Sweeps, plans, rooflines and timelines bring the models of their pictures. Measured rows are their own
 * model, and tables of older programs have rows alone; what those can be drawn as follows from the
 * fields of the rows, never from a command.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_EXPORT_ROW_CHARTS_H
#define ATTNSCOPE_EXPORT_ROW_CHARTS_H

#include "export/sheet.h"
#include "plan/device.h"

/* The pictures that came with a sheet, and those of other kinds that its rows give. `d` knows limits of
 * devices by name; NULL: none. End *out with charts_clear(). */
void row_charts(const struct sheet *sh, const struct device_table *d, struct charts *out);

/* The times of measured rows as a picture, where they have any. */
void times_charts(const struct rowset *rows, struct charts *out);
/* Samples of measured rows as a picture; NULL: none has any. The caller owns it. */
struct run_rows;
struct chart *samples_chart(const struct run_rows *rows);
/* What the predicted times of simulated rows go to, likewise. */
struct chart *stack_chart(const struct run_rows *rows);

#endif
