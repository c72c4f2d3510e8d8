/* fig_roof.c - kernels under the roofs of their devices, both axes logarithmic.
 *
 * A kernel stands at the intensity of the bytes that it asks for: hollow on the roof, which is as
 * fast as it can be there, and filled where it was measured.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "draw/svg.h"
#include "export/figs.h"
#include "export/model.h"
#include "export/scale.h"

enum { POINTS_MAX = 26, ROOFS_MAX = 4 };
static const double width = 760, left = 66, top = 34, plot_h = 320;

struct point {
    char *name;
    double x, roof, measured;
};
struct roof {
    char *name;
    double peak, gbs; /* TFLOP/s, GB/s */
};
struct roofs {
    struct point points[POINTS_MAX];
    int npoints;
    size_t left_out;
    struct roof roofs[ROOFS_MAX];
    int nroofs;
    struct scale x, y;
    double right;
    struct str *out;
};

/* ---- the model ---- */

static const char *device_name(const json_t *row)
{
    const char *gpu = row_string(row, "gpu"), *device = row_string(row, "device");
    return gpu ? gpu : device ? device : "?";
}

static void add_roof(struct roofs *r, const json_t *row)
{
    const double peak = row_number(row, "peak_tflops"), gbs = row_number(row, "dram_gbs");
    const char *unit = row_string(row, "peak_unit");
    if (!(peak > 0) || !(gbs > 0) || peak > 1e9 || gbs > 1e12 || peak < 1e-9 || gbs < 1e-6)
        return;
    char *text = xasprintf("%s%s%s", device_name(row), unit ? " " : "", unit ? unit : "");
    char *name = sanitize_line(text);
    free(text);
    for (int i = 0; i < r->nroofs; i++)
        if (r->roofs[i].peak == peak && r->roofs[i].gbs == gbs) {
            free(name);
            return;
        }
    if (r->nroofs < ROOFS_MAX)
        r->roofs[r->nroofs++] = (struct roof){name, peak, gbs};
    else
        free(name);
}

static void add_point(struct roofs *r, const json_t *row)
{
    const double x = row_number(row, "requested_intensity"), peak = row_number(row, "peak_tflops"),
                 gbs = row_number(row, "dram_gbs");
    const char *kernel = row_string(row, "kernel"), *check = row_string(row, "check");
    if (!(x > 1e-6) || x > 1e9 || !(peak > 0) || !(gbs > 0) || !kernel)
        return;
    if (r->npoints == POINTS_MAX) {
        r->left_out++;
        return;
    }
    double measured = row_number(row, "tflops");
    if (check && !strcmp(check, "fail"))
        measured = NAN;
    r->points[r->npoints++] =
        (struct point){.name = sanitize_line(kernel),
                       .x = x,
                       .roof = fmin(peak, x * gbs / 1e3), /* FLOP/B x GB/s = GFLOP/s */
                       .measured = measured > 0 ? measured : NAN};
}

static void roofs_free(struct roofs *r)
{
    for (int i = 0; i < r->npoints; i++)
        free(r->points[i].name);
    for (int i = 0; i < r->nroofs; i++)
        free(r->roofs[i].name);
}

static void find_scales(struct roofs *r)
{
    double x0 = INFINITY, x1 = 0, y0 = INFINITY, y1 = 0;
    for (int i = 0; i < r->nroofs; i++) {
        const double ridge = r->roofs[i].peak * 1e3 / r->roofs[i].gbs;
        x0 = fmin(x0, ridge / 50);
        x1 = fmax(x1, ridge * 20);
        y1 = fmax(y1, r->roofs[i].peak * 1.6);
        y0 = fmin(y0, r->roofs[i].peak / 200);
    }
    for (int i = 0; i < r->npoints; i++) {
        const struct point *p = &r->points[i];
        x0 = fmin(x0, p->x / 1.5);
        x1 = fmax(x1, p->x * 1.5);
        y0 = fmin(y0, fmin(p->roof, p->measured) / 1.5);
    }
    r->x = scale_log(x0, x1, left, r->right);
    r->y = scale_log(fmax(y0, y1 * 1e-9), y1, top + plot_h, top);
}

/* ---- the picture ---- */

static void draw_axes(const struct roofs *r)
{
    double ticks[TICKS_MAX];
    char tick[32];
    int n = scale_ticks(&r->y, 7, ticks);
    for (int i = 0; i < n; i++) {
        const double y = scale_px(&r->y, ticks[i]);
        svg_line(r->out, left, y, r->right, y, "grid");
        svg_text(r->out, left - 8, y + 4, SVG_END, "d s", tick_text(tick, ticks[i]));
    }
    n = scale_ticks(&r->x, 8, ticks);
    for (int i = 0; i < n; i++) {
        const double x = scale_px(&r->x, ticks[i]);
        svg_line(r->out, x, top, x, top + plot_h, "grid");
        svg_text(r->out, x, top + plot_h + 18, SVG_MIDDLE, "d s", tick_text(tick, ticks[i]));
    }
    svg_line(r->out, left, top + plot_h, r->right, top + plot_h, "axis");
    svg_text(r->out, 12, 18, SVG_START, "d", "TFLOP/s (logarithmic)");
    svg_text(r->out, (left + r->right) / 2, top + plot_h + 38, SVG_MIDDLE, "t",
             "FLOP per byte requested (logarithmic)");
}

static void draw_roof(const struct roofs *r, const struct roof *f, int i)
{
    const double ridge = f->peak * 1e3 / f->gbs;
    const double start = fmax(r->x.lo, r->y.lo * 1e3 / f->gbs); /* where the slope enters */
    const double x[] = {scale_px(&r->x, start), scale_px(&r->x, ridge), scale_px(&r->x, r->x.hi)};
    const double y[] = {scale_px(&r->y, start * f->gbs / 1e3), scale_px(&r->y, f->peak),
                        scale_px(&r->y, f->peak)};
    char peak[NUMBER_BUF], gbs[NUMBER_BUF], at[NUMBER_BUF];
    svg_path(r->out, x, y, 3, i ? "roof dash" : "roof");
    svg_textf(r->out, r->right - 6, y[1] - 7, SVG_END, "t s", "%s: %s TFLOP/s", f->name,
              number_fmt(peak, f->peak, 3));
    svg_textf(r->out, x[1] - 10, y[1] - 7 + (x[1] - 200 < left ? 24 : 0),
              x[1] - 200 < left ? SVG_START : SVG_END, "d s", "%s GB/s, ridge %s FLOP/B",
              number_fmt(gbs, f->gbs, 4), number_fmt(at, ridge, 3));
}

static void draw_point(const struct roofs *r, int i)
{
    const struct point *p = &r->points[i];
    const double x = scale_px(&r->x, p->x), roof = scale_px(&r->y, p->roof);
    char at[NUMBER_BUF], most[NUMBER_BUF], got[NUMBER_BUF], cls[16];
    char *hint = xasprintf("%s: %s FLOP/B, at most %s TFLOP/s, measured %s", p->name,
                           number_fmt(at, p->x, 3), number_fmt(most, p->roof, 3),
                           number_fmt(got, p->measured, 3));
    svg_hint_begin(r->out, hint);
    free(hint);
    if (!isnan(p->measured)) {
        const double y = scale_px(&r->y, fmax(p->measured, r->y.lo));
        snprintf(cls, sizeof cls, "thin l%d dash", i % SVG_SERIES);
        svg_line(r->out, x, roof, x, y, cls);
        svg_mark(r->out, x, y, i, false);
    }
    svg_mark(r->out, x, roof, i, true);
    svg_hint_end(r->out);
}

/* Kernels beside the plot, with what part of their roof they reach. */
static void draw_names(const struct roofs *r)
{
    bool any = false;
    for (int i = 0; i < r->npoints; i++) {
        const struct point *p = &r->points[i];
        const double y = top + 8 + i * 17;
        char share[NUMBER_BUF];
        any = any || !isnan(p->measured);
        svg_mark(r->out, r->right + 20, y, i, isnan(p->measured));
        svg_textf(r->out, r->right + 32, y + 4, SVG_START, "t", "%s%s%s%s", p->name,
                  isnan(p->measured) ? "" : " ",
                  isnan(p->measured) ? "" : number_fmt(share, 100 * p->measured / p->roof, 2),
                  isnan(p->measured) ? "" : " %");
    }
    svg_textf(
        r->out, left, top + plot_h + 58, SVG_START, "d s", "hollow: the roof at its intensity%s",
        any ? "; filled: measured, and the share of the roof" : "; nothing here was measured");
    if (r->left_out)
        svg_textf(r->out, r->right, top + plot_h + 58, SVG_START, "d s", "and %zu more",
                  r->left_out);
}

bool fig_roofline_draw(const json_t *table, const struct device_table *d, bool alone,
                       struct str *out)
{
    const json_t *rows = json_object_get(table, "rows");
    struct roofs r = {.out = out};
    (void)d;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        add_roof(&r, row);
        add_point(&r, row);
    }
    if (!r.nroofs) {
        roofs_free(&r);
        return false;
    }
    double names = 90;
    for (int i = 0; i < r.npoints; i++)
        names = fmax(names, svg_width(r.points[i].name, false) + 80);
    r.right = width - fmin(names, 260);
    find_scales(&r);
    const double below = top + r.npoints * 17.0 + 20;
    svg_begin(out, width, fmax(top + plot_h + 72, below), "roofline", alone);
    draw_axes(&r);
    for (int i = 0; i < r.nroofs; i++)
        draw_roof(&r, &r.roofs[i], i);
    for (int i = r.npoints; i-- > 0;)
        draw_point(&r, i);
    draw_names(&r);
    svg_end(out);
    roofs_free(&r);
    return true;
}
