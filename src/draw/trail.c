/* trail.c - what the warps of a block did, step by step on one line each: multiplications, copies, accesses, waiting at
 * barriers, how many lanes ran; above them, on the same line of steps, how many copies and products were under way.
 * Steps are instructions, not time.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "draw/figures.h"
#include "draw/gnuplot.h"
#include "draw/svg.h"

/* ---- the model ---- */

enum { ROWS_MAX = 64, COLUMNS_MAX = 1024 };

// clang-format off
const struct trail_letter trail_letters[] = {
    {'M', "multiplies on tensor cores", ROLE_SERIES, "s0"},
    {'C', "begins a copy", (enum role)(ROLE_SERIES + 1), "s1"},
    {'G', "global memory", (enum role)(ROLE_SERIES + 2), "s2"},
    {'S', "shared memory", (enum role)(ROLE_SERIES + 3), "s3"},
    {'B', "barrier, mbarrier", ROLE_ACCENT, "h8"},
    {'X', "exp2 and the like", (enum role)(ROLE_SERIES + 4), "s4"},
    {'h', "shuffle", (enum role)(ROLE_SERIES + 5), "s5"},
    {'f', "arithmetic", ROLE_NORMAL, "h4"},
    {'i', "integers, branches", ROLE_DIM, "h1"},
    {'=', "waits at a barrier", ROLE_WARN, "warn"},
    {0, NULL, ROLE_NORMAL, NULL},
};

static const struct field row_fields[] = {
    CHART_FIELD(trail_row, name, FIELD_TEXT), CHART_FIELD(trail_row, what, FIELD_TEXT),
    CHART_FIELD(trail_row, lanes, FIELD_TEXT),
    {0},
};
static const struct chart_layout row_layout = {sizeof(struct trail_row), row_fields, NULL};
static const struct field trail_fields[] = {
    CHART_FIELD(trail_chart, kernel, FIELD_TEXT), CHART_FIELD(trail_chart, from, FIELD_INT),
    CHART_FIELD(trail_chart, to, FIELD_INT),      CHART_FIELD(trail_chart, steps, FIELD_INT),
    CHART_FIELD(trail_chart, copies, FIELD_TEXT), CHART_FIELD(trail_chart, most_copies, FIELD_INT),
    CHART_FIELD(trail_chart, products, FIELD_TEXT), CHART_FIELD(trail_chart, most_products, FIELD_INT),
    {0},
};
static const struct chart_part trail_parts[] = {
    CHART_PART(trail_chart, rows, n, &row_layout, ROWS_MAX), {0},
};
static const struct chart_layout trail_layout = {sizeof(struct trail_chart), trail_fields, trail_parts};
// clang-format on

void trail_rows(struct trail_chart *t, int n)
{
    t->rows = model_list(&row_layout, t->n = n < ROWS_MAX ? n : ROWS_MAX);
}

static const struct trail_letter *letter_of(char c)
{
    const struct trail_letter *l = trail_letters;
    while (l->letter && l->letter != c)
        l++;
    return l;
}

static size_t columns_of(const struct trail_chart *t)
{
    return t->n && t->rows[0].what ? strlen(t->rows[0].what) : 0;
}

/* What is under way, as rows above those of the warps. */
struct meter {
    const char *name, *levels, *svg;
    int64_t most;
    enum role role;
};
enum { METERS = 2 };

/* Those of which there was any; how many. */
static int meters_of(const struct trail_chart *t, struct meter out[METERS])
{
    const struct meter all[METERS] = {
        {"copies", t->copies, "s1", t->most_copies, (enum role)(ROLE_SERIES + 1)},
        {"products", t->products, "s0", t->most_products, ROLE_SERIES},
    };
    int n = 0;
    for (int i = 0; i < METERS; i++)
        if (all[i].levels && strcspn(all[i].levels, "123456789") < strlen(all[i].levels))
            out[n++] = all[i];
    return n;
}

static bool levels_sound(const char *levels, size_t n)
{
    return !levels || !*levels || (strlen(levels) == n && strspn(levels, "0123456789") == n);
}

static bool trail_sound(const void *model)
{
    const struct trail_chart *t = model;
    const size_t n = columns_of(t);
    bool ok = t->kernel && n > 0 && n <= COLUMNS_MAX && t->steps > 0 && t->from >= 0 &&
              t->to > t->from && levels_sound(t->copies, n) && levels_sound(t->products, n);
    for (int i = 0; ok && i < t->n; i++) {
        const struct trail_row *r = &t->rows[i];
        ok = r->name && r->what && r->lanes && strlen(r->what) == n && strlen(r->lanes) == n;
        for (size_t k = 0; ok && k < n; k++)
            ok = (r->what[k] == ' ' || letter_of(r->what[k])->letter) &&
                 (r->lanes[k] == ' ' || (r->lanes[k] >= '0' && r->lanes[k] <= '8'));
    }
    return ok;
}

/* Did lanes of the warp part? */
static bool parted(const struct trail_row *r)
{
    return strcspn(r->lanes, "01234567") < strlen(r->lanes);
}

static bool has_letter(const struct trail_chart *t, char letter)
{
    for (int i = 0; i < t->n; i++)
        if (strchr(t->rows[i].what, letter))
            return true;
    return false;
}

/* ---- cells ---- */

enum { LABEL = 9 };

static void draw_row(struct canvas *c, int x, int y, int w, const char *what, size_t from)
{
    for (int i = 0; i < w && what[from + (size_t)i]; i++) {
        const char ch = what[from + (size_t)i];
        if (ch != ' ')
            canvas_put(c, x + i, y, letter_of(ch)->role, (uint32_t)ch);
    }
}

/* Eighths of the lanes; all of them are a point, so that the others stand out. */
static void draw_lanes(struct canvas *c, int x, int y, int w, const char *lanes, size_t from)
{
    for (int i = 0; i < w && lanes[from + (size_t)i]; i++) {
        const char ch = lanes[from + (size_t)i];
        if (ch != ' ')
            canvas_put(c, x + i, y, ch == '8' ? ROLE_DIM : ROLE_WARN,
                       ch == '8' ? '.' : (uint32_t)ch);
    }
}

/* A level's digit; nothing under way is left blank. */
static void draw_meter(struct canvas *c, int x, int y, int w, const struct meter *m, size_t from)
{
    canvas_text(c, x, y, LABEL - 1, ROLE_DIM, m->name);
    for (int i = 0; i < w && m->levels[from + (size_t)i]; i++)
        if (m->levels[from + (size_t)i] != '0')
            canvas_put(c, x + LABEL + i, y, m->role, (uint32_t)m->levels[from + (size_t)i]);
}

static void draw_legend(struct canvas *c, struct rect r, const struct trail_chart *t, bool lanes)
{
    struct str s = {0};
    for (const struct trail_letter *l = trail_letters; l->letter; l++)
        if (has_letter(t, l->letter))
            str_addf(&s, "%s%c %s", s.len ? "  " : "", l->letter, l->what);
    if (lanes)
        str_add(&s, "  1-7 eighths of the lanes ran");
    if (r.h > 0)
        canvas_wrap_more(c, r, ROLE_DIM, str_text(&s), 0);
    str_free(&s);
}

static void trail_cells(struct canvas *c, struct rect r, const void *model,
                        const struct chart_view *v)
{
    const struct trail_chart *t = model;
    const size_t n = columns_of(t);
    const int w = r.w - LABEL < (int)n ? r.w - LABEL : (int)n;
    const size_t from = n - (size_t)(w > 0 ? w : 0);
    struct meter meters[METERS];
    const int nmeters = meters_of(t, meters);
    const int spare = r.h - 1 - nmeters - t->n, legend = spare > 1 ? 2 : 1;
    const int end = r.y + r.h - (v->bare ? 0 : legend);
    bool lanes = false;
    int y = r.y;
    if (w < 8 || r.h < 3)
        return;
    struct str head = {0};
    str_addf(&head, "steps %lld to %lld, %lld a column",
             (long long)(t->from + (int64_t)from * t->steps), (long long)t->to,
             (long long)t->steps);
    for (int i = 0; i < nmeters; i++)
        str_addf(&head, "%s%s %lld", i ? ", " : "; under way at most (a 9): ", meters[i].name,
                 (long long)meters[i].most);
    canvas_text(c, r.x, y++, r.w, ROLE_DIM, str_text(&head));
    str_free(&head);
    for (int i = 0; i < nmeters && y < end; i++)
        draw_meter(c, r.x, y++, w, &meters[i], from);
    for (int i = 0; i < t->n && y < end; i++) {
        canvas_text(c, r.x, y, LABEL - 1, ROLE_DIM, t->rows[i].name);
        draw_row(c, r.x + LABEL, y++, w, t->rows[i].what, from);
        if (parted(&t->rows[i]) && y < end && end - y > t->n - i - 1) {
            draw_lanes(c, r.x + LABEL, y++, w, t->rows[i].lanes, from);
            lanes = true;
        }
    }
    if (!v->bare)
        draw_legend(c, (struct rect){r.x, y, r.w, r.y + r.h - y}, t, lanes);
}

/* ---- SVG ---- */

static const double left = 84, top = 64, width = 780, row_h = 22;

/* Runs of one letter and as many lanes are one box; its height is that of the lanes. */
static void svg_row(struct str *out, const struct trail_chart *t, const struct trail_row *r,
                    double y)
{
    const size_t n = columns_of(t);
    const double w = width / (double)n;
    svg_text(out, left - 8, y + row_h / 2 + 4, SVG_END, "d s", r->name);
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && r->what[k] == r->what[i] && r->lanes[k] == r->lanes[i]; k++)
            continue;
        const struct trail_letter *l = letter_of(r->what[i]);
        if (!l->letter)
            continue;
        const int eighths = r->lanes[i] == ' ' ? 2 : r->lanes[i] - '0';
        const double h = (row_h - 6) * (eighths > 0 ? eighths : 1) / 8;
        char *hint =
            xasprintf("steps %lld to %lld: %s", (long long)(t->from + (int64_t)i * t->steps + 1),
                      (long long)(t->from + (int64_t)k * t->steps), l->what);
        svg_hint_begin(out, hint);
        svg_rect(out, left + (double)i * w, y + row_h - 3 - h, (double)(k - i) * w, h, l->svg);
        svg_hint_end(out);
        free(hint);
    }
}

/* The height is the level; runs of one are one box. */
static void svg_meter(struct str *out, const struct meter *m, size_t columns, double y)
{
    const double w = width / (double)columns;
    svg_textf(out, left - 8, y + row_h / 2 + 4, SVG_END, "d s", "%s, %lld", m->name,
              (long long)m->most);
    for (size_t i = 0, k; m->levels[i]; i = k) {
        const int n = m->levels[i] - '0';
        for (k = i + 1; m->levels[k] == m->levels[i]; k++)
            continue;
        if (n > 0)
            svg_rect(out, left + (double)i * w, y + row_h - 3 - n * 1.6, (double)(k - i) * w,
                     n * 1.6, m->svg);
    }
}

/* Of the letters that are there. */
static double svg_legend(struct str *out, const struct trail_chart *t, double y)
{
    double x = left;
    for (const struct trail_letter *l = trail_letters; l->letter; l++) {
        if (!has_letter(t, l->letter))
            continue;
        svg_rect(out, x, y - 10, 12, 12, l->svg);
        svg_text(out, x + 18, y, SVG_START, "t", l->what);
        x += 44 + svg_width(l->what, false);
        if (x > left + width - 140 && l[1].letter) {
            x = left;
            y += 18;
        }
    }
    return y;
}

static void trail_svg(struct str *out, const struct chart *c, bool alone)
{
    const struct trail_chart *t = c->model;
    struct meter meters[METERS];
    const int nmeters = meters_of(t, meters);
    const double legend = top + (t->n + nmeters) * row_h + 28;
    chart_svg_begin(out, c, left + width + 24, legend + 56, "what warps did, step by step", alone);
    svg_textf(out, 24, 22, SVG_START, "b", "%s: what its warps did", t->kernel);
    svg_textf(out, 24, 42, SVG_START, "t",
              "steps %lld to %lld; a step is one instruction of one warp, not a time%s",
              (long long)t->from + 1, (long long)t->to,
              nmeters ? "; above: how many are under way, and the most" : "");
    for (int i = 0; i < nmeters; i++)
        svg_meter(out, &meters[i], columns_of(t), top + i * row_h);
    for (int i = 0; i < t->n; i++)
        svg_row(out, t, &t->rows[i], top + (i + nmeters) * row_h);
    (void)svg_legend(out, t, legend);
    svg_end(out);
}

/* ---- gnuplot: a point for each column, its letter as a number ---- */

static void trail_gnuplot(struct str *out, const struct chart *c)
{
    const struct trail_chart *t = c->model;
    gp_head(out, &c->caption);
    str_add(out, "$trail << EOD\n");
    for (int i = 0; i < t->n; i++)
        for (size_t k = 0; t->rows[i].what[k]; k++)
            if (t->rows[i].what[k] != ' ')
                str_addf(out, "%lld %d %d %c\n", (long long)(t->from + (int64_t)k * t->steps), i,
                         (int)(letter_of(t->rows[i].what[k]) - trail_letters) + 1,
                         t->rows[i].what[k]);
    str_addf(out,
             "EOD\nset xlabel \"step\"\nset ylabel \"warp\"\nset yrange [%d.5:-0.5]\n"
             "plot $trail using 1:2:4:3 with labels tc variable notitle\n",
             t->n - 1);
}

const struct chart_kind chart_trail = {
    .name = "trail",
    .doc = "debug: what warps did, step by step: multiplications, copies, waiting, lanes",
    .layout = &trail_layout,
    .sound = trail_sound,
    .cells = trail_cells,
    .svg = trail_svg,
    .gnuplot = trail_gnuplot,
};
