/* know.h - what threads know of each other: vector clocks of a block, and of other blocks.
 *
 * A thread's clock is its warp's: a number that grows whenever a lane of the warp gives away what it did. An access is
 * known as (thread, clock). Who knows thread u up to c knows all that u did at clocks <= c.
 *
 * A block has a slot for each lane of its warps, and behind them one for each lane's asynchronous copies, whose clock
 * grows with each group that is committed. Threads that learnt the same share one `struct know`; it is changed in place
 * only by who is alone to hold it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_HAZARD_KNOW_H
#define ATTNSCOPE_SIM_HAZARD_KNOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/hazard/hoard.h"

/* What was learnt of another block: a copy of what one of its threads knew of it. Never changed. */
struct snapshot {
    atomic_uint refs;
    uint64_t block;
    uint32_t slots;
    uint32_t v[]; /* [slots] */
};
/* What was learnt of other blocks, by block. Never changed. */
struct abroad {
    struct hoard *hoard; /* it and its snapshots lie there; NULL: in the heap */
    atomic_uint refs;
    uint32_t n;
    struct snapshot *of[]; /* [n], ascending */
};

struct know {
    uint32_t refs;
    struct abroad *abroad; /* NULL: nothing */
    uint32_t *least;       /* [warps] a lower bound of v over the lanes of a warp */
    uint32_t *v;           /* [2 * lanes] clocks of threads, then of their copies */
    struct know *next;     /* while nobody holds it */
};

/* Where they are made: of one block in flight, used by one thread. */
struct clocks {
    uint32_t warps, lanes; /* lanes: warps * 32 */
    bool copies; /* has there been an asynchronous copy? Else the second half is equal everywhere */
    struct know *spare;
    struct hoard *hoard; /* NULL: the heap */
};
struct know *know_new(struct clocks *c); /* its content is the caller's to fill; held once */
struct know *know_copy(struct clocks *c, const struct know *k);
static inline struct know *know_hold(struct know *k)
{
    k->refs++;
    return k;
}
void know_drop(struct clocks *c, struct know *k); /* NULL is fine */
/* To learn what `from` knows; `k` is held once. False: it knew all of it. */
bool know_join(struct clocks *c, struct know *k, const struct know *from);
/* Does `k` know all that `of` knows, other blocks aside? */
bool know_has(const struct clocks *c, const struct know *k, const struct know *of);
void clocks_clear(struct clocks *c);

/* ---- other blocks ---- */

void abroad_drop(struct abroad *a); /* NULL is fine */
struct abroad *abroad_hold(struct abroad *a);
/* Both together, held once; either may be NULL. Neither is taken over. */
struct abroad *abroad_merge(struct abroad *a, struct abroad *b);
/* What is known of one block: borrowed, NULL: nothing. */
const struct snapshot *abroad_of(const struct abroad *a, uint64_t block);
/* `a` without what it has of `block`, held once; may be NULL. */
struct abroad *abroad_without(struct abroad *a, uint64_t block);
/* One block's, from the clocks v[slots]; held once. */
struct abroad *abroad_new(struct hoard *hoard, uint64_t block, const uint32_t *v, uint32_t slots);

#endif
