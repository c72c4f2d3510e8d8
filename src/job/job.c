/* job.c - a job's state and rows.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/job.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "base/str.h"

static const double silence_s = 5; /* allowed without an estimate */
static const double estimate_factor = 10;

/* ---- accessors ---- */

enum job_state job_state(const struct job *j)
{
    return j->state;
}

bool job_ended(const struct job *j)
{
    return j->state >= JOB_DONE;
}

int job_count(const struct job *j)
{
    return j->request.nentries;
}

const struct run_row *job_row(const struct job *j, int i)
{
    int n = j->request.nentries;
    return &j->rows[i >= 0 && i < n ? i : n];
}

json_t *job_extra(const struct job *j)
{
    return j->extra;
}

const char *job_error(const struct job *j)
{
    return j->error;
}

bool job_no_gpu(const struct job *j)
{
    return j->no_gpu;
}

bool job_was_killed(const struct job *j)
{
    return j->killed;
}

/* The role that the job waits for; ROLES when it is none in particular. */
static enum role awaited(const struct job *j)
{
    if (job_ended(j))
        return ROLES;
    return !j->done && !(j->ready && j->unjudged) ? LAUNCH : JUDGE;
}

const char *job_phase(const struct job *j)
{
    enum role role = awaited(j);
    return role != ROLES && j->phase[role] ? j->phase[role] : "";
}

bool job_waits(const struct job *j)
{
    return str_starts(job_phase(j), wire_phase_name(PHASE_QUEUE));
}

double job_estimate_s(const struct job *j)
{
    enum role role = awaited(j);
    return role != ROLES && j->phase[role] ? j->estimate_s[role] : NAN;
}

/* ---- life ---- */

static char *input_text(const struct problem *p)
{
    return p->input == INPUT_FILES ? xasprintf("%s,%s,%s", p->files[0], p->files[1], p->files[2])
                                   : xstrdup(input_names[p->input]);
}

/* What the request alone says, so that a row is labelled whatever happens. */
static void label_row(struct run_row *row, const struct job_request *r, const struct job_entry *e)
{
    const struct backend_info *b = backend_info(r->options.backend);
    char shape[SHAPE_TEXT];
    shape_format(&r->problem.shape, shape, sizeof shape);
    row->kernel = xstrdup(e->kernel);
    row->params = xstrdup(e->params ? e->params : "");
    row->backend = xstrdup(r->options.backend);
    row->origin = b ? xstrdup(b->origin) : NULL;
    row->shape = xstrdup(shape);
    row->host = xstrdup_if(r->remote.name);
    row->input = input_text(&r->problem);
    row->seed = (int64_t)r->problem.seed;
    if (r->kind == JOB_RUN)
        row->l2 = xstrdup(r->options.l2);
}

struct job *job_new(struct super *s, int id, const struct job_request *r)
{
    struct job *j = xcalloc(1, sizeof *j);
    j->super = s;
    j->id = id;
    job_request_copy(&j->request, r);
    j->entry = -1;
    j->done = true;
    j->cancel_by = INFINITY;
    j->asked = -1;
    j->entries = xcalloc((size_t)r->nentries + 1, sizeof *j->entries);
    j->rows = xcalloc((size_t)r->nentries + 1, sizeof *j->rows);
    for (int i = 0; i <= r->nentries; i++)
        record_init(run_fields, &j->rows[i]), j->entries[i].output = -1;
    for (int i = 0; i < r->nentries; i++)
        label_row(&j->rows[i], &j->request, &j->request.entries[i]);
    return j;
}

void job_drop_output(struct job *j, int i)
{
    if (j->entries[i].output >= 0)
        close(j->entries[i].output);
    j->entries[i].output = -1;
}

void job_destroy(struct job *j)
{
    for (int i = 0; i <= j->request.nentries; i++) {
        record_clear(run_fields, &j->rows[i]);
        job_drop_output(j, i);
    }
    while (j->nextras)
        job_drop_extra(j, (int)j->nextras - 1);
    free(j->extras);
    json_decref(j->judged);
    free(j->rows);
    free(j->entries);
    free(j->phase[LAUNCH]);
    free(j->phase[JUDGE]);
    free(j->error);
    json_decref(j->extra);
    job_request_clear(&j->request);
    free(j);
}

/* ---- patience and blame ---- */

double job_silence(const struct job *j, double seconds, bool run)
{
    double limit = j->request.options.timeout_s;
    if (limit > 0 && run)
        return limit;
    return fmax(limit > 0 ? limit : silence_s, estimate_factor * seconds);
}

static bool in_phase(const struct job *j, enum role role, enum wire_phase phase)
{
    return role == LAUNCH && j->phase[role] && str_starts(j->phase[role], wire_phase_name(phase));
}

/* "tracing": what is neither the check nor its timing; NULL: one of these. */
static const char *doing_more(const struct job *j, enum role role)
{
    static const enum wire_phase more[] = {PHASE_PROFILE, PHASE_STAMPS, PHASE_TRACE};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (in_phase(j, role, more[i]))
            return wire_phase_name(more[i]);
    return NULL;
}

char *job_fault_sentence(const struct job *j, enum role role, const char *what)
{
    static const char *const doing[] = {
        [JOB_STARTING] = "starting", [JOB_CHECKING] = "checking", [JOB_TIMING] = "timing"};
    const char *who = role == LAUNCH ? "worker" : "judge", *own = doing_more(j, role);
    int entry = role == LAUNCH ? job_suspect(j) : job_judged_entry(j);
    if (entry >= 0)
        return xasprintf("%s: the %s %s while %s", j->request.entries[entry].kernel, who, what,
                         own ? own : doing[j->state]);
    bool known = j->phase[role] && j->state == JOB_CHECKING && !j->ready;
    return xasprintf("the %s %s while %s", who, what, known ? j->phase[role] : doing[j->state]);
}

void job_announce(struct job *j, enum role role, enum wire_phase phase, int entry, double seconds)
{
    if (role == LAUNCH)
        j->entry = entry;
    if (role == LAUNCH && entry >= 0)
        j->entries[entry].loaded = true;
    const char *kernel = entry >= 0 && role == LAUNCH ? j->request.entries[entry].kernel : NULL;
    free(j->phase[role]);
    j->phase[role] = xasprintf("%s%s%s", wire_phase_name(phase),
                               !kernel                  ? ""
                               : wire_phase_runs(phase) ? " of "
                                                        : " ",
                               kernel ? kernel : "");
    j->estimate_s[role] = seconds > 0 ? seconds : NAN;
}

/* "waiting for the GPU: place 2 of 3, about 12 s", "waiting for the GPU, which python3 (process 7) uses" */
void job_announce_queue(struct job *j, const struct job_queue *q)
{
    struct str s = {0};
    char *program = q->program ? sanitize_line(q->program) : NULL;
    str_add(&s, wire_phase_name(PHASE_QUEUE));
    if (q->ahead >= 0 && q->others >= q->ahead)
        str_addf(&s, ": place %d of %d", q->ahead + 1, q->others + 1);
    else
        str_addf(&s, ", which %s uses", program ? program : "another measurement");
    if (q->wait_s > 0 && q->wait_s < 1e6)
        str_addf(&s, ", about %.0f s", ceil(q->wait_s));
    free(program);
    free(j->phase[LAUNCH]);
    j->phase[LAUNCH] = str_take(&s);
    j->estimate_s[LAUNCH] = NAN;
}

/* ---- after a worker's end ---- */

/* A remark gives way to the sentence; why the check failed does not. */
static void set_reason(struct run_row *row, const char *sentence)
{
    if (row->reason && run_row_failed(row))
        return;
    free(row->reason);
    row->reason = xstrdup(sentence);
}

static void set_error(struct job *j, const char *sentence)
{
    if (!j->error)
        j->error = xstrdup(sentence);
}

/* The worker has sent what it traced or counted of entry i, or that it could not. */
static bool has_extra(const struct job *j, int i)
{
    const json_t *list = json_object_get(j->extra, job_extra_list(j->request.kind)),
                 *item = json_array_get(list, (size_t)i);
    return item && !json_is_null(item);
}

/* Nothing more is to come for entry i: it cannot run, or was only to be checked, or is timed. Pairs
 * are different: they are samples of one round, so all entries go on together. */
static bool is_over(const struct job *j, int i)
{
    const struct entry_state *e = &j->entries[i];
    const struct run_row *row = &j->rows[i];
    if (e->over || (row->reason && !e->seen))
        return true;
    if (job_extra_list(j->request.kind))
        return has_extra(j, i);
    if (j->request.kind !=
        JOB_RUN) /* a checked one runs again behind the output that was seen first */
        return e->seen && (j->request.kind != JOB_CHECK || j->entry != i);
    return j->state == JOB_TIMING && !j->request.interleave && row->stopped;
}

/* But for the one that the judge has. */
static void drop_extras_of(struct job *j, int entry)
{
    for (int i = (int)j->nextras; i-- > 0;)
        if (j->extras[i].entry == entry && i != j->asked) {
            job_drop_extra(j, i);
            j->asked -= j->asked > i;
        }
}

/* A remark gives way. */
static void fail_row(struct run_row *row, char *reason)
{
    free(row->check);
    row->check = xstrdup("fail");
    free(row->reason);
    row->reason = reason;
}

/* Without a verdict on all of its outputs it has none. */
static void doubt_row(struct job *j, int entry)
{
    struct run_row *row = &j->rows[entry];
    if (!j->entries[entry].doubted || run_row_failed(row))
        return;
    free(row->check);
    row->check = NULL;
}

/* Whose output has come and who then was lost in a further run (of another seed or shape, without LSE, timed) does not
 * pass: it has failed where the fault was its own, and else nobody knows. */
static void lose_entry(struct job *j, int i, bool own_fault)
{
    struct run_row *row = &j->rows[i];
    struct entry_state *e = &j->entries[i];
    if ((j->request.kind != JOB_RUN && j->request.kind != JOB_CHECK) || !(e->seen || row->check))
        return;
    if (own_fault && row->reason && !run_row_failed(row))
        fail_row(row, xstrdup(row->reason));
    e->doubted = true;
    doubt_row(j, i);
    job_rank_rows(j);
}

/* True when any entry is left. */
static bool forget_worker(struct job *j)
{
    bool left = false;
    for (int i = 0; i < j->request.nentries; i++) {
        struct entry_state *e = &j->entries[i];
        e->over = is_over(j, i);
        e->seen = e->loaded = false;
        left |= !e->over;
        if (!e->over) /* they will come again */
            drop_extras_of(j, i);
    }
    j->state = JOB_STARTING;
    j->ready = false;
    j->clocks = (struct lateness){0};
    j->entry = -1;
    free(j->phase[LAUNCH]);
    j->phase[LAUNCH] = NULL;
    return left;
}

/* It is in the present worker. */
static bool is_here(const struct job *j, int i)
{
    return !j->entries[i].over && !j->entries[i].later;
}

static int count_here(const struct job *j)
{
    int n = 0;
    for (int i = 0; i < j->request.nentries; i++)
        n += is_here(j, i);
    return n;
}

int job_suspect(const struct job *j)
{
    if (j->entry >= 0 && !is_over(j, j->entry))
        return j->entry;
    for (int i = 0; i < j->request.nentries && count_here(j) == 1; i++)
        if (is_here(j, i) && j->entries[i].native)
            return i;
    return -1;
}

bool job_is_doubtful(const struct job *j)
{
    const int suspect = job_suspect(j);
    bool others = false; /* whose threads may be at work there */
    for (int i = 0; i < j->request.nentries; i++)
        others |= i != suspect && j->entries[i].native && j->entries[i].loaded;
    return !j->apart && others && count_here(j) > 1;
}

/* It ran several, and did not say which it was at. */
bool job_is_puzzling(const struct job *j)
{
    return job_suspect(j) < 0 && j->entry < 0 && j->ready && !j->careful;
}

bool job_set_apart(struct job *j)
{
    j->apart = true;
    j->careful = false;
    return forget_worker(j);
}

void job_explain_apart(struct job *j)
{
    for (int i = 0; i < j->request.nentries && j->apart && j->request.interleave; i++) {
        struct run_row *row = &j->rows[i];
        if (!row->reason && row->median_us > 0)
            row->reason = xstrdup("measured in a process of its own, so there is no ratio: the one "
                                  "in which the kernels took turns failed");
    }
}

bool job_next_part(struct job *j)
{
    bool waiting = false;
    for (int i = 0; i < j->request.nentries; i++) {
        struct entry_state *e = &j->entries[i];
        e->over |= is_here(j, i);
        waiting |= e->later && !e->over;
    }
    if (waiting)
        forget_worker(j);
    return waiting;
}

/* Who runs next where natives are set apart: all others together, else the first native one. */
static void choose_part(struct job *j)
{
    int first = -1;
    bool others = false;
    for (int i = 0; i < j->request.nentries; i++) {
        const struct entry_state *e = &j->entries[i];
        others |= !e->over && !e->native;
        if (!e->over && e->native && first < 0)
            first = i;
    }
    for (int i = 0; i < j->request.nentries; i++)
        j->entries[i].later = j->apart && j->entries[i].native && (others || i != first);
}

json_t *job_skipped(struct job *j)
{
    json_t *list = json_array();
    choose_part(j);
    for (int i = 0; i < j->request.nentries; i++)
        if (!is_here(j, i))
            json_array_append_new(list, json_integer(i));
    return list;
}

enum status job_take_natives(struct job *j, const json_t *list, struct err *err)
{
    size_t at;
    const json_t *v;
    if (list && !json_is_array(list))
        return err_set(err, ST_FAIL, "natives are no list");
    json_array_foreach(list, at, v)
    {
        const json_int_t i = json_is_integer(v) ? json_integer_value(v) : -1;
        if (i < 0 || i >= j->request.nentries)
            return err_set(err, ST_FAIL, "natives that are no entries");
        j->entries[i].native = true;
    }
    return ST_OK;
}

bool job_go_on(struct job *j, const char *sentence)
{
    const int suspect = job_suspect(j);
    const bool known = suspect >= 0;
    const bool puzzling = job_is_puzzling(j);
    if (known) {
        set_reason(&j->rows[suspect], sentence);
        lose_entry(j, suspect, false);
        j->entries[suspect].over = true;
        set_error(j, sentence);
    }
    j->careful = puzzling; /* the next one will say which kernel comes */
    return (known || puzzling || j->entry >= 0) && forget_worker(j);
}

void job_leave_out(struct job *j, int i, const char *sentence)
{
    set_reason(&j->rows[i], sentence);
    j->entries[i].over = true;
    set_error(j, sentence);
}

bool job_go_on_without(struct job *j, int entry, bool fault)
{
    const struct run_row *row = &j->rows[entry];
    const bool caught = run_row_failed(row); /* which its row says; the job has done what it can */
    lose_entry(j, entry, fault);
    j->entries[entry].over = j->entries[entry].failed = true;
    if (fault && !caught)
        set_error(j, row->reason ? row->reason : "the GPU process was lost");
    return forget_worker(j);
}

enum status job_take_failed(struct job *j, const json_t *list, struct err *err)
{
    size_t at;
    const json_t *v;
    json_array_foreach(list, at, v)
    {
        const json_int_t i = json_is_integer(v) ? json_integer_value(v) : -1;
        if (i < 0 || i >= j->request.nentries)
            return err_set(err, ST_FAIL, "failed entries that are none");
        j->entries[i].failed = true;
    }
    return ST_OK;
}

json_t *job_failed(const struct job *j)
{
    json_t *list = json_array();
    for (int i = 0; i < j->request.nentries; i++)
        if (j->entries[i].failed)
            json_array_append_new(list, json_integer(i));
    return list;
}

bool job_entry_failed(const struct job *j, int i)
{
    return i >= 0 && i < j->request.nentries && j->entries[i].failed;
}

void job_give_up(struct job *j, const char *sentence)
{
    for (int i = 0; i < j->request.nentries; i++)
        if (!is_over(j, i))
            set_reason(&j->rows[i], sentence);
    set_error(j, sentence);
    j->done = true;
}

/* ---- outputs at the judge ---- */

int job_judged_entry(const struct job *j)
{
    int oldest = -1;
    for (int i = 0; i < j->request.nentries; i++)
        if (j->entries[i].unjudged && (oldest < 0 || j->entries[i].turn < j->entries[oldest].turn))
            oldest = i;
    return oldest;
}

void job_leave_unjudged(struct job *j, int i, const char *sentence)
{
    j->unjudged -= j->entries[i].unjudged;
    j->entries[i].unjudged = 0;
    job_drop_output(j, i);
    if (j->rows[i].check) /* it was judged before */
        return;
    set_reason(&j->rows[i], sentence);
    set_error(j, sentence);
}

/* ---- further outputs ---- */

/* Only contents and lengths differ from what was asked for. */
static bool is_near(const struct problem *asked, const struct problem *p)
{
    const struct shape *a = &asked->shape, *s = &p->shape;
    return s->dtype == a->dtype && s->causal == a->causal && s->layout == a->layout &&
           s->D == a->D && s->H <= a->H && p->input == asked->input;
}

enum status job_keep_extra(struct job *j, int entry, const char *what, json_t *problem, int fd,
                           struct err *err)
{
    enum { EXTRAS_MAX = 4 };
    struct problem p = PROBLEM_DEFAULT;
    int before = 0;
    for (size_t i = 0; i < j->nextras; i++)
        before += j->extras[i].entry == entry;
    enum status st = problem_from_json(&p, problem, err);
    if (st == ST_OK && (before >= EXTRAS_MAX || !is_near(&j->request.problem, &p)))
        st = err_set(err, ST_FAIL, "an output of another problem");
    problem_clear(&p);
    if (st != ST_OK)
        return ST_FAIL;
    xgrow((void **)&j->extras, &j->capextras, j->nextras + 1, sizeof *j->extras);
    j->extras[j->nextras++] = (struct extra_output){.entry = entry,
                                                    .what = sanitize_line(what),
                                                    .problem = json_incref(problem),
                                                    .fd = fcntl(fd, F_DUPFD_CLOEXEC, 0)};
    return ST_OK;
}

void job_drop_extra(struct job *j, int i)
{
    struct extra_output *x = &j->extras[i];
    free(x->what);
    json_decref(x->problem);
    if (x->fd >= 0)
        close(x->fd);
    memmove(x, x + 1, (j->nextras - (size_t)i - 1) * sizeof *x);
    j->nextras--;
}

int job_next_extra(const struct job *j)
{
    if (!j->nextras || (j->state == JOB_TIMING && !j->done))
        return -1;
    for (size_t i = 0; i < j->nextras && j->judged; i++)
        if (json_equal(j->extras[i].problem, j->judged))
            return (int)i;
    return 0;
}

/* "with B=1 H=1 S=1025 D=64 f16 seed=7, " where that is another problem than the row's. */
static char *problem_words(const struct job *j, const struct extra_output *x)
{
    struct problem p = PROBLEM_DEFAULT;
    char shape[SHAPE_TEXT], *out = xstrdup("");
    if (problem_from_json(&p, x->problem, NULL) == ST_OK &&
        !shape_equal(&p.shape, &j->request.problem.shape)) {
        free(out);
        shape_format(&p.shape, shape, sizeof shape);
        out = xasprintf(" (%s seed=%llu)", shape, (unsigned long long)p.seed);
    }
    problem_clear(&p);
    return out;
}

void job_take_extra_verdict(struct job *j, int i, const json_t *verdict)
{
    const struct extra_output *x = &j->extras[i];
    struct run_row *row = &j->rows[x->entry];
    const char *check = json_string_value(json_object_get(verdict, "check")),
               *reason = json_string_value(json_object_get(verdict, "reason"));
    if (check && strcmp(check, "pass") != 0 && !run_row_failed(row)) {
        char *where = problem_words(j, x), *clean = sanitize_line(reason ? reason : check);
        fail_row(row, xasprintf("%s is wrong%s: %s", x->what, where, clean));
        j->entries[x->entry].elsewhere = true;
        free(where);
        free(clean);
    }
    job_rank_rows(j);
    job_drop_extra(j, i);
}

void job_leave_extra(struct job *j, int i, const char *sentence)
{
    const int entry = j->extras[i].entry;
    struct run_row *row = &j->rows[entry];
    j->entries[entry].doubted = true;
    if (!run_row_failed(row)) {
        free(row->reason);
        row->reason = xasprintf("%s: %s was not judged: %s", j->request.entries[entry].kernel,
                                j->extras[i].what, sentence);
    }
    doubt_row(j, entry);
    set_error(j, sentence);
    job_rank_rows(j);
    job_drop_extra(j, i);
}

/* ---- rows ---- */

static const char *const check_fields[] = {
    "max_diff",       "mean_diff",     "rms_diff", "baseline_max_diff", "error_ratio",
    "rounding_ratio", "lse_max_diff",  "worst",    "checked_rows",      "total_rows",
    "check",          "pair_max_diff", "bad_rows", "bad_pct",           "first_bad",
    "error_map",      "causes",        NULL,
};

static bool is_check_field(const char *name)
{
    for (int i = 0; check_fields[i]; i++)
        if (strcmp(name, check_fields[i]) == 0)
            return true;
    return false;
}

/* The launch worker has caught a kernel at something: that it may say. */
static bool tells_failure(const char *name, json_t *value, enum role role)
{
    const char *text = json_string_value(value);
    return role == LAUNCH && strcmp(name, "check") == 0 && text && strcmp(text, "fail") == 0;
}

/* Leaves in `row` what this role may say. A reason may come from both: why there is no figure, or
 * why the check failed; then the judge's word stands, but for a hazard that was seen, which is the cause. What has failed
 * once has failed. */
static void keep_own_fields(json_t *row, enum role role, bool check_failed)
{
    const char *name;
    json_t *value;
    void *next;
    check_failed &= role != LAUNCH || !json_is_string(json_object_get(row, "hazard"));
    json_object_foreach_safe(row, next, name, value)
    {
        bool reason = strcmp(name, "reason") == 0, check = strcmp(name, "check") == 0;
        bool own = is_check_field(name) == (role == JUDGE) || tells_failure(name, value, role);
        if (check_failed && (reason || check) ? true : !reason && !own)
            json_object_del(row, name);
    }
}

static bool is_right(const struct run_row *row)
{
    return row->check && strcmp(row->check, "pass") == 0;
}

void job_rank_rows(struct job *j)
{
    const struct run_row *base = &j->rows[0];
    for (int i = 0; i < j->request.nentries; i++) {
        struct run_row *row = &j->rows[i];
        bool ranked = is_right(row) && is_right(base);
        row->speedup = ranked ? base->median_us / row->median_us : REAL_UNKNOWN;
        if (ranked)
            continue;
        row->ratio = row->ratio_lo = row->ratio_hi = REAL_UNKNOWN;
        free(row->verdict);
        free(row->verdict_reason);
        row->verdict = row->verdict_reason = NULL;
    }
}

void job_bound_texts(json_t *row)
{
    enum { TEXT_MAX = 64 << 10 };
    const char *name;
    json_t *value;
    json_object_foreach(row, name, value)
    {
        size_t len = json_string_length(value);
        if (len <= TEXT_MAX)
            continue;
        const char *text = json_string_value(value);
        for (len = TEXT_MAX; len && (text[len] & 0xC0) == 0x80;) /* not within a character */
            len--;
        char *cut = xasprintf("%.*s ...", (int)len, text);
        json_string_set(value, cut);
        free(cut);
    }
}

static enum status take_row(struct job *j, int i, json_t *row, enum role role, struct err *err)
{
    if (!json_is_object(row))
        return err_set(err, ST_FAIL, "a row is no object");
    const bool cut = role == LAUNCH && json_is_true(json_object_get(row, "unfinished"));
    j->entries[i].doubted |= cut;
    keep_own_fields(row, role, run_row_failed(&j->rows[i]));
    job_bound_texts(row);
    const enum status st = record_from_json(run_fields, &j->rows[i], row, err);
    doubt_row(j, i);
    if (cut && j->rows[i].reason)
        set_error(j, j->rows[i].reason);
    return st == ST_OK ? ST_OK : ST_FAIL;
}

enum status job_take_rows(struct job *j, json_t *rows, struct err *err)
{
    if (!json_is_array(rows) || json_array_size(rows) != (size_t)j->request.nentries)
        return err_set(err, ST_FAIL, "the rows are not those of the job");
    enum status st = ST_OK;
    for (int i = 0; st == ST_OK && i < j->request.nentries; i++)
        st = take_row(j, i, json_array_get(rows, (size_t)i), LAUNCH, err);
    job_rank_rows(j);
    return st;
}

/* What was found on another problem gives way to the same on the row's own: its map and its causes are of that. */
static void forget_failure(struct job *j, int entry)
{
    struct run_row *row = &j->rows[entry];
    free(row->check);
    free(row->reason);
    row->check = row->reason = NULL;
    j->entries[entry].elsewhere = false;
}

enum status job_take_verdict(struct job *j, int entry, json_t *row, struct err *err)
{
    if (j->entries[entry].doubted) /* why is in its reason */
        json_object_del(row, json_is_null(json_object_get(row, "reason")) ? "reason" : "");
    const char *check = json_string_value(json_object_get(row, "check"));
    if (j->entries[entry].elsewhere && check && !strcmp(check, "fail"))
        forget_failure(j, entry);
    enum status st = take_row(j, entry, row, JUDGE, err);
    job_rank_rows(j);
    return st;
}

/* ---- clocks ---- */

void job_hear_clock(struct job *j, double theirs, pid_t pid)
{
    const double now = seconds_now();
    if (j->state == JOB_TIMING && theirs > 0)
        lateness_hear(&j->clocks, now, theirs, waited_for_core(pid) + waited_for_core(0));
}

/* Ours is the clock of a process in which no kernel runs. */
void job_judge_clock(struct job *j)
{
    double told;
    if (!lateness_found(&j->clocks, &told))
        return;
    for (int i = 0; i < j->request.nentries; i++)
        if (j->rows[i].n > 0 && !run_row_failed(&j->rows[i]))
            fail_row(&j->rows[i],
                     xasprintf("%.2f s passed in its process by its clock while %.2f s "
                               "passed outside: the times are not true",
                               told, j->clocks.passed));
    job_rank_rows(j);
}

/* ---- what is over, and what must be done again ---- */

/* The first kernel's output is what the others are compared with, so it stays. */
static bool is_base(const struct job *j, int i)
{
    return i == 0 && j->request.nentries > 1;
}

bool job_take_answer(struct job *j, int i)
{
    j->unjudged--;
    if (--j->entries[i].unjudged == 0 && !is_base(j, i))
        job_drop_output(j, i);
    return j->unjudged > 0;
}

bool job_take_back(struct job *j)
{
    bool any = false;
    for (int i = 0; i < j->request.nentries; i++) {
        struct entry_state *e = &j->entries[i];
        e->again = e->unjudged > 0;
        e->unjudged = 0;
        any |= e->again;
    }
    j->unjudged = 0;
    if (any && is_base(j, 0) && j->entries[0].output >= 0)
        j->entries[0].again = true;
    return any;
}

void job_take_extra(struct job *j, json_t *extra)
{
    const char *list = job_extra_list(j->request.kind);
    json_t *old = list ? json_object_get(j->extra, list) : NULL,
           *items = list ? json_object_get(extra, list) : NULL;
    size_t i;
    json_t *item;
    json_array_foreach(old, i, item)
    {
        if (json_is_null(json_array_get(items, i)))
            json_array_set(items, i, item);
    }
    json_decref(j->extra);
    j->extra = json_is_object(extra) ? json_incref(extra) : NULL;
}

/* ---- asking ---- */

const json_t *job_answer(const struct job *j, int number)
{
    const char *list = job_extra_list(j->request.kind);
    const json_t *item = list ? json_array_get(json_object_get(j->extra, list), 0) : NULL;
    const json_t *is = json_object_get(item, "number");
    return number && json_is_integer(is) && json_integer_value(is) == number
               ? json_object_get(item, "answer")
               : NULL;
}

bool job_listens(const struct job *j)
{
    return j->request.kind == JOB_DEBUG && j->super && !job_ended(j) && j->ready && !j->done &&
           isinf(j->cancel_by) && (!j->asks || job_answer(j, j->asks));
}
