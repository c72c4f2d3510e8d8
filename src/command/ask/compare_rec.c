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

/* What a row has that no measurement has. */
static const struct field pair_fields[] = {
    {.name = "before_median_us",
     .type = FIELD_REAL,
     .title = "old us",
     .unit = "us",
     .doc = "median_us in the old recording; median_us is that of the new one."},
    {.name = "source_changed",
     .type = FIELD_BOOL,
     .title = "source changed",
     .doc = "The kernel's source differs between the recordings."},
    {.name = NULL},
};

// clang-format off
static const char in_old[] = "in the old recording alone", in_new[] = "in the new recording alone";

const struct columns pair_columns[1] = {{
    .of = FIELD_TABLES(pair_fields, run_fields),
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
}};
// clang-format on

static const char *const match_fields[] = {"kernel", "shape",  "params", "backend",
                                           "l2",     "launch", "input",  NULL};

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

static bool same_field(const json_t *a, const json_t *b, const char *field)
{
    const char *x = row_string(a, field), *y = row_string(b, field);
    return !strcmp(x ? x : "", y ? y : "");
}

static bool matches(const struct recorded_row *a, const struct recorded_row *b)
{
    for (const char *const *f = match_fields; *f; f++)
        if (!same_field(a->row, b->row, *f))
            return false;
    return true;
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

static bool passed(const json_t *row)
{
    const char *check = row_string(row, "check");
    return check && !strcmp(check, "pass");
}

static void put_real(json_t *row, const char *field, double v)
{
    json_object_set_new(row, field, isfinite(v) ? json_real(v) : json_null());
}

static void put_text(json_t *row, const char *field, const char *text)
{
    json_object_set_new(row, field, text ? json_string(text) : json_null());
}

static json_t *blank_row(const struct recorded_row *r)
{
    json_t *row = json_object();
    for (const char *const *f = match_fields; *f; f++)
        json_object_set(row, *f, json_object_get(r->row, *f));
    json_object_set(row, "device", json_object_get(r->row, "device"));
    put_real(row, "before_median_us", NAN);
    put_real(row, "median_us", NAN);
    put_real(row, "ratio", NAN);
    put_real(row, "ratio_lo", NAN);
    put_real(row, "ratio_hi", NAN);
    put_text(row, "verdict", NULL);
    put_text(row, "verdict_reason", NULL);
    json_object_set(row, "check", json_object_get(r->row, "check"));
    put_text(row, "origin", "recorded");
    json_object_set_new(row, "source_changed", json_null());
    put_text(row, "reason", NULL);
    return row;
}

static const char *no_ratio(const struct recorded_row *now, const struct recorded_row *before)
{
    if (!passed(now->row))
        return "the new one fails its check";
    if (!passed(before->row))
        return "the old one failed its check";
    if (isnan(row_number(now->row, "median_us")) || isnan(row_number(before->row, "median_us")))
        return "one of them was not timed";
    return NULL;
}

static void judge(json_t *row, const struct recorded_row *now, const struct recorded_row *before)
{
    struct ratio r = recorded_ratio(now, before);
    if (isnan(r.mid))
        r.mid = row_number(now->row, "median_us") / row_number(before->row, "median_us");
    put_real(row, "ratio", r.mid);
    put_real(row, "ratio_lo", r.lo);
    put_real(row, "ratio_hi", r.hi);
    put_text(row, "verdict", stats_verdict(r));
    if (isnan(r.lo))
        put_text(row, "reason", "too few samples were recorded to tell");
    else if (!same_field(now->row, before->row, "device"))
        put_text(row, "reason", "measured on different devices");
}

static json_t *pair_row(const struct recorded_row *now, const struct recorded_row *before)
{
    json_t *row = blank_row(now);
    const char *why = no_ratio(now, before), *was = row_string(before->row, "source_hash"),
               *is = row_string(now->row, "source_hash");
    put_real(row, "before_median_us", row_number(before->row, "median_us"));
    put_real(row, "median_us", row_number(now->row, "median_us"));
    if (was && is)
        json_object_set_new(row, "source_changed", json_boolean(strcmp(was, is)));
    if (why)
        put_text(row, "reason", why);
    else
        judge(row, now, before);
    return row;
}

/* ---- the whole ---- */

static json_t *lone_row(const struct recorded_row *r, bool old)
{
    json_t *row = blank_row(r);
    put_real(row, old ? "before_median_us" : "median_us", row_number(r->row, "median_us"));
    put_text(row, "reason", old ? in_old : in_new);
    return row;
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
    static const char *const machine[] = {"device", "driver", "cuda", "peer_version", NULL};
    const char *was = row_string(before->row, "source_hash"),
               *is = row_string(now->row, "source_hash");
    if (!was || !is || strcmp(was, is))
        return false;
    for (const char *const *f = machine; *f; f++)
        if (!same_field(now->row, before->row, *f))
            return false;
    return true;
}

/* One or two controls have not seen the worst: they count for twice and one and a half times as much. */
static double widened(const struct control *c)
{
    return pow(c->most, c->rows == 1 ? 2 : c->rows == 2 ? 1.5 : 1);
}

static void add_control(struct control *c, const json_t *row)
{
    const double lo = row_number(row, "ratio_lo"), hi = row_number(row, "ratio_hi");
    if (!(lo > 0))
        return;
    c->rows++;
    c->most = fmax(c->most, fmax(1 / lo, hi));
}

/* Takes back a winner that is within what the control shows. */
static void hold_against(const struct control *c, json_t *row)
{
    const char *verdict = row_string(row, "verdict");
    const double by = widened(c), lo = row_number(row, "ratio_lo"),
                 hi = row_number(row, "ratio_hi");
    char buf[NUMBER_BUF];
    if (!c->rows || !verdict || (strcmp(verdict, "SLOWER") && strcmp(verdict, "FASTER")))
        return;
    const double toward_1 = lo > 1 ? 1 / by : by;
    if (!strcmp(verdict, stats_verdict((struct ratio){NAN, lo * toward_1, hi * toward_1})))
        return;
    put_text(row, "verdict", "AMBIGUOUS");
    char *why = xasprintf("unchanged kernels differ by up to %s times between the recordings",
                          number_fmt(buf, c->most, 3));
    put_text(row, "verdict_reason", why);
    free(why);
}

static json_t *compare_rows(const struct recording *before, const struct recording *now,
                            struct control *control)
{
    json_t *rows = json_array(), *changed = json_array();
    *control = (struct control){.most = 1};
    for (size_t i = 0; i < now->nrows; i++) {
        const struct recorded_row *r = &now->rows[i], *old = last_match(before, r);
        if (last_match(now, r) != r)
            continue;
        json_t *row = old ? pair_row(r, old) : lone_row(r, false);
        json_array_append_new(rows, row);
        if (!old || !row_string(row, "verdict"))
            continue;
        if (is_control(r, old)) {
            put_text(row, "verdict", "control");
            add_control(control, row);
        } else
            json_array_append(changed, row);
    }
    for (size_t i = 0; i < json_array_size(changed); i++)
        hold_against(control, json_array_get(changed, i));
    json_decref(changed);
    for (size_t i = 0; i < before->nrows; i++) {
        const struct recorded_row *r = &before->rows[i];
        if (last_match(before, r) == r && !last_match(now, r))
            json_array_append_new(rows, lone_row(r, true));
    }
    return rows;
}

static int count_of(const json_t *rows, const char *field, const char *value)
{
    int n = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const char *text = row_string(json_array_get(rows, i), field);
        n += text && !strcmp(text, value);
    }
    return n;
}

/* "3 rows: 1 FASTER, 2 SAME; time ratio 0.93 in the geometric mean" */
static void add_summary(struct str *out, const json_t *rows, const struct control *control)
{
    static const char *const verdicts[] = {"FASTER", "SLOWER", "SAME", "AMBIGUOUS", "control"};
    double sum = 0;
    int n = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const double r = row_number(json_array_get(rows, i), "ratio");
        if (r > 0)
            sum += log(r), n++;
    }
    str_addf(out, "%zu row%s", json_array_size(rows), json_array_size(rows) == 1 ? "" : "s");
    for (int i = 0, shown = 0; i < 5; i++) {
        const int count = count_of(rows, "verdict", verdicts[i]);
        if (count)
            str_addf(out, "%s %d %s", shown++ ? "," : ":", count, verdicts[i]);
    }
    char buf[NUMBER_BUF];
    if (n)
        str_addf(out, "; time new over old, geometric mean of %d: %s", n,
                 number_fmt(buf, exp(sum / n), 3));
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

static enum status answer(const json_t *rows, bool fail_slower, struct err *err)
{
    const int broken = count_of(rows, "reason", "the new one fails its check");
    const int slower = count_of(rows, "verdict", "SLOWER");
    const size_t alone =
        (size_t)count_of(rows, "reason", in_old) + (size_t)count_of(rows, "reason", in_new);
    if (alone == json_array_size(rows)) /* a gate must not pass for want of figures */
        return err_set(err, ST_FAIL, "nothing is compared: no row is in both recordings");
    if (broken)
        return err_set(err, ST_NO, "%d row%s of the new recording fail%s the check", broken,
                       broken == 1 ? "" : "s", broken == 1 ? "s" : "");
    if (fail_slower && slower)
        return err_set(err, ST_NO, "%d row%s slower than before", slower,
                       slower == 1 ? " is" : "s are");
    return ST_OK;
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
    const char *fail_on = call_option(c, "fail-on");
    const bool text = call_format(c) == FORMAT_TEXT;
    enum status st = ST_OK;
    if (fail_on && strcmp(fail_on, "slower"))
        return err_set(err, ST_USAGE, "--fail-on has no value \"%s\"; did you mean \"slower\"?",
                       fail_on);
    st = call_finish(s, c, err);
    if (!st)
        st = open_both(s, c, rec, err);
    if (st)
        return st;
    struct control control;
    json_t *rows = compare_rows(rec[0], rec[1], &control);
    call_rows_json(s, c, rows, pair_columns);
    if (text)
        add_summary(c->out, rows, &control);
    st = answer(rows, fail_on != NULL, err);
    json_decref(rows);
    return st;
}
