/* plan_here.c - see plan_here.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/plan_here.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "command/ask/consent.h"
#include "job/foundry.h"
#include "store/recall.h"

/* ---- what is known ---- */

/* Of a run of this very code: its source, type, D and parameters. A row has one figure, so of a kernel with
 * one launch. */
static bool recorded_regs(struct session *s, const struct plan *p, struct plan_regs *regs)
{
    char params[1024], hash[24];
    if (p->npasses != 1 || !recall_has_gpu(session_recall(s), p->device))
        return false;
    desc_params_format(p->desc, &p->params, false, params, sizeof params);
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)desc_hash(p->desc));
    const struct recall_query q = {.kernel = p->desc->name,
                                   .gpu = p->device,
                                   .params = params,
                                   .l2 = "cold",
                                   .hash = hash,
                                   .shape = p->shape};
    const struct recalled it = recall_find(session_recall(s), &q);
    if (!it.row || it.old || !it.row->hash || it.row->regs <= 0 || it.row->regs > 255 ||
        desc_compiled_d(it.row->shape.D) != desc_compiled_d(p->shape.D) ||
        it.row->shape.dtype != p->shape.dtype)
        return false;
    *regs = (struct plan_regs){.regs = {(int)it.row->regs},
                               .spill_bytes = {-1},
                               .static_smem = {-1},
                               .source = "recorded"};
    return true;
}

/* Why nobody knows them. */
static char *say_unknown(const struct foundry *f, const struct foundry_answer *a)
{
    switch (a->state) {
    case FOUNDRY_WANTED:
        return xstrdup(foundry_is_held(f) ? "it is compiled when nothing is timed any more"
                                          : "it is being compiled");
    case FOUNDRY_OPEN:
        return xstrdup("it was not compiled here");
    default:
        return a->why ? xstrdup(a->why) : NULL;
    }
}

/* plan_build() or plan_brief(). */
typedef enum status builder(const struct kernel_desc *d, const struct shape *s,
                            const struct param_values *v, const struct device *dev,
                            const struct plan_regs *regs, struct plan *out, struct err *why);

static enum status here(struct session *s, builder *build, const struct kernel_desc *d,
                        const struct shape *shape, const struct param_values *v,
                        const struct device *dev, struct plan *out, struct err *why)
{
    enum status st = build(d, shape, v, dev, NULL, out, why);
    if (!plan_lacks_regs(out))
        return st;
    struct foundry *f = session_foundry(s);
    struct foundry_answer a = foundry_look(f, out, dev->cc);
    if (a.state != FOUNDRY_KNOWN && !recorded_regs(s, out, &a.regs)) {
        out->regs_reason = say_unknown(f, &a);
        return st;
    }
    plan_clear(out);
    return build(d, shape, v, dev, &a.regs, out, why);
}

enum status plan_here(struct session *s, const struct kernel_desc *d, const struct shape *shape,
                      const struct param_values *v, const struct device *dev, struct plan *out,
                      struct err *why)
{
    return here(s, plan_build, d, shape, v, dev, out, why);
}

enum status plan_here_brief(struct session *s, const struct kernel_desc *d,
                            const struct shape *shape, const struct param_values *v,
                            const struct device *dev, struct plan *out, struct err *why)
{
    return here(s, plan_brief, d, shape, v, dev, out, why);
}

/* ---- asking ---- */

unsigned plans_serial(const struct session *s)
{
    return s->services.foundry ? foundry_serial(s->services.foundry) : 0;
}

int plans_awaited(const struct session *s, const void *owner)
{
    int waiting = 0;
    if (s->services.foundry)
        foundry_count(s->services.foundry, owner, &waiting, NULL);
    return waiting;
}

void plans_forget(struct session *s, const void *owner)
{
    if (s->services.foundry)
        foundry_renew(s->services.foundry, owner);
}

bool plan_is_awaited(struct session *s, const struct plan *p)
{
    return plan_lacks_regs(p) &&
           foundry_look(session_foundry(s), p, p->device->cc).state == FOUNDRY_WANTED;
}

bool plan_is_refused(struct session *s, const struct plan *p)
{
    return plan_lacks_regs(p) && foundry_look(session_foundry(s), p, p->device->cc).refused;
}

void plan_want(struct session *s, const void *owner, const struct plan *p)
{
    static const double settle_s = 0.1; /* before a screen measures */
    if (plan_lacks_regs(p) && consent_compiles(s, p->desc))
        foundry_want(session_foundry(s), owner, p, p->device->cc, owner == s ? 0 : settle_s);
}

void plans_ask(struct session *s, const void *owner, const struct request *r,
               const struct device *dev)
{
    for (int i = 0; dev && i < r->nkernels; i++) {
        struct plan p;
        if (!r->kernels[i]->cuda)
            continue;
        (void)plan_here_brief(s, r->kernels[i]->cuda, &r->problem.shape, &r->params[i], dev, &p,
                              NULL);
        plan_want(s, owner, &p);
        plan_clear(&p);
    }
}

/* ---- waiting ---- */

/* "compiling fa2, 3 of 12" */
static void say_doing(struct session *s, int waiting, int settled)
{
    const char *kernel = foundry_kernel(session_foundry(s));
    if (!s->front.doing)
        return;
    char *text = xasprintf("compiling %s, %d of %d; Ctrl-C stops that", kernel, settled + 1,
                           waiting + settled);
    s->front.doing(s->front.ctx, *kernel ? text : "starting a compiler");
    free(text);
}

/* One turn of a front end without a loop of its own. */
static void turn(struct foundry *f)
{
    enum { LOOK_MS = 50 };
    struct pollfd fds[FOUNDRY_FDS_MAX];
    const int n = foundry_fds(f, fds, FOUNDRY_FDS_MAX), ms = foundry_timeout_ms(f);
    poll(fds, (nfds_t)n, ms < 0 || ms > LOOK_MS ? LOOK_MS : ms);
}

/* False: the user has enough. */
static bool wait_for_some(struct session *s, struct foundry *f)
{
    const struct front *front = &s->front;
    struct job *job = foundry_job(f);
    if (front->wait && job) {
        front->wait(front->ctx, NULL, job);
        return job_state(job) != JOB_CANCELLED;
    }
    if (!front->wait)
        turn(f);
    return !session_cancelled(s);
}

void plans_wait(struct session *s)
{
    struct foundry *f = session_foundry(s);
    bool on = true;
    int waiting, settled;
    foundry_dispatch(f);
    if (s->paints)
        return;
    for (foundry_count(f, s, &waiting, &settled); waiting && on && !foundry_is_held(f);
         foundry_count(f, s, &waiting, &settled)) {
        say_doing(s, waiting, settled);
        on = wait_for_some(s, f);
        foundry_dispatch(f);
    }
    if (s->front.doing)
        s->front.doing(s->front.ctx, NULL);
    if (waiting)
        session_note(s,
                     "%d of %d kernels are not compiled%s: figures that hang on their registers "
                     "are bounds",
                     waiting, waiting + settled, on ? ", as something is timed" : "");
    foundry_renew(f, s);
    foundry_dispatch(f);
}

void plans_compile(struct session *s, const struct request *r, const struct device *dev)
{
    plans_ask(s, s, r, dev);
    plans_wait(s);
}

enum status plan_compiled(struct session *s, const struct kernel_desc *d, const struct shape *shape,
                          const struct param_values *v, const struct device *dev, struct plan *out,
                          struct err *why)
{
    enum status st = plan_here(s, d, shape, v, dev, out, why);
    if (!plan_lacks_regs(out))
        return st;
    plan_want(s, s, out);
    plans_wait(s);
    plan_clear(out);
    return plan_here(s, d, shape, v, dev, out, why);
}
