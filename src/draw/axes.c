/* axes.c - see axes.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw/axes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/number.h"

/* ---- dots ---- */

void dots_init(struct dots *d, const struct canvas *c, struct rect r)
{
    static const int sx[] = {1, 2, 2}, sy[] = {1, 2, 4};
    d->r = r;
    d->sx = sx[c->glyphs];
    d->sy = sy[c->glyphs];
    d->bits = xcalloc((size_t)(r.w > 0 ? r.w : 0) * (size_t)(r.h > 0 ? r.h : 0) + 1, 1);
}

void dots_free(struct dots *d)
{
    free(d->bits);
    d->bits = NULL;
}

/* Bit of the dot (x, y) of a cell, y downwards: quadrants row by row, braille as Unicode has it. */
static unsigned dot_bit(const struct dots *d, int x, int y)
{
    static const uint8_t braille[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    return d->sy == 4 ? braille[y][x] : 1u << (y * d->sx + x);
}

static void dot_set(struct dots *d, double x, double y)
{
    if (!(x >= 0 && x <= 1 && y >= 0 && y <= 1) || d->r.w <= 0 || d->r.h <= 0)
        return;
    const int px = (int)(x * (d->r.w * d->sx - 1) + 0.5);
    const int py = (int)((1 - y) * (d->r.h * d->sy - 1) + 0.5);
    d->bits[(size_t)(py / d->sy) * (size_t)d->r.w + (size_t)(px / d->sx)] |=
        (uint8_t)dot_bit(d, px % d->sx, py % d->sy);
}

void dots_line(struct dots *d, double x0, double y0, double x1, double y1)
{
    double steps = fmax(fabs(x1 - x0) * d->r.w * d->sx, fabs(y1 - y0) * d->r.h * d->sy);
    int n = steps < 1e5 ? (int)ceil(steps) : 0;
    if (n < 1)
        n = 1;
    for (int i = 0; i <= n; i++)
        dot_set(d, x0 + (x1 - x0) * i / n, y0 + (y1 - y0) * i / n);
}

static uint32_t dot_glyph(const struct dots *d, unsigned bits)
{
    static const uint16_t quadrant[16] = {' ',    0x2598, 0x259d, 0x2580, 0x2596, 0x258c,
                                          0x259e, 0x259b, 0x2597, 0x259a, 0x2590, 0x259c,
                                          0x2584, 0x2599, 0x259f, 0x2588};
    if (d->sy == 4)
        return 0x2800u + bits;
    return d->sx == 2 ? quadrant[bits & 15] : '*';
}

void dots_draw(const struct dots *d, struct canvas *c, enum role role)
{
    for (int y = 0; y < d->r.h; y++) {
        for (int x = 0; x < d->r.w; x++) {
            unsigned bits = d->bits[(size_t)y * (size_t)d->r.w + (size_t)x];
            if (bits)
                canvas_put(c, d->r.x + x, d->r.y + y, role, dot_glyph(d, bits));
        }
    }
}

/* ---- axes ---- */

static double share(double v, double lo, double hi)
{
    return (v - lo) / (hi - lo);
}

/* Rounded to a cell, and kept small where the value is far away; what is no number is far at the left. */
static int cell(double share_of, int cells)
{
    double at = share_of * (cells - 1) + 0.5;
    return !(at >= -999) ? -999 : at > 9999 ? 9999 : (int)(at < 0 ? at - 1 : at);
}

int axes_x(const struct axes *a, double x)
{
    return a->r.x + cell(share(x, a->x0, a->x1), a->r.w);
}

int axes_y(const struct axes *a, double y)
{
    return a->r.y + cell(1 - share(y, a->y0, a->y1), a->r.h);
}

bool axes_inside(const struct axes *a, double x, double y)
{
    return x >= a->x0 && x <= a->x1 && y >= a->y0 && y <= a->y1;
}

void axes_line(struct dots *d, const struct axes *a, double x0, double y0, double x1, double y1)
{
    dots_line(d, share(x0, a->x0, a->x1), share(y0, a->y0, a->y1), share(x1, a->x0, a->x1),
              share(y1, a->y0, a->y1));
}

void axes_draw(struct canvas *c, const struct axes *a)
{
    canvas_vline(c, a->r.x - 1, a->r.y, a->r.h + 1);
    canvas_hline(c, a->r.x - 1, a->r.y + a->r.h, a->r.w + 1);
}

void axes_y_label(struct canvas *c, const struct axes *a, int y, double value)
{
    char buf[NUMBER_BUF];
    enum { W = AXES_LEFT - 2 };
    number_fmt(buf, value, 3);
    if (str_width(buf) > W) /* a figure that is cut is another figure */
        snprintf(buf, sizeof buf, "%.2g", value);
    canvas_textf(c, a->r.x - 1 - W - 1, y, W, ROLE_DIM, "%*s", W, buf);
}

void axes_x_label(struct canvas *c, const struct axes *a, int x, int *end, enum role role,
                  const char *text)
{
    int w = str_width(text);
    int at = x - w / 2;
    if (at < a->r.x)
        at = a->r.x;
    if (at + w > a->r.x + a->r.w)
        at = a->r.x + a->r.w - w;
    if (at <= *end)
        return;
    canvas_text(c, at, a->r.y + a->r.h + 1, w, role, text);
    *end = at + w;
}
