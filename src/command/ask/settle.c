/* settle.c - see settle.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/settle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "command/ask/automatic.h"
#include "command/ask/measure.h"

static const double each_s =
    0.05; /* of samples of a kernel: what differs by less than a per cent then may be taken either way */

static const double alike = 1.005; /* times as long is the same, in three digits */

/* Is it one GPU of this machine that runs it? */
static bool runs_here(const struct options *o)
{
    const struct backend_info *b = automatic_runner(o);
    return b && b->gpu && b->times && !o->host && !o->nodes && o->gpus <= 1;
}

/* Is it known which one, and may what is found be kept? */
static bool may_settle(struct session *s, const struct request *r)
{
    const struct options *o = &r->options;
    const struct device *gpu = session_gpu(s, NULL, NULL);
    return gpu && session_gpu_is_here(s, gpu) && session_may(s, MAY_WRITE) &&
           !automatic_is_known(s, &r->problem, o, false);
}

/* A GPU that no row has named yet is made to say what it is. */
static void look_at_gpu(struct session *s, const struct request *r)
{
    const struct measure_how how = {.kind = JOB_CHECK, .no_store = true, .verb = "check"};
    struct request_word words[] = {
        {"backend", automatic_runner(&r->options)->name}, {"S", "16"}, {"H", "1"}, {0}};
    struct request sub;
    struct measured m;
    const struct device *gpu = session_gpu(s, NULL, NULL);
    if (s->services.gpu.ran || (gpu && session_gpu_is_here(s, gpu)) ||
        request_of(s, "naive", words, REQUEST_FRESH, &sub, NULL))
        return;
    measure(s, &sub, &how, &m);
    measured_clear(&m);
    request_clear(&sub);
}

/* The candidates, for the problem as it is asked, a few samples each. */
static enum status request_for(struct session *s, const struct request *r,
                               const struct automatic_ranking *by, size_t n, struct request *out,
                               struct err *err)
{
    enum { WORDS = 32 };
    char shape[SHAPE_TEXT];
    struct str names = {0};
    struct request_word words[WORDS + 2] = {{"backend", automatic_runner(&r->options)->name}};
    shape_format(&r->problem.shape, shape, sizeof shape);
    words[request_split(shape, words, 1, WORDS)] = (struct request_word){0};
    for (size_t i = 0; i < n; i++) {
        char *name = automatic_name(&by->v[i]);
        str_addf(&names, "%s%s", i ? "," : "", name);
        free(name);
    }
    const enum status st = request_of(s, str_text(&names), words, REQUEST_FRESH, out, err);
    str_free(&names);
    if (st)
        return st;
    problem_copy(&out->problem, &r->problem);
    options_copy(&out->options, &r->options);
    struct timing_rule *rule = &out->options.rule;
    rule->n = 0;
    rule->max_s = rule->warm_s = fmin(each_s, rule->max_s);
    rule->min_s = rule->max_s / 2;
    free(out->options.l2);
    out->options.l2 = xstrdup(by->l2);
    return ST_OK;
}

/* ---- what comes of it ---- */

static struct tuned entry(const struct request *r, const struct automatic_ranking *by, size_t i,
                          const struct run_row *row)
{
    struct tuned t;
    char shape[SHAPE_TEXT];
    shape_format(&r->problem.shape, shape, sizeof shape);
    record_init(tuned_fields, &t);
    t.device = xstrdup(by->device);
    t.backend = xstrdup(automatic_runner(&r->options)->name);
    t.l2 = xstrdup(by->l2);
    t.shape = xstrdup(shape);
    t.kernel = xstrdup(row->kernel);
    t.own = by->v[i].own ? xstrdup(by->v[i].own) : NULL;
    t.scope = xstrdup(tuned_scope_shape);
    t.hash = row->source_hash ? xstrdup(row->source_hash) : NULL;
    t.time = row->time ? xstrdup(row->time) : NULL;
    t.median_us = row->median_us;
    return t;
}

static bool counts(const struct run_row *row)
{
    return run_row_passed(row) && row->median_us > 0 && row->source_hash;
}

/* Which of the rows is the fastest, and the next after it; -1: none. */
static void find_best(const struct run_rows *rows, int best[2])
{
    best[0] = best[1] = -1;
    for (int i = 0; i < (int)rows->n; i++) {
        const struct run_row *row = &rows->v[i];
        if (!counts(row))
            continue;
        if (best[0] < 0 || row->median_us < rows->v[best[0]].median_us) {
            best[1] = best[0];
            best[0] = i;
        } else if (best[1] < 0 || row->median_us < rows->v[best[1]].median_us)
            best[1] = i;
    }
}

/* `why`: it could not be kept; NULL: it is. */
static void say(struct session *s, const struct automatic_ranking *by, const struct run_rows *rows,
                const int best[2], size_t timed, const char *why)
{
    char us[NUMBER_BUF], times[NUMBER_BUF];
    const double fastest = rows->v[best[0]].median_us;
    char *name = automatic_name(&by->v[best[0]]), *next = automatic_name(&by->v[best[1]]);
    char *beside = rows->v[best[1]].median_us < alike * fastest
                       ? xasprintf("%s as long", next)
                       : xasprintf("%s %s times that", next,
                                   number_fmt(times, rows->v[best[1]].median_us / fastest, 3));
    session_note(s, "auto: %s, the fastest of %zu that may be, timed just now: %s us, and %s; %s%s",
                 name, timed, number_fmt(us, fastest, 4), beside,
                 why ? "not kept: " : "kept for this shape", why ? why : "");
    free(beside);
    free(name);
    free(next);
}

/* All that were timed, so that the fastest is the first of them. Less than two say nothing. */
static enum status keep(struct session *s, const struct request *r,
                        const struct automatic_ranking *by, const struct run_rows *rows,
                        struct err *err)
{
    struct tuned t[AUTOMATIC_MOST];
    size_t n = 0;
    int best[2];
    char *path = NULL;
    find_best(rows, best);
    if (best[1] < 0)
        return err_set(err, ST_NO, "the times that would tell did not come");
    for (size_t i = 0; i < rows->n && n < AUTOMATIC_MOST; i++)
        if (counts(&rows->v[i]))
            t[n++] = entry(r, by, i, &rows->v[i]);
    struct err why = ERR_INIT;
    const enum status st = tunings_keep(session_tunings(s), t, n, &path, &why);
    say(s, by, rows, best, n, st ? why.text : NULL);
    for (size_t i = 0; i < n; i++)
        tuned_clear(&t[i]);
    free(path);
    return ST_OK;
}

static enum status time_them(struct session *s, const struct request *r,
                             const struct automatic_ranking *by, size_t n, struct err *err)
{
    const struct measure_how how = {
        .kind = JOB_RUN, .interleave = true, .no_store = true, .verb = "compare"};
    struct request sub;
    struct measured m;
    enum status st = request_for(s, r, by, n, &sub, err);
    if (st)
        return st;
    measure(s, &sub, &how, &m);
    st = m.status;
    if (st)
        *err = m.err;
    else
        st = keep(s, r, by, &m.rows, err);
    measured_clear(&m);
    request_clear(&sub);
    return st;
}

enum status automatic_settle(struct session *s, const struct request *r, struct err *err)
{
    struct automatic_ranking by;
    struct err why = ERR_INIT;
    enum status st = ST_OK;
    if (!runs_here(&r->options))
        return ST_OK;
    look_at_gpu(s, r);
    if (!may_settle(s, r))
        return ST_OK;
    automatic_rank(s, &r->problem, &r->options, false, &by);
    const size_t n = automatic_doubt(&by);
    if (n > 1) {
        st = time_them(s, r, &by, n, &why);
        if (st == ST_CANCELLED)
            *err = why;
        else if (st)
            session_note(s,
                         "auto: %zu kernels are expected to take about as long, and which is "
                         "faster was not found: %s",
                         n, why.text);
    }
    automatic_ranking_clear(&by);
    return st == ST_CANCELLED ? st : ST_OK;
}
