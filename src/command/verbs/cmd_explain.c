/* cmd_explain.c - how a figure comes about: its formula with the values put in, or its meaning.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/sanitize.h"
#include "command/ask/keys.h"
#include "command/ask/plan_here.h"
#include "command/ask/request.h"
#include "command/output.h"
#include "command/session.h"
#include "command/show/chosen.h"
#include "command/show/profile.h"
#include "command/verbs/verbs.h"

static bool is_plan_metric(const char *name)
{
    for (size_t i = 0; plan_metric_name(NULL, i); i++)
        if (!strcmp(plan_metric_name(NULL, i), name))
            return true;
    return false;
}

/* Metrics of the plan, then fields of a run, then those of a profile. */
static const char *metric_name(const void *ctx, size_t i)
{
    size_t n = 0;
    while (plan_metric_name(ctx, n))
        if (n++ == i)
            return plan_metric_name(ctx, i);
    i -= n;
    for (n = 0; run_fields[n].name; n++)
        if (n == i)
            return run_fields[n].name;
    const struct field *counted = profile_field_at(i - n);
    return counted ? counted->name : NULL;
}

/* Of whatever verb's rows: the first that has a field of this name and says what it means. */
static const struct field *field_of_verbs(const char *name)
{
    for (int v = 0; command_at(v); v++)
        for (const struct columns *const *c = command_at(v)->columns; c && *c; c++)
            for (size_t t = 0; columns_table(*c, t); t++) {
                const struct field *f = field_find(columns_table(*c, t), name);
                if (f && f->doc && !(f->flags & (FIELD_LOCAL | FIELD_SECOND)))
                    return f;
            }
    return NULL;
}

/* The field of a run, of a profile, or of other rows; NULL: a metric of the plan. */
static const struct field *find_field(const char *name)
{
    const struct field *f = field_find(run_fields, name);
    for (size_t i = 0; !f && profile_field_at(i); i++)
        if (!strcmp(profile_field_at(i)->name, name))
            return profile_field_at(i);
    return f ? f : field_of_verbs(name);
}

/* The metric of this name, or the only one that begins with it; NULL: none. What only some verb's rows have wants its
 * whole name. */
static const char *find_metric(const char *word)
{
    const char *found = NULL, *name;
    bool many = false;
    for (size_t i = 0; (name = metric_name(NULL, i)); i++) {
        if (!strcmp(name, word))
            return name;
    }
    for (size_t i = 0; (name = metric_name(NULL, i)); i++)
        if (*word && str_starts(name, word) && !(found && !strcmp(found, name))) {
            many = found != NULL;
            if (many)
                break;
            found = name;
        }
    if (found && !many)
        return found;
    const struct field *other = field_of_verbs(word);
    return other ? other->name : NULL;
}

static enum status unknown_metric(struct cmd_call *c, const char *name, struct err *err)
{
    char *clean = sanitize_line(name);
    const char *near = str_nearest(name, metric_name, NULL);
    err_set(err, ST_USAGE, "there is no metric \"%s\"%s", clean,
            near ? "" : "; there are occupancy_pct, waves, limit_smem, median_us and more");
    free(clean);
    if (near)
        err_suggest(err, near);
    return call_mark(c, ST_USAGE, c->words[0].at, (int)strlen(name), err);
}

/* ---- figures of a run: a quotient each, with the last row's values ---- */

#define REAL(value, digits) number_fmt((char[NUMBER_BUF]){0}, (value), (digits))

static void formula_tflops(struct str *out, const struct row *row, const struct shape *s)
{
    const double us = row_real(row, "median_us");
    str_addf(out, "tflops = 4 * B * H * pairs * D / (median_us * 10^6)\n");
    str_addf(out, "       = 4 * %lld * %lld * %s * %lld / (%s * 10^6) = %s TFLOP/s\n",
             (long long)s->B, (long long)s->H, REAL(shape_pairs(s), 15), (long long)s->D,
             REAL(us, 6), REAL(shape_flops(s) / us / 1e6, 4));
}

static void formula_gbytes(struct str *out, const struct row *row, const struct shape *s)
{
    const double us = row_real(row, "median_us"), size = (double)dtype_size(s->dtype);
    const double q = (double)shape_q_elems(s), kv = (double)shape_kv_elems(s);
    str_addf(out, "gbytes_per_s = (Q + K + V + O) * bytes of an element / (median_us * 10^3)\n");
    str_addf(out, "             = (%s + %s + %s + %s) * %s / (%s * 10^3) = %s GB/s\n", REAL(q, 15),
             REAL(kv, 15), REAL(kv, 15), REAL(q, 15), REAL(size, 1), REAL(us, 6),
             REAL(2 * (q + kv) * size / us / 1e3, 4));
}

static void formula_error(struct str *out, const struct row *row, const struct shape *s)
{
    (void)s;
    const double own = row_real(row, "max_diff"), plain = row_real(row, "baseline_max_diff");
    str_addf(out, "error_ratio = max_diff / baseline_max_diff = %s / %s = %s\n", REAL(own, 3),
             REAL(plain, 3), REAL(own / plain, 3));
}

static void formula_rounding(struct str *out, const struct row *row, const struct shape *s)
{
    (void)s;
    const double rms = row_real(row, "rms_diff"), ratio = row_real(row, "rounding_ratio");
    str_addf(out, "rounding_ratio = rms_diff / rms of rounding alone = %s / %s = %s\n",
             REAL(rms, 3), REAL(rms / ratio, 3), REAL(ratio, 3));
}

static void formula_speedup(struct str *out, const struct row *row, const struct shape *s)
{
    (void)s;
    const double us = row_real(row, "median_us"), speedup = row_real(row, "speedup");
    str_addf(out, "speedup = median_us of the first kernel / median_us = %s / %s = %s\n",
             REAL(speedup * us, 6), REAL(us, 6), REAL(speedup, 4));
}

static const struct formula {
    const char *field;
    void (*add)(struct str *out, const struct row *row, const struct shape *s);
} formulas[] = {
    {"tflops", formula_tflops},     {"gbytes_per_s", formula_gbytes},
    {"error_ratio", formula_error}, {"rounding_ratio", formula_rounding},
    {"speedup", formula_speedup},
};

/* False if the field is no quotient of other fields. */
static bool add_formula(struct str *out, const char *field, const struct row *row)
{
    struct shape s = SHAPE_DEFAULT;
    const char *shape = row_text(row, "shape");
    if (!shape || shape_parse(shape, &s, NULL))
        return false;
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++)
        if (!strcmp(formulas[i].field, field))
            return formulas[i].add(out, row, &s), true;
    return false;
}

static void explain_field(struct session *s, struct cmd_call *c, const struct field *f)
{
    const char *unit = f->unit ? f->unit : "";
    str_addf(c->out, "%s%s%s%s: %s\n", f->name, *unit ? " [" : "", unit, *unit ? "]" : "", f->doc);
    const size_t from = c->out->len;
    profile_source(f->name, c->out);
    if (c->out->len > from)
        str_addc(c->out, '\n');
    const struct row *last = session_row(s, "$last");
    if (!row_known(last, f->name))
        return;
    const char *kernel = row_text(last, "kernel"), *shape = row_text(last, "shape");
    const struct columns cols = {
        .list = (const struct column[]){{.field = f->name, .title = "$last", .digits = f->digits},
                                        {0}}};
    str_addf(c->out, "%s%s%s\n", kernel ? kernel : "", shape ? ", " : "", shape ? shape : "");
    if (!isnan(row_real(last, f->name)) && add_formula(c->out, f->name, last))
        return;
    struct rowset rows = {0};
    rowset_share(&rows, last);
    rows_format(c->out, &rows, &cols, FORMAT_TEXT, 0);
    rowset_clear(&rows);
}

/* ---- figures of a plan ---- */

/* What was on the screen last is what the question is about: without a kernel, the last row's
 * kernel; without a shape, parameters or a model of one's own, also these. */
struct subject {
    const struct kernel *kernel;
    struct shape shape;
    struct param_values params;
    const char *gpu;
};

static bool names_any(const struct cmd_call *c, bool (*is)(const char *key))
{
    for (int i = 0; i < c->npairs; i++)
        if (is(c->pairs[i].key))
            return true;
    for (int i = 1; i < c->nwords; i++)
        if (is_shape_word(c->words[i].text) && is == is_shape_key)
            return true;
    return false;
}

static bool is_param_key(const char *key)
{
    return !is_shape_key(key) && !is_input_key(key) && !is_option_key(key);
}

static const struct kernel *first_planned(const struct session *s)
{
    for (int i = 0; i < registry_count(s->services.registry); i++)
        if (registry_at(s->services.registry, i)->cuda)
            return registry_at(s->services.registry, i);
    return NULL;
}

static void find_subject(struct session *s, const struct cmd_call *c, const struct request *r,
                         struct subject *out)
{
    const struct row *last = session_row(s, "$last");
    const char *name = row_text(last, "kernel"), *shape = row_text(last, "shape");
    const char *params = row_text(last, "params");
    const struct kernel *k = name ? registry_find(s->services.registry, name) : NULL;
    *out = (struct subject){.kernel = r->nkernels    ? r->kernels[0]
                                      : k && k->cuda ? k
                                                     : NULL,
                            .shape = r->problem.shape,
                            .gpu = r->options.gpu};
    const bool same = k && out->kernel == k; /* the row speaks of this kernel */
    if (!out->kernel)
        out->kernel = first_planned(s);
    if (!out->kernel || !out->kernel->cuda)
        return;
    out->params = r->nkernels ? r->params[0] : desc_defaults_for(out->kernel->cuda, &out->shape);
    if (!same)
        return;
    if (shape && !names_any(c, is_shape_key))
        (void)shape_parse(shape, &out->shape, NULL);
    struct param_values v;
    if (params && !names_any(c, is_param_key) && params_read(out->kernel->cuda, params, &v))
        out->params = v;
    if (!out->gpu)
        out->gpu = row_text(last, "gpu");
}

static enum status explain_plan(struct session *s, struct cmd_call *c, const struct request *r,
                                const char *metric, struct err *err)
{
    struct subject on;
    find_subject(s, c, r, &on);
    const struct kernel *k = on.kernel;
    const struct device *dev = session_gpu(s, on.gpu, err);
    struct err why = ERR_INIT;
    struct plan p;
    char shape[SHAPE_TEXT];
    if (!dev)
        return call_mark_key(c, "gpu", ST_USAGE, err);
    if (!k || !k->cuda)
        return err_set(err, ST_USAGE, "%s has no CUDA source to plan", k ? k->name : "this build");
    memset(&p, 0, sizeof p);
    enum status st = plan_compiled(s, k->cuda, &on.shape, &on.params, dev, &p, &why);
    if (st != ST_OK && st != ST_NO)
        st = err_set(err, st, "%s", why.text);
    else {
        char params[512];
        shape_format(&on.shape, shape, sizeof shape);
        desc_params_format(k->cuda, &on.params, true, params, sizeof params);
        str_addf(c->out, "%s on %s, %s%s%s\n", k->name, dev->name, shape, *params ? ", " : "",
                 params);
        if (st)
            str_addf(c->out, "%s\n", why.text);
        st = plan_explain(&p, metric, c->out, err);
        if (c->out->len && c->out->data[c->out->len - 1] != '\n')
            str_addc(c->out, '\n');
    }
    plan_clear(&p);
    return st;
}

static const char word_auto[] = "auto"; /* no figure, but a choice */

static enum status exec_explain(struct session *s, struct cmd_call *c, struct err *err)
{
    struct request r;
    if (!c->nwords)
        return err_set(err, ST_USAGE, "explain needs a metric, for example: explain occupancy_pct");
    const bool choice = !strcmp(c->words[0].text, word_auto);
    const char *metric = choice ? word_auto : find_metric(c->words[0].text);
    if (!metric)
        return unknown_metric(c, c->words[0].text, err);
    enum status st = request_make_words(s, c, 1, c->nwords - 1, REQUEST_PLAN, &r, err);
    if (st)
        return st;
    st = call_finish(s, c, err);
    if (!st && choice)
        chosen_explain(s, &r, call_width(s, c), c->out);
    else if (!st && is_plan_metric(metric))
        st = explain_plan(s, c, &r, metric, err);
    else if (!st)
        explain_field(s, c, find_field(metric));
    lines_wrap(c->out, 0, call_width(s, c));
    request_clear(&r);
    return st;
}

const struct cmd_entry cmd_explain = {
    .name = "explain",
    .group = "Model",
    .usage = "METRIC [K] [shape] [params] [gpu=NAME]",
    .summary = "how a figure comes about: its formula with the values put in",
    .help =
        "Figures of plan are shown with formula and values for the kernel, shape and parameters\n"
        "named; for those of the last row where none are. Figures of run and profile are shown "
        "with\n"
        "their meaning and, after a run, with the last row's values, and so is any other field of\n"
        "what a verb prints, by its whole name. A metric may be shortened while unique.\n"
        "explain auto shows which kernels may be fastest for the shape, and by what.\n"
        "\n"
        "  explain occupancy qtile_seq BR=128 gpu=L4\n"
        "  explain error_ratio\n"
        "  explain waits_for\n"
        "  explain auto S=3k gpu=H200\n",
    .arg = ARG_METRIC,
    .flags = CMD_SHAPE | CMD_OPTIONS | CMD_PARAMS,
    .exec = exec_explain,
};
