/* explore.c - the Explore screen: how fast is this kernel on this shape, is it right, and what
 * limits it?
 *
 * The plan follows each key in the same frame; measuring starts when the keys rest.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/number.h"
#include "command/ask/measure.h"
#include "command/ask/recollect.h"
#include "command/ask/request.h"
#include "kernel/kernel_whose.h"
#include "measure/origin.h"
#include "tui/app/app.h"
#include "tui/app/prompt.h"
#include "tui/screens/explore_explain.h"
#include "tui/screens/explore_kernels.h"
#include "tui/screens/explore_view.h"
#include "tui/screens/measurement.h"
#include "tui/screens/screen_util.h"
#include "tui/screens/simulation.h"
#include "tui/screens/source.h"
#include "tui/screens/subject.h"

struct explore {
    struct app *app;
    enum pane focus;
    bool projected; /* the projector was on when the screen was last drawn */
    bool drawn;     /* it was drawn, or brought back: the pane is the user's choice */
    struct screen_layout layout;

    const struct kernel *kernel, *second;
    struct subject subject;         /* both kernels, the first one's plan */
    struct measurement measurement; /* figures by kernel's name */
    struct simulation sim;    /* of the CUDA source of the kernel shown; after what is timed */
    struct sim_view sim_view; /* as drawn last */
    struct view_row shape_rows[KNOBS_MAX];
    struct kernel_rows kernels;
    int shape_cur;
    struct list shape_list, kernel_list; /* where they were drawn */
    struct recalled recalled;            /* what is recorded of the plan's kernel on its GPU */

    int64_t due_ms; /* when to measure; 0: not planned */
    int64_t sim_ms; /* the same of simulating, where nothing is timed before */
    bool sim_asked; /* by a key */
    bool watch;
    char activity[120], old_shape[256], asked[SHAPE_TEXT];
    struct chart *samples; /* of the figures shown, as drawn last; NULL: none */
};

/* ---- request, plan, rows ---- */

static struct figures *figures_of(const struct explore *e, const struct kernel *k)
{
    return measurement_find(&e->measurement, k->name);
}

/* Figures of the marked kernel beside this one, in one run and of these settings; NULL: none. */
static const struct figures *pair_of(const struct explore *e)
{
    const struct request *r = &e->subject.request;
    const struct figures *f =
        r->nkernels > 1
            ? measurement_pair(&e->measurement, r->kernels[0]->name, r->kernels[1]->name)
            : NULL;
    return figures_current(f, r, 1) ? f : NULL;
}

static void renew_recalled(struct explore *e)
{
    const struct device *gpu = kernel_rows_gpu(e->app);
    const struct request *r = &e->subject.planned;
    e->recalled = gpu && r->nkernels > 0 ? recollect(e->app->session, r, 0, gpu)
                                         : (struct recalled){.distance = INFINITY};
}

/* Follows the registry where it has changed. */
static void explore_follow_registry(struct explore *e)
{
    if (!subject_kernels_changed(&e->subject) && e->kernels.n)
        return;
    kernel_rows_follow(&e->kernels);
    if (!kernel_rows_has(&e->kernels, e->kernel))
        e->kernel = first_kernel(e->app->session->services.registry);
    if (!kernel_rows_has(&e->kernels, e->second))
        e->second = NULL;
    measurement_follow_kernels(&e->measurement);
    simulation_follow_kernels(&e->sim);
}

/* Another kernel has other parameters: the cursor stays on the name, if it is there. */
static void renew_knobs(struct explore *e)
{
    const struct knobs *knobs = &e->subject.knobs;
    const char *at = e->shape_cur < knobs->n ? knobs->v[e->shape_cur].name : "";
    char name[64];
    snprintf(name, sizeof name, "%s", at);
    subject_renew_knobs(&e->subject, 0);
    for (int i = 0; i < knobs->n; i++) {
        const struct knob *k = &knobs->v[i];
        e->shape_rows[i] = (struct view_row){.name = k->name, .changed = k->changed, .dim = k->dim};
        char *value = e->shape_rows[i].value;
        const size_t n = strnlen(k->text, sizeof e->shape_rows[i].value - 1);
        memmove(value, k->text, n); /* both lie in *e, which snprintf() may not be told */
        value[n] = 0;
    }
    int same = knobs_find(knobs, name);
    e->shape_cur = same >= 0 ? same : e->shape_cur < knobs->n ? e->shape_cur : knobs->n - 1;
}

static void explore_refresh(struct explore *e)
{
    struct subject *s = &e->subject;
    explore_follow_registry(e);
    const struct kernel *second = e->second != e->kernel ? e->second : NULL;
    char *names =
        second ? xasprintf("%s,%s", e->kernel->name, second->name) : xstrdup(e->kernel->name);
    e->app->kernel = e->kernel;
    e->app->second = second;
    subject_ask(s, names, NULL, 0);
    simulation_ask(&e->sim, simulation_has(e->kernel) ? e->kernel->name : NULL);
    subject_plan(s, e->kernel->name);
    if (subject_plan_differs(s)) {
        str_add(&s->command, s->command.len ? "; " : "");
        request_command(&s->planned, "plan", &s->command);
    }
    renew_knobs(e);
    renew_recalled(e);
    kernel_rows_renew(&e->kernels, &e->measurement, &e->sim, e->second);
    free(names);
}

enum { SETTLE_MS = 150, COMPILE_MS = 3000, GLANCE_MS = 1000 };
static const double soon_s = 2;         /* longer runs wait for `r` */
static const double default_gflops = 5; /* of a kernel that was never timed */
static const double runs_to_figure = 3; /* check, warm-up, first sample */

/* ---- measuring ---- */

/* Seconds until the first figure would be there. */
static double explore_estimate(const struct explore *e)
{
    double flops = shape_flops(&e->app->session->settings.problem.shape), s = 0;
    for (int i = 0; i < e->subject.request.nkernels; i++) {
        const struct figures *f = figures_of(e, e->subject.request.kernels[i]);
        double rate = f && f->gflops > 0 ? f->gflops : default_gflops;
        s += flops / (rate * 1e9);
    }
    return s * runs_to_figure;
}

static void describe_activity(struct explore *e)
{
    const struct job *job = measure_job(e->measurement.job);
    screen_activity(job, e->activity, sizeof e->activity);
    const size_t len = strlen(e->activity);
    if (e->watch && job && job_state(job) == JOB_TIMING)
        snprintf(e->activity + len, sizeof e->activity - len, " (watching; w stops)");
}

/* Half a figure is none: the settings have changed. True if a job ran. */
static bool explore_stop(struct explore *e)
{
    e->due_ms = e->sim_ms = 0;
    e->sim_asked = false;
    e->activity[0] = 0;
    const bool simulated = simulation_stop(&e->sim);
    return measurement_stop(&e->measurement, false) || simulated;
}

/* Can it be timed? */
static bool can_run(const struct explore *e)
{
    return e->subject.request.nkernels > 0 && !kernel_rows_untimed(&e->kernels, e->kernel);
}

static void explore_run(struct explore *e, enum job_kind kind)
{
    explore_stop(e);
    if (can_run(e)) {
        measurement_start(&e->measurement, &e->subject.request, kind);
        describe_activity(e);
    }
}

/* Times first, for a simulation beside them would bend them; then what the simulator says of the same. */
static void explore_simulate(struct explore *e)
{
    const bool wanted = !simulation_is_known(&e->sim) && simulation_is_quick(&e->sim);
    e->sim_ms = 0;
    if (e->sim_asked || wanted)
        simulation_start(&e->sim, e->sim_asked);
    e->sim_asked = false;
}

static bool known(const struct explore *e)
{
    const struct request *r = &e->subject.request;
    bool all = true;
    for (int i = 0; i < r->nkernels; i++) {
        const struct figures *f = figures_of(e, r->kernels[i]);
        all &= figures_current(f, r, i) && f->gflops > 0;
    }
    return all && (r->nkernels < 2 || pair_of(e));
}

static void schedule_times(struct explore *e)
{
    if (!can_run(e) || (known(e) && !e->watch))
        return;
    double s = explore_estimate(e);
    if (s <= soon_s)
        e->due_ms = ms_now() + SETTLE_MS;
    else
        snprintf(e->activity, sizeof e->activity, "press r to measure: about %.0f s to a figure",
                 s);
}

/* Simulates a few blocks at once; 150 ms from now measures, if that gives figures soon, and simulates the rest. */
static void explore_schedule(struct explore *e)
{
    explore_stop(e);
    measurement_set_failure(&e->measurement, NULL);
    simulation_forgive(&e->sim);
    simulation_glance(&e->sim);
    schedule_times(e);
    if (!e->due_ms)
        e->sim_ms = ms_now() + SETTLE_MS;
}

/* Takes in what the jobs have. What was asked for with its command is remembered as $last and is in the
 * store; a watch that repeats it does not and is not. */
static void collect_times(struct explore *e)
{
    struct measured m;
    const bool remember = e->measurement.kind == JOB_RUN && !e->watch;
    if (!e->measurement.job)
        return;
    if (measurement_collect(&e->measurement, remember, &m)) {
        e->watch = e->watch && (!m.status || m.status == ST_CANCELLED);
        e->activity[0] = 0;
        if (m.status != ST_CANCELLED)
            explore_simulate(e);
        measured_clear(&m);
    }
    if (e->measurement.job)
        describe_activity(e);
    else
        e->activity[0] = 0;
}

/* What stands alone is a result like any other; beside times it is not the last one. */
static void explore_collect(struct explore *e)
{
    collect_times(e);
    simulation_collect(&e->sim, !can_run(e));
    if (e->watch && !e->measurement.job && !simulation_is_running(&e->sim))
        explore_run(e, JOB_RUN);
}

/* ---- find ---- */

/* The i-th of the list, or the nearest; its plan follows, and it is measured when the keys rest. */
static void explore_select_kernel(struct explore *e, int i)
{
    i = i < 0 ? 0 : i >= e->kernels.n ? e->kernels.n - 1 : i;
    const struct kernel *k = e->kernels.n ? e->kernels.known[i] : NULL;
    if (!k || k == e->kernel)
        return;
    e->kernel = k;
    explore_refresh(e);
    explore_schedule(e);
}

static void explore_show_kernel(void *ctx, const struct kernel *k)
{
    struct explore *e = ctx;
    explore_follow_registry(e);
    e->focus = PANE_KERNELS;
    explore_select_kernel(e, kernel_rows_index(&e->kernels, k));
}

static void explore_select_setting(struct explore *e, int i)
{
    e->shape_cur = i < 0 ? 0 : i >= e->subject.knobs.n ? e->subject.knobs.n - 1 : i;
}

static bool kernel_has(const void *ctx, int i, const char *text)
{
    const struct explore *e = ctx;
    const struct kernel *k = registry_at(e->app->session->services.registry, i);
    return str_finds(k->name, text) || str_finds(e->kernels.rows[i].name, text);
}

static bool setting_has(const void *ctx, int i, const char *text)
{
    const struct explore *e = ctx;
    return str_finds(e->subject.knobs.v[i].name, text);
}

/* A kernel's name, or a row of the shape pane when that has the focus. */
static bool explore_find(void *ctx, const char *text, int dir)
{
    struct explore *e = ctx;
    int at = e->focus == PANE_SHAPE
                 ? list_find(e->subject.knobs.n, e->shape_cur, dir, setting_has, e, text)
                 : -1;
    if (at >= 0) {
        explore_select_setting(e, at);
        return true;
    }
    int cur = kernel_rows_index(&e->kernels, e->kernel);
    at = list_find(e->kernels.n, cur, dir, kernel_has, e, text);
    if (at < 0)
        return false;
    e->focus = PANE_KERNELS;
    explore_select_kernel(e, at);
    return true;
}

/* ---- what outlives the program ---- */

static void explore_save(void *ctx, json_t *o)
{
    const struct explore *e = ctx;
    json_object_set_new(o, "kernel", json_string(e->kernel->name));
    if (e->second)
        json_object_set_new(o, "marked", json_string(e->second->name));
    json_object_set_new(o, "pane", json_integer(e->focus));
    json_object_set_new(o, "row", json_integer(e->shape_cur));
    json_object_set_new(o, "machine", json_string(e->measurement.machine));
    json_object_set_new(o, "figures", measurement_save(&e->measurement));
    json_object_set_new(o, "simulated", simulation_save(&e->sim));
}

static const struct kernel *kernel_named(const struct explore *e, const json_t *o,
                                         const char *member)
{
    const char *name = json_string_value(json_object_get(o, member));
    return name ? registry_find(e->app->session->services.registry, name) : NULL;
}

static void explore_restore(void *ctx, const json_t *o)
{
    struct explore *e = ctx;
    const struct kernel *k = kernel_named(e, o, "kernel");
    const char *machine = json_string_value(json_object_get(o, "machine"));
    json_int_t pane = json_integer_value(json_object_get(o, "pane")),
               row = json_integer_value(json_object_get(o, "row"));
    measurement_restore(&e->measurement, json_object_get(o, "figures"));
    simulation_restore(&e->sim, json_object_get(o, "simulated"));
    e->kernel = k ? k : e->kernel;
    e->second = kernel_named(e, o, "marked");
    e->focus = pane >= 0 && pane < PANE_COUNT ? (enum pane)pane : PANE_SHAPE;
    e->projected = e->app->projector;
    e->drawn = true; /* the pane is the one that was left */
    if (machine)
        snprintf(e->measurement.machine, sizeof e->measurement.machine, "%s", machine);
    explore_refresh(e);
    explore_select_setting(e, row > 0 && row < 1000 ? (int)row : 0);
}

/* ---- opening ---- */

/* Rows from which the panes have room for the projector's blank lines between their figures. */
enum { ROOMY_H = 40 };

static void *explore_open(struct app *a)
{
    struct explore *e = xcalloc(1, sizeof *e);
    e->app = a;
    e->kernels.app = a;
    subject_init(&e->subject, a);
    measurement_init(&e->measurement, a);
    simulation_init(&e->sim, a);
    snprintf(e->measurement.machine, sizeof e->measurement.machine, "%s backend",
             kernel_rows_backend(e->app));
    explore_refresh(e);
    return e;
}

static void explore_close(void *ctx)
{
    struct explore *e = ctx;
    measurement_clear(&e->measurement);
    simulation_clear(&e->sim);
    subject_clear(&e->subject);
    chart_free(e->samples);
    kernel_rows_clear(&e->kernels);
    free(e);
}

/* ---- drawing ---- */

static void view_measured(struct explore *e, struct explore_view *v)
{
    const struct figures *f = figures_of(e, e->kernel), *pair = pair_of(e);
    const bool stale = f && !figures_current(f, &e->subject.request, 0);
    chart_free(e->samples);
    e->samples = f ? figures_samples(f, stale) : NULL;
    v->row = f ? &f->row : NULL;
    if (stale) {
        char shape[160];
        shape_format(&f->shape, shape, sizeof shape);
        snprintf(e->old_shape, sizeof e->old_shape, "%s%s%.80s", shape, f->params[0] ? " " : "",
                 f->params);
        v->old_shape = e->old_shape;
    }
    v->pair = pair ? &pair->row : NULL;
    v->samples = e->samples ? e->samples->model : NULL;
}

/* The run whose hazard is told; NULL: there is none. */
static const struct run_row *hazardous(const struct explore *e)
{
    const struct sim_known it = simulation_of(&e->sim, 0);
    const struct run_row *row = it.watched && it.watched->hazard ? it.watched : it.row;
    return row && row->hazard ? row : NULL;
}

static void view_simulated(struct explore *e, struct explore_view *v)
{
    const struct sim_known it = simulation_of(&e->sim, 0);
    const struct run_row *bad = hazardous(e);
    const bool waits = !simulation_is_known(&e->sim) && !simulation_is_running(&e->sim);
    e->sim_view = (struct sim_view){
        .row = it.row,
        .watched = it.watched,
        .old = it.old,
        .cannot = e->sim.cannot,
        .activity = simulation_is_running(&e->sim) ? simulation_activity(&e->sim)
                    : !waits                       ? NULL
                    : !simulation_is_quick(&e->sim)
                        ? "press r to simulate: the whole grid takes a while"
                    : e->due_ms || e->measurement.job ? "after the times"
                    : e->sim_ms                       ? "soon"
                                                      : NULL,
        .failure = simulation_failure(&e->sim),
        .line_key = bad && simulation_line(bad->hazard) ? "H" : NULL,
        .blank = e->app->blank,
        .roomy = v->roomy,
    };
    if (simulation_is_on(e->app->session) && simulation_has(e->kernel))
        v->sim = &e->sim_view;
    v->untimed = kernel_rows_untimed(&e->kernels, e->kernel);
    if (!v->sim || !v->untimed)
        return;
    v->row = it.row; /* the pane of the check is of what runs */
    v->pair = NULL;
    v->samples = NULL;
    v->origin = origin_tag(backend_simulator()->origin);
    v->machine = simulation_machine(&e->sim);
    v->old_shape = it.old && it.row->shape ? it.row->shape : NULL;
}

/* "LIVE": what the figures shown are; before there are any, what they will be. */
static const char *explore_origin(const struct explore *e)
{
    const struct figures *f = figures_of(e, e->kernel);
    return origin_tag(f && f->row.origin ? f->row.origin
                                         : backend_origin(kernel_rows_backend(e->app)));
}

static void fill_view(struct explore *e, struct explore_view *v)
{
    struct session *s = e->app->session;
    int k = kernel_rows_index(&e->kernels, e->kernel);
    const struct device *gpu = session_gpu(s, NULL, NULL);
    *v = (struct explore_view){
        .focus = e->focus,
        .machine = e->measurement.machine,
        .recalled = e->recalled.row ? &e->recalled : NULL,
        .lists_recorded = e->kernels.recorded,
        .origin = explore_origin(e),
        .shape = e->shape_rows,
        .nshape = e->subject.knobs.n,
        .shape_cur = e->shape_cur,
        .kernels = e->kernels.rows,
        .nkernels = e->kernels.n,
        .kernel_cur = k,
        .shape_list = &e->shape_list,
        .kernel_list = &e->kernel_list,
        .roomy = e->app->projector && (e->app->zoom || e->app->canvas->h >= ROOMY_H),
        .kernel = e->kernel->name,
        .whose = e->kernel->user ? whose_words[kernel_whose_is(e->kernel)] : NULL,
        .second = e->second && e->second != e->kernel ? e->second->name : NULL,
        .cannot = e->subject.problem ? e->subject.problem : e->kernels.cannot[k],
        .activity = e->activity,
        .failure = e->measurement.failure,
        .blank = e->app->blank,
        .gpu = gpu,
        .arch = gpu ? arch_find(gpu->cc) : NULL,
        .plan = e->subject.have_plan ? &e->subject.plan : NULL,
        .no_plan = e->subject.no_plan,
        .compiling = subject_is_compiling(&e->subject),
        .before = e->subject.before.blocks_per_sm != INT_UNKNOWN ? &e->subject.before : NULL,
        .before_words = e->subject.before_words,
        .why = e->subject.why.len ? str_text(&e->subject.why) : NULL,
    };
    shape_format(&s->settings.problem.shape, e->asked, sizeof e->asked);
    v->asked = e->asked;
    view_measured(e, v);
    view_simulated(e, v);
}

/* Rows of the pane beside times; 0: there is none. */
static int sim_rows(const struct explore *e)
{
    const bool beside = simulation_is_on(e->app->session) && simulation_has(e->kernel) &&
                        !kernel_rows_untimed(&e->kernels, e->kernel);
    return !beside ? 0 : SIM_VIEW_ROWS + (hazardous(e) ? 3 : 0);
}

static int smem_rows(const struct explore *e)
{
    return e->subject.have_plan && e->subject.plan.npasses > 0
               ? plan_buffers_held(&e->subject.plan.passes[e->subject.plan.main_pass])
               : 0;
}

/* On a projector one pane stands alone, and on a terminal that is small from the start: what somebody came
 * for is no list. */
static void leave_lists(struct explore *e)
{
    const struct canvas *c = e->app->canvas;
    const bool room = e->app->projector && !e->projected;
    const bool small = !e->drawn && (c->w < FULL_W || c->h < FULL_H);
    if ((room || small) && e->focus <= PANE_KERNELS)
        e->focus = PANE_TIME;
    e->projected = e->app->projector;
    e->drawn = true;
}

static bool explore_explain(void *ctx, struct str *out)
{
    struct explore_view v;
    fill_view(ctx, &v);
    return explore_explain_pane(&v, out);
}

static void explore_draw_screen(void *ctx, struct canvas *c)
{
    struct explore *e = ctx;
    struct explore_view v;
    leave_lists(e);
    if (e->focus == PANE_SIM && !sim_rows(e))
        e->focus = PANE_TIME;
    struct layout_wish wish = {.nshape = e->subject.knobs.n,
                               .nkernels = e->kernels.n,
                               .nsmem = smem_rows(e),
                               .nsim = sim_rows(e),
                               .pair = e->second && e->second != e->kernel,
                               .focus = e->focus,
                               .zoom = e->app->zoom,
                               .projector = e->app->projector};
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
        set(e, knob_command(&e->subject.knobs.v[e->shape_cur], text));
}

static void edit_value(struct explore *e)
{
    const struct knob *k = &e->subject.knobs.v[e->shape_cur];
    const char *now = e->shape_rows[e->shape_cur].value;
    char label[32];
    snprintf(label, sizeof label, "%.20s = ", k->name);
    prompt_open(e->app->session, label, strcmp(now, "-") ? now : "", false, edit_done, e);
    prompt_select();
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
    if (e->watch && !e->measurement.job)
        explore_run(e, JOB_RUN);
}

/* As the command says it, bars and all; `e` exports them. */
static void why(void *ctx, int arg)
{
    struct explore *e = ctx;
    (void)arg;
    if (e->second && e->second != e->kernel)
        screen_why(e->app, e->kernel->name, e->second->name);
    else
        app_message(e->app, ROLE_NORMAL,
                    "Space marks a kernel; on another one W says in what they differ");
}

static void run(void *ctx, int kind)
{
    struct explore *e = ctx;
    int k = kernel_rows_index(&e->kernels, e->kernel);
    if (e->kernels.cannot[k] || (e->subject.problem && !e->sim.request.nkernels)) {
        app_message(e->app, ROLE_WARN, "%s",
                    e->subject.problem ? e->subject.problem : e->kernels.cannot[k]);
        return;
    }
    explore_run(e, (enum job_kind)kind);
    e->sim_asked = true;
    if (!e->measurement.job)
        explore_simulate(e);
}

/* Where the first hazard is, in its source. */
static void show_hazard(void *ctx, int arg)
{
    struct explore *e = ctx;
    const struct run_row *row = hazardous(e);
    const int line = row ? simulation_line(row->hazard) : 0;
    (void)arg;
    if (line)
        source_show_line(e->app, e->kernel, line);
    else
        app_message(e->app, ROLE_NORMAL, row ? "its line is not known" : "no hazard is shown here");
}

static void change(struct explore *e, int dir)
{
    if (e->focus != PANE_SHAPE)
        e->focus = PANE_SHAPE; /* left and right always mean a value */
    else
        subject_turn(&e->subject, e->shape_cur, dir);
}

static void explore_move(void *ctx, enum move m)
{
    struct explore *e = ctx;
    const bool kernels = e->focus == PANE_KERNELS;
    int at = kernels ? kernel_rows_index(&e->kernels, e->kernel) : e->shape_cur;
    if (!move_row(m, kernels ? e->kernels.n : e->subject.knobs.n, e->layout.pane[e->focus].h, &at))
        change(e, m == MOVE_LEFT ? -1 : 1);
    else if (kernels)
        explore_select_kernel(e, at);
    else
        explore_select_setting(e, at);
}

/* ---- mouse ---- */

/* A press chooses pane and row. */
static void explore_click(void *ctx, int x, int y)
{
    struct explore *e = ctx;
    const enum pane p = layout_pane_at(&e->layout, x, y);
    int row;
    if (p == PANE_COUNT)
        return;
    e->focus = p;
    if (p == PANE_SHAPE && (row = list_at(&e->shape_list, x, y)) >= 0)
        explore_select_setting(e, row);
    if (p == PANE_KERNELS && (row = list_at(&e->kernel_list, x, y)) >= 0)
        explore_select_kernel(e, row);
}

/* The wheel changes the value of the row under it in the shape pane, and moves in the others. */
static void explore_wheel(void *ctx, int x, int y, int by)
{
    struct explore *e = ctx;
    const enum pane p = layout_pane_at(&e->layout, x, y);
    const int row = list_at(&e->shape_list, x, y);
    if (p == PANE_KERNELS) {
        explore_select_kernel(e, kernel_rows_index(&e->kernels, e->kernel) + by);
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
    const struct request *r =
        e->subject.planned.nkernels > 0 ? &e->subject.planned : &e->subject.request;
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
    {.keys = {'W'}, .does = "why", .act = why, .help = "in what this kernel and the marked one differ"},
    {.keys = {'H'}, .does = "hazard", .act = show_hazard, .help = "the source line of a simulated hazard"},
    {.keys = {'w'}, .does = "watch", .act = watch, .help = "keep measuring until pressed again"},
    {.does = NULL},
};
// clang-format on

/* ---- events ---- */

static void explore_update(void *ctx)
{
    struct explore *e = ctx;
    const bool edited =
        e->subject.generation != registry_generation(e->app->session->services.registry) &&
        e->kernel->user;
    bool changed = subject_settings_changed(&e->subject);
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
    if (subject_settings_changed(&e->subject))
        explore_refresh(e);
    explore_schedule(e);
}

/* A compiler beside it would disturb the measurement, which therefore waits for a while until the plan is
 * known. When it may begin; 0: not planned. */
static int64_t begin_ms(const struct explore *e)
{
    return e->due_ms && subject_is_compiling(&e->subject) ? e->due_ms + COMPILE_MS : e->due_ms;
}

/* When what is planned begins: behind the glance, each of which would disturb the other, unless that takes long. 0: nothing is
 * planned. */
static int64_t planned_ms(const struct explore *e)
{
    const int64_t at = e->due_ms ? begin_ms(e) : e->sim_ms;
    return at && simulation_glances(&e->sim) ? at + GLANCE_MS : at;
}

static int explore_timeout_ms(void *ctx)
{
    const struct explore *e = ctx;
    const int64_t at = planned_ms(e);
    if (at == 0)
        return -1;
    int64_t left = at - ms_now();
    return left > 0 ? (int)left : 0;
}

static void explore_tick(void *ctx)
{
    struct explore *e = ctx;
    const int64_t at = planned_ms(e);
    if (!at || ms_now() < at)
        return;
    if (e->due_ms)
        explore_run(e, JOB_RUN);
    else
        explore_simulate(e);
    e->app->dirty = true;
}

static bool explore_cancel(void *ctx)
{
    struct explore *e = ctx;
    const bool planned = e->due_ms != 0 || (e->sim_ms && !simulation_is_known(&e->sim));
    e->watch = false;
    return explore_stop(e) || planned;
}

static const char *explore_command(void *ctx)
{
    const struct explore *e = ctx;
    return subject_command(&e->subject);
}

static bool explore_is_old(void *ctx, const struct row *row)
{
    const struct explore *e = ctx;
    return measurement_is_old(&e->measurement, row) || simulation_is_old(&e->sim, row);
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
    .show_kernel = explore_show_kernel,
    .click = explore_click,
    .wheel = explore_wheel,
    .is_old = explore_is_old,
    .save = explore_save,
    .restore = explore_restore,
};
