/* figures.c - bars: shared memory by buffer, sparkline, horizontal bar, occupancy limits.
 *
 * Letters are the primary code, colour only repeats them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw/figures.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/number.h"

/* ---- shared memory ---- */

enum { SMEM_DEFAULT = 48 * 1024 }; /* what a launch gets without asking for more */

static bool letter_taken(const char *letters, int n, char c)
{
    return memchr(letters, c, (size_t)n) != NULL;
}

/* A letter for each buffer: from its name where one is free, else a digit. */
static void smem_letters(const struct plan_pass *p, char letters[DESC_SMEM_MAX])
{
    for (int i = 0; i < p->nsmem; i++) {
        char pick = 0;
        for (const char *s = p->smem[i].name; *s && !pick; s++)
            if (isalpha((unsigned char)*s) && !letter_taken(letters, i, (char)toupper(*s)))
                pick = (char)toupper(*s);
        for (char d = '1'; d <= '9' && !pick; d++)
            if (!letter_taken(letters, i, d))
                pick = d;
        letters[i] = pick ? pick : '#';
    }
}

static enum role series(int i)
{
    return (enum role)(ROLE_SERIES + i % 6);
}

/* The first cell of byte `at` when `total` bytes are `w` cells. */
static int smem_cell(int64_t at, int64_t total, int w)
{
    int cell = (int)((double)at / (double)total * w + 0.5);
    return cell < w ? cell : w;
}

static void draw_buffer(struct canvas *c, struct rect bar, int64_t total, int64_t limit,
                        const struct plan_smem *b, char letter, enum role role)
{
    int from = smem_cell(b->offset, total, bar.w);
    int to = smem_cell(b->offset + b->bytes, total, bar.w);
    if (to == from && b->bytes > 0)
        to = from + 1; /* small, but there */
    int wall = limit > 0 ? smem_cell(limit, total, bar.w) : bar.w;
    for (int x = from; x < to && x < bar.w; x++)
        canvas_put(c, bar.x + x, bar.y, x >= wall ? ROLE_BAD : role, (uint32_t)letter);
}

/* Overlays reuse an earlier buffer's bytes; they stand in the legend, the bar shows the owner. */
static void draw_smem_bar(struct canvas *c, struct rect r, const struct plan_pass *p, int64_t limit,
                          const char *letters)
{
    struct rect bar = {r.x + 1, r.y, r.w - 2, 1};
    int64_t total = limit > p->smem_bytes ? limit : p->smem_bytes;
    canvas_put(c, r.x, r.y, ROLE_FRAME, '[');
    canvas_put(c, r.x + r.w - 1, r.y, ROLE_FRAME, ']');
    for (int x = 0; x < bar.w; x++)
        canvas_put(c, bar.x + x, bar.y, ROLE_DIM, c->glyphs == GLYPHS_ASCII ? '.' : 0xb7);
    for (int i = 0; i < p->nsmem && total > 0; i++)
        if (!p->smem[i].overlay)
            draw_buffer(c, bar, total, limit, &p->smem[i], letters[i], series(i));
    int usual = smem_cell(SMEM_DEFAULT, total, bar.w);
    if (limit > SMEM_DEFAULT && p->smem_bytes <= SMEM_DEFAULT && usual < bar.w)
        canvas_put(c, bar.x + usual, bar.y, ROLE_WARN, ':'); /* the wall without opt-in */
    if (limit > 0 && limit < total)
        canvas_put(c, bar.x + smem_cell(limit, total, bar.w - 1), bar.y, ROLE_BAD, '|');
}

/* "K Ks 8.0 KiB", with the formula where there is a row for each buffer. */
static int legend_entry(struct canvas *c, int x, int y, int w, char letter, enum role role,
                        const struct plan_smem *b)
{
    char buf[NUMBER_BUF];
    struct str s = {0};
    str_addf(&s, "%s%s %s", b->name, b->overlay ? " (overlay)" : "",
             number_fmt_bytes(buf, (double)b->bytes));
    int used = str_width(str_text(&s)) + 2;
    if (used <= w) {
        canvas_put(c, x, y, role, (uint32_t)letter);
        canvas_text(c, x + 2, y, w - 2, ROLE_NORMAL, str_text(&s));
    }
    str_free(&s);
    return used <= w ? used : 0;
}

static void legend_rows(struct canvas *c, struct rect r, const struct plan_pass *p,
                        const char *letters)
{
    for (int i = 0; i < p->nsmem; i++) {
        const struct plan_smem *b = &p->smem[i];
        char buf[NUMBER_BUF];
        int y = r.y + i;
        canvas_put(c, r.x, y, series(i), (uint32_t)letters[i]);
        canvas_text(c, r.x + 2, y, 10, ROLE_NORMAL, b->name);
        canvas_textf(c, r.x + 12, y, r.w - 12, ROLE_NORMAL, "%10s",
                     number_fmt_bytes(buf, (double)b->bytes));
        int used = 24;
        if (b->formula && used < r.w)
            used += 2 + canvas_text(c, r.x + used, y, r.w - used, ROLE_DIM, b->formula);
        if (b->doc && r.w - used >= 12)
            canvas_text(c, r.x + used, y, r.w - used, ROLE_DIM, b->doc);
    }
}

static void legend_line(struct canvas *c, struct rect r, const struct plan_pass *p,
                        const char *letters)
{
    int x = r.x, y = r.y;
    for (int i = 0; i < p->nsmem && y < r.y + r.h; i++) {
        int room = r.x + r.w - x;
        int used = legend_entry(c, x, y, room, letters[i], series(i), &p->smem[i]);
        if (used > 0) {
            x += used + 2;
        } else if (y + 1 < r.y + r.h && x > r.x) {
            x = r.x;
            y++;
            i--; /* again, on the next row */
        } else {
            if (room > 0)
                canvas_textf(c, x, y, room, ROLE_DIM, "+%d", p->nsmem - i);
            return;
        }
    }
}

void fig_smem(struct canvas *c, struct rect r, const struct plan_pass *pass, int64_t limit)
{
    char letters[DESC_SMEM_MAX] = {0};
    if (r.w < 4 || r.h < 1)
        return;
    smem_letters(pass, letters);
    int bar = limit > 0; /* a bar without a limit would look full */
    if (bar)
        draw_smem_bar(c, r, pass, limit, letters);
    struct rect legend = {r.x, r.y + bar, r.w, r.h - bar};
    if (pass->nsmem == 0)
        canvas_text(c, r.x, r.y + bar, r.h > bar ? r.w : 0, ROLE_DIM,
                    "this kernel uses no shared memory");
    else if (legend.h >= pass->nsmem && r.w >= 50)
        legend_rows(c, legend, pass, letters);
    else if (legend.h > 0)
        legend_line(c, legend, pass, letters);
}

/* ---- lines of small figures ---- */

void fig_spark(struct canvas *c, struct rect r, const double *v, int n)
{
    static const char ascii[] = "_.-=^";
    int levels = c->glyphs == GLYPHS_ASCII ? 5 : 8;
    const double *last = n > r.w ? v + n - r.w : v;
    int count = n > r.w ? r.w : n;
    double lo = INFINITY, hi = -INFINITY;
    for (int i = 0; i < count; i++) {
        lo = fmin(lo, last[i]);
        hi = fmax(hi, last[i]);
    }
    for (int i = 0; i < count; i++) {
        if (isnan(last[i])) {
            canvas_put(c, r.x + i, r.y, ROLE_WARN, 'x');
            continue;
        }
        double share = hi > lo ? (last[i] - lo) / (hi - lo) : 0.5;
        int level = (int)(share * (levels - 1) + 0.5);
        canvas_put(c, r.x + i, r.y, ROLE_ACCENT,
                   levels == 5 ? (uint32_t)ascii[level] : 0x2581u + (uint32_t)level);
    }
}

void fig_bar(struct canvas *c, struct rect r, enum role role, double value, double max)
{
    if (!(max > 0) || !(value >= 0))
        return;
    double cells = fmin(value / max, 1) * r.w;
    int whole = (int)cells, eighths = (int)((cells - whole) * 8);
    if (c->glyphs == GLYPHS_ASCII)
        whole = (int)(cells + 0.5);
    for (int x = 0; x < whole; x++)
        canvas_put(c, r.x + x, r.y, role, c->glyphs == GLYPHS_ASCII ? '#' : 0x2588);
    if (c->glyphs != GLYPHS_ASCII && eighths > 0 && whole < r.w)
        canvas_put(c, r.x + whole, r.y, role, 0x2590u - (uint32_t)eighths); /* 2588..258f */
}

void fig_limits(struct canvas *c, struct rect r, const struct occupancy *o)
{
    const struct {
        const char *name;
        int64_t value;
        unsigned bit;
    } limits[] = {
        {"regs", o->limit_regs, OCC_REGS},
        {"smem", o->limit_smem, OCC_SMEM},
        {"warps", o->limit_warps, OCC_WARPS},
        {"blocks", o->limit_blocks, OCC_BLOCKS},
    };
    int x = r.x, end = r.x + r.w;
    x += canvas_text(c, x, r.y, end - x, ROLE_DIM, "limit ");
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        bool reached = o->limiter & limits[i].bit;
        char buf[NUMBER_BUF];
        if (i > 0)
            x += canvas_text(c, x, r.y, end - x, ROLE_DIM, " | ");
        x += canvas_textf(c, x, r.y, end - x, reached ? ROLE_WARN : ROLE_NORMAL, "%s %s%s",
                          limits[i].name, number_fmt_int(buf, limits[i].value),
                          reached ? " <==" : "");
    }
}
