/* cmd_tune.c - tune: the tiles of a kernel side by side, compiled for one GPU.
 *
 * Every legal combination of the tile parameters is planned with its real registers. The order is that
 * of an exact figure, the bytes that are asked for unless sort= names another; what only bounds a figure
 * has no rank, and nothing here is a time unless somebody has recorded one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "command/ask/axis.h"
#include "command/ask/keys.h"
#include "command/ask/plan_here.h"
#include "command/ask/plan_row.h"
#include "command/ask/recollect.h"
#include "command/ask/predicted.h"
#include "command/ask/request.h"
#include "command/ask/simulate.h"
#include "command/output.h"
#include "command/session.h"
#include "command/show/predicted_words.h"
#include "command/verbs/tune_measure.h"
#include "command/verbs/tune_values.h"
#include "command/verbs/verbs.h"

enum { AXES_MAX = 4, TILES_MAX = 256, USUAL_MAX = 64 };

/* ---- rows ---- */

struct tune_row {
    struct plan_row plan;
    char *tile;
    int64_t rank;
    double predicted_us, predicted_error_pct;
    char *predicted_note;
};
// clang-format off
static const struct field tune_fields[] = {
    FIELD(FIELD_INT, tune_row, rank,
          .doc = "By the figure that sort= names, 1 first, equal ones alike; null: it cannot run, or the figure is only bounded or not known."),
    FIELD(FIELD_TEXT, tune_row, tile, .doc = "The parameters that are varied; params has all."),
    FIELD(FIELD_REAL, tune_row, predicted_us, .title = "model us", .digits = 3, .unit = "us",
          .doc = "With sort=predicted: the time model's of a simulated run on that GPU."),
    FIELD(FIELD_REAL, tune_row, predicted_error_pct, .title = "off %", .digits = 2, .unit = "%",
          .doc = "By how much that is off, see predicted_error_pct of run."),
    FIELD(FIELD_TEXT, tune_row, predicted_note, .doc = "Why nothing is predicted, or with what reserve."),
    {.name = NULL},
};
/* Of its plan a row shows these. */
static const char *const order[] = {
    "rank", "kernel", "gpu", "shape", "params", "tile", "origin", "reason", "blocked_by", "grid", "threads",
    "regs", "regs_source", "regs_reason", "spill_bytes", "smem_bytes", "blocks_per_sm", "active_warps",
    "occupancy_pct", "limiter", "waves", "upper_bound", "requested_bytes", "requested_intensity",
    "predicted_us", "predicted_error_pct", "predicted_note", "recorded_us", "recorded_tflops", "recorded_time", "recorded_in", "recorded_old", NULL};
static const struct row_type tune_type = {
    .size = sizeof(struct tune_row),
    .parts = {{tune_fields, 0}, PLAN_ROW_PARTS(offsetof(struct tune_row, plan)),
              {recorded_fields, offsetof(struct tune_row, plan)}},
    .order = order};
static const struct columns tune_columns = {
    .type = &tune_type,
    .list = (const struct column[]){
        {.field = "rank"},
        {.field = "tile"},
        {.field = "regs"},
        {.field = "regs_source", .title = "from", .drop = 5},
        {.field = "spill_bytes", .drop = 3},
        {.field = "smem_bytes", .drop = 2},
        {.field = "blocks_per_sm"},
        {.field = "active_warps", .title = "warps/SM", .drop = 1},
        {.field = "limiter", .drop = 4},
        {.field = "waves"},
        {.field = "requested_bytes", .title = "asks for B"},
        {.field = "predicted_us", .optional = true},
        {.field = "predicted_error_pct", .optional = true},
        {.field = "recorded_us", .optional = true},
        {.field = "reason", .optional = true},
        {0},
    },
};

/* What rows can be sorted by; of all of these less is first, but where more is. */
static const char *const sort_names[] = {"bytes", "waves", "blocks", "warps", "regs", "smem", "spilled", "recorded", "predicted", NULL};
static const struct sort {
    const char *field, *what;
    bool more;
} sorts[] = {
    {"requested_bytes", "the bytes it asks for", false},
    {"waves",           "waves",                 false},
    {"blocks_per_sm",   "resident blocks",       true},
    {"active_warps",    "resident warps",        true},
    {"regs",            "registers",             false},
    {"smem_bytes",      "shared memory",         false},
    {"spill_bytes",     "spilled bytes",         false},
    {"recorded_us",     "the recorded time",     false},
    {"predicted_us",    "the predicted time",    false},
};
// clang-format on
_Static_assert(sizeof sorts / sizeof *sorts == sizeof sort_names / sizeof *sort_names - 1,
               "a figure for each word");

/* ---- which tiles ---- */

struct axis {
    char *name, *given; /* given: "16,32" as it was typed, or NULL */
    char **values;
    int count;
};

struct tune {
    struct session *session;
    struct cmd_call *call;
    struct request base;
    const struct device *gpu;
    const struct sort *sort;
    struct axis axes[AXES_MAX];
    int naxes, ntiles;
    struct rowset rows;
    double apart; /* predictions so many times apart are in the right order, 95 of 100 times */
};

static void tune_clear(struct tune *t)
{
    for (int i = 0; i < t->naxes; i++) {
        free(t->axes[i].name);
        free(t->axes[i].given);
        axis_free(t->axes[i].values, t->axes[i].count);
    }
    rowset_clear(&t->rows);
    request_clear(&t->base);
}

static bool is_number(const struct field *f)
{
    return !f->words && f->hi > f->lo;
}

/* Has the call this parameter, as one value? */
static bool is_fixed(const struct tune *t, const char *name)
{
    for (int i = 0; i < t->call->npairs; i++)
        if (!strcmp(t->call->pairs[i].key, name))
            return true;
    return false;
}

/* Takes a parameter in with its usual values, where there is room for them. */
static void add_usual(struct tune *t, const struct kernel_desc *d, int param)
{
    const char *name = d->params[param].name;
    int64_t values[TUNE_VALUES_MAX];
    const int n = tune_values(d, param, &t->base.problem.shape, t->gpu, values);
    if (is_fixed(t, name) || t->naxes == AXES_MAX || t->ntiles * n > USUAL_MAX)
        return;
    struct axis *a = &t->axes[t->naxes++];
    *a = (struct axis){.name = xstrdup(name), .count = n};
    a->values = xcalloc((size_t)n + 1, sizeof *a->values);
    for (int i = 0; i < n; i++)
        a->values[i] = xasprintf("%lld", (long long)values[i]);
    t->ntiles *= n;
}

/* The sides of tiles; of a kernel without such, every number but padding. */
static void add_all_usual(struct tune *t)
{
    const struct kernel_desc *d = t->base.kernels[0]->cuda;
    bool any = false;
    for (const struct tune_side *side = tune_sides; side->name; side++) {
        const int i = desc_param_index(d, side->name);
        if (i >= 0 && is_number(&d->params[i])) {
            add_usual(t, d, i);
            any = true;
        }
    }
    for (int i = 0; !any && i < d->nparams; i++)
        if (is_number(&d->params[i]) && strcmp(d->params[i].name, "PAD") != 0)
            add_usual(t, d, i);
}

static enum status add_given(struct tune *t, const struct cmd_pair *p, struct err *err)
{
    const struct kernel_desc *d = t->base.kernels[0]->cuda;
    struct axis *a = &t->axes[t->naxes];
    if (desc_param_index(d, p->key) < 0)
        return err_set(err, ST_USAGE,
                       "%s is no parameter of %s; tune varies those, sweep varies the shape, too",
                       p->key, d->name);
    if (t->naxes == AXES_MAX)
        return err_set(err, ST_USAGE, "tune varies at most %d parameters", AXES_MAX);
    enum status st = axis_expand(p->value, &a->values, &a->count, err);
    if (st)
        return st;
    a->name = xstrdup(p->key);
    a->given = xstrdup(p->value);
    t->naxes++;
    t->ntiles *= a->count;
    return t->ntiles <= TILES_MAX
               ? ST_OK
               : err_set(err, ST_USAGE, "that are %d tiles; %d at most", t->ntiles, TILES_MAX);
}

/* What is varied has no value of its own, whatever the session has set. */
static void forget_settings(struct tune *t)
{
    const struct kernel_desc *d = t->base.kernels[0]->cuda;
    const struct param_values usual = desc_defaults_for(d, &t->base.problem.shape);
    for (int i = 0; i < t->naxes; i++) {
        const int at = desc_param_index(d, t->axes[i].name);
        t->base.params[0].v[at] = usual.v[at];
        t->base.params[0].given &= ~(1u << at);
    }
}

/* What the call varies, else what is usual. */
static enum status find_axes(struct tune *t, struct err *err)
{
    struct cmd_call *c = t->call;
    t->ntiles = 1;
    for (int i = 0; i < c->npairs; i++) {
        struct cmd_pair *p = &c->pairs[i];
        if (p->used || !axis_is(p->value) || is_option_key(p->key) || is_input_key(p->key))
            continue;
        const enum status st = add_given(t, p, err);
        if (st)
            return call_mark_key(c, p->key, st, err);
        (void)call_key(c, p->key);
    }
    if (!t->naxes)
        add_all_usual(t);
    forget_settings(t);
    return ST_OK;
}

/* The value of axis a in tile number `at`; the last axis runs fastest. */
static const char *value_of(const struct tune *t, int a, int at)
{
    for (int i = t->naxes - 1; i > a; i--)
        at /= t->axes[i].count;
    return t->axes[a].values[at % t->axes[a].count];
}

/* The request of a tile, to be cleared whatever the status. */
static enum status tile_request(const struct tune *t, int at, struct request *out, struct err *err)
{
    enum status st = ST_OK;
    bool known;
    request_copy(out, &t->base);
    for (int a = 0; a < t->naxes && !st; a++)
        st = request_try(out, t->axes[a].name, value_of(t, a, at), &known, err);
    return st;
}

/* "BR=32 BC=64"; all parameters where none is varied. */
static char *tile_text(const struct tune *t, int at)
{
    struct str s = {0};
    char all[1024];
    for (int a = 0; a < t->naxes; a++)
        str_addf(&s, "%s%s=%s", a ? " " : "", t->axes[a].name, value_of(t, a, at));
    if (!t->naxes) {
        desc_params_format(t->base.kernels[0]->cuda, &t->base.params[0], false, all, sizeof all);
        str_add(&s, *all ? all : "-");
    }
    return str_take(&s);
}

/* ---- planning them ---- */

/* Of a tile that the kernel's own rule excludes: there is no such layout. */
static void forget_figures(struct row *row)
{
    static const char *const names[] = {
        "grid",          "threads", "smem_bytes",  "blocks_per_sm",   "active_warps",
        "occupancy_pct", "waves",   "upper_bound", "requested_bytes", "requested_intensity",
        "limiter",       NULL};
    for (const char *const *name = names; *name; name++)
        row_forget(row, *name);
}

static bool by_prediction(const struct tune *t)
{
    return !strcmp(t->sort->field, "predicted_us");
}

/* A few blocks of the tile, simulated. */
static void predict_tile(const struct tune *t, const struct request *r, struct tune_row *row)
{
    static const double tile_s = 10;
    struct run_row run;
    if (simulate_few(t->session, r, 0, tile_s, &run) && run.predicted_us > 0) {
        row->predicted_us = run.predicted_us;
        row->predicted_error_pct = run.predicted_error_pct;
    }
    row->predicted_note = xstrdup_if(run.predicted_note        ? run.predicted_note
                                     : !(run.predicted_us > 0) ? run.reason
                                                               : NULL);
    record_clear(run_fields, &run);
}

static void plan_tile(struct tune *t, int at)
{
    const struct plan_how how = {.session = t->session};
    struct tune_row *row = rowset_add(&t->rows);
    struct err err = ERR_INIT;
    struct request r;
    struct plan p = {0};
    enum status st = tile_request(t, at, &r, &err);
    if (!st)
        st = plan_row(&r, 0, t->gpu, &how, &p, &row->plan, &err);
    if (st && !row->plan.occ.reason)
        row->plan.occ.reason = xstrdup(err.text);
    if (!st && !row->plan.occ.reason && plan_is_refused(t->session, &p))
        row->plan.occ.reason = xstrdup(p.regs_reason);
    if (!st) {
        const struct recalled recalled = recollect(t->session, &r, 0, t->gpu);
        recollect_put(&recalled, &row->plan);
    }
    if (!st && by_prediction(t) && !row->plan.occ.reason)
        predict_tile(t, &r, row);
    if (!row->plan.kernel)
        row->plan.kernel = xstrdup(t->base.kernels[0]->name);
    if (row->plan.blocked_by && !strcmp(row->plan.blocked_by, "kernel"))
        forget_figures(t->rows.rows[t->rows.n - 1]);
    row->tile = tile_text(t, at);
    plan_clear(&p);
    request_clear(&r);
}

static void plan_tiles(struct tune *t)
{
    for (int at = 0; at < t->ntiles; at++) {
        struct request r;
        if (tile_request(t, at, &r, NULL) == ST_OK)
            plans_ask(t->session, t->session, &r, t->gpu);
        request_clear(&r);
    }
    plans_wait(t->session);
    for (int at = 0; at < t->ntiles; at++)
        plan_tile(t, at);
}

/* ---- the order ---- */

enum { RANKED, UNRANKED, ILLEGAL };

static int class_of(const struct tune *t, const struct row *row)
{
    if (row_known(row, "reason"))
        return ILLEGAL;
    const bool bound = *row_bound(row, t->sort->field);
    return bound || isnan(row_real(row, t->sort->field)) ? UNRANKED : RANKED;
}

/* Below 0: `a` stands before `b`. */
static int compare_rows(const struct tune *t, const struct row *a, const struct row *b)
{
    const int x = class_of(t, a), y = class_of(t, b);
    if (x != y || x != RANKED)
        return x - y;
    const double d = row_real(a, t->sort->field) - row_real(b, t->sort->field);
    return (t->sort->more ? -1 : 1) * ((d > 0) - (d < 0));
}

/* Behind how many it is by the model: those that are so far before it that 95 of 100 such orders are right. */
static void rank_predicted(struct tune *t)
{
    struct row **v = t->rows.rows;
    for (size_t i = 0; i < t->rows.n && class_of(t, v[i]) == RANKED; i++) {
        struct tune_row *row = row_data(v[i]);
        row->rank = 1;
        for (size_t k = 0; k < i; k++)
            row->rank += row_real(v[k], "predicted_us") * t->apart <= row->predicted_us;
    }
}

/* Stable: what is equal, or has no rank, stays in the order of the tiles. */
static void sort_rows(struct tune *t)
{
    struct row **v = t->rows.rows;
    for (size_t i = 1; i < t->rows.n; i++)
        for (size_t k = i; k > 0 && compare_rows(t, v[k], v[k - 1]) < 0; k--) {
            struct row *other = v[k];
            v[k] = v[k - 1];
            v[k - 1] = other;
        }
    if (by_prediction(t)) {
        rank_predicted(t);
        return;
    }
    for (size_t i = 0; i < t->rows.n && class_of(t, v[i]) == RANKED; i++) {
        struct tune_row *row = row_data(v[i]);
        const struct tune_row *before = i ? row_read(v[i - 1]) : NULL;
        row->rank = before && !compare_rows(t, v[i], v[i - 1]) ? before->rank : (int64_t)i + 1;
    }
}

static size_t count_class(const struct tune *t, int class)
{
    size_t n = 0;
    for (size_t i = 0; i < t->rows.n; i++)
        n += class_of(t, t->rows.rows[i]) == class;
    return n;
}

/* ---- as text ---- */

/* The tiles that cannot run, each with its reason; the kernel's name, which all have, is left out. */
static void say_illegal(const struct tune *t, struct str *out)
{
    enum { SHOWN = 12 };
    const size_t from = t->rows.n - count_class(t, ILLEGAL);
    for (size_t i = from; i < t->rows.n && i < from + SHOWN; i++) {
        const struct tune_row *row = row_read(t->rows.rows[i]);
        char *clean = sanitize_line(row->plan.occ.reason);
        const size_t name = strlen(row->plan.kernel);
        const bool named = !strncmp(clean, row->plan.kernel, name) && clean[name] == ':';
        const bool whole = !strcmp(row->tile, "-"); /* a kernel without parameters */
        str_addf(out, "%s %s%s%s\n", i == from ? "not possible:" : "             ",
                 whole ? "" : row->tile, whole ? "" : ": ", clean + (named ? name + 2 : 0));
        free(clean);
    }
    if (t->rows.n > from + SHOWN)
        str_addf(out, "and %zu more; --json has all\n", t->rows.n - from - SHOWN);
}

static void say_unranked(const struct tune *t, struct str *out)
{
    const size_t n = count_class(t, UNRANKED);
    const char *why = NULL;
    bool bounds = false;
    for (size_t i = 0; i < t->rows.n; i++) {
        const struct row *row = t->rows.rows[i];
        if (class_of(t, row) == ILLEGAL || !*row_bound(row, "blocks_per_sm"))
            continue;
        bounds = true;
        why = why ? why : row_text(row, "regs_reason");
    }
    if (bounds) {
        char *clean = why ? sanitize_line(why) : NULL;
        str_addf(out, "<= and >= are bounds, never ranked: the registers are not known%s%s\n",
                 clean ? ": " : "", clean ? clean : "");
        free(clean);
    }
    if (n && !strcmp(t->sort->field, "recorded_us"))
        str_addf(out, "%zu of them nobody has recorded on %s for this shape\n", n, t->gpu->name);
}

/* Who is first, where the model can tell; how far off it is; and why some have no time. */
static void say_predicted(const struct tune *t, struct str *out)
{
    size_t first = 0;
    const char *why = NULL;
    char ratio[NUMBER_BUF];
    for (size_t i = 0; i < t->rows.n; i++) {
        const struct tune_row *row = row_read(t->rows.rows[i]);
        first += class_of(t, t->rows.rows[i]) == RANKED && row->rank == 1;
        why = !why && class_of(t, t->rows.rows[i]) == UNRANKED ? row->predicted_note : why;
    }
    if (first > 1)
        str_addf(out,
                 "%zu tiles share the first rank: they lie within %s times, and so near the "
                 "model cannot tell which is faster\n",
                 first, number_fmt(ratio, t->apart, 3));
    char *trust = predicted_trust(t->session, t->gpu->name);
    str_addf(out, "model, on %s: %s\n", t->gpu->name, trust);
    free(trust);
    if (why)
        str_addf(out, "%zu have no predicted time, the first: %s\n", count_class(t, UNRANKED), why);
}

/* What a plan cannot tell, and what can. */
static void say_how_to_time(const struct tune *t, struct str *out)
{
    const size_t legal = t->rows.n - count_class(t, ILLEGAL);
    if (legal < 2 || !t->naxes)
        return;
    const bool here = session_gpu_is_here(t->session, t->gpu);
    str_addf(out, "The order is no ranking by time, which only a run%s%s tells: compare ",
             here ? "" : " on ", here ? "" : t->gpu->name);
    for (size_t i = 0; i < 2; i++) {
        const struct tune_row *row = row_read(t->rows.rows[i]);
        str_addf(out, "%s%s@", i ? "," : "", row->plan.kernel);
        for (const char *p = row->tile; *p; p++)
            str_addc(out, *p == ' ' ? '@' : *p);
    }
    if (!t->base.options.backend) /* without it the C versions are timed where there is no GPU */
        str_addf(out, " backend=%s", backend_gpu()->name);
    request_rest(&t->base, out);
    str_addc(out, '\n');
}

static void print_text(struct tune *t)
{
    struct str *out = t->call->out;
    struct rowset legal = {.type = &tune_type};
    const int width = call_width(t->session, t->call);
    char shape[SHAPE_TEXT];
    shape_format(&t->base.problem.shape, shape, sizeof shape);
    for (size_t i = 0; i < t->rows.n; i++)
        if (class_of(t, t->rows.rows[i]) != ILLEGAL)
            rowset_share(&legal, t->rows.rows[i]);
    size_t from = out->len;
    str_addf(out, "%s on %s  MODEL  %s, by %s%s\n", t->base.kernels[0]->name, t->gpu->name, shape,
             t->sort->what, t->sort->more ? ", most first" : "");
    lines_wrap(out, from, width);
    if (legal.n)
        rows_show(t->session, out, &legal, &tune_columns, FORMAT_TEXT, width);
    from = out->len;
    say_unranked(t, out);
    if (by_prediction(t))
        say_predicted(t, out);
    say_illegal(t, out);
    if (strcmp(t->sort->field, "recorded_us") != 0)
        say_how_to_time(t, out);
    lines_wrap(out, from, width);
    rowset_clear(&legal);
}

/* ---- the verb ---- */

static enum status find_sort(struct tune *t, struct err *err)
{
    const char *word = call_key(t->call, "sort");
    int i = 0;
    while (word && sort_names[i] && strcmp(word, sort_names[i]) != 0)
        i++;
    t->sort = &sorts[sort_names[i] ? i : 0];
    if (sort_names[i])
        return ST_OK;
    struct str all = {0};
    for (i = 0; sort_names[i]; i++)
        str_addf(&all, "%s%s", i ? ", " : "", sort_names[i]);
    err_set(err, ST_USAGE, "sort= takes one of: %s", str_text(&all));
    str_free(&all);
    return call_mark_key(t->call, "sort", ST_USAGE, err);
}

static enum status make(struct tune *t, struct err *err)
{
    struct cmd_call *c = t->call;
    enum status st = request_make(t->session, c, REQUEST_PLAN | REQUEST_AXES, &t->base, err);
    if (st)
        return st;
    if (t->base.nkernels != 1)
        return err_set(err, ST_USAGE, "tune needs one kernel, for example: tune fa2 gpu=H200");
    if (!t->base.kernels[0]->cuda)
        return err_set(err, ST_USAGE, "%s has no CUDA source to plan", t->base.kernels[0]->name);
    if (!(t->gpu = session_gpu(t->session, t->base.options.gpu, err)))
        return call_mark_key(c, "gpu", ST_USAGE, err);
    st = find_axes(t, err);
    if (!st)
        st = find_sort(t, err);
    return st ? st : call_finish(t->session, c, err);
}

/* The command that repeats it on any machine. */
static char *command_of(const struct tune *t)
{
    struct str s = {0};
    request_command(&t->base, "tune", &s);
    for (int i = 0; i < t->naxes; i++)
        if (t->axes[i].given)
            str_addf(&s, " %s=%s", t->axes[i].name, t->axes[i].given);
    if (t->sort != sorts)
        str_addf(&s, " sort=%s", sort_names[t->sort - sorts]);
    request_command_gpu(&t->base, t->gpu, &s);
    return str_take(&s);
}

static enum status exec_tune(struct session *s, struct cmd_call *c, struct err *err)
{
    if (tune_measures(c))
        return tune_measure(s, c, err);
    struct tune t = {.session = s, .call = c, .rows = {.type = &tune_type}};
    const bool text = call_format(c) == FORMAT_TEXT;
    enum status st = make(&t, err);
    if (!st) {
        t.apart = predicted_calibration(s, t.gpu->name, NULL)->apart;
        plan_tiles(&t);
        sort_rows(&t);
        free(c->command);
        c->command = command_of(&t);
        if (text)
            print_text(&t);
        if (text)
            call_remember(s, c, &t.rows, &tune_columns);
        else
            st = call_rows(s, c, &t.rows, &tune_columns);
    }
    tune_clear(&t);
    return st;
}

static const struct cmd_key tune_keys[] = {
    {"sort", "the figure that orders the rows; bytes by default", sort_names},
    {0},
};

const struct cmd_entry cmd_tune = {
    .name = "tune",
    .group = "Model",
    .usage = "K [PARAM=list|range ...] [shape] [gpu=NAME] [sort=FIGURE] | K[,K...] "
             "[PARAM=list|range ...] [shape] measure",
    .summary = "the tiles of a kernel on a GPU model: blocks, warps, waves, bytes, registers",
    .help =
        "Every combination of the tile parameters, by themselves BR and BC in powers of two up to\n"
        "what covers the shape, or to what the GPU refuses, is compiled (NVRTC or nvcc, in the\n"
        "background, kept on disk) and planned; no GPU is needed.\n"
        "A parameter with a list or a range is varied in its place, one with a value stays.\n"
        "What cannot run stands below with its reason. The order is that of an exact figure, the\n"
        "bytes that are asked for unless sort= names another; where registers are not known, what\n"
        "hangs on them is a bound, marked <= or >=, and has no rank. None of it is a time: where\n"
        "one was recorded on that GPU, it stands beside. sort=predicted simulates a few blocks of "
        "every\n"
        "tile whose PTX is there or can be compiled, and ranks them by the time model as far as "
        "it\n"
        "can tell them apart: tiles within its error share a rank.\n"
        "\n"
        "With the word measure combinations are timed where the kernels run, on the CPU too: "
        "those\n"
        "given, else powers of 2 about the defaults of every number. Of several kernels, which "
        "may be\n"
        "all, those that take 1.5 times as long as the best with their defaults are left out. "
        "Some\n"
        "samples of each combination beside the defaults of the first kernel, in batches; then "
        "the best\n"
        "five in turns; then the winner and the defaults alone, anew, and only that counts. "
        "Unless it\n"
        "is FASTER the defaults stay. What came of it is kept by device, cache and class of "
        "shapes\n"
        "(B Hkv, group, Sq and Sk to the power of 2, all else the same), and \"run auto\" takes "
        "the\n"
        "fastest kernel of the class whose source is still the one that was timed; what \"auto\" "
        "is\n"
        "elsewhere, \"help run\" says.\n"
        "\n"
        "  tune fa2 gpu=H200 S=4k D=128\n"
        "  tune fa2 sort=predicted gpu=H200\n"
        "  tune fused_cp_async BR=32,64 BC=32,64,128 STAGES=2..4:+1 sort=warps\n"
        "  tune cpu_tiled,fa2 S=512 H=8 f32 measure time=1; run auto S=500 H=8 f32\n",
    .arg = ARG_KERNEL,
    .keys = tune_keys,
    .flags = CMD_SHAPE | CMD_OPTIONS | CMD_PARAMS | CMD_ROWS,
    .exec = exec_tune,
    .columns = COLUMNS(&tune_columns),
};
