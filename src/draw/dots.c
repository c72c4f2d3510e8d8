/* dots.c - see dots.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "draw/dots.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

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
