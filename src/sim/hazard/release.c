/* release.c - fences, and strong accesses that release and acquire: what a location gives to who reads it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/hazard/block.h"

static void replace(struct abroad **to, struct abroad *with)
{
    abroad_drop(*to);
    *to = with;
}

/* A lane learns what a release gave; at .cta scope that of its own block alone. */
static void acquire(struct hazard_block *b, uint32_t slot, struct abroad *what,
                    enum hazard_scope scope)
{
    struct know *k = own_knowledge(b, slot);
    const struct snapshot *here = abroad_of(what, b->number);
    for (uint32_t i = 0; here && i < here->slots; i++)
        raise_to(&k->v[i], here->v[i]);
    if (scope != HAZARD_SCOPE_GPU)
        return;
    struct abroad *others = abroad_without(what, b->number);
    replace(&k->abroad, abroad_merge(k->abroad, others));
    abroad_drop(others);
}

void hazard_fence(struct hazard_block *b, uint32_t warp, uint32_t mask, enum hazard_scope scope)
{
    settle(b);
    if (!b->fenced)
        b->fenced = hoard_take(b->launch->hoard, b->lanes, sizeof *b->fenced);
    EACH_LANE(l, mask & b->all[warp])
    {
        const uint32_t slot = slot_of(warp, l);
        struct fenced *f = &b->fenced[slot];
        f->clock[HAZARD_SCOPE_CTA] = b->clock[warp];
        if (scope == HAZARD_SCOPE_GPU)
            f->clock[HAZARD_SCOPE_GPU] = b->clock[warp];
        if (f->seen) {
            acquire(b, slot, f->seen, scope);
            if (scope == HAZARD_SCOPE_GPU)
                replace(&f->seen, NULL);
        }
    }
    tick(b, warp);
}

static struct released **bucket_of(struct released_table *t, uint64_t addr)
{
    return &t->bucket[(addr >> 2 ^ addr >> 12) % RELEASED_BUCKETS];
}

static struct released *find_released(struct released_table *t, uint64_t addr, bool make)
{
    struct released **at = bucket_of(t, addr);
    for (struct released *r = *at; r; r = r->next)
        if (r->addr == addr)
            return r;
    if (!make)
        return NULL;
    struct released *r = hoard_take(t->hoard, 1, sizeof *r);
    *r = (struct released){.addr = addr, .next = *at};
    t->n++;
    return *at = r;
}

static void forget(struct released *r)
{
    abroad_drop(r->gpu);
    abroad_drop(r->near);
    r->gpu = r->near = NULL;
}

void released_clear(struct released_table *t)
{
    for (int i = 0; i < RELEASED_BUCKETS && t->n; i++)
        for (struct released *r = t->bucket[i], *next; r; r = next) {
            next = r->next;
            forget(r);
            hoard_give(t->hoard, r);
            t->bucket[i] = NULL;
        }
    t->n = 0;
}

/* What a lane gives away with a release: its block's clocks as it knows them, its own as of `clock`, and what it
 * knows of other blocks. */
static struct abroad *released_by(const struct hazard_block *b, uint32_t slot, uint32_t clock)
{
    const struct know *k = b->know[slot];
    const uint32_t slots = 2 * b->lanes;
    struct abroad *mine = abroad_new(b->launch->hoard, b->number, k->v, slots);
    mine->of[0]->v[slot] = clock;
    give_waited(b, slot, mine->of[0]->v);
    struct abroad *all = abroad_merge(mine, k->abroad);
    abroad_drop(mine);
    return all;
}

static void read_strong(struct hazard_block *b, const struct hazard_access *a, uint32_t slot,
                        struct released *r)
{
    struct abroad *found = r->near && r->block == b->number              ? r->near
                           : a->scope == HAZARD_SCOPE_GPU || !a->acquire ? r->gpu
                                                                         : NULL;
    if (!found)
        return;
    if (a->acquire) {
        acquire(b, slot, found, a->scope);
        return;
    }
    if (!b->fenced)
        b->fenced = hoard_take(b->launch->hoard, b->lanes, sizeof *b->fenced);
    struct fenced *f = &b->fenced[slot];
    replace(&f->seen, abroad_merge(f->seen, found));
}

/* The clock up to which the lane releases, 0: it releases nothing at this scope. */
static uint32_t release_clock(const struct hazard_block *b, const struct hazard_access *a,
                              uint32_t slot, enum hazard_scope scope)
{
    if (a->release && (scope == HAZARD_SCOPE_CTA || a->scope == HAZARD_SCOPE_GPU))
        return b->clock[slot / LANES];
    const uint32_t fence = b->fenced ? b->fenced[slot].clock[scope] : 0;
    return scope == HAZARD_SCOPE_CTA || a->scope == HAZARD_SCOPE_GPU ? fence : 0;
}

static void write_strong(struct hazard_block *b, const struct hazard_access *a, uint32_t slot,
                         struct released *r)
{
    const bool keeps =
        a->act == HAZARD_ATOMIC; /* a read-modify-write goes on with what was released */
    const uint32_t far = release_clock(b, a, slot, HAZARD_SCOPE_GPU);
    const uint32_t near = release_clock(b, a, slot, HAZARD_SCOPE_CTA);
    struct abroad *gives = far ? released_by(b, slot, far) : NULL;
    replace(&r->gpu, keeps ? abroad_merge(r->gpu, gives) : abroad_hold(gives));
    abroad_drop(gives);
    gives = near ? released_by(b, slot, near) : NULL;
    struct abroad *before =
        keeps && r->block == b->number && r->near ? abroad_hold(r->near) : abroad_hold(r->gpu);
    replace(&r->near, abroad_merge(before, gives));
    r->block = b->number;
    abroad_drop(before);
    abroad_drop(gives);
}

static bool reads(enum hazard_act act)
{
    return act == HAZARD_STRONG_READ || act == HAZARD_ATOMIC;
}

/* Of shared memory: one lane after the other, reading and writing at once. */
static void order_shared(struct hazard_block *b, const struct hazard_access *a,
                         const uint64_t addr[32], bool may_give)
{
    if (!b->released.n && !may_give)
        return;
    EACH_LANE(l, a->mask & b->all[a->warp])
    {
        const uint32_t slot = slot_of(a->warp, l);
        struct released *r = find_released(&b->released, addr[l], may_give);
        if (r && reads(a->act))
            read_strong(b, a, slot, r);
        if (r && is_write(a->act))
            write_strong(b, a, slot, r);
    }
}

static void release_global(struct hazard_block *b, const struct hazard_access *a,
                           const uint64_t addr[32], bool may_give)
{
    struct hazards *h = b->launch;
    if (!may_give && !atomic_load(&h->any_released))
        return;
    pthread_mutex_lock(&h->released_lock);
    EACH_LANE(l, a->mask & b->all[a->warp])
    {
        struct released *r = find_released(&h->released, addr[l], may_give);
        if (r)
            write_strong(b, a, slot_of(a->warp, l), r);
    }
    if (h->released.n)
        atomic_store(&h->any_released, true);
    pthread_mutex_unlock(&h->released_lock);
}

void order_strong(struct hazard_block *b, const struct hazard_access *a, const uint64_t addr[32],
                  bool shared)
{
    const bool writes = is_write(a->act), may_give = writes && (a->release || b->fenced);
    if (shared)
        order_shared(b, a, addr, may_give);
    else if (writes)
        release_global(b, a, addr, may_give);
    if (!shared && reads(a->act)) {
        b->late.is = true;
        b->late.a = *a;
        memcpy(b->late.addr, addr, sizeof b->late.addr);
    }
    if (writes && a->release)
        tick(b, a->warp);
}

void learn_late(struct hazard_block *b)
{
    struct hazards *h = b->launch;
    const struct hazard_access *a = &b->late.a;
    b->late.is = false;
    if (!atomic_load(&h->any_released))
        return;
    pthread_mutex_lock(&h->released_lock);
    EACH_LANE(l, a->mask & b->all[a->warp])
    {
        struct released *r = find_released(&h->released, b->late.addr[l], false);
        if (r)
            read_strong(b, a, slot_of(a->warp, l), r);
    }
    pthread_mutex_unlock(&h->released_lock);
}

void forget_released(struct hazard_block *b, const struct hazard_access *a, const uint64_t addr[32],
                     bool shared)
{
    struct hazards *h = b->launch;
    struct released_table *t = shared ? &b->released : &h->released;
    if (shared ? !t->n : !atomic_load(&h->any_released))
        return;
    if (!shared)
        pthread_mutex_lock(&h->released_lock);
    EACH_LANE(l, a->mask & b->all[a->warp])
    {
        struct released *r = find_released(t, addr[l], false);
        if (r)
            forget(r);
    }
    if (!shared)
        pthread_mutex_unlock(&h->released_lock);
}
