/* launch.c - the launch worker's own: the job under way, its backend, its inputs, its rows.
 *
 * The backend and the inputs stay from job to job while they are the same, so that an edit of a
 * parameter costs no new inputs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/launch.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/kin.h"
#include "base/mem.h"
#include "base/str.h"
#include "job/inputs.h"
#include "job/nodes.h"

/* Below any machine that is still usable, for estimates; the supervisor allows ten times. */
static const double inputs_per_s = 2e7, flops_per_s = 5e8;

/* ---- rows ---- */

static json_t *entry_row(const struct entry *e)
{
    json_t *row = peer_row(&e->row);
    if (e->unfinished)
        json_object_set_new(row, "unfinished", json_true());
    return row;
}

json_t *launch_rows(const struct launch *l)
{
    json_t *rows = json_array();
    for (int i = 0; i < l->request.nentries; i++)
        json_array_append_new(rows, entry_row(&l->entries[i]));
    return rows;
}

void launch_send_rows(struct launch *l, bool ready)
{
    json_t *o = json_pack("{s:o, s:b}", "rows", launch_rows(l), "ready", ready);
    if (job_extra_list(l->request.kind)) /* safe from what the next kernel does to us */
        json_object_set_new(o, "extra",
                            json_pack("{s:O}", job_extra_list(l->request.kind), l->traces));
    peer_send(&l->peer, WIRE_ROWS, o, -1);
}

void launch_set_text(char **member, const char *value)
{
    free(*member);
    *member = value ? xstrdup(value) : NULL;
}

static void set_time(struct run_row *row)
{
    char buf[32];
    time_t t = time(NULL);
    struct tm tm;
    strftime(buf, sizeof buf, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &tm));
    launch_set_text(&row->time, buf);
}

/* Puts what the backend says into the row. */
static void take_fields(struct run_row *row, json_t *more)
{
    struct err why = ERR_INIT;
    if (record_from_json(run_fields, row, more, &why) != ST_OK)
        launch_set_text(&row->reason, why.text);
    json_decref(more);
}

void launch_describe(struct launch *l, struct entry *e)
{
    if (l->ops->describe)
        take_fields(&e->row, l->ops->describe(l->backend, e->slot));
}

void launch_tell_outcome(struct launch *l, struct entry *e)
{
    json_t *o = l->ops->outcome ? l->ops->outcome(l->backend, e->slot) : NULL;
    e->unfinished = json_is_true(json_object_get(o, "unfinished"));
    if (o)
        take_fields(&e->row, o);
}

/* What the worker knows about a row before it runs. */
void launch_describe_params(const struct launch *l, const struct kernel_desc *d,
                            const struct param_values *v, struct run_row *row)
{
    char params[512], hash[24];
    desc_params_format(d, v, false, params, sizeof params);
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)desc_hash(d));
    launch_set_text(&row->params, params);
    launch_set_text(&row->source_hash, hash);
    if (l->request.problem.shape.page)
        launch_set_text(&row->kv,
                        desc_pages(d, &l->request.problem.shape) ? "pages" : "contiguous");
    launch_set_text(&row->device, l->ops->device_name(l->backend));
    set_time(row);
    if (l->ops->describe_machine)
        take_fields(row, l->ops->describe_machine(l->backend));
}

/* ---- backend and inputs ---- */

void launch_close(struct launch *l)
{
    gpu_lock_free(l->lock);
    l->lock = NULL;
    procstate_free(l->state);
    l->state = NULL;
    if (l->backend)
        l->ops->close(l->backend);
    l->backend = NULL;
    l->has_inputs = false;
    free(l->again);
    l->again = NULL;
    l->again_bytes = 0;
}

double launch_run_s(const struct shape *s)
{
    return shape_flops(s) / flops_per_s;
}

/* Code that hands out blocks without end gets on, too, so that alone is no proof for ever. */
static bool takes_too_long(const struct launch *l, double seconds)
{
    static const double least_s = 60, factor = 10;
    return l->info->times && seconds > fmax(least_s, factor * launch_run_s(&l->problem.shape));
}

/* A long run is no hang: it says how long it may yet take, as far as is known: no longer than it was given, or
 * has taken. */
static bool run_goes_on(void *ctx, double share, double seconds)
{
    static const double news_s = 0.5;
    struct launch *l = ctx;
    const double now = seconds_now(),
                 left = share > 0 ? seconds / share - seconds : fmax(seconds, l->peer.estimate_s);
    if (now - l->told > news_s && !takes_too_long(l, seconds)) {
        peer_goes_on(&l->peer, fmax(left, news_s));
        l->told = now;
    }
    return !peer_stop(&l->peer);
}

/* Without it measurements do not queue; that is said in the log and stops nothing. */
static void open_lock(struct launch *l)
{
    struct err why = ERR_INIT;
    if (gpu_lock_open(l->ops->lock_name(l->backend), &l->lock, &why) != ST_OK)
        fprintf(stderr, "%s\n", why.text);
}

enum status launch_need_backend(struct launch *l, struct err *err)
{
    const struct backend_info *info = backend_info(l->request.options.backend);
    const bool apart = l->request.options.nodes && info && info->gpu;
    const struct backend_ops *ops =
        apart ? &backend_nodes : backend_find(l->request.options.backend);
    struct backend_options asked = options_backend(&l->request.options), *o = &asked;
    asked.counting = l->request.kind == JOB_PROFILE;
    if (!ops)
        return err_set(err, ST_USAGE, "unknown backend %s", l->request.options.backend);
    bool same = l->backend && ops == l->ops && !apart && o->device == l->options.device &&
                o->threads == l->options.threads && o->streams == l->options.streams &&
                o->launch == l->options.launch && o->blocks == l->options.blocks &&
                o->hazards == l->options.hazards && o->without == l->options.without &&
                o->gpus == l->options.gpus && o->shards == l->options.shards &&
                o->transport == l->options.transport &&
                !memcmp(o->devices, l->options.devices, sizeof o->devices) &&
                o->sim_s == l->options.sim_s && o->cc == l->options.cc &&
                !strcmp(o->ptx_from, l->options.ptx_from) &&
                (ops->sample || o->counting == l->options.counting);
    if (same)
        return ST_OK;
    launch_close(l);
    l->watch = (struct run_watch){run_goes_on, l};
    l->ops = ops;
    l->info = backend_info(l->request.options.backend);
    l->options = *o;
    if (ops->load_s > 0)
        peer_estimate(&l->peer, PHASE_OPEN, -1, ops->load_s);
    enum status st = ops->open(o, &l->backend, err);
    if (st == ST_OK && ops->lock_name)
        open_lock(l);
    if (st == ST_OK && ops->watch)
        ops->watch(l->backend, &l->watch);
    return st;
}

/* Files may have changed since they were read, so they are read for every job. */
enum status launch_need_inputs(struct launch *l, struct err *err)
{
    return launch_set_inputs(l, &l->request.problem, err);
}

enum status launch_set_inputs(struct launch *l, const struct problem *p, struct err *err)
{
    const struct shape *s = &p->shape;
    if (l->has_inputs && p->input != INPUT_FILES && problem_equal(p, &l->problem))
        return ST_OK;
    l->has_inputs = false;
    enum status st = shape_check_memory(s, mem_available_bytes(), err);
    if (st != ST_OK)
        return st;
    struct tensors t;
    double elements = (double)shape_q_elems(s) + 2 * (double)shape_kv_elems(s);
    peer_estimate(&l->peer, PHASE_INPUTS, -1, elements / inputs_per_s);
    st = job_inputs_make(NULL, p, &t, err);
    if (st != ST_OK)
        return st;
    st = l->ops->set_inputs(l->backend, p, &t, err);
    tensors_free(&t);
    problem_copy(&l->problem, p);
    l->has_inputs = st == ST_OK;
    return st;
}

bool launch_goes_on(const struct launch *l)
{
    return l->lost < 0 && !l->doubtful;
}

bool launch_is_spent(const struct launch *l)
{
    return l->backend && l->ops->spent && l->ops->spent(l->backend);
}

void launch_fail(struct launch *l, struct entry *e, enum status st, const struct err *why)
{
    launch_set_text(&e->row.reason, why->text);
    if (why->caught)
        launch_set_text(&e->row.check, "fail");
    launch_blame(l, e, st);
}

void launch_blame(struct launch *l, const struct entry *e, enum status st)
{
    if (l->lost < 0 && (st == ST_FAIL || launch_is_spent(l)))
        l->lost = (int)(e - l->entries);
}

/* Who loses its parent becomes ours: worker.c has asked for that. So what one that is ended leaves is found
 * in the next round. */
int launch_end_new_children(const pid_t *before, int n)
{
    enum { MANY = 4096, ROUNDS = 100 };
    pid_t now[MANY]; /* a kernel that leaves one at every call leaves many */
    int found = 0;
    bool more = kin_has_children();
    for (int round = 0; more && round < ROUNDS; round++) {
        more = false;
        for (int count = kin_children(now, MANY), i = 0; i < count; i++) {
            bool known = false;
            for (int k = 0; k < n; k++)
                known = known || before[k] == now[i];
            if (known)
                continue;
            found = (int)now[i];
            more = true;
            kill(now[i], SIGKILL);
            waitpid(now[i], NULL, 0);
        }
    }
    return found;
}

bool launch_is_native(const struct launch *l, int i)
{
    const struct kernel *k;
    if (registry_get(l->registry, l->request.entries[i].kernel, &k, NULL) != ST_OK)
        return false;
    const struct kernel_desc *d = backend_desc(l->info, k);
    return d && (d->code == CODE_LIBRARY || (k->user && d->code == CODE_C));
}

int launch_count_natives(const struct launch *l)
{
    int n = 0;
    for (int i = 0; i < l->request.nentries; i++)
        n += l->entries[i].foreign;
    return n;
}

void launch_know_process(struct launch *l)
{
    procstate_free(l->state);
    l->state = procstate_take();
    procstate_add_threads(l->state);
}

const struct kernel_desc *launch_desc(const struct launch *l, int i)
{
    const struct kernel *k;
    return registry_get(l->registry, l->request.entries[i].kernel, &k, NULL) == ST_OK
               ? backend_desc(l->info, k)
               : NULL;
}

static bool is_python(const struct launch *l, int i)
{
    const struct kernel_desc *d = launch_desc(l, i);
    return d && (d->code == CODE_PYTHON || d->code == CODE_PEER);
}

void launch_announce_code(struct launch *l)
{
    json_t *natives = json_array();
    bool starts = false;
    for (int i = 0; l->info && i < l->request.nentries; i++) {
        if (l->entries[i].skip)
            continue;
        if (launch_is_native(l, i))
            json_array_append_new(natives, json_integer(i));
        starts |= is_python(l, i);
    }
    starts |= json_array_size(natives) > 0;
    if (starts)
        peer_send(&l->peer, WIRE_ESTIMATE,
                  json_pack("{s:i, s:f, s:s, s:O}", "entry", -1, "seconds", 0.0, "phase",
                            wire_phase_name(PHASE_OPEN), "natives", natives),
                  -1);
    json_decref(natives);
}

enum status launch_params(const struct kernel_desc *d, const struct shape *s, const char *text,
                          struct param_values *v, struct err *err)
{
    char *copy = xstrdup(text ? text : ""), *rest = copy;
    enum status st = ST_OK;
    *v = desc_defaults_for(d, s);
    for (char *word; st == ST_OK && (word = strtok_r(rest, " ", &rest));) {
        char *equals = strchr(word, '=');
        if (!equals) {
            st = err_set(err, ST_USAGE, "parameter %s has no value", word);
            break;
        }
        *equals = '\0';
        st = desc_param_set(d, v, word, equals + 1, err);
    }
    free(copy);
    return st;
}
