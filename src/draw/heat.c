/* heat.c - heat maps: a value over two axes, with the digits beside the shade, and a letter where a
 * cell is not possible.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/number.h"
#include "draw/figures.h"
#include "draw/gnuplot.h"
#include "draw/grid.h"
#include "draw/svg.h"

/* One map of the model; what the screen looks at of it. */
struct map {
    const struct grid_chart *g;
    const struct grid_cell *cells;
    struct range range; /* of all its cells: the shades do not change as the view scrolls */
    int cx, cy;         /* the cursor; -1: none */
};

static bool heat_sound(const void *model)
{
    const struct grid_chart *g = model;
    return grid_sound(g) && g->ny;
}

static bool any_bound(const struct grid_cell *cells, int n)
{
    for (int i = 0; i < n; i++)
        if (cells[i].bound && isfinite(cells[i].value))
            return true;
    return false;
}

/* Of one map's values. A bound is none: it has no shade and moves nobody else's. */
static struct range heat_range(const struct grid_chart *g, int series)
{
    struct range r = RANGE_NONE;
    for (int i = 0; i < g->series[series].n; i++)
        if (!g->series[series].cells[i].bound)
            range_add(&r, g->series[series].cells[i].value);
    r.log = r.lo > 0 && r.hi / r.lo >= 50;
    return r;
}

/* ---- cells ---- */

enum { CELL_MIN = 4, CELL_MAX = 11, ROWS_MAX = 3, SHADES = 5 };

static uint32_t shade(const struct canvas *c, double share)
{
    static const uint32_t ascii[SHADES] = {'.', ':', '+', '*', '#'},
                          block[SHADES] = {0x00b7, 0x2591, 0x2592, 0x2593, 0x2588};
    int i = (int)(share * SHADES);
    i = i < 0 ? 0 : i >= SHADES ? SHADES - 1 : i;
    return (c->glyphs == GLYPHS_ASCII ? ascii : block)[i];
}

struct heat_layout {
    struct rect r; /* the cells */
    int cw, ch;    /* of one cell */
    int left, top; /* first cell that is visible */
    int nx, ny;    /* cells that are visible */
};

static int limit(int v, int lo, int hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

static int first_visible(int cur, int shown, int n)
{
    return limit(cur - shown / 2, 0, n > shown ? n - shown : 0);
}

static int widest(const struct grid_text *texts, int n)
{
    int w = 0;
    for (int i = 0; i < n; i++)
        w = limit(str_width(texts[i].text), w, 12);
    return w;
}

static struct heat_layout lay_out(struct rect r, const struct map *f)
{
    struct heat_layout l;
    int label = widest(f->g->y, f->g->ny) + 1;
    int name = limit(str_width(f->g->yname), 0, 12) + 1;
    label = label > name ? label : name;
    l.r = (struct rect){r.x + label, r.y + 2, r.w - label, r.h - 3};
    l.cw = limit(l.r.w / (f->g->nx > 0 ? f->g->nx : 1), CELL_MIN, CELL_MAX);
    l.ch = limit(l.r.h / (f->g->ny > 0 ? f->g->ny : 1), 1, ROWS_MAX);
    l.nx = limit(l.r.w / l.cw, 0, f->g->nx);
    l.ny = limit(l.r.h / l.ch, 0, f->g->ny);
    l.left = first_visible(f->cx, l.nx, f->g->nx);
    l.top = first_visible(f->cy, l.ny, f->g->ny);
    return l;
}

/* The number, and before it whether it is only a bound: its sign alone where there is little room. */
static void cell_number(const struct grid_cell *v, int w, char *out, size_t size)
{
    char number[NUMBER_BUF];
    const char *mark = v->bound ? v->bound : "";
    number_fmt(number, v->value, w >= 9 ? 4 : 3);
    const bool sign = w <= 7 && str_width(number) + 1 < w;
    snprintf(out, size, "%.*s%s", w > 7 ? 2 : sign ? 1 : 0, mark, number);
}

/* Shade left, digits right; where both do not fit, the digits. A bound is hatched. */
static void draw_cell(struct canvas *c, struct rect r, const struct map *f,
                      const struct grid_cell *v, bool cur)
{
    char text[NUMBER_BUF + 4];
    if (isfinite(v->value)) {
        cell_number(v, r.w, text, sizeof text);
        int w = limit(str_width(text), 0, r.w - 1);
        uint32_t glyph = v->bound ? '/' : shade(c, range_share(&f->range, v->value));
        for (int y = 0; y < r.h; y++)
            for (int x = 0; x < r.w - 1 - (y == r.h / 2 ? w + 1 : 0); x++)
                canvas_put(c, r.x + x, r.y + y, v->bound ? ROLE_DIM : ROLE_HEAT, glyph);
        canvas_text(c, r.x + r.w - 1 - w, r.y + r.h / 2, w, ROLE_NORMAL, text);
    } else {
        canvas_put(c, r.x + (r.w - 1) / 2, r.y + r.h / 2, v->blocked ? ROLE_BAD : ROLE_DIM,
                   v->blocked ? (uint32_t)chart_block_of(v->blocked)->letter : '?');
    }
    if (!cur)
        return;
    canvas_fill(c, (struct rect){r.x, r.y, r.w - 1, r.h}, ROLE_SELECT);
    if (r.h == 1 && r.w >= 7) { /* also without colour */
        canvas_put(c, r.x, r.y, ROLE_SELECT, '[');
        canvas_put(c, r.x + r.w - 1, r.y, ROLE_ACCENT, ']');
    } else {
        canvas_put(c, r.x, r.y + r.h / 2, ROLE_SELECT, '>');
    }
}

static void draw_labels(struct canvas *c, struct rect r, const struct heat_layout *l,
                        const struct map *f)
{
    canvas_text(c, r.x, r.y + 1, l->r.x - r.x - 1, ROLE_TITLE, f->g->yname);
    canvas_textf(c, l->r.x, r.y, l->r.w, ROLE_TITLE, "%s", f->g->xname);
    for (int x = 0; x < l->nx; x++) {
        int i = l->left + x, w = limit(str_width(f->g->x[i].text), 0, l->cw - 1);
        canvas_text(c, l->r.x + x * l->cw + l->cw - 1 - w, r.y + 1, w,
                    i == f->cx ? ROLE_ACCENT : ROLE_DIM, f->g->x[i].text);
    }
    for (int y = 0; y < l->ny; y++) {
        int i = l->top + y, w = limit(str_width(f->g->y[i].text), 0, l->r.x - r.x - 1);
        canvas_text(c, l->r.x - 1 - w, l->r.y + y * l->ch + l->ch / 2, w,
                    i == f->cy ? ROLE_ACCENT : ROLE_DIM, f->g->y[i].text);
    }
}

/* Writes at *x as far as `end` and moves on. */
static void legend_item(struct canvas *c, int *x, int y, int end, enum role role, uint32_t glyph,
                        const char *text)
{
    if (*x + 3 > end)
        return;
    canvas_put(c, *x, y, role, glyph);
    *x += 2;
    *x += 2 + canvas_text(c, *x, y, end - *x, ROLE_DIM, text);
}

static bool has_block(const struct map *f, const struct chart_block *b)
{
    for (int i = 0; i < f->g->nx * f->g->ny; i++)
        if (!isfinite(f->cells[i].value) && f->cells[i].blocked &&
            chart_block_of(f->cells[i].blocked) == b)
            return true;
    return false;
}

/* ". 8.3  # 100  S shared memory": what shades and letters mean. */
static void draw_legend(struct canvas *c, struct rect r, const struct map *f)
{
    const struct range *s = &f->range;
    char b[NUMBER_BUF], text[NUMBER_BUF + 8];
    int x = r.x, y = r.y + r.h - 1, end = r.x + r.w;
    if (s->hi > s->lo)
        legend_item(c, &x, y, end, ROLE_HEAT, shade(c, 0), number_fmt(b, s->lo, 4));
    snprintf(text, sizeof text, "%s%s", number_fmt(b, s->hi, 4), s->log ? " (log)" : "");
    if (range_known(s))
        legend_item(c, &x, y, end, ROLE_HEAT, shade(c, 1), text);
    if (any_bound(f->cells, f->g->nx * f->g->ny))
        legend_item(c, &x, y, end, ROLE_DIM, '/', "only bounded");
    for (const struct chart_block *k = chart_blocks; k->word; k++)
        if (has_block(f, k))
            legend_item(c, &x, y, end, ROLE_BAD, (uint32_t)k->letter, k->text);
}

void fig_heat(struct canvas *c, struct rect r, const struct grid_chart *g, int series, int cx,
              int cy)
{
    const struct map f = {g, g->series[series].cells, heat_range(g, series), cx, cy};
    if (g->nx < 1 || g->ny < 1 || r.w < 12 || r.h < 4)
        return;
    struct heat_layout l = lay_out(r, &f);
    if (l.nx < 1 || l.ny < 1)
        return;
    draw_labels(c, r, &l, &f);
    for (int y = 0; y < l.ny; y++)
        for (int x = 0; x < l.nx; x++) {
            int ix = l.left + x, iy = l.top + y;
            struct rect at = {l.r.x + x * l.cw, l.r.y + y * l.ch, l.cw, l.ch};
            draw_cell(c, at, &f, &f.cells[iy * g->nx + ix], ix == cx && iy == cy);
        }
    if (l.nx < g->nx || l.ny < g->ny)
        canvas_textf(c, l.r.x + 13, r.y, l.r.w > 13 ? l.r.w - 13 : 0, ROLE_DIM, "%dx%d of %dx%d",
                     l.nx, l.ny, g->nx, g->ny);
    draw_legend(c, r, &f);
}

static void heat_cells(struct canvas *c, struct rect r, const void *model,
                       const struct chart_view *v)
{
    const struct grid_chart *g = model;
    fig_heat(c, r, g, v->part < g->nseries ? v->part : 0, v->x, v->y);
}

/* ---- SVG: one map below the other ---- */

static const double left = 96, cell_h = 34, head = 52, foot = 44, scale_w = 150;

struct heat {
    const struct grid_chart *g;
    struct str *out;
    struct range range; /* of the map that is drawn */
    double cell_w;
    int series;
};

static int svg_shade(const struct heat *h, double v)
{
    const double share = range_share(&h->range, v);
    return share < 1 ? (int)(fmax(share, 0) * SVG_SHADES) : SVG_SHADES - 1;
}

/* No shade, hatched: how it compares with the others nobody knows. */
static void draw_hatch(const struct heat *h, double x, double y)
{
    const double w = h->cell_w - 2, step = cell_h / 3;
    svg_rect(h->out, x + 1, y + 1, w, cell_h - 2, "ghost");
    for (double at = step; at < w + cell_h; at += step) {
        const double x0 = fmax(0, at - (cell_h - 2)), x1 = fmin(at, w);
        svg_line(h->out, x + 1 + x0, y + 1 + at - x0, x + 1 + x1, y + 1 + at - x1, "grid");
    }
    svg_rect(h->out, x + 3, y + 3, h->cell_w - 6, cell_h - 6, "axis dash");
}

static void draw_value(const struct heat *h, const struct grid_cell *v, double x, double y)
{
    char number[NUMBER_BUF], text[NUMBER_BUF + 4], cls[16];
    snprintf(text, sizeof text, "%s%s", v->bound ? v->bound : "", number_fmt(number, v->value, 3));
    snprintf(cls, sizeof cls, "h%d", svg_shade(h, v->value));
    if (v->bound)
        draw_hatch(h, x, y);
    else
        svg_rect(h->out, x + 1, y + 1, h->cell_w - 2, cell_h - 2, cls);
    snprintf(cls, sizeof cls, v->bound ? "d s" : "k%d", svg_shade(h, v->value));
    if (svg_width(text, false) < h->cell_w - 4)
        svg_text(h->out, x + h->cell_w / 2, y + cell_h / 2 + 4, SVG_MIDDLE, cls, text);
}

static void draw_none(const struct heat *h, const struct grid_cell *v, double x, double y)
{
    const struct chart_block *b = v->blocked ? chart_block_of(v->blocked) : NULL;
    const bool fail = b && b->letter == 'F';
    const char *word = fail ? "FAIL" : b && b[1].word ? b->word : "";
    svg_rect(h->out, x + 1, y + 1, h->cell_w - 2, cell_h - 2, "ghost");
    if (*word && svg_width(word, false) < h->cell_w)
        svg_text(h->out, x + h->cell_w / 2, y + cell_h / 2 + 4, SVG_MIDDLE, fail ? "s bad" : "d s",
                 word);
    else
        svg_line(h->out, x + 5, y + cell_h - 5, x + h->cell_w - 5, y + 5, "axis");
}

static void draw_point(const struct heat *h, int i, int j, double y0)
{
    const struct grid_cell *v = &h->g->series[h->series].cells[j * h->g->nx + i];
    const double x = left + i * h->cell_w, y = y0 + j * cell_h;
    char *hint = grid_cell_hint(h->g, h->series, i, j);
    svg_hint_begin(h->out, hint);
    if (isfinite(v->value))
        draw_value(h, v, x, y);
    else
        draw_none(h, v, x, y);
    svg_hint_end(h->out);
    free(hint);
}

static void draw_scale(const struct heat *h, double y)
{
    const struct range *r = &h->range;
    char a[NUMBER_BUF], b[NUMBER_BUF], classes[16];
    const char *note = any_bound(h->g->series[h->series].cells, h->g->series[h->series].n)
                           ? "; hatched, <= or >=: a bound, no more is known"
                           : "";
    if (!range_known(r)) {
        svg_textf(h->out, left, y + 10, SVG_START, "d s", "grey: not possible%s", note);
        return;
    }
    for (int k = 0; k < SVG_SHADES; k++) {
        snprintf(classes, sizeof classes, "h%d", k);
        svg_rect(h->out, left + k * scale_w / SVG_SHADES, y, scale_w / SVG_SHADES, 10, classes);
    }
    svg_textf(h->out, left + scale_w + 10, y + 10, SVG_START, "d s",
              "%s to %s%s%s%s; grey: not possible%s", number_fmt(a, r->lo, 3),
              number_fmt(b, r->hi, 3), h->g->unit && *h->g->unit ? " " : "", svg_unit(h->g->unit),
              r->log ? " (logarithmic)" : "", note);
}

static void draw_map(const struct heat *h, double y0)
{
    const struct grid_chart *g = h->g;
    svg_textf(h->out, left, y0 - 30, SVG_START, "b", "%s: %s", g->series[h->series].name,
              g->metric);
    for (int i = 0; i < g->nx; i++)
        if (svg_width(g->x[i].text, false) < h->cell_w || i == 0)
            svg_text(h->out, left + (i + 0.5) * h->cell_w, y0 - 8, SVG_MIDDLE, "d s", g->x[i].text);
    for (int j = 0; j < g->ny; j++) {
        svg_text(h->out, left - 8, y0 + (j + 0.5) * cell_h + 4, SVG_END, "d s", g->y[j].text);
        for (int i = 0; i < g->nx; i++)
            draw_point(h, i, j, y0);
    }
    svg_text(h->out, left + g->nx * h->cell_w + 10, y0 - 8, SVG_START, "t", g->xname);
    svg_text(h->out, 12, y0 + 16, SVG_START, "t", g->yname);
    draw_scale(h, y0 + g->ny * cell_h + 16);
}

static void heat_svg(struct str *out, const struct chart *c, bool alone)
{
    const struct grid_chart *g = c->model;
    struct heat h = {.g = g, .out = out, .cell_w = fmax(16, fmin(72, 600.0 / g->nx))};
    const double map_h = head + g->ny * cell_h + foot, w = left + g->nx * h.cell_w + 120;
    char *title = xasprintf("%s over %s and %s", g->metric, g->yname, g->xname);
    chart_svg_begin(out, c, fmax(w, 760), g->nseries * map_h, title, alone);
    for (h.series = 0; h.series < g->nseries; h.series++) {
        h.range = heat_range(g, h.series);
        draw_map(&h, h.series * map_h + head);
    }
    svg_end(out);
    free(title);
}

/* ---- gnuplot ---- */

/* The words in the cells: values with their bounds, or what forbids them. */
static void gp_words(struct str *out, const struct grid_chart *g, int s)
{
    char number[NUMBER_BUF], text[NUMBER_BUF + 4];
    str_addf(out, "$words%d << EOD\n", s);
    for (int i = 0; i < g->series[s].n; i++) {
        const struct grid_cell *v = &g->series[s].cells[i];
        snprintf(text, sizeof text, "%s%s", v->bound ? v->bound : "",
                 number_fmt(number, v->value, 3));
        str_addf(out, "%d %d ", i % g->nx, i / g->nx);
        gp_quoted(out, isfinite(v->value) ? text
                       : v->blocked       ? chart_block_of(v->blocked)->word
                                          : "?");
        str_addc(out, '\n');
    }
    str_add(out, "EOD\n");
}

static void gp_map(struct str *out, const struct grid_chart *g, int s)
{
    const struct range r = heat_range(g, s);
    str_addf(out, "$data%d << EOD\n", s);
    for (int i = 0; i < g->series[s].n; i++) {
        str_addf(out, "%d %d", i % g->nx, i / g->nx);
        gp_value(out, g->series[s].cells[i].bound ? NAN : g->series[s].cells[i].value);
        str_add(out, (i + 1) % g->nx ? "\n" : "\n\n");
    }
    str_add(out, "EOD\n");
    gp_words(out, g, s);
    if (r.hi > r.lo)
        gp_range(out, "cb", &r, NULL, 0);
    else if (range_known(&r)) /* gnuplot wants a range */
        gp_range(out, "cb", &(struct range){.lo = r.lo - 1, .hi = r.hi + 1}, NULL, 0);
    if (g->nseries > 1) {
        str_add(out, "set title ");
        gp_quoted(out, g->series[s].name);
        str_addc(out, '\n');
    }
    str_add(out, "plot ");
    if (range_known(&r)) /* boxes and no image: that wants four values at least */
        str_addf(out,
                 "$data%d using 1:2:(0.5):(0.5):3 with boxxyerror fillstyle solid noborder palette "
                 "notitle, \\\n     ",
                 s);
    str_addf(out, "$words%d using 1:2:3 with labels notitle\n", s);
}

static void heat_gnuplot(struct str *out, const struct chart *c)
{
    const struct grid_chart *g = c->model;
    gp_head(out, &c->caption);
    gp_texts(out, "x", g->xname, g->x, g->nx);
    gp_texts(out, "y", g->yname, g->y, g->ny);
    str_addf(out, "set xrange [-0.5:%d.5]\nset yrange [%d.5:-0.5]\n", g->nx - 1, g->ny - 1);
    gp_label(out, "cblabel", g->metric, g->unit);
    str_add(out, "set palette defined (0 \"white\", 1 \"light-blue\", 2 \"steelblue\")\n");
    if (g->nseries > 1)
        gp_multiplot(out, &c->caption, g->nseries);
    for (int s = 0; s < g->nseries; s++)
        gp_map(out, g, s);
    if (g->nseries > 1)
        str_add(out, "unset multiplot\n");
}

const struct chart_kind chart_heat = {
    .name = "heat",
    .doc = "a sweep over two axes as a heat map",
    .layout = &grid_layout,
    .sound = heat_sound,
    .cells = heat_cells,
    .svg = heat_svg,
    .gnuplot = heat_gnuplot,
};
