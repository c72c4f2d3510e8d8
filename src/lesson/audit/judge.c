/* judge.c - one claim: its commands are run, its relation is evaluated.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "command/ask/keys.h"
#include "lesson/audit/claims.h"
#include "lesson/text/values.h"
#include "measure/origin.h"

static bool is_verb(const struct call_list *calls, size_t i, const char *name)
{
    return i < calls->count && strcmp(calls->calls[i]->entry->name, name) == 0;
}

/* Does call i compute for a device that gpu= names? */
static bool is_planned(const struct call_list *calls, size_t i)
{
    return (is_verb(calls, i, "plan") || is_verb(calls, i, "occupancy")) &&
           call_key(calls->calls[i], "gpu");
}

bool claim_is_planned(const struct claim *c)
{
    struct call_list calls = {0};
    const bool planned = c->holds && strcmp(c->command, "-") != 0 &&
                         line_calls(NULL, c->command, &calls, NULL) == ST_OK &&
                         is_planned(&calls, 0);
    call_list_clear(&calls);
    return planned;
}

/* ---- rows ---- */

/* Call i, with another device in the place of gpu= if one is given. The caller frees. */
static char *command_on(const struct call_list *calls, size_t i, const char *gpu)
{
    const struct cmd_call *c = calls->calls[i];
    return gpu && is_planned(calls, i) ? call_with(c, "gpu", gpu) : xstrdup(c->text);
}

/* Runs it as a lesson does, without a trace among the session's rows and tables. */
static enum status run_one(struct session *s, const char *command, struct rows *rows,
                           struct err *err)
{
    struct str out = {0};
    struct rows got;
    const enum status st = session_apart(s, SESSION_LESSON, command, &got, &out, err);
    rows_add(rows, &got.results, NULL);
    rows_clear(&got);
    str_free(&out);
    return st;
}

/* Of a run that some blocks stand for there is no output to check; what was counted and the model makes
 * of it is whole. */
static bool is_predicted(const struct row *row)
{
    return row_real(row, "predicted_us") > 0;
}

static bool lacks_figures(const struct row *row)
{
    return row_text(row, "backend") && !row_text(row, "check") && !is_predicted(row);
}

/* Figures of the same kernel, parameters and shape that were recorded elsewhere; NULL: there are
 * none. The caller's. */
static struct row *recorded_instead(struct session *s, const struct row *row, const char *l2)
{
    const char *params = row_text(row, "params"), *backend = row_text(row, "backend");
    if (!backend_is_gpu(backend))
        return NULL;
    const struct recording_query q = {
        .kernel = row_text(row, "kernel"),
        .shape = row_text(row, "shape"),
        .params = params && *params ? params : NULL,
        .backend = backend,
        .l2 = l2,
    };
    struct library *library = session_library(s);
    const enum library_scope look = library_look(library, LIBRARY_SHIPPED);
    const struct recorded_row *best = q.kernel && q.shape ? library_best(library, &q) : NULL;
    library_look(library, look);
    return best ? row_hold(best->row) : NULL;
}

/* All rows that could not be measured here, with the caches in the same state, or none. */
static void fill_recorded(struct session *s, struct values *v, const char *l2)
{
    struct rowset filled = {0}, *rows = &v->rows.results;
    bool whole = true;
    for (size_t i = 0; i < rows->n; i++) {
        const struct row *row = rows->rows[i];
        struct row *other = lacks_figures(row) ? recorded_instead(s, row, l2) : row_hold(row);
        whole = whole && other;
        rowset_take(&filled, other ? other : row_hold(row));
    }
    struct rowset unused = whole ? *rows : filled;
    if (whole)
        *rows = filled;
    rowset_clear(&unused);
}

static enum status run_commands(struct session *s, const struct claim *c, const char *gpu,
                                struct values *v, struct err *err)
{
    struct call_list calls = {0};
    enum status st = ST_OK;
    if (strcmp(c->command, "-") != 0)
        st = line_calls(s, c->command, &calls, err);
    for (size_t i = 0; i < calls.count && (st == ST_OK || st == ST_NO || st == ST_NO_GPU); i++) {
        char *command = command_on(&calls, i, gpu);
        st = run_one(s, command, &v->rows, err);
        free(command);
    }
    /* Cold, as run measures when nothing is said: hot may decide otherwise, but is as right. */
    fill_recorded(s, v, "cold");
    if (is_verb(&calls, 0, "check"))
        fill_recorded(s, v, "hot");
    call_list_clear(&calls);
    return st;
}

/* ---- where from ---- */

/* A prediction is of the GPU that it is made for, whoever counted. */
static void say_where(const struct claim *c, const struct values *v, struct finding *out)
{
    const struct row *row = rowset_at(&v->rows.results, 0);
    const char *origin = row_text(row, "origin"), *device = row_text(row, "device");
    const char *time = row_text(row, "time");
    const char *gpu =
        strstr(c->relation, "predicted_us") ? row_text(row, "predicted_on") : row_text(row, "gpu");
    out->origin = !row ? "arithmetic" : gpu ? "model" : origin_word(origin);
    const char *where = gpu ? gpu : device;
    if (where && out->origin && strcmp(out->origin, "recorded") == 0 && time)
        out->on = xasprintf("%s, %.10s", where, time);
    else if (where)
        out->on = xstrdup(where);
}

/* Why nothing came of it: the first row without figures says so, or the command's own sentence. Where
 * recorded rows stand in for all that could not run here, the command's sentence is none. */
static char *say_why(const struct values *v, bool broken, const struct err *err)
{
    const char *why = NULL;
    for (size_t i = 0; i < v->rows.results.n && !why; i++) {
        const struct row *row = v->rows.results.rows[i];
        const bool absent = backend_is_gpu(row_text(row, "backend")) && !backend_gpu_is_here();
        if (lacks_figures(row))
            why = absent ? "needs a GPU, or a recording of it" : row_text(row, "reason");
    }
    const bool told = *err->text && (broken || !v->rows.results.n);
    return sanitize_line(why ? why : told ? err->text : "the figures differ too little to tell");
}

/* ---- the verdict ---- */

struct gap {
    const struct values *v;
    bool found;
};

static void look_for_gap(void *ctx, const char *name)
{
    struct gap *g = ctx;
    struct expr_env env = values_env(g->v);
    double x;
    g->found = g->found || !env.value(env.ctx, name, &x) || isnan(x);
}

/* A comparison with something unknown is false, which refutes nothing. */
static bool has_gap(const struct values *v, const struct expr *e)
{
    struct gap g = {.v = v};
    expr_names(e, look_for_gap, &g);
    return g.found;
}

static enum verdict decide(const struct claim *c, const struct values *v)
{
    if (expr_is_true(values_eval(v, c->holds)))
        return VERDICT_CONFIRMED;
    if (c->fails)
        return expr_is_true(values_eval(v, c->fails)) ? VERDICT_REFUTED : VERDICT_OPEN;
    return has_gap(v, c->holds) ? VERDICT_OPEN : VERDICT_REFUTED;
}

static bool any_lacks_figures(const struct values *v)
{
    for (size_t i = 0; i < v->rows.results.n; i++)
        if (lacks_figures(v->rows.results.rows[i]))
            return true;
    return false;
}

void claim_judge(struct session *s, const struct claim *c, const char *gpu, struct finding *out)
{
    struct values v;
    struct err err = ERR_INIT;
    struct str seen = {0};
    *out = (struct finding){.found = c->expected};
    if (!c->holds) {
        out->reason = c->why ? xstrdup(c->why) : NULL;
        return;
    }
    values_init(&v);
    const enum status st = run_commands(s, c, gpu, &v, &err);
    const bool broken = st != ST_OK && st != ST_NO && st != ST_NO_GPU;
    out->found = broken || any_lacks_figures(&v) ? VERDICT_OPEN : decide(c, &v);
    struct expr_env env = values_env(&v);
    expr_substitute(c->holds, &env, &seen);
    out->values = str_take(&seen);
    say_where(c, &v, out);
    if (out->found == VERDICT_OPEN)
        out->reason = say_why(&v, broken, &err);
    values_clear(&v);
}

void finding_clear(struct finding *f)
{
    free(f->on);
    free(f->values);
    free(f->reason);
    *f = (struct finding){0};
}
