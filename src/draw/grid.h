/* grid.h - what line plots and heat maps share of their model.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_DRAW_GRID_H
#define ATTNSCOPE_DRAW_GRID_H

#include "draw/chart.h"
#include "draw/scale.h"

enum { GRID_SERIES = 64, GRID_POINTS = 512, GRID_CELLS = 4096 };
extern const struct chart_layout grid_layout, grid_text_layout;

/* Are there names and texts for all, and cells for every point? */
bool grid_sound(const struct grid_chart *g);
/* The values of one series, of all (-1); logarithmic where they differ by 50 or more. */
struct range grid_range(const struct grid_chart *g, int series);
/* "fa2, BR=32 BC=64: <=50 %" or why there is none. The caller frees it. */
char *grid_cell_hint(const struct grid_chart *g, int series, int x, int y);

#endif
