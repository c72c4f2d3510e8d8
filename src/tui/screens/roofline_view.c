/* roofline_view.c - how the Roofline screen is drawn: kernels, devices, figure, the point at the
 * cursor.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "tui/screens/roofline.h"
#include "tui/kit/strip.h"

static double row_number(const json_t *row, const char *key)
{
    const json_t *v = json_object_get(row, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static const char *row_string(const json_t *row, const char *key)
{
    return json_string_value(json_object_get(row, key));
}

static char *entry_name(const struct roofline *x, int k)
{
    struct str s = {0};
    const char *own = x->request.own[k];
    str_addf(&s, "%s%s%s", x->request.kernels[k]->name, own ? "@" : "", own ? own : "");
    return str_take(&s);
}

/* ---- lists ---- */

static void draw_kernels(struct roofline *x, struct canvas *c, struct rect r)
{
    int shown = list_place(&x->kernels, r, x->request.nkernels, false);
    for (int i = 0; i < shown; i++) {
        int k = x->kernels.top + i;
        struct rect at = list_row_at(&x->kernels, i);
        const json_t *row = roof_row(&x->roofs, 0, 0, k);
        double ai = row_number(row, "requested_intensity");
        char b[NUMBER_BUF], *name = entry_name(x, k);
        bool cur = k == x->kernels.cur, on = x->show[k] && isfinite(ai);
        canvas_text(c, at.x, at.y, 1, ROLE_ACCENT, cur ? ">" : " ");
        canvas_textf(c, at.x + 1, at.y, 1, (enum role)(ROLE_SERIES + k % 6), "%c",
                     on ? roof_letter(0, k) : ' ');
        canvas_text(c, at.x + 3, at.y, at.w - 11, on ? ROLE_NORMAL : ROLE_DIM, name);
        canvas_textf(c, at.x + at.w - 8, at.y, 7, ROLE_DIM, "%7s",
                     isfinite(ai) ? number_fmt(b, ai, 3) : "-");
        if (cur && x->focus == ROOF_KERNELS)
            canvas_fill(c, at, ROLE_SELECT);
        free(name);
    }
}

static void draw_devices(struct roofline *x, struct canvas *c, struct rect r)
{
    enum dtype t = x->app->session->problem.shape.dtype;
    int shown = list_place(&x->devices, r, roofline_device_count(x), false);
    for (int i = 0; i < shown; i++) {
        int d = x->devices.top + i;
        const struct device *dev = roofline_device_at(x, d);
        struct rect at = list_row_at(&x->devices, i);
        char b[NUMBER_BUF];
        bool cur = d == x->devices.cur, on = roofline_has_device(x, dev),
             main = x->roofs.ndevices > 0 && x->roofs.devices[0] == dev;
        canvas_text(c, at.x, at.y, 1, ROLE_ACCENT, cur ? ">" : " ");
        canvas_text(c, at.x + 1, at.y, 1, ROLE_ACCENT, main ? "*" : on ? "+" : " ");
        canvas_text(c, at.x + 3, at.y, at.w - 11, on ? ROLE_NORMAL : ROLE_DIM, dev->name);
        canvas_textf(c, at.x + at.w - 8, at.y, 7, ROLE_DIM, "%7s",
                     number_fmt(b, dev->tflops[t] * 1e3 / dev->dram_gbs, 3));
        if (cur && x->focus == ROOF_DEVICES_PANE)
            canvas_fill(c, at, ROLE_SELECT);
    }
}

/* ---- figure ---- */

static void draw_figure(struct roofline *x, struct canvas *c, struct rect r)
{
    int n;
    if (x->problem) {
        canvas_wrap(c, r, ROLE_BAD, x->problem);
        return;
    }
    struct roof_point *pts = roofs_points(&x->roofs, x->show, x->kernels.cur, &n);
    struct fig_roofs fig = {.devices = x->roofs.devices,
                            .ndevices = x->roofs.ndevices,
                            .dtype = x->app->session->problem.shape.dtype,
                            .points = pts,
                            .npoints = n,
                            .zoom = x->zoom,
                            .no_legend = true};
    for (int i = 0; i < n; i++) {
        if (x->app->blank)
            pts[i].measured = 0;
        if (pts[i].cur && !(fig.center_x > 0)) {
            fig.center_x = pts[i].intensity;
            fig.center_y = pts[i].tflops;
        }
    }
    fig_roofs(c, r, &fig);
    free(pts);
}

/* ---- the point ---- */

static const struct {
    const char *title;
    const char *field;
    int w;
} heads[] = {
    {"ideal F/B", "compulsory_intensity", 10},
    {"asks F/B", "requested_intensity", 9},
    {"ridge", "ridge", 7},
    {"bound", "bound", 9},
    {"roof TF/s", "roof_tflops", 10},
    {"reach", "reach_tflops", 8},
    {"at least", "roof_us", 10},
    {"measured", "measured_tflops", 9},
    {"of reach", "of_reach_pct", 9},
    {"FLOPs", "flops", 10},
    {"compulsory", "compulsory_bytes", 12},
    {"requested", "requested_bytes", 12},
};
enum { HEADS = sizeof heads / sizeof *heads, PHASE_W = 11 };

static void head_text(const json_t *row, int i, bool blank, char *out, size_t size)
{
    double v = row_number(row, heads[i].field);
    char b[NUMBER_BUF];
    bool live = strcmp(heads[i].field, "measured_tflops") == 0 ||
                strcmp(heads[i].field, "of_reach_pct") == 0;
    if (strcmp(heads[i].field, "bound") == 0)
        snprintf(out, size, "%s", row_string(row, "bound") ? row_string(row, "bound") : "-");
    else if (live && blank && isfinite(v))
        snprintf(out, size, "?");
    else if (strstr(heads[i].field, "_us"))
        snprintf(out, size, "%s", number_fmt_us(b, v));
    else if (strstr(heads[i].field, "_bytes"))
        snprintf(out, size, "%s", number_fmt_bytes(b, v));
    else if (strcmp(heads[i].field, "flops") == 0)
        snprintf(out, size, "%s", number_fmt_count(b, v));
    else
        snprintf(out, size, "%s%s", number_fmt(b, v, 3),
                 strstr(heads[i].field, "_pct") && isfinite(v) ? " %" : "");
}

static void draw_phase(struct roofline *x, struct canvas *c, struct rect r, int phase, int k)
{
    const json_t *row = roof_row(&x->roofs, 0, phase, k);
    int at = r.x + PHASE_W;
    canvas_textf(c, r.x, r.y, PHASE_W - 1, (enum role)(ROLE_SERIES + k % 6), "%c %s",
                 roof_letter(phase, k), x->roofs.phases[phase].name);
    for (int i = 0; i < HEADS && at + heads[i].w <= r.x + r.w; i++) {
        char text[64];
        head_text(row, i, x->app->blank, text, sizeof text);
        canvas_textf(c, at, r.y, heads[i].w, ROLE_NORMAL, "%*s", heads[i].w, text);
        at += heads[i].w;
    }
}

/* What the figures mean for this kernel, in a sentence or two. */
static void add_meaning(const struct roofline *x, int k, struct str *s)
{
    const json_t *row = roof_row(&x->roofs, 0, 0, k);
    const char *reason = row_string(row, "reason"), *name = row_string(row, "kernel");
    double ideal = row_number(row, "compulsory_intensity"),
           asks = row_number(row, "requested_intensity"), reach = row_number(row, "reach_tflops"),
           roof = row_number(row, "roof_tflops"), measured = row_number(row, "measured_tflops");
    char b[4][NUMBER_BUF];
    if (reason) {
        str_addf(s, "%s. ", reason);
        return;
    }
    if (!isfinite(ideal) || !isfinite(asks)) {
        str_add(s, "Its bytes are not known.");
        return;
    }
    if (ideal > 1.01 * asks && reach < 0.99 * roof)
        str_addf(s,
                 "%s asks for %s times the bytes that it must move: if no cache helped, it would "
                 "reach %s of %s TFLOP/s. ",
                 name, number_fmt(b[0], ideal / asks, 3), number_fmt(b[1], reach, 3),
                 number_fmt(b[2], roof, 3));
    else
        str_addf(s, "The bytes that %s asks for let it reach the roof here, %s TFLOP/s. ", name,
                 number_fmt(b[0], roof, 3));
    if (measured > 1.02 * reach && !x->app->blank)
        str_add(s, "It is faster than these bytes allow: caches serve part of them.");
    else if (!isfinite(measured))
        str_add(s, "No time of this device for this shape yet.");
}

static void draw_point(struct roofline *x, struct canvas *c, struct rect r)
{
    int k = x->kernels.cur, at = r.x + PHASE_W, y = r.y + 1;
    struct str s = {0};
    if (x->problem || x->request.nkernels == 0)
        return;
    for (int i = 0; i < HEADS && at + heads[i].w <= r.x + r.w; i++) {
        canvas_textf(c, at, r.y, heads[i].w, ROLE_DIM, "%*s", heads[i].w, heads[i].title);
        at += heads[i].w;
    }
    for (int p = 0; p < x->roofs.nphases && y < r.y + r.h; p++)
        draw_phase(x, c, (struct rect){r.x, y++, r.w, 1}, p, k);
    add_meaning(x, k, &s);
    if (y < r.y + r.h)
        canvas_wrap_more(c, (struct rect){r.x, y, r.w, r.y + r.h - y},
                         row_string(roof_row(&x->roofs, 0, 0, k), "reason") ? ROLE_BAD
                                                                            : ROLE_NORMAL,
                         str_text(&s), 0);
    str_free(&s);
}

/* ---- the whole ---- */

static void pane_title(const struct roofline *x, enum roof_pane p, struct str *s)
{
    const struct device *main = x->roofs.ndevices > 0 ? x->roofs.devices[0] : NULL;
    if (p == ROOF_KERNELS) {
        str_add(s, "Kernels  F/B");
    } else if (p == ROOF_DEVICES_PANE) {
        str_add(s, "Devices  ridge");
    } else if (p == ROOF_FIGURE) {
        str_addf(s, "Roofline  MODEL %s", main ? main->name : "?");
        for (int i = 1; i < x->roofs.ndevices; i++)
            str_addf(s, ", %s", x->roofs.devices[i]->name);
        if (x->zoom)
            str_addf(s, "  zoom %+d", x->zoom);
        if (x->activity[0])
            str_addf(s, "  %s", x->activity);
    } else if (x->request.nkernels > 0) {
        char *name = entry_name(x, x->kernels.cur);
        str_addf(s, "%s under %s", name, main ? main->name : "?");
        free(name);
    }
}

static struct rect draw_frame(const struct roofline *x, struct canvas *c, struct rect r,
                              enum roof_pane p, bool bare)
{
    struct str title = {0};
    pane_title(x, p, &title);
    struct rect in = pane_frame(c, r, str_text(&title), x->focus == p, bare);
    str_free(&title);
    bool list = p == ROOF_KERNELS || p == ROOF_DEVICES_PANE;
    return list ? in : (struct rect){in.x + 1, in.y, in.w - 2, in.h};
}

static void draw_inside(struct roofline *x, struct canvas *c, struct rect r, enum roof_pane p)
{
    switch (p) {
    case ROOF_KERNELS:
        draw_kernels(x, c, r);
        break;
    case ROOF_DEVICES_PANE:
        draw_devices(x, c, r);
        break;
    case ROOF_POINT:
        draw_point(x, c, r);
        break;
    default:
        draw_figure(x, c, r);
        break;
    }
}

void roofline_draw(struct roofline *x, struct canvas *c, struct rect r)
{
    strip_draw(c, (struct rect){r.x + 1, r.y, r.w - 2, 1}, &x->knobs, roofline_knob(x),
               x->focus == ROOF_STRIP);
    struct rect rest = {r.x, r.y + 1, r.w, r.h - 1};
    if (app_one_pane(x->app, c)) {
        enum roof_pane p = x->focus == ROOF_STRIP ? ROOF_FIGURE : x->focus;
        draw_inside(x, c, draw_frame(x, c, rest, p, true), p);
        return;
    }
    int point = 7, side = r.w > 120 ? 30 : 24, top = rest.h - point + 1, devices = top / 3;
    struct rect panes[ROOF_PANES] = {
        [ROOF_KERNELS] = {rest.x, rest.y, side, top - devices + 1},
        [ROOF_DEVICES_PANE] = {rest.x, rest.y + top - devices, side, devices},
        [ROOF_FIGURE] = {rest.x + side - 1, rest.y, rest.w - side + 1, top},
        [ROOF_POINT] = {rest.x, rest.y + top - 1, rest.w, point},
    };
    struct rect in[ROOF_PANES];
    for (int p = 0; p < ROOF_STRIP; p++)
        in[p] = draw_frame(x, c, panes[p], (enum roof_pane)p, false);
    for (int p = 0; p < ROOF_STRIP; p++)
        draw_inside(x, c, in[p], (enum roof_pane)p);
}
