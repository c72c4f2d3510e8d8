/* stack.c - predicted times, and what they go to: a bar for each row, on one scale from zero, of a letter for each
 * unit. The same unit has the same letter in all of them.
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

enum { ITEMS_MAX = 64, PARTS_MAX = STACK_UNITS };

// clang-format off
static const struct field unit_fields[] = {CHART_FIELD(stack_unit, what, FIELD_TEXT), {0}};
static const struct chart_layout unit_layout = {sizeof(struct stack_unit), unit_fields, NULL};
static const struct field part_fields[] = {
    CHART_FIELD(stack_part, unit, FIELD_INT), CHART_FIELD(stack_part, us, FIELD_REAL), {0},
};
static const struct chart_layout part_layout = {sizeof(struct stack_part), part_fields, NULL};
static const struct field item_fields[] = {
    CHART_FIELD(stack_item, name, FIELD_TEXT),      CHART_FIELD(stack_item, note, FIELD_TEXT),
    CHART_FIELD(stack_item, us, FIELD_REAL),        CHART_FIELD(stack_item, error_pct, FIELD_REAL),
    CHART_FIELD(stack_item, text, FIELD_TEXT),      CHART_FIELD(stack_item, stale, FIELD_BOOL), {0},
};
static const struct chart_part item_parts[] = {
    CHART_PART(stack_item, parts, n, &part_layout, PARTS_MAX), {0},
};
static const struct chart_layout item_layout = {sizeof(struct stack_item), item_fields, item_parts};
static const struct field chart_fields[] = {
    CHART_FIELD(stack_chart, device, FIELD_TEXT), CHART_FIELD(stack_chart, left_out, FIELD_INT), {0},
};
static const struct chart_part chart_parts[] = {
    CHART_PART(stack_chart, units, nunits, &unit_layout, STACK_UNITS),
    CHART_PART(stack_chart, items, n, &item_layout, ITEMS_MAX), {0},
};
static const struct chart_layout chart_layout = {sizeof(struct stack_chart), chart_fields, chart_parts};
// clang-format on

void stack_size(struct stack_chart *s, int nunits, int n)
{
    s->units = model_list(&unit_layout, s->nunits = nunits);
    s->items = model_list(&item_layout, s->n = n);
}

void stack_parts(struct stack_item *v, int n)
{
    v->parts = model_list(&part_layout, v->n = n);
}

static bool has_time(const struct stack_item *v)
{
    return v->us > 0 && v->us < 1e12;
}

static bool item_sound(const struct stack_item *v, int nunits)
{
    double sum = 0;
    if (!v->name || (!has_time(v) && !v->text))
        return false;
    for (int i = 0; i < v->n; i++) {
        if (v->parts[i].unit < 0 || v->parts[i].unit >= nunits || !(v->parts[i].us >= 0))
            return false;
        sum += v->parts[i].us;
    }
    return !has_time(v) || sum <= v->us * 1.001;
}

static bool stack_sound(const void *model)
{
    const struct stack_chart *s = model;
    bool ok = s->n > 0 && s->device, any = false;
    for (int i = 0; i < s->nunits; i++)
        ok = ok && s->units[i].what;
    for (int i = 0; i < s->n; i++) {
        ok = ok && item_sound(&s->items[i], s->nunits);
        any |= has_time(&s->items[i]);
    }
    return ok && any;
}

static double longest(const struct stack_chart *s)
{
    double most = 0;
    for (int i = 0; i < s->n; i++)
        if (has_time(&s->items[i]))
            most = fmax(most, s->items[i].us);
    return most;
}

/* Of one unit, over its parts. */
static double time_of(const struct stack_item *v, int unit)
{
    double sum = 0;
    for (int i = 0; i < v->n; i++)
        sum += v->parts[i].unit == unit ? v->parts[i].us : 0;
    return sum;
}

static char letter_of(int unit)
{
    return (char)('a' + unit);
}

/* Behind a time: " +-26 %". */
static void error_text(const struct stack_item *v, const char *plus_minus, char *out, size_t size)
{
    char b[NUMBER_BUF];
    *out = '\0';
    if (v->error_pct >= 0)
        snprintf(out, size, " %s%s %%", plus_minus, number_fmt(b, v->error_pct, 2));
}

/* ---- cells ---- */

static void draw_bar(struct canvas *c, struct rect r, const struct stack_chart *s,
                     const struct stack_item *v, double most)
{
    double sum = 0;
    for (int unit = 0; unit < s->nunits; unit++) {
        const int from = (int)lround(sum / most * r.w);
        sum += time_of(v, unit);
        const int to = (int)lround(sum / most * r.w);
        const enum role role = v->stale ? ROLE_DIM : (enum role)(ROLE_SERIES + unit % SVG_SERIES);
        for (int x = from; x < to && x < r.w; x++)
            canvas_put(c, r.x + x, r.y, role, (uint32_t)letter_of(unit));
    }
}

/* "a waiting for shared memory 45 %", of the only bar with its share. The caller frees it. */
static char *unit_text(const struct stack_chart *s, int unit)
{
    const struct stack_item *v = &s->items[0];
    if (s->n == 1 && has_time(v))
        return xasprintf("%c %s %.0f %%", letter_of(unit), s->units[unit].what,
                         100 * time_of(v, unit) / v->us);
    return xasprintf("%c %s", letter_of(unit), s->units[unit].what);
}

/* Returns the lines used. */
static int draw_legend(struct canvas *c, struct rect r, const struct stack_chart *s)
{
    int x = r.x, y = r.y;
    for (int unit = 0; unit < s->nunits && y < r.y + r.h; unit++) {
        char *text = unit_text(s, unit);
        const int w = str_width(text);
        if (x > r.x && x + w > r.x + r.w) {
            x = r.x;
            y++;
        }
        if (y < r.y + r.h) {
            canvas_text(c, x, y, r.x + r.w - x, ROLE_DIM, text);
            canvas_put(c, x, y, (enum role)(ROLE_SERIES + unit % SVG_SERIES),
                       (uint32_t)letter_of(unit));
        }
        free(text);
        x += w + 2;
    }
    return y + 1 - r.y > r.h ? r.h : y + 1 - r.y;
}

static int name_width(const struct stack_chart *s, int w)
{
    int most = 8;
    for (int i = 0; i < s->n; i++) {
        const int own = str_width(s->items[i].name) + 2 +
                        (s->items[i].note ? str_width(s->items[i].note) + 1 : 0);
        most = own > most ? own : most;
    }
    return most > w / 3 ? w / 3 : most;
}

static void draw_item(struct canvas *c, struct rect r, const struct stack_chart *s, int i, int name,
                      bool here)
{
    enum { VALUE_W = 16 };
    const struct stack_item *v = &s->items[i];
    const int w = r.w - name - VALUE_W;
    char text[NUMBER_BUF], us[NUMBER_BUF];
    canvas_text(c, r.x, r.y, 1, ROLE_ACCENT, here ? ">" : " ");
    canvas_textf(c, r.x + 1, r.y, name - 2, v->stale ? ROLE_DIM : ROLE_NORMAL, "%s%s%s", v->name,
                 v->note ? " " : "", v->note ? v->note : "");
    if (!has_time(v)) {
        canvas_text(c, r.x + name, r.y, r.w - name, ROLE_DIM, v->text);
        return;
    }
    draw_bar(c, (struct rect){r.x + name, r.y, w, 1}, s, v, longest(s));
    error_text(v, c->glyphs == GLYPHS_ASCII ? "+-" : "\u00b1", text, sizeof text);
    canvas_textf(c, r.x + r.w - VALUE_W, r.y, VALUE_W, v->stale ? ROLE_DIM : ROLE_NORMAL, "%*s%s",
                 VALUE_W - str_width(text), number_fmt_us(us, v->us), text);
}

int fig_stack(struct canvas *c, struct rect r, const struct stack_chart *s, int cur)
{
    if (r.w < 30 || r.h < 1 || !stack_sound(s))
        return 0;
    const int name = name_width(s, r.w), rows = s->n < r.h ? s->n : r.h;
    const int last = cur < s->n ? cur : s->n - 1, top = last >= rows ? last - rows + 1 : 0;
    for (int i = 0; i < rows; i++)
        draw_item(c, (struct rect){r.x, r.y + i, r.w, 1}, s, top + i, name, top + i == cur);
    if (rows == r.h)
        return rows;
    return rows + draw_legend(c, (struct rect){r.x + 1, r.y + rows, r.w - 1, r.h - rows}, s);
}

static void stack_cells(struct canvas *c, struct rect r, const void *model,
                        const struct chart_view *v)
{
    (void)fig_stack(c, r, model, v->y);
}

/* ---- SVG ---- */

static const double width = 760, row_h = 30, legend_h = 17, legend_w = 350;

static void svg_bar(struct str *out, const struct stack_chart *s, const struct stack_item *v,
                    double left, double y, double scale)
{
    double x = left;
    for (int unit = 0; unit < s->nunits; unit++) {
        const double us = time_of(v, unit), w = us * scale;
        char class[8], letter[2] = {letter_of(unit), 0};
        if (!(w > 0))
            continue;
        char *hint = xasprintf("%s: %s, %.3g us of %.3g", v->name, s->units[unit].what, us, v->us);
        snprintf(class, sizeof class, "s%d", unit % SVG_SERIES);
        svg_hint_begin(out, hint);
        free(hint);
        svg_rect(out, x, y - 9, w, 18, class);
        if (w > 9)
            svg_text(out, x + w / 2, y + 4, SVG_MIDDLE, "on", letter);
        svg_hint_end(out);
        x += w;
    }
}

static double label_width(const struct stack_chart *s)
{
    double w = 80;
    for (int i = 0; i < s->n; i++)
        w = fmax(w, fmax(svg_width(s->items[i].name, false),
                         s->items[i].note ? svg_width(s->items[i].note, false) * 0.92 : 0));
    return fmin(w + 22, 330);
}

static void svg_item(struct str *out, const struct stack_chart *s, int i, double left, double y,
                     double scale)
{
    const struct stack_item *v = &s->items[i];
    char text[NUMBER_BUF], us[NUMBER_BUF];
    svg_text(out, left - 12, y + (v->note ? -2 : 4), SVG_END, v->stale ? "d" : "t", v->name);
    if (v->note)
        svg_text(out, left - 12, y + 11, SVG_END, "d s", v->note);
    if (!has_time(v)) {
        svg_text(out, left + 10, y + 4, SVG_START, "d", v->text);
        return;
    }
    svg_bar(out, s, v, left, y, scale);
    error_text(v, "\u00b1", text, sizeof text);
    svg_textf(out, left + v->us * scale + 8, y + 4, SVG_START, v->stale ? "d" : "t", "%s %s%s",
              number_fmt(us, v->us, 3), svg_unit("us"), text);
}

static void svg_legend(struct str *out, const struct stack_chart *s, double y)
{
    for (int unit = 0; unit < s->nunits; unit++) {
        const double x = 14 + legend_w * (unit % 2), at = y + legend_h * (unit / 2);
        char class[8], *text = unit_text(s, unit);
        snprintf(class, sizeof class, "s%d", unit % SVG_SERIES);
        svg_rect(out, x, at - 9, 11, 11, class);
        svg_text(out, x + 17, at, SVG_START, "d s", text);
        free(text);
    }
}

static void stack_svg(struct str *out, const struct chart *c, bool alone)
{
    const struct stack_chart *s = c->model;
    const double left = label_width(s), top = 34, bottom = top + s->n * row_h,
                 legend = legend_h * ((s->nunits + 1) / 2),
                 scale = (width - 120 - left) / longest(s);
    char *title = xasprintf("predicted time on %s, and what it goes to", s->device);
    chart_svg_begin(out, c, width, bottom + legend + (s->left_out > 0 ? 36 : 18), title, alone);
    svg_textf(out, left, 18, SVG_START, "d", "%s; \u00b1 the model's median error", title);
    free(title);
    for (int i = 0; i < s->n; i++)
        svg_item(out, s, i, left, top + (i + 0.5) * row_h, scale);
    svg_legend(out, s, bottom + 16);
    if (s->left_out > 0)
        svg_textf(out, left, bottom + legend + 26, SVG_START, "d s",
                  "and %lld more rows in the table", (long long)s->left_out);
    svg_end(out);
}

/* ---- gnuplot ---- */

static void stack_gnuplot(struct str *out, const struct chart *c)
{
    const struct stack_chart *s = c->model;
    char *title = xasprintf("predicted time on %s", s->device);
    gp_head(out, &c->caption);
    str_add(out, "$data << EOD\n");
    for (int i = 0; i < s->n; i++) {
        str_addf(out, "%d", i);
        for (int unit = 0; unit < s->nunits; unit++)
            gp_value(out, has_time(&s->items[i]) ? time_of(&s->items[i], unit) : NAN);
        str_addc(out, '\n');
    }
    str_add(out, "EOD\nset xtics (");
    for (int i = 0; i < s->n; i++) {
        str_add(out, i ? ", " : "");
        gp_tick(out, s->items[i].name, i);
    }
    str_addf(out, ") rotate by -30\nset xrange [-0.6:%d.6]\n", s->n - 1);
    gp_label(out, "ylabel", title, "us");
    free(title);
    str_add(out, "set style data histograms\nset style histogram rowstacked\n"
                 "set style fill solid 0.7\nset boxwidth 0.7\nset key outside\nplot ");
    for (int unit = 0; unit < s->nunits; unit++) {
        str_addf(out, "%s$data using %d title ", unit ? ", \\\n     " : "", unit + 2);
        gp_quoted(out, s->units[unit].what);
    }
    str_addc(out, '\n');
}

const struct chart_kind chart_stack = {
    .name = "stack",
    .doc = "predicted times, and what they go to",
    .layout = &chart_layout,
    .sound = stack_sound,
    .cells = stack_cells,
    .svg = stack_svg,
    .gnuplot = stack_gnuplot,
};
