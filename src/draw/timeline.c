/* timeline.c - see timeline.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw/timeline.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/number.h"

enum { LETTERS = 26 };

const char *const timeline_marks[] = {"tile", "head", "split", "wave", NULL};

/* ---- letters ---- */

static int32_t class_of(const struct sched_block *b, enum timeline_mark mark)
{
    const int32_t by[MARK_COUNT] = {[MARK_TILE] = b->work.tile,
                                    [MARK_HEAD] = b->work.head,
                                    [MARK_SPLIT] = b->work.split,
                                    [MARK_WAVE] = b->wave};
    return by[mark];
}

/* Classes of the main pass; 0: the mark means nothing here. */
static int32_t classes(const struct schedule *s, enum timeline_mark mark)
{
    int32_t most = -1;
    for (int64_t i = 0; i < s->nblocks; i++)
        if (s->blocks[i].pass == 0 && class_of(&s->blocks[i], mark) > most)
            most = class_of(&s->blocks[i], mark);
    return most + 1;
}

enum timeline_mark timeline_best_mark(const struct schedule *s)
{
    return classes(s, MARK_SPLIT) > 1  ? MARK_SPLIT
           : classes(s, MARK_TILE) > 1 ? MARK_TILE
           : classes(s, MARK_HEAD) > 1 ? MARK_HEAD
                                       : MARK_WAVE;
}

/* Up to 26 classes have a letter each; of more, neighbours share one, so that A stays the first
 * and Z the last. */
static int letter_of(int32_t class, int32_t count)
{
    if (class < 0)
        return -1;
    return count <= LETTERS ? class : (int)((int64_t) class * LETTERS / count);
}

/* Glyph and role of a block; later passes have signs. */
static char sign_of(const struct sched_block *b, enum timeline_mark mark, int32_t count,
                    enum role *role)
{
    static const char passes[] = "+=*%&"; /* 1.. */
    if (b->pass > 0) {
        *role = ROLE_ACCENT;
        return passes[(b->pass - 1) % 5];
    }
    const int letter = letter_of(class_of(b, mark), count);
    *role = letter < 0 ? ROLE_NORMAL : (enum role)(ROLE_SERIES + letter % 6);
    return letter < 0 ? '#' : (char)('A' + letter);
}

void timeline_legend(const struct schedule *s, enum timeline_mark mark, struct str *out)
{
    static const char *const what[] = {"query tile", "head", "split", "wave"};
    static const char *const all[] = {"query tiles", "heads", "splits", "waves"};
    const int32_t n = classes(s, mark);
    if (n == 0)
        str_addf(out, "#: blocks without a %s", what[mark]);
    else if (n == 1)
        str_addf(out, "A: the only %s", what[mark]);
    else
        str_addf(out, "A..%c: the %d %s in order", 'A' + letter_of(n - 1, n), (int)n, all[mark]);
    for (int i = 1; i < s->npasses; i++) {
        enum role role;
        const struct sched_block b = {.pass = i};
        str_addf(out, "; %c %s", sign_of(&b, mark, n, &role), s->passes[i]);
    }
}

/* ---- lines ---- */

/* A line is `per` rows, or one lane of a row where all of them have room. */
struct lines {
    int per, lanes; /* lanes > 1: each lane its own line */
    int count;
};

int timeline_fit(const struct schedule *s, int lines)
{
    return lines < 1 ? 1 : (s->rows + lines - 1) / lines;
}

static struct lines lay_lines(const struct schedule *s, const struct timeline_view *v, int height)
{
    struct lines l = {.per = v->per_line > 0 ? v->per_line : timeline_fit(s, height), .lanes = 1};
    if (l.per == 1 && s->lanes > 1 && (s->rows - v->row) * s->lanes <= height)
        l.lanes = s->lanes;
    const int rows = (s->rows - v->row + l.per - 1) / l.per * l.lanes;
    l.count = rows < height ? rows : height;
    return l;
}

/* The line of a block, -1: not in view. */
static int line_of(const struct lines *l, const struct timeline_view *v,
                   const struct sched_block *b)
{
    if (b->row < v->row)
        return -1;
    const int lane = b->lane < l->lanes ? b->lane : l->lanes - 1;
    const int line = (b->row - v->row) / l->per * l->lanes + (l->lanes > 1 ? lane : 0);
    return line < l->count ? line : -1;
}

static void draw_label(struct canvas *c, int x, int y, const struct schedule *s,
                       const struct timeline_view *v, const struct lines *l, int line)
{
    const int first = v->row + line / l->lanes * l->per;
    const int last = first + l->per - 1 < s->rows ? first + l->per - 1 : s->rows - 1;
    const char *unit = s->unit[0] == 't' ? "thr" : s->unit;
    if (l->lanes > 1 && line % l->lanes)
        return;
    if (last > first)
        canvas_textf(c, x, y, TIMELINE_LABEL - 1, ROLE_DIM, "%s %d-%d", unit, first, last);
    else
        canvas_textf(c, x, y, TIMELINE_LABEL - 1, ROLE_DIM, "%s %d", unit, first);
}

/* ---- cells ---- */

/* What a cell is filled with, in us of slots, and the block that has most of it. */
struct share {
    double filled, best;
    const struct sched_block *block;
};

static void add_block(struct share *row, int w, const struct timeline_view *v,
                      const struct sched_block *b)
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
        if (part > row[x].best) {
            row[x].best = part;
            row[x].block = b;
        }
    }
}

/* A line of one slot shows where a block begins. */
static bool begins_here(const struct share *s, int x)
{
    return s[x].block && (x == 0 || s[x].block != s[x - 1].block) && s[x + 1].block == s[x].block;
}

static void draw_line(struct canvas *c, struct rect r, const struct schedule *s,
                      const struct timeline_view *v, const struct share *row, double slots,
                      int32_t count)
{
    for (int x = 0; x < r.w; x++) {
        enum role role;
        if (!row[x].block || row[x].filled < 0.02)
            continue;
        char sign = sign_of(row[x].block, v->mark, count, &role);
        if (row[x].filled < 0.5 * slots)
            sign = (char)tolower((unsigned char)sign);
        if (slots == 1 && s->rows * s->lanes > 1 && x + 1 < r.w && begins_here(row, x))
            canvas_put(c, r.x + x, r.y, ROLE_FRAME, '|');
        else
            canvas_put(c, r.x + x, r.y, role, (uint32_t)sign);
    }
}

/* How many slots of the whole device are filled. */
static void draw_filled(struct canvas *c, struct rect r, const struct schedule *s,
                        const struct timeline_view *v)
{
    static const char ascii[] = ".:-=+*%#";
    struct share *row = xcalloc((size_t)r.w + 1, sizeof *row);
    const double slots = (double)s->rows * s->lanes;
    for (int64_t i = 0; i < s->nblocks; i++)
        add_block(row, r.w, v, &s->blocks[i]);
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

int fig_timeline(struct canvas *c, struct rect r, const struct schedule *s,
                 const struct timeline_view *v)
{
    const int w = r.w - TIMELINE_LABEL, height = r.h - 1;
    if (w < 4 || height < 1 || !s->nblocks || !(v->end_us > v->begin_us))
        return 0;
    const struct lines l = lay_lines(s, v, height);
    struct share *cells = xcalloc((size_t)l.count * (size_t)(w + 1), sizeof *cells);
    for (int64_t i = 0; i < s->nblocks; i++) {
        const int line = line_of(&l, v, &s->blocks[i]);
        if (line >= 0)
            add_block(cells + (size_t)line * (size_t)(w + 1), w, v, &s->blocks[i]);
    }
    const int32_t count = classes(s, v->mark);
    for (int i = 0; i < l.count; i++) {
        const int first = v->row + i / l.lanes * l.per;
        const int rows = first + l.per <= s->rows ? l.per : s->rows - first;
        const double slots = l.lanes > 1 ? 1 : (double)rows * s->lanes;
        draw_label(c, r.x, r.y + i, s, v, &l, i);
        draw_line(c, (struct rect){r.x + TIMELINE_LABEL, r.y + i, w, 1}, s, v,
                  cells + (size_t)i * (size_t)(w + 1), slots, count);
    }
    free(cells);
    canvas_text(c, r.x, r.y + l.count, TIMELINE_LABEL - 1, ROLE_DIM, "slots");
    draw_filled(c, (struct rect){r.x + TIMELINE_LABEL, r.y + l.count, w, 1}, s, v);
    return l.count + 1;
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

void fig_time_axis(struct canvas *c, struct rect r, double begin_us, double end_us)
{
    enum { TICK = 12 }; /* columns for a label */
    const int w = r.w - TIMELINE_LABEL;
    if (w < TICK || !(end_us > begin_us))
        return;
    const double step = nice_step((end_us - begin_us) * TICK / w);
    canvas_text(c, r.x, r.y, TIMELINE_LABEL - 1, ROLE_DIM, "time");
    for (double t = ceil(begin_us / step - 1e-9) * step; t <= end_us; t += step) {
        const int x = (int)((t - begin_us) / (end_us - begin_us) * w);
        char buf[NUMBER_BUF];
        const char *label = t < step / 2 ? "0" : number_fmt_us(buf, t);
        canvas_textf(c, r.x + TIMELINE_LABEL + x, r.y, w - x, ROLE_DIM, "|%s",
                     str_width(label) < w - x ? label : "");
    }
}

void timeline_summary(const struct schedule *s, struct str *out)
{
    char b[6][NUMBER_BUF];
    const struct sched_summary sum = sched_summarise(s);
    str_addf(out,
             "%lld block%s, %s%lld slot%s (%d a%s %s), %s wave%s, %s; %ss busy %s%%, tail %s%%, "
             "longest/mean block %s",
             (long long)sum.blocks, sum.blocks == 1 ? "" : "s", s->bound ? "<=" : "",
             (long long)sum.slots, sum.slots == 1 ? "" : "s", s->lanes,
             s->unit[0] == 'S' ? "n" : "", s->unit, number_fmt(b[0], sum.waves, 3),
             sum.waves == 1 ? "" : "s", number_fmt_us(b[1], sum.span_us), s->unit,
             number_fmt(b[2], sum.busy_pct, 3), number_fmt(b[3], sum.tail_pct, 2),
             number_fmt(b[4], sum.imbalance, 3));
}
