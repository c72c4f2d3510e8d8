/* foundry.c - see foundry.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/foundry.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "backend/compile/build.h"
#include "base/clock.h"
#include "base/mem.h"

enum { OWNERS_MAX = 8 };

/* Who wants it; `stale`: unless it asks again before the next dispatch. */
struct owner {
    const void *who;
    bool stale;
};

/* One code, by its key. */
struct cast {
    struct cubin_key key;
    struct foundry_answer answer; /* OPEN: nobody wants it now */
    char *why;                    /* of the answer; owned */
    struct job_request request;   /* what compiles it */
    uint64_t hash;                /* of the source */
    struct owner owners[OWNERS_MAX];
    int nowners;
    double due_s;    /* when it may begin, seconds_now() */
    struct job *job; /* NULL: it is not under way */
    int line;        /* which super has it */
};

struct foundry {
    struct super *lines[FOUNDRY_LINES]; /* made when they are first needed */
    char *worker;
    struct cast **casts;
    size_t n, cap;
    struct job *
        *retired; /* nobody's any more; freed by the dispatch after the one that ended them */
    size_t nretired, capretired;
    char *absent; /* why nothing of NVRTC's kind can be compiled here; NULL: it can */
    unsigned serial;
    bool off, held;
};

struct foundry *foundry_new(const char *worker)
{
    const char *word = getenv("ATTNSCOPE_COMPILE");
    struct foundry *f = xcalloc(1, sizeof *f);
    f->worker = worker ? xstrdup(worker) : NULL;
    f->off = word && !strcmp(word, "off");
    return f;
}

static void cast_free(struct cast *c)
{
    job_free(c->job);
    job_request_clear(&c->request);
    free(c->why);
    free(c);
}

/* Takes the code's job away from it; who waits for the job sees it end. */
static void retire(struct foundry *f, struct cast *c)
{
    if (!c->job)
        return;
    job_cancel(c->job); /* nothing, where it has ended */
    xgrow((void **)&f->retired, &f->capretired, f->nretired + 1, sizeof(struct job *));
    f->retired[f->nretired++] = c->job;
    c->job = NULL;
}

static void free_retired(struct foundry *f, bool all)
{
    for (size_t i = f->nretired; i-- > 0;)
        if (all || job_ended(f->retired[i])) {
            job_free(f->retired[i]);
            f->retired[i] = f->retired[--f->nretired];
        }
}

void foundry_free(struct foundry *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->n; i++)
        cast_free(f->casts[i]);
    free_retired(f, true);
    for (int i = 0; i < FOUNDRY_LINES; i++)
        super_free(f->lines[i]);
    free(f->retired);
    free(f->casts);
    free(f->worker);
    free(f->absent);
    free(f);
}

unsigned foundry_serial(const struct foundry *f)
{
    return f->serial;
}

/* ---- what a code is ---- */

/* False: its headers are too many to look at, so nobody can tell whether it is the same. */
static bool plan_key(const struct plan *p, int sm, struct cubin_key *key)
{
    char arch[BUILD_ARCH_MAX];
    char **words = plan_definitions(p);
    const struct build b = {.desc = p->desc,
                            .definitions = (const char *const *)words,
                            .arch = build_arch(p->desc, sm, arch)};
    const bool known = build_key(&b, "registers", key);
    code_words_free(words);
    return known;
}

static struct cast *find_cast(const struct foundry *f, struct cubin_key key)
{
    for (size_t i = 0; i < f->n; i++)
        if (!memcmp(&f->casts[i]->key, &key, sizeof key))
            return f->casts[i];
    return NULL;
}

static struct foundry_answer nothing(const char *why)
{
    return (struct foundry_answer){.state = FOUNDRY_NOTHING, .why = why};
}

struct foundry_answer foundry_look(struct foundry *f, const struct plan *p, int sm)
{
    struct cubin_key key;
    if (!p->npasses || !sm || !code_kinds[p->desc->code].compiled || p->desc->code == CODE_C)
        return nothing(NULL);
    if (f->off)
        return nothing("compiling is off (ATTNSCOPE_COMPILE)");
    if (f->absent && p->desc->code == CODE_NVRTC)
        return nothing(f->absent);
    if (!plan_key(p, sm, &key))
        return nothing("it includes too many headers to know whether one of them has changed");
    const struct cast *c = find_cast(f, key);
    return c ? c->answer : (struct foundry_answer){.state = FOUNDRY_OPEN};
}

/* ---- who wants what ---- */

static void fill_request(const struct plan *p, int sm, struct job_request *q)
{
    char params[1024];
    *q = (struct job_request){.kind = JOB_COMPILE, .sm = sm, .problem = PROBLEM_DEFAULT};
    options_init(&q->options);
    q->options.backend = xstrdup(backend_gpu()->name);
    q->problem.shape = p->shape;
    desc_params_format(p->desc, &p->params, false, params, sizeof params);
    q->entries = xcalloc(1, sizeof *q->entries);
    q->entries[0] = (struct job_entry){.kernel = xstrdup(p->desc->name), .params = xstrdup(params)};
    q->nentries = 1;
}

static struct cast *new_cast(struct foundry *f, struct cubin_key key, const struct plan *p, int sm)
{
    struct cast *c = xcalloc(1, sizeof *c);
    c->key = key;
    c->hash = desc_hash(p->desc);
    fill_request(p, sm, &c->request);
    xgrow((void **)&f->casts, &f->cap, f->n + 1, sizeof *f->casts);
    return f->casts[f->n++] = c;
}

static void add_owner(struct cast *c, const void *who)
{
    for (int i = 0; i < c->nowners; i++)
        if (c->owners[i].who == who) {
            c->owners[i].stale = false;
            return;
        }
    if (c->nowners < OWNERS_MAX)
        c->owners[c->nowners++] = (struct owner){.who = who};
}

void foundry_want(struct foundry *f, const void *owner, const struct plan *p, int sm,
                  double after_s)
{
    struct cubin_key key;
    const enum foundry_state state = foundry_look(f, p, sm).state;
    if (state == FOUNDRY_NOTHING || !plan_key(p, sm, &key))
        return;
    struct cast *c = find_cast(f, key);
    if (!c)
        c = new_cast(f, key, p, sm);
    add_owner(c, owner);
    const double due_s = seconds_now() + after_s;
    if (state == FOUNDRY_OPEN || due_s < c->due_s)
        c->due_s = due_s;
    if (state == FOUNDRY_OPEN)
        c->answer.state = FOUNDRY_WANTED;
}

void foundry_renew(struct foundry *f, const void *owner)
{
    for (size_t i = 0; i < f->n; i++)
        for (int k = 0; k < f->casts[i]->nowners; k++)
            if (f->casts[i]->owners[k].who == owner)
                f->casts[i]->owners[k].stale = true;
}

void foundry_count(const struct foundry *f, const void *owner, int *waiting, int *settled)
{
    int counts[2] = {0, 0};
    for (size_t i = 0; i < f->n; i++) {
        const struct cast *c = f->casts[i];
        for (int k = 0; k < c->nowners; k++)
            if (c->owners[k].who == owner && !c->owners[k].stale)
                counts[c->answer.state != FOUNDRY_WANTED]++;
    }
    if (waiting)
        *waiting = counts[0];
    if (settled)
        *settled = counts[1];
}

/* Nobody asked for it again: it is stopped, or leaves the queue. */
static void drop_unwanted(struct foundry *f, struct cast *c)
{
    for (int k = c->nowners - 1; k >= 0; k--)
        if (c->owners[k].stale)
            c->owners[k] = c->owners[--c->nowners];
    if (c->answer.state != FOUNDRY_WANTED || c->nowners)
        return;
    retire(f, c);
    c->answer.state = FOUNDRY_OPEN;
}

void foundry_hold(struct foundry *f, bool held)
{
    f->held = held;
    for (size_t i = 0; held && i < f->n; i++)
        retire(f, f->casts[i]);
}

bool foundry_is_held(const struct foundry *f)
{
    return f->held;
}

/* ---- answers ---- */

static int known_or(const json_t *o, const char *name)
{
    const json_t *v = json_object_get(o, name);
    const json_int_t n = json_is_integer(v) ? json_integer_value(v) : -1;
    return n >= 0 && n <= INT32_MAX ? (int)n : -1;
}

/* Every launch must have its registers. */
static bool take_figures(const json_t *passes, int npasses, struct plan_regs *regs)
{
    bool all = npasses > 0;
    for (int i = 0; i < DESC_PASSES_MAX; i++) {
        const json_t *p = json_array_get(passes, (size_t)i);
        regs->regs[i] = known_or(p, "regs");
        regs->spill_bytes[i] = known_or(p, "spill_bytes");
        regs->static_smem[i] = known_or(p, "static_smem");
        all &= i >= npasses || (regs->regs[i] > 0 && regs->regs[i] <= 255);
    }
    return all;
}

static void settle(struct cast *c, const char *why, bool refused)
{
    free(c->why);
    c->why = why ? xstrdup(why) : NULL;
    c->answer =
        (struct foundry_answer){.state = FOUNDRY_NOTHING, .why = c->why, .refused = refused};
}

static bool says(const json_t *o, const char *key, const char *word)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text && !strcmp(text, word);
}

/* The compiler's word on it. */
static void take_result(struct foundry *f, struct cast *c, const json_t *extra)
{
    const json_t *o = json_array_get(json_object_get(extra, "kernels"), 0);
    const char *compiler = json_string_value(json_object_get(extra, "compiler"));
    const char *reason = json_string_value(json_object_get(o, "reason"));
    const json_t *passes = json_object_get(o, "passes");
    char hash[24];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)c->hash);
    if (says(o, "outcome", "absent") && !compiler && !f->absent) /* for no device at all */
        f->absent = xstrdup(reason ? reason : "no compiler");
    if (!says(o, "outcome", "ok")) {
        settle(c, reason ? reason : "the worker gave no answer", says(o, "outcome", "error"));
        return;
    }
    if (!says(o, "source_hash", hash)) { /* saved again meanwhile: this is of another code */
        c->answer.state = FOUNDRY_OPEN;
        c->nowners = 0;
        return;
    }
    if (!take_figures(passes, (int)json_array_size(passes), &c->answer.regs)) {
        settle(c, "the compiler did not tell its registers", false);
        return;
    }
    c->answer.state = FOUNDRY_KNOWN;
    c->answer.regs.source = compiler && !strncmp(compiler, "nvcc", 4) ? "ptxas" : "nvrtc";
}

/* A job that somebody has cancelled is wanted by nobody. */
static void take_end(struct foundry *f, struct cast *c)
{
    const enum job_state state = job_state(c->job);
    if (state == JOB_CANCELLED) {
        c->answer.state = FOUNDRY_OPEN;
        c->nowners = 0;
    } else if (state == JOB_FAILED) {
        settle(c, job_error(c->job), false);
    } else {
        take_result(f, c, job_extra(c->job));
    }
    f->serial++;
    retire(f, c);
}

/* ---- the loop's side ---- */

static struct cast *on_line(const struct foundry *f, int line)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->casts[i]->job && f->casts[i]->line == line)
            return f->casts[i];
    return NULL;
}

/* The one whose turn it is, and in how many seconds; NULL: none waits. */
static struct cast *next_wanted(const struct foundry *f, double *wait_s)
{
    struct cast *next = NULL;
    for (size_t i = 0; i < f->n && !f->held; i++) {
        struct cast *c = f->casts[i];
        if (c->answer.state == FOUNDRY_WANTED && !c->job && (!next || c->due_s < next->due_s))
            next = c;
    }
    *wait_s = next ? fmax(0, next->due_s - seconds_now()) : INFINITY;
    return next;
}

/* The second worker is started where there is work for two. */
static bool start_lines(struct foundry *f)
{
    bool any = false;
    for (int line = 0; line < FOUNDRY_LINES; line++) {
        double wait_s;
        struct cast *c = on_line(f, line) ? NULL : next_wanted(f, &wait_s);
        if (!c || wait_s > 0)
            continue;
        if (!f->lines[line])
            f->lines[line] = super_new(f->worker);
        c->line = line;
        c->job = super_submit(f->lines[line], &c->request);
        any = true;
    }
    return any;
}

/* There is no compiler: who waits need not. */
static void settle_absent(struct foundry *f)
{
    for (size_t i = 0; f->absent && i < f->n; i++) {
        struct cast *c = f->casts[i];
        if (c->answer.state == FOUNDRY_WANTED && !c->job && c->nowners)
            settle(c, f->absent, false);
    }
}

bool foundry_dispatch(struct foundry *f)
{
    const unsigned before = f->serial;
    bool changed = false;
    free_retired(f, false);
    for (int i = 0; i < FOUNDRY_LINES; i++)
        changed |= f->lines[i] && super_dispatch(f->lines[i]);
    for (size_t i = 0; i < f->n; i++) {
        struct cast *c = f->casts[i];
        if (c->job && job_ended(c->job))
            take_end(f, c);
        drop_unwanted(f, c);
    }
    settle_absent(f);
    return start_lines(f) || changed || f->serial != before;
}

struct job *foundry_job(const struct foundry *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->casts[i]->job)
            return f->casts[i]->job;
    return NULL;
}

const char *foundry_kernel(const struct foundry *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->casts[i]->job)
            return f->casts[i]->request.entries[0].kernel;
    return "";
}

int foundry_fds(const struct foundry *f, struct pollfd *fds, int max)
{
    int n = 0;
    for (int i = 0; i < FOUNDRY_LINES; i++)
        if (f->lines[i])
            n += super_fds(f->lines[i], fds + n, max - n);
    return n;
}

/* Seconds until an owner's letting go must be heeded, or who waits has its turn and a line. */
static double work_wait(const struct foundry *f)
{
    double wait_s;
    int busy = 0;
    for (size_t i = 0; i < f->n; i++) {
        const struct cast *c = f->casts[i];
        busy += c->job != NULL;
        for (int k = 0; k < c->nowners; k++)
            if (c->owners[k].stale && c->answer.state == FOUNDRY_WANTED)
                return 0;
    }
    (void)next_wanted(f, &wait_s);
    return busy < FOUNDRY_LINES ? wait_s : INFINITY;
}

int foundry_timeout_ms(const struct foundry *f)
{
    const double wait_s = work_wait(f);
    int least = isinf(wait_s) ? -1 : (int)ceil(fmin(wait_s, 1e3) * 1e3);
    for (int i = 0; i < FOUNDRY_LINES && least; i++) {
        const int ms = f->lines[i] ? super_timeout_ms(f->lines[i]) : -1;
        if (ms >= 0 && (least < 0 || ms < least))
            least = ms;
    }
    return least;
}
