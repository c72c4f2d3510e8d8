/* texts.c - see texts.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

bool texts_have(const struct texts *t, const char *text)
{
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->v[i], text) == 0)
            return true;
    return false;
}

bool texts_add(struct texts *t, const char *text)
{
    if (texts_have(t, text))
        return false;
    texts_take(t, xstrdup(text));
    return true;
}

void texts_take(struct texts *t, char *text)
{
    xgrow((void **)&t->v, &t->cap, t->n + 1, sizeof *t->v);
    t->v[t->n++] = text;
}

void texts_clear(struct texts *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->v[i]);
    free(t->v);
    *t = (struct texts){0};
}
