/* scale.h - from values to pixels: linear or logarithmic, with ticks at round numbers.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_EXPORT_SCALE_H
#define ATTNSCOPE_EXPORT_SCALE_H

#include <stdbool.h>

#include "base/str.h"

struct scale {
    double lo, hi;   /* values at the ends, after rounding outward */
    double from, to; /* pixels there */
    bool log;
};
enum { TICKS_MAX = 24 };

/* Linear from 0 (or from lo, where that is below 0) to a round number above hi. */
struct scale scale_linear(double lo, double hi, double from, double to);
/* Linear around values that are near each other, above 0 and below 1e9; need not show 0. */
struct scale scale_near(double lo, double hi, double from, double to);
/* Logarithmic, to the next of 1, 2, 5 times a power of ten outside lo and hi, which are above 0. */
struct scale scale_log(double lo, double hi, double from, double to);
double scale_px(const struct scale *s, double v);
/* Round values within the scale, at most TICKS_MAX; returns how many. */
int scale_ticks(const struct scale *s, int wanted, double out[TICKS_MAX]);
/* A tick as text: "0.4", "10000". */
const char *tick_text(char buf[32], double v);

#endif
