/* history.c - see history.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/app/history.h"

#include <string.h>

static struct settings take(const struct session *s)
{
    struct settings x;
    settings_init(&x);
    settings_copy(&x, &s->settings);
    return x;
}

/* The oldest step falls off. */
static void push(struct settings *stack, int *n, struct settings x)
{
    if (*n == UNDO_MAX) {
        settings_clear(&stack[0]);
        memmove(stack, stack + 1, (UNDO_MAX - 1) * sizeof *stack);
        --*n;
    }
    stack[(*n)++] = x;
}

static void drop_all(struct settings *stack, int *n)
{
    while (*n > 0)
        settings_clear(&stack[--*n]);
}

void history_start(struct history *h, const struct session *s)
{
    *h = (struct history){.now = take(s)};
}

void history_clear(struct history *h)
{
    drop_all(h->undo, &h->nundo);
    drop_all(h->redo, &h->nredo);
    settings_clear(&h->now);
}

bool history_look(struct history *h, const struct session *s)
{
    struct settings x = take(s);
    if (settings_equal(&x, &h->now)) {
        settings_clear(&x);
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
    settings_copy(&s->settings, &h->now);
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
