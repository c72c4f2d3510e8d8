/* cmd_bench.c - a suite of shapes: the best of ours beside the best of the others at each.
 *
 * Each line of a suite, with each state of the caches, is one interleaved comparison, kept as any other. What a recording has
 * of it already is not measured again, so a suite that takes minutes can be measured in pieces.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "command/ask/suite.h"
#include "command/output.h"
#include "command/session.h"
#include "command/verbs/bench_table.h"
#include "command/verbs/verbs.h"

struct bench {
    struct session *s;
    struct cmd_call *c;
    struct suite suite;
    struct request *requests; /* one a line; nkernels 0: it is left out */
    int *nours;
    const struct recording **recs; /* rows are taken from these */
    size_t nrecs;
    struct recording *own; /* what the file of into= had; among recs */
    char *device;          /* rows are of this one; NULL: of any */
    bool measures, no_store;
    double began, seconds;
    struct rowset rows;
    size_t shown; /* rows that are printed */
    struct measured total;
    int left; /* comparisons that are not in the table */
};

/* ---- one comparison ---- */

static double *samples_of(const struct run_row *row, size_t *n)
{
    const size_t all = json_array_size(row->samples_us);
    double *us = xcalloc(all + 1, sizeof *us);
    *n = 0;
    for (size_t i = 0; i < all; i++) {
        const double x = json_number_value(json_array_get(row->samples_us, i));
        if (x > 0)
            us[(*n)++] = x;
    }
    return us;
}

static void count(struct measured *total, const struct measured *m)
{
    total->ran += m->ran;
    total->failed += m->failed;
    total->unknown += m->unknown;
    total->broke += m->broke;
    total->need_gpu += m->need_gpu;
    if (m->status && !total->status) {
        total->status = m->status;
        total->err = m->err;
    }
}

static void measure_line(struct bench *b, size_t i, const char *l2)
{
    const struct measure_how how = {
        .kind = JOB_RUN, .interleave = true, .no_store = b->no_store, .verb = "compare"};
    struct request r;
    struct measured m;
    request_copy(&r, &b->requests[i]);
    free(r.options.l2);
    r.options.l2 = xstrdup(l2);
    r.options.rule.warm_s = fmin(r.options.rule.warm_s, r.options.rule.max_s / 2); /* of many */
    measure(b->s, &r, &how, &m);
    struct bench_entry *e = xcalloc((size_t)r.nkernels + 1, sizeof *e);
    double **us = xcalloc((size_t)r.nkernels + 1, sizeof *us);
    for (int k = 0; k < r.nkernels && (size_t)k < m.rows.n; k++) {
        us[k] = samples_of(&m.rows.v[k], &e[k].n);
        e[k].row = &m.rows.v[k];
        e[k].us = us[k];
    }
    bench_add(&b->rows, &b->suite, &b->suite.lines[i], &r, b->nours[i], l2, e,
              m.status ? m.err.text : NULL);
    count(&b->total, &m);
    for (int k = 0; k < r.nkernels; k++)
        free(us[k]);
    free(us);
    free(e);
    measured_clear(&m);
    request_clear(&r);
}

/* The user's, or there is nothing to measure with. */
static bool time_is_over(const struct bench *b)
{
    return b->total.status == ST_CANCELLED || (b->total.status && !b->total.ran) ||
           seconds_now() - b->began > b->seconds;
}

/* One line with one cache: recorded, or measured, or left. */
static void do_line(struct bench *b, size_t i, const char *l2)
{
    const struct request *r = &b->requests[i];
    struct bench_entry *e = xcalloc((size_t)r->nkernels + 1, sizeof *e);
    const struct bench_source from = {b->recs, b->nrecs, b->s->services.devices, b->device};
    const int found = bench_recall(&from, r, b->nours[i], l2, e);
    const bool enough = found && (!b->measures || bench_is_whole(r, b->nours[i], e));
    if (!enough && b->measures && !time_is_over(b)) {
        measure_line(b, i, l2);
    } else {
        b->left += !enough;
        if (found)
            bench_add(&b->rows, &b->suite, &b->suite.lines[i], r, b->nours[i], l2, e, NULL);
    }
    free(e);
}

static void end_section(struct bench *b, size_t i)
{
    const struct suite *x = &b->suite;
    const enum format f = call_format(b->c);
    const bool last = i + 1 == x->n || strcmp(x->lines[i].section, x->lines[i + 1].section) != 0;
    if (!last || (f != FORMAT_TEXT && f != FORMAT_MD))
        return;
    bench_section(b->s, b->c, x, &b->rows, b->shown);
    call_flush(b->s, b->c);
    b->shown = b->rows.n;
}

static void do_caches(struct bench *b, size_t i)
{
    const char *l2 = b->requests[i].options.l2;
    const bool both = !strcmp(l2, "both");
    do_line(b, i, both ? "cold" : l2);
    if (both)
        do_line(b, i, "hot");
}

static void do_lines(struct bench *b)
{
    b->began = seconds_now();
    for (size_t i = 0; i < b->suite.n; i++) {
        if (b->requests[i].nkernels)
            do_caches(b, i);
        end_section(b, i);
    }
    if (call_format(b->c) == FORMAT_TEXT || call_format(b->c) == FORMAT_MD)
        bench_totals(b->c, &b->suite, &b->rows, call_width(b->s, b->c));
}

/* ---- what is asked ---- */

/* Is there something to measure with: a GPU, or a backend that somebody named? */
static bool can_measure(const struct session *s, const struct cmd_call *c)
{
    const struct options *o = &s->settings.options;
    return o->backend || o->host || call_peek(c, "backend", NULL) || call_peek(c, "host", NULL) ||
           backend_gpu_is_here();
}

/* Does the line have any of "TEXT|TEXT" in its words? NULL: every line has. */
static bool is_meant(const struct suite_line *l, const char *only)
{
    if (!only)
        return true;
    char *copy = xstrdup(only), *rest = copy, *text;
    bool found = false;
    while ((text = strsep(&rest, "|")))
        found = found || text_contains(l->section, text) || text_contains(l->shape, text) ||
                text_contains(l->with, text);
    free(copy);
    return found;
}

static enum status read_lines(struct bench *b, const char *only, struct err *err)
{
    struct suite *x = &b->suite;
    const unsigned flags =
        b->measures || can_measure(b->s, b->c) ? REQUEST_MEANS_CUDA : REQUEST_PLAN;
    size_t meant = 0;
    enum status st = ST_OK;
    b->requests = xcalloc(x->n, sizeof *b->requests);
    b->nours = xcalloc(x->n, sizeof *b->nours);
    for (size_t i = 0; i < x->n && !st; i++) {
        const struct suite_line *l = &x->lines[i];
        st = suite_request(b->s, l, b->c, flags, &b->requests[i], &b->nours[i], err);
        const bool wanted = is_meant(l, only);
        meant += wanted && !st;
        if (!wanted && !st)
            request_clear(&b->requests[i]);
        if (!wanted)
            b->requests[i] = (struct request){0};
    }
    if (!st && !meant)
        st = err_set(err, ST_USAGE, "no line of %s has \"%s\"", x->name, only);
    return st;
}

/* What is recorded is shown whatever the session would measure with, unless the call itself names a backend. */
static enum status make_requests(struct bench *b, const char *only, struct err *err)
{
    struct options *o = &b->s->settings.options;
    char *const set = o->backend;
    if (!b->measures && !call_peek(b->c, "backend", NULL))
        o->backend = NULL;
    const enum status st = read_lines(b, only, err);
    o->backend = set;
    return st;
}

static void take_recording(struct bench *b, const struct recording *rec)
{
    b->recs = xrealloc(b->recs, (b->nrecs + 1) * sizeof *b->recs);
    b->recs[b->nrecs++] = rec;
}

/* Those that the call names. */
static enum status take_named(struct bench *b, struct err *err)
{
    for (int i = 1; i < b->c->nwords; i++) {
        const struct recording *rec;
        const struct cmd_word *w = &b->c->words[i];
        enum status st = library_open(session_library(b->s), w->text, &rec, err);
        if (st)
            return call_mark(b->c, st, w->at, (int)strlen(w->text), err);
        take_recording(b, rec);
    }
    return ST_OK;
}

/* All that are at hand. */
static void take_all(struct bench *b)
{
    const char *name;
    for (size_t i = 0; (name = library_name(session_library(b->s), i)); i++) {
        const struct recording *rec;
        if (library_peek(session_library(b->s), name, &rec, NULL) == ST_OK)
            take_recording(b, rec);
    }
}

static void count_line(struct bench *b, size_t i, struct bench_devices *d)
{
    static const char *const caches[] = {"cold", "hot"};
    for (int k = 0; k < 2 && b->requests[i].nkernels; k++)
        bench_count_devices(d, b->s->services.devices, b->recs, b->nrecs, &b->requests[i],
                            caches[k]);
}

/* The device that is asked for, or that which most rows are of; what is recorded of others is told. */
static void choose_device(struct bench *b, const char *asked)
{
    struct bench_devices d = {0};
    size_t best = 0, others = 0;
    for (size_t i = 0; i < b->suite.n; i++)
        count_line(b, i, &d);
    for (size_t i = 1; i < d.n; i++)
        best = d.v[i].rows > d.v[best].rows ? i : best;
    b->device = asked ? xstrdup(asked) : d.n ? xstrdup(d.v[best].name) : NULL;
    for (size_t i = 0; i < d.n; i++)
        if (!bench_same_device(b->s->services.devices, d.v[i].name, b->device)) {
            char *name = sanitize_line(d.v[i].name);
            others++;
            session_note(b->s, "%zu rows of %s are of %s, and not shown: gpu= takes them",
                         d.v[i].rows, b->suite.name, name);
            free(name);
        }
    for (size_t i = 0; i < d.n; i++)
        free(d.v[i].name);
    free(d.v);
}

/* Rows of another GPU are no part of what is measured here. */
static enum status check_own(const struct bench *b, const char *path, struct err *err)
{
    const struct device *here = session_gpu(b->s, NULL, NULL);
    if (!b->own || !here || !session_gpu_is_here(b->s, here))
        return ST_OK;
    for (size_t i = 0; i < b->own->nrows; i++) {
        const struct run_row *row = b->own->rows[i].run;
        if (backend_is_gpu(row->backend) && row->device &&
            !bench_same_device(b->s->services.devices, row->device, here->name)) {
            char *device = sanitize_line(row->device);
            err_set(err, ST_USAGE, "%s has rows of %s, and the GPU here is %s: name another file",
                    path, device, here->name);
            free(device);
            return ST_USAGE;
        }
    }
    return ST_OK;
}

/* Goes on behind what the file has. */
static enum status open_into(struct bench *b, const char *path, int samples, struct err *err)
{
    const bool there = access(path, F_OK) == 0;
    if (b->s->rows.recorder)
        return err_set(err, ST_USAGE, "into= while something is being recorded; record off first");
    if (!session_may(b->s, MAY_WRITE))
        return err_set(err, ST_USAGE, "recording is off in this restricted session");
    enum status st = there ? recording_read(path, &b->own, err) : ST_OK;
    if (!st)
        st = check_own(b, path, err);
    if (!st)
        st = recorder_open(path, there ? RECORDER_APPEND : RECORDER_NEW, samples,
                           &b->s->rows.recorder, err);
    if (!st && b->own)
        take_recording(b, b->own);
    return st;
}

struct asked {
    const char *only, *into, *gpu;
    double seconds;
    int64_t samples;
};

static enum status read_call(struct cmd_call *c, struct asked *a, struct err *err)
{
    const char *seconds = call_key(c, "seconds"), *samples = call_key(c, "samples");
    *a = (struct asked){.only = call_key(c, "only"),
                        .into = call_key(c, "into"),
                        .gpu = call_key(c, "gpu"),
                        .seconds = INFINITY,
                        .samples = 12};
    (void)call_format(c);
    if (seconds) {
        enum status st = number_parse(seconds, &a->seconds, err);
        if (!st && !(a->seconds >= 0))
            st = err_set(err, ST_USAGE, "seconds=%s is no time", seconds);
        if (st)
            return call_mark_key(c, "seconds", st, err);
    }
    if (samples) {
        const enum status st =
            number_parse_int("samples", samples, 0, ROW_SAMPLES_MAX, &a->samples, err);
        if (st)
            return call_mark_key(c, "samples", st, err);
    }
    return ST_OK;
}

/* Comparisons that are missing, and why: what was to be measured in the time given, or what nobody has recorded. */
static void say_left(const struct bench *b, const char *into)
{
    char number[NUMBER_BUF], over[NUMBER_BUF + 32] = "";
    if (b->measures && !b->total.status && isfinite(b->seconds))
        snprintf(over, sizeof over,
                 "the %s s of seconds= are over: ", number_fmt(number, b->seconds, 4));
    if (b->left)
        session_note(b->s, "%s%d comparison%s of %s %s%s", over, b->left, b->left == 1 ? "" : "s",
                     b->suite.name,
                     b->measures && b->left == 1 ? "was not begun"
                     : b->measures               ? "were not begun"
                     : b->left == 1              ? "is not recorded"
                                                 : "are not recorded",
                     into ? "; the same line goes on with them" : "");
}

static bool any_figure(const struct rowset *rows)
{
    for (size_t i = 0; i < rows->n; i++)
        if (row_known(rows->rows[i], "kernel"))
            return true;
    return false;
}

static enum status answer(struct bench *b, const struct asked *a, struct err *err)
{
    const enum format f = call_format(b->c);
    if (f == FORMAT_TEXT || f == FORMAT_MD)
        call_remember(b->s, b->c, &b->rows, &bench_columns);
    else
        (void)call_rows(b->s, b->c, &b->rows, &bench_columns);
    if (f == FORMAT_MD)
        rows_md_footer(b->c->out, b->c->text);
    say_left(b, a->into);
    if (b->measures && b->total.failed && !b->total.status)
        return err_set(err, ST_NO, "the check failed %d time%s: below its table stands for whom",
                       b->total.failed, b->total.failed == 1 ? "" : "s");
    if (b->measures && (b->total.ran || b->total.status))
        return measured_status(&b->total, true, err);
    if (!any_figure(&b->rows))
        return b->measures ? ST_OK
                           : err_set(err, ST_NO_GPU,
                                     "nothing of %s is recorded, and measuring it needs a GPU",
                                     b->suite.name);
    return ST_OK;
}

static void bench_clear(struct bench *b)
{
    for (size_t i = 0; b->requests && i < b->suite.n; i++)
        request_clear(&b->requests[i]);
    free(b->requests);
    free(b->nours);
    free(b->recs);
    free(b->device);
    rowset_clear(&b->rows);
    recording_free(b->own);
    suite_clear(&b->suite);
}

static enum status run_suite(struct bench *b, struct err *err)
{
    struct cmd_call *c = b->c;
    struct asked a;
    enum status st = read_call(c, &a, err);
    if (!st)
        st = suite_open(b->s, c->words[0].text, &b->suite, err);
    if (st)
        return call_mark(c, st, c->words[0].at, (int)strlen(c->words[0].text), err);
    b->seconds = a.seconds;
    b->no_store = call_option(c, "no-store") != NULL;
    b->measures = c->nwords < 2 && !a.gpu && can_measure(b->s, c);
    const struct device *gpu;
    if (a.gpu && (st = devices_get(b->s->services.devices, a.gpu, &gpu, err)))
        return call_mark_key(c, "gpu", st, err);
    st = make_requests(b, a.only, err);
    if (!st && a.into && !b->measures)
        st = err_set(err, ST_USAGE,
                     c->nwords > 1 || a.gpu
                         ? "into= is for what is measured, not for what is recorded"
                         : "into= needs a GPU, or a backend= that is here");
    if (!st)
        st = call_finish(b->s, c, err);
    if (!st)
        st = take_named(b, err);
    if (!st && !b->measures && c->nwords < 2)
        take_all(b);
    if (!st && !b->measures)
        choose_device(b, a.gpu);
    if (!st && a.into)
        st = open_into(b, a.into, (int)a.samples, err);
    if (st)
        return st;
    do_lines(b);
    if (a.into) {
        struct err why = ERR_INIT;
        st = session_record_off(b->s, &why);
        const enum status told = answer(b, &a, err);
        return told ? told : st ? err_set(err, st, "%s", why.text) : ST_OK;
    }
    return answer(b, &a, err);
}

/* ---- the list ---- */

struct suite_row {
    char *name, *title;
    int64_t shapes;
};
// clang-format off
static const struct field suite_fields[] = {
    FIELD(FIELD_TEXT, suite_row, name, .title = "suite", .doc = "What bench takes."),
    FIELD(FIELD_TEXT, suite_row, title, .title = "what", .doc = "What it is."),
    FIELD(FIELD_INT, suite_row, shapes, .doc = "How many shapes it has."),
    {.name = NULL},
};
static const struct row_type suite_type = ROW_TYPE(suite_row, {suite_fields, 0});
static const struct columns suite_columns = {
    .type = &suite_type,
    .list = (const struct column[]){{.field = "name"}, {.field = "shapes"}, {.field = "title"}, {0}},
};
// clang-format on

static enum status list_suites(struct session *s, struct cmd_call *c, struct err *err)
{
    struct rowset rows = {.type = &suite_type};
    char name[64];
    (void)call_format(c);
    enum status st = call_finish(s, c, err);
    for (size_t i = 0; !st && suite_name(i, name, sizeof name); i++) {
        struct suite x;
        st = suite_open(s, name, &x, err);
        if (st)
            break;
        struct suite_row *row = rowset_add(&rows);
        row->name = xstrdup(name);
        row->title = xstrdup_if(x.title);
        row->shapes = (int64_t)x.n;
        suite_clear(&x);
    }
    if (!st)
        call_show(s, c, &rows, &suite_columns);
    rowset_clear(&rows);
    return st;
}

static enum status exec_bench(struct session *s, struct cmd_call *c, struct err *err)
{
    if (!c->nwords)
        return list_suites(s, c, err);
    struct bench b = {.s = s, .c = c, .rows = {.type = &bench_type}, .total = {.err = ERR_INIT}};
    const enum status st = run_suite(&b, err);
    bench_clear(&b);
    return st;
}

static const char *const suite_words[] = {"limit", NULL};
static const struct cmd_key bench_keys[] = {
    {"into", "a recording that the rows go to; what it has already is not measured again", NULL},
    {"seconds", "begin no comparison after this time", NULL},
    {"gpu", "rows of this GPU, of what is recorded; without it those of the GPU that has most",
     NULL},
    {"only", "the lines that have this text in their section or shape; A|B: either", NULL},
    {"--no-store", "do not keep the results", NULL},
    {"samples", "with into=: keep at most this many samples of each row, 12 by default", NULL},
    {0},
};

const struct cmd_entry cmd_bench = {
    .name = "bench",
    .group = "Measure",
    .usage = "[SUITE|FILE.suite [RECORDING...]] [into=FILE] [seconds=S]",
    .summary = "a suite of shapes: our best beside the best of the others, as ratios",
    .help =
        "At each shape of the suite, with each state of the caches, our kernels and the others\n"
        "take turns in one comparison. A row has the fastest of each side that passed its check,\n"
        "the others' time over ours (above 1 ours is faster) with its 95 % interval, what the\n"
        "suite asks of it, the SM clock and how many checks passed; below a section stands the\n"
        "geometric mean. A goal is met where the whole interval reaches it, missed where none of\n"
        "it does, and else open: then more samples tell (time=1), or the lines below say what is\n"
        "not known. Without a suite it lists them.\n"
        "\n"
        "into=FILE keeps every row as it comes, and the same line goes on where it was stopped:\n"
        "what the file has of today's sources is not measured again. With recordings behind the\n"
        "suite, or with gpu=, or where there is no GPU and no backend= is named, the table is "
        "made\n"
        "of what they have, of one GPU; a kernel whose source has changed since is told. n is how\n"
        "many samples were taken; a recording keeps some of them, 12 unless samples= says more,\n"
        "and its intervals are of those.\n"
        "\n"
        "A suite of your own is a file of lines: \"title WORDS\", \"section WORDS\", \"with "
        "WORDS\"\n"
        "(parts of all shapes below, options), \"ours K,K\", \"peers K,K\", \"goal X [cold|hot]\"\n"
        "of the ratios below, \"rate X\" of our GB/s, \"mean X [WORDS]\" of the section's mean or\n"
        "that of all whose names begin so, and a shape on every other line; \"#\" begins a "
        "comment.\n"
        "What stands before the first section holds in all of them; a section's own goes before "
        "it.\n"
        "\n"
        "  bench limit\n"
        "  bench limit into=limit.rec seconds=180\n"
        "  bench limit only=Decode time=0.4 l2=cold\n"
        "  bench limit gpu=H200 --md\n"
        "  bench ./mine.suite backend=cpu\n",
    .arg = ARG_WORD,
    .first = suite_words,
    .keys = bench_keys,
    .flags = CMD_OPTIONS | CMD_ROWS,
    .exec = exec_bench,
    .columns = COLUMNS(&suite_columns, &bench_columns),
};
