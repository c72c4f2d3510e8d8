/* fig_smem.c - the shared memory of a block to scale, and what limits the blocks of an SM.
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

enum { KERNELS_MAX = 12, BUFFERS_MAX = 24 };
static const double width = 760, left = 24, bar_w = 712, bar_h = 30, row_h = 18;
static const double default_limit = 48 * 1024;

struct map {
    struct str *out;
    const json_t *row, *smem;
    double total, limit, used; /* bytes; limit 0: unknown */
    size_t n;                  /* buffers shown */
    bool overlay;
};

/* ---- the model ---- */

static bool is_mapped(const json_t *row)
{
    const json_t *smem = json_object_get(row, "smem");
    return json_is_array(smem) && row_number(row, "smem_bytes") >= 0 && row_string(row, "kernel");
}

static double limit_of(const json_t *row, const struct device_table *d)
{
    const char *gpu = row_string(row, "gpu");
    const struct device *dev = NULL;
    struct err why = ERR_INIT;
    if (!gpu || !d || devices_get(d, gpu, &dev, &why))
        return 0;
    const struct arch_limits *arch = arch_find(dev->cc);
    return arch ? arch->smem_optin : 0;
}

static double overlay_h(const struct map *m)
{
    return m->overlay ? 16 : 0;
}

static struct map map_new(const json_t *row, const struct device_table *d, struct str *out)
{
    struct map m = {.out = out, .row = row, .smem = json_object_get(row, "smem")};
    m.used = fmin(row_number(row, "smem_bytes"), 1e9);
    m.limit = limit_of(row, d);
    m.total = fmax(fmax(m.limit, m.used), m.limit > 0 ? 1 : default_limit);
    m.n = json_array_size(m.smem) < BUFFERS_MAX ? json_array_size(m.smem) : BUFFERS_MAX;
    for (size_t i = 0; i < m.n; i++)
        m.overlay |= json_is_true(json_object_get(json_array_get(m.smem, i), "overlay"));
    return m;
}

static double map_h(const struct map *m)
{
    return 116 + overlay_h(m) + (double)m->n * row_h + 74;
}

static double x_of(const struct map *m, double bytes)
{
    return left + fmin(fmax(bytes / m->total, 0), 1) * bar_w;
}

/* ---- the bar ---- */

static void draw_buffer(const struct map *m, size_t i, double y)
{
    const json_t *b = json_array_get(m->smem, i);
    const double at = row_number(b, "offset"), bytes = row_number(b, "bytes");
    const bool over = json_is_true(json_object_get(b, "overlay"));
    char size[NUMBER_BUF], cls[8];
    if (!(at >= 0) || !(bytes > 0))
        return;
    const double x = x_of(m, at), w = fmax(x_of(m, at + bytes) - x, 1.5);
    const char *name = row_string(b, "name"), *formula = row_string(b, "formula");
    char *hint =
        xasprintf("%s: %s, offset %.0f%s%s", name ? name : "?", number_fmt_bytes(size, bytes),
                  fmin(at, 1e12), formula ? ", " : "", formula ? formula : "");
    svg_hint_begin(m->out, hint);
    free(hint);
    snprintf(cls, sizeof cls, "s%d", (int)(i % SVG_SERIES));
    svg_rect(m->out, x + 0.5, over ? y + bar_h + 3 : y, w - 1, over ? 10 : bar_h, cls);
    if (!over && name && svg_width(name, true) + 8 < w)
        svg_text(m->out, x + w / 2, y + bar_h / 2 + 4, SVG_MIDDLE, "on m", name);
    svg_hint_end(m->out);
}

/* 48 KiB is what a kernel gets without asking. */
static void draw_walls(const struct map *m, double y)
{
    const double bottom = y + bar_h + overlay_h(m) + 6;
    if (m->total > default_limit * 1.02) {
        const double x = x_of(m, default_limit);
        svg_line(m->out, x, y - 6, x, bottom, "axis dash");
        svg_text(m->out, x, bottom + 14, SVG_MIDDLE, "d s", "48 KiB: opt-in beyond");
    }
    if (m->limit > 0 && m->used > m->limit) {
        const double x = x_of(m, m->limit);
        svg_line(m->out, x, y - 6, x, bottom, "lbad");
        svg_text(m->out, x, bottom + 14, SVG_END, "s bad", "the limit");
    }
    svg_text(m->out, left, bottom + 14, SVG_START, "d s", "0");
    char size[NUMBER_BUF];
    svg_text(m->out, left + bar_w, bottom + 14, SVG_END, "d s", number_fmt_bytes(size, m->total));
}

static void draw_legend(const struct map *m, double y)
{
    for (size_t i = 0; i < m->n; i++, y += row_h) {
        const json_t *b = json_array_get(m->smem, i);
        const char *name = row_string(b, "name"), *formula = row_string(b, "formula"),
                   *doc = row_string(b, "doc");
        char size[NUMBER_BUF], cls[8];
        snprintf(cls, sizeof cls, "s%d", (int)(i % SVG_SERIES));
        svg_rect(m->out, left, y - 10, 12, 12, cls);
        svg_textf(m->out, left + 20, y, SVG_START, "t m", "%s%s", name ? name : "?",
                  json_is_true(json_object_get(b, "overlay")) ? " (overlay)" : "");
        svg_text(m->out, left + 168, y, SVG_END, "t",
                 number_fmt_bytes(size, row_number(b, "bytes")));
        if (formula)
            svg_text(m->out, left + 182, y, SVG_START, "d m", formula);
        if (doc && svg_width(formula ? formula : "", true) + svg_width(doc, false) < bar_w - 200)
            svg_text(m->out, left + bar_w, y, SVG_END, "d", doc);
    }
}

/* ---- what limits the blocks of an SM ---- */

static bool is_limiter(const json_t *row, const char *name)
{
    const json_t *list = json_object_get(row, "limiter");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = json_string_value(json_array_get(list, i));
        if (text && !strcmp(text, name))
            return true;
    }
    return false;
}

static void draw_limits(const struct map *m, double y)
{
    static const struct {
        const char *field, *name, *text;
    } limits[] = {{"limit_blocks", "blocks", "block slots"},
                  {"limit_regs", "regs", "registers"},
                  {"limit_smem", "smem", "shared memory"},
                  {"limit_warps", "warps", "warps"}};
    static const double at[] = {0, 140, 310, 540};
    char buf[NUMBER_BUF], blocks[NUMBER_BUF];
    const bool bound = json_is_true(json_object_get(m->row, "upper_bound"));
    svg_textf(m->out, left, y, SVG_START, "b", "%s%s blocks per SM, occupancy %s%s %%",
              bound ? "at most " : "", number_fmt(blocks, row_number(m->row, "blocks_per_sm"), 3),
              bound ? "<= " : "", number_fmt(buf, row_number(m->row, "occupancy_pct"), 3));
    for (int i = 0; i < 4; i++) {
        const double x = left + at[i];
        const bool reached = is_limiter(m->row, limits[i].name);
        const double v = row_number(m->row, limits[i].field);
        svg_textf(m->out, x, y + 20, SVG_START, reached ? "b warn" : "d", "%s %s%s", limits[i].text,
                  isnan(v) ? "unknown" : number_fmt(buf, v, 4), reached ? "  \u2190 limits" : "");
    }
}

static void draw_map(const struct map *m, double y0)
{
    const char *kernel = row_string(m->row, "kernel"), *gpu = row_string(m->row, "gpu"),
               *params = row_string(m->row, "params"), *reason = row_string(m->row, "reason");
    char used[NUMBER_BUF], limit[NUMBER_BUF];
    svg_textf(m->out, left, y0 + 22, SVG_START, "b", "%s%s%s", kernel, gpu ? " on " : "",
              gpu ? gpu : "");
    svg_text(m->out, left + bar_w, y0 + 22, SVG_END, "d s", params ? params : "");
    svg_textf(m->out, left, y0 + 42, SVG_START, reason ? "bad" : "t",
              "%s of shared memory a block%s%s%s%s", number_fmt_bytes(used, m->used),
              m->limit > 0 ? ", of " : "", m->limit > 0 ? number_fmt_bytes(limit, m->limit) : "",
              reason ? ": " : "", reason ? reason : "");
    const double y = y0 + 58;
    svg_rect(m->out, left, y, bar_w, bar_h, "ghost");
    for (size_t i = 0; i < m->n; i++)
        draw_buffer(m, i, y);
    draw_walls(m, y);
    const double legend = y0 + 132 + overlay_h(m);
    draw_legend(m, legend);
    draw_limits(m, legend + (double)m->n * row_h + 12);
}

bool fig_smem_draw(const json_t *table, const struct device_table *d, bool alone, struct str *out)
{
    const json_t *rows = json_object_get(table, "rows");
    struct map maps[KERNELS_MAX];
    int n = 0;
    double h = 0;
    for (size_t i = 0; i < json_array_size(rows) && n < KERNELS_MAX; i++)
        if (is_mapped(json_array_get(rows, i))) {
            maps[n] = map_new(json_array_get(rows, i), d, out);
            h += map_h(&maps[n++]);
        }
    if (!n)
        return false;
    svg_begin(out, width, h, "shared memory of a block", alone);
    h = 0;
    for (int i = 0; i < n; i++) {
        if (i)
            svg_line(out, left, h, left + bar_w, h, "grid");
        draw_map(&maps[i], h);
        h += map_h(&maps[i]);
    }
    svg_end(out);
    return true;
}
