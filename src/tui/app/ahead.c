/* ahead.c - see ahead.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/app/ahead.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tui/app/keymap.h"
#include "tui/kit/keys.h"

bool ahead_add(struct ahead *k, int key)
{
    void *keys = k->keys;
    if (k->end - k->begin >= AHEAD_MAX)
        return false;
    if (k->begin == k->end)
        k->begin = k->end = 0;
    xgrow(&keys, &k->cap, k->end + 1, sizeof *k->keys);
    k->keys = keys;
    k->keys[k->end++] = key;
    return true;
}

int ahead_at(const struct ahead *k, size_t i)
{
    return i < k->end - k->begin ? k->keys[k->begin + i] : TK_NONE;
}

void ahead_remove(struct ahead *k, size_t i)
{
    int *at = k->keys + k->begin + i;
    memmove(at, at + 1, (k->end - k->begin - i - 1) * sizeof *at);
    k->end--;
}

int ahead_next(struct ahead *k)
{
    return k->begin < k->end ? k->keys[k->begin++] : TK_NONE;
}

size_t ahead_clear(struct ahead *k)
{
    const size_t n = k->end - k->begin;
    k->begin = k->end = 0;
    return n;
}

void ahead_free(struct ahead *k)
{
    free(k->keys);
    *k = (struct ahead){0};
}

/* A character as itself, any other key by its name. */
static void add_key(int key, struct str *out)
{
    char buf[16];
    const bool plain = key > ' ' && key < TK_UP && key != 127;
    if (key == ' ')
        str_addc(out, ' ');
    else
        str_addf(out, plain ? "%s" : "<%s>", keymap_key_name(key, buf));
}

static int key_width(int key)
{
    struct str one = {0};
    add_key(key, &one);
    const int w = str_width(str_text(&one));
    str_free(&one);
    return w;
}

/* The first of the last keys that fit in this width. */
static size_t last_that_fit(const struct ahead *k, int width)
{
    size_t from = k->end;
    while (from > k->begin && (width -= key_width(k->keys[from - 1])) >= 0)
        from--;
    return from;
}

void ahead_text(const struct ahead *k, int width, struct str *out)
{
    size_t from = last_that_fit(k, width);
    if (from > k->begin) {
        from = last_that_fit(k, width - 2);
        str_add(out, "..");
    }
    for (; from < k->end; from++)
        add_key(k->keys[from], out);
}
