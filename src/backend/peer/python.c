/* python.c - kernels in Python: the memory they share, the children by purpose, the slots.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/peer/python_child.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend/backend.h"
#include "backend/spot.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "base/str.h"
#include "kernel/registry.h"

/* Importing PyTorch from a cold disk takes long; the supervisor allows 120 s for a load. Runs are
 * the supervisor's to stop, as the user's timeout= says; this is the last resort. */
static const double load_s = 100, run_s = 600;

enum { PARTS = 4, WITNESSED = 64 };
static const size_t kept_bytes = (size_t)1
                                 << 30; /* memory that waits for the next problem, at most */

/* A tensor within the shared memory. */
struct part {
    size_t at, bytes;
    int64_t shape[4], strides[4];
};

struct python_slot {
    struct python_slot *next;
    struct pythons *owner;
    struct child *child;
    char *name;
    int id;
    char *version, *launch, *reason;
    bool late;          /* its last sample was over and its output not written */
    uint64_t turn;      /* of its last sample's inputs */
    unsigned inspected; /* samples */
    struct witness {
        double inside[WITNESSED],
            outside[WITNESSED]; /* seconds of samples by its clock, and by ours */
        double work[WITNESSED]; /* of processor time meanwhile, over the threads it may have */
        size_t n;               /* so far; the last WITNESSED are kept */
    } witness;
};

struct pythons {
    struct child *children;
    struct python_slot *slots;
    int next_id;
    bool present;                      /* the problem's inputs are in the memory */
    const struct python_slot *fetched; /* whose last output is there, on a GPU; NULL: nobody's */
    int memfd;                         /* -1: none */
    char *map;
    size_t room, bytes;       /* of the memory, and of it the problem's */
    struct part parts[PARTS]; /* q k v o */
    char *source;             /* the problem's own inputs, as they lie in `map` */
    uint64_t digest;          /* of q k v */
    uint64_t spots;           /* state of the random numbers behind rows that are looked at */
    struct python_problem problem;
};

/* ---- the problem ---- */

static size_t page_up(size_t n)
{
    enum { PAGE = 4096 };
    return (n + PAGE - 1) / PAGE * PAGE;
}

static struct part make_part(const struct shape *s, int64_t heads, int64_t rows, size_t *end)
{
    const struct strides st = shape_strides(s, heads, rows);
    struct part p = {.at = page_up(*end),
                     .bytes = (size_t)(s->B * heads * rows * s->D) * dtype_size(s->dtype),
                     .shape = {s->B, heads, rows, s->D},
                     .strides = {st.b, st.h, st.s, 1}};
    *end = p.at + p.bytes;
    return p;
}

static void lay_out(struct pythons *p)
{
    const struct shape *s = &p->problem.shape;
    size_t end = 0;
    p->parts[0] = make_part(s, s->H, s->Sq, &end);
    p->parts[1] = make_part(s, s->Hkv, s->Sk, &end);
    p->parts[2] = make_part(s, s->Hkv, s->Sk, &end);
    end += OUTPUT_GUARD_BYTES;
    p->parts[3] = make_part(s, s->H, s->Sq, &end);
    p->bytes = page_up(end + OUTPUT_GUARD_BYTES);
}

/* Whose children are code that we vouch for. Anybody's may go on writing to what it was once given. */
static bool are_trusted(const struct pythons *p)
{
    for (const struct child *c = p->children; c; c = c->next)
        if (str_starts(c->key, PYTHON_PREFIX))
            return false;
    return true;
}

static void free_memory(struct pythons *p)
{
    if (p->map)
        munmap(p->map, p->room);
    if (p->memfd >= 0)
        close(p->memfd);
    free(p->source);
    p->source = NULL;
    p->map = NULL;
    p->memfd = -1;
    p->room = 0;
}

/* Sealed against resizing: a child that shrinks it would crash us. Fresh memory costs a page fault for each 4 KiB, more
 * than copying what comes there, so that of the problem before is used again where it is enough. */
static enum status map_memory(struct pythons *p, struct err *err)
{
    if (p->map && p->bytes <= p->room && are_trusted(p))
        return ST_OK;
    free_memory(p);
    p->room = p->bytes;
    p->memfd = memfd_create("attnscope-python", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (p->memfd < 0 || ftruncate(p->memfd, (off_t)p->bytes) != 0 ||
        fcntl(p->memfd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return err_set(err, ST_FAIL, "no memory to share with Python: %s", strerror(errno));
    void *map = mmap(NULL, p->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, p->memfd, 0);
    if (map == MAP_FAILED)
        return err_set(err, ST_FAIL, "no memory to share with Python: %s", strerror(errno));
    p->map = map;
    p->source = xcalloc(1, p->room);
    return ST_OK;
}

static uint64_t mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x100000001b3u;
    return h ^ h >> 29;
}

/* Gaps count too. Words in LANES chains, for each step of one waits for the one before. */
static uint64_t digest(const struct pythons *p)
{
    enum { LANES = 8 };
    _Static_assert(OUTPUT_GUARD_BYTES % (LANES * sizeof(uint64_t)) == 0, "whole rows of words");
    const size_t n = (p->parts[3].at - OUTPUT_GUARD_BYTES) / sizeof(uint64_t);
    uint64_t h[LANES], word[LANES], all = 0xcbf29ce484222325u;
    for (int k = 0; k < LANES; k++)
        h[k] = all + (uint64_t)k;
    for (size_t i = 0; i < n; i += LANES) { /* parts begin with pages */
        memcpy(word, p->map + i * sizeof *word, sizeof word);
        for (int k = 0; k < LANES; k++)
            h[k] = mix(h[k], word[k]);
    }
    for (int k = 0; k < LANES; k++)
        all = mix(all, h[k]);
    return all;
}

static void poison(const struct pythons *p)
{
    const struct part *o = &p->parts[3];
    output_guard(p->map + o->at, o->bytes);
    output_poison(p->map + o->at, o->bytes, p->problem.shape.dtype);
}

static void turn_inputs(struct pythons *p, uint64_t turn)
{
    for (int t = 0; t < 3; t++)
        input_rotate(p->map + p->parts[t].at, p->source + p->parts[t].at, p->parts[t].bytes,
                     input_turn_bytes(&p->problem.shape, (enum tensor_id)t, turn));
    p->digest = digest(p);
}

static enum status fill_inputs(struct pythons *p, struct err *err)
{
    const struct python_problem *problem = &p->problem;
    enum status st = problem->copy(problem->ctx, p->source + p->parts[0].at,
                                   p->source + p->parts[1].at, p->source + p->parts[2].at, err);
    turn_inputs(p, 0);
    return st;
}

/* All children see the same inputs; one that writes there is told off, and they are made again. */
static enum status inputs_intact(struct pythons *p, const char *name, struct err *err)
{
    if (digest(p) == p->digest)
        return ST_OK;
    memset(p->map, 0, p->parts[3].at - OUTPUT_GUARD_BYTES);
    turn_inputs(p, 0);
    return err_caught(err, "%s: it overwrote its inputs", name);
}

static enum status need_memory(struct pythons *p, const struct python_problem *problem,
                               struct err *err)
{
    if (p->present)
        return ST_OK;
    p->problem = *problem;
    lay_out(p);
    enum status st = map_memory(p, err);
    if (st == ST_OK)
        st = fill_inputs(p, err);
    p->present = st == ST_OK;
    if (st != ST_OK)
        free_memory(p);
    return st;
}

static json_t *part_json(const struct part *p)
{
    return json_pack("{s:I, s:I, s:[I,I,I,I], s:[I,I,I,I]}", "at", (json_int_t)p->at, "bytes",
                     (json_int_t)p->bytes, "shape", (json_int_t)p->shape[0],
                     (json_int_t)p->shape[1], (json_int_t)p->shape[2], (json_int_t)p->shape[3],
                     "strides", (json_int_t)p->strides[0], (json_int_t)p->strides[1],
                     (json_int_t)p->strides[2], (json_int_t)p->strides[3]);
}

static json_t *problem_json(const struct pythons *p)
{
    const struct shape *s = &p->problem.shape;
    json_t *parts = json_array();
    for (int i = 0; i < PARTS; i++)
        json_array_append_new(parts, part_json(&p->parts[i]));
    return json_pack("{s:s, s:i, s:i, s:s, s:b, s:f, s:I, s:I, s:I, s:o}", "do", "open", "device",
                     p->problem.device, "threads", p->problem.threads, "dtype",
                     dtype_name(s->dtype), "causal", s->causal, "scale",
                     (double)(float)(1 / sqrt((double)s->D)), "bytes", (json_int_t)p->bytes,
                     "guard", (json_int_t)OUTPUT_GUARD_BYTES, "sweep_bytes",
                     (json_int_t)p->problem.sweep_bytes, "parts", parts);
}

/* ---- children by purpose ---- */

static struct child *find_child(struct pythons *p, const char *key)
{
    struct child *c = p->children;
    while (c && strcmp(c->key, key) != 0)
        c = c->next;
    return c;
}

static void drop_child(struct pythons *p, struct child *c)
{
    struct child **at = &p->children;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    python_child_free(c);
}

static bool in_use(const struct pythons *p, const struct child *c)
{
    for (const struct python_slot *s = p->slots; s; s = s->next)
        if (s->child == c)
            return true;
    return false;
}

/* The living child for `key`. A dead one stays while slots still point at it. */
static enum status need_child(struct pythons *p, const char *name, struct child **out,
                              struct err *err)
{
    const char *key = str_starts(name, PYTHON_PREFIX) ? name : "torch";
    struct child *c = find_child(p, key);
    if (c && c->dead && !in_use(p, c)) {
        drop_child(p, c);
        c = NULL;
    }
    if (!c) {
        c = xcalloc(1, sizeof *c);
        c->key = xstrdup(key);
        c->fd = -1;
        enum status st = python_child_start(c, err);
        if (st != ST_OK) {
            python_child_free(c);
            err_prefix(err, "%s", name);
            return st;
        }
        c->next = p->children;
        p->children = c;
    }
    *out = c;
    if (c->opened)
        return ST_OK;
    json_t *answer;
    p->fetched = NULL;
    poison(
        p); /* what a GPU's child takes for unwritten; another's output may have been fetched there */
    enum status st = python_ask(c, name, problem_json(p), p->memfd, load_s, &answer, err);
    json_decref(answer);
    c->opened = st == ST_OK;
    return st;
}

/* ---- public ---- */

struct pythons *pythons_new(void)
{
    struct pythons *p = xcalloc(1, sizeof *p);
    p->memfd = -1;
    p->spots = (uint64_t)(seconds_now() * 1e9); /* nobody knows it beforehand */
    return p;
}

/* A run of its begins: what it has delivered before is old. */
static void forget_output(struct python_slot *s)
{
    if (s->owner->fetched == s)
        s->owner->fetched = NULL;
}

static void free_slot(struct python_slot *s)
{
    forget_output(s);
    free(s->name);
    free(s->version);
    free(s->launch);
    free(s->reason);
    free(s);
}

void pythons_drop(struct pythons *p)
{
    while (p->slots) {
        struct python_slot *s = p->slots;
        p->slots = s->next;
        free_slot(s);
    }
    for (struct child *c = p->children; c; c = c->next)
        c->opened = false;
    p->present = false;
    p->fetched = NULL;
    if (p->room > kept_bytes)
        free_memory(p);
}

void pythons_free(struct pythons *p)
{
    if (!p)
        return;
    pythons_drop(p);
    free_memory(p);
    while (p->children)
        drop_child(p, p->children);
    free(p);
}

const void *pythons_memory(const struct pythons *p, size_t *bytes)
{
    *bytes = p->present ? p->bytes : 0;
    return p->present ? p->map : NULL;
}

static void take_text(json_t *answer, const char *key, char **out)
{
    const char *said = json_string_value(json_object_get(answer, key));
    free(*out);
    *out = said ? sanitize_line(said) : NULL;
}

enum status python_load(struct pythons *p, const struct python_problem *problem, const char *name,
                        struct python_slot **out, struct err *err)
{
    struct child *c = NULL;
    json_t *answer = NULL;
    enum status st = need_memory(p, problem, err);
    if (st == ST_OK)
        st = need_child(p, name, &c, err);
    const int id = p->next_id++;
    if (st == ST_OK)
        st = python_ask(c, name,
                        json_pack("{s:s, s:i, s:s}", "do", "load", "id", id, "kernel", name), -1,
                        load_s, &answer, err);
    if (st != ST_OK)
        return st;
    struct python_slot *s = xcalloc(1, sizeof *s);
    s->owner = p;
    s->child = c;
    s->name = xstrdup(name);
    s->id = id;
    take_text(answer, "version", &s->version);
    json_decref(answer);
    s->next = p->slots;
    p->slots = s;
    *out = s;
    return ST_OK;
}

void python_unload(struct python_slot *s)
{
    struct python_slot **at = &s->owner->slots;
    json_t *answer = NULL;
    while (*at && *at != s)
        at = &(*at)->next;
    if (*at)
        *at = s->next;
    if (!s->child->dead)
        (void)python_talk(s->child, s->name, json_pack("{s:s, s:i}", "do", "unload", "id", s->id),
                          -1, load_s, &answer, NULL);
    json_decref(answer);
    free_slot(s);
}

/* On a GPU the children work on copies of their own: what is here is read when they are opened, and written when an
 * output is fetched. */
static bool has_copies(const struct pythons *p)
{
    return p->problem.device >= 0;
}

enum status python_run(struct python_slot *s, struct err *err)
{
    json_t *answer;
    forget_output(s);
    if (!has_copies(s->owner)) {
        poison(s->owner);
        turn_inputs(s->owner, 0);
    }
    enum status st =
        python_ask(s->child, s->name, json_pack("{s:s, s:i}", "do", "run", "id", s->id), -1, run_s,
                   &answer, err);
    json_decref(answer);
    return st == ST_OK ? inputs_intact(s->owner, s->name, err) : st;
}

const void *python_output(const struct python_slot *s)
{
    return s->owner->map + s->owner->parts[3].at - OUTPUT_GUARD_BYTES;
}

/* ---- samples ---- */

/* On a GPU the child turns its own copies itself, and poisons its own output. */
enum status python_prepare(struct python_slot *s, uint64_t turn, struct err *err)
{
    struct pythons *p = s->owner;
    json_t *answer, *by = json_array();
    const bool gpu = has_copies(p);
    s->turn = turn;
    forget_output(s);
    if (!gpu) {
        poison(p);
        turn_inputs(p, turn);
    }
    for (int t = 0; t < 3; t++)
        json_array_append_new(by, json_integer((json_int_t)input_turn_bytes(
                                      &p->problem.shape, (enum tensor_id)t, gpu ? turn : 0)));
    enum status st = python_ask(
        s->child, s->name, json_pack("{s:s, s:i, s:o}", "do", "prepare", "id", s->id, "by", by), -1,
        run_s, &answer, err);
    json_decref(answer);
    return st;
}

enum status python_fetch(struct python_slot *s, struct err *err)
{
    json_t *answer;
    struct pythons *p = s->owner;
    if (p->fetched == s)
        return ST_OK;
    p->fetched = NULL;
    if (has_copies(p))
        poison(p); /* another's output is none of this one's */
    enum status st =
        python_ask(s->child, s->name, json_pack("{s:s, s:i}", "do", "fetch", "id", s->id), -1,
                   run_s, &answer, err);
    json_decref(answer);
    p->fetched = st == ST_OK && has_copies(p) ? s : NULL;
    return st;
}

static void take_witness(struct witness *w, double inside, double outside, double work)
{
    const size_t i = w->n++ % WITNESSED;
    w->inside[i] = inside;
    w->outside[i] = outside;
    w->work[i] = work;
}

/* Of n values at `part` of their order, 0 the least. `x` is sorted. */
static double quantile(double *x, size_t n, double part)
{
    qsort(x, n, sizeof *x, number_order);
    return x[(size_t)(part * (double)(n - 1))];
}

static enum status two_clocks(const struct python_slot *s, double inside, double outside,
                              struct err *err)
{
    char in[NUMBER_BUF], out[NUMBER_BUF];
    return err_set(err, ST_FAIL, "%s: a run takes %s by the clock in its process, and %s by ours",
                   s->name, number_fmt_us(in, inside * 1e6), number_fmt_us(out, outside * 1e6));
}

/* Seconds a run, by our clock, of many that a GPU replays without a host in between; NaN: it cannot. */
static double time_lap(struct python_slot *s, double inside)
{
    enum { RUNS_MAX = 1000 };
    json_t *answer;
    const int runs = (int)fmin(fmax(5e-3 / inside, 1), RUNS_MAX);
    const double begin = seconds_now();
    enum status st = python_ask(
        s->child, s->name, json_pack("{s:s, s:i, s:i}", "do", "lap", "id", s->id, "runs", runs), -1,
        run_s, &answer, NULL);
    const double seconds = (seconds_now() - begin) / runs;
    const bool done = st == ST_OK && json_is_true(json_object_get(answer, "graph"));
    json_decref(answer);
    return done ? seconds : NAN;
}

/* What a busy machine cannot do: in nearly every sample more processor time passed than all its threads have in
 * the time that it tells. Who sleeps meanwhile has others work; then our clock counts, and as it has our
 * waiting for a processor in it, it must be far off. On a GPU what goes on around a run, the flush among it, is
 * not told apart here, and takes milliseconds. */
static enum status clocks_agree(struct python_slot *s, struct err *err)
{
    struct witness w = s->witness;
    const size_t n = w.n < WITNESSED ? w.n : WITNESSED;
    const bool gpu = has_copies(s->owner);
    if (!n)
        return ST_OK;
    const double inside = quantile(w.inside, n, 0.5), outside = quantile(w.outside, n, 0.25),
                 work = quantile(w.work, n, 0.25), lap = gpu ? time_lap(s, inside) : NAN;
    if (!gpu && work > 1.5 * inside + 5e-4)
        return two_clocks(s, inside, work, err);
    if (lap > 3 * inside + 1e-3)
        return two_clocks(s, inside, lap, err);
    return outside > 4 * inside + 0.1 ? two_clocks(s, inside, outside, err) : ST_OK;
}

/* A few elements of the output and its last: is any as poison() left it? */
static bool has_written(struct pythons *p)
{
    enum { SPOTS = 16 };
    const bool f32 = p->problem.shape.dtype == DTYPE_F32;
    const void *const pattern = f32 ? (const void *)output_poison_f32 : output_poison_f16;
    const size_t size = dtype_size(p->problem.shape.dtype), n = p->parts[3].bytes / size;
    for (size_t k = 0; k < SPOTS; k++) {
        const size_t at = k ? (size_t)(p->digest * k) % n : n - 1;
        if (memcmp(p->map + p->parts[3].at + at * size, pattern, size) == 0)
            return false;
    }
    return true;
}

/* A fetch brings the whole output, from a GPU over its bus: of large ones not every sample is looked at. */
static bool is_worth_a_look(const struct python_slot *s)
{
    static const double often = 16 << 20; /* bytes for every sample */
    const struct pythons *p = s->owner;
    const double bytes = (double)(has_copies(p) ? p->bytes : p->parts[3].bytes);
    return bytes <= often || s->inspected % (unsigned)ceil(bytes / often) == 0;
}

/* `n` bytes of Q, K or V as the last sample had it, from where `at`, in the memory, points to: there, or, as a GPU's copies
 * were, turned from the source, in *room, which the caller frees. */
static const void *input_of_sample(const struct python_slot *s, enum tensor_id t, const void *at,
                                   size_t n, char **room)
{
    const struct pythons *p = s->owner;
    const struct part *part = &p->parts[t];
    *room = NULL;
    if (!has_copies(p))
        return at;
    const char *source = p->source + part->at;
    const size_t by = input_turn_bytes(&p->problem.shape, t, s->turn),
                 from = ((size_t)((const char *)at - (p->map + part->at)) + by) % part->bytes,
                 first = n < part->bytes - from ? n : part->bytes - from;
    *room = xmalloc(n + 1);
    memcpy(*room, source + from, first);
    memcpy(*room + first, source, n - first);
    return *room;
}

/* A row of the fetched output, at random. */
static bool row_is_right(const struct python_slot *s)
{
    struct pythons *p = s->owner;
    const struct shape *shape = &p->problem.shape;
    const size_t size = dtype_size(shape->dtype);
    char *room[3];
    p->spots = p->spots * 6364136223846793005u + 1442695040888963407u;
    const uint64_t row = (p->spots >> 20) % (uint64_t)(shape->B * shape->H * shape->Sq);
    struct spot spot = spot_of_row(shape, p->map + p->parts[0].at, p->map + p->parts[1].at,
                                   p->map + p->parts[2].at, p->map + p->parts[3].at, (int64_t)row);
    const size_t query = (size_t)spot.D * size,
                 keys = spot.keys ? (size_t)((spot.keys - 1) * spot.k_stride + spot.D) * size : 0;
    spot.q = input_of_sample(s, TENSOR_Q, spot.q, query, &room[TENSOR_Q]);
    spot.k = input_of_sample(s, TENSOR_K, spot.k, keys, &room[TENSOR_K]);
    spot.v = input_of_sample(s, TENSOR_V, spot.v, keys, &room[TENSOR_V]);
    const bool right = spot_is_right(&spot);
    for (int t = 0; t < 3; t++)
        free(room[t]);
    return right;
}

/* The output of the last sample: is it there, and a row of it right? */
static enum status look_at_output(struct python_slot *s, struct err *err)
{
    enum status st = python_fetch(s, err);
    if (st == ST_OK && !has_written(s->owner))
        st = err_set(err, ST_FAIL,
                     "%s: its output was not written when it returned from a timed run", s->name);
    if (st == ST_OK && !row_is_right(s))
        st = err_set(err, ST_FAIL, "%s: the output of a timed run is wrong", s->name);
    return st;
}

enum status python_inspect(struct python_slot *s, bool all, struct err *err)
{
    const bool look = all || is_worth_a_look(s);
    enum status st = ST_OK;
    if (all || !has_copies(s->owner)) /* nobody reads them while samples are taken of copies */
        st = inputs_intact(s->owner, s->name, err);
    s->inspected++;
    if (st == ST_OK && s->late)
        st = err_set(err, ST_FAIL,
                     "%s: its output was not written when it returned from a timed run", s->name);
    if (st == ST_OK && all)
        st = clocks_agree(s, err);
    if (st == ST_OK && all && !python_child_rests(s->child))
        st = err_set(err, ST_FAIL, "%s: a thread of its works on while nothing is asked of it",
                     s->name);
    return st == ST_OK && look ? look_at_output(s, err) : st;
}

enum status python_sample(struct python_slot *s, int repeat, bool cold, bool graph, double *seconds,
                          struct err *err)
{
    json_t *answer;
    json_t *ask = json_pack("{s:s, s:i, s:i, s:b, s:b}", "do", "sample", "id", s->id, "repeat",
                            repeat, "cold", cold, "graph", graph);
    forget_output(s);
    const double begin = seconds_now(), worked = python_child_work(s->child);
    enum status st = python_ask(s->child, s->name, ask, -1, run_s, &answer, err);
    const double outside = seconds_now() - begin, work = python_child_work(s->child) - worked;
    if (st != ST_OK)
        return st;
    const json_t *v = json_object_get(answer, "seconds");
    *seconds = json_number_value(v);
    take_witness(&s->witness, *seconds * repeat, outside,
                 work / fmax(s->owner->problem.threads, 1));
    if (!json_is_number(v) || !(*seconds > 0))
        st = err_set(err, ST_FAIL, "%s: its Python process measured no time", s->name);
    s->late = json_is_true(json_object_get(answer, "placed")) && !has_written(s->owner);
    take_text(answer, "launch", &s->launch);
    take_text(answer, "reason", &s->reason);
    json_decref(answer);
    return st;
}

json_t *python_describe(const struct python_slot *s)
{
    json_t *o = json_object();
    const struct {
        const char *key, *value;
    } texts[] = {{"peer_version", s->version}, {"launch", s->launch}, {"reason", s->reason}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].value)
            json_object_set_new(o, texts[i].key, json_string(texts[i].value));
    return o;
}
