/* scale.h - the range of an axis, its ticks, and values as pixels. All back ends of a picture ask
 * here, so that they show the same range.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_DRAW_SCALE_H
#define ATTNSCOPE_DRAW_SCALE_H

#include <stdbool.h>

struct range {
    double lo, hi;
    bool log;
};
/* Grows to take v in; NaN and infinities change nothing. Begin with RANGE_NONE. */
#define RANGE_NONE ((struct range){.lo = __builtin_inf(), .hi = -__builtin_inf()})
void range_add(struct range *r, double v);
/* Does it hold a value? */
bool range_known(const struct range *r);
/* Where v stands, 0 at lo, 1 at hi; never further than one range outside, and always a number. */
double range_share(const struct range *r, double v);

enum { TICKS_MAX = 24 };
/* Round values within the range, about `wanted`, at most TICKS_MAX; returns how many. */
int range_ticks(const struct range *r, int wanted, double out[TICKS_MAX]);
/* 1, 2, 5 times powers of ten within a logarithmic range; four even steps where there is none. */
int range_ticks_125(const struct range *r, double out[TICKS_MAX]);
/* A tick as text: "0.4", "10000". */
const char *tick_text(char buf[32], double v);

/* A range laid along pixels. */
struct scale {
    struct range range;
    double from, to; /* pixels at lo and hi */
};
double scale_px(const struct scale *s, double v);

#endif
