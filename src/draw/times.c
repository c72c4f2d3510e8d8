/* times.c - a bar for each measured row, with its quartiles.
 *
 * A bar compares lengths, hence only from zero; where times differ so much that the short ones would
 * be no longer than nothing, they are points on a logarithmic axis.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/number.h"
#include "draw/figures.h"
#include "draw/gnuplot.h"
#include "draw/spread.h"
#include "draw/svg.h"

static struct range find_range(const struct spread_chart *s)
{
    struct range r = spread_range(s);
    r.log = r.hi / r.lo >= 30;
    if (r.log)
        return (struct range){pow(10, floor(log10(r.lo))), pow(10, ceil(log10(r.hi))), true};
    r.lo = 0;
    return r;
}

static bool times_sound(const void *model)
{
    const struct spread_chart *s = model;
    return spread_sound(s) && s->unit && *s->unit;
}

/* ---- cells ---- */

static void draw_bar(struct canvas *c, struct rect r, const struct range *range,
                     const struct spread_item *v)
{
    const enum role role = v->stale ? ROLE_DIM : v->base ? ROLE_ACCENT : ROLE_SERIES;
    if (range->log)
        canvas_put(c, r.x + (int)(range_share(range, v->mid) * (r.w - 1)), r.y, role,
                   c->glyphs == GLYPHS_ASCII ? '#' : 0x25cf);
    else
        fig_bar(c, r, role, v->mid, range->hi);
}

static void times_cells(struct canvas *c, struct rect r, const void *model,
                        const struct chart_view *view)
{
    enum { VALUE_W = 13, NOTE_FROM = 70 };
    const struct spread_chart *s = model;
    const struct range range = find_range(s);
    int name = 8;
    for (int i = 0; i < s->n; i++)
        name = str_width(s->items[i].name) + 2 > name ? str_width(s->items[i].name) + 2 : name;
    name = name > r.w / 3 ? r.w / 3 : name;
    int note = 0;
    for (int i = 0; i < s->n; i++) /* what sets rows apart, where there is room */
        if (s->items[i].note && str_width(s->items[i].note) + 2 > note)
            note = str_width(s->items[i].note) + 2;
    if (r.w < NOTE_FROM && note > r.w / 4)
        note = 0;
    note = note > r.w / 3 ? r.w / 3 : note;
    const int at = name + note;
    if (r.w < 30 || r.h < 1 || !range_known(&range))
        return;
    for (int i = 0; i < s->n && i < r.h; i++) {
        const struct spread_item *v = &s->items[i];
        const int y = r.y + i;
        char text[SPREAD_VALUE];
        canvas_text(c, r.x, y, 1, ROLE_ACCENT, i == view->y ? ">" : v->base ? "*" : " ");
        canvas_text(c, r.x + 1, y, name - 1, v->stale ? ROLE_DIM : ROLE_NORMAL, v->name);
        if (note && v->note)
            canvas_text(c, r.x + name, y, note - 1, ROLE_DIM, v->note);
        if (!spread_has(v)) {
            canvas_text(c, r.x + at, y, r.w - at, v->bad ? ROLE_BAD : ROLE_DIM,
                        v->text ? v->text : "");
            continue;
        }
        draw_bar(c, (struct rect){r.x + at, y, r.w - at - VALUE_W, 1}, &range, v);
        spread_value(v, s->unit ? s->unit : "", 4, text, sizeof text);
        canvas_textf(c, r.x + r.w - VALUE_W, y, VALUE_W, ROLE_NORMAL, "%*s", VALUE_W, text);
    }
}

/* ---- SVG and gnuplot ---- */

static void draw_row(const struct spread_svg *f, const struct spread_item *v, double y)
{
    const double x = scale_px(&f->x, v->mid);
    const bool log = f->x.range.log;
    if (!log && (v->bound || v->stale)) /* an outline: not the figure itself */
        svg_rect(f->out, f->left, y - 8, x - f->left, 16, "axis dash");
    else if (!log)
        svg_rect(f->out, f->left, y - 8, x - f->left, 16, v->base ? "s1" : "s0");
    spread_svg_whisker(f, v, y, log ? "l0" : "roof thin");
    if (log)
        svg_mark(f->out, x, y, 0, v->bound || v->stale);
}

static void times_svg(struct str *out, const struct chart *c, bool alone)
{
    const struct spread_chart *s = c->model;
    const struct range r = find_range(s);
    struct spread_svg f = {.out = out};
    double ticks[TICKS_MAX];
    char title[256];
    snprintf(title, sizeof title, "%s, %s", s->title, svg_unit(s->unit));
    spread_svg_begin(&f, c, &r, ticks, range_ticks(&r, 6, ticks), title, alone, NULL);
    spread_svg_rows(&f, draw_row);
}

static void times_gnuplot(struct str *out, const struct chart *c)
{
    const struct spread_chart *s = c->model;
    const struct range r = find_range(s);
    double ticks[TICKS_MAX];
    char title[256];
    snprintf(title, sizeof title, "%s, %s", s->title, s->unit ? s->unit : "");
    spread_gnuplot(out, c, &r, ticks, range_ticks(&r, 6, ticks), title);
    str_addf(out,
             "set boxwidth 0.6\nset style fill solid 0.6\n"
             "plot %s$data using 1:2:3:4 with yerrorbars pt 7 notitle, \\\n"
             "     $data using 1:5:6 with labels offset 0,1 notitle\n",
             r.log ? "" : "$data using 1:2 with boxes notitle, \\\n     ");
}

const struct chart_kind chart_times = {
    .name = "times",
    .doc = "median times with their quartiles",
    .layout = &spread_layout,
    .sound = times_sound,
    .cells = times_cells,
    .svg = times_svg,
    .gnuplot = times_gnuplot,
};
