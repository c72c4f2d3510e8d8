/* sweep.c - the Sweep screen: where does it change?
 *
 * Planned metrics are computed as the keys go, a handful of points at a time. Measured ones start
 * on request, stop at any time and go on where they stopped; rows once measured are kept whatever
 * is swept next.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "command/ask/axis.h"
#include "command/ask/estimate.h"
#include "command/ask/measure.h"
#include "command/ask/plan_here.h"
#include "command/ask/request.h"
#include "command/ask/sweep.h"
#include "command/show/sweep_words.h"
#include "draw/figures.h"
#include "measure/origin.h"
#include "tui/app/app.h"
#include "tui/app/prompt.h"
#include "tui/kit/flow.h"
#include "tui/screens/measurement.h"
#include "tui/screens/screen_util.h"
#include "tui/screens/subject.h"
#include "tui/screens/sweep_cell.h"
#include "tui/screens/sweep_setup.h"

enum { POINTS_AT_ONCE = 64 }; /* about a millisecond of planning */

enum sweep_pane { SWEEP_SETUP, SWEEP_FIGURE, SWEEP_CELL, SWEEP_PANES };

struct sweep_screen {
    struct app *app;
    enum sweep_pane focus;
    struct list list; /* rows of the setup, then knobs */
    struct sweep_setup setup;
    struct subject subject; /* the whole; knobs of its first kernel */
    struct subject cell;    /* the point at the cursor */

    struct sweep sweep;
    bool have;                      /* sweep is made, else subject.problem */
    struct cells cells;             /* its points, where they are measured */
    struct measurement measurement; /* figures of points: kept over every change */
    int at[SWEEP_AXES], kernel;     /* cursor */
    int computed;                   /* points of a planned metric that have their rows */
    bool warned;                    /* all is measured: the next r measures it once more */

    char activity[160];
};

/* ---- the sweep ---- */

/* Are its points measured here? Planned and recorded ones are there at once. */
static bool runs_here(const struct sweep_screen *x)
{
    return x->have && x->sweep.measured && !x->sweep.recorded;
}

/* Makes the sweep anew from the setup. */
static void remake(struct sweep_screen *x)
{
    struct err err = ERR_INIT;
    sweep_clear(&x->sweep);
    plans_forget(x->app->session, x);
    x->have = sweep_setup_make(&x->setup, &x->sweep, &err) == ST_OK;
    subject_set_problem(&x->subject, x->have ? NULL : err.text);
    x->computed = 0;
    if (!x->have)
        sweep_clear(&x->sweep);
    x->warned = false;
    x->cells.n = runs_here(x) ? x->sweep.npoints : 0;
    x->cells.turns = x->sweep.paired;
    x->cells.nkernels = x->sweep.base.nkernels;
}

/* ---- drawing ---- */

static bool axis_of(const struct sweep_screen *x, const char *key)
{
    return strcmp(x->setup.axis[0], key) == 0 || strcmp(x->setup.axis[1], key) == 0;
}

static bool is_swept(const struct sweep_screen *x, const char *key)
{
    if (!strcmp(key, "Sq") || !strcmp(key, "Sk")) /* S is both */
        return axis_of(x, "S") || axis_of(x, key);
    return axis_of(x, key);
}

static void draw_setup(struct sweep_screen *x, struct canvas *c, struct rect r)
{
    int shown = list_place(&x->list, r, SETUP_ROWS + x->subject.knobs.n, false);
    for (int i = 0; i < shown; i++) {
        int row = x->list.top + i;
        struct rect at = list_row_at(&x->list, i);
        const char *value;
        enum role role = ROLE_ACCENT, name_role = ROLE_NORMAL;
        const char *name;
        if (row < SETUP_ROWS) {
            name = sweep_setup_row(&x->setup, row, &value);
        } else {
            const struct knob *k = &x->subject.knobs.v[row - SETUP_ROWS];
            name = k->name;
            value = is_swept(x, k->name) ? "swept" : k->text;
            name_role = k->dim || is_swept(x, k->name) ? ROLE_DIM : ROLE_NORMAL;
            role = k->changed ? ROLE_ACCENT : name_role;
        }
        bool cur = row == x->list.cur;
        int w = str_width(value), room = at.w - 4 - str_width(name);
        w = w < room ? w : room;
        canvas_text(c, at.x, at.y, 1, ROLE_ACCENT, cur ? ">" : " ");
        canvas_text(c, at.x + 2, at.y, at.w - 3, name_role, name);
        canvas_text(c, at.x + at.w - 1 - w, at.y, w, role, value);
        if (cur && x->focus == SWEEP_SETUP)
            canvas_fill(c, at, ROLE_SELECT);
    }
}

/* ---- figure ---- */

/* Measured values are hidden; what was computed may be seen. */
static bool hidden(const struct sweep_screen *x)
{
    return x->app->blank && x->sweep.measured;
}

/* Takes the values out; a map's cells are then as if nothing were known. */
static void hide(struct grid_chart *g)
{
    for (int s = 0; s < g->nseries; s++)
        for (int i = 0; i < g->series[s].n; i++) {
            struct grid_cell *v = &g->series[s].cells[i];
            v->value = v->lo = v->hi = NAN;
            if (g->ny) {
                free(v->blocked);
                v->blocked = NULL;
            }
        }
}

static void draw_figure(struct sweep_screen *x, struct canvas *c, struct rect r)
{
    if (!x->have) {
        canvas_wrap(c, r, ROLE_BAD, x->subject.problem ? x->subject.problem : "");
        return;
    }
    struct chart *chart = sweep_chart(&x->sweep);
    if (hidden(x))
        hide(chart->model);
    if (x->sweep.naxes > 1)
        fig_heat(c, r, chart->model, x->kernel, x->at[1], x->at[0]);
    else
        fig_lines(c, r, chart->model, x->at[0]);
    chart_free(chart);
}

static void figure_title(const struct sweep_screen *x, struct str *s)
{
    const struct sweep *w = &x->sweep;
    if (!x->have) {
        str_add(s, "Sweep");
        return;
    }
    char *label = request_entry(&w->base, x->kernel);
    if (w->naxes > 1)
        str_addf(s, "%s  %s%s", w->metric, label, w->base.nkernels > 1 ? " (v: next)" : "");
    else
        str_addf(s, "%s%s", w->metric, strcmp(w->metric, "ratio") ? "" : ", below 1 is faster");
    free(label);
    str_addf(s, "  %s%s%s", origin_tag(sweep_origin(w)), runs_here(x) ? "  " : " ",
             hidden(x)      ? "values are hidden"
             : runs_here(x) ? x->activity
             : w->device    ? sweep_device(w, sweep_point(w, x->at[0], x->at[1]))->name
                            : "?");
    const int awaited = plans_awaited(x->app->session, x);
    if (awaited)
        str_addf(s, "  compiling, %d left", awaited);
}

/* ---- the whole ---- */

static struct sweep_cell cell_of(const struct sweep_screen *x)
{
    return (struct sweep_cell){.sweep = &x->sweep,
                               .about = &x->cell,
                               .at = x->at,
                               .kernel = x->kernel,
                               .hidden = hidden(x)};
}

static void pane_title(const struct sweep_screen *x, enum sweep_pane p, struct str *s)
{
    const struct sweep_cell cell = cell_of(x);
    if (p == SWEEP_SETUP)
        str_add(s, "Sweep");
    else if (p == SWEEP_FIGURE)
        figure_title(x, s);
    else if (x->have)
        sweep_cell_title(&cell, s);
    else
        str_add(s, "Cell");
}

static struct rect draw_frame(const struct sweep_screen *x, struct canvas *c, struct rect r,
                              enum sweep_pane p, bool bare)
{
    struct str title = {0};
    pane_title(x, p, &title);
    struct rect in = pane_frame(c, r, str_text(&title), x->focus == p, bare);
    str_free(&title);
    return p == SWEEP_SETUP ? in : (struct rect){in.x + 1, in.y, in.w - 2, in.h};
}

static void draw_inside(struct sweep_screen *x, struct canvas *c, struct rect r, enum sweep_pane p)
{
    const struct sweep_cell cell = cell_of(x);
    if (p == SWEEP_SETUP)
        draw_setup(x, c, r);
    else if (p == SWEEP_FIGURE)
        draw_figure(x, c, r);
    else if (x->have)
        sweep_cell_draw(&cell, c, r);
}

static void sweep_draw(struct sweep_screen *x, struct canvas *c, struct rect r)
{
    if (app_one_pane(x->app, c)) {
        draw_inside(x, c, draw_frame(x, c, r, x->focus, true), x->focus);
        return;
    }
    int cell = r.h > 30 ? 7 : 6, setup = r.w > 120 ? 34 : 27;
    struct rect panes[SWEEP_PANES] = {
        [SWEEP_SETUP] = {r.x, r.y, setup, r.h - cell + 1},
        [SWEEP_FIGURE] = {r.x + setup - 1, r.y, r.w - setup + 1, r.h - cell + 1},
        [SWEEP_CELL] = {r.x, r.y + r.h - cell, r.w, cell},
    };
    struct rect in[SWEEP_PANES];
    for (int p = 0; p < SWEEP_PANES; p++)
        in[p] = draw_frame(x, c, panes[p], (enum sweep_pane)p, false);
    for (int p = 0; p < SWEEP_PANES; p++)
        draw_inside(x, c, in[p], (enum sweep_pane)p);
}

/* " S=512 BR=32"; the caller frees it. */
static char *point_text(const struct sweep *w, int point)
{
    int at[SWEEP_AXES];
    struct str s = {0};
    sweep_at(w, point, at);
    for (int i = 0; i < w->naxes; i++)
        str_addf(&s, " %s=%s", w->axes[i].key, w->axes[i].values[at[i]]);
    return str_take(&s);
}

static void sweep_tell_estimate(struct sweep_screen *x)
{
    double s;
    char b[NUMBER_BUF];
    int left = measurement_cells_left(&x->measurement, &x->cells, &s);
    if (!runs_here(x))
        x->activity[0] = 0;
    else if (x->measurement.cells) {
        char *at = point_text(&x->sweep, x->measurement.cell);
        snprintf(x->activity, sizeof x->activity, "point %d of %d:%s, about %s left",
                 x->sweep.npoints - left + 1, x->sweep.npoints, at, estimate_text(b, s));
        free(at);
    } else if (left)
        snprintf(x->activity, sizeof x->activity, "%d of %d points to measure, about %s: r", left,
                 x->sweep.npoints, estimate_text(b, s));
    else
        snprintf(x->activity, sizeof x->activity, "all %d points", x->sweep.npoints);
}

/* ---- points and the cell at the cursor ---- */

/* The row of entry k of a point's request that was measured before; NULL: none. */
static const struct run_row *measured_before(const struct sweep_screen *x, const struct request *r,
                                             int k)
{
    char *label = cell_label(r, k);
    const struct figures *f = measurement_find(&x->measurement, label);
    free(label);
    return f && (!x->sweep.paired || f->row.verdict) ? &f->row : NULL;
}

/* What is known of a measured point from earlier runs, and what can be said without a run. */
static void fill_point(struct sweep_screen *x, int point)
{
    struct sweep *w = &x->sweep;
    struct request r;
    sweep_foresee(w, point);
    if (sweep_request(w, point, &r, NULL) != ST_OK)
        return;
    bool all = true;
    for (int k = 0; k < r.nkernels; k++)
        all &= sweep_row(w, point, k) || measured_before(x, &r, k);
    for (int k = 0; k < r.nkernels && all; k++) {
        const struct run_row *run = measured_before(x, &r, k);
        if (run)
            sweep_put(w, point, k, run);
    }
    request_clear(&r);
}

/* The next handful of points that need no run. */
static void sweep_compute_some(struct sweep_screen *x)
{
    struct sweep *w = &x->sweep;
    for (int i = 0; x->have && x->computed < w->npoints && i < POINTS_AT_ONCE; i++) {
        if (runs_here(x))
            fill_point(x, x->computed);
        else {
            sweep_want(w, x->computed, x);
            sweep_compute(w, x->computed);
        }
        x->computed++;
    }
}

static int clampi(int v, int n)
{
    return v < 0 ? 0 : v >= n ? n - 1 : v;
}

/* Keeps the cursor on the grid and plans its cell. */
static void sweep_renew_cell(struct sweep_screen *x)
{
    const struct sweep *w = &x->sweep;
    struct request r;
    subject_drop_plan(&x->cell);
    subject_refuse(&x->cell, NULL);
    if (!x->have)
        return;
    x->kernel = clampi(x->kernel, w->base.nkernels);
    x->at[0] = clampi(x->at[0], w->axes[0].count);
    x->at[1] = w->naxes > 1 ? clampi(x->at[1], w->axes[1].count) : 0;
    if (sweep_request(w, sweep_point(w, x->at[0], x->at[1]), &r, NULL) != ST_OK)
        return;
    request_only(&r, x->kernel);
    request_command(&r, runs_here(x) ? "run" : "plan", &x->cell.command);
    subject_plan_request(&x->cell, &r);
    request_clear(&r);
}

/* ---- measuring ---- */

/* The points as cells; of measured metrics alone. */
static enum status point_request(void *ctx, int point, struct request *out)
{
    const struct sweep_screen *x = ctx;
    return sweep_request(&x->sweep, point, out, NULL);
}

static bool point_known(void *ctx, int point, int i)
{
    const struct sweep_screen *x = ctx;
    return sweep_row(&x->sweep, point, i) != NULL;
}

static void point_take(void *ctx, int point, const struct run_rows *rows)
{
    struct sweep_screen *x = ctx;
    sweep_take(&x->sweep, point, rows);
}

static bool all_known(const struct sweep_screen *x)
{
    return measurement_cells_left(&x->measurement, &x->cells, NULL) == 0;
}

static void run(void *ctx, int arg)
{
    struct sweep_screen *x = ctx;
    (void)arg;
    if (!runs_here(x)) {
        app_message(x->app, ROLE_NORMAL, "%s",
                    x->subject.problem  ? x->subject.problem
                    : x->sweep.recorded ? "these times are recorded: there is nothing to run"
                                        : "this metric is computed: there is nothing to run");
        return;
    }
    if (x->measurement.cells)
        return;
    if (all_known(x) && !x->warned) {
        x->warned = true;
        app_message(x->app, ROLE_NORMAL,
                    "all %d points are measured; r once more measures them anew", x->sweep.npoints);
        return;
    }
    if (all_known(x)) {
        measurement_forget_cells(&x->measurement, &x->cells);
        remake(x);
    }
    while (x->computed < x->sweep.npoints)
        sweep_compute_some(x);
    if (!measurement_start_cells(&x->measurement, &x->cells))
        app_message(x->app, ROLE_WARN, "no point can run here; the cell below says why");
    sweep_tell_estimate(x);
}

static void sweep_collect(struct sweep_screen *x)
{
    if (!measurement_collect_cells(&x->measurement))
        return;
    if (!x->measurement.cells && all_known(x))
        app_message(x->app, ROLE_GOOD, "the sweep is complete; its rows are in results");
    sweep_tell_estimate(x);
    sweep_renew_cell(x);
}

/* The setup or the session changed. */
static void sweep_refresh(struct sweep_screen *x)
{
    struct str names = {0};
    measurement_stop(&x->measurement, true);
    measurement_follow_kernels(&x->measurement);
    sweep_setup_names(&x->setup, &names);
    char *first = xstrndup(str_text(&names), strcspn(str_text(&names), ","));
    subject_ask(&x->subject, first, NULL, 0);
    subject_plan(&x->subject, first);
    subject_renew_knobs(&x->subject, 0);
    remake(x);
    str_clear(&x->subject.command);
    if (x->have)
        sweep_setup_command(&x->setup, &x->sweep, &x->subject.command);
    sweep_compute_some(x);
    sweep_renew_cell(x);
    sweep_tell_estimate(x);
    free(first);
    str_free(&names);
}

/* ---- what outlives the program ---- */

static void sweep_save(void *ctx, json_t *o)
{
    const struct sweep_screen *x = ctx;
    static const char *const axis[] = {"axis", "axis2"}, *const values[] = {"values", "values2"};
    for (int i = 0; i < SWEEP_AXES; i++) {
        json_object_set_new(o, axis[i], json_string(x->setup.axis[i]));
        json_object_set_new(o, values[i], json_string(x->setup.values[i]));
    }
    json_object_set_new(o, "metric", json_string(x->setup.metric));
    json_object_set_new(o, "pane", json_integer(x->focus));
    json_object_set_new(o, "rows", measurement_save(&x->measurement));
}

static void take_text(const json_t *o, const char *member, char *to, size_t size)
{
    const char *text = json_string_value(json_object_get(o, member));
    if (text)
        snprintf(to, size, "%s", text);
}

static void sweep_restore(void *ctx, const json_t *o)
{
    struct sweep_screen *x = ctx;
    const json_int_t pane = json_integer_value(json_object_get(o, "pane"));
    take_text(o, "axis", x->setup.axis[0], sizeof x->setup.axis[0]);
    take_text(o, "axis2", x->setup.axis[1], sizeof x->setup.axis[1]);
    take_text(o, "values", x->setup.values[0], sizeof x->setup.values[0]);
    take_text(o, "values2", x->setup.values[1], sizeof x->setup.values[1]);
    take_text(o, "metric", x->setup.metric, sizeof x->setup.metric);
    measurement_restore(&x->measurement, json_object_get(o, "rows"));
    x->focus = pane >= 0 && pane < SWEEP_PANES ? (enum sweep_pane)pane : SWEEP_SETUP;
    sweep_refresh(x);
}

/* ---- keys ---- */

/* What makes no sweep is told and not taken: the figure stays. */
static void take_typed(struct sweep_screen *x, int row, const char *text)
{
    const struct sweep_setup before = x->setup;
    struct err err = ERR_INIT;
    struct sweep w;
    sweep_setup_type(&x->setup, row, text);
    const enum status st = sweep_setup_make(&x->setup, &w, &err);
    sweep_clear(&w);
    if (st) {
        x->setup = before;
        app_message(x->app, ROLE_BAD, "%s", err.text);
        return;
    }
    sweep_refresh(x);
}

static void type_done(void *ctx, const char *text)
{
    struct sweep_screen *x = ctx;
    int row = x->list.cur;
    if (row < SETUP_ROWS) {
        take_typed(x, row, text);
    } else if (!str_blank(text)) {
        char *line = knob_command(&x->subject.knobs.v[row - SETUP_ROWS], text);
        app_set(x->app, line);
        free(line);
    }
}

static void type_value(struct sweep_screen *x)
{
    const char *value, *name;
    char label[48];
    int row = x->list.cur;
    if (row < SETUP_ROWS) {
        name = sweep_setup_row(&x->setup, row, &value);
    } else {
        name = x->subject.knobs.v[row - SETUP_ROWS].name;
        value = x->subject.knobs.v[row - SETUP_ROWS].text;
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
        int at = knobs_find(&x->subject.knobs, key);
        bool param = at < 0 || x->subject.knobs.v[at].kind == KNOB_PARAM;
        str_addf(&line, "%sset %s%s%s=%s", i ? "; " : "",
                 param ? w->base.kernels[x->kernel]->name : "", param ? " " : "", key, value);
    }
    if (line.len && app_set(x->app, str_text(&line)) == ST_OK)
        app_message(x->app, ROLE_GOOD, "set; 1 shows it in Explore, u takes it back");
    str_free(&line);
}

static void change_row(struct sweep_screen *x, int dir)
{
    const int row = x->list.cur;
    if (row >= SETUP_ROWS)
        subject_turn(&x->subject, row - SETUP_ROWS, dir);
    else if (sweep_setup_step(&x->setup, row, dir))
        sweep_refresh(x);
}

static void next_kernel(void *ctx, int by)
{
    struct sweep_screen *x = ctx;
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
    else if (!list_move(&x->list, m))
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

// clang-format off
static const struct binding sweep_keys[] = {
    {.keys = {'r', TK_F5}, .does = "run", .act = run, .footer = "run", .help = "measure what is missing; goes on where it stopped"},
    {.keys = {TK_ENTER}, .does = "open", .act = open_row, .footer = "set", .help = "type the row's value; on a point: set its values everywhere"},
    {.keys = {'v'}, .does = "view", .act = next_kernel, .arg = 1, .footer = "kernel", .help = "the next kernel's map or line"},
    {.does = NULL},
};
// clang-format on

/* ---- the screen ---- */

static void *sweep_open(struct app *a)
{
    struct sweep_screen *x = xcalloc(1, sizeof *x);
    x->app = a;
    x->setup.app = a;
    x->cells = (struct cells){
        .ctx = x, .request = point_request, .known = point_known, .take = point_take};
    measurement_init(&x->measurement, a);
    subject_init(&x->subject, a);
    subject_init(&x->cell, a);
    sweep_setup_default(&x->setup);
    sweep_refresh(x);
    return x;
}

static void sweep_close(void *ctx)
{
    struct sweep_screen *x = ctx;
    measurement_stop(&x->measurement, true);
    measurement_clear(&x->measurement);
    subject_clear(&x->subject);
    subject_clear(&x->cell);
    plans_forget(x->app->session, x);
    sweep_clear(&x->sweep);
    free(x);
}

static void sweep_draw_screen(void *ctx, struct canvas *c)
{
    struct sweep_screen *x = ctx;
    sweep_draw(x, c, app_frame(x->app, c));
}

static bool changed(struct sweep_screen *x)
{
    const bool set = subject_settings_changed(&x->subject),
               edited = subject_kernels_changed(&x->subject);
    return set || edited;
}

static void sweep_update(void *ctx)
{
    struct sweep_screen *x = ctx;
    const bool compiled = subject_code_changed(&x->subject);
    if (changed(x)) {
        sweep_refresh(x);
        return;
    }
    sweep_collect(x);
    if (!compiled)
        return;
    if (x->have && !runs_here(x))
        x->computed = 0; /* the rows so far stay until they are made anew */
    sweep_renew_cell(x);
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
    bool ran = measurement_stop(&x->measurement, true);
    sweep_tell_estimate(x);
    return ran;
}

/* In the figure, the command of the cell; else that of the whole. */
static const char *const sweep_drives[] = {"sweep", NULL};

static bool sweep_claims(const struct cmd_pair *p)
{
    return !strcmp(p->key, "metric") || !strcmp(p->key, "base") || axis_is(p->value);
}

/* The kernels of the call, that of base= first: the screen's ratios are over the first. NULL: base= is none
 * of them. The caller frees it. */
static char *names_base_first(const char *names, const char *base)
{
    const size_t len = strlen(base);
    for (const char *at = names; *at; at += strcspn(at, ","), at += *at == ',') {
        const size_t label = strcspn(at, ",");
        if ((label != len && strcspn(at, ",@") != len) || strncmp(at, base, len) != 0)
            continue;
        struct str out = {0};
        str_addn(&out, at, label);
        str_addf(&out, ",%.*s%s", (int)(at - names), names, at[label] ? at + label + 1 : "");
        return str_take(&out);
    }
    return NULL;
}

static const char *pair_value(const struct cmd_call *c, const char *key)
{
    for (int i = 0; i < c->npairs; i++)
        if (!strcmp(c->pairs[i].key, key))
            return c->pairs[i].value;
    return NULL;
}

/* The kernels of the call become the marked ones. */
static enum status take_kernels(struct sweep_screen *x, const struct cmd_call *c, const char *names,
                                struct err *err)
{
    const char *base = pair_value(c, "base"), *metric = pair_value(c, "metric");
    if (!base) {
        marks_take(&x->app->marks, names);
        return ST_OK;
    }
    if (metric && strcmp(metric, "ratio") != 0)
        return err_set(err, ST_USAGE,
                       "over a base this screen shows ratios: leave out metric=, or base=");
    struct str marked = {0};
    sweep_setup_names(&x->setup, &marked);
    char *order = names_base_first(names ? names : str_text(&marked), base);
    marks_take(&x->app->marks, order);
    const enum status st =
        order ? ST_OK : err_set(err, ST_USAGE, "base=%s is not among the kernels", base);
    free(order);
    str_free(&marked);
    return st;
}

/* The axes of the command are those of the screen; one that is measured is measured. */
static void sweep_drive(void *ctx, const struct cmd_call *c, const char *names)
{
    struct sweep_screen *x = ctx;
    const struct sweep_setup was = x->setup;
    struct sweep made;
    struct err err = ERR_INIT;
    enum status st = take_kernels(x, c, names, &err);
    if (!st) {
        sweep_setup_take(&x->setup, c);
        st = sweep_setup_make(&x->setup, &made, &err);
        sweep_clear(&made);
    }
    if (st) { /* what stands there stays */
        x->setup = was;
        app_message(x->app, ROLE_BAD, "%s", err.text);
    }
    sweep_refresh(x);
    if (!st && runs_here(x))
        run(x, 0);
}

static const char *sweep_command(void *ctx)
{
    const struct sweep_screen *x = ctx;
    const char *cell = subject_command(&x->cell);
    return x->focus != SWEEP_SETUP && cell ? cell : subject_command(&x->subject);
}

static bool sweep_explain(void *ctx, struct str *out)
{
    struct sweep_screen *x = ctx;
    if (!x->cell.have_plan) {
        str_add(out, x->subject.problem ? x->subject.problem : "a measured point has no formula");
        return false;
    }
    return subject_explain(&x->cell, x->cell.plan.desc->name, out);
}

static bool line_has(const void *ctx, int i, const char *text)
{
    const struct sweep_screen *x = ctx;
    const char *value, *name = i < SETUP_ROWS ? sweep_setup_row(&x->setup, i, &value)
                                              : x->subject.knobs.v[i - SETUP_ROWS].name;
    return str_finds(name, text);
}

static bool sweep_find(void *ctx, const char *text, int dir)
{
    struct sweep_screen *x = ctx;
    int at = list_find(SETUP_ROWS + x->subject.knobs.n, x->list.cur, dir, line_has, x, text);
    if (at < 0)
        return false;
    x->list.cur = at;
    x->focus = SWEEP_SETUP;
    return true;
}

static void sweep_click(void *ctx, int px, int py)
{
    struct sweep_screen *x = ctx;
    int at = list_at(&x->list, px, py);
    if (at < 0)
        return;
    x->list.cur = at;
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
    .drives = sweep_drives,
    .claims = sweep_claims,
    .drive = sweep_drive,
    .click = sweep_click,
    .wheel = sweep_wheel,
    .save = sweep_save,
    .restore = sweep_restore,
};
