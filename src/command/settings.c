/* settings.c - shape, inputs, options, parameters and names as values: copied, compared, forgotten.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/settings.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

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
    hosts_clear(&x->hosts);
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

void settings_put_param(struct settings *x, const char *kernel, const char *name, const char *value)
{
    for (size_t i = 0; i < x->nparams; i++)
        if (same_text(x->params[i].kernel, kernel) && !strcmp(x->params[i].name, name)) {
            char *old = x->params[i].value; /* `value` may be it */
            x->params[i].value = xstrdup(value);
            free(old);
            return;
        }
    add_param(x, kernel, name, value);
}

bool settings_drop_param(struct settings *x, const char *kernel, const char *name)
{
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
