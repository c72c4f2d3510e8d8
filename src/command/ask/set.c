/* set.c - one key of `set`, whichever table has it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/set.h"

#include <stdlib.h>
#include <string.h>
#include <string.h>

#include "base/sanitize.h"
#include "command/ask/keys.h"
#include "command/output.h"

/* ---- parameters ---- */

/* Does any kernel (or the one named) take this value? The message of the last refusal stays. */
static enum status param_try(const struct session *s, const char *kernel, const char *name,
                             const char *value, bool *known, struct err *err)
{
    enum status st = ST_USAGE;
    *known = false;
    for (int i = 0; i < registry_count(s->services.registry) && st; i++) {
        const struct kernel *k = registry_at(s->services.registry, i);
        if (kernel && strcmp(k->name, kernel))
            continue;
        const struct kernel_desc *sides[] = {k->cuda, k->cpu};
        for (int side = 0; side < 2 && st; side++) {
            if (!sides[side] || desc_param_index(sides[side], name) < 0)
                continue;
            struct param_values v = sides[side]->defaults;
            *known = true;
            st = desc_param_set(sides[side], &v, name, value, err);
        }
    }
    return st;
}

enum status session_set_param(struct session *s, const char *kernel, const char *name,
                              const char *value, bool *known, struct err *err)
{
    const enum status st = param_try(s, kernel, name, value, known, err);
    if (!st)
        settings_put_param(&s->settings, kernel, name, value);
    return st;
}

/* ---- set ---- */

static enum status set_problem(struct session *s, const char *key, const char *value, bool *known,
                               struct err *err)
{
    struct problem p = PROBLEM_DEFAULT;
    problem_copy(&p, &s->settings.problem);
    enum status st = problem_set(&p, key, value, known, err);
    if (!st && *known)
        st = shape_check(&p.shape, err);
    if (!st && *known)
        problem_copy(&s->settings.problem, &p);
    problem_clear(&p);
    return st;
}

static enum status set_option(struct session *s, const struct field *k, const char *value,
                              struct err *err)
{
    struct options o = {0};
    options_copy(&o, &s->settings.options);
    enum status st = field_set(k, &o, value, err);
    if (!st && !strcmp(k->name, "gpu") && o.gpu && !session_gpu(s, o.gpu, err))
        st = ST_USAGE;
    if (!st && !field_equal(field_find(option_keys, "host"), &o, &s->settings.options))
        st = o.host && strchr(o.host, ',') ? err_set(err, ST_USAGE,
                                                     "one host is set; several are for run, check, "
                                                     "compare and sweep: run fa2 host=%s",
                                                     o.host)
                                           : host_choose(s, o.host, err);
    if (!st && o.nodes && !field_equal(field_find(option_keys, "nodes"), &o, &s->settings.options))
        st = host_choose(s, o.nodes, err);
    if (!st)
        options_copy(&s->settings.options, &o);
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
    for (int k = 0; k < registry_count(s->services.registry); k++) {
        const struct kernel *kernel = registry_at(s->services.registry, k);
        const struct kernel_desc *d = kernel_main(kernel);
        if (d && i < (size_t)d->nparams)
            return d->params[i].name;
        i -= d ? (size_t)d->nparams : 0;
    }
    return NULL;
}

const char *session_nearest_key(const struct session *s, const char *word)
{
    return str_nearest(word, any_key, s);
}

enum status unknown_key(struct session *s, const char *key, struct err *err)
{
    char *clean = sanitize_line(key);
    err_set(err, ST_USAGE, "there is no key \"%s\"", clean);
    free(clean);
    const char *near = session_nearest_key(s, key);
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
    const struct field *o = field_find(option_keys, key);
    if (o)
        return set_option(s, o, value, err);
    st = session_set_param(s, NULL, key, value, &known, err);
    return known ? st : unknown_key(s, key, err);
}
