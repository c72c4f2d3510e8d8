/* change.c - the lines of a diff, each with what it executes more or less of than before.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "draw/figures.h"
#include "draw/gnuplot.h"
#include "draw/svg.h"

/* ---- the model ---- */

enum { COLUMNS = 3 };

// clang-format off
static const struct field line_fields[] = {
    CHART_FIELD(change_line, old, FIELD_INT),           CHART_FIELD(change_line, now, FIELD_INT),
    CHART_FIELD(change_line, mark, FIELD_TEXT),         CHART_FIELD(change_line, text, FIELD_TEXT),
    CHART_FIELD(change_line, instructions, FIELD_REAL), CHART_FIELD(change_line, wavefronts, FIELD_REAL),
    CHART_FIELD(change_line, sectors, FIELD_REAL),
    {0},
};
static const struct chart_layout line_layout = {sizeof(struct change_line), line_fields, NULL};
static const struct field chart_fields[] = {
    CHART_FIELD(change_chart, before, FIELD_TEXT), CHART_FIELD(change_chart, after, FIELD_TEXT),
    CHART_FIELD(change_chart, words, FIELD_TEXT),
    {0},
};
static const struct chart_part chart_parts[] = {
    {.name = "lines", .at = offsetof(struct change_chart, lines), .count = offsetof(struct change_chart, n),
     .of = &line_layout, .most = COST_LINES_MAX, .brief = true},
    {0},
};
static const struct chart_layout chart_layout = {sizeof(struct change_chart), chart_fields, chart_parts};
// clang-format on

static const char *const titles[COLUMNS] = {"warp instr", "SMEM", "sectors"};
static const char *const hints[COLUMNS] = {"warp instructions", "wavefronts of shared memory",
                                           "sectors of global memory"};

void change_lines(struct change_chart *c, int n)
{
    c->lines = model_list(&line_layout, c->n = n < COST_LINES_MAX ? n : COST_LINES_MAX);
}

static double change_at(const struct change_line *l, int column)
{
    return column == 0 ? l->instructions : column == 1 ? l->wavefronts : l->sectors;
}

/* A mark is '-' gone, '+' new, ' ' in both; '.' lines that are left out. */
static bool change_sound(const void *model)
{
    const struct change_chart *c = model;
    bool ok = c->before && c->after && c->n > 0;
    for (int i = 0; i < c->n && ok; i++) {
        const struct change_line *l = &c->lines[i];
        ok = l->text && l->mark && strlen(l->mark) == 1 && strchr("+- .", *l->mark) &&
             isfinite(l->instructions) && isfinite(l->wavefronts) && isfinite(l->sectors);
    }
    return ok;
}

static double most_of(const struct change_chart *c, int column)
{
    double most = 0;
    for (int i = 0; i < c->n; i++)
        most = fmax(most, fabs(change_at(&c->lines[i], column)));
    return most;
}

/* "+1.5 k"; "" of nothing. */
static const char *change_text(double change, char buf[NUMBER_BUF + 1])
{
    char number[NUMBER_BUF];
    buf[0] = 0;
    if (change > 0 || change < 0)
        snprintf(buf, NUMBER_BUF + 1, "%c%s", change < 0 ? '-' : '+',
                 number_fmt_count(number, fabs(change)));
    return buf;
}

/* ---- cells ---- */

enum { COLUMN_W = 11 };

static enum role role_of(const struct change_line *l)
{
    return *l->mark == '+'   ? ROLE_GOOD
           : *l->mark == '-' ? ROLE_BAD
           : *l->mark == '.' ? ROLE_DIM
                             : ROLE_NORMAL;
}

static void change_cells(struct canvas *c, struct rect r, const void *model,
                         const struct chart_view *v)
{
    const struct change_chart *s = model;
    const int top = v->bare ? 0 : 2, rows = r.h - top < s->n ? r.h - top : s->n;
    if (!v->bare) {
        canvas_textf(c, r.x, r.y, r.w, ROLE_TITLE, "%s to %s%s%s", s->before, s->after,
                     s->words ? ": " : "", s->words ? s->words : "");
        for (int k = 0; k < COLUMNS; k++)
            canvas_textf(c, r.x + k * COLUMN_W, r.y + 1, COLUMN_W, ROLE_DIM, "%*s", COLUMN_W - 1,
                         titles[k]);
    }
    for (int i = 0; i < rows; i++) {
        const struct change_line *l = &s->lines[i];
        char text[NUMBER_BUF + 1];
        for (int k = 0; k < COLUMNS; k++)
            canvas_textf(c, r.x + k * COLUMN_W, r.y + top + i, COLUMN_W, ROLE_HEAT, "%*s",
                         COLUMN_W - 1, change_text(change_at(l, k), text));
        canvas_textf(c, r.x + COLUMNS * COLUMN_W, r.y + top + i, r.w - COLUMNS * COLUMN_W,
                     role_of(l), "%s%s", l->mark, l->text);
    }
}

/* ---- SVG ---- */

static const double row_h = 17, head = 74, column_x = 76, column_w = 76, text_x = 316, width = 1120;

static void svg_change(struct str *out, const struct change_line *l, int k, double most, double y)
{
    const double change = change_at(l, k), x = column_x + k * column_w;
    char text[NUMBER_BUF + 1];
    if (!*change_text(change, text))
        return;
    char *hint =
        xasprintf("line %lld: %s %s", (long long)(l->now > 0 ? l->now : l->old), text, hints[k]);
    const double w = most > 0 ? (column_w - 8) * fabs(change) / most : 0;
    svg_hint_begin(out, hint);
    svg_rect(out, x + column_w - 8 - w, y + 1, w, row_h - 2, change < 0 ? "h2" : "h3");
    svg_text(out, x + column_w - 12, y + 13, SVG_END, "t s", text);
    svg_hint_end(out);
    free(hint);
}

static void svg_change_line(struct str *out, const struct change_chart *s, int i,
                            const double most[COLUMNS])
{
    const struct change_line *l = &s->lines[i];
    const double y = head + i * row_h;
    const char *cls = *l->mark == '+'   ? "good m"
                      : *l->mark == '-' ? "bad m"
                      : *l->mark == '.' ? "d m"
                                        : "t m";
    if (l->old > 0)
        svg_textf(out, 32, y + 13, SVG_END, "d s", "%lld", (long long)l->old);
    if (l->now > 0)
        svg_textf(out, 66, y + 13, SVG_END, "d s", "%lld", (long long)l->now);
    for (int k = 0; k < COLUMNS; k++)
        svg_change(out, l, k, most[k], y);
    svg_textf(out, text_x, y + 13, SVG_START, cls, "%s%s", l->mark, l->text);
}

static void change_svg(struct str *out, const struct chart *c, bool alone)
{
    const struct change_chart *s = c->model;
    double most[COLUMNS];
    chart_svg_begin(out, c, width, head + s->n * row_h + 8,
                    "the lines of a change, and what each executes more or less of", alone);
    svg_textf(out, 16, 22, SVG_START, "b", "%s to %s", s->before, s->after);
    svg_text(out, 16, 40, SVG_START, "t", s->words ? s->words : "");
    svg_text(out, 32, head - 8, SVG_END, "d s", "old");
    svg_text(out, 66, head - 8, SVG_END, "d s", "new");
    for (int k = 0; k < COLUMNS; k++) {
        most[k] = most_of(s, k);
        svg_text(out, column_x + (k + 1) * column_w - 12, head - 8, SVG_END, "d s", titles[k]);
    }
    svg_text(out, text_x, head - 8, SVG_START, "d s",
             "- gone, + new, ... what is left out, with its sum");
    for (int i = 0; i < s->n; i++)
        svg_change_line(out, s, i, most);
    svg_end(out);
}

/* ---- gnuplot: for each line of the diff a bar of warp instructions ---- */

static void change_gnuplot(struct str *out, const struct chart *c)
{
    const struct change_chart *s = c->model;
    gp_head(out, &c->caption);
    str_add(out, "$lines << EOD\n");
    for (int i = 0; i < s->n; i++)
        str_addf(out, "%d %.9g %.9g %.9g\n", i + 1, s->lines[i].instructions,
                 s->lines[i].wavefronts, s->lines[i].sectors);
    str_add(out, "EOD\n");
    gp_label(out, "xlabel", "line of the diff", "");
    gp_label(out, "ylabel", "more or fewer warp instructions", "");
    str_add(out, "set style fill solid 0.6\nplot $lines using 1:2 with boxes notitle\n");
}

const struct chart_kind chart_change = {
    .name = "change",
    .doc = "lines of a diff with what each executes more or less of",
    .layout = &chart_layout,
    .sound = change_sound,
    .cells = change_cells,
    .svg = change_svg,
    .gnuplot = change_gnuplot,
};
