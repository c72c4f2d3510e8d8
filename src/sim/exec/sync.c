/* sync.c - barriers of a block, copies in flight, mbarriers.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>

#include "base/mem.h"
#include "sim/exec/flight.h"
#include "sim/exec/guest.h"
#include "sim/exec/mbarrier.h"
#include "sim/exec/pace.h"
#include "sim/exec/phase.h"
#include "sim/exec/worker.h"

static uint32_t *reg32(const struct warp *w, uint32_t ref)
{
    return (uint32_t *)(void *)(w->base[ref & 1] + (ref & ~1u));
}

static uint64_t *reg64(const struct warp *w, uint32_t ref)
{
    return (uint64_t *)(void *)(w->base[ref & 1] + (ref & ~1u));
}

static uint32_t pred_of(const struct warp *w, uint32_t ref)
{
    return w->pred[ref >> 1] ^ -(ref & 1);
}

/* ---- bar, barrier. sub: what it does; a the number, b the threads (SIM_NO_REF: all), pa the predicate ---- */

/* Threads that still run, in whole warps: what a barrier without a count waits for. */
static uint32_t live_threads(const struct block *b, uint32_t rank)
{
    uint32_t n = 0;
    for (int i = 0; i < b->nwarps; i++)
        n += b->warp[i].rank != rank || b->warp[i].wait == WAIT_ENDED || !b->warp[i].depth ? 0 : 32;
    return n;
}

/* What the hazard detector calls a barrier of the block of that rank. */
static uint32_t hazard_id(uint32_t rank, uint32_t id)
{
    return rank * 16 + id;
}

/* All have arrived: those that wait go on. */
static void barrier_open(struct block *b, uint32_t rank, int id, const struct code *last)
{
    struct barrier *bar = &b->barrier[rank][id];
    const uint32_t key = rank * 16 + (uint32_t)id;
    pace_open(b, key);
    const bool whole =
        b->cluster == 1 && (!bar->expected || bar->expected >= (uint32_t)b->nwarps * 32);
    for (int i = 0; i < b->nwarps; i++) {
        struct warp *w = &b->warp[i];
        if (w->wait != WAIT_BARRIER || w->barrier != id || w->rank != rank)
            continue;
        w->wait = WAIT_NOTHING;
        pace_leave(w, key);
        const struct code *c = &b->program->code[w->waits_at];
        last = c;
        const uint32_t m = w->barrier_mask;
        if (c->sub == BAR_RED_POPC)
            for (int k = 0; k < 32; k++) {
                if (m >> k & 1)
                    reg32(w, c->d)[k] = bar->popc;
            }
        else if (c->sub == BAR_RED_AND || c->sub == BAR_RED_OR) {
            const bool yes = c->sub == BAR_RED_AND ? !bar->some_false : bar->some_true;
            w->pred[c->pd] = (w->pred[c->pd] & ~m) | (yes ? m : 0);
        }
    }
    *bar = (struct barrier){0};
    b->changes++;
    if (b->worker->hazard)
        hazard_barrier_open(b->worker->hazard, hazard_id(rank, (uint32_t)id));
    if (whole && last)
        phase_begin(b, last);
}

static bool barrier_is_full(const struct block *b, uint32_t rank, const struct barrier *bar)
{
    return bar->arrived && bar->arrived >= (bar->expected ? bar->expected : live_threads(b, rank));
}

static bool misuse(struct warp *w, const struct code *c, uint32_t m, uint32_t id, uint32_t count)
{
    if (id < 16 && (c->b == SIM_NO_REF ||
                    (count && count % 32 == 0 && count <= (uint32_t)w->block->block_warps * 32)))
        return false;
    block_fault(w->block, w, c, __builtin_ctz(m), SIM_FAULT_BARRIER_MISUSE, SIM_NOWHERE, id, 0,
                (uint32_t)__builtin_popcount(m),
                "barrier %" PRIu32 " for %" PRIu32 " threads in a block of %d", id, count,
                w->block->block_warps * 32);
    return true;
}

/* ---- barrier.cluster: its two halves ---- */

/* For the hazard detector it is an mbarrier, at an address that no shared memory has: arrivals give, waits take. */
#define MEETING_ADDR 0xfffffff0u

static void tell_meeting(struct warp *w, uint32_t m, bool arrives)
{
    struct hazard_block *h = worker_of(w)->hazard;
    uint32_t addr[32];
    for (int i = 0; i < 32; i++)
        addr[i] = MEETING_ADDR;
    if (h && arrives)
        hazard_mbarrier_arrive(h, (uint32_t)w->id, m, addr, false);
    else if (h)
        hazard_mbarrier_wait(h, (uint32_t)w->id, m, addr);
}

/* All live warps have arrived: the meeting is over, and who waits for it goes on. */
static void meeting_settle(struct block *b, const struct code *last)
{
    uint32_t live = 0;
    for (int i = 0; i < b->nwarps; i++)
        live += b->warp[i].depth > 0;
    if (!b->meeting_warps || b->meeting_warps < live)
        return;
    b->meeting_warps = 0;
    b->meetings++;
    b->changes++;
    pace_open(b, PACE_MEETING);
    if (b->worker->hazard)
        hazard_mbarrier_complete(b->worker->hazard, MEETING_ADDR);
    for (int i = 0; i < b->nwarps; i++) {
        struct warp *w = &b->warp[i];
        if (w->wait != WAIT_CLUSTER)
            continue;
        w->wait = WAIT_NOTHING;
        pace_leave(w, PACE_MEETING);
        last = &b->program->code[w->waits_at];
        tell_meeting(w, w->barrier_mask, false);
    }
    if (last)
        phase_begin(b, last);
}

static void meeting_misuse(struct warp *w, const struct code *c, uint32_t m, bool arrives)
{
    block_fault(w->block, w, c, __builtin_ctz(m), SIM_FAULT_BARRIER_MISUSE, SIM_NOWHERE, 0, 0,
                (uint32_t)__builtin_popcount(m), "%s",
                arrives ? "it arrives a second time at the cluster's barrier without having waited"
                        : "it waits for the cluster without having arrived");
}

/* kind: without .relaxed. */
static bool meeting(struct warp *w, const struct code *c, uint32_t m)
{
    struct block *b = w->block;
    const bool arrives = c->sub == BAR_CLUSTER_ARRIVE;
    COUNT(b->worker, c, barriers, 1);
    if (m != w->live)
        block_fault(b, w, c, __builtin_ctz(w->live & ~m), SIM_FAULT_DIVERGENT_BARRIER, SIM_NOWHERE,
                    0, 0, (uint32_t)__builtin_popcount(w->live & ~m),
                    "lanes 0x%08" PRIx32 " of 0x%08" PRIx32 " reach the cluster's barrier", m,
                    w->live);
    if (arrives) {
        if (w->arrived > b->meetings) {
            meeting_misuse(w, c, m, true);
            return false;
        }
        if (w->arrived > w->waited)
            meeting_misuse(w, c, m, true);
        w->arrived = b->meetings + 1;
        if (c->kind || w->init_fenced)
            tell_meeting(w, m, true);
        pace_meet(w, PACE_MEETING);
        b->meeting_warps++;
        meeting_settle(b, c);
        return false;
    }
    if (w->waited >= w->arrived)
        meeting_misuse(w, c, m, false);
    w->waited = w->arrived;
    if (w->arrived <= b->meetings) {
        pace_leave(w, PACE_MEETING);
        tell_meeting(w, m, false);
        return false;
    }
    w->wait = WAIT_CLUSTER;
    w->barrier_mask = m;
    w->waits_at = (uint32_t)(c - b->program->code);
    return true;
}

bool barrier_arrive(struct warp *w, const struct code *c, uint32_t m)
{
    struct block *b = w->block;
    if (c->sub == BAR_CLUSTER_ARRIVE || c->sub == BAR_CLUSTER_WAIT)
        return meeting(w, c, m);
    const int lane = __builtin_ctz(m);
    const uint32_t id = reg32(w, c->a)[lane], count = c->b == SIM_NO_REF ? 0 : reg32(w, c->b)[lane];
    COUNT(b->worker, c, barriers, 1);
    if (misuse(w, c, m, id, count))
        return false;
    if (m != w->live)
        block_fault(b, w, c, __builtin_ctz(w->live & ~m), SIM_FAULT_DIVERGENT_BARRIER, SIM_NOWHERE,
                    id, 0, (uint32_t)__builtin_popcount(w->live & ~m),
                    "lanes 0x%08" PRIx32 " of 0x%08" PRIx32 " reach barrier %" PRIu32, m, w->live,
                    id);
    struct barrier *bar = &b->barrier[w->rank][id];
    pace_meet(w, w->rank * 16 + id);
    if (count)
        bar->expected = count;
    bar->arrived += 32;
    const uint32_t yes = pred_of(w, c->pa) & m;
    bar->popc += (uint32_t)__builtin_popcount(yes);
    bar->some_true |= yes != 0;
    bar->some_false |= yes != m;
    const bool waits = c->sub != BAR_ARRIVE;
    if (b->worker->hazard)
        hazard_barrier_arrive(b->worker->hazard, hazard_id(w->rank, id), (uint32_t)w->id, m, waits);
    if (waits) {
        w->wait = WAIT_BARRIER;
        w->barrier = (int)id;
        w->barrier_mask = m;
        w->waits_at = (uint32_t)(c - b->program->code);
    }
    if (barrier_is_full(b, w->rank, bar))
        barrier_open(b, w->rank, (int)id, c);
    return w->wait == WAIT_BARRIER;
}

void barrier_exit(struct block *b)
{
    for (uint32_t rank = 0; rank < b->cluster; rank++)
        for (int i = 0; i < 16; i++)
            if (!b->barrier[rank][i].expected && barrier_is_full(b, rank, &b->barrier[rank][i]))
                barrier_open(b, rank, i, NULL);
    meeting_settle(b, NULL);
}

/* ---- cp.async ---- */
struct async_copy *async_issue(struct warp *w)
{
    xgrow((void **)&w->copy, &w->copies_cap, w->copies + 1, sizeof *w->copy);
    struct async_copy *a = &w->copy[w->copies++];
    memset(a->group, 0, sizeof a->group);
    return a;
}

void async_commit(struct warp *w, uint32_t m)
{
    for (size_t k = 0; k < w->copies; k++) {
        struct async_copy *a = &w->copy[k];
        for (int i = 0; i < 32; i++)
            if (m >> i & 1 && !a->group[i])
                a->group[i] = w->commits[i] + 1;
    }
    for (int i = 0; i < 32; i++)
        w->commits[i] += m >> i & 1;
}

static void land(struct warp *w, struct async_copy *a, uint32_t m)
{
    for (uint32_t left = m; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        memcpy(w->block->shared + a->to[i], a->data[i], a->bytes);
        if (!written_all(w->block->shared_written, a->to[i], a->bytes))
            written_mark(w->block->shared_written, a->to[i], a->bytes);
    }
    a->mask &= ~m;
    w->block->changes++;
}

void async_wait(struct warp *w, uint32_t m, uint32_t pending, bool uncommitted)
{
    size_t kept = 0;
    for (size_t k = 0; k < w->copies; k++) {
        struct async_copy *a = &w->copy[k];
        uint32_t ready = 0;
        for (int i = 0; i < 32; i++) {
            const uint32_t done = w->commits[i] > pending ? w->commits[i] - pending : 0;
            const bool yes = a->group[i] ? a->group[i] <= done : uncommitted;
            ready |= (uint32_t)yes << i;
        }
        ready &= m & a->mask;
        if (ready)
            land(w, a, ready);
        if (a->mask) {
            if (kept != k)
                w->copy[kept] = *a;
            kept++;
        }
    }
    w->copies = kept;
}

/* ---- mbarrier: its bits are mbarrier.h's ---- */

static void mb_arrive(struct warp *w, const struct code *c, int lane, uint32_t addr, uint32_t n,
                      bool drops, int32_t tx, uint64_t *state)
{
    uint8_t *p = w->block->shared + addr;
    struct mbarrier b = mb_read(p);
    memcpy(state, p, sizeof *state);
    b.tx = tx_sum(b.tx, tx);
    if (n > b.missing) {
        block_fault(w->block, w, c, lane, SIM_FAULT_MBARRIER, SIM_SHARED, addr, 8, 1,
                    "%" PRIu32 " arrive where %" PRIu32 " are missing", n, b.missing);
        n = b.missing;
    }
    b.missing -= n;
    if (drops)
        b.count -= n < b.count ? n : b.count;
    mb_settle(w->block, addr, &b);
    mb_write(p, b);
    w->block->changes++;
}

static bool mb_is_well(struct warp *w, const struct code *c, int lane, uint32_t addr, bool init)
{
    uint32_t a[32] = {0}; /* only that of the lane is looked at */
    a[lane] = addr;
    if (!access_shared_slow(w, c, a, 1u << lane, 8, 8, init))
        return false;
    if (init || written_all(w->block->shared_written, addr, 8))
        return true;
    block_fault(w->block, w, c, lane, SIM_FAULT_MBARRIER, SIM_SHARED, addr, 8, 1,
                "it was not initialised");
    return false;
}

static void mb_test(struct warp *w, const struct code *c, int lane, uint32_t addr, uint32_t *yes)
{
    /* kind 0: the phase of a state; 1: of a parity */
    const uint32_t asked =
        c->kind ? reg32(w, c->b)[lane] & 1 : (uint32_t)(reg64(w, c->b)[lane] >> 63);
    flight_land(w->block, addr, asked);
    const struct mbarrier b = mb_read(w->block->shared + addr);
    if (b.parity != asked)
        *yes |= 1u << lane;
}

static void mb_init(struct warp *w, const struct code *c, int lane, uint32_t addr)
{
    const uint32_t n = reg32(w, c->b)[lane];
    if (!n || n > MB_COUNT_MAX) {
        block_fault(w->block, w, c, lane, SIM_FAULT_MBARRIER, SIM_SHARED, addr, 8, 1,
                    "initialised for %" PRIu32 " arrivals", n);
        return;
    }
    mb_write(w->block->shared + addr, (struct mbarrier){.count = n, .missing = n});
    written_mark(w->block->shared_written, addr, 8);
    w->block->changes++;
    if (w->block->flight) {
        struct flight_barrier *x = flight_barrier(w->block->flight, addr);
        *x = (struct flight_barrier){
            .addr = addr, .expects = UINT32_MAX, .fences = w->block->flight->init_fences};
    }
    if (worker_of(w)->hazard)
        hazard_mbarrier_init(worker_of(w)->hazard, addr);
}

static void mb_forget(struct warp *w, uint32_t addr)
{
    for (uint32_t i = addr; i < addr + 8; i++)
        w->block->shared_written[i >> 6] &= ~((uint64_t)1 << (i & 63));
    if (worker_of(w)->hazard)
        hazard_mbarrier_init(worker_of(w)->hazard, addr);
}

/* One lane. sub of an arrival: bit 0 drops, bit 1 expects bytes (c), bit 2 does not count, bit 3 .noinc of cp.async */
static void mb_lane(struct warp *w, const struct code *c, int lane, uint32_t addr, uint32_t *yes)
{
    uint64_t state = 0;
    switch (observed_op(worker_of(w)->observer, c)) {
    case OP_MBARRIER_INIT:
        mb_init(w, c, lane, addr);
        return;
    case OP_MBARRIER_INVAL:
        mb_forget(w, addr);
        return;
    case OP_MBARRIER_TEST:
        mb_test(w, c, lane, addr, yes);
        return;
    case OP_CP_ASYNC_MBARRIER:
        /* without .noinc it is expected once more, so that nothing changes */
        if (c->sub & 8)
            mb_arrive(w, c, lane, addr, 1, false, 0, &state);
        return;
    default:
        break;
    }
    const uint32_t n = c->sub & 4 ? 0 : c->b == SIM_NO_REF ? 1 : reg32(w, c->b)[lane];
    const int32_t tx = c->sub & 2 ? (int32_t)reg32(w, c->c)[lane] : 0;
    if (c->sub & 2 && w->block->flight) {
        struct flight_barrier *x = flight_barrier(w->block->flight, addr);
        x->expects = (uint32_t)(c - worker_of(w)->program->code);
        x->warp = (uint32_t)w->id;
    }
    mb_arrive(w, c, lane, addr, n, c->sub & 1, tx, &state);
    if (c->d != SIM_NO_REF)
        reg64(w, c->d)[lane] = state;
}

/* Its 8 bytes, for the hazard detector: init and inval write them, as any store does; who arrives or asks must come behind. */
static void watch_object(struct warp *w, const struct code *c, enum sim_op op, uint32_t m,
                         const uint32_t addr[32])
{
    const struct hazard_access a = {.warp = (uint32_t)w->id,
                                    .mask = m,
                                    .insn = c->insn,
                                    .bytes = 8,
                                    .act = op == OP_MBARRIER_INIT || op == OP_MBARRIER_INVAL
                                               ? HAZARD_WRITE
                                           : op == OP_MBARRIER_TEST ? HAZARD_STRONG_READ
                                                                    : HAZARD_ATOMIC};
    guest_uses(w, c, m, addr);
    hazard_shared(worker_of(w)->hazard, &a, addr);
}

void warp_mbarrier(struct warp *w, const struct code *c, uint32_t m, const uint32_t addr[32])
{
    struct worker *t = worker_of(w);
    const enum sim_op op = observed_op(t->observer, c);
    uint32_t good = 0, yes = 0;
    for (int i = 0; i < 32; i++)
        if (m >> i & 1 && mb_is_well(w, c, i, addr[i], op == OP_MBARRIER_INIT))
            good |= 1u << i;
    if (op == OP_CP_ASYNC_MBARRIER)
        async_wait(w, m, 0, true); /* here is where we let them come */
    if (t->hazard && good)
        watch_object(w, c, op, good, addr);
    if (t->hazard && good && (op == OP_MBARRIER_ARRIVE || op == OP_CP_ASYNC_MBARRIER))
        hazard_mbarrier_arrive(t->hazard, (uint32_t)w->id, good, addr, op == OP_CP_ASYNC_MBARRIER);
    for (int i = 0; i < 32; i++) {
        if (good >> i & 1 && (op == OP_MBARRIER_ARRIVE || op == OP_CP_ASYNC_MBARRIER))
            pace_arrive(w, addr[i]);
        if (good >> i & 1)
            mb_lane(w, c, i, addr[i], &yes);
    }
    if (t->counters && good) {
        COUNT(t, c, smem_requests, 1);
        COUNT(t, c, smem_wavefronts, 1);
        COUNT(t, c, smem_wavefronts_ideal, 1);
        COUNT(t, c, smem_bytes, 8ull * (uint64_t)__builtin_popcount(good));
    }
    if (op != OP_MBARRIER_TEST)
        return;
    if (t->hazard && yes)
        hazard_mbarrier_wait(t->hazard, (uint32_t)w->id, yes, addr);
    w->pred[c->pd] = (w->pred[c->pd] & ~m) | (yes & m);
    w->yields = (yes & m) != m;
    if (good)
        pace_ask(w, addr[__builtin_ctz(good)],
                 c->kind ? reg32(w, c->b)[__builtin_ctz(good)] & 1 : 0, !w->yields);
    if (w->yields) {
        const int lane = __builtin_ctz(m & ~yes);
        w->asks = addr[lane];
        w->asks_parity =
            c->kind ? reg32(w, c->b)[lane] & 1 : (uint32_t)(reg64(w, c->b)[lane] >> 63);
    }
    w->waits_at = (uint32_t)(c - t->program->code);
}
