/* serve_extra.c - what the launch worker does with a checked kernel besides timing it: stamps of its
 * blocks, and hardware counters.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/serve_extra.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job/serve_check.h"

struct traced {
    struct launch *launch;
    int entry;
};

static void say_run(void *ctx)
{
    const struct traced *t = ctx;
    peer_estimate(&t->launch->peer, PHASE_TRACE, t->entry, t->launch->entries[t->entry].once_s);
}

/* Runs entry i once more, with stamps; false in their place: there are none, the reason is in the
 * row. */
enum status launch_trace(struct launch *l, int i, struct err *err)
{
    struct traced traced = {l, i};
    const struct trace_watch watch = {say_run, &traced};
    struct entry *e = &l->entries[i];
    struct block_trace t = {0};
    if (!l->ops->trace)
        return err_set(err, ST_NO, "backend=%s takes no stamps of blocks", l->info->name);
    peer_estimate(&l->peer, PHASE_STAMPS, i, l->ops->load_s);
    enum status st = l->ops->trace(l->backend, e->slot, &watch, &t, err);
    json_array_set_new(l->traces, (size_t)i, st == ST_OK ? block_trace_to_json(&t) : json_false());
    block_trace_clear(&t);
    return st;
}

/* Runs entry i again and again, with counters on. What came before a failure is kept: the plan. */
enum status launch_profile(struct launch *l, int i, struct err *err)
{
    static const double replays = 100; /* a guess from above: 55 on H200 */
    const bool cold = !l->request.options.l2 || strcmp(l->request.options.l2, "hot") != 0;
    struct entry *e = &l->entries[i];
    if (!l->ops->profile)
        return err_set(err, ST_NO, "backend=%s has no counters; backend=%s has", l->info->name,
                       backend_simulator()->name);
    peer_estimate(&l->peer, PHASE_PROFILE, i, l->ops->load_s + replays * e->once_s);
    json_t *out = json_object();
    enum status st = l->ops->profile(l->backend, e->slot, cold, out, err);
    json_array_set_new(l->traces, (size_t)i, out);
    return st;
}

enum status launch_look(struct launch *l, int i, struct err *err)
{
    static const double flops_per_s = 2e8; /* below any machine that is usable; a block or two */
    enum status st = launch_load(l, i, err);
    if (st == ST_OK && !l->ops->look)
        st = err_set(err, ST_NO, "backend=%s cannot look into a kernel; backend=%s can",
                     l->info->name, backend_simulator()->name);
    if (st != ST_OK)
        return st;
    peer_estimate(&l->peer, PHASE_PROFILE, i,
                  l->ops->load_s + shape_flops(&l->request.problem.shape) / flops_per_s);
    json_t *out = json_object();
    st = l->ops->look(l->backend, l->entries[i].slot, &l->request.look, out, err);
    if (st == ST_USAGE)
        json_object_set_new(out, "usage", json_true());
    json_array_set_new(l->traces, (size_t)i, out);
    return st;
}

/* One ask, answered: the item of the list. */
static enum status answer(struct launch *l, int i, const json_t *frame, struct err *err)
{
    static const double answer_s = 5; /* until it says that it goes on */
    json_t *is = NULL, *number = json_object_get(frame, "number");
    char *text = json_dumps(json_object_get(frame, "ask"), JSON_COMPACT);
    l->peer.hushed = false;
    peer_estimate(&l->peer, PHASE_FIRST_RUN, i, answer_s);
    const enum status st = l->ops->debug(l->backend, l->entries[i].slot, text ? text : "",
                                         text ? strlen(text) : 0, &is, err);
    free(text);
    l->peer.hushed = false;
    if (st != ST_OK)
        return st;
    json_array_set_new(
        l->traces, (size_t)i,
        json_pack("{s:O, s:o}", "number", number ? number : json_null(), "answer", is));
    launch_send_rows(l, true);
    return ST_OK;
}

/* The next that is asked; NULL: nobody asks any more. */
static json_t *next_ask(struct launch *l)
{
    enum wire_type type;
    json_t *payload;
    int fd;
    while (peer_next(&l->peer, &type, &payload, &fd)) {
        if (fd >= 0)
            close(fd);
        if (type == WIRE_ASK && json_is_object(json_object_get(payload, "ask")))
            return payload;
        json_decref(payload);
        if (type == WIRE_ASK) /* to stop what is done already */
            continue;
        l->peer.cancelled |= type == WIRE_CANCEL;
        l->peer.gone |= type != WIRE_CANCEL;
        break;
    }
    return NULL;
}

enum status launch_debug(struct launch *l, int i, struct err *err)
{
    enum status st = launch_load(l, i, err);
    if (st == ST_OK && !l->ops->debug)
        st = err_set(err, ST_NO, "backend=%s cannot hold a block still; backend=%s can",
                     l->info->name, backend_simulator()->name);
    if (st != ST_OK)
        return st;
    json_array_set_new(l->traces, (size_t)i, json_pack("{s:i}", "number", 0));
    launch_send_rows(l, true);
    l->peer.answers = true;
    for (json_t *ask; st == ST_OK && (ask = next_ask(l));) {
        st = answer(l, i, ask, err);
        json_decref(ask);
    }
    l->peer.answers = false;
    return st;
}
