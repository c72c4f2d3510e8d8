/* compare_rec.c - compare OLD.rec NEW.rec: has anything become slower, or wrong?
 *
 * Rows meet by kernel, shape, parameters, backend, caches and launch; the newest of each side
 * counts. The interval is a bootstrap over the samples of both. It knows the noise within each
 * recording; what else changed between them (load, clocks, where memory lies) is seen in the rows whose
 * source, device and driver are the same in both. They are the control: a changed kernel is faster or
 * slower only beyond what unchanged ones show.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/compare_rec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/number.h"
#include "command/output.h"
#include "command/session.h"
#include "measure/origin.h"

/* What a row has besides its measurement, which is of the new recording where both have it. */
struct pair_row {
    struct run_row run;
    double before_median_us;
    int source_changed;
};

static const struct field pair_fields[] = {
    FIELD(FIELD_REAL, pair_row, before_median_us, .title = "old us", .unit = "us",
          .doc = "median_us in the old recording; median_us is that of the new one."),
    FIELD(FIELD_BOOL, pair_row, source_changed, .title = "source changed",
          .doc = "The kernel's source differs between the recordings."),
    {.name = NULL},
};
static const char *const pair_order[] = {
    "kernel", "shape",    "params",         "backend",          "l2",
    "launch", "input",    "device",         "before_median_us", "median_us",
    "ratio",  "ratio_lo", "ratio_hi",       "verdict",          "verdict_reason",
    "check",  "origin",   "source_changed", "reason",           NULL};
static const struct row_type pair_type = {.size = sizeof(struct pair_row),
                                          .parts = {{pair_fields, 0}, {run_fields, 0}},
                                          .order = pair_order};

// clang-format off
static const char in_old[] = "in the old recording alone", in_new[] = "in the new recording alone",
                  now_fails[] = "the new one fails its check";

const struct columns pair_columns = {
    .type = &pair_type,
    .list = (const struct column[]){
        {.field = "kernel"},
        {.field = "shape", .varies = true},
        {.field = "params", .optional = true, .drop = 6},
        {.field = "backend", .varies = true},
        {.field = "l2", .varies = true},
        {.field = "before_median_us"},
        {.field = "median_us", .title = "new us"},
        {.field = "ratio"},
        {.field = "ratio_lo"},
        {.field = "ratio_hi"},
        {.field = "verdict"},
        {.field = "verdict_reason", .title = "why no verdict", .optional = true},
        {.field = "check"},
        {.field = "source_changed", .drop = 2},
        {.field = "reason", .optional = true},
        {0},
    },
};
// clang-format on

static const char *const match_fields[] = {"kernel", "shape",  "params", "backend",
                                           "l2",     "launch", "input",  NULL};
static const char *const machine_fields[] = {"device", "driver", "cuda", "peer_version", NULL};

/* ---- is it meant? ---- */

static bool is_recording_word(struct session *s, const char *word)
{
    struct stat st;
    const size_t len = strlen(word);
    const char *name;
    if (len > 4 && !strcmp(word + len - 4, ".rec"))
        return true;
    if (registry_find(s->services.registry, word) || strchr(word, ','))
        return false;
    for (size_t i = 0; (name = library_name(session_library(s), i)); i++)
        if (!strcmp(name, word))
            return true;
    return strchr(word, '/') && !stat(word, &st);
}

bool names_recordings(struct session *s, const struct cmd_call *c)
{
    for (int i = 0; i < c->nwords; i++)
        if (is_recording_word(s, c->words[i].text))
            return true;
    return false;
}

/* ---- rows that belong together ---- */

/* Unknown and empty are alike. */
static bool same_text(const char *a, const char *b)
{
    return !strcmp(a ? a : "", b ? b : "");
}

static bool same_fields(const struct recorded_row *a, const struct recorded_row *b,
                        const char *const *names)
{
    for (; *names; names++)
        if (!same_text(row_text(a->row, *names), row_text(b->row, *names)))
            return false;
    return true;
}

static bool matches(const struct recorded_row *a, const struct recorded_row *b)
{
    return same_fields(a, b, match_fields);
}

/* The last row of `rec` that matches; files are in the order things happened. */
static const struct recorded_row *last_match(const struct recording *rec,
                                             const struct recorded_row *r)
{
    for (size_t i = rec->nrows; i--;)
        if (matches(&rec->rows[i], r))
            return &rec->rows[i];
    return NULL;
}

/* ---- one line of the answer ---- */

static void put_text(char **member, const char *text)
{
    char *copy = text ? xstrdup(text) : NULL;
    free(*member);
    *member = copy;
}

static bool is_altered(const struct run_row *row)
{
    return row->origin && !strcmp(row->origin, ORIGIN_ALTERED);
}

/* Which row it is; its figures are unknown so far. */
static struct pair_row *add_pair(struct rowset *rows, const struct recorded_row *r)
{
    struct pair_row *row = rowset_add(rows);
    for (const char *const *f = match_fields; *f; f++)
        field_copy(field_find(run_fields, *f), &row->run, r->run);
    put_text(&row->run.device, r->run->device);
    put_text(&row->run.check, r->run->check);
    put_text(&row->run.origin, is_altered(r->run) ? ORIGIN_ALTERED : "recorded");
    return row;
}

static const char *no_ratio(const struct run_row *now, const struct run_row *before)
{
    if (is_altered(now) || is_altered(before))
        return "ALTERED: it was changed by hand since it was recorded";
    if (!run_row_passed(now))
        return now_fails;
    if (!run_row_passed(before))
        return "the old one failed its check";
    if (isnan(now->median_us) || isnan(before->median_us))
        return "one of them was not timed";
    return NULL;
}

static void judge(struct run_row *row, const struct recorded_row *now,
                  const struct recorded_row *before)
{
    struct ratio r = recorded_ratio(now, before);
    if (isnan(r.mid))
        r.mid = now->run->median_us / before->run->median_us;
    row->ratio = r.mid;
    row->ratio_lo = r.lo;
    row->ratio_hi = r.hi;
    put_text(&row->verdict, stats_verdict(r));
    if (isnan(r.lo))
        put_text(&row->reason, "too few samples were recorded to tell");
    else if (!same_text(now->run->device, before->run->device))
        put_text(&row->reason, "measured on different devices");
}

static struct run_row *add_both(struct rowset *rows, const struct recorded_row *now,
                                const struct recorded_row *before)
{
    struct pair_row *row = add_pair(rows, now);
    const char *why = no_ratio(now->run, before->run), *was = before->run->source_hash,
               *is = now->run->source_hash;
    row->before_median_us = before->run->median_us;
    row->run.median_us = now->run->median_us;
    if (was && is)
        row->source_changed = strcmp(was, is) != 0;
    if (why)
        put_text(&row->run.reason, why);
    else
        judge(&row->run, now, before);
    return &row->run;
}

static void add_lone(struct rowset *rows, const struct recorded_row *r, bool old)
{
    struct pair_row *row = add_pair(rows, r);
    if (old)
        row->before_median_us = r->run->median_us;
    else
        row->run.median_us = r->run->median_us;
    put_text(&row->run.reason, old ? in_old : in_new);
}

/* ---- the control ---- */

/* What unchanged kernels show. */
struct control {
    int rows;
    double
        most; /* the ends of their intervals reach this far from 1, as a factor; 1: nothing known */
};

/* Do both recordings have the same code on the same machine? Then a difference is none of the code's. */
static bool is_control(const struct recorded_row *now, const struct recorded_row *before)
{
    const char *was = before->run->source_hash, *is = now->run->source_hash;
    return was && is && !strcmp(was, is) && same_fields(now, before, machine_fields);
}

/* One or two controls have not seen the worst: they count for twice and one and a half times as much. */
static double widened(const struct control *c)
{
    return pow(c->most, c->rows == 1 ? 2 : c->rows == 2 ? 1.5 : 1);
}

static void add_control(struct control *c, struct run_row *row)
{
    put_text(&row->verdict, "control");
    if (!(row->ratio_lo > 0))
        return;
    c->rows++;
    c->most = fmax(c->most, fmax(1 / row->ratio_lo, row->ratio_hi));
}

/* Takes back a winner that is within what the control shows. */
static void hold_against(const struct control *c, struct run_row *row)
{
    const double by = widened(c), toward_1 = row->ratio_lo > 1 ? 1 / by : by;
    char buf[NUMBER_BUF];
    if (!c->rows || (strcmp(row->verdict, "SLOWER") && strcmp(row->verdict, "FASTER")) ||
        !strcmp(row->verdict, stats_verdict((struct ratio){NAN, row->ratio_lo * toward_1,
                                                           row->ratio_hi * toward_1})))
        return;
    put_text(&row->verdict, "AMBIGUOUS");
    row->verdict_reason =
        xasprintf("unchanged kernels differ by up to %s times between the recordings",
                  number_fmt(buf, c->most, 3));
}

static const struct run_row *pair_at(const struct rowset *rows, size_t i)
{
    return &((const struct pair_row *)row_read(rows->rows[i]))->run;
}

static void compare_rows(const struct recording *before, const struct recording *now,
                         struct rowset *rows, struct control *control)
{
    struct run_row **changed = xcalloc(now->nrows + 1, sizeof(struct run_row *));
    size_t n = 0;
    *control = (struct control){.most = 1};
    for (size_t i = 0; i < now->nrows; i++) {
        const struct recorded_row *r = &now->rows[i], *old = last_match(before, r);
        if (last_match(now, r) != r)
            continue;
        struct run_row *row = old ? add_both(rows, r, old) : NULL;
        if (!old)
            add_lone(rows, r, false);
        else if (row->verdict && is_control(r, old))
            add_control(control, row);
        else if (row->verdict)
            changed[n++] = row;
    }
    for (size_t i = 0; i < n; i++)
        hold_against(control, changed[i]);
    free(changed);
    for (size_t i = 0; i < before->nrows; i++) {
        const struct recorded_row *r = &before->rows[i];
        if (last_match(before, r) == r && !last_match(now, r))
            add_lone(rows, r, true);
    }
}

static int count_of(const struct rowset *rows, const char *field, const char *text)
{
    int n = 0;
    for (size_t i = 0; i < rows->n; i++)
        n += row_is(rows->rows[i], field, text);
    return n;
}

/* The geometric mean of the ratios, and in *n of how many: of what has changed. What is the same in both says how far apart
 * two sessions are, and is no gain. */
static double mean_ratio(const struct rowset *rows, int *n)
{
    double sum = 0;
    *n = 0;
    for (size_t i = 0; i < rows->n; i++) {
        const double r = pair_at(rows, i)->ratio;
        if (r > 0 && !row_is(rows->rows[i], "verdict", "control"))
            sum += log(r), ++*n;
    }
    return exp(sum / *n);
}

/* "3 rows: 1 FASTER, 2 SAME; time ratio 0.93 in the geometric mean" */
static void add_summary(struct str *out, const struct rowset *rows, const struct control *control)
{
    static const char *const verdicts[] = {"FASTER", "SLOWER", "SAME", "AMBIGUOUS", "control"};
    int n;
    const double mean = mean_ratio(rows, &n);
    str_addf(out, "%zu row%s", rows->n, rows->n == 1 ? "" : "s");
    for (int i = 0, shown = 0; i < 5; i++) {
        const int count = count_of(rows, "verdict", verdicts[i]);
        if (count)
            str_addf(out, "%s %d %s", shown++ ? "," : ":", count, verdicts[i]);
    }
    char buf[NUMBER_BUF];
    if (n)
        str_addf(out, "; time new over old, geometric mean of the %d that may differ: %s", n,
                 number_fmt(buf, mean, 3));
    str_addc(out, '\n');
    if (control->rows)
        str_addf(out,
                 "control: %d row%s of unchanged source differ%s by up to %s times; a changed "
                 "one is FASTER or SLOWER only beyond that\n",
                 control->rows, control->rows == 1 ? "" : "s", control->rows == 1 ? "s" : "",
                 number_fmt(buf, control->most, 3));
    else
        str_add(out, "control: none; without a row of unchanged source it is not known what else "
                     "changed between the recordings\n");
}

/* ---- --fail-on ---- */

const char *const fail_on_words[] = {"slower", "slower,undecided", "undecided", NULL};

enum status fail_on_read(struct cmd_call *c, struct fail_on *f, struct err *err)
{
    const char *value = call_option(c, "fail-on");
    *f = (struct fail_on){.slower = false};
    if (!value)
        return ST_OK;
    char *copy = xstrdup(value), *rest = copy;
    enum status st = ST_OK;
    for (char *word; st == ST_OK && (word = strsep(&rest, ","));)
        if (!strcmp(word, "slower"))
            f->slower = true;
        else if (!strcmp(word, "undecided"))
            f->undecided = true;
        else
            st = err_set(err, ST_USAGE,
                         "--fail-on has no value \"%s\"; did you mean \"slower\" or "
                         "\"slower,undecided\"?",
                         value);
    free(copy);
    return st;
}

enum status fail_on_undecided(struct session *s, const struct fail_on *f, size_t undecided,
                              size_t all, struct err *err)
{
    if (!undecided)
        return ST_OK;
    if (f->undecided)
        return err_set(err, ST_FAIL, "%zu of %zu verdicts are undecided", undecided, all);
    if (f->slower)
        session_note(s,
                     "%zu of %zu verdicts are undecided, and let through; "
                     "--fail-on=slower,undecided would end with status 3",
                     undecided, all);
    return ST_OK;
}

static enum status answer(struct session *s, const struct rowset *rows, const struct fail_on *f,
                          struct err *err)
{
    const int broken = count_of(rows, "reason", now_fails);
    const int slower = count_of(rows, "verdict", "SLOWER");
    const size_t alone =
        (size_t)count_of(rows, "reason", in_old) + (size_t)count_of(rows, "reason", in_new);
    if (alone == rows->n) /* a gate must not pass for want of figures */
        return err_set(err, ST_FAIL, "nothing is compared: no row is in both recordings");
    if (broken)
        return err_set(err, ST_NO, "%d row%s of the new recording fail%s the check", broken,
                       broken == 1 ? "" : "s", broken == 1 ? "s" : "");
    if (f->slower && slower)
        return err_set(err, ST_NO, "%d row%s slower than before", slower,
                       slower == 1 ? " is" : "s are");
    static const char *const decided[] = {"FASTER", "SLOWER", "SAME", "control"};
    size_t left = rows->n - alone;
    for (size_t i = 0; i < sizeof decided / sizeof *decided; i++)
        left -= (size_t)count_of(rows, "verdict", decided[i]);
    return fail_on_undecided(s, f, left, rows->n - alone, err);
}

static enum status open_both(struct session *s, struct cmd_call *c, const struct recording *rec[2],
                             struct err *err)
{
    if (c->nwords != 2)
        return err_set(err, ST_USAGE, "compare takes two recordings, the old one and the new one");
    for (int i = 0; i < 2; i++) {
        enum status st = library_open(session_library(s), c->words[i].text, &rec[i], err);
        if (st)
            return call_mark(c, st, c->words[i].at, (int)strlen(c->words[i].text), err);
        if (rec[i]->note)
            session_note(s, "%s: %s", rec[i]->name, rec[i]->note);
    }
    return ST_OK;
}

enum status compare_recordings(struct session *s, struct cmd_call *c, struct err *err)
{
    const struct recording *rec[2];
    const bool text = call_format(c) == FORMAT_TEXT;
    struct fail_on fail_on;
    enum status st = fail_on_read(c, &fail_on, err);
    if (!st)
        st = call_finish(s, c, err);
    if (!st)
        st = open_both(s, c, rec, err);
    if (st)
        return st;
    struct control control;
    struct rowset rows = {.type = &pair_type};
    compare_rows(rec[0], rec[1], &rows, &control);
    call_rows(s, c, &rows, &pair_columns);
    if (text)
        add_summary(c->out, &rows, &control);
    st = answer(s, &rows, &fail_on, err);
    rowset_clear(&rows);
    return st;
}
