/* histogram.c - how often which time came: samples in bins, a panel for each row that has them.
 *
 * All panels have one axis, so that two rows can be held against each other.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/number.h"
#include "draw/figures.h"
#include "draw/gnuplot.h"
#include "draw/samples.h"
#include "draw/scale.h"
#include "draw/svg.h"

enum { BINS_MAX = 40, BINS = 32 };

/* From the least to the greatest sample; equal ones make no histogram. */
static bool find_range(const struct sample_chart *s, int series, struct range *out)
{
    *out = RANGE_NONE;
    for (int i = 0; i < s->n; i++)
        for (int k = 0; (series < 0 || series == i) && k < s->series[i].n; k++)
            range_add(out, s->series[i].v[k].us);
    return range_known(out) && out->hi > out->lo;
}

static bool histogram_sound(const void *model)
{
    struct range r;
    return samples_sound(model) && find_range(model, -1, &r);
}

/* Returns the fullest bin's count. */
static int fill_bins(const struct sample_series *s, const struct range *r, int n, int *bins)
{
    int most = 0;
    for (int i = 0; i < n; i++)
        bins[i] = 0;
    for (int i = 0; i < s->n; i++) {
        if (!isfinite(s->v[i].us))
            continue;
        const int bin = (int)(range_share(r, s->v[i].us) * n), at = bin < n ? bin : n - 1;
        bins[at]++;
        most = bins[at] > most ? bins[at] : most;
    }
    return most;
}

static double bin_middle(const struct range *r, int n, int i)
{
    return r->lo + (r->hi - r->lo) * (i + 0.5) / n;
}

/* ---- cells: one series, a bin a line ---- */

static void draw_bin(struct canvas *c, struct rect r, double us, int count, int most, bool stale)
{
    const double unit = us >= 1e6 ? 1e6 : us >= 1e3 ? 1e3 : 1;
    char b[NUMBER_BUF];
    canvas_textf(c, r.x, r.y, 10, ROLE_DIM, "%7s %s", number_fmt(b, us / unit, 4),
                 unit > 1e3 ? "s"
                 : unit > 1 ? "ms"
                            : "us");
    fig_bar(c, (struct rect){r.x + 11, r.y, r.w - 16, 1}, stale ? ROLE_DIM : ROLE_ACCENT, count,
            most);
    if (count)
        canvas_textf(c, r.x + r.w - 4, r.y, 4, ROLE_DIM, "%4d", count);
}

bool fig_histogram(struct canvas *c, struct rect r, const struct sample_chart *s, int series)
{
    int bins[BINS_MAX];
    const int n = r.h < BINS_MAX ? r.h : BINS_MAX;
    struct range range;
    if (series >= s->n || n < 2 || r.w < 20 || !find_range(s, series, &range))
        return false;
    const int most = fill_bins(&s->series[series], &range, n, bins);
    for (int i = 0; i < n; i++)
        draw_bin(c, (struct rect){r.x, r.y + i, r.w, 1}, bin_middle(&range, n, i), bins[i], most,
                 s->series[series].stale);
    return true;
}

static void histogram_cells(struct canvas *c, struct rect r, const void *model,
                            const struct chart_view *v)
{
    fig_histogram(c, r, model, v->part);
}

/* ---- SVG ---- */

static const double width = 760, left = 40, right = 740, panel_h = 104, bars_h = 76;

static void svg_panel(struct str *out, const struct sample_series *s, const struct range *range,
                      double top)
{
    int bins[BINS];
    const int most = fill_bins(s, range, BINS, bins);
    const double w = (right - left) / BINS, bottom = top + 20 + bars_h;
    svg_textf(out, left, top + 12, SVG_START, s->stale ? "d" : "t", "%s%s: %d samples", s->name,
              s->stale ? " (old)" : "", s->n);
    for (int i = 0; i < BINS; i++) {
        const double h = most ? bars_h * bins[i] / most : 0;
        if (bins[i])
            svg_rect(out, left + i * w + 1, bottom - h, w - 2, h, s->stale ? "axis dash" : "s0");
    }
    svg_line(out, left, bottom, right, bottom, "axis");
    svg_textf(out, left - 6, top + 28, SVG_END, "d s", "%d", most);
}

static void histogram_svg(struct str *out, const struct chart *c, bool alone)
{
    const struct sample_chart *s = c->model;
    struct range range;
    double ticks[TICKS_MAX];
    if (!find_range(s, -1, &range))
        return;
    const double bottom = s->n * panel_h;
    const struct scale x = {range, left, right};
    chart_svg_begin(out, c, width, bottom + 40, "how often which time came", alone);
    for (int i = 0; i < s->n; i++)
        svg_panel(out, &s->series[i], &range, i * panel_h);
    for (int i = 0, n = range_ticks(&range, 8, ticks); i < n; i++) {
        char text[32];
        svg_line(out, scale_px(&x, ticks[i]), 0, scale_px(&x, ticks[i]), bottom, "grid");
        svg_text(out, scale_px(&x, ticks[i]), bottom + 14, SVG_MIDDLE, "d s",
                 tick_text(text, ticks[i]));
    }
    svg_textf(out, (left + right) / 2, bottom + 32, SVG_MIDDLE, "t", "time of a sample, %s",
              svg_unit("us"));
    svg_end(out);
}

/* ---- gnuplot ---- */

static void histogram_gnuplot(struct str *out, const struct chart *c)
{
    const struct sample_chart *s = c->model;
    struct range range;
    double ticks[TICKS_MAX];
    if (!find_range(s, -1, &range))
        return;
    gp_head(out, &c->caption);
    for (int i = 0; i < s->n; i++) {
        int bins[BINS];
        fill_bins(&s->series[i], &range, BINS, bins);
        str_addf(out, "$bins%d << EOD\n", i);
        for (int k = 0; k < BINS; k++)
            str_addf(out, "%.9g %d\n", bin_middle(&range, BINS, k), bins[k]);
        str_add(out, "EOD\n");
    }
    gp_label(out, "xlabel", "time of a sample", "us");
    gp_label(out, "ylabel", "samples", NULL);
    gp_range(out, "x", &range, ticks, range_ticks(&range, 8, ticks));
    for (int i = 0; i < s->n; i++) {
        str_addf(out, "%s $bins%d using 1:2 with %s title ", i ? ", \\\n    " : "plot", i,
                 s->n > 1 ? "steps" : "boxes");
        samples_gp_name(out, &s->series[i]);
    }
    str_addc(out, '\n');
}

const struct chart_kind chart_histogram = {
    .name = "histogram",
    .doc = "samples: how often which time came",
    .layout = &sample_layout,
    .sound = histogram_sound,
    .cells = histogram_cells,
    .svg = histogram_svg,
    .gnuplot = histogram_gnuplot,
};
