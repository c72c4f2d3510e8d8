/* place.h - what lies at an address of a block's shared memory: which buffer, and which of its elements.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_PLAN_PLACE_H
#define ATTNSCOPE_PLAN_PLACE_H

#include "plan/plan.h"

struct plan_spot {
    const struct plan_smem *buffer; /* borrowed from the plan; NULL: of none */
    const struct plan_smem *other;  /* that lies over or under it at this address, or NULL */
    int64_t offset;                 /* bytes from the buffer's start; of none: from the block's */
    int64_t tile, row, column; /* INT_UNKNOWN where the buffer has no such thing. A buffer without
                                       rows has elements: columns */
    int64_t rest;              /* bytes behind the element's start; 0 where there are no elements */
    char text
        [128]; /* "Ks[5][12]", "Red[3]", "Ks[1][5][12] + 1", "Ks + 816"; "Qs[7] or Op[7]"; "+ 816": of none */
};

/* `address` counts from the start of the block's shared memory. `dynamic_base` is where the dynamic buffers
 * really begin; INT_UNKNOWN: as planned. A swizzle is undone: the row and column are those of the tile. */
struct plan_spot plan_place(const struct plan_pass *pass, int64_t dynamic_base, int64_t address);
/* The same of the buffer called `name`, `offset` bytes from its start. */
struct plan_spot plan_place_in(const struct plan_pass *pass, const char *name, int64_t offset);

#endif
