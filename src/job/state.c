/* state.c - see state.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sanitize.h"

static const char *const state_names[] = {[JOB_STARTING] = "starting",
                                          [JOB_CHECKING] = "checking",
                                          [JOB_TIMING] = "timing",
                                          [JOB_DONE] = "done",
                                          [JOB_FAILED] = "failed",
                                          [JOB_CANCELLED] = "cancelled",
                                          NULL};

void told_clear(struct told *t)
{
    for (int i = 0; i < t->nrows; i++)
        json_decref(t->rows[i]);
    free(t->rows);
    json_decref(t->head);
    json_decref(t->extra);
    *t = (struct told){0};
}

/* ---- telling ---- */

static enum status send_part(struct wire *w, int id, json_t *o, struct err *err)
{
    json_object_set_new(o, "job", json_integer(id));
    const enum status st = wire_send(w, WIRE_STATE, o, -1, 0, err);
    json_decref(o);
    return st;
}

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

static json_t *head_of(const struct job *j)
{
    const double seconds = job_estimate_s(j);
    return json_pack("{s:s, s:o, s:o, s:o, s:b, s:b, s:o}", "state", state_names[job_state(j)],
                     "phase", text_or_null(job_phase(j)), "seconds",
                     isfinite(seconds) ? json_real(seconds) : json_null(), "error",
                     text_or_null(job_error(j)), "no_gpu", job_no_gpu(j), "killed",
                     job_was_killed(j), "failed", job_failed(j));
}

/* Takes `now` in the place of what was told. False: it is the same. */
static bool is_news(json_t **was, json_t *now)
{
    if (*was && json_equal(*was, now)) {
        json_decref(now);
        return false;
    }
    json_decref(*was);
    *was = now;
    return true;
}

static enum status send_row(struct told *t, const struct job *j, int i, int id, struct wire *w,
                            struct err *err)
{
    if (!is_news(&t->rows[i], record_to_json(run_fields, job_row(j, i))))
        return ST_OK;
    return send_part(w, id, json_pack("{s:i, s:O}", "entry", i, "row", t->rows[i]), err);
}

enum status told_send(struct told *t, const struct job *j, int id, struct wire *w, struct err *err)
{
    enum status st = ST_OK;
    if (!t->rows) {
        t->nrows = job_count(j);
        t->rows = xcalloc((size_t)t->nrows + 1, sizeof *t->rows);
    }
    for (int i = 0; i < t->nrows && !st; i++)
        st = send_row(t, j, i, id, w, err);
    if (!st && job_extra(j) && is_news(&t->extra, json_deep_copy(job_extra(j))))
        st = send_part(w, id, json_pack("{s:O}", "extra", t->extra), err);
    if (!st && is_news(&t->head, head_of(j)))
        st = send_part(w, id, json_copy(t->head), err);
    return st;
}

enum status told_refuse(int id, const char *sentence, struct wire *w, struct err *err)
{
    return send_part(w, id, json_pack("{s:s, s:s}", "state", "failed", "error", sentence), err);
}

/* ---- taking ---- */

static enum status take_row(struct job *j, json_t *o, struct err *err)
{
    /* To say where it ran, and what was asked. */
    static const char *const ours[] = {"host",  "kernel", "backend", "origin",
                                       "shape", "input",  "seed"};
    json_t *row = json_object_get(o, "row");
    const json_t *at = json_object_get(o, "entry");
    const json_int_t i = json_is_integer(at) ? json_integer_value(at) : -1;
    if (i < 0 || i >= j->request.nentries || !json_is_object(row))
        return err_set(err, ST_FAIL, "a row that is none of the job's");
    for (size_t k = 0; k < sizeof ours / sizeof *ours; k++)
        json_object_del(row, ours[k]);
    job_bound_texts(row);
    return record_from_json(run_fields, &j->rows[i], row, err) == ST_OK ? ST_OK : ST_FAIL;
}

static void take_text(char **member, const json_t *v)
{
    free(*member);
    *member = json_is_string(v) ? sanitize_line(json_string_value(v)) : NULL;
}

static int find_state(const char *name)
{
    for (int i = 0; name && state_names[i]; i++)
        if (!strcmp(name, state_names[i]))
            return i;
    return -1;
}

static enum status take_head(struct job *j, const json_t *o, bool *ended, enum job_state *state,
                             struct err *err)
{
    const int at = find_state(json_string_value(json_object_get(o, "state")));
    const json_t *seconds = json_object_get(o, "seconds");
    if (at < 0)
        return err_set(err, ST_FAIL, "a state that is none");
    *state = (enum job_state)at;
    *ended = *state >= JOB_DONE;
    if (!*ended)
        j->state = *state;
    take_text(&j->phase[LAUNCH], json_object_get(o, "phase"));
    take_text(&j->error, json_object_get(o, "error"));
    j->estimate_s[LAUNCH] = json_is_number(seconds) && json_number_value(seconds) >= 0
                                ? json_number_value(seconds)
                                : NAN;
    j->no_gpu = json_is_true(json_object_get(o, "no_gpu"));
    j->killed = json_is_true(json_object_get(o, "killed"));
    return job_take_failed(j, json_object_get(o, "failed"), err);
}

enum status told_take(struct job *j, json_t *o, bool *ended, enum job_state *state, struct err *err)
{
    json_t *extra = json_object_get(o, "extra");
    *ended = false;
    if (json_object_get(o, "row"))
        return take_row(j, o, err);
    if (extra && !json_is_object(extra))
        return err_set(err, ST_FAIL, "an extra that is none");
    if (extra) {
        json_decref(j->extra);
        j->extra = json_incref(extra);
        return ST_OK;
    }
    return take_head(j, o, ended, state, err);
}

/* ---- cut off ---- */

/* It has all that its job was to give, but for a verdict on its timed runs, which is given at the end. */
static bool is_complete(const struct job *j, int i)
{
    const struct run_row *row = &j->rows[i];
    const char *list = job_extra_list(j->request.kind);
    const json_t *item = json_array_get(json_object_get(j->extra, list), (size_t)i);
    if (list)
        return item && !json_is_null(item);
    return j->request.kind != JOB_RUN && (row->check || row->reason);
}

void told_cut(struct job *j, const char *sentence)
{
    for (int i = 0; i < j->request.nentries; i++) {
        struct run_row *row = &j->rows[i];
        const bool failed = run_row_failed(row);
        if (is_complete(j, i) || failed)
            continue;
        if (j->request.kind == JOB_RUN && row->check) {
            free(row->check); /* timed runs were not judged */
            row->check = NULL;
        }
        if (!row->reason)
            row->reason = xstrdup(sentence);
    }
    job_rank_rows(j);
    free(j->error);
    j->error = xstrdup(sentence);
    j->done = true;
}
