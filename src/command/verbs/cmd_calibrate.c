/* cmd_calibrate.c - calibrate: the time model held against recordings of a GPU, and its factors fitted to them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu_host.h"
#include "base/mem.h"
#include "base/number.h"
#include "command/ask/gather.h"
#include "command/ask/predicted.h"
#include "command/output.h"
#include "command/session.h"
#include "command/verbs/verbs.h"
#include "export/rows.h"

/* Kernels of the ladder, with a small, a middle and a large shape. */
static const double usual_configurations = 120, simulation_s = 20;
/* With fewer, a fifth left out says nothing. */
enum { KERNELS_LEAST = 5, SHAPES_LEAST = 5 };

/* ---- rows ---- */

struct each_row {
    char *kernel, *params, *shape, *gpu, *origin, *binds, *used_whose;
    double measured_us, used_us, unfitted_us, fitted_us, kernels_us, shapes_us;
};
// clang-format off
#define TEXT(m, doc_) FIELD(FIELD_TEXT, each_row, m, .doc = doc_)
#define TIME(m, title_, doc_) FIELD(FIELD_REAL, each_row, m, .unit = "us", .title = title_, .doc = doc_)
static const struct field each_fields[] = {
    TEXT(kernel, "Name of the kernel."),
    TEXT(params, "Kernel parameters, defaults included."),
    TEXT(shape, "The attention problem."),
    TEXT(gpu, "The GPU that it was measured on."),
    TEXT(origin, "model: all times but the measured one are the time model's."),
    TIME(measured_us, "measured", "Recorded median time, caches cold."),
    TIME(used_us, "in use", "Predicted with the factors that were in use before, which have not seen these times unless they were fitted to them."),
    TIME(unfitted_us, "all 1", "Predicted with all factors 1."),
    TIME(fitted_us, "fitted", "Predicted with the factors that were fitted to all."),
    TIME(kernels_us, "kernel left out", "Predicted with factors that were fitted without this kernel and others."),
    TIME(shapes_us, "shape left out", "Predicted with factors that were fitted without this shape and others."),
    TEXT(binds, "What most of the fitted time goes to."),
    TEXT(used_whose, "Whose the factors in use are: shipped, yours or someone's; null: nobody's, all are 1."),
    {.name = NULL},
};
#undef TEXT
#undef TIME
static const struct row_type each_type = ROW_TYPE(each_row, {each_fields, 0}),
                             calibration_type = ROW_TYPE(calibration, {calibration_fields, 0});
static const struct columns each_columns = {
    .type = &each_type,
    .list = (const struct column[]){
        {.field = "kernel"},
        {.field = "params", .drop = 3},
        {.field = "shape"},
        {.field = "measured_us"},
        {.field = "used_us"},
        {.field = "unfitted_us"},
        {.field = "fitted_us"},
        {.field = "kernels_us"},
        {.field = "shapes_us", .drop = 1},
        {.field = "binds", .drop = 2},
        {0},
    },
};
static const struct columns calibration_columns = {
    .type = &calibration_type,
    .list = (const struct column[]){
        {.field = "gpu"},
        {.field = "configurations"},
        {.field = "unfitted_pct", .title = "all 1, off %"},
        {.field = "fitted_pct", .title = "fitted, off %"},
        {.field = "kernels_pct", .title = "kernels left out, off %"},
        {.field = "shapes_pct", .title = "shapes left out, off %"},
        {.field = "order_pct", .title = "order right %"},
        {.field = "recording"},
        {0},
    },
};
// clang-format on

/* ---- the fit ---- */

struct fitted {
    struct calibration c;
    const char *used_whose; /* a word of whose_words; NULL: nothing was fitted, all are 1 */
    double *used, *unfitted, *fitted, *kernels, *shapes; /* of each sample */
    struct fit_error of_used, of_unfitted, of_fitted, of_kernels, of_shapes;
};

static int64_t different(const struct gathered *g, bool kernels)
{
    int64_t count = 0;
    for (size_t i = 0; i < g->n; i++) {
        size_t k = 0;
        while (strcmp(kernels ? g->v[k].kernel : g->v[k].shape,
                      kernels ? g->v[i].kernel : g->v[i].shape) != 0)
            k++;
        count += k == i;
    }
    return count;
}

static void fill_calibration(struct fitted *f, const struct gathered *g, const struct device *gpu)
{
    char now[32];
    f->c.gpu = xstrdup(gpu->name);
    f->c.time = xstrdup(host_date(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ"));
    f->c.recording = xstrdup(g->recordings);
    f->c.configurations = (int64_t)g->n;
    f->c.kernels = different(g, true);
    f->c.shapes = different(g, false);
    f->c.unfitted_pct = f->of_unfitted.median_pct;
    f->c.fitted_pct = f->of_fitted.median_pct;
    f->c.kernels_pct = f->of_kernels.median_pct;
    f->c.kernels_most_pct = f->of_kernels.most_pct;
    f->c.shapes_pct = f->of_shapes.median_pct;
    f->c.order_pct = f->of_kernels.order_pct;
    f->c.apart = f->of_kernels.apart;
}

/* `used`: the factors that count so far. */
static void fit(const struct gathered *g, const struct device *gpu,
                const struct predict_factors *used, struct fitted *f)
{
    double **times[] = {&f->used, &f->unfitted, &f->fitted, &f->kernels, &f->shapes};
    record_init(calibration_fields, &f->c);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        *times[i] = xcalloc(g->n + 1, sizeof **times[i]);
    f->c.factors = fit_factors(g->v, g->n, NULL, &predict_unfitted);
    fit_predict(g->v, g->n, used, f->used);
    fit_predict(g->v, g->n, &predict_unfitted, f->unfitted);
    fit_predict(g->v, g->n, &f->c.factors, f->fitted);
    cross_validate(g->v, g->n, FIT_BY_KERNEL, &predict_unfitted, f->kernels);
    cross_validate(g->v, g->n, FIT_BY_SHAPE, &predict_unfitted, f->shapes);
    f->of_used = fit_error(g->v, g->n, f->used);
    f->of_unfitted = fit_error(g->v, g->n, f->unfitted);
    f->of_fitted = fit_error(g->v, g->n, f->fitted);
    f->of_kernels = fit_error(g->v, g->n, f->kernels);
    f->of_shapes = fit_error(g->v, g->n, f->shapes);
    fill_calibration(f, g, gpu);
}

static void fitted_clear(struct fitted *f)
{
    calibration_clear(&f->c);
    free(f->used);
    free(f->unfitted);
    free(f->fitted);
    free(f->kernels);
    free(f->shapes);
}

/* ---- output ---- */

static void add_each(const struct gathered *g, const struct fitted *f, struct rowset *rows)
{
    for (size_t i = 0; i < g->n; i++) {
        const struct fit_sample *s = &g->v[i];
        struct predict_gpu gpu = s->gpu;
        struct predicted_time p;
        gpu.factors = f->c.factors;
        predict(&s->run, &gpu, &p);
        struct each_row *row = rowset_add(rows);
        row->kernel = xstrdup(s->kernel);
        row->params = xstrdup(s->params);
        row->shape = xstrdup(s->shape);
        row->gpu = xstrdup(f->c.gpu);
        row->origin = xstrdup("model");
        row->binds = xstrdup(predict_unit_name(p.binds));
        row->used_whose = f->used_whose ? xstrdup(f->used_whose) : NULL;
        row->measured_us = s->us;
        row->used_us = f->used[i];
        row->unfitted_us = f->unfitted[i];
        row->fitted_us = f->fitted[i];
        row->kernels_us = f->kernels[i];
        row->shapes_us = f->shapes[i];
        predicted_time_clear(&p);
    }
}

static void add_error(struct str *out, const char *what, const struct fit_error *e)
{
    char a[NUMBER_BUF], b[NUMBER_BUF], c[NUMBER_BUF], d[NUMBER_BUF];
    str_addf(out, "%-24s %8s %% %12s %% %14s %% %16s\n", what, number_fmt(a, e->median_pct, 3),
             number_fmt(b, e->most_pct, 3), number_fmt(c, e->order_pct, 3),
             number_fmt(d, e->apart, 3));
}

static void add_text(const struct gathered *g, const struct fitted *f, struct str *out)
{
    char buf[NUMBER_BUF], used[40];
    snprintf(used, sizeof used, "in use so far: %s", f->used_whose ? f->used_whose : "none");
    str_addf(
        out,
        "%s: %zu of %zu recorded configurations (%lld kernels, %lld shapes) of %s; caches cold\n",
        f->c.gpu, g->n, g->recorded, (long long)f->c.kernels, (long long)f->c.shapes,
        g->recordings);
    if (g->older)
        str_addf(out, "%zu are of another source of their kernel and left out\n", g->older);
    if (g->refused)
        str_addf(out, "%zu could not be simulated or planned, the last: %s\n", g->refused,
                 g->why.text);
    str_addf(out, "%-24s %10s %14s %16s %16s\n", "the model is off by", "median", "1 in 10 more",
             "orders right", "sure from x");
    add_error(out, used, &f->of_used);
    add_error(out, "all factors 1", &f->of_unfitted);
    add_error(out, "fitted to all of these", &f->of_fitted);
    add_error(out, "kernels left out", &f->of_kernels);
    add_error(out, "shapes left out", &f->of_shapes);
    str_add(out, "orders: of pairs of one shape that were measured 1.2 times apart or more; sure: "
                 "so far apart as "
                 "predicted, 95 of 100 pairs are in the right order\n\n");
    for (int i = 0; i < PREDICT_FACTOR_COUNT; i++)
        str_addf(out, "%-8s %6s  %s\n", predict_factor_name((enum predict_factor)i),
                 number_fmt(buf, f->c.factors.v[i], 3),
                 predict_factor_what((enum predict_factor)i));
}

static enum status keep(struct session *s, struct cmd_call *c, const struct calibration *x,
                        struct err *err)
{
    char *path = NULL;
    const enum status st = calibrations_keep(session_calibrations(s), x, &path, err);
    if (st == ST_OK && call_format(c) == FORMAT_TEXT)
        str_addf(c->out, "kept in %s: predictions for %s use them from now on\n", path, x->gpu);
    free(path);
    return st;
}

/* ---- the verb ---- */

/* Of so few that leaving some out says nothing, no error is known, and nothing is kept. */
static enum status check_enough(const struct calibration *x, struct err *err)
{
    if (x->kernels >= KERNELS_LEAST && x->shapes >= SHAPES_LEAST)
        return ST_OK;
    return err_set(err, ST_NO,
                   "%lld kernels and %lld shapes are too few to say how far off a fit would be; it "
                   "takes %d and %d. "
                   "Nothing was kept",
                   (long long)x->kernels, (long long)x->shapes, KERNELS_LEAST, SHAPES_LEAST);
}

static enum status show(struct session *s, struct cmd_call *c, const struct gathered *g,
                        const struct fitted *f, bool each, bool dry, struct err *err)
{
    struct rowset rows = {.type = each ? &each_type : &calibration_type};
    const bool text = call_format(c) == FORMAT_TEXT;
    if (each)
        add_each(g, f, &rows);
    else
        record_copy(calibration_fields, rowset_add(&rows), &f->c);
    if (text && !each) {
        const size_t from = c->out->len;
        add_text(g, f, c->out);
        lines_wrap(c->out, from, call_width(s, c));
        call_remember(s, c, &rows, &calibration_columns);
    } else
        call_rows(s, c, &rows, each ? &each_columns : &calibration_columns);
    rowset_clear(&rows);
    const enum status st = check_enough(&f->c, err);
    return st || dry ? st : keep(s, c, &f->c, err);
}

static enum status read_call(struct session *s, struct cmd_call *c, struct gather_from *from,
                             struct err *err)
{
    const char *gpu = call_key(c, "gpu"), *n = call_key(c, "n");
    from->names = c->words;
    from->nnames = c->nwords;
    from->most = (int64_t)usual_configurations;
    from->limit_s = simulation_s;
    from->gpu = session_gpu(s,
                            gpu                                    ? gpu
                            : c->nwords || s->settings.options.gpu ? NULL
                                                                   : "H200",
                            err);
    if (!from->gpu)
        return gpu ? call_mark_key(c, "gpu", ST_USAGE, err) : ST_USAGE;
    if (!n)
        return ST_OK;
    const enum status st = number_parse_int("n", n, 0, 100000, &from->most, err);
    return st ? call_mark_key(c, "n", st, err) : ST_OK;
}

static enum status exec_calibrate(struct session *s, struct cmd_call *c, struct err *err)
{
    struct gather_from from;
    (void)call_format(c);
    const bool dry = call_option(c, "dry-run"), each = call_option(c, "each"),
               forget = call_option(c, "forget");
    enum status st = read_call(s, c, &from, err);
    if (st == ST_OK)
        st = call_finish(s, c, err);
    if (st == ST_OK && forget && dry)
        st = err_set(err, ST_USAGE, "--forget drops what is kept, --dry-run keeps it: one of them");
    if (st == ST_OK && !dry && !session_may(s, MAY_WRITE))
        st = err_set(err, ST_USAGE,
                     "factors cannot be kept%s in this restricted session; --dry-run "
                     "fits and shows them",
                     forget ? " or dropped" : "");
    if (st != ST_OK)
        return st;
    if (forget)
        return calibrations_drop(session_calibrations(s), from.gpu, err);
    struct gathered g;
    struct fitted f = {.unfitted = NULL};
    st = gather(s, &from, &g, err);
    if (st == ST_CANCELLED)
        err_set(err, st, "cancelled");
    if (st == ST_OK) {
        struct whose whose;
        const struct calibration *used = predicted_factors(s, from.gpu, &whose);
        const struct predict_factors factors = used->factors;
        f.used_whose = calibration_is_fitted(used) ? whose_words[whose.is] : NULL;
        fit(&g, from.gpu, &factors, &f);
        st = show(s, c, &g, &f, each, dry, err);
        fitted_clear(&f);
    }
    gathered_clear(&g);
    return st;
}

static const struct cmd_key calibrate_keys[] = {
    {"gpu", "whose times; that of settings, else H200, of which recordings are shipped", NULL},
    {"n",
     "configurations to simulate, the same number of each kernel, so at least so many; 120 by "
     "default, 0: all",
     NULL},
    {"--each", "a row for each configuration: measured and predicted", NULL},
    {"--dry-run", "keep nothing", NULL},
    {"--forget", "drop the factors of that GPU that were kept here", NULL},
    {0},
};

const struct cmd_entry cmd_calibrate = {
    .name = "calibrate",
    .group = "Model",
    .usage = "[RECORDING ...] [gpu=NAME]",
    .summary = "fit the time model's eight factors to recordings of a GPU",
    .help =
        "predicted_us of simulated runs comes from a model: counts by phase, latencies and rates "
        "of\n"
        "the device table, blocks over SMs. What it leaves out, and what ptxas makes of PTX, "
        "eight\n"
        "factors absorb: of the GPU, never of a kernel. This fits them to recorded times, the\n"
        "shipped and your own of that GPU or the recordings that are named, and keeps them in "
        "your\n"
        "data folder, from where predictions for that GPU take them. For a GPU of yours: record\n"
        "FILE -- compare all on it, with some shapes, then calibrate FILE on any machine.\n"
        "\n"
        "Every recorded configuration (kernel, parameters, shape) is simulated here, which takes "
        "a\n"
        "second to some seconds each: minutes for the usual 120. Nothing is printed until then.\n"
        "The error is printed before and after, and of what was left out: the model is fitted\n"
        "five times without a fifth of the kernels, or of the shapes, and predicts those. Rows "
        "show that error beside their prediction, and no verdict is given within it.\n"
        "Errors are of ratios: twice too long and half are both 100 % off.\n"
        "\n"
        "  calibrate gpu=H200\n"
        "  calibrate mine.rec gpu=L4 n=0\n"
        "  calibrate gpu=H200 --each --csv --dry-run > predicted.csv\n",
    .arg = ARG_FILE,
    .keys = calibrate_keys,
    .flags = CMD_ROWS,
    .exec = exec_calibrate,
    .columns = COLUMNS(&calibration_columns, &each_columns),
};
