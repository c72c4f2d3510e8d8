/* effect.c - see effect.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/show/effect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "command/ask/consent.h"
#include "command/ask/predicted.h"
#include "command/ask/request.h"
#include "command/ask/simulate.h"
#include "command/session.h"
#include "command/show/costs.h"
#include "command/show/predicted_words.h"

/* Seconds by the clock that a side may take. */
static const double patience_s = 10;

struct side {
    const struct kernel *kernel;
    struct run_row row;
    json_t *profile; /* NULL: not there */
};

struct effect {
    struct session *session;
    struct side side[2]; /* before, after */
    int at;              /* the side under way; -1: over */
    struct measuring *job;
    char *reason;
    double apart; /* predictions so many times apart are in the right order */
};

/* ---- counting ---- */

static bool is_own(const struct effect *e)
{
    return e->side[0].kernel->user || e->side[1].kernel->user;
}

static enum status request_side(const struct effect *e, int side, struct request *r,
                                struct err *err)
{
    const struct kernel *k = e->side[side].kernel;
    const struct request_word by[] = {
        {"backend", backend_simulator()->name}, {"hazards", "off"}, {"blocks", "few"}, {0}};
    if (!simulator_takes(k))
        return err_set(err, ST_NO, "%s has no CUDA source, and the simulator runs nothing else",
                       k->name);
    enum status st = consent_check(e->session, k, k->cuda, NULL, err);
    if (st == ST_OK)
        st = request_of(e->session, k->name, by, 0, r, err);
    if (st != ST_OK)
        return st;
    r->options.sim_s = patience_s;
    if (side == 0 && is_own(e))
        r->options.ptx_from = xstrdup_if(e->side[1].row.ptx);
    if (!measure_refuses(r, 0, err))
        return ST_OK;
    request_clear(r);
    return ST_NO;
}

static void give_up(struct effect *e, const char *why)
{
    e->reason = xstrdup(why);
    e->at = -1;
}

static void start(struct effect *e)
{
    const struct measure_how how = {.kind = JOB_PROFILE, .no_store = true, .verb = "profile"};
    struct err err = ERR_INIT;
    struct request r;
    if (request_side(e, e->at, &r, &err) != ST_OK) {
        give_up(e, err.text);
        return;
    }
    e->job = measure_start(e->session, &r, &how);
    request_clear(&r);
}

struct effect *effect_new(struct session *s, const struct kernel *base, const struct kernel *kernel)
{
    struct effect *e = xcalloc(1, sizeof *e);
    *e = (struct effect){.session = s, .side = {{.kernel = base}, {.kernel = kernel}}, .at = 1};
    for (int i = 0; i < 2; i++)
        record_init(run_fields, &e->side[i].row);
    start(e);
    return e;
}

void effect_free(struct effect *e)
{
    if (!e)
        return;
    measure_drop(e->job);
    for (int i = 0; i < 2; i++) {
        record_clear(run_fields, &e->side[i].row);
        json_decref(e->side[i].profile);
    }
    free(e->reason);
    free(e);
}

struct measuring *effect_job(const struct effect *e)
{
    return e->job;
}

/* Takes what the ended job has. */
static void take(struct effect *e)
{
    struct side *to = &e->side[e->at];
    struct measured m;
    to->profile = json_copy((json_t *)measure_item(e->job, 0));
    measure_close(e->job, &m);
    e->job = NULL;
    if (m.rows.n)
        record_copy(run_fields, &to->row, &m.rows.v[0]);
    const bool counted = to->profile && !isnan(to->row.warp_instructions);
    if (m.status == ST_CANCELLED)
        give_up(e, "cancelled");
    else if (!counted)
        give_up(e, to->row.reason ? to->row.reason : "nothing was counted");
    measured_clear(&m);
}

bool effect_next(struct effect *e)
{
    if (!e->job)
        return false;
    take(e);
    if (e->at < 0)
        return false;
    if (e->at-- == 1) {
        start(e);
        return e->job != NULL;
    }
    if (e->side[1].row.predicted_on)
        e->apart = predicted_calibration(e->session, e->side[1].row.predicted_on, NULL)->apart;
    return false;
}

const char *effect_reason(const struct effect *e)
{
    return e->reason;
}

const struct run_row *effect_row(const struct effect *e, int side)
{
    return e->side[side].profile ? &e->side[side].row : NULL;
}

/* ---- line by line ---- */

static bool is_over(const struct effect *e)
{
    return e->at < 0 && !e->reason;
}

static void read_counter(const struct effect *e, int i, struct effect_table *t)
{
    struct costs c[2];
    for (int side = 0; side < 2; side++)
        costs_read(e->side[side].profile, e->side[side].kernel->cuda, cost_counter_at((size_t)i),
                   &c[side]);
    for (int n = 0; n < t->n; n++) {
        const struct diff_line *d = t->lines[n].at;
        t->lines[n].before[i] = d->old && d->old <= c[0].lines ? c[0].line[d->old] : 0;
        t->lines[n].after[i] = d->now && d->now <= c[1].lines ? c[1].line[d->now] : 0;
    }
    t->elsewhere.before[i] = c[0].line[0];
    t->elsewhere.after[i] = c[1].line[0];
    t->total.before[i] = c[0].total;
    t->total.after[i] = c[1].total;
    costs_clear(&c[0]);
    costs_clear(&c[1]);
}

bool effect_table(const struct effect *e, struct effect_table *out)
{
    *out = (struct effect_table){.n = 0};
    if (!is_over(e))
        return false;
    const struct kernel_desc *a = e->side[0].kernel->cuda, *b = e->side[1].kernel->cuda;
    out->diff = diff_texts(a->source, a->source_len, b->source, b->source_len, &out->n);
    if (!out->diff)
        return false;
    out->lines = xcalloc((size_t)out->n + 1, sizeof *out->lines);
    for (int i = 0; i < out->n; i++)
        out->lines[i].at = &out->diff[i];
    while (out->counters < EFFECT_COUNTERS && cost_counter_at((size_t)out->counters))
        read_counter(e, out->counters++, out);
    return true;
}

void effect_table_clear(struct effect_table *t)
{
    free(t->diff);
    free(t->lines);
    *t = (struct effect_table){.n = 0};
}

/* ---- in sum ---- */

/* "-24 %", "x 3.1", "same". */
static void change_text(const struct effect_sum *x, char *out, size_t size)
{
    const double ratio = x->after / x->before;
    if (!(x->before > 0))
        snprintf(out, size, "new");
    else if (fabs(ratio - 1) < 0.0005)
        snprintf(out, size, "same");
    else if (ratio > 3)
        snprintf(out, size, "x %.3g", ratio);
    else
        snprintf(out, size, "%+.*f %%", fabs(ratio - 1) < 0.1 ? 1 : 0, 100 * (ratio - 1));
}

const char *effect_verdict(const struct effect *e)
{
    static const char *const words[] = {"FASTER", "AMBIGUOUS", "SLOWER"};
    return words[predicted_rank(&e->side[1].row, &e->side[0].row, e->apart) + 1];
}

static bool predicted_sum(const struct effect *e, struct effect_sum *out)
{
    const struct run_row *a = &e->side[0].row, *b = &e->side[1].row;
    *out = (struct effect_sum){.title = "predicted",
                               .field = "predicted_us",
                               .before = a->predicted_us,
                               .after = b->predicted_us,
                               .predicted = true};
    if (!(a->predicted_us > 0) || !(b->predicted_us > 0))
        return false;
    number_fmt_us(out->text[0], a->predicted_us);
    number_fmt_us(out->text[1], b->predicted_us);
    change_text(out, out->change, sizeof out->change);
    const int order = predicted_rank(b, a, e->apart);
    out->error_pct = b->predicted_error_pct;
    out->verdict = order < 0   ? "FASTER by the model"
                   : order > 0 ? "SLOWER by the model"
                               : "too close to tell";
    return true;
}

static bool counted_sum(const struct effect *e, const struct counter *c, struct effect_sum *out)
{
    const struct field *f = field_find(run_fields, c->field);
    const bool bytes = !strcmp(c->unit, "B");
    *out = (struct effect_sum){.title = c->title, .field = c->field};
    out->before = f ? field_number(f, &e->side[0].row) : NAN;
    out->after = f ? field_number(f, &e->side[1].row) : NAN;
    if (isnan(out->before) || isnan(out->after) || !(out->before > 0 || out->after > 0))
        return false;
    for (int i = 0; i < 2; i++) {
        const double v = i ? out->after : out->before;
        if (bytes)
            number_fmt_bytes(out->text[i], v);
        else
            number_fmt(out->text[i], v, v < 1e15 && v == floor(v) ? 15 : 4);
    }
    change_text(out, out->change, sizeof out->change);
    return true;
}

bool effect_sum(const struct effect *e, int i, struct effect_sum *out)
{
    if (!is_over(e))
        return false;
    if (predicted_sum(e, out) && i-- == 0)
        return true;
    for (const struct counter *c = counters; c->field; c++)
        if (counted_sum(e, c, out) && i-- == 0)
            return true;
    return false;
}

void effect_trust(struct session *s, const struct effect *e, struct str *out)
{
    const struct run_row *row = effect_row(e, 1);
    if (!row || !(row->predicted_us > 0))
        return;
    char *trust = predicted_trust(s, row->predicted_on);
    str_addf(out, "predicted for %s: %s", row->predicted_on, trust);
    free(trust);
}
