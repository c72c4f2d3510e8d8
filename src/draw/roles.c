/* roles.c - see roles.h. A span's name stands in it where it fits.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw/roles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "draw/figures.h"
#include "draw/gnuplot.h"
#include "draw/svg.h"

/* ---- the model ---- */

enum { ROWS_MAX = 64, SPANS_MAX = 1024 };

// clang-format off
const struct role_kind role_kinds[] = {
    {"work", '#', (enum role)(ROLE_SERIES + 4), "s4", "softmax, addresses"},
    {"product", '=', ROLE_SERIES, "s0", "products under way"},
    {"copy", '>', (enum role)(ROLE_SERIES + 1), "s1", "a copy under way"},
    {"wait", '.', ROLE_WARN, "warn", "waits for an mbarrier"},
    {"wait_product", ':', ROLE_DIM, "h2", "waits for its products"},
    {"meet", '|', ROLE_ACCENT, "h8", "waits for other warpgroups"},
    {NULL, 0, ROLE_NORMAL, NULL, NULL},
};
static const struct field span_fields[] = {
    CHART_FIELD(role_span, from_us, FIELD_REAL), CHART_FIELD(role_span, to_us, FIELD_REAL),
    CHART_FIELD(role_span, what, FIELD_TEXT),    CHART_FIELD(role_span, name, FIELD_TEXT),
    {0},
};
static const struct chart_layout span_layout = {sizeof(struct role_span), span_fields, NULL};
static const struct field row_fields[] = {CHART_FIELD(role_row, name, FIELD_TEXT), {0}};
static const struct chart_part row_parts[] = {
    CHART_PART(role_row, spans, n, &span_layout, SPANS_MAX), {0},
};
static const struct chart_layout row_layout = {sizeof(struct role_row), row_fields, row_parts};
static const struct field role_fields[] = {
    CHART_FIELD(role_chart, kernel, FIELD_TEXT), CHART_FIELD(role_chart, block, FIELD_TEXT),
    CHART_FIELD(role_chart, to_us, FIELD_REAL),  CHART_FIELD(role_chart, all_us, FIELD_REAL),
    {0},
};
static const struct chart_part role_parts[] = {
    CHART_PART(role_chart, rows, n, &row_layout, ROWS_MAX), {0},
};
static const struct chart_layout role_layout = {sizeof(struct role_chart), role_fields, role_parts};
// clang-format on

void role_rows(struct role_chart *r, int n)
{
    r->rows = model_list(&row_layout, r->n = n < ROWS_MAX ? n : ROWS_MAX);
}

void role_spans(struct role_row *r, int n)
{
    r->spans = model_list(&span_layout, r->n = n < SPANS_MAX ? n : SPANS_MAX);
}

static const struct role_kind *kind_of(const char *word)
{
    const struct role_kind *k = role_kinds;
    while (k->word && strcmp(k->word, word) != 0)
        k++;
    return k;
}

static bool roles_sound(const void *model)
{
    const struct role_chart *r = model;
    bool ok = r->kernel && r->block && r->n > 0 && r->to_us > 0 && r->all_us > 0;
    for (int i = 0; ok && i < r->n; i++) {
        ok = r->rows[i].name;
        for (int k = 0; ok && k < r->rows[i].n; k++) {
            const struct role_span *s = &r->rows[i].spans[k];
            ok = s->what && s->name && kind_of(s->what)->word && s->from_us >= 0 &&
                 s->to_us >= s->from_us && s->to_us < 1e12;
        }
    }
    return ok;
}

int role_lines(const struct role_chart *r)
{
    return r->n + 4;
}

/* ---- cells ---- */

enum { LABEL = 16 };

static void draw_span(struct canvas *c, struct rect r, const struct role_chart *t,
                      const struct role_span *s)
{
    const struct role_kind *k = kind_of(s->what);
    const int from = (int)floor(s->from_us / t->to_us * r.w + 1e-9),
              end = (int)ceil(fmin(1, s->to_us / t->to_us) * r.w - 1e-9);
    const int len = (int)strlen(s->name);
    if (s->from_us >= t->to_us)
        return;
    for (int x = from; x < end && x < r.w; x++)
        canvas_put(c, r.x + x, r.y, k->role, (uint32_t)k->letter);
    if (*s->name && len + 2 <= end - from)
        canvas_text(c, r.x + from + (end - from - len) / 2, r.y, len, ROLE_NORMAL, s->name);
}

static void draw_axis(struct canvas *c, struct rect r, double to_us)
{
    enum { EVERY = 14 };
    char text[NUMBER_BUF];
    for (int x = 0; x + 8 < r.w; x += EVERY) {
        canvas_textf(c, r.x + x, r.y, EVERY - 1, ROLE_DIM, "%s%s",
                     number_fmt(text, to_us * x / r.w, 3), x ? "" : " us");
    }
}

static void draw_legend(struct canvas *c, struct rect r, const struct role_chart *t)
{
    struct str s = {0};
    for (const struct role_kind *k = role_kinds; k->word; k++) {
        bool used = false;
        for (int i = 0; i < t->n; i++)
            for (int n = 0; n < t->rows[i].n; n++)
                used |= !strcmp(t->rows[i].spans[n].what, k->word);
        if (used)
            str_addf(&s, "%s%c %s", s.len ? "  " : "", k->letter, k->what);
    }
    canvas_wrap_more(c, r, ROLE_DIM, str_text(&s), 0);
    str_free(&s);
}

static void roles_cells(struct canvas *c, struct rect r, const void *model,
                        const struct chart_view *v)
{
    const struct role_chart *t = model;
    int y = r.y;
    if (r.w < LABEL + 10 || r.h < 2)
        return;
    for (int i = 0; i < t->n && y < r.y + r.h - 1; i++, y++) {
        canvas_text(c, r.x, y, LABEL - 1, ROLE_DIM, t->rows[i].name);
        for (int k = 0; k < t->rows[i].n; k++)
            draw_span(c, (struct rect){r.x + LABEL, y, r.w - LABEL, 1}, t, &t->rows[i].spans[k]);
    }
    draw_axis(c, (struct rect){r.x + LABEL, y, r.w - LABEL, 1}, t->to_us);
    y++;
    if (!v->bare && y < r.y + r.h)
        draw_legend(c, (struct rect){r.x, y, r.w, r.y + r.h - y}, t);
}

/* ---- SVG ---- */

static const double left = 130, top = 56, width = 860, row_h = 22;

static void svg_span(struct str *out, const struct role_chart *t, const struct role_span *s,
                     double y)
{
    const struct role_kind *k = kind_of(s->what);
    const double x = s->from_us / t->to_us * width, end = fmin(1, s->to_us / t->to_us) * width;
    char from[NUMBER_BUF], to[NUMBER_BUF];
    if (s->from_us >= t->to_us)
        return;
    char *hint = xasprintf("%s to %s: %s%s%s", number_fmt_us(from, s->from_us),
                           number_fmt_us(to, s->to_us), k->what, *s->name ? ", " : "", s->name);
    svg_hint_begin(out, hint);
    svg_rect(out, left + x, y + 3, fmax(end - x, 0.5), row_h - 6, k->svg);
    svg_hint_end(out);
    if (*s->name && svg_width(s->name, false) + 6 < end - x)
        svg_text(out, left + (x + end) / 2, y + row_h / 2 + 4, SVG_MIDDLE, "t s", s->name);
    free(hint);
}

static void roles_svg(struct str *out, const struct chart *c, bool alone)
{
    const struct role_chart *t = c->model;
    const double bottom = top + t->n * row_h;
    double x = left;
    chart_svg_begin(out, c, left + width + 24, bottom + 96, "warpgroups of a block", alone);
    svg_textf(out, 24, 22, SVG_START, "b", "%s, %s: its warpgroups beside each other", t->kernel,
              t->block);
    for (int i = 0; i < t->n; i++) {
        svg_text(out, left - 8, top + i * row_h + row_h / 2 + 4, SVG_END, "d s", t->rows[i].name);
        for (int k = 0; k < t->rows[i].n; k++)
            svg_span(out, t, &t->rows[i].spans[k], top + i * row_h);
    }
    for (int i = 0; i <= 6; i++) {
        char text[NUMBER_BUF];
        svg_text(out, left + i * width / 6, bottom + 16, SVG_MIDDLE, "d s",
                 number_fmt_us(text, t->to_us * i / 6));
    }
    for (const struct role_kind *k = role_kinds; k->word; k++) {
        svg_rect(out, x, bottom + 30, 12, 12, k->svg);
        svg_text(out, x + 18, bottom + 40, SVG_START, "t", k->what);
        x += 44 + svg_width(k->what, false);
    }
    svg_end(out);
}

/* ---- gnuplot: a box for each span ---- */

static void roles_gnuplot(struct str *out, const struct chart *c)
{
    const struct role_chart *t = c->model;
    gp_head(out, &c->caption);
    str_add(out, "$spans << EOD\n");
    for (int i = 0; i < t->n; i++)
        for (int k = 0; k < t->rows[i].n; k++) {
            const struct role_span *s = &t->rows[i].spans[k];
            str_addf(out, "%.9g %d %.9g %.9g %g %g %d\n", (s->from_us + s->to_us) / 2, i,
                     s->from_us, s->to_us, i - 0.35, i + 0.35,
                     (int)(kind_of(s->what) - role_kinds) + 1);
        }
    str_addf(out,
             "EOD\nset xlabel \"us\"\nset xrange [0:%.9g]\nset yrange [%d.5:-0.5]\nset ytics (",
             t->to_us, t->n - 1);
    for (int i = 0; i < t->n; i++) {
        str_add(out, i ? ", " : "");
        gp_quoted(out, t->rows[i].name);
        str_addf(out, " %d", i);
    }
    str_add(out, ")\nset style fill solid 0.6\nplot $spans using 1:2:3:4:5:6:7 with boxxyerror lc "
                 "variable notitle\n");
}

const struct chart_kind chart_roles = {
    .name = "roles",
    .doc = "warpgroups of a block, copies and products under way (timeline block=, wgmma)",
    .layout = &role_layout,
    .sound = roles_sound,
    .cells = roles_cells,
    .svg = roles_svg,
    .gnuplot = roles_gnuplot,
};
