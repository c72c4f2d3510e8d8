/* estimate.c - see estimate.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "command/ask/measure.h"
#include "command/front.h"
#include "command/session.h"

static const double quick_flops = 5e9, probe_flops = 3e8;
static const double told_s = 10, long_s = 60;

/* At most 8 query heads, in groups as large as before. */
static void cut_heads(struct shape *s)
{
    const int64_t group = s->H / s->Hkv;
    if (s->H <= 8)
        return;
    s->Hkv = group < 8 ? 8 / group : 1;
    s->H = s->Hkv * group;
    s->hkv_given = true;
}

static int64_t cut_length(int64_t n, double factor)
{
    const int64_t cut = (int64_t)ceil((double)n * factor);
    return cut >= 64 ? cut : n < 64 ? n : 64;
}

struct problem estimate_probe(const struct problem *p)
{
    struct problem probe = PROBLEM_DEFAULT;
    struct shape *s = &probe.shape;
    *s = p->shape;
    probe.seed = p->seed;
    if (p->input != INPUT_FILES)
        probe.input = p->input;
    if (shape_flops(s) <= probe_flops)
        return probe;
    s->B = 1;
    cut_heads(s);
    const double factor = fmin(1, sqrt(probe_flops / shape_flops(s)));
    s->Sq = cut_length(s->Sq, factor);
    s->Sk = cut_length(s->Sk, factor);
    return probe;
}

double estimate_row_s(const struct timing_rule *rule, double once_s, bool timed)
{
    if (!timed)
        return once_s;
    const double warm = once_s < rule->warm_s ? rule->warm_s : 0;
    const double samples = rule->n > 0 ? fmin((double)rule->n * once_s, rule->max_s) : rule->max_s;
    return once_s + warm + fmax(samples, once_s);
}

/* One kernel of `r` on the small problem: seconds of a run; NaN when it did not come to that.
 * ST_CANCELLED is all that stops the whole. */
static enum status probe_s(struct session *s, const struct request *r, int i, double *once_s,
                           struct err *err)
{
    const struct measure_how how = {.kind = JOB_RUN, .no_store = true, .verb = "run"};
    struct request one;
    struct measured m;
    request_copy(&one, r);
    request_put_first(&one, i);
    const struct problem small = estimate_probe(&r->problem);
    problem_copy(&one.problem, &small);
    one.options.rule.n = 1;
    one.options.rule.warm_s = 0;
    const int count = one.nkernels;
    one.nkernels = 1;
    struct measuring *run = measure_start(s, &one, &how);
    measure_wait(run);
    measure_close(run, &m);
    const double us = m.rows.n ? m.rows.v[0].median_us : REAL_UNKNOWN;
    const bool cancelled = m.status == ST_CANCELLED;
    if (cancelled)
        err_set(err, ST_CANCELLED, "%s", m.err.text);
    measured_clear(&m);
    one.nkernels = count;
    request_clear(&one);
    *once_s = us * 1e-6 * shape_flops(&r->problem.shape) / shape_flops(&small.shape);
    return cancelled ? ST_CANCELLED : ST_OK;
}

const char *estimate_text(char buf[NUMBER_BUF], double seconds)
{
    const char *unit = seconds < 100 ? "s" : seconds < 6000 ? "min" : "h";
    const double v = seconds / (seconds < 100 ? 1 : seconds < 6000 ? 60 : 3600);
    snprintf(buf, NUMBER_BUF, "%.*f %s", v < 10 && *unit != 's', v, unit);
    return buf;
}

static enum status weigh(struct session *s, const struct request *r, int i, double row_s,
                         bool meant, struct err *err)
{
    char buf[NUMBER_BUF];
    const char *name = r->kernels[i]->name;
    estimate_text(buf, row_s);
    if (row_s > told_s)
        session_note(s, "%s: about %s for this row, by a short run on a smaller shape", name, buf);
    if (row_s <= long_s || meant)
        return ST_OK;
    if (s->front.ask) {
        char *question = xasprintf("%s would take about %s. Run it?", name, buf);
        const bool yes = s->front.ask(s->front.ctx, question);
        free(question);
        return yes ? ST_OK : err_set(err, ST_CANCELLED, "%s was not run", name);
    }
    return err_set(err, ST_USAGE,
                   "%s would take about %s on this shape; write time=5 to run it all the same, or "
                   "ask for a smaller one",
                   name, buf);
}

enum status estimate_ask(struct session *s, const struct request *r, enum job_kind kind, bool meant,
                         struct err *err)
{
    const char *backend;
    if (shape_flops(&r->problem.shape) < quick_flops || request_backend(r, &backend, NULL) ||
        backend_is_gpu(backend) || !backend_info(backend)->times)
        return ST_OK;
    enum status st = ST_OK;
    for (int i = 0; !st && i < r->nkernels; i++) {
        if (measure_refuses(r, i, NULL))
            continue;
        double once_s;
        st = probe_s(s, r, i, &once_s, err);
        const double row_s = estimate_row_s(&r->options.rule, once_s, kind == JOB_RUN);
        if (!st && row_s > told_s)
            st = weigh(s, r, i, row_s, meant, err);
    }
    return st;
}
