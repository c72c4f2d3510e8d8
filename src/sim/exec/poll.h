/* poll.h - warps that ask global memory again and again: who waits for another block does nothing else.
 *
 * A warp asks in vain when it comes back to a load (or an atomic operation) that others' writes may change with every register,
 * predicate and path as they were, and has done nothing meanwhile that anybody could see. From that state it comes back for ever,
 * until memory changes. A loop that counts, or looks at a clock, is another state each time and is never taken for one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_EXEC_POLL_H
#define ATTNSCOPE_SIM_EXEC_POLL_H

#include "sim/exec/warp.h"

/* A turn begins: what was seen in earlier ones says nothing of memory as it is now. */
static inline void poll_turn(struct warp *w)
{
    enum { LOOKS_FIRST = 64 };
    w->poll.looks = LOOKS_FIRST;
    w->poll.visits = 0;
    w->poll.vain = w->poll.again = false;
}
/* Behind the access at code c - 1. In vain: `yields`, `poll.vain`, and `poll.again` if the warp has done nothing since it
 * was in vain the last time. */
void warp_polls(struct warp *w, const struct code *c);

#endif
