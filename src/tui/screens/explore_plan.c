/* explore_plan.c - the rows of the shape and kernel panes, the request behind them, and its plan.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "command/ask/measure.h"
#include "command/ask/request.h"
#include "tui/screens/explore.h"

int explore_kernel_index(const struct explore *e, const struct kernel *k)
{
    for (int i = 0; i < e->nkernels; i++)
        if (e->known[i] == k)
            return i;
    return 0;
}

const char *explore_backend(const struct explore *e)
{
    const char *asked = e->app->session->settings.options.backend;
    return asked ? asked : backend_usual()->name;
}

static void replace(char **slot, const char *text)
{
    free(*slot);
    *slot = text ? xstrdup(text) : NULL;
}

/* ---- request and plan ---- */

static void renew_request(struct explore *e)
{
    struct err err = ERR_INIT;
    struct str names = {0};
    str_add(&names, e->kernel->name);
    if (e->second && e->second != e->kernel)
        str_addf(&names, ",%s", e->second->name);
    request_clear(&e->request);
    enum status st = request_of(e->app->session, str_text(&names), NULL, 0, &e->request, &err);
    replace(&e->problem, st == ST_OK ? NULL : err.text);
    str_clear(&e->command);
    if (st == ST_OK)
        request_command(&e->request, e->request.nkernels > 1 ? "compare" : "run", &e->command);
    str_free(&names);
}

static void build_plan(struct explore *e)
{
    struct err err = ERR_INIT;
    struct session *s = e->app->session;
    const struct device *gpu = session_gpu(s, NULL, &err);
    if (!gpu) {
        replace(&e->no_plan, err.text);
        return;
    }
    if (request_of(s, e->kernel->name, NULL, REQUEST_PLAN, &e->plan_request, &err) != ST_OK) {
        replace(&e->no_plan, err.text);
        return;
    }
    if (!e->plan_request.descs[0]) {
        free(e->no_plan);
        e->no_plan = xasprintf("%s exists for the CPU only: there is no CUDA kernel to plan.",
                               e->kernel->name);
        return;
    }
    enum status st = plan_build(e->plan_request.descs[0], &e->plan_request.problem.shape,
                                &e->plan_request.params[0], gpu, NULL, &e->plan, &err);
    e->have_plan = true;
    if (st != ST_OK)
        replace(&e->no_plan, err.text);
}

void explore_plan_clear(struct explore *e)
{
    if (e->have_plan)
        plan_clear(&e->plan);
    e->have_plan = false;
    request_clear(&e->plan_request);
    replace(&e->no_plan, NULL);
    str_clear(&e->why);
}

static void renew_plan(struct explore *e)
{
    explore_plan_clear(e);
    build_plan(e);
    if (e->have_plan && e->no_plan && !e->plan.reason) /* plan_why() says the reason itself */
        str_addf(&e->why, "%s. ", e->no_plan);
    if (e->have_plan && e->plan.npasses > 0)
        plan_why(&e->plan, &e->why);
    else if (e->no_plan && !e->have_plan)
        str_add(&e->why, e->no_plan);
}

/* ---- kernels ---- */

/* Why kernel k cannot run this shape on the backend; NULL if it can. The caller frees it. */
static char *why_not(const struct explore *e, const struct kernel *k)
{
    struct err why = ERR_INIT;
    const char *backend = explore_backend(e);
    const struct kernel_desc *d = backend_desc(backend_info(backend), k);
    if (!backend_present(backend))
        return xasprintf("backend=%s is not available here.", backend);
    if (!d)
        return xasprintf("%s has no %s version. The plan below is that of its CUDA kernel.",
                         k->name, backend);
    struct param_values v = desc_defaults(d);
    if (desc_supports(d, &e->app->session->settings.problem.shape, &v, 0, &why) != ST_OK)
        return xstrdup(why.text);
    return NULL;
}

/* The same with the parameters as they are set, which may leave the kernel's own rules. */
static char *refused_now(const struct explore *e)
{
    struct err why = ERR_INIT;
    return measure_refuses(&e->request, 0, &why) ? xstrdup(why.text) : NULL;
}

static bool is_marked(const struct explore *e, const struct kernel *k)
{
    return k == e->second || marks_find(&e->app->marks, k->name) >= 0;
}

static void renew_kernels(struct explore *e)
{
    for (int i = 0; i < e->nkernels; i++) {
        const struct kernel *k = e->known[i];
        const struct figures *f = &e->figures[i];
        struct view_row *row = &e->kernel_rows[i];
        free(e->cannot[i]);
        e->cannot[i] = why_not(e, k);
        if (k == e->kernel && !e->cannot[i] && e->request.nkernels > 0)
            e->cannot[i] = refused_now(e);
        *row = (struct view_row){
            .name = k->name, .dim = e->cannot[i] != NULL, .marked = is_marked(e, k)};
        if (!f->have || !shape_equal(&f->shape, &e->app->session->settings.problem.shape))
            continue;
        row->bad = f->row.check && strcmp(f->row.check, "fail") == 0;
        if (row->bad)
            snprintf(row->value, sizeof row->value, "FAIL");
        else if (f->row.median_us > 0)
            number_fmt_us(row->value, f->row.median_us);
    }
}

/* Is a parameter changed that the CUDA kernel has and the one that runs has not? */
static bool plan_only_change(const struct explore *e)
{
    const struct kernel_desc *plan = e->plan_request.nkernels > 0 ? e->plan_request.descs[0] : NULL;
    const struct kernel_desc *runs = e->request.nkernels > 0 ? e->request.descs[0] : NULL;
    for (int i = 0; plan && runs && i < plan->nparams; i++)
        if (e->plan_request.params[0].v[i] != plan->params[i].def &&
            desc_param_index(runs, plan->params[i].name) < 0)
            return true;
    return false;
}

/* What was kept of kernel k at its old place; nothing for a new one. */
static struct figures take_figures(struct explore *e, const struct kernel *k)
{
    for (int i = 0; i < e->nkernels; i++)
        if (e->known[i] == k) {
            struct figures f = e->figures[i];
            e->figures[i] = (struct figures){.gflops = NAN};
            return f;
        }
    return (struct figures){.gflops = NAN};
}

static void forget_kernels(struct explore *e)
{
    for (int i = 0; i < e->nkernels; i++) {
        if (e->figures[i].have)
            record_clear(run_fields, &e->figures[i].row);
        free(e->cannot[i]);
    }
    free(e->figures);
    free(e->cannot);
    free(e->known);
    free(e->kernel_rows);
}

static bool is_known(const struct explore *e, const struct kernel *k)
{
    for (int i = 0; k && i < e->nkernels; i++)
        if (e->known[i] == k)
            return true;
    return false;
}

void explore_follow_registry(struct explore *e)
{
    const struct registry *r = e->app->session->services.registry;
    if (e->generation == registry_generation(r))
        return;
    const size_t n = (size_t)registry_count(r);
    struct figures *figures = xcalloc(n + 1, sizeof *figures);
    const struct kernel **known = xcalloc(n + 1, sizeof *known);
    for (size_t i = 0; i < n; i++) {
        known[i] = registry_at(r, (int)i);
        figures[i] = take_figures(e, known[i]);
    }
    forget_kernels(e);
    e->figures = figures;
    e->known = known;
    e->cannot = xcalloc(n + 1, sizeof *e->cannot);
    e->kernel_rows = xcalloc(n + 1, sizeof *e->kernel_rows);
    e->nkernels = (int)n;
    e->generation = registry_generation(r);
    if (!is_known(e, e->kernel))
        e->kernel = explore_first_kernel(r);
    if (!is_known(e, e->second))
        e->second = NULL;
    if (!is_known(e, e->pair_base))
        e->pair_base = NULL;
}

/* Another kernel has other parameters: the cursor stays on the name, if it is there. */
static void renew_knobs(struct explore *e)
{
    const char *at = e->shape_cur < e->knobs.n ? e->knobs.v[e->shape_cur].name : NULL;
    char name[64];
    snprintf(name, sizeof name, "%s", at ? at : "");
    e->knobs.n = 0;
    knobs_add_shape(&e->knobs, e->app->session);
    knobs_add_gpu(&e->knobs, e->app->session);
    knobs_add_params(&e->knobs, &e->plan_request, 0, NULL);
    knobs_add_params(&e->knobs, &e->request, 0,
                     e->plan_request.nkernels > 0 ? e->plan_request.descs[0] : NULL);
    for (int i = 0; i < e->knobs.n; i++) {
        const struct knob *k = &e->knobs.v[i];
        e->shape_rows[i] = (struct view_row){.name = k->name, .changed = k->changed, .dim = k->dim};
        char *value = e->shape_rows[i].value;
        const size_t n = strnlen(k->text, sizeof e->shape_rows[i].value - 1);
        memmove(value, k->text, n); /* both lie in *e, which snprintf() may not be told */
        value[n] = 0;
    }
    int same = knobs_find(&e->knobs, name);
    e->shape_cur = same >= 0 ? same : e->shape_cur < e->knobs.n ? e->shape_cur : e->knobs.n - 1;
}

void explore_refresh(struct explore *e)
{
    explore_follow_registry(e);
    e->app->kernel = e->kernel;
    renew_request(e);
    renew_plan(e);
    if (plan_only_change(e)) {
        str_add(&e->command, "; ");
        request_command(&e->plan_request, "plan", &e->command);
    }
    renew_knobs(e);
    renew_kernels(e);
}
