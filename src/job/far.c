/* far.c - jobs on another machine: what goes over the connection, and what comes back.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "job/far.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "job/state.h"

bool far_is_busy(const struct job *j, enum role role)
{
    return j && j->far && j->far == (int)role && !j->done;
}

/* The connection is up. */
static void send_far(struct crew *c, struct job *j)
{
    struct proc *p = &c->procs[j->far];
    struct err why = ERR_INIT;
    json_t *msg =
        json_pack("{s:i, s:o}", "job", j->id, "request", job_request_to_json(&j->request));
    if (j->request.remote.sources)
        json_object_set(msg, "sources", j->request.remote.sources);
    crew_hear_far(c, (enum role)j->far);
    if (wire_send(p->wire, WIRE_JOB, msg, -1, 0, &why) != ST_OK) {
        char *sentence = xasprintf("%s: %s", j->request.remote.name, why.text);
        told_cut(j, sentence);
        j->killed = true; /* cut since it said hello: as in far_lose() */
        free(sentence);
    }
    json_decref(msg);
}

enum status far_start(struct crew *c, struct job *j, struct err *err)
{
    enum role role;
    const enum status st = crew_need_far(c, &j->request.remote, &role, err);
    if (st)
        return st;
    j->far = (int)role;
    j->done = false;
    j->veteran = c->procs[role].greeted;
    free(j->phase[LAUNCH]);
    j->phase[LAUNCH] =
        xasprintf(j->veteran ? "asking %s" : "connecting to %s", j->request.remote.name);
    j->estimate_s[LAUNCH] = NAN;
    if (j->veteran)
        send_far(c, j);
    return ST_OK;
}

static enum status hear_hello(struct crew *c, enum role role, struct job *j, enum wire_type type,
                              const json_t *o, struct err *err)
{
    const enum status st = proc_greet(&c->procs[role], type, o, err);
    if (!st && far_is_busy(j, role))
        send_far(c, j);
    return st;
}

enum status far_hear(struct crew *c, enum role role, struct job *j, enum wire_type type, json_t *o,
                     struct far_news *news, struct err *err)
{
    crew_hear_far(c, role);
    if (!c->procs[role].greeted)
        return hear_hello(c, role, j, type, o, err);
    if (type == WIRE_ALIVE)
        return ST_OK;
    if (type != WIRE_STATE)
        return err_set(err, ST_FAIL, "%s out of turn", wire_type_name(type));
    if (!far_is_busy(j, role) || json_integer_value(json_object_get(o, "job")) != j->id)
        return ST_OK;
    const enum status st = told_take(j, o, &news->ended, &news->state, err);
    news->changed = true;
    if (!st && news->ended)
        j->done = true;
    return st;
}

/* The name of whose connection it is, as far as the job says. */
static const char *far_name(const struct crew *c, enum role role, const struct job *j)
{
    return j && j->far == (int)role ? j->request.remote.name : c->procs[role].far;
}

bool far_lose(struct crew *c, enum role role, struct job *j, const char *what)
{
    const bool hit = far_is_busy(j, role), anew = hit && j->state == JOB_STARTING && j->veteran,
               greeted = c->procs[role].greeted;
    char *sentence = crew_blame_far(c, role, far_name(c, role, j), what);
    str_addf(&c->log, "%s\n", sentence);
    crew_drop(c, role);
    if (hit && !anew) {
        told_cut(j, sentence);
        j->killed |= greeted; /* it was there: another try may find it there again */
    }
    free(sentence);
    return anew;
}

void far_cancel(struct crew *c, struct job *j)
{
    struct proc *p = &c->procs[j->far];
    struct err why = ERR_INIT;
    json_t *msg = json_pack("{s:i}", "job", j->id);
    if (!j->done && p->wire && p->greeted &&
        wire_send(p->wire, WIRE_CANCEL, msg, -1, 0, &why) != ST_OK)
        p->closed_since = seconds_now();
    json_decref(msg);
}
