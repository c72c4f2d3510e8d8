/* nodes.c - see nodes.h: the side that asks.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/nodes.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/str.h"
#include "job/proc.h"
#include "plan/device.h"
#include "plan/plan.h"

/* Seconds that an answer may take. */
enum { HELLO_S = 25, OPEN_S = 150, LOAD_S = 300, RUN_S = 300, CLOSE_S = 10 };
/* Once one has refused or failed, what the others may take: they may wait for it. */
enum { AFTER_FAULT_S = 5 };

struct node {
    struct remote place; /* dest NULL: this machine */
    int begin;           /* its ranks are these and those behind them */
    struct proc proc;
    struct str log;
    json_t *answer; /* to the question under way; NULL: none yet */
};

struct slot {
    struct slot *next;
    int number;
    const struct kernel_desc *desc;
};

struct backend {
    struct backend_options options;
    struct node node[NODES_MAX];
    int count, each; /* GPUs of a node */
    struct graveyard graves;
    struct device_table *devices;
    const struct device *model; /* of the first; NULL: nobody knows it */
    char *device;
    int sm;
    bool joined; /* their GPUs are open */
    char *spent; /* why nothing can be asked any more */
    struct ring ring;
    struct shape shape;
    bool present; /* inputs */
    struct slot *slots;
    int numbers;
    bool cold, lse_is_fresh;
    const struct run_watch *watch;
};

/* ---- one of several ---- */

static const char *name_of(const struct node *n)
{
    return n->place.name;
}

/* It is gone: how. */
static enum status lost(struct node *n, struct err *err)
{
    struct str how = {0};
    const double until = seconds_now() + 1;
    while (n->proc.pid && !proc_ended(&n->proc, &how) && seconds_now() < until)
        poll(NULL, 0, 10);
    n->proc.log_after = 0;
    proc_read_log(&n->proc, &n->log);
    proc_add_last_words(&n->proc, &how);
    err_set(err, ST_FAIL, "node %s %s", name_of(n), how.len ? str_text(&how) : "is gone");
    str_free(&how);
    return ST_FAIL;
}

/* Takes in what it has said. ST_NO: nothing yet. */
static enum status hear(struct node *n, struct err *err)
{
    enum wire_type type;
    json_t *o = NULL;
    int fd;
    struct err why = ERR_INIT;
    enum status st = wire_recv(n->proc.wire, &type, &o, &fd, &why);
    if (st == ST_FAIL && wire_closed(n->proc.wire))
        return lost(n, err);
    if (st == ST_OK && !n->proc.greeted)
        st = proc_greet(&n->proc, type, o, &why);
    else if (st == ST_OK && type != WIRE_DONE)
        st = err_set(&why, ST_FAIL, "%s out of turn", wire_type_name(type));
    if (st == ST_OK && n->answer)
        st = err_set(&why, ST_FAIL, "it answers what nobody has asked");
    if (st == ST_OK)
        n->answer = o;
    else
        json_decref(o);
    return st == ST_OK || st == ST_NO ? st
                                      : err_set(err, ST_FAIL, "node %s: %s", name_of(n), why.text);
}

static enum status refusal_of(const struct node *n, struct err *err)
{
    const int st = (int)json_integer_value(json_object_get(n->answer, "status"));
    const char *text = json_string_value(json_object_get(n->answer, "error"));
    if (st == ST_OK)
        return ST_OK;
    if (json_is_true(json_object_get(n->answer, "caught")))
        return err_caught(err, "node %s: %s", name_of(n), text ? text : "no reason given");
    return err_set(err,
                   st == ST_NO || st == ST_NO_GPU || st == ST_USAGE ? (enum status)st : ST_FAIL,
                   "node %s: %s", name_of(n), text ? text : "no reason given");
}

/* ---- all of them ---- */

static void drop_all(struct backend *b)
{
    for (int i = 0; i < b->count; i++)
        proc_drop(&b->node[i].proc, &b->graves);
}

/* Nothing can be asked any more, since somebody may wait for ever for what will not come. */
static enum status spend(struct backend *b, enum status st, const struct err *err)
{
    if (!b->spent)
        b->spent = xstrdup(err ? err->text : "a node failed");
    drop_all(b);
    return st;
}

static void wait_for_news(struct backend *b)
{
    enum { LOOK_MS = 100 };
    struct pollfd fds[3 * NODES_MAX];
    for (int i = 0; i < b->count; i++) {
        const struct proc *p = &b->node[i].proc;
        fds[3 * i] = (struct pollfd){.fd = wire_fd(p->wire), .events = POLLIN};
        fds[3 * i + 1] = (struct pollfd){.fd = wire_has_more(p->wire) ? wire_out_fd(p->wire) : -1,
                                         .events = POLLOUT};
        fds[3 * i + 2] = (struct pollfd){.fd = p->log_fd, .events = POLLIN};
    }
    poll(fds, (nfds_t)(3 * b->count), LOOK_MS);
}

/* Looks once at all; *open: who has not answered. The first who is gone, or refuses, is told. */
static enum status look(struct backend *b, int *open, struct err *err)
{
    enum status st = ST_OK, first = ST_OK;
    *open = 0;
    for (int i = 0; i < b->count; i++) {
        struct node *n = &b->node[i];
        const bool had = n->answer != NULL;
        proc_read_log(&n->proc, &n->log);
        if (wire_has_more(n->proc.wire) && wire_flush(n->proc.wire, NULL) != ST_OK)
            st = lost(n, err);
        else
            st = had ? ST_OK : hear(n, err);
        if (st == ST_FAIL)
            return ST_FAIL;
        *open += !n->answer;
        if (n->answer && n->proc.greeted && first == ST_OK)
            first = refusal_of(n, err);
    }
    return first;
}

static bool goes_on(const struct backend *b, double since)
{
    return !b->watch || b->watch->go_on(b->watch->ctx, NAN, seconds_now() - since);
}

/* Who is waited for, in words: "box, lab". */
static void name_open(const struct backend *b, struct str *out)
{
    for (int i = 0; i < b->count; i++)
        if (!b->node[i].answer)
            str_addf(out, "%s%s", out->len ? ", " : "", name_of(&b->node[i]));
}

/* Until all have answered. One that refuses does so to all: the others' answers are waited for a little. */
static enum status wait_for_all(struct backend *b, const char *what, double seconds,
                                struct err *err)
{
    const double began = seconds_now();
    double until = began + seconds;
    enum status bad = ST_OK;
    struct err why = ERR_INIT;
    for (int open = 1;;) {
        struct err now = ERR_INIT;
        const enum status st = look(b, &open, &now);
        if (st != ST_OK && bad == ST_OK) {
            bad = st;
            why = now;
            until = fmin(until, seconds_now() + AFTER_FAULT_S);
        }
        if (st == ST_FAIL && open) { /* one that is gone answers no more */
            err_set(err, ST_FAIL, "%s", now.text);
            return spend(b, ST_FAIL, &now);
        }
        if (!open)
            break;
        if (seconds_now() > until || !goes_on(b, began)) {
            struct str names = {0};
            name_open(b, &names);
            if (bad == ST_OK)
                err_set(&why, ST_FAIL,
                        seconds_now() > until ? "node %s gave no answer to \"%s\" within %.0f s"
                                              : "node %s: \"%s\" was given up after %.0f s",
                        str_text(&names), what, seconds_now() - began);
            str_free(&names);
            err_set(err, bad == ST_OK ? ST_FAIL : bad, "%s", why.text);
            return spend(b, bad == ST_OK ? ST_FAIL : bad, &why);
        }
        wait_for_news(b);
    }
    return bad == ST_OK ? ST_OK : err_set(err, bad, "%s", why.text);
}

static void forget_answers(struct backend *b)
{
    for (int i = 0; i < b->count; i++) {
        json_decref(b->node[i].answer);
        b->node[i].answer = NULL;
    }
}

/* Asks all the same, but for their ranks, and waits for all answers, which are in the nodes then. Takes `o`. */
static enum status ask(struct backend *b, const char *what, json_t *o, double seconds,
                       struct err *err)
{
    enum status st = b->spent ? err_set(err, ST_FAIL, "the nodes are gone: %s", b->spent) : ST_OK;
    forget_answers(b);
    json_object_set_new(o, "do", json_string(what));
    for (int i = 0; i < b->count && st == ST_OK; i++) {
        json_object_set_new(o, "rank", json_integer(b->node[i].begin));
        if (wire_send(b->node[i].proc.wire, WIRE_ASK, o, -1, 0, NULL) != ST_OK) {
            st = lost(&b->node[i], err);
            spend(b, st, err);
        }
    }
    json_decref(o);
    st = st == ST_OK ? wait_for_all(b, what, seconds, err) : st;
    for (int i = 0; i < b->count && st != ST_OK && !b->spent; i++)
        if (json_is_true(json_object_get(b->node[i].answer, "spent")))
            spend(b, st, err);
    return st;
}

static enum status ask_of(struct backend *b, const struct slot *s, const char *what, json_t *o,
                          double seconds, struct err *err)
{
    json_object_set_new(o, "slot", json_integer(s->number));
    const enum status st = ask(b, what, o, seconds, err);
    if (st != ST_OK && err)
        err_prefix(err, "%s", s->desc->name);
    return st;
}

static const char *text_of(const struct node *n, const char *name)
{
    const char *text = json_string_value(json_object_get(n->answer, name));
    return text ? text : "?";
}

/* ---- opening and closing ---- */

static enum status spawn_here(struct proc *p, struct err *err)
{
    char *path, word[] = "rank";
    enum status st = proc_find(NULL, &path, err);
    if (st == ST_OK)
        st = proc_spawn_stream(p, (char *[]){path, word, NULL}, err);
    free(path);
    return st;
}

static enum status spawn(struct node *n, struct err *err)
{
    char **argv;
    n->proc = proc_none("rank");
    if (!n->place.dest)
        return spawn_here(&n->proc, err);
    enum status st = remote_argv(&n->place, "--rank", &argv, err);
    if (st == ST_OK)
        st = proc_spawn_stream(&n->proc, argv, err);
    remote_argv_free(argv);
    n->proc.far = remote_key(&n->place);
    return st;
}

/* One version of NCCL speaks with itself alone. */
static enum status check_versions(const struct backend *b, struct err *err)
{
    for (int i = 1; i < b->count; i++) {
        const char *one = text_of(&b->node[0], "nccl"), *other = text_of(&b->node[i], "nccl");
        if (strcmp(one, other) != 0)
            return err_set(err, ST_NO,
                           "NCCL is %s on %s and %s on %s: one version is needed on all", one,
                           name_of(&b->node[0]), other, name_of(&b->node[i]));
    }
    return ST_OK;
}

static json_t *places_of(const struct backend *b, const char *id)
{
    json_t *devices = json_array();
    for (int i = 0; i < b->each; i++)
        json_array_append_new(devices, json_integer(b->options.devices[i]));
    return json_pack("{s:s, s:o, s:i, s:i, s:i}", "id", id, "devices", devices, "gpus", b->each,
                     "world", b->options.gpus, "shards", b->options.shards);
}

/* "NVIDIA H200" of all, or each with its node's name. */
static void name_devices(struct backend *b)
{
    struct str all = {0};
    bool same = true;
    for (int i = 0; i < b->count; i++) {
        const char *name = text_of(&b->node[i], "device");
        same = same && !strcmp(name, text_of(&b->node[0], "device"));
        str_addf(&all, "%s%s (%s)", i ? ", " : "", name, name_of(&b->node[i]));
    }
    b->device = same ? xstrdup(text_of(&b->node[0], "device")) : xstrdup(str_text(&all));
    b->sm = (int)json_integer_value(json_object_get(b->node[0].answer, "sm"));
    (void)devices_get(b->devices, text_of(&b->node[0], "device"), &b->model, NULL);
    str_free(&all);
}

static enum status check_asked(struct backend *b, struct err *err)
{
    const struct backend_options *o = &b->options;
    for (int i = 0; i < b->count; i++)
        for (int k = 0; k < i; k++)
            if (!strcmp(name_of(&b->node[i]), name_of(&b->node[k])))
                return err_set(err, ST_USAGE,
                               "node %s comes twice: gpus= says how many of its GPUs",
                               name_of(&b->node[i]));
    if (o->transport == TRANSPORT_COPIES || o->transport == TRANSPORT_PEER)
        return err_set(err, ST_USAGE,
                       "between machines NCCL alone carries data; leave out transport=%s",
                       o->transport == TRANSPORT_PEER ? "peer" : "copies");
    if (o->streams > 1)
        return err_set(err, ST_USAGE, "streams=%d: GPUs that share a run have streams of their own",
                       o->streams);
    if (o->gpus < 2 || o->gpus % b->count)
        return err_set(
            err, ST_USAGE,
            "gpus=%d on %d nodes: as many GPUs of each are wanted, %d or a multiple of it", o->gpus,
            b->count, b->count > 1 ? b->count : 2);
    b->each = o->gpus / b->count;
    for (int i = 0; i < b->count; i++)
        b->node[i].begin = i * b->each;
    return ST_OK;
}

static enum status join(struct backend *b, struct err *err)
{
    enum status st = wait_for_all(b, "hello", HELLO_S, err);
    if (st == ST_OK)
        st = ask(b, "id", json_object(), HELLO_S, err);
    if (st == ST_OK)
        st = check_versions(b, err);
    if (st != ST_OK)
        return st;
    char *id = xstrdup(text_of(&b->node[0], "id"));
    st = ask(b, "open", places_of(b, id), OPEN_S, err);
    free(id);
    if (st == ST_OK)
        name_devices(b);
    b->joined = st == ST_OK;
    return st;
}

static void close_nodes(struct backend *b)
{
    if (!b)
        return;
    if (b->joined && !b->spent)
        (void)ask(b, "close", json_object(), CLOSE_S, NULL);
    drop_all(b);
    graveyard_clear(&b->graves, 0.5);
    forget_answers(b);
    for (int i = 0; i < b->count; i++) {
        remote_clear(&b->node[i].place);
        str_free(&b->node[i].log);
    }
    while (b->slots) {
        struct slot *s = b->slots;
        b->slots = s->next;
        free(s);
    }
    devices_free(b->devices);
    free(b->device);
    free(b->spent);
    free(b);
}

static enum status open_nodes(const struct backend_options *o, struct backend **out,
                              struct err *err)
{
    struct remote places[NODES_MAX];
    struct backend *b = xcalloc(1, sizeof *b);
    int n = 0;
    *b = (struct backend){.options = *o, .devices = devices_new()};
    enum status st = nodes_parse(o->nodes, places, &n, err);
    for (int i = 0; i < n; i++)
        b->node[i] = (struct node){.place = places[i], .proc = proc_none("rank")};
    b->count = n;
    if (st == ST_OK)
        st = check_asked(b, err);
    for (int i = 0; i < n && st == ST_OK; i++)
        st = spawn(&b->node[i], err);
    if (st == ST_OK)
        st = join(b, err);
    if (st != ST_OK) {
        close_nodes(b);
        return st;
    }
    *out = b;
    return ST_OK;
}

/* ---- what a backend is asked ---- */

static const char *device_name(const struct backend *b)
{
    return b->device;
}

static int sm(const struct backend *b)
{
    return b->sm;
}

static bool spent(const struct backend *b)
{
    return b->spent != NULL;
}

static void set_watch(struct backend *b, const struct run_watch *w)
{
    b->watch = w;
}

static enum status set_inputs(struct backend *b, const struct problem *p, struct tensors *host,
                              struct err *err)
{
    (void)host;
    while (b->slots) {
        struct slot *s = b->slots;
        b->slots = s->next;
        free(s);
    }
    b->present = false;
    if (p->input == INPUT_FILES)
        return err_set(err, ST_NO,
                       "files of this machine are not on the nodes; every node makes the "
                       "inputs from the seed");
    enum status st = ring_build(&p->shape, b->options.gpus, (enum ring_shards)b->options.shards,
                                p->shape.dtype, &b->ring, err);
    if (st == ST_OK)
        st = ask(b, "inputs", json_pack("{s:o}", "problem", problem_to_json(p)), LOAD_S, err);
    b->shape = p->shape;
    b->present = st == ST_OK;
    return st;
}

static void unload(struct backend *b, struct slot *s)
{
    struct slot **at = &b->slots;
    while (*at && *at != s)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = s->next;
    if (!b->spent)
        (void)ask_of(b, s, "unload", json_object(), RUN_S, NULL);
    free(s);
}

static enum status load(struct backend *b, const struct kernel *k, const struct param_values *v,
                        struct slot **out, struct err *err)
{
    char params[512], hash[24];
    if (!b->present)
        return err_set(err, ST_FAIL, "%s: no inputs were set", k->name);
    if (!k->cuda)
        return err_set(err, ST_NO, "%s does not exist for CUDA", k->name);
    desc_params_format(k->cuda, v, false, params, sizeof params);
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)desc_hash(k->cuda));
    struct slot *s = xcalloc(1, sizeof *s);
    *s = (struct slot){.number = ++b->numbers, .desc = k->cuda, .next = b->slots};
    b->slots = s;
    const enum status st =
        ask_of(b, s, "load",
               json_pack("{s:s, s:s, s:s}", "kernel", k->name, "params", params, "hash", hash),
               LOAD_S, err);
    if (st != ST_OK) { /* some may have it */
        unload(b, s);
        return st;
    }
    *out = s;
    return ST_OK;
}

static enum status run(struct backend *b, struct slot *s, struct err *err)
{
    const enum status st = ask_of(b, s, "run", json_object(), RUN_S, err);
    b->lse_is_fresh = st == ST_OK;
    return st;
}

static int sets(const struct backend *b, const struct slot *s)
{
    (void)b, (void)s;
    return 1;
}

static enum status prepare(struct backend *b, struct slot *s, uint64_t turn, int runs,
                           struct err *err)
{
    if (runs != 1)
        return err_set(err, ST_USAGE, "a sample of %d runs", runs);
    return ask_of(b, s, "prepare", json_pack("{s:I}", "turn", (json_int_t)turn), RUN_S, err);
}

static enum status inspect(struct backend *b, struct slot *s, bool all, struct err *err)
{
    return ask_of(b, s, "inspect", json_pack("{s:b}", "all", all), RUN_S, err);
}

static struct backend_limits limits(const struct backend *b, enum dtype dtype)
{
    const char *unit;
    const double peak = b->model ? fmax(device_peak(b->model, dtype, true, &unit),
                                        device_peak(b->model, dtype, false, &unit))
                                 : NAN;
    return (struct backend_limits){.flops_per_s = peak * 1e12 * b->options.gpus, .least_s = 0.4e-6};
}

static void flush(struct backend *b)
{
    b->cold = true;
}

/* The slowest node's: each begins when all have met, and ends when its last GPU has. */
static enum status sample(struct backend *b, struct slot *s, int repeat, double *seconds,
                          double *clock_mhz, struct err *err)
{
    const bool cold = b->cold;
    b->cold = b->lse_is_fresh = false;
    *seconds = 0;
    *clock_mhz = NAN;
    enum status st = repeat == 1
                         ? ask_of(b, s, "sample", json_pack("{s:b}", "cold", cold), RUN_S, err)
                         : err_set(err, ST_USAGE, "a sample of %d runs", repeat);
    for (int i = 0; i < b->count && st == ST_OK; i++) {
        const json_t *o = b->node[i].answer;
        const double one = json_number_value(json_object_get(o, "seconds")),
                     mhz = json_number_value(json_object_get(o, "mhz"));
        if (!(one > 0))
            st = err_set(err, ST_FAIL, "node %s: its time is no time", name_of(&b->node[i]));
        *seconds = fmax(*seconds, one);
        *clock_mhz = mhz > 0 ? fmin(isnan(*clock_mhz) ? mhz : *clock_mhz, mhz) : *clock_mhz;
    }
    return st;
}

/* ---- outputs ---- */

struct unpacking {
    unsigned char *to;
    const unsigned char *from;
};
static void unpack_row(void *ctx, int64_t whole, int64_t piece, size_t bytes)
{
    const struct unpacking *u = ctx;
    memcpy(u->to + whole, u->from + piece, bytes);
}

/* The bytes of all nodes' answers go behind each other in `packed`, of which each has `bytes`. */
static enum status read_pieces(struct backend *b, unsigned char *packed[NODES_MAX],
                               const size_t *bytes, struct err *err)
{
    size_t most = 0;
    enum status st = ST_OK;
    for (int i = 0; i < b->count; i++)
        most = bytes[i] > most ? bytes[i] : most;
    for (size_t at = 0; at < most && st == ST_OK; at += NODES_CHUNK) {
        st = ask(b, "read", json_pack("{s:I}", "at", (json_int_t)at), RUN_S, err);
        for (int i = 0; i < b->count && st == ST_OK; i++) {
            const size_t left = at < bytes[i] ? bytes[i] - at : 0,
                         n = left < NODES_CHUNK ? left : NODES_CHUNK;
            void *data = n ? nodes_from_text(text_of(&b->node[i], "data"), n) : NULL;
            if (n && !data)
                st = err_set(err, ST_FAIL, "node %s: its output is not what it said",
                             name_of(&b->node[i]));
            if (data)
                memcpy(packed[i] + at, data, n);
            free(data);
        }
    }
    return st;
}

static bool is_guard(const unsigned char *p)
{
    size_t i = 0;
    while (i < OUTPUT_GUARD_BYTES && p[i] == output_guard_byte)
        i++;
    return i == OUTPUT_GUARD_BYTES;
}

/* Guards that are broken on one node stand for all. */
static void place(const struct backend *b, int i, bool lse, const unsigned char *packed,
                  unsigned char *dst, size_t whole)
{
    const size_t guard = OUTPUT_GUARD_BYTES;
    const struct nodes_rows rows = {&b->ring, b->node[i].begin, b->each, lse};
    struct unpacking u = {dst + guard, packed + 2 * guard};
    if (!is_guard(packed))
        memcpy(dst, packed, guard);
    if (!is_guard(packed + guard))
        memcpy(dst + guard + whole, packed + guard, guard);
    (void)nodes_each_row(&rows, unpack_row, &u);
}

static enum status gather(struct backend *b, struct slot *s, bool lse, void *dst, struct err *err)
{
    const struct shape *shape = &b->shape;
    const size_t whole = lse ? (size_t)(shape->B * shape->H * shape->Sq) * sizeof(float)
                             : shape_q_elems(shape) * dtype_size(shape->dtype);
    unsigned char *packed[NODES_MAX] = {NULL};
    size_t bytes[NODES_MAX];
    enum status st = ask_of(b, s, "fetch", json_pack("{s:b}", "lse", lse), RUN_S, err);
    for (int i = 0; i < b->count && st == ST_OK; i++) {
        const struct nodes_rows rows = {&b->ring, b->node[i].begin, b->each, lse};
        bytes[i] = 2 * OUTPUT_GUARD_BYTES + nodes_each_row(&rows, NULL, NULL);
        packed[i] = xmalloc(bytes[i]);
    }
    if (st == ST_OK)
        st = read_pieces(b, packed, bytes, err);
    if (st == ST_OK)
        memset(dst, output_guard_byte, whole + 2 * OUTPUT_GUARD_BYTES);
    for (int i = 0; i < b->count; i++) {
        if (st == ST_OK)
            place(b, i, lse, packed[i], dst, whole);
        free(packed[i]);
    }
    return st;
}

static size_t output_bytes(const struct backend *b)
{
    return shape_q_elems(&b->shape) * dtype_size(b->shape.dtype) + 2 * OUTPUT_GUARD_BYTES;
}

static enum status read_output(struct backend *b, struct slot *s, int i, void *dst, struct err *err)
{
    (void)i;
    return gather(b, s, false, dst, err);
}

static enum status read_lse(struct backend *b, struct slot *s, void *dst, struct err *err)
{
    return b->lse_is_fresh ? gather(b, s, true, dst, err)
                           : err_set(err, ST_NO, "%s was not asked for its LSE", s->desc->name);
}

/* ---- what is told ---- */

static double number(const json_t *o, const char *name)
{
    const json_t *v = json_object_get(o, name);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

/* "here:0,here:1,box:0" */
static void add_devices(struct str *out, const struct node *n, const char *devices)
{
    for (const char *at = devices; at && *at;) {
        const size_t len = strcspn(at, ",");
        str_addf(out, "%s%s:%.*s", out->len ? "," : "", name_of(n), (int)len, at);
        at += len + (at[len] == ',');
    }
}

/* Of all: what the first says, but for what is of each. */
static json_t *sum_up(struct backend *b)
{
    json_t *o = json_deep_copy(json_object_get(b->node[0].answer, "row")), *gpus = json_array();
    struct str devices = {0}, reasons = {0}, hosts = {0};
    double sent = 0, link = NAN, host = NAN, most = 0, sum = 0;
    for (int i = 0; i < b->count; i++) {
        const json_t *row = json_object_get(b->node[i].answer, "row"), *one;
        size_t k;
        const char *why = json_string_value(json_object_get(row, "reason"));
        add_devices(&devices, &b->node[i], json_string_value(json_object_get(row, "gpu_devices")));
        str_addf(&hosts, "%s%s", i ? "," : "", name_of(&b->node[i]));
        if (why)
            str_addf(&reasons, "%snode %s: %s", reasons.len ? "; " : "", name_of(&b->node[i]), why);
        sent += fmax(0, number(row, "link_bytes"));
        link = fmin(link, number(row, "link_gbs"));
        host = fmax(host, number(row, "host_us"));
        json_array_foreach(json_object_get(row, "gpu_us"), k, one)
        {
            json_array_append(gpus, (json_t *)(uintptr_t)one);
            most = fmax(most, number(one, "compute_us"));
            sum += fmax(0, number(one, "compute_us"));
        }
    }
    json_object_update_new(o, json_pack("{s:i, s:s, s:s}", "gpus", b->options.gpus, "gpu_devices",
                                        str_text(&devices), "host", str_text(&hosts)));
    json_object_del(o, "reason");
    if (reasons.len)
        json_object_set_new(o, "reason", json_string(str_text(&reasons)));
    if (sent > 0)
        json_object_set_new(o, "link_bytes", json_real(sent));
    if (isfinite(link))
        json_object_set_new(o, "link_gbs", json_real(link));
    if (isfinite(host))
        json_object_set_new(o, "host_us", json_real(host));
    if (json_array_size(gpus))
        json_object_set(o, "gpu_us", gpus);
    if (sum > 0)
        json_object_set_new(o, "imbalance", json_real(most * b->options.gpus / sum));
    json_decref(gpus);
    str_free(&devices);
    str_free(&reasons);
    str_free(&hosts);
    return o;
}

static json_t *describe(const struct backend *b, const struct slot *s)
{
    struct backend *own =
        (struct backend *)(uintptr_t)b; /* asking changes what is under way alone */
    if (b->spent || !s || ask_of(own, s, "describe", json_object(), RUN_S, NULL) != ST_OK)
        return json_object();
    return sum_up(own);
}

static enum status trace(struct backend *b, struct slot *s, const struct trace_watch *watch,
                         struct block_trace *out, struct err *err)
{
    (void)b, (void)watch, (void)out;
    return err_set(err, ST_NO, "%s: clocks of several machines make no timeline; leave out nodes=",
                   s->desc->name);
}

static enum status profile(struct backend *b, struct slot *s, bool cold, json_t *out,
                           struct err *err)
{
    (void)b, (void)cold, (void)out;
    return err_set(err, ST_NO,
                   "%s: counters are of one GPU; leave out gpus= and nodes=", s->desc->name);
}

const struct backend_ops backend_nodes = {
    .load_s = 15, /* ssh, start of CUDA, NCCL; the supervisor allows ten times as long */
    .sample_s = 200e-6,
    .open = open_nodes,
    .close = close_nodes,
    .device_name = device_name,
    .describe = describe,
    .outcome = describe,
    .sm = sm,
    .spent = spent,
    .watch = set_watch,
    .set_inputs = set_inputs,
    .load = load,
    .unload = unload,
    .run = run,
    .sets = sets,
    .prepare = prepare,
    .inspect = inspect,
    .limits = limits,
    .read_output = read_output,
    .read_lse = read_lse,
    .output_bytes = output_bytes,
    .flush = flush,
    .sample = sample,
    .trace = trace,
    .profile = profile,
};
