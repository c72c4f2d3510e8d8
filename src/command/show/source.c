/* source.c - see source.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/show/source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "command/ask/consent.h"
#include "command/ask/plan_here.h"
#include "command/ask/request.h"
#include "command/output.h"
#include "command/session.h"
#include "measure/origin.h"

/* ---- which ---- */

const struct kernel_desc *source_side(const struct kernel *k, bool cpu)
{
    if (!k)
        return NULL;
    return cpu ? (k->cpu ? k->cpu : k->cuda) : (k->cuda ? k->cuda : k->cpu);
}

const struct kernel_desc *source_beside(const struct kernel *base, const struct kernel *k, bool cpu)
{
    const struct kernel_desc *d = source_side(k, cpu);
    return source_side(base, d && d == k->cpu);
}

static const struct kernel *original(const struct registry *r, const char *name)
{
    static const char ending[] = "_edit";
    const size_t len = strlen(name), cut = sizeof ending - 1;
    if (len <= cut || strcmp(name + len - cut, ending) != 0)
        return NULL;
    char *stem = xstrndup(name, len - cut);
    const struct kernel *k = registry_find(r, stem);
    free(stem);
    return k;
}

const struct kernel *source_base(const struct registry *r, const struct kernel *k, bool cpu)
{
    const struct kernel *base = original(r, k->name);
    const struct kernel_desc *d = source_side(k, cpu);
    if (!base && d && d->after)
        base = registry_find(r, d->after);
    return base == k ? NULL : base;
}

/* ---- figures ---- */

#define FACT(member, title_, measured_, unit_, ...)                                 \
    {                                                                               \
        .field = #member, .title = title_, .measured = measured_,                   \
        .offset = offsetof(struct source_facts, member), .unit = unit_, __VA_ARGS__ \
    }
const struct source_fact source_fact_rows[] = {
    FACT(time_us, "time", true, FACT_US, .bound = NULL),
    FACT(error_ratio, "error / plain", true, FACT_NUMBER, .bound = NULL),
    FACT(smem_bytes, "SMEM / block", false, FACT_BYTES, .bound = NULL),
    FACT(regs, "registers", false, FACT_NUMBER, .bound = NULL),
    FACT(occupancy_pct, "occupancy", false, FACT_PCT, .bound = "<="),
    FACT(waves, "waves", false, FACT_NUMBER, .bound = ">="),
    FACT(requested_bytes, "requested", false, FACT_BYTES, .bound = NULL),
    {.field = NULL},
};
#undef FACT

double source_fact_value(const struct source_facts *f, const struct source_fact *row)
{
    double v;
    memcpy(&v, (const char *)f + row->offset, sizeof v);
    return v;
}

void source_fact_tags(const struct source_facts *before, const struct source_facts *after,
                      const struct source_fact *row, const struct device *gpu, struct str *out)
{
    const char *backend = *after->backend ? after->backend : before->backend;
    struct str tags = {0};
    if (row->measured) {
        origin_add(&tags, before->origin);
        origin_add(&tags, after->origin);
        str_addf(out, "%s%s%s", str_text(&tags), *backend ? " " : "", backend);
    } else {
        str_addf(out, "%s %s", origin_tag("model"), gpu ? gpu->name : "?");
    }
    str_free(&tags);
}

const char *source_fact_bound(const struct source_facts *f, const struct source_fact *row)
{
    return f->bound && row->bound ? row->bound : "";
}

const char *source_fact_text(const struct source_facts *f, const struct source_fact *row, char *buf,
                             size_t size)
{
    char number[NUMBER_BUF];
    const double v = source_fact_value(f, row);
    switch (row->unit) {
    case FACT_US:
        number_fmt_us(number, v);
        break;
    case FACT_BYTES:
        number_fmt_bytes(number, v);
        break;
    case FACT_NUMBER:
    case FACT_PCT:
        number_fmt(number, v, 3);
        break;
    }
    snprintf(buf, size, "%s%s%s", isfinite(v) ? source_fact_bound(f, row) : "", number,
             row->unit == FACT_PCT && isfinite(v) ? " %" : "");
    return buf;
}

double source_fact_change_pct(const struct source_facts *before, const struct source_facts *after,
                              const struct source_fact *row)
{
    const double x = source_fact_value(before, row), y = source_fact_value(after, row);
    const bool bound = *source_fact_bound(before, row) || *source_fact_bound(after, row);
    return x > 0 && !bound ? 100 * (y / x - 1) : REAL_UNKNOWN;
}

const char *source_fact_change(const struct source_facts *before, const struct source_facts *after,
                               const struct source_fact *row, char *buf, size_t size)
{
    const double pct = source_fact_change_pct(before, after, row);
    buf[0] = '\0';
    if (!isfinite(pct))
        return buf;
    if (fabs(pct) < 0.5)
        snprintf(buf, size, "same");
    else if (pct > 200)
        snprintf(buf, size, "x %.3g", 1 + pct / 100);
    else
        snprintf(buf, size, "%+.0f %%", pct);
    return buf;
}

/* Was it measured here, and not looked up? */
static bool is_own(const struct row *row)
{
    const char *origin = origin_word(row_text(row, "origin"));
    return origin && strcmp(origin, "recorded") != 0 && strcmp(origin, "model") != 0;
}

/* The last row of this session that measured the kernel on this shape. */
static const struct row *last_row(const struct session *s, const char *kernel)
{
    char shape[SHAPE_TEXT];
    shape_format(&s->settings.problem.shape, shape, sizeof shape);
    for (size_t i = s->rows.results.n; i-- > 0;) {
        const struct row *row = s->rows.results.rows[i];
        const char *name = row_text(row, "kernel"), *of = row_text(row, "shape");
        const char *check = row_text(row, "check");
        if (name && of && check && !strcmp(name, kernel) && !strcmp(of, shape) && is_own(row))
            return row;
    }
    return NULL;
}

const char *source_no_time(const struct session *s, const struct kernel *k)
{
    for (size_t i = s->rows.results.n; i-- > 0;) {
        const struct row *row = s->rows.results.rows[i];
        const char *name = row_text(row, "kernel");
        if (name && !strcmp(name, k->name))
            return row_text(row, "reason");
    }
    return NULL;
}

static double known(int64_t v)
{
    return v == INT_UNKNOWN ? REAL_UNKNOWN : (double)v;
}

void source_want(struct session *s, const void *owner, const struct kernel *k)
{
    struct request r;
    if (request_of(s, k->name, NULL, REQUEST_PLAN, &r, NULL) == ST_OK)
        plans_ask(s, owner, &r, session_gpu(s, NULL, NULL));
    request_clear(&r);
}

static void plan_facts(struct session *s, const struct kernel *k, struct source_facts *out)
{
    const struct device *dev = session_gpu(s, NULL, NULL);
    struct request r;
    struct plan p;
    if (!k->cuda || !dev || request_of(s, k->name, NULL, REQUEST_PLAN, &r, NULL) != ST_OK)
        return;
    (void)plan_here(s, k->cuda, &r.problem.shape, &r.params[0], dev, &p, NULL);
    if (p.npasses > 0) {
        const struct plan_pass *pass = &p.passes[p.main_pass];
        out->smem_bytes = known(pass->smem_bytes);
        out->regs = known(pass->regs);
        out->occupancy_pct = pass->occ.occupancy_pct;
        out->waves = pass->occ.waves;
        out->bound = pass->occ.upper_bound;
    }
    out->requested_bytes = p.requested_bytes;
    plan_clear(&p);
    request_clear(&r);
}

void source_facts(struct session *s, const struct kernel *k, const struct kernel_desc *d,
                  struct source_facts *out)
{
    const struct row *row = last_row(s, k->name);
    *out = (struct source_facts){.smem_bytes = REAL_UNKNOWN,
                                 .regs = REAL_UNKNOWN,
                                 .occupancy_pct = REAL_UNKNOWN,
                                 .waves = REAL_UNKNOWN,
                                 .requested_bytes = REAL_UNKNOWN};
    const bool pass = row && !strcmp(row_text(row, "check"), "pass"); /* a wrong one has no time */
    out->time_us = pass ? row_real(row, "median_us") : REAL_UNKNOWN;
    out->error_ratio = row ? row_real(row, "error_ratio") : REAL_UNKNOWN;
    out->max_diff = row ? row_real(row, "max_diff") : REAL_UNKNOWN;
    if (row && row_text(row, "backend"))
        snprintf(out->backend, sizeof out->backend, "%s", row_text(row, "backend"));
    out->origin =
        row ? origin_word(row_text(row, "origin")) : backend_origin(s->settings.options.backend);
    if (d && d == k->cuda)
        plan_facts(s, k, out);
}

/* ---- words ---- */

static void add_term(const struct lex_term *term, const struct lex_token *t, struct str *out)
{
    char marks[6];
    static const char *const names[] = {"load", "store", "compute", "barrier", "shuffle"};
    lex_marks_text(term->marks, marks);
    str_addn(out, t->at, t->len);
    bool first = true;
    for (int i = 0; i < 5; i++)
        if (marks[i] != ' ') {
            str_addf(out, "%s%s", first ? " (" : ", ", names[i]);
            first = false;
        }
    str_addf(out, "%s\n  %s\n\n", first ? "" : ")", term->meaning);
}

bool source_explain_line(enum lex_lang lang, const char *text, const char *line, const char *end,
                         struct str *out)
{
    const struct lex_term *seen[8];
    int n = 0;
    struct lex_lexer l = {.at = text, .end = end, .lang = lang};
    for (struct lex_token t; lex_next(&l, &t);) {
        const struct lex_term *term =
            t.at >= line && t.kind == LEX_TERM ? lex_term_find(lang, t.at, t.len) : NULL;
        bool fresh = term && n < 8;
        for (int i = 0; i < n && fresh; i++)
            fresh = seen[i] != term;
        if (fresh) {
            seen[n++] = term;
            add_term(term, &t, out);
        }
    }
    struct lex_lexer again = {.at = line, .end = end, .lang = lang};
    if (n == 0 && lex_line_marks(&again) & LEX_COMPUTE) {
        str_add(out,
                "a += b * c (compute)\n  A fused multiply-add: one instruction, two FLOPs, one "
                "rounding. An SM starts 128 of them a clock in f32.\n\n");
        return true;
    }
    return n > 0;
}

/* ---- listings ---- */

enum status source_listing_start(struct session *s, const struct kernel *k, struct measuring **job,
                                 struct err *err)
{
    const struct device *dev = session_gpu(s, NULL, err);
    struct request r;
    if (!dev)
        return ST_USAGE;
    if (!k->cuda || !code_kinds[k->cuda->code].compiled)
        return err_set(err, ST_NO, "%s has no CUDA source to compile", k->name);
    if (!dev->cc)
        return err_set(err, ST_NO, "%s is no CUDA device; set gpu= to one", dev->name);
    enum status st = consent_check(s, k, k->cuda, NULL, err);
    if (st != ST_OK)
        return st;
    st = request_of(s, k->name, NULL, REQUEST_PLAN, &r, err);
    const struct measure_how how = {.kind = JOB_LISTING, .sm = dev->cc, .verb = "source"};
    if (st == ST_OK)
        *job = measure_start(s, &r, &how);
    request_clear(&r);
    return st;
}

char *source_listing_take(const struct measuring *job, const char *view, char **reason)
{
    const json_t *o = json_object_get(job_extra(measure_job(job)), view);
    const char *text = json_string_value(json_object_get(o, "text"));
    const char *why = json_string_value(json_object_get(o, "reason"));
    *reason = NULL;
    if (text)
        return xstrdup(text);
    if (!why)
        why = measure_failure(job);
    *reason = xstrdup(why ? why : "the worker gave no listing");
    return NULL;
}
