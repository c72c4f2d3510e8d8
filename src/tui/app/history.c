/* history.c - see history.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/app/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static struct settings take(const struct session *s)
{
    struct settings x;
    settings_init(&x);
    settings_copy(&x, &s->settings);
    return x;
}

/* The oldest step falls off. */
static void push(struct steps *k, struct settings x)
{
    void *items = k->items;
    if (k->n == UNDO_MAX) {
        settings_clear(&k->items[0]);
        memmove(k->items, k->items + 1, (UNDO_MAX - 1) * sizeof *k->items);
        k->n--;
    }
    xgrow(&items, &k->cap, k->n + 1, sizeof *k->items);
    k->items = items;
    k->items[k->n++] = x;
}

static void drop_all(struct steps *k)
{
    while (k->n > 0)
        settings_clear(&k->items[--k->n]);
}

static void free_all(struct steps *k)
{
    drop_all(k);
    free(k->items);
    *k = (struct steps){0};
}

void history_start(struct history *h, const struct session *s)
{
    *h = (struct history){.now = take(s)};
}

void history_clear(struct history *h)
{
    free_all(&h->undo);
    free_all(&h->redo);
    settings_clear(&h->now);
}

bool history_look(struct history *h, const struct session *s)
{
    struct settings x = take(s);
    if (settings_equal(&x, &h->now)) {
        settings_clear(&x);
        return false;
    }
    push(&h->undo, h->now);
    drop_all(&h->redo);
    h->now = x;
    return true;
}

static bool step(struct history *h, struct session *s, struct steps *from, struct steps *to)
{
    if (from->n == 0)
        return false;
    push(to, h->now);
    h->now = from->items[--from->n];
    settings_copy(&s->settings, &h->now);
    return true;
}

bool history_undo(struct history *h, struct session *s)
{
    return step(h, s, &h->undo, &h->redo);
}

bool history_redo(struct history *h, struct session *s)
{
    return step(h, s, &h->redo, &h->undo);
}
