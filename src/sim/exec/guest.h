/* guest.h - uses of the shared memory of another block of the cluster: that block must not have ended.
 *
 * It stays until its last thread ends, so one of its threads must come behind each use, by a barrier of the cluster or an
 * mbarrier that it waits for. What happened to be there still says nothing. CUDA C++ Programming Guide, "Distributed Shared
 * Memory".
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_EXEC_GUEST_H
#define ATTNSCOPE_SIM_EXEC_GUEST_H

#include "sim/exec/worker.h"

/* Lanes of the mask use shared memory at these addresses (of the cluster's). */
void guest_uses(struct warp *w, const struct code *c, uint32_t m, const uint32_t addr[32]);
/* The cluster has ended: before hazard_block_end(). */
void guests_end(struct block *b);

#endif
