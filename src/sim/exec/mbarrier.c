/* mbarrier.c - see mbarrier.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/exec/mbarrier.h"

#include "sim/exec/pace.h"

#include <string.h>

struct mbarrier mb_read(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return (struct mbarrier){.count = v & MB_COUNT_MAX,
                             .missing = v >> 20 & MB_COUNT_MAX,
                             .tx = (int32_t)((int64_t)(v << 2) >> 42),
                             .parity = (uint32_t)(v >> 63)};
}

void mb_write(uint8_t *p, struct mbarrier b)
{
    const uint64_t v = b.count | (uint64_t)b.missing << 20 |
                       ((uint64_t)(uint32_t)b.tx & 0x3fffff) << 40 | (uint64_t)b.parity << 63;
    memcpy(p, &v, sizeof v);
}

int32_t tx_sum(int32_t a, int32_t b)
{
    const uint32_t sum = ((uint32_t)a + (uint32_t)b) << 10;
    return (int32_t)sum >> 10;
}

void mb_settle(struct block *in, uint32_t addr, struct mbarrier *b)
{
    if (b->missing || b->tx)
        return;
    b->missing = b->count;
    b->parity ^= 1;
    in->changes++;
    pace_phase_ends(in, addr);
    if (in->worker->hazard)
        hazard_mbarrier_complete(in->worker->hazard, addr);
}

void mbarrier_bytes(struct block *in, uint32_t addr, uint32_t bytes)
{
    struct mbarrier b = mb_read(in->shared + addr);
    b.tx = tx_sum(b.tx, -(int32_t)bytes);
    mb_settle(in, addr, &b);
    mb_write(in->shared + addr, b);
}

bool mbarrier_state(const struct block *in, uint32_t addr, struct mbarrier_state *out)
{
    if (addr % 8 || addr > in->shared_bytes || 8 > in->shared_bytes - addr ||
        !written_all(in->shared_written, addr, 8))
        return false;
    const struct mbarrier b = mb_read(in->shared + addr);
    *out = (struct mbarrier_state){.missing = b.missing, .parity = b.parity, .bytes = b.tx};
    return true;
}
