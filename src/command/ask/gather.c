/* gather.c - see gather.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/gather.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "command/ask/measure.h"
#include "command/ask/predicted.h"
#include "measure/origin.h"
#include "measure/stats.h"

enum { TIMES_MAX = 64, WORDS_MAX = 40, LONG_FROM = 10 /* simulations: somebody waits for them */ };

/* What was measured: one kernel, parameters, shape. */
struct config {
    char *kernel, *params, *shape;
    const struct kernel *k;
    double us[TIMES_MAX], clock_mhz, flops;
    int n;
    bool older;
};

struct finding {
    struct session *session;
    const struct device *gpu;
    struct config *v;
    size_t n, cap;
    bool any; /* of this recording */
};

/* ---- recorded times ---- */

static bool is(const char *text, const char *word)
{
    return text && !strcmp(text, word);
}

static bool is_wanted(const struct finding *x, const struct run_row *row)
{
    const struct device *d = NULL;
    return !run_row_is_shared(row) && row->median_us > 0 && row->kernel && row->shape &&
           row->device && is(row->check, "pass") && is(row->l2, "cold") &&
           is(row->launch, "stream") && !is(row->origin, ORIGIN_ALTERED) &&
           (!row->input || is(row->input, "normal")) &&
           devices_get(x->session->services.devices, row->device, &d, NULL) == ST_OK && d == x->gpu;
}

static bool is_of_today(const struct kernel *k, const struct run_row *row)
{
    char hash[17];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)desc_hash(k->cuda));
    return !row->source_hash || !strcmp(row->source_hash, hash);
}

static struct config *config_of(struct finding *x, const struct run_row *row,
                                const struct kernel *k)
{
    const char *params = row->params ? row->params : "";
    for (size_t i = 0; i < x->n; i++)
        if (!strcmp(x->v[i].kernel, row->kernel) && !strcmp(x->v[i].params, params) &&
            !strcmp(x->v[i].shape, row->shape))
            return &x->v[i];
    struct shape shape = SHAPE_DEFAULT;
    if (shape_parse(row->shape, &shape, NULL) != ST_OK)
        return NULL;
    xgrow((void **)&x->v, &x->cap, x->n + 1, sizeof *x->v);
    x->v[x->n] = (struct config){.kernel = xstrdup(row->kernel),
                                 .params = xstrdup(params),
                                 .shape = xstrdup(row->shape),
                                 .k = k,
                                 .clock_mhz = row->sm_clock_mhz,
                                 .flops = shape_flops(&shape)};
    return &x->v[x->n++];
}

static void take_row(void *ctx, const struct run_row *row)
{
    struct finding *x = ctx;
    const struct kernel *k =
        row->kernel ? registry_find(x->session->services.registry, row->kernel) : NULL;
    if (!k || !k->cuda || kernel_is_peer(k) || !is_wanted(x, row))
        return;
    struct config *c = config_of(x, row, k);
    if (!c)
        return;
    c->older |= !is_of_today(k, row);
    if (c->n < TIMES_MAX)
        c->us[c->n++] = row->median_us;
    x->any = true;
}

static void say_source(struct gathered *out, const char *name)
{
    char *all = out->recordings ? xasprintf("%s, %s", out->recordings, name) : xstrdup(name);
    free(out->recordings);
    out->recordings = all;
}

static enum status find_named(struct finding *x, const struct gather_from *from,
                              struct gathered *out, struct err *err)
{
    for (int i = 0; i < from->nnames; i++) {
        const struct recording *rec;
        const enum status st =
            library_open(session_library(x->session), from->names[i].text, &rec, err);
        if (st != ST_OK)
            return st;
        x->any = false;
        recording_each(rec, take_row, x);
        if (x->any)
            say_source(out, rec->name);
    }
    return ST_OK;
}

static void find_all(struct finding *x, struct gathered *out)
{
    struct library *l = session_library(x->session);
    struct library_source src;
    for (int i = 0; library_source(l, i, &src); i++) {
        x->any = false;
        if (library_in_sight(l, i))
            library_scan(l, i, take_row, x);
        if (x->any)
            say_source(out, src.name);
        free(src.device);
    }
}

/* ---- which ---- */

/* By kernel, then from little work to much. */
static int by_kernel(const void *a, const void *b)
{
    const struct config *x = a, *y = b;
    const int by = strcmp(x->kernel, y->kernel);
    if (by)
        return by;
    if (x->flops != y->flops)
        return x->flops < y->flops ? -1 : 1;
    const int shape = strcmp(x->shape, y->shape);
    return shape ? shape : strcmp(x->params, y->params);
}

static size_t kernels_in(const struct config *v, size_t n)
{
    size_t kernels = 0;
    for (size_t i = 0; i < n; i++)
        kernels += i == 0 || strcmp(v[i].kernel, v[i - 1].kernel) != 0;
    return kernels;
}

/* Of each kernel as many, evenly from its small to its large shapes. wanted[n]. */
static void choose(const struct config *v, size_t n, int64_t most, bool *wanted)
{
    const size_t kernels = kernels_in(v, n);
    const size_t each = kernels ? ((size_t)most + kernels - 1) / kernels : 0;
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && !strcmp(v[end].kernel, v[first].kernel);)
            end++;
        const size_t count = end - first, take = most <= 0 || each > count ? count : each;
        for (size_t i = 0; i < take; i++)
            wanted[first + (take > 1 ? i * (count - 1) / (take - 1) : count / 2)] = true;
    }
}

/* ---- counts ---- */

static enum status request_for(struct session *s, const struct config *c,
                               const struct gather_from *from, struct request *out, struct err *err)
{
    struct request_word words[WORDS_MAX + 2] = {
        {"backend", backend_simulator()->name}, {"hazards", "off"}, {"blocks", "some"}};
    char *shape = xstrdup(c->shape), *params = xstrdup(c->params);
    int n = request_split(shape, words, 3, WORDS_MAX);
    n = request_split(params, words, n, WORDS_MAX);
    words[n] = (struct request_word){0};
    const enum status st = request_of(s, c->kernel, words, REQUEST_FRESH, out, err);
    if (st == ST_OK)
        out->options.sim_s = from->limit_s;
    free(shape);
    free(params);
    return st;
}

static enum status count_one(struct session *s, const struct request *r,
                             const struct gather_from *from, const struct config *c,
                             struct fit_sample *out, struct err *err)
{
    const struct measure_how how = {.kind = JOB_PROFILE, .no_store = true, .verb = "profile"};
    struct measured m;
    struct measuring *x = measure_start(s, r, &how);
    measure_wait(x);
    json_t *profile = json_copy((json_t *)(uintptr_t)measure_item(x, 0));
    measure_close(x, &m);
    const json_t *passes = json_object_get(json_object_get(profile, "simulated"), "passes");
    const struct run_row *row = m.rows.n ? &m.rows.v[0] : NULL;
    enum status st = m.status == ST_CANCELLED ? ST_CANCELLED : passes ? ST_OK : ST_NO;
    if (st == ST_NO)
        err_set(err, st, "%s", row && row->reason ? row->reason : "nothing was counted");
    struct plan plan;
    if (st == ST_OK) {
        st = predicted_run(s, r->descs[0], &r->problem.shape, &r->params[0], from->gpu, passes,
                           &plan, &out->run, err);
        plan_clear(&plan);
    }
    if (st == ST_OK)
        st = predict_gpu(from->gpu, &out->gpu, err);
    if (st == ST_OK && c->clock_mhz > 0)
        out->gpu.clock_mhz = c->clock_mhz;
    json_decref(profile);
    measured_clear(&m);
    return st;
}

static enum status add_sample(struct session *s, struct config *c, const struct gather_from *from,
                              struct gathered *out)
{
    struct request r;
    struct fit_sample x = {.us = stats_of(c->us, (size_t)c->n).median};
    struct err why = ERR_INIT;
    enum status st = request_for(s, c, from, &r, &why);
    if (st == ST_OK)
        st = count_one(s, &r, from, c, &x, &why);
    request_clear(&r);
    if (st != ST_OK) {
        predict_run_clear(&x.run);
        out->refused += st != ST_CANCELLED;
        out->why = why;
        return st == ST_CANCELLED ? st : ST_OK;
    }
    x.kernel = xstrdup(c->kernel);
    x.params = xstrdup(c->params);
    x.shape = xstrdup(c->shape);
    xgrow((void **)&out->v, &out->cap, out->n + 1, sizeof *out->v);
    out->v[out->n++] = x;
    return ST_OK;
}

static enum status count_all(struct session *s, struct finding *x, const struct gather_from *from,
                             struct gathered *out)
{
    bool *wanted = xcalloc(x->n + 1, sizeof *wanted);
    const char *part = s->front.part;
    size_t wants = 0;
    choose(x->v, x->n, from->most, wanted);
    for (size_t i = 0; i < x->n; i++)
        wants += wanted[i];
    if (wants >= LONG_FROM)
        session_note(s, "%zu configurations are simulated first, a second to some seconds each",
                     wants);
    enum status st = ST_OK;
    for (size_t i = 0; i < x->n && st == ST_OK; i++) {
        char text[200];
        if (!wanted[i])
            continue;
        snprintf(text, sizeof text, "%zu of %zu: %s %s", ++out->chosen, wants, x->v[i].kernel,
                 x->v[i].shape);
        s->front.part = text;
        st = session_cancelled(s) ? ST_CANCELLED : add_sample(s, &x->v[i], from, out);
        s->front.part = part;
    }
    free(wanted);
    return st;
}

/* Those of an older source are counted and dropped. */
static void drop_older(struct finding *x, struct gathered *out)
{
    size_t kept = 0;
    out->recorded = x->n;
    for (size_t i = 0; i < x->n; i++) {
        if (!x->v[i].older) {
            x->v[kept++] = x->v[i];
            continue;
        }
        out->older++;
        free(x->v[i].kernel);
        free(x->v[i].params);
        free(x->v[i].shape);
    }
    x->n = kept;
    if (kept)
        qsort(x->v, kept, sizeof *x->v, by_kernel);
}

enum status gather(struct session *s, const struct gather_from *from, struct gathered *out,
                   struct err *err)
{
    struct finding x = {.session = s, .gpu = from->gpu};
    *out = (struct gathered){.why = ERR_INIT};
    enum status st = ST_OK;
    if (from->nnames)
        st = find_named(&x, from, out, err);
    else
        find_all(&x, out);
    drop_older(&x, out);
    if (st == ST_OK)
        st = count_all(s, &x, from, out);
    if (st == ST_OK && !out->recorded)
        st = err_set(
            err, ST_NO,
            "no recording here has cold times of an %s; record FILE -- run all on one makes it",
            from->gpu->name);
    else if (st == ST_OK && !out->n)
        st = err_set(err, ST_NO, "none of %zu recorded runs could be simulated: %s", out->recorded,
                     out->why.text);
    for (size_t i = 0; i < x.n; i++) {
        free(x.v[i].kernel);
        free(x.v[i].params);
        free(x.v[i].shape);
    }
    free(x.v);
    return st;
}

void gathered_clear(struct gathered *g)
{
    for (size_t i = 0; i < g->n; i++)
        fit_sample_clear(&g->v[i]);
    free(g->v);
    free(g->recordings);
    *g = (struct gathered){.why = ERR_INIT};
}
