/* roofline.c - the Roofline screen: is it compute or memory, and how far is the roof?
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/roofline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tui/screens/screen_util.h"

/* ---- measuring ---- */

static bool stop(struct roofline *x)
{
    struct measured m;
    bool ran = x->job && !measure_ended(x->job);
    if (x->job) {
        measure_finish(x->job, &m);
        measured_clear(&m);
        request_clear(&x->job_request);
    }
    x->job = NULL;
    x->activity[0] = 0;
    return ran;
}

/* The kernel at the cursor, on the shape as it is. */
static void start(struct roofline *x)
{
    const struct measure_how how = {.kind = JOB_RUN, .verb = "run"};
    struct err err = ERR_INIT;
    stop(x);
    if (x->kernels.cur >= x->request.nkernels)
        return;
    char *entry = request_entry(&x->request, x->kernels.cur);
    enum status st = screen_request(x->app->session, entry, false, &x->job_request, &err);
    if (st == ST_OK && measure_refuses(&x->job_request, 0, &err)) {
        request_clear(&x->job_request);
        st = ST_NO;
    }
    if (st == ST_OK)
        x->job = measure_start(x->app->session, &x->job_request, &how);
    else
        app_message(x->app, ROLE_WARN, "%s", err.text);
    free(entry);
}

static void job_over(struct roofline *x)
{
    struct measured m;
    struct str command = {0};
    request_command(&x->job_request, "run", &command);
    measure_finish(x->job, &m);
    x->job = NULL;
    x->activity[0] = 0;
    if (m.ran)
        session_remember_runs(x->app->session, m.rows, false, str_text(&command));
    const char *backend = json_string_value(json_object_get(json_array_get(m.rows, 0), "backend"));
    if (m.ran && backend && strcmp(backend, "cuda") != 0)
        app_message(x->app, ROLE_NORMAL,
                    "measured on the CPU: a GPU's roof says nothing about that; 1 shows it");
    else if (m.status && m.status != ST_CANCELLED)
        app_message(x->app, ROLE_BAD, "%s", m.err.text);
    measured_clear(&m);
    request_clear(&x->job_request);
    str_free(&command);
}

/* ---- keys ---- */

int roofline_knob(const struct roofline *x)
{
    int i = knobs_find(&x->knobs, x->knob);
    return i >= 0 ? i : 0;
}

static void turn_knob(struct roofline *x, int dir)
{
    const struct knob *k = &x->knobs.v[roofline_knob(x)];
    char *why, *value = knob_step(x->app->session, k, dir, &why);
    if (value) {
        char *line = knob_command(k, value);
        app_set(x->app, line); /* comes back through roofline_update() */
        free(line);
    } else if (why) {
        app_message(x->app, ROLE_DIM, "%s", why);
    }
    free(value);
    free(why);
}

static void toggle_kernel(struct roofline *x)
{
    struct marks *m = &x->app->marks;
    if (x->kernels.cur >= x->request.nkernels)
        return;
    char *entry = request_entry(&x->request, x->kernels.cur);
    int at = marks_find(m, entry);
    if (at >= 0)
        marks_remove(m, at);
    else
        marks_add(m, entry);
    roofline_refresh(x);
    for (int i = 0; i < x->request.nkernels; i++) { /* the order follows the marks */
        char *here = request_entry(&x->request, i);
        if (strcmp(here, entry) == 0)
            x->kernels.cur = i;
        free(here);
    }
    roofline_renew_knobs(x);
    free(entry);
}

static void mark(struct roofline *x)
{
    if (x->focus == ROOF_DEVICES_PANE) {
        roofline_toggle_device(x, roofline_device_at(x, x->devices.cur));
        roofline_refresh(x);
    } else {
        toggle_kernel(x);
    }
}

static void open_row(struct roofline *x)
{
    if (x->focus != ROOF_DEVICES_PANE) {
        app_explain(x->app);
        return;
    }
    char *line = xasprintf("set gpu=%s", roofline_device_at(x, x->devices.cur)->name);
    app_set(x->app, line);
    free(line);
}

static bool move(struct roofline *x, enum action action)
{
    if (x->focus == ROOF_STRIP && (action == ACT_UP || action == ACT_DOWN)) {
        int n = x->knobs.n;
        snprintf(x->knob, sizeof x->knob, "%.30s",
                 x->knobs.v[(roofline_knob(x) + (action == ACT_UP ? n - 1 : 1)) % n].name);
        return true;
    }
    if (x->focus == ROOF_DEVICES_PANE)
        return list_act(&x->devices, action);
    if (!list_act(&x->kernels, action))
        return false;
    roofline_renew_knobs(x);
    return true;
}

static void zoom(struct roofline *x, int by)
{
    x->zoom = by == 0 ? 0 : x->zoom + by > 8 ? 8 : x->zoom + by < -2 ? -2 : x->zoom + by;
}

static bool roofline_act(void *ctx, enum action action)
{
    static const enum roof_pane order[] = {ROOF_KERNELS, ROOF_DEVICES_PANE, ROOF_FIGURE, ROOF_POINT,
                                           ROOF_STRIP};
    struct roofline *x = ctx;
    int at = 0;
    while (order[at] != x->focus)
        at++;
    switch (action) {
    case ACT_FOCUS_NEXT:
        x->focus = order[(at + 1) % ROOF_PANES];
        break;
    case ACT_FOCUS_PREV:
        x->focus = order[(at + ROOF_PANES - 1) % ROOF_PANES];
        break;
    case ACT_LEFT:
    case ACT_RIGHT:
        turn_knob(x, action == ACT_LEFT ? -1 : 1);
        break;
    case ACT_ZOOM_IN:
    case ACT_ZOOM_OUT:
    case ACT_ZOOM_RESET:
        zoom(x, action == ACT_ZOOM_IN ? 1 : action == ACT_ZOOM_OUT ? -1 : 0);
        break;
    case ACT_MARK:
        mark(x);
        break;
    case ACT_OPEN:
        open_row(x);
        break;
    case ACT_RUN:
        start(x);
        break;
    case ACT_BACK:
        x->focus = ROOF_KERNELS;
        break;
    default:
        return move(x, action);
    }
    return true;
}

/* ---- the screen ---- */

static void *roofline_open(struct app *a)
{
    struct roofline *x = xcalloc(1, sizeof *x);
    x->app = a;
    x->settings_serial = a->settings_serial;
    x->generation = registry_generation(a->session->registry);
    snprintf(x->knob, sizeof x->knob, "S");
    roofline_refresh(x);
    for (int i = 0; i < x->request.nkernels; i++)
        if (x->request.kernels[i] == a->kernel)
            x->kernels.cur = i;
    for (int i = 0; i < roofline_device_count(x) && x->roofs.ndevices > 0; i++)
        if (roofline_device_at(x, i) == x->roofs.devices[0])
            x->devices.cur = i;
    roofline_renew_knobs(x);
    return x;
}

static void roofline_close(void *ctx)
{
    struct roofline *x = ctx;
    stop(x);
    roofline_clear(x);
    str_free(&x->command);
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
    x->settings_serial = x->app->settings_serial;
    if (x->job) {
        screen_activity(measure_job(x->job), x->activity, sizeof x->activity);
        if (measure_ended(x->job))
            job_over(x);
    }
    roofline_refresh(x); /* settings, kernels, or results may have changed */
}

static void roofline_shown(void *ctx)
{
    roofline_refresh(ctx);
}

static bool roofline_cancel(void *ctx)
{
    return stop(ctx);
}

static const char *roofline_command(void *ctx)
{
    const struct roofline *x = ctx;
    return x->command.len ? str_text(&x->command) : NULL;
}

static bool roofline_explain(void *ctx, struct str *out)
{
    struct roofline *x = ctx;
    struct plan p;
    if (x->problem || x->kernels.cur >= x->request.nkernels || x->roofs.ndevices == 0)
        return false;
    const struct kernel_desc *d = x->request.descs[x->kernels.cur];
    if (!d) { /* on the CPU only */
        str_addf(out, "%s has no source for a GPU: there is no plan to explain",
                 x->request.kernels[x->kernels.cur]->name);
        return false;
    }
    str_add(out,
            "The roofline:\n"
            "  A kernel stands at the intensity of the bytes that it requests, FLOPs over "
            "bytes, as high as the roof is there. The star is the same kernel if every input were "
            "read once and the output written once. @ is what was measured on that device. Capital "
            "letters: the shape as it is; small ones: the other of prefill and decode.\n\n");
    (void)plan_build(d, &x->request.problem.shape, &x->request.params[x->kernels.cur],
                     x->roofs.devices[0], NULL, &p, NULL);
    screen_explain_plan(&p, p.desc->name, out);
    plan_clear(&p);
    return true;
}

static bool kernel_has(const void *ctx, int i, const char *text)
{
    const struct roofline *x = ctx;
    return str_finds(x->request.kernels[i]->name, text);
}

static bool device_has(const void *ctx, int i, const char *text)
{
    return str_finds(roofline_device_at(ctx, i)->name, text);
}

static bool roofline_find(void *ctx, const char *text, int dir)
{
    struct roofline *x = ctx;
    int at = x->focus == ROOF_DEVICES_PANE
                 ? -1
                 : list_find(x->request.nkernels, x->kernels.cur, dir, kernel_has, x, text);
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
        list_act(&x->devices, by < 0 ? ACT_UP : ACT_DOWN);
    else if (list_at(&x->kernels, px, py) >= 0)
        list_act(&x->kernels, by < 0 ? ACT_UP : ACT_DOWN);
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
            devices_get(x->app->session->devices, json_string_value(one), &d, NULL) == ST_OK &&
            !roofline_has_device(x, d))
            x->more[x->nmore++] = d;
    }
    zoom(x, 0);
    zoom(x, steps > 8 || steps < -2 ? 0 : (int)steps);
    roofline_refresh(x);
    if (row >= 0 && row < x->request.nkernels)
        x->kernels.cur = (int)row;
    roofline_renew_knobs(x);
}

const struct screen_ops roofline_screen = {
    .name = "roofline",
    .title = "4 Roofline",
    .context = CTX_ROOFLINE,
    .open = roofline_open,
    .close = roofline_close,
    .draw = roofline_draw_screen,
    .act = roofline_act,
    .update = roofline_update,
    .shown = roofline_shown,
    .cancel = roofline_cancel,
    .command = roofline_command,
    .explain = roofline_explain,
    .find = roofline_find,
    .click = roofline_click,
    .wheel = roofline_wheel,
    .save = roofline_save,
    .restore = roofline_restore,
};
