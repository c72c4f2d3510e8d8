/* agents.c - who makes accesses that no thread makes: the copy engine, and a wgmma under way. Each is a lane of a warp of
 * its own, that no barrier waits for; see hazard.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/hazard/block.h"

void hazard_agent_begin(struct hazard_block *b, uint32_t agent, uint32_t lanes, uint32_t warp,
                        uint32_t mask)
{
    settle(b);
    mask &= b->all[warp];
    struct know *k = know_copy(&b->clocks, know_of(b, agent, (uint32_t)__builtin_ctz(lanes)));
    publish(b, k, warp, mask);
    share(b, agent, lanes, k);
    know_drop(&b->clocks, k);
    tick(b, warp);
    EACH_LANE(l, lanes)
    b->sent_by[slot_of(agent - b->own, l)] =
        (struct sender){.warp = warp, .lane = mask & (mask - 1) ? -1 : __builtin_ctz(mask)};
}

uint32_t hazard_agent_mark(struct hazard_block *b, uint32_t agent)
{
    const uint32_t clock = b->clock[agent];
    tick(b, agent);
    return clock;
}

void hazard_agent_done(struct hazard_block *b, uint32_t agent, uint32_t clock, uint32_t warp)
{
    settle(b);
    struct know *k = know_nothing(b);
    for (uint32_t l = 0; l < LANES; l++)
        k->v[slot_of(agent, l)] = clock;
    k->least[agent] = clock;
    learn_from(b, warp, b->all[warp], k);
    know_drop(&b->clocks, k);
}

void hazard_proxy_fence(struct hazard_block *b)
{
    b->proxy_fences++;
}

uint32_t hazard_clock(const struct hazard_block *b, uint32_t warp)
{
    return b->clock[warp];
}

bool hazard_known(const struct hazard_block *b, uint32_t first, uint32_t n, uint32_t warp,
                  uint32_t lane, uint32_t clock)
{
    for (uint32_t w = first; w < first + n; w++)
        EACH_LANE(l, b->all[w])
    if (knows(b, know_of(b, w, l), slot_of(w, l), slot_of(warp, lane), clock))
        return true;
    return false;
}
