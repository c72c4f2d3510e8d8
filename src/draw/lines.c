/* lines.c - line plots: several series over one axis, a letter where a point is not possible.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw/figures.h"

#include <math.h>

#include "base/number.h"
#include "draw/axes.h"

static enum role series_role(int i)
{
    return (enum role)(ROLE_SERIES + i % 6);
}

/* From zero on where all is positive: lengths compare only so; y all over decades is logarithmic. */
static bool y_range(const struct fig_lines *f, struct axes *a)
{
    double lo = INFINITY, hi = -INFINITY;
    for (int s = 0; s < f->nseries; s++) {
        for (int i = 0; i < f->n; i++) {
            if (!isfinite(f->series[s].y[i]))
                continue;
            lo = fmin(lo, f->series[s].y[i]);
            hi = fmax(hi, f->series[s].y[i]);
        }
    }
    if (!(hi >= lo)) {
        lo = 0;
        hi = 1;
    }
    bool log = lo > 0 && hi / lo >= 50;
    a->y0 = log ? floor(log10(lo)) : lo > 0 ? 0 : lo;
    a->y1 = log ? ceil(log10(hi)) : hi > a->y0 ? hi : a->y0 + 1;
    if (log && a->y1 <= a->y0)
        a->y1 = a->y0 + 1;
    return log;
}

static double y_at(double y, bool log)
{
    return log ? log10(y) : y;
}

static void draw_series(struct canvas *c, const struct axes *a, const struct fig_lines *f, int s,
                        bool log)
{
    const double *y = f->series[s].y;
    struct dots d;
    dots_init(&d, c, a->r);
    int last = -1;
    for (int i = 0; i < f->n; i++) {
        if (!isfinite(y[i])) {
            last = -1;
            continue;
        }
        if (last >= 0)
            axes_line(&d, a, last, y_at(y[last], log), i, y_at(y[i], log));
        last = i;
    }
    dots_draw(&d, c, series_role(s));
    dots_free(&d);
}

/* One series has round marks; several have letters, which the legend names. */
static char series_letter(const struct fig_lines *f, int s)
{
    return f->nseries > 1 ? (char)('A' + s % 26) : 'o';
}

/* '&' where series meet. */
static void put_point(struct canvas *c, int x, int y, enum role role, char letter)
{
    uint32_t there = canvas_glyph(c, x, y);
    bool taken = (there >= 'A' && there <= 'Z') || there == '&';
    canvas_put(c, x, y, role, taken && there != (uint32_t)letter ? '&' : (uint32_t)letter);
}

static void draw_points(struct canvas *c, const struct axes *a, const struct fig_lines *f, int s,
                        bool log)
{
    for (int i = 0; i < f->n; i++) {
        int x = axes_x(a, i);
        char mark = f->series[s].marks ? f->series[s].marks[i] : 0;
        if (isfinite(f->series[s].y[i]))
            put_point(c, x, axes_y(a, y_at(f->series[s].y[i], log)), series_role(s),
                      series_letter(f, s));
        else if (mark) /* not possible: it stands on the ground, one series above the other */
            canvas_put(c, x, a->r.y + a->r.h - 1 - (s < a->r.h ? s : 0), ROLE_BAD, (uint32_t)mark);
    }
}

static void draw_legend(struct canvas *c, struct rect r, const struct fig_lines *f)
{
    int x = r.x + str_width(f->title) + 3;
    for (int s = 0; s < f->nseries && f->nseries > 1 && x < r.x + r.w; s++)
        x += 2 + canvas_textf(c, x, r.y, r.x + r.w - x, series_role(s), "%c %s",
                              series_letter(f, s), f->series[s].name);
}

/* The cursor: its label below the axis, and a line upward where nothing else is. */
static void draw_cursor(struct canvas *c, const struct axes *a, const struct fig_lines *f)
{
    if (f->cur < 0 || f->cur >= f->n)
        return;
    int x = axes_x(a, f->cur);
    for (int y = a->r.y; y < a->r.y + a->r.h; y++)
        if (!c->cells[y * c->w + x].ch)
            canvas_put(c, x, y, ROLE_DIM, c->glyphs == GLYPHS_ASCII ? ':' : 0x2506);
}

static void x_labels(struct canvas *c, const struct axes *a, const struct fig_lines *f)
{
    int end = a->r.x - 2;
    struct axes b = *a;
    b.r.x = a->r.x - 1;
    b.r.w = a->r.w + 1;
    for (int i = 0; i < f->n; i++)
        if (f->cur < 0 || f->n * 6 < a->r.w || i <= f->cur)
            axes_x_label(c, &b, axes_x(a, i), &end, i == f->cur ? ROLE_ACCENT : ROLE_DIM,
                         f->xtexts[i]);
}

void fig_lines(struct canvas *c, struct rect r, const struct fig_lines *f)
{
    if (f->n < 1 || r.w < 24 || r.h < 6)
        return;
    struct axes a = {.r = {r.x + AXES_LEFT, r.y + 1, r.w - AXES_LEFT, r.h - 3}};
    a.x0 = f->n > 1 ? 0 : -1;
    a.x1 = f->n > 1 ? f->n - 1 : 1;
    bool log = y_range(f, &a);
    axes_draw(c, &a);
    canvas_text(c, r.x, r.y, r.w, ROLE_DIM, f->title);
    draw_legend(c, r, f);
    axes_y_label(c, &a, a.r.y, log ? pow(10, a.y1) : a.y1);
    axes_y_label(c, &a, a.r.y + a.r.h - 1, log ? pow(10, a.y0) : a.y0);
    for (double d = a.y0 + 1; log && d < a.y1; d++)
        axes_y_label(c, &a, axes_y(&a, d), pow(10, d));
    x_labels(c, &a, f);
    for (int s = 0; s < f->nseries; s++)
        draw_series(c, &a, f, s, log);
    draw_cursor(c, &a, f);
    for (int s = 0; s < f->nseries; s++)
        draw_points(c, &a, f, s, log);
}
