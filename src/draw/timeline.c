/* timeline.c - see timeline.h. Blocks over SMs as cells, SVG and gnuplot.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw/timeline.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "draw/gnuplot.h"
#include "draw/phases.h"
#include "draw/scale.h"
#include "draw/svg.h"
#include "draw/timeline/key.h"
#include "draw/timeline/slots.h"
#include "measure/origin.h"

/* ---- the model ---- */

enum { PANELS_MAX = 16, PASSES_MAX = 16, ROWS_MAX = 4096, LANES_MAX = 256, SPANS_MAX = 4000 };

// clang-format off
static const struct field span_fields[] = {
    CHART_FIELD(block_span, pass, FIELD_INT),  CHART_FIELD(block_span, row, FIELD_INT),
    CHART_FIELD(block_span, lane, FIELD_INT),  CHART_FIELD(block_span, wave, FIELD_INT),
    CHART_FIELD(block_span, tile, FIELD_INT),  CHART_FIELD(block_span, head, FIELD_INT),
    CHART_FIELD(block_span, split, FIELD_INT), CHART_FIELD(block_span, begin_us, FIELD_REAL),
    CHART_FIELD(block_span, end_us, FIELD_REAL), CHART_FIELD(block_span, course, FIELD_INT), {0},
};
static const struct chart_layout span_layout = {sizeof(struct block_span), span_fields, NULL};
static const struct field pass_fields[] = {CHART_FIELD(grid_text, text, FIELD_TEXT), {0}};
static const struct chart_layout pass_layout = {sizeof(struct grid_text), pass_fields, NULL};
static const struct field panel_fields[] = {
    CHART_FIELD(block_panel, kernel, FIELD_TEXT),   CHART_FIELD(block_panel, params, FIELD_TEXT),
    CHART_FIELD(block_panel, device, FIELD_TEXT),   CHART_FIELD(block_panel, origin, FIELD_TEXT),
    CHART_FIELD(block_panel, unit, FIELD_TEXT),     CHART_FIELD(block_panel, note, FIELD_TEXT),
    CHART_FIELD(block_panel, reason, FIELD_TEXT),   CHART_FIELD(block_panel, rows, FIELD_INT),
    CHART_FIELD(block_panel, lanes, FIELD_INT),     CHART_FIELD(block_panel, shown, FIELD_INT),
    CHART_FIELD(block_panel, bound, FIELD_BOOL),    CHART_FIELD(block_panel, blocks, FIELD_INT),
    CHART_FIELD(block_panel, slots, FIELD_INT), CHART_FIELD(block_panel, tile_rows, FIELD_INT),     CHART_FIELD(block_panel, waves, FIELD_REAL),
    CHART_FIELD(block_panel, span_us, FIELD_REAL),  CHART_FIELD(block_panel, busy_pct, FIELD_REAL),
    CHART_FIELD(block_panel, tail_pct, FIELD_REAL), CHART_FIELD(block_panel, imbalance, FIELD_REAL),
    CHART_FIELD(block_panel, block_us, FIELD_REAL), CHART_FIELD(block_panel, recorded_us, FIELD_REAL),
    CHART_FIELD(block_panel, recorded, FIELD_TEXT),
    CHART_FIELD(block_panel, predicted_us, FIELD_REAL), CHART_FIELD(block_panel, predicted_error_pct, FIELD_REAL),
    {0},
};
static const struct chart_part panel_parts[] = {
    CHART_PART(block_panel, passes, npasses, &pass_layout, PASSES_MAX),
    CHART_PART(block_panel, phases, nphases, &phase_layout, PHASES_MAX),
    CHART_PART(block_panel, legs, nlegs, &leg_layout, LEGS_MAX),
    {"spans", offsetof(struct block_panel, spans), offsetof(struct block_panel, n), &span_layout,
     SPANS_MAX * 16, true}, {0},
};
const struct chart_layout block_panel_layout = {sizeof(struct block_panel), panel_fields,
                                                panel_parts};
static const struct field chart_fields[] = {{0}};
static const struct chart_part chart_parts[] = {
    CHART_PART(block_chart, panels, n, &block_panel_layout, PANELS_MAX), {0},
};
static const struct chart_layout chart_layout = {sizeof(struct block_chart), chart_fields,
                                                 chart_parts};
// clang-format on

void block_size(struct block_chart *b, int n)
{
    b->panels = model_list(&block_panel_layout, b->n = n);
}

void block_spans(struct block_panel *p, int npasses, int n)
{
    p->passes = model_list(&pass_layout, p->npasses = npasses);
    p->spans = model_list(&span_layout, p->n = n);
}

static bool span_sound(const struct block_panel *p, const struct block_span *b)
{
    return b->row >= 0 && b->row < p->shown && b->lane >= 0 && b->lane < LANES_MAX &&
           b->pass >= 0 && b->pass < PASSES_MAX && b->wave >= 0 && b->tile >= -1 &&
           b->tile < 1 << 30 && b->head >= -1 && b->head < 1 << 30 && b->split >= -1 &&
           b->split < 1 << 30 && b->wave < 1 << 30 && b->begin_us >= 0 &&
           b->end_us >= b->begin_us && b->end_us < 1e12;
}

static bool panel_sound(const struct block_panel *p)
{
    bool ok = p->kernel && (p->reason || (p->unit && p->rows > 0 && p->rows <= ROWS_MAX &&
                                          p->lanes > 0 && p->lanes <= LANES_MAX && p->shown > 0 &&
                                          p->shown <= p->rows && p->n > 0));
    ok = ok && (p->reason || !(p->block_us > 0) || p->block_us > 1e-6 * p->span_us);
    for (int i = 0; i < p->npasses; i++)
        ok = ok && p->passes[i].text;
    for (int i = 0; ok && i < p->n; i++)
        ok = span_sound(p, &p->spans[i]);
    return ok && phases_sound(p);
}

static double longest_span(const struct block_chart *b)
{
    double most = 0;
    for (int i = 0; i < b->n; i++)
        if (!b->panels[i].reason)
            most = fmax(most, b->panels[i].span_us);
    return most;
}

/* What the width of a panel's picture is: all of the model, of stamps the longest of the chart. */
static double span_of(const struct block_chart *b, const struct block_panel *p)
{
    return p->block_us > 0 ? p->span_us : longest_span(b);
}

static bool is_recorded(const struct block_panel *p)
{
    return p->recorded_us > 0 && p->recorded;
}

/* Microseconds of the model's unit: the whole takes what was recorded of it, else what is predicted with an error that is
 * shown. 0: it has no clock. */
static double clock_of(const struct block_panel *p)
{
    const double whole = is_recorded(p)                                       ? p->recorded_us
                         : p->predicted_us > 0 && p->predicted_error_pct >= 0 ? p->predicted_us
                                                                              : 0;
    return p->block_us > 0 && whole < 1e12 && p->span_us > 0 ? whole / p->span_us : 0;
}

/* Are its times those of the time model, not of its own scale and not of a clock? */
static bool is_predicted(const struct block_panel *p)
{
    return !(p->block_us > 0) && p->predicted_us > 0;
}

/* In what times are shown. */
static bool in_blocks(const struct block_panel *p)
{
    return p->block_us > 0 && !(clock_of(p) > 0);
}

/* A time as it is shown: of the model by its clock, or in blocks. */
static double shown_time(const struct block_panel *p, double us)
{
    return in_blocks(p) ? us / p->block_us : p->block_us > 0 ? us * clock_of(p) : us;
}

static bool timeline_sound(const void *model)
{
    const struct block_chart *b = model;
    bool ok = longest_span(b) > 0;
    for (int i = 0; i < b->n; i++)
        ok = ok && panel_sound(&b->panels[i]);
    return ok;
}

/* ---- lines ---- */

/* SMs that do the same share a line where not every slot has one. */
static void lay_lines(const struct block_panel *s, const struct timeline_view *v, int w, int height,
                      struct slot_lines *out)
{
    const struct slot_scale scale = {v->begin_us, (v->end_us - v->begin_us) / w, w};
    const bool room = ((int)s->shown - v->row) * (int)s->lanes <= height;
    if (v->per_line > 0 || room || !slots_alike(out, s, v->row, &scale, height))
        slots_even(out, s, v->row, v->per_line > 0 ? v->per_line : timeline_fit(s, height), height);
}

static void slot_name(const struct block_panel *s, const struct slot_lines *l, int line,
                      struct str *out)
{
    const struct slot_line *at = &l->v[line];
    str_addf(out, "%s %d", s->unit[0] == 't' ? "thr" : s->unit, at->row);
    if (at->rows > 1)
        str_addf(out, "-%d", at->row + at->rows - 1);
}

static void draw_label(struct canvas *c, int x, int y, const struct block_panel *s,
                       const struct slot_lines *l, int line)
{
    struct str name = {0};
    const struct slot_line *at = &l->v[line];
    if (slots_leads(l, line))
        slot_name(s, l, line, &name);
    else if (at->rows > 1 || at->lanes > 1)
        str_addf(&name, at->lanes > 1 ? "  slot %d-%d" : "  slot %d", at->lane,
                 at->lane + at->lanes - 1);
    canvas_text(c, x, y, TIMELINE_LABEL - 1, ROLE_DIM, str_text(&name));
    str_free(&name);
}

/* ---- cells ---- */

/* What a cell is filled with, in us of slots, and the block that has most of it. */
struct share {
    double filled, best;
    const struct block_span *block;
    char first, last; /* of the letters of all blocks there */
};

static void add_block(struct share *row, int w, const struct timeline_view *v,
                      const struct block_span *b, char letter)
{
    const double cell_us = (v->end_us - v->begin_us) / w;
    const double from = (b->begin_us - v->begin_us) / cell_us,
                 to = (b->end_us - v->begin_us) / cell_us;
    if (!(to > 0) || !(from < w))
        return;
    const int last = to >= w ? w - 1 : (int)to;
    for (int x = from > 0 ? (int)from : 0; x <= last; x++) {
        const double part = fmin(to, x + 1) - fmax(from, x);
        row[x].filled += part > 0 ? part : 0;
        if (part > 0.02 && (!row[x].first || letter < row[x].first))
            row[x].first = letter;
        if (part > 0.02 && letter > row[x].last)
            row[x].last = letter;
        if (part > row[x].best) {
            row[x].best = part;
            row[x].block = b;
        }
    }
}

/* Does the block of a cell begin there, and has it room for more than its edge? One that began before
 * the view, or beside another that is still there, has none. */
static bool begins_here(const struct share *s, int x, int w, const struct timeline_view *v)
{
    const double cell_us = (v->end_us - v->begin_us) / w;
    if (!s[x].block || (x > 0 && s[x].block == s[x - 1].block) || x + 1 >= w ||
        s[x + 1].block != s[x].block)
        return false;
    return s[x].block->begin_us > v->begin_us + (x - 1) * cell_us;
}

/* What the block of cell x does there. */
static char phase_sign(const struct block_panel *p, const struct timeline_view *v,
                       const struct share *s, int x, int w, enum role *role)
{
    const double cell_us = (v->end_us - v->begin_us) / w, from = v->begin_us + x * cell_us;
    const int phase = phase_most(p, s->block, from, from + cell_us);
    *role = phase < 0 ? ROLE_NORMAL : (enum role)(ROLE_SERIES + phase % 6);
    return phase < 0 ? '#' : phase_letter(phase);
}

/* Letter and role of cell x, small where fewer than half of the slots are filled. */
static char cell_sign(const struct block_panel *p, const struct timeline_view *v,
                      const struct share *s, int x, int w, double slots, int32_t count,
                      enum role *role)
{
    const char sign = v->mark == MARK_PHASE ? phase_sign(p, v, s, x, w, role)
                                            : key_sign(s->block, v->mark, count, role);
    return s->filled < 0.5 * slots ? (char)tolower((unsigned char)sign) : sign;
}

/* Blocks of many letters that begin and end together: "A-H-----" to the right of their edge. Returns
 * how many columns. */
static int draw_together(struct canvas *c, struct rect r, const struct share *s, int x, bool small)
{
    int n = 0;
    char name[4] = {s[x].first, '-', s[x].last, 0};
    if (small)
        name[0] = (char)tolower((unsigned char)name[0]),
        name[2] = (char)tolower((unsigned char)name[2]);
    while (x + n < r.w && s[x + n].block == s[x].block)
        n++;
    for (int i = 0; i < n; i++)
        canvas_put(c, r.x + x + i, r.y, n >= 3 && i < 3 ? ROLE_NORMAL : ROLE_DIM,
                   n >= 3 && i < 3 ? (uint32_t)name[i] : '-');
    return n;
}

static void draw_line(struct canvas *c, struct rect r, const struct block_panel *p,
                      const struct timeline_view *v, const struct share *row, double slots,
                      int32_t count, bool alike)
{
    for (int x = 0; x < r.w; x++) {
        enum role role;
        if (!row[x].block || row[x].filled < 0.02)
            continue;
        if (begins_here(row, x, r.w, v))
            canvas_put(c, r.x + x++, r.y, ROLE_FRAME, '|');
        const char sign = cell_sign(p, v, &row[x], x, r.w, slots, count, &role);
        if (alike && v->mark != MARK_PHASE && row[x].first != row[x].last)
            x += draw_together(c, r, row, x, sign >= 'a') - 1;
        else
            canvas_put(c, r.x + x, r.y, role, (uint32_t)sign);
    }
}

/* How many slots of the whole device are filled. */
static void draw_filled(struct canvas *c, struct rect r, const struct block_panel *s,
                        const struct timeline_view *v)
{
    static const char ascii[] = ".:-=+*%#";
    struct share *row = xcalloc((size_t)r.w + 1, sizeof *row);
    const double slots = (double)(int)s->shown * (int)s->lanes;
    for (int i = 0; i < s->n; i++)
        add_block(row, r.w, v, &s->spans[i], '#');
    for (int x = 0; x < r.w; x++) {
        if (!(row[x].filled > 0))
            continue;
        int level = (int)(fmin(row[x].filled / slots, 1) * 8 - 0.5);
        level = level < 0 ? 0 : level;
        canvas_put(c, r.x + x, r.y, ROLE_ACCENT,
                   c->glyphs == GLYPHS_ASCII ? (uint32_t)ascii[level] : 0x2581u + (uint32_t)level);
    }
    free(row);
}

int fig_timeline(struct canvas *c, struct rect r, const struct block_panel *s,
                 const struct timeline_view *v)
{
    const int w = r.w - TIMELINE_LABEL, height = r.h - 1;
    if (w < 4 || height < 1 || !s->n || !(v->end_us > v->begin_us))
        return 0;
    struct slot_lines l;
    lay_lines(s, v, w, height, &l);
    const size_t cells_a_line = (size_t)w + 1;
    struct share *cells = xcalloc((size_t)l.n * cells_a_line, sizeof *cells);
    const int32_t count = key_classes(s, v->mark);
    for (int i = 0; i < s->n; i++) {
        enum role role;
        const int line = slots_line(&l, &s->spans[i]);
        if (line >= 0)
            add_block(cells + (size_t)line * cells_a_line, w, v, &s->spans[i],
                      key_sign(&s->spans[i], v->mark, count, &role));
    }
    for (int i = 0; i < l.n; i++) {
        draw_label(c, r.x, r.y + i, s, &l, i);
        draw_line(c, (struct rect){r.x + TIMELINE_LABEL, r.y + i, w, 1}, s, v,
                  cells + (size_t)i * cells_a_line, (double)l.v[i].rows * l.v[i].lanes, count,
                  l.v[i].alike);
    }
    const int used = l.n;
    free(cells);
    slots_clear(&l);
    canvas_text(c, r.x, r.y + used, TIMELINE_LABEL - 1, ROLE_DIM, "slots");
    draw_filled(c, (struct rect){r.x + TIMELINE_LABEL, r.y + used, w, 1}, s, v);
    return used + 1;
}

/* ---- words ---- */

/* 1, 2 or 5 times a power of ten, at least `us`. */
static double nice_step(double us)
{
    const double base = pow(10, floor(log10(us)));
    for (int i = 1; i <= 10; i = i == 2 ? 5 : 2 * i)
        if (i * base >= us * 0.999999)
            return i * base;
    return 10 * base;
}

void fig_time_axis(struct canvas *c, struct rect r, double begin_us, double end_us,
                   const struct block_panel *p)
{
    enum { TICK = 12 }; /* columns for a label */
    const int w = r.w - TIMELINE_LABEL;
    const bool blocks = p && in_blocks(p), model = p && p->block_us > 0;
    const double begin = p ? shown_time(p, begin_us) : begin_us,
                 end = p ? shown_time(p, end_us) : end_us;
    if (w < TICK || !(end > begin))
        return;
    const double step = nice_step((end - begin) * TICK / w);
    canvas_text(c, r.x, r.y, TIMELINE_LABEL - 1, ROLE_DIM,
                blocks                 ? "blocks"
                : p && is_predicted(p) ? "predicted"
                : !model               ? "time"
                : is_recorded(p)       ? "recorded"
                                       : "predicted");
    for (double t = ceil(begin / step - 1e-9) * step; t <= end; t += step) {
        const int x = (int)((t - begin) / (end - begin) * w);
        char buf[NUMBER_BUF];
        const char *label = t < step / 2 ? "0"
                            : blocks     ? number_fmt(buf, t, 3)
                                         : number_fmt_us(buf, t);
        canvas_textf(c, r.x + TIMELINE_LABEL + x, r.y, w - x, ROLE_DIM, "|%s",
                     str_width(label) < w - x ? label : "");
    }
}

bool timeline_one_block(const struct block_panel *p)
{
    return p->unit && !strcmp(p->unit, TIMELINE_BLOCK);
}

/* When the first block begins; what is before is the launch. */
static double first_begin(const struct block_panel *s)
{
    double us = s->n ? s->spans[0].begin_us : 0;
    for (int i = 0; i < s->n; i++)
        us = fmin(us, s->spans[i].begin_us);
    return us;
}

void timeline_summary(const struct block_panel *s, struct str *out)
{
    if (timeline_one_block(s)) {
        str_add(out, s->note ? s->note : "");
        return;
    }
    char b[6][NUMBER_BUF];
    const double span = shown_time(s, s->span_us);
    const bool model = s->block_us > 0 || is_predicted(s), one = fabs(span - 1) < 1e-9;
    char time[NUMBER_BUF];
    if (in_blocks(s))
        number_fmt(time, one ? 1 : span, 3);
    else
        number_fmt_us(time, span);
    str_addf(out,
             "%lld block%s, %s%lld slot%s (%s%d a%s %s), %s%s wave%s, %s%s; %ss busy %s%%, tail "
             "%s%%, longest/mean block %s",
             (long long)s->blocks, s->blocks == 1 ? "" : "s", s->bound ? "<=" : "",
             (long long)s->slots, s->slots == 1 ? "" : "s", s->bound ? "<=" : "", (int)s->lanes,
             s->unit[0] == 'S' ? "n" : "", s->unit, s->bound ? ">=" : "",
             number_fmt(b[0], s->waves, 3), s->waves == 1 ? "" : "s", model ? "ends at " : "", time,
             s->unit, number_fmt(b[2], s->busy_pct, 3), number_fmt(b[3], s->tail_pct, 2),
             number_fmt(b[4], s->imbalance, 3));
    if (s->bound)
        str_add(out, "; drawn as if that many fit: the registers are not known");
    if (s->shown < s->rows)
        str_addf(out, "; here the first %d of %d %ss", (int)s->shown, (int)s->rows, s->unit);
    if (is_recorded(s))
        str_addf(out, "; RECORDED %s (%s)", number_fmt_us(b[0], s->recorded_us), s->recorded);
    if (is_predicted(s) && first_begin(s) > 0)
        str_addf(out, "; the launch takes the first %s", number_fmt_us(b[0], first_begin(s)));
    if (is_predicted(s) && !(s->predicted_error_pct >= 0))
        str_addf(out, "; all times are predicted");
    if (s->predicted_us > 0 && s->predicted_error_pct >= 0)
        str_addf(out, "; predicted %s, median error %s %%%s", number_fmt_us(b[1], s->predicted_us),
                 number_fmt(b[2], s->predicted_error_pct, 2),
                 model && (is_predicted(s) || !is_recorded(s)) ? ": the clock of this picture"
                                                               : "");
}

void timeline_heading(const struct block_panel *p, struct str *out)
{
    str_add(out, p->kernel);
    if (p->params && *p->params)
        str_addf(out, " %s", p->params);
    if (p->origin)
        str_addf(out, "  %s", origin_tag(p->origin));
    if (p->device)
        str_addf(out, "  %s", p->device);
}

static void timeline_cells(struct canvas *c, struct rect r, const void *model,
                           const struct chart_view *view)
{
    const struct block_chart *b = model;
    const struct block_panel *p = &b->panels[view->part < b->n ? view->part : 0];
    struct timeline_view v = view->time;
    if (p->reason) {
        canvas_wrap(c, r, ROLE_WARN, p->reason);
        return;
    }
    if (!(v.end_us > v.begin_us))
        v = (struct timeline_view){.end_us = span_of(b, p), .mark = timeline_best_mark(p)};
    fig_timeline(c, r, p, &v);
}

/* ---- SVG: one panel below the other on one scale ---- */

static const double width = 760, left = 56, right = 736, head = 62, foot = 44;

/* A block, or the blocks of SMs that do the same, which is then drawn once. */
struct box {
    const struct block_span *b; /* of the first one */
    int line, column;
    char first, last; /* of their letters */
};

struct panel_svg {
    const struct block_panel *p;
    struct str *out;
    enum timeline_mark mark;
    int32_t count;
    int64_t lanes[PASSES_MAX]; /* a pass has slots of its own */
    struct slot_lines lines;   /* rows that do the same on one */
    struct box *boxes;
    int n;
    double row_h;
    struct scale x;
};

enum { MIXED = SVG_SERIES + 1, PHASES_LISTED = 6 };

/* What is said above it, and what its letters mean. */
static char *panel_words(const struct panel_svg *s)
{
    struct str text = {0};
    if (!s->p->reason)
        timeline_summary(s->p, &text);
    else
        str_add(&text, s->p->reason);
    return str_take(&text);
}

static char *panel_legend(const struct panel_svg *s)
{
    struct str text = {0};
    if (s->mark != MARK_PHASE)
        timeline_legend(s->p, s->mark, &text);
    if (s->p->note && !timeline_one_block(s->p))
        str_addf(&text, "%s%s", text.len ? "; " : "", s->p->note);
    return text.len ? str_take(&text) : xstrdup("");
}

/* So many lines of text there are above it, beside the first, and below. */
static int lines_above(const struct panel_svg *s)
{
    char *words = panel_words(s);
    const int n = svg_wrap(NULL, 0, 0, right - left, "d s", words);
    free(words);
    return n > 1 ? n - 1 : 0;
}

static int phases_shown(const struct panel_svg *s)
{
    int list[PHASES_LISTED];
    return s->mark == MARK_PHASE ? phases_top(s->p, PHASES_LISTED, list) : 0;
}

static int lines_below(const struct panel_svg *s)
{
    char *legend = panel_legend(s);
    const int n = svg_wrap(NULL, 0, 0, right - left, "d s", legend) + phases_shown(s);
    free(legend);
    return n > 1 ? n - 1 : 0;
}

static double panel_h(const struct panel_svg *s)
{
    const double text = (lines_above(s) + (s->p->reason ? 0 : lines_below(s))) * SVG_LINE;
    return s->p->reason ? head + text : head + text + s->lines.n * s->row_h + foot;
}

/* The class of a box's colour: as in cells, one for later passes, and one for blocks of many letters. */
static int colour_of(const struct panel_svg *s, const struct box *x)
{
    const int letter = key_letter(x->b, s->mark, s->count);
    return x->b->pass > 0        ? SVG_SERIES
           : x->first != x->last ? MIXED
           : letter < 0          ? 0
                                 : letter % SVG_SERIES;
}

static struct rect_px {
    double x, y, w, h;
} place_of(const struct panel_svg *s, const struct box *box, double y0)
{
    const struct block_span *b = box->b;
    const double lane_h = s->row_h / (double)s->lanes[b->pass],
                 x0 = scale_px(&s->x, shown_time(s->p, b->begin_us)),
                 w = scale_px(&s->x, shown_time(s->p, b->end_us)) - x0;
    return (struct rect_px){
        x0, y0 + box->line * s->row_h + (double)b->lane * lane_h,
        fmax(w - (w > 6 ? 1.2 : 0.6), 0.3), /* its end, before the next begins */
        fmax(lane_h - (s->row_h > 5 ? 0.8 : 0), 0.4)};
}

/* All blocks of one colour as one path. */
static void svg_colour(const struct panel_svg *s, int colour, double y0)
{
    bool any = false;
    for (int i = 0; i < s->n; i++) {
        if (colour_of(s, &s->boxes[i]) != colour)
            continue;
        const struct rect_px r = place_of(s, &s->boxes[i], y0);
        str_addf(s->out, "%sM%.1f %.1fh%.1fv%.1fh-%.1fz", any ? "" : "<path d=\"", r.x, r.y, r.w,
                 r.h, r.w);
        any = true;
    }
    if (any && colour < SVG_SERIES)
        str_addf(s->out, "\" class=\"s%d\"/>\n", colour);
    else if (any)
        str_addf(s->out, "\" class=\"%s\"/>\n", colour == MIXED ? "h4" : "warn");
}

/* Letters where they fit; the legend below names them in any case. */
static void svg_letters(const struct panel_svg *s, double y0)
{
    for (int i = 0; i < s->n; i++) {
        const struct box *x = &s->boxes[i];
        const struct rect_px r = place_of(s, x, y0);
        const bool many = x->first != x->last;
        const char one[2] = {x->first, 0}, both[4] = {x->first, '-', x->last, 0};
        if (r.w >= (many ? 30 : 12) && r.h >= 11)
            svg_text(s->out, r.x + r.w / 2, r.y + r.h / 2 + 4, SVG_MIDDLE, many ? "k4 s" : "on s",
                     many ? both : one);
    }
}

/* A box as pieces of one phase each, with letters where they fit. */
static void svg_phases_of(const struct panel_svg *s, const struct box *x, double y0)
{
    const struct rect_px r = place_of(s, x, y0);
    const int w = r.w < 1 ? 1 : (int)r.w;
    char *line = xcalloc((size_t)w + 1, 1);
    phases_line(s->p, x->b, w, line);
    for (int i = 0, n; i < w; i += n) {
        const char letter[2] = {line[i], 0};
        char series[8];
        for (n = 1; i + n < w && line[i + n] == line[i];)
            n++;
        snprintf(series, sizeof series, "s%d", line[i] >= 'A' ? (line[i] - 'A') % SVG_SERIES : 0);
        svg_rect(s->out, r.x + i, r.y, i + n == w ? r.w - i : n, r.h, series);
        if (n >= 12 && r.h >= 11)
            svg_text(s->out, r.x + i + n / 2.0, r.y + r.h / 2 + 4, SVG_MIDDLE, "on s", letter);
    }
    free(line);
}

static void svg_phases(const struct panel_svg *s, double y0)
{
    for (int i = 0; i < s->n; i++)
        svg_phases_of(s, &s->boxes[i], y0);
}

static void svg_rows(const struct panel_svg *s, double y0)
{
    const int n = s->lines.n, every = s->row_h >= 12 ? 1 : n > 64 ? 32 : n > 16 ? 8 : 4;
    svg_rect(s->out, left, y0, right - left, n * s->row_h, "ghost");
    for (int i = 0; i < n; i += every) {
        const struct slot_line *l = &s->lines.v[i];
        const double y = y0 + i * s->row_h + fmin(s->row_h, 10) - 0.5;
        const char *unit = i ? "" : s->p->unit, *gap = i ? "" : " ";
        if (timeline_one_block(s->p))
            continue;
        if (l->rows > 1)
            svg_textf(s->out, left - 8, y, SVG_END, "d s", "%s%s%d-%d", unit, gap, l->row,
                      l->row + l->rows - 1);
        else
            svg_textf(s->out, left - 8, y, SVG_END, "d s", "%s%s%d", unit, gap, l->row);
        if (i && s->row_h >= 12)
            svg_line(s->out, left - 4, y0 + i * s->row_h - 0.4, right, y0 + i * s->row_h - 0.4,
                     "grid");
    }
}

static void svg_time_axis(const struct panel_svg *s, double y)
{
    double ticks[TICKS_MAX];
    char tick[32];
    const int n = range_ticks(&s->x.range, 6, ticks);
    for (int i = 0; i < n; i++) {
        const double x = scale_px(&s->x, ticks[i]);
        svg_line(s->out, x, y, x, y + 4, "axis");
        svg_textf(s->out, x, y + 17, SVG_MIDDLE, "d s", "%s%s", tick_text(tick, ticks[i]),
                  i < n - 1         ? ""
                  : in_blocks(s->p) ? " blocks"
                                    : " \u00b5s");
    }
    svg_line(s->out, left, y, right, y, "axis");
}

/* What each colour is, those that take most first. */
static int svg_phase_key(const struct panel_svg *s, double y)
{
    int list[PHASES_LISTED];
    const int n = phases_top(s->p, PHASES_LISTED, list);
    for (int i = 0; i < n; i++) {
        char series[8], share[NUMBER_BUF];
        const double at = y + i * SVG_LINE;
        snprintf(series, sizeof series, "s%d", list[i] % SVG_SERIES);
        svg_rect(s->out, left, at - 10, 12, 12, series);
        svg_textf(s->out, left + 18, at, SVG_START, "d s", "%c  %s, %s %%", phase_letter(list[i]),
                  s->p->phases[list[i]].text,
                  number_fmt(share, 100 * s->p->phases[list[i]].share, 2));
    }
    return n;
}

static void svg_panel(const struct panel_svg *s, double y0)
{
    struct str text = {0};
    timeline_heading(s->p, &text);
    svg_text(s->out, left, y0 + 22, SVG_START, "b", str_text(&text));
    str_free(&text);
    char *words = panel_words(s);
    (void)svg_wrap(s->out, left, y0 + 42, right - left, s->p->reason ? "bad" : "d s", words);
    free(words);
    y0 += lines_above(s) * SVG_LINE;
    if (s->p->reason)
        return;
    const double bottom = y0 + head + s->lines.n * s->row_h;
    svg_rows(s, y0 + head);
    for (int k = 0; k <= MIXED && s->mark != MARK_PHASE; k++)
        svg_colour(s, k, y0 + head);
    if (s->mark == MARK_PHASE)
        svg_phases(s, y0 + head);
    else
        svg_letters(s, y0 + head);
    svg_time_axis(s, bottom);
    const int key = s->mark == MARK_PHASE ? svg_phase_key(s, bottom + 34) : 0;
    char *legend = panel_legend(s);
    (void)svg_wrap(s->out, left, bottom + 34 + key * SVG_LINE, right - left, "d s", legend);
    free(legend);
}

/* By line, pass, slot and time; of SMs that do the same the first one first. */
static int by_place(const void *a, const void *b)
{
    const struct box *x = a, *y = b;
    const int64_t keys[][2] = {{x->line, y->line},
                               {x->b->pass, y->b->pass},
                               {x->b->lane, y->b->lane},
                               {x->column, y->column},
                               {x->b->row, y->b->row}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return x->b < y->b ? -1 : x->b > y->b;
}

/* The same block of another SM of the line? */
static bool same_box(const struct box *a, const struct box *b)
{
    return a->line == b->line && a->b->pass == b->b->pass && a->b->lane == b->b->lane &&
           a->column == b->column && a->b->row != b->b->row;
}

static void find_boxes(struct panel_svg *s, const struct slot_scale *scale)
{
    int n = 0;
    s->boxes = xcalloc((size_t)s->p->n + 1, sizeof *s->boxes);
    for (int i = 0; i < s->p->n; i++) {
        enum role role;
        const struct block_span *b = &s->p->spans[i];
        const char letter = key_sign(b, s->mark, s->count, &role);
        s->boxes[i] = (struct box){b, slots_line(&s->lines, b), slot_column(scale, b->begin_us),
                                   letter, letter};
    }
    qsort(s->boxes, (size_t)s->p->n, sizeof *s->boxes, by_place);
    for (int i = 0; i < s->p->n; i++) {
        const struct box *x = &s->boxes[i];
        struct box *last = n ? &s->boxes[n - 1] : NULL;
        if (!last || !same_box(last, x)) {
            s->boxes[n++] = *x;
            continue;
        }
        last->first = x->first < last->first ? x->first : last->first;
        last->last = x->last > last->last ? x->last : last->last;
    }
    s->n = n;
}

static void panel_svg_clear(struct panel_svg *s)
{
    slots_clear(&s->lines);
    free(s->boxes);
}

static struct panel_svg panel_svg(const struct block_chart *b, int i, struct str *out)
{
    const struct block_panel *p = &b->panels[i];
    struct panel_svg s = {
        .p = p, .out = out, .x = {{0, shown_time(p, span_of(b, p)), false}, left, right}};
    for (int k = 0; k < PASSES_MAX; k++)
        s.lanes[k] = 1;
    for (int k = 0; k < p->n; k++) {
        int64_t *lanes = &s.lanes[p->spans[k].pass];
        *lanes = p->spans[k].lane + 1 > *lanes ? p->spans[k].lane + 1 : *lanes;
    }
    if (p->reason)
        return s;
    const struct slot_scale scale = {0, span_of(b, p) / (right - left), (int)(right - left)};
    s.mark = timeline_best_mark(p);
    s.count = key_classes(p, s.mark);
    slots_rows(&s.lines, p, &scale);
    find_boxes(&s, &scale);
    s.row_h = fmin(fmax(16, s.lines.n < p->shown ? 16.0 * (double)s.lanes[0] : 0),
                   fmax(b->n > 2 ? 2 : 3, floor(320.0 / s.lines.n)));
    return s;
}

static void timeline_svg(struct str *out, const struct chart *c, bool alone)
{
    const struct block_chart *b = c->model;
    struct panel_svg *s = xcalloc((size_t)b->n + 1, sizeof *s);
    double h = 0;
    for (int i = 0; i < b->n; i++) {
        s[i] = panel_svg(b, i, out);
        h += panel_h(&s[i]);
    }
    chart_svg_begin(out, c, width, h + 22, "blocks over SMs and time", alone);
    h = 0;
    for (int i = 0; i < b->n; i++) {
        svg_panel(&s[i], h);
        h += panel_h(&s[i]);
        panel_svg_clear(&s[i]);
    }
    free(s);
    if (!timeline_one_block(&b->panels[0]))
        svg_text(out, left, h + 12, SVG_START, "d s", "grey: nothing runs there");
    svg_end(out);
}

/* ---- gnuplot ---- */

/* Names of the lines where rows share one; else gnuplot counts them itself. */
static void gp_rows(struct str *out, const struct panel_svg *s)
{
    const int n = s->lines.n;
    str_addf(out, "set ylabel \"%s\"\nset yrange [%d.5:-0.5]\n",
             s->p->unit[0] == 't'   ? "thread"
             : s->p->unit[0] == 'G' ? "GPU"
                                    : "SM",
             n - 1);
    if (n == s->p->shown || n > 40) {
        str_add(out, "set ytics auto\n");
        return;
    }
    for (int i = 0; i < n; i++) {
        const struct slot_line *l = &s->lines.v[i];
        str_addf(out, "%s\"%d", i ? ", " : "set ytics (", l->row);
        if (l->rows > 1)
            str_addf(out, "-%d", l->row + l->rows - 1);
        str_addf(out, "\" %d", i);
    }
    str_add(out, ")\n");
}

static void gp_panel(struct str *out, const struct block_chart *b, int i)
{
    struct panel_svg s = panel_svg(b, i, out);
    struct str title = {0};
    str_addf(out, "$blocks%d << EOD\n", i);
    for (int k = 0; k < s.n; k++) {
        const struct block_span *v = s.boxes[k].b;
        const double lane_h = 0.9 / (double)s.lanes[v->pass],
                     y = s.boxes[k].line - 0.45 + (double)v->lane * lane_h;
        str_addf(out, "%.9g %.9g %.9g %.9g %.9g %.9g %d\n",
                 shown_time(s.p, (v->begin_us + v->end_us) / 2), y + lane_h / 2,
                 shown_time(s.p, v->begin_us), shown_time(s.p, v->end_us), y, y + lane_h,
                 colour_of(&s, &s.boxes[k]) + 1);
    }
    str_add(out, "EOD\nset title ");
    timeline_heading(s.p, &title);
    str_add(&title, ": ");
    timeline_summary(s.p, &title);
    gp_quoted(out, str_text(&title));
    str_add(out, " font \",9\"\n");
    gp_rows(out, &s);
    str_addf(out, "set xlabel \"%s\"\nset xrange [0:%.9g]\n", in_blocks(s.p) ? "blocks" : "us",
             shown_time(s.p, span_of(b, s.p)));
    str_addf(out, "plot $blocks%d using 1:2:3:4:5:6:7 with boxxyerror lc variable notitle\n", i);
    str_free(&title);
    panel_svg_clear(&s);
}

static void timeline_gnuplot(struct str *out, const struct chart *c)
{
    const struct block_chart *b = c->model;
    int n = 0;
    for (int i = 0; i < b->n; i++)
        n += !b->panels[i].reason;
    gp_head(out, &c->caption);
    str_add(out, "set style fill solid 0.6 border lc rgb \"white\"\n");
    gp_multiplot(out, &c->caption, n);
    for (int i = 0; i < b->n; i++)
        if (!b->panels[i].reason)
            gp_panel(out, b, i);
    str_add(out, "unset multiplot\n");
}

const struct chart_kind chart_timeline = {
    .name = "timeline",
    .doc = "timeline: blocks over SMs and time",
    .layout = &chart_layout,
    .sound = timeline_sound,
    .cells = timeline_cells,
    .svg = timeline_svg,
    .gnuplot = timeline_gnuplot,
};
