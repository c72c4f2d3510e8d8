/* dots.h - a grid of dots finer than the cells, for lines in plots: quadrants in the block tier,
 * braille in the braille tier, one dot a cell in ASCII.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_DRAW_DOTS_H
#define ATTNSCOPE_DRAW_DOTS_H

#include "draw/canvas.h"

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

#endif
