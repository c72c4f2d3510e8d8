/* mbarrier.h - the 64 bits of an mbarrier, which are our own: bit 63 the phase's parity, 0..19 arrivals of a phase, 20..39
 * those that are missing, 40..61 transaction bytes, signed.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_EXEC_MBARRIER_H
#define ATTNSCOPE_SIM_EXEC_MBARRIER_H

#include "sim/exec/worker.h"

#define MB_COUNT_MAX ((1u << 20) - 1)
struct mbarrier {
    uint32_t count, missing, parity;
    int32_t tx;
};

struct mbarrier mb_read(const uint8_t *p);
void mb_write(uint8_t *p, struct mbarrier b);
/* As the 22 bits that are kept: whatever a kernel expects. */
int32_t tx_sum(int32_t a, int32_t b);
/* The phase ends when nothing is missing any more. */
void mb_settle(struct block *in, uint32_t addr, struct mbarrier *b);

#endif
