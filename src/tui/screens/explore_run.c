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

bool explore_current(const struct explore *e, const struct figures *f, int entry)
{
    char params[256];
    if (!f->have || entry >= e->request.nkernels)
        return false;
    request_params(&e->request, entry, params, sizeof params);
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

bool explore_stop(struct explore *e)
{
    bool ran = e->job && !measure_ended(e->job);
    measure_drop(e->job); /* half a figure is none: the settings have changed */
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
    const bool two = e->request.nkernels > 1;
    const struct measure_how how = {
        .kind = kind, .interleave = two, .verb = two ? "compare" : "run"};
    e->job = measure_start(e->app->session, &e->request, &how);
    e->job_kind = kind;
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
    f->shape = measure_request(e->job)->problem.shape;
    request_params(measure_request(e->job), entry, f->params, sizeof f->params);
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

static void collect_row(struct explore *e, int i)
{
    const struct request *r = measure_request(e->job);
    const struct run_row *row = measure_row(e->job, i);
    const struct kernel *k =
        row ? registry_find(e->app->session->services.registry, row->kernel) : NULL;
    if (!k || !has_figures(row))
        return;
    struct figures *f = &e->figures[explore_kernel_index(e, k)];
    char params[256];
    request_params(r, i, params, sizeof params);
    bool same =
        f->have && shape_equal(&f->shape, &r->problem.shape) && strcmp(f->params, params) == 0;
    if (e->job_kind == JOB_CHECK && same && f->row.median_us > 0)
        take_check(f, row);
    else if (!(same && f->row.median_us > 0 && isnan(row->median_us)))
        take_figures(e, f, i, row); /* but a rerun keeps the old times until it has some */
    if (i == 1) {
        take_figures(e, &e->pair, 1, row);
        e->pair_base = r->kernels[0];
    }
    if (row->device)
        snprintf(e->machine, sizeof e->machine, "%s: %s", row->backend ? row->backend : "",
                 row->device);
}

static void describe_activity(struct explore *e)
{
    const char *watch = e->watch ? " (watching; w stops)" : "";
    const struct run_row *first = measure_row(e->job, 0);
    int64_t n = first ? first->n : 0;
    switch (job_state(measure_job(e->job))) {
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

/* What was asked for with its command is remembered as $last and is in the store; a watch that repeats
 * it does not and is not. */
static void job_over(struct explore *e)
{
    struct measured m;
    if (e->job_kind == JOB_RUN && !e->watch)
        measure_end(e->job, &m);
    else
        measure_close(e->job, &m);
    e->job = NULL;
    e->activity[0] = 0;
    if (m.status && m.status != ST_CANCELLED) {
        free(e->failure);
        e->failure = xstrdup(m.err.text);
        app_message(e->app, ROLE_BAD, "%s", e->failure);
        e->watch = false;
    }
    if (e->watch && !m.status)
        explore_run(e, JOB_RUN);
    measured_clear(&m);
}

void explore_collect(struct explore *e)
{
    if (!e->job)
        return;
    for (int i = 0; i < measure_request(e->job)->nkernels; i++)
        collect_row(e, i);
    describe_activity(e);
    if (measure_ended(e->job))
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
    free(e->failure);
}
