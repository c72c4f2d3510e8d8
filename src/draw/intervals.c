/* intervals.c - times with their spread on one logarithmic axis: what overlaps is seen to overlap.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw/figures.h"

#include <math.h>
#include <stdio.h>

#include "base/number.h"
#include "draw/axes.h"

static bool has_time(const struct fig_interval *v)
{
    return v->mid > 0 && isfinite(v->mid);
}

/* Ends a little beyond the data; at least 2 % wide, so that equal times do not fill the axis. */
static bool find_range(const struct fig_interval *v, int n, double *lo, double *hi)
{
    *lo = INFINITY;
    *hi = -INFINITY;
    for (int i = 0; i < n; i++) {
        if (!has_time(&v[i]))
            continue;
        *lo = fmin(*lo, v[i].lo > 0 ? v[i].lo : v[i].mid);
        *hi = fmax(*hi, v[i].hi > 0 ? v[i].hi : v[i].mid);
    }
    if (!(*hi >= *lo))
        return false;
    double pad = fmax((log(*hi) - log(*lo)) * 0.06, 0.01);
    *lo = log(*lo) - pad;
    *hi = log(*hi) + pad;
    return true;
}

/* 1, 2, 5 times powers of ten where the range has at least two of them, else four even steps. */
static void draw_ticks(struct canvas *c, const struct axes *a)
{
    static const double steps[] = {1, 2, 5};
    char b[NUMBER_BUF];
    int end = a->r.x - 2, n = 0;
    for (int pass = 0; pass < 2 && n < 2; pass++) {
        for (int e = -3; e <= 12 && pass == 0; e++)
            for (int k = 0; k < 3; k++) {
                double t = steps[k] * pow(10, e);
                if (log(t) < a->x0 || log(t) > a->x1)
                    continue;
                axes_x_label(c, a, axes_x(a, log(t)), &end, ROLE_DIM, number_fmt_us(b, t));
                n++;
            }
        for (int i = 0; i <= 3 && pass == 1 && n == 0; i++)
            axes_x_label(c, a, axes_x(a, a->x0 + (a->x1 - a->x0) * i / 3), &end, ROLE_DIM,
                         number_fmt_us(b, exp(a->x0 + (a->x1 - a->x0) * i / 3)));
    }
}

static void draw_interval(struct canvas *c, const struct axes *a, const struct fig_interval *v,
                          int y)
{
    bool ascii = c->glyphs == GLYPHS_ASCII;
    enum role role = v->dim ? ROLE_DIM : v->base ? ROLE_ACCENT : ROLE_SERIES;
    if (!has_time(v)) {
        canvas_text(c, a->r.x + 1, y, a->r.w - 1, v->bad ? ROLE_BAD : ROLE_DIM, v->text);
        return;
    }
    int from = axes_x(a, log(v->lo > 0 ? v->lo : v->mid)),
        to = axes_x(a, log(v->hi > 0 ? v->hi : v->mid)), mid = axes_x(a, log(v->mid));
    for (int x = from; x <= to; x++)
        canvas_put(c, x, y, role, ascii ? '=' : 0x2501);
    canvas_put(c, mid, y, role, ascii ? '#' : 0x25cf);
}

void fig_intervals(struct canvas *c, struct rect r, const struct fig_interval *v, int n, int cur)
{
    struct axes a = {.x1 = 1, .y1 = 1};
    int name = 8;
    if (r.w < 24 || r.h < 2)
        return;
    for (int i = 0; i < n; i++) {
        int w = str_width(v[i].name) + 2;
        name = w > name ? w : name;
    }
    if (name > r.w / 3)
        name = r.w / 3;
    a.r = (struct rect){r.x + name + 1, r.y, r.w - name - 1, r.h - 1};
    if (find_range(v, n, &a.x0, &a.x1)) {
        a.r.h = r.h - 2; /* the labels stand a line below the area's end */
        draw_ticks(c, &a);
    }
    int shown = r.h - 1, top = cur >= shown ? cur - shown + 1 : 0;
    canvas_vline(c, a.r.x - 1, r.y, shown < n - top ? shown : n - top);
    for (int i = top; i < n && i - top < shown; i++) {
        int y = r.y + i - top;
        canvas_text(c, r.x, y, 1, ROLE_ACCENT, i == cur ? ">" : v[i].base ? "*" : " ");
        canvas_text(c, r.x + 1, y, name - 1, v[i].dim ? ROLE_DIM : ROLE_NORMAL, v[i].name);
        draw_interval(c, &a, &v[i], y);
    }
}
