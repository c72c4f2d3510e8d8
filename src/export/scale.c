/* scale.c - from values to pixels.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/scale.h"

#include <math.h>
#include <stdio.h>

/* 1, 2 or 5 times a power of ten: the first at or above v. */
static double round_up(double v)
{
    const double power = pow(10, floor(log10(v)));
    const double steps[] = {1, 2, 5, 10};
    for (int i = 0; i < 4; i++)
        if (v <= steps[i] * power * (1 + 1e-9))
            return steps[i] * power;
    return 10 * power;
}

static double round_down(double v)
{
    const double power = pow(10, floor(log10(v) + 1e-9));
    return v >= 5 * power * (1 - 1e-9)   ? 5 * power
           : v >= 2 * power * (1 - 1e-9) ? 2 * power
                                         : power;
}

struct scale scale_linear(double lo, double hi, double from, double to)
{
    if (lo > 0)
        lo = 0;
    lo = fmax(lo, -1e290);
    hi = fmin(hi, 1e290);
    if (!(hi > lo))
        hi = lo + 1;
    const double step = round_up((hi - lo) / 5);
    return (struct scale){.lo = floor(lo / step) * step,
                          .hi = ceil(hi / step * (1 - 1e-9)) * step,
                          .from = from,
                          .to = to};
}

struct scale scale_near(double lo, double hi, double from, double to)
{
    const double step = round_up(fmax((hi - lo) / 5, 1e-9));
    return (struct scale){
        .lo = floor(lo / step) * step, .hi = ceil(hi / step) * step, .from = from, .to = to};
}

/* Beyond these a power of ten is no number any more. */
static double bounded(double v)
{
    return fmin(fmax(v, 1e-290), 1e290);
}

struct scale scale_log(double lo, double hi, double from, double to)
{
    lo = bounded(lo);
    hi = bounded(hi);
    struct scale s = {
        .lo = round_down(lo), .hi = round_up(hi), .from = from, .to = to, .log = true};
    if (!(s.hi > s.lo))
        s.hi = s.lo * 10;
    return s;
}

double scale_px(const struct scale *s, double v)
{
    const double share =
        s->log ? (log(v) - log(s->lo)) / (log(s->hi) - log(s->lo)) : (v - s->lo) / (s->hi - s->lo);
    return s->from + share * (s->to - s->from);
}

static int log_ticks(const struct scale *s, int wanted, double out[TICKS_MAX])
{
    static const double steps[] = {1, 2, 5};
    const double decades = log10(s->hi) - log10(s->lo);
    const int every = decades > wanted ? (int)ceil(decades / wanted) : 1;
    const int dense = decades * 3 <= wanted + 3 ? 3 : 1;
    int n = 0, first = (int)floor(log10(s->lo) + 1e-9);
    for (int d = first; n < TICKS_MAX && d <= (int)ceil(log10(s->hi)); d += every)
        for (int i = 0; i < dense && n < TICKS_MAX; i++) {
            const double v = steps[i] * pow(10, d);
            if (v >= s->lo * (1 - 1e-9) && v <= s->hi * (1 + 1e-9))
                out[n++] = v;
        }
    return n;
}

int scale_ticks(const struct scale *s, int wanted, double out[TICKS_MAX])
{
    if (s->log)
        return log_ticks(s, wanted, out);
    const double step = round_up((s->hi - s->lo) / wanted);
    int n = 0;
    for (double v = ceil(s->lo / step - 1e-9) * step; v <= s->hi + step * 1e-6 && n < TICKS_MAX;
         v += step)
        out[n++] = fabs(v) < step * 1e-9 ? 0 : v;
    return n;
}

const char *tick_text(char buf[32], double v)
{
    snprintf(buf, 32, fabs(v) < 1e9 ? "%.9g" : "%.3g", v);
    return buf;
}
