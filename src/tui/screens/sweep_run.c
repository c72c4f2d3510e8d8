/* sweep_run.c - measuring for the Sweep screen: point after point, stopped at any time, and its state
 * over the end of the program.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "tui/screens/sweep.h"

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
        sweep_request_clear(&x->job_request);
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
    int p = next_point(x);
    if (p < 0 || sweep_request(&x->sweep, p, &x->job_request, NULL) != ST_OK) {
        x->going = false;
        return;
    }
    x->job_point = p;
    x->job_begin_s = now_s();
    x->job = measure_start(x->app->session, &x->job_request, &how);
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
        sweep_request_clear(&r);
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

/* What was measured is a result like any other: $last, Roofline, export. */
static void remember(struct sweep_screen *x, const struct measured *m)
{
    struct str command = {0};
    request_command(&x->job_request, "run", &command);
    if (m->ran)
        session_remember_runs(x->app->session, m->rows, false, str_text(&command));
    str_free(&command);
}

static void take_job(struct sweep_screen *x)
{
    struct measured m;
    double spent = now_s() - x->job_begin_s, left_before, left_after;
    sweep_left(x, &left_before);
    double rate = x->guessed_s > 0 ? x->spent_s / x->guessed_s : 1;
    measure_finish(x->job, &m);
    x->job = NULL;
    for (int k = 0; k < x->job_request.nkernels; k++) {
        char *key = sweep_cache_key(&x->job_request, k);
        json_t *row = json_array_get(m.rows, (size_t)k);
        if (is_whole(row))
            json_object_set(x->cache, key, row);
        free(key);
    }
    sweep_take(&x->sweep, x->job_point, m.rows);
    remember(x, &m);
    sweep_left(x, &left_after);
    x->spent_s += spent;
    x->guessed_s += fmax(left_before - left_after, 0) / rate;
    if (m.status == ST_CANCELLED)
        x->going = false;
    measured_clear(&m);
    sweep_request_clear(&x->job_request);
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
