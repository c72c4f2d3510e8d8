/* lanes.c - lanes of a warp in a grid: which bank serves whom in which wavefront, how many lanes are on a sector, who
 * gets from whom.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "draw/figures.h"
#include "draw/gnuplot.h"
#include "draw/svg.h"

/* ---- the model ---- */

enum { MAPS_MAX = 8, SIDE_MAX = 256 };

// clang-format off
static const struct field cell_fields[] = {
    CHART_FIELD(lane_cell, x, FIELD_INT),      CHART_FIELD(lane_cell, y, FIELD_INT),
    CHART_FIELD(lane_cell, number, FIELD_INT), CHART_FIELD(lane_cell, level, FIELD_REAL),
    {0},
};
static const struct chart_layout cell_layout = {sizeof(struct lane_cell), cell_fields, NULL};
static const struct field map_fields[] = {
    CHART_FIELD(lane_map, kernel, FIELD_TEXT), CHART_FIELD(lane_map, place, FIELD_TEXT),
    CHART_FIELD(lane_map, text, FIELD_TEXT),   CHART_FIELD(lane_map, words, FIELD_TEXT),
    CHART_FIELD(lane_map, xname, FIELD_TEXT),  CHART_FIELD(lane_map, yname, FIELD_TEXT),
    CHART_FIELD(lane_map, number, FIELD_TEXT), CHART_FIELD(lane_map, columns, FIELD_INT),
    CHART_FIELD(lane_map, rows, FIELD_INT),       CHART_FIELD(lane_map, names_lanes, FIELD_BOOL),
    {0},
};
static const struct chart_part map_parts[] = {
    {.name = "cells", .at = offsetof(struct lane_map, cells), .count = offsetof(struct lane_map, n),
     .of = &cell_layout, .most = LANE_CELLS_MAX, .brief = true},
    {0},
};
static const struct chart_layout map_layout = {sizeof(struct lane_map), map_fields, map_parts};
static const struct field chart_fields[] = {{0}};
static const struct chart_part chart_parts[] = {
    CHART_PART(lane_chart, maps, n, &map_layout, MAPS_MAX), {0},
};
static const struct chart_layout chart_layout = {sizeof(struct lane_chart), chart_fields, chart_parts};
// clang-format on

struct lane_map *lanes_add(struct lane_chart *c)
{
    c->maps = xrealloc(c->maps, ((size_t)c->n + 1) * sizeof *c->maps);
    model_init(&map_layout, &c->maps[c->n]);
    return &c->maps[c->n++];
}

void lanes_cells(struct lane_map *m, int n)
{
    m->cells = model_list(&cell_layout, m->n = n < LANE_CELLS_MAX ? n : LANE_CELLS_MAX);
}

static bool lanes_sound(const void *model)
{
    const struct lane_chart *c = model;
    bool ok = c->n > 0;
    for (int i = 0; i < c->n; i++) {
        const struct lane_map *m = &c->maps[i];
        ok = ok && m->kernel && m->xname && m->yname && m->n > 0 && m->columns > 0 && m->rows > 0 &&
             m->columns <= SIDE_MAX && m->rows <= SIDE_MAX;
        for (int k = 0; k < m->n && ok; k++)
            ok = m->cells[k].x >= 0 && m->cells[k].x < m->columns && m->cells[k].y >= 0 &&
                 m->cells[k].y < m->rows && m->cells[k].number >= 0 && m->cells[k].number < 1000;
    }
    return ok;
}

/* ---- cells ---- */

enum { LABEL = 5, CELL = 2 };

static enum role role_of(const struct lane_cell *c)
{
    return (enum role)(ROLE_SERIES + (int)(fmin(fmax(c->level, 0), 0.99) * 6));
}

/* A lane that has this cell and the one before: its number stands once, so that two digits stay apart. */
static bool goes_on(const struct lane_map *m, int i)
{
    const struct lane_cell *c = &m->cells[i], *before = i ? c - 1 : NULL;
    return m->names_lanes && before && before->y == c->y && before->x + 1 == c->x &&
           before->number == c->number;
}

static int fit_columns(const struct lane_map *m, int w)
{
    const int room = (w - LABEL) / CELL;
    return m->columns < room ? (int)m->columns : room;
}

static void draw_head(struct canvas *c, struct rect r, const struct lane_map *m, int columns)
{
    canvas_textf(c, r.x, r.y, r.w, ROLE_DIM, "%s \\ %s%s%s", m->yname, m->xname,
                 m->number ? ": " : "", m->number ? m->number : "");
    for (int x = 0; x < columns; x += 4)
        canvas_textf(c, r.x + LABEL + x * CELL, r.y + 1, CELL, ROLE_DIM, "%2d", x);
}

static void lanes_cells_of(struct canvas *c, struct rect r, const void *model,
                           const struct chart_view *v)
{
    const struct lane_chart *all = model;
    const struct lane_map *m = &all->maps[v->part < all->n ? v->part : 0];
    const int columns = fit_columns(m, r.w), top = v->bare ? 1 : 3;
    const int lines = r.h - top, rows = m->rows <= lines ? (int)m->rows : lines - 1;
    if (r.w < LABEL + CELL || rows < 1)
        return;
    if (!v->bare)
        canvas_text(c, r.x, r.y, r.w, ROLE_TITLE, m->words ? m->words : m->kernel);
    draw_head(c, (struct rect){r.x, r.y + top - 2 + v->bare, r.w, 2}, m, columns);
    for (int y = 0; y < rows; y++)
        canvas_textf(c, r.x, r.y + top + y, LABEL - 1, ROLE_DIM, "%4d", y + 1);
    for (int i = 0; i < m->n; i++)
        if (m->cells[i].y < rows && m->cells[i].x < columns)
            canvas_textf(c, r.x + LABEL + (int)m->cells[i].x * CELL, r.y + top + (int)m->cells[i].y,
                         CELL, role_of(&m->cells[i]), goes_on(m, i) ? " -" : "%2d",
                         (int)m->cells[i].number % 100);
    if (rows < m->rows)
        canvas_textf(c, r.x + LABEL, r.y + top + rows, r.w - LABEL, ROLE_DIM, "+%d",
                     (int)m->rows - rows);
}

/* ---- SVG ---- */

static const double left = 64, head = 92, row_h = 18, map_w = 712;

static double column_w(const struct lane_map *m)
{
    return fmin(map_w / (double)m->columns, 36);
}

static double map_h(const struct lane_map *m)
{
    return head + (double)m->rows * row_h + 24;
}

static void svg_cell(struct str *out, const struct lane_map *m, const struct lane_cell *c,
                     double top)
{
    const double w = column_w(m), x = left + (double)c->x * w,
                 y = top + head + (double)c->y * row_h;
    const int shade = (int)(fmin(fmax(c->level, 0), 0.99) * SVG_SHADES);
    char cls[8], on[16], text[24];
    char *hint = xasprintf("%s %lld, %s %lld: %s %lld", m->xname, (long long)c->x, m->yname,
                           (long long)c->y + 1, m->number ? m->number : "", (long long)c->number);
    snprintf(cls, sizeof cls, "h%d", shade);
    snprintf(on, sizeof on, "s k%d", shade);
    snprintf(text, sizeof text, "%lld", (long long)c->number);
    svg_hint_begin(out, hint);
    svg_rect(out, x + 0.5, y + 0.5, w - 1, row_h - 1, cls);
    if (w >= 12)
        svg_text(out, x + w / 2, y + row_h / 2 + 4, SVG_MIDDLE, on, text);
    svg_hint_end(out);
    free(hint);
}

static void svg_map(struct str *out, const struct lane_map *m, double top)
{
    const double w = column_w(m);
    if (m->place)
        svg_textf(out, 24, top + 22, SVG_START, "b", "%s %s", m->place, m->kernel);
    if (m->text)
        svg_text(out, 24, top + 40, SVG_START, "d m", m->text);
    if (m->words)
        svg_text(out, 24, top + 58, SVG_START, "t", m->words);
    svg_textf(out, 24, top + 74, SVG_START, "d s", "down: %s; across: %s; in the cells: %s",
              m->yname, m->xname, m->number ? m->number : "numbers");
    for (int x = 0; x<m->columns; x += m->columns> 16 ? 4 : 1)
        svg_textf(out, left + (x + 0.5) * w, top + head - 4, SVG_MIDDLE, "d s", "%d", x);
    for (int y = 0; y < m->rows; y++)
        svg_textf(out, left - 8, top + head + (y + 0.7) * row_h, SVG_END, "d s", "%d", y + 1);
    for (int i = 0; i < m->n; i++)
        svg_cell(out, m, &m->cells[i], top);
}

static void lanes_svg(struct str *out, const struct chart *c, bool alone)
{
    const struct lane_chart *all = c->model;
    double h = 0;
    for (int i = 0; i < all->n; i++)
        h += map_h(&all->maps[i]);
    chart_svg_begin(out, c, left + map_w + 24, h, "lanes of a warp", alone);
    h = 0;
    for (int i = 0; i < all->n; i++) {
        svg_map(out, &all->maps[i], h);
        h += map_h(&all->maps[i]);
    }
    svg_end(out);
}

/* ---- gnuplot: a number at each point, the first map alone ---- */

static void lanes_gnuplot(struct str *out, const struct chart *c)
{
    const struct lane_chart *all = c->model;
    const struct lane_map *m = &all->maps[0];
    gp_head(out, &c->caption);
    str_add(out, "$lanes << EOD\n");
    for (int i = 0; i < m->n; i++)
        str_addf(out, "%lld %lld %lld\n", (long long)m->cells[i].x, (long long)m->cells[i].y + 1,
                 (long long)m->cells[i].number);
    str_add(out, "EOD\n");
    gp_label(out, "xlabel", m->xname, "");
    gp_label(out, "ylabel", m->yname, "");
    str_addf(out,
             "set xrange [-0.5:%lld.5]\nset yrange [%lld.5:0.5]\n"
             "plot $lanes using 1:2:3 with labels notitle\n",
             (long long)m->columns - 1, (long long)m->rows);
}

const struct chart_kind chart_lanes = {
    .name = "lanes",
    .doc = "lanes of a warp at banks, sectors or each other, as executed",
    .layout = &chart_layout,
    .sound = lanes_sound,
    .cells = lanes_cells_of,
    .svg = lanes_svg,
    .gnuplot = lanes_gnuplot,
};
