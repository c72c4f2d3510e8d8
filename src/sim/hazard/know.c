/* know.c - what threads know of each other: vector clocks of a block, and of other blocks.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/hazard/know.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* How many clocks are in use: copies have none until there is one. */
static uint32_t used(const struct clocks *c)
{
    return c->copies ? 2 * c->lanes : c->lanes;
}

struct know *know_new(struct clocks *c)
{
    struct know *k = c->spare;
    if (k) {
        c->spare = k->next;
    } else {
        k = hoard_take(c->hoard, 1, sizeof *k);
        k->least = hoard_take(c->hoard, c->warps, sizeof *k->least);
        k->v = hoard_take(c->hoard, 2 * (size_t)c->lanes, sizeof *k->v);
    }
    k->refs = 1;
    k->abroad = NULL;
    return k;
}

struct know *know_copy(struct clocks *c, const struct know *k)
{
    struct know *new = know_new(c);
    memcpy(new->v, k->v, 2 * (size_t)c->lanes * sizeof *k->v);
    memcpy(new->least, k->least, c->warps * sizeof *k->least);
    new->abroad = abroad_hold(k->abroad);
    return new;
}

void know_drop(struct clocks *c, struct know *k)
{
    if (!k || --k->refs)
        return;
    abroad_drop(k->abroad);
    k->abroad = NULL;
    k->next = c->spare;
    c->spare = k;
}

static bool raise(uint32_t *to, const uint32_t *from, uint32_t n)
{
    uint32_t changed = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t max = to[i] > from[i] ? to[i] : from[i];
        changed |= max ^ to[i];
        to[i] = max;
    }
    return changed != 0;
}

bool know_join(struct clocks *c, struct know *k, const struct know *from)
{
    if (k == from)
        return false;
    bool changed = raise(k->v, from->v, used(c));
    raise(k->least, from->least, c->warps);
    if (from->abroad && k->abroad != from->abroad) {
        struct abroad *both = abroad_merge(k->abroad, from->abroad);
        abroad_drop(k->abroad);
        k->abroad = both;
        changed = true;
    }
    return changed;
}

bool know_has(const struct clocks *c, const struct know *k, const struct know *of)
{
    const uint32_t n = used(c);
    uint32_t less = 0;
    for (uint32_t i = 0; i < n; i++)
        less |= k->v[i] < of->v[i];
    return !less;
}

void clocks_clear(struct clocks *c)
{
    for (struct know *k = c->spare, *next; k; k = next) {
        next = k->next;
        hoard_give(c->hoard, k->least);
        hoard_give(c->hoard, k->v);
        hoard_give(c->hoard, k);
    }
    c->spare = NULL;
}

/* ---- other blocks ---- */

static struct snapshot *snapshot_hold(struct snapshot *s)
{
    atomic_fetch_add(&s->refs, 1);
    return s;
}

static void snapshot_drop(struct hoard *hoard, struct snapshot *s)
{
    if (atomic_fetch_sub(&s->refs, 1) == 1)
        hoard_give(hoard, s);
}

static struct snapshot *snapshot_new(struct hoard *hoard, uint64_t block, const uint32_t *v,
                                     uint32_t slots)
{
    struct snapshot *s = hoard_take(hoard, 1, sizeof *s + slots * sizeof *v);
    atomic_init(&s->refs, 1);
    s->block = block;
    s->slots = slots;
    memcpy(s->v, v, slots * sizeof *v);
    return s;
}

/* Of the same block: one of them where it has all of the other. Held once. */
static struct snapshot *snapshot_merge(struct hoard *hoard, struct snapshot *a, struct snapshot *b)
{
    bool a_less = false, b_less = false;
    for (uint32_t i = 0; i < a->slots; i++) {
        a_less |= a->v[i] < b->v[i];
        b_less |= b->v[i] < a->v[i];
    }
    if (!a_less || !b_less)
        return snapshot_hold(a_less ? b : a);
    struct snapshot *s = snapshot_new(hoard, a->block, a->v, a->slots);
    raise(s->v, b->v, b->slots);
    return s;
}

static struct abroad *room_for(struct hoard *hoard, uint32_t n)
{
    struct abroad *a = hoard_take(hoard, 1, sizeof *a + n * sizeof a->of[0]);
    a->hoard = hoard;
    atomic_init(&a->refs, 1);
    return a;
}

struct abroad *abroad_hold(struct abroad *a)
{
    if (a)
        atomic_fetch_add(&a->refs, 1);
    return a;
}

void abroad_drop(struct abroad *a)
{
    if (!a || atomic_fetch_sub(&a->refs, 1) != 1)
        return;
    for (uint32_t i = 0; i < a->n; i++)
        snapshot_drop(a->hoard, a->of[i]);
    hoard_give(a->hoard, a);
}

struct abroad *abroad_new(struct hoard *hoard, uint64_t block, const uint32_t *v, uint32_t slots)
{
    struct abroad *a = room_for(hoard, 1);
    a->of[a->n++] = snapshot_new(hoard, block, v, slots);
    return a;
}

struct abroad *abroad_merge(struct abroad *a, struct abroad *b)
{
    if (!a || !b || a == b)
        return abroad_hold(a ? a : b);
    struct abroad *both = room_for(a->hoard, a->n + b->n);
    for (uint32_t i = 0, j = 0; i < a->n || j < b->n;) {
        struct snapshot *x = i < a->n ? a->of[i] : NULL, *y = j < b->n ? b->of[j] : NULL;
        const bool take_x = x && (!y || x->block <= y->block);
        const bool take_y = y && (!x || y->block <= x->block);
        both->of[both->n++] =
            take_x && take_y ? snapshot_merge(a->hoard, x, y) : snapshot_hold(take_x ? x : y);
        i += take_x;
        j += take_y;
    }
    return both;
}

const struct snapshot *abroad_of(const struct abroad *a, uint64_t block)
{
    uint32_t lo = 0, hi = a ? a->n : 0;
    while (lo < hi) {
        const uint32_t mid = (lo + hi) / 2;
        if (a->of[mid]->block < block)
            lo = mid + 1;
        else
            hi = mid;
    }
    return a && lo < a->n && a->of[lo]->block == block ? a->of[lo] : NULL;
}

struct abroad *abroad_without(struct abroad *a, uint64_t block)
{
    if (!abroad_of(a, block))
        return abroad_hold(a);
    if (a->n == 1)
        return NULL;
    struct abroad *rest = room_for(a->hoard, a->n - 1);
    for (uint32_t i = 0; i < a->n; i++)
        if (a->of[i]->block != block)
            rest->of[rest->n++] = snapshot_hold(a->of[i]);
    return rest;
}
