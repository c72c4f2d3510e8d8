/* send.c - stores that an mbarrier counts, st.async: into the shared memory of a block of the cluster, whose mbarrier ends
 * its phase when their bytes have come. PTX ISA 9.0, "st.async", "mbarrier".
 *
 * Bytes are there at once, and count at once: that they may come later shows in hazards alone. Each store is made by who
 * writes what is announced to that mbarrier (flight_agent()), so that nobody has seen it who did not wait there. It
 * publishes nothing else: what the thread did before it is as unknown there as it was.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "sim/exec/flight.h"

static uint32_t word(const struct warp *w, uint32_t ref, int lane)
{
    return ((const uint32_t *)(const void *)(w->base[ref & 1] + (ref & ~1u)))[lane];
}

static uint32_t address(const struct warp *w, const struct code_memory *m, uint32_t ref, int lane)
{
    const void *at = w->base[ref & 1] + (ref & ~1u);
    return (m->wide_addr ? (uint32_t)((const uint64_t *)at)[lane] : word(w, ref, lane)) +
           (uint32_t)m->offset;
}

/* Where a lane stores and what counts it, in the memory of the cluster; false: it cannot, reported. */
static bool find(struct warp *w, const struct code *c, const struct code_send *k, int lane,
                 uint32_t *to, uint32_t *barrier)
{
    struct block *b = w->block;
    const uint32_t bytes = 4u * k->count, addr = address(w, &k->to, c->a, lane);
    const uint32_t counts = address(w, &k->barrier, c->b, lane);
    struct mbarrier_state s;
    if (!cluster_place(w, addr, bytes, to)) {
        block_fault(b, w, c, lane, SIM_FAULT_BOUNDS_WRITE, SIM_SHARED, addr, bytes, 1, "%s", "");
        return false;
    }
    if (*to % bytes) {
        block_fault(b, w, c, lane, SIM_FAULT_MISALIGNED, SIM_SHARED, *to, bytes, 1,
                    "%" PRIu32 " bytes want a multiple of them", bytes);
        return false;
    }
    const char *why = !cluster_place(w, counts, 8, barrier) || !mbarrier_state(b, *barrier, &s)
                          ? "its bytes are announced to one that was not initialised"
                      : *barrier / b->stride != *to / b->stride
                          ? "it is of another block than the bytes that it counts"
                      : flight_barrier(b->flight, *barrier)->fences == b->flight->init_fences
                          ? "other blocks may not see that it was initialised: no "
                            "fence.mbarrier_init since"
                          : NULL;
    if (why)
        block_fault(b, w, c, lane, SIM_FAULT_MBARRIER, SIM_SHARED, counts, 8, 1, "%s", why);
    return !why;
}

/* Lanes of one mbarrier, for the hazard detector: the use of the mbarrier by the thread, then stores by its agent. */
static void watch(struct warp *w, const struct code *c, uint32_t bytes, uint32_t m,
                  const uint32_t to[32], const uint32_t barriers[32])
{
    struct hazard_block *h = worker_of(w)->hazard;
    const uint32_t barrier = barriers[__builtin_ctz(m)];
    const struct hazard_access counts = {
        .warp = (uint32_t)w->id, .mask = m, .insn = c->insn, .bytes = 8, .act = HAZARD_ATOMIC};
    uint32_t lane, addr[32] = {0};
    const uint32_t agent = flight_agent(w->block, barrier, &lane);
    hazard_shared(h, &counts, barriers);
    hazard_agent_begin(h, agent, 1u << lane, (uint32_t)w->id, m);
    const struct hazard_access store = {
        .warp = agent, .mask = 1u << lane, .insn = c->insn, .bytes = bytes, .act = HAZARD_WRITE};
    for (uint32_t left = m; left; left &= left - 1) {
        addr[lane] = to[__builtin_ctz(left)];
        hazard_shared(h, &store, addr);
    }
    const uint32_t clock = hazard_agent_mark(h, agent);
    hazard_agent_arrive(h, agent, lane, clock, barrier);
    struct flight_barrier *f = flight_barrier(w->block->flight, barrier);
    if (barrier / w->block->stride == w->rank)
        return;
    f->sent.code = (uint32_t)(c - w->block->program->code);
    f->sent.warp = (uint32_t)w->id, f->sent.lanes = m, f->sent.clock = clock;
}

static void store(struct warp *w, const struct code_send *k, int lane, uint32_t to)
{
    struct block *b = w->block;
    for (int i = 0; i < k->count; i++) {
        const uint32_t x = word(w, k->value[i], lane);
        memcpy(b->shared + to + 4 * i, &x, sizeof x);
    }
    written_mark(b->shared_written, to, 4u * k->count);
}

void warp_send(struct warp *w, const struct code *c, uint32_t m)
{
    const struct code_send *k = &w->block->program->send[c->imm];
    uint32_t to[32] = {0}, barrier[32] = {0}, good = 0;
    COUNT(worker_of(w), c, async_copies, 1);
    for (uint32_t left = m; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        if (find(w, c, k, lane, &to[lane], &barrier[lane]))
            good |= 1u << lane;
    }
    while (good) { /* lanes of an mbarrier together */
        const uint32_t of = barrier[__builtin_ctz(good)];
        uint32_t same = 0;
        for (uint32_t left = good; left; left &= left - 1)
            same |= (uint32_t)(barrier[__builtin_ctz(left)] == of) << __builtin_ctz(left);
        if (worker_of(w)->hazard)
            watch(w, c, 4u * k->count, same, to, barrier);
        for (uint32_t left = same; left; left &= left - 1)
            store(w, k, __builtin_ctz(left), to[__builtin_ctz(left)]);
        mbarrier_bytes(w->block, of, 4u * k->count * (uint32_t)__builtin_popcount(same));
        good &= ~same;
    }
}
