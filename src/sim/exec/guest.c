/* guest.c - see guest.h: of each warp and host the last use is kept, since who comes behind it comes behind all.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/exec/guest.h"

#include <inttypes.h>

#include "sim/exec/flight.h"

void guest_uses(struct warp *w, const struct code *c, uint32_t m, const uint32_t addr[32])
{
    struct block *b = w->block;
    uint32_t fresh = 0; /* hosts of this instruction so far */
    if (b->cluster == 1 || !b->worker->hazard)
        return;
    for (uint32_t left = m; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        const uint32_t host = addr[lane] / b->stride;
        if (host == w->rank || host >= b->cluster)
            continue;
        struct guest *g = &w->guest[host];
        if (!(fresh >> host & 1))
            *g = (struct guest){.code = (uint32_t)(c - b->program->code),
                                .clock = hazard_clock(b->worker->hazard, (uint32_t)w->id)};
        fresh |= 1u << host;
        g->lanes |= 1u << lane;
    }
}

static void tell(struct block *b, const struct warp *w, uint32_t code, int lane, uint32_t lanes,
                 uint32_t host)
{
    block_fault(b, w, &b->program->code[code], lane, SIM_FAULT_GUEST, SIM_NOWHERE, 0, 0,
                (uint32_t)__builtin_popcount(lanes),
                "block %" PRIu32 " of the cluster uses that of block %" PRIu32
                ", no thread of which waits for it",
                w->rank, host);
}

/* Stores that an mbarrier counts: a thread of its block has seen the last of them. */
static void check_sent(struct block *b, const struct flight_barrier *x)
{
    const uint32_t host = x->addr / b->stride, warps = (uint32_t)b->block_warps;
    uint32_t lane;
    const uint32_t agent = flight_agent(b, x->addr, &lane);
    if (x->sent.lanes &&
        !hazard_known(b->worker->hazard, host * warps, warps, agent, lane, x->sent.clock))
        tell(b, &b->warp[x->sent.warp], x->sent.code, __builtin_ctz(x->sent.lanes), x->sent.lanes,
             host);
}

static void check(struct block *b, const struct warp *w, uint32_t host)
{
    const struct guest *g = &w->guest[host];
    const uint32_t warps = (uint32_t)b->block_warps;
    for (uint32_t left = g->lanes; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        if (hazard_known(b->worker->hazard, host * warps, warps, (uint32_t)w->id, (uint32_t)lane,
                         g->clock))
            continue;
        tell(b, w, g->code, lane, g->lanes, host);
        return;
    }
}

void guests_end(struct block *b)
{
    if (b->cluster == 1 || !b->worker->hazard || b->ended)
        return;
    for (int i = 0; i < b->nwarps; i++)
        for (uint32_t host = 0; host < b->cluster; host++)
            check(b, &b->warp[i], host);
    for (uint32_t i = 0; b->flight && i < b->flight->barriers; i++)
        check_sent(b, &b->flight->barrier[i]);
}
