/* fig_blocks.c - blocks over SMs and time, one picture below the other on one scale.
 *
 * Reads "block_spans" of a row: [row, lane, wave, pass, begin_us, end_us] for each block.
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

enum { KERNELS_MAX = 8, PASSES_MAX = 8, ROWS_MAX = 512, LANES_MAX = 64, BLOCKS_MAX = 20000 };
static const double width = 760, left = 56, right = 736, head = 58, foot = 26;

struct chart {
    struct str *out;
    const json_t *row, *spans;
    int rows, lanes[PASSES_MAX]; /* a pass has slots of its own */
    double row_h, span_us;       /* span_us: of all charts */
    struct scale x;
};

/* ---- the model ---- */

static double part(const json_t *span, size_t i)
{
    const json_t *v = json_array_get(span, i);
    const double x = json_is_number(v) ? json_number_value(v) : NAN;
    return isfinite(x) ? x : NAN;
}

static bool is_span(const json_t *span)
{
    return part(span, 0) >= 0 && part(span, 0) < ROWS_MAX && part(span, 1) >= 0 &&
           part(span, 1) < LANES_MAX && part(span, 2) >= 0 && part(span, 2) < 1e9 &&
           part(span, 3) >= 0 && part(span, 3) < PASSES_MAX && part(span, 4) >= 0 &&
           part(span, 5) >= part(span, 4) && part(span, 5) < 1e12;
}

static size_t span_count(const struct chart *c)
{
    const size_t n = json_array_size(c->spans);
    return n < BLOCKS_MAX ? n : BLOCKS_MAX;
}

static bool chart_new(const json_t *row, struct str *out, struct chart *c)
{
    *c = (struct chart){.out = out, .row = row, .spans = json_object_get(row, "block_spans")};
    if (!row_string(row, "kernel"))
        return false;
    for (size_t i = 0; i < span_count(c); i++) {
        const json_t *s = json_array_get(c->spans, i);
        if (!is_span(s))
            continue;
        c->rows = (int)fmax(c->rows, part(s, 0) + 1);
        int *lanes = &c->lanes[(int)part(s, 3)];
        *lanes = (int)fmax(*lanes, part(s, 1) + 1);
        c->span_us = fmax(c->span_us, part(s, 5));
    }
    const double wanted = row_number(row, "rows"); /* SMs without a block are part of the picture */
    if (c->rows && wanted > c->rows && wanted <= ROWS_MAX)
        c->rows = (int)wanted;
    return c->rows && c->span_us > 0;
}

static double chart_h(const struct chart *c)
{
    return head + c->rows * c->row_h + foot;
}

/* ---- the picture ---- */

/* Blocks of one class as one path: a waves' colour each, the last one for later passes. */
static void draw_class(const struct chart *c, int class, double y0)
{
    bool any = false;
    const double gap = c->row_h > 5 ? 0.8 : 0;
    for (size_t i = 0; i < span_count(c); i++) {
        const json_t *s = json_array_get(c->spans, i);
        if (!is_span(s))
            continue;
        const int k = part(s, 3) > 0 ? SVG_SERIES - 1 : (int)fmod(part(s, 2), SVG_SERIES - 1);
        if (k != class)
            continue;
        const double lane_h = c->row_h / c->lanes[(int)part(s, 3)];
        const double x0 = scale_px(&c->x, part(s, 4)), x1 = scale_px(&c->x, part(s, 5));
        const double y = y0 + part(s, 0) * c->row_h + part(s, 1) * lane_h;
        str_add(c->out, any ? "" : "<path d=\"");
        any = true;
        str_addf(c->out, "M%.1f %.1fh%.1fv%.1fh-%.1fz", x0, y, fmax(x1 - x0 - 0.6, 0.3),
                 fmax(lane_h - gap, 0.4), fmax(x1 - x0 - 0.6, 0.3));
    }
    if (any)
        str_addf(c->out, "\" class=\"s%d\"/>\n", class);
}

static void draw_rows(const struct chart *c, double y0)
{
    const char *unit = row_string(c->row, "unit");
    const int every = c->row_h >= 12 ? 1 : c->rows > 64 ? 32 : c->rows > 16 ? 8 : 4;
    svg_rect(c->out, left, y0, right - left, c->rows * c->row_h, "ghost");
    for (int r = 0; r < c->rows; r += every)
        svg_textf(c->out, left - 8, y0 + r * c->row_h + fmin(c->row_h, 10) - 0.5, SVG_END, "d s",
                  "%s%d",
                  r                                 ? ""
                  : unit && !strcmp(unit, "thread") ? "thread "
                                                    : "SM ",
                  r);
}

static void draw_axis(const struct chart *c, double y)
{
    double ticks[TICKS_MAX];
    char tick[32];
    const int n = scale_ticks(&c->x, 6, ticks);
    for (int i = 0; i < n; i++) {
        const double x = scale_px(&c->x, ticks[i]);
        svg_line(c->out, x, y, x, y + 4, "axis");
        svg_textf(c->out, x, y + 17, SVG_MIDDLE, "d s", "%s%s", tick_text(tick, ticks[i]),
                  i == n - 1 ? " \u00b5s" : "");
    }
    svg_line(c->out, left, y, right, y, "axis");
}

static void add_number(struct str *out, const json_t *row, const char *field, const char *before,
                       const char *after)
{
    const double v = row_number(row, field);
    char buf[NUMBER_BUF];
    if (!isnan(v))
        str_addf(out, "%s%s%s%s", out->len ? ", " : "", before, number_fmt(buf, v, 3), after);
}

static void draw_chart(const struct chart *c, double y0)
{
    struct str facts = {0};
    const char *device = row_string(c->row, "device"), *origin = row_string(c->row, "origin"),
               *params = row_string(c->row, "params");
    svg_textf(c->out, left, y0 + 22, SVG_START, "b", "%s%s%s%s%s", row_string(c->row, "kernel"),
              device ? " on " : "", device ? device : "", origin ? ", " : "", origin ? origin : "");
    svg_text(c->out, right, y0 + 22, SVG_END, "d s", params ? params : "");
    add_number(&facts, c->row, "blocks", "", " blocks");
    add_number(&facts, c->row, "slots", "", " slots");
    add_number(&facts, c->row, "waves", "", " waves");
    add_number(&facts, c->row, "busy_pct", "busy ", " %");
    add_number(&facts, c->row, "tail_pct", "tail ", " %");
    add_number(&facts, c->row, "span_us", "", " \u00b5s");
    svg_text(c->out, left, y0 + 42, SVG_START, "t", str_text(&facts));
    str_free(&facts);
    draw_rows(c, y0 + head);
    for (int k = 0; k < SVG_SERIES; k++)
        draw_class(c, k, y0 + head);
    draw_axis(c, y0 + head + c->rows * c->row_h);
}

bool fig_blocks_draw(const json_t *table, const struct device_table *d, bool alone, struct str *out)
{
    const json_t *rows = json_object_get(table, "rows");
    struct chart charts[KERNELS_MAX];
    double h = 26, span = 0;
    int n = 0;
    (void)d;
    for (size_t i = 0; i < json_array_size(rows) && n < KERNELS_MAX; i++)
        if (chart_new(json_array_get(rows, i), out, &charts[n]))
            span = fmax(span, charts[n++].span_us);
    for (int i = 0; i < n; i++) {
        charts[i].x = (struct scale){.lo = 0, .hi = span, .from = left, .to = right};
        charts[i].row_h = fmin(16, fmax(n > 2 ? 2 : 3, floor(320.0 / charts[i].rows)));
        h += chart_h(&charts[i]);
    }
    if (!n)
        return false;
    svg_begin(out, width, h, "blocks over SMs and time", alone);
    h = 0;
    for (int i = 0; i < n; i++) {
        draw_chart(&charts[i], h);
        h += chart_h(&charts[i]);
    }
    svg_text(out, left, h + 12, SVG_START, "d s",
             "a colour is a wave (the last of six: a later pass); grey: nothing runs there");
    svg_end(out);
    return true;
}
