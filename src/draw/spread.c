/* spread.c - see spread.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "draw/gnuplot.h"
#include "draw/svg.h"

/* ---- the model ---- */

// clang-format off
static const struct field item_fields[] = {
    CHART_FIELD(spread_item, name, FIELD_TEXT),  CHART_FIELD(spread_item, note, FIELD_TEXT),
    CHART_FIELD(spread_item, mid, FIELD_REAL),   CHART_FIELD(spread_item, lo, FIELD_REAL),
    CHART_FIELD(spread_item, hi, FIELD_REAL),    CHART_FIELD(spread_item, bound, FIELD_TEXT),
    CHART_FIELD(spread_item, text, FIELD_TEXT),  CHART_FIELD(spread_item, base, FIELD_BOOL),
    CHART_FIELD(spread_item, bad, FIELD_BOOL),   CHART_FIELD(spread_item, stale, FIELD_BOOL),
    CHART_FIELD(spread_item, open, FIELD_BOOL),
    {0},
};
static const struct chart_layout item_layout = {sizeof(struct spread_item), item_fields, NULL};
static const struct field spread_fields[] = {
    CHART_FIELD(spread_chart, title, FIELD_TEXT), CHART_FIELD(spread_chart, unit, FIELD_TEXT),
    CHART_FIELD(spread_chart, left_out, FIELD_INT), {0},
};
static const struct chart_part spread_parts[] = {
    CHART_PART(spread_chart, items, n, &item_layout, SPREAD_ITEMS), {0},
};
const struct chart_layout spread_layout = {sizeof(struct spread_chart), spread_fields,
                                           spread_parts};
// clang-format on

void spread_size(struct spread_chart *s, int n)
{
    s->items = model_list(&item_layout, s->n = n);
}

bool spread_sound(const void *model)
{
    const struct spread_chart *s = model;
    const struct range r = spread_range(s);
    bool ok = s->n > 0 && s->title && range_known(&r);
    for (int i = 0; i < s->n; i++)
        ok = ok && s->items[i].name && (s->items[i].text || spread_has(&s->items[i]));
    return ok;
}

bool spread_has(const struct spread_item *v)
{
    return v->mid > 0 && isfinite(v->mid);
}

struct range spread_range(const struct spread_chart *s)
{
    struct range r = RANGE_NONE;
    for (int i = 0; i < s->n; i++) {
        const struct spread_item *v = &s->items[i];
        if (!spread_has(v))
            continue;
        range_add(&r, v->lo > 0 ? v->lo : v->mid);
        range_add(&r, v->hi > 0 ? v->hi : v->mid);
    }
    return r;
}

void spread_value(const struct spread_item *v, const char *unit, int digits, char *out, size_t size)
{
    char b[NUMBER_BUF];
    snprintf(out, size, "%s%s%s%s%s", v->bound ? v->bound : "", number_fmt(b, v->mid, digits),
             *unit ? " " : "", unit, v->open ? " " SPREAD_OPEN : "");
}

/* ---- SVG ---- */

static const double width = 760;

static double label_width(const struct spread_chart *s)
{
    double w = 80;
    for (int i = 0; i < s->n; i++) {
        const struct spread_item *v = &s->items[i];
        w = fmax(w,
                 fmax(svg_width(v->name, false), v->note ? svg_width(v->note, false) * 0.92 : 0));
    }
    return fmin(w + 22, 330);
}

/* What stands behind the longest interval. */
static double value_width(const struct spread_chart *s)
{
    for (int i = 0; i < s->n; i++)
        if (s->items[i].open)
            return 96 + svg_width(" " SPREAD_OPEN, false);
    return 96;
}

static void draw_axis(const struct spread_svg *f, const double *ticks, int n, const char *title)
{
    for (int i = 0; i < n; i++) {
        const double x = scale_px(&f->x, ticks[i]);
        char text[NUMBER_BUF];
        svg_line(f->out, x, f->top, x, f->bottom, "grid");
        svg_text(f->out, x, f->bottom + 16, SVG_MIDDLE, "d s", number_fmt(text, ticks[i], 3));
    }
    svg_line(f->out, f->left, f->top, f->left, f->bottom, "axis");
    svg_textf(f->out, f->left, 18, SVG_START, "d", "%s%s", title,
              f->x.range.log ? " (logarithmic)" : "");
}

void spread_svg_begin(struct spread_svg *f, const struct chart *c, const struct range *r,
                      const double *ticks, int n, const char *title, bool alone,
                      void (*under)(const struct spread_svg *f))
{
    const struct spread_chart *s = c->model;
    const double left = label_width(s);
    f->s = s;
    f->left = left;
    f->right = width - value_width(s);
    f->top = 34;
    f->bottom = f->top + s->n * SPREAD_ROW_H;
    f->x = (struct scale){*r, left, f->right};
    chart_svg_begin(f->out, c, width, f->bottom + (s->left_out > 0 ? 46 : 28), s->title, alone);
    if (under)
        under(f);
    draw_axis(f, ticks, n, title);
}

static void draw_label(const struct spread_svg *f, const struct spread_item *v, double y)
{
    const bool two = v->note && *v->note;
    svg_textf(f->out, f->left - 12, y + (two ? -2 : 4), SVG_END,
              v->stale  ? "d"
              : v->base ? "b"
                        : "t",
              "%s%s", v->name, v->stale ? " (old)" : "");
    if (two)
        svg_text(f->out, f->left - 12, y + 11, SVG_END, "d s", v->note);
}

void spread_svg_whisker(const struct spread_svg *f, const struct spread_item *v, double y,
                        const char *classes)
{
    if (!(v->lo > 0) || !(v->hi >= v->lo))
        return;
    const double a = scale_px(&f->x, v->lo), b = scale_px(&f->x, v->hi);
    svg_line(f->out, a, y, b, y, classes);
    svg_line(f->out, a, y - 4, a, y + 4, classes);
    svg_line(f->out, b, y - 4, b, y + 4, classes);
}

static void hint(const struct spread_svg *f, const struct spread_item *v)
{
    char mid[SPREAD_VALUE], lo[NUMBER_BUF], hi[NUMBER_BUF];
    spread_value(v, "", 4, mid, sizeof mid);
    char *text =
        xasprintf("%s%s%s: %s, from %s to %s", v->name, v->note ? " " : "", v->note ? v->note : "",
                  mid, number_fmt(lo, v->lo, 4), number_fmt(hi, v->hi, 4));
    svg_hint_begin(f->out, text);
    free(text);
}

void spread_svg_rows(const struct spread_svg *f,
                     void (*draw)(const struct spread_svg *f, const struct spread_item *v,
                                  double y))
{
    for (int i = 0; i < f->s->n; i++) {
        const struct spread_item *v = &f->s->items[i];
        const double y = f->top + (i + 0.5) * SPREAD_ROW_H;
        char text[SPREAD_VALUE];
        draw_label(f, v, y);
        if (!spread_has(v)) {
            svg_text(f->out, f->left + 10, y + 4, SVG_START, v->bad ? "b bad" : "d", v->text);
            continue;
        }
        hint(f, v);
        draw(f, v, y);
        svg_hint_end(f->out);
        spread_value(v, svg_unit(f->s->unit), f->s->unit && *f->s->unit ? 4 : 3, text, sizeof text);
        svg_text(f->out, scale_px(&f->x, fmax(v->mid, v->hi > 0 ? v->hi : 0)) + 10, y + 4,
                 SVG_START, v->stale ? "d" : "t", text);
    }
    if (f->s->left_out > 0)
        svg_textf(f->out, f->left, f->bottom + 36, SVG_START, "d s",
                  "and %lld more rows in the table", (long long)f->s->left_out);
    svg_end(f->out);
}

/* ---- gnuplot ---- */

static void gp_names(struct str *out, const struct spread_chart *s)
{
    str_add(out, "set xtics (");
    for (int i = 0; i < s->n; i++) {
        const struct spread_item *v = &s->items[i];
        struct str name = {0};
        str_addf(&name, "%s%s%s%s", v->name, v->note ? " " : "", v->note ? v->note : "",
                 v->stale ? " (old)" : "");
        str_add(out, i ? ", " : "");
        gp_tick(out, str_text(&name), i);
        str_free(&name);
    }
    str_addf(out, ") rotate by -30\nset xrange [-0.6:%d.6]\n", s->n - 1);
}

void spread_gnuplot(struct str *out, const struct chart *c, const struct range *r,
                    const double *ticks, int n, const char *title)
{
    const struct spread_chart *s = c->model;
    gp_head(out, &c->caption);
    str_add(out, "$data << EOD\n");
    for (int i = 0; i < s->n; i++) {
        const struct spread_item *v = &s->items[i];
        const bool known = spread_has(v), spread = known && v->lo > 0 && v->hi >= v->lo;
        char word[SPREAD_VALUE];
        spread_value(v, "", 3, word, sizeof word);
        str_addf(out, "%d", i);
        gp_value(out, known ? v->mid : NAN);
        gp_value(out, spread ? v->lo : known ? v->mid : NAN);
        gp_value(out, spread ? v->hi : known ? v->mid : NAN);
        str_addf(out, " %.9g ", known ? fmax(v->mid, spread ? v->hi : 0) : r->lo);
        gp_quoted(out, known ? word : v->text);
        str_addc(out, '\n');
    }
    str_add(out, "EOD\n");
    gp_names(out, s);
    gp_label(out, "ylabel", title, NULL);
    gp_range(out, "y", r, ticks, n);
}
