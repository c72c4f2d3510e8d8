/* session.c - the context that commands work on; helpers are made on first use.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "command/internal.h"

struct session *session_new(const char *program)
{
    command_register_core();
    struct session *s = xcalloc(1, sizeof *s);
    s->problem = PROBLEM_DEFAULT;
    options_init(&s->options);
    s->registry = registry_new();
    s->devices = devices_new();
    s->results = json_array();
    s->journal = json_array();
    s->program = program;
    return s;
}

void session_free(struct session *s)
{
    if (!s)
        return;
    super_free(s->super);
    s->front = (struct front){0}; /* it is gone by now */
    session_record_off(s, NULL);
    library_free(s->library);
    free(s->gpu.name);
    json_decref(s->journal);
    store_close(s->store);
    for (size_t i = 0; i < s->nparams; i++) {
        free(s->params[i].kernel);
        free(s->params[i].name);
        free(s->params[i].value);
    }
    free(s->params);
    json_decref(s->last.rows);
    free(s->last.command);
    if (s->last.arena)
        arena_free(s->last.arena);
    json_decref(s->results);
    alias_clear(&s->aliases);
    for (size_t i = 0; i < s->log.count; i++)
        free(s->log.items[i].text);
    free(s->log.items);
    devices_free(s->devices);
    registry_free(s->registry);
    options_clear(&s->options);
    problem_clear(&s->problem);
    free(s);
}

struct super *session_super(struct session *s)
{
    if (!s->super)
        s->super = super_new(NULL);
    return s->super;
}

struct store *session_store(struct session *s)
{
    struct err err = ERR_INIT;
    if (!s->store && !s->store_failed && store_open(NULL, &s->store, &err)) {
        s->store = NULL;
        s->store_failed = true;
        session_note(s, "results are not kept: %s", err.text);
    }
    return s->store;
}

void session_note(struct session *s, const char *fmt, ...)
{
    if (!s->front.note)
        return;
    struct str text = {0};
    va_list ap;
    va_start(ap, fmt);
    str_vaddf(&text, fmt, ap);
    va_end(ap);
    char *clean = sanitize_line(str_text(&text));
    s->front.note(s->front.ctx, clean);
    free(clean);
    str_free(&text);
}

/* ---- parameters ---- */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

/* Does any kernel (or the one named) take this value? The message of the last refusal stays. */
static enum status param_try(const struct session *s, const char *kernel, const char *name,
                             const char *value, bool *known, struct err *err)
{
    enum status st = ST_USAGE;
    *known = false;
    for (int i = 0; i < registry_count(s->registry) && st; i++) {
        const struct kernel *k = registry_at(s->registry, i);
        if (kernel && strcmp(k->name, kernel))
            continue;
        const struct kernel_desc *sides[] = {k->cuda, k->cpu};
        for (int side = 0; side < 2 && st; side++) {
            if (!sides[side] || desc_param_index(sides[side], name) < 0)
                continue;
            struct param_values v = desc_defaults(sides[side]);
            *known = true;
            st = desc_param_set(sides[side], &v, name, value, err);
        }
    }
    return st;
}

enum status session_set_param(struct session *s, const char *kernel, const char *name,
                              const char *value, bool *known, struct err *err)
{
    enum status st = param_try(s, kernel, name, value, known, err);
    if (st)
        return st;
    size_t i = 0;
    while (i < s->nparams &&
           !(same_text(s->params[i].kernel, kernel) && !strcmp(s->params[i].name, name)))
        i++;
    if (i == s->nparams) {
        xgrow((void **)&s->params, &s->capparams, ++s->nparams, sizeof *s->params);
        s->params[i].kernel = kernel ? xstrdup(kernel) : NULL;
        s->params[i].name = xstrdup(name);
    } else {
        free(s->params[i].value);
    }
    s->params[i].value = xstrdup(value);
    return ST_OK;
}

bool session_drop_param(struct session *s, const char *kernel, const char *name)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->nparams; i++) {
        bool drop = (!kernel || same_text(s->params[i].kernel, kernel)) &&
                    (!name || !strcmp(s->params[i].name, name));
        if (!drop) {
            s->params[kept++] = s->params[i];
            continue;
        }
        free(s->params[i].kernel);
        free(s->params[i].name);
        free(s->params[i].value);
    }
    bool any = kept < s->nparams;
    s->nparams = kept;
    return any;
}

/* ---- set ---- */

static enum status set_problem(struct session *s, const char *key, const char *value, bool *known,
                               struct err *err)
{
    struct problem p = PROBLEM_DEFAULT;
    problem_copy(&p, &s->problem);
    enum status st = problem_set(&p, key, value, known, err);
    if (!st && *known)
        st = shape_check(&p.shape, err);
    if (!st && *known)
        problem_copy(&s->problem, &p);
    problem_clear(&p);
    return st;
}

static enum status set_option(struct session *s, const struct option_key *k, const char *value,
                              struct err *err)
{
    struct options o = {0};
    options_copy(&o, &s->options);
    enum status st = k->set(&o, value, err);
    if (!st && !strcmp(k->name, "gpu") && o.gpu && !session_gpu(s, o.gpu, err))
        st = ST_USAGE;
    if (!st)
        options_copy(&s->options, &o);
    options_clear(&o);
    return st;
}

/* Every key of `set`, parameters of all kernels last. */
static const char *any_key(const void *ctx, size_t i)
{
    static const struct cmd_entry all = {.flags = CMD_SHAPE | CMD_OPTIONS};
    const struct session *s = ctx;
    struct key_list list = {.entry = &all};
    struct key_info info;
    size_t n = 0;
    while (key_at(&list, n, &info))
        if (n++ == i)
            return info.name;
    i -= n;
    for (int k = 0; k < registry_count(s->registry); k++) {
        const struct kernel *kernel = registry_at(s->registry, k);
        const struct kernel_desc *d = kernel_main(kernel);
        if (d && i < (size_t)d->nparams)
            return d->params[i].name;
        i -= d ? (size_t)d->nparams : 0;
    }
    return NULL;
}

enum status unknown_key(struct session *s, const char *key, struct err *err)
{
    char *clean = sanitize_line(key);
    err_set(err, ST_USAGE, "there is no key \"%s\"", clean);
    free(clean);
    const char *near = str_nearest(key, any_key, s);
    if (near)
        err_suggest(err, near);
    else
        err_suggest_text(err, "; \"show\" lists them");
    return ST_USAGE;
}

enum status session_set(struct session *s, const char *key, const char *value, struct err *err)
{
    bool known = false;
    enum status st = set_problem(s, key, value, &known, err);
    if (known)
        return st;
    const struct option_key *o = option_find(key);
    if (o)
        return set_option(s, o, value, err);
    st = session_set_param(s, NULL, key, value, &known, err);
    return known ? st : unknown_key(s, key, err);
}
