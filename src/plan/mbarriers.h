/* mbarriers.h - what a kernel's source calls its mbarriers: members of a struct, `MemoryBarrier q_here, k_here[STAGES];`, one
 * behind the other from the start of the buffer of shared memory that the descriptor calls barriers.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_PLAN_MBARRIERS_H
#define ATTNSCOPE_PLAN_MBARRIERS_H

#include "plan/plan.h"

enum { MBARRIERS_MAX = 64, MBARRIER_NAME = 40 };
struct mbarriers {
    int64_t offset; /* of the first in a block's shared memory, as planned */
    int n;          /* 0: the source has none, or sizes that are not understood */
    char name[MBARRIERS_MAX][MBARRIER_NAME]; /* "k_here[1]" */
};
/* Of a plan's main pass. */
void mbarriers_read(const struct plan *p, struct mbarriers *out);
/* Of one at an address of shared memory; NULL: there is none. */
const char *mbarriers_find(const struct mbarriers *m, int64_t address);

#endif
