/* sweep.c - the Sweep screen: where does it change?
 *
 * Planned metrics are computed as the keys go, a handful of points at a time. Measured ones start
 * on request, stop at any time and go on where they stopped; rows once measured are kept whatever
 * is swept next.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "command/ask/request.h"
#include "tui/app/prompt.h"
#include "tui/screens/screen_util.h"

void sweep_tell_estimate(struct sweep_screen *x)
{
    double s;
    char b[NUMBER_BUF];
    int left = sweep_left(x, &s);
    if (!x->have || !x->sweep.measured)
        x->activity[0] = 0;
    else if (x->going)
        snprintf(x->activity, sizeof x->activity, "%d of %d points, about %s left",
                 x->sweep.npoints - left, x->sweep.npoints, number_fmt_us(b, s * 1e6));
    else if (left)
        snprintf(x->activity, sizeof x->activity, "%d of %d points to measure, about %s: r", left,
                 x->sweep.npoints, number_fmt_us(b, s * 1e6));
    else
        snprintf(x->activity, sizeof x->activity, "all %d points", x->sweep.npoints);
}

bool sweep_stop(struct sweep_screen *x)
{
    struct measured m;
    bool ran = x->job != NULL;
    if (x->job) {
        measure_finish(x->job, &m);
        measured_clear(&m);
    }
    x->job = NULL;
    x->going = false;
    return ran;
}

/* ---- measuring ---- */

static double now_s(void)
{
    return (double)app_now_ms() / 1e3;
}

static int next_point(const struct sweep_screen *x)
{
    for (int p = 0; p < x->sweep.npoints; p++)
        for (int k = 0; k < x->sweep.base.nkernels; k++)
            if (!sweep_row(&x->sweep, p, k))
                return p;
    return -1;
}

static void start_next(struct sweep_screen *x)
{
    const struct measure_how how = {.kind = JOB_RUN, .verb = "run"};
    struct request r;
    int p = next_point(x);
    if (p < 0 || sweep_request(&x->sweep, p, &r, NULL) != ST_OK) {
        x->going = false;
        return;
    }
    x->job_point = p;
    x->job_begin_s = now_s();
    x->job = measure_start(x->app->session, &r, &how);
    request_clear(&r);
}

static void forget_rows(struct sweep_screen *x)
{
    for (int p = 0; p < x->sweep.npoints; p++) {
        struct request r;
        if (sweep_request(&x->sweep, p, &r, NULL) != ST_OK)
            continue;
        for (int k = 0; k < r.nkernels; k++) {
            char *key = sweep_cache_key(&r, k);
            json_object_del(x->cache, key);
            free(key);
        }
        request_clear(&r);
    }
    sweep_setup_make(x);
}

void sweep_run(struct sweep_screen *x)
{
    if (!x->have || !x->sweep.measured) {
        app_message(x->app, ROLE_NORMAL, "%s",
                    x->problem ? x->problem : "this metric is computed: there is nothing to run");
        return;
    }
    if (x->going)
        return;
    if (next_point(x) < 0)
        forget_rows(x); /* all there: once more */
    while (x->computed < x->sweep.npoints)
        sweep_compute_some(x);
    if (next_point(x) < 0) {
        app_message(x->app, ROLE_WARN, "no point can run here; the cell below says why");
        return;
    }
    x->spent_s = x->guessed_s = 0;
    x->going = true;
    start_next(x);
    sweep_tell_estimate(x);
}

/* Rows that a stop cut short are measured again. */
static bool is_whole(const json_t *row)
{
    const char *stopped = json_string_value(json_object_get(row, "stopped"));
    return row && (json_string_value(json_object_get(row, "reason")) || stopped) &&
           !(stopped && strcmp(stopped, "cancel") == 0);
}

/* Whole rows of the point are not measured again. */
static void cache_rows(struct sweep_screen *x, const json_t *rows)
{
    struct request r;
    if (sweep_request(&x->sweep, x->job_point, &r, NULL) != ST_OK)
        return;
    for (int k = 0; k < r.nkernels; k++) {
        char *key = sweep_cache_key(&r, k);
        json_t *row = json_array_get(rows, (size_t)k);
        if (is_whole(row))
            json_object_set(x->cache, key, row);
        free(key);
    }
    request_clear(&r);
}

static void take_job(struct sweep_screen *x)
{
    struct measured m;
    double spent = now_s() - x->job_begin_s, left_before, left_after;
    sweep_left(x, &left_before);
    double rate = x->guessed_s > 0 ? x->spent_s / x->guessed_s : 1;
    measure_end(x->job, &m); /* a result like any other: $last, Roofline, export */
    x->job = NULL;
    cache_rows(x, m.rows);
    sweep_take(&x->sweep, x->job_point, m.rows);
    sweep_left(x, &left_after);
    x->spent_s += spent;
    x->guessed_s += fmax(left_before - left_after, 0) / rate;
    if (m.status == ST_CANCELLED)
        x->going = false;
    measured_clear(&m);
}

void sweep_collect(struct sweep_screen *x)
{
    if (!x->job || !measure_ended(x->job))
        return;
    take_job(x);
    if (x->going)
        start_next(x);
    if (!x->going)
        app_message(x->app, ROLE_GOOD, "the sweep is complete; its rows are in results");
    sweep_tell_estimate(x);
    sweep_renew_cell(x);
}

/* ---- what outlives the program ---- */

void sweep_save(void *ctx, json_t *o)
{
    const struct sweep_screen *x = ctx;
    static const char *const axis[] = {"axis", "axis2"}, *const values[] = {"values", "values2"};
    for (int i = 0; i < SWEEP_AXES; i++) {
        json_object_set_new(o, axis[i], json_string(x->axis[i]));
        json_object_set_new(o, values[i], json_string(x->values[i]));
    }
    json_object_set_new(o, "metric", json_string(x->metric));
    json_object_set_new(o, "pane", json_integer(x->focus));
    json_object_set(o, "rows", x->cache);
}

static void take_text(const json_t *o, const char *member, char *to, size_t size)
{
    const char *text = json_string_value(json_object_get(o, member));
    if (text)
        snprintf(to, size, "%s", text);
}

void sweep_restore(void *ctx, const json_t *o)
{
    struct sweep_screen *x = ctx;
    const json_int_t pane = json_integer_value(json_object_get(o, "pane"));
    json_t *rows = json_object_get(o, "rows");
    take_text(o, "axis", x->axis[0], sizeof x->axis[0]);
    take_text(o, "axis2", x->axis[1], sizeof x->axis[1]);
    take_text(o, "values", x->values[0], sizeof x->values[0]);
    take_text(o, "values2", x->values[1], sizeof x->values[1]);
    take_text(o, "metric", x->metric, sizeof x->metric);
    if (json_is_object(rows))
        json_object_update(x->cache, rows);
    x->focus = pane >= 0 && pane < SWEEP_PANES ? (enum sweep_pane)pane : SWEEP_SETUP;
    sweep_refresh(x);
}

enum { POINTS_AT_ONCE = 64 }; /* about a millisecond of planning */

/* ---- the cell at the cursor ---- */

static void clear_cell(struct sweep_screen *x)
{
    if (x->have_plan)
        plan_clear(&x->plan);
    x->have_plan = false;
    request_clear(&x->plan_request);
    str_clear(&x->why);
    str_clear(&x->cell_command);
}

static int clampi(int v, int n)
{
    return v < 0 ? 0 : v >= n ? n - 1 : v;
}

void sweep_renew_cell(struct sweep_screen *x)
{
    const struct sweep *w = &x->sweep;
    struct err err = ERR_INIT;
    clear_cell(x);
    if (!x->have)
        return;
    x->kernel = clampi(x->kernel, w->base.nkernels);
    x->at[0] = clampi(x->at[0], w->axes[0].count);
    x->at[1] = w->naxes > 1 ? clampi(x->at[1], w->axes[1].count) : 0;
    struct request *one = &x->plan_request;
    if (sweep_request(w, sweep_point(w, x->at[0], x->at[1]), one, &err))
        return;
    request_only(one, x->kernel); /* the command of this kernel alone */
    request_command(one, w->measured ? "run" : "plan", &x->cell_command);
    const struct kernel_desc *d = one->descs[0];
    const struct device *gpu = session_gpu(x->app->session, one->options.gpu, NULL);
    if (!d || d != one->kernels[0]->cuda || !gpu)
        return; /* a CPU kernel has no launch to plan */
    (void)plan_build(d, &one->problem.shape, &one->params[0], gpu, NULL, &x->plan, &err);
    x->have_plan = true;
    if (x->plan.npasses > 0)
        plan_why(&x->plan, &x->why);
}

/* ---- rows ---- */

/* What is known of a measured point from earlier runs, and what can be said without a run. */
static void fill_point(struct sweep_screen *x, int point)
{
    struct sweep *w = &x->sweep;
    struct request r;
    sweep_foresee(w, point);
    if (sweep_request(w, point, &r, NULL) != ST_OK)
        return;
    json_t *rows = json_array();
    bool all = true;
    for (int k = 0; k < r.nkernels; k++) {
        char *key = sweep_cache_key(&r, k);
        json_t *row = json_object_get(x->cache, key);
        json_t *now = sweep_row(w, point, k);
        all &= row || now;
        json_array_append(rows, row ? row : now ? now : json_null());
        free(key);
    }
    if (all)
        sweep_take(w, point, rows);
    json_decref(rows);
    request_clear(&r);
}

void sweep_compute_some(struct sweep_screen *x)
{
    struct sweep *w = &x->sweep;
    for (int i = 0; x->have && x->computed < w->npoints && i < POINTS_AT_ONCE; i++) {
        if (w->measured)
            fill_point(x, x->computed);
        else
            sweep_compute(w, x->computed);
        x->computed++;
    }
}

static void renew_knobs(struct sweep_screen *x)
{
    struct str names = {0};
    struct request plan, run;
    x->knobs.n = 0;
    knobs_add_shape(&x->knobs, x->app->session);
    knobs_add_gpu(&x->knobs, x->app->session);
    sweep_setup_names(x, &names);
    char *first = xstrndup(str_text(&names), strcspn(str_text(&names), ","));
    bool planned = request_of(x->app->session, first, NULL, REQUEST_PLAN, &plan, NULL) == ST_OK;
    const struct kernel_desc *d = planned && plan.nkernels ? plan.descs[0] : NULL;
    if (planned) {
        knobs_add_params(&x->knobs, &plan, 0, NULL);
        request_clear(&plan);
    }
    if (request_of(x->app->session, first, NULL, 0, &run, NULL) == ST_OK) {
        if (run.nkernels && run.descs[0] != d)
            knobs_add_params(&x->knobs, &run, 0, d);
        request_clear(&run);
    }
    free(first);
    str_free(&names);
}

/* The setup or the session changed. */
void sweep_refresh(struct sweep_screen *x)
{
    sweep_stop(x);
    clear_cell(x);
    sweep_setup_make(x);
    sweep_setup_command(x);
    renew_knobs(x);
    sweep_compute_some(x);
    sweep_renew_cell(x);
    sweep_tell_estimate(x);
}

/* ---- keys ---- */

static void type_done(void *ctx, const char *text)
{
    struct sweep_screen *x = ctx;
    int row = x->setup.cur;
    if (row < SETUP_ROWS) {
        sweep_setup_type(x, row, text);
        sweep_refresh(x);
    } else if (!str_blank(text)) {
        char *line = knob_command(&x->knobs.v[row - SETUP_ROWS], text);
        app_set(x->app, line);
        free(line);
    }
}

static void type_value(struct sweep_screen *x)
{
    const char *value, *name;
    char label[48];
    int row = x->setup.cur;
    if (row < SETUP_ROWS) {
        name = sweep_setup_row(x, row, &value);
    } else {
        name = x->knobs.v[row - SETUP_ROWS].name;
        value = x->knobs.v[row - SETUP_ROWS].text;
    }
    while (*name == ' ')
        name++;
    snprintf(label, sizeof label, "%s = ", name);
    prompt_open(x->app->session, label, value, false, type_done, x);
    prompt_select();
}

/* The session gets the values of this cell: the other screens show it. */
static void adopt_cell(struct sweep_screen *x)
{
    const struct sweep *w = &x->sweep;
    struct str line = {0};
    for (int i = 0; x->have && i < w->naxes; i++) {
        const char *key = w->axes[i].key, *value = w->axes[i].values[x->at[i]];
        int at = knobs_find(&x->knobs, key);
        bool param = at < 0 || x->knobs.v[at].kind == KNOB_PARAM;
        str_addf(&line, "%sset %s%s%s=%s", i ? "; " : "",
                 param ? w->base.kernels[x->kernel]->name : "", param ? " " : "", key, value);
    }
    if (line.len && app_set(x->app, str_text(&line)) == ST_OK)
        app_message(x->app, ROLE_GOOD, "set; 1 shows it in Explore, u takes it back");
    str_free(&line);
}

static void change_row(struct sweep_screen *x, int dir)
{
    int row = x->setup.cur;
    if (row < SETUP_ROWS) {
        if (sweep_setup_step(x, row, dir))
            sweep_refresh(x);
        return;
    }
    const struct knob *k = &x->knobs.v[row - SETUP_ROWS];
    char *why, *value = knob_step(x->app->session, k, dir, &why);
    if (value) {
        char *line = knob_command(k, value);
        app_set(x->app, line); /* comes back through sweep_update() */
        free(line);
    } else if (why) {
        app_message(x->app, ROLE_DIM, "%s", why);
    }
    free(value);
    free(why);
}

static void next_kernel(struct sweep_screen *x, int by)
{
    int n = x->have ? x->sweep.base.nkernels : 1;
    x->kernel = ((x->kernel + by) % n + n) % n;
    sweep_renew_cell(x);
}

/* In the figure the arrows move the cursor: over the cells of a map, or along a line and from line
 * to line. */
static void move_cursor(struct sweep_screen *x, enum move m)
{
    const bool map = x->have && x->sweep.naxes > 1;
    const int along = map ? 1 : 0;
    if (m == MOVE_LEFT || m == MOVE_RIGHT)
        x->at[along] += m == MOVE_LEFT ? -1 : 1;
    else if ((m == MOVE_UP || m == MOVE_DOWN) && map)
        x->at[0] += m == MOVE_UP ? -1 : 1;
    else if (m == MOVE_UP || m == MOVE_DOWN)
        next_kernel(x, m == MOVE_UP ? -1 : 1);
    else if (m == MOVE_FIRST || m == MOVE_LAST)
        x->at[along] = m == MOVE_LAST && x->have ? x->sweep.axes[along].count - 1 : 0;
    sweep_renew_cell(x);
}

static void sweep_move(void *ctx, enum move m)
{
    struct sweep_screen *x = ctx;
    if (x->focus != SWEEP_SETUP)
        move_cursor(x, m);
    else if (!list_move(&x->setup, m))
        change_row(x, m == MOVE_LEFT ? -1 : 1);
}

static void sweep_focus(void *ctx, int by)
{
    struct sweep_screen *x = ctx;
    x->focus = (enum sweep_pane)((x->focus + SWEEP_PANES + by) % SWEEP_PANES);
}

static void sweep_back(void *ctx)
{
    struct sweep_screen *x = ctx;
    x->focus = SWEEP_SETUP;
}

static void open_row(void *ctx, int arg)
{
    struct sweep_screen *x = ctx;
    (void)arg;
    if (x->focus == SWEEP_SETUP)
        type_value(x);
    else
        adopt_cell(x);
}

static void run(void *ctx, int arg)
{
    (void)arg;
    sweep_run(ctx);
}

static void view(void *ctx, int by)
{
    next_kernel(ctx, by);
}

// clang-format off
static const struct binding sweep_keys[] = {
    {.keys = {'r', TK_F5}, .does = "run", .act = run, .footer = "run", .help = "measure what is missing; goes on where it stopped"},
    {.keys = {TK_ENTER}, .does = "open", .act = open_row, .footer = "set", .help = "type the row's value; on a point: set its values everywhere"},
    {.keys = {'v'}, .does = "view", .act = view, .arg = 1, .footer = "kernel", .help = "the next kernel's map or line"},
    {.does = NULL},
};
// clang-format on

/* ---- the screen ---- */

static void *sweep_open(struct app *a)
{
    struct sweep_screen *x = xcalloc(1, sizeof *x);
    x->app = a;
    x->cache = json_object();
    x->settings_serial = a->settings_serial;
    x->generation = registry_generation(a->session->services.registry);
    sweep_setup_default(x);
    sweep_refresh(x);
    return x;
}

static void sweep_close(void *ctx)
{
    struct sweep_screen *x = ctx;
    sweep_stop(x);
    clear_cell(x);
    sweep_clear(&x->sweep);
    json_decref(x->cache);
    free(x->problem);
    str_free(&x->why);
    str_free(&x->cell_command);
    str_free(&x->command);
    free(x);
}

static void sweep_draw_screen(void *ctx, struct canvas *c)
{
    struct sweep_screen *x = ctx;
    sweep_draw(x, c, app_frame(x->app, c));
}

static bool changed(struct sweep_screen *x)
{
    int generation = registry_generation(x->app->session->services.registry);
    bool is = x->settings_serial != x->app->settings_serial || x->generation != generation;
    x->settings_serial = x->app->settings_serial;
    x->generation = generation;
    return is;
}

static void sweep_update(void *ctx)
{
    struct sweep_screen *x = ctx;
    if (changed(x))
        sweep_refresh(x);
    else
        sweep_collect(x);
}

static void sweep_shown(void *ctx)
{
    struct sweep_screen *x = ctx;
    (void)changed(x);
    sweep_refresh(x); /* marks may have changed */
}

static int sweep_timeout_ms(void *ctx)
{
    const struct sweep_screen *x = ctx;
    return x->have && x->computed < x->sweep.npoints ? 0 : -1;
}

static void sweep_tick(void *ctx)
{
    struct sweep_screen *x = ctx;
    if (!x->have || x->computed >= x->sweep.npoints)
        return;
    sweep_compute_some(x);
    sweep_tell_estimate(x);
    x->app->dirty = true;
}

static bool sweep_cancel(void *ctx)
{
    struct sweep_screen *x = ctx;
    bool ran = sweep_stop(x);
    sweep_tell_estimate(x);
    return ran;
}

/* In the figure, the command of the cell; else that of the whole. */
static const char *sweep_command(void *ctx)
{
    const struct sweep_screen *x = ctx;
    const struct str *s =
        x->focus != SWEEP_SETUP && x->cell_command.len ? &x->cell_command : &x->command;
    return s->len ? str_text(s) : NULL;
}

static bool sweep_explain(void *ctx, struct str *out)
{
    struct sweep_screen *x = ctx;
    if (!x->have_plan) {
        str_add(out, x->problem ? x->problem : "a measured point has no formula");
        return false;
    }
    screen_explain_plan(&x->plan, x->plan.desc->name, out);
    return true;
}

static bool row_has(const void *ctx, int i, const char *text)
{
    const struct sweep_screen *x = ctx;
    const char *value,
        *name = i < SETUP_ROWS ? sweep_setup_row(x, i, &value) : x->knobs.v[i - SETUP_ROWS].name;
    return str_finds(name, text);
}

static bool sweep_find(void *ctx, const char *text, int dir)
{
    struct sweep_screen *x = ctx;
    int at = list_find(SETUP_ROWS + x->knobs.n, x->setup.cur, dir, row_has, x, text);
    if (at < 0)
        return false;
    x->setup.cur = at;
    x->focus = SWEEP_SETUP;
    return true;
}

static void sweep_click(void *ctx, int px, int py)
{
    struct sweep_screen *x = ctx;
    int at = list_at(&x->setup, px, py);
    if (at < 0)
        return;
    x->setup.cur = at;
    x->focus = SWEEP_SETUP;
}

static void sweep_wheel(void *ctx, int px, int py, int by)
{
    (void)px, (void)py;
    sweep_move(ctx, by < 0 ? MOVE_UP : MOVE_DOWN);
}

extern const struct screen_ops sweep_screen;
const struct screen_ops sweep_screen = {
    .name = "sweep",
    .title = "3 Sweep",
    .keys = {sweep_keys},
    .open = sweep_open,
    .close = sweep_close,
    .draw = sweep_draw_screen,
    .move = sweep_move,
    .focus = sweep_focus,
    .back = sweep_back,
    .update = sweep_update,
    .shown = sweep_shown,
    .timeout_ms = sweep_timeout_ms,
    .tick = sweep_tick,
    .cancel = sweep_cancel,
    .command = sweep_command,
    .explain = sweep_explain,
    .find = sweep_find,
    .click = sweep_click,
    .wheel = sweep_wheel,
    .save = sweep_save,
    .restore = sweep_restore,
};
