/* block.h - what the parts of the hazard detector share: a launch, and a block in flight.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_HAZARD_BLOCK_H
#define ATTNSCOPE_SIM_HAZARD_BLOCK_H

#include <pthread.h>

#include "sim/hazard/know.h"
#include "sim/hazard/found.h"

enum {
    LANES = HAZARD_LANES_OF_WARP,
    WARPS_MAX = HAZARD_THREADS_MAX / LANES,
    CLOCK_MAX = (1 << 28) - 1,
};

/* ---- releases, by location ---- */

/* What an acquire of a location learns. */
struct released {
    uint64_t addr;
    struct abroad *gpu;  /* for all */
    struct abroad *near; /* for threads of block `block` alone; has what gpu has, too */
    uint64_t block;
    struct released *next;
};
enum { RELEASED_BUCKETS = 256 };
struct released_table {
    struct released *bucket[RELEASED_BUCKETS];
    uint32_t n;
    struct hoard *hoard; /* NULL: the heap */
};
void released_clear(struct released_table *t);

/* ---- a launch ---- */

struct global_page;
enum { PAGE_BUCKETS = 1 << 14, PAGE_LOCKS = 64 };

struct hazards {
    struct hoard *hoard; /* of all that is known, this included; NULL: the heap */
    struct hazard_options options;
    pthread_mutex_t findings_lock;
    struct findings findings;
    pthread_mutex_t released_lock;
    struct released_table released;        /* of global memory */
    atomic_bool any_released;              /* so that plain writes need not look */
    pthread_mutex_t page_lock[PAGE_LOCKS]; /* of the buckets that are equal modulo PAGE_LOCKS */
    struct global_page *page[PAGE_BUCKETS];
    atomic_ullong bytes;     /* that pages take */
    atomic_ullong unchecked; /* bytes of accesses that found no memory for their page */
};

/* ---- a block in flight ---- */

struct barrier {
    struct know *arrived; /* what those that do not wait left, and others before; NULL: nothing */
    uint32_t waits[WARPS_MAX];
    bool used;
};

struct mbarrier {
    uint32_t addr;
    struct know *arriving, *complete; /* of the phase under way; of the last one. NULL: nothing */
};

/* What a thread has of fences, once there was one. */
struct fenced {
    uint32_t clock[2];   /* of its last fence of at least that scope; 0: none */
    struct abroad *seen; /* what relaxed reads found, which the next fence makes known */
};

/* Groups of asynchronous copies of a thread. */
enum { GROUPS = HAZARD_GROUPS };
struct copying {
    uint32_t done;   /* its copies up to this clock are there, as it knows by its own waits */
    uint32_t groups; /* committed so far */
    uint32_t clock[GROUPS]; /* of the last ones: the clock of its copies at the commit */
};

/* Groups of a thread's bulk stores. Its agent's clock is of their reads, that of the agent's copies of what they write. */
struct sending {
    uint32_t read, written; /* up to these clocks, as it knows by its own waits */
    uint32_t groups;        /* committed so far */
    struct {
        uint32_t read, written; /* of the last ones: the agent's clocks at the commit */
    } clock[GROUPS];
};

/* For each lane of a mask. */
#define EACH_LANE(lane, mask)                                                \
    for (uint32_t left_##lane = (mask), lane;                                \
         left_##lane && (lane = (uint32_t)__builtin_ctz(left_##lane), true); \
         left_##lane &= left_##lane - 1)

struct shared_memory; /* shared_use.c */

/* For whom a lane of an agent works; lane -1: for a warp as a whole. */
struct sender {
    uint32_t warp;
    int lane;
};

struct hazard_block {
    struct hazards *launch;
    uint64_t number;
    const unsigned char *bytes;     /* its shared memory, or NULL */
    uint32_t warps, lanes, threads; /* warps and lanes: with those of agents */
    uint32_t own;                   /* warps of threads; agents' are behind them */
    uint32_t senders;               /* of agents, those of bulk stores: from here on; 0: none */
    struct sender *sent_by;         /* [lanes of agents] */
    uint32_t proxy_fences;
    uint32_t all[WARPS_MAX];   /* lanes that a warp has */
    uint32_t alive[WARPS_MAX]; /* of those, that have not ended */
    bool uniform[WARPS_MAX];   /* all lanes that it has hold the same knowledge */
    struct clocks clocks;
    struct know *know[HAZARD_THREADS_MAX];
    uint32_t clock[WARPS_MAX];      /* of its lanes' accesses now */
    uint32_t copy_clock[WARPS_MAX]; /* of its lanes' copies now */
    struct copying *copying;        /* [lanes]; NULL: no copies yet */
    struct sending *sending;        /* [own lanes]; NULL: no bulk stores yet */
    struct fenced *fenced;          /* [lanes]; NULL: no fences yet */
    struct barrier barrier[HAZARD_BARRIERS];
    struct mbarrier *mbarrier;
    uint32_t mbarriers;
    struct released_table released; /* of shared memory */
    /* A strong read of global memory whose releases are still to be learnt. They are when the block does something
     * else: by then the access itself has been made, and whoever made one before had told of it before. */
    struct late {
        bool is;
        struct hazard_access a;
        uint64_t addr[LANES];
    } late;
    uint64_t accesses; /* counted, to tell them apart */
    struct findings findings;
    struct shared_memory *shared;
    bool began;
};

/* Slots: lane l of warp w is w * 32 + l; its copies are `lanes` behind that. */
static inline uint32_t slot_of(uint32_t warp, uint32_t lane)
{
    return warp * LANES + lane;
}

static inline struct know *know_of(const struct hazard_block *b, uint32_t warp, uint32_t lane)
{
    return b->know[slot_of(warp, lane)];
}

/* The warp of agents that has the bulk stores of a warp of threads; and that a warp makes bulk stores for. */
static inline uint32_t sender_of(const struct hazard_block *b, uint32_t warp)
{
    return b->senders + warp;
}
static inline bool is_sender(const struct hazard_block *b, uint32_t warp)
{
    return b->senders && warp >= b->senders;
}

/* Has the lane of slot `slot` waited for what its bulk stores, of slot `who`, did up to `clock`? */
static inline bool has_sent(const struct hazard_block *b, uint32_t slot, uint32_t who,
                            uint32_t clock)
{
    const uint32_t sender = slot + b->senders * LANES;
    return b->sending && slot < b->own * LANES &&
           ((who == sender && b->sending[slot].read >= clock) ||
            (who == b->lanes + sender && b->sending[slot].written >= clock));
}

/* Does the lane of slot `slot`, which has `k`, know what slot `who` did up to `clock`? It knows its own, and of its
 * copies and bulk stores what it has waited for. */
static inline bool knows(const struct hazard_block *b, const struct know *k, uint32_t slot,
                         uint32_t who, uint32_t clock)
{
    return who == slot || k->v[who] >= clock ||
           (who == b->lanes + slot && b->copying && b->copying[slot].done >= clock) ||
           has_sent(b, slot, who, clock);
}

/* Gives a lane other knowledge, held once for it. */
static inline void learn(struct hazard_block *b, uint32_t slot, struct know *k)
{
    know_drop(&b->clocks, b->know[slot]);
    b->know[slot] = k;
}

/* `k` held by `slot` alone, so that it may be changed. */
static inline struct know *own_knowledge(struct hazard_block *b, uint32_t slot)
{
    struct know *k = b->know[slot];
    if (k->refs > 1) {
        learn(b, slot, know_copy(&b->clocks, k));
        b->uniform[slot / LANES] = false;
    }
    return b->know[slot];
}

static inline void raise_to(uint32_t *x, uint32_t value)
{
    *x = *x > value ? *x : value;
}

/* Beyond CLOCK_MAX all accesses are of one clock, which makes races missed and never alarms false. */
static inline void tick(struct hazard_block *b, uint32_t warp)
{
    b->clock[warp] += b->clock[warp] < CLOCK_MAX;
}

static inline void tick_copies(struct hazard_block *b, uint32_t warp)
{
    b->copy_clock[warp] += b->copy_clock[warp] < CLOCK_MAX;
}

/* What a lane has waited for, into clocks v[2 * lanes] that others get. */
static inline void give_waited(const struct hazard_block *b, uint32_t slot, uint32_t *v)
{
    if (b->copying)
        raise_to(&v[b->lanes + slot], b->copying[slot].done);
    if (b->sending && slot < b->own * LANES) {
        raise_to(&v[slot + b->senders * LANES], b->sending[slot].read);
        raise_to(&v[b->lanes + slot + b->senders * LANES], b->sending[slot].written);
    }
}

/* ordering.c. `into` learns what the lanes have done up to now and what they know. Afterwards the warp's clock must move. */
void publish(struct hazard_block *b, struct know *into, uint32_t warp, uint32_t mask);
/* The lanes share `k`, of which the caller keeps its hold. */
void share(struct hazard_block *b, uint32_t warp, uint32_t mask, struct know *k);
/* Before a bulk store, or a commit. */
static inline void begin_sends(struct hazard_block *b)
{
    if (!b->sending)
        b->sending = hoard_take(b->launch->hoard, (size_t)b->own * LANES, sizeof *b->sending);
    b->clocks.copies = true;
}
/* Clocks of 0, held once. */
struct know *know_nothing(struct hazard_block *b);
/* Lanes learn all that `from` knows. */
void learn_from(struct hazard_block *b, uint32_t warp, uint32_t mask, const struct know *from);

/* For each lane of the mask in turn: what the location's last release gave, then what the lane releases. */
void order_strong(struct hazard_block *b, const struct hazard_access *a, const uint64_t addr[32],
                  bool shared);
/* Learns what is late. Before anything else that a block does. */
void learn_late(struct hazard_block *b);
static inline void settle(struct hazard_block *b)
{
    if (b->late.is)
        learn_late(b);
}
/* A plain write to locations that may have been released: nothing is read from them any more. */
void forget_released(struct hazard_block *b, const struct hazard_access *a, const uint64_t addr[32],
                     bool shared);

static inline bool is_write(enum hazard_act act)
{
    return act != HAZARD_READ && act != HAZARD_STRONG_READ;
}
static inline bool is_strong(enum hazard_act act)
{
    return act == HAZARD_STRONG_READ || act == HAZARD_STRONG_WRITE || act == HAZARD_ATOMIC;
}

/* values.c. Whether lane `lane` of the access writes what is at `bytes`, from byte `skip` of the lane's value, n bytes. */
bool writes_same(const struct hazard_values *v, uint32_t lane, uint32_t skip,
                 const unsigned char *bytes, uint32_t n);
/* Whether two lanes write the same n bytes from there on. */
bool lanes_agree(const struct hazard_values *v, uint32_t x, uint32_t skip_x, uint32_t y,
                 uint32_t skip_y, uint32_t n);

/* A conflict of the access under way with what was there. */
static inline void report(struct hazard_block *b, const struct hazard_report *r)
{
    findings_add(&b->findings, r, b->accesses);
}

/* shared_use.c */
struct shared_memory *shared_new(struct hazard_block *b);
void shared_free(struct shared_memory *s);
void shared_begin(struct hazard_block *b);
void shared_new_epoch(struct hazard_block *b); /* all that was done is known to all that live */
void shared_exit(struct hazard_block *b, uint32_t warp);

/* global_use.c */
void global_clear(struct hazards *h);

#endif
