/* ptx_store.c - interned names and what they stand for.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/lower/ptx_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

struct ptx_store *ptx_store_new(void)
{
    struct ptx_store *s = xcalloc(1, sizeof *s);
    s->arena = arena_new();
    s->nslots = 1024;
    s->slots = xcalloc(s->nslots, sizeof(struct atom *));
    return s;
}

void ptx_store_free(struct ptx_store *s)
{
    if (!s)
        return;
    arena_free(s->arena);
    free(s->slots);
    free(s);
}

static void rehash(struct ptx_store *s)
{
    const size_t n = s->nslots * 2;
    struct atom **slots = xcalloc(n, sizeof(struct atom *));
    for (size_t i = 0; i < s->nslots; i++) {
        struct atom *a = s->slots[i];
        size_t at = a ? a->hash & (n - 1) : 0;
        while (a && slots[at])
            at = (at + 1) & (n - 1);
        if (a)
            slots[at] = a;
    }
    free(s->slots);
    s->slots = slots;
    s->nslots = n;
}

/* Splits "%r12" as compilers number registers: without leading zeros, below 2^31. */
static void split(struct ptx_store *s, struct atom *a)
{
    uint32_t n = a->len;
    while (n && a->text[n - 1] >= '0' && a->text[n - 1] <= '9')
        n--;
    const uint32_t ndigits = a->len - n;
    if (!n || !ndigits || ndigits > 10 || (a->text[n] == '0' && ndigits > 1))
        return;
    const unsigned long long number = strtoull(a->text + n, NULL, 10);
    if (number > INT32_MAX)
        return;
    a->number = (uint32_t)number;
    a->prefix = ptx_store_atom(s, a->text, n);
}

struct atom *ptx_store_atom(struct ptx_store *s, const char *text, size_t len)
{
    uint64_t h = hash_bytes(HASH_START, text, len);
    h ^= h >> 29; /* the low bits index the table */
    size_t at = h & (s->nslots - 1);
    for (struct atom *a; (a = s->slots[at]); at = (at + 1) & (s->nslots - 1))
        if (a->hash == h && a->len == len && memcmp(a->text, text, len) == 0)
            return a;
    struct atom *a = arena_alloc(s->arena, sizeof *a);
    *a = (struct atom){.text = arena_strndup(s->arena, text, len),
                       .len = (uint32_t)len,
                       .hash = h,
                       .string_at = UINT32_MAX};
    s->slots[at] = a;
    if (++s->natoms * 2 > s->nslots)
        rehash(s);
    split(s, a); /* its prefix does not end with a digit: one level */
    return a;
}

/* The parts between dots; each is interned. */
static bool split_opcode(struct ptx_store *s, const char *text, struct ptx_opcode *op)
{
    const char *parts[PTX_MAX_PARTS];
    for (const char *p = text;; p++) {
        const size_t n = strcspn(p, ".");
        if (op->nparts == PTX_MAX_PARTS)
            return false;
        parts[op->nparts++] = ptx_store_atom(s, p, n)->text;
        p += n;
        if (!*p)
            break;
    }
    const size_t bytes = (size_t)op->nparts * sizeof *parts;
    op->parts = memcpy(arena_alloc(s->arena, bytes), parts, bytes);
    return true;
}

const struct ptx_opcode *ptx_store_opcode(struct ptx_module *m, const char *text, size_t len)
{
    struct ptx_store *s = m->store;
    struct atom *a = ptx_store_atom(s, text, len);
    if (a->op)
        return a->op;
    struct ptx_opcode *op = arena_alloc(s->arena, sizeof *op);
    *op = (struct ptx_opcode){.text = a->text, .id = m->nopcodes};
    if (!split_opcode(s, a->text, op))
        return NULL;
    if ((m->nopcodes & (m->nopcodes - 1)) == 0) /* full at each power of two */
        m->opcodes = xrealloc(m->opcodes, 2 * ((size_t)m->nopcodes + 1) * sizeof *m->opcodes);
    m->opcodes[m->nopcodes++] = op;
    return a->op = op;
}

struct binding *ptx_store_bind_at(struct ptx_store *s, struct atom *a, enum binding_kind kind,
                                  uint32_t depth)
{
    struct binding **at = &a->top;
    while (*at && (*at)->depth > depth)
        at = &(*at)->below;
    if (*at && (*at)->depth == depth)
        return NULL;
    struct binding *b = s->free;
    if (b)
        s->free = b->below;
    else
        b = arena_alloc(s->arena, sizeof *b);
    *b = (struct binding){
        .kind = kind, .depth = depth, .atom = a, .below = *at, .in_scope = s->scopes[depth]};
    s->scopes[depth] = b;
    return *at = b;
}

struct binding *ptx_store_bind(struct ptx_store *s, struct atom *a, enum binding_kind kind)
{
    return ptx_store_bind_at(s, a, kind, s->depth);
}

struct binding *ptx_store_range(const struct atom *a)
{
    struct binding *b = a->prefix ? a->prefix->top : NULL;
    while (b && (b->kind != BIND_RANGE || a->number >= b->count))
        b = b->below;
    return b;
}

void ptx_store_open(struct ptx_store *s)
{
    s->scopes[++s->depth] = NULL;
}

void ptx_store_close(struct ptx_store *s)
{
    for (struct binding *b = s->scopes[s->depth], *next; b; b = next) {
        next = b->in_scope;
        b->atom->top = b->below; /* bindings of this depth are on top: deeper scopes are closed */
        b->below = s->free;
        s->free = b;
    }
    s->depth--;
}

void *ptx_grow_add(struct grow *g, size_t size)
{
    xgrow(&g->items, &g->cap, g->n + 1, size);
    return memset((char *)g->items + g->n++ * size, 0, size);
}

void *ptx_grow_take(struct grow *g, size_t from, size_t size, struct ptx_store *s)
{
    const size_t n = g->n - from;
    if (!n)
        return NULL;
    void *out = memcpy(arena_alloc(s->arena, n * size), (char *)g->items + from * size, n * size);
    g->n = from;
    return out;
}

void ptx_grow_free(struct grow *g)
{
    free(g->items);
    *g = (struct grow){0};
}
