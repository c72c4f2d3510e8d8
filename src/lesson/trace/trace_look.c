/* trace_look.c - `trace banks`, `trace access`, `trace reduce`: a line of a kernel looked at while the simulator runs it.
 *
 * Without a kernel the words choose one of the ladder that shows the thing: what they were when this was a formula
 * (VEC=, ACCESS=, swizzle=, how=) is a kernel, or a parameter of one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "command/ask/keys.h"
#include "command/ask/request.h"
#include "command/output.h"
#include "command/show/looked.h"
#include "lesson/trace/trace_query.h"

/* A call of the verb as it is read. */
struct asked {
    enum look_view view;
    struct look_at look;
    char *kernel;              /* "fa2"; of the words, or what they stand for */
    bool named;                /* of the words */
    struct request_word *more; /* shape and parameters; one without text ends them */
    size_t nmore, cap;
    int64_t most; /* rows that are shown; 0: all */
};

static void asked_clear(struct asked *a)
{
    look_clear(&a->look);
    free(a->kernel);
    for (size_t i = 0; i < a->nmore; i++) {
        free((char *)(uintptr_t)a->more[i].text);
        free((char *)(uintptr_t)a->more[i].value);
    }
    free(a->more);
}

/* A word, or a key with its value; both are copied. */
static void add_word(struct asked *a, const char *text, const char *value)
{
    xgrow((void **)&a->more, &a->cap, a->nmore + 2, sizeof *a->more);
    a->more[a->nmore++] = (struct request_word){xstrdup(text), xstrdup_if(value)};
    a->more[a->nmore] = (struct request_word){0};
}

static void add_number(struct asked *a, const char *key, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    add_word(a, key, text);
}

/* ---- what is looked at ---- */

/* "57", or a file and a number. */
static enum status read_line(struct cmd_call *c, struct look_at *l, struct err *err)
{
    enum { LINE_MAX = 80, DIGITS_MAX = 7 };
    const char *text = call_key(c, "line");
    if (!text)
        return ST_OK;
    const char *colon = strrchr(text, ':'), *digits = colon ? colon + 1 : text;
    const size_t n = strspn(digits, "0123456789");
    if (!n || digits[n] || n > DIGITS_MAX || colon == text || strlen(text) > LINE_MAX) {
        err_set(err, ST_USAGE,
                "line takes a number of the kernel's file, or FILE:NUMBER, as attn.cuh:182");
        return call_mark_key(c, "line", ST_USAGE, err);
    }
    l->line = xstrdup(text);
    return ST_OK;
}

/* "3", or "3,0,1". */
static enum status read_block(struct cmd_call *c, struct look_at *l, struct err *err)
{
    const char *text = call_key(c, "block");
    int64_t *const to[] = {&l->x, &l->y, &l->z};
    enum status st = ST_OK;
    for (int i = 0; text && i < 3 && st == ST_OK; i++) {
        const size_t len = strcspn(text, ",");
        char *part = xstrndup(text, len);
        st = number_parse_int("block", part, 0, INT32_MAX, to[i], err);
        free(part);
        text = text[len] ? text + len + 1 : NULL;
    }
    if (st == ST_OK && text)
        st = err_set(err, ST_USAGE, "block takes at most three numbers, x,y,z");
    return st == ST_OK ? st : call_mark_key(c, "block", st, err);
}

static void take_text(struct cmd_call *c, const char *key, char **to)
{
    const char *text = call_key(c, key);
    if (!text)
        return;
    free(*to);
    *to = xstrdup(text);
}

static enum status read_look(struct cmd_call *c, struct asked *a, struct err *err)
{
    struct look_at *l = &a->look;
    enum status st = read_line(c, l, err);
    if (st == ST_OK)
        st = read_block(c, l, err);
    if (st == ST_OK)
        st = trace_key_int(c, "warp", 0, 31, &l->warp, err);
    if (st == ST_OK)
        st = trace_key_int(c, "turn", 1, LOOK_TURNS, &l->turn, err);
    if (st == ST_OK)
        st = trace_key_int(c, "lanes", 1, 128, &a->most, err);
    take_text(c, a->view == LOOK_ACCESS ? "operand" : "buffer", &l->name);
    l->view = a->view;
    return st;
}

/* ---- words of the formula ---- */

static bool is_dtype(const char *word)
{
    return !strcmp(word, "f16") || !strcmp(word, "bf16") || !strcmp(word, "f32");
}

/* The value of a pair, not marked as used; NULL: there is none. */
static const char *pair_of(const struct cmd_call *c, const char *key)
{
    for (int i = 0; i < c->npairs; i++)
        if (!strcmp(c->pairs[i].key, key))
            return c->pairs[i].value;
    return NULL;
}

static const char *dtype_of(const struct cmd_call *c)
{
    for (int i = 1; i < c->nwords; i++)
        if (is_dtype(c->words[i].text))
            return c->words[i].text;
    return pair_of(c, "dtype");
}

static enum status gone(struct cmd_call *c, const char *key, const char *why, struct err *err)
{
    if (!call_key(c, key))
        return ST_OK;
    err_set(err, ST_USAGE, "%s= was the formula's, and this runs a kernel: %s", key, why);
    return call_mark_key(c, key, ST_USAGE, err);
}

static void stand_for(struct asked *a, const char *kernel, const char *name)
{
    if (!a->kernel)
        a->kernel = xstrdup(kernel);
    if (name && !a->look.name && !a->look.line)
        a->look.name = xstrdup(name);
}

/* Who reads a tile so: an element a lane, 16 bytes a lane, 16 bytes in changed places. */
static enum status choose_banks(struct cmd_call *c, struct asked *a, struct err *err)
{
    static const char *const answers[] = {"no", "yes", NULL};
    int swizzled = 0;
    int64_t vec = 0;
    enum status st =
        gone(c, "column", "turn=N is the N-th time that the warp comes to the line", err);
    if (st != ST_OK || a->named)
        return st;
    st = trace_key_word(c, "swizzle", answers, &swizzled, err);
    if (st == ST_OK)
        st = trace_key_int(c, "VEC", 1, 8, &vec, err);
    const char *dtype = dtype_of(c);
    const bool f32 = dtype && !strcmp(dtype, "f32");
    if (st == ST_OK && vec != 0 && vec != 1 && vec != (f32 ? 4 : 8))
        return err_set(err, ST_USAGE,
                       "no kernel of the ladder reads %" PRId64
                       " elements a lane: VEC=1 and 16 bytes have "
                       "one, or name a kernel: trace banks fa2",
                       vec);
    if (vec == 1)
        stand_for(a, "qtile_seq", "Qs");
    else if (f32)
        stand_for(a, "fa2", "Ks");
    else
        stand_for(a, swizzled ? "fa2_mma_swizzle" : "fa2_mma_plain", "Ks");
    return st;
}

static enum status choose_access(struct cmd_call *c, struct asked *a, struct err *err)
{
    (void)err;
    if (!a->named && !dtype_of(c))
        add_word(a, "f32", NULL);
    if (!a->named)
        stand_for(a, "row_online", "K");
    return ST_OK;
}

static enum status choose_reduce(struct cmd_call *c, struct asked *a, struct err *err)
{
    static const char *const hows[] = {"shuffle", "one", "atomic", NULL};
    static const char *const ops[] = {"sum", "max", NULL};
    static const enum look_way ways[] = {WAY_SHUFFLE, WAY_SHARED, WAY_ATOMIC};
    int how = -1, op = -1;
    enum status st = trace_key_word(c, "how", hows, &how, err);
    if (st == ST_OK)
        st = trace_key_word(c, "op", ops, &op, err);
    if (st == ST_OK)
        st = trace_key_int(c, "order", 0, INT32_MAX, &a->look.seed, err);
    if (st == ST_OK)
        st = gone(c, "shift", "input= chooses other numbers", err);
    if (st == ST_OK)
        st = gone(c, "break", "edit a kernel, and trace the copy", err);
    if (st != ST_OK)
        return st;
    a->look.way = how < 0 ? WAY_ANY : ways[how];
    a->look.op = (enum look_op)(op + 1);
    if (a->named)
        return ST_OK;
    if (!dtype_of(c))
        add_word(a, "f32", NULL);
    if (how == 1 && !pair_of(c, "REDUCE"))
        add_word(a, "REDUCE", "block");
    stand_for(a, how == 2 ? "row_atomic" : "row_online", NULL);
    return ST_OK;
}

/* ---- the request ---- */

static bool any_of(const struct cmd_call *c, const char *const *keys)
{
    for (; *keys; keys++)
        if (pair_of(c, *keys))
            return true;
    return false;
}

static bool takes(const struct kernel *k, enum dtype t)
{
    return k && k->cuda && k->cuda->dtypes & 1u << t;
}

/* Small: the first of these lengths and head dimensions that the kernel takes, those that were given apart. */
static void add_size(const struct session *s, const struct cmd_call *c, struct asked *a)
{
    static const char *const sizes[] = {"S", "Sq", "Sk", "input", NULL};
    static const int64_t lengths[][2] = {{64, 64}, {1, 64}, {256, 256}};
    static const int64_t dims[] = {64, 128, 32, 256, 512};
    const struct kernel *k = registry_find(s->services.registry, a->kernel);
    const bool sized = any_of(c, sizes), has_d = pair_of(c, "D") != NULL;
    struct shape fit = SHAPE_DEFAULT;
    fit.B = fit.H = fit.Hkv = 1;
    bool found = !k || !k->cuda || sized || has_d;
    for (size_t i = 0; i < sizeof dims / sizeof *dims && !found; i++)
        for (size_t n = 0; n < sizeof lengths / sizeof *lengths && !found; n++) {
            fit.Sq = lengths[n][0];
            fit.Sk = lengths[n][1];
            fit.D = dims[i];
            if (takes(k, DTYPE_F32) && !takes(k, DTYPE_F16))
                fit.dtype = DTYPE_F32;
            const struct param_values v = desc_defaults_for(k->cuda, &fit);
            found = desc_supports(k->cuda, &fit, &v, 0, NULL) == ST_OK;
        }
    if (!found || !k || !k->cuda || sized || has_d)
        fit.Sq = fit.Sk = fit.D = 64;
    if (!sized) {
        add_number(a, "Sq", (uint64_t)fit.Sq);
        add_number(a, "Sk", (uint64_t)fit.Sk);
    }
    if (!has_d)
        add_number(a, "D", (uint64_t)fit.D);
}

static void add_usual(const struct session *s, const struct cmd_call *c, struct asked *a)
{
    static const char *const ones[] = {"B", "H", NULL};
    add_size(s, c, a);
    for (int i = 0; ones[i]; i++)
        if (!pair_of(c, ones[i]))
            add_number(a, ones[i], 1);
    if (!pair_of(c, "seed"))
        add_number(a, "seed", s->settings.problem.seed);
}

/* The rest of the call: what is no key of this verb is of the shape or the kernel. */
static enum status add_rest(struct cmd_call *c, int from, struct asked *a, struct err *err)
{
    static const char *const heeded[] = {"threads", "timeout", NULL};
    for (int i = from; i < c->nwords; i++)
        add_word(a, c->words[i].text, NULL);
    for (int i = 0; i < c->npairs; i++) {
        struct cmd_pair *p = &c->pairs[i];
        if (p->used)
            continue;
        const bool sim = !strcmp(p->key, "backend") && !strcmp(p->value, backend_simulator()->name);
        bool option = field_find(option_keys, p->key) && !sim;
        for (int k = 0; heeded[k]; k++)
            option = option && strcmp(p->key, heeded[k]) != 0;
        if (option) {
            err_set(err, ST_USAGE,
                    "trace looks into kernels on backend=%s, which has no use for %s=",
                    backend_simulator()->name, p->key);
            return call_mark_key(c, p->key, ST_USAGE, err);
        }
        add_word(a, p->key, p->value);
        (void)call_key(c, p->key);
    }
    return ST_OK;
}

static enum status check_request(struct request *r, struct err *err)
{
    if (r->nkernels != 1)
        return err_set(err, ST_USAGE, "trace looks at one kernel at a time");
    free(r->options.backend);
    r->options.backend = xstrdup(backend_simulator()->name);
    return measure_refuses(r, 0, err) ? ST_NO : ST_OK;
}

/* A kernel of f32 alone is looked at in f32. */
static void add_dtype(const struct session *s, const struct cmd_call *c, struct asked *a)
{
    const struct kernel *k = registry_find(s->services.registry, a->kernel);
    if (!dtype_of(c) && a->named && k && !takes(k, DTYPE_F16) && takes(k, DTYPE_F32))
        add_word(a, "f32", NULL);
}

typedef enum status choose_fn(struct cmd_call *c, struct asked *a, struct err *err);
static choose_fn *const choose[] = {
    [LOOK_BANKS] = choose_banks, [LOOK_ACCESS] = choose_access, [LOOK_REDUCE] = choose_reduce};

static enum status read_call(struct session *s, struct cmd_call *c, struct asked *a,
                             struct err *err)
{
    a->named = c->nwords > 1 && (!is_shape_word(c->words[1].text) ||
                                 registry_find(s->services.registry, c->words[1].text));
    if (a->named)
        a->kernel = xstrdup(c->words[1].text);
    enum status st = read_look(c, a, err);
    if (st == ST_OK)
        st = choose[a->view](c, a, err);
    if (st != ST_OK)
        return st;
    add_dtype(s, c, a);
    add_usual(s, c, a);
    st = add_rest(c, a->named ? 2 : 1, a, err);
    return st == ST_OK ? call_finish(s, c, err) : st;
}

/* ---- the verb ---- */

static enum status show(struct session *s, struct cmd_call *c, const struct asked *a,
                        const struct looked *l)
{
    struct rowset rows = {.type = NULL};
    looked_rows(l, a->most, &rows);
    if (call_format(c) == FORMAT_TEXT) {
        const size_t from = c->out->len;
        looked_heading(l, c->out);
        lines_wrap(c->out, from, call_width(s, c));
    }
    charts_add(&c->charts, looked_chart(l));
    const enum status st = call_rows(s, c, &rows, looked_columns(l->view));
    rowset_clear(&rows);
    return st;
}

/* The kernel is asked for, and looked at. */
static enum status look(struct session *s, const struct asked *a, struct looked *out,
                        struct err *err)
{
    struct request r;
    enum status st = request_of(s, a->kernel, a->more, REQUEST_PLAN | REQUEST_FRESH, &r, err);
    if (st != ST_OK)
        return st;
    st = check_request(&r, err);
    if (st == ST_OK)
        st = looked_ask(s, &r, &a->look, out, err);
    request_clear(&r);
    return st;
}

static enum status follow(struct session *s, struct cmd_call *c, enum look_view view,
                          struct err *err)
{
    struct asked a = {.view = view, .look = LOOK_NONE};
    struct looked l = {.view = view};
    enum status st = read_call(s, c, &a, err);
    if (st == ST_OK)
        st = look(s, &a, &l, err);
    if (st == ST_OK)
        st = show(s, c, &a, &l);
    looked_clear(&l);
    asked_clear(&a);
    return st;
}

static enum status follow_banks(struct session *s, struct cmd_call *c, struct err *err)
{
    return follow(s, c, LOOK_BANKS, err);
}

static enum status follow_access(struct session *s, struct cmd_call *c, struct err *err)
{
    return follow(s, c, LOOK_ACCESS, err);
}

static enum status follow_reduce(struct session *s, struct cmd_call *c, struct err *err)
{
    return follow(s, c, LOOK_REDUCE, err);
}

const struct trace_view trace_banks = {
    .word = "banks", .columns = &trace_banks_columns, .exec = follow_banks, .kernels = true};
const struct trace_view trace_access = {
    .word = "access", .columns = &trace_access_columns, .exec = follow_access, .kernels = true};
const struct trace_view trace_reduce = {
    .word = "reduce", .columns = &trace_reduce_columns, .exec = follow_reduce, .kernels = true};
