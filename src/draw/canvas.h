/* canvas.h - a grid of cells on which every figure is drawn once; curses, plain text and SVG are
 * back ends that read it.
 *
 * Drawing outside the grid is clipped. Colours are roles, never numbers. Three glyph tiers: ASCII
 * (no byte above 127), BLOCK (box lines, eighth blocks), BRAILLE.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_DRAW_CANVAS_H
#define ATTNSCOPE_DRAW_CANVAS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum glyphs { GLYPHS_ASCII, GLYPHS_BLOCK, GLYPHS_BRAILLE };

enum role {
    ROLE_NORMAL,
    ROLE_TITLE,
    ROLE_DIM,
    ROLE_FRAME,
    ROLE_ACCENT,
    ROLE_SELECT,
    ROLE_GOOD,
    ROLE_BAD,
    ROLE_WARN,
    ROLE_KEY,
    ROLE_HEAT,
    ROLE_SERIES, /* ROLE_SERIES + 0..5: buffers, kernels */
    ROLE_COUNT = ROLE_SERIES + 6
};

/* The second column of a character that is two columns wide; back ends skip it. */
#define CELL_TAIL 0x110000u

struct cell {
    uint32_t ch; /* code point; 0 is a blank */
    uint8_t role;
    uint8_t lines; /* direction bits of a frame line in this cell: 1 up 2 right 4 down 8 left */
};

struct canvas {
    int w, h;
    enum glyphs glyphs;
    struct cell *cells; /* row-major */
};

struct rect {
    int x, y, w, h;
};

struct canvas *canvas_new(int w, int h, enum glyphs glyphs);
void canvas_free(struct canvas *c);
void canvas_resize(struct canvas *c, int w, int h); /* clears */
void canvas_clear(struct canvas *c);
void canvas_put(struct canvas *c, int x, int y, enum role role, uint32_t ch);
/* Draws UTF-8 (already sanitised) in at most `w` columns (w < 0: to the edge), cut with ".." or an
 * ellipsis; returns the columns used. */
int canvas_text(struct canvas *c, int x, int y, int w, enum role role, const char *utf8);
int canvas_textf(struct canvas *c, int x, int y, int w, enum role role, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
/* Word-wraps into the rectangle; returns the lines used (also when they do not fit). */
int canvas_wrap(struct canvas *c, struct rect r, enum role role, const char *utf8);
/* The same; when the text does not fit, its last line ends with an ellipsis and leaves `reserve`
 * columns free at the right. */
int canvas_wrap_more(struct canvas *c, struct rect r, enum role role, const char *utf8,
                     int reserve);
/* Frames merge where they touch: corners and tees come out right. */
void canvas_hline(struct canvas *c, int x, int y, int w);
void canvas_vline(struct canvas *c, int x, int y, int h);
void canvas_box(struct canvas *c, struct rect r, const char *title);
void canvas_fill(struct canvas *c, struct rect r, enum role role); /* sets the role, keeps text */
void canvas_blank(struct canvas *c, struct rect r);                /* erases: popups go on top */
/* The glyph a cell shows: its character, or the frame line for its direction bits. */
uint32_t canvas_glyph(const struct canvas *c, int x, int y);

/* The grid as lines of text, trailing blanks dropped. */
void canvas_to_text(const struct canvas *c, struct str *out);

#endif
