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
#include "command/ask/request.h"
#include "tui/app/prompt.h"
#include "tui/screens/screen_util.h"

/* The metrics that a pane shows come first. */
static const char *const pane_metrics[PANE_COUNT][8] = {
    [PANE_SMEM] = {"smem_bytes", "smem_per_block_bytes", "reserved_bytes", "needs_optin"},
    [PANE_OCC] = {"blocks_per_sm", "occupancy_pct", "waves", "active_warps"},
    [PANE_ROOF] = {"roof_us", "bound", "ridge", "compulsory_intensity", "requested_intensity"},
};

/* ---- find, explain ---- */

static bool kernel_has(const void *ctx, int i, const char *text)
{
    const struct explore *e = ctx;
    const struct kernel *k = registry_at(e->app->session->services.registry, i);
    return str_finds(k->name, text) || str_finds(e->kernel_rows[i].name, text);
}

static bool setting_has(const void *ctx, int i, const char *text)
{
    const struct explore *e = ctx;
    return str_finds(e->knobs.v[i].name, text);
}

/* A kernel's name, or a row of the shape pane when that has the focus. */
static bool explore_find(void *ctx, const char *text, int dir)
{
    struct explore *e = ctx;
    int at = e->focus == PANE_SHAPE ? list_find(e->knobs.n, e->shape_cur, dir, setting_has, e, text)
                                    : -1;
    if (at >= 0) {
        explore_select_setting(e, at);
        return true;
    }
    int cur = explore_kernel_index(e, e->kernel);
    at = list_find(e->nkernels, cur, dir, kernel_has, e, text);
    if (at < 0)
        return false;
    e->focus = PANE_KERNELS;
    explore_select_kernel(e, at);
    return true;
}

static bool in_pane(enum pane p, const char *metric)
{
    for (int i = 0; i < 8 && pane_metrics[p][i]; i++)
        if (strcmp(pane_metrics[p][i], metric) == 0)
            return true;
    return false;
}

static void explain_metric(const struct explore *e, const char *metric, struct str *out)
{
    struct err err = ERR_INIT;
    struct str text = {0};
    if (plan_explain(&e->plan, metric, &text, &err) == ST_OK)
        screen_explain_add(out, str_text(&text));
    str_free(&text);
}

static bool explore_explain(void *ctx, struct str *out)
{
    struct explore *e = ctx;
    if (!e->have_plan) {
        str_add(out, e->no_plan ? e->no_plan : "there is no plan");
        return false;
    }
    str_addf(out, "%s on %s, computed, not measured (MODEL):\n\n", e->kernel->name,
             e->plan.device->name);
    if (e->why.len)
        str_addf(out, "%s\n\n", str_text(&e->why));
    for (int i = 0; i < 8 && pane_metrics[e->focus][i]; i++)
        explain_metric(e, pane_metrics[e->focus][i], out);
    for (size_t i = 0; plan_metric_name(NULL, i); i++)
        if (!in_pane(e->focus, plan_metric_name(NULL, i)))
            explain_metric(e, plan_metric_name(NULL, i), out);
    return true;
}

/* ---- what outlives the program ---- */

static void save_figures(const struct explore *e, json_t *list)
{
    for (int i = 0; i < e->nkernels; i++) {
        const struct figures *f = &e->figures[i];
        struct problem p = {.shape = f->shape};
        if (!f->have)
            continue;
        json_t *one = json_object();
        json_object_set_new(one, "kernel",
                            json_string(registry_at(e->app->session->services.registry, i)->name));
        json_object_set_new(one, "problem", problem_to_json(&p));
        json_object_set_new(one, "params", json_string(f->params));
        json_object_set_new(one, "row", record_to_json(run_fields, &f->row));
        json_array_append_new(list, one);
    }
}

static void explore_save(void *ctx, json_t *o)
{
    const struct explore *e = ctx;
    json_t *list = json_array();
    save_figures(e, list);
    json_object_set_new(o, "kernel", json_string(e->kernel->name));
    if (e->second)
        json_object_set_new(o, "marked", json_string(e->second->name));
    json_object_set_new(o, "pane", json_integer(e->focus));
    json_object_set_new(o, "row", json_integer(e->shape_cur));
    json_object_set_new(o, "machine", json_string(e->machine));
    json_object_set_new(o, "figures", list);
}

static const struct kernel *kernel_named(const struct explore *e, const json_t *o,
                                         const char *member)
{
    const char *name = json_string_value(json_object_get(o, member));
    return name ? registry_find(e->app->session->services.registry, name) : NULL;
}

static void restore_figures(struct explore *e, const json_t *one)
{
    const struct kernel *k = kernel_named(e, one, "kernel");
    const char *params = json_string_value(json_object_get(one, "params"));
    struct problem p = PROBLEM_DEFAULT;
    if (!k || problem_from_json(&p, json_object_get(one, "problem"), NULL) != ST_OK)
        return;
    struct figures *f = &e->figures[explore_kernel_index(e, k)];
    if (f->have)
        record_clear(run_fields, &f->row);
    record_init(run_fields, &f->row);
    f->have = record_from_json(run_fields, &f->row, json_object_get(one, "row"), NULL) == ST_OK;
    f->shape = p.shape;
    f->gflops = f->row.tflops > 0 ? f->row.tflops * 1e3 : NAN;
    snprintf(f->params, sizeof f->params, "%s", params ? params : "");
    if (!f->have)
        record_clear(run_fields, &f->row);
    problem_clear(&p);
}

static void explore_restore(void *ctx, const json_t *o)
{
    struct explore *e = ctx;
    const struct kernel *k = kernel_named(e, o, "kernel");
    const char *machine = json_string_value(json_object_get(o, "machine"));
    json_int_t pane = json_integer_value(json_object_get(o, "pane")),
               row = json_integer_value(json_object_get(o, "row"));
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(o, "figures"), i, one)
    {
        restore_figures(e, one);
    }
    e->kernel = k ? k : e->kernel;
    e->second = kernel_named(e, o, "marked");
    e->focus = pane >= 0 && pane < PANE_COUNT ? (enum pane)pane : PANE_SHAPE;
    e->projected = e->app->projector; /* the pane is the one that was left */
    if (machine)
        snprintf(e->machine, sizeof e->machine, "%s", machine);
    explore_refresh(e);
    explore_select_setting(e, row > 0 && row < 1000 ? (int)row : 0);
}

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
    *first = e ? e->kernel : explore_first_kernel(a->session->services.registry);
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

static void mark(void *ctx, int arg)
{
    struct explore *e = ctx;
    struct marks *m = &e->app->marks;
    const char *name = e->kernel->name;
    int i = marks_find(m, name);
    (void)arg;
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

static void watch(void *ctx, int arg)
{
    struct explore *e = ctx;
    (void)arg;
    e->watch = !e->watch;
    app_message(e->app, ROLE_NORMAL,
                e->watch ? "watching: measured again and again, w stops" : "no longer watching");
    if (e->watch && !e->job)
        explore_run(e, JOB_RUN);
}

static void run(void *ctx, int kind)
{
    struct explore *e = ctx;
    int k = explore_kernel_index(e, e->kernel);
    if (e->problem || e->cannot[k])
        app_message(e->app, ROLE_WARN, "%s", e->problem ? e->problem : e->cannot[k]);
    else
        explore_run(e, (enum job_kind)kind);
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

static void explore_move(void *ctx, enum move m)
{
    struct explore *e = ctx;
    const bool kernels = e->focus == PANE_KERNELS;
    int at = kernels ? explore_kernel_index(e, e->kernel) : e->shape_cur;
    if (!move_row(m, kernels ? e->nkernels : e->knobs.n, e->layout.pane[e->focus].h, &at))
        change(e, m == MOVE_LEFT ? -1 : 1);
    else if (kernels)
        explore_select_kernel(e, at);
    else
        explore_select_setting(e, at);
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
static void edit(void *ctx, int arg)
{
    struct explore *e = ctx;
    struct str line = {0};
    (void)arg;
    const struct request *r = e->plan_request.nkernels > 0 ? &e->plan_request : &e->request;
    if (r->nkernels > 0)
        request_command(r, "edit", &line);
    else
        str_addf(&line, "edit %s", e->kernel->name);
    app_command(e->app, str_text(&line));
    str_free(&line);
}

static void open_row(void *ctx, int arg)
{
    struct explore *e = ctx;
    (void)arg;
    if (e->focus == PANE_SHAPE)
        edit_value(e);
    else if (e->focus == PANE_KERNELS)
        run(e, JOB_RUN);
    else
        app_explain(e->app);
}

static void explore_focus(void *ctx, int by)
{
    struct explore *e = ctx;
    e->focus = layout_next(&e->layout, e->focus, by);
}

static void explore_back(void *ctx)
{
    struct explore *e = ctx;
    e->focus = PANE_SHAPE;
}

// clang-format off
static const struct binding explore_keys[] = {
    {.keys = {'r', TK_F5}, .does = "run", .act = run, .arg = JOB_RUN, .footer = "run", .help = "measure now; a marked kernel too, in turn"},
    {.keys = {' '}, .does = "mark", .act = mark, .footer = "mark", .help = "mark this kernel to compare others with it"},
    {.keys = {TK_ENTER}, .does = "open", .act = open_row, .help = "type the value of this row"},
    {.keys = {'c'}, .does = "check", .act = run, .arg = JOB_CHECK, .help = "check against float64, without timing"},
    {.keys = {'E'}, .does = "edit", .act = edit, .help = "change a copy in your editor, then compare it"},
    {.keys = {'w'}, .does = "watch", .act = watch, .help = "keep measuring until pressed again"},
    {.does = NULL},
};
// clang-format on

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
        e->generation != registry_generation(e->app->session->services.registry) && e->kernel->user;
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
    .keys = {explore_keys},
    .open = explore_open,
    .close = explore_close,
    .draw = explore_draw_screen,
    .move = explore_move,
    .focus = explore_focus,
    .back = explore_back,
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
