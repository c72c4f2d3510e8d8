/* scaling.c - see scaling.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/scaling.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "command/session.h"

enum { ALONE_MAX = 64 };

struct scaling {
    struct alone {
        char *key;
        double us;
    } items[ALONE_MAX];
    int next; /* the oldest, once all are taken */
};

void scaling_free(struct scaling *x)
{
    for (int i = 0; x && i < ALONE_MAX; i++)
        free(x->items[i].key);
    free(x);
}

static const char *word(const char *text)
{
    return text ? text : "";
}

/* What must be the same. */
static char *key_of(const struct run_row *row)
{
    return xasprintf("%s|%s|%s|%s|%s|%s", word(row->kernel), word(row->shape), word(row->params),
                     word(row->l2), word(row->device), word(row->host));
}

static struct alone *find(struct scaling *x, const char *key)
{
    for (int i = 0; i < ALONE_MAX; i++)
        if (x->items[i].key && !strcmp(x->items[i].key, key))
            return &x->items[i];
    return NULL;
}

/* Takes `key`. */
static void remember(struct scaling *x, char *key, double us)
{
    struct alone *a = find(x, key);
    if (!a) {
        a = &x->items[x->next];
        x->next = (x->next + 1) % ALONE_MAX;
    }
    free(a->key);
    *a = (struct alone){key, us};
}

void scaling_fill(struct session *s, struct run_row *row)
{
    if (!backend_is_gpu(row->backend) || !(row->median_us > 0) || !row->check ||
        strcmp(row->check, "pass") != 0)
        return;
    if (!s->services.scaling)
        s->services.scaling = xcalloc(1, sizeof *s->services.scaling);
    char *key = key_of(row);
    if (!run_row_is_shared(row)) {
        remember(s->services.scaling, key, row->median_us);
        return;
    }
    const struct alone *one = find(s->services.scaling, key);
    if (one)
        row->efficiency_pct = 100 * one->us / ((double)row->gpus * row->median_us);
    free(key);
}
