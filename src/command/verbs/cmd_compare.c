/* cmd_compare.c - kernels side by side, their runs interleaved, with a verdict that knows its
 * interval.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/cmd_compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "command/ask/compare_rec.h"
#include "command/ask/measure.h"
#include "command/ask/request.h"
#include "command/output.h"
#include "command/session.h"
#include "command/verbs/cmd_run.h"
#include "command/verbs/verbs.h"

// clang-format off
const struct column compare_columns[] = {
    {.field = "kernel",        .title = "kernel",    .left = true},
    {.field = "shape",         .title = "shape",     .left = true, .varies = true},
    {.field = "params",        .title = "params",    .left = true, .optional = true, .drop = 6},
    {.field = "l2",            .title = "L2",        .left = true, .varies = true},
    {.field = "median_us",     .title = "median us"},
    {.field = "q1_us",         .title = "q1",        .drop = 3},
    {.field = "q3_us",         .title = "q3",        .drop = 3},
    {.field = "cv_pct",        .title = "CV %",      .digits = 2},
    {.field = "tflops",        .title = "TFLOP/s",   .digits = 3, .drop = 2},
    {.field = "ratio",         .title = "ratio",     .digits = 4},
    {.field = "ratio_lo",      .title = "from",      .digits = 4},
    {.field = "ratio_hi",      .title = "to",        .digits = 4},
    {.field = "verdict",       .title = "verdict",   .left = true},
    {.field = "pair_max_diff", .title = "pair diff", .digits = 2, .drop = 1},
    {.field = "check",         .title = "check",     .left = true},
    {.field = "peer_version",  .title = "peer",      .left = true, .optional = true, .drop = 7},
    {.field = "origin",        .title = "origin",    .left = true, .drop = 4},
    {.field = "reason",        .title = "reason",    .left = true, .optional = true},
    {0},
};
// clang-format on

static bool passed(const json_t *row)
{
    const char *check = row_text(row, "check");
    return check && !strcmp(check, "pass");
}

/* Passing rows by time, then everything else as it came. */
static int rank_order(const json_t *a, const json_t *b)
{
    if (passed(a) != passed(b))
        return passed(a) ? -1 : 1;
    const double x = row_real(a, "median_us"), y = row_real(b, "median_us");
    if (!passed(a) || isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

static void sort_rows(json_t *rows)
{
    for (size_t i = 1; i < json_array_size(rows); i++) { /* insertion: stable, few rows */
        json_t *row = json_incref(json_array_get(rows, i));
        size_t to = i;
        while (to && rank_order(row, json_array_get(rows, to - 1)) < 0)
            to--;
        json_array_remove(rows, i);
        json_array_insert_new(rows, to, row);
    }
}

/* What a row that failed its check says about speed is nothing. */
static void drop_verdicts(json_t *rows)
{
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        if (passed(row) || !row_text(row, "check"))
            continue;
        json_object_set_new(row, "verdict", json_null());
        json_object_set_new(row, "ratio", json_null());
        json_object_set_new(row, "ratio_lo", json_null());
        json_object_set_new(row, "ratio_hi", json_null());
    }
}

/* The row's kernel; with its changed parameters where another row has the same kernel. */
static char *row_name(const struct session *s, const json_t *rows, const json_t *row)
{
    const char *name = row_text(row, "kernel"), *params = row_text(row, "params");
    const struct kernel *k = registry_find(s->services.registry, name);
    struct param_values v;
    char text[512];
    size_t i;
    json_t *other;
    int same = 0;
    json_array_foreach(rows, i, other) same += !strcmp(row_text(other, "kernel"), name);
    if (same < 2 || !k || !params)
        return xstrdup(name);
    const struct kernel_desc *d = k->cuda && params_read(k->cuda, params, &v) ? k->cuda : k->cpu;
    if (!d || !params_read(d, params, &v))
        return xstrdup(name);
    desc_params_format(d, &v, true, text, sizeof text);
    return text[0] ? xasprintf("%s (%s)", name, text) : xstrdup(name);
}

/* One sentence per kernel besides the base. */
static void add_verdicts(const struct session *s, struct str *out, const json_t *rows)
{
    const json_t *first = NULL;
    for (size_t b = 0; !first && b < json_array_size(rows); b++) {
        const char *verdict = row_text(json_array_get(rows, b), "verdict");
        if (verdict && !strcmp(verdict, "base"))
            first = json_array_get(rows, b);
    }
    if (!first)
        return;
    char *base = row_name(s, rows, first);
    size_t i;
    json_t *row;
    char r[NUMBER_BUF], lo[NUMBER_BUF], hi[NUMBER_BUF];
    json_array_foreach(rows, i, row)
    {
        const char *verdict = row_text(row, "verdict");
        if (!verdict || !strcmp(verdict, "base"))
            continue;
        char *name = row_name(s, rows, row);
        number_fmt(r, row_real(row, "ratio"), 3);
        number_fmt(lo, row_real(row, "ratio_lo"), 3);
        number_fmt(hi, row_real(row, "ratio_hi"), 3);
        if (!strcmp(verdict, "AMBIGUOUS"))
            str_addf(out,
                     "%s against %s: no winner; the 95 %% interval of the time ratio is "
                     "%s..%s (more samples narrow it: n=500)\n",
                     name, base, lo, hi);
        else
            str_addf(out, "%s is %s: %s times the time of %s, 95 %% interval %s..%s\n", name,
                     !strcmp(verdict, "SAME") ? "the SAME within 1 %" : verdict, r, base, lo, hi);
        free(name);
    }
    free(base);
}

/* For --fail-on=slower: a gate must not pass for want of figures. */
static enum status judge_speed(const json_t *rows, struct err *err)
{
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        const char *verdict = row_text(row, "verdict"), *kernel = row_text(row, "kernel");
        if (!isfinite(row_real(row, "median_us")))
            return err_set(err, ST_FAIL, "%s gave no time, so it is not known to be no slower",
                           kernel);
        if (verdict && !strcmp(verdict, "SLOWER"))
            return err_set(err, ST_NO, "%s is slower than the base", kernel);
    }
    return ST_OK;
}

/* Is entry i what base= names? "qtile_seq" is the first of its kind, "qtile_seq@BR=32" that one. */
static bool is_base(const struct request *r, int i, const char *base)
{
    const char *name = r->kernels[i]->name;
    const size_t len = strlen(name);
    if (strncmp(base, name, len))
        return false;
    return !base[len] || (base[len] == '@' && r->own[i] && !strcmp(base + len + 1, r->own[i]));
}

/* Puts the base first: ratios are over entry 0. */
static enum status base_first(struct cmd_call *c, struct request *r, const char *base,
                              struct err *err)
{
    int at = 0;
    while (base && at < r->nkernels && !is_base(r, at, base))
        at++;
    if (at == r->nkernels) {
        err_set(err, ST_USAGE, "base=%s is not among the kernels compared; did you mean \"%s\"?",
                base, r->kernels[0]->name);
        return call_mark_key(c, "base", ST_USAGE, err);
    }
    request_put_first(r, at);
    return ST_OK;
}

static enum status read_fail_on(struct cmd_call *c, bool *slower, struct err *err)
{
    const char *value = call_option(c, "fail-on");
    *slower = value && !strcmp(value, "slower");
    if (value && !*slower)
        return err_set(err, ST_USAGE, "--fail-on has no value \"%s\"; did you mean \"slower\"?",
                       value);
    return ST_OK;
}

static enum status compare_prepared(struct session *s, struct cmd_call *c, struct request *r,
                                    const struct measure_how *how, const char *shapes,
                                    bool fail_slower, struct err *err)
{
    struct measured m;
    enum status st = run_request(s, c, r, how, shapes, &m, err);
    if (st)
        return st;
    drop_verdicts(m.rows);
    if (!shapes)
        sort_rows(m.rows);
    run_print(s, c, r, shapes, &m, compare_columns, "ratio", "time ratio");
    const size_t from = c->out->len;
    if (call_format(c) == FORMAT_TEXT && !shapes)
        add_verdicts(s, c->out, m.rows);
    lines_wrap(c->out, from, call_width(s, c));
    st = measured_status(&m, true, err);
    if (!st && fail_slower)
        st = judge_speed(m.rows, err);
    measured_clear(&m);
    return st;
}

enum status compare_request(struct session *s, struct cmd_call *c, struct request *r,
                            const struct measure_how *how, const char *shapes, struct err *err)
{
    return compare_prepared(s, c, r, how, shapes, false, err);
}

static enum status exec_compare(struct session *s, struct cmd_call *c, struct err *err)
{
    struct request r;
    bool fail_slower;
    const char *base = call_key(c, "base"), *shapes = call_key(c, "shapes");
    const struct measure_how how = {.kind = JOB_RUN,
                                    .interleave = true,
                                    .no_store = call_option(c, "no-store") != NULL,
                                    .verb = "compare"};
    (void)call_format(c);
    if (names_recordings(s, c))
        return compare_recordings(s, c, err);
    enum status st = read_fail_on(c, &fail_slower, err);
    if (!st)
        st = run_prepare(s, c, NULL, &r, err);
    if (st)
        return st;
    if (r.nkernels < 2)
        st = err_set(err, ST_USAGE, "compare needs two kernels, for example: compare naive,%s",
                     strcmp(r.kernels[0]->name, "naive") ? r.kernels[0]->name : "cpu_tiled");
    if (!st)
        st = base_first(c, &r, base, err);
    if (!st)
        st = compare_prepared(s, c, &r, &how, shapes, fail_slower, err);
    request_clear(&r);
    return st;
}

static const char *const fail_words[] = {"slower", NULL};
static const struct cmd_key compare_keys[] = {
    {"base", "the kernel the others are measured against; the first by default", NULL},
    {"shapes", "a file with one shape a line", NULL},
    {"--fail-on", "exit status 1 also when a kernel is slower than the base", fail_words},
    {"--no-store", "do not keep the results", NULL},
    {0},
};

const struct cmd_entry cmd_compare = {
    .name = "compare",
    .group = "Measure",
    .usage = "K,K[@P=V...][,K...] [base=K] [shape] [params] | OLD.rec NEW.rec",
    .summary = "kernels against each other: interleaved runs, ranking, verdict",
    .help =
        "The kernels take turns, so that a change of clock or load meets all of them. ratio is\n"
        "the time over the base's time with its 95 % interval: below 0.99 FASTER, above 1.01\n"
        "SLOWER, within both SAME, else AMBIGUOUS, and then there is no winner. Kernels that\n"
        "fail their check are listed last and never ranked. After @ an entry takes parameters of\n"
        "its own, so that one kernel can stand beside itself; params tells the rows apart.\n"
        "\n"
        "Two recordings are compared row by row, by the samples in both. The interval then knows\n"
        "the noise within each, not what changed between the sessions: a second recording of the\n"
        "old state shows how much that is. A row that fails its check now makes it exit with 1.\n"
        "\n"
        "  compare naive,cpu_tiled S=1k\n"
        "  compare qtile_seq,qtile_seq@BR=32@BC=32 backend=cuda\n"
        "  compare qtile_seq,splitkv base=qtile_seq B=1 H=1 Sq=32 Sk=64k --fail-on=slower\n"
        "  compare before.rec after.rec --fail-on=slower\n",
    .arg = ARG_KERNELS,
    .keys = compare_keys,
    .flags = CMD_SHAPE | CMD_OPTIONS | CMD_PARAMS | CMD_ROWS,
    .exec = exec_compare,
};
