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
#include "command/ask/columns.h"
#include "command/ask/compare_rec.h"
#include "command/ask/measure.h"
#include "command/ask/request.h"
#include "command/ask/simulate.h"
#include "command/output.h"
#include "command/session.h"
#include "command/verbs/cmd_run.h"
#include "command/verbs/verbs.h"
#include "measure/noise.h"

/* Passing rows by time, then everything else as it came. */
static int rank_order(const struct run_row *a, const struct run_row *b)
{
    if (run_row_passed(a) != run_row_passed(b))
        return run_row_passed(a) ? -1 : 1;
    const double x = a->median_us, y = b->median_us;
    if (!run_row_passed(a) || isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

/* Each host's by themselves. */
static void sort_rows(struct run_rows *rows)
{
    for (size_t i = 1; i < rows->n; i++) { /* insertion: stable, few rows */
        const struct run_row row = rows->v[i];
        size_t to = i;
        for (; to && measured_on_one(&row, &rows->v[to - 1]) &&
               rank_order(&row, &rows->v[to - 1]) < 0;
             to--)
            rows->v[to] = rows->v[to - 1];
        rows->v[to] = row;
    }
}

/* What a row that failed its check says about speed is nothing. */
static void drop_verdicts(struct run_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++) {
        struct run_row *row = &rows->v[i];
        if (run_row_passed(row) || !row->check)
            continue;
        free(row->verdict);
        free(row->verdict_reason);
        row->verdict = row->verdict_reason = NULL;
        row->ratio = row->ratio_lo = row->ratio_hi = REAL_UNKNOWN;
    }
}

static void add_verdict(struct str *out, const struct run_row *row, const char *name,
                        const char *base)
{
    char r[NUMBER_BUF], lo[NUMBER_BUF], hi[NUMBER_BUF];
    number_fmt(r, row->ratio, 3);
    number_fmt(lo, row->ratio_lo, 3);
    number_fmt(hi, row->ratio_hi, 3);
    if (!row->verdict)
        str_addf(out, "%s against %s: no ratio; %s (more time takes more: time=30)\n", name, base,
                 row->verdict_reason);
    else if (!strcmp(row->verdict, "AMBIGUOUS"))
        str_addf(
            out,
            "%s against %s: no winner; %s%sthe 95 %% interval of the time ratio is %s..%s (%s)\n",
            name, base, row->verdict_reason ? row->verdict_reason : "",
            row->verdict_reason ? "; " : "", lo, hi,
            noise_seen(row) ? "a quiet machine or more time narrows it: time=30"
                            : "more time narrows it: time=30");
    else
        str_addf(out, "%s is %s: %s times the time of %s, 95 %% interval %s..%s\n", name,
                 !strcmp(row->verdict, "SAME") ? "the SAME within 1 %" : row->verdict, r, base, lo,
                 hi);
}

/* Where the rows of the host of row i end. */
static size_t host_end(const struct run_rows *rows, size_t i)
{
    size_t end = i + 1;
    while (end < rows->n && measured_on_one(&rows->v[end], &rows->v[i]))
        end++;
    return end;
}

static const char *host_name(const struct run_row *row)
{
    return row->host ? row->host : "here";
}

/* One sentence per kernel besides the base, of rows from..end, which are of one host. */
static void add_host(const struct session *s, const struct run_rows *rows, size_t from, size_t end,
                     struct str *out)
{
    size_t b = from;
    while (b < end && (!rows->v[b].verdict || strcmp(rows->v[b].verdict, "base")))
        b++;
    if (b == end)
        return;
    char *base = measured_name(s, rows, &rows->v[b]);
    for (size_t i = from; i < end; i++) {
        const struct run_row *row = &rows->v[i];
        if (row->verdict ? !strcmp(row->verdict, "base") : !row->verdict_reason)
            continue;
        char *name = measured_name(s, rows, row);
        if (end - from < rows->n)
            str_addf(out, "%s: ", host_name(row));
        add_verdict(out, row, name, base);
        free(name);
    }
    free(base);
}

/* The row of rows 0..end of the same kernel with the same parameters on the same shape; NULL: there is none. */
static const struct run_row *twin(const struct run_rows *rows, size_t end,
                                  const struct run_row *row)
{
    for (size_t i = 0; i < end; i++) {
        const struct run_row *v = &rows->v[i];
        if (!strcmp(v->kernel, row->kernel) && !strcmp(v->shape, row->shape) &&
            !strcmp(v->params ? v->params : "", row->params ? row->params : "") &&
            !strcmp(v->l2 ? v->l2 : "", row->l2 ? row->l2 : ""))
            return v;
    }
    return NULL;
}

/* Between hosts there are ratios and no verdict. */
static void add_across(const struct session *s, const struct run_rows *rows, struct str *out)
{
    const size_t first = host_end(rows, 0);
    bool any = false;
    for (size_t i = first; i < rows->n; i++) {
        const struct run_row *row = &rows->v[i], *there = twin(rows, first, row);
        char buf[NUMBER_BUF];
        const double ratio = there && run_row_passed(there) && run_row_passed(row)
                                 ? row->median_us / there->median_us
                                 : NAN;
        if (!isfinite(ratio))
            continue;
        char *name = measured_name(s, rows, row);
        str_addf(out, "%s: %s takes %s times the time of %s\n", name, host_name(row),
                 number_fmt(buf, ratio, 3), host_name(there));
        free(name);
        any = true;
    }
    if (any)
        str_add(
            out,
            "times across hosts are of separate runs: more differs than the kernel, and there is "
            "no verdict\n");
}

static void add_verdicts(const struct session *s, const struct run_rows *rows, struct str *out)
{
    for (size_t i = 0; i < rows->n; i = host_end(rows, i))
        add_host(s, rows, i, host_end(rows, i), out);
    if (rows->n)
        add_across(s, rows, out);
}

const struct run_look compare_look = {.cols = &compare_columns,
                                      .ratio_field = "ratio",
                                      .ratio_title = "time ratio",
                                      .order = sort_rows,
                                      .below = add_verdicts};

static const char no_verdict[] =
    "no verdict on time: nothing was timed; what the kernels do stands side by side, and what a "
    "model makes of it\n";

/* For --fail-on: a gate must not pass for want of figures. */
static enum status judge_speed(struct session *s, const struct run_rows *rows,
                               const struct fail_on *f, struct err *err)
{
    size_t undecided = 0;
    for (size_t i = 0; i < rows->n; i++) {
        const struct run_row *row = &rows->v[i];
        if (row_is_simulated(row))
            return err_set(err, ST_NO_GPU,
                           "%s was simulated, which gives no time; --fail-on needs a GPU",
                           row->kernel);
        if (!isfinite(row->median_us))
            return err_set(err, ST_FAIL, "%s gave no time, so it is not known to be no slower",
                           row->kernel);
        if (f->slower && row->verdict && !strcmp(row->verdict, "SLOWER"))
            return err_set(err, ST_NO, "%s is slower than the base", row->kernel);
        undecided += !row->verdict || !strcmp(row->verdict, "AMBIGUOUS");
    }
    return fail_on_undecided(s, f, undecided, rows->n - (rows->n > 0), err);
}

static bool fails(const struct fail_on *f)
{
    return f->slower || f->undecided;
}

static enum status compare_prepared(struct session *s, struct cmd_call *c, struct request *r,
                                    const struct measure_how *how, const char *shapes,
                                    const struct fail_on *fail_on, struct err *err)
{
    struct measured m;
    enum status st = run_request(s, c, r, how, shapes, &m, err);
    if (st)
        return st;
    drop_verdicts(&m.rows);
    const bool timed = request_has_times(r);
    struct run_look look = compare_look;
    if (!timed)
        look.ratio_field = NULL;
    if (shapes)
        look.order = NULL;
    run_show(s, c, r, how, shapes, &look, &m);
    if (call_format(c) == FORMAT_TEXT && !timed)
        str_add(c->out, no_verdict);
    st = measured_status(&m, true, err);
    if (!st && fails(fail_on))
        st = judge_speed(s, &m.rows, fail_on, err);
    measured_clear(&m);
    return st;
}

enum status compare_request(struct session *s, struct cmd_call *c, struct request *r,
                            const struct measure_how *how, const char *shapes, struct err *err)
{
    return compare_prepared(s, c, r, how, shapes, &(struct fail_on){.slower = false}, err);
}

static enum status exec_compare(struct session *s, struct cmd_call *c, struct err *err)
{
    struct request r;
    struct fail_on fail_on;
    const char *base = call_key(c, "base"), *shapes = call_key(c, "shapes");
    const struct measure_how how = {.kind = JOB_RUN,
                                    .interleave = true,
                                    .hosts = true,
                                    .no_store = call_option(c, "no-store") != NULL,
                                    .verb = "compare"};
    (void)call_format(c);
    if (names_recordings(s, c))
        return compare_recordings(s, c, err);
    enum status st = fail_on_read(c, &fail_on, err);
    if (!st)
        st = run_prepare(s, c, NULL, !shapes, &r, err);
    if (st)
        return st;
    const bool several = r.options.host && strchr(r.options.host, ',');
    if (r.nkernels < 2 && !several)
        st = err_set(err, ST_USAGE, "compare needs two kernels, for example: compare naive,%s",
                     strcmp(r.kernels[0]->name, "naive") ? r.kernels[0]->name : "cpu_tiled");
    if (!st)
        st = request_base_first(c, &r, base, err);
    if (!st && fails(&fail_on) && several)
        st = err_set(err, ST_USAGE, "--fail-on is for one host: across hosts there is no verdict");
    if (!st && fails(&fail_on) && !request_has_times(&r))
        st = err_set(err, ST_USAGE, "--fail-on needs times, and simulated runs have none");
    if (!st)
        st = compare_prepared(s, c, &r, &how, shapes, &fail_on, err);
    request_clear(&r);
    return st;
}

static const struct cmd_key compare_keys[] = {
    {"base", "the kernel the others are measured against; the first by default", NULL},
    {"shapes", "a file with one shape a line", NULL},
    {"--fail-on",
     "slower: exit status 1 also when a kernel is; undecided: 3 when that is not known",
     fail_on_words},
    {"--no-store", "do not keep the results", NULL},
    {0},
};

const struct cmd_entry cmd_compare = {
    .name = "compare",
    .group = "Measure",
    .usage = "K,K[@P=V...][,K...] [base=K] [shape] [params] | OLD.rec NEW.rec",
    .summary = "kernels against each other: interleaved runs, ranking, verdict",
    .help =
        "The kernels take turns, in an order by chance that the seed repeats, so that a change of\n"
        "clock or load meets all of them. ratio is the time over the base's time with its 95 %\n"
        "interval (a block bootstrap over the pairs): below 0.99 FASTER, above 1.01 SLOWER, "
        "within\n"
        "both SAME, else AMBIGUOUS, and then there is no winner. A winner that noise could have\n"
        "made is AMBIGUOUS too, and verdict_reason says why: too few independent pairs, halves of\n"
        "the run that do not agree, or kernels swapped by chance that come out as far apart. On a\n"
        "busy machine the runs go on, within time=, until the interval is 2 % wide. Kernels that\n"
        "fail their check are listed last and never ranked. After @ an entry takes parameters of\n"
        "its own, so that one kernel can stand beside itself; params tells the rows apart.\n"
        "\n"
        "Two recordings are compared row by row, by the samples in both. The interval then knows\n"
        "the noise within each, not what changed between the sessions. Rows whose source, device\n"
        "and driver are the same in both show that: they are the control, and a changed kernel is\n"
        "FASTER or SLOWER only beyond the most that a control differs by. A row that fails its\n"
        "check now makes it exit with 1.\n"
        "\n"
        "host=a,b (or backend=cuda@a,b) compares on each of several machines: verdicts are within "
        "a\n"
        "machine; between them a kernel, also one alone, has a ratio and no verdict.\n"
        "\n"
        "For scripts: --fail-on=slower ends with 1 when a kernel is SLOWER. AMBIGUOUS is let "
        "through,\n"
        "with a word on standard error, so that noise fails no build; --fail-on=slower,undecided\n"
        "ends with 3 then, as where there is no time, so that noise passes none.\n"
        "\n"
        "  compare naive,cpu_tiled S=1k\n"
        "  compare qtile_seq,qtile_seq@BR=32@BC=32 backend=cuda\n"
        "  compare qtile_seq,splitkv base=qtile_seq B=1 H=1 Sq=32 Sk=64k --fail-on=slower\n"
        "  compare fa2 backend=cuda@box,lab S=4k\n"
        "  compare before.rec after.rec --fail-on=slower\n",
    .arg = ARG_KERNELS,
    .keys = compare_keys,
    .flags = CMD_SHAPE | CMD_OPTIONS | CMD_PARAMS | CMD_ROWS,
    .exec = exec_compare,
    .columns = COLUMNS(&compare_columns, &pair_columns, &counted_columns),
};
