/* where.c - the lines of a kernel's source that a question is about.
 *
 * Right lines are known by a text that they have, so that they survive edits of the source.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "lesson/text/where.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "command/show/source.h"

enum { LINES_MAX = 2000 };

static void add_line(struct source_lines *l, const char *at, size_t len)
{
    struct str clean = {0};
    sanitize(&clean, at, len, true);
    l->text = xrealloc(l->text, (size_t)(l->count + 1) * sizeof *l->text);
    l->text[l->count++] = str_take(&clean);
}

/* The first line from `from` on that has the text; -1: none. */
static int line_with(const struct source_lines *l, int from, const char *text)
{
    for (int i = from; i < l->count; i++)
        if (strstr(l->text[i], text))
            return i;
    return -1;
}

/* Leaves lines first .. last. */
static void cut(struct source_lines *l, int first, int last)
{
    for (int i = 0; i < l->count; i++)
        if (i < first || i > last)
            free(l->text[i]);
    memmove(l->text, l->text + first, (size_t)(last - first + 1) * sizeof *l->text);
    l->first += first;
    l->count = last - first + 1;
}

/* Without `from` it begins at the kernel: the header comment teaches, and may say too much. */
static enum status cut_to(struct source_lines *l, const struct item *q, struct err *err)
{
    int first = line_with(l, 0, q->from ? q->from : "__global__");
    if (first < 0 && q->from)
        return err_set(err, ST_USAGE, "no line of %s has \"%s\"", q->kernel, q->from);
    first = first < 0 ? 0 : first;
    const int last = q->to ? line_with(l, first, q->to) : l->count - 1;
    if (last < 0)
        return err_set(err, ST_USAGE, "no line of %s has \"%s\"", q->kernel, q->to);
    cut(l, first, last);
    return ST_OK;
}

static enum status mark_right(struct source_lines *l, const struct item *q, struct err *err)
{
    l->right = xcalloc((size_t)l->count + 1, sizeof *l->right);
    for (size_t k = 0; k < q->nanchors; k++) {
        int i = line_with(l, 0, q->anchors[k]);
        if (i < 0)
            return err_set(err, ST_USAGE, "no line of %s has \"%s\"", q->kernel, q->anchors[k]);
        for (; i >= 0; i = line_with(l, i + 1, q->anchors[k]))
            l->right[i] = true;
    }
    return ST_OK;
}

enum status source_lines_find(struct session *s, const struct item *question,
                              struct source_lines *out, struct err *err)
{
    const struct kernel *k;
    *out = (struct source_lines){.first = 1};
    enum status st = registry_get(s->services.registry, question->kernel, &k, err);
    if (st != ST_OK)
        return st;
    const struct kernel_desc *d = source_side(k, question->cpu);
    if (!d || !d->source)
        return err_set(err, ST_USAGE, "%s has no source to look at", question->kernel);
    const char *end = d->source + d->source_len;
    for (const char *p = d->source; p < end && out->count < LINES_MAX;) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        add_line(out, p, (size_t)((stop ? stop : end) - p));
        p = stop ? stop + 1 : end;
    }
    st = out->count ? cut_to(out, question, err)
                    : err_set(err, ST_USAGE, "%s has no source to look at", question->kernel);
    return st == ST_OK ? mark_right(out, question, err) : st;
}

void source_lines_clear(struct source_lines *l)
{
    for (int i = 0; i < l->count; i++)
        free(l->text[i]);
    free(l->text);
    free(l->right);
    *l = (struct source_lines){0};
}
