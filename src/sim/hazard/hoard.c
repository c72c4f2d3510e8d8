/* hoard.c - see hoard.h.
 *
 * Room is cut from chunks in turn and kept in lists of powers of two once it is given back. The lists' heads and how far
 * the chunk under way is cut lie in the first piece; chunks themselves are never let go of, so that bytes that are put
 * back point to what they pointed to.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/hazard/hoard.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { CLASSES = 48, HEAD = 16, CHUNK = 1 << 18 };

struct chunk {
    struct chunk *next;
    size_t bytes;
    char *data;
};

/* What comes back with the bytes. */
struct cut {
    void *spare[CLASSES]; /* by the power of two; the first word of each points to the next */
    struct chunk *now;    /* that is cut; those before it are full */
    size_t used, before;  /* of it; how many chunks are before it */
};

struct hoard {
    struct cut cut;
    struct chunk *first;
};

static struct chunk *chunk_new(size_t bytes)
{
    struct chunk *c = xcalloc(1, sizeof *c);
    c->bytes = bytes;
    c->data = xcalloc(1, bytes);
    return c;
}

struct hoard *hoard_new(void)
{
    struct hoard *p = xcalloc(1, sizeof *p);
    p->first = p->cut.now = chunk_new(CHUNK);
    return p;
}

void hoard_free(struct hoard *p)
{
    if (!p)
        return;
    for (struct chunk *c = p->first, *next; c; c = next) {
        next = c->next;
        free(c->data);
        free(c);
    }
    free(p);
}

static unsigned class_of(size_t bytes)
{
    unsigned k = 5;
    while ((size_t)1 << k < bytes + HEAD)
        k++;
    return k;
}

/* A chunk with so much room, behind the one that was cut so far. */
static void next_chunk(struct hoard *p, size_t bytes)
{
    struct chunk *now = p->cut.now;
    if (!now->next || now->next->bytes < bytes) {
        struct chunk *fresh = chunk_new(bytes > CHUNK ? bytes : CHUNK);
        fresh->next = now->next;
        now->next = fresh;
    }
    p->cut.now = now->next;
    p->cut.used = 0;
    p->cut.before++;
}

void *hoard_take(struct hoard *p, size_t count, size_t size)
{
    if (!p)
        return xcalloc(count, size);
    const size_t bytes = count * size;
    const unsigned k = class_of(bytes);
    char *at = p->cut.spare[k];
    if (at) {
        memcpy(&p->cut.spare[k], at, sizeof p->cut.spare[k]);
    } else {
        if (p->cut.now->bytes - p->cut.used < (size_t)1 << k)
            next_chunk(p, (size_t)1 << k);
        at = p->cut.now->data + p->cut.used + HEAD;
        p->cut.used += (size_t)1 << k;
        *(unsigned *)(void *)(at - HEAD) = k;
    }
    memset(at, 0, bytes);
    return at;
}

void hoard_give(struct hoard *p, void *is)
{
    if (!p) {
        free(is);
        return;
    }
    if (!is)
        return;
    const unsigned k = *(const unsigned *)(const void *)((const char *)is - HEAD);
    memcpy(is, &p->cut.spare[k], sizeof(void *));
    p->cut.spare[k] = is;
}

/* Of piece i, from 1. */
static const struct chunk *chunk_at(const struct hoard *p, size_t i)
{
    const struct chunk *c = p->first;
    for (size_t k = 1; k < i; k++)
        c = c->next;
    return c;
}

void *hoard_piece_at(struct hoard *p, size_t i)
{
    return i ? chunk_at(p, i)->data : (char *)&p->cut;
}

size_t hoard_piece(struct hoard *p, size_t i, void **at)
{
    *at = NULL;
    if (i > p->cut.before + 1)
        return 0;
    *at = hoard_piece_at(p, i);
    return !i ? sizeof p->cut : i == p->cut.before + 1 ? p->cut.used : chunk_at(p, i)->bytes;
}
