/* heat.c - heat maps: a value over two axes, with the digits beside the shade, and a letter where a
 * cell is not possible.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw/figures.h"

#include <math.h>
#include <stdio.h>

#include "base/number.h"

enum { CELL_MIN = 4, CELL_MAX = 11, ROWS_MAX = 3, SHADES = 5 };

static uint32_t shade(const struct canvas *c, double share)
{
    static const uint32_t ascii[SHADES] = {'.', ':', '+', '*', '#'},
                          block[SHADES] = {0x00b7, 0x2591, 0x2592, 0x2593, 0x2588};
    int i = (int)(share * SHADES);
    i = i < 0 ? 0 : i >= SHADES ? SHADES - 1 : i;
    return (c->glyphs == GLYPHS_ASCII ? ascii : block)[i];
}

/* Values of all cells: the shades do not change as the view scrolls. Wide ranges are shaded by
 * their logarithm. */
struct scale {
    double lo, hi;
    bool log;
};

static struct scale find_scale(const struct fig_heat *f)
{
    struct scale s = {INFINITY, -INFINITY, false};
    for (int i = 0; i < f->nx * f->ny; i++) {
        if (!isfinite(f->cells[i].value))
            continue;
        s.lo = fmin(s.lo, f->cells[i].value);
        s.hi = fmax(s.hi, f->cells[i].value);
    }
    s.log = s.lo > 0 && s.hi / s.lo >= 50;
    return s;
}

static double scale_share(const struct scale *s, double v)
{
    if (!(s->hi > s->lo))
        return 1;
    return s->log ? log(v / s->lo) / log(s->hi / s->lo) : (v - s->lo) / (s->hi - s->lo);
}

struct heat_layout {
    struct rect r; /* the cells */
    int cw, ch;    /* of one cell */
    int left, top; /* first cell that is visible */
    int nx, ny;    /* cells that are visible */
};

static int limit(int v, int lo, int hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

static int first_visible(int cur, int shown, int n)
{
    return limit(cur - shown / 2, 0, n > shown ? n - shown : 0);
}

static int widest(const char *const *texts, int n)
{
    int w = 0;
    for (int i = 0; i < n; i++)
        w = limit(str_width(texts[i]), w, 12);
    return w;
}

static struct heat_layout lay_out(struct rect r, const struct fig_heat *f)
{
    struct heat_layout l;
    int label = widest(f->ytexts, f->ny) + 1;
    int name = limit(str_width(f->yname), 0, 12) + 1;
    label = label > name ? label : name;
    l.r = (struct rect){r.x + label, r.y + 2, r.w - label, r.h - 3};
    l.cw = limit(l.r.w / (f->nx > 0 ? f->nx : 1), CELL_MIN, CELL_MAX);
    l.ch = limit(l.r.h / (f->ny > 0 ? f->ny : 1), 1, ROWS_MAX);
    l.nx = limit(l.r.w / l.cw, 0, f->nx);
    l.ny = limit(l.r.h / l.ch, 0, f->ny);
    l.left = first_visible(f->cx, l.nx, f->nx);
    l.top = first_visible(f->cy, l.ny, f->ny);
    return l;
}

/* Shade left, digits right; where both do not fit, the digits. */
static void draw_cell(struct canvas *c, struct rect r, const struct fig_heat *f,
                      const struct heat_cell *cell, const struct scale *s, bool cur)
{
    char number[NUMBER_BUF], text[NUMBER_BUF + 4];
    int digits = r.w >= 9 ? 4 : 3;
    if (isfinite(cell->value)) {
        snprintf(text, sizeof text, "%s%s", cell->prefix && r.w > 7 ? cell->prefix : "",
                 number_fmt(number, cell->value, digits));
        int w = limit(str_width(text), 0, r.w - 1);
        uint32_t glyph = shade(c, scale_share(s, cell->value));
        for (int y = 0; y < r.h; y++)
            for (int x = 0; x < r.w - 1 - (y == r.h / 2 ? w + 1 : 0); x++)
                canvas_put(c, r.x + x, r.y + y, ROLE_HEAT, glyph);
        canvas_text(c, r.x + r.w - 1 - w, r.y + r.h / 2, w, ROLE_NORMAL, text);
    } else {
        canvas_put(c, r.x + (r.w - 1) / 2, r.y + r.h / 2, cell->mark ? ROLE_BAD : ROLE_DIM,
                   cell->mark ? (uint32_t)cell->mark : '?');
    }
    (void)f;
    if (!cur)
        return;
    canvas_fill(c, (struct rect){r.x, r.y, r.w - 1, r.h}, ROLE_SELECT);
    if (r.h == 1 && r.w >= 7) { /* also without colour */
        canvas_put(c, r.x, r.y, ROLE_SELECT, '[');
        canvas_put(c, r.x + r.w - 1, r.y, ROLE_ACCENT, ']');
    } else {
        canvas_put(c, r.x, r.y + r.h / 2, ROLE_SELECT, '>');
    }
}

static void draw_labels(struct canvas *c, struct rect r, const struct heat_layout *l,
                        const struct fig_heat *f)
{
    canvas_text(c, r.x, r.y + 1, l->r.x - r.x - 1, ROLE_TITLE, f->yname);
    canvas_textf(c, l->r.x, r.y, l->r.w, ROLE_TITLE, "%s", f->xname);
    for (int x = 0; x < l->nx; x++) {
        int i = l->left + x, w = limit(str_width(f->xtexts[i]), 0, l->cw - 1);
        canvas_text(c, l->r.x + x * l->cw + l->cw - 1 - w, r.y + 1, w,
                    i == f->cx ? ROLE_ACCENT : ROLE_DIM, f->xtexts[i]);
    }
    for (int y = 0; y < l->ny; y++) {
        int i = l->top + y, w = limit(str_width(f->ytexts[i]), 0, l->r.x - r.x - 1);
        canvas_text(c, l->r.x - 1 - w, l->r.y + y * l->ch + l->ch / 2, w,
                    i == f->cy ? ROLE_ACCENT : ROLE_DIM, f->ytexts[i]);
    }
}

/* Writes at *x as far as `end` and moves on. */
static void legend_item(struct canvas *c, int *x, int y, int end, enum role role, uint32_t glyph,
                        const char *text)
{
    if (*x + 3 > end)
        return;
    canvas_put(c, *x, y, role, glyph);
    *x += 2;
    *x += 2 + canvas_text(c, *x, y, end - *x, ROLE_DIM, text);
}

static bool has_mark(const struct fig_heat *f, char mark)
{
    for (int i = 0; i < f->nx * f->ny; i++)
        if (!isfinite(f->cells[i].value) && f->cells[i].mark == mark)
            return true;
    return false;
}

/* ". 8.3  # 100  S shared memory": what shades and letters mean. */
static void draw_legend(struct canvas *c, struct rect r, const struct fig_heat *f,
                        const struct scale *s)
{
    char b[NUMBER_BUF], text[NUMBER_BUF + 8];
    int x = r.x, y = r.y + r.h - 1, end = r.x + r.w;
    if (s->hi > s->lo)
        legend_item(c, &x, y, end, ROLE_HEAT, shade(c, 0), number_fmt(b, s->lo, 4));
    snprintf(text, sizeof text, "%s%s", number_fmt(b, s->hi, 4), s->log ? " (log)" : "");
    if (s->hi >= s->lo)
        legend_item(c, &x, y, end, ROLE_HEAT, shade(c, 1), text);
    for (int k = 0; f->keys && f->keys[k].mark; k++)
        if (has_mark(f, f->keys[k].mark))
            legend_item(c, &x, y, end, ROLE_BAD, (uint32_t)f->keys[k].mark, f->keys[k].text);
}

void fig_heat(struct canvas *c, struct rect r, const struct fig_heat *f)
{
    if (f->nx < 1 || f->ny < 1 || r.w < 12 || r.h < 4)
        return;
    struct heat_layout l = lay_out(r, f);
    if (l.nx < 1 || l.ny < 1)
        return;
    struct scale s = find_scale(f);
    draw_labels(c, r, &l, f);
    for (int y = 0; y < l.ny; y++)
        for (int x = 0; x < l.nx; x++) {
            int ix = l.left + x, iy = l.top + y;
            struct rect at = {l.r.x + x * l.cw, l.r.y + y * l.ch, l.cw, l.ch};
            draw_cell(c, at, f, &f->cells[iy * f->nx + ix], &s, ix == f->cx && iy == f->cy);
        }
    if (l.nx < f->nx || l.ny < f->ny)
        canvas_textf(c, l.r.x + 13, r.y, l.r.w > 13 ? l.r.w - 13 : 0, ROLE_DIM, "%dx%d of %dx%d",
                     l.nx, l.ny, f->nx, f->ny);
    draw_legend(c, r, f, &s);
}
