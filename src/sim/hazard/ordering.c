/* ordering.c - what orders: barriers, warp syncs, mbarriers, copies, fences and releases, as knowledge of threads.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/hazard/block.h"

/* How far all of a warp's bulk stores have been read, as `k` knows it. */
static uint32_t least_read(const struct hazard_block *b, const struct know *k, uint32_t warp)
{
    const uint32_t *v = k->v + slot_of(sender_of(b, warp), 0);
    uint32_t min = UINT32_MAX;
    EACH_LANE(l, b->all[warp])
    min = v[l] < min ? v[l] : min;
    return min;
}

void publish(struct hazard_block *b, struct know *into, uint32_t warp, uint32_t mask)
{
    const struct know *before = NULL;
    EACH_LANE(l, mask)
    {
        const struct know *k = know_of(b, warp, l);
        if (k != before)
            know_join(&b->clocks, into, k);
        before = k;
        into->v[slot_of(warp, l)] = b->clock[warp];
        give_waited(b, slot_of(warp, l), into->v);
    }
    if (mask == b->all[warp])
        into->least[warp] = b->clock[warp];
    if (mask == b->all[warp] && b->sending)
        into->least[sender_of(b, warp)] = least_read(b, into, warp);
}

void share(struct hazard_block *b, uint32_t warp, uint32_t mask, struct know *k)
{
    EACH_LANE(l, mask)
    learn(b, slot_of(warp, l), know_hold(k));
    b->uniform[warp] = mask == b->all[warp];
}

/* ---- within a warp ---- */

void hazard_warp_sync(struct hazard_block *b, uint32_t warp, uint32_t mask)
{
    settle(b);
    mask &= b->all[warp];
    if (!(mask & (mask - 1)))
        return; /* one lane, or none */
    struct know *k = know_of(b, warp, (uint32_t)__builtin_ctz(mask));
    uint32_t holders = 0;
    EACH_LANE(l, mask)
    holders += know_of(b, warp, l) == k;
    if (holders == (uint32_t)__builtin_popcount(mask) && k->refs == holders) {
        publish(b, k, warp, mask); /* in place */
    } else {
        k = know_copy(&b->clocks, k);
        publish(b, k, warp, mask);
        share(b, warp, mask, k);
        know_drop(&b->clocks, k);
    }
    tick(b, warp);
}

/* ---- barriers of the block ---- */

void hazard_barrier_arrive(struct hazard_block *b, uint32_t id, uint32_t warp, uint32_t mask,
                           bool waits)
{
    settle(b);
    struct barrier *bar = &b->barrier[id % HAZARD_BARRIERS];
    mask &= b->all[warp];
    bar->used = true;
    if (waits) {
        bar->waits[warp] |= mask; /* they do nothing until it opens */
        return;
    }
    if (!bar->arrived)
        bar->arrived =
            know_copy(&b->clocks, know_of(b, warp, (uint32_t)__builtin_ctz(mask | 1u << 31)));
    publish(b, bar->arrived, warp, mask);
    tick(b, warp);
}

/* Do all lanes that live wait? */
static bool is_whole(const struct hazard_block *b, const struct barrier *bar)
{
    for (uint32_t w = 0; w < b->warps; w++)
        if (b->alive[w] & ~bar->waits[w])
            return false;
    return true;
}

void hazard_barrier_open(struct hazard_block *b, uint32_t id)
{
    settle(b);
    struct barrier *bar = &b->barrier[id % HAZARD_BARRIERS];
    struct know *k = bar->arrived;
    for (uint32_t w = 0; w < b->warps; w++) {
        const uint32_t mask = bar->waits[w];
        if (mask && !k)
            k = know_copy(&b->clocks, know_of(b, w, (uint32_t)__builtin_ctz(mask)));
        if (mask)
            publish(b, k, w, mask);
    }
    const bool whole = is_whole(b, bar);
    for (uint32_t w = 0; w < b->warps; w++)
        if (bar->waits[w]) {
            share(b, w, bar->waits[w], k);
            tick(b, w);
        }
    know_drop(&b->clocks, k);
    *bar = (struct barrier){0};
    if (whole)
        shared_new_epoch(b);
}

/* ---- mbarriers ---- */

/* Room for twice as many. */
static void grow_mbarriers(struct hazard_block *b)
{
    const size_t n = b->mbarriers ? 2 * (size_t)b->mbarriers : 1;
    struct mbarrier *more = hoard_take(b->launch->hoard, n, sizeof *more);
    if (b->mbarriers)
        memcpy(more, b->mbarrier, b->mbarriers * sizeof *more);
    hoard_give(b->launch->hoard, b->mbarrier);
    b->mbarrier = more;
}

static struct mbarrier *mbarrier_at(struct hazard_block *b, uint32_t addr)
{
    for (uint32_t i = 0; i < b->mbarriers; i++)
        if (b->mbarrier[i].addr == addr)
            return &b->mbarrier[i];
    if (!(b->mbarriers & (b->mbarriers - 1)))
        grow_mbarriers(b);
    b->mbarrier[b->mbarriers] = (struct mbarrier){.addr = addr};
    return &b->mbarrier[b->mbarriers++];
}

void hazard_mbarrier_init(struct hazard_block *b, uint32_t addr)
{
    struct mbarrier *m = mbarrier_at(b, addr);
    know_drop(&b->clocks, m->arriving);
    know_drop(&b->clocks, m->complete);
    *m = (struct mbarrier){.addr = addr};
}

struct know *know_nothing(struct hazard_block *b)
{
    struct know *k = know_new(&b->clocks);
    memset(k->v, 0, 2 * (size_t)b->lanes * sizeof *k->v);
    memset(k->least, 0, b->warps * sizeof *k->least);
    return k;
}

/* What has arrived, to be added to. */
static struct know *arriving(struct hazard_block *b, struct mbarrier *m)
{
    if (!m->arriving)
        m->arriving = know_nothing(b);
    return m->arriving;
}

static void begin_copies(struct hazard_block *b)
{
    if (!b->copying)
        b->copying = hoard_take(b->launch->hoard, b->lanes, sizeof *b->copying);
    b->clocks.copies = true;
}

/* Lanes of the mask whose address is that of the first. */
static uint32_t lanes_at(const uint32_t addr[32], uint32_t mask)
{
    uint32_t same = 0;
    EACH_LANE(l, mask)
    same |= (uint32_t)(addr[l] == addr[__builtin_ctz(mask)]) << l;
    return same;
}

void hazard_mbarrier_arrive(struct hazard_block *b, uint32_t warp, uint32_t mask,
                            const uint32_t addr[32], bool copies)
{
    settle(b);
    mask &= b->all[warp];
    if (copies)
        begin_copies(b);
    while (mask) {
        const uint32_t same = lanes_at(addr, mask);
        struct know *k = arriving(b, mbarrier_at(b, addr[__builtin_ctz(mask)]));
        if (!copies)
            publish(b, k, warp, same);
        else
            EACH_LANE(l, same)
        k->v[b->lanes + slot_of(warp, l)] = b->copy_clock[warp];
        mask &= ~same;
    }
    if (copies)
        tick_copies(b, warp);
    else
        tick(b, warp);
}

void hazard_agent_arrive(struct hazard_block *b, uint32_t agent, uint32_t lane, uint32_t clock,
                         uint32_t addr)
{
    settle(b);
    raise_to(&arriving(b, mbarrier_at(b, addr))->v[slot_of(agent, lane)], clock);
}

void hazard_mbarrier_complete(struct hazard_block *b, uint32_t addr)
{
    struct mbarrier *m = mbarrier_at(b, addr);
    know_drop(&b->clocks, m->complete);
    m->complete = m->arriving;
    m->arriving = NULL;
}

void learn_from(struct hazard_block *b, uint32_t warp, uint32_t mask, const struct know *from)
{
    while (mask) {
        const uint32_t first = (uint32_t)__builtin_ctz(mask);
        struct know *old = know_hold(know_of(b, warp, first));
        uint32_t same = 0;
        EACH_LANE(l, mask)
        same |= (uint32_t)(know_of(b, warp, l) == old) << l;
        mask &= ~same;
        if (!know_has(&b->clocks, old, from) || from->abroad) {
            struct know *k = know_copy(&b->clocks, old);
            know_join(&b->clocks, k, from);
            share(b, warp, same, k);
            know_drop(&b->clocks, k);
        }
        know_drop(&b->clocks, old);
    }
}

void hazard_mbarrier_wait(struct hazard_block *b, uint32_t warp, uint32_t mask,
                          const uint32_t addr[32])
{
    settle(b);
    mask &= b->all[warp];
    while (mask) {
        const uint32_t at = addr[__builtin_ctz(mask)];
        const uint32_t same = lanes_at(addr, mask);
        const struct know *done = mbarrier_at(b, at)->complete;
        if (done)
            learn_from(b, warp, same, done);
        mask &= ~same;
    }
}

/* ---- asynchronous copies ---- */

void hazard_copy_commit(struct hazard_block *b, uint32_t warp, uint32_t mask)
{
    settle(b);
    begin_copies(b);
    EACH_LANE(l, mask & b->all[warp])
    {
        struct copying *c = &b->copying[slot_of(warp, l)];
        c->clock[c->groups++ % GROUPS] = b->copy_clock[warp];
    }
    tick_copies(b, warp);
}

void hazard_copy_wait(struct hazard_block *b, uint32_t warp, uint32_t mask, uint32_t pending)
{
    settle(b);
    begin_copies(b);
    EACH_LANE(l, mask & b->all[warp])
    {
        struct copying *c = &b->copying[slot_of(warp, l)];
        if (c->groups > pending && pending < GROUPS)
            c->done = c->clock[(c->groups - 1 - pending) % GROUPS];
    }
}

/* ---- bulk stores ---- */

void hazard_send_commit(struct hazard_block *b, uint32_t warp, uint32_t mask)
{
    settle(b);
    if (!b->senders)
        return;
    begin_sends(b);
    const uint32_t sender = sender_of(b, warp);
    EACH_LANE(l, mask & b->all[warp])
    {
        struct sending *s = &b->sending[slot_of(warp, l)];
        s->clock[s->groups % GROUPS].read = b->clock[sender];
        s->clock[s->groups++ % GROUPS].written = b->copy_clock[sender];
    }
    tick(b, sender);
    tick_copies(b, sender);
}

void hazard_send_wait(struct hazard_block *b, uint32_t warp, uint32_t mask, uint32_t pending,
                      bool read)
{
    settle(b);
    EACH_LANE(l, b->sending ? mask & b->all[warp] : 0)
    {
        struct sending *s = &b->sending[slot_of(warp, l)];
        if (s->groups <= pending || pending >= GROUPS)
            continue;
        const uint32_t last = (s->groups - 1 - pending) % GROUPS;
        raise_to(&s->read, s->clock[last].read);
        if (!read)
            raise_to(&s->written, s->clock[last].written);
    }
}

/* ---- ends ---- */

void hazard_exit(struct hazard_block *b, uint32_t warp, uint32_t mask)
{
    b->alive[warp] &= ~mask;
    shared_exit(b, warp);
}
