/* marks.c - see marks.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/kit/marks.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void marks_clear(struct marks *m)
{
    while (m->n > 0)
        free(m->v[--m->n]);
}

int marks_find(const struct marks *m, const char *label)
{
    for (int i = 0; i < m->n; i++)
        if (strcmp(m->v[i], label) == 0)
            return i;
    return -1;
}

bool marks_add(struct marks *m, const char *label)
{
    if (marks_find(m, label) >= 0)
        return true;
    if (m->n == MARKS_MAX)
        return false;
    m->v[m->n++] = xstrdup(label);
    return true;
}

void marks_remove(struct marks *m, int i)
{
    free(m->v[i]);
    memmove(m->v + i, m->v + i + 1, (size_t)(m->n - i - 1) * sizeof *m->v);
    m->n--;
}

void marks_rename(struct marks *m, int i, const char *label)
{
    char *old = m->v[i];
    m->v[i] = xstrdup(label);
    free(old);
}

void marks_take(struct marks *m, const char *labels)
{
    if (!labels)
        return;
    marks_clear(m);
    for (const char *at = labels; *at; at += strcspn(at, ","), at += *at == ',') {
        char *label = xstrndup(at, strcspn(at, ","));
        if (*label)
            marks_add(m, label);
        free(label);
    }
}
