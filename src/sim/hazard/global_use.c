/* global_use.c - who used which bytes of global memory, and whether that is ordered.
 *
 * Pages of 4 KiB, made when first used, are looked at in cells of 16 bytes that become smaller, page by page, as
 * accesses ask for it. A cell remembers the last write and two further accesses, of other blocks if there are such:
 * one of them conflicts with whatever block writes. All blocks in flight share the pages; a lock holds for those
 * of its buckets.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/hazard/block.h"

enum { PAGE_BITS = 12, RECORDS = 3 };

struct record {
    uint32_t block; /* + 1; 0: none */
    uint32_t clock;
    uint32_t insn : 20, act : 3, collective : 1;
    uint32_t slot : 13, access : 19; /* which of its block's: lanes of one have the same */
};
struct global_cell {
    struct record is[RECORDS]; /* the first is the last write, if there was one */
};
struct global_page {
    uint64_t number;
    struct global_page *next;
    uint32_t shift;
    struct global_cell *cell; /* [1 << (PAGE_BITS - shift)] */
};

void global_clear(struct hazards *h)
{
    for (int i = 0; i < PAGE_BUCKETS; i++)
        for (struct global_page *p = h->page[i], *next; p; p = next) {
            next = p->next;
            hoard_give(h->hoard, p->cell);
            hoard_give(h->hoard, p);
        }
    memset(h->page, 0, sizeof h->page);
}

/* ---- pages ---- */

static uint32_t bucket_of(uint64_t number)
{
    return (uint32_t)(number * 0x9e3779b97f4a7c15u >> 50) % PAGE_BUCKETS;
}

static size_t page_bytes(uint32_t shift)
{
    return sizeof(struct global_cell) << (PAGE_BITS - shift);
}

/* Room for so many bytes more? */
static bool reserve(struct hazards *h, size_t bytes)
{
    if (atomic_fetch_add(&h->bytes, bytes) + bytes <= h->options.max_bytes)
        return true;
    atomic_fetch_sub(&h->bytes, bytes);
    return false;
}

static bool refine_page(struct hazards *h, struct global_page *p, uint32_t shift)
{
    const uint32_t by = p->shift - shift, n = 1u << (PAGE_BITS - shift);
    if (!reserve(h, page_bytes(shift) - page_bytes(p->shift)))
        return false;
    struct global_cell *cell = hoard_take(h->hoard, n, sizeof *cell);
    for (uint32_t i = 0; i < n; i++)
        cell[i] = p->cell[i >> by];
    hoard_give(h->hoard, p->cell);
    p->cell = cell;
    p->shift = shift;
    return true;
}

/* The page, its cells not larger than 1 << shift; NULL: no memory for it. Its lock is held. */
static struct global_page *page_for(struct hazards *h, uint64_t number, uint32_t shift)
{
    struct global_page **at = &h->page[bucket_of(number)], *p = *at;
    while (p && p->number != number)
        p = p->next;
    if (!p) {
        const uint32_t first = shift < 4 ? shift : 4;
        if (!reserve(h, sizeof *p + page_bytes(first)))
            return NULL;
        p = hoard_take(h->hoard, 1, sizeof *p);
        *p = (struct global_page){.number = number, .next = *at, .shift = first};
        p->cell = hoard_take(h->hoard, 1u << (PAGE_BITS - first), sizeof *p->cell);
        *at = p;
    }
    return p->shift <= shift || refine_page(h, p, shift) ? p : NULL;
}

/* ---- an access to a cell ---- */

struct work {
    struct hazard_block *b;
    const struct hazard_access *a;
    const struct know *know; /* of this lane */
    uint32_t lane, slot;
    bool sends; /* a bulk store: remembered as its agent's */
    struct record now;
};

static bool conflicts(enum hazard_act x, enum hazard_act y)
{
    return (is_write(x) || is_write(y)) && !(is_strong(x) && is_strong(y));
}

/* The warp of a record: of a bulk store the one that asked for it. */
static uint32_t warp_of(const struct hazard_block *b, const struct record *r)
{
    const uint32_t warp = r->slot / LANES;
    return is_sender(b, warp) ? warp - b->senders : warp;
}

/* Does whoever makes the access know all lanes of the record's warp up to its clock? What bulk stores write is at the clock
 * of their agent's copies. */
static bool knows_record(const struct work *w, const struct record *r)
{
    const struct hazard_block *b = w->b;
    const bool here = r->block == w->now.block;
    const struct snapshot *other = here ? NULL : abroad_of(w->know->abroad, r->block - 1);
    if (!here && !other)
        return false;
    const uint32_t warp = r->slot / LANES;
    EACH_LANE(l, r->collective ? b->all[warp] : 1u << r->slot % LANES)
    {
        const uint32_t slot = slot_of(warp, l) + (is_sender(b, warp) ? b->lanes : 0);
        if (here ? !knows(b, w->know, w->slot, slot, r->clock) : other->v[slot] < r->clock)
            return false;
    }
    return true;
}

/* Is it of a bulk store that may still be under way, though who made it is known to have come further? */
static bool is_under_way(const struct work *w, const struct record *r)
{
    const struct hazard_block *b = w->b;
    if (!is_sender(b, r->slot / LANES))
        return false;
    if (r->block != w->now.block)
        return abroad_of(w->know->abroad, r->block - 1);
    return !has_sent(b, r->slot - b->senders * LANES, b->lanes + r->slot, r->clock);
}

static void report_record(const struct work *w, const struct record *r, uint64_t addr,
                          uint32_t bytes, bool same)
{
    const struct hazard_access *a = w->a;
    const uint32_t warp = warp_of(w->b, r);
    const struct hazard_report found = {.kind = is_under_way(w, r)         ? HAZARD_WAIT
                                                : r->block != w->now.block ? HAZARD_GRID
                                                : warp == a->warp          ? HAZARD_WARP
                                                                           : HAZARD_BLOCK,
                                        .a = {.block = r->block - 1,
                                              .warp = (int)warp,
                                              .lane = r->collective ? -1 : (int)(r->slot % LANES),
                                              .insn = r->insn,
                                              .act = (enum hazard_act)r->act},
                                        .b = {.block = w->b->number,
                                              .warp = (int)a->warp,
                                              .lane = a->collective ? -1 : (int)w->lane,
                                              .insn = w->now.insn,
                                              .act = a->act},
                                        .addr = addr,
                                        .bytes = bytes,
                                        .same_value = same};
    report(w->b, &found);
}

/* Where the access is remembered: instead of one of its own block that it covers, in a free place, or instead of one
 * that matters less. RECORDS: nowhere. */
static int place_for(const struct work *w, const struct global_cell *c, const bool known[RECORDS])
{
    const bool weak_write = is_write(w->a->act) && !is_strong(w->a->act);
    const bool weak_kept = c->is[0].block && !is_strong((enum hazard_act)c->is[0].act);
    if (weak_write || (is_write(w->a->act) && !weak_kept))
        return 0;
    for (int i = 1; i < RECORDS; i++)
        if (c->is[i].block == w->now.block && c->is[i].act == w->now.act)
            return i;
    for (int i = 1; i < RECORDS; i++)
        if (!c->is[i].block)
            return i;
    for (int i = 1; i < RECORDS; i++)
        if (known[i])
            return i;
    return RECORDS;
}

/* Is the access a read that the cell has already of that warp, where nobody wrote? (Of lanes that read the same the
 * first is remembered.) */
static inline bool is_there(const struct global_cell *c, const struct record *now)
{
    const struct record *r = c->is[1].block == now->block ? &c->is[1] : &c->is[2];
    return now->act == HAZARD_READ && !c->is[0].block && r->block == now->block &&
           r->act == HAZARD_READ && r->clock == now->clock && r->slot / LANES == now->slot / LANES;
}

static bool is_same_access(const struct record *r, const struct record *now)
{
    return r->block == now->block && r->access == now->access;
}

/* A store of all lanes of a warp together, behind a load of them together: all have read when they meet. */
static bool is_stored_behind(const struct record *r, const struct record *now)
{
    return r->block == now->block && r->collective && now->collective &&
           r->slot / LANES == now->slot / LANES && r->act == HAZARD_READ &&
           now->act == HAZARD_WRITE;
}

static void use_cell(const struct work *w, struct global_cell *c, uint64_t addr, uint32_t bytes)
{
    if (is_there(c, &w->now))
        return;
    bool known[RECORDS], all = true;
    for (int i = 0; i < RECORDS; i++) {
        const struct record *r = &c->is[i];
        known[i] = !r->block || is_same_access(r, &w->now) || is_stored_behind(r, &w->now) ||
                   knows_record(w, r);
        all &= known[i];
        if (!known[i] && conflicts((enum hazard_act)r->act, w->a->act))
            report_record(w, r, addr, bytes, false);
    }
    if (is_write(w->a->act) && !is_strong(w->a->act) && all)
        memset(c, 0, sizeof *c); /* who races with them, races with this one */
    const int at = place_for(w, c, known);
    if (at == 0 && c->is[0].block && c->is[0].block != w->now.block)
        for (int i = 1; i < RECORDS; i++)
            if (!c->is[i].block) {
                c->is[i] = c->is[0];
                break;
            }
    if (at < RECORDS)
        c->is[at] = w->now;
}

/* ---- an access of a warp ---- */

static void use_bytes(struct work *w, struct global_page *p, uint64_t addr, uint32_t bytes)
{
    const uint32_t in = (uint32_t)addr & ((1u << PAGE_BITS) - 1);
    for (uint32_t at = 0; at < bytes; at += 1u << p->shift)
        use_cell(w, &p->cell[(in + at) >> p->shift], addr + at, 1u << p->shift);
}

static void be_lane(struct work *w, uint32_t lane)
{
    w->lane = lane;
    w->slot = slot_of(w->a->warp, lane);
    w->now.slot = (w->slot + (w->sends ? w->b->senders * LANES : 0)) & (HAZARD_THREADS_MAX - 1);
    w->know = w->b->know[w->slot];
}

/* The lanes, all of whose bytes lie in one page. */
static void use_page(struct work *w, uint64_t number, const uint64_t addr[32], uint32_t mask)
{
    struct hazards *h = w->b->launch;
    uint64_t bits = w->a->bytes | 1u << 4;
    EACH_LANE(l, mask)
    bits |= addr[l];
    pthread_mutex_t *lock = &h->page_lock[bucket_of(number) % PAGE_LOCKS];
    pthread_mutex_lock(lock);
    struct global_page *p = page_for(h, number, (uint32_t)__builtin_ctz((uint32_t)bits));
    EACH_LANE(l, p ? mask : 0)
    {
        be_lane(w, l);
        use_bytes(w, p, addr[l], w->a->bytes);
    }
    pthread_mutex_unlock(lock);
    if (!p)
        atomic_fetch_add(&h->unchecked, (uint64_t)w->a->bytes * (uint32_t)__builtin_popcount(mask));
}

/* A lane whose bytes lie in several pages: in pieces. */
static void use_pieces(struct work *w, const struct hazard_access *whole, const uint64_t addr[32],
                       uint32_t lane)
{
    uint64_t at[32];
    for (uint32_t done = 0; done < whole->bytes;) {
        const uint32_t in = (uint32_t)(addr[lane] + done) & ((1u << PAGE_BITS) - 1);
        const uint32_t left = whole->bytes - done, room = (1u << PAGE_BITS) - in;
        struct hazard_access piece = *whole;
        piece.bytes = left < room ? left : room;
        at[lane] = addr[lane] + done;
        w->a = &piece;
        use_page(w, at[lane] >> PAGE_BITS, at, 1u << lane);
        done += piece.bytes;
    }
    w->a = whole;
}

static void use_lanes(struct work *w, const uint64_t addr[32], uint32_t mask)
{
    const struct hazard_access *a = w->a;
    while (mask) {
        const uint32_t first = (uint32_t)__builtin_ctz(mask);
        const uint64_t number = addr[first] >> PAGE_BITS;
        uint32_t same = 0;
        EACH_LANE(l, mask)
        same |= (uint32_t)(addr[l] >> PAGE_BITS == number &&
                           (addr[l] + a->bytes - 1) >> PAGE_BITS == number)
                << l;
        if (same)
            use_page(w, number, addr, same);
        else
            use_pieces(w, a, addr, first);
        mask &= ~(same ? same : 1u << first);
    }
}

/* Lanes of one instruction that write the same bytes unlike. */
static void compare_lanes(struct work *w, const uint64_t addr[32], uint32_t mask)
{
    const struct hazard_access *a = w->a;
    EACH_LANE(l, mask)
    for (uint32_t before = 0; before < l; before++) {
        const uint64_t from = addr[l] > addr[before] ? addr[l] : addr[before];
        const uint64_t to = (addr[l] > addr[before] ? addr[before] : addr[l]) + a->bytes;
        if (!(mask >> before & 1) || from >= to ||
            lanes_agree(a->values, before, (uint32_t)(from - addr[before]), l,
                        (uint32_t)(from - addr[l]), (uint32_t)(to - from)))
            continue;
        struct hazard_report r = {.kind = HAZARD_LANES,
                                  .b = {.block = w->b->number,
                                        .warp = (int)a->warp,
                                        .lane = (int)l,
                                        .insn = w->now.insn,
                                        .act = a->act},
                                  .addr = from,
                                  .bytes = (uint32_t)(to - from)};
        r.a = r.b;
        r.a.lane = (int)before;
        report(w->b, &r);
        break;
    }
}

/* Do all lanes write behind the one before? */
static bool ascending(const uint64_t addr[32], uint32_t mask, uint32_t bytes)
{
    uint64_t end = 0;
    EACH_LANE(l, mask)
    {
        if (addr[l] < end)
            return false;
        end = addr[l] + bytes;
    }
    return true;
}

void hazard_global(struct hazard_block *b, const struct hazard_access *a, const uint64_t addr[32])
{
    settle(b);
    struct hazard_access all = *a;
    all.mask &= b->all[a->warp];
    if (!all.mask || !all.bytes)
        return;
    b->accesses++;
    const bool sends = a->engine && b->senders;
    if (sends)
        begin_sends(b);
    if (a->act == HAZARD_WRITE || a->act == HAZARD_COPY)
        forget_released(b, &all, addr, false);
    struct work w = {
        .b = b,
        .a = &all,
        .sends = sends,
        .now = {.block = (uint32_t)b->number + 1,
                .clock = sends ? b->copy_clock[sender_of(b, a->warp)] : b->clock[a->warp],
                .insn = a->insn < HAZARD_INSN_MAX ? a->insn : HAZARD_INSN_MAX,
                .act = a->act,
                .collective = a->collective,
                .access = b->accesses & ((1u << 21) - 1)}};
    if (a->act == HAZARD_WRITE && !a->collective && !ascending(addr, all.mask, a->bytes))
        compare_lanes(&w, addr, all.mask);
    use_lanes(&w, addr, all.mask);
    if (is_strong(a->act) && !sends)
        order_strong(b, &all, addr, false);
}
