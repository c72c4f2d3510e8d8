/* figures.c - small figures without a model: sparkline, horizontal bar, occupancy limits.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw/scale.h"
#include "draw/figures.h"

#include <math.h>

#include "base/number.h"

void fig_spark(struct canvas *c, struct rect r, const double *v, int n)
{
    static const char ascii[] = "_.-=^";
    int levels = c->glyphs == GLYPHS_ASCII ? 5 : 8;
    const double *last = n > r.w ? v + n - r.w : v;
    int count = n > r.w ? r.w : n;
    struct range range = RANGE_NONE;
    for (int i = 0; i < count; i++)
        range_add(&range, last[i]);
    for (int i = 0; i < count; i++) {
        if (isnan(last[i])) {
            canvas_put(c, r.x + i, r.y, ROLE_WARN, 'x');
            continue;
        }
        const double share = range.hi > range.lo ? range_share(&range, last[i]) : 0.5;
        const int level = (int)(fmin(fmax(share, 0), 1) * (levels - 1) + 0.5);
        canvas_put(c, r.x + i, r.y, ROLE_ACCENT,
                   levels == 5 ? (uint32_t)ascii[level] : 0x2581u + (uint32_t)level);
    }
}

void fig_bar(struct canvas *c, struct rect r, enum role role, double value, double max)
{
    if (!(max > 0) || !(value >= 0))
        return;
    double cells = fmin(value / max, 1) * r.w;
    int whole = (int)cells, eighths = (int)((cells - whole) * 8);
    if (c->glyphs == GLYPHS_ASCII)
        whole = (int)(cells + 0.5);
    for (int x = 0; x < whole; x++)
        canvas_put(c, r.x + x, r.y, role, c->glyphs == GLYPHS_ASCII ? '#' : 0x2588);
    if (c->glyphs != GLYPHS_ASCII && eighths > 0 && whole < r.w)
        canvas_put(c, r.x + whole, r.y, role, 0x2590u - (uint32_t)eighths); /* 2588..258f */
}

void fig_limits(struct canvas *c, struct rect r, const struct occupancy *o)
{
    const struct {
        const char *name;
        int64_t value;
        unsigned bit;
    } limits[] = {
        {"regs", o->limit_regs, OCC_REGS},
        {"smem", o->limit_smem, OCC_SMEM},
        {"warps", o->limit_warps, OCC_WARPS},
        {"blocks", o->limit_blocks, OCC_BLOCKS},
    };
    int x = r.x, end = r.x + r.w;
    x += canvas_text(c, x, r.y, end - x, ROLE_DIM, "limit ");
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        bool reached = o->limiter & limits[i].bit;
        char buf[NUMBER_BUF];
        if (i > 0)
            x += canvas_text(c, x, r.y, end - x, ROLE_DIM, " | ");
        x += canvas_textf(c, x, r.y, end - x, reached ? ROLE_WARN : ROLE_NORMAL, "%s %s%s",
                          limits[i].name, number_fmt_int(buf, limits[i].value),
                          reached ? " <==" : "");
    }
}
