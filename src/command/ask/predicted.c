/* predicted.c - see predicted.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/predicted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "command/ask/plan_here.h"

enum status predicted_run(struct session *s, const struct kernel_desc *d, const struct shape *shape,
                          const struct param_values *v, const struct device *gpu,
                          const json_t *phases, struct plan *plan, struct predict_run *run,
                          struct err *err)
{
    *run = (struct predict_run){.passes = 0};
    enum status st = plan_here_brief(s, d, shape, v, gpu, plan, err);
    return st == ST_OK ? predict_run(phases, plan, run, err) : st == ST_USAGE ? ST_NO : st;
}

/* ---- a row ---- */

static void forget(struct run_row *row)
{
    static const char *const names[] = {
        "predicted_us",    "predicted_on",      "predicted_error_pct",
        "predicted_binds", "predicted_parts",   "predicted_note",
        "predicted_ratio", "predicted_verdict", "predicted_whose"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        field_clear(field_find(run_fields, names[i]), row);
}

/* Without registers it is not known how many blocks an SM holds, but for a bound. Where most SMs have none, nothing makes
 * up for what the model does not know of one. */
static char *reserve(const struct predict_run *r, const struct predict_gpu *g)
{
    int64_t most = 0;
    for (int i = 0; i < r->passes; i++) {
        most = r->pass[i].blocks > most ? r->pass[i].blocks : most;
        if (r->pass[i].resident_is_bound)
            return xasprintf("its registers on that GPU are not known: taken as if %lld "
                             "block%s an SM, the most there can be",
                             (long long)r->pass[i].resident,
                             r->pass[i].resident == 1 ? " were on" : "s were on");
    }
    if (2 * most > g->sms)
        return NULL;
    return xasprintf("%lld block%s for %d SMs: the time is that of one block alone, in which every "
                     "latency that ptxas hides or adds counts in full",
                     (long long)most, most == 1 ? "" : "s", g->sms);
}

/* What of the user's own is not used is told once. */
const struct calibration *predicted_factors(struct session *s, const struct device *gpu,
                                            struct whose *whose)
{
    const struct calibration *c = calibrations_find(session_calibrations(s), gpu, whose);
    char *refused = calibrations_refused(session_calibrations(s)), *rest = refused;
    for (char *line; rest && (line = strsep(&rest, "\n"));)
        session_note(s, "%s", line);
    free(refused);
    return c;
}

static void fill(const struct calibration *c, const struct whose *whose,
                 const struct predict_run *run, struct predict_gpu *g, struct run_row *row)
{
    struct predicted_time p;
    g->factors = c->factors;
    predict(run, g, &p);
    if (isfinite(p.us) && p.us > 0) {
        row->predicted_us = p.us;
        row->predicted_error_pct = c->kernels_pct;
        if (calibration_is_fitted(c))
            row->predicted_whose = xstrdup(whose_words[whose->is]);
        row->predicted_binds = xstrdup(predict_unit_name(p.binds));
        row->predicted_parts = predicted_parts_json(&p, run);
        row->predicted_note = reserve(run, g);
    } else {
        row->predicted_note = xstrdup("the counts give no time");
    }
    predicted_time_clear(&p);
}

static void predict_on(struct session *s, const struct request *r, int i, bool anew,
                       struct run_row *row)
{
    struct err why = ERR_INIT;
    const struct device *gpu =
        row->counted_phases && r->descs[i] ? session_gpu(s, r->options.gpu, &why) : NULL;
    if (!gpu || (!anew && row->predicted_on && !strcmp(row->predicted_on, gpu->name)))
        return;
    struct plan plan;
    struct predict_run run;
    struct predict_gpu g;
    enum status st = predicted_run(s, r->descs[i], &r->problem.shape, &r->params[i], gpu,
                                   row->counted_phases, &plan, &run, &why);
    if (st == ST_OK)
        st = predict_gpu(gpu, &g, &why);
    forget(row);
    row->predicted_on = xstrdup(gpu->name);
    struct whose whose;
    const struct calibration *c = predicted_factors(s, gpu, &whose);
    if (st == ST_OK)
        fill(c, &whose, &run, &g, row);
    else
        row->predicted_note = xstrdup(why.text);
    predict_run_clear(&run);
    plan_clear(&plan);
}

void predicted_fill(struct session *s, const struct request *r, int i, struct run_row *row)
{
    predict_on(s, r, i, false, row);
}

void predicted_renew(struct session *s, const struct request *r, int i, struct run_row *row)
{
    predict_on(s, r, i, true, row);
}

/* ---- two rows ---- */

const struct calibration *predicted_calibration(struct session *s, const char *gpu,
                                                struct whose *whose)
{
    const struct device *d = NULL;
    if (gpu)
        (void)devices_get(s->services.devices, gpu, &d, NULL);
    return predicted_factors(s, d, whose);
}

static bool comparable(const struct run_row *a, const struct run_row *b)
{
    return a->predicted_us > 0 && b->predicted_us > 0 && a->predicted_on && b->predicted_on &&
           a->shape && b->shape && !strcmp(a->predicted_on, b->predicted_on) &&
           !strcmp(a->shape, b->shape);
}

int predicted_rank(const struct run_row *a, const struct run_row *b, double apart)
{
    if (isnan(apart) || !comparable(a, b))
        return 0;
    const double ratio = a->predicted_us / b->predicted_us;
    if (fmax(ratio, 1 / ratio) < apart)
        return 0;
    return ratio < 1 ? -1 : 1;
}

int predicted_order(struct session *s, const struct run_row *a, const struct run_row *b)
{
    return predicted_rank(a, b, predicted_calibration(s, a->predicted_on, NULL)->apart);
}

void predicted_compare(struct session *s, struct run_rows *rows)
{
    static const char *const words[] = {"FASTER", "AMBIGUOUS", "SLOWER"};
    struct run_row *base = NULL;
    for (size_t i = 0; i < rows->n; i++) {
        struct run_row *row = &rows->v[i];
        const char *word = base ? words[predicted_order(s, row, base) + 1] : "base";
        if (base ? !comparable(row, base) : !(row->predicted_us > 0))
            continue;
        base = base ? base : row;
        row->predicted_ratio = row->predicted_us / base->predicted_us;
        free(row->predicted_verdict);
        row->predicted_verdict = xstrdup(word);
    }
}
