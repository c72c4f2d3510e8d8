/* axes.h - a plot area with its two axes, and the dots of its lines; what line plot, roofline and interval chart share.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_DRAW_AXES_H
#define ATTNSCOPE_DRAW_AXES_H

#include "draw/canvas.h"

/* ---- A grid of dots finer than the cells: quadrants in the block tier, braille in the braille tier, one dot a cell in
 * ASCII. ---- */

struct dots {
    struct rect r; /* in cells */
    int sx, sy;    /* dots per cell */
    uint8_t *bits; /* one byte a cell */
};

void dots_init(struct dots *d, const struct canvas *c, struct rect r);
void dots_free(struct dots *d);
/* Points are shares of the rectangle, 0..1 from its lower left corner; clipped. */
void dots_line(struct dots *d, double x0, double y0, double x1, double y1);
/* Puts every cell with a dot onto the canvas. */
void dots_draw(const struct dots *d, struct canvas *c, enum role role);

/* ---- The area and its axes. ---- */

enum { AXES_LEFT = 9 }; /* columns left of the plot area: label and axis */

struct axes {
    struct rect r; /* the plot area in cells */
    double x0, x1, y0, y1;
};

/* Where a value is among the cells; may lie outside the area. */
int axes_x(const struct axes *a, double x);
int axes_y(const struct axes *a, double y);
bool axes_inside(const struct axes *a, double x, double y);
/* A line between two points, cut off at the area's edge. */
void axes_line(struct dots *d, const struct axes *a, double x0, double y0, double x1, double y1);
/* The lines left of and below the area. */
void axes_draw(struct canvas *c, const struct axes *a);
/* A number right of which the axis stands. */
void axes_y_label(struct canvas *c, const struct axes *a, int y, double value);
/* Centred below column x, unless it would touch what ends at *end, which then moves on. */
void axes_x_label(struct canvas *c, const struct axes *a, int x, int *end, enum role role,
                  const char *text);

#endif
