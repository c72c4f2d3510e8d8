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
#include "base/mem.h"
#include "base/sanitize.h"
#include "base/str.h"
#include "kernel/registry.h"

/* Importing PyTorch from a cold disk takes long; the supervisor allows 120 s for a load. Runs are
 * the supervisor's to stop, as the user's timeout= says; this is the last resort. */
static const double load_s = 100, run_s = 600;

enum { PARTS = 4 };

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
};

struct pythons {
    struct child *children;
    struct python_slot *slots;
    int next_id;
    int memfd; /* -1: none */
    char *map;
    size_t bytes;
    struct part parts[PARTS]; /* q k v o */
    uint64_t digest;          /* of q k v */
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

/* Sealed against resizing: a child that shrinks it would crash us. */
static enum status map_memory(struct pythons *p, struct err *err)
{
    p->memfd = memfd_create("attnscope-python", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (p->memfd < 0 || ftruncate(p->memfd, (off_t)p->bytes) != 0 ||
        fcntl(p->memfd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return err_set(err, ST_FAIL, "no memory to share with Python: %s", strerror(errno));
    void *map = mmap(NULL, p->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, p->memfd, 0);
    if (map == MAP_FAILED)
        return err_set(err, ST_FAIL, "no memory to share with Python: %s", strerror(errno));
    p->map = map;
    return ST_OK;
}

/* Of everything before the output: gaps are zero and count too. Words, for speed. */
static uint64_t digest(const struct pythons *p)
{
    const size_t n = (p->parts[3].at - OUTPUT_GUARD_BYTES) / sizeof(uint64_t);
    uint64_t h = 0xcbf29ce484222325u, word;
    for (size_t i = 0; i < n; i++) {
        memcpy(&word, p->map + i * sizeof word, sizeof word);
        h = (h ^ word) * 0x100000001b3u;
        h ^= h >> 29;
    }
    return h;
}

static enum status fill_inputs(struct pythons *p, struct err *err)
{
    const struct python_problem *problem = &p->problem;
    enum status st = problem->copy(problem->ctx, p->map + p->parts[0].at, p->map + p->parts[1].at,
                                   p->map + p->parts[2].at, err);
    p->digest = digest(p);
    return st;
}

/* All children see the same inputs; one that writes there is told off, and they are made again. */
static enum status inputs_intact(struct pythons *p, const char *name, struct err *err)
{
    if (digest(p) == p->digest)
        return ST_OK;
    memset(p->map, 0, p->parts[3].at - OUTPUT_GUARD_BYTES);
    enum status st = fill_inputs(p, err);
    return st == ST_OK ? err_set(err, ST_FAIL, "%s overwrote its inputs", name) : st;
}

static enum status need_memory(struct pythons *p, const struct python_problem *problem,
                               struct err *err)
{
    if (p->map)
        return ST_OK;
    p->problem = *problem;
    lay_out(p);
    enum status st = map_memory(p, err);
    if (st == ST_OK)
        st = fill_inputs(p, err);
    if (st != ST_OK)
        pythons_drop(p);
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
    return p;
}

static void free_slot(struct python_slot *s)
{
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
    if (p->map)
        munmap(p->map, p->bytes);
    if (p->memfd >= 0)
        close(p->memfd);
    p->map = NULL;
    p->memfd = -1;
}

void pythons_free(struct pythons *p)
{
    if (!p)
        return;
    pythons_drop(p);
    while (p->children)
        drop_child(p, p->children);
    free(p);
}

const void *pythons_memory(const struct pythons *p, size_t *bytes)
{
    *bytes = p->map ? p->bytes : 0;
    return p->map;
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

static void poison(const struct pythons *p)
{
    const bool f32 = p->problem.shape.dtype == DTYPE_F32;
    const unsigned char *pattern = f32 ? output_poison_f32 : output_poison_f16;
    const size_t size = f32 ? sizeof output_poison_f32 : sizeof output_poison_f16;
    const struct part *o = &p->parts[3];
    memset(p->map + o->at - OUTPUT_GUARD_BYTES, output_guard_byte, OUTPUT_GUARD_BYTES);
    memset(p->map + o->at + o->bytes, output_guard_byte, OUTPUT_GUARD_BYTES);
    for (size_t i = 0; i < o->bytes; i += size)
        memcpy(p->map + o->at + i, pattern, size);
}

enum status python_run(struct python_slot *s, struct err *err)
{
    json_t *answer;
    poison(s->owner);
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

enum status python_sample(struct python_slot *s, int repeat, bool cold, bool graph, double *seconds,
                          struct err *err)
{
    json_t *answer;
    json_t *ask = json_pack("{s:s, s:i, s:i, s:b, s:b}", "do", "sample", "id", s->id, "repeat",
                            repeat, "cold", cold, "graph", graph);
    enum status st = python_ask(s->child, s->name, ask, -1, run_s, &answer, err);
    if (st != ST_OK)
        return st;
    const json_t *v = json_object_get(answer, "seconds");
    *seconds = json_number_value(v);
    if (!json_is_number(v) || !(*seconds > 0))
        st = err_set(err, ST_FAIL, "%s: its Python process measured no time", s->name);
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
