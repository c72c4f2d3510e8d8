/* samples.c - samples one after the other: does the time drift, does it jump?
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw/samples.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/number.h"
#include "draw/figures.h"
#include "draw/gnuplot.h"
#include "draw/scale.h"
#include "draw/svg.h"

/* ---- the model ---- */

enum { SAMPLES_MAX = 1000 };

// clang-format off
static const struct field value_fields[] = {CHART_FIELD(sample, us, FIELD_REAL), {0}};
static const struct chart_layout value_layout = {sizeof(struct sample), value_fields, NULL};
static const struct field series_fields[] = {
    CHART_FIELD(sample_series, name, FIELD_TEXT), CHART_FIELD(sample_series, stale, FIELD_BOOL), {0},
};
static const struct chart_part series_parts[] = {
    {.name = "v", .at = offsetof(struct sample_series, v), .count = offsetof(struct sample_series, n),
     .of = &value_layout, .most = SAMPLES_MAX, .brief = true}, {0},
};
static const struct chart_layout series_layout = {sizeof(struct sample_series), series_fields, series_parts};
static const struct field none[] = {{0}};
static const struct chart_part chart_parts[] = {
    CHART_PART(sample_chart, series, n, &series_layout, SAMPLE_SERIES), {0},
};
const struct chart_layout sample_layout = {sizeof(struct sample_chart), none, chart_parts};
// clang-format on

void samples_size(struct sample_chart *s, int n)
{
    s->series = model_list(&series_layout, s->n = n < SAMPLE_SERIES ? n : SAMPLE_SERIES);
}

void samples_take(struct sample_series *s, const json_t *us)
{
    const size_t all = json_array_size(us), from = all > SAMPLES_MAX ? all - SAMPLES_MAX : 0;
    s->v = model_list(&value_layout, s->n = (int)(all - from));
    for (int i = 0; i < s->n; i++) {
        const json_t *x = json_array_get(us, from + (size_t)i);
        const double v = json_is_number(x) ? json_number_value(x) : NAN;
        s->v[i].us = v > 0 && v < 1e12 ? v : NAN;
    }
}

bool samples_sound(const void *model)
{
    const struct sample_chart *s = model;
    bool ok = s->n > 0, any = false;
    for (int i = 0; i < s->n; i++) {
        int known = 0;
        ok = ok && s->series[i].name;
        for (int k = 0; k < s->series[i].n; k++) {
            const double us = s->series[i].v[k].us;
            ok = ok && (isnan(us) || (us > 0 && us < 1e12));
            known += us > 0;
        }
        any = any || known > 1;
    }
    return ok && any;
}

static struct range find_range(const struct sample_chart *s)
{
    struct range r = RANGE_NONE;
    for (int i = 0; i < s->n; i++)
        for (int k = 0; k < s->series[i].n; k++)
            range_add(&r, s->series[i].v[k].us);
    const double pad = fmax((r.hi - r.lo) * 0.05, r.hi * 0.01);
    return (struct range){fmax(r.lo - pad, 0), r.hi + pad, false};
}

static int longest(const struct sample_chart *s)
{
    int n = 2;
    for (int i = 0; i < s->n; i++)
        n = s->series[i].n > n ? s->series[i].n : n;
    return n;
}

/* ---- cells: a line each ---- */

void fig_samples(struct canvas *c, struct rect r, const struct sample_series *s)
{
    double *last = xcalloc((size_t)s->n + 1, sizeof *last);
    for (int i = 0; i < s->n; i++)
        last[i] = s->v[i].us;
    fig_spark(c, r, last, s->n);
    if (s->stale)
        canvas_fill(c, r, ROLE_DIM);
    free(last);
}

static void samples_cells(struct canvas *c, struct rect r, const void *model,
                          const struct chart_view *v)
{
    enum { NAME_W = 20 };
    const struct sample_chart *s = model;
    (void)v;
    if (r.w < NAME_W + 10)
        return;
    for (int i = 0; i < s->n && i < r.h; i++) {
        canvas_text(c, r.x, r.y + i, NAME_W - 1, s->series[i].stale ? ROLE_DIM : ROLE_NORMAL,
                    s->series[i].name);
        fig_samples(c, (struct rect){r.x + NAME_W, r.y + i, r.w - NAME_W, 1}, &s->series[i]);
    }
}

/* ---- SVG and gnuplot ---- */

static const double width = 760, left = 66, right = 600, top = 34, plot_h = 260;

static void svg_series(struct str *out, const struct sample_series *s, int i, const struct scale *x,
                       const struct scale *y)
{
    double *px = xcalloc((size_t)s->n + 1, sizeof *px), *py = xcalloc((size_t)s->n + 1, sizeof *py);
    char line[24];
    for (int k = 0; k < s->n; k++) {
        px[k] = scale_px(x, k + 1);
        py[k] = isfinite(s->v[k].us) ? scale_px(y, s->v[k].us) : NAN;
    }
    snprintf(line, sizeof line, "thin l%d%s", i % SVG_SERIES, s->stale ? " dash" : "");
    svg_path(out, px, py, s->n, line);
    svg_mark(out, right + 20, top + 8 + i * 17, i, s->stale);
    svg_textf(out, right + 32, top + 12 + i * 17, SVG_START, s->stale ? "d" : "t", "%s%s", s->name,
              s->stale ? " (old)" : "");
    free(px);
    free(py);
}

static void samples_svg(struct str *out, const struct chart *c, bool alone)
{
    const struct sample_chart *s = c->model;
    const struct range values = find_range(s);
    const struct scale x = {{1, longest(s), false}, left, right}, y = {values, top + plot_h, top};
    double ticks[TICKS_MAX];
    char tick[32];
    chart_svg_begin(out, c, width, fmax(top + plot_h + 46, top + s->n * 17.0 + 20),
                    "samples in their order", alone);
    for (int i = 0, n = range_ticks(&y.range, 6, ticks); i < n; i++) {
        svg_line(out, left, scale_px(&y, ticks[i]), right, scale_px(&y, ticks[i]), "grid");
        svg_text(out, left - 8, scale_px(&y, ticks[i]) + 4, SVG_END, "d s",
                 tick_text(tick, ticks[i]));
    }
    for (int i = 0, n = range_ticks(&x.range, 8, ticks); i < n; i++)
        svg_text(out, scale_px(&x, ticks[i]), top + plot_h + 16, SVG_MIDDLE, "d s",
                 tick_text(tick, ticks[i]));
    svg_line(out, left, top + plot_h, right, top + plot_h, "axis");
    svg_textf(out, 12, 18, SVG_START, "d", "time of a sample, %s", svg_unit("us"));
    svg_text(out, (left + right) / 2, top + plot_h + 36, SVG_MIDDLE, "t", "sample");
    for (int i = 0; i < s->n; i++)
        svg_series(out, &s->series[i], i, &x, &y);
    svg_end(out);
}

void samples_gp_name(struct str *out, const struct sample_series *s)
{
    char *name = xasprintf("%s%s", s->name, s->stale ? " (old)" : "");
    gp_quoted(out, name);
    free(name);
}

static void samples_gnuplot(struct str *out, const struct chart *c)
{
    const struct sample_chart *s = c->model;
    const struct range values = find_range(s), order = {1, longest(s), false};
    double ticks[TICKS_MAX];
    gp_head(out, &c->caption);
    for (int i = 0; i < s->n; i++) {
        str_addf(out, "$samples%d << EOD\n", i);
        for (int k = 0; k < s->series[i].n; k++) {
            str_addf(out, "%d", k + 1);
            gp_value(out, s->series[i].v[k].us);
            str_addc(out, '\n');
        }
        str_add(out, "EOD\n");
    }
    gp_label(out, "xlabel", "sample", NULL);
    gp_label(out, "ylabel", "time of a sample", "us");
    gp_range(out, "x", &order, ticks, 0);
    gp_range(out, "y", &values, ticks, range_ticks(&values, 6, ticks));
    for (int i = 0; i < s->n; i++) {
        str_addf(out, "%s $samples%d using 1:2 with lines title ", i ? ", \\\n    " : "plot", i);
        samples_gp_name(out, &s->series[i]);
    }
    str_addc(out, '\n');
}

const struct chart_kind chart_samples = {
    .name = "samples",
    .doc = "samples in their order",
    .layout = &sample_layout,
    .sound = samples_sound,
    .cells = samples_cells,
    .svg = samples_svg,
    .gnuplot = samples_gnuplot,
};
