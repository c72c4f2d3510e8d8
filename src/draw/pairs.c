/* pairs.c - two kernels figure by figure, as paired bars: each pair on a scale of its own, for its figures
 * have units of their own. What only bounds a figure is hatched: it is no value.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "draw/figures.h"
#include "draw/gnuplot.h"
#include "draw/svg.h"

/* ---- the model ---- */

enum { PAIRS_MAX = 64 };

// clang-format off
static const struct field bar_fields[] = {
    CHART_FIELD(pair_bar, figure, FIELD_TEXT), CHART_FIELD(pair_bar, unit, FIELD_TEXT),
    CHART_FIELD(pair_bar, bound, FIELD_TEXT),  CHART_FIELD(pair_bar, other_bound, FIELD_TEXT),
    CHART_FIELD(pair_bar, value, FIELD_REAL),  CHART_FIELD(pair_bar, other, FIELD_REAL),
    CHART_FIELD(pair_bar, words, FIELD_TEXT),  {0},
};
static const struct chart_layout bar_layout = {sizeof(struct pair_bar), bar_fields, NULL};
static const struct field chart_fields[] = {
    CHART_FIELD(pair_chart, kernel, FIELD_TEXT), CHART_FIELD(pair_chart, other, FIELD_TEXT), {0},
};
static const struct chart_part chart_parts[] = {
    CHART_PART(pair_chart, bars, n, &bar_layout, PAIRS_MAX), {0},
};
static const struct chart_layout chart_layout = {sizeof(struct pair_chart), chart_fields,
                                                 chart_parts};
// clang-format on

void pairs_size(struct pair_chart *p, int n)
{
    p->bars = model_list(&bar_layout, p->n = n);
}

static bool side_sound(double v)
{
    return v >= 0 && v < 1e300;
}

static bool pairs_sound(const void *model)
{
    const struct pair_chart *p = model;
    bool ok = p->kernel && p->other && p->n > 0;
    for (int i = 0; i < p->n; i++)
        ok =
            ok && p->bars[i].figure && side_sound(p->bars[i].value) && side_sound(p->bars[i].other);
    return ok;
}

/* One side of a pair: 0 the first kernel, 1 the other. */
static double side(const struct pair_bar *b, int i)
{
    return i ? b->other : b->value;
}

static const char *bound(const struct pair_bar *b, int i)
{
    const char *text = i ? b->other_bound : b->bound;
    return text ? text : "";
}

static double most(const struct pair_bar *b)
{
    return fmax(b->value, b->other);
}

const char *pairs_value(char buf[PAIRS_VALUE], const struct pair_bar *b, int i)
{
    char number[NUMBER_BUF];
    const bool bytes = b->unit && strcmp(b->unit, "B") == 0;
    snprintf(buf, PAIRS_VALUE, "%.2s%s", bound(b, i),
             bytes ? number_fmt_bytes(number, side(b, i)) : number_fmt(number, side(b, i), 4));
    return buf;
}

/* ---- cells ---- */

enum { FIGURE_W = 18, VALUE_W = 12, RATIO_W = 22, NAMES_MOST = 20, BAR_LEAST = 8 };

static void draw_side(struct canvas *c, struct rect r, const struct pair_bar *b, int i)
{
    char buf[PAIRS_VALUE];
    if (*bound(b, i))
        for (int x = 0; most(b) > 0 && x < lround(side(b, i) / most(b) * r.w); x++)
            canvas_put(c, r.x + x, r.y, ROLE_DIM, '/');
    else
        fig_bar(c, r, (enum role)(ROLE_SERIES + i), side(b, i), most(b));
    canvas_text(c, r.x + r.w + 1, r.y, VALUE_W - 1, ROLE_NORMAL, pairs_value(buf, b, i));
}

static void pairs_cells(struct canvas *c, struct rect r, const void *model,
                        const struct chart_view *v)
{
    const struct pair_chart *p = model;
    const char *name[2] = {p->kernel, p->other};
    int names = 0;
    (void)v;
    for (int i = 0; i < 2; i++)
        names = str_width(name[i]) > names ? str_width(name[i]) : names;
    names = (names > NAMES_MOST ? NAMES_MOST : names) + 1;
    const int at = FIGURE_W + names, room = r.w - at - VALUE_W;
    const bool words =
        room - RATIO_W >= BAR_LEAST; /* else bars are worth more than how they compare */
    const int bar = words ? room - RATIO_W : room;
    if (bar < BAR_LEAST)
        return;
    for (int i = 0; i < p->n && 2 * i < r.h; i++) {
        const struct pair_bar *b = &p->bars[i];
        const int y = r.y + 2 * i;
        canvas_text(c, r.x, y, FIGURE_W - 1, ROLE_TITLE, b->figure);
        if (words)
            canvas_text(c, r.x + r.w - RATIO_W, y, RATIO_W, ROLE_DIM, b->words ? b->words : "");
        for (int k = 0; k < 2 && 2 * i + k < r.h; k++) {
            canvas_text(c, r.x + FIGURE_W, y + k, names - 1, ROLE_NORMAL, name[k]);
            draw_side(c, (struct rect){r.x + at, y + k, bar, 1}, b, k);
        }
    }
}

/* ---- SVG ---- */

static const double width = 760, names_at = 130, bar_h = 13, pair_h = 38, head = 30;

static void svg_side(struct str *out, const struct pair_bar *b, int i, double left, double right,
                     double y)
{
    char buf[PAIRS_VALUE];
    const double w = most(b) > 0 ? side(b, i) / most(b) * (right - left) : 0;
    if (*bound(b, i)) /* an outline: not the figure itself */
        svg_rect(out, left, y, fmax(w, 1), bar_h, "axis dash");
    else
        svg_rect(out, left, y, fmax(w, 1), bar_h, i ? "s1" : "s0");
    svg_text(out, left + w + 6, y + bar_h - 2.5, SVG_START, "t s", pairs_value(buf, b, i));
}

static void pairs_svg(struct str *out, const struct chart *c, bool alone)
{
    const struct pair_chart *p = c->model;
    const double name_w = fmax(svg_width(p->kernel, false), svg_width(p->other, false));
    const double left = names_at + fmin(name_w, 220) + 12, right = width - 240;
    chart_svg_begin(out, c, width, head + p->n * pair_h + 26, "two kernels, figure by figure",
                    alone);
    svg_textf(out, 12, 18, SVG_START, "b", "%s and %s", p->kernel, p->other);
    for (int i = 0; i < p->n; i++) {
        const struct pair_bar *b = &p->bars[i];
        const double y = head + i * pair_h;
        svg_text(out, 12, y + bar_h - 2.5, SVG_START, "t", b->figure);
        svg_text(out, width - 12, y + bar_h - 2.5, SVG_END, "d s", b->words ? b->words : "");
        for (int k = 0; k < 2; k++) {
            const double row = y + k * (bar_h + 2);
            svg_text(out, names_at, row + bar_h - 2.5, SVG_START, "d s", k ? p->other : p->kernel);
            svg_side(out, b, k, left, fmax(right, left + 60), row);
        }
    }
    svg_text(out, 12, head + p->n * pair_h + 12, SVG_START, "d s",
             "each pair on a scale of its own; an outline is only a bound");
    svg_end(out);
}

/* ---- gnuplot ---- */

static void pairs_gnuplot(struct str *out, const struct chart *c)
{
    const struct pair_chart *p = c->model;
    gp_head(out, &c->caption);
    str_add(out, "$pairs << EOD\n");
    for (int i = 0; i < p->n; i++)
        for (int k = 0; k < 2; k++) {
            const struct pair_bar *b = &p->bars[i];
            const double share = most(b) > 0 ? 100 * side(b, k) / most(b) : 0,
                         y = i + (k ? 0.05 : -0.4);
            char buf[PAIRS_VALUE];
            str_addf(out, "%.9g %.9g 0 %.9g %.9g %.9g %d ", share / 2, y + 0.175, share, y,
                     y + 0.35, *bound(b, k) ? 9 : k + 1);
            gp_quoted(out, pairs_value(buf, b, k));
            str_addc(out, '\n');
        }
    str_addf(out, "EOD\nset yrange [%d.5:-0.5]\nset xrange [0:125]\nset ytics (", p->n - 1);
    for (int i = 0; i < p->n; i++) {
        str_add(out, i ? ", " : "");
        gp_tick(out, p->bars[i].figure, i);
    }
    str_add(out, ")\nset xlabel \"per cent of the larger one\"\nset style fill solid 0.6\n"
                 "plot $pairs using 1:2:3:4:5:6:7 with boxxyerror lc variable notitle, \\\n"
                 "     $pairs using 4:2:8 with labels left offset 1,0 notitle");
    for (int k = 0; k < 2; k++) {
        str_addf(out, ", \\\n     NaN with lines lw 8 lc %d title ", k + 1);
        gp_quoted(out, k ? p->other : p->kernel);
    }
    str_addc(out, '\n');
}

const struct chart_kind chart_pairs = {
    .name = "pairs",
    .doc = "two kernels, figure by figure",
    .layout = &chart_layout,
    .sound = pairs_sound,
    .cells = pairs_cells,
    .svg = pairs_svg,
    .gnuplot = pairs_gnuplot,
};
