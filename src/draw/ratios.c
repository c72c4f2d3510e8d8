/* ratios.c - times or ratios with their spread on one logarithmic axis: what overlaps is seen to
 * overlap.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/number.h"
#include "draw/axes.h"
#include "draw/figures.h"
#include "draw/gnuplot.h"
#include "draw/spread.h"
#include "draw/svg.h"

static bool is_ratio(const struct spread_chart *s)
{
    return !s->unit || !*s->unit;
}

/* Ends a little beyond the data; at least 2 % wide, so that equal times do not fill the axis. Ratios
 * show 1 and the band in which two kernels count as the same. */
static bool find_range(const struct spread_chart *s, struct range *out)
{
    *out = spread_range(s);
    if (!range_known(out))
        return false;
    if (is_ratio(s)) {
        range_add(out, 0.97);
        range_add(out, 1.03);
    }
    const double pad = fmax((log(out->hi) - log(out->lo)) * 0.06, 0.01);
    *out = (struct range){exp(log(out->lo) - pad), exp(log(out->hi) + pad), true};
    return true;
}

static bool ratios_sound(const void *model)
{
    return spread_sound(model) && is_ratio(model);
}

/* ---- cells ---- */

static void draw_ticks(struct canvas *c, const struct axes *a, const struct range *r, bool ratio)
{
    double ticks[TICKS_MAX];
    char b[NUMBER_BUF];
    int end = a->r.x - 2;
    const int n = range_ticks_125(r, ticks);
    for (int i = 0; i < n; i++)
        axes_x_label(c, a, axes_x(a, log(ticks[i])), &end, ROLE_DIM,
                     ratio ? number_fmt(b, ticks[i], 3) : number_fmt_us(b, ticks[i]));
}

/* Behind the interval, or before it where there is more room. */
static void draw_open(struct canvas *c, const struct axes *a, int from, int to, int y)
{
    const int w = str_width(SPREAD_OPEN), end = a->r.x + a->r.w;
    const int x = to + 2 + w <= end ? to + 2 : from - 1 - w;
    if (x > a->r.x)
        canvas_text(c, x, y, w, ROLE_DIM, SPREAD_OPEN);
}

static void draw_interval(struct canvas *c, const struct axes *a, const struct spread_item *v,
                          int y)
{
    bool ascii = c->glyphs == GLYPHS_ASCII;
    enum role role = v->stale ? ROLE_DIM : v->base ? ROLE_ACCENT : ROLE_SERIES;
    if (!spread_has(v)) {
        canvas_text(c, a->r.x + 1, y, a->r.w - 1, v->bad ? ROLE_BAD : ROLE_DIM,
                    v->text ? v->text : "");
        return;
    }
    int from = axes_x(a, log(v->lo > 0 ? v->lo : v->mid)),
        to = axes_x(a, log(v->hi > 0 ? v->hi : v->mid)), mid = axes_x(a, log(v->mid));
    for (int x = from; x <= to; x++)
        canvas_put(c, x, y, role, ascii ? '=' : 0x2501);
    canvas_put(c, mid, y, role, ascii ? '#' : 0x25cf);
    if (v->bound)
        canvas_text(c, to + 1, y, a->r.x + a->r.w - to - 1, role, v->bound);
    if (v->open)
        draw_open(c, a, from, to, y);
}

void fig_intervals(struct canvas *c, struct rect r, const struct spread_chart *s, int cur)
{
    struct axes a = {.x1 = 1, .y1 = 1};
    struct range range;
    const int n = s->n;
    int name = 8;
    if (r.w < 24 || r.h < 2)
        return;
    for (int i = 0; i < n; i++) {
        int w = str_width(s->items[i].name) + 2;
        name = w > name ? w : name;
    }
    if (name > r.w / 3)
        name = r.w / 3;
    a.r = (struct rect){r.x + name + 1, r.y, r.w - name - 1, r.h - 1};
    if (find_range(s, &range)) {
        a.x0 = log(range.lo);
        a.x1 = log(range.hi);
        a.r.h = r.h - 2; /* the labels stand a line below the area's end */
        draw_ticks(c, &a, &range, is_ratio(s));
    }
    int shown = r.h - 1, top = cur >= shown ? cur - shown + 1 : 0;
    canvas_vline(c, a.r.x - 1, r.y, shown < n - top ? shown : n - top);
    for (int i = top; i < n && i - top < shown; i++) {
        const struct spread_item *v = &s->items[i];
        int y = r.y + i - top;
        canvas_text(c, r.x, y, 1, ROLE_ACCENT, i == cur ? ">" : v->base ? "*" : " ");
        canvas_text(c, r.x + 1, y, name - 1, v->stale ? ROLE_DIM : ROLE_NORMAL, v->name);
        draw_interval(c, &a, v, y);
    }
}

static void intervals_cells(struct canvas *c, struct rect r, const void *model,
                            const struct chart_view *v)
{
    fig_intervals(c, r, model, v->y);
}

/* ---- SVG and gnuplot ---- */

/* The band in which two kernels count as the same. */
static void draw_band(const struct spread_svg *f)
{
    const double a = scale_px(&f->x, 0.99), b = scale_px(&f->x, 1.01), one = scale_px(&f->x, 1);
    if (!is_ratio(f->s))
        return;
    svg_rect(f->out, a, f->top, b - a, f->bottom - f->top, "ghost");
    svg_line(f->out, one, f->top, one, f->bottom, "axis dash");
}

static void draw_row(const struct spread_svg *f, const struct spread_item *v, double y)
{
    const bool ratio = is_ratio(f->s);
    const int i = v->base || v->stale ? 5
                  : !ratio || v->open ? 0
                  : v->hi < 0.99      ? 2
                  : v->lo > 1.01      ? 1
                                      : 0;
    const char *const lines[] = {"l0", "l1", "l2", "l3", "l4", "l5"};
    spread_svg_whisker(f, v, y, lines[i]);
    svg_mark(f->out, scale_px(&f->x, v->mid), y, i, v->stale || v->bound || v->open);
}

static void intervals_svg(struct str *out, const struct chart *c, bool alone)
{
    const struct spread_chart *s = c->model;
    struct spread_svg f = {.out = out};
    double ticks[TICKS_MAX];
    struct range r;
    if (!find_range(s, &r))
        return;
    char title[256];
    snprintf(title, sizeof title, "%s%s%s", s->title, is_ratio(s) ? "" : ", ", svg_unit(s->unit));
    spread_svg_begin(&f, c, &r, ticks, range_ticks_125(&r, ticks), title, alone, draw_band);
    spread_svg_rows(&f, draw_row);
}

static void intervals_gnuplot(struct str *out, const struct chart *c)
{
    const struct spread_chart *s = c->model;
    double ticks[TICKS_MAX];
    struct range r;
    if (!find_range(s, &r))
        return;
    spread_gnuplot(out, c, &r, ticks, range_ticks_125(&r, ticks), s->title);
    str_add(out, "plot $data using 1:2:3:4 with yerrorbars pt 7 notitle, \\\n"
                 "     $data using 1:5:6 with labels offset 0,1 notitle\n");
}

const struct chart_kind chart_ratios = {
    .name = "ratios",
    .doc = "compare: time ratios with their intervals",
    .layout = &spread_layout,
    .sound = ratios_sound,
    .cells = intervals_cells,
    .svg = intervals_svg,
    .gnuplot = intervals_gnuplot,
};
