/* figure.h - tables as vector pictures, and as data for gnuplot.
 *
 * A table is what a command printed (store/recording.h): command, columns, rows. What it can be
 * drawn as follows from its rows alone, so that a table of this session, of a recording and of a
 * stranger's file are drawn alike.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_EXPORT_FIGURE_H
#define ATTNSCOPE_EXPORT_FIGURE_H

#include <jansson.h>

#include "base/str.h"
#include "plan/device.h"

struct figure {
    const char *name; /* NULL ends the table */
    const char *doc;  /* one line, for help and completion */
    /* Appends the picture of the table; false, and nothing, where it has none of this kind. `d` knows
     * limits and roofs by device name. */
    bool (*draw)(const json_t *table, const struct device_table *d, bool alone, struct str *out);
};
extern const struct figure figures[];

/* By name; NULL when there is none. */
const struct figure *figure_find(const char *name);
const char *figure_name(const void *unused, size_t i); /* str_list_fn */
/* Draws the table as what suits it first in the order of `figures`, or only as `want`. The figure, or
 * NULL where it has none. */
const struct figure *figure_draw(const json_t *table, const struct figure *want,
                                 const struct device_table *d, bool alone, struct str *out);
/* A gnuplot script with its data in it; false where the table has no plot of two axes or bars. */
bool figure_gnuplot(const json_t *table, struct str *out);

#endif
