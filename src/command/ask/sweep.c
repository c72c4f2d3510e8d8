/* sweep.c - see sweep.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/counters.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "command/ask/axis.h"
#include "command/ask/keys.h"
#include "command/ask/measure.h"
#include "command/ask/plan_here.h"
#include "command/ask/plan_row.h"
#include "command/ask/recollect.h"
#include "command/ask/request.h"
#include "command/output.h"
#include "command/session.h"

void sweep_clear(struct sweep *w)
{
    free(w->mine);
    for (int i = 0; i < w->naxes; i++) {
        free(w->axes[i].key);
        free(w->axes[i].given);
        free(w->axes[i].gpus);
        axis_free(w->axes[i].values, w->axes[i].count);
    }
    for (int i = 0; w->rows && i < w->npoints * w->base.nkernels; i++)
        row_drop(w->rows[i]);
    free(w->rows);
    row_type_free(w->cell);
    row_type_free(w->blocked);
    request_clear(&w->base);
    free(w->metric);
    *w = (struct sweep){0};
}

/* ---- axes ---- */

/* The hosts of host=a,b and backend=cuda@a,b; NULL: it names none. */
static const char *hosts_of(const struct cmd_pair *p)
{
    const char *at = strcmp(p->key, "backend") ? NULL : strchr(p->value, '@');
    return at ? at + 1 : strcmp(p->key, "host") ? NULL : p->value;
}

/* gpu= and hosts are options that were read already; a list of GPUs or hosts is an axis all the same. */
static bool is_axis_pair(const struct cmd_pair *p)
{
    if (!strcmp(p->key, "gpu") || hosts_of(p))
        return strchr(p->value, ',') != NULL;
    if (is_place_key(p->key))
        return axis_is(p->value);
    return !p->used && axis_is(p->value) && !is_option_key(p->key) && !is_input_key(p->key);
}

/* The values of a key, where there is a call that has it, are the culprit. */
static enum status mark_values(struct cmd_call *c, const char *key, enum status st, struct err *err)
{
    return c ? call_mark_key(c, key, st, err) : st;
}

static enum status add_axis(struct sweep *w, const char *key, const char *given, struct err *err)
{
    struct sweep_axis *a = &w->axes[w->naxes];
    const enum status st = axis_expand(given, &a->values, &a->count, err);
    if (st)
        return st;
    a->key = xstrdup(key);
    a->given = xstrdup(given);
    w->naxes++;
    return ST_OK;
}

/* Takes the pairs that are lists or ranges. */
static enum status take_axes(struct sweep *w, struct cmd_call *c, struct err *err)
{
    for (int i = 0; i < c->npairs; i++) {
        struct cmd_pair *p = &c->pairs[i];
        if (!is_axis_pair(p))
            continue;
        if (w->naxes == SWEEP_AXES) {
            err_set(err, ST_USAGE, "a sweep has at most two axes; %s is one too many", p->key);
            return call_mark(c, ST_USAGE, p->at, p->key_len, err);
        }
        const char *hosts = hosts_of(p);
        const enum status st = add_axis(w, hosts ? "host" : p->key, hosts ? hosts : p->value, err);
        if (st)
            return call_mark_key(c, p->key, st, err);
    }
    for (int i = 0; i < w->naxes; i++)
        (void)call_key(c, w->axes[i].key);
    return ST_OK;
}

static void unknown_axis(const char *key, const struct request *r, struct err *err)
{
    const struct key_list keys = {command_named("sweep"), r->kernels, r->nkernels};
    char *clean = sanitize_line(key);
    err_set(err, ST_USAGE, "\"%s\" is neither a shape key nor a parameter of these kernels", clean);
    free(clean);
    err_suggest(err, str_nearest(key, key_name, &keys));
}

/* What the values of the key gpu name. */
static enum status check_gpus(struct sweep *w, struct cmd_call *c, struct sweep_axis *a,
                              struct err *err)
{
    a->gpus = xcalloc((size_t)a->count + 1, sizeof *a->gpus);
    for (int i = 0; i < a->count; i++) {
        a->gpus[i] = session_gpu(w->session, a->values[i], err);
        if (!a->gpus[i])
            return mark_values(c, a->key, ST_USAGE, err);
        free(a->values[i]);
        a->values[i] = xstrdup(a->gpus[i]->name);
    }
    free(w->base.options.gpu); /* each point has its own */
    w->base.options.gpu = NULL;
    w->device = a->gpus[0];
    return ST_OK;
}

/* A comparison across machines is one of times of separate runs: kernels take turns within a machine alone. */
static enum status check_place(struct sweep *w, const struct sweep_axis *a, struct err *err)
{
    if (!w->measured || w->recorded)
        return err_set(err, ST_USAGE, "%s is %s: it is the same whatever %s is; leave that out",
                       w->metric, w->recorded ? "recorded" : "planned", a->key);
    for (int i = 0; i < a->count; i++)
        for (int j = 0; j < i; j++)
            if (!strcmp(a->values[i], a->values[j]))
                return err_set(err, ST_USAGE, "%s=%s is in the list twice", a->key, a->values[i]);
    return ST_OK;
}

/* Machines, or devices of one. */
static enum status check_places(struct sweep *w, struct cmd_call *c, struct sweep_axis *a,
                                struct err *err)
{
    struct options *o = &w->base.options;
    const struct field *f = field_find(option_keys, a->key);
    enum status st = check_place(w, a, err);
    for (int i = 0; i < a->count && !st; i++) {
        struct options scratch = {0};
        options_copy(&scratch, o);
        st = field_set(f, &scratch, a->values[i], err);
        if (!st && scratch.host && !strcmp(a->key, "host"))
            st = host_choose(w->session, scratch.host, err);
        options_clear(&scratch);
    }
    if (st)
        return mark_values(c, a->key, st, err);
    a->place = f;
    if (!strcmp(a->key, "host")) { /* each point has its own; what is meant stays */
        if (!o->backend)
            o->backend = xstrdup(options_runner(o)->name);
        free(o->host);
        o->host = NULL;
    }
    return ST_OK;
}

/* Words that are wrong anywhere must be found before anything is measured. `c` may be NULL. */
static enum status check_axis(struct sweep *w, struct cmd_call *c, struct sweep_axis *a,
                              struct request *scratch, struct err *err)
{
    if (!strcmp(a->key, "gpu"))
        return check_gpus(w, c, a, err);
    if (is_place_key(a->key))
        return check_places(w, c, a, err);
    for (int i = 0; i < a->count; i++) {
        bool known;
        enum status st = request_try(scratch, a->key, a->values[i], &known, err);
        if (known && st == ST_USAGE)
            return mark_values(c, a->key, st, err);
        if (known)
            continue;
        if (!request_other_side(scratch, a->key, err) &&
            !request_moved(scratch, a->key, a->values[i], err))
            unknown_axis(a->key, scratch, err);
        for (int p = 0; c && p < c->npairs; p++)
            if (!strcmp(c->pairs[p].key, a->key))
                call_mark(c, ST_USAGE, c->pairs[p].at, c->pairs[p].key_len, err);
        return ST_USAGE;
    }
    return ST_OK;
}

static enum status check_axes(struct sweep *w, struct cmd_call *c, struct err *err)
{
    enum status st = ST_OK;
    int cells = w->base.nkernels;
    w->npoints = 1;
    for (int i = 0; i < w->naxes && !st; i++) {
        struct request scratch;
        request_copy(&scratch, &w->base);
        st = check_axis(w, c, &w->axes[i], &scratch, err);
        request_clear(&scratch);
        cells *= w->axes[i].count;
        w->npoints *= w->axes[i].count;
    }
    if (!st && cells > SWEEP_CELLS)
        st =
            err_set(err, ST_USAGE, "that are %d cells; a sweep has at most %d", cells, SWEEP_CELLS);
    if (!st)
        w->rows = xcalloc((size_t)cells + 1, sizeof *w->rows);
    return st;
}

/* ---- rows ---- */

/* What every row begins with. */
struct sweep_cell {
    char *kernel;
    char *at[SWEEP_AXES]; /* as texts */
};
struct run_cell {
    struct sweep_cell head;
    struct run_row run;
    char *blocked_by; /* of a point that is not possible */
};
struct plan_cell {
    struct sweep_cell head;
    struct plan_row plan;
};

static const struct field blocked_fields[] = {
    FIELD(FIELD_TEXT, run_cell, blocked_by),
    {.name = NULL},
};

/* Is it one of the first n? */
static bool is_among(const char *const *names, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

const char *sweep_axis_field(const struct sweep_axis *a)
{
    return strcmp(a->key, "device") ? a->key : "device_index"; /* a row's device is its name */
}

/* With kernel and axes before those of `fields` that are to be seen. */
static struct row_type *cell_type(const struct sweep *w, const struct row_type *whole,
                                  const char *const *fields)
{
    enum { MORE = 12 };
    const char *order[1 + SWEEP_AXES + MORE + 1] = {"kernel"};
    struct row_type like = *whole;
    int n = 1;
    for (int i = 0; i < w->naxes; i++)
        order[n++] = sweep_axis_field(&w->axes[i]);
    for (int i = 0; i < MORE && fields[i]; i++)
        if (!is_among(order, n, fields[i]))
            order[n++] = fields[i];
    like.order = order;
    return row_type_new(&like);
}

static void make_types(struct sweep *w)
{
    const char *const blocked[] = {w->metric, "reason", "blocked_by", NULL},
                      *const plan[] = {"gpu",     "shape",      "params",      "reason",
                                       "limiter", "blocked_by", "upper_bound", "regs_source",
                                       w->metric, NULL};
    struct field head[SWEEP_AXES + 2] = {FIELD(FIELD_TEXT, sweep_cell, kernel)};
    for (int i = 0; i < w->naxes; i++)
        head[1 + i] =
            (struct field){.name = sweep_axis_field(&w->axes[i]),
                           .type = FIELD_TEXT,
                           .flags = FIELD_NUMERIC,
                           .offset = offsetof(struct sweep_cell, at) + (size_t)i * sizeof(char *)};
    const struct row_type run_cell = ROW_TYPE(
        run_cell, {head, 0}, {run_fields, offsetof(struct run_cell, run)}, {blocked_fields, 0});
    const struct row_type plan_cell =
        ROW_TYPE(plan_cell, {head, 0}, PLAN_ROW_PARTS(offsetof(struct plan_cell, plan)));
    struct row_type run = run_cell;
    run.parts[2] = (struct row_part){0};
    w->cell = w->measured ? row_type_new(&run) : cell_type(w, &plan_cell, plan);
    w->blocked = cell_type(w, w->measured ? &run_cell : &plan_cell, blocked);
}

/* ---- points ---- */

void sweep_at(const struct sweep *w, int point, int at[SWEEP_AXES])
{
    const int inner = w->naxes > 1 ? w->axes[1].count : 1;
    at[0] = point / inner;
    at[1] = point % inner;
}

int sweep_point(const struct sweep *w, int i, int j)
{
    return w->naxes > 1 ? i * w->axes[1].count + j : i;
}

const struct row *sweep_row(const struct sweep *w, int point, int kernel)
{
    return w->rows[point * w->base.nkernels + kernel];
}

bool sweep_has(const struct sweep *w, int point)
{
    bool all = true;
    for (int k = 0; k < w->base.nkernels; k++)
        all &= sweep_row(w, point, k) != NULL;
    return all;
}

void sweep_drop(struct sweep *w, int point)
{
    for (int k = 0; k < w->base.nkernels; k++) {
        struct row **slot = &w->rows[point * w->base.nkernels + k];
        row_drop(*slot);
        *slot = NULL;
    }
}

const struct run_row *sweep_run(const struct sweep *w, const struct row *row)
{
    const struct run_cell *cell = w->measured ? row_as(row, w->cell) : NULL;
    return cell ? &cell->run : NULL;
}

double sweep_value(const struct sweep *w, const struct row *row)
{
    return row_is(row, "check", "fail") ? NAN : row_real(row, w->metric);
}

/* A new row of a point: its struct. */
static void *add_row(struct sweep *w, int point, int kernel, const struct row_type *type)
{
    int at[SWEEP_AXES];
    struct row **slot = &w->rows[point * w->base.nkernels + kernel];
    row_drop(*slot);
    *slot = row_new(type);
    struct sweep_cell *cell = row_data(*slot);
    sweep_at(w, point, at);
    cell->kernel = xstrdup(w->base.kernels[kernel]->name);
    for (int i = 0; i < w->naxes; i++)
        cell->at[i] = xstrdup(w->axes[i].values[at[i]]);
    return cell;
}

static void add_blocked(struct sweep *w, int point, int kernel, const char *reason, const char *by)
{
    add_row(w, point, kernel, w->blocked);
    struct row *row = w->rows[point * w->base.nkernels + kernel];
    row_put_text(row, "reason", reason);
    row_put_text(row, "blocked_by", by);
}

void sweep_put(struct sweep *w, int point, int kernel, const struct run_row *run)
{
    struct run_cell *cell = add_row(w, point, kernel, w->cell);
    run_row_share(run, &cell->run);
}

void sweep_take(struct sweep *w, int point, const struct run_rows *rows)
{
    for (size_t k = 0; k < (size_t)w->base.nkernels && k < rows->n; k++)
        sweep_put(w, point, (int)k, &rows->v[k]);
}

const struct device *sweep_device(const struct sweep *w, int point)
{
    int at[SWEEP_AXES];
    sweep_at(w, point, at);
    for (int i = 0; i < w->naxes; i++)
        if (w->axes[i].gpus)
            return w->axes[i].gpus[at[i]];
    return w->device;
}

static void put_gpu(struct request *r, const struct device *gpu)
{
    free(r->options.gpu);
    r->options.gpu = xstrdup(gpu->name);
}

enum status sweep_request(const struct sweep *w, int point, struct request *out, struct err *err)
{
    int at[SWEEP_AXES];
    enum status st = ST_OK;
    bool known;
    sweep_at(w, point, at);
    request_copy(out, &w->base);
    for (int i = 0; i < w->naxes && !st; i++)
        if (w->axes[i].place)
            st = field_set(w->axes[i].place, &out->options, w->axes[i].values[at[i]], err);
        else if (!w->axes[i].gpus)
            st = request_try(out, w->axes[i].key, w->axes[i].values[at[i]], &known, err);
    if (!st && w->device)
        put_gpu(out, sweep_device(w, point));
    if (!st)
        st = shape_check(&out->problem.shape, err);
    if (!st)
        return ST_OK;
    request_clear(out);
    return ST_NO;
}

/* Planned as far as it goes: what cannot run has its reason, and no value. */
static void plan_point(struct sweep *w, const struct request *r, int point)
{
    for (int k = 0; k < r->nkernels; k++) {
        struct err err = ERR_INIT;
        struct plan_cell *cell = add_row(w, point, k, w->cell);
        struct row *row = w->rows[point * w->base.nkernels + k];
        const struct plan_how how = {.session = w->session};
        if (plan_row(r, k, sweep_device(w, point), &how, NULL, &cell->plan, &err))
            row_put_text(row, "reason", err.text);
        if (row_known(row, "reason"))
            row_forget(row, w->metric);
    }
}

static char *copy(const char *text)
{
    return text && *text ? xstrdup(text) : NULL;
}

/* The figures that the index keeps of a recorded run. */
static void take_recalled(const struct recalled *it, struct run_row *run)
{
    const struct recall_row *from = it->row;
    char shape[SHAPE_TEXT];
    shape_format(&from->shape, shape, sizeof shape);
    run->kernel = copy(from->kernel);
    run->backend = xstrdup(backend_gpu()->name);
    run->device = copy(from->device);
    run->origin = xstrdup("recorded");
    run->shape = xstrdup(shape);
    run->params = xstrdup(from->params ? from->params : "");
    run->l2 = copy(from->l2);
    run->input = copy(from->input);
    run->source_hash = copy(from->hash);
    run->time = copy(from->time);
    run->check = xstrdup("pass"); /* the index has no others */
    run->median_us = from->median_us;
    run->min_us = from->min_us;
    run->q1_us = from->q1_us;
    run->q3_us = from->q3_us;
    run->p95_us = from->p95_us;
    run->cv_pct = from->cv_pct;
    run->tflops = from->tflops;
    run->gbytes_per_s = from->gbytes_per_s;
    run->error_ratio = from->error_ratio;
    run->n = from->n;
    run->regs = from->regs;
    if (it->old)
        run->reason = xasprintf("recorded (%s) of an older source of the kernel", from->recording);
}

/* What recordings have of the very point; else which one is near. */
static void recall_point(struct sweep *w, const struct request *r, int point)
{
    const struct device *gpu = sweep_device(w, point);
    for (int k = 0; k < r->nkernels; k++) {
        const struct recalled it = recollect(w->session, r, k, gpu);
        if (recollect_exact(&it)) {
            struct run_row run;
            record_init(run_fields, &run);
            take_recalled(&it, &run);
            sweep_put(w, point, k, &run);
            record_clear(run_fields, &run);
            continue;
        }
        struct str why = {0};
        str_addf(&why, "nothing is recorded of it on %s", gpu->name);
        if (it.row) {
            char shape[SHAPE_TEXT], us[NUMBER_BUF];
            shape_format(&it.row->shape, shape, sizeof shape);
            str_addf(&why, "; the nearest shape is %s: %s", shape,
                     number_fmt_us(us, it.row->median_us));
        }
        add_blocked(w, point, k, str_text(&why), NULL);
        str_free(&why);
    }
}

bool sweep_compute(struct sweep *w, int point)
{
    struct request r;
    struct err err = ERR_INIT;
    if (sweep_request(w, point, &r, &err)) {
        for (int k = 0; k < w->base.nkernels; k++)
            add_blocked(w, point, k, err.text, "shape");
        return true;
    }
    if (w->recorded)
        recall_point(w, &r, point);
    else if (!w->measured)
        plan_point(w, &r, point);
    request_clear(&r);
    return w->recorded || !w->measured;
}

void sweep_want(const struct sweep *w, int point, const void *owner)
{
    struct request r;
    if (w->measured || !plan_metric_needs_regs(w->metric) || sweep_request(w, point, &r, NULL))
        return;
    plans_ask(w->session, owner, &r, sweep_device(w, point));
    request_clear(&r);
}

void sweep_foresee(struct sweep *w, int point)
{
    struct request r;
    if (sweep_compute(w, point) || sweep_request(w, point, &r, NULL))
        return;
    for (int k = 0; k < r.nkernels; k++) {
        struct err err = ERR_INIT;
        if (measure_refuses(&r, k, &err))
            add_blocked(w, point, k, err.text, "kernel");
    }
    request_clear(&r);
}

/* ---- the whole ---- */

static const char *metric_name(const void *ctx, size_t i)
{
    size_t n = 0;
    for (const struct field *f = run_fields; f->name; f++)
        if ((f->type == FIELD_REAL || f->type == FIELD_INT) && n++ == i)
            return f->name;
    return plan_metric_name(ctx, i - n);
}

/* A name that both have, such as threads, is the plan's: that needs no run. */
static enum status find_metric(struct sweep *w, struct cmd_call *c, struct err *err)
{
    const struct field *f = field_find(run_fields, w->metric);
    for (size_t i = 0; plan_metric_name(NULL, i); i++)
        if (!strcmp(plan_metric_name(NULL, i), w->metric))
            return ST_OK;
    w->measured = f && (f->type == FIELD_REAL || f->type == FIELD_INT);
    if (w->measured)
        return ST_OK;
    char *clean = sanitize_line(w->metric);
    err_set(err, ST_USAGE, "there is no metric \"%s\"", clean);
    free(clean);
    const char *near = str_nearest(w->metric, metric_name, NULL);
    err_suggest(err, near ? near : "median_us");
    return mark_values(c, "metric", ST_USAGE, err);
}

/* Figures that only kernels which took turns have. */
static bool is_of_pairs(const char *metric)
{
    static const char *const fields[] = {"ratio", "ratio_lo", "ratio_hi", "pair_max_diff"};
    return is_among(fields, sizeof fields / sizeof *fields, metric);
}

const char *sweep_usual_metric(bool based)
{
    return based ? "ratio" : "median_us";
}

/* `base`: kernels take turns, against this one or, with a metric of pairs, the first. */
static enum status begin(struct session *s, struct cmd_call *c, const char *metric,
                         const char *base, struct sweep *out, struct err *err)
{
    metric = metric ? metric : sweep_usual_metric(base != NULL);
    *out = (struct sweep){
        .session = s, .metric = xstrdup(metric), .paired = base || is_of_pairs(metric)};
    const enum status st = find_metric(out, c, err);
    if (st || !base || out->measured)
        return st;
    err_set(err, ST_USAGE, "%s is planned: no base is needed", out->metric);
    return mark_values(c, "base", ST_USAGE, err);
}

bool sweep_is_counted(const char *metric)
{
    return counter_find(metric) != NULL || str_starts(metric, "predicted_") ||
           !strcmp(metric, "hazards");
}

static unsigned request_flags(const struct sweep *w)
{
    return REQUEST_AXES | (w->measured && !w->recorded ? 0 : REQUEST_PLAN) |
           (w->measured && sweep_is_counted(w->metric) ? REQUEST_COUNTS : 0);
}

/* A GPU by that name, and it is not this machine's. A name that there is not is refused later. */
static bool is_far(struct session *s, const char *gpu)
{
    const struct device *d = gpu && strcmp(gpu, "auto") != 0 ? session_gpu(s, gpu, NULL) : NULL;
    return d && !session_gpu_is_here(s, d);
}

/* Does the line name a GPU for its times that no kernel can run on here, several or one? Who says backend=
 * means this machine. */
static bool names_far_gpu(struct session *s, const struct cmd_call *c)
{
    const char *gpu = NULL;
    for (int i = 0; i < c->npairs; i++) {
        if (!strcmp(c->pairs[i].key, "backend"))
            return false;
        if (!strcmp(c->pairs[i].key, "gpu"))
            gpu = c->pairs[i].value;
    }
    return gpu && (strchr(gpu, ',') || is_far(s, gpu));
}

/* The session names a GPU, and none of the kernels runs without one. */
static bool needs_far_gpu(const struct sweep *w)
{
    bool all = !w->base.options.backend && is_far(w->session, w->base.options.gpu);
    for (int k = 0; k < w->base.nkernels; k++)
        all &= !w->base.descs[k] && w->base.kernels[k]->cuda;
    return all;
}

/* Kernels and axes are there: are they enough, and right? `c` may be NULL. */
static enum status check(struct sweep *w, struct cmd_call *c, struct err *err)
{
    if (!w->naxes)
        return err_set(err, ST_USAGE,
                       "sweep needs an axis, for example: sweep cpu_tiled S=256..4k:x2");
    if (w->paired && w->base.nkernels < 2)
        return err_set(
            err, ST_USAGE,
            "a ratio needs two kernels, for example: sweep naive,%s S=256..4k base=naive",
            strcmp(w->base.kernels[0]->name, "naive") ? w->base.kernels[0]->name : "cpu_tiled");
    w->recorded |= w->measured && needs_far_gpu(w);
    enum status st = check_axes(w, c, err);
    if (!st && c)
        st = call_finish(w->session, c, err);
    if (!st && w->measured && w->base.options.l2 && !strcmp(w->base.options.l2, "both"))
        st = err_set(err, ST_USAGE, "a point of a sweep has one time: l2=cold or l2=hot");
    if (!st && w->paired && w->recorded)
        st =
            err_set(err, ST_USAGE,
                    "recorded times are of separate runs: no ratio over a base; leave out gpu=, or "
                    "base=");
    if (!st && !w->device && (!w->measured || w->recorded) &&
        !(w->device = session_gpu(w->session, w->base.options.gpu, err)))
        st = ST_USAGE;
    if (!st)
        make_types(w);
    return st;
}

enum status sweep_make(struct session *s, struct cmd_call *c, struct sweep *out, struct err *err)
{
    const char *base = call_key(c, "base");
    enum status st = begin(s, c, call_key(c, "metric"), base, out, err);
    out->recorded = out->measured && !sweep_is_counted(out->metric) && names_far_gpu(s, c);
    if (!st)
        st = request_make(s, c, request_flags(out), &out->base, err);
    if (!st && !out->base.nkernels)
        st = err_set(err, ST_USAGE,
                     "sweep needs a kernel, for example: sweep cpu_tiled S=256..4k:x2");
    if (!st)
        st = request_base_first(c, &out->base, base, err);
    if (!st)
        st = take_axes(out, c, err);
    return st ? st : check(out, c, err);
}

enum status sweep_of(struct session *s, const char *kernels, const struct sweep_words *axes,
                     int naxes, const char *metric, struct sweep *out, struct err *err)
{
    enum status st = begin(s, NULL, metric, NULL, out, err);
    struct request_word hosts[2] = {{0}};
    for (int i = 0; i < naxes; i++)
        if (!strcmp(axes[i].key, "host") && out->measured)
            hosts[0] = (struct request_word){axes[i].key, axes[i].values};
    if (!st)
        st = request_of(s, kernels, hosts, request_flags(out), &out->base, err);
    for (int i = 0; i < naxes && !st; i++)
        st = add_axis(out, axes[i].key, axes[i].values, err);
    return st ? st : check(out, NULL, err);
}
