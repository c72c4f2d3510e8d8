/* row_charts.h - the pictures of a table: those that came with its rows, and those that the rows'
 * fields give.
 *
 * A table is what a command printed (store/recording.h). Sweeps, plans, rooflines and timelines bring
 * the models of their pictures. Measured rows are their own model, and tables of older programs have
 * rows alone; what those can be drawn as follows from the fields of the rows, never from a command. A row
 * with a true member "stale" is of other settings than whoever exports it sees.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_EXPORT_ROW_CHARTS_H
#define ATTNSCOPE_EXPORT_ROW_CHARTS_H

#include "draw/chart.h"
#include "plan/device.h"

/* The pictures that came with a table's rows, and those of other kinds that the rows give. `d` knows
 * limits of devices by name. End *out with charts_clear(). */
void row_charts(const json_t *table, const struct charts *brought, const struct device_table *d,
                struct charts *out);
/* The same for a table that has what came with it as its member "charts". */
void table_charts(const json_t *table, const struct device_table *d, struct charts *out);

/* The times of measured rows as a picture, where they have any. */
void times_charts(const json_t *rows, struct charts *out);
/* Samples of measured rows as a picture; NULL: none has any. The caller owns it. */
struct run_rows;
struct chart *samples_chart(const struct run_rows *rows);

/* What all rows share, and the kernels and devices that they are of, into a caption that is all unknown. */
void rows_caption(const json_t *rows, struct caption *c);

/* "STALE: fa2, measured before the settings changed" where rows are; NULL. The caller frees it. */
char *stale_words(const json_t *rows);

/* "GB/s" for a metric; "" when it has none or is not known. */
const char *metric_unit(const char *metric);

#endif
