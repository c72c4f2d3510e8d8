/* measurement.c - see measurement.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/measurement.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "draw/chart.h"
#include "tui/screens/screen_util.h"

void measurement_init(struct measurement *m, struct app *a)
{
    *m = (struct measurement){.app = a};
}

static void clear_figures(struct figures *f)
{
    free(f->label);
    record_clear(run_fields, &f->row);
}

void measurement_clear(struct measurement *m)
{
    measurement_stop(m, false);
    for (size_t i = 0; i < m->n; i++)
        clear_figures(&m->v[i]);
    free(m->v);
    free(m->failure);
    *m = (struct measurement){.app = m->app};
}

/* ---- figures ---- */

struct figures *measurement_find(const struct measurement *m, const char *label)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->v[i].label, label) == 0)
            return &m->v[i];
    return NULL;
}

static struct figures *make_figures(struct measurement *m, const char *label)
{
    struct figures *f = measurement_find(m, label);
    if (f)
        return f;
    void *items = m->v;
    xgrow(&items, &m->cap, m->n + 1, sizeof *m->v);
    m->v = items;
    f = &m->v[m->n++];
    *f = (struct figures){.label = xstrdup(label), .gflops = NAN};
    record_init(run_fields, &f->row);
    return f;
}

/* A comma is in no label. */
static char *pair_label(const char *first, const char *other)
{
    return xasprintf("%s,%s", first, other);
}

static bool is_pair(const struct figures *f)
{
    return strchr(f->label, ',') != NULL;
}

struct figures *measurement_pair(const struct measurement *m, const char *first, const char *other)
{
    char *label = pair_label(first, other);
    struct figures *f = measurement_find(m, label);
    free(label);
    return f;
}

bool figures_current(const struct figures *f, const struct request *r, int i)
{
    char params[256];
    if (!f || i >= r->nkernels)
        return false;
    request_params(r, i, params, sizeof params);
    return shape_equal(&f->shape, &r->problem.shape) && strcmp(f->params, params) == 0;
}

struct chart *figures_samples(const struct figures *f, bool stale)
{
    if (!json_array_size(f->row.recent_us))
        return NULL;
    struct chart *c = chart_new(&chart_samples);
    struct sample_chart *s = c->model;
    samples_size(s, 1);
    s->series[0].name = xstrdup(f->label);
    s->series[0].stale = stale;
    samples_take(&s->series[0], f->row.recent_us);
    return c;
}

static bool is_of(const struct figures *f, const struct row *row)
{
    return row_is(row, "kernel", f->row.kernel) && row_is(row, "shape", f->row.shape) &&
           row_is(row, "params", f->row.params) && row_is(row, "time", f->row.time);
}

bool measurement_is_old(const struct measurement *m, const struct row *row)
{
    bool old = false;
    for (size_t i = 0; i < m->n && !old; i++) {
        const struct figures *f = &m->v[i];
        struct request r;
        if (is_pair(f) || !is_of(f, row))
            continue;
        old = request_of(m->app->session, f->label, NULL, 0, &r, NULL) != ST_OK ||
              !figures_current(f, &r, 0);
        request_clear(&r);
    }
    return old;
}

static void fill(struct figures *f, const struct request *r, int i, const struct run_row *row)
{
    record_copy(run_fields, &f->row, row);
    f->kernel = r->kernels[i];
    f->shape = r->problem.shape;
    request_params(r, i, f->params, sizeof f->params);
    if (row->tflops > 0)
        f->gflops = row->tflops * 1e3;
}

void measurement_keep(struct measurement *m, const char *label, int i, const struct run_row *row)
{
    fill(make_figures(m, label), measure_request(m->job), i, row);
}

void measurement_follow_kernels(struct measurement *m)
{
    const struct registry *r = m->app->session->services.registry;
    size_t kept = 0;
    for (size_t i = 0; i < m->n; i++) {
        bool there = false;
        for (int k = 0; k < registry_count(r); k++)
            there |= registry_at(r, k) == m->v[i].kernel;
        if (there)
            m->v[kept++] = m->v[i];
        else
            clear_figures(&m->v[i]);
    }
    m->n = kept;
}

/* ---- the job ---- */

void measurement_set_failure(struct measurement *m, const char *text)
{
    free(m->failure);
    m->failure = text ? xstrdup(text) : NULL;
}

static void forget_job(struct measurement *m)
{
    m->job = NULL;
    m->activity[0] = 0;
}

bool measurement_stop(struct measurement *m, bool keep)
{
    bool ran = m->job && !measure_ended(m->job);
    struct measured out;
    if (m->job && keep) {
        measure_finish(m->job, &out);
        measured_clear(&out);
    } else {
        measure_drop(m->job);
    }
    forget_job(m);
    m->cells = NULL;
    return ran;
}

void measurement_adopt(struct measurement *m, struct measuring *job, enum job_kind kind)
{
    measurement_stop(m, false);
    measurement_set_failure(m, NULL);
    m->kind = kind;
    m->job = job;
    snprintf(m->activity, sizeof m->activity, "%s", measure_phase(job));
}

const struct measuring *measurement_ended(const struct measurement *m)
{
    return m->job && measure_ended(m->job) ? m->job : NULL;
}

/* Until its first row names the device: what is measured elsewhere from now on is not said to be here. */
static void name_machine(struct measurement *m, const struct request *r)
{
    const char *host = r->options.host, *backend;
    if (request_backend(r, &backend, NULL) != ST_OK)
        return;
    char *where = xasprintf("%s%s%s", backend, host ? " on " : "", host ? host : ""),
         *begin = xasprintf("%s:", where);
    if (!str_starts(m->machine, begin))
        snprintf(m->machine, sizeof m->machine, "%s", where);
    free(begin);
    free(where);
}

void measurement_start(struct measurement *m, const struct request *r, enum job_kind kind)
{
    const bool turns = r->nkernels > 1;
    const struct measure_how how = {
        .kind = kind, .interleave = turns, .verb = turns ? "compare" : "run"};
    measurement_set_failure(m, NULL);
    m->kind = kind;
    name_machine(m, r);
    m->job = measure_start(m->app->session, r, &how);
}

/* A check alone does not wipe out the times that are known of the same. */
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

static void take_row(struct measurement *m, int i, const struct run_row *row)
{
    const struct request *r = measure_request(m->job);
    char *label = request_entry(r, i);
    struct figures *f = measurement_find(m, label);
    const bool timed = figures_current(f, r, i) && f->row.median_us > 0;
    if (m->kind == JOB_CHECK && timed)
        take_check(f, row);
    else if (!(timed && isnan(row->median_us))) /* a rerun keeps the old times until it has some */
        measurement_keep(m, label, i, row);
    if (i > 0) {
        char *first = request_entry(r, 0), *pair = pair_label(first, label);
        measurement_keep(m, pair, i, row);
        free(first);
        free(pair);
    }
    free(label);
}

static void take_rows(struct measurement *m)
{
    for (int i = 0; i < measure_request(m->job)->nkernels; i++) {
        const struct run_row *row = measure_row(m->job, i);
        if (row && (row->check || row->reason || row->median_us > 0))
            take_row(m, i, row);
        if (row && row->device)
            snprintf(m->machine, sizeof m->machine, "%s%s%s: %s", row->backend ? row->backend : "",
                     row->host ? " on " : "", row->host ? row->host : "", row->device);
    }
}

bool measurement_collect(struct measurement *m, bool remember, struct measured *out)
{
    if (!m->job)
        return false;
    take_rows(m);
    screen_activity(measure_job(m->job), m->activity, sizeof m->activity);
    if (!measure_ended(m->job))
        return false;
    (remember ? measure_end : measure_close)(m->job, out);
    forget_job(m);
    if (out->status && out->status != ST_CANCELLED) {
        measurement_set_failure(m, out->err.text);
        app_message(m->app, ROLE_BAD, "%s", out->err.text);
    }
    return true;
}

/* ---- cell by cell ---- */

char *cell_label(const struct request *r, int i)
{
    char shape[SHAPE_TEXT], params[512];
    shape_format(&r->problem.shape, shape, sizeof shape);
    request_params(r, i, params, sizeof params);
    return xasprintf("%s %s %s %s %s", r->kernels[i]->name, params, shape,
                     r->options.backend ? r->options.backend : "", r->options.l2);
}

/* How many entries lack a row. */
static int cell_missing(const struct cells *c, int cell)
{
    int missing = 0;
    for (int i = 0; i < c->nkernels; i++)
        missing += !c->known(c->ctx, cell, i);
    return missing;
}

/* Sampling lasts until the spread is small; a slow kernel needs its ten runs at least. */
static double run_seconds(const struct request *r)
{
    enum { CPU_GFLOPS = 20, GPU_GFLOPS = 5000 };
    const struct timing_rule *rule = &r->options.rule;
    const char *backend = r->options.backend;
    const bool gpu = backend ? backend_is_gpu(backend) : r->options.host || backend_gpu_is_here();
    const double run = shape_flops(&r->problem.shape) / ((gpu ? GPU_GFLOPS : CPU_GFLOPS) * 1e9);
    const double sampling =
        rule->n > 0 ? (double)rule->n * run : fmax(2 * rule->min_s, (double)rule->min_n * run);
    return 0.1 + 3 * run + rule->warm_s + fmin(sampling, rule->max_s);
}

int measurement_cells_left(const struct measurement *m, const struct cells *c, double *seconds)
{
    int left = 0;
    double s = 0;
    for (int cell = 0; cell < c->n; cell++) {
        struct request r;
        const int missing = cell_missing(c, cell);
        left += missing > 0;
        if (!missing || !seconds || c->request(c->ctx, cell, &r) != ST_OK)
            continue;
        s += missing * run_seconds(&r);
        request_clear(&r);
    }
    if (seconds)
        *seconds = m->guessed_s > 0 ? s * m->spent_s / m->guessed_s : s;
    return left;
}

/* Starts the next cell that lacks a row; false: none does. */
static bool start_cell(struct measurement *m)
{
    const struct cells *c = m->cells;
    const struct measure_how how = {
        .kind = JOB_RUN, .interleave = c->turns, .verb = c->turns ? "compare" : "run"};
    for (int cell = 0; cell < c->n; cell++) {
        struct request r;
        if (!cell_missing(c, cell) || c->request(c->ctx, cell, &r) != ST_OK)
            continue;
        m->cell = cell;
        m->begin_s = seconds_now();
        m->job = measure_start(m->app->session, &r, &how);
        request_clear(&r);
        return true;
    }
    return false;
}

bool measurement_start_cells(struct measurement *m, const struct cells *c)
{
    measurement_stop(m, true);
    measurement_set_failure(m, NULL);
    m->kind = JOB_RUN;
    m->cells = c;
    m->spent_s = m->guessed_s = 0;
    if (!start_cell(m))
        m->cells = NULL;
    return m->cells != NULL;
}

/* Rows that a stop cut short are measured again. */
static bool is_whole(const struct run_row *row)
{
    return row->reason || (row->stopped && strcmp(row->stopped, "cancel") != 0);
}

/* Its rows as figures, and to whoever asked. */
static void take_cell(struct measurement *m, const struct request *r, const struct run_rows *rows)
{
    for (int i = 0; i < r->nkernels && (size_t)i < rows->n; i++) {
        char *label = cell_label(r, i);
        if (is_whole(&rows->v[i]))
            fill(make_figures(m, label), r, i, &rows->v[i]);
        free(label);
    }
    m->cells->take(m->cells->ctx, m->cell, rows);
}

bool measurement_collect_cells(struct measurement *m)
{
    struct measured out;
    struct request r;
    double before, after;
    if (!m->cells || !measurement_ended(m))
        return false;
    const double rate = m->guessed_s > 0 ? m->spent_s / m->guessed_s : 1;
    measurement_cells_left(m, m->cells, &before);
    request_copy(&r, measure_request(m->job));
    measure_end(m->job, &out); /* a result like any other: $last, Roofline, export */
    forget_job(m);
    take_cell(m, &r, &out.rows);
    request_clear(&r);
    measurement_cells_left(m, m->cells, &after);
    m->spent_s += seconds_now() - m->begin_s;
    m->guessed_s += fmax(before - after, 0) / rate;
    if (out.status == ST_CANCELLED || !start_cell(m))
        m->cells = NULL;
    measured_clear(&out);
    return true;
}

void measurement_forget_cells(struct measurement *m, const struct cells *c)
{
    for (int cell = 0; cell < c->n; cell++) {
        struct request r;
        if (c->request(c->ctx, cell, &r) != ST_OK)
            continue;
        for (int i = 0; i < r.nkernels; i++) {
            char *label = cell_label(&r, i);
            struct figures *f = measurement_find(m, label);
            if (f) {
                clear_figures(f);
                *f = m->v[--m->n];
            }
            free(label);
        }
        request_clear(&r);
    }
}

/* ---- what outlives the program ---- */

json_t *measurement_save(const struct measurement *m)
{
    json_t *list = json_array();
    for (size_t i = 0; i < m->n; i++) {
        const struct figures *f = &m->v[i];
        struct problem p = PROBLEM_DEFAULT;
        if (is_pair(f))
            continue;
        json_t *o = json_object();
        p.shape = f->shape;
        json_object_set_new(o, "label", json_string(f->label));
        json_object_set_new(o, "problem", problem_to_json(&p));
        json_object_set_new(o, "params", json_string(f->params));
        json_object_set_new(o, "row", record_to_json(run_fields, &f->row));
        json_array_append_new(list, o);
    }
    return list;
}

/* Older versions gave the kernel's name in place of the label. */
static void restore_one(struct measurement *m, const json_t *o)
{
    const struct registry *r = m->app->session->services.registry;
    const char *label = json_string_value(json_object_get(o, "label")),
               *name = json_string_value(json_object_get(o, "kernel")),
               *params = json_string_value(json_object_get(o, "params"));
    label = label ? label : name ? name : "";
    char *bare = xstrndup(label, strcspn(label, "@ "));
    const struct kernel *k = registry_find(r, bare);
    struct problem p = PROBLEM_DEFAULT;
    struct run_row row;
    free(bare);
    record_init(run_fields, &row);
    if (k && problem_from_json(&p, json_object_get(o, "problem"), NULL) == ST_OK &&
        record_from_json(run_fields, &row, json_object_get(o, "row"), NULL) == ST_OK) {
        struct figures *f = make_figures(m, label);
        record_copy(run_fields, &f->row, &row);
        f->kernel = k;
        f->shape = p.shape;
        f->gflops = row.tflops > 0 ? row.tflops * 1e3 : NAN;
        snprintf(f->params, sizeof f->params, "%s", params ? params : "");
    }
    problem_clear(&p);
    record_clear(run_fields, &row);
}

void measurement_restore(struct measurement *m, const json_t *list)
{
    json_t *one;
    size_t i;
    json_array_foreach(list, i, one)
    {
        restore_one(m, one);
    }
}
