/* axes.c - see axes.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw/axes.h"

#include <stdio.h>

#include "base/number.h"

static double share(double v, double lo, double hi)
{
    return (v - lo) / (hi - lo);
}

/* Rounded to a cell, and kept small where the value is far away; what is no number is far at the left. */
static int cell(double share_of, int cells)
{
    double at = share_of * (cells - 1) + 0.5;
    return !(at >= -999) ? -999 : at > 9999 ? 9999 : (int)(at < 0 ? at - 1 : at);
}

int axes_x(const struct axes *a, double x)
{
    return a->r.x + cell(share(x, a->x0, a->x1), a->r.w);
}

int axes_y(const struct axes *a, double y)
{
    return a->r.y + cell(1 - share(y, a->y0, a->y1), a->r.h);
}

bool axes_inside(const struct axes *a, double x, double y)
{
    return x >= a->x0 && x <= a->x1 && y >= a->y0 && y <= a->y1;
}

void axes_line(struct dots *d, const struct axes *a, double x0, double y0, double x1, double y1)
{
    dots_line(d, share(x0, a->x0, a->x1), share(y0, a->y0, a->y1), share(x1, a->x0, a->x1),
              share(y1, a->y0, a->y1));
}

void axes_draw(struct canvas *c, const struct axes *a)
{
    canvas_vline(c, a->r.x - 1, a->r.y, a->r.h + 1);
    canvas_hline(c, a->r.x - 1, a->r.y + a->r.h, a->r.w + 1);
}

void axes_y_label(struct canvas *c, const struct axes *a, int y, double value)
{
    char buf[NUMBER_BUF];
    enum { W = AXES_LEFT - 2 };
    number_fmt(buf, value, 3);
    if (str_width(buf) > W) /* a figure that is cut is another figure */
        snprintf(buf, sizeof buf, "%.2g", value);
    canvas_textf(c, a->r.x - 1 - W - 1, y, W, ROLE_DIM, "%*s", W, buf);
}

void axes_x_label(struct canvas *c, const struct axes *a, int x, int *end, enum role role,
                  const char *text)
{
    int w = str_width(text);
    int at = x - w / 2;
    if (at < a->r.x)
        at = a->r.x;
    if (at + w > a->r.x + a->r.w)
        at = a->r.x + a->r.w - w;
    if (at <= *end)
        return;
    canvas_text(c, at, a->r.y + a->r.h + 1, w, role, text);
    *end = at + w;
}
