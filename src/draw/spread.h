/* spread.h - what bars and intervals share: rows with a middle and its spread, a line each.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_DRAW_SPREAD_H
#define ATTNSCOPE_DRAW_SPREAD_H

#include "base/number.h"
#include "draw/chart.h"
#include "draw/scale.h"

enum { SPREAD_ITEMS = 200 };
extern const struct chart_layout spread_layout;
bool spread_sound(const void *model);

/* Has it a place on the axis? */
bool spread_has(const struct spread_item *v);
/* From the least to the greatest end of all items. */
struct range spread_range(const struct spread_chart *s);
/* Stands beside a ratio that has no winner. */
#define SPREAD_OPEN "AMBIGUOUS"
enum { SPREAD_VALUE = NUMBER_BUF + 24 }; /* bytes for the next one's words */
/* "<=12.3 us"; "12.3" where it is a ratio, "0.93 AMBIGUOUS" of one without a winner. The unit as `unit` has it. */
void spread_value(const struct spread_item *v, const char *unit, int digits, char *out,
                  size_t size);

/* The frame of an SVG picture of rows: names left of the axis, a line each. */
struct spread_svg {
    const struct spread_chart *s;
    struct str *out;
    struct scale x;
    double left, right, top, bottom;
};
enum { SPREAD_ROW_H = 32 };
/* Opens the picture with its axis at `ticks`; `under` (NULL: nothing) draws what lies below the rows. */
void spread_svg_begin(struct spread_svg *f, const struct chart *c, const struct range *r,
                      const double *ticks, int n, const char *title, bool alone,
                      void (*under)(const struct spread_svg *f));
/* All rows; `draw` draws one that has a place. Then closes the picture. */
void spread_svg_rows(const struct spread_svg *f,
                     void (*draw)(const struct spread_svg *f, const struct spread_item *v,
                                  double y));
/* Its spread as a line with ends. */
void spread_svg_whisker(const struct spread_svg *f, const struct spread_item *v, double y,
                        const char *classes);
/* The data of all rows as "$data", and their names as ticks of the x axis. */
void spread_gnuplot(struct str *out, const struct chart *c, const struct range *r,
                    const double *ticks, int n, const char *title);

#endif
