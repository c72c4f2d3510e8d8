/* fig_lines.c - series over one axis as a line plot.
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

static const double width = 760, left = 66, top = 34, plot_h = 280;

struct plot {
    const struct model *m;
    struct str *out;
    struct scale y;
    double right; /* of the plot area */
};

/* ---- axes ---- */

/* From zero, unless values differ so much that the small ones would lie on the ground. */
static struct scale y_scale(const struct model *m)
{
    double lo = INFINITY, hi = -INFINITY;
    for (int s = 0; s < m->nseries; s++)
        for (int i = 0; i < m->nx; i++) {
            lo = fmin(lo, m->series[s].y[i]); /* ignores NaN */
            hi = fmax(hi, m->series[s].y[i]);
        }
    const double bottom = top + plot_h;
    return lo > 0 && hi / lo >= 50 ? scale_log(lo, hi, bottom, top)
                                   : scale_linear(lo, hi, bottom, top);
}

static double x_px(const struct plot *p, int i)
{
    const int n = p->m->nx;
    return n > 1 ? left + 14 + (p->right - left - 28) * i / (n - 1) : (left + p->right) / 2;
}

static void draw_y_axis(const struct plot *p)
{
    double ticks[TICKS_MAX];
    char tick[32];
    const int n = scale_ticks(&p->y, 6, ticks);
    for (int i = 0; i < n; i++) {
        const double y = scale_px(&p->y, ticks[i]);
        svg_line(p->out, left, y, p->right, y, "grid");
        svg_text(p->out, left - 8, y + 4, SVG_END, "d s", tick_text(tick, ticks[i]));
    }
    svg_textf(p->out, 12, 18, SVG_START, "d", "%s%s%s%s", p->m->metric, *p->m->unit ? ", " : "",
              p->m->unit, p->y.log ? " (logarithmic)" : "");
}

static void draw_x_axis(const struct plot *p)
{
    const double y = top + plot_h;
    double end = -INFINITY;
    svg_line(p->out, left, y, p->right, y, "axis");
    for (int i = 0; i < p->m->nx; i++) {
        const double half = svg_width(p->m->text[0][i], false) / 2, x = x_px(p, i);
        if (x - half < end + 6)
            continue;
        svg_line(p->out, x, y, x, y + 4, "axis");
        svg_text(p->out, x, y + 18, SVG_MIDDLE, "d s", p->m->text[0][i]);
        end = x + half;
    }
    svg_text(p->out, (left + p->right) / 2, y + 38, SVG_MIDDLE, "t", p->m->axis[0]);
}

/* ---- series ---- */

/* When the colours have come round once, lines are dashed and marks hollow. */
static bool is_second(int s)
{
    return s / SVG_SERIES % 2;
}

static void draw_point(const struct plot *p, int s, int i)
{
    const struct model_series *v = &p->m->series[s];
    char value[NUMBER_BUF], classes[16];
    const double x = x_px(p, i), y = scale_px(&p->y, v->y[i]);
    char *hint = xasprintf("%s, %s=%s: %s %s", v->name, p->m->axis[0], p->m->text[0][i],
                           number_fmt(value, v->y[i], 4), p->m->unit);
    svg_hint_begin(p->out, hint);
    snprintf(classes, sizeof classes, "thin l%d", s % SVG_SERIES);
    if (v->lo[i] > p->y.lo && v->hi[i] > v->lo[i] && v->hi[i] <= p->y.hi)
        svg_line(p->out, x, scale_px(&p->y, v->lo[i]), x, scale_px(&p->y, v->hi[i]), classes);
    svg_mark(p->out, x, y, s, is_second(s));
    svg_hint_end(p->out);
    free(hint);
}

/* A cross on the ground where there is no value, with the reason. */
static void draw_gap(const struct plot *p, int s, int i)
{
    const double x = x_px(p, i), y = top + plot_h - 7 - 11 * (s % 8);
    char *hint = xasprintf("%s, %s=%s: %s", p->m->series[s].name, p->m->axis[0], p->m->text[0][i],
                           p->m->series[s].why[i]);
    svg_hint_begin(p->out, hint);
    svg_line(p->out, x - 4, y - 4, x + 4, y + 4, "lbad");
    svg_line(p->out, x - 4, y + 4, x + 4, y - 4, "lbad");
    svg_hint_end(p->out);
    free(hint);
}

static void draw_series(const struct plot *p, int s)
{
    const struct model_series *v = &p->m->series[s];
    const int n = p->m->nx;
    double *x = xcalloc((size_t)n, sizeof *x), *y = xcalloc((size_t)n, sizeof *y);
    char classes[16];
    for (int i = 0; i < n; i++) {
        x[i] = x_px(p, i);
        y[i] = isnan(v->y[i]) ? NAN : scale_px(&p->y, v->y[i]);
    }
    snprintf(classes, sizeof classes, "l%d%s", s % SVG_SERIES, is_second(s) ? " dash" : "");
    svg_path(p->out, x, y, n, classes);
    for (int i = 0; i < n; i++)
        if (!isnan(y[i]))
            draw_point(p, s, i);
        else if (v->why[i])
            draw_gap(p, s, i);
    free(x);
    free(y);
}

/* ---- names beside the ends of the lines ---- */

struct label {
    int s;
    double want, y;
};

static int upper_first(const void *a, const void *b)
{
    const double x = ((const struct label *)a)->want, y = ((const struct label *)b)->want;
    return (x > y) - (x < y);
}

static double end_y(const struct plot *p, int s)
{
    for (int i = p->m->nx - 1; i >= 0; i--)
        if (!isnan(p->m->series[s].y[i]))
            return scale_px(&p->y, p->m->series[s].y[i]);
    return top + plot_h;
}

/* Downward so that none touches the one above; then up again, where the last ran out of the plot. */
static void spread(struct label *v, int n, double bottom)
{
    const double gap = 16;
    qsort(v, (size_t)n, sizeof *v, upper_first);
    for (int i = 0; i < n; i++)
        v[i].y = i && v[i].want < v[i - 1].y + gap ? v[i - 1].y + gap : v[i].want;
    for (int i = n - 1; i >= 0; i--)
        v[i].y = fmin(v[i].y, i == n - 1 ? bottom : v[i + 1].y - gap);
}

static void draw_names(const struct plot *p)
{
    struct label v[MODEL_SERIES] = {0};
    const int n = p->m->nseries;
    for (int s = 0; s < n; s++)
        v[s] = (struct label){.s = s, .want = end_y(p, s)};
    spread(v, n, top + plot_h);
    for (int i = 0; i < n; i++) {
        svg_mark(p->out, p->right + 18, v[i].y, v[i].s, is_second(v[i].s));
        svg_text(p->out, p->right + 29, v[i].y + 4, SVG_START, "t", p->m->series[v[i].s].name);
    }
}

bool fig_lines_draw(const json_t *table, const struct device_table *d, bool alone, struct str *out)
{
    struct model m;
    (void)d;
    if (!model_make(table, &m))
        return false;
    if (m.ny || m.nx < 2) {
        model_free(&m);
        return false;
    }
    double names = 60;
    for (int s = 0; s < m.nseries; s++)
        names = fmax(names, svg_width(m.series[s].name, false) + 36);
    struct plot p = {.m = &m, .out = out, .y = y_scale(&m), .right = width - fmin(names, 300)};
    char *title = xasprintf("%s over %s", m.metric, m.axis[0]);
    svg_begin(out, width, top + plot_h + 50, title, alone);
    draw_y_axis(&p);
    draw_x_axis(&p);
    for (int s = m.nseries; s-- > 0;) /* the first on top */
        draw_series(&p, s);
    draw_names(&p);
    svg_end(out);
    free(title);
    model_free(&m);
    return true;
}
