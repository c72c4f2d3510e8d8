/* scale.c - the range of an axis, its ticks, and values as pixels.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw/scale.h"

#include <math.h>
#include <stdio.h>

void range_add(struct range *r, double v)
{
    if (!isfinite(v))
        return;
    r->lo = fmin(r->lo, v);
    r->hi = fmax(r->hi, v);
}

bool range_known(const struct range *r)
{
    return r->hi >= r->lo;
}

double range_share(const struct range *r, double v)
{
    if (!(r->hi > r->lo))
        return 1;
    const double share =
        r->log ? log(v / r->lo) / log(r->hi / r->lo) : (v - r->lo) / (r->hi - r->lo);
    return share >= 2 ? 2 : share >= -1 ? share : -1; /* NaN of infinite ends, too */
}

double scale_px(const struct scale *s, double v)
{
    return s->from + range_share(&s->range, v) * (s->to - s->from);
}

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

static int log_ticks(const struct range *r, int wanted, double out[TICKS_MAX])
{
    static const double steps[] = {1, 2, 5};
    const double decades = log10(r->hi) - log10(r->lo);
    const int every = decades > wanted ? (int)ceil(decades / wanted) : 1;
    const int dense = decades * 3 <= wanted + 3 ? 3 : 1;
    int n = 0, first = (int)floor(log10(r->lo) + 1e-9);
    for (int d = first; n < TICKS_MAX && d <= (int)ceil(log10(r->hi)); d += every)
        for (int i = 0; i < dense && n < TICKS_MAX; i++) {
            const double v = steps[i] * pow(10, d);
            if (v >= r->lo * (1 - 1e-9) && v <= r->hi * (1 + 1e-9))
                out[n++] = v;
        }
    return n;
}

int range_ticks(const struct range *r, int wanted, double out[TICKS_MAX])
{
    if (!(r->hi > r->lo) || !isfinite(r->hi - r->lo))
        return 0;
    if (r->log)
        return r->lo > 0 ? log_ticks(r, wanted, out) : 0;
    const double step = round_up((r->hi - r->lo) / wanted);
    int n = 0;
    for (double v = ceil(r->lo / step - 1e-9) * step; v <= r->hi + step * 1e-6 && n < TICKS_MAX;
         v += step)
        out[n++] = fabs(v) < step * 1e-9 ? 0 : v;
    return n;
}

int range_ticks_125(const struct range *r, double out[TICKS_MAX])
{
    static const double steps[] = {1, 2, 5};
    int n = 0;
    for (int e = -3; e <= 12; e++)
        for (int k = 0; k < 3 && n < TICKS_MAX; k++) {
            const double t = steps[k] * pow(10, e);
            if (t >= r->lo && t <= r->hi)
                out[n++] = t;
        }
    if (n)
        return n;
    for (; n < 4; n++)
        out[n] = r->lo * exp(log(r->hi / r->lo) * n / 3);
    return n;
}

const char *tick_text(char buf[32], double v)
{
    snprintf(buf, 32, fabs(v) < 1e9 ? "%.9g" : "%.3g", v);
    return buf;
}
