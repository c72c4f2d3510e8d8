/* diff.c - see diff.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct lines {
    const char **at;
    int *len;
    int count;
};

static struct lines split(const char *text, size_t size)
{
    struct lines l = {0};
    size_t cap = 0, lens = 0;
    for (const char *p = text, *end = text + size; p < end;) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        const char *stop = nl ? nl : end;
        xgrow((void **)&l.at, &cap, (size_t)l.count + 1, sizeof *l.at);
        xgrow((void **)&l.len, &lens, (size_t)l.count + 1, sizeof *l.len);
        l.at[l.count] = p;
        l.len[l.count++] = (int)(stop - p);
        p = stop + 1;
    }
    return l;
}

static void lines_free(struct lines *l)
{
    free(l->at);
    free(l->len);
}

static bool same(const struct lines *a, int i, const struct lines *b, int j)
{
    return a->len[i] == b->len[j] && !memcmp(a->at[i], b->at[j], (size_t)a->len[i]);
}

/* common[i * (b->count + 1) + j]: length of the longest common subsequence of a[i..] and b[j..]. */
static unsigned short *common_lengths(const struct lines *a, const struct lines *b)
{
    const size_t w = (size_t)b->count + 1;
    unsigned short *t = xcalloc(((size_t)a->count + 1) * w, sizeof *t);
    for (int i = a->count - 1; i >= 0; i--)
        for (int j = b->count - 1; j >= 0; j--) {
            const unsigned short down = t[(size_t)(i + 1) * w + (size_t)j],
                                 right = t[(size_t)i * w + (size_t)j + 1];
            t[(size_t)i * w + (size_t)j] =
                same(a, i, b, j) ? (unsigned short)(t[(size_t)(i + 1) * w + (size_t)j + 1] + 1)
                : down > right   ? down
                                 : right;
        }
    return t;
}

static struct diff_line line_of(char mark, const struct lines *l, int i, int old, int now)
{
    return (struct diff_line){mark, l->at[i], l->len[i], old, now};
}

static struct diff_line *walk(const struct lines *a, const struct lines *b, int *count)
{
    const size_t w = (size_t)b->count + 1;
    unsigned short *t = common_lengths(a, b);
    struct diff_line *d = xcalloc((size_t)(a->count + b->count) + 1, sizeof *d);
    int n = 0;
    for (int i = 0, j = 0; i < a->count || j < b->count;) {
        if (i < a->count && j < b->count && same(a, i, b, j)) {
            d[n++] = line_of(' ', b, j, i + 1, j + 1);
            i++, j++;
        } else if (j == b->count || (i < a->count && t[(size_t)(i + 1) * w + (size_t)j] >=
                                                         t[(size_t)i * w + (size_t)j + 1])) {
            d[n++] = line_of('-', a, i, i + 1, 0);
            i++;
        } else {
            d[n++] = line_of('+', b, j, 0, j + 1);
            j++;
        }
    }
    free(t);
    *count = n;
    return d;
}

struct diff_line *diff_texts(const char *a, size_t alen, const char *b, size_t blen, int *count)
{
    struct lines x = split(a, alen), y = split(b, blen);
    const bool small = x.count <= DIFF_LINES_MAX && y.count <= DIFF_LINES_MAX;
    struct diff_line *d = small ? walk(&x, &y, count) : NULL;
    lines_free(&x);
    lines_free(&y);
    return d;
}

bool diff_near(const struct diff_line *d, int count, int i, int context)
{
    for (int k = i - context; k <= i + context; k++)
        if (k >= 0 && k < count && d[k].mark != ' ')
            return true;
    return false;
}
