/* crew.c - see crew.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/crew.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/sanitize.h"

const char *const crew_roles[ROLES] = {[LAUNCH] = "launch", [JUDGE] = "judge"};

struct crew crew_new(const char *worker)
{
    struct crew c = {.given = worker ? xstrdup(worker) : NULL, .patience = 1};
    for (int role = 0; role < ROLES; role++)
        c.procs[role] = proc_none(crew_roles[role]);
    return c;
}

void crew_clear(struct crew *c, double seconds)
{
    for (int role = 0; role < ROLES; role++)
        crew_drop(c, (enum role)role);
    graveyard_clear(&c->graves, seconds);
    blame_clear(&c->blame);
    texts_clear(&c->hosted);
    str_free(&c->log);
    str_free(&c->clean_log);
    free(c->given);
}

enum status crew_need(struct crew *c, enum role role, struct err *err)
{
    struct proc *p = &c->procs[role];
    if (p->wire)
        return ST_OK;
    double wait = blame_wait(&c->blame, NULL, seconds_now());
    if (wait > 0)
        return err_set(err, ST_FAIL,
                       "the worker failed %d times within a minute and is not started again for "
                       "now; give the command again in %.0f s",
                       FAULTS_MAX, ceil(wait));
    char *path;
    enum status st = proc_find(c->given, &path, err);
    if (st != ST_OK)
        return st;
    st = proc_spawn(p, path, err);
    free(path);
    c->restarts += st == ST_OK && c->started[role];
    c->started[role] |= st == ST_OK;
    return st;
}

void crew_drop(struct crew *c, enum role role)
{
    proc_drop(&c->procs[role], &c->graves);
    if (role == LAUNCH)
        texts_clear(&c->hosted);
}

void crew_expect(struct crew *c, enum role role, double seconds)
{
    struct proc *p = &c->procs[role];
    p->silence = seconds * c->patience;
    p->deadline = seconds_now() + p->silence;
}

const char *crew_log(struct crew *c)
{
    str_clear(&c->clean_log);
    sanitize(&c->clean_log, str_text(&c->log), c->log.len, true);
    return str_text(&c->clean_log);
}

/* ---- kernels that are a danger ---- */

enum status crew_leave_out_guilty(struct crew *c, struct job *j, struct err *err)
{
    bool left = false;
    for (int i = 0; i < j->request.nentries; i++) {
        const char *name = j->request.entries[i].kernel;
        const double wait = blame_wait(&c->blame, name, seconds_now());
        if (wait > 0 && !j->entries[i].over) {
            err_set(err, ST_FAIL,
                    "%s: its process failed %d times within a minute, so it is not run for now; "
                    "give the command again in %.0f s",
                    name, FAULTS_MAX, ceil(wait));
            job_leave_out(j, i, err->text);
        }
        left |= !j->entries[i].over;
    }
    return left || !j->request.nentries ? ST_OK : ST_FAIL;
}

enum status crew_take_natives(struct crew *c, struct job *j, const json_t *list, struct err *err)
{
    if (!list)
        return ST_OK;
    if (job_take_natives(j, list, err) != ST_OK)
        return ST_FAIL;
    c->procs[LAUNCH].parent = true;
    for (int i = 0; i < j->request.nentries; i++)
        if (j->entries[i].native)
            texts_add(&c->hosted, j->request.entries[i].kernel);
    return ST_OK;
}

/* True when the job has it. */
static bool recognise(struct job *j, const char *kernel)
{
    bool found = false;
    for (int i = 0; i < j->request.nentries; i++)
        if (strcmp(kernel, j->request.entries[i].kernel) == 0)
            found = j->entries[i].native = j->entries[i].loaded = true;
    return found;
}

void crew_part_with_strangers(struct crew *c, struct job *j)
{
    for (size_t k = 0; k < c->hosted.n; k++)
        if (!recognise(j, c->hosted.v[k])) {
            crew_drop(c, LAUNCH);
            return;
        }
}
