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
#include "base/str.h"

const char *const crew_roles[ROLES] = {
    [LAUNCH] = "launch", [JUDGE] = "judge", [FAR... ROLES - 1] = "remote"};

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

/* ---- connections to other machines ---- */

static const double connect_s = 30; /* for ssh and the far end's hello */
static const double ask_s = 5;      /* of silence before the line is asked about */
static const double answer_s = 15;  /* for the answer: what an honest line loses comes again */

/* Is it of use, as far as is known? */
static bool is_up(const struct proc *p)
{
    return p->wire && isnan(p->closed_since);
}

static int find_far(const struct crew *c, const char *key)
{
    for (int role = FAR; role < ROLES; role++)
        if (is_up(&c->procs[role]) && !strcmp(c->procs[role].far, key))
            return role;
    return -1;
}

/* A role without a connection, or else that of the one that was not used for longest. */
static int free_far(struct crew *c)
{
    int oldest = FAR;
    for (int role = FAR; role < ROLES; role++) {
        if (!is_up(&c->procs[role])) {
            oldest = role;
            break;
        }
        if (c->procs[role].turn < c->procs[oldest].turn)
            oldest = role;
    }
    crew_drop(c, (enum role)oldest);
    return oldest;
}

/* As a kernel that takes processes down is, a machine that cannot be reached is left alone for a while. */
static char *blamed_name(const char *name)
{
    return xasprintf("@%s", name);
}

static enum status may_try(const struct crew *c, const char *name, struct err *err)
{
    char *blamed = blamed_name(name);
    const double wait = blame_wait(&c->blame, blamed, seconds_now());
    free(blamed);
    return wait > 0 ? err_set(err, ST_FAIL,
                              "%s could not be reached %d times within a minute and is left alone "
                              "for now; give the command again in %.0f s, and see doctor host=%s",
                              name, FAULTS_MAX, ceil(wait), name)
                    : ST_OK;
}

static enum status connect_far(struct crew *c, const struct remote *r, char *key, int role,
                               struct err *err)
{
    char **argv = NULL;
    enum status st = may_try(c, r->name, err);
    if (!st)
        st = remote_argv(r, "--serve", &argv, err);
    if (!st)
        st = proc_spawn_stream(&c->procs[role], argv, err);
    remote_argv_free(argv);
    if (st)
        return st;
    c->procs[role].far = xstrdup(key);
    crew_expect(c, (enum role)role, connect_s);
    c->restarts += c->started[role];
    c->started[role] = true;
    return ST_OK;
}

enum status crew_need_far(struct crew *c, const struct remote *r, enum role *role, struct err *err)
{
    char *key = remote_key(r);
    int at = find_far(c, key);
    enum status st = ST_OK;
    if (at < 0) {
        at = free_far(c);
        st = connect_far(c, r, key, at, err);
    }
    c->procs[at].turn = ++c->turns;
    *role = (enum role)at;
    free(key);
    return st;
}

void crew_hear_far(struct crew *c, enum role role)
{
    struct proc *p = &c->procs[role];
    p->deadline = INFINITY;
    p->alive_at = seconds_now() + ask_s;
}

void crew_ask_far(struct crew *c, enum role role)
{
    struct proc *p = &c->procs[role];
    struct err why = ERR_INIT;
    if (!is_up(p) || seconds_now() < p->alive_at)
        return;
    p->alive_at = INFINITY;
    crew_expect(c, role, answer_s);
    if (wire_send(p->wire, WIRE_ALIVE, NULL, -1, 0, &why) != ST_OK)
        p->closed_since = seconds_now();
}

char *crew_blame_far(struct crew *c, enum role role, const char *name, const char *what)
{
    const bool greeted = c->procs[role].greeted;
    char *blamed = blamed_name(name);
    if (!greeted)
        blame_add(&c->blame, blamed, seconds_now());
    free(blamed);
    if (!greeted &&
        (str_starts(what, "ended with status 127") || str_starts(what, "ended with status 126")))
        return xasprintf("%s: attnscope cannot be started there; install it, or say where it is: "
                         "host %s USER@MACHINE /path/of/attnscope (ssh %s)",
                         name, name, what);
    if (!greeted && str_starts(what, "sent nonsense"))
        return xasprintf(
            "%s: what answers there is not attnscope, or something else is said before it, as by a "
            "line of ~/.bashrc: the connection %s",
            name, what);
    return xasprintf("%s: the connection %s%s", name, what,
                     greeted ? "; the next command connects again" : "");
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
