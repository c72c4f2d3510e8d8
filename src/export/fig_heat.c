/* fig_heat.c - a grid as a heat map, one below the other for several series.
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

static const double left = 96, cell_h = 34, head = 52, foot = 46, scale_w = 150;

struct heat {
    const struct model *m;
    struct str *out;
    double lo, hi, cell_w;
    bool log;
};

/* All maps of a picture share one scale, so that they can be compared. */
static void find_range(struct heat *h)
{
    h->lo = INFINITY;
    h->hi = -INFINITY;
    for (int s = 0; s < h->m->nseries; s++)
        for (int i = 0; i < h->m->nx * h->m->ny; i++) {
            h->lo = fmin(h->lo, h->m->series[s].y[i]);
            h->hi = fmax(h->hi, h->m->series[s].y[i]);
        }
    h->log = h->lo > 0 && h->hi / h->lo >= 20;
}

static int shade(const struct heat *h, double v)
{
    const double span = h->log ? log(h->hi) - log(h->lo) : h->hi - h->lo;
    double share = span > 0 ? (h->log ? log(v) - log(h->lo) : v - h->lo) / span : 0.5;
    share = isfinite(share) ? fmin(fmax(share, 0), 1) : 0.5;
    return share < 1 ? (int)(share * SVG_SHADES) : SVG_SHADES - 1;
}

static void draw_cell(const struct heat *h, const struct model_series *v, int i, int j, double y0)
{
    const size_t at = (size_t)i * (size_t)h->m->ny + (size_t)j;
    const double x = left + j * h->cell_w, y = y0 + i * cell_h, value = v->y[at];
    char number[NUMBER_BUF], classes[16];
    number_fmt(number, value, 3);
    char *hint =
        xasprintf("%s, %s=%s %s=%s: %s %s", v->name, h->m->axis[0], h->m->text[0][i], h->m->axis[1],
                  h->m->text[1][j], isnan(value) ? (v->why[at] ? v->why[at] : "no figure") : number,
                  isnan(value) ? "" : h->m->unit);
    svg_hint_begin(h->out, hint);
    snprintf(classes, sizeof classes, isnan(value) ? "ghost" : "h%d",
             isnan(value) ? 0 : shade(h, value));
    svg_rect(h->out, x + 1, y + 1, h->cell_w - 2, cell_h - 2, classes);
    if (isnan(value) && v->by[at] && *v->by[at] && svg_width(v->by[at], false) < h->cell_w) {
        svg_text(h->out, x + h->cell_w / 2, y + cell_h / 2 + 4, SVG_MIDDLE,
                 strcmp(v->by[at], "FAIL") ? "d s" : "s bad", v->by[at]);
    } else if (isnan(value)) {
        svg_line(h->out, x + 5, y + cell_h - 5, x + h->cell_w - 5, y + 5, "axis");
    } else if (svg_width(number, false) < h->cell_w - 4) {
        snprintf(classes, sizeof classes, "k%d", shade(h, value));
        svg_text(h->out, x + h->cell_w / 2, y + cell_h / 2 + 4, SVG_MIDDLE, classes, number);
    }
    svg_hint_end(h->out);
    free(hint);
}

static void draw_map(const struct heat *h, int s, double y0)
{
    const struct model *m = h->m;
    svg_text(h->out, left, y0 - 30, SVG_START, "b", m->series[s].name);
    for (int j = 0; j < m->ny; j++)
        if (svg_width(m->text[1][j], false) < h->cell_w || j == 0)
            svg_text(h->out, left + (j + 0.5) * h->cell_w, y0 - 8, SVG_MIDDLE, "d s",
                     m->text[1][j]);
    for (int i = 0; i < m->nx; i++) {
        svg_text(h->out, left - 8, y0 + (i + 0.5) * cell_h + 4, SVG_END, "d s", m->text[0][i]);
        for (int j = 0; j < m->ny; j++)
            draw_cell(h, &m->series[s], i, j, y0);
    }
    svg_text(h->out, left + m->ny * h->cell_w + 10, y0 - 8, SVG_START, "t", m->axis[1]);
    svg_text(h->out, 12, y0 + 16, SVG_START, "t", m->axis[0]);
}

static void draw_scale(const struct heat *h, double y)
{
    char a[NUMBER_BUF], b[NUMBER_BUF], classes[16];
    for (int k = 0; k < SVG_SHADES; k++) {
        snprintf(classes, sizeof classes, "h%d", k);
        svg_rect(h->out, left + k * scale_w / SVG_SHADES, y, scale_w / SVG_SHADES, 10, classes);
    }
    svg_textf(h->out, left + scale_w + 10, y + 10, SVG_START, "d s",
              "%s%s%s, from %s to %s%s; grey: not possible, and what forbids it", h->m->metric,
              *h->m->unit ? " in " : "", h->m->unit, number_fmt(a, h->lo, 3),
              number_fmt(b, h->hi, 3), h->log ? " (logarithmic)" : "");
}

bool fig_heat_draw(const json_t *table, const struct device_table *d, bool alone, struct str *out)
{
    struct model m;
    (void)d;
    if (!model_make(table, &m))
        return false;
    struct heat h = {.m = &m, .out = out};
    if (!m.ny || m.nx * m.ny * m.nseries > 4096) {
        model_free(&m);
        return false;
    }
    find_range(&h);
    h.cell_w = fmax(16, fmin(72, 600.0 / m.ny));
    const double map_h = head + m.nx * cell_h, w = left + m.ny * h.cell_w + 120;
    char *title = xasprintf("%s over %s and %s", m.metric, m.axis[0], m.axis[1]);
    svg_begin(out, fmax(w, 680), m.nseries * map_h + foot, title, alone);
    for (int s = 0; s < m.nseries; s++)
        draw_map(&h, s, s * map_h + head);
    draw_scale(&h, m.nseries * map_h + 18);
    svg_end(out);
    free(title);
    model_free(&m);
    return true;
}
