/* roofline.c - the Roofline screen: is it compute or memory, and how far is the roof?
 *
 * Devices and roofs are made anew when a setting changes; below them the keys and what is drawn.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "command/ask/plan_here.h"
#include "command/ask/measure.h"
#include "command/output.h"
#include "command/ask/request.h"
#include "command/show/roof.h"
#include "draw/figures.h"
#include "tui/app/app.h"
#include "tui/screens/measurement.h"
#include "tui/screens/roofline_point.h"
#include "tui/screens/screen_util.h"
#include "tui/screens/subject.h"

enum { ZOOM_MAX = 10 }; /* a tenth of a decade high: a factor of 0.93 is rows apart */

enum roof_pane { ROOF_KERNELS, ROOF_DEVICES_PANE, ROOF_POINT, ROOF_FIGURE, ROOF_STRIP, ROOF_PANES };

struct roofline {
    struct app *app;
    enum roof_pane focus;
    struct list kernels, devices;
    struct subject subject;         /* for plans: every kernel that the list has */
    struct measurement measurement; /* of the kernel at the cursor */
    int zoom;
    bool on_cpu; /* this machine's CPU in place of the session's GPU */

    bool *show; /* by kernel */
    struct roofs roofs;
    const struct device *more[ROOF_DEVICES]; /* besides the session's */
    int nmore;
};

/* ---- devices ---- */

/* CUDA devices first, then those that have only a roof; last, as a NULL, this machine's CPU. */
static int roofline_device_count(const struct roofline *x)
{
    return devices_count(x->app->session->services.devices) + 1;
}

static const struct device *roofline_device_at(const struct roofline *x, int i)
{
    const struct device_table *t = x->app->session->services.devices;
    for (int cuda = 1; cuda >= 0; cuda--)
        for (int d = 0; d < devices_count(t); d++)
            if ((devices_at(t, d)->cc > 0) == (cuda == 1) && i-- == 0)
                return devices_at(t, d);
    return NULL;
}

static const char *device_title(const struct device *d)
{
    return d ? d->name : "this CPU";
}

static bool roofline_has_device(const struct roofline *x, const struct device *d)
{
    for (int i = 0; i < x->roofs.ndevices; i++)
        if (x->roofs.on_cpu ? !d : x->roofs.devices[i] == d)
            return true;
    return false;
}

/* Beside the session's; at most ROOF_DEVICES in all. */
static void roofline_toggle_device(struct roofline *x, const struct device *d)
{
    for (int i = 0; i < x->nmore; i++)
        if (x->more[i] == d) {
            memmove(x->more + i, x->more + i + 1, (size_t)(x->nmore - i - 1) * sizeof *x->more);
            x->nmore--;
            return;
        }
    if (!d || x->on_cpu)
        app_message(x->app, ROLE_DIM,
                    "the roof of this CPU stands by itself; enter on %s goes there",
                    d ? "a GPU" : "it");
    else if (x->roofs.ndevices > 0 && x->roofs.devices[0] == d)
        app_message(x->app, ROLE_DIM, "%s is the one that all plans are for; gpu= changes it",
                    d->name);
    else if (x->nmore == ROOF_DEVICES - 1)
        app_message(x->app, ROLE_WARN, "there is room for %d roofs", ROOF_DEVICES);
    else
        x->more[x->nmore++] = d;
}

/* ---- renewal ---- */

static void list_names(const struct roofline *x, struct str *out)
{
    const struct registry *reg = x->app->session->services.registry;
    const struct marks *m = &x->app->marks;
    for (int i = 0; i < m->n; i++)
        str_addf(out, "%s%s", out->len ? "," : "", m->v[i]);
    for (int i = 0; i < registry_count(reg); i++)
        if ((x->on_cpu ? registry_at(reg, i)->cpu : registry_at(reg, i)->cuda) &&
            marks_find(m, registry_at(reg, i)->name) < 0)
            str_addf(out, "%s%s", out->len ? "," : "", registry_at(reg, i)->name);
}

static unsigned request_flags(const struct roofline *x)
{
    return x->on_cpu ? REQUEST_C : REQUEST_PLAN;
}

static void show_command(struct roofline *x)
{
    struct str names = {0};
    struct request r;
    str_clear(&x->subject.command);
    for (int i = 0; i < x->subject.request.nkernels; i++) {
        char *entry = x->show[i] ? request_entry(&x->subject.request, i) : NULL;
        if (entry)
            str_addf(&names, "%s%s", names.len ? "," : "", entry);
        free(entry);
    }
    if (request_of(x->app->session, str_text(&names), NULL, request_flags(x), &r, NULL) == ST_OK) {
        free(r.options.gpu); /* stands at the end, with the others */
        r.options.gpu = NULL;
        request_command(&r, "roofline", &x->subject.command);
        request_clear(&r);
    }
    for (int i = 0; i < x->roofs.ndevices && !x->roofs.on_cpu; i++)
        str_addf(&x->subject.command, "%s%s", i ? "," : " gpu=", x->roofs.devices[i]->name);
    if (x->roofs.on_cpu && !strstr(str_text(&x->subject.command), " backend="))
        str_addf(&x->subject.command, " backend=%s", backend_everywhere()->name);
    str_add(&x->subject.command, " phase=both");
    str_free(&names);
}

static void make_roofs(struct roofline *x)
{
    struct err err = ERR_INIT;
    const struct device *devices[ROOF_DEVICES];
    int n = 0;
    if (!x->on_cpu) {
        devices[n] = session_gpu(x->app->session, NULL, &err);
        if (!devices[n++]) {
            subject_set_problem(&x->subject, err.text);
            return;
        }
    }
    for (int i = 0; i < x->nmore && !x->on_cpu && n < ROOF_DEVICES; i++)
        if (x->more[i] != devices[0])
            devices[n++] = x->more[i];
    if (roofs_make(x->app->session, &x->subject.request, devices, n, ROOF_PHASES, &x->roofs, &err))
        subject_set_problem(&x->subject, err.text);
}

/* The strip and the command: the kernel at the cursor has other parameters, and is shown where none is
 * marked. */
static void roofline_renew_knobs(struct roofline *x)
{
    for (int i = 0; i < x->subject.request.nkernels && x->app->marks.n == 0; i++)
        x->show[i] = i == x->kernels.cur;
    show_command(x);
    subject_renew_knobs(&x->subject, x->kernels.cur);
    knobs_rare_last(&x->subject.knobs);
}

/* Plans, roofs, knobs and the command line, from the settings as they are. */
static void roofline_refresh(struct roofline *x)
{
    const struct request *r = &x->subject.request;
    struct str names = {0};
    roofs_clear(&x->roofs);
    list_names(x, &names);
    subject_ask(&x->subject, str_text(&names), "roofline", request_flags(x));
    x->show = xrealloc(x->show, ((size_t)r->nkernels + 1) * sizeof *x->show);
    for (int i = 0; i < r->nkernels; i++)
        x->show[i] = i < x->app->marks.n;
    if (x->kernels.cur >= r->nkernels)
        x->kernels.cur = 0;
    if (x->app->marks.n == 0 && r->nkernels > 0) /* nothing marked: the one at the cursor */
        x->show[x->kernels.cur] = true;
    if (!x->subject.problem)
        make_roofs(x);
    roofline_renew_knobs(x);
    str_free(&names);
}

/* ---- lists ---- */

static void draw_kernels(struct roofline *x, struct canvas *c, struct rect r)
{
    int shown = list_place(&x->kernels, r, x->subject.request.nkernels, false);
    for (int i = 0; i < shown; i++) {
        int k = x->kernels.top + i;
        struct rect at = list_row_at(&x->kernels, i);
        double ai = row_real(roof_row(&x->roofs, 0, 0, k),
                             x->roofs.on_cpu ? "compulsory_intensity" : "requested_intensity");
        char b[NUMBER_BUF], *name = request_entry(&x->subject.request, k);
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
    enum dtype t = x->app->session->settings.problem.shape.dtype;
    int shown = list_place(&x->devices, r, roofline_device_count(x), false);
    for (int i = 0; i < shown; i++) {
        int d = x->devices.top + i;
        const struct device *dev = roofline_device_at(x, d);
        struct rect at = list_row_at(&x->devices, i);
        char b[NUMBER_BUF];
        bool cur = d == x->devices.cur, on = roofline_has_device(x, dev),
             main = on && (x->roofs.on_cpu || x->roofs.devices[0] == dev);
        const double ridge = dev               ? dev->tflops[t] * 1e3 / dev->dram_gbs
                             : x->roofs.on_cpu ? x->roofs.host.tflops * 1e3 / x->roofs.host.gbs
                                               : REAL_UNKNOWN;
        canvas_text(c, at.x, at.y, 1, ROLE_ACCENT, cur ? ">" : " ");
        canvas_text(c, at.x + 1, at.y, 1, ROLE_ACCENT, main ? "*" : on ? "+" : " ");
        canvas_text(c, at.x + 3, at.y, at.w - 11, on ? ROLE_NORMAL : ROLE_DIM, device_title(dev));
        canvas_textf(c, at.x + at.w - 8, at.y, 7, ROLE_DIM, "%7s",
                     isfinite(ridge) ? number_fmt(b, ridge, 3) : "-");
        if (cur && x->focus == ROOF_DEVICES_PANE)
            canvas_fill(c, at, ROLE_SELECT);
    }
}

/* ---- figure ---- */

/* There is no roof but a measured one. */
static void draw_no_host(const struct roofline *x, struct canvas *c, struct rect r)
{
    struct str s = {0};
    str_addf(&s, "%s: ", x->roofs.host.device);
    host_roof_text(&x->roofs.host, &s);
    str_add(&s, ". Type :doctor --peak; until then there is no roof to draw.");
    canvas_wrap(c, r, ROLE_NORMAL, str_text(&s));
    str_free(&s);
}

static void draw_figure(struct roofline *x, struct canvas *c, struct rect r)
{
    if (x->subject.problem) {
        canvas_wrap(c, r, ROLE_BAD, x->subject.problem);
        return;
    }
    if (x->roofs.on_cpu && !(x->roofs.host.tflops > 0)) {
        draw_no_host(x, c, r);
        return;
    }
    bool *at = x->kernels.cur < x->subject.request.nkernels ? &x->show[x->kernels.cur] : NULL;
    const bool marked = at && *at;
    if (at)
        *at = true; /* the cursor's has its letter, too */
    struct chart *chart = roofs_chart(&x->roofs, x->app->session->settings.problem.shape.dtype,
                                      x->show, x->kernels.cur);
    if (at)
        *at = marked;
    const struct roof_chart *m = chart->model;
    struct chart_view view = {.x = x->kernels.cur, .zoom = x->zoom, .bare = true};
    for (int i = 0; i < m->npoints; i++) {
        struct roof_point *p = &m->points[i];
        if (x->app->blank)
            p->measured = NAN;
        if (p->kernel == view.x && !p->dot && !(view.center_x > 0)) {
            view.center_x = p->intensity;
            view.center_y = p->tflops;
        }
    }
    fig_roofs(c, r, m, &view);
    chart_free(chart);
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
        if (x->roofs.on_cpu)
            str_add(s, "Roofline  this CPU, measured");
        else
            str_addf(s, "Roofline  MODEL %s", main ? main->name : "?");
        for (int i = 1; i < x->roofs.ndevices; i++)
            str_addf(s, ", %s", x->roofs.devices[i]->name);
        if (x->zoom)
            str_addf(s, "  zoom %+d", x->zoom);
        if (x->measurement.activity[0])
            str_addf(s, "  %s", x->measurement.activity);
    } else if (x->subject.request.nkernels > 0) {
        char *name = request_entry(&x->subject.request, x->kernels.cur);
        str_addf(s, "%s under %s", name, x->roofs.on_cpu ? "this CPU" : main ? main->name : "?");
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
        if (!x->subject.problem && x->subject.request.nkernels > 0)
            roofline_point_draw(&x->roofs, x->kernels.cur, x->app->blank, c, r);
        break;
    default:
        draw_figure(x, c, r);
        break;
    }
}

static void roofline_draw(struct roofline *x, struct canvas *c, struct rect r)
{
    strip_draw(c, (struct rect){r.x + 1, r.y, r.w - 2, 1}, &x->subject.knobs,
               subject_knob(&x->subject), x->focus == ROOF_STRIP);
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
        if (p != ROOF_POINT)
            in[p] = draw_frame(x, c, panes[p], (enum roof_pane)p, false);
    in[ROOF_POINT] =
        draw_frame(x, c, panes[ROOF_POINT], ROOF_POINT, false); /* its title crosses the others */
    for (int p = 0; p < ROOF_STRIP; p++)
        draw_inside(x, c, in[p], (enum roof_pane)p);
}

/* ---- measuring ---- */

/* The kernel at the cursor, on the shape as it is. */
static void run(void *ctx, int arg)
{
    struct roofline *x = ctx;
    struct err err = ERR_INIT;
    struct request r;
    (void)arg;
    measurement_stop(&x->measurement, true);
    if (x->kernels.cur >= x->subject.request.nkernels)
        return;
    char *entry = request_entry(&x->subject.request, x->kernels.cur);
    const struct request_word cpu[] = {{"backend", backend_everywhere()->name}, {NULL, NULL}};
    if (request_of(x->app->session, entry, x->on_cpu ? cpu : NULL, 0, &r, &err) != ST_OK ||
        measure_refuses(&r, 0, &err))
        app_message(x->app, ROLE_WARN, "%s", err.text);
    else
        measurement_start(&x->measurement, &r, JOB_RUN);
    request_clear(&r);
    free(entry);
}

static void collect(struct roofline *x)
{
    struct measured m;
    if (!measurement_collect(&x->measurement, true, &m))
        return;
    const char *backend = m.rows.n ? m.rows.v[0].backend : NULL;
    if (m.ran && backend && !backend_is_gpu(backend) && !x->roofs.on_cpu)
        app_message(x->app, ROLE_NORMAL,
                    "measured on the CPU: its roof is the last of the devices; 1 shows the run");
    measured_clear(&m);
}

/* ---- keys ---- */

static void toggle_kernel(struct roofline *x)
{
    struct marks *m = &x->app->marks;
    if (x->kernels.cur >= x->subject.request.nkernels)
        return;
    char *entry = request_entry(&x->subject.request, x->kernels.cur);
    int at = marks_find(m, entry);
    if (at >= 0)
        marks_remove(m, at);
    else
        marks_add(m, entry);
    roofline_refresh(x);
    for (int i = 0; i < x->subject.request.nkernels; i++) { /* the order follows the marks */
        char *here = request_entry(&x->subject.request, i);
        if (strcmp(here, entry) == 0)
            x->kernels.cur = i;
        free(here);
    }
    roofline_renew_knobs(x);
    free(entry);
}

static void mark(void *ctx, int arg)
{
    struct roofline *x = ctx;
    (void)arg;
    if (x->focus == ROOF_DEVICES_PANE) {
        roofline_toggle_device(x, roofline_device_at(x, x->devices.cur));
        roofline_refresh(x);
    } else {
        toggle_kernel(x);
    }
}

static void open_row(void *ctx, int arg)
{
    struct roofline *x = ctx;
    (void)arg;
    if (x->focus != ROOF_DEVICES_PANE) {
        app_explain(x->app);
        return;
    }
    const struct device *d = roofline_device_at(x, x->devices.cur);
    x->on_cpu = !d;
    if (!d) {
        roofline_refresh(x);
        return;
    }
    char *line = xasprintf("set gpu=%s", d->name);
    app_set(x->app, line);
    free(line);
}

static void zoom(void *ctx, int by)
{
    struct roofline *x = ctx;
    x->zoom = by == 0                   ? 0
              : x->zoom + by > ZOOM_MAX ? ZOOM_MAX
              : x->zoom + by < -2       ? -2
                                        : x->zoom + by;
}

static void roofline_move(void *ctx, enum move m)
{
    struct roofline *x = ctx;
    if (m == MOVE_LEFT || m == MOVE_RIGHT)
        subject_turn(&x->subject, subject_knob(&x->subject), m == MOVE_LEFT ? -1 : 1);
    else if (x->focus == ROOF_STRIP && (m == MOVE_UP || m == MOVE_DOWN))
        subject_choose_knob(&x->subject, m == MOVE_UP ? -1 : 1);
    else if (x->focus == ROOF_DEVICES_PANE)
        list_move(&x->devices, m);
    else if (list_move(&x->kernels, m))
        roofline_renew_knobs(x);
}

static void roofline_focus(void *ctx, int by)
{
    static const enum roof_pane order[] = {ROOF_KERNELS, ROOF_DEVICES_PANE, ROOF_FIGURE, ROOF_POINT,
                                           ROOF_STRIP};
    struct roofline *x = ctx;
    int at = 0;
    while (order[at] != x->focus)
        at++;
    x->focus = order[(at + ROOF_PANES + by) % ROOF_PANES];
}

static void roofline_back(void *ctx)
{
    struct roofline *x = ctx;
    x->focus = ROOF_KERNELS;
}

// clang-format off
static const struct binding roofline_keys[] = {
    {.keys = {' '}, .does = "mark", .act = mark, .footer = "mark", .help = "a letter for this kernel, a roof for this device, or not; what is not marked is a dot"},
    {.keys = {'+', '='}, .does = "zoom-in", .act = zoom, .arg = 1, .footer = "zoom", .help = "zoom in, around the kernel at the cursor"},
    {.keys = {'-'}, .does = "zoom-out", .act = zoom, .arg = -1, .help = "zoom out"},
    {.keys = {'0'}, .does = "zoom-reset", .act = zoom, .help = "the axes that the devices give"},
    {.keys = {TK_ENTER}, .does = "open", .act = open_row, .footer = "gpu", .help = "on a device: plan for it; on a kernel: explain"},
    {.keys = {'r', TK_F5}, .does = "run", .act = run, .footer = "run", .help = "measure the kernel at the cursor"},
    {.does = NULL},
};
// clang-format on

/* ---- the screen ---- */

/* The list's cursor on the device that plans are for. */
static void show_device(struct roofline *x)
{
    for (int i = 0; i < roofline_device_count(x); i++) {
        const struct device *d = roofline_device_at(x, i);
        if (x->roofs.ndevices > 0 && (x->roofs.on_cpu ? !d : x->roofs.devices[0] == d))
            x->devices.cur = i;
    }
}

static void *roofline_open(struct app *a)
{
    struct roofline *x = xcalloc(1, sizeof *x);
    x->app = a;
    subject_init(&x->subject, a);
    measurement_init(&x->measurement, a);
    roofline_refresh(x);
    for (int i = 0; i < x->subject.request.nkernels; i++)
        if (x->subject.request.kernels[i] == a->kernel)
            x->kernels.cur = i;
    show_device(x);
    roofline_renew_knobs(x);
    return x;
}

static void roofline_close(void *ctx)
{
    struct roofline *x = ctx;
    measurement_stop(&x->measurement, true);
    measurement_clear(&x->measurement);
    subject_clear(&x->subject);
    roofs_clear(&x->roofs);
    free(x->show);
    free(x);
}

static void roofline_draw_screen(void *ctx, struct canvas *c)
{
    struct roofline *x = ctx;
    roofline_draw(x, c, app_frame(x->app, c));
}

static void roofline_update(void *ctx)
{
    struct roofline *x = ctx;
    collect(x);
    roofline_refresh(x); /* settings, kernels, or results may have changed */
}

static void roofline_shown(void *ctx)
{
    roofline_refresh(ctx);
}

static bool roofline_cancel(void *ctx)
{
    struct roofline *x = ctx;
    return measurement_stop(&x->measurement, true);
}

static const char *const roofline_drives[] = {"roofline", NULL};

static void roofline_drive(void *ctx, const struct cmd_call *c, const char *names)
{
    struct roofline *x = ctx;
    x->on_cpu = !strcmp(call_peek(c, "backend", ""), backend_everywhere()->name);
    marks_take(&x->app->marks, names);
    roofline_refresh(x);
    show_device(x);
}

static const char *roofline_command(void *ctx)
{
    const struct roofline *x = ctx;
    return subject_command(&x->subject);
}

static void explain_host(const struct roofline *x, struct str *out)
{
    str_addf(out,
             "The roofline of this machine's CPU:\n"
             "  A kernel in C stands at the intensity of the bytes that must move, FLOPs over the "
             "bytes of Q, K, V and O once: what its code asks the caches for is not counted. The "
             "roof is not a data sheet's but what doctor --peak measured of this CPU with as many "
             "threads: multiply-adds in f32, whatever the type, and reading from memory. @ is the "
             "last right run of this session. With hot caches memory is no roof.\n\n  %s\n  ",
             x->roofs.host.device);
    host_roof_text(&x->roofs.host, out);
    str_addc(out, '\n');
}

static bool roofline_explain(void *ctx, struct str *out)
{
    struct roofline *x = ctx;
    struct plan p;
    if (x->roofs.on_cpu && !x->subject.problem) {
        explain_host(x, out);
        return true;
    }
    if (x->subject.problem || x->kernels.cur >= x->subject.request.nkernels ||
        x->roofs.ndevices == 0)
        return false;
    const struct kernel_desc *d = x->subject.request.descs[x->kernels.cur];
    if (!d) { /* on the CPU only */
        str_addf(out, "%s has no source for a GPU: there is no plan to explain",
                 x->subject.request.kernels[x->kernels.cur]->name);
        return false;
    }
    str_add(
        out,
        "The roofline:\n"
        "  A kernel stands at the intensity of the bytes that it requests, FLOPs over "
        "bytes, as high as the roof is there. The star is the same kernel if every input were "
        "read once and the output written once. @ is what was measured on that device. $ is the "
        "kernel by the bytes of DRAM that the simulator counted behind a cache, once it has run "
        "there (run K backend=sim): right of the star where the output had not left the L2 yet, "
        "and so was not written. Capital "
        "letters: the shape as it is; small ones: the other of prefill and decode.\n\n");
    (void)plan_here(x->app->session, d, &x->subject.request.problem.shape,
                    &x->subject.request.params[x->kernels.cur], x->roofs.devices[0], &p, NULL);
    screen_explain_plan(&p, p.desc->name, out);
    plan_clear(&p);
    return true;
}

static bool kernel_has(const void *ctx, int i, const char *text)
{
    const struct roofline *x = ctx;
    return str_finds(x->subject.request.kernels[i]->name, text);
}

static bool device_has(const void *ctx, int i, const char *text)
{
    return str_finds(device_title(roofline_device_at(ctx, i)), text);
}

static void roofline_show_kernel(void *ctx, const struct kernel *k)
{
    struct roofline *x = ctx;
    for (int i = 0; i < x->subject.request.nkernels; i++)
        if (x->subject.request.kernels[i] == k)
            x->kernels.cur = i;
    x->focus = ROOF_KERNELS;
    roofline_renew_knobs(x);
}

static bool roofline_find(void *ctx, const char *text, int dir)
{
    struct roofline *x = ctx;
    int at = x->focus == ROOF_DEVICES_PANE
                 ? -1
                 : list_find(x->subject.request.nkernels, x->kernels.cur, dir, kernel_has, x, text);
    if (at >= 0) {
        x->kernels.cur = at;
        roofline_renew_knobs(x);
        return true;
    }
    at = list_find(roofline_device_count(x), x->devices.cur, dir, device_has, x, text);
    if (at < 0)
        return false;
    x->devices.cur = at;
    x->focus = ROOF_DEVICES_PANE;
    return true;
}

static void roofline_click(void *ctx, int px, int py)
{
    struct roofline *x = ctx;
    int k = list_at(&x->kernels, px, py), d = list_at(&x->devices, px, py);
    if (k >= 0) {
        x->kernels.cur = k;
        x->focus = ROOF_KERNELS;
        roofline_renew_knobs(x);
    } else if (d >= 0) {
        x->devices.cur = d;
        x->focus = ROOF_DEVICES_PANE;
    }
}

static void roofline_wheel(void *ctx, int px, int py, int by)
{
    struct roofline *x = ctx;
    if (list_at(&x->devices, px, py) >= 0)
        list_move(&x->devices, by < 0 ? MOVE_UP : MOVE_DOWN);
    else if (list_at(&x->kernels, px, py) >= 0)
        list_move(&x->kernels, by < 0 ? MOVE_UP : MOVE_DOWN);
    else
        zoom(x, by < 0 ? 1 : -1);
}

static void roofline_save(void *ctx, json_t *o)
{
    const struct roofline *x = ctx;
    json_t *more = json_array();
    for (int i = 0; i < x->nmore; i++)
        json_array_append_new(more, json_string(x->more[i]->name));
    json_object_set_new(o, "devices", more);
    json_object_set_new(o, "cpu", json_boolean(x->on_cpu));
    json_object_set_new(o, "zoom", json_integer(x->zoom));
    json_object_set_new(o, "row", json_integer(x->kernels.cur));
}

static void roofline_restore(void *ctx, const json_t *o)
{
    struct roofline *x = ctx;
    const json_int_t row = json_integer_value(json_object_get(o, "row")),
                     steps = json_integer_value(json_object_get(o, "zoom"));
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(o, "devices"), i, one)
    {
        const struct device *d;
        if (json_is_string(one) && x->nmore < ROOF_DEVICES - 1 &&
            devices_get(x->app->session->services.devices, json_string_value(one), &d, NULL) ==
                ST_OK &&
            !roofline_has_device(x, d))
            x->more[x->nmore++] = d;
    }
    x->on_cpu = json_is_true(json_object_get(o, "cpu"));
    zoom(x, 0);
    zoom(x, steps > ZOOM_MAX || steps < -2 ? 0 : (int)steps);
    roofline_refresh(x);
    if (row >= 0 && row < x->subject.request.nkernels)
        x->kernels.cur = (int)row;
    roofline_renew_knobs(x);
}

static bool roofline_is_old(void *ctx, const struct row *row)
{
    const struct roofline *x = ctx;
    return measurement_is_old(&x->measurement, row);
}

extern const struct screen_ops roofline_screen;
const struct screen_ops roofline_screen = {
    .name = "roofline",
    .title = "4 Roofline",
    .keys = {roofline_keys},
    .open = roofline_open,
    .close = roofline_close,
    .draw = roofline_draw_screen,
    .move = roofline_move,
    .focus = roofline_focus,
    .back = roofline_back,
    .update = roofline_update,
    .shown = roofline_shown,
    .cancel = roofline_cancel,
    .command = roofline_command,
    .explain = roofline_explain,
    .find = roofline_find,
    .drives = roofline_drives,
    .drive = roofline_drive,
    .show_kernel = roofline_show_kernel,
    .click = roofline_click,
    .wheel = roofline_wheel,
    .is_old = roofline_is_old,
    .save = roofline_save,
    .restore = roofline_restore,
};
