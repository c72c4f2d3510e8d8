/* compare_run.c - measuring for the Compare screen, and its state over the end of the program.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tui/screens/compare.h"

/* ---- measuring ---- */

bool compare_stop(struct compare *x)
{
    struct measured m;
    bool ran = x->job && !measure_ended(x->job);
    if (x->job) {
        measure_finish(x->job, &m);
        measured_clear(&m);
    }
    x->job = NULL;
    x->activity[0] = 0;
    return ran;
}

void compare_start(struct compare *x)
{
    const struct measure_how how = {
        .kind = JOB_RUN, .interleave = x->request.nkernels > 1, .verb = "compare"};
    compare_stop(x);
    compare_replace(&x->failure, NULL);
    if (x->problem) {
        app_message(x->app, ROLE_WARN, "%s", x->problem);
        return;
    }
    request_clear(&x->job_request);
    x->job_request = x->request; /* the next renewal makes a fresh one */
    x->request = (struct request){0};
    x->job = measure_start(x->app->session, &x->job_request, &how);
    compare_refresh(x);
}

static void collect_rows(struct compare *x)
{
    for (int i = 0; i < x->job_request.nkernels; i++) {
        const struct run_row *row = measure_row(x->job, i);
        char *label = request_entry(&x->job_request, i);
        if (row && (row->check || row->reason || row->median_us > 0))
            compare_keep_row(x, label, i, row);
        if (row && row->device)
            snprintf(x->machine, sizeof x->machine, "%s: %s", row->backend ? row->backend : "",
                     row->device);
        free(label);
    }
}

static void job_over(struct compare *x)
{
    struct measured m;
    struct str command = {0};
    bool compared = x->job_request.nkernels > 1;
    request_command(&x->job_request, compared ? "compare" : "run", &command);
    measure_finish(x->job, &m);
    x->job = NULL;
    x->activity[0] = 0;
    if (m.ran)
        session_remember_runs(x->app->session, m.rows, compared, str_text(&command));
    if (m.status && m.status != ST_CANCELLED) {
        compare_replace(&x->failure, "the run failed; ! has the log");
        app_message(x->app, ROLE_BAD, "%s", m.err.text);
    }
    measured_clear(&m);
    str_free(&command);
}

void compare_collect(struct compare *x)
{
    if (!x->job)
        return;
    collect_rows(x);
    screen_activity(measure_job(x->job), x->activity, sizeof x->activity);
    if (measure_ended(x->job))
        job_over(x);
}

/* ---- what outlives the program ---- */

static json_t *kept_to_json(const struct kept *k)
{
    struct problem p = PROBLEM_DEFAULT;
    p.shape = k->shape;
    json_t *o = json_object();
    json_object_set_new(o, "label", json_string(k->label));
    json_object_set_new(o, "params", json_string(k->params));
    json_object_set_new(o, "problem", problem_to_json(&p));
    json_object_set_new(o, "row", run_row_result(&k->row));
    return o;
}

void compare_save(void *ctx, json_t *o)
{
    const struct compare *x = ctx;
    json_t *marks = json_array(), *rows = json_array();
    for (int i = 0; i < x->app->marks.n; i++)
        json_array_append_new(marks, json_string(x->app->marks.v[i]));
    for (size_t i = 0; i < x->nkept; i++)
        json_array_append_new(rows, kept_to_json(&x->kept[i]));
    json_object_set_new(o, "marks", marks);
    json_object_set_new(o, "rows", rows);
    if (x->base)
        json_object_set_new(o, "base", json_string(x->base));
    if (x->at)
        json_object_set_new(o, "cursor", json_string(x->at));
    json_object_set_new(o, "pane", json_integer(x->focus));
    json_object_set_new(o, "sort", json_string(compare_sort_names[x->sort]));
    json_object_set_new(o, "reverse", json_boolean(x->reverse));
}

static void restore_row(struct compare *x, const json_t *o)
{
    const char *label = json_string_value(json_object_get(o, "label")),
               *params = json_string_value(json_object_get(o, "params"));
    struct problem p = PROBLEM_DEFAULT;
    if (!label || problem_from_json(&p, json_object_get(o, "problem"), NULL) != ST_OK)
        return;
    struct kept *k = compare_make_kept(x, label);
    if (record_from_json(run_fields, &k->row, json_object_get(o, "row"), NULL) == ST_OK) {
        k->shape = p.shape;
        snprintf(k->params, sizeof k->params, "%s", params ? params : "");
    }
    problem_clear(&p);
}

void compare_restore(void *ctx, const json_t *o)
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
        if (!label || screen_request(x->app->session, label, true, &r, NULL) != ST_OK)
            continue; /* a kernel that is no longer there */
        request_clear(&r);
        marks_add(&x->app->marks, label);
    }
    json_array_foreach(json_object_get(o, "rows"), i, one)
    {
        restore_row(x, one);
    }
    compare_replace(&x->base, json_string_value(json_object_get(o, "base")));
    compare_replace(&x->at, json_string_value(json_object_get(o, "cursor")));
    x->focus = pane >= 0 && pane < COMPARE_PANES ? (enum compare_pane)pane : COMPARE_RANKING;
    x->reverse = json_is_true(json_object_get(o, "reverse"));
    for (int s = 0; sort && s < SORT_COUNT; s++)
        if (strcmp(sort, compare_sort_names[s]) == 0)
            x->sort = (enum compare_sort)s;
    compare_refresh(x);
}
