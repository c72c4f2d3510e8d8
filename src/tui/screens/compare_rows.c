/* compare_rows.c - what takes part in a comparison: rows, their plans, the request, the order.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tui/screens/compare.h"

/* ---- figures that are kept ---- */

struct kept *compare_find_kept(const struct compare *x, const char *label)
{
    for (size_t i = 0; i < x->nkept; i++)
        if (strcmp(x->kept[i].label, label) == 0)
            return &x->kept[i];
    return NULL;
}

struct kept *compare_make_kept(struct compare *x, const char *label)
{
    struct kept *k = compare_find_kept(x, label);
    if (k)
        return k;
    void *items = x->kept;
    xgrow(&items, &x->capkept, x->nkept + 1, sizeof *x->kept);
    x->kept = items;
    k = &x->kept[x->nkept++];
    *k = (struct kept){.label = xstrdup(label)};
    record_init(run_fields, &k->row);
    return k;
}

void compare_keep_row(struct compare *x, const char *label, int entry, const struct run_row *row)
{
    struct kept *k = compare_make_kept(x, label);
    run_row_copy(&k->row, row);
    k->shape = x->job_request.problem.shape;
    request_params(&x->job_request, entry, k->params, sizeof k->params);
}

/* ---- rows ---- */

static void clear_contender(struct contender *k)
{
    free(k->label);
    free(k->cannot);
    free(k->no_plan);
    if (k->have_plan)
        plan_clear(&k->plan);
    request_clear(&k->plan_request);
}

void compare_clear_rows(struct compare *x)
{
    for (int i = 0; i < x->n; i++)
        clear_contender(&x->rows[i]);
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
    if (screen_request(x->app->session, label, false, &r, NULL) != ST_OK)
        return false;
    bool can = !measure_refuses(&r, 0, NULL);
    request_clear(&r);
    return can;
}

static const char *step_before(const struct kernel *k)
{
    const struct kernel_desc *d = k ? (k->cuda ? k->cuda : k->cpu) : NULL;
    return d ? d->after : NULL;
}

/* Nothing marked: what Explore shows, beside the nearest earlier step of the ladder that runs
 * here. */
static void add_default(struct compare *x)
{
    const struct registry *reg = x->app->session->registry;
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
    const struct registry *r = x->app->session->registry;
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

static void plan_row(struct compare *x, struct contender *k)
{
    struct err err = ERR_INIT;
    struct session *s = x->app->session;
    const struct device *gpu = session_gpu(s, NULL, &err);
    if (!gpu || screen_request(s, k->label, true, &k->plan_request, &err) != ST_OK) {
        k->no_plan = xstrdup(err.text);
        return;
    }
    if (!k->plan_request.descs[0]) {
        k->no_plan = xstrdup("no CUDA kernel: nothing to plan");
        return;
    }
    (void)plan_build(k->plan_request.descs[0], &k->plan_request.problem.shape,
                     &k->plan_request.params[0], gpu, NULL, &k->plan, &err);
    k->have_plan = true;
}

static void judge_row(struct compare *x, struct contender *k)
{
    struct err err = ERR_INIT;
    struct request r;
    if (screen_request(x->app->session, k->label, false, &r, &err) != ST_OK) {
        k->cannot = xstrdup(err.text);
        return;
    }
    if (measure_refuses(&r, 0, &err))
        k->cannot = xstrdup(err.text);
    struct kept *figures = compare_find_kept(x, k->label);
    char params[256];
    request_params(&r, 0, params, sizeof params);
    if (figures)
        figures->old =
            !shape_equal(&figures->shape, &r.problem.shape) || strcmp(figures->params, params) != 0;
    request_clear(&r);
}

const char *compare_base(const struct compare *x)
{
    for (int i = 0; x->base && i < x->n; i++)
        if (x->rows[i].in && strcmp(x->rows[i].label, x->base) == 0)
            return x->base;
    for (int i = 0; i < x->n; i++)
        if (x->rows[i].in && !x->rows[i].cannot)
            return x->rows[i].label;
    return NULL;
}

/* ---- the request ---- */

/* All that take part and can run, the baseline first. */
void compare_renew_request(struct compare *x)
{
    struct err err = ERR_INIT;
    struct str names = {0};
    const char *base = compare_base(x);
    int n = 0;
    for (int pass = 0; pass < 2 && base; pass++)
        for (int i = 0; i < x->n; i++) {
            const struct contender *k = &x->rows[i];
            if (!k->in || k->cannot || (strcmp(k->label, base) == 0) != (pass == 0))
                continue;
            str_addf(&names, "%s%s", n++ ? "," : "", k->label);
        }
    request_clear(&x->request);
    free(x->problem);
    x->problem = NULL;
    str_clear(&x->command);
    if (n == 0) {
        x->problem = xstrdup("nothing that takes part can run here; Space takes a kernel in");
    } else if (screen_request(x->app->session, str_text(&names), false, &x->request, &err)) {
        x->problem = xstrdup(err.text);
    } else {
        if (x->more)
            x->request.options.rule.n = x->more;
        request_command(&x->request, n > 1 ? "compare" : "run", &x->command);
    }
    str_free(&names);
}

/* ---- what is shown ---- */

static double peak_of(const struct compare *x, const struct run_row *row)
{
    const struct device *d;
    if (!row || !row->device || !row->backend || strcmp(row->backend, "cuda") != 0 ||
        devices_get(x->app->session->devices, row->device, &d, NULL) != ST_OK)
        return NAN;
    return d->tflops[x->app->session->problem.shape.dtype];
}

static struct compare_row view_row(struct compare *x, const struct contender *k, const char *base)
{
    const struct kept *f = k->in ? compare_find_kept(x, k->label) : NULL;
    return (struct compare_row){
        .label = k->label,
        .in = k->in,
        .base = base && strcmp(k->label, base) == 0,
        .left = x->left && strcmp(k->label, x->left) == 0,
        .cannot = k->cannot,
        .row = f ? &f->row : NULL,
        .old = f && f->old,
        .peak_tflops = peak_of(x, f ? &f->row : NULL),
    };
}

static struct contender *contender_of(struct compare *x, const char *label)
{
    for (int i = 0; label && i < x->n; i++)
        if (strcmp(x->rows[i].label, label) == 0)
            return &x->rows[i];
    return NULL;
}

/* Only the pair is planned: the rest of the ladder would cost a key its answer. */
static void show_plan(struct compare *x, struct compare_row *row)
{
    struct contender *k = contender_of(x, row->label);
    if (k && !k->have_plan && !k->no_plan)
        plan_row(x, k);
    row->plan = k && k->have_plan ? &k->plan : NULL;
    row->no_plan = k ? k->no_plan : NULL;
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
    for (int i = 1; i < x->n; i++) {
        struct compare_row row = x->view[i];
        int to = i;
        for (; to > 0 && compare_order(&row, &x->view[to - 1], x->sort, x->reverse) < 0; to--)
            x->view[to] = x->view[to - 1];
        x->view[to] = row;
    }
}

void compare_renew_view(struct compare *x)
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

const struct compare_row *compare_current(const struct compare *x)
{
    return x->n > 0 && x->list.cur < x->n ? &x->view[x->list.cur] : NULL;
}

void compare_replace(char **slot, const char *text)
{
    char *copy = text ? xstrdup(text) : NULL;
    free(*slot);
    *slot = copy;
}

/* Parameters are those of the kernel at the cursor. */
void compare_renew_knobs(struct compare *x)
{
    const struct compare_row *row = compare_current(x);
    struct contender *k = row ? contender_of(x, row->label) : NULL;
    struct request run;
    x->knobs.n = 0;
    knobs_add_shape(&x->knobs, x->app->session);
    knobs_add_gpu(&x->knobs, x->app->session);
    if (!k)
        return;
    const struct kernel_desc *d = k->plan_request.nkernels ? k->plan_request.descs[0] : NULL;
    knobs_add_params(&x->knobs, &k->plan_request, 0, NULL);
    if (screen_request(x->app->session, k->label, false, &run, NULL) == ST_OK) {
        if (run.descs[0] && run.descs[0] != d)
            knobs_add_params(&x->knobs, &run, 0, d);
        request_clear(&run);
    }
    knobs_rare_last(&x->knobs);
}

void compare_refresh(struct compare *x)
{
    compare_clear_rows(x);
    list_rows(x);
    for (int i = 0; i < x->n; i++)
        judge_row(x, &x->rows[i]);
    compare_renew_request(x);
    compare_renew_view(x);
    compare_renew_knobs(x);
}
