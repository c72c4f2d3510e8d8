/* fig_items.c - times and ratios, a row each, with their quartiles or intervals.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "draw/svg.h"
#include "export/figs.h"
#include "export/model.h"
#include "export/scale.h"

static const double width = 760, top = 34, row_h = 32;

struct list {
    const struct model_items *m;
    struct str *out;
    struct scale x;
    double left, right, bottom;
};

/* ---- the axis ---- */

static void range(const struct model_items *m, double *lo, double *hi)
{
    *lo = INFINITY;
    *hi = -INFINITY;
    for (int i = 0; i < m->n; i++) {
        *lo = fmin(fmin(*lo, m->v[i].mid), m->v[i].lo);
        *hi = fmax(fmax(*hi, m->v[i].mid), m->v[i].hi);
    }
}

static double label_width(const struct model_items *m)
{
    double w = 80;
    for (int i = 0; i < m->n; i++)
        w = fmax(w, fmax(svg_width(m->v[i].name, false), svg_width(m->v[i].note, false) * 0.92));
    return fmin(w + 22, 330);
}

static void draw_axis(const struct list *l, const char *title)
{
    double ticks[TICKS_MAX];
    char tick[32];
    const int n = scale_ticks(&l->x, 6, ticks);
    for (int i = 0; i < n; i++) {
        const double x = scale_px(&l->x, ticks[i]);
        svg_line(l->out, x, top, x, l->bottom, "grid");
        svg_text(l->out, x, l->bottom + 16, SVG_MIDDLE, "d s", tick_text(tick, ticks[i]));
    }
    svg_line(l->out, l->left, top, l->left, l->bottom, "axis");
    svg_textf(l->out, l->left, 18, SVG_START, "d", "%s%s", title, l->x.log ? " (logarithmic)" : "");
}

/* ---- rows ---- */

static void draw_label(const struct list *l, const struct model_item *v, double y)
{
    const bool two = *v->note;
    svg_text(l->out, l->left - 12, y + (two ? -2 : 4), SVG_END, v->base ? "b" : "t", v->name);
    if (two)
        svg_text(l->out, l->left - 12, y + 11, SVG_END, "d s", v->note);
}

/* Quartiles or interval as a line with ends. */
static void draw_whisker(const struct list *l, const struct model_item *v, double y,
                         const char *cls)
{
    if (isnan(v->lo))
        return;
    const double a = scale_px(&l->x, v->lo), b = scale_px(&l->x, v->hi);
    svg_line(l->out, a, y, b, y, cls);
    svg_line(l->out, a, y - 4, a, y + 4, cls);
    svg_line(l->out, b, y - 4, b, y + 4, cls);
}

static void draw_value(const struct list *l, const struct model_item *v, double y, int digits)
{
    char mid[NUMBER_BUF];
    const double end = scale_px(&l->x, isnan(v->hi) ? v->mid : fmax(v->hi, v->mid));
    svg_textf(l->out, end + 10, y + 4, SVG_START, "t", "%s%s%s", number_fmt(mid, v->mid, digits),
              *l->m->unit ? " " : "", l->m->unit);
}

static void hint(const struct list *l, const struct model_item *v)
{
    char mid[NUMBER_BUF], lo[NUMBER_BUF], hi[NUMBER_BUF];
    char *text = xasprintf("%s %s: %s, from %s to %s", v->name, v->note, number_fmt(mid, v->mid, 4),
                           number_fmt(lo, v->lo, 4), number_fmt(hi, v->hi, 4));
    svg_hint_begin(l->out, text);
    free(text);
}

/* A bar compares lengths, hence only from zero; on a logarithmic axis it is a point. */
static void draw_time(const struct list *l, const struct model_item *v, double y)
{
    const double x = scale_px(&l->x, v->mid);
    hint(l, v);
    if (!l->x.log)
        svg_rect(l->out, l->left, y - 8, x - l->left, 16, v->base ? "s1" : "s0");
    draw_whisker(l, v, y, l->x.log ? "l0" : "roof thin");
    if (l->x.log)
        svg_mark(l->out, x, y, 0, false);
    svg_hint_end(l->out);
    draw_value(l, v, y, 4);
}

static void draw_ratio(const struct list *l, const struct model_item *v, double y)
{
    const double x = scale_px(&l->x, v->mid);
    const int i = v->base ? 5 : v->hi < 0.99 ? 2 : v->lo > 1.01 ? 1 : 0;
    char cls[8];
    snprintf(cls, sizeof cls, "l%d", i);
    hint(l, v);
    draw_whisker(l, v, y, cls);
    svg_mark(l->out, x, y, i, false);
    svg_hint_end(l->out);
    draw_value(l, v, y, 3);
}

static void draw_rows(const struct list *l,
                      void (*draw)(const struct list *, const struct model_item *, double))
{
    for (int i = 0; i < l->m->n; i++) {
        const struct model_item *v = &l->m->v[i];
        const double y = top + (i + 0.5) * row_h;
        draw_label(l, v, y);
        if (v->text)
            svg_text(l->out, l->left + 10, y + 4, SVG_START,
                     strcmp(v->text, "FAIL") ? "d" : "b bad", v->text);
        else
            draw(l, v, y);
    }
    if (l->m->left_out)
        svg_textf(l->out, l->left, l->bottom + 36, SVG_START, "d s",
                  "and %zu more rows in the table", l->m->left_out);
}

static struct list list_new(const struct model_items *m, struct str *out)
{
    const double w = label_width(m);
    return (struct list){
        .m = m, .out = out, .left = w, .right = width - 96, .bottom = top + m->n * row_h};
}

bool fig_times_draw(const json_t *table, const struct device_table *d, bool alone, struct str *out)
{
    struct model_items m;
    double lo, hi;
    (void)d;
    if (!items_make(table, false, &m))
        return false;
    struct list l = list_new(&m, out);
    range(&m, &lo, &hi);
    l.x =
        hi / lo >= 30 ? scale_log(lo, hi, l.left, l.right) : scale_linear(lo, hi, l.left, l.right);
    svg_begin(out, width, l.bottom + (m.left_out ? 46 : 28), "times with their quartiles", alone);
    draw_axis(&l, "median time with quartiles, \u00b5s");
    draw_rows(&l, draw_time);
    svg_end(out);
    items_free(&m);
    return true;
}

/* The band in which two kernels count as the same. */
static void draw_band(const struct list *l)
{
    const double a = scale_px(&l->x, 0.99), b = scale_px(&l->x, 1.01), one = scale_px(&l->x, 1);
    svg_rect(l->out, a, top, b - a, l->bottom - top, "ghost");
    svg_line(l->out, one, top, one, l->bottom, "axis dash");
}

bool fig_ratios_draw(const json_t *table, const struct device_table *d, bool alone, struct str *out)
{
    struct model_items m;
    double lo, hi;
    (void)d;
    if (!items_make(table, true, &m))
        return false;
    struct list l = list_new(&m, out);
    range(&m, &lo, &hi);
    lo = fmin(lo, 0.97);
    hi = fmax(hi, 1.03);
    l.x = hi / lo < 4 ? scale_near(lo, hi, l.left, l.right) : scale_log(lo, hi, l.left, l.right);
    svg_begin(out, width, l.bottom + (m.left_out ? 46 : 28), "time ratios with their intervals",
              alone);
    draw_band(&l);
    draw_axis(&l, "time over the base's, 95 % interval; grey: the same within 1 %");
    draw_rows(&l, draw_ratio);
    svg_end(out);
    items_free(&m);
    return true;
}
