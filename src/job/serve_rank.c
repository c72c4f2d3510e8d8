/* serve_rank.c - a node of a ring over several machines: some of its GPUs, as it is asked (nodes.h).
 *
 * A question is a frame ASK {do: its word, ...}, the answer a frame DONE {status, error, ...}. Whoever asks has no other
 * way to end what is under way than to close the connection: a thread watches it and ends the process then, in the
 * middle of whatever it waits for. GPUs are locked from the first question about them to the end.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/cuda/cuda.h"
#include "backend/cuda/nccl.h"
#include "base/clock.h"
#include "base/mem.h"
#include "job/gpu_lock.h"
#include "job/launch.h"
#include "job/nodes.h"
#include "job/peer.h"
#include "job/serve.h"
#include "kernel/registry.h"

static const double lock_wait_s = 60;

struct loaded {
    int number; /* as who asks calls it */
    struct slot *slot;
};
struct rank_end {
    struct wire *wire;
    struct registry *registry;
    struct backend *backend;
    struct gpu_lock *lock;
    double lock_until;
    struct problem problem;
    struct backend_options options;
    struct ring ring; /* of the problem, for rows */
    struct loaded *slots;
    size_t nslots, capslots;
    unsigned char
        *packed; /* rows of the last output or LSE that was fetched, its guards before them */
    size_t packed_bytes;
};

/* ---- questions ---- */

typedef enum status answer_fn(struct rank_end *x, const json_t *ask, json_t *say, struct err *err);

static int number_of(const json_t *o, const char *name)
{
    return (int)json_integer_value(json_object_get(o, name));
}

static enum status make_id(struct rank_end *x, const json_t *ask, json_t *say, struct err *err)
{
    struct nccl_id id;
    char version[32];
    const bool first = number_of(ask, "rank") == 0; /* its id is everybody's */
    (void)x;
    const enum status st = nccl_make_id(first ? &id : NULL, version, sizeof version, err);
    if (st != ST_OK)
        return st;
    char *text = first ? nodes_to_text(&id, sizeof id) : NULL;
    json_object_set_new(say, "id", text ? json_string(text) : json_null());
    json_object_set_new(say, "nccl", json_string(version));
    free(text);
    return ST_OK;
}

static bool wait_for_lock(void *ctx, const struct gpu_place *p)
{
    const struct rank_end *x = ctx;
    (void)p;
    return seconds_now() < x->lock_until;
}

/* One measurement at a time on these GPUs. Nobody waits for ever: two rings may wait for each other's. */
static enum status take_lock(struct rank_end *x, struct err *err)
{
    struct err why = ERR_INIT;
    if (gpu_lock_open(backend_cuda.lock_name(x->backend), &x->lock, &why) != ST_OK) {
        fprintf(stderr, "%s\n", why.text);
        return ST_OK;
    }
    x->lock_until = seconds_now() + lock_wait_s;
    return gpu_lock_take(x->lock, wait_for_lock, x)
               ? ST_OK
               : err_set(err, ST_NO, "others have measured on these GPUs for %.0f s", lock_wait_s);
}

static enum status open_ranks(struct rank_end *x, const json_t *ask, json_t *say, struct err *err)
{
    const json_t *list = json_object_get(ask, "devices");
    struct backend_options *o = &x->options;
    char *id = nodes_from_text(json_string_value(json_object_get(ask, "id")), sizeof o->world_id);
    *o = (struct backend_options){.streams = 1,
                                  .gpus = number_of(ask, "gpus"),
                                  .world = number_of(ask, "world"),
                                  .rank = number_of(ask, "rank"),
                                  .shards = number_of(ask, "shards"),
                                  .transport = TRANSPORT_NCCL};
    if (!id || x->backend || o->world < 2 || o->world > BACKEND_GPUS_MAX || o->gpus < 1 ||
        o->rank < 0 || o->gpus > o->world - o->rank || json_array_size(list) != (size_t)o->gpus) {
        free(id);
        return err_set(err, ST_USAGE, "no such ranks");
    }
    memcpy(o->world_id, id, sizeof o->world_id);
    free(id);
    for (int i = 0; i < o->gpus; i++)
        o->devices[i] = (int)json_integer_value(json_array_get(list, (size_t)i));
    o->device = o->devices[0];
    const enum status st = backend_cuda.open(o, &x->backend, err);
    if (st != ST_OK)
        return st;
    json_object_set_new(say, "device", json_string(backend_cuda.device_name(x->backend)));
    json_object_set_new(say, "sm", json_integer(backend_cuda.sm(x->backend)));
    return take_lock(x, err);
}

static enum status set_inputs(struct rank_end *x, const json_t *ask, json_t *say, struct err *err)
{
    struct tensors t;
    struct problem p = {0};
    (void)say;
    enum status st = problem_from_json(&p, json_object_get(ask, "problem"), err);
    if (st == ST_OK && p.input == INPUT_FILES)
        st = err_set(err, ST_USAGE, "files of another machine are not here");
    if (st == ST_OK)
        st = ring_build(&p.shape, x->options.world, (enum ring_shards)x->options.shards,
                        p.shape.dtype, &x->ring, err);
    if (st == ST_OK)
        st = tensors_make(&p, &t, err);
    if (st == ST_OK) {
        st = backend_cuda.set_inputs(x->backend, &p, &t, err);
        tensors_free(&t);
    }
    x->nslots = 0; /* they went with the inputs before */
    problem_clear(&x->problem);
    x->problem = p;
    return st;
}

static enum status load(struct rank_end *x, const json_t *ask, json_t *say, struct err *err)
{
    const char *name = json_string_value(json_object_get(ask, "kernel")),
               *params = json_string_value(json_object_get(ask, "params")),
               *hash = json_string_value(json_object_get(ask, "hash"));
    const struct kernel *k;
    struct param_values v;
    char ours[24];
    (void)say;
    enum status st = registry_get(x->registry, name ? name : "", &k, err);
    if (st == ST_OK && !k->cuda)
        st = err_set(err, ST_NO, "%s does not exist for CUDA", name);
    if (st != ST_OK)
        return st;
    snprintf(ours, sizeof ours, "%016llx", (unsigned long long)desc_hash(k->cuda));
    if (!hash || strcmp(hash, ours) != 0)
        return err_set(err, ST_NO, "%s is another source there than here", name);
    st = launch_params(k->cuda, &x->problem.shape, params, &v, err);
    struct slot *slot = NULL;
    if (st == ST_OK)
        st = backend_cuda.load(x->backend, k, &v, &slot, err);
    if (st != ST_OK)
        return st;
    xgrow((void **)&x->slots, &x->capslots, x->nslots + 1, sizeof *x->slots);
    x->slots[x->nslots++] = (struct loaded){number_of(ask, "slot"), slot};
    return ST_OK;
}

static struct loaded *find_slot(struct rank_end *x, const json_t *ask)
{
    for (size_t i = 0; i < x->nslots; i++)
        if (x->slots[i].number == number_of(ask, "slot"))
            return &x->slots[i];
    return NULL;
}

static enum status unload(struct rank_end *x, const json_t *ask, json_t *say, struct err *err)
{
    struct loaded *s = find_slot(x, ask);
    (void)say, (void)err;
    if (s) {
        backend_cuda.unload(x->backend, s->slot);
        *s = x->slots[--x->nslots];
    }
    return ST_OK;
}

/* What is asked about a kernel that is loaded. */
static enum status run(struct rank_end *x, struct slot *s, const json_t *ask, json_t *say,
                       struct err *err)
{
    (void)ask, (void)say;
    return backend_cuda.run(x->backend, s, err);
}

static enum status prepare(struct rank_end *x, struct slot *s, const json_t *ask, json_t *say,
                           struct err *err)
{
    (void)say;
    return backend_cuda.prepare(x->backend, s,
                                (uint64_t)json_integer_value(json_object_get(ask, "turn")), 1, err);
}

static enum status inspect(struct rank_end *x, struct slot *s, const json_t *ask, json_t *say,
                           struct err *err)
{
    (void)say;
    return backend_cuda.inspect(x->backend, s, json_is_true(json_object_get(ask, "all")), err);
}

static enum status sample(struct rank_end *x, struct slot *s, const json_t *ask, json_t *say,
                          struct err *err)
{
    double seconds = NAN, mhz = NAN;
    if (json_is_true(json_object_get(ask, "cold")))
        backend_cuda.flush(x->backend);
    const enum status st = backend_cuda.sample(x->backend, s, 1, &seconds, &mhz, err);
    if (st == ST_OK)
        json_object_set_new(say, "seconds", json_real(seconds));
    if (st == ST_OK && isfinite(mhz))
        json_object_set_new(say, "mhz", json_real(mhz));
    return st;
}

static enum status describe(struct rank_end *x, struct slot *s, const json_t *ask, json_t *say,
                            struct err *err)
{
    (void)ask, (void)err;
    json_object_set_new(say, "row", backend_cuda.describe(x->backend, s));
    return ST_OK;
}

struct packing {
    const unsigned char *from;
    unsigned char *to;
};
static void pack_row(void *ctx, int64_t whole, int64_t piece, size_t bytes)
{
    const struct packing *p = ctx;
    memcpy(p->to + piece, p->from + whole, bytes);
}

/* The guards, then the rows of these GPUs. */
static enum status fetch(struct rank_end *x, struct slot *s, const json_t *ask, json_t *say,
                         struct err *err)
{
    const bool lse = json_is_true(json_object_get(ask, "lse"));
    const struct shape *shape = &x->problem.shape;
    const size_t whole = lse ? (size_t)(shape->B * shape->H * shape->Sq) * sizeof(float)
                             : shape_q_elems(shape) * dtype_size(shape->dtype),
                 guard = OUTPUT_GUARD_BYTES;
    const struct nodes_rows rows = {&x->ring, x->options.rank, x->options.gpus, lse};
    unsigned char *all = xmalloc(whole + 2 * guard);
    const enum status st = lse ? backend_cuda.read_lse(x->backend, s, all, err)
                               : backend_cuda.read_output(x->backend, s, 0, all, err);
    if (st == ST_OK) {
        free(x->packed);
        x->packed_bytes = 2 * guard + nodes_each_row(&rows, NULL, NULL);
        x->packed = xmalloc(x->packed_bytes);
        memcpy(x->packed, all, guard);
        memcpy(x->packed + guard, all + guard + whole, guard);
        struct packing p = {all + guard, x->packed + 2 * guard};
        (void)nodes_each_row(&rows, pack_row, &p);
        json_object_set_new(say, "bytes", json_integer((json_int_t)x->packed_bytes));
    }
    free(all);
    return st;
}

static enum status read_packed(struct rank_end *x, const json_t *ask, json_t *say, struct err *err)
{
    const size_t at = (size_t)json_integer_value(json_object_get(ask, "at"));
    const size_t left = at < x->packed_bytes ? x->packed_bytes - at : 0; /* another node has more */
    (void)err;
    char *text =
        nodes_to_text(left ? x->packed + at : NULL, left < NODES_CHUNK ? left : NODES_CHUNK);
    json_object_set_new(say, "data", json_string(text));
    free(text);
    return ST_OK;
}

/* All at a time: NCCL says goodbye to itself. */
static enum status close_ranks(struct rank_end *x, const json_t *ask, json_t *say, struct err *err)
{
    (void)ask, (void)say, (void)err;
    x->nslots = 0;
    backend_cuda.close(x->backend);
    x->backend = NULL;
    gpu_lock_free(x->lock);
    x->lock = NULL;
    return ST_OK;
}

static const struct {
    const char *word;
    answer_fn *answer;
    enum status (*of_slot)(struct rank_end *x, struct slot *s, const json_t *ask, json_t *say,
                           struct err *err);
} questions[] = {
    {"id", make_id, NULL},        {"open", open_ranks, NULL}, {"inputs", set_inputs, NULL},
    {"load", load, NULL},         {"unload", unload, NULL},   {"read", read_packed, NULL},
    {"close", close_ranks, NULL}, {"run", NULL, run},         {"prepare", NULL, prepare},
    {"inspect", NULL, inspect},   {"sample", NULL, sample},   {"describe", NULL, describe},
    {"fetch", NULL, fetch},
};

static enum status answer(struct rank_end *x, const json_t *ask, json_t *say, struct err *err)
{
    const char *word = json_string_value(json_object_get(ask, "do"));
    for (size_t i = 0; word && i < sizeof questions / sizeof *questions; i++) {
        if (strcmp(questions[i].word, word) != 0)
            continue;
        if (!x->backend && strcmp(word, "id") && strcmp(word, "open"))
            return err_set(err, ST_USAGE, "%s: no GPUs are open", word);
        if (questions[i].answer)
            return questions[i].answer(x, ask, say, err);
        struct loaded *s = find_slot(x, ask);
        return s ? questions[i].of_slot(x, s->slot, ask, say, err)
                 : err_set(err, ST_USAGE, "%s: no such kernel is loaded", word);
    }
    return err_set(err, ST_USAGE, "a question that nobody answers: %.40s", word ? word : "none");
}

/* ---- the connection ---- */

/* Whoever asked is gone: so is what it asked for. */
static void *watch_line(void *ctx)
{
    struct pollfd fd = {.fd = *(const int *)ctx};
    for (;;)
        if (poll(&fd, 1, 1000) > 0 && fd.revents & (POLLHUP | POLLERR | POLLNVAL))
            _exit(1);
    return NULL;
}

static enum status flush(struct rank_end *x, struct err *err)
{
    enum status st = ST_OK;
    while (st == ST_OK && wire_has_more(x->wire)) {
        struct pollfd fd = {.fd = wire_out_fd(x->wire), .events = POLLOUT};
        poll(&fd, 1, 1000);
        st = wire_flush(x->wire, err);
    }
    return st;
}

static enum status serve_one(struct rank_end *x, enum wire_type type, const json_t *ask,
                             struct err *err)
{
    struct err why = ERR_INIT;
    if (type != WIRE_ASK)
        return err_set(err, ST_FAIL, "%s out of turn", wire_type_name(type));
    json_t *say = json_object();
    const enum status got = answer(x, ask, say, &why);
    json_object_set_new(say, "status", json_integer(got));
    json_object_set_new(say, "error", got == ST_OK ? json_null() : json_string(why.text));
    json_object_set_new(say, "caught", json_boolean(why.caught));
    json_object_set_new(say, "spent", json_boolean(x->backend && backend_cuda.spent(x->backend)));
    enum status st = wire_send(x->wire, WIRE_DONE, say, -1, 0, err);
    json_decref(say);
    return st == ST_OK ? flush(x, err) : st;
}

static void loop(struct rank_end *x)
{
    enum { IDLE_MS = 600000 }; /* who asks nothing for so long has forgotten to close */
    enum status st = ST_OK;
    struct err err = ERR_INIT;
    while (st != ST_FAIL) {
        struct pollfd fd = {.fd = wire_fd(x->wire), .events = POLLIN};
        enum wire_type type;
        json_t *ask = NULL;
        int given;
        if (poll(&fd, 1, IDLE_MS) == 0)
            return;
        while (st != ST_FAIL && (st = wire_recv(x->wire, &type, &ask, &given, &err)) == ST_OK) {
            st = serve_one(x, type, ask, &err);
            json_decref(ask);
        }
    }
    if (!wire_closed(x->wire))
        fprintf(stderr, "attnscope: %s\n", err.text);
}

int serve_rank(void)
{
    int in, out;
    pthread_t watcher;
    struct err err = ERR_INIT;
    struct rank_end x = {.registry = registry_new()};
    if (!serve_take_streams(&in, &out)) {
        fprintf(stderr, "attnscope: --rank needs standard input and output, as ssh gives them\n");
        return ST_FAIL;
    }
    x.wire = wire_new_stream(in, out);
    json_t *hello = peer_hello("rank");
    enum status st = wire_send(x.wire, WIRE_HELLO, hello, -1, 0, &err);
    json_decref(hello);
    if (st == ST_OK)
        st = flush(&x, &err);
    if (st == ST_OK && pthread_create(&watcher, NULL, watch_line, &in) == 0)
        loop(&x);
    _exit(st == ST_OK ? 0 : 1); /* other ranks may be gone: nothing of theirs is waited for */
}
