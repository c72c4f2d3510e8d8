/* compare.c - the Compare screen: which kernel is faster, how sure is it, and what differs?
 *
 * What is marked takes part; the baseline stands first in every run and the kernels take turns.
 * Figures stay until the next run, dimmed when the settings are no longer theirs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "command/ask/measure.h"
#include "command/ask/predicted.h"
#include "command/ask/recollect.h"
#include "command/ask/request.h"
#include "tui/app/app.h"
#include "tui/app/prompt.h"
#include "tui/screens/compare_counters.h"
#include "tui/screens/compare_view.h"
#include "tui/screens/contender.h"
#include "tui/screens/measurement.h"
#include "tui/screens/screen_util.h"
#include "tui/screens/simulation.h"
#include "tui/screens/subject.h"

struct compare {
    struct app *app;
    struct contender *rows;
    struct compare_row *view; /* as rows, in the same order */
    int n;
    struct list list;
    char *at, *base, *left; /* labels: cursor, baseline, pair's left side (NULL: baseline) */
    enum compare_pane focus;
    enum compare_sort sort;
    bool reverse;
    struct subject subject;         /* all that take part; knobs of the kernel at the cursor */
    struct measurement measurement; /* figures by label */
    struct simulation sim;          /* of those that take part, after their times */
    int64_t more;                   /* samples asked for by `m`; 0: the session's rule */
    int counter;                    /* the chosen one, by compare_counter_at() */
    bool counts, chose;             /* counters in the place of quartiles; a key said so */
    bool timed;                     /* the last run had something to time */
};

/* ---- rows ---- */

static void compare_clear_rows(struct compare *x)
{
    for (int i = 0; i < x->n; i++)
        contender_clear(&x->rows[i]);
    free(x->rows);
    free(x->view);
    x->rows = NULL;
    x->view = NULL;
    x->n = 0;
}

static void add_row(struct compare *x, const char *label, bool in)
{
    for (int i = 0; i < x->n; i++)
        if (strcmp(x->rows[i].label, label) == 0)
            return;
    x->rows = xrealloc(x->rows, (size_t)(x->n + 1) * sizeof *x->rows);
    x->rows[x->n++] = (struct contender){.label = xstrdup(label), .in = in};
}

static bool can_run(struct compare *x, const char *label)
{
    struct request r;
    if (request_of(x->app->session, label, NULL, 0, &r, NULL) != ST_OK)
        return false;
    bool can = !measure_refuses(&r, 0, NULL);
    request_clear(&r);
    return can;
}

static const char *step_before(const struct kernel *k)
{
    const struct kernel_desc *d = k ? kernel_main(k) : NULL;
    return d ? d->after : NULL;
}

/* Nothing marked: what Explore shows, beside the nearest earlier step of the ladder that runs
 * here. */
static void add_default(struct compare *x)
{
    const struct registry *reg = x->app->session->services.registry;
    const char *name = step_before(x->app->kernel);
    for (int i = 0; name && i < registry_count(reg) && !can_run(x, name); i++)
        name = step_before(registry_find(reg, name));
    if (name && can_run(x, name))
        add_row(x, name, true);
    if (x->app->kernel)
        add_row(x, x->app->kernel->name, true);
}

static void list_rows(struct compare *x)
{
    const struct registry *r = x->app->session->services.registry;
    const struct marks *m = &x->app->marks;
    for (int i = 0; i < m->n; i++)
        add_row(x, m->v[i], true);
    if (m->n == 0)
        add_default(x);
    else if (m->n == 1 && x->app->kernel)
        add_row(x, x->app->kernel->name, true);
    for (int i = 0; i < registry_count(r); i++)
        add_row(x, registry_at(r, i)->name, false);
}

/* The baseline's label; NULL: nothing can run. */
static const char *compare_base(const struct compare *x)
{
    for (int i = 0; x->base && i < x->n; i++)
        if (x->rows[i].in && strcmp(x->rows[i].label, x->base) == 0)
            return x->base;
    for (int untimed = 0; untimed < 2; untimed++) /* ratios of times need one that has them */
        for (int i = 0; i < x->n; i++)
            if (x->rows[i].in && !x->rows[i].cannot && !x->rows[i].untimed == !untimed)
                return x->rows[i].label;
    return NULL;
}

/* ---- the request ---- */

/* All that take part and can run, the baseline first; of those for which `has` is true (NULL: all). */
static void list_names(const struct compare *x, bool (*has)(const struct contender *k),
                       struct str *names)
{
    const char *base = compare_base(x);
    for (int pass = 0; pass < 2 && base; pass++)
        for (int i = 0; i < x->n; i++) {
            const struct contender *k = &x->rows[i];
            if (k->in && !k->cannot && (!has || has(k)) &&
                (strcmp(k->label, base) == 0) == (pass == 0))
                str_addf(names, "%s%s", names->len ? "," : "", k->label);
        }
}

static void compare_renew_request(struct compare *x)
{
    struct subject *s = &x->subject;
    struct str names = {0}, simulated = {0};
    list_names(x, NULL, &names);
    list_names(x, contender_is_simulated, &simulated);
    simulation_ask(&x->sim, simulated.len ? str_text(&simulated) : NULL);
    if (names.len == 0) {
        subject_refuse(s, "nothing that takes part can run here; Space takes a kernel in");
    } else {
        subject_ask(s, str_text(&names), NULL, 0);
        if (x->more && !s->problem)
            subject_set_samples(s, x->more);
    }
    str_free(&names);
    str_free(&simulated);
}

/* ---- what is shown ---- */

static double peak_of(const struct compare *x, const struct run_row *row)
{
    const struct device *d;
    if (!row || !row->device || !backend_is_gpu(row->backend) ||
        devices_get(x->app->session->services.devices, row->device, &d, NULL) != ST_OK)
        return NAN;
    return d->tflops[x->app->session->settings.problem.shape.dtype];
}

static struct compare_row view_row(struct compare *x, const struct contender *k, const char *base)
{
    const struct figures *f =
        k->in && !k->untimed ? measurement_find(&x->measurement, k->label) : NULL;
    const struct sim_known sim = simulation_of(&x->sim, simulation_entry(&x->sim, k->label));
    return (struct compare_row){
        .label = k->label,
        .in = k->in,
        .base = base && strcmp(k->label, base) == 0,
        .left = x->left && strcmp(k->label, x->left) == 0,
        .cannot = k->cannot,
        .untimed = k->untimed,
        .sim = k->in ? sim.row : NULL,
        .sim_old = sim.old,
        .sim_cannot = k->sim_cannot,
        .counter = sim.old ? NAN : compare_counter_value(sim.row, compare_counter_at(x->counter)),
        .row = f ? &f->row : NULL,
        .old = f && !figures_current(f, &k->request, 0),
        .peak_tflops = peak_of(x, f ? &f->row : NULL),
        .recalled = k->recalled,
    };
}

static struct contender *contender_of(struct compare *x, const char *label)
{
    for (int i = 0; label && i < x->n; i++)
        if (strcmp(x->rows[i].label, label) == 0)
            return &x->rows[i];
    return NULL;
}

static void show_plan(struct compare *x, struct compare_row *row)
{
    struct contender *k = contender_of(x, row->label);
    const struct subject *s = k ? contender_about(x->app, k) : NULL;
    row->plan = s && s->have_plan ? &s->plan : NULL;
    row->no_plan = s ? s->no_plan : NULL;
}

static void show_plans(struct compare *x)
{
    for (int i = 0; i < x->n; i++)
        if (i == x->list.cur || x->view[i].left || x->view[i].base)
            show_plan(x, &x->view[i]);
}

/* Stable, and few rows. */
static void sort_view(struct compare *x)
{
    const bool hidden = x->app->blank && x->sort != SORT_NAME;
    const int by = hidden ? (int)SORT_NONE : (int)x->sort;
    for (int i = 1; i < x->n; i++) {
        struct compare_row row = x->view[i];
        int to = i;
        for (; to > 0 && compare_order(&row, &x->view[to - 1], by, x->reverse) < 0; to--)
            x->view[to] = x->view[to - 1];
        x->view[to] = row;
    }
}

/* The order and the figures; the cursor stays on its kernel. */
static void compare_renew_view(struct compare *x)
{
    const char *base = compare_base(x);
    x->view = xrealloc(x->view, (size_t)(x->n + 1) * sizeof *x->view);
    for (int i = 0; i < x->n; i++)
        x->view[i] = view_row(x, &x->rows[i], base);
    sort_view(x);
    x->list.n = x->n;
    for (int i = 0; x->at && i < x->n; i++) /* the cursor stays on its kernel */
        if (strcmp(x->view[i].label, x->at) == 0)
            x->list.cur = i;
    show_plans(x);
}

static const struct compare_row *compare_current(const struct compare *x)
{
    return x->n > 0 && x->list.cur < x->n ? &x->view[x->list.cur] : NULL;
}

/* A copy of `text` (may be NULL, may be part of what was there) in place of what was there. */
static void compare_replace(char **slot, const char *text)
{
    char *copy = text ? xstrdup(text) : NULL;
    free(*slot);
    *slot = copy;
}

/* Parameters are those of the kernel at the cursor. */
static void compare_renew_knobs(struct compare *x)
{
    const struct compare_row *row = compare_current(x);
    struct contender *k = row ? contender_of(x, row->label) : NULL;
    if (k)
        x->subject.knobs = contender_about(x->app, k)->knobs;
    else
        subject_renew_knobs(&x->subject, 0);
}

/* Everything anew: marks, settings or kernels changed. */
static void compare_refresh(struct compare *x)
{
    compare_clear_rows(x);
    list_rows(x);
    for (int i = 0; i < x->n; i++)
        contender_judge(x->app, &x->rows[i]);
    compare_renew_request(x);
    compare_renew_view(x);
    compare_renew_knobs(x);
}

/* ---- measuring ---- */

/* What runs is what the settings are now; false: nothing can be timed. */
static bool start_times(struct compare *x)
{
    struct str names = {0};
    struct request r;
    list_names(x, contender_is_timed, &names);
    const bool any =
        names.len && request_of(x->app->session, str_text(&names), NULL, 0, &r, NULL) == ST_OK;
    if (any) {
        r.options.rule.n = x->more ? x->more : r.options.rule.n;
        measurement_start(&x->measurement, &r, JOB_RUN);
        request_clear(&r);
    }
    str_free(&names);
    return any;
}

static void compare_simulate(struct compare *x)
{
    if (x->sim.request.nkernels)
        simulation_start(&x->sim, !simulation_is_quick(&x->sim));
}

static void compare_start(struct compare *x)
{
    measurement_stop(&x->measurement, true);
    simulation_stop(&x->sim);
    if (x->subject.problem) {
        app_message(x->app, ROLE_WARN, "%s", x->subject.problem);
        return;
    }
    simulation_forgive(&x->sim);
    x->timed = start_times(x);
    if (!x->timed) /* else it follows, for it would bend the times */
        compare_simulate(x);
    compare_refresh(x);
}

static void compare_collect(struct compare *x)
{
    struct measured m;
    simulation_collect(&x->sim, !x->timed);
    if (!measurement_collect(&x->measurement, true, &m))
        return;
    if (x->measurement.failure)
        measurement_set_failure(&x->measurement, "the run failed; ! has the log");
    if (m.status != ST_CANCELLED)
        compare_simulate(x);
    measured_clear(&m);
}

/* ---- what outlives the program ---- */

static void compare_save(void *ctx, json_t *o)
{
    const struct compare *x = ctx;
    json_t *marks = json_array();
    for (int i = 0; i < x->app->marks.n; i++)
        json_array_append_new(marks, json_string(x->app->marks.v[i]));
    json_object_set_new(o, "marks", marks);
    json_object_set_new(o, "rows", measurement_save(&x->measurement));
    json_object_set_new(o, "simulated", simulation_save(&x->sim));
    json_object_set_new(o, "counter", json_string(compare_counter_at(x->counter)->field));
    if (x->chose)
        json_object_set_new(o, "counts", json_boolean(x->counts));
    if (x->base)
        json_object_set_new(o, "base", json_string(x->base));
    if (x->at)
        json_object_set_new(o, "cursor", json_string(x->at));
    json_object_set_new(o, "pane", json_integer(x->focus));
    json_object_set_new(o, "sort", json_string(compare_sort_names[x->sort]));
    json_object_set_new(o, "reverse", json_boolean(x->reverse));
}

static void compare_restore(void *ctx, const json_t *o)
{
    struct compare *x = ctx;
    const char *sort = json_string_value(json_object_get(o, "sort"));
    const json_int_t pane = json_integer_value(json_object_get(o, "pane"));
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(o, "marks"), i, one)
    {
        struct request r;
        const char *label = json_string_value(one);
        if (!label || request_of(x->app->session, label, NULL, REQUEST_PLAN, &r, NULL) != ST_OK)
            continue; /* a kernel that is no longer there */
        request_clear(&r);
        marks_add(&x->app->marks, label);
    }
    measurement_restore(&x->measurement, json_object_get(o, "rows"));
    simulation_restore(&x->sim, json_object_get(o, "simulated"));
    const char *counter = json_string_value(json_object_get(o, "counter"));
    const int at = counter ? compare_counter_index(counter) : -1;
    x->counter = at >= 0 ? at : x->counter;
    x->chose = json_is_boolean(json_object_get(o, "counts"));
    x->counts = json_is_true(json_object_get(o, "counts"));
    compare_replace(&x->base, json_string_value(json_object_get(o, "base")));
    compare_replace(&x->at, json_string_value(json_object_get(o, "cursor")));
    x->focus = pane >= 0 && pane < COMPARE_PANES ? (enum compare_pane)pane : COMPARE_RANKING;
    x->reverse = json_is_true(json_object_get(o, "reverse"));
    for (int s = 0; sort && s < SORT_COUNT; s++)
        if (strcmp(sort, compare_sort_names[s]) == 0)
            x->sort = (enum compare_sort)s;
    compare_refresh(x);
}

/* ---- keys ---- */

static void remember_cursor(struct compare *x)
{
    const struct compare_row *row = compare_current(x);
    if (row)
        compare_replace(&x->at, row->label);
    compare_renew_view(x);
    compare_renew_knobs(x);
}

/* What takes part by default becomes marks as soon as one changes. */
static void settle_marks(struct compare *x)
{
    for (int i = 0; i < x->n; i++)
        if (x->rows[i].in)
            marks_add(&x->app->marks, x->rows[i].label);
}

static void mark(void *ctx, int arg)
{
    struct compare *x = ctx;
    const struct compare_row *row = compare_current(x);
    (void)arg;
    if (!row)
        return;
    char *label = xstrdup(row->label);
    settle_marks(x);
    int i = marks_find(&x->app->marks, label);
    if (i >= 0)
        marks_remove(&x->app->marks, i);
    else if (!marks_add(&x->app->marks, label))
        app_message(x->app, ROLE_WARN, "%d entries take part; there is no room for more",
                    MARKS_MAX);
    compare_refresh(x);
    free(label);
}

static void baseline(void *ctx, int arg)
{
    struct compare *x = ctx;
    const struct compare_row *row = compare_current(x);
    (void)arg;
    if (!row)
        return;
    if (!row->in || row->cannot) {
        app_message(x->app, ROLE_WARN, "%s: %s", row->label,
                    row->cannot ? row->cannot : "Space takes it in first");
        return;
    }
    compare_replace(&x->base, row->label);
    app_message(x->app, ROLE_NORMAL, "%s is the baseline; r runs all against it", x->base);
    compare_refresh(x);
}

static void open_pair(void *ctx, int arg)
{
    struct compare *x = ctx;
    const struct compare_row *row = compare_current(x);
    bool same = row && x->left && strcmp(x->left, row->label) == 0;
    (void)arg;
    compare_replace(&x->left, row && !same ? row->label : NULL);
    if (row)
        app_message(x->app, ROLE_NORMAL,
                    same ? "the pair is against the baseline again"
                         : "%s is the pair's left side: move to the other",
                    row->label);
    compare_renew_view(x);
}

static void variant_done(void *ctx, const char *text)
{
    struct compare *x = ctx;
    struct err err = ERR_INIT;
    struct request r;
    if (str_blank(text))
        return;
    if (request_of(x->app->session, text, NULL, REQUEST_PLAN, &r, &err) != ST_OK) {
        struct err other = ERR_INIT; /* perhaps only the CPU kernel has such a parameter */
        if (request_of(x->app->session, text, NULL, 0, &r, &other) != ST_OK) {
            app_message(x->app, ROLE_BAD, "%s", err.text);
            return;
        }
    }
    request_clear(&r);
    settle_marks(x);
    marks_add(&x->app->marks, text);
    compare_replace(&x->at, text);
    compare_refresh(x);
}

/* The kernel at the cursor once more, with parameters of its own. */
static void variant(void *ctx, int arg)
{
    struct compare *x = ctx;
    const struct compare_row *row = compare_current(x);
    (void)arg;
    if (!row)
        return;
    char *initial = strchr(row->label, '@') ? xstrdup(row->label) : xasprintf("%s@", row->label);
    prompt_open(x->app->session, "take in: ", initial, false, variant_done, x);
    free(initial);
}

/* As many as `set n=` takes. */
enum { MORE_MAX = 1000000 };

static void more(void *ctx, int arg)
{
    struct compare *x = ctx;
    const char *base = compare_base(x);
    const struct figures *f = base ? measurement_find(&x->measurement, base) : NULL;
    (void)arg;
    int64_t n = f && f->row.n > 0 ? f->row.n : 50;
    n = x->more > n ? x->more : n;
    x->more = n < MORE_MAX / 2 ? 2 * n : MORE_MAX;
    compare_renew_request(x);
    compare_start(x);
    app_message(x->app, ROLE_NORMAL, "n=%lld samples each", (long long)x->more);
}

/* A parameter after @ is the entry's own; everything else is the session's. */
static char *own_value(const struct compare_row *row, const struct knob *k, const char *value)
{
    char *mark = xasprintf("@%s=", k->name), *result = NULL;
    const char *at = row && k->kind == KNOB_PARAM ? strstr(row->label, mark) : NULL;
    if (at) {
        const char *rest = strchr(at + 1, '@');
        result = xasprintf("%.*s%s%s%s", (int)(at - row->label), row->label, mark, value,
                           rest ? rest : "");
    }
    free(mark);
    return result;
}

static void rename_entry(struct compare *x, const char *label)
{
    settle_marks(x);
    int i = x->at ? marks_find(&x->app->marks, x->at) : -1;
    if (i >= 0)
        marks_rename(&x->app->marks, i, label);
    if (x->base && x->at && strcmp(x->base, x->at) == 0)
        compare_replace(&x->base, label);
    compare_replace(&x->at, label);
    compare_refresh(x);
}

static void turn_knob(struct compare *x, int dir)
{
    const struct subject *s = &x->subject;
    const struct knob *k = &s->knobs.v[subject_knob(s)];
    char *value = knob_step(x->app->session, k, dir, NULL);
    char *label = value ? own_value(compare_current(x), k, value) : NULL;
    remember_cursor(x);
    if (label)
        rename_entry(x, label);
    else
        subject_turn(&x->subject, subject_knob(s), dir);
    free(label);
    free(value);
}

static void sort(void *ctx, int arg)
{
    struct compare *x = ctx;
    (void)arg;
    x->sort = (enum compare_sort)((x->sort + 1) % SORT_COUNT);
    compare_renew_view(x);
}

static void take_counter(void *ctx, int counter)
{
    struct compare *x = ctx;
    x->counter = counter;
    x->sort = SORT_COUNTER;
    x->counts = x->chose = true;
    compare_renew_view(x);
}

static void choose_counter(void *ctx, int arg)
{
    struct compare *x = ctx;
    (void)arg;
    compare_counter_choose(x->app->session, take_counter, x);
}

/* Counters stand there by themselves where there are no times to draw. */
static bool shows_counts(const struct compare *x)
{
    bool untimed = false, timed = false;
    for (int i = 0; i < x->n; i++) {
        untimed |= x->rows[i].in && x->rows[i].untimed;
        timed |= x->rows[i].in && !x->rows[i].untimed;
    }
    return x->chose ? x->counts : untimed && !timed;
}

static void toggle_counts(void *ctx, int arg)
{
    struct compare *x = ctx;
    (void)arg;
    x->counts = !shows_counts(x);
    x->chose = true;
    if (x->counts && !simulation_is_on(x->app->session))
        app_message(x->app, ROLE_DIM, "backend=sim counts; profile counts on a GPU");
}

static void sort_reverse(void *ctx, int arg)
{
    struct compare *x = ctx;
    (void)arg;
    x->reverse = !x->reverse;
    compare_renew_view(x);
}

static void run(void *ctx, int arg)
{
    (void)arg;
    compare_start(ctx);
}

static void compare_move(void *ctx, enum move m)
{
    struct compare *x = ctx;
    if (m == MOVE_LEFT || m == MOVE_RIGHT)
        turn_knob(x, m == MOVE_LEFT ? -1 : 1);
    else if (x->focus == COMPARE_STRIP && (m == MOVE_UP || m == MOVE_DOWN))
        subject_choose_knob(&x->subject, m == MOVE_UP ? -1 : 1);
    else if (list_move(&x->list, m))
        remember_cursor(x);
}

static void compare_focus(void *ctx, int by)
{
    struct compare *x = ctx;
    x->focus = (enum compare_pane)((x->focus + COMPARE_PANES + by) % COMPARE_PANES);
}

static void compare_back(void *ctx)
{
    struct compare *x = ctx;
    x->focus = COMPARE_RANKING;
    compare_replace(&x->left, NULL);
    compare_renew_view(x);
}

/* Of the pair below. */
static void why(void *ctx, int arg)
{
    struct compare *x = ctx;
    const struct compare_row *right = compare_current(x);
    const char *left = x->left ? x->left : compare_base(x);
    (void)arg;
    if (left && right && strcmp(left, right->label) != 0)
        screen_why(x->app, left, right->label);
    else
        app_message(x->app, ROLE_NORMAL,
                    "this is the pair's left side: W on another row says in what they differ");
}

// clang-format off
static const struct binding compare_keys[] = {
    {.keys = {'r', TK_F5}, .does = "run", .act = run, .footer = "run", .help = "measure all that take part, in turn"},
    {.keys = {' '}, .does = "mark", .act = mark, .footer = "mark", .help = "take this kernel in, or leave it out"},
    {.keys = {'b'}, .does = "baseline", .act = baseline, .footer = "baseline", .help = "this one is what the others are compared with"},
    {.keys = {TK_ENTER}, .does = "open", .act = open_pair, .footer = "pair", .help = "this one is the pair's left side; once more: the baseline is"},
    {.keys = {'W'}, .does = "why", .act = why, .help = "in what the pair differs: registers, SMEM, blocks, waves, bytes"},
    {.keys = {'m'}, .does = "more", .act = more, .footer = "more runs", .help = "twice as many samples"},
    {.keys = {'v'}, .does = "view", .act = variant, .footer = "variant", .help = "the same kernel again, with parameters of its own: fa2@BR=32"},
    {.keys = {'c'}, .does = "counters", .act = toggle_counts, .help = "counts of the CUDA source, or the quartiles"},
    {.keys = {'C'}, .does = "counter", .act = choose_counter, .help = "the counter that stands first and orders"},
    {.keys = {'s'}, .does = "sort", .act = sort, .footer = "sort", .help = "next column to sort by"},
    {.keys = {'S'}, .does = "sort-reverse", .act = sort_reverse, .help = "the other way round"},
    {.does = NULL},
};
// clang-format on

/* ---- the screen ---- */

static void *compare_open(struct app *a)
{
    struct compare *x = xcalloc(1, sizeof *x);
    x->app = a;
    subject_init(&x->subject, a);
    measurement_init(&x->measurement, a);
    simulation_init(&x->sim, a);
    x->counter = compare_counter_index("warp_instructions");
    compare_replace(&x->at, a->kernel ? a->kernel->name : NULL);
    compare_refresh(x);
    return x;
}

static void compare_close(void *ctx)
{
    struct compare *x = ctx;
    measurement_stop(&x->measurement, true);
    measurement_clear(&x->measurement);
    simulation_clear(&x->sim);
    subject_clear(&x->subject);
    compare_clear_rows(x);
    free(x->at);
    free(x->base);
    free(x->left);
    free(x);
}

static void compare_draw_screen(void *ctx, struct canvas *c)
{
    struct compare *x = ctx;
    struct rect r = app_frame(x->app, c);
    const struct device *gpu = session_gpu(x->app->session, NULL, NULL);
    struct compare_view v = {
        .rows = x->view,
        .n = x->n,
        .list = &x->list,
        .focus = x->focus,
        .one_pane = app_one_pane(x->app, c),
        .blank = x->app->blank,
        .knobs = &x->subject.knobs,
        .knob = subject_knob(&x->subject),
        .machine = x->measurement.machine,
        .origin = backend_origin(x->app->session->settings.options.backend),
        .activity = x->measurement.activity,
        .failure = x->measurement.failure,
        .gpu = gpu ? gpu->name : NULL,
        .counts = shows_counts(x),
        .counter = compare_counter_at(x->counter),
        .apart = predicted_calibration(x->app->session, gpu ? gpu->name : NULL, NULL)->apart,
        .sim_state = simulation_failure(&x->sim) ? simulation_failure(&x->sim)
                                                 : simulation_activity(&x->sim),
        .sort = x->sort,
        .reverse = x->reverse};
    compare_draw(c, r, &v);
}

/* The plans anew, with registers that were not known. */
static void renew_plans(struct compare *x)
{
    for (int i = 0; i < x->n; i++)
        if (x->rows[i].about)
            subject_plan(x->rows[i].about, x->rows[i].label);
    simulation_predict(&x->sim);
    compare_renew_view(x);
}

static void compare_update(void *ctx)
{
    struct compare *x = ctx;
    const bool set = subject_settings_changed(&x->subject),
               edited = subject_kernels_changed(&x->subject),
               compiled = subject_code_changed(&x->subject);
    compare_collect(x);
    if (edited) {
        measurement_follow_kernels(&x->measurement);
        simulation_follow_kernels(&x->sim);
    }
    if (set || edited)
        compare_refresh(x);
    else if (compiled)
        renew_plans(x);
    else
        compare_renew_view(x);
}

static void compare_shown(void *ctx)
{
    struct compare *x = ctx;
    (void)subject_settings_changed(&x->subject);
    compare_refresh(x); /* marks may have changed */
}

static bool compare_cancel(void *ctx)
{
    struct compare *x = ctx;
    const bool simulated = simulation_stop(&x->sim);
    return measurement_stop(&x->measurement, true) || simulated;
}

static const char *const compare_drives[] = {"compare", NULL};

static bool compare_claims(const struct cmd_pair *p)
{
    return !strcmp(p->key, "base");
}

static void compare_drive(void *ctx, const struct cmd_call *c, const char *names)
{
    struct compare *x = ctx;
    marks_take(&x->app->marks, names);
    if (names)
        compare_replace(&x->base, NULL); /* the first one, unless it is said */
    for (int i = 0; i < c->npairs; i++)
        if (compare_claims(&c->pairs[i]))
            compare_replace(&x->base, c->pairs[i].value);
    compare_refresh(x);
    compare_start(x);
}

static const char *compare_command(void *ctx)
{
    const struct compare *x = ctx;
    return subject_command(&x->subject);
}

static bool compare_explain(void *ctx, struct str *out)
{
    struct compare *x = ctx;
    const struct compare_row *row = compare_current(x);
    str_add(
        out,
        "The comparison:\n"
        "  The kernels take turns, A B A B, so that a change of clock or load meets all of them. "
        "ratio is the median of time over the baseline's time in the same round, with its 95 % "
        "bootstrap interval: below 0.99 FASTER, above 1.01 SLOWER, within both SAME, else "
        "AMBIGUOUS, "
        "and then there is no winner. A kernel that fails its check is not ranked. speedup = 1 / "
        "ratio; without a paired run the baseline's median / median.\n"
        "  % peak: of the device's peak for the dtype; unknown for a CPU.\n"
        "  Without a GPU the CUDA sources are simulated after the times (SIM). c shows the counts, "
        "C "
        "chooses one: x is its ratio to the baseline's. Fewer instructions or wavefronts are not a "
        "shorter time; no verdict comes of them.\n\n");
    if (!row || !row->plan)
        return true;
    screen_explain_plan(row->plan, row->label, out);
    return true;
}

static bool line_has(const void *ctx, int i, const char *text)
{
    const struct compare *x = ctx;
    return str_finds(x->view[i].label, text);
}

static bool compare_find(void *ctx, const char *text, int dir)
{
    struct compare *x = ctx;
    int at = list_find(x->n, x->list.cur, dir, line_has, x, text);
    if (at < 0)
        return false;
    x->list.cur = at;
    x->focus = COMPARE_RANKING;
    remember_cursor(x);
    return true;
}

static void compare_show_kernel(void *ctx, const struct kernel *k)
{
    struct compare *x = ctx;
    for (int i = 0; i < x->n; i++)
        if (!strcmp(x->view[i].label, k->name))
            x->list.cur = i;
    x->focus = COMPARE_RANKING;
    remember_cursor(x);
}

static void compare_click(void *ctx, int px, int py)
{
    struct compare *x = ctx;
    int at = list_at(&x->list, px, py);
    if (at < 0)
        return;
    x->list.cur = at;
    x->focus = COMPARE_RANKING;
    remember_cursor(x);
}

static void compare_wheel(void *ctx, int px, int py, int by)
{
    (void)px, (void)py;
    compare_move(ctx, by < 0 ? MOVE_UP : MOVE_DOWN);
}

static bool compare_is_old(void *ctx, const struct row *row)
{
    const struct compare *x = ctx;
    return measurement_is_old(&x->measurement, row) || simulation_is_old(&x->sim, row);
}

extern const struct screen_ops compare_screen;
const struct screen_ops compare_screen = {
    .name = "compare",
    .title = "2 Compare",
    .keys = {compare_keys},
    .open = compare_open,
    .close = compare_close,
    .draw = compare_draw_screen,
    .move = compare_move,
    .focus = compare_focus,
    .back = compare_back,
    .update = compare_update,
    .shown = compare_shown,
    .cancel = compare_cancel,
    .command = compare_command,
    .explain = compare_explain,
    .find = compare_find,
    .drives = compare_drives,
    .claims = compare_claims,
    .drive = compare_drive,
    .show_kernel = compare_show_kernel,
    .click = compare_click,
    .wheel = compare_wheel,
    .is_old = compare_is_old,
    .save = compare_save,
    .restore = compare_restore,
};
