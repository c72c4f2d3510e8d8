/* sm.c - one SM: shared memory, registers and warp slots as bars, cut into the blocks that are
 * resident, with the block that did not fit.
 *
 * In cells a digit is the primary code of a block, colour only repeats it. What is not known is
 * hatched and has no digit: a bar never looks like a value that nobody computed.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "draw/figures.h"
#include "draw/gnuplot.h"
#include "draw/svg.h"

/* ---- the model ---- */

enum { BARS_MAX = 8, PANELS_MAX = 16, PANELS_SHOWN = 8 };

// clang-format off
static const struct field bar_fields[] = {
    CHART_FIELD(sm_bar, name, FIELD_TEXT),         CHART_FIELD(sm_bar, unit, FIELD_TEXT),
    CHART_FIELD(sm_bar, capacity, FIELD_INT),      CHART_FIELD(sm_bar, per_block, FIELD_INT),
    CHART_FIELD(sm_bar, used, FIELD_INT),          CHART_FIELD(sm_bar, fits, FIELD_INT),
    CHART_FIELD(sm_bar, lacks, FIELD_INT),         CHART_FIELD(sm_bar, was_per_block, FIELD_INT),
    CHART_FIELD(sm_bar, was_used, FIELD_INT),      CHART_FIELD(sm_bar, limits, FIELD_BOOL),
    {0},
};
static const struct chart_layout bar_layout = {sizeof(struct sm_bar), bar_fields, NULL};
static const struct field panel_fields[] = {
    CHART_FIELD(sm_panel, kernel, FIELD_TEXT),     CHART_FIELD(sm_panel, params, FIELD_TEXT),
    CHART_FIELD(sm_panel, device, FIELD_TEXT),     CHART_FIELD(sm_panel, reason, FIELD_TEXT),
    CHART_FIELD(sm_panel, before, FIELD_TEXT),     CHART_FIELD(sm_panel, change, FIELD_TEXT),
    CHART_FIELD(sm_panel, blocks, FIELD_INT),      CHART_FIELD(sm_panel, limiter, FIELD_INT),
    CHART_FIELD(sm_panel, occupancy_pct, FIELD_REAL),
    CHART_FIELD(sm_panel, bound, FIELD_BOOL),      CHART_FIELD(sm_panel, was_bound, FIELD_BOOL),
    CHART_FIELD(sm_panel, stale, FIELD_BOOL),
    {0},
};
static const struct chart_part panel_parts[] = {
    CHART_PART(sm_panel, bars, n, &bar_layout, BARS_MAX), {0},
};
const struct chart_layout sm_panel_layout = {sizeof(struct sm_panel), panel_fields, panel_parts};
static const struct field chart_fields[] = {{0}};
static const struct chart_part chart_parts[] = {
    CHART_PART(sm_chart, panels, n, &sm_panel_layout, PANELS_MAX), {0},
};
static const struct chart_layout chart_layout = {sizeof(struct sm_chart), chart_fields,
                                                 chart_parts};
/* The bars, in their order: what a block asks for by name, by compiler and by launch. */
static const struct {
    const char *name, *unit;
    enum occ_limiter resource;
} resources[] = {
    {"SMEM", "B", OCC_SMEM}, {"registers", "", OCC_REGS}, {"warps", "", OCC_WARPS},
};
enum { RESOURCES = sizeof resources / sizeof *resources };
// clang-format on

struct sm_panel *sm_add(struct sm_chart *s)
{
    s->panels = xrealloc(s->panels, ((size_t)s->n + 1) * sizeof *s->panels);
    model_init(&sm_panel_layout, &s->panels[s->n]);
    return &s->panels[s->n++];
}

void sm_take(struct sm_panel *p, const struct occupancy *o, const struct arch_limits *arch)
{
    p->bars = model_list(&bar_layout, p->n = RESOURCES);
    for (int i = 0; i < p->n; i++) {
        struct occ_room room;
        occupancy_room(arch, o, resources[i].resource, &room);
        p->bars[i] = (struct sm_bar){
            .name = xstrdup(resources[i].name),
            .unit = xstrdup(resources[i].unit),
            .capacity = room.capacity,
            .per_block = room.per_block,
            .used = room.used,
            .fits = room.fits,
            .lacks = room.lacks,
            .was_per_block = INT_UNKNOWN,
            .was_used = INT_UNKNOWN,
            .limits = (o->limiter & (unsigned)resources[i].resource) != 0,
        };
    }
    p->blocks = o->blocks_per_sm;
    p->limiter = o->limiter;
    p->occupancy_pct = o->occupancy_pct;
    p->bound = o->upper_bound == 1 && o->blocks_per_sm > 0;
    p->reason = o->reason ? xstrdup(o->reason) : NULL;
}

static const char *amount(char buf[NUMBER_BUF], const struct sm_bar *b, int64_t v)
{
    return *b->unit ? number_fmt_bytes(buf, (double)v) : number_fmt_int(buf, v);
}

/* "SMEM 44.0 -> 28.0 KiB": of each bar whose share a block has changed. */
static void add_changes(const struct sm_panel *p, struct str *out)
{
    char a[NUMBER_BUF], b[NUMBER_BUF];
    const char *sep = "; a block takes";
    for (int i = 0; i < p->n; i++) {
        const struct sm_bar *x = &p->bars[i];
        const bool known = x->per_block != INT_UNKNOWN && x->was_per_block != INT_UNKNOWN;
        if (x->per_block == x->was_per_block)
            continue;
        str_addf(out, "%s %s %s -> %s", sep, x->name,
                 x->was_per_block == INT_UNKNOWN ? "?" : amount(a, x, x->was_per_block),
                 x->per_block == INT_UNKNOWN ? "?" : amount(b, x, x->per_block));
        if (known && x->was_per_block == 0)
            str_add(out, " (new)");
        sep = ",";
    }
}

void sm_take_before(struct sm_panel *p, const struct occupancy *was, const struct arch_limits *arch,
                    const char *before)
{
    struct str s = {0};
    for (int i = 0; i < p->n && i < RESOURCES; i++) {
        struct occ_room room;
        occupancy_room(arch, was, resources[i].resource, &room);
        p->bars[i].was_per_block = room.per_block;
        p->bars[i].was_used = room.used;
    }
    p->was_bound = was->upper_bound == 1 && was->blocks_per_sm > 0;
    p->before = before && *before ? xstrdup(before) : NULL;
    if (was->blocks_per_sm == p->blocks && p->bound == p->was_bound)
        str_addf(&s, "%s%lld block%s as before", p->bound ? "<=" : "", (long long)p->blocks,
                 p->blocks == 1 ? "" : "s");
    else
        str_addf(&s, "%s%lld -> %s%lld block%s", p->was_bound ? "<=" : "",
                 (long long)was->blocks_per_sm, p->bound ? "<=" : "", (long long)p->blocks,
                 p->blocks == 1 ? "" : "s");
    add_changes(p, &s);
    p->change = str_take(&s);
}

static bool is_amount(int64_t v)
{
    return v == INT_UNKNOWN || (v >= 0 && v < (INT64_C(1) << 40));
}

/* Each of them is drawn. */
static bool few_blocks_before(const struct sm_bar *b)
{
    return b->was_per_block == INT_UNKNOWN || b->was_used == INT_UNKNOWN || b->was_per_block <= 0 ||
           b->was_used / b->was_per_block <= 1024;
}

static bool sm_sound(const void *model)
{
    const struct sm_chart *s = model;
    bool ok = s->n > 0;
    for (int i = 0; i < s->n; i++) {
        const struct sm_panel *p = &s->panels[i];
        ok = ok && p->n > 0 && p->blocks >= 0 && p->blocks <= 1024;
        for (int k = 0; ok && k < p->n; k++) {
            const struct sm_bar *b = &p->bars[k];
            ok = b->name && b->unit && is_amount(b->capacity) && is_amount(b->per_block) &&
                 is_amount(b->used) && is_amount(b->lacks) && is_amount(b->was_per_block) &&
                 is_amount(b->was_used) && is_amount(b->fits) && few_blocks_before(b);
        }
    }
    return ok;
}

/* ---- words ---- */

static bool is_known(const struct sm_bar *b)
{
    return b->capacity != INT_UNKNOWN && b->per_block != INT_UNKNOWN && b->used != INT_UNKNOWN;
}

void sm_bar_words(const struct sm_panel *p, int i, struct str *out)
{
    const struct sm_bar *b = &p->bars[i];
    const char *most = p->bound ? "<=" : "";
    char x[NUMBER_BUF], y[NUMBER_BUF], z[NUMBER_BUF];
    if (!is_known(b)) {
        str_addf(out, "not known%s",
                 b->per_block == INT_UNKNOWN && !strcmp(b->name, "registers") && !p->reason
                     ? ": not compiled here, not in the table"
                     : "");
        return;
    }
    if (!b->per_block) {
        str_add(out, "none is asked for");
        return;
    }
    str_addf(out, "%s%lld x %s of %s", most, (long long)p->blocks, amount(x, b, b->per_block),
             amount(y, b, b->capacity));
    if (b->lacks > 0)
        str_addf(out, "; block %lld lacks %s", (long long)p->blocks + 1, amount(z, b, b->lacks));
    else if (b->fits != INT_UNKNOWN && b->fits > p->blocks)
        str_addf(out, "; room for %lld more", (long long)(b->fits - p->blocks));
}

/* What stops the next block, joined by "and"; a limit without a bar is named as well. */
static void add_limiters(const struct sm_panel *p, struct str *out)
{
    const int64_t bits = p->limiter == INT_UNKNOWN ? 0 : p->limiter;
    const char *sep = ": the next is stopped by ";
    for (int i = 0; i < p->n; i++)
        if (p->bars[i].limits) {
            str_addf(out, "%s%s", sep, p->bars[i].name);
            sep = " and ";
        }
    if (bits & OCC_BLOCKS) {
        str_addf(out, "%sblock slots", sep);
        sep = " and ";
    }
    if (bits & OCC_BARRIERS)
        str_addf(out, "%snamed barriers", sep);
}

void sm_words(const struct sm_panel *p, struct str *out)
{
    const char *most = p->bound ? "at most " : "";
    char pct[NUMBER_BUF];
    if (p->blocks == 0) {
        str_addf(out, "no block fits%s%s", p->reason ? ": " : "", p->reason ? p->reason : "");
        return;
    }
    str_addf(out, "%s%lld block%s", most, (long long)p->blocks, p->blocks == 1 ? "" : "s");
    for (int i = 0; i < p->n; i++)
        if (!strcmp(p->bars[i].name, "warps") && is_known(&p->bars[i]))
            str_addf(out, ", %lld of %lld warps (%s %%)", (long long)p->bars[i].used,
                     (long long)p->bars[i].capacity, number_fmt(pct, p->occupancy_pct, 3));
    add_limiters(p, out);
    if (p->stale)
        str_add(out, "; its registers are of an older source");
}

/* ---- cells ---- */

enum { NAME_W = 10, WORDS_W = 50, W_MIN = 40, BAR_MIN = 26 };

static char digit_of(int64_t block)
{
    static const char digits[] = "123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return digits[block % (int64_t)(sizeof digits - 1)];
}

static enum role series(int64_t block)
{
    return (enum role)(ROLE_SERIES + (int)(block % 6));
}

/* Where a bar stands: w cells are the capacity, `over` cells beyond the wall are for what is lacking. */
struct place {
    int x, y, w, over;
};

/* The cell where `v` ends when `of` is w cells. */
static int cell_at(const struct place *at, int64_t v, int64_t of)
{
    static const double most = 4; /* walls: further out nothing is drawn */
    return of > 0 ? (int)lround(fmin((double)v / (double)of, most) * at->w) : 0;
}

static uint32_t hatch(const struct canvas *c)
{
    return c->glyphs == GLYPHS_ASCII ? 'x' : 0x2592;
}

/* As far as the end of what is beyond the wall. */
static void put_run(struct canvas *c, const struct place *at, int from, int to, enum role role,
                    uint32_t ch)
{
    for (int x = from; x < to && x <= at->w + at->over; x++)
        canvas_put(c, at->x + x, at->y, role, ch);
}

/* At most so many blocks: a digit where each begins, the rest hatched. */
static void draw_blocks(struct canvas *c, const struct place *at, const struct sm_panel *p,
                        const struct sm_bar *b)
{
    for (int64_t i = 0; i < p->blocks; i++) {
        const int from = cell_at(at, i * b->per_block, b->capacity);
        int to = cell_at(at, (i + 1) * b->per_block, b->capacity);
        if (to == from && i == 0 && b->per_block > 0)
            to = from + 1; /* small, but there */
        put_run(c, at, from, to, p->bound ? ROLE_DIM : series(i),
                p->bound ? '/' : (uint32_t)digit_of(i));
        if (p->bound && to > from && from < at->w)
            canvas_put(c, at->x + from, at->y, ROLE_DIM, (uint32_t)digit_of(i));
    }
}

/* The block that did not fit: what there is of it, and beyond the wall what it lacks. */
static void draw_next(struct canvas *c, const struct place *at, const struct sm_bar *b)
{
    const int from = cell_at(at, b->used, b->capacity);
    const int to = cell_at(at, b->used + b->per_block - b->lacks, b->capacity);
    const int over = cell_at(at, b->lacks, b->capacity);
    put_run(c, at, from, to < at->w ? to : at->w, ROLE_WARN, hatch(c));
    const int shown = over < 1 ? 1 : over;
    put_run(c, at, at->w + 1, at->w + 1 + (shown < at->over ? shown : at->over), ROLE_BAD,
            hatch(c));
    if (shown > at->over && at->over > 0)
        canvas_put(c, at->x + at->w + at->over, at->y, ROLE_BAD, '>');
}

static void draw_bar(struct canvas *c, const struct place *at, const struct sm_panel *p,
                     const struct sm_bar *b)
{
    canvas_text(c, at->x - 1 - NAME_W, at->y, NAME_W, b->limits ? ROLE_WARN : ROLE_NORMAL, b->name);
    canvas_put(c, at->x - 1, at->y, ROLE_FRAME, '[');
    canvas_put(c, at->x + at->w, at->y, ROLE_FRAME, ']');
    if (!is_known(b)) {
        put_run(c, at, 0, at->w, ROLE_DIM, '/');
        return;
    }
    put_run(c, at, 0, at->w, ROLE_DIM, c->glyphs == GLYPHS_ASCII ? '.' : 0xb7);
    draw_blocks(c, at, p, b);
    if (b->lacks > 0)
        draw_next(c, at, b);
}

/* "was      |--------|--------|": the blocks that were resident before. */
static void draw_ghost(struct canvas *c, const struct place *at, const struct sm_panel *p,
                       const struct sm_bar *b)
{
    canvas_text(c, at->x - 1 - NAME_W, at->y, NAME_W, ROLE_DIM, "  was");
    if (b->was_used == INT_UNKNOWN || b->was_per_block == INT_UNKNOWN) {
        canvas_text(c, at->x, at->y, at->w, ROLE_DIM, "not known");
        return;
    }
    const int end = cell_at(at, b->was_used, b->capacity), most = at->w + 1 + at->over;
    put_run(c, at, 0, end < most ? end : most, ROLE_DIM, p->was_bound ? '/' : '-');
    for (int64_t v = 0; b->was_per_block > 0 && v <= b->was_used; v += b->was_per_block) {
        const int x = cell_at(at, v, b->capacity);
        if (x < most)
            canvas_put(c, at->x + x, at->y, ROLE_DIM, '\'');
    }
}

/* How the rectangle is shared: words beside the bars or below them, the ghosts, the line on top. */
struct sm_rows {
    bool words, change, beside, below, ghosts;
};

static struct sm_rows share(const struct rect r, const struct sm_panel *p)
{
    int left = r.h - p->n;
    struct sm_rows s = {.beside = r.w >= NAME_W + 2 + BAR_MIN + WORDS_W};
    s.words = left-- > 0;
    s.change = p->change && left-- > 0;
    s.below = !s.beside && left >= p->n;
    left -= s.below ? p->n : 0;
    s.ghosts = s.change && left >= p->n;
    return s;
}

/* Where the whole does not fit, what it was before comes first: the end is what can be missed. */
static void change_line(struct canvas *c, struct rect r, const struct sm_panel *p)
{
    char *line =
        p->before ? xasprintf("%s  (before: %s)", p->change, p->before) : xstrdup(p->change);
    if (p->before && str_width(line) > r.w) {
        free(line);
        line = xasprintf("from %s: %s", p->before, p->change);
    }
    canvas_text(c, r.x, r.y, r.w, ROLE_ACCENT, line);
    free(line);
}

void fig_sm(struct canvas *c, struct rect r, const struct sm_panel *p)
{
    if (r.w < W_MIN || r.h < p->n || !p->n || p->blocks == INT_UNKNOWN)
        return;
    const struct sm_rows s = share(r, p);
    const int room = r.w - NAME_W - 2 - (s.beside ? WORDS_W : 0);
    struct place at = {.x = r.x + NAME_W + 1, .y = r.y, .over = room / 4};
    struct str text = {0};
    at.w = room - at.over;
    if (s.words) {
        sm_words(p, &text);
        canvas_text(c, r.x, at.y++, r.w, ROLE_TITLE, str_text(&text));
    }
    if (s.change)
        change_line(c, (struct rect){r.x, at.y++, r.w, 1}, p);
    for (int i = 0; i < p->n; i++) {
        text.len = 0;
        sm_bar_words(p, i, &text);
        draw_bar(c, &at, p, &p->bars[i]);
        if (s.beside)
            canvas_text(c, at.x + room + 2, at.y, WORDS_W - 1, ROLE_NORMAL, str_text(&text));
        else if (s.below)
            canvas_text(c, at.x, ++at.y, r.w - NAME_W - 1, ROLE_DIM, str_text(&text));
        at.y++;
        if (s.ghosts) {
            draw_ghost(c, &at, p, &p->bars[i]);
            at.y++;
        }
    }
    str_free(&text);
}

static void sm_cells(struct canvas *c, struct rect r, const void *model, const struct chart_view *v)
{
    const struct sm_chart *s = model;
    fig_sm(c, r, &s->panels[v->part < s->n ? v->part : 0]);
}

/* ---- SVG ---- */

static const double width = 760, left = 24, bar_w = 560, over_w = 150, bar_h = 26, row_h = 66,
                    head_h = 56, ghost_h = 6;

static double panel_h(const struct sm_panel *p)
{
    return head_h + (p->change ? 18 : 0) + p->n * row_h;
}

static double x_of(const struct sm_bar *b, double v)
{
    return left + fmin(v / (double)b->capacity * bar_w, bar_w + over_w);
}

/* A part of which no more is known than that it is at most that: an outline with strokes. */
static void svg_hatched(struct str *out, double x, double y, double w, double h)
{
    svg_rect(out, x, y, w, h, "ghost");
    for (double at = x; at + h * 0.6 <= x + w; at += 9)
        svg_line(out, at, y + h, at + h * 0.6, y, "axis");
}

static void svg_block(struct str *out, const struct sm_panel *p, const struct sm_bar *b, int64_t i,
                      double y)
{
    const double x = x_of(b, (double)(i * b->per_block));
    const double w = fmax(x_of(b, (double)((i + 1) * b->per_block)) - x, 1);
    char cls[8], number[NUMBER_BUF];
    snprintf(cls, sizeof cls, "s%d", (int)(i % SVG_SERIES));
    if (p->bound)
        svg_hatched(out, x + 0.5, y, w - 1, bar_h);
    else
        svg_rect(out, x + 0.5, y, fmax(w - 1, 0.5), bar_h, cls);
    number_fmt_int(number, i + 1);
    if (svg_width(number, true) + 4 < w)
        svg_text(out, x + w / 2, y + bar_h / 2 + 4, SVG_MIDDLE, p->bound ? "d m" : "on m", number);
}

static void svg_next(struct str *out, const struct sm_bar *b, double y)
{
    const double from = x_of(b, (double)b->used);
    const double to = x_of(b, (double)(b->used + b->per_block - b->lacks));
    const double wall = left + bar_w, over = x_of(b, (double)(b->capacity + b->lacks));
    if (to > from + 0.5)
        svg_rect(out, from + 0.5, y + 4, to - from - 1, bar_h - 8, "axis dash");
    svg_rect(out, wall + 1, y + 4, fmax(over - wall - 1, 1), bar_h - 8, "bad");
}

static void svg_ghost(struct str *out, const struct sm_panel *p, const struct sm_bar *b, double y)
{
    if (!p->change || b->was_used == INT_UNKNOWN || b->was_per_block == INT_UNKNOWN)
        return;
    for (int64_t v = 0; b->was_per_block > 0 && v < b->was_used; v += b->was_per_block) {
        const double x = x_of(b, (double)v), end = x_of(b, (double)(v + b->was_per_block));
        svg_rect(out, x + 0.5, y, fmax(end - x - 1, 0.5), ghost_h, "axis dash");
    }
}

static void svg_bar(struct str *out, const struct sm_panel *p, int i, double y)
{
    const struct sm_bar *b = &p->bars[i];
    struct str words = {0};
    sm_bar_words(p, i, &words);
    svg_text(out, left, y - 6, SVG_START, b->limits ? "b warn" : "b", b->name);
    svg_text(out, left + 80, y - 6, SVG_START, "t", str_text(&words));
    if (is_known(b)) {
        svg_hint_begin(out, str_text(&words));
        svg_rect(out, left, y, bar_w, bar_h, "ghost");
        for (int64_t k = 0; k < p->blocks; k++)
            svg_block(out, p, b, k, y);
        if (b->lacks > 0)
            svg_next(out, b, y);
        svg_hint_end(out);
    } else {
        svg_hatched(out, left, y, bar_w, bar_h);
    }
    svg_line(out, left + bar_w, y - 4, left + bar_w, y + bar_h + 4, "axis");
    svg_ghost(out, p, b, y + bar_h + 3);
    str_free(&words);
}

static void svg_panel(struct str *out, const struct sm_panel *p, double y0)
{
    struct str words = {0};
    double y = y0 + 22;
    sm_words(p, &words);
    svg_textf(out, left, y, SVG_START, "b", "%s%s%s", p->kernel ? p->kernel : "an SM",
              p->device ? p->kernel ? " on an SM of " : " of " : "", p->device ? p->device : "");
    svg_text(out, left + bar_w + over_w, y, SVG_END, "d s", p->params);
    svg_text(out, left, y += 18, SVG_START, p->blocks ? "t" : "bad", str_text(&words));
    if (p->change)
        svg_textf(out, left, y += 18, SVG_START, "b", "%s%s%s%s", p->change,
                  p->before ? "  (before: " : "", p->before ? p->before : "", p->before ? ")" : "");
    for (int i = 0; i < p->n; i++)
        svg_bar(out, p, i, y + 36 + i * row_h);
    str_free(&words);
}

static void sm_svg(struct str *out, const struct chart *c, bool alone)
{
    const struct sm_chart *s = c->model;
    const int n = s->n < PANELS_SHOWN ? s->n : PANELS_SHOWN;
    double h = 16;
    for (int i = 0; i < n; i++)
        h += panel_h(&s->panels[i]);
    chart_svg_begin(out, c, width, h, "what resident blocks take of an SM", alone);
    h = 0;
    for (int i = 0; i < n; i++) {
        svg_panel(out, &s->panels[i], h);
        h += panel_h(&s->panels[i]);
    }
    svg_end(out);
}

/* ---- gnuplot: a row for each bar, in per cent of the SM ---- */

static void gp_box(struct str *out, const struct sm_bar *b, double from, double to, double row,
                   double half, int color)
{
    const double a = from / (double)b->capacity * 100, z = to / (double)b->capacity * 100;
    str_addf(out, "%.9g %.9g %.9g %.9g %.9g %.9g %d\n", (a + z) / 2, row, a, z, row - half,
             row + half, color);
}

enum { COLOR_NONE = 0, COLOR_NEXT = 7, COLOR_WAS = 8 }; /* of gnuplot's line types; 0 is dotted */

static void gp_bar(struct str *out, const struct sm_panel *p, const struct sm_bar *b, int row)
{
    if (!is_known(b) || b->capacity <= 0)
        return;
    for (int64_t i = 0; i < p->blocks; i++)
        gp_box(out, b, (double)(i * b->per_block), (double)((i + 1) * b->per_block), row, 0.3,
               p->bound ? COLOR_NONE : (int)(i % SVG_SERIES) + 1);
    if (b->lacks > 0)
        gp_box(out, b, (double)b->capacity, (double)(b->capacity + b->lacks), row, 0.15,
               COLOR_NEXT);
    if (p->change && b->was_used != INT_UNKNOWN && b->was_used > 0)
        gp_box(out, b, 0, (double)b->was_used, row + 0.38, 0.05, COLOR_WAS);
}

static void gp_names(struct str *out, const struct sm_chart *s)
{
    int row = 0;
    for (int k = 0; k < s->n; k++)
        for (int i = 0; i < s->panels[k].n; i++, row++) {
            const struct sm_panel *p = &s->panels[k];
            struct str words = {0};
            str_addf(&words, "%s%s%s: ", p->kernel ? p->kernel : "", p->kernel ? " " : "",
                     p->bars[i].name);
            sm_bar_words(p, i, &words);
            str_add(out, row ? ", " : "");
            gp_tick(out, str_text(&words), row);
            str_free(&words);
        }
}

static void sm_gnuplot(struct str *out, const struct chart *c)
{
    const struct sm_chart *s = c->model;
    int rows = 0;
    gp_head(out, &c->caption);
    str_add(out, "$boxes << EOD\n");
    for (int k = 0; k < s->n; k++)
        for (int i = 0; i < s->panels[k].n; i++)
            gp_bar(out, &s->panels[k], &s->panels[k].bars[i], rows++);
    str_add(out, "EOD\nset ytics (");
    gp_names(out, s);
    str_addf(out,
             ")\nset yrange [%d.6:-0.6]\nset xrange [0:*]\nset xlabel \"%% of an SM; beyond 100: "
             "what the next block lacks\"\n"
             "set style fill solid 0.6\nset arrow from 100,graph 0 to 100,graph 1 nohead\n"
             "plot $boxes using 1:2:3:4:5:6:7 with boxxyerror lc variable notitle\n",
             rows - 1);
}

const struct chart_kind chart_sm = {
    .name = "sm",
    .doc = "occupancy: shared memory, registers and warps of an SM, cut into its blocks",
    .layout = &chart_layout,
    .sound = sm_sound,
    .cells = sm_cells,
    .svg = sm_svg,
    .gnuplot = sm_gnuplot,
};
