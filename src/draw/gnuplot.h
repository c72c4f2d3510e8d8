/* gnuplot.h - the words of a gnuplot script.
 *
 * gnuplot runs what stands between backquotes, and lines that begin with an exclamation mark; of
 * foreign text only letters, digits and a few harmless signs get in.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_DRAW_GNUPLOT_H
#define ATTNSCOPE_DRAW_GNUPLOT_H

#include "base/str.h"
#include "draw/chart.h"
#include "draw/scale.h"

/* How to show the script, and the caption as its title. Every picture begins with it. */
void gp_head(struct str *out, const struct caption *c);
/* Begins n plots, one below the other, under the caption. */
void gp_multiplot(struct str *out, const struct caption *c, int n);
/* A text between double quotes. NULL: "". */
void gp_quoted(struct str *out, const char *text);
/* "text" AT, a label of an axis: gnuplot takes per cent signs there as formats. */
void gp_tick(struct str *out, const char *text, int at);
/* A blank and a number; NaN where it is not known. */
void gp_value(struct str *out, double v);
/* "set LETTERrange [lo:hi]", logarithmic where the range is, with ticks at `ticks` (n of them). */
void gp_range(struct str *out, const char *letter, const struct range *r, const double *ticks,
              int n);
/* "set LETTERtics ("a" 0, "b" 1)" behind "set LETTERlabel NAME". */
void gp_texts(struct str *out, const char *letter, const char *name, const struct grid_text *texts,
              int n);
/* "set WHAT "metric, unit"". */
void gp_label(struct str *out, const char *what, const char *metric, const char *unit);

#endif
