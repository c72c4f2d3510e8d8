/* tune_measure.c - see tune_measure.h.
 *
 * Which combination is fastest of many is decided in rounds, so that luck decides little and bad ones cost little:
 *   kernels  of several, each with its defaults: what takes half as long again as the best is not varied
 *   sift     all, a few samples each, in batches; each batch has the base in it, the defaults of the first kernel, and
 *            only ratios to it are carried over, since clocks and neighbours change from batch to batch
 *   finish   the best few and the base, in turns, for as long as any comparison
 *   confirm  the winner and the base alone, anew: the best of many measurements is partly the luckiest, so the time and
 *            the verdict that count are of a run that nothing was chosen by
 *            (where the times lie apart and only too few of them count, it is run once more, four times as long)
 * What the kernel or the plan rules out, and what spills where the base does not, is not timed. Without FASTER in the
 * last round the defaults stay.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/tune_measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "command/ask/automatic.h"
#include "command/ask/axis.h"
#include "command/ask/keys.h"
#include "command/ask/plan_here.h"
#include "command/output.h"
#include "command/session.h"
#include "command/verbs/cmd_compare.h"
#include "command/verbs/tune_values.h"

enum {
    GIVEN_MAX = 4,
    VALUES_MAX = 32,
    TOGETHER = 48,   /* combinations of all kernels that are looked at without being asked for, */
    PER_KERNEL = 12, /* but of each so many */
    ALL_MAX = 256,
    BATCH = 8, /* beside the base */
    FINALISTS = 5
};
static const char word_measure[] = "measure";
static const double hopeless = 1.1; /* times of the base, when sifted: no finalist */
static const double too_slow =
    1.5; /* times of the best kernel with its defaults: it is not varied */

struct given {
    char *name, **values;
    int count;
};

struct candidate {
    int kernel;   /* entry of the base */
    char *own;    /* "BR=32@BC=64"; NULL: its defaults */
    double ratio; /* to the base; NaN: it did not pass */
};

struct search {
    struct session *s;
    struct cmd_call *c;
    struct request base;
    const struct device *gpu; /* NULL: no GPU runs it */
    struct given given[GIVEN_MAX];
    int ngiven;
    struct candidate *v;
    size_t n, cap;
    int refused, batches, slow;
    long each; /* combinations of a kernel */
};

static void search_clear(struct search *x)
{
    for (int i = 0; i < x->ngiven; i++) {
        free(x->given[i].name);
        axis_free(x->given[i].values, x->given[i].count);
    }
    for (size_t i = 0; i < x->n; i++)
        free(x->v[i].own);
    free(x->v);
    request_clear(&x->base);
}

/* ---- what is asked ---- */

static int measure_word(const struct cmd_call *c)
{
    for (int i = 0; i < c->nwords; i++)
        if (!strcmp(c->words[i].text, word_measure))
            return i;
    return -1;
}

bool tune_measures(const struct cmd_call *c)
{
    return measure_word(c) >= 0;
}

static void drop_word(struct cmd_call *c, int i)
{
    free(c->words[i].text);
    memmove(c->words + i, c->words + i + 1, (size_t)(--c->nwords - i) * sizeof *c->words);
}

/* Lists and ranges of the call. */
static enum status take_given(struct search *x, struct err *err)
{
    struct cmd_call *c = x->c;
    for (int i = 0; i < c->npairs; i++) {
        struct cmd_pair *p = &c->pairs[i];
        bool known = false;
        if (p->used || !axis_is(p->value) || is_option_key(p->key) || is_input_key(p->key))
            continue;
        for (int k = 0; k < x->base.nkernels; k++)
            known |= desc_param_index(x->base.descs[k], p->key) >= 0;
        enum status st = ST_OK;
        struct given *g = &x->given[x->ngiven];
        if (!known || x->ngiven == GIVEN_MAX)
            st = err_set(err, ST_USAGE,
                         known ? "tune varies at most %d parameters"
                               : "tune varies parameters of kernels, at most %d; \"%s\" is none",
                         GIVEN_MAX, p->key);
        if (!st)
            st = axis_expand(p->value, &g->values, &g->count, err);
        if (st)
            return call_mark_key(c, p->key, st, err);
        g->name = xstrdup(p->key);
        x->ngiven++;
        (void)call_key(c, p->key);
    }
    return ST_OK;
}

static enum status need_clock(struct search *x, struct err *err)
{
    const char *name;
    const enum status st = request_backend(&x->base, &name, err);
    if (st)
        return st;
    if (!request_has_times(&x->base))
        return err_set(err, ST_NO_GPU, "tune ... measure needs times, and backend=%s has none",
                       name);
    if (x->base.options.l2 && !strcmp(x->base.options.l2, "both"))
        return call_mark_key(x->c, "l2",
                             err_set(err, ST_USAGE,
                                     "tune ... measure takes l2=cold or l2=hot: what is "
                                     "fastest may differ"),
                             err);
    if (x->base.options.gpus > 1)
        return call_mark_key(x->c, "gpus",
                             err_set(err, ST_USAGE,
                                     "tune ... measure keeps what is fastest on one GPU; leave out "
                                     "gpus="),
                             err);
    return ST_OK;
}

/* Of kernels without this side nothing can be timed. */
static void keep_runnable(struct search *x)
{
    struct request *r = &x->base;
    for (int i = r->nkernels - 1; i >= 0; i--)
        if (!r->descs[i] || measure_refuses(r, i, NULL))
            request_drop(r, i);
}

static enum status search_make(struct search *x, struct err *err)
{
    drop_word(x->c, measure_word(x->c));
    enum status st = request_make(x->s, x->c, REQUEST_AXES, &x->base, err);
    if (st)
        return st;
    if (!x->base.nkernels)
        return err_set(err, ST_USAGE,
                       "tune needs a kernel, for example: tune cpu_tiled S=512 measure");
    st = need_clock(x, err);
    if (st)
        return st;
    char *first = xstrdup(x->base.kernels[0]->name);
    keep_runnable(x);
    if (!x->base.nkernels)
        st = err_set(err, ST_NO, "%s cannot run this here; \"run %s\" says why", first, first);
    free(first);
    if (!st)
        st = take_given(x, err);
    return st ? st : call_finish(x->s, x->c, err);
}

/* ---- combinations ---- */

/* Of a parameter as texts. */
struct axis {
    int param, count;
    char *values[VALUES_MAX];
};

static bool is_free(const struct field *f, const struct param_values *v, int p)
{
    return !f->words && f->hi > f->lo && v->v[p] > 0 && !(v->given & 1u << p) &&
           strcmp(f->name, "PAD") != 0;
}

/* Powers of 2 from the default divided by `reach` to `reach` times it, but no tile longer than the shape need have it, and
 * the default. */
static void usual_axis(const struct search *x, int kernel, int p, int reach, struct axis *a)
{
    const struct kernel_desc *d = x->base.descs[kernel];
    const int64_t usual = x->base.params[kernel].v[p];
    const double from = fmax(d->params[p].lo, (double)usual / reach),
                 to = fmin(d->params[p].hi, (double)usual * reach);
    bool had = false, covered = false;
    a->param = p;
    for (int64_t v = 1; (double)v <= to && a->count < VALUES_MAX - 1; v *= 2) {
        if ((double)v < from || (covered && v != usual))
            continue;
        covered = covered || tune_covers(d, p, &x->base.problem.shape, x->gpu, v);
        a->values[a->count++] = xasprintf("%lld", (long long)v);
        had |= v == usual;
    }
    if (!had)
        a->values[a->count++] = xasprintf("%lld", (long long)usual);
}

static void axis_clear(struct axis *a)
{
    for (int i = 0; i < a->count; i++)
        free(a->values[i]);
    a->count = 0;
}

static long product(const struct axis *a, int n)
{
    long all = 1;
    for (int i = 0; i < n; i++)
        all *= a[i].count;
    return all;
}

/* What the call gives, else what is usual: farther from the defaults where that is not too much. */
static int axes_of(const struct search *x, int kernel, struct axis *axes)
{
    const struct kernel_desc *d = x->base.descs[kernel];
    const struct param_values *v = &x->base.params[kernel];
    int n = 0;
    for (int g = 0; g < x->ngiven; g++) {
        const int p = desc_param_index(d, x->given[g].name);
        for (int i = 0; p >= 0 && i < x->given[g].count && i < VALUES_MAX; i++) {
            axes[n].param = p;
            axes[n].values[axes[n].count++] = xstrdup(x->given[g].values[i]);
        }
        n += p >= 0;
    }
    for (int reach = 4; !x->ngiven && reach; reach = reach == 4 ? 2 : 0) {
        for (int i = 0; i < n; i++)
            axis_clear(&axes[i]);
        n = 0;
        for (int p = 0; p < d->nparams; p++)
            if (is_free(&d->params[p], v, p))
                usual_axis(x, kernel, p, reach, &axes[n++]);
        if (product(axes, n) <= x->each)
            break;
    }
    while (!x->ngiven && n && product(axes, n) > x->each)
        axis_clear(&axes[--n]);
    return n;
}

/* Sets combination `at`; *own gets what differs from the base. False: a value is none of the parameter's. */
static bool combination(const struct search *x, int kernel, const struct axis *axes, int n, long at,
                        struct param_values *v, char **own)
{
    const struct kernel_desc *d = x->base.descs[kernel];
    struct str s = {0};
    bool good = true;
    *v = x->base.params[kernel];
    for (int i = 0; i < n && good; at /= axes[i++].count) {
        const char *name = d->params[axes[i].param].name,
                   *value = axes[i].values[at % axes[i].count];
        good = desc_param_set(d, v, name, value, NULL) == ST_OK;
        if (v->v[axes[i].param] != x->base.params[kernel].v[axes[i].param])
            str_addf(&s, "%s%s=%s", s.len ? "@" : "", name, value);
    }
    *own = s.len ? str_take(&s) : NULL;
    str_free(&s);
    return good;
}

/* Can it run, as far as that is known before it is compiled? */
static bool may_run(const struct search *x, int kernel, const struct param_values *v)
{
    const struct kernel_desc *d = x->base.descs[kernel];
    const struct shape *shape = &x->base.problem.shape;
    struct plan p = {0};
    if (!x->gpu)
        return !desc_supports(d, shape, v, 0, NULL);
    const bool may = plan_build(d, shape, v, x->gpu, NULL, &p, NULL) == ST_OK;
    plan_clear(&p);
    return may;
}

static void add_kernel(struct search *x, int kernel)
{
    struct axis axes[DESC_PARAMS_MAX] = {{0}};
    const int n = axes_of(x, kernel, axes);
    for (long at = 0, all = product(axes, n); at < all; at++) {
        struct param_values v;
        char *own;
        const bool good = combination(x, kernel, axes, n, at, &v, &own) && may_run(x, kernel, &v);
        x->refused += !good;
        if (!good || (!own && !kernel) || x->n == ALL_MAX) { /* the base is in every batch */
            free(own);
            continue;
        }
        xgrow((void **)&x->v, &x->cap, x->n + 1, sizeof *x->v);
        x->v[x->n++] = (struct candidate){.kernel = kernel, .own = own, .ratio = NAN};
    }
    for (int i = 0; i < n; i++)
        axis_clear(&axes[i]);
}

/* The base, and behind it some candidates. */
static enum status request_for(const struct search *x, const struct candidate *const *v, size_t n,
                               struct request *out, struct err *err)
{
    enum status st = ST_OK;
    request_copy(out, &x->base);
    for (size_t i = 0; i < n && !st; i++)
        st = request_add(out, v[i]->kernel, v[i]->own, err);
    for (int i = x->base.nkernels - 1; i > 0; i--)
        request_drop(out, i);
    return st;
}

/* On a GPU everything is compiled before anything is timed; what spills, where the base does not, goes. */
static enum status sort_out_spilling(struct search *x, struct err *err)
{
    bool spills[ALL_MAX + 1] = {false};
    struct request all;
    const struct candidate **v = xcalloc(x->n + 1, sizeof *v);
    for (size_t i = 0; i < x->n; i++)
        v[i] = &x->v[i];
    enum status st = x->gpu ? request_for(x, v, x->n, &all, err) : ST_OK;
    free(v);
    if (!x->gpu)
        return ST_OK;
    if (!st)
        plans_compile(x->s, &all, x->gpu);
    for (int i = 0; i < all.nkernels && !st; i++) {
        struct plan p = {0};
        (void)plan_here(x->s, all.descs[i], &all.problem.shape, &all.params[i], x->gpu, &p, NULL);
        for (int k = 0; k < p.npasses; k++)
            spills[i] |= p.passes[k].spill_bytes != INT_UNKNOWN && p.passes[k].spill_bytes > 0;
        plan_clear(&p);
    }
    size_t kept = 0;
    for (size_t i = 0; i < x->n; i++)
        if (!st && spills[i + 1] && !spills[0]) {
            free(x->v[i].own);
            x->refused++;
        } else
            x->v[kept++] = x->v[i];
    x->n = kept;
    request_clear(&all);
    return st;
}

/* ---- rounds ---- */

enum round { SIFT, FINISH, CONFIRM };

static void hurry(struct timing_rule *r)
{
    enum { SHARE = 20, LEAST = 3 };
    if (r->n > LEAST)
        r->n = r->n / 4 > LEAST ? r->n / 4 : LEAST;
    r->max_s /= SHARE;
    r->min_s = fmin(r->min_s, r->max_s / 2);
    r->min_n = LEAST;
    r->warm_s = fmin(r->warm_s, r->max_s / 2);
}

/* Times the base and these; ratios go to the candidates. Where the base itself has no time, nothing can be said. */
static enum status time_them(struct search *x, struct candidate **v, size_t n, enum round round,
                             struct request *r, struct measured *m, struct err *err)
{
    const struct measure_how how = {
        .kind = JOB_RUN, .interleave = true, .no_store = round != FINISH, .verb = "compare"};
    enum status st = request_for(x, (const struct candidate *const *)v, n, r, err);
    if (st) {
        *m = (struct measured){.err = ERR_INIT};
        return st;
    }
    if (round == SIFT)
        hurry(&r->options.rule);
    measure(x->s, r, &how, m);
    st = m->status;
    if (st && err)
        *err = m->err;
    const struct run_row *base = m->rows.n ? &m->rows.v[0] : NULL;
    if (!st && (!base || !run_row_passed(base) || !(base->median_us > 0)))
        st = err_set(err, ST_FAIL, "the defaults of %s have no time to compare with: %s",
                     x->base.kernels[0]->name,
                     base && base->reason ? base->reason : "their check failed");
    for (size_t i = 0; i < n && !st && i + 1 < m->rows.n; i++) {
        const struct run_row *row = &m->rows.v[i + 1];
        v[i]->ratio = run_row_passed(row) ? row->median_us / base->median_us : NAN;
        if (run_row_passed(row) && isfinite(row->ratio))
            v[i]->ratio = row->ratio;
    }
    return st;
}

static enum status sift(struct search *x, struct err *err)
{
    enum status st = ST_OK;
    for (size_t from = 0; from < x->n && !st; from += BATCH, x->batches++) {
        const size_t n = x->n - from < BATCH ? x->n - from : BATCH;
        struct candidate *v[BATCH];
        struct request r;
        struct measured m;
        for (size_t i = 0; i < n; i++)
            v[i] = &x->v[from + i];
        st = time_them(x, v, n, SIFT, &r, &m, err);
        measured_clear(&m);
        request_clear(&r);
    }
    return st;
}

/* The base alone: has it a time at all? And a GPU that nobody knows yet is known then, which says what can run. */
static enum status begin(struct search *x, struct err *err)
{
    struct request r;
    struct measured m;
    const enum status st = time_them(x, NULL, 0, SIFT, &r, &m, err);
    measured_clear(&m);
    request_clear(&r);
    x->gpu = automatic_runner(&x->base.options)->gpu ? session_gpu(x->s, NULL, NULL) : NULL;
    return st;
}

/* Kernels that are far behind with their defaults are dropped; the base stays. */
static enum status drop_slow(struct search *x, struct err *err)
{
    double best = 1;
    for (int k = 1; k < x->base.nkernels; k++) {
        xgrow((void **)&x->v, &x->cap, x->n + 1, sizeof *x->v);
        x->v[x->n++] = (struct candidate){.kernel = k, .ratio = NAN};
    }
    const enum status st = sift(x, err);
    for (size_t i = 0; i < x->n; i++)
        best = fmin(best, x->v[i].ratio);
    for (size_t i = x->n; i-- > 0 && !st;)
        if (!(x->v[i].ratio <= too_slow * best)) {
            request_drop(&x->base, x->v[i].kernel);
            x->slow++;
        }
    x->n = 0;
    x->each = TOGETHER / x->base.nkernels > PER_KERNEL ? TOGETHER / x->base.nkernels : PER_KERNEL;
    return st;
}

static int by_ratio(const void *a, const void *b)
{
    const double x = ((const struct candidate *)a)->ratio, y = ((const struct candidate *)b)->ratio;
    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

/* The best ones first; returns how many go on. */
static size_t choose(struct search *x)
{
    size_t n = 0;
    if (x->n)
        qsort(x->v, x->n, sizeof *x->v, by_ratio);
    while (n < x->n && n < FINALISTS && x->v[n].ratio < hopeless)
        n++;
    return n;
}

/* ---- what comes of it ---- */

/* "fa2 (BR=32 BC=64)". The caller frees it. */
static char *name_of(const struct search *x, const struct candidate *w)
{
    const char *kernel = x->base.kernels[w ? w->kernel : 0]->name;
    if (!w || !w->own)
        return xasprintf("%s with its defaults", kernel);
    char *own = xstrdup(w->own);
    for (char *p = own; *p; p++)
        if (*p == '@')
            *p = ' ';
    char *text = xasprintf("%s (%s)", kernel, own);
    free(own);
    return text;
}

static enum status keep(struct search *x, const struct candidate *w, const struct run_row *row,
                        const struct run_row *verdict, char **path, struct err *err)
{
    struct tuned t;
    char shape[SHAPE_TEXT];
    const struct backend_info *b = automatic_runner(&x->base.options);
    shape_format(&x->base.problem.shape, shape, sizeof shape);
    record_init(tuned_fields, &t);
    t.device = automatic_device(x->s, &x->base.options);
    t.backend = xstrdup(b->name);
    t.l2 = xstrdup(row->l2 ? row->l2 : "cold");
    t.alike = tuned_class(&x->base.problem.shape);
    t.shape = xstrdup(shape);
    t.kernel = xstrdup(row->kernel);
    t.own = w && w->own ? xstrdup(w->own) : NULL;
    t.hash = row->source_hash ? xstrdup(row->source_hash) : NULL;
    t.time = row->time ? xstrdup(row->time) : NULL;
    t.verdict = verdict && verdict->verdict ? xstrdup(verdict->verdict) : NULL;
    t.base = xstrdup(x->base.kernels[0]->name);
    t.median_us = row->median_us;
    t.ratio = verdict ? verdict->ratio : 1;
    t.tried = (int64_t)x->n + 1;
    const enum status st =
        t.hash ? tunings_keep(session_tunings(x->s), &t, 1, path, err)
               : err_set(err, ST_NO, "%s has no source whose changes could be seen", t.kernel);
    tuned_clear(&t);
    return st;
}

static void say_kept(struct search *x, const struct candidate *w, const struct run_row *row,
                     const struct run_row *verdict)
{
    struct err err = ERR_INIT;
    char *path = NULL, *alike = tuned_class(&x->base.problem.shape);
    const bool text = call_format(x->c) == FORMAT_TEXT;
    enum status st;
    if (!session_may(x->s, MAY_WRITE))
        session_note(x->s, "not kept for auto: this session writes no files");
    else if ((st = keep(x, w, row, verdict, &path, &err))) {
        session_note(x->s, "not kept for auto: %s", err.text);
        x->s->services.unkept |= st == ST_FAIL; /* it was measured to be kept */
    } else if (text) {
        char *clean = sanitize_line(path), *name = name_of(x, w);
        str_addf(x->c->out, "auto is now %s for shapes like this (%s); kept in %s\n", name, alike,
                 clean);
        free(name);
        free(clean);
    }
    free(path);
    free(alike);
}

static void say_confirmed(struct search *x, const struct candidate *w, const struct run_row *row)
{
    char a[NUMBER_BUF], b[NUMBER_BUF], c[NUMBER_BUF], us[NUMBER_BUF], *name = name_of(x, w);
    const bool faster = row->verdict && !strcmp(row->verdict, "FASTER");
    const size_t from = x->c->out->len;
    str_addf(x->c->out,
             "timed once more, beside the defaults of %s alone: %s takes %s us, %s times their "
             "time, 95 %% interval %s..%s: %s%s%s\n",
             x->base.kernels[0]->name, name, number_fmt(us, row->median_us, 4),
             number_fmt(a, row->ratio, 3), number_fmt(b, row->ratio_lo, 3),
             number_fmt(c, row->ratio_hi, 3),
             faster ? "FASTER" : "no winner beyond the noise, so the defaults stay",
             !faster && row->verdict_reason ? ": " : "",
             !faster && row->verdict_reason ? row->verdict_reason : "");
    lines_wrap(x->c->out, from, call_width(x->s, x->c));
    free(name);
}

/* Did the times lie apart, and yet too few of them count? */
static bool wants_more(const struct run_row *row)
{
    return run_row_passed(row) && row->verdict && !strcmp(row->verdict, "AMBIGUOUS") &&
           row->ratio_hi < 0.99;
}

/* The winner of the finish against the base, anew; where that is clear but for too few pairs, once more for longer. */
static enum status confirm(struct search *x, struct candidate *w, struct err *err)
{
    enum { LONGER = 4 };
    struct request r;
    struct measured m;
    struct candidate *one[] = {w};
    enum status st = time_them(x, one, 1, CONFIRM, &r, &m, err);
    if (!st && m.rows.n == 2 && wants_more(&m.rows.v[1])) {
        measured_clear(&m);
        request_clear(&r);
        x->base.options.rule.n *= LONGER;
        x->base.options.rule.max_s *= LONGER;
        st = time_them(x, one, 1, CONFIRM, &r, &m, err);
    }
    if (!st && m.rows.n == 2) {
        const struct run_row *row = &m.rows.v[1];
        const bool won = run_row_passed(row) && row->verdict && !strcmp(row->verdict, "FASTER");
        if (call_format(x->c) == FORMAT_TEXT && run_row_passed(row))
            say_confirmed(x, w, row);
        say_kept(x, won ? w : NULL, won ? row : &m.rows.v[0], won ? row : NULL);
    }
    measured_clear(&m);
    request_clear(&r);
    return st;
}

static void say_tried(struct search *x, size_t finalists)
{
    char refused[NUMBER_BUF];
    struct str *out = x->c->out;
    if (call_format(x->c) != FORMAT_TEXT)
        return;
    str_addf(out, "%zu combination%s timed beside the defaults of %s", x->n, x->n == 1 ? "" : "s",
             x->base.kernels[0]->name);
    if (x->refused)
        str_addf(out, ", %s more cannot run or spill", number_fmt_int(refused, x->refused));
    if (x->slow)
        str_addf(out, ", %d kernel%s left out as slow with %s defaults", x->slow,
                 x->slow == 1 ? "" : "s", x->slow == 1 ? "its" : "their");
    str_addf(out, finalists ? "; the best %zu in turns:\n" : "; none came near\n", finalists);
}

static enum status finish(struct search *x, size_t n, struct err *err)
{
    struct candidate *v[FINALISTS], *best = NULL;
    struct request r;
    struct measured m;
    for (size_t i = 0; i < n; i++)
        v[i] = &x->v[i];
    enum status st = time_them(x, v, n, FINISH, &r, &m, err);
    for (size_t i = 0; i < n && !st; i++)
        if (v[i]->ratio < (best ? best->ratio : 1))
            best = v[i];
    if (!st) {
        const struct measure_how how = {.kind = JOB_RUN, .interleave = true, .verb = "compare"};
        struct run_row base;
        record_init(run_fields, &base);
        run_row_share(&m.rows.v[0], &base); /* the table is sorted */
        run_show(x->s, x->c, &r, &how, NULL, &compare_look, &m);
        call_flush(x->s, x->c);
        if (best)
            st = confirm(x, best, err);
        else
            say_kept(x, NULL, &base, NULL);
        record_clear(run_fields, &base);
    }
    measured_clear(&m);
    request_clear(&r);
    return st;
}

enum status tune_measure(struct session *s, struct cmd_call *c, struct err *err)
{
    struct search x = {.s = s, .c = c};
    (void)call_format(c);
    enum status st = search_make(&x, err);
    if (!st)
        st = begin(&x, err);
    if (!st)
        st = drop_slow(&x, err);
    for (int k = 0; k < x.base.nkernels && !st; k++)
        add_kernel(&x, k);
    if (!st)
        st = sort_out_spilling(&x, err);
    if (!st)
        st = sift(&x, err);
    if (!st) {
        const size_t n = choose(&x);
        say_tried(&x, n);
        st = finish(&x, n, err);
    }
    search_clear(&x);
    return st;
}
