/* smem.c - the shared memory of a block to scale, buffer by buffer, and what limits the blocks of an
 * SM.
 *
 * In cells letters are the primary code, colour only repeats them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "draw/figures.h"
#include "draw/gnuplot.h"
#include "draw/svg.h"

/* ---- the model ---- */

enum { BUFFERS_MAX = 32, MAPS_MAX = 64, MAPS_SHOWN = 12 };

// clang-format off
static const struct field buffer_fields[] = {
    CHART_FIELD(smem_buffer, name, FIELD_TEXT),  CHART_FIELD(smem_buffer, formula, FIELD_TEXT),
    CHART_FIELD(smem_buffer, doc, FIELD_TEXT),   CHART_FIELD(smem_buffer, offset, FIELD_INT),
    CHART_FIELD(smem_buffer, bytes, FIELD_INT),  CHART_FIELD(smem_buffer, overlay, FIELD_BOOL),
    {0},
};
static const struct chart_layout buffer_layout = {sizeof(struct smem_buffer), buffer_fields, NULL};
static const struct field map_fields[] = {
    CHART_FIELD(smem_map, kernel, FIELD_TEXT),       CHART_FIELD(smem_map, params, FIELD_TEXT),
    CHART_FIELD(smem_map, device, FIELD_TEXT),       CHART_FIELD(smem_map, reason, FIELD_TEXT),
    CHART_FIELD(smem_map, bytes, FIELD_INT),         CHART_FIELD(smem_map, limit, FIELD_INT),
    CHART_FIELD(smem_map, limit_blocks, FIELD_INT),  CHART_FIELD(smem_map, limit_regs, FIELD_INT),
    CHART_FIELD(smem_map, limit_smem, FIELD_INT),    CHART_FIELD(smem_map, limit_warps, FIELD_INT),
    CHART_FIELD(smem_map, blocks_per_sm, FIELD_INT), CHART_FIELD(smem_map, limiter, FIELD_INT),
    CHART_FIELD(smem_map, occupancy_pct, FIELD_REAL),
    CHART_FIELD(smem_map, bound, FIELD_BOOL),        CHART_FIELD(smem_map, stale, FIELD_BOOL),
    {0},
};
static const struct chart_part map_parts[] = {
    CHART_PART(smem_map, buffers, n, &buffer_layout, BUFFERS_MAX), {0},
};
const struct chart_layout smem_map_layout = {sizeof(struct smem_map), map_fields, map_parts};
static const struct field chart_fields[] = {{0}};
static const struct chart_part chart_parts[] = {
    CHART_PART(smem_chart, maps, n, &smem_map_layout, MAPS_MAX), {0},
};
static const struct chart_layout chart_layout = {sizeof(struct smem_chart), chart_fields,
                                                 chart_parts};
// clang-format on

struct smem_map *smem_add(struct smem_chart *s)
{
    s->maps = xrealloc(s->maps, ((size_t)s->n + 1) * sizeof *s->maps);
    model_init(&smem_map_layout, &s->maps[s->n]);
    return &s->maps[s->n++];
}

void smem_buffers(struct smem_map *m, int n)
{
    m->buffers = model_list(&buffer_layout, m->n = n < BUFFERS_MAX ? n : BUFFERS_MAX);
}

void smem_take(struct smem_map *m, const struct plan_pass *p, const struct arch_limits *arch)
{
    smem_buffers(m, plan_buffers_held(p));
    for (int i = 0, n = 0; n < m->n; i++) {
        const struct plan_smem *b = &p->smem[i];
        if (!b->bytes)
            continue;
        m->buffers[n++] = (struct smem_buffer){.name = xstrdup(b->name),
                                               .formula = b->formula ? xstrdup(b->formula) : NULL,
                                               .doc = b->doc ? xstrdup(b->doc) : NULL,
                                               .offset = b->offset,
                                               .bytes = b->bytes,
                                               .overlay = b->overlay};
    }
    m->bytes = p->smem_bytes;
    m->limit = arch ? arch->smem_optin : 0;
    m->limit_blocks = p->occ.limit_blocks;
    m->limit_regs = p->occ.limit_regs;
    m->limit_smem = p->occ.limit_smem;
    m->limit_warps = p->occ.limit_warps;
    m->limiter = p->occ.limiter;
    m->blocks_per_sm = p->occ.blocks_per_sm;
    m->occupancy_pct = p->occ.occupancy_pct;
    m->bound = p->occ.upper_bound == 1 && p->occ.blocks_per_sm > 0;
    m->stale = p->regs_stale;
}

static bool is_size(int64_t v)
{
    return v >= 0 && v < (INT64_C(1) << 40);
}

static bool smem_sound(const void *model)
{
    const struct smem_chart *s = model;
    bool ok = s->n > 0;
    for (int i = 0; i < s->n; i++) {
        const struct smem_map *m = &s->maps[i];
        ok = ok && m->kernel && is_size(m->bytes) && is_size(m->limit);
        for (int k = 0; k < m->n; k++)
            ok = ok && m->buffers[k].name && is_size(m->buffers[k].offset) &&
                 is_size(m->buffers[k].bytes);
    }
    return ok;
}

/* ---- cells ---- */

enum { SMEM_DEFAULT = 48 * 1024 }; /* what a launch gets without asking for more */

static bool letter_taken(const char *letters, int n, char c)
{
    return memchr(letters, c, (size_t)n) != NULL;
}

/* A letter for each buffer: from its name where one is free, else a digit. */
void smem_letters(const struct smem_buffer *b, int n, char *letters)
{
    for (int i = 0; i < n; i++) {
        char pick = 0;
        for (const char *s = b[i].name; *s && !pick; s++)
            if (isalpha((unsigned char)*s) && !letter_taken(letters, i, (char)toupper(*s)))
                pick = (char)toupper(*s);
        for (char d = '1'; d <= '9' && !pick; d++)
            if (!letter_taken(letters, i, d))
                pick = d;
        letters[i] = pick ? pick : '#';
    }
}

static enum role series(int i)
{
    return (enum role)(ROLE_SERIES + i % 6);
}

/* The first cell of byte `at` when `total` bytes are `w` cells. */
static int smem_cell(int64_t at, int64_t total, int w)
{
    const double share = (double)at / (double)total;
    return share < 1 ? (int)(share * w + 0.5) : w;
}

static void draw_buffer(struct canvas *c, struct rect bar, int64_t total, int64_t limit,
                        const struct smem_buffer *b, char letter, enum role role)
{
    int from = smem_cell(b->offset, total, bar.w);
    int to = smem_cell(b->offset + b->bytes, total, bar.w);
    if (to == from && b->bytes > 0)
        to = from + 1; /* small, but there */
    int wall = limit > 0 ? smem_cell(limit, total, bar.w) : bar.w;
    for (int x = from; x < to && x < bar.w; x++)
        canvas_put(c, bar.x + x, bar.y, x >= wall ? ROLE_BAD : role, (uint32_t)letter);
}

/* Overlays reuse an earlier buffer's bytes; they stand in the legend, the bar shows the owner. */
static void draw_smem_bar(struct canvas *c, struct rect r, const struct smem_map *p,
                          const char *letters)
{
    struct rect bar = {r.x + 1, r.y, r.w - 2, 1};
    const int64_t limit = p->limit;
    int64_t total = limit > p->bytes ? limit : p->bytes;
    canvas_put(c, r.x, r.y, ROLE_FRAME, '[');
    canvas_put(c, r.x + r.w - 1, r.y, ROLE_FRAME, ']');
    for (int x = 0; x < bar.w; x++)
        canvas_put(c, bar.x + x, bar.y, ROLE_DIM, c->glyphs == GLYPHS_ASCII ? '.' : 0xb7);
    for (int i = 0; i < p->n && total > 0; i++)
        if (!p->buffers[i].overlay)
            draw_buffer(c, bar, total, limit, &p->buffers[i], letters[i], series(i));
    int usual = smem_cell(SMEM_DEFAULT, total, bar.w);
    if (limit > SMEM_DEFAULT && p->bytes <= SMEM_DEFAULT && usual < bar.w)
        canvas_put(c, bar.x + usual, bar.y, ROLE_WARN, ':'); /* the wall without opt-in */
    if (limit > 0 && limit < total)
        canvas_put(c, bar.x + smem_cell(limit, total, bar.w - 1), bar.y, ROLE_BAD, '|');
}

/* "K Ks 8.0 KiB", with the formula where there is a row for each buffer. */
static int legend_entry(struct canvas *c, int x, int y, int w, char letter, enum role role,
                        const struct smem_buffer *b)
{
    char buf[NUMBER_BUF];
    struct str s = {0};
    str_addf(&s, "%s%s %s", b->name, b->overlay ? " (overlay)" : "",
             number_fmt_bytes(buf, (double)b->bytes));
    int used = str_width(str_text(&s)) + 2;
    if (used <= w) {
        canvas_put(c, x, y, role, (uint32_t)letter);
        canvas_text(c, x + 2, y, w - 2, ROLE_NORMAL, str_text(&s));
    }
    str_free(&s);
    return used <= w ? used : 0;
}

static void legend_rows(struct canvas *c, struct rect r, const struct smem_map *p,
                        const char *letters)
{
    for (int i = 0; i < p->n; i++) {
        const struct smem_buffer *b = &p->buffers[i];
        char buf[NUMBER_BUF];
        int y = r.y + i;
        canvas_put(c, r.x, y, series(i), (uint32_t)letters[i]);
        canvas_text(c, r.x + 2, y, 10, ROLE_NORMAL, b->name);
        canvas_textf(c, r.x + 12, y, r.w - 12, ROLE_NORMAL, "%10s",
                     number_fmt_bytes(buf, (double)b->bytes));
        int used = 24;
        if (b->formula && used < r.w)
            used += 2 + canvas_text(c, r.x + used, y, r.w - used, ROLE_DIM, b->formula);
        if (b->doc && r.w - used >= 12)
            canvas_text(c, r.x + used, y, r.w - used, ROLE_DIM, b->doc);
    }
}

static void legend_line(struct canvas *c, struct rect r, const struct smem_map *p,
                        const char *letters)
{
    int x = r.x, y = r.y;
    for (int i = 0; i < p->n && y < r.y + r.h; i++) {
        int room = r.x + r.w - x;
        int used = legend_entry(c, x, y, room, letters[i], series(i), &p->buffers[i]);
        if (used > 0) {
            x += used + 2;
        } else if (y + 1 < r.y + r.h && x > r.x) {
            x = r.x;
            y++;
            i--; /* again, on the next row */
        } else {
            if (room > 0)
                canvas_textf(c, x, y, room, ROLE_DIM, "+%d", p->n - i);
            return;
        }
    }
}

void fig_smem(struct canvas *c, struct rect r, const struct smem_map *m)
{
    char letters[BUFFERS_MAX] = {0};
    if (r.w < 4 || r.h < 1)
        return;
    smem_letters(m->buffers, m->n, letters);
    int bar = m->limit > 0; /* a bar without a limit would look full */
    if (bar)
        draw_smem_bar(c, r, m, letters);
    struct rect legend = {r.x, r.y + bar, r.w, r.h - bar};
    if (m->n == 0)
        canvas_text(c, r.x, r.y + bar, r.h > bar ? r.w : 0, ROLE_DIM,
                    "this kernel uses no shared memory");
    else if (legend.h >= m->n && r.w >= 50)
        legend_rows(c, legend, m, letters);
    else if (legend.h > 0)
        legend_line(c, legend, m, letters);
}

static void smem_cells(struct canvas *c, struct rect r, const void *model,
                       const struct chart_view *v)
{
    const struct smem_chart *s = model;
    fig_smem(c, r, &s->maps[v->part < s->n ? v->part : 0]);
}

/* ---- SVG ---- */

static const double width = 760, left = 24, bar_w = 712, bar_h = 30, row_h = 18;

/* Bytes that the bar is long. */
static double total_of(const struct smem_map *m)
{
    return fmax(fmax((double)m->limit, (double)m->bytes), m->limit > 0 ? 1 : SMEM_DEFAULT);
}

static double overlay_h(const struct smem_map *m)
{
    for (int i = 0; i < m->n; i++)
        if (m->buffers[i].overlay)
            return 16;
    return 0;
}

static double map_h(const struct smem_map *m)
{
    return 116 + overlay_h(m) + m->n * row_h + 74;
}

static double x_of(const struct smem_map *m, double bytes)
{
    return left + fmin(fmax(bytes / total_of(m), 0), 1) * bar_w;
}

static void svg_buffer(struct str *out, const struct smem_map *m, int i, double y)
{
    const struct smem_buffer *b = &m->buffers[i];
    char size[NUMBER_BUF], cls[8];
    if (!b->bytes)
        return;
    const double at = (double)b->offset, x = x_of(m, at);
    const double w = fmax(x_of(m, at + (double)b->bytes) - x, 1.5);
    char *hint =
        xasprintf("%s: %s, offset %lld%s%s", b->name, number_fmt_bytes(size, (double)b->bytes),
                  (long long)b->offset, b->formula ? ", " : "", b->formula ? b->formula : "");
    svg_hint_begin(out, hint);
    free(hint);
    snprintf(cls, sizeof cls, "s%d", i % SVG_SERIES);
    svg_rect(out, x + 0.5, b->overlay ? y + bar_h + 3 : y, w - 1, b->overlay ? 10 : bar_h, cls);
    if (!b->overlay && svg_width(b->name, true) + 8 < w)
        svg_text(out, x + w / 2, y + bar_h / 2 + 4, SVG_MIDDLE, "on m", b->name);
    svg_hint_end(out);
}

/* 48 KiB is what a kernel gets without asking. */
static void svg_walls(struct str *out, const struct smem_map *m, double y)
{
    const double bottom = y + bar_h + overlay_h(m) + 6;
    char size[NUMBER_BUF];
    if (total_of(m) > SMEM_DEFAULT * 1.02) {
        const double x = x_of(m, SMEM_DEFAULT);
        svg_line(out, x, y - 6, x, bottom, "axis dash");
        svg_text(out, x, bottom + 14, SVG_MIDDLE, "d s", "48 KiB: opt-in beyond");
    }
    if (m->limit > 0 && m->bytes > m->limit) {
        const double x = x_of(m, (double)m->limit);
        svg_line(out, x, y - 6, x, bottom, "lbad");
        svg_text(out, x, bottom + 14, SVG_END, "s bad", "the limit");
    }
    svg_text(out, left, bottom + 14, SVG_START, "d s", "0");
    svg_text(out, left + bar_w, bottom + 14, SVG_END, "d s", number_fmt_bytes(size, total_of(m)));
}

static void svg_legend(struct str *out, const struct smem_map *m, double y)
{
    for (int i = 0; i < m->n; i++, y += row_h) {
        const struct smem_buffer *b = &m->buffers[i];
        const char *formula = b->formula ? b->formula : "", *doc = b->doc ? b->doc : "";
        char size[NUMBER_BUF], cls[8];
        snprintf(cls, sizeof cls, "s%d", i % SVG_SERIES);
        svg_rect(out, left, y - 10, 12, 12, cls);
        svg_textf(out, left + 20, y, SVG_START, "t m", "%s%s", b->name,
                  b->overlay ? " (overlay)" : "");
        svg_text(out, left + 168, y, SVG_END, "t", number_fmt_bytes(size, (double)b->bytes));
        if (*formula)
            svg_text(out, left + 182, y, SVG_START, "d m", formula);
        if (*doc && svg_width(formula, true) + svg_width(doc, false) < bar_w - 200)
            svg_text(out, left + bar_w, y, SVG_END, "d", doc);
    }
}

static void svg_limits(struct str *out, const struct smem_map *m, double y)
{
    const struct {
        int64_t value;
        int bit;
        const char *text;
        double at;
    } limits[] = {{m->limit_blocks, OCC_BLOCKS, "block slots", 0},
                  {m->limit_regs, OCC_REGS, "registers", 140},
                  {m->limit_smem, OCC_SMEM, "shared memory", 310},
                  {m->limit_warps, OCC_WARPS, "warps", 540}};
    const int64_t limiter = m->limiter == INT_UNKNOWN ? 0 : m->limiter;
    char buf[NUMBER_BUF], blocks[NUMBER_BUF];
    if (m->blocks_per_sm == INT_UNKNOWN)
        return;
    svg_textf(out, left, y, SVG_START, "b", "%s%s blocks per SM, occupancy %s%s %%%s",
              m->bound ? "<=" : "", number_fmt_int(blocks, m->blocks_per_sm), m->bound ? "<=" : "",
              number_fmt(buf, m->occupancy_pct, 3),
              m->stale ? "; its registers are of an older source" : "");
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const bool reached = limiter & limits[i].bit;
        svg_textf(out, left + limits[i].at, y + 20, SVG_START, reached ? "b warn" : "d", "%s %s%s",
                  limits[i].text,
                  limits[i].value == INT_UNKNOWN ? "unknown" : number_fmt_int(buf, limits[i].value),
                  reached ? "  \u2190 limits" : "");
    }
}

static void svg_map(struct str *out, const struct smem_map *m, double y0)
{
    const char *reason = m->reason ? m->reason : "";
    char used[NUMBER_BUF], limit[NUMBER_BUF];
    svg_textf(out, left, y0 + 22, SVG_START, "b", "%s%s%s", m->kernel, m->device ? " on " : "",
              m->device ? m->device : "");
    svg_text(out, left + bar_w, y0 + 22, SVG_END, "d s", m->params);
    svg_textf(
        out, left, y0 + 42, SVG_START, *reason ? "bad" : "t", "%s of shared memory a block%s%s%s%s",
        number_fmt_bytes(used, (double)m->bytes), m->limit > 0 ? ", of " : "",
        m->limit > 0 ? number_fmt_bytes(limit, (double)m->limit) : "", *reason ? ": " : "", reason);
    const double y = y0 + 58, legend = y0 + 132 + overlay_h(m);
    svg_rect(out, left, y, bar_w, bar_h, "ghost");
    for (int i = 0; i < m->n; i++)
        svg_buffer(out, m, i, y);
    svg_walls(out, m, y);
    svg_legend(out, m, legend);
    svg_limits(out, m, legend + m->n * row_h + 12);
}

static void smem_svg(struct str *out, const struct chart *c, bool alone)
{
    const struct smem_chart *s = c->model;
    const int n = s->n < MAPS_SHOWN ? s->n : MAPS_SHOWN;
    double h = 0;
    for (int i = 0; i < n; i++)
        h += map_h(&s->maps[i]);
    chart_svg_begin(out, c, width, h, "shared memory of a block", alone);
    h = 0;
    for (int i = 0; i < n; i++) {
        if (i)
            svg_line(out, left, h, left + bar_w, h, "grid");
        svg_map(out, &s->maps[i], h);
        h += map_h(&s->maps[i]);
    }
    svg_end(out);
}

/* ---- gnuplot: a row for each kernel, a box for each buffer ---- */

static void gp_boxes(struct str *out, const struct smem_chart *s)
{
    str_add(out, "$boxes << EOD\n");
    for (int k = 0; k < s->n; k++)
        for (int i = 0; i < s->maps[k].n; i++) {
            const struct smem_buffer *b = &s->maps[k].buffers[i];
            if (!b->bytes)
                continue;
            const double low = k + (b->overlay ? 0.32 : -0.3), high = k + (b->overlay ? 0.42 : 0.3);
            str_addf(out, "%.9g %.9g %.9g %.9g %.9g %.9g %d ",
                     ((double)b->offset + (double)b->bytes / 2) / 1024, (low + high) / 2,
                     (double)b->offset / 1024, (double)(b->offset + b->bytes) / 1024, low, high,
                     i % SVG_SERIES + 1);
            gp_quoted(out, b->name);
            str_addc(out, '\n');
        }
    str_add(out, "EOD\n");
}

static void smem_gnuplot(struct str *out, const struct chart *c)
{
    const struct smem_chart *s = c->model;
    double most = SMEM_DEFAULT;
    char b[2][NUMBER_BUF];
    gp_head(out, &c->caption);
    gp_boxes(out, s);
    str_add(out, "set ytics (");
    for (int i = 0; i < s->n; i++) {
        const struct smem_map *m = &s->maps[i];
        char *name =
            xasprintf("%s%s%s: %s%s blocks, %s%s %%%s", m->kernel, m->device ? " on " : "",
                      m->device ? m->device : "", m->bound ? "<=" : "",
                      number_fmt_int(b[0], m->blocks_per_sm), m->bound ? "<=" : "",
                      number_fmt(b[1], m->occupancy_pct, 3), m->stale ? " (older source)" : "");
        str_add(out, i ? ", " : "");
        gp_tick(out, name, i);
        free(name);
        most = fmax(most, total_of(m));
    }
    str_addf(out,
             ")\nset yrange [%d.6:-0.6]\nset xrange [0:%.9g]\nset xlabel \"KiB of a block\"\n"
             "set style fill solid 0.6\nset arrow from 48,graph 0 to 48,graph 1 nohead dt 2\n"
             "plot $boxes using 1:2:3:4:5:6:7 with boxxyerror lc variable notitle, \\\n"
             "     $boxes using 1:2:8 with labels notitle\n",
             s->n - 1, most / 1024);
}

const struct chart_kind chart_smem = {
    .name = "smem",
    .doc = "plan: the shared memory of a block and the limits of an SM",
    .layout = &chart_layout,
    .sound = smem_sound,
    .cells = smem_cells,
    .svg = smem_svg,
    .gnuplot = smem_gnuplot,
};
