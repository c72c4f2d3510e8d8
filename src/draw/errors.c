/* errors.c - where an output is wrong: the share of wrong rows by head and query tile. A fault has a shape
 * there: a last column, a stair, one head, everywhere.
 *
 * The model is that of a heat map, in per cent, and the page's pictures are a heat map's. In cells a tile
 * is one character, so that whole outputs fit on a screen.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw/errors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/number.h"
#include "draw/grid.h"

/* ---- from a row ---- */

/* Heads and tiles of a map that can be drawn. */
static bool map_size(const json_t *share, int *heads, int *tiles)
{
    const size_t h = json_array_size(share), t = json_array_size(json_array_get(share, 0));
    if (!h || !t || h > GRID_POINTS || t > GRID_POINTS || h * t > GRID_CELLS)
        return false;
    for (size_t i = 0; i < h; i++)
        if (json_array_size(json_array_get(share, i)) != t)
            return false;
    *heads = (int)h;
    *tiles = (int)t;
    return true;
}

static void fill(struct grid_chart *g, const json_t *share, json_int_t rows, json_int_t per_batch)
{
    for (int x = 0; x < g->nx; x++)
        g->x[x].text = xasprintf("%lld", (long long)(rows * x));
    for (int y = 0; y < g->ny; y++)
        g->y[y].text =
            xasprintf("b%lld h%lld", (long long)(y / per_batch), (long long)(y % per_batch));
    for (int y = 0; y < g->ny; y++)
        for (int x = 0; x < g->nx; x++) {
            const json_t *v = json_array_get(json_array_get(share, (size_t)y), (size_t)x);
            if (json_is_number(v))
                g->series[0].cells[y * g->nx + x].value = 100 * json_number_value(v);
        }
}

struct chart *error_chart(const struct run_row *row)
{
    const json_t *share = json_object_get(row->error_map, "share");
    const json_int_t rows = json_integer_value(json_object_get(row->error_map, "tile_rows")),
                     per_batch = json_integer_value(json_object_get(row->error_map, "heads"));
    int heads, tiles;
    if (rows < 1 || per_batch < 1 || !map_size(share, &heads, &tiles))
        return NULL;
    struct chart *c = chart_new(&chart_errors);
    struct grid_chart *g = c->model;
    grid_size(g, tiles, heads, 1);
    g->metric = xstrdup("bad_pct");
    g->unit = xstrdup("%");
    g->xname = xasprintf("query, tiles of %lld", (long long)rows);
    g->yname = xstrdup("head");
    g->series[0].name = xstrdup(row->kernel ? row->kernel : "");
    fill(g, share, rows, per_batch);
    caption_kernel(&c->caption, row->kernel);
    c->caption.shape = row->shape ? xstrdup(row->shape) : NULL;
    c->caption.device = row->device ? xstrdup(row->device) : NULL;
    c->caption.origin = row->origin ? xstrdup(row->origin) : NULL;
    return c;
}

/* ---- cells ---- */

enum { LABEL = 8 };

/* '.' none, 1..9 tenths, '#' all; ' ' none was judged. */
static char letter(double pct)
{
    if (isnan(pct))
        return ' ';
    const int tenths = (int)ceil(pct / 10);
    return pct <= 0 ? '.' : pct >= 100 ? '#' : (char)('0' + (tenths > 9 ? 9 : tenths));
}

/* The worst of the tiles that share a column. */
static double worst(const struct grid_chart *g, int y, int from, int to)
{
    double most = NAN;
    for (int x = from; x < to; x++)
        most = fmax(most, g->series[0].cells[y * g->nx + x].value); /* ignores NaN */
    return most;
}

/* "0 .. 448": the first query of the first and of the last column. */
static void axis(struct canvas *c, struct rect r, const struct grid_chart *g, int columns, int each)
{
    const char *last = g->x[(columns - 1) * each].text;
    canvas_text(c, r.x, r.y, LABEL, ROLE_TITLE, g->yname);
    const int at = canvas_text(c, r.x + LABEL, r.y, r.w - LABEL, ROLE_DIM, g->x[0].text);
    const int end = columns - (int)str_width(last);
    if (end > at)
        canvas_text(c, r.x + LABEL + end, r.y, -1, ROLE_DIM, last);
    const int x = r.x + LABEL + (columns > at ? columns : at) + 2;
    canvas_textf(c, x, r.y, r.x + r.w - x, ROLE_DIM, "%s%s", g->xname,
                 each > 1 ? ", the worst" : "");
}

static void errors_cells(struct canvas *c, struct rect r, const void *model,
                         const struct chart_view *v)
{
    const struct grid_chart *g = model;
    const int room = r.w - LABEL, each = (g->nx + room - 1) / (room > 0 ? room : 1);
    if (room < 8 || r.h < 2)
        return;
    const int columns = (g->nx + each - 1) / each;
    const bool all = g->ny <= r.h - 1;
    const int shown = all ? g->ny : r.h - 2;
    axis(c, (struct rect){r.x, r.y, r.w, 1}, g, columns, each);
    for (int y = 0; y < shown; y++) {
        canvas_text(c, r.x, r.y + 1 + y, LABEL - 1, ROLE_DIM, g->y[y].text);
        for (int x = 0; x < columns; x++) {
            const int to = (x + 1) * each < g->nx ? (x + 1) * each : g->nx;
            const double pct = worst(g, y, x * each, to);
            canvas_put(c, r.x + LABEL + x, r.y + 1 + y, pct > 0 ? ROLE_BAD : ROLE_DIM,
                       (uint32_t)letter(pct));
        }
    }
    if (!all)
        canvas_textf(c, r.x, r.y + 1 + shown, r.w, ROLE_DIM, "%d more heads", g->ny - shown);
    (void)v;
}

static bool errors_sound(const void *model)
{
    const struct grid_chart *g = model;
    return grid_sound(g) && g->ny && g->nseries == 1;
}

static void errors_svg(struct str *out, const struct chart *c, bool alone)
{
    chart_heat.svg(out, c, alone);
}

static void errors_gnuplot(struct str *out, const struct chart *c)
{
    chart_heat.gnuplot(out, c);
}

void error_map_text(const struct run_row *row, int width, int lines, enum glyphs glyphs,
                    struct str *out)
{
    enum { NARROW = 40, WIDE = 100 };
    struct chart *chart = error_chart(row);
    const struct chart_view whole = CHART_WHOLE;
    char share[NUMBER_BUF], rows[NUMBER_BUF];
    if (!chart)
        return;
    const struct grid_chart *g = chart->model;
    struct canvas *canvas = canvas_new(width > WIDE     ? WIDE
                                       : width < NARROW ? NARROW
                                                        : width,
                                       g->ny + 1 < lines ? g->ny + 1 : lines, glyphs);
    str_addf(out, "wrong rows of %s: %s %% of %s; . none, 1 to 9 tenths, # all\n", row->kernel,
             number_fmt(share, row->bad_pct, 3), number_fmt_int(rows, row->checked_rows));
    errors_cells(canvas, (struct rect){0, 0, canvas->w, canvas->h}, g, &whole);
    canvas_to_text(canvas, out);
    canvas_free(canvas);
    chart_free(chart);
}

const struct chart_kind chart_errors = {
    .name = "errors",
    .doc = "where a failed output is wrong: rows by head and query tile",
    .layout = &grid_layout,
    .sound = errors_sound,
    .cells = errors_cells,
    .svg = errors_svg,
    .gnuplot = errors_gnuplot,
};
