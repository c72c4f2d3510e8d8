/* bench_table.c - see bench_table.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/verbs/bench_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "command/output.h"
#include "measure/stats.h"

// clang-format off
const struct field bench_fields[] = {
    FIELD(FIELD_TEXT, bench_row, suite, .doc = "The suite."),
    FIELD(FIELD_TEXT, bench_row, section, .doc = "The part of it."),
    FIELD(FIELD_TEXT, bench_row, asked, .title = "shape", .doc = "The shape as the suite has it, without what all of its section share."),
    FIELD(FIELD_TEXT, bench_row, shape, .doc = "The whole shape."),
    FIELD(FIELD_TEXT, bench_row, l2, .title = "L2", .doc = "cold or hot."),
    FIELD(FIELD_TEXT, bench_row, kernel, .title = "ours", .doc = "The fastest of our kernels that passed its check, with its own parameters."),
    FIELD(FIELD_REAL, bench_row, kernel_us, .title = "us", .unit = "us", .digits = 4, .doc = "Its median."),
    FIELD(FIELD_TEXT, bench_row, peer, .title = "best peer", .doc = "The fastest of the others that passed its check."),
    FIELD(FIELD_REAL, bench_row, peer_us, .title = "us", .unit = "us", .digits = 4, .doc = "Its median."),
    FIELD(FIELD_REAL, bench_row, ratio, .digits = 3, .doc = "The peer's time over ours: above 1 ours is faster."),
    FIELD(FIELD_REAL, bench_row, ratio_lo, .title = "from", .digits = 3, .doc = "Lower end of its 95 % interval; null: too few samples."),
    FIELD(FIELD_REAL, bench_row, ratio_hi, .title = "to", .digits = 3, .doc = "Upper end of its 95 % interval."),
    FIELD(FIELD_REAL, bench_row, goal, .title = "asked", .digits = 2, .doc = "What the suite asks of the ratio; null: nothing."),
    FIELD(FIELD_TEXT, bench_row, met, .title = "goal", .doc = "met: the whole interval is at the goal or above; missed: below it; open: it holds the goal, or it is not known, or the figures are not of one run of today's sources."),
    FIELD(FIELD_REAL, bench_row, tflops, .title = "TFLOP/s", .unit = "TFLOP/s", .digits = 3, .doc = "Rate of ours."),
    FIELD(FIELD_REAL, bench_row, gbytes_per_s, .title = "GB/s", .unit = "GB/s", .digits = 4, .doc = "Compulsory bytes of ours over its time."),
    FIELD(FIELD_REAL, bench_row, rate_goal, .unit = "GB/s", .digits = 4, .doc = "What the suite asks of gbytes_per_s; null: nothing."),
    FIELD(FIELD_TEXT, bench_row, rate_met, .doc = "As met, by the interval of the median of ours."),
    FIELD(FIELD_REAL, bench_row, sm_clock_mhz, .title = "MHz", .unit = "MHz", .digits = 4, .doc = "Median SM clock of its samples."),
    FIELD(FIELD_INT, bench_row, n, .unit = "samples", .doc = "Samples of the one of both that has fewer."),
    FIELD(FIELD_INT, bench_row, passed, .doc = "How many kernels and peers passed their check."),
    FIELD(FIELD_INT, bench_row, judged, .doc = "How many were judged."),
    FIELD(FIELD_TEXT, bench_row, checks, .doc = "Both in words."),
    FIELD(FIELD_TEXT, bench_row, origin, .doc = "live, recorded or altered, as of run."),
    FIELD(FIELD_TEXT, bench_row, device, .doc = "On what ours ran."),
    FIELD(FIELD_TEXT, bench_row, time, .doc = "When ours was measured, UTC."),
    FIELD(FIELD_TEXT, bench_row, reason, .doc = "What is missing or doubtful; null: nothing."),
    {.name = NULL},
};
const struct row_type bench_type = ROW_TYPE(bench_row, {bench_fields, 0});

const struct columns bench_columns = {
    .type = &bench_type,
    .list = (const struct column[]){
        {.field = "asked", .whole = true},
        {.field = "l2"},
        {.field = "kernel"},
        {.field = "kernel_us", .drop = 1},
        {.field = "peer"},
        {.field = "peer_us", .drop = 2},
        {.field = "ratio"},
        {.field = "ratio_lo", .drop = 7},
        {.field = "ratio_hi", .pair = true},
        {.field = "goal", .optional = true},
        {.field = "met", .optional = true},
        {.field = "tflops", .drop = 5},
        {.field = "gbytes_per_s", .drop = 8},
        {.field = "sm_clock_mhz", .drop = 4},
        {.field = "n", .drop = 6},
        {.field = "checks", .drop = 3},
        {0},
    },
};
// clang-format on

/* ---- one line ---- */

static const char changed[] = "the kernel's source has changed since";

/* The fastest of entries from..end-1 that passed; -1: none. */
static int fastest(const struct bench_entry *e, int from, int end)
{
    int best = -1;
    for (int i = from; i < end; i++) {
        const struct run_row *row = e[i].row;
        if (row && run_row_passed(row) && row->median_us > 0 &&
            (best < 0 || row->median_us < e[best].row->median_us))
            best = i;
    }
    return best;
}

static void add_reason(struct bench_row *row, const char *text)
{
    char *both = row->reason ? xasprintf("%s; %s", row->reason, text) : xstrdup(text);
    free(row->reason);
    row->reason = both;
}

static void put_checks(struct bench_row *row, const struct request *r, const struct bench_entry *e)
{
    struct str failed = {0};
    row->passed = row->judged = 0;
    for (int i = 0; i < r->nkernels; i++) {
        if (!e[i].row || !e[i].row->check)
            continue;
        const bool passed = run_row_passed(e[i].row);
        row->judged++;
        row->passed += passed;
        if (!passed)
            str_addf(&failed, "%s%s", failed.len ? ", " : "", e[i].row->kernel);
    }
    row->checks = xasprintf("%lld of %lld", (long long)row->passed, (long long)row->judged);
    if (failed.len) {
        char *text = xasprintf("the check failed for %s", str_text(&failed));
        add_reason(row, text);
        free(text);
    }
    str_free(&failed);
}

static void put_ours(struct bench_row *row, const struct request *r, int i,
                     const struct bench_entry *e)
{
    const struct run_row *run = e->row;
    row->kernel = request_entry(r, i);
    row->kernel_us = run->median_us;
    row->tflops = run->tflops;
    row->gbytes_per_s = run->gbytes_per_s;
    row->sm_clock_mhz = run->sm_clock_mhz;
    row->n = run->n;
    row->origin = xstrdup_if(run->origin);
    row->device = xstrdup_if(run->device);
    row->time = xstrdup_if(run->time);
    if (e->old)
        add_reason(row, changed);
}

static void put_peer(struct bench_row *row, const struct request *r, int i,
                     const struct bench_entry *e)
{
    row->peer = request_entry(r, i);
    row->peer_us = e->row->median_us;
    row->n = row->n == INT_UNKNOWN || e->row->n < row->n ? e->row->n : row->n;
}

/* "met", "missed", "open"; NULL: nothing is asked. */
static const char *met_by(double lo, double hi, double goal)
{
    return isnan(goal)                              ? NULL
           : isnan(lo) || (lo < goal && hi >= goal) ? "open"
           : lo >= goal                             ? "met"
                                                    : "missed";
}

static bool was_stopped(const struct run_row *row)
{
    return row->stopped && !strcmp(row->stopped, "cancel");
}

/* The interval knows the noise within both series of samples. */
static void put_ratio(struct bench_row *row, const struct bench_entry *ours,
                      const struct bench_entry *peer)
{
    const struct ratio r = stats_ratio_apart(peer->us, peer->n, ours->us, ours->n, 42);
    row->ratio = row->peer_us / row->kernel_us;
    row->ratio_lo = r.lo;
    row->ratio_hi = r.hi;
    if (was_stopped(ours->row) || was_stopped(peer->row))
        add_reason(row, "stopped before its end");
    if (isnan(r.lo))
        add_reason(row, "too few samples for an interval");
    if (ours->file != peer->file ||
        (ours->command && peer->command && strcmp(ours->command, peer->command) != 0))
        add_reason(row, "both are of different runs");
}

/* Of entries from..end-1 those that take the shape and have no time here: the best may be among them. */
static void put_absent(struct bench_row *row, const struct request *r, int from, int end,
                       const struct bench_entry *e)
{
    struct str names = {0};
    for (int i = from; i < end; i++) {
        const struct run_row *run = e[i].row;
        if ((run && (run->check || run->median_us > 0)) || measure_refuses(r, i, NULL))
            continue;
        char *name = request_entry(r, i);
        if (run && run->reason) {
            const bool named = str_starts(run->reason, name);
            char *text =
                xasprintf("without %s%s%s", named ? "" : name, named ? "" : ": ", run->reason);
            add_reason(row, text);
            free(text);
        } else {
            str_addf(&names, "%s%s", names.len ? ", " : "", name);
        }
        free(name);
    }
    char *text = names.len ? xasprintf("without %s", str_text(&names)) : NULL;
    if (text)
        add_reason(row, text);
    free(text);
    str_free(&names);
}

/* The interval of the median of ours, as rates: beside a series of ones the ratio is the median. */
static void put_rate_goal(struct bench_row *row, double goal, const struct bench_entry *ours)
{
    static const double ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    row->rate_goal = goal;
    if (isnan(goal) || !ours)
        return;
    const struct ratio r =
        stats_ratio_apart(ours->us, ours->n, ones, sizeof ones / sizeof *ones, 42);
    const double at_median = row->gbytes_per_s * row->kernel_us; /* KB that it moves */
    row->rate_met = xstrdup_if(met_by(ours->old ? NAN : at_median / r.hi, at_median / r.lo, goal));
}

/* Figures that are in doubt meet no goal. */
static void put_goal(struct bench_row *row, double goal)
{
    row->goal = goal;
    row->met = xstrdup_if(met_by(row->reason ? NAN : row->ratio_lo, row->ratio_hi, goal));
}

void bench_add(struct rowset *rows, const struct suite *x, const struct suite_line *line,
               const struct request *r, int nours, const char *l2, const struct bench_entry *e,
               const char *why)
{
    char shape[SHAPE_TEXT];
    const int ours = fastest(e, 0, nours), peer = fastest(e, nours, r->nkernels);
    struct bench_row *row = rowset_add(rows);
    shape_format(&r->problem.shape, shape, sizeof shape);
    row->suite = xstrdup(x->name);
    row->section = xstrdup(line->section);
    row->asked = xstrdup(line->shape);
    row->shape = xstrdup(shape);
    row->l2 = xstrdup(l2);
    if (ours >= 0)
        put_ours(row, r, ours, &e[ours]);
    if (peer >= 0)
        put_peer(row, r, peer, &e[peer]);
    if (ours >= 0 && peer >= 0)
        put_ratio(row, &e[ours], &e[peer]);
    if (ours >= 0)
        put_absent(row, r, 0, nours, e);
    put_goal(row, suite_goal(line, l2));
    put_rate_goal(row, line->rate, ours >= 0 ? &e[ours] : NULL);
    put_checks(row, r, e);
    if (why)
        add_reason(row, why);
    else if (ours < 0 || (peer < 0 && nours < r->nkernels))
        add_reason(row, ours < 0 ? "none of ours has a time that passed its check"
                                 : "no peer has a time that passed its check");
    else
        put_absent(row, r, nours, r->nkernels, e);
}

/* ---- what is recorded ---- */

/* Both as desc_params_format() writes them; a library has none. */
static bool same_params(const char *a, const char *b)
{
    return !strcmp(a ? a : "", b ? b : "");
}

/* Where nobody has named one, a GPU is meant. */
static bool is_backend(const struct request *r, const char *backend)
{
    return r->options.backend ? backend && !strcmp(backend, r->options.backend)
                              : backend_is_gpu(backend);
}

static bool is_entry(const struct request *r, int i, const char *params, const char *shape,
                     const char *l2, const struct run_row *row)
{
    return row->kernel && row->shape && row->l2 && !strcmp(row->kernel, r->kernels[i]->name) &&
           is_backend(r, row->backend) && !strcmp(row->l2, l2) &&
           row->gpus == (r->options.gpus > 1 ? r->options.gpus : INT_UNKNOWN) &&
           !strcmp(row->shape, shape) && same_params(row->params, params) &&
           (!row->input || !strcmp(row->input, input_names[r->problem.input]));
}

static bool is_old(const struct kernel_desc *d, const struct run_row *row)
{
    char hash[24];
    if (!d || !d->source || !row->source_hash)
        return false;
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)desc_hash(d));
    return strcmp(hash, row->source_hash) != 0;
}

bool bench_same_device(const struct device_table *t, const char *a, const char *b)
{
    const struct device *x = NULL, *y = NULL;
    if (!a || !b)
        return a == b;
    const bool known = devices_get(t, a, &x, NULL) == ST_OK && devices_get(t, b, &y, NULL) == ST_OK;
    return known ? x == y : !strcmp(a, b);
}

/* Calls take() for the rows of entry i. */
static void each_row(const struct recording *rec, const struct request *r, int i, const char *l2,
                     void (*take)(void *ctx, const struct recorded_row *x), void *ctx)
{
    char shape[SHAPE_TEXT], params[512] = "";
    const struct kernel_desc *d = request_desc(r, i);
    shape_format(&r->problem.shape, shape, sizeof shape);
    if (d)
        desc_params_format(d, &r->params[i], false, params, sizeof params);
    for (size_t k = 0; k < rec->nrows; k++)
        if (is_entry(r, i, params, shape, l2, rec->rows[k].run))
            take(ctx, &rec->rows[k]);
}

struct counting {
    struct bench_devices *d;
    const struct device_table *t;
};

static void count_device(void *ctx, const struct recorded_row *x)
{
    const struct counting *c = ctx;
    struct bench_devices *d = c->d;
    const char *name = x->run->device ? x->run->device : "?";
    size_t i = 0;
    while (i < d->n && !bench_same_device(c->t, d->v[i].name, name))
        i++;
    if (i == d->n) {
        void *items = d->v;
        xgrow(&items, &d->cap, d->n + 1, sizeof *d->v);
        d->v = items;
        d->v[d->n++] = (struct bench_device){.name = xstrdup(name)};
    }
    d->v[i].rows++;
}

void bench_count_devices(struct bench_devices *d, const struct device_table *t,
                         const struct recording *const *recs, size_t n, const struct request *r,
                         const char *l2)
{
    struct counting c = {d, t};
    for (size_t k = 0; k < n; k++)
        for (int i = 0; i < r->nkernels; i++)
            each_row(recs[k], r, i, l2, count_device, &c);
}

struct recalling {
    const struct bench_source *from;
    const struct recording *rec;
    const struct kernel_desc *desc;
    struct bench_entry *e;
};

static void take_row(void *ctx, const struct recorded_row *x)
{
    const struct recalling *c = ctx;
    const struct kept_row *kept = row_kept(x->row);
    if (c->from->device && !bench_same_device(c->from->devices, x->run->device, c->from->device))
        return;
    *c->e = (struct bench_entry){.row = x->run,
                                 .us = x->samples,
                                 .n = x->nsamples,
                                 .file = c->rec,
                                 .command = kept ? kept->command : NULL,
                                 .old = is_old(c->desc, x->run)};
}

/* Fills the entries that are empty; how many it has filled. */
static int recall_from(const struct bench_source *from, const struct recording *rec,
                       const struct request *r, const char *l2, struct bench_entry *e)
{
    int found = 0;
    for (int i = 0; i < r->nkernels; i++) {
        struct recalling c = {from, rec, request_desc(r, i), &e[i]};
        if (e[i].row)
            continue;
        each_row(rec, r, i, l2, take_row, &c);
        found += e[i].row != NULL;
    }
    return found;
}

static void forget(struct bench_entry *e, int n)
{
    for (int i = 0; i < n; i++)
        e[i] = (struct bench_entry){.row = NULL};
}
int bench_recall(const struct bench_source *from, const struct request *r, int nours,
                 const char *l2, struct bench_entry *e)
{
    size_t best = 0;
    int most = 0, found = 0;
    for (size_t k = 0; k < from->n; k++) {
        forget(e, r->nkernels);
        const int n = recall_from(from, from->recs[k], r, l2, e);
        best = n >= most && n ? k : best;
        most = n > most ? n : most;
    }
    forget(e, r->nkernels);
    if (most)
        (void)recall_from(from, from->recs[best], r, l2, e);
    for (size_t k = from->n; k-- > 0;)
        (void)recall_from(from, from->recs[k], r, l2, e);
    for (int i = 0; i < nours; i++)
        found += e[i].row != NULL;
    return found;
}

/* Has it been measured to the end, of today's source? */
static bool is_settled(const struct bench_entry *e)
{
    const struct run_row *row = e->row;
    return row && !e->old && !was_stopped(row) &&
           (row->median_us > 0 || (row->check && !run_row_passed(row)));
}

bool bench_is_whole(const struct request *r, int nours, const struct bench_entry *e)
{
    for (int i = 0; i < nours; i++)
        if (!is_settled(&e[i]) && !measure_refuses(r, i, NULL))
            return false;
    return true;
}

/* ---- as text ---- */

/* What rows with one state of the caches come to. */
struct tally {
    int n, old; /* ratios, and of sources that have changed since */
    int wanted; /* ratios that the suite has with it */
    double sum, lo,
        hi; /* of logarithms; lo, hi: of the intervals' ends, NaN where one is not known */
    int met, open, missed; /* goals */
    const struct bench_row *least;
};

static void count_row(struct tally *t, const struct bench_row *row)
{
    t->met += row->met && !strcmp(row->met, "met");
    t->open += row->met && !strcmp(row->met, "open");
    t->missed += row->met && !strcmp(row->met, "missed");
    if (!isfinite(row->ratio))
        return;
    t->n++;
    t->old += row->reason && strstr(row->reason, changed) != NULL;
    t->sum += log(row->ratio);
    t->lo += log(row->ratio_lo);
    t->hi += log(row->ratio_hi);
    t->least = !t->least || row->ratio < t->least->ratio ? row : t->least;
}

/* Does the suite have the line with this state of the caches? */
static bool has_cache(const struct suite_line *line, const char *l2)
{
    const char *word = strstr(line->with, "l2=");
    word = word ? word + strlen("l2=") : "cold";
    return str_starts(word, "both") || str_starts(word, l2);
}

/* Lines of the sections that are called `name`, or, where `begins`, begin so. */
static int count_lines(const struct suite *x, const char *name, bool begins, const char *l2)
{
    int n = 0;
    for (size_t i = 0; i < x->n; i++) {
        const char *section = x->lines[i].section;
        n += (begins ? str_starts(section, name) : !strcmp(section, name)) &&
             has_cache(&x->lines[i], l2);
    }
    return n;
}

static struct tally tally_of(const struct rowset *rows, size_t from, const char *all,
                             const char *l2)
{
    struct tally t = {.n = 0};
    for (size_t i = from; i < rows->n; i++) {
        const struct bench_row *row = row_read(rows->rows[i]);
        if (!strcmp(row->l2, l2) && (!all || str_starts(row->section, all)))
            count_row(&t, row);
    }
    return t;
}

/* "5 met, 1 open, 1 missed". */
static void add_counts(struct str *out, const struct tally *t)
{
    const struct {
        int n;
        const char *word;
    } parts[] = {{t->met, "met"}, {t->open, "open"}, {t->missed, "missed"}};
    const char *before = "; goals: ";
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].n) {
            str_addf(out, "%s%d %s", before, parts[i].n, parts[i].word);
            before = ", ";
        }
}

/* `who`: "" or what is before the state of the caches; `where`: the least one's section is told, too. */
static void add_mean(struct str *out, const struct tally *t, const char *who, const char *l2,
                     double asked, bool where)
{
    char mean[NUMBER_BUF], low[NUMBER_BUF], goal[NUMBER_BUF];
    if (t->n < 2)
        return;
    const bool part = t->n < t->wanted; /* the goal is of all */
    const char *met = met_by(t->old || part ? NAN : exp(t->lo / t->n), exp(t->hi / t->n), asked);
    str_addf(out, "%sL2 %s: geometric mean %s of %d", who, l2,
             number_fmt(mean, exp(t->sum / t->n), 3), t->n);
    if (part)
        str_addf(out, " of %d", t->wanted);
    str_add(out, " ratios");
    if (met)
        str_addf(out, " (asked %s: %s)", number_fmt(goal, asked, 3), met);
    str_addf(out, ", lowest %s at %s%s%s", number_fmt(low, t->least->ratio, 3),
             where ? t->least->section : "", where ? ": " : "", t->least->asked);
    add_counts(out, t);
    if (t->old)
        str_addf(out, "; %d of them of sources that have changed since", t->old);
    str_addc(out, '\n');
}

/* The suite's first line of a section. */
static const struct suite_line *line_of(const struct suite *x, const char *section)
{
    size_t i = 0;
    while (i < x->n && strcmp(x->lines[i].section, section) != 0)
        i++;
    return i < x->n ? &x->lines[i] : NULL;
}

static void add_means(struct str *out, const struct suite *x, const struct rowset *rows,
                      size_t from, const char *section)
{
    static const char *const caches[] = {"cold", "hot"};
    const struct suite_line *line = line_of(x, section);
    for (int i = 0; i < 2; i++) {
        struct tally t = tally_of(rows, from, NULL, caches[i]);
        t.wanted = count_lines(x, section, false, caches[i]);
        add_mean(out, &t, "", caches[i], line && !line->all ? line->mean : NAN, false);
    }
}

/* Is line i the first that has its mean in common with these words? */
static bool is_first_of(const struct suite *x, size_t i)
{
    const char *all = x->lines[i].all;
    for (size_t k = 0; all && k < i; k++)
        if (x->lines[k].all && !strcmp(x->lines[k].all, all))
            return false;
    return all != NULL;
}

/* Lines behind a table, in Markdown as a list; frees them. */
static void put_lines(struct cmd_call *c, struct str *lines, int width)
{
    const bool md = call_format(c) == FORMAT_MD;
    const size_t at = c->out->len;
    const bool any = lines->len > 0;
    char *text = str_take(lines), *rest = text, *line;
    if (md && any)
        str_addc(c->out, '\n');
    while (any && (line = strsep(&rest, "\n")))
        if (*line)
            str_addf(c->out, "%s%s\n", md ? "- " : "", line);
    lines_wrap(c->out, at, md ? 0 : width);
    free(text);
}

void bench_totals(struct cmd_call *c, const struct suite *x, const struct rowset *rows, int width)
{
    static const char *const caches[] = {"cold", "hot"};
    struct str lines = {0};
    for (size_t i = 0; i < x->n; i++)
        for (int k = 0; k < 2 && is_first_of(x, i); k++) {
            const struct suite_line *line = &x->lines[i];
            struct tally t = tally_of(rows, 0, line->all, caches[k]);
            t.wanted = count_lines(x, line->all, true, caches[k]);
            char *who = xasprintf("%s, ", line->all);
            add_mean(&lines, &t, who, caches[k], line->mean, true);
            free(who);
        }
    if (lines.len && call_format(c) != FORMAT_MD)
        str_addc(c->out, '\n');
    put_lines(c, &lines, width);
}

/* "ours moves 4140 GB/s at B=8 Sk=8k (asked 4000: met), ...", of rows of which a rate is asked. */
static void add_rates(struct str *out, const struct rowset *rows, size_t from)
{
    const char *before = "ours moves ";
    for (size_t i = from; i < rows->n; i++) {
        const struct bench_row *row = row_read(rows->rows[i]);
        char rate[NUMBER_BUF], goal[NUMBER_BUF];
        if (!row->rate_met)
            continue;
        str_addf(out, "%s%s GB/s at %s %s (asked %s: %s)", before,
                 number_fmt(rate, row->gbytes_per_s, 4), row->asked, row->l2,
                 number_fmt(goal, row->rate_goal, 4), row->rate_met);
        before = ", ";
    }
    if (*before == ',')
        str_addc(out, '\n');
}

/* Is there an earlier row of rows from..i with this reason? */
static bool told(const struct rowset *rows, size_t from, size_t i, const char *reason)
{
    for (size_t k = from; k < i; k++)
        if (row_is(rows->rows[k], "reason", reason))
            return true;
    return false;
}

/* Have all rows this reason? */
static bool of_all(const struct rowset *rows, size_t from, const char *reason)
{
    for (size_t i = from; i < rows->n; i++)
        if (!row_is(rows->rows[i], "reason", reason))
            return false;
    return rows->n > from + 1;
}

/* "S=64 cold and hot, S=128 hot: the kernel's source has changed since", a line for each reason. */
static void add_reasons(struct str *out, const struct rowset *rows, size_t from)
{
    for (size_t i = from; i < rows->n; i++) {
        const struct bench_row *row = row_read(rows->rows[i]);
        const char *last = "";
        if (!row->reason || told(rows, from, i, row->reason))
            continue;
        if (of_all(rows, from, row->reason)) {
            str_addf(out, "all: %s\n", row->reason);
            return;
        }
        for (size_t k = i; k < rows->n; k++) {
            const struct bench_row *x = row_read(rows->rows[k]);
            if (!x->reason || strcmp(x->reason, row->reason) != 0)
                continue;
            const bool same = !strcmp(last, x->asked);
            str_addf(out, "%s%s %s",
                     same    ? " and"
                     : *last ? ", "
                             : "",
                     same ? "" : x->asked, x->l2);
            last = x->asked;
        }
        str_addf(out, ": %s\n", row->reason);
    }
}

/* " | recorded | NVIDIA H200 | 2026-11-23", of the rows that have it; days from the first to the last. */
static void add_origin(struct str *out, const struct rowset *rows, size_t from)
{
    const struct bench_row *one = NULL;
    char first[11] = "~", last[11] = "";
    for (size_t i = from; i < rows->n; i++) {
        const struct bench_row *row = row_read(rows->rows[i]);
        if (!row->kernel)
            continue;
        one = one ? one : row;
        const char *day = row->time ? row->time : "";
        if (strlen(day) >= 10 && strncmp(day, first, 10) < 0)
            snprintf(first, sizeof first, "%s", day);
        if (strlen(day) >= 10 && strncmp(day, last, 10) > 0)
            snprintf(last, sizeof last, "%s", day);
    }
    if (!one)
        return;
    char *device = sanitize_line(one->device ? one->device : "?");
    str_addf(out, " | %s | %s", one->origin ? one->origin : "?", device);
    free(device);
    if (*last)
        str_addf(out, " | %s%s%s", first, strcmp(first, last) ? " to " : "",
                 strcmp(first, last) ? last : "");
}

void bench_section(struct session *s, struct cmd_call *c, const struct suite *x,
                   const struct rowset *rows, size_t from)
{
    struct rowset part = {.type = rows->type};
    if (from >= rows->n)
        return;
    const struct bench_row *first = row_read(rows->rows[from]);
    for (size_t i = from; i < rows->n; i++)
        rowset_share(&part, rows->rows[i]);
    const bool md = call_format(c) == FORMAT_MD;
    str_addf(c->out, "%s%s%s", from || c->out->len ? "\n" : "", md ? "### " : "", first->section);
    add_origin(c->out, rows, from);
    str_add(c->out, md ? "\n\n" : "\n");
    rows_show(s, c->out, &part, &bench_columns, call_format(c), call_width(s, c));
    struct str below = {0};
    add_means(&below, x, rows, from, first->section);
    add_rates(&below, rows, from);
    add_reasons(&below, rows, from);
    put_lines(c, &below, call_width(s, c));
    rowset_clear(&part);
}

/* ---- a recording as a whole ---- */

/* Rows of the recording that are the line's. */
static size_t add_recorded_line(struct session *s, const struct suite *x,
                                const struct suite_line *line, const struct recording *rec,
                                struct rowset *rows)
{
    static const char *const caches[] = {"cold", "hot"};
    struct request r;
    int nours;
    size_t found = 0;
    if (suite_request(s, line, NULL, REQUEST_PLAN, &r, &nours, NULL))
        return 0;
    const struct bench_source from = {&rec, 1, s->services.devices, NULL};
    struct bench_entry *e = xcalloc((size_t)r.nkernels + 1, sizeof *e);
    for (int i = 0; i < 2; i++)
        if (bench_recall(&from, &r, nours, caches[i], e)) {
            bench_add(rows, x, line, &r, nours, caches[i], e, NULL);
            for (int k = 0; k < r.nkernels; k++)
                found += e[k].row != NULL;
        }
    free(e);
    request_clear(&r);
    return found;
}

static void show_sections(struct session *s, struct cmd_call *c, const struct suite *x,
                          const struct rowset *rows)
{
    struct rowset part = {.type = rows->type};
    for (size_t i = 0; i < rows->n; i++) {
        const struct bench_row *row = row_read(rows->rows[i]),
                               *next = i + 1 < rows->n ? row_read(rows->rows[i + 1]) : NULL;
        rowset_share(&part, rows->rows[i]);
        if (next && !strcmp(next->section, row->section))
            continue;
        bench_section(s, c, x, &part, 0);
        rowset_clear(&part);
    }
    bench_totals(c, x, rows, call_width(s, c));
}

bool bench_of_recording(struct session *s, struct cmd_call *c, const struct recording *rec)
{
    char name[64];
    for (size_t i = 0; suite_name(i, name, sizeof name); i++) {
        struct suite x;
        struct rowset rows = {.type = &bench_type};
        size_t found = 0;
        if (suite_open(s, name, &x, NULL))
            continue;
        for (size_t k = 0; k < x.n; k++)
            found += add_recorded_line(s, &x, &x.lines[k], rec, &rows);
        const bool most = 2 * found > rec->nrows;
        if (most)
            show_sections(s, c, &x, &rows);
        rowset_clear(&rows);
        suite_clear(&x);
        if (most)
            return true;
    }
    return false;
}
