/* lines.c - line plots: several series over one axis, a letter or a cross where a point is not
 * possible. And the model that they share with heat maps.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "draw/axes.h"
#include "draw/figures.h"
#include "draw/gnuplot.h"
#include "draw/grid.h"
#include "draw/svg.h"

/* ---- the model ---- */

// clang-format off
const struct chart_block chart_blocks[] = {
    {"smem", 'S', "shared memory"}, {"regs", 'R', "registers"}, {"threads", 'T', "threads"},
    {"barriers", 'N', "named barriers"}, {"grid", 'G', "grid"}, {"shape", 'X', "no such shape"},
    {"kernel", 'K', "the kernel's own rule"}, {"check", 'F', "check failed"},
    {"none", '-', "no figure"}, {0},
};

static const struct field cell_fields[] = {
    CHART_FIELD(grid_cell, value, FIELD_REAL),   CHART_FIELD(grid_cell, lo, FIELD_REAL),
    CHART_FIELD(grid_cell, hi, FIELD_REAL),      CHART_FIELD(grid_cell, bound, FIELD_TEXT),
    CHART_FIELD(grid_cell, blocked, FIELD_TEXT), CHART_FIELD(grid_cell, why, FIELD_TEXT),
    {0},
};
static const struct chart_layout cell_layout = {sizeof(struct grid_cell), cell_fields, NULL};
static const struct field series_fields[] = {CHART_FIELD(grid_series, name, FIELD_TEXT), {0}};
static const struct chart_part series_parts[] = {
    {"cells", offsetof(struct grid_series, cells), offsetof(struct grid_series, n), &cell_layout,
     GRID_CELLS, true}, {0},
};
static const struct chart_layout series_layout = {sizeof(struct grid_series), series_fields,
                                                  series_parts};
static const struct field text_fields[] = {CHART_FIELD(grid_text, text, FIELD_TEXT), {0}};
const struct chart_layout grid_text_layout = {sizeof(struct grid_text), text_fields, NULL};
static const struct field grid_fields[] = {
    CHART_FIELD(grid_chart, metric, FIELD_TEXT), CHART_FIELD(grid_chart, unit, FIELD_TEXT),
    CHART_FIELD(grid_chart, xname, FIELD_TEXT),  CHART_FIELD(grid_chart, yname, FIELD_TEXT),
    {0},
};
static const struct chart_part grid_parts[] = {
    CHART_PART(grid_chart, x, nx, &grid_text_layout, GRID_POINTS),
    CHART_PART(grid_chart, y, ny, &grid_text_layout, GRID_POINTS),
    CHART_PART(grid_chart, series, nseries, &series_layout, GRID_SERIES),
    {0},
};
const struct chart_layout grid_layout = {sizeof(struct grid_chart), grid_fields, grid_parts};
// clang-format on

const struct chart_block *chart_block_of(const char *word)
{
    const struct chart_block *b = chart_blocks;
    while (b[1].word && (!word || strcmp(b->word, word) != 0))
        b++;
    return b;
}

void grid_size(struct grid_chart *g, int nx, int ny, int nseries)
{
    g->x = model_list(&grid_text_layout, g->nx = nx);
    g->y = model_list(&grid_text_layout, g->ny = ny);
    g->series = model_list(&series_layout, g->nseries = nseries);
    for (int s = 0; s < nseries; s++) {
        g->series[s].n = nx * (ny ? ny : 1);
        g->series[s].cells = model_list(&cell_layout, g->series[s].n);
    }
}

bool grid_any(const struct grid_chart *g, int series)
{
    for (int i = 0; i < g->series[series].n; i++)
        if (isfinite(g->series[series].cells[i].value))
            return true;
    return false;
}

bool grid_sound(const struct grid_chart *g)
{
    const int cells = g->nx * (g->ny ? g->ny : 1);
    if (!g->metric || !g->xname || g->nx < 1 || !g->nseries || (g->ny && !g->yname) ||
        (int64_t)cells * g->nseries > GRID_CELLS)
        return false;
    bool ok = true;
    for (int i = 0; i < g->nx; i++)
        ok = ok && g->x[i].text;
    for (int i = 0; i < g->ny; i++)
        ok = ok && g->y[i].text;
    bool any = false;
    for (int s = 0; s < g->nseries; s++) {
        ok = ok && g->series[s].name && g->series[s].n == cells;
        any = any || (ok && grid_any(g, s));
    }
    return ok && any;
}

struct range grid_range(const struct grid_chart *g, int series)
{
    struct range r = RANGE_NONE;
    for (int s = 0; s < g->nseries; s++)
        for (int i = 0; (series < 0 || s == series) && i < g->series[s].n; i++)
            range_add(&r, g->series[s].cells[i].value);
    r.log = r.lo > 0 && r.hi / r.lo >= 50;
    return r;
}

char *grid_cell_hint(const struct grid_chart *g, int series, int x, int y)
{
    const struct grid_series *s = &g->series[series];
    const struct grid_cell *c = &s->cells[y * g->nx + x];
    struct str out = {0};
    char b[NUMBER_BUF];
    str_addf(&out, "%s", s->name);
    if (g->ny)
        str_addf(&out, ", %s=%s", g->yname, g->y[y].text);
    str_addf(&out, "%s %s=%s: ", g->ny ? "" : ",", g->xname, g->x[x].text);
    if (isfinite(c->value))
        str_addf(&out, "%s%s%s%s", c->bound ? c->bound : "", number_fmt(b, c->value, 4),
                 g->unit && *g->unit ? " " : "", g->unit ? svg_unit(g->unit) : "");
    else
        str_add(&out, c->why ? c->why : "no figure");
    return str_take(&out);
}

static bool lines_sound(const void *model)
{
    const struct grid_chart *g = model;
    return grid_sound(g) && !g->ny && g->nx > 1;
}

/* From zero on where all is positive: lengths compare only so; y all over decades is logarithmic. */
static struct range lines_range(const struct grid_chart *g)
{
    struct range r = grid_range(g, -1);
    if (!range_known(&r))
        return (struct range){0, 1, false};
    if (r.log) {
        const double lo = floor(log10(r.lo)), hi = ceil(log10(r.hi));
        return (struct range){pow(10, lo), pow(10, hi > lo ? hi : lo + 1), true};
    }
    if (r.lo > 0)
        r.lo = 0;
    if (!(r.hi > r.lo))
        r.hi = r.lo + 1;
    return r;
}

static bool any_bound(const struct grid_chart *g)
{
    for (int s = 0; s < g->nseries; s++)
        for (int i = 0; i < g->nx; i++)
            if (g->series[s].cells[i].bound && isfinite(g->series[s].cells[i].value))
                return true;
    return false;
}

/* ---- cells ---- */

static enum role series_role(int i)
{
    return (enum role)(ROLE_SERIES + i % 6);
}

static double y_at(double y, bool log)
{
    return log ? log10(y) : y;
}

static void cell_series(struct canvas *c, const struct axes *a, const struct grid_chart *g, int s,
                        bool log)
{
    const struct grid_cell *v = g->series[s].cells;
    struct dots d;
    dots_init(&d, c, a->r);
    int last = -1;
    for (int i = 0; i < g->nx; i++) {
        if (!isfinite(v[i].value)) {
            last = -1;
            continue;
        }
        if (last >= 0)
            axes_line(&d, a, last, y_at(v[last].value, log), i, y_at(v[i].value, log));
        last = i;
    }
    dots_draw(&d, c, series_role(s));
    dots_free(&d);
}

/* One series has round marks; several have letters, which the legend names. A bound has a sign, or
 * the small letter. */
static char series_letter(const struct grid_chart *g, int s, const char *bound)
{
    const char letter = g->nseries > 1 ? (char)('A' + s % 26) : 'o';
    return !bound ? letter : g->nseries > 1 ? (char)tolower(letter) : *bound;
}

/* '&' where series meet. */
static void put_point(struct canvas *c, int x, int y, enum role role, char letter, bool several)
{
    uint32_t there = canvas_glyph(c, x, y);
    bool taken =
        (there >= 'A' && there <= 'Z') || there == '&' || (several && there >= 'a' && there <= 'z');
    canvas_put(c, x, y, role, taken && there != (uint32_t)letter ? '&' : (uint32_t)letter);
}

static void cell_points(struct canvas *c, const struct axes *a, const struct grid_chart *g, int s,
                        bool log)
{
    for (int i = 0; i < g->nx; i++) {
        const struct grid_cell *v = &g->series[s].cells[i];
        int x = axes_x(a, i);
        if (isfinite(v->value))
            put_point(c, x, axes_y(a, y_at(v->value, log)), series_role(s),
                      series_letter(g, s, v->bound), g->nseries > 1);
        else if (v->blocked) /* not possible: it stands on the ground, one series above the other */
            canvas_put(c, x, a->r.y + a->r.h - 1 - (s < a->r.h ? s : 0), ROLE_BAD,
                       (uint32_t)chart_block_of(v->blocked)->letter);
    }
}

static bool has_interval(const struct grid_cell *v)
{
    return isfinite(v->value) && v->hi > v->lo;
}

/* A bar from lo to hi, as far as it is in view; an arrow where it goes on. Bars of several series in one column have
 * nobody's colour. */
static void cell_interval(struct canvas *c, const struct axes *a, const struct grid_cell *v, int i,
                          int s, const struct range *range)
{
    const bool ascii = c->glyphs == GLYPHS_ASCII, below = v->lo < range->lo;
    const int x = axes_x(a, i), end = a->r.y + a->r.h - 1;
    const uint32_t bar = ascii ? '|' : 0x2502, up = ascii ? '^' : 0x2191;
    const uint32_t down = ascii ? 'v' : 0x2193;
    int top = axes_y(a, y_at(fmin(v->hi, range->hi), range->log)),
        bottom = below ? end : axes_y(a, y_at(v->lo, range->log));
    top = top < a->r.y ? a->r.y : top;
    for (int y = top; y <= bottom && y <= end; y++) {
        const uint32_t there = canvas_glyph(c, x, y);
        const bool taken = there == bar || there == up || there == down;
        canvas_put(c, x, y, taken ? ROLE_NORMAL : series_role(s),
                   y == top && v->hi > range->hi ? up
                   : y == end && below           ? down
                                                 : bar);
    }
}

static void cell_intervals(struct canvas *c, const struct axes *a, const struct grid_chart *g,
                           const struct range *range)
{
    for (int s = 0; s < g->nseries; s++)
        for (int i = 0; i < g->nx; i++)
            if (has_interval(&g->series[s].cells[i]))
                cell_interval(c, a, &g->series[s].cells[i], i, s, range);
}

/* What the bars are; "" where there are none. */
static const char *interval_words(const struct grid_chart *g)
{
    for (int s = 0; s < g->nseries; s++)
        for (int i = 0; i < g->nx; i++)
            if (has_interval(&g->series[s].cells[i]))
                return strcmp(g->metric, "median_us") ? ", bars: intervals" : ", bars: quartiles";
    return "";
}

static void cell_legend(struct canvas *c, struct rect r, const struct grid_chart *g)
{
    const char *bounds = !any_bound(g)    ? ""
                         : g->nseries > 1 ? ", small letters: bounds"
                                          : ", < >: bounds";
    char *title = xasprintf("%s over %s%s%s", g->metric, g->xname, interval_words(g), bounds);
    int x = r.x + str_width(title) + 3;
    canvas_text(c, r.x, r.y, r.w, ROLE_DIM, title);
    for (int s = 0; s < g->nseries && g->nseries > 1 && x < r.x + r.w; s++)
        x += 2 + canvas_textf(c, x, r.y, r.x + r.w - x, series_role(s), "%c %s",
                              series_letter(g, s, NULL), g->series[s].name);
    free(title);
}

/* The cursor: its label below the axis, and a line upward where nothing else is. */
static void cell_cursor(struct canvas *c, const struct axes *a, int n, int cur)
{
    if (cur < 0 || cur >= n)
        return;
    int x = axes_x(a, cur);
    for (int y = a->r.y; y < a->r.y + a->r.h; y++)
        if (!c->cells[y * c->w + x].ch)
            canvas_put(c, x, y, ROLE_DIM, c->glyphs == GLYPHS_ASCII ? ':' : 0x2506);
}

static void cell_xtexts(struct canvas *c, const struct axes *a, const struct grid_chart *g, int cur)
{
    int end = a->r.x - 2;
    struct axes b = *a;
    b.r.x = a->r.x - 1;
    b.r.w = a->r.w + 1;
    for (int i = 0; i < g->nx; i++)
        if (cur < 0 || g->nx * 6 < a->r.w || i <= cur)
            axes_x_label(c, &b, axes_x(a, i), &end, i == cur ? ROLE_ACCENT : ROLE_DIM,
                         g->x[i].text);
}

void fig_lines(struct canvas *c, struct rect r, const struct grid_chart *g, int cur)
{
    if (g->nx < 1 || r.w < 24 || r.h < 6)
        return;
    const struct range range = lines_range(g);
    struct axes a = {.r = {r.x + AXES_LEFT, r.y + 1, r.w - AXES_LEFT, r.h - 3}};
    a.x0 = g->nx > 1 ? 0 : -1;
    a.x1 = g->nx > 1 ? g->nx - 1 : 1;
    a.y0 = range.log ? rint(log10(range.lo)) : range.lo;
    a.y1 = range.log ? rint(log10(range.hi)) : range.hi;
    axes_draw(c, &a);
    cell_legend(c, r, g);
    axes_y_label(c, &a, a.r.y, range.hi);
    axes_y_label(c, &a, a.r.y + a.r.h - 1, range.lo);
    for (double d = a.y0 + 1; range.log && d < a.y1; d++)
        axes_y_label(c, &a, axes_y(&a, d), pow(10, d));
    cell_xtexts(c, &a, g, cur);
    for (int s = 0; s < g->nseries; s++)
        cell_series(c, &a, g, s, range.log);
    cell_intervals(c, &a, g, &range);
    cell_cursor(c, &a, g->nx, cur);
    for (int s = 0; s < g->nseries; s++)
        cell_points(c, &a, g, s, range.log);
}

static void lines_cells(struct canvas *c, struct rect r, const void *model,
                        const struct chart_view *v)
{
    fig_lines(c, r, model, v->x);
}

/* ---- SVG ---- */

static const double width = 760, left = 66, top = 34, plot_h = 280;

struct plot {
    const struct grid_chart *g;
    struct str *out;
    struct scale y;
    double right; /* of the plot area */
};

static double x_px(const struct plot *p, int i)
{
    const int n = p->g->nx;
    return n > 1 ? left + 14 + (p->right - left - 28) * i / (n - 1) : (left + p->right) / 2;
}

static void draw_y_axis(const struct plot *p)
{
    double ticks[TICKS_MAX];
    char tick[32];
    const int n = range_ticks(&p->y.range, 6, ticks);
    for (int i = 0; i < n; i++) {
        const double y = scale_px(&p->y, ticks[i]);
        svg_line(p->out, left, y, p->right, y, "grid");
        svg_text(p->out, left - 8, y + 4, SVG_END, "d s", tick_text(tick, ticks[i]));
    }
    svg_textf(p->out, 12, 18, SVG_START, "d", "%s%s%s%s%s", p->g->metric,
              p->g->unit && *p->g->unit ? ", " : "", svg_unit(p->g->unit),
              p->y.range.log ? " (logarithmic)" : "",
              any_bound(p->g) ? "; hollow: <= or >= that, the figure is not known" : "");
}

static void draw_x_axis(const struct plot *p)
{
    const double y = top + plot_h;
    double end = -INFINITY;
    svg_line(p->out, left, y, p->right, y, "axis");
    for (int i = 0; i < p->g->nx; i++) {
        const char *text = p->g->x[i].text;
        const double half = svg_width(text, false) / 2, x = x_px(p, i);
        if (x - half < end + 6)
            continue;
        svg_line(p->out, x, y, x, y + 4, "axis");
        svg_text(p->out, x, y + 18, SVG_MIDDLE, "d s", text);
        end = x + half;
    }
    svg_text(p->out, (left + p->right) / 2, y + 38, SVG_MIDDLE, "t", p->g->xname);
}

/* When the colours have come round once, lines are dashed and marks hollow. */
static bool is_second(int s)
{
    return s / SVG_SERIES % 2;
}

static void draw_point(const struct plot *p, int s, int i)
{
    const struct grid_cell *v = &p->g->series[s].cells[i];
    const struct range *range = &p->y.range;
    char classes[16];
    const double x = x_px(p, i), y = scale_px(&p->y, v->value);
    char *hint = grid_cell_hint(p->g, s, i, 0);
    svg_hint_begin(p->out, hint);
    snprintf(classes, sizeof classes, "thin l%d", s % SVG_SERIES);
    if (v->hi > v->lo && (!range->log || v->lo > 0)) { /* as far as it is in view */
        const double lo = fmax(v->lo, range->lo), hi = fmin(v->hi, range->hi);
        svg_line(p->out, x, scale_px(&p->y, lo), x, scale_px(&p->y, hi), classes);
    }
    svg_mark(p->out, x, y, s, is_second(s) || v->bound);
    if (v->bound)
        svg_text(p->out, x, y - 8, SVG_MIDDLE, "d s", v->bound);
    svg_hint_end(p->out);
    free(hint);
}

/* A cross on the ground where there is no value, with the reason. */
static void draw_gap(const struct plot *p, int s, int i)
{
    const double x = x_px(p, i), y = top + plot_h - 7 - 11 * (s % 8);
    char *hint = grid_cell_hint(p->g, s, i, 0);
    svg_hint_begin(p->out, hint);
    svg_line(p->out, x - 4, y - 4, x + 4, y + 4, "lbad");
    svg_line(p->out, x - 4, y + 4, x + 4, y - 4, "lbad");
    svg_hint_end(p->out);
    free(hint);
}

static void draw_series(const struct plot *p, int s)
{
    const struct grid_cell *v = p->g->series[s].cells;
    const int n = p->g->nx;
    double *x = xcalloc((size_t)n, sizeof *x), *y = xcalloc((size_t)n, sizeof *y);
    char classes[16];
    for (int i = 0; i < n; i++) {
        x[i] = x_px(p, i);
        y[i] = isfinite(v[i].value) ? scale_px(&p->y, v[i].value) : NAN;
    }
    snprintf(classes, sizeof classes, "l%d%s", s % SVG_SERIES, is_second(s) ? " dash" : "");
    svg_path(p->out, x, y, n, classes);
    for (int i = 0; i < n; i++)
        if (!isnan(y[i]))
            draw_point(p, s, i);
        else if (v[i].blocked)
            draw_gap(p, s, i);
    free(x);
    free(y);
}

/* ---- names beside the ends of the lines ---- */

struct label {
    int s;
    double want, y;
};

static int upper_first(const void *a, const void *b)
{
    const double x = ((const struct label *)a)->want, y = ((const struct label *)b)->want;
    return (x > y) - (x < y);
}

static double end_y(const struct plot *p, int s)
{
    const struct grid_series *v = &p->g->series[s];
    for (int i = v->n - 1; i >= 0; i--)
        if (isfinite(v->cells[i].value))
            return scale_px(&p->y, v->cells[i].value);
    return top + plot_h;
}

/* Downward so that none touches the one above; then up again, where the last ran out of the plot. */
static void spread(struct label *v, int n, double bottom)
{
    const double gap = fmin(16, plot_h / n);
    qsort(v, (size_t)n, sizeof *v, upper_first);
    for (int i = 0; i < n; i++)
        v[i].y = i && v[i].want < v[i - 1].y + gap ? v[i - 1].y + gap : v[i].want;
    for (int i = n - 1; i >= 0; i--)
        v[i].y = fmin(v[i].y, i == n - 1 ? bottom : v[i + 1].y - gap);
}

static void draw_names(const struct plot *p)
{
    struct label v[GRID_SERIES] = {0};
    const int n = p->g->nseries;
    for (int s = 0; s < n; s++)
        v[s] = (struct label){.s = s, .want = end_y(p, s)};
    spread(v, n, top + plot_h);
    for (int i = 0; i < n; i++) {
        svg_mark(p->out, p->right + 18, v[i].y, v[i].s, is_second(v[i].s));
        svg_text(p->out, p->right + 29, v[i].y + 4, SVG_START, "t", p->g->series[v[i].s].name);
    }
}

static void lines_svg(struct str *out, const struct chart *c, bool alone)
{
    const struct grid_chart *g = c->model;
    double names = 60;
    for (int s = 0; s < g->nseries; s++)
        names = fmax(names, svg_width(g->series[s].name, false) + 36);
    struct plot p = {.g = g,
                     .out = out,
                     .y = {lines_range(g), top + plot_h, top},
                     .right = width - fmin(names, 300)};
    char *title = xasprintf("%s over %s", g->metric, g->xname);
    chart_svg_begin(out, c, width, top + plot_h + 50, title, alone);
    draw_y_axis(&p);
    draw_x_axis(&p);
    for (int s = g->nseries; s-- > 0;) /* the first on top */
        draw_series(&p, s);
    draw_names(&p);
    svg_end(out);
    free(title);
}

/* ---- gnuplot ---- */

/* Only bounds need their sign; -1 where none is in the series. */
static bool gp_bounds(struct str *out, const struct grid_chart *g, int s)
{
    bool any = false;
    for (int i = 0; i < g->nx; i++) {
        const struct grid_cell *v = &g->series[s].cells[i];
        if (!v->bound || !isfinite(v->value))
            continue;
        if (!any)
            str_addf(out, "$bounds%d << EOD\n", s);
        any = true;
        str_addf(out, "%d %.9g ", i, v->value);
        gp_quoted(out, v->bound);
        str_addc(out, '\n');
    }
    if (any)
        str_add(out, "EOD\n");
    return any;
}

static void lines_gnuplot(struct str *out, const struct chart *c)
{
    const struct grid_chart *g = c->model;
    const struct range range = lines_range(g);
    double ticks[TICKS_MAX];
    bool bounds[GRID_SERIES] = {false};
    gp_head(out, &c->caption);
    str_add(out, "$data << EOD\n");
    for (int i = 0; i < g->nx; i++) {
        str_addf(out, "%d", i);
        for (int s = 0; s < g->nseries; s++) {
            const struct grid_cell *v = &g->series[s].cells[i];
            const bool spread_known = isfinite(v->lo) && isfinite(v->hi);
            gp_value(out, v->value);
            gp_value(out, spread_known ? v->lo : v->value);
            gp_value(out, spread_known ? v->hi : v->value);
        }
        str_addc(out, '\n');
    }
    str_add(out, "EOD\n");
    for (int s = 0; s < g->nseries; s++)
        bounds[s] = gp_bounds(out, g, s);
    gp_texts(out, "x", g->xname, g->x, g->nx);
    gp_label(out, "ylabel", g->metric, g->unit);
    gp_range(out, "y", &range, ticks, range_ticks(&range, 6, ticks));
    for (int s = 0; s < g->nseries; s++) {
        str_addf(out, "%s $data using 1:%d:%d:%d with yerrorlines title ",
                 s ? ", \\\n    " : "plot", 3 * s + 2, 3 * s + 3, 3 * s + 4);
        gp_quoted(out, g->series[s].name);
        if (bounds[s])
            str_addf(out, ", \\\n     $bounds%d using 1:2:3 with labels offset 0,1 notitle", s);
    }
    str_addc(out, '\n');
}

const struct chart_kind chart_lines = {
    .name = "lines",
    .doc = "a sweep over one axis, or shapes that differ in one number, as a line plot",
    .layout = &grid_layout,
    .sound = lines_sound,
    .cells = lines_cells,
    .svg = lines_svg,
    .gnuplot = lines_gnuplot,
};
