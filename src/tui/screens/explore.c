/* explore.c - the Explore screen: how fast is this kernel on this shape, is it right, and what
 * limits it?
 *
 * The plan follows each key in the same frame; measuring starts when the keys rest.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/explore.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tui/app/prompt.h"
#include "tui/screens/screen_util.h"

/* ---- opening ---- */

const struct kernel *explore_first_kernel(const struct registry *r)
{
    const struct kernel *k = registry_find(r, "fa2");
    for (int i = 0; !k && i < registry_count(r); i++)
        if (registry_at(r, i)->cpu)
            k = registry_at(r, i);
    return k ? k : registry_at(r, 0);
}

/* Rows from which the panes have room for the projector's blank lines between their figures. */
enum { ROOMY_H = 40 };

static void *explore_open(struct app *a)
{
    struct explore *e = xcalloc(1, sizeof *e);
    e->app = a;
    e->generation = -1;
    e->pair.gflops = NAN;
    explore_follow_registry(e);
    snprintf(e->machine, sizeof e->machine, "%s backend", explore_backend(e));
    e->settings_serial = a->settings_serial;
    explore_refresh(e);
    return e;
}

static void explore_close(void *ctx)
{
    struct explore *e = ctx;
    explore_run_clear(e);
    explore_plan_clear(e);
    request_clear(&e->request);
    for (int i = 0; i < e->nkernels; i++)
        free(e->cannot[i]);
    free(e->cannot);
    free(e->known);
    free(e->kernel_rows);
    free(e->figures);
    free(e->problem);
    free(e->no_plan);
    str_free(&e->why);
    str_free(&e->command);
    free(e);
}

void explore_selection(const struct app *a, const struct kernel **first,
                       const struct kernel **second)
{
    const struct explore *e = NULL;
    for (int i = 0; app_screen_at(i); i++)
        if (app_screen_at(i) == &explore_screen)
            e = a->screens[i];
    *first = e ? e->kernel : explore_first_kernel(a->session->registry);
    *second = e && e->second != e->kernel ? e->second : NULL;
}

/* ---- drawing ---- */

static void collect_recent(struct explore *e, const struct run_row *row)
{
    size_t n = json_array_size(row->recent_us), from = n > RECENT_MAX ? n - RECENT_MAX : 0;
    e->nrecent = 0;
    for (size_t i = from; i < n; i++) {
        const json_t *x = json_array_get(row->recent_us, i);
        e->recent[e->nrecent++] = json_is_number(x) ? json_number_value(x) : NAN;
    }
}

static void view_measured(struct explore *e, struct explore_view *v)
{
    struct figures *f = &e->figures[explore_kernel_index(e, e->kernel)];
    e->nrecent = 0;
    if (f->have) {
        v->row = &f->row;
        collect_recent(e, &f->row);
        if (!explore_current(e, f, 0)) {
            char shape[160];
            shape_format(&f->shape, shape, sizeof shape);
            snprintf(e->old_shape, sizeof e->old_shape, "%s%s%.80s", shape, f->params[0] ? " " : "",
                     f->params);
            v->old_shape = e->old_shape;
        }
    }
    bool pair = e->second && e->pair.have && e->pair_base == e->kernel && e->pair.row.kernel &&
                strcmp(e->pair.row.kernel, e->second->name) == 0 && explore_current(e, &e->pair, 1);
    v->pair = pair ? &e->pair.row : NULL;
    v->recent = e->recent;
    v->nrecent = e->nrecent;
}

static void fill_view(struct explore *e, struct explore_view *v)
{
    struct session *s = e->app->session;
    int k = explore_kernel_index(e, e->kernel);
    const struct device *gpu = session_gpu(s, NULL, NULL);
    *v = (struct explore_view){
        .focus = e->focus,
        .machine = e->machine,
        .origin = "LIVE",
        .shape = e->shape_rows,
        .nshape = e->knobs.n,
        .shape_cur = e->shape_cur,
        .kernels = e->kernel_rows,
        .nkernels = e->nkernels,
        .kernel_cur = k,
        .shape_list = &e->shape_list,
        .kernel_list = &e->kernel_list,
        .roomy = e->app->projector && (e->app->zoom || e->app->canvas->h >= ROOMY_H),
        .kernel = e->kernel->name,
        .second = e->second && e->second != e->kernel ? e->second->name : NULL,
        .cannot = e->problem ? e->problem : e->cannot[k],
        .activity = e->activity,
        .failure = e->failure,
        .blank = e->app->blank,
        .gpu = gpu,
        .arch = gpu ? arch_find(gpu->cc) : NULL,
        .plan = e->have_plan ? &e->plan : NULL,
        .no_plan = e->no_plan,
        .why = e->why.len ? str_text(&e->why) : NULL,
    };
    view_measured(e, v);
}

static int smem_rows(const struct explore *e)
{
    return e->have_plan && e->plan.npasses > 0 ? e->plan.passes[e->plan.main_pass].nsmem : 0;
}

/* On a projector one pane stands alone, and what an audience came for is no list. */
static void leave_lists(struct explore *e)
{
    if (e->app->projector && !e->projected && e->focus <= PANE_KERNELS)
        e->focus = PANE_TIME;
    e->projected = e->app->projector;
}

static void explore_draw_screen(void *ctx, struct canvas *c)
{
    struct explore *e = ctx;
    struct explore_view v;
    leave_lists(e);
    struct layout_wish wish = {e->knobs.n, e->nkernels, smem_rows(e), e->focus, e->app->zoom};
    layout_explore(c->w, c->h, &wish, &e->layout);
    if (e->layout.mode == LAYOUT_FULL && !e->app->zoom && e->layout.pane[e->focus].w <= 0)
        e->focus = PANE_SHAPE; /* the terminal shrank */
    fill_view(e, &v);
    explore_draw(c, &e->layout, &v);
    app_frame(e->app, c);
}

/* ---- keys ---- */

static void set(struct explore *e, char *line)
{
    if (line)
        app_set(e->app, line); /* comes back through explore_update() */
    free(line);
}

static void edit_done(void *ctx, const char *text)
{
    struct explore *e = ctx;
    if (!str_blank(text))
        set(e, knob_command(&e->knobs.v[e->shape_cur], text));
}

static void edit_value(struct explore *e)
{
    const struct knob *k = &e->knobs.v[e->shape_cur];
    const char *now = e->shape_rows[e->shape_cur].value;
    char label[32];
    snprintf(label, sizeof label, "%.20s = ", k->name);
    prompt_open(e->app->session, label, strcmp(now, "-") ? now : "", false, edit_done, e);
    prompt_select();
}

void explore_select_kernel(struct explore *e, int i)
{
    i = i < 0 ? 0 : i >= e->nkernels ? e->nkernels - 1 : i;
    const struct kernel *k = e->nkernels ? e->known[i] : NULL;
    if (!k || k == e->kernel)
        return;
    e->kernel = k;
    explore_refresh(e);
    explore_schedule(e);
}

void explore_select_setting(struct explore *e, int i)
{
    e->shape_cur = i < 0 ? 0 : i >= e->knobs.n ? e->knobs.n - 1 : i;
}

static void move(struct explore *e, int by)
{
    if (e->focus == PANE_KERNELS)
        explore_select_kernel(e, explore_kernel_index(e, e->kernel) + by);
    else
        explore_select_setting(e, e->shape_cur + by);
}

static int page(const struct explore *e)
{
    int h = e->layout.pane[e->focus].h;
    return h > 1 ? h - 1 : 1;
}

static void mark(struct explore *e)
{
    struct marks *m = &e->app->marks;
    const char *name = e->kernel->name;
    int i = marks_find(m, name);
    if (i >= 0)
        marks_remove(m, i);
    else if (!marks_add(m, name))
        app_message(e->app, ROLE_WARN, "%d kernels are marked; that is all there is room for",
                    MARKS_MAX);
    if (i >= 0)
        app_message(e->app, ROLE_NORMAL, "%s is no longer marked", name);
    else if (m->n == 1)
        app_message(e->app, ROLE_NORMAL, "%s is marked: choose another kernel to compare it with",
                    name);
    else
        app_message(e->app, ROLE_NORMAL, "%d kernels are marked; 2 compares them", m->n);
    if (i < 0)
        e->second = e->kernel;
    else if (e->second == e->kernel)
        e->second = NULL;
    explore_refresh(e);
    explore_schedule(e);
}

static void toggle_watch(struct explore *e)
{
    e->watch = !e->watch;
    app_message(e->app, ROLE_NORMAL,
                e->watch ? "watching: measured again and again, w stops" : "no longer watching");
    if (e->watch && !e->job)
        explore_run(e, JOB_RUN);
}

static void run(struct explore *e, enum job_kind kind)
{
    int k = explore_kernel_index(e, e->kernel);
    if (e->problem || e->cannot[k])
        app_message(e->app, ROLE_WARN, "%s", e->problem ? e->problem : e->cannot[k]);
    else
        explore_run(e, kind);
}

static void step(struct explore *e, const struct knob *k, int dir)
{
    char *why, *value = knob_step(e->app->session, k, dir, &why);
    if (value)
        set(e, knob_command(k, value));
    else if (why)
        app_message(e->app, ROLE_DIM, "%s", why);
    free(value);
    free(why);
}

static void change(struct explore *e, int dir)
{
    if (e->focus != PANE_SHAPE)
        e->focus = PANE_SHAPE; /* left and right always mean a value */
    else
        step(e, &e->knobs.v[e->shape_cur], dir);
}

/* ---- mouse ---- */

static bool in_rect(struct rect r, int x, int y)
{
    return x >= r.x && x < r.x + r.w && y >= r.y && y < r.y + r.h;
}

static int pane_at(const struct explore *e, int x, int y)
{
    for (int p = 0; p < PANE_COUNT; p++)
        if (e->layout.pane[p].w > 0 && in_rect(e->layout.pane[p], x, y))
            return p;
    return -1;
}

/* A press chooses pane and row. */
static void explore_click(void *ctx, int x, int y)
{
    struct explore *e = ctx;
    int p = pane_at(e, x, y), row;
    if (p < 0)
        return;
    e->focus = (enum pane)p;
    if (p == PANE_SHAPE && (row = list_at(&e->shape_list, x, y)) >= 0)
        explore_select_setting(e, row);
    if (p == PANE_KERNELS && (row = list_at(&e->kernel_list, x, y)) >= 0)
        explore_select_kernel(e, row);
}

/* The wheel changes the value of the row under it in the shape pane, and moves in the others. */
static void explore_wheel(void *ctx, int x, int y, int by)
{
    struct explore *e = ctx;
    int p = pane_at(e, x, y), row = list_at(&e->shape_list, x, y);
    if (p == PANE_KERNELS) {
        explore_select_kernel(e, explore_kernel_index(e, e->kernel) + by);
    } else if (p == PANE_SHAPE && row >= 0 && row == e->shape_cur && e->focus == PANE_SHAPE) {
        change(e, -by);
    } else if (p == PANE_SHAPE) {
        explore_select_setting(e, e->shape_cur + by);
    }
}

/* The command for the kernel and the shape on screen; it borrows the terminal for the editor. */
static void edit_kernel(struct explore *e)
{
    struct str line = {0};
    const struct request *r = e->plan_request.nkernels > 0 ? &e->plan_request : &e->request;
    if (r->nkernels > 0)
        request_command(r, "edit", &line);
    else
        str_addf(&line, "edit %s", e->kernel->name);
    app_command(e->app, str_text(&line));
    str_free(&line);
}

static bool explore_act(void *ctx, enum action action)
{
    struct explore *e = ctx;
    switch (action) {
    case ACT_FOCUS_NEXT:
        e->focus = layout_next(&e->layout, e->focus, 1);
        break;
    case ACT_FOCUS_PREV:
        e->focus = layout_next(&e->layout, e->focus, -1);
        break;
    case ACT_UP:
        move(e, -1);
        break;
    case ACT_DOWN:
        move(e, 1);
        break;
    case ACT_LEFT:
        change(e, -1);
        break;
    case ACT_RIGHT:
        change(e, 1);
        break;
    case ACT_PAGE_UP:
        move(e, -page(e));
        break;
    case ACT_PAGE_DOWN:
        move(e, page(e));
        break;
    case ACT_FIRST:
        move(e, -1000);
        break;
    case ACT_LAST:
        move(e, 1000);
        break;
    case ACT_OPEN:
        if (e->focus == PANE_SHAPE)
            edit_value(e);
        else if (e->focus == PANE_KERNELS)
            run(e, JOB_RUN);
        else
            app_explain(e->app);
        break;
    case ACT_MARK:
        mark(e);
        break;
    case ACT_RUN:
        run(e, JOB_RUN);
        break;
    case ACT_EDIT:
        edit_kernel(e);
        break;
    case ACT_CHECK:
        run(e, JOB_CHECK);
        break;
    case ACT_WATCH:
        toggle_watch(e);
        break;
    case ACT_BACK:
        e->focus = PANE_SHAPE;
        break;
    default:
        return false;
    }
    return true;
}

/* ---- events ---- */

/* Did the session's settings change since the last look? */
static bool settings_changed(struct explore *e)
{
    bool changed = e->settings_serial != e->app->settings_serial;
    e->settings_serial = e->app->settings_serial;
    return changed;
}

static void explore_update(void *ctx)
{
    struct explore *e = ctx;
    const bool edited =
        e->generation != registry_generation(e->app->session->registry) && e->kernel->user;
    bool changed = settings_changed(e);
    explore_follow_registry(e);
    if (!changed)
        explore_collect(e);
    explore_refresh(e);
    if (changed || edited) /* the kernel on screen may be the one that was saved */
        explore_schedule(e);
}

static void explore_shown(void *ctx)
{
    struct explore *e = ctx;
    if (settings_changed(e))
        explore_refresh(e);
    explore_schedule(e);
}

static int explore_timeout_ms(void *ctx)
{
    const struct explore *e = ctx;
    if (e->due_ms == 0)
        return -1;
    int64_t left = e->due_ms - app_now_ms();
    return left > 0 ? (int)left : 0;
}

static void explore_tick(void *ctx)
{
    struct explore *e = ctx;
    if (e->due_ms == 0 || app_now_ms() < e->due_ms)
        return;
    explore_run(e, JOB_RUN);
    e->app->dirty = true;
}

static bool explore_cancel(void *ctx)
{
    struct explore *e = ctx;
    bool planned = e->due_ms != 0;
    e->watch = false;
    return explore_stop(e) || planned;
}

static const char *explore_command(void *ctx)
{
    const struct explore *e = ctx;
    return e->command.len ? str_text(&e->command) : NULL;
}

const struct screen_ops explore_screen = {
    .name = "explore",
    .title = "1 Explore",
    .context = CTX_EXPLORE,
    .open = explore_open,
    .close = explore_close,
    .draw = explore_draw_screen,
    .act = explore_act,
    .update = explore_update,
    .shown = explore_shown,
    .timeout_ms = explore_timeout_ms,
    .tick = explore_tick,
    .cancel = explore_cancel,
    .command = explore_command,
    .explain = explore_explain,
    .find = explore_find,
    .click = explore_click,
    .wheel = explore_wheel,
    .save = explore_save,
    .restore = explore_restore,
};
