/* roofline.c - log-log rooflines of one or several devices, with a letter per kernel.
 *
 * The axes follow the devices and the zoom alone, never the points, so that pictures before and
 * after a change can be laid side by side.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "draw/axes.h"
#include "draw/figures.h"
#include "draw/gnuplot.h"
#include "draw/scale.h"
#include "draw/svg.h"
#include "measure/origin.h"

/* ---- the model ---- */

enum { ROOFS_MAX = 16, POINTS_MAX = 200 };

// clang-format off
static const struct field roof_fields[] = {
    CHART_FIELD(roof, name, FIELD_TEXT),   CHART_FIELD(roof, peak, FIELD_REAL),
    CHART_FIELD(roof, scalar, FIELD_REAL), CHART_FIELD(roof, gbs, FIELD_REAL),
    CHART_FIELD(roof, held_peak, FIELD_REAL), CHART_FIELD(roof, held_gbs, FIELD_REAL), {0},
};
static const struct chart_layout roof_layout = {sizeof(struct roof), roof_fields, NULL};
static const struct field point_fields[] = {
    CHART_FIELD(roof_point, name, FIELD_TEXT),      CHART_FIELD(roof_point, letter, FIELD_TEXT),
    CHART_FIELD(roof_point, intensity, FIELD_REAL), CHART_FIELD(roof_point, tflops, FIELD_REAL),
    CHART_FIELD(roof_point, ideal, FIELD_REAL), CHART_FIELD(roof_point, ideal_tflops, FIELD_REAL),
    CHART_FIELD(roof_point, counted, FIELD_REAL), CHART_FIELD(roof_point, counted_tflops, FIELD_REAL),
    CHART_FIELD(roof_point, measured, FIELD_REAL),  CHART_FIELD(roof_point, origin, FIELD_TEXT),
    CHART_FIELD(roof_point, text, FIELD_TEXT),      CHART_FIELD(roof_point, kernel, FIELD_INT),
    CHART_FIELD(roof_point, dot, FIELD_BOOL),
    {0},
};
static const struct chart_layout point_layout = {sizeof(struct roof_point), point_fields, NULL};
static const struct field chart_fields[] = {
    CHART_FIELD(roof_chart, dtype, FIELD_TEXT), CHART_FIELD(roof_chart, left_out, FIELD_INT), {0},
};
static const struct chart_part chart_parts[] = {
    CHART_PART(roof_chart, roofs, nroofs, &roof_layout, ROOFS_MAX),
    CHART_PART(roof_chart, points, npoints, &point_layout, POINTS_MAX), {0},
};
const struct chart_layout roof_chart_layout = {sizeof(struct roof_chart), chart_fields,
                                               chart_parts};
// clang-format on

void roof_size(struct roof_chart *x, int nroofs, int npoints)
{
    x->roofs = model_list(&roof_layout, x->nroofs = nroofs);
    x->points = model_list(&point_layout, x->npoints = npoints);
}

void roof_take(struct roof *r, const struct device *d, enum dtype t)
{
    r->name = xstrdup(d->name);
    r->peak = d->tflops[t];
    r->scalar = d->tflops[DTYPE_F32];
    r->gbs = d->dram_gbs;
}

/* Has it a second roof? Its place is in the same view, below the first. */
static bool has_held(const struct roof *r)
{
    return r->held_peak > 0 && r->held_gbs > 0 && r->held_peak <= r->peak * 1.2 &&
           r->held_gbs <= r->gbs * 1.2;
}

/* Where a roof bends and how high it is, as logarithms. */
struct place {
    double peak, gbs; /* TFLOP/s, GB/s */
    double ridge, top;
};

static bool find_roof(const struct roof *r, struct place *out)
{
    *out = (struct place){.peak = r->peak, .gbs = r->gbs};
    out->ridge = log10(out->peak * 1e3 / out->gbs);
    out->top = log10(out->peak);
    return out->peak > 0 && out->gbs > 0;
}

/* Can it be put on an axis? What is none is left out there. */
static bool is_rate(double v, double lo, double hi)
{
    return !(v > 0) || (v > lo && v < hi);
}

static bool roofs_sound(const void *model)
{
    const struct roof_chart *x = model;
    bool any = false, ok = true;
    for (int i = 0; i < x->nroofs; i++) {
        const struct roof *r = &x->roofs[i];
        any = any || (r->peak > 1e-9 && r->peak < 1e9 && r->gbs > 1e-6 && r->gbs < 1e12);
        ok = ok && r->name && (any || !(r->peak > 0)) && is_rate(r->peak, 1e-9, 1e9) &&
             is_rate(r->gbs, 1e-6, 1e12);
    }
    for (int i = 0; i < x->npoints; i++)
        ok = ok && x->points[i].name && x->points[i].intensity > 1e-6 &&
             x->points[i].intensity < 1e9 && is_rate(x->points[i].tflops, 1e-12, 1e9) &&
             is_rate(x->points[i].measured, 1e-12, 1e9);
    return any && ok;
}

/* ---- the view ---- */

/* Five decades around the ridge and four below the peak, of all devices; half as much for each
 * zoom step, around the centre that is asked for. */
static bool find_axes(const struct roof_chart *f, const struct chart_view *v, struct axes *a)
{
    double left = INFINITY, right = -INFINITY, top = -INFINITY, bottom = INFINITY;
    struct place roof;
    for (int i = 0; i < f->nroofs; i++) {
        if (!find_roof(&f->roofs[i], &roof))
            continue;
        left = fmin(left, floor(roof.ridge) - 2);
        right = fmax(right, floor(roof.ridge) + 3);
        top = fmax(top, ceil(roof.top));
        bottom = fmin(bottom, ceil(roof.top) - 4);
    }
    if (!(right > left))
        return false;
    double scale = pow(2, -v->zoom / 2.0), w = (right - left) * scale, h = (top - bottom) * scale;
    double cx = v->center_x > 0 ? log10(v->center_x) : (left + right) / 2;
    double cy = v->center_y > 0 ? log10(v->center_y) : (top + bottom) / 2;
    a->x0 = v->zoom ? fmin(fmax(cx - w / 2, left - 2), right + 2 - w) : left;
    a->x1 = a->x0 + w;
    a->y0 = v->zoom ? fmin(fmax(cy - h / 2, bottom - 2), top + 1 - h) : bottom;
    a->y1 = a->y0 + h;
    return true;
}

/* Decades; between them 2 and 5 when the view is narrow, and tenths when it is narrower still. */
static double label_at(double decades, int k)
{
    static const double steps[] = {1, 2, 5};
    return decades >= 3 ? (k ? NAN : 1) : decades >= 0.7 ? (k < 3 ? steps[k] : NAN) : 1 + 0.1 * k;
}

static void draw_labels(struct canvas *c, const struct axes *a)
{
    const double w = a->x1 - a->x0;
    char buf[NUMBER_BUF];
    int end = a->r.x - 3, y_last = 999;
    for (int e = (int)floor(a->x0); e <= a->x1; e++)
        for (int k = 0; k < 90 && isfinite(label_at(w, k)); k++) {
            double x = e + log10(label_at(w, k));
            if (x >= a->x0 && x <= a->x1)
                axes_x_label(c, a, axes_x(a, x), &end, ROLE_DIM, number_fmt(buf, pow(10, x), 3));
        }
    for (int e = (int)floor(a->y0); e <= a->y1; e++)
        for (int k = 0; k < 90 && isfinite(label_at(w, k)); k++) {
            double y = e + log10(label_at(w, k));
            if (y < a->y0 || y > a->y1 || axes_y(a, y) >= y_last - (w < 0.7))
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

static void draw_slope(struct canvas *c, const struct axes *a, const struct place *roof,
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
/* The second roof, where it is as much as a line below the first. */
static void draw_held(struct canvas *c, const struct axes *a, const struct roof *f,
                      const struct place *first)
{
    if (!has_held(f))
        return;
    const struct place held = {.peak = f->held_peak,
                               .gbs = f->held_gbs,
                               .ridge = log10(f->held_peak * 1e3 / f->held_gbs),
                               .top = log10(f->held_peak)};
    if (axes_y(a, held.top) == axes_y(a, first->top))
        return;
    draw_slope(c, a, &held, ROLE_DIM);
    if (held.top <= a->y1 && held.top >= a->y0)
        draw_flat(c, a, held.ridge, held.top, ROLE_DIM);
}

static void label_roof(struct canvas *c, const struct axes *a, const struct roof_chart *f, int i,
                       const struct place *roof, enum role role)
{
    char b[2][NUMBER_BUF], text[96];
    if (f->nroofs > 1)
        snprintf(text, sizeof text, "%s %s", f->roofs[i].name, number_fmt(b[0], roof->peak, 3));
    else
        snprintf(text, sizeof text, "%s TFLOP/s, ridge %s FLOP/B", number_fmt(b[0], roof->peak, 3),
                 number_fmt(b[1], pow(10, roof->ridge), 3));
    right_text(c, a, roof->top, -1, f->nroofs > 1 ? role : ROLE_DIM, text);
    if (f->nroofs > 1)
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

static enum role device_role(const struct roof_chart *f, int i)
{
    return f->nroofs > 1 ? (enum role)(ROLE_SERIES + i % 6) : ROLE_FRAME;
}

/* The lower roof of kernels without tensor instructions, where the dtype has a higher one. */
static bool has_scalar(const struct roof_chart *f, int i, const struct place *roof)
{
    return f->roofs[i].scalar < roof->peak;
}

static void draw_scalar(struct canvas *c, const struct axes *a, const struct roof_chart *f, int i,
                        const struct place *roof)
{
    double peak = f->roofs[i].scalar, top = log10(peak);
    if (has_scalar(f, i, roof) && top >= a->y0 && top <= a->y1)
        draw_flat(c, a, log10(peak * 1e3 / roof->gbs), top,
                  f->nroofs > 1 ? device_role(f, i) : ROLE_DIM);
}

static void label_scalar(struct canvas *c, const struct axes *a, const struct roof_chart *f, int i,
                         const struct place *roof)
{
    double peak = f->roofs[i].scalar;
    char buf[NUMBER_BUF], text[96];
    if (!has_scalar(f, i, roof))
        return;
    number_fmt(buf, peak, 3);
    if (f->nroofs > 1)
        snprintf(text, sizeof text, "%s %s scalar", f->roofs[i].name, buf);
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

/* Charts come from files, too: a quote or a backquote would be a word of gnuplot's. */
static char point_letter(const struct roof_point *p, int i)
{
    const char c = p->letter ? *p->letter : 0;
    return isalnum((unsigned char)c) || c == '+' ? c : (char)('A' + i % 26);
}

/* One of the rest, where no letter is. */
static void draw_dot(struct canvas *c, const struct axes *a, const struct roof_point *p)
{
    const double x = log10(p->intensity), y = log10(p->tflops);
    if (!axes_inside(a, x, y) || has_point(c, axes_x(a, x), axes_y(a, y)))
        return;
    canvas_put(c, axes_x(a, x), axes_y(a, y), ROLE_NORMAL,
               c->glyphs == GLYPHS_ASCII ? 'o' : 0x2022);
}

/* The bound, and below it, where there is one, what was measured: a line leads from one to the
 * other, which is the distance to the roof. */
static void draw_point(struct canvas *c, const struct axes *a, const struct roof_point *p, int i,
                       bool cur)
{
    enum role role = cur ? ROLE_SELECT : (enum role)(ROLE_SERIES + i % 6);
    bool ascii = c->glyphs == GLYPHS_ASCII;
    if (p->measured > 0 && p->intensity > 0 && p->tflops > 0) {
        int x = axes_x(a, clamp(log10(p->intensity), a->x0, a->x1));
        int from = axes_y(a, clamp(log10(p->tflops), a->y0, a->y1)),
            to = axes_y(a, clamp(log10(p->measured), a->y0, a->y1));
        for (int y = from + 1; y < to; y++)
            canvas_put(c, x, y, role, ascii ? ':' : 0x2506);
        draw_mark(c, a, p->intensity, p->measured, role, '@');
    }
    if (p->counted > 0)
        draw_mark(c, a, p->counted, p->counted_tflops, role, '$');
    if (p->ideal > 0) /* in ASCII the roof itself is made of '*' */
        draw_mark(c, a, p->ideal, p->ideal_tflops, role, ascii ? '#' : '*');
    draw_mark(c, a, p->intensity, p->tflops, role, point_letter(p, i));
}

/* Where what was measured comes from: "LIVE"; "" where nothing was, and in charts that do not say it. */
static const char *measured_origin(const struct roof_point *p)
{
    return p->measured > 0 && origin_word(p->origin) ? origin_tag(p->origin) : "";
}

/* "A fa2 @LIVE  b fa2": a letter alone is planned. */
static void draw_legend(struct canvas *c, struct rect r, const struct roof_chart *f)
{
    int x = r.x;
    for (int i = 0; i < f->npoints && x < r.x + r.w; i++) {
        const struct roof_point *p = &f->points[i];
        const char *origin = measured_origin(p);
        if (p->dot)
            continue;
        x +=
            2 + canvas_textf(c, x, r.y + r.h - 1, r.x + r.w - x, (enum role)(ROLE_SERIES + i % 6),
                             "%c %s%s%s", point_letter(p, i), p->name, *origin ? " @" : "", origin);
    }
}

/* "letters MODEL, @ LIVE": what the marks of this picture are. */
static void draw_origins(struct canvas *c, const struct axes *a, struct rect r,
                         const struct roof_chart *f)
{
    struct str s = {0}, tags = {0};
    str_add(&s, "TFLOP/s over FLOP/byte");
    for (int i = 0; i < f->npoints; i++)
        if (f->points[i].measured > 0 && !f->points[i].dot)
            origin_add(&tags, f->points[i].origin);
    if (tags.len)
        str_addf(&s, ", letters %s, @ %s", origin_tag("model"), str_text(&tags));
    if (any_met(c, a))
        str_add(&s, ", &: several");
    for (int i = 0; i < f->npoints; i++)
        if (f->points[i].dot) {
            str_addf(&s, ", %s: the others", c->glyphs == GLYPHS_ASCII ? "o" : "\u2022");
            break;
        }
    canvas_text(c, r.x, r.y, r.w, ROLE_DIM, str_text(&s));
    str_free(&s);
    str_free(&tags);
}

void fig_roofs(struct canvas *c, struct rect r, const struct roof_chart *f,
               const struct chart_view *v)
{
    struct place roof;
    if (r.w < 30 || r.h < 6 || f->nroofs < 1)
        return;
    /* without a legend its line stays free, so that nothing moves when points come */
    int legend = v->bare ? 0 : r.h >= 10 ? 1 : 0;
    struct axes a = {.r = {r.x + AXES_LEFT, r.y + 1, r.w - AXES_LEFT, r.h - 3 - legend}};
    if (!find_axes(f, v, &a)) {
        canvas_textf(c, r.x, r.y, r.w, ROLE_DIM, "the peak of %s for %s is unknown",
                     f->roofs[0].name, f->dtype ? f->dtype : "it");
        return;
    }
    axes_draw(c, &a);
    draw_labels(c, &a);
    for (int i = f->nroofs - 1; i >= 0; i--) { /* the first one on top */
        if (!find_roof(&f->roofs[i], &roof))
            continue;
        draw_scalar(c, &a, f, i, &roof);
        draw_held(c, &a, &f->roofs[i], &roof);
        draw_slope(c, &a, &roof, device_role(f, i));
        if (roof.top <= a.y1)
            draw_flat(c, &a, roof.ridge, roof.top, device_role(f, i));
    }
    for (int i = 0; i < f->npoints; i++)
        if (f->points[i].dot)
            draw_dot(c, &a, &f->points[i]);
    for (int pass = 0; pass < 2; pass++) /* the cursor's points last */
        for (int i = 0; i < f->npoints; i++)
            if (!f->points[i].dot && (v->x >= 0 && f->points[i].kernel == v->x) == (pass == 1))
                draw_point(c, &a, &f->points[i], i, pass == 1);
    draw_origins(c, &a, r, f);
    for (int i = 0; i < f->nroofs; i++) { /* labels go where no point is */
        if (!find_roof(&f->roofs[i], &roof))
            continue;
        label_roof(c, &a, f, i, &roof, device_role(f, i));
        label_scalar(c, &a, f, i, &roof);
    }
    if (legend)
        draw_legend(c, r, f);
}

static void roofs_cells(struct canvas *c, struct rect r, const void *model,
                        const struct chart_view *v)
{
    fig_roofs(c, r, model, v);
}

/* ---- SVG ---- */

static const double width = 760, left = 66, top = 34, plot_h = 320;

struct plot {
    const struct roof_chart *f;
    struct str *out;
    struct scale x, y;
    double right;
};

/* What is out of view stands at the edge. */
static double within(const struct range *r, double v)
{
    return clamp(v, r->lo, r->hi);
}

static double x_px(const struct plot *p, double v)
{
    return scale_px(&p->x, within(&p->x.range, v));
}

static double y_px(const struct plot *p, double v)
{
    return scale_px(&p->y, within(&p->y.range, v));
}

static void svg_axes(const struct plot *p)
{
    double ticks[TICKS_MAX];
    char tick[32];
    int n = range_ticks(&p->y.range, 7, ticks);
    for (int i = 0; i < n; i++) {
        const double y = scale_px(&p->y, ticks[i]);
        svg_line(p->out, left, y, p->right, y, "grid");
        svg_text(p->out, left - 8, y + 4, SVG_END, "d s", tick_text(tick, ticks[i]));
    }
    n = range_ticks(&p->x.range, 8, ticks);
    for (int i = 0; i < n; i++) {
        const double x = scale_px(&p->x, ticks[i]);
        svg_line(p->out, x, top, x, top + plot_h, "grid");
        svg_text(p->out, x, top + plot_h + 18, SVG_MIDDLE, "d s", tick_text(tick, ticks[i]));
    }
    svg_line(p->out, left, top + plot_h, p->right, top + plot_h, "axis");
    svg_text(p->out, 12, 18, SVG_START, "d", "TFLOP/s (logarithmic)");
    svg_text(p->out, (left + p->right) / 2, top + plot_h + 38, SVG_MIDDLE, "t",
             "FLOP per byte requested (logarithmic)");
}

/* The second roof, as measured of the device itself. */
static void svg_held(const struct plot *p, const struct roof *f)
{
    const struct range *rx = &p->x.range, *ry = &p->y.range;
    const double peak = f->held_peak, gbs = f->held_gbs;
    const double ridge = peak * 1e3 / gbs, start = fmax(rx->lo, ry->lo * 1e3 / gbs);
    const double x[] = {x_px(p, start), x_px(p, ridge), x_px(p, rx->hi)};
    const double y[] = {y_px(p, start * gbs / 1e3), y_px(p, peak), y_px(p, peak)};
    char a[NUMBER_BUF], b[NUMBER_BUF];
    svg_path(p->out, x, y, 3, "axis dash");
    svg_textf(p->out, p->right - 6, y[1] + 13, SVG_END, "d s", "measured: %s TFLOP/s, %s GB/s",
              number_fmt(a, peak, 3), number_fmt(b, gbs, 4));
}

/* A roof from where the slope enters the view; the lower one of kernels without tensor cores. */
static void svg_roof(const struct plot *p, const struct roof *f, int i)
{
    const struct range *rx = &p->x.range, *ry = &p->y.range;
    const double ridge = f->peak * 1e3 / f->gbs, start = fmax(rx->lo, ry->lo * 1e3 / f->gbs);
    const double x[] = {x_px(p, start), x_px(p, ridge), x_px(p, rx->hi)};
    const double y[] = {y_px(p, start * f->gbs / 1e3), y_px(p, f->peak), y_px(p, f->peak)};
    char peak[NUMBER_BUF], gbs[NUMBER_BUF], at[NUMBER_BUF];
    svg_path(p->out, x, y, 3, i ? "roof dash" : "roof");
    if (has_held(f))
        svg_held(p, f);
    svg_textf(p->out, p->right - 6, y[1] - 7, SVG_END, "t s", "%s: %s TFLOP/s", f->name,
              number_fmt(peak, f->peak, 3));
    if (f->scalar > ry->lo && f->scalar < f->peak) {
        const double ys = y_px(p, f->scalar);
        svg_line(p->out, x_px(p, f->scalar * 1e3 / f->gbs), ys, p->right, ys, "axis dash");
        svg_textf(p->out, p->right - 6, ys - 5, SVG_END, "d s", "%s%s%s without tensor cores",
                  p->f->nroofs > 1 ? f->name : "", p->f->nroofs > 1 ? ": " : "",
                  number_fmt(peak, f->scalar, 3));
    }
    svg_textf(p->out, x[1] - 10, y[1] - 7 + (x[1] - 200 < left ? 24 : 0),
              x[1] - 200 < left ? SVG_START : SVG_END, "d s", "%s GB/s, ridge %s FLOP/B",
              number_fmt(gbs, f->gbs, 4), number_fmt(at, ridge, 3));
}

static void svg_point(const struct plot *p, int i)
{
    const struct roof_point *v = &p->f->points[i];
    const double x = x_px(p, v->intensity), roof = y_px(p, v->tflops);
    char at[NUMBER_BUF], most[NUMBER_BUF], got[NUMBER_BUF], cls[16];
    const char *origin = measured_origin(v);
    char *hint = xasprintf("%s: %s FLOP/B, at most %s TFLOP/s (%s), measured %s%s%s%s", v->name,
                           number_fmt(at, v->intensity, 3), number_fmt(most, v->tflops, 3),
                           origin_tag("model"), v->text ? v->text : number_fmt(got, v->measured, 3),
                           *origin ? " (" : "", origin, *origin ? ")" : "");
    svg_hint_begin(p->out, hint);
    free(hint);
    if (v->dot) {
        svg_rect(p->out, x - 1.5, roof - 1.5, 3, 3, "d");
        svg_hint_end(p->out);
        return;
    }
    snprintf(cls, sizeof cls, "thin l%d dash", i % SVG_SERIES);
    if (v->measured > 0) {
        svg_line(p->out, x, roof, x, y_px(p, v->measured), cls);
        svg_mark(p->out, x, y_px(p, v->measured), i, false);
    }
    if (v->ideal > 0 && v->ideal_tflops > 0)
        svg_text(p->out, x_px(p, v->ideal), y_px(p, v->ideal_tflops) + 5, SVG_MIDDLE, "b", "*");
    if (v->counted > 0 && v->counted_tflops > 0)
        svg_text(p->out, x_px(p, v->counted), y_px(p, v->counted_tflops) + 5, SVG_MIDDLE, "b", "$");
    svg_mark(p->out, x, roof, i, true);
    svg_hint_end(p->out);
}

/* Kernels beside the plot, with their letters, what part of their roof they reach, and whence that is known. */
static void svg_names(const struct plot *p)
{
    bool any = false, ideal = false, counted = false;
    int lines = 0;
    for (int i = 0; i < p->f->npoints; i++) {
        const struct roof_point *v = &p->f->points[i];
        if (v->dot)
            continue;
        const double y = top + 8 + lines++ * 17;
        char share[NUMBER_BUF + 24] = "", b[NUMBER_BUF];
        any = any || v->measured > 0;
        ideal = ideal || (v->ideal > 0 && v->ideal_tflops > 0);
        counted = counted || (v->counted > 0 && v->counted_tflops > 0);
        if (v->measured > 0 && v->tflops > 0)
            snprintf(share, sizeof share, " %s %%%s%s",
                     number_fmt(b, 100 * v->measured / v->tflops, 2),
                     *measured_origin(v) ? " " : "", measured_origin(v));
        svg_mark(p->out, p->right + 20, y, i, !(v->measured > 0));
        svg_textf(p->out, p->right + 32, y + 4, SVG_START, v->text ? "bad" : "t", "%c %s%s%s%s",
                  point_letter(v, i), v->name, share, v->text ? ": " : "", v->text ? v->text : "");
    }
    svg_textf(p->out, left, top + plot_h + 58, SVG_START, "d s",
              "hollow: %s, the roof at its intensity%s%s%s", origin_tag("model"),
              any ? "; filled: measured, and the share of the roof" : "; nothing here was measured",
              ideal ? "; *: with each byte moved once" : "",
              counted ? "; $: with the bytes of DRAM that the simulator counted" : "");
    if (p->f->left_out > 0)
        svg_textf(p->out, p->right, top + plot_h + 58, SVG_START, "d s", "and %lld more",
                  (long long)p->f->left_out);
}

static bool find_plot(struct plot *p)
{
    struct axes a = {0};
    const struct chart_view whole = CHART_WHOLE;
    double names = 90;
    for (int i = 0; i < p->f->npoints; i++)
        names = fmax(names, svg_width(p->f->points[i].name, false) + 80 +
                                svg_width(measured_origin(&p->f->points[i]), false));
    p->right = width - fmin(names, 260);
    if (!find_axes(p->f, &whole, &a))
        return false;
    p->x = (struct scale){{pow(10, a.x0), pow(10, a.x1), true}, left, p->right};
    p->y = (struct scale){{pow(10, a.y0), pow(10, a.y1), true}, top + plot_h, top};
    return true;
}

static void roofs_svg(struct str *out, const struct chart *c, bool alone)
{
    struct plot p = {.f = c->model, .out = out};
    struct place roof;
    if (!find_plot(&p))
        return;
    const double below = top + p.f->npoints * 17.0 + 20;
    chart_svg_begin(out, c, width, fmax(top + plot_h + 72, below), "roofline", alone);
    svg_axes(&p);
    for (int i = 0; i < p.f->nroofs; i++)
        if (find_roof(&p.f->roofs[i], &roof))
            svg_roof(&p, &p.f->roofs[i], i);
    for (int i = p.f->npoints; i-- > 0;)
        svg_point(&p, i);
    svg_names(&p);
    svg_end(out);
}

/* ---- gnuplot ---- */

/* Points of each origin by themselves, with their words in the key. */
static void gp_measured(struct str *out, const struct roof_chart *f)
{
    struct str seen = {0}; /* "[LIVE][]" */
    for (int i = 0; i < f->npoints; i++) {
        const char *tag = measured_origin(&f->points[i]);
        char mark[24];
        snprintf(mark, sizeof mark, "[%s]", tag);
        if (!(f->points[i].measured > 0) || strstr(str_text(&seen), mark))
            continue;
        str_add(&seen, mark);
        str_addf(out,
                 ", \\\n     $points using 1:(strcol(8) eq \"%s\" ? $3 : NaN) with points pt 7 "
                 "title \"measured%s%s\"",
                 tag, *tag ? ", " : "", tag);
    }
    str_free(&seen);
}

static void roofs_gnuplot(struct str *out, const struct chart *c)
{
    struct plot p = {.f = c->model};
    double ticks[TICKS_MAX];
    struct place roof;
    bool first = true;
    if (!find_plot(&p))
        return;
    gp_head(out, &c->caption);
    str_add(out, "$points << EOD\n");
    for (int i = 0; i < p.f->npoints; i++) {
        const struct roof_point *v = &p.f->points[i];
        const bool ideal = v->ideal > 0 && v->ideal_tflops > 0;
        str_addf(out, "%.9g", within(&p.x.range, v->intensity));
        gp_value(out, within(&p.y.range, v->tflops));
        gp_value(out, v->measured > 0 ? within(&p.y.range, v->measured) : NAN);
        gp_value(out, ideal ? within(&p.x.range, v->ideal) : NAN);
        gp_value(out, ideal ? within(&p.y.range, v->ideal_tflops) : NAN);
        str_addf(out, " \"%c\" ", v->dot ? ' ' : point_letter(v, i));
        gp_quoted(out, v->name);
        str_addc(out, ' ');
        gp_quoted(out, measured_origin(v));
        str_addc(out, '\n');
    }
    str_add(out, "EOD\nset xlabel \"FLOP per byte requested\"\nset ylabel \"TFLOP/s\"\n");
    gp_range(out, "x", &p.x.range, ticks, range_ticks(&p.x.range, 8, ticks));
    gp_range(out, "y", &p.y.range, ticks, range_ticks(&p.y.range, 7, ticks));
    for (int i = 0; i < p.f->nroofs; i++) {
        const struct roof *f = &p.f->roofs[i];
        if (!find_roof(f, &roof))
            continue;
        str_addf(out, "%s (x*%.9g < %.9g ? x*%.9g : %.9g) with lines title ",
                 first ? "plot" : ", \\\n    ", f->gbs / 1e3, f->peak, f->gbs / 1e3, f->peak);
        gp_quoted(out, f->name);
        first = false;
        if (!has_held(f))
            continue;
        char *name = xasprintf("%s, measured", f->name);
        str_addf(out, ", \\\n     (x*%.9g < %.9g ? x*%.9g : %.9g) with lines dt 2 title ",
                 f->held_gbs / 1e3, f->held_peak, f->held_gbs / 1e3, f->held_peak);
        gp_quoted(out, name);
        free(name);
    }
    str_addf(out, ", \\\n     $points using 1:2 with points pt 6 title \"at most, %s\"",
             origin_tag("model"));
    gp_measured(out, p.f);
    str_add(out, ", \\\n"
                 "     $points using 4:5 with points pt 3 title \"each byte moved once\", \\\n"
                 "     $points using 1:2:6 with labels offset 0,1 notitle");
    for (int i = 0; i < p.f->npoints; i++) { /* the letters' names in the key */
        if (p.f->points[i].dot)
            continue;
        char *name = xasprintf("%c %s", point_letter(&p.f->points[i], i), p.f->points[i].name);
        str_add(out, ", \\\n     NaN with points lc \"white\" title ");
        gp_quoted(out, name);
        free(name);
    }
    str_addc(out, '\n');
}

const struct chart_kind chart_roofline = {
    .name = "roofline",
    .doc = "kernels under the roof of a device",
    .layout = &roof_chart_layout,
    .sound = roofs_sound,
    .cells = roofs_cells,
    .svg = roofs_svg,
    .gnuplot = roofs_gnuplot,
};
