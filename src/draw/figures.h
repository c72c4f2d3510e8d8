/* figures.h - models drawn into a rectangle of a canvas, and small figures without a model.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_DRAW_FIGURES_H
#define ATTNSCOPE_DRAW_FIGURES_H

#include "draw/canvas.h"
#include "draw/chart.h"
#include "plan/occupancy.h"

/* ---- models ---- */

/* Series over one axis; cur: index of the cursor, -1: none. NaN is a gap; where something stands in
 * the way its letter stands on the ground. The y axis begins at 0, or is logarithmic when values
 * differ by 50 or more. */
void fig_lines(struct canvas *c, struct rect r, const struct grid_chart *g, int cur);
/* One series over two axes: shade and digits; a letter where a cell is not possible, '?' where it is
 * not known yet. The legend has the letters that occur. The cursor's cell (-1: none) is always in
 * view. */
void fig_heat(struct canvas *c, struct rect r, const struct grid_chart *g, int series, int cx,
              int cy);
/* Times or ratios and their spread on one logarithmic axis, a row each; cur: the cursor's row. */
void fig_intervals(struct canvas *c, struct rect r, const struct spread_chart *s, int cur);
/* Predicted times: a bar of letters each, all on one scale from 0; below, what the letters are, with the shares of the
 * only bar. cur: the cursor's row, -1: none. r.w >= 30; returns the lines used. */
int fig_stack(struct canvas *c, struct rect r, const struct stack_chart *s, int cur);
/* Log-log roofs, each with its name where there are several, with a letter for each point; axes
 * follow the roofs and the zoom alone. The cursor is the number v->x of a kernel. */
void fig_roofs(struct canvas *c, struct rect r, const struct roof_chart *f,
               const struct chart_view *v);
/* Shared memory of a block: a bar with a letter per buffer, the free part up to the limit as dots,
 * the 48 KiB that need no opt-in as ':', and a legend "Ks 64x64 8.0 KiB". r.h >= 2. */
void fig_smem(struct canvas *c, struct rect r, const struct smem_map *m);
/* A letter for each buffer: from its name where one is free, else a digit. */
void smem_letters(const struct smem_buffer *b, int n, char *letters);
/* What the resident blocks take of an SM: three bars with a digit for each block, the block that did
 * not fit hatched up to the wall and, what it lacks, beyond it. What is not known is hatched and has no
 * digit. As far as r.h goes: a line of words above, the change from the state before, words below the
 * bars where they do not fit beside them, and that state as a dashed line. r.w >= 40, r.h >= 3, else
 * nothing. */
void fig_sm(struct canvas *c, struct rect r, const struct sm_panel *p);

/* Samples of one series in bins, a line each; false: too few, or all alike, and nothing is drawn. */
bool fig_histogram(struct canvas *c, struct rect r, const struct sample_chart *s, int series);
/* Its last samples in a line, as fig_spark(). */
void fig_samples(struct canvas *c, struct rect r, const struct sample_series *s);

/* ---- small figures ---- */

/* A number with its unit in large characters, as large as fits the rectangle from its upper left corner on:
 * digits, ". - + e x ?", u, m, s. Returns the lines used; 0: there is no room, or no glyph for it. */
int fig_digits(struct canvas *c, struct rect r, enum role role, const char *text);

/* One line: the last values, scaled between their min and max; x marks a dropped sample (NaN). */
void fig_spark(struct canvas *c, struct rect r, const double *v, int n);
/* A horizontal bar, value of max. */
void fig_bar(struct canvas *c, struct rect r, enum role role, double value, double max);
/* Limits side by side, the reached ones marked: "limit regs 1 <== | smem 2 | ...". r.h >= 1. */
void fig_limits(struct canvas *c, struct rect r, const struct occupancy *o);

#endif
