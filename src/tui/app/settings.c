/* settings.c - see settings.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/app/settings.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* "name value" a line, in the order of the table. */
static char *options_text(const struct options *o)
{
    struct str s = {0};
    char value[128];
    for (const struct option_key *k = option_keys; k->name; k++) {
        k->get(o, value, sizeof value);
        str_addf(&s, "%s %s\n", k->name, value);
    }
    return str_take(&s);
}

static struct settings take(const struct session *s)
{
    struct str params = {0};
    for (size_t i = 0; i < s->nparams; i++)
        str_addf(&params, "%s %s %s\n", s->params[i].kernel ? s->params[i].kernel : "-",
                 s->params[i].name, s->params[i].value);
    struct settings x = {
        .problem = PROBLEM_DEFAULT,
        .options = options_text(&s->options),
        .params = str_take(&params),
    };
    problem_copy(&x.problem, &s->problem);
    return x;
}

static void drop(struct settings *x)
{
    problem_clear(&x->problem);
    free(x->options);
    free(x->params);
    *x = (struct settings){0};
}

static bool same(const struct settings *a, const struct settings *b)
{
    return problem_equal(&a->problem, &b->problem) && strcmp(a->options, b->options) == 0 &&
           strcmp(a->params, b->params) == 0;
}

static void put_options(struct session *s, const char *text)
{
    char *copy = xstrdup(text), *save = NULL;
    const struct option_key *k = option_keys;
    for (char *line = strtok_r(copy, "\n", &save); line && k->name;
         line = strtok_r(NULL, "\n", &save), k++)
        (void)k->set(&s->options, line + strlen(k->name) + 1, NULL);
    free(copy);
}

static void put_params(struct session *s, const char *text)
{
    for (size_t i = 0; i < s->nparams; i++) {
        free(s->params[i].kernel);
        free(s->params[i].name);
        free(s->params[i].value);
    }
    s->nparams = 0;
    char *copy = xstrdup(text), *save = NULL;
    for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *rest = NULL;
        const char *kernel = strtok_r(line, " ", &rest);
        const char *name = strtok_r(NULL, " ", &rest);
        xgrow((void **)&s->params, &s->capparams, s->nparams + 1, sizeof *s->params);
        s->params[s->nparams].kernel = strcmp(kernel, "-") ? xstrdup(kernel) : NULL;
        s->params[s->nparams].name = xstrdup(name);
        s->params[s->nparams++].value = xstrdup(rest);
    }
    free(copy);
}

static void put(struct session *s, const struct settings *x)
{
    problem_copy(&s->problem, &x->problem);
    put_options(s, x->options);
    put_params(s, x->params);
}

/* The oldest step falls off. */
static void push(struct settings *stack, int *n, struct settings x)
{
    if (*n == UNDO_MAX) {
        drop(&stack[0]);
        memmove(stack, stack + 1, (UNDO_MAX - 1) * sizeof *stack);
        --*n;
    }
    stack[(*n)++] = x;
}

static void drop_all(struct settings *stack, int *n)
{
    while (*n > 0)
        drop(&stack[--*n]);
}

void history_start(struct history *h, const struct session *s)
{
    *h = (struct history){.now = take(s)};
}

void history_clear(struct history *h)
{
    drop_all(h->undo, &h->nundo);
    drop_all(h->redo, &h->nredo);
    drop(&h->now);
}

bool history_look(struct history *h, const struct session *s)
{
    struct settings x = take(s);
    if (same(&x, &h->now)) {
        drop(&x);
        return false;
    }
    push(h->undo, &h->nundo, h->now);
    drop_all(h->redo, &h->nredo);
    h->now = x;
    return true;
}

static bool step(struct history *h, struct session *s, struct settings *from, int *nfrom,
                 struct settings *to, int *nto)
{
    if (*nfrom == 0)
        return false;
    push(to, nto, h->now);
    h->now = from[--*nfrom];
    put(s, &h->now);
    return true;
}

bool history_undo(struct history *h, struct session *s)
{
    return step(h, s, h->undo, &h->nundo, h->redo, &h->nredo);
}

bool history_redo(struct history *h, struct session *s)
{
    return step(h, s, h->redo, &h->nredo, h->undo, &h->nundo);
}
