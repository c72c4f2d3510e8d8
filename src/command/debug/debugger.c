/* debugger.c - see debugger.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/debug/debugger.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/clock.h"
#include "base/json_text.h"
#include "base/mem.h"
#include "base/record.h"
#include "base/sanitize.h"
#include "command/ask/measure.h"

struct debugger {
    struct session *session;
    struct super *super;
    struct measuring *job;
    struct debug_ask began;
    json_t *stop;
    int count;
    struct str words; /* "; until shared; step 3": what was told since it began */
    bool more;        /* there were too many to keep */
};
enum { WORDS_MOST = 400 }; /* bytes */

/* ---- life ---- */

static void drop(void *is)
{
    struct debugger *d = is;
    measure_drop(d->job);
    super_free(d->super);
    json_decref(d->stop);
    debug_clear(&d->began);
    str_free(&d->words);
    free(d);
}

struct debugger *debugger_of(const struct session *s)
{
    return s->services.debugger.is;
}

void debugger_end(struct session *s)
{
    services_drop_debugger(&s->services);
}

/* ---- waiting ---- */

/* What is awaited; number 0: that it may be asked. */
static bool is_here(const struct debugger *d, int number)
{
    const struct job *j = measure_job(d->job);
    return job_ended(j) || (number ? job_answer(j, number) != NULL : job_listens(j));
}

/* The front end may stop what goes on: once, and then the answer comes. While nothing was asked yet, it is given up. */
static void await(struct debugger *d, int number)
{
    enum { LOOK_MS = 50 };
    static const double patience_s = 0.3; /* keys that come meanwhile are not for us */
    const struct front *f = &d->session->front;
    const double began = seconds_now();
    struct job *j = measure_job(d->job);
    const int restarts = super_restarts(d->super);
    bool told = false;
    for (;;) {
        (void)super_dispatch(d->super);
        if (is_here(d, number))
            return;
        if (super_restarts(d->super) != restarts) /* another worker knows nothing of the block */
            job_cancel(j);
        if (!told && seconds_now() - began > patience_s && f->cancelled && f->cancelled(f->ctx)) {
            told = true;
            if (!number || !job_ask(j, NULL))
                job_cancel(j);
        }
        struct pollfd fds[SUPER_FDS_MAX];
        const int n = super_fds(d->super, fds, SUPER_FDS_MAX), ms = super_timeout_ms(d->super);
        poll(fds, (nfds_t)n, ms < 0 || ms > LOOK_MS ? LOOK_MS : ms);
    }
}

/* Why there is no answer. */
static enum status lost(const struct debugger *d, struct err *err)
{
    const struct job *j = measure_job(d->job);
    const struct run_row *row = job_row(j, 0);
    if (job_state(j) == JOB_CANCELLED)
        return err_set(err, ST_CANCELLED, "the debugger has ended");
    return err_set(err, ST_FAIL, "%s; the block is gone: debug %s holds it anew",
                   row->reason    ? row->reason
                   : job_error(j) ? job_error(j)
                                  : "the debugger's process has ended",
                   debugger_kernel(d)->name);
}

/* ---- asking ---- */

static enum status take(struct debugger *d, const json_t *answer, struct err *err)
{
    const double status = json_number_of(answer, "status");
    const char *error = json_text_of(answer, "error");
    if (!(status <= 0 && status >= 0)) {
        char *clean = sanitize_line(error ? error : "the answer makes no sense");
        err_set(err, status == ST_USAGE ? ST_USAGE : ST_FAIL, "%s", clean);
        free(clean);
        return status == ST_USAGE ? ST_USAGE : ST_FAIL;
    }
    json_decref(d->stop);
    d->stop = json_incref((json_t *)(uintptr_t)answer);
    d->count++;
    return ST_OK;
}

static void note_begin(struct debugger *d, const struct debug_ask *a)
{
    if (a->act == DEBUG_BEGIN) {
        debug_clear(&d->began);
        d->began = *a;
        d->began.pass = xstrdup_if(a->pass);
    }
    if (a->act == DEBUG_ORDER) {
        d->began.order = a->order;
        d->began.seed = a->seed;
    }
}

enum status debugger_ask(struct debugger *d, const struct debug_ask *a, struct err *err)
{
    struct session *s = d->session;
    struct job *j = measure_job(d->job);
    json_t *o = json_object();
    record_add_json(debug_fields, a, o);
    const int number = job_ask(j, o);
    json_decref(o);
    if (number)
        await(d, number);
    const json_t *answer = number ? job_answer(j, number) : NULL;
    if (answer) {
        const enum status st = take(d, answer, err);
        if (st == ST_OK)
            note_begin(d, a);
        return st;
    }
    const enum status st = lost(d, err);
    debugger_end(s);
    return st;
}

/* ---- starting ---- */

static enum status refuse(const struct request *r, struct err *err)
{
    struct err why = ERR_INIT;
    return measure_refuses(r, 0, &why) ? err_set(err, ST_USAGE, "%s", why.text) : ST_OK;
}

enum status debugger_start(struct session *s, const struct request *asked,
                           const struct debug_ask *begin, struct err *err)
{
    struct request r;
    request_copy(&r, asked);
    request_only(&r, 0);
    free(r.options.backend);
    r.options.backend = xstrdup(backend_simulator()->name);
    enum status st = refuse(&r, err);
    if (st == ST_OK) {
        debugger_end(s);
        struct debugger *d = xcalloc(1, sizeof *d);
        *d = (struct debugger){.session = s, .super = super_new(NULL), .began = DEBUG_NONE};
        const struct measure_how how = {
            .kind = JOB_DEBUG, .no_store = true, .verb = "debug", .super = d->super};
        d->job = measure_start(s, &r, &how);
        services_keep_debugger(&s->services, d, drop);
        if (!measure_job(d->job))
            st = err_set(err, ST_FAIL, "%s cannot be debugged here", r.kernels[0]->name);
        else
            await(d, 0);
        if (st == ST_OK && !job_listens(measure_job(d->job)))
            st = lost(d, err);
        if (st == ST_OK)
            st = debugger_ask(d, begin, err);
        if (st != ST_OK)
            debugger_end(s);
    }
    request_clear(&r);
    return st;
}

/* ---- looking ---- */

const json_t *debugger_stop(const struct debugger *d)
{
    return d->stop;
}

int debugger_count(const struct debugger *d)
{
    return d->count;
}

const struct request *debugger_request(const struct debugger *d)
{
    return measure_request(d->job);
}

const struct kernel *debugger_kernel(const struct debugger *d)
{
    return debugger_request(d)->kernels[0];
}

const struct kernel_desc *debugger_desc(const struct debugger *d)
{
    return debugger_request(d)->descs[0];
}

const struct debug_ask *debugger_began(const struct debugger *d)
{
    return &d->began;
}

static int64_t member(const struct debugger *d, const char *name)
{
    const json_t *v = json_object_get(d->stop, name);
    return json_is_integer(v) ? json_integer_value(v) : 0;
}

int debugger_warp(const struct debugger *d)
{
    return (int)member(d, "warp");
}

int debugger_lane(const struct debugger *d)
{
    return (int)member(d, "lane");
}

int64_t debugger_step(const struct debugger *d)
{
    return member(d, "step");
}

int64_t debugger_last(const struct debugger *d)
{
    return member(d, "last");
}

int debugger_warps(const struct debugger *d)
{
    return (int)json_array_size(json_object_get(d->stop, "warps"));
}

/* ---- how it came here ---- */

void debugger_note(struct debugger *d, const char *word, const char *rest)
{
    if (!word) {
        str_clear(&d->words);
        d->more = false;
        return;
    }
    d->more |= d->words.len + strlen(word) + strlen(rest) + 4 > WORDS_MOST;
    if (!d->more)
        str_addf(&d->words, "; %s%s%s", word, *rest ? " " : "", rest);
}

void debugger_line(const struct debugger *d, struct str *out)
{
    const struct debug_ask *a = &d->began;
    struct request r;
    request_copy(&r, debugger_request(d));
    free(r.options.backend); /* debug has no other */
    r.options.backend = NULL;
    request_command(&r, "debug", out);
    request_clear(&r);
    if (a->x || a->y || a->z)
        str_addf(out, " block=%lld,%lld,%lld", (long long)a->x, (long long)a->y, (long long)a->z);
    if (a->pass)
        str_addf(out, " pass=%s", a->pass);
    if (a->order && !strcmp(debug_orders[a->order], "seed"))
        str_addf(out, " order=%lld", (long long)a->seed);
    else if (a->order)
        str_addf(out, " order=%s", debug_orders[a->order]);
    str_addf(out, "%s%s", str_text(&d->words), d->more ? "; ..." : "");
}
