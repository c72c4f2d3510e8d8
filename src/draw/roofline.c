/* roofline.c - log-log rooflines of one or several devices, with a letter per kernel.
 *
 * The axes follow the devices and the zoom alone, never the points, so that pictures before and
 * after a change can be laid side by side.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "draw/axes.h"
#include "draw/figures.h"

struct roof {
    double peak, gbs; /* TFLOP/s, GB/s */
    double ridge, top;
};

static bool find_roof(const struct device *d, enum dtype dtype, struct roof *out)
{
    *out = (struct roof){.peak = d->tflops[dtype], .gbs = d->dram_gbs};
    out->ridge = log10(out->peak * 1e3 / out->gbs);
    out->top = log10(out->peak);
    return out->peak > 0 && out->gbs > 0;
}

/* Five decades around the ridge and four below the peak, of all devices; half as much for each
 * zoom step, around the centre that is asked for. */
static bool find_axes(const struct fig_roofs *f, struct axes *a)
{
    double left = INFINITY, right = -INFINITY, top = -INFINITY, bottom = INFINITY;
    struct roof roof;
    for (int i = 0; i < f->ndevices; i++) {
        if (!find_roof(f->devices[i], f->dtype, &roof))
            continue;
        left = fmin(left, floor(roof.ridge) - 2);
        right = fmax(right, floor(roof.ridge) + 3);
        top = fmax(top, ceil(roof.top));
        bottom = fmin(bottom, ceil(roof.top) - 4);
    }
    if (!(right > left))
        return false;
    double scale = pow(2, -f->zoom / 2.0), w = (right - left) * scale, h = (top - bottom) * scale;
    double cx = f->center_x > 0 ? log10(f->center_x) : (left + right) / 2;
    double cy = f->center_y > 0 ? log10(f->center_y) : (top + bottom) / 2;
    a->x0 = f->zoom ? fmin(fmax(cx - w / 2, left - 2), right + 2 - w) : left;
    a->x1 = a->x0 + w;
    a->y0 = f->zoom ? fmin(fmax(cy - h / 2, bottom - 2), top + 1 - h) : bottom;
    a->y1 = a->y0 + h;
    return true;
}

/* Decades, and between them 2 and 5 when the view is narrow. */
static void draw_labels(struct canvas *c, const struct axes *a)
{
    static const double steps[] = {1, 2, 5};
    char buf[NUMBER_BUF];
    int end = a->r.x - 3, y_last = 999;
    bool fine = a->x1 - a->x0 < 3;
    for (int e = (int)floor(a->x0); e <= a->x1; e++)
        for (int k = 0; k < (fine ? 3 : 1); k++) {
            double x = e + log10(steps[k]);
            if (x >= a->x0 && x <= a->x1)
                axes_x_label(c, a, axes_x(a, x), &end, ROLE_DIM, number_fmt(buf, pow(10, x), 3));
        }
    for (int e = (int)floor(a->y0); e <= a->y1; e++)
        for (int k = 0; k < (fine ? 3 : 1); k++) {
            double y = e + log10(steps[k]);
            if (y < a->y0 || y > a->y1 || axes_y(a, y) >= y_last)
                continue;
            y_last = axes_y(a, y);
            axes_y_label(c, a, y_last, pow(10, y));
        }
}

/* The part of a flat roof right of `from`. */
static void draw_flat(struct canvas *c, const struct axes *a, double from, double top,
                      enum role role)
{
    struct dots d;
    dots_init(&d, c, a->r);
    axes_line(&d, a, fmax(from, a->x0), top, a->x1, top);
    dots_draw(&d, c, role);
    dots_free(&d);
}

static void draw_slope(struct canvas *c, const struct axes *a, const struct roof *roof,
                       enum role role)
{
    struct dots d;
    double from = fmax(a->x0, a->y0 - log10(roof->gbs / 1e3)), to = fmin(roof->ridge, a->x1);
    if (to <= from)
        return;
    dots_init(&d, c, a->r);
    /* TFLOP/s = FLOP/byte * GB/s / 1000 */
    axes_line(&d, a, from, from + log10(roof->gbs / 1e3), to, to + log10(roof->gbs / 1e3));
    dots_draw(&d, c, role);
    dots_free(&d);
}

/* Is there no letter of a point or of another label? */
static bool is_free(const struct canvas *c, int x, int y, int w)
{
    for (int i = 0; i < w; i++) {
        uint32_t there = canvas_glyph(c, x + i, y);
        if (there < 128 && (isalnum((int)there) || there == '@'))
            return false;
    }
    return true;
}

/* Is there nothing at all, not even a line? */
static bool is_blank(const struct canvas *c, int x, int y, int w)
{
    for (int i = 0; i < w; i++)
        if (canvas_glyph(c, x + i, y) != ' ')
            return false;
    return true;
}

/* Text that ends at the right edge, above (-1) or below (1) height y, or on the other side where
 * that is taken, unless another roof is there; nowhere when both are. */
static void right_text(struct canvas *c, const struct axes *a, double y, int side, enum role role,
                       const char *text)
{
    int w = str_width(text);
    if (y < a->y0 || y > a->y1 || w > a->r.w - 8)
        return;
    for (int i = 0; i < 2; i++, side = -side) {
        int row = axes_y(a, y) + side, x = a->r.x + a->r.w - w;
        if (row < a->r.y - 1 || row >= a->r.y + a->r.h || !is_free(c, x, row, w) ||
            (i && !is_blank(c, x, row, w)))
            continue;
        canvas_text(c, x, row, w, role, text);
        return;
    }
}

/* With several devices each roof has its name on it. */
static void label_roof(struct canvas *c, const struct axes *a, const struct fig_roofs *f, int i,
                       const struct roof *roof, enum role role)
{
    char b[2][NUMBER_BUF], text[96];
    if (f->ndevices > 1)
        snprintf(text, sizeof text, "%s %s", f->devices[i]->name, number_fmt(b[0], roof->peak, 3));
    else
        snprintf(text, sizeof text, "%s TFLOP/s, ridge %s FLOP/B", number_fmt(b[0], roof->peak, 3),
                 number_fmt(b[1], pow(10, roof->ridge), 3));
    right_text(c, a, roof->top, -1, f->ndevices > 1 ? role : ROLE_DIM, text);
    if (f->ndevices > 1)
        return;
    double from = fmax(a->x0, a->y0 - log10(roof->gbs / 1e3));
    double mid = (from + fmin(roof->ridge, a->x1)) / 2, y = mid + log10(roof->gbs / 1e3);
    int x = axes_x(a, mid) + 2, row = axes_y(a, y) + 1;
    snprintf(text, sizeof text, "%s GB/s", number_fmt(b[0], roof->gbs, 4));
    int w = str_width(text);
    if (axes_inside(a, mid, y) && row < a->r.y + a->r.h && x + w <= a->r.x + a->r.w &&
        is_free(c, x, row, w))
        canvas_text(c, x, row, w, ROLE_DIM, text);
}

static enum role device_role(const struct fig_roofs *f, int i)
{
    return f->ndevices > 1 ? (enum role)(ROLE_SERIES + i % 6) : ROLE_FRAME;
}

/* The lower roof of kernels without tensor instructions, where the dtype has a higher one. */
static bool has_scalar(const struct fig_roofs *f, int i, const struct roof *roof)
{
    return f->devices[i]->tflops[DTYPE_F32] < roof->peak;
}

static void draw_scalar(struct canvas *c, const struct axes *a, const struct fig_roofs *f, int i,
                        const struct roof *roof)
{
    double peak = f->devices[i]->tflops[DTYPE_F32], top = log10(peak);
    if (has_scalar(f, i, roof) && top >= a->y0 && top <= a->y1)
        draw_flat(c, a, log10(peak * 1e3 / roof->gbs), top,
                  f->ndevices > 1 ? device_role(f, i) : ROLE_DIM);
}

static void label_scalar(struct canvas *c, const struct axes *a, const struct fig_roofs *f, int i,
                         const struct roof *roof)
{
    double peak = f->devices[i]->tflops[DTYPE_F32];
    char buf[NUMBER_BUF], text[96];
    if (!has_scalar(f, i, roof))
        return;
    number_fmt(buf, peak, 3);
    if (f->ndevices > 1)
        snprintf(text, sizeof text, "%s %s scalar", f->devices[i]->name, buf);
    else
        snprintf(text, sizeof text, "%s without tensor cores", buf);
    right_text(c, a, log10(peak), 1, ROLE_DIM, text);
}

static double clamp(double v, double lo, double hi)
{
    return fmin(fmax(v, lo), hi);
}

/* Is the letter of a point there, or the '&' of several? */
static bool has_point(const struct canvas *c, int x, int y)
{
    uint32_t there = canvas_glyph(c, x, y);
    enum role under = (enum role)c->cells[y * c->w + x].role;
    return there < 128 && (isalnum((int)there) || there == '&') &&
           (under >= ROLE_SERIES || under == ROLE_SELECT) && under < ROLE_COUNT;
}

static bool any_met(const struct canvas *c, const struct axes *a)
{
    for (int y = a->r.y; y < a->r.y + a->r.h; y++)
        for (int x = a->r.x; x < a->r.x + a->r.w; x++)
            if (has_point(c, x, y) && canvas_glyph(c, x, y) == '&')
                return true;
    return false;
}

/* How many columns aside a letter may stand: as far as it is still right to about a tenth of its
 * intensity each. In a narrow figure a column is a third, and letters that meet become '&'. */
static int columns_aside(const struct axes *a)
{
    return a->r.w >= 20 * (a->x1 - a->x0) ? 4 : 1;
}

/* Letters that meet stand side by side; where there is no room, '&' says so. The cursor's is always
 * where it belongs. Points out of view stand at the edge. */
static void draw_mark(struct canvas *c, const struct axes *a, double x, double y, enum role role,
                      char mark)
{
    if (!(x > 0) || !(y > 0))
        return;
    int cx = axes_x(a, clamp(log10(x), a->x0, a->x1)),
        cy = axes_y(a, clamp(log10(y), a->y0, a->y1));
    for (int i = 0; i < columns_aside(a) && cx + i < a->r.x + a->r.w; i++)
        if (!has_point(c, cx + i, cy) || canvas_glyph(c, cx + i, cy) == (uint32_t)mark ||
            role == ROLE_SELECT) {
            canvas_put(c, cx + i, cy, role, (uint32_t)mark);
            return;
        }
    canvas_put(c, cx, cy, role, '&');
}

static char point_letter(const struct roof_point *p, int i)
{
    return p->letter ? p->letter : (char)('A' + i % 26);
}

/* The bound, and below it, where there is one, what was measured: a line leads from one to the
 * other, which is the distance to the roof. */
static void draw_point(struct canvas *c, const struct axes *a, const struct roof_point *p, int i)
{
    enum role role = p->cur ? ROLE_SELECT : (enum role)(ROLE_SERIES + i % 6);
    bool ascii = c->glyphs == GLYPHS_ASCII;
    if (p->measured > 0 && p->intensity > 0 && p->tflops > 0) {
        int x = axes_x(a, clamp(log10(p->intensity), a->x0, a->x1));
        int from = axes_y(a, clamp(log10(p->tflops), a->y0, a->y1)),
            to = axes_y(a, clamp(log10(p->measured), a->y0, a->y1));
        for (int y = from + 1; y < to; y++)
            canvas_put(c, x, y, role, ascii ? ':' : 0x2506);
        draw_mark(c, a, p->intensity, p->measured, role, '@');
    }
    if (p->ideal > 0) /* in ASCII the roof itself is made of '*' */
        draw_mark(c, a, p->ideal, p->ideal_tflops, role, ascii ? '#' : '*');
    draw_mark(c, a, p->intensity, p->tflops, role, point_letter(p, i));
}

static void draw_legend(struct canvas *c, struct rect r, const struct fig_roofs *f)
{
    int x = r.x;
    for (int i = 0; i < f->npoints && x < r.x + r.w; i++)
        x += 2 + canvas_textf(c, x, r.y + r.h - 1, r.x + r.w - x, (enum role)(ROLE_SERIES + i % 6),
                              "%c %s", point_letter(&f->points[i], i), f->points[i].name);
}

void fig_roofs(struct canvas *c, struct rect r, const struct fig_roofs *f)
{
    struct roof roof;
    if (r.w < 30 || r.h < 6 || f->ndevices < 1)
        return;
    /* without a legend its line stays free, so that nothing moves when points come */
    int legend = f->no_legend ? 0 : r.h >= 10 ? 1 : 0;
    struct axes a = {.r = {r.x + AXES_LEFT, r.y + 1, r.w - AXES_LEFT, r.h - 3 - legend}};
    if (!find_axes(f, &a)) {
        canvas_textf(c, r.x, r.y, r.w, ROLE_DIM, "the peak of %s for %s is unknown",
                     f->devices[0]->name, dtype_name(f->dtype));
        return;
    }
    axes_draw(c, &a);
    draw_labels(c, &a);
    for (int i = f->ndevices - 1; i >= 0; i--) { /* the first one on top */
        if (!find_roof(f->devices[i], f->dtype, &roof))
            continue;
        draw_scalar(c, &a, f, i, &roof);
        draw_slope(c, &a, &roof, device_role(f, i));
        if (roof.top <= a.y1)
            draw_flat(c, &a, roof.ridge, roof.top, device_role(f, i));
    }
    for (int pass = 0; pass < 2; pass++) /* the cursor's point last */
        for (int i = 0; i < f->npoints; i++)
            if (f->points[i].cur == (pass == 1))
                draw_point(c, &a, &f->points[i], i);
    canvas_text(c, r.x, r.y, r.w, ROLE_DIM,
                any_met(c, &a) ? "TFLOP/s over FLOP/byte, &: several" : "TFLOP/s over FLOP/byte");
    for (int i = 0; i < f->ndevices; i++) { /* labels go where no point is */
        if (!find_roof(f->devices[i], f->dtype, &roof))
            continue;
        label_roof(c, &a, f, i, &roof, device_role(f, i));
        label_scalar(c, &a, f, i, &roof);
    }
    if (legend)
        draw_legend(c, r, f);
}

void fig_roofline(struct canvas *c, struct rect r, const struct device *d, enum dtype dtype,
                  const struct roof_point *pts, int npts)
{
    fig_roofs(c, r,
              &(struct fig_roofs){
                  .devices = &d, .ndevices = 1, .dtype = dtype, .points = pts, .npoints = npts});
}
