/* svg.h - vector pictures: shapes with classes, and the canvas as a back end of its own.
 *
 * Colours are classes, never numbers: one table gives each its colour on light and on dark ground,
 * and the reader's own setting (prefers-color-scheme) chooses. Text is real text. No scripts, no
 * fonts, no outside address, no ids, so that pictures can stand in one page without meeting.
 *
 * Classes of shapes: s0..s5 series (fill), l0..l5 (line), h0..h8 shades of a heat map and k0..k8 the
 * text on them, good bad warn (fill), grid axis roof (line), panel (ground), ghost (free space).
 * Of text: t, d (dim), b (bold), m (monospaced; with one of the others), on (upon a series colour).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_DRAW_SVG_H
#define ATTNSCOPE_DRAW_SVG_H

#include "base/str.h"
#include "draw/canvas.h"

enum { SVG_SERIES = 6, SVG_SHADES = 9 };

/* Appends foreign text, sanitised and escaped for the inside of an element or an attribute. */
void xml_text(struct str *out, const char *text);

/* Opens a picture of w x h pixels. `alone`: a file of its own, with its style; else a page brings
 * svg_style() once. `title` says what is seen, for who cannot see it. Close with svg_end(). */
void svg_begin(struct str *out, double w, double h, const char *title, bool alone);
void svg_end(struct str *out);
/* The style sheet of all classes; `scope` stands before every selector ("", "figure "). */
void svg_style(struct str *out, const char *scope);

void svg_rect(struct str *out, double x, double y, double w, double h, const char *classes);
void svg_line(struct str *out, double x0, double y0, double x1, double y1, const char *classes);
/* A line through n points; NaN breaks it. */
void svg_path(struct str *out, const double *x, const double *y, int n, const char *classes);
/* The mark of series i at a point: its form differs as well as its colour. */
void svg_mark(struct str *out, double x, double y, int i, bool hollow);
enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };
void svg_text(struct str *out, double x, double y, enum svg_anchor anchor, const char *classes,
              const char *text);
void svg_textf(struct str *out, double x, double y, enum svg_anchor anchor, const char *classes,
               const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* Cut between words into lines of `width` pixels, one below the other; how many. `out` NULL: they are counted alone. */
#define SVG_LINE 16
int svg_wrap(struct str *out, double x, double y, double width, const char *classes,
             const char *text);
/* What a pointer that rests on the shapes between them gets to read. */
void svg_hint_begin(struct str *out, const char *text);
void svg_hint_end(struct str *out);
/* About how wide a text is at the usual size, in pixels; monospaced if `mono`. */
double svg_width(const char *text, bool mono);

/* A unit as people write it: "us" with its own letter; NULL: "". */
const char *svg_unit(const char *unit);

/* The cells of a canvas as text in a grid, each run of one role an element. */
void canvas_to_svg(const struct canvas *c, const char *title, bool alone, struct str *out);

#endif
