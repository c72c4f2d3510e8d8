/* settings.c - shape, inputs, options, parameters and names: set, copied, compared, read from a file.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/sanitize.h"
#include "command/ask/keys.h"
#include "command/line/parse.h"
#include "command/output.h"
#include "command/session.h"

/* ---- names for commands ---- */

const struct alias *alias_find(const struct alias_list *l, const char *name)
{
    for (size_t i = 0; i < l->count; i++)
        if (!strcmp(l->items[i].name, name))
            return &l->items[i];
    return NULL;
}

void alias_clear(struct alias_list *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->items[i].name), free(l->items[i].text);
    free(l->items);
    *l = (struct alias_list){0};
}

/* ---- all of it ---- */

void settings_init(struct settings *x)
{
    *x = (struct settings){.problem = PROBLEM_DEFAULT};
    options_init(&x->options);
}

static void clear_param(struct param_setting *p)
{
    free(p->kernel);
    free(p->name);
    free(p->value);
}

static void clear_params(struct settings *x)
{
    for (size_t i = 0; i < x->nparams; i++)
        clear_param(&x->params[i]);
    x->nparams = 0;
}

void settings_clear(struct settings *x)
{
    clear_params(x);
    free(x->params);
    alias_clear(&x->aliases);
    options_clear(&x->options);
    problem_clear(&x->problem);
    *x = (struct settings){0};
}

static void add_param(struct settings *x, const char *kernel, const char *name, const char *value)
{
    xgrow((void **)&x->params, &x->capparams, x->nparams + 1, sizeof *x->params);
    x->params[x->nparams++] = (struct param_setting){
        .kernel = kernel ? xstrdup(kernel) : NULL, .name = xstrdup(name), .value = xstrdup(value)};
}

void settings_copy(struct settings *dst, const struct settings *src)
{
    problem_copy(&dst->problem, &src->problem);
    options_copy(&dst->options, &src->options);
    clear_params(dst);
    for (size_t i = 0; i < src->nparams; i++)
        add_param(dst, src->params[i].kernel, src->params[i].name, src->params[i].value);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static bool same_params(const struct settings *a, const struct settings *b)
{
    bool same = a->nparams == b->nparams;
    for (size_t i = 0; same && i < a->nparams; i++)
        same = same_text(a->params[i].kernel, b->params[i].kernel) &&
               !strcmp(a->params[i].name, b->params[i].name) &&
               !strcmp(a->params[i].value, b->params[i].value);
    return same;
}

bool settings_equal(const struct settings *a, const struct settings *b)
{
    return problem_equal(&a->problem, &b->problem) &&
           record_equal(option_keys, &a->options, &b->options) && same_params(a, b);
}

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
    struct settings *x = &s->settings;
    enum status st = param_try(s, kernel, name, value, known, err);
    for (size_t i = 0; i < x->nparams && !st; i++)
        if (same_text(x->params[i].kernel, kernel) && !strcmp(x->params[i].name, name)) {
            char *old = x->params[i].value; /* `value` may be it */
            x->params[i].value = xstrdup(value);
            free(old);
            return ST_OK;
        }
    if (!st)
        add_param(x, kernel, name, value);
    return st;
}

bool session_drop_param(struct session *s, const char *kernel, const char *name)
{
    struct settings *x = &s->settings;
    size_t kept = 0;
    for (size_t i = 0; i < x->nparams; i++) {
        const bool drop = (!kernel || same_text(x->params[i].kernel, kernel)) &&
                          (!name || !strcmp(x->params[i].name, name));
        if (drop)
            clear_param(&x->params[i]);
        else
            x->params[kept++] = x->params[i];
    }
    const bool any = kept < x->nparams;
    x->nparams = kept;
    return any;
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

/* ---- the configuration file: `set` and `alias` commands, one a line ---- */

static enum status config_line(struct session *s, const char *line, struct err *err)
{
    struct call_list calls;
    enum status st = parse_line(s, line, &calls, err);
    for (size_t i = 0; i < calls.count && !st; i++)
        if (calls.calls[i]->entry != command_named("set") &&
            calls.calls[i]->entry != command_named("alias"))
            st = err_set(err, ST_USAGE, "only set and alias may stand here, not %s",
                         calls.calls[i]->entry->name);
    call_list_clear(&calls);
    struct str out = {0};
    if (!st)
        st = command_line(s, line, &out, err);
    str_free(&out);
    return st;
}

static void config_lines(struct session *s, const char *path, char *text)
{
    int number = 1;
    for (char *line; (line = strsep(&text, "\n")); number++) {
        struct err err = ERR_INIT;
        if (config_line(s, line, &err))
            session_note(s, "%s:%d: %s", path, number, err.text);
    }
}

void session_load_config(struct session *s)
{
    char *path = path_in(PATH_CONFIG, "config"), *text;
    size_t len;
    struct err err = ERR_INIT;
    const bool none = !path || (access(path, F_OK) && (errno == ENOENT || errno == ENOTDIR));
    if (!none) {
        if (str_read_file(path, 1 << 20, &text, &len, &err))
            session_note(s, "%s", err.text);
        else {
            config_lines(s, path, text);
            free(text);
        }
    }
    free(path);
}
