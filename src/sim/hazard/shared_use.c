/* shared_use.c - who used which bytes of a block's shared memory, and whether that is ordered.
 *
 * Bytes are looked at in cells of 16 bytes, which become 8, 4, 2 or 1 when an access is smaller or lies across them: from
 * then on all are so. A cell remembers its last plain write, and of each warp the lanes that read it or that changed it
 * atomically since. That is enough: a race with an earlier write would have been one with this one, too
 * (FastTrack, Flanagan and Freund 2009).
 *
 * Epochs make it cheap. One begins when all threads that live have met at a barrier: what was done before is known to
 * all, and need not be looked at. Clocks and epochs go on from block to block, so that nothing must be cleared.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/hazard/block.h"

/* A plain write: clock 28, instruction 20, who 11 (a slot, that of its copies), whether the whole warp did it. */
enum { INSN_BITS = 20, WHO_BITS = 14 };
struct writing {
    uint32_t clock, insn, who;
    bool collective;
};

static uint64_t pack(struct writing w)
{
    return (uint64_t)w.clock << (INSN_BITS + WHO_BITS + 1) | (uint64_t)w.insn << (WHO_BITS + 1) |
           (uint64_t)w.who << 1 | w.collective;
}

static struct writing unpack(uint64_t x)
{
    return (struct writing){.clock = (uint32_t)(x >> (INSN_BITS + WHO_BITS + 1)),
                            .insn = (uint32_t)(x >> (WHO_BITS + 1)) & HAZARD_INSN_MAX,
                            .who = (uint32_t)(x >> 1) & ((1u << WHO_BITS) - 1),
                            .collective = x & 1};
}

enum { WARP_BITS = 9, MANY = (1 << WARP_BITS) - 1, EPOCH_MAX = (1 << (32 - WARP_BITS)) - 2 };
_Static_assert((int)WARPS_MAX < (int)MANY && 2 * (int)HAZARD_THREADS_MAX <= 1 << WHO_BITS,
               "warps, lanes and their copies");
#define ALWAYS UINT32_MAX /* the epoch of a copy: a barrier alone does not order it */

struct cell {
    uint64_t write;
    uint32_t written; /* in this epoch; 0: never */
    uint32_t
        marked; /* epoch << WARP_BITS | the warp that did something else there, MANY: several */
};

/* What else is done to a cell, by lanes of one warp at one clock. */
enum marks { READS, STRONG_READS, STRONG_WRITES, MARKS };
struct mark {
    uint32_t clock, lanes; /* clock 0: nothing */
    uint32_t insn;         /* with TOGETHER where all lanes did it together */
};
#define TOGETHER (1u << 31)
/* One that a later one of the same warp did not come behind. */
struct spilt {
    uint32_t cell, warp;
    enum marks kind;
    struct mark mark;
    struct spilt *next;
};
enum { SPILL_BUCKETS = 1024 };

struct shared_memory {
    struct hoard *hoard; /* NULL: the heap */
    uint32_t bytes, shift, cells;
    uint32_t epoch;
    bool stuck;  /* a thread ended that had used memory in this epoch: nobody will meet it again */
    bool strong; /* was there ever a strong access? */
    uint32_t touched[WARPS_MAX]; /* epoch of the last access */
    struct cell *cell;
    struct mark *mark[MARKS][WARPS_MAX];
    uint64_t *
        stamp; /* [cells] number of the access that wrote last * 32 + lane; NULL: not needed so far */
    struct spilt *spill[SPILL_BUCKETS];
    uint32_t spilt;
    struct thread_write {
        uint32_t fences; /* of the proxy before it; 0: an agent wrote since */
        uint32_t warp, lane, insn;
    } * proxy; /* [cells] of threads, strong ones included. NULL: there are no agents */
};

struct shared_memory *shared_new(struct hazard_block *b)
{
    struct shared_memory *s = hoard_take(b->launch->hoard, 1, sizeof *s);
    s->hoard = b->launch->hoard;
    s->bytes = b->launch->options.shared_bytes;
    s->shift = 4;
    s->cells = (s->bytes >> s->shift) + 1;
    s->cell = hoard_take(s->hoard, s->cells, sizeof *s->cell);
    if (b->warps > b->own)
        s->proxy = hoard_take(s->hoard, s->cells, sizeof *s->proxy);
    return s;
}

static void drop_spilt(struct shared_memory *s)
{
    for (int i = 0; i < SPILL_BUCKETS && s->spilt; i++)
        for (struct spilt *x = s->spill[i], *next; x; x = next) {
            next = x->next;
            hoard_give(s->hoard, x);
            s->spill[i] = NULL;
        }
    s->spilt = 0;
}

void shared_free(struct shared_memory *s)
{
    drop_spilt(s);
    for (int k = 0; k < MARKS; k++)
        for (int w = 0; w < WARPS_MAX; w++)
            hoard_give(s->hoard, s->mark[k][w]);
    hoard_give(s->hoard, s->cell);
    hoard_give(s->hoard, s->proxy);
    hoard_give(s->hoard, s->stamp);
    hoard_give(s->hoard, s);
}

/* As if nothing had been. */
static void wipe(struct hazard_block *b)
{
    struct shared_memory *s = b->shared;
    memset(s->cell, 0, s->cells * sizeof *s->cell);
    for (int k = 0; k < MARKS; k++)
        for (uint32_t w = 0; w < b->warps; w++)
            if (s->mark[k][w])
                memset(s->mark[k][w], 0, s->cells * sizeof *s->mark[k][w]);
    memset(s->touched, 0, sizeof s->touched);
    s->epoch = 0;
    for (uint32_t w = 0; w < b->warps; w++)
        b->clock[w] = b->copy_clock[w] = 0;
}

void shared_begin(struct hazard_block *b)
{
    struct shared_memory *s = b->shared;
    bool full = s->epoch > EPOCH_MAX / 2;
    for (uint32_t w = 0; w < b->warps; w++)
        full |= b->clock[w] > CLOCK_MAX / 2 || b->copy_clock[w] > CLOCK_MAX / 2;
    if (full)
        wipe(b);
    drop_spilt(s);
    s->stuck = s->proxy; /* no meeting of threads is one of agents */
    s->epoch++;
}

void shared_new_epoch(struct hazard_block *b)
{
    struct shared_memory *s = b->shared;
    if (!s->stuck && s->epoch < EPOCH_MAX)
        s->epoch++;
}

void shared_exit(struct hazard_block *b, uint32_t warp)
{
    struct shared_memory *s = b->shared;
    if (s->touched[warp] == s->epoch)
        s->stuck = true;
}

/* ---- smaller cells ---- */

static bool is_zero(const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i])
            return false;
    return true;
}

/* n items of `size` bytes become n << by: each is what it was part of. Most are zero: a block's first accesses have it done. */
static void *spread(struct hoard *hoard, void *items, size_t size, uint32_t n, uint32_t by,
                    uint32_t cells)
{
    if (!items)
        return NULL;
    unsigned char *new = hoard_take(hoard, cells, size);
    for (size_t i = 0; i < n; i++) {
        const unsigned char *item = (unsigned char *)items + i * size;
        for (size_t to = i << by; to < (i + 1) << by && to < cells && !is_zero(item, size); to++)
            memcpy(new + to *size, item, size);
    }
    hoard_give(hoard, items);
    return new;
}

static struct spilt **spill_of(struct shared_memory *s, uint32_t cell)
{
    return &s->spill[cell * 2654435761u >> 22];
}

static void spill(struct shared_memory *s, uint32_t cell, enum marks kind, uint32_t warp,
                  struct mark mark)
{
    struct spilt **at = spill_of(s, cell), *x = hoard_take(s->hoard, 1, sizeof *x);
    *x = (struct spilt){.cell = cell, .warp = warp, .kind = kind, .mark = mark, .next = *at};
    *at = x;
    s->spilt++;
}

static void spread_spilt(struct shared_memory *s, uint32_t by)
{
    struct spilt *all = NULL;
    for (int i = 0; i < SPILL_BUCKETS; i++)
        for (struct spilt *x = s->spill[i], *next; x; x = next) {
            next = x->next;
            x->next = all;
            all = x;
            s->spill[i] = NULL;
        }
    s->spilt = 0;
    for (struct spilt *x = all, *next; x; x = next) {
        next = x->next;
        for (uint32_t i = 0; i < 1u << by; i++)
            spill(s, (x->cell << by) + i, x->kind, x->warp, x->mark);
        hoard_give(s->hoard, x);
    }
}

static void refine(struct hazard_block *b, uint32_t shift)
{
    struct shared_memory *s = b->shared;
    const uint32_t by = s->shift - shift, n = s->cells;
    s->cells = (s->bytes >> shift) + (1u << by) + 1;
    s->cell = spread(s->hoard, s->cell, sizeof *s->cell, n, by, s->cells);
    for (int k = 0; k < MARKS; k++)
        for (uint32_t w = 0; w < b->warps; w++)
            s->mark[k][w] = spread(s->hoard, s->mark[k][w], sizeof *s->mark[k][w], n, by, s->cells);
    s->proxy = spread(s->hoard, s->proxy, sizeof *s->proxy, n, by, s->cells);
    hoard_give(s->hoard, s->stamp);
    s->stamp = NULL;
    s->shift = shift;
    if (s->spilt)
        spread_spilt(s, by);
}

/* ---- an access to a cell ---- */

/* One access of a warp as it is worked on. */
struct work {
    struct hazard_block *b;
    struct shared_memory *s;
    const struct hazard_access *a;
    const struct know *know; /* of all lanes; NULL: each has its own */
    uint32_t clock, insn, epoch;
    uint32_t
        marks; /* the warp that what it reads is remembered of: its own, or that of its bulk stores */
    uint32_t marks_clock;
    uint32_t mark;  /* the instruction as marks have it */
    uint32_t floor; /* all lanes know of warp `marks` up to this clock */
    bool copy;
    uint32_t addr; /* of the lanes that are worked on */
};

static const struct know *knowledge(const struct work *w, uint32_t lane)
{
    return w->know ? w->know : know_of(w->b, w->a->warp, lane);
}

/* The least that any of the lanes knows of a warp, or less. */
static inline uint32_t least(const struct work *w, uint32_t lanes, uint32_t warp)
{
    if (w->know)
        return w->know->least[warp];
    uint32_t min = UINT32_MAX;
    EACH_LANE(l, lanes)
    {
        const uint32_t x = know_of(w->b, w->a->warp, l)->least[warp];
        min = x < min ? x : min;
    }
    return min;
}

static bool knows_writing(const struct work *w, uint32_t lane, const struct writing *x)
{
    const struct know *k = knowledge(w, lane);
    const uint32_t slot = slot_of(w->a->warp, lane);
    if (!x->collective)
        return knows(w->b, k, slot, x->who, x->clock);
    const uint32_t warp = x->who / LANES;
    EACH_LANE(l, w->b->all[warp])
    if (!knows(w->b, k, slot, slot_of(warp, l), x->clock))
        return false;
    return true;
}

/* A party that is an agent becomes who sent it; what it writes are copies. */
static struct hazard_party party(const struct hazard_block *b, struct hazard_party p)
{
    if ((uint32_t)p.warp < b->own)
        return p;
    if (is_sender(b, (uint32_t)p.warp)) {
        p.warp -= (int)b->senders;
        return p;
    }
    const struct sender *from =
        &b->sent_by[slot_of((uint32_t)p.warp - b->own, p.lane < 0 ? 0 : (uint32_t)p.lane)];
    p.warp = (int)from->warp;
    p.lane = from->lane;
    if (p.act == HAZARD_WRITE)
        p.act = HAZARD_COPY;
    return p;
}

/* Of what lies there by a warp, or an agent: `reads` is what it did. */
static enum hazard_kind kind_between(const struct work *w, uint32_t warp, bool reads)
{
    if (is_sender(w->b, warp))
        warp -= w->b->senders;
    if (warp >= w->b->own)
        return reads ? HAZARD_OPERAND : HAZARD_WAIT;
    return warp == w->a->warp ? HAZARD_WARP : HAZARD_BLOCK;
}

static struct hazard_report conflict(const struct work *w, uint32_t cell, uint32_t lane)
{
    const struct hazard_access *a = w->a;
    const struct hazard_party me = {.block = w->b->number,
                                    .warp = (int)a->warp,
                                    .lane = a->collective ? -1 : (int)lane,
                                    .insn = w->insn,
                                    .act = a->act};
    return (struct hazard_report){.shared = true,
                                  .b = party(w->b, me),
                                  .addr = (uint64_t)cell << w->s->shift,
                                  .bytes = 1u << w->s->shift};
}

/* Writes the lane what is there? Of a cell in which the last write is no copy: those land later. */
static bool is_same(const struct work *w, uint32_t cell, uint32_t lane)
{
    const uint32_t at = cell << w->s->shift;
    return w->b->bytes && w->a->values && !w->a->collective && w->a->act == HAZARD_WRITE &&
           writes_same(w->a->values, lane, at - w->addr, w->b->bytes + at, 1u << w->s->shift);
}

static void check_write(const struct work *w, uint32_t cell, uint32_t lanes)
{
    const struct writing x = unpack(w->s->cell[cell].write);
    const bool copied = x.who >= w->b->lanes;
    const uint32_t slot = copied ? x.who - w->b->lanes : x.who, warp = slot / LANES;
    if (w->know && (x.collective ? w->know->least[warp] : w->know->v[x.who]) >= x.clock)
        return;
    EACH_LANE(l, lanes)
    {
        if (knows_writing(w, l, &x))
            continue;
        struct hazard_report r = conflict(w, cell, l);
        r.kind = copied && w->b->copying[slot].done < x.clock ? HAZARD_WAIT
                                                              : kind_between(w, warp, false);
        r.a = party(w->b, (struct hazard_party){.block = w->b->number,
                                                .warp = (int)warp,
                                                .lane = x.collective ? -1 : (int)(slot % LANES),
                                                .insn = x.insn,
                                                .act = copied ? HAZARD_COPY : HAZARD_WRITE});
        r.same_value = !copied && is_same(w, cell, l);
        report(w->b, &r);
        if (w->a->collective)
            break; /* one for the warp */
    }
}

/* What a warp's lane read at that clock: does a bulk store read it that nobody has waited for? */
static bool is_unread(const struct hazard_block *b, uint32_t warp, uint32_t lane, uint32_t clock)
{
    return is_sender(b, warp) &&
           !has_sent(b, slot_of(warp - b->senders, lane), slot_of(warp, lane), clock);
}

static void check_mark(const struct work *w, uint32_t cell, uint32_t lanes, enum marks kind,
                       uint32_t warp, const struct mark *m)
{
    static const enum hazard_act act[] = {[READS] = HAZARD_READ,
                                          [STRONG_READS] = HAZARD_STRONG_READ,
                                          [STRONG_WRITES] = HAZARD_ATOMIC};
    const bool together = m->insn & TOGETHER;
    if (!m->clock || least(w, lanes, warp) >= m->clock)
        return;
    if (together && w->a->collective && warp == w->a->warp && kind == READS)
        return; /* all lanes have read when they meet at the store */
    EACH_LANE(l, lanes)
    {
        const struct know *k = knowledge(w, l);
        const uint32_t slot = slot_of(w->a->warp, l);
        uint32_t unknown = 0;
        EACH_LANE(u, m->lanes)
        unknown |= (uint32_t)!knows(w->b, k, slot, slot_of(warp, u), m->clock) << u;
        if (!unknown)
            continue;
        struct hazard_report r = conflict(w, cell, l);
        r.kind = is_unread(w->b, warp, (uint32_t)__builtin_ctz(unknown), m->clock)
                     ? HAZARD_SOURCE
                     : kind_between(w, warp, true);
        r.a = party(w->b, (struct hazard_party){.block = w->b->number,
                                                .warp = (int)warp,
                                                .lane = together ? -1 : __builtin_ctz(unknown),
                                                .insn = m->insn & HAZARD_INSN_MAX,
                                                .act = act[kind]});
        r.same_value = kind == STRONG_WRITES ? is_same(w, cell, l) : false;
        report(w->b, &r);
        if (w->a->collective)
            break;
    }
}

static void check_marks(const struct work *w, uint32_t cell, uint32_t lanes, enum marks kind)
{
    const uint32_t marked = w->s->cell[cell].marked;
    if (marked >> WARP_BITS < w->epoch)
        return;
    const uint32_t only = marked & MANY;
    for (uint32_t v = only == MANY ? 0 : only; v < w->b->warps; v++) {
        if (w->s->mark[kind][v])
            check_mark(w, cell, lanes, kind, v, &w->s->mark[kind][v][cell]);
        if (only != MANY)
            break;
    }
    if (w->s->spilt)
        for (const struct spilt *x = *spill_of(w->s, cell); x; x = x->next)
            if (x->cell == cell && x->kind == kind)
                check_mark(w, cell, lanes, kind, x->warp, &x->mark);
}

/* Takes lanes out of what was spilt of their warp: what they do now comes behind it. */
static void unspill(struct shared_memory *s, uint32_t cell, enum marks kind, uint32_t warp,
                    uint32_t lanes)
{
    for (struct spilt **at = spill_of(s, cell), *x; (x = *at);) {
        if (x->cell == cell && (kind == MARKS || (x->kind == kind && x->warp == warp)))
            x->mark.lanes &= ~lanes;
        if (x->mark.lanes) {
            at = &x->next;
            continue;
        }
        *at = x->next;
        hoard_give(s->hoard, x);
        s->spilt--;
    }
}

/* The rarer case: the warp did so by another instruction, or at another clock. Lanes that did not do it again are kept
 * apart, unless these here come behind them. */
static void renew_mark(const struct work *w, uint32_t cell, uint32_t lanes, enum marks kind)
{
    const uint32_t warp = w->marks;
    struct mark *m = &w->s->mark[kind][warp][cell];
    if (w->s->spilt)
        unspill(w->s, cell, kind, warp, lanes);
    if (m->clock == w->marks_clock && m->insn == w->mark) {
        m->lanes |= lanes;
        return;
    }
    if (m->clock && m->lanes & ~lanes && least(w, lanes, warp) < m->clock)
        spill(w->s, cell, kind, warp,
              (struct mark){.clock = m->clock, .lanes = m->lanes & ~lanes, .insn = m->insn});
    *m = (struct mark){.clock = w->marks_clock, .lanes = lanes, .insn = w->mark};
}

static inline void set_mark(const struct work *w, uint32_t cell, uint32_t lanes, enum marks kind)
{
    struct cell *c = &w->s->cell[cell];
    const uint32_t mine = w->epoch << WARP_BITS | w->marks;
    if (c->marked != mine)
        c->marked = c->marked >> WARP_BITS == w->epoch ? w->epoch << WARP_BITS | MANY : mine;
    struct mark *m = &w->s->mark[kind][w->marks][cell];
    if (m->clock == w->marks_clock && m->insn == w->mark && !w->s->spilt)
        m->lanes |= lanes;
    else if (!w->s->spilt && (m->clock <= w->floor || !(m->lanes & ~lanes)))
        *m = (struct mark){.clock = w->marks_clock, .lanes = lanes, .insn = w->mark};
    else
        renew_mark(w, cell, lanes, kind);
}

/* An agent reads what a thread wrote: seen through a fence of the proxy alone. */
static void check_proxy(const struct work *w, uint32_t cell)
{
    const struct thread_write *x = &w->s->proxy[cell];
    if (x->fences != w->b->proxy_fences)
        return;
    struct hazard_report r = conflict(w, cell, 0);
    r.kind = HAZARD_PROXY;
    r.a = (struct hazard_party){.block = w->b->number,
                                .warp = (int)x->warp,
                                .lane = (int)x->lane,
                                .insn = x->insn,
                                .act = HAZARD_WRITE};
    report(w->b, &r);
}

static void note_proxy(const struct work *w, uint32_t cell, uint32_t lanes)
{
    const bool thread = w->a->warp < w->b->own;
    w->s->proxy[cell] = (struct thread_write){.fences = thread ? w->b->proxy_fences : 0,
                                              .warp = w->a->warp,
                                              .lane = (uint32_t)__builtin_ctz(lanes),
                                              .insn = w->insn};
}

static void read_cell(const struct work *w, uint32_t cell, uint32_t lanes)
{
    if (w->s->cell[cell].written >= w->epoch)
        check_write(w, cell, lanes);
    if (w->s->strong)
        check_marks(w, cell, lanes, STRONG_WRITES);
    set_mark(w, cell, lanes, READS);
}

/* `n` cells read by the same lanes. Most of what is watched is this: what holds of all cells is looked up once. */
static void read_cells(const struct work *w, uint32_t begin, uint32_t n, uint32_t lanes)
{
    const struct shared_memory *s = w->s;
    const struct mark now = {.clock = w->marks_clock, .lanes = lanes, .insn = w->mark};
    const uint32_t mine = w->epoch << WARP_BITS | w->marks;
    struct cell *const c = s->cell + begin;
    struct mark *const m = s->mark[READS][w->marks] + begin;
    uint32_t i = 0;
    for (; i < n && !s->strong && !s->spilt; i++) {
        if (c[i].written >= w->epoch)
            check_write(w, begin + i, lanes);
        if (c[i].marked != mine)
            c[i].marked =
                c[i].marked >> WARP_BITS == w->epoch ? w->epoch << WARP_BITS | MANY : mine;
        if (m[i].clock == now.clock && m[i].insn == w->mark)
            m[i].lanes |= lanes;
        else if (m[i].clock <= w->floor || !(m[i].lanes & ~lanes))
            m[i] = now;
        else
            renew_mark(w, begin + i, lanes, READS);
    }
    for (; i < n; i++)
        read_cell(w, begin + i, lanes);
}

static void strong_cell(const struct work *w, uint32_t cell, uint32_t lanes)
{
    if (w->s->cell[cell].written >= w->epoch)
        check_write(w, cell, lanes);
    const bool writes = is_write(w->a->act);
    if (writes && w->s->proxy)
        note_proxy(w, cell, lanes);
    if (writes)
        check_marks(w, cell, lanes, READS);
    set_mark(w, cell, lanes, writes ? STRONG_WRITES : STRONG_READS);
}

static void write_cell(const struct work *w, uint32_t cell, uint32_t lanes)
{
    struct cell *c = &w->s->cell[cell];
    if (w->s->proxy)
        note_proxy(w, cell, lanes);
    if (c->written >= w->epoch)
        check_write(w, cell, lanes);
    if (c->marked >> WARP_BITS >= w->epoch) {
        for (enum marks k = READS; k < (w->s->strong ? MARKS : STRONG_READS); k++)
            check_marks(w, cell, lanes, k);
        c->marked = 0;
        if (w->s->spilt)
            unspill(w->s, cell, MARKS, 0, UINT32_MAX);
    }
    const uint32_t slot = slot_of(w->a->warp, (uint32_t)__builtin_ctz(lanes));
    c->write = pack((struct writing){.clock = w->copy ? w->b->copy_clock[w->a->warp] : w->clock,
                                     .insn = w->insn,
                                     .who = w->copy ? slot + w->b->lanes : slot,
                                     .collective = w->a->collective});
    c->written = w->copy ? ALWAYS : w->epoch;
}

/* ---- lanes of one instruction that write the same bytes ---- */

static void report_lanes(const struct work *w, uint32_t cell, uint32_t first, uint32_t lane)
{
    struct hazard_report r = conflict(w, cell, lane);
    r.kind = HAZARD_LANES;
    r.a = r.b;
    r.a.lane = (int)first;
    report(w->b, &r);
}

/* Lanes that have the same address. */
static void compare_lanes(const struct work *w, uint32_t lanes)
{
    const uint32_t first = (uint32_t)__builtin_ctz(lanes);
    EACH_LANE(l, lanes & (lanes - 1))
    if (!lanes_agree(w->a->values, first, 0, l, 0, w->a->bytes))
        for (uint32_t at = 0; at < w->a->bytes; at += 1u << w->s->shift)
            report_lanes(w, (w->addr + at) >> w->s->shift, first, l);
}

/* Has a lane before this one written the cell in this instruction? */
static bool written_before(const struct work *w, const uint32_t addr[32], uint32_t cell,
                           uint32_t lane)
{
    uint64_t *stamp = &w->s->stamp[cell];
    if (*stamp >> 5 != w->b->accesses) {
        *stamp = w->b->accesses << 5 | lane;
        return false;
    }
    const uint32_t before = *stamp & 31, at = cell << w->s->shift;
    if (!w->a->collective && !lanes_agree(w->a->values, before, at - addr[before], lane,
                                          at - addr[lane], 1u << w->s->shift))
        report_lanes(w, cell, before, lane);
    return true;
}

/* Do all lanes lie behind the one before, or begin where it does? */
static bool ascending(const struct hazard_access *a, const uint32_t addr[32], uint32_t mask)
{
    uint32_t before = addr[__builtin_ctz(mask)];
    bool all = true;
    EACH_LANE(l, mask & (mask - 1))
    {
        all &= addr[l] == before || (addr[l] > before && addr[l] - before >= a->bytes);
        before = addr[l];
    }
    return all;
}

/* ---- an access of a warp ---- */

static void work_on(struct work *w, const uint32_t addr[32], uint32_t mask)
{
    const struct hazard_access *a = w->a;
    const bool writes = a->act == HAZARD_WRITE || a->act == HAZARD_COPY, strong = is_strong(a->act);
    const bool stamps = writes && !ascending(a, addr, mask);
    const uint32_t shift = w->s->shift, cells = a->bytes >> shift;
    if (stamps && !w->s->stamp)
        w->s->stamp = hoard_take(w->s->hoard, w->s->cells, sizeof *w->s->stamp);
    while (mask) {
        const uint32_t first = (uint32_t)__builtin_ctz(mask), at = addr[first];
        uint32_t lanes = 1u << first;
        /* those behind it with the same address are one */
        EACH_LANE(l, mask & (mask - 1))
        {
            if (addr[l] != at)
                break;
            lanes |= 1u << l;
        }
        mask &= ~lanes;
        w->addr = at;
        if (writes && !a->collective && lanes & (lanes - 1))
            compare_lanes(w, lanes);
        const uint32_t who = a->collective ? w->b->all[a->warp] : lanes, begin = at >> shift;
        if (strong)
            for (uint32_t i = 0; i < cells; i++)
                strong_cell(w, begin + i, who);
        else if (!writes) {
            for (uint32_t i = 0; (a->engine || a->warp >= w->b->own) && i < cells; i++)
                check_proxy(w, begin + i);
            read_cells(w, begin, cells, who);
        } else
            for (uint32_t i = 0; i < cells; i++)
                if (!stamps || !written_before(w, addr, begin + i, first))
                    write_cell(w, begin + i, who);
    }
}

/* The lanes whose bytes lie within the memory, and in *small how far cells must be refined. */
static uint32_t within(const struct shared_memory *s, const struct hazard_access *a, uint32_t mask,
                       const uint32_t addr[32], uint32_t *bits)
{
    uint32_t inside = 0, beyond = a->bytes > s->bytes, all = a->bytes;
    for (int l = 0; l < LANES && mask == UINT32_MAX; l++) {
        beyond |= addr[l] > s->bytes - a->bytes;
        all |= addr[l];
    }
    *bits = mask == UINT32_MAX && !beyond ? all : a->bytes;
    if (mask == UINT32_MAX && !beyond)
        return mask;
    EACH_LANE(l, mask)
    if (addr[l] < s->bytes && a->bytes <= s->bytes - addr[l]) {
        inside |= 1u << l;
        *bits |= addr[l];
    }
    return inside;
}

static void make_marks(struct hazard_block *b, const struct hazard_access *a, uint32_t warp)
{
    struct shared_memory *s = b->shared;
    const enum marks kind = a->act == HAZARD_READ          ? READS
                            : a->act == HAZARD_STRONG_READ ? STRONG_READS
                                                           : STRONG_WRITES;
    if (a->act != HAZARD_WRITE && a->act != HAZARD_COPY && !s->mark[kind][warp])
        s->mark[kind][warp] = hoard_take(s->hoard, s->cells, sizeof *s->mark[kind][warp]);
    s->strong |= is_strong(a->act);
}

void hazard_shared(struct hazard_block *b, const struct hazard_access *a, const uint32_t addr[32])
{
    settle(b);
    struct shared_memory *s = b->shared;
    uint32_t bits;
    const uint32_t mask = within(s, a, a->mask & b->all[a->warp], addr, &bits);
    if (!mask || !a->bytes)
        return;
    if (bits & ((1u << s->shift) - 1))
        refine(b, (uint32_t)__builtin_ctz(bits));
    b->accesses++;
    const bool sends = a->engine && b->senders;
    const uint32_t marks = sends ? sender_of(b, a->warp) : a->warp;
    if (sends)
        begin_sends(b);
    make_marks(b, a, marks);
    s->touched[a->warp] = s->epoch;
    if (a->act == HAZARD_COPY && !b->copying) {
        b->copying = hoard_take(s->hoard, b->lanes, sizeof *b->copying);
        b->clocks.copies = true;
    }
    uint64_t wide[32];
    const bool releases = is_strong(a->act) || (is_write(a->act) && b->released.n);
    if (releases)
        EACH_LANE(l, mask)
    wide[l] = addr[l];
    struct hazard_access inside = *a;
    inside.mask = mask;
    if (a->act == HAZARD_WRITE && releases)
        forget_released(b, &inside, wide, true);
    struct work w = {
        .b = b,
        .s = s,
        .a = a,
        .know = b->uniform[a->warp] ? know_of(b, a->warp, (uint32_t)__builtin_ctz(mask)) : NULL,
        .clock = b->clock[a->warp],
        .insn = a->insn < HAZARD_INSN_MAX ? a->insn : HAZARD_INSN_MAX,
        .epoch = s->epoch,
        .marks = marks,
        .marks_clock = b->clock[marks],
        .copy = a->act == HAZARD_COPY};
    w.floor = w.know ? w.know->least[marks] : 0;
    w.mark = w.insn | (a->collective ? TOGETHER : 0);
    work_on(&w, addr, mask);
    if (is_strong(a->act))
        order_strong(b, &inside, wide, true);
}

bool hazard_writer(const struct hazard_block *b, uint32_t addr, struct hazard_writer *out)
{
    const struct shared_memory *s = b->shared;
    const struct cell *c = &s->cell[addr >> s->shift];
    if (addr >= s->bytes || !c->written)
        return false;
    const struct writing w = unpack(c->write);
    *out = (struct hazard_writer){.warp = w.who % b->lanes / LANES,
                                  .insn = w.insn,
                                  .age = c->written == ALWAYS ? 0 : s->epoch - c->written};
    return true;
}
