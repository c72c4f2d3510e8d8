/* explore_run.c - measuring for the Explore screen: when to start, what comes back.
 *
 * Jobs run in the worker; this file only submits them and copies rows. Figures stay with their
 * shape, so that going back to a kernel shows what is known about it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "command/ask/request.h"
#include "tui/screens/explore.h"

enum { SETTLE_MS = 150 };
static const double soon_s = 2;         /* longer runs wait for `r` */
static const double default_gflops = 5; /* of a kernel that was never timed */
static const double runs_to_figure = 3; /* check, warm-up, first sample */

static void params_text(const struct request *r, int entry, char *buf, size_t size)
{
    const struct kernel_desc *d = r->descs[entry];
    buf[0] = 0;
    if (d)
        desc_params_format(d, &r->params[entry], true, buf, size);
}

bool explore_current(const struct explore *e, const struct figures *f, int entry)
{
    char params[256];
    if (!f->have || entry >= e->request.nkernels)
        return false;
    params_text(&e->request, entry, params, sizeof params);
    return shape_equal(&f->shape, &e->request.problem.shape) && strcmp(f->params, params) == 0;
}

double explore_estimate(const struct explore *e)
{
    double flops = shape_flops(&e->app->session->settings.problem.shape), s = 0;
    for (int i = 0; i < e->request.nkernels; i++) {
        const struct figures *f = &e->figures[explore_kernel_index(e, e->request.kernels[i])];
        double rate = f->have && f->gflops > 0 ? f->gflops : default_gflops;
        s += flops / (rate * 1e9);
    }
    return s * runs_to_figure;
}

/* ---- starting and stopping ---- */

static void fill_request(const struct explore *e, enum job_kind kind, struct job_request *q)
{
    const struct request *r = &e->request;
    bool both = strcmp(r->options.l2, "both") == 0;
    *q = (struct job_request){
        .kind = kind,
        .problem = PROBLEM_DEFAULT,
        .backend = xstrdup(explore_backend(e)),
        .options = options_backend(&r->options),
        .rule = r->options.rule,
        .l2 = xstrdup(both ? "cold" : r->options.l2),
        .timeout_s = r->options.timeout_s,
        .entries = xcalloc((size_t)r->nkernels, sizeof *q->entries),
    };
    problem_copy(&q->problem, &r->problem);
    for (int i = 0; i < r->nkernels; i++) {
        char params[256];
        if (e->cannot[explore_kernel_index(e, r->kernels[i])])
            continue; /* the second one; the first was looked at before */
        params_text(r, i, params, sizeof params);
        q->entries[q->nentries++] =
            (struct job_entry){.kernel = xstrdup(r->kernels[i]->name), .params = xstrdup(params)};
    }
    q->interleave = q->nentries > 1;
}

static void keep_request(struct explore *e)
{
    struct request *to = &e->job_request, *from = &e->request;
    request_clear(to);
    /* the renewal after the next setting makes a fresh one: this one is handed over */
    *to = *from;
    *from = (struct request){0};
    explore_refresh(e);
}

bool explore_stop(struct explore *e)
{
    bool ran = e->job && !job_ended(e->job);
    job_free(e->job);
    e->job = NULL;
    e->due_ms = 0;
    e->activity[0] = 0;
    return ran;
}

static bool can_run(const struct explore *e)
{
    return e->request.nkernels > 0 && !e->cannot[explore_kernel_index(e, e->kernel)];
}

void explore_run(struct explore *e, enum job_kind kind)
{
    explore_stop(e);
    free(e->failure);
    e->failure = NULL;
    if (!can_run(e))
        return;
    struct job_request q;
    fill_request(e, kind, &q);
    e->job = super_submit(session_super(e->app->session), &q);
    e->job_kind = kind;
    job_request_clear(&q);
    keep_request(e);
    explore_collect(e);
}

static bool known(const struct explore *e)
{
    bool all = true;
    for (int i = 0; i < e->request.nkernels; i++) {
        const struct figures *f = &e->figures[explore_kernel_index(e, e->request.kernels[i])];
        all &= explore_current(e, f, i) && f->gflops > 0;
    }
    if (e->request.nkernels > 1)
        all &= explore_current(e, &e->pair, 1) && e->pair_base == e->kernel;
    return all;
}

void explore_schedule(struct explore *e)
{
    explore_stop(e);
    free(e->failure);
    e->failure = NULL;
    if (!can_run(e) || (known(e) && !e->watch))
        return;
    double s = explore_estimate(e);
    if (s <= soon_s)
        e->due_ms = app_now_ms() + SETTLE_MS;
    else
        snprintf(e->activity, sizeof e->activity, "press r to measure: about %.0f s to a figure",
                 s);
}

/* ---- collecting ---- */

static void copy_row(struct run_row *to, const struct run_row *from)
{
    json_t *o = record_to_json(run_fields, from);
    record_clear(run_fields, to);
    (void)record_from_json(run_fields, to, o, NULL);
    json_decref(o);
}

static void take_figures(struct explore *e, struct figures *f, int entry, const struct run_row *row)
{
    if (!f->have)
        record_init(run_fields, &f->row);
    copy_row(&f->row, row);
    f->have = true;
    f->shape = e->job_request.problem.shape;
    params_text(&e->job_request, entry, f->params, sizeof f->params);
    if (row->tflops > 0)
        f->gflops = row->tflops * 1e3;
}

static bool has_figures(const struct run_row *row)
{
    return row->check || row->reason || row->median_us > 0;
}

/* A check alone does not wipe out the times that are known for the same shape. */
static void take_check(struct figures *f, const struct run_row *row)
{
    struct run_row *to = &f->row;
    to->max_diff = row->max_diff;
    to->mean_diff = row->mean_diff;
    to->rms_diff = row->rms_diff;
    to->baseline_max_diff = row->baseline_max_diff;
    to->error_ratio = row->error_ratio;
    to->rounding_ratio = row->rounding_ratio;
    to->checked_rows = row->checked_rows;
    to->total_rows = row->total_rows;
    json_decref(to->worst);
    to->worst = json_incref(row->worst);
    free(to->check);
    to->check = row->check ? xstrdup(row->check) : NULL;
}

static const struct kernel *entry_kernel(const struct explore *e, const struct run_row *row)
{
    return row->kernel ? registry_find(e->app->session->services.registry, row->kernel) : NULL;
}

static void collect_row(struct explore *e, int i)
{
    const struct run_row *row = job_row(e->job, i);
    const struct kernel *k = entry_kernel(e, row);
    if (!k || !has_figures(row))
        return;
    struct figures *f = &e->figures[explore_kernel_index(e, k)];
    char params[256];
    params_text(&e->job_request, i, params, sizeof params);
    bool same = f->have && shape_equal(&f->shape, &e->job_request.problem.shape) &&
                strcmp(f->params, params) == 0;
    if (e->job_kind == JOB_CHECK && same && f->row.median_us > 0)
        take_check(f, row);
    else if (!(same && f->row.median_us > 0 && isnan(row->median_us)))
        take_figures(e, f, i, row); /* but a rerun keeps the old times until it has some */
    if (i == 1) {
        take_figures(e, &e->pair, 1, row);
        e->pair_base = e->job_request.kernels[0];
    }
    if (row->device)
        snprintf(e->machine, sizeof e->machine, "%s: %s", row->backend ? row->backend : "",
                 row->device);
}

static void describe_activity(struct explore *e)
{
    const char *watch = e->watch ? " (watching; w stops)" : "";
    int64_t n = job_count(e->job) > 0 ? job_row(e->job, 0)->n : 0;
    switch (job_state(e->job)) {
    case JOB_STARTING:
        snprintf(e->activity, sizeof e->activity, "starting the worker");
        break;
    case JOB_CHECKING:
        snprintf(e->activity, sizeof e->activity, "checking against float64");
        break;
    case JOB_TIMING:
        snprintf(e->activity, sizeof e->activity, "timing, %lld sample%s%s",
                 (long long)(n > 0 ? n : 0), n == 1 ? "" : "s", watch);
        break;
    default:
        e->activity[0] = 0;
        break;
    }
}

/* What was asked for with its command is remembered as $last and goes to the store; a watch that
 * repeats it does not. */
static void keep_rows(struct explore *e)
{
    struct str command = {0};
    json_t *rows = json_array();
    bool compared = e->job_request.nkernels > 1;
    if (!e->watch) {
        request_command(&e->job_request, compared ? "compare" : "run", &command);
        for (int i = 0; i < job_count(e->job); i++) {
            json_array_append_new(rows, run_row_result(job_row(e->job, i)));
            if (job_row(e->job, i)->median_us > 0)
                session_keep_row(e->app->session, job_row(e->job, i), str_text(&command), false);
        }
        session_remember_runs(e->app->session, rows, compared, str_text(&command));
    }
    json_decref(rows);
    str_free(&command);
}

static void job_over(struct explore *e)
{
    enum job_state state = job_state(e->job);
    if (state == JOB_FAILED) {
        const char *why = job_error(e->job);
        free(e->failure);
        e->failure = xstrdup(why ? why : "the worker gave no figures");
        app_message(e->app, ROLE_BAD, "%s", e->failure);
        e->watch = false;
    } else if (state == JOB_DONE && e->job_kind == JOB_RUN) {
        keep_rows(e);
    }
    job_free(e->job);
    e->job = NULL;
    e->activity[0] = 0;
    if (e->watch && state == JOB_DONE)
        explore_run(e, JOB_RUN);
}

void explore_collect(struct explore *e)
{
    if (!e->job)
        return;
    for (int i = 0; i < job_count(e->job) && i < e->job_request.nkernels; i++)
        collect_row(e, i);
    describe_activity(e);
    if (job_ended(e->job))
        job_over(e);
}

void explore_run_clear(struct explore *e)
{
    e->watch = false;
    explore_stop(e);
    for (int i = 0; i < e->nkernels; i++)
        if (e->figures[i].have)
            record_clear(run_fields, &e->figures[i].row);
    if (e->pair.have)
        record_clear(run_fields, &e->pair.row);
    request_clear(&e->job_request);
    free(e->failure);
}
