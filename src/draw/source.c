/* source.c - lines of a source with what each costs: a figure, its share, and a shade that the eye finds.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/number.h"
#include "draw/figures.h"
#include "draw/gnuplot.h"
#include "draw/svg.h"

/* ---- the model ---- */

// clang-format off
static const struct field line_fields[] = {
    CHART_FIELD(cost_line, number, FIELD_INT), CHART_FIELD(cost_line, text, FIELD_TEXT),
    CHART_FIELD(cost_line, value, FIELD_REAL),
    {0},
};
static const struct chart_layout line_layout = {sizeof(struct cost_line), line_fields, NULL};
static const struct field chart_fields[] = {
    CHART_FIELD(cost_chart, kernel, FIELD_TEXT),    CHART_FIELD(cost_chart, counter, FIELD_TEXT),
    CHART_FIELD(cost_chart, title, FIELD_TEXT),     CHART_FIELD(cost_chart, unit, FIELD_TEXT),
    CHART_FIELD(cost_chart, total, FIELD_REAL),     CHART_FIELD(cost_chart, elsewhere, FIELD_REAL),
    {0},
};
static const struct chart_part chart_parts[] = {
    {.name = "lines", .at = offsetof(struct cost_chart, lines), .count = offsetof(struct cost_chart, n),
     .of = &line_layout, .most = COST_LINES_MAX, .brief = true},
    {0},
};
static const struct chart_layout chart_layout = {sizeof(struct cost_chart), chart_fields, chart_parts};
// clang-format on

void cost_lines(struct cost_chart *c, int n)
{
    c->lines = model_list(&line_layout, c->n = n < COST_LINES_MAX ? n : COST_LINES_MAX);
}

/* The costliest line; NULL: none costs anything. */
static const struct cost_line *costliest(const struct cost_chart *c)
{
    const struct cost_line *most = NULL;
    for (int i = 0; i < c->n; i++)
        if (c->lines[i].value > (most ? most->value : 0))
            most = &c->lines[i];
    return most;
}

static double most_of(const struct cost_chart *c)
{
    const struct cost_line *most = costliest(c);
    return most ? most->value : 0;
}

/* Nothing that is counted is more, and of a share of it one can speak. */
static bool is_count(double v)
{
    return v == 0 || (v > 1e-9 && v < 1e18);
}

static bool source_sound(const void *model)
{
    const struct cost_chart *c = model;
    bool ok = c->kernel && c->counter && c->title && c->n > 0 && is_count(c->total);
    for (int i = 0; i < c->n && ok; i++)
        ok = c->lines[i].text && c->lines[i].number > 0 && is_count(c->lines[i].value);
    return ok;
}

void cost_words(const struct cost_chart *c, struct str *out)
{
    char all[NUMBER_BUF];
    const struct cost_line *most = costliest(c);
    str_addf(out, "%s: %s%s%s", c->title, number_fmt_count(all, c->total),
             c->unit && *c->unit ? " " : "", c->unit ? c->unit : "");
    if (c->total > 0 && most)
        str_addf(out, ", %.3g %% in line %lld", 100 * most->value / c->total,
                 (long long)most->number);
    if (c->total > 0 && c->elsewhere > 0.005 * c->total)
        str_addf(out, "; %.2g %% of no line", 100 * c->elsewhere / c->total);
}

/* ---- cells ---- */

enum { NUMBER_W = 5, SHADES = 5 };

static uint32_t shade(const struct canvas *c, double share)
{
    static const uint32_t ascii[SHADES] = {'.', ':', '+', '*', '#'},
                          block[SHADES] = {0x00b7, 0x2591, 0x2592, 0x2593, 0x2588};
    const int i = (int)fmin(share * SHADES, SHADES - 1);
    return (c->glyphs == GLYPHS_ASCII ? ascii : block)[i];
}

void cost_margin(struct canvas *c, int x, int y, double value, double most, double total)
{
    char number[NUMBER_BUF];
    if (!(value > 0) || !(total > 0))
        return;
    canvas_textf(c, x, y, 7, ROLE_NORMAL, "%7s", number_fmt_count(number, value));
    for (int i = 0; i < 2; i++)
        canvas_put(c, x + 8 + i, y, ROLE_HEAT, shade(c, most > 0 ? value / most : 0));
    const double pct = 100 * value / total;
    if (pct >= 0.95)
        canvas_textf(c, x + 10, y, 3, ROLE_DIM, "%3.0f", pct);
}

/* Tabs are not in models; the text is cut at the edge. */
static void draw_line(struct canvas *c, struct rect r, const struct cost_chart *s, int i,
                      double most)
{
    const struct cost_line *l = &s->lines[i];
    canvas_textf(c, r.x, r.y, NUMBER_W, ROLE_DIM, "%4d", (int)l->number);
    cost_margin(c, r.x + NUMBER_W, r.y, l->value, most, s->total);
    canvas_text(c, r.x + NUMBER_W + COST_MARGIN, r.y, r.w - NUMBER_W - COST_MARGIN, ROLE_NORMAL,
                l->text);
}

static void source_cells(struct canvas *c, struct rect r, const void *model,
                         const struct chart_view *v)
{
    const struct cost_chart *s = model;
    const double most = most_of(s);
    const int top = v->bare ? 0 : 1;
    struct str words = {0};
    cost_words(s, &words);
    if (!v->bare)
        canvas_text(c, r.x, r.y, r.w, ROLE_TITLE, str_text(&words));
    str_free(&words);
    const bool cut = s->n > r.h - top;
    const int shown = cut ? r.h - top - 1 : s->n;
    for (int i = 0; i < shown; i++)
        draw_line(c, (struct rect){r.x, r.y + top + i, r.w, 1}, s, i, most);
    if (cut && shown >= 0)
        canvas_textf(c, r.x + NUMBER_W, r.y + r.h - 1, r.w - NUMBER_W, ROLE_DIM, "+%d lines",
                     s->n - shown);
}

/* ---- SVG ---- */

static const double row_h = 17, head = 52, number_x = 44, bar_x = 56, bar_w = 96, text_x = 168,
                    width = 980;

static void svg_source_line(struct str *out, const struct cost_chart *s, int i, double most)
{
    const struct cost_line *l = &s->lines[i];
    const double y = head + i * row_h, part = most > 0 ? l->value / most : 0;
    char number[NUMBER_BUF];
    svg_textf(out, number_x, y + 13, SVG_END, "d s", "%lld", (long long)l->number);
    if (l->value > 0) {
        char cls[8], on[16];
        const int k = (int)fmin(part * SVG_SHADES, SVG_SHADES - 1);
        char *hint = xasprintf("line %lld: %s of %s, %.3g %%", (long long)l->number,
                               number_fmt_count(number, l->value), s->title,
                               s->total > 0 ? 100 * l->value / s->total : 0);
        snprintf(cls, sizeof cls, "h%d", k);
        snprintf(on, sizeof on, "s k%d", k);
        svg_hint_begin(out, hint);
        svg_rect(out, bar_x, y + 1, bar_w, row_h - 2, cls);
        svg_text(out, bar_x + bar_w - 6, y + 13, SVG_END, on, number);
        svg_hint_end(out);
        free(hint);
    }
    svg_text(out, text_x, y + 13, SVG_START, "t m", l->text);
}

static void source_svg(struct str *out, const struct chart *c, bool alone)
{
    const struct cost_chart *s = c->model;
    struct str words = {0};
    chart_svg_begin(out, c, width, head + s->n * row_h + 8, "a source, and what its lines cost",
                    alone);
    cost_words(s, &words);
    svg_text(out, 16, 22, SVG_START, "b", s->kernel);
    svg_text(out, 16, 40, SVG_START, "t", str_text(&words));
    str_free(&words);
    const double most = most_of(s);
    for (int i = 0; i < s->n; i++)
        svg_source_line(out, s, i, most);
    svg_end(out);
}

/* ---- gnuplot: a bar for each line that costs something ---- */

static void source_gnuplot(struct str *out, const struct chart *c)
{
    const struct cost_chart *s = c->model;
    gp_head(out, &c->caption);
    str_add(out, "$lines << EOD\n");
    for (int i = 0; i < s->n; i++)
        if (s->lines[i].value > 0)
            str_addf(out, "%lld %.9g\n", (long long)s->lines[i].number, s->lines[i].value);
    str_add(out, "EOD\n");
    gp_label(out, "xlabel", "source line", "");
    gp_label(out, "ylabel", s->title, s->unit ? s->unit : "");
    str_add(out, "set yrange [0:*]\nset style fill solid 0.6\n"
                 "plot $lines using 1:2 with boxes notitle\n");
}

const struct chart_kind chart_source = {
    .name = "source",
    .doc = "lines of a kernel's source with what each costs of a counter",
    .layout = &chart_layout,
    .sound = source_sound,
    .cells = source_cells,
    .svg = source_svg,
    .gnuplot = source_gnuplot,
};
