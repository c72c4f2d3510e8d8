/* pattern.h - what one memory instruction of a warp costs: shared-memory wavefronts, global sectors.
 *
 * Shared memory has 32 banks of 4 bytes; a wavefront serves each bank once, and lanes that want the same
 * word share it. An access of up to 4 bytes a lane is served for the warp at once, one of 8 bytes
 * for half-warps, one of 16 bytes for quarter-warps, because 128 bytes a cycle is what goes to the
 * registers. Loads in which neighbours (lanes i and i^1, or i and i^2, of all active ones) want the same
 * go in half as many steps: that much NVIDIA says in its forum (topic 77228); that a load of 16 bytes asks this of each half-warp for
 * itself is what others measured. So a load of 16 bytes for all lanes at one address takes two wavefronts, not one.
 * Steps without an active lane cost nothing. Global memory is asked for in sectors of 32 bytes.
 *
 * Costs depend only on differences between lanes' addresses (and on the first address modulo 4, for
 * global memory modulo 32), so every static instruction remembers a few patterns (struct *_memo): a
 * further access costs the compare of a vector. A memo belongs to one thread; all zeros is an empty
 * one.
 *
 * Addresses are multiples of the access' bytes: who reports misaligned lanes takes them out of the mask.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_PATTERN_H
#define ATTNSCOPE_SIM_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pattern_kind {
    PATTERN_LOAD,
    PATTERN_STORE, /* cp.async into shared memory, too */
    PATTERN_ROWS, /* ldmatrix, stmatrix: 16 bytes a lane of the mask; 8 lanes, a matrix, at a time */
    PATTERN_ATOMIC, /* lanes that change the same word wait for each other */
};

struct pattern_shared {
    uint16_t wavefronts;
    uint16_t
        ideal; /* one for each step that has an active lane, of stores no more than their bytes fill: the same access without a conflict */
    uint16_t same; /* most lanes on one address; atomics: so often is it done in turn */
};

/* One access without a memo. bytes 1, 2, 4, 8, 16. All zero when no lane is active. */
struct pattern_shared pattern_shared_cost(const uint32_t addr[32], uint32_t mask, unsigned bytes,
                                          enum pattern_kind kind);

/* For each lane of `mask`, and each word of 4 bytes that it wants (turn[lane][w]; less than a word: 0): the number,
 * from 0, of the wavefront that serves it. The highest is wavefronts - 1. */
void pattern_shared_turns(const uint32_t addr[32], uint32_t mask, unsigned bytes,
                          enum pattern_kind kind, uint16_t turn[32][4]);

struct pattern_global {
    uint16_t sectors; /* distinct sectors of 32 bytes */
    uint16_t ideal;   /* what the distinct bytes need at least */
    uint16_t same;    /* most lanes on one address; atomics: so often is it done in turn */
    int64_t
        sector[32]; /* their numbers (address / 32) minus the first active lane's, by first touch */
    uint32_t bytes[32]; /* of these sectors; bit i: byte i is read or written */
};

/* One access without a memo. bytes 1, 2, 4, 8, 16. No sectors when no lane is active. */
void pattern_global_cost(const uint64_t addr[32], uint32_t mask, unsigned bytes,
                         struct pattern_global *out);

/* How lanes' addresses lie, seen from that of the first active lane. Lanes that are not active count as that one. */
struct pattern_shape {
    int64_t least, most; /* differences, as signed numbers */
    uint64_t bits;       /* of all differences */
    bool row;            /* all 32 lanes, each begins where the one before ends */
    uint8_t distinct;    /* addresses */
    int64_t apart[32];   /* the difference of each of them; behind them 0 */
    uint32_t from[32];   /* of each lane: which of them it has */
};

/* Bytes without a gap. */
struct pattern_run {
    int32_t at; /* from the first active lane's address */
    uint32_t bytes;
};

/* What the machine moves where a lane's instruction asks for some bytes: that and what others ask for, which stand for
 * it alone; or nothing, since another instruction stands for it. */
struct pattern_extent {
    int32_t from; /* of the lane's address */
    uint32_t bytes;
};

/* What a static instruction remembers: its last few patterns. */
#define PATTERN_WAYS 4

struct pattern_shared_way {
    uint32_t offset[32]; /* from the first active lane's address; 0 for lanes that are not active */
    uint32_t mask, low;  /* low: that address modulo 4 */
    struct pattern_shared cost;
    struct pattern_shape shape;
    uint32_t runs; /* that hold all of its bytes, and no others */
    struct pattern_run run[32];
};

struct pattern_shared_memo {
    uint32_t used, next; /* ways that are filled; the way that is filled next */
    struct pattern_shared_way way[PATTERN_WAYS];
};

struct pattern_global_way {
    uint64_t offset[32];
    uint32_t mask, low; /* low: the first active lane's address modulo 32 */
    struct pattern_global cost;
    struct pattern_shape shape;
};

struct pattern_global_memo {
    uint32_t used, next;
    struct pattern_global_way way[PATTERN_WAYS];
};

/* Adds a pattern that the memo lacks: its shape is that of `bytes` a lane, its cost that of `machine`. */
const struct pattern_shared *pattern_shared_learn(struct pattern_shared_memo *memo,
                                                  const uint32_t addr[32], uint32_t mask,
                                                  unsigned bytes, enum pattern_kind kind,
                                                  struct pattern_extent machine);
const struct pattern_global *pattern_global_learn(struct pattern_global_memo *memo,
                                                  const uint64_t addr[32], uint32_t mask,
                                                  unsigned bytes, struct pattern_extent machine);

/* The loops below are written so that compilers make a few vector instructions of them. */
static inline bool pattern_shared_hit(const struct pattern_shared_way *w, const uint32_t addr[32],
                                      uint32_t mask, uint32_t first)
{
    if (w->mask != mask || w->low != (first & 3))
        return false;
    uint32_t other = 0;
    if (mask == UINT32_MAX) {
        for (int i = 0; i < 32; i++)
            other |= (addr[i] - first) ^ w->offset[i];
        return !other;
    }
    for (int i = 0; i < 32; i++)
        other |= ((addr[i] - first) ^ w->offset[i]) & -(mask >> i & 1);
    return !other;
}

static inline bool pattern_global_hit(const struct pattern_global_way *w, const uint64_t addr[32],
                                      uint32_t mask, uint64_t first)
{
    if (w->mask != mask || w->low != (first & 31))
        return false;
    uint64_t other = 0;
    if (mask == UINT32_MAX) {
        for (int i = 0; i < 32; i++)
            other |= (addr[i] - first) ^ w->offset[i];
        return !other;
    }
    for (int i = 0; i < 32; i++)
        other |= ((addr[i] - first) ^ w->offset[i]) & -(uint64_t)(mask >> i & 1);
    return !other;
}

/* What is remembered of these addresses, NULL: nothing. `mask` is not 0. */
static inline const struct pattern_shared_way *
pattern_shared_known(const struct pattern_shared_memo *memo, const uint32_t addr[32], uint32_t mask)
{
    const uint32_t first = addr[__builtin_ctz(mask)];
    for (uint32_t i = 0; i < memo->used; i++)
        if (pattern_shared_hit(&memo->way[i], addr, mask, first))
            return &memo->way[i];
    return NULL;
}
static inline const struct pattern_global_way *
pattern_global_known(const struct pattern_global_memo *memo, const uint64_t addr[32], uint32_t mask)
{
    const uint64_t first = addr[__builtin_ctz(mask)];
    for (uint32_t i = 0; i < memo->used; i++)
        if (pattern_global_hit(&memo->way[i], addr, mask, first))
            return &memo->way[i];
    return NULL;
}

/* What pattern_shared_cost() says of `machine`. One memo is for one `bytes`, `kind` and `machine`; `mask` is not 0. The
 * answer is valid until the memo's next use. */
static inline const struct pattern_shared *pattern_shared(struct pattern_shared_memo *memo,
                                                          const uint32_t addr[32], uint32_t mask,
                                                          unsigned bytes, enum pattern_kind kind,
                                                          struct pattern_extent machine)
{
    const struct pattern_shared_way *w = pattern_shared_known(memo, addr, mask);
    if (w)
        return &w->cost;
    return pattern_shared_learn(memo, addr, mask, bytes, kind, machine);
}

/* What pattern_global_cost() says; sector numbers count from addr[first active lane] / 32. */
static inline const struct pattern_global *pattern_global(struct pattern_global_memo *memo,
                                                          const uint64_t addr[32], uint32_t mask,
                                                          unsigned bytes,
                                                          struct pattern_extent machine)
{
    const struct pattern_global_way *w = pattern_global_known(memo, addr, mask);
    if (w)
        return &w->cost;
    return pattern_global_learn(memo, addr, mask, bytes, machine);
}

/* What copies of 16 bytes a lane (cp.async.cg) cost. A sector, 32 bytes of global memory, goes to 32 bytes of shared memory in
 * one piece, its halves exchanged if need be (swizzles); where its halves fall into two of those (rows 16 bytes off) it is
 * asked for twice, and first halves and second ones are stored one after the other. Eight lanes go together: a wavefront for each
 * 128 bytes of shared memory that they fill from 128 bytes of global memory, and of sectors as many as they read or fill, also where
 * other lanes of the warp read the same. Found on an H200: bigd_cluster and fa2_mma_short of tests/sim/counters.tsv. */
struct pattern_copy {
    uint32_t wavefronts, sectors; /* at least those of the pattern count */
    uint32_t again;               /* sectors that the L2 is asked for a second time */
};
struct pattern_copy pattern_copy(const uint32_t to[32], const uint64_t from[32], uint32_t lanes);

/* Copies whose lanes lie as those of one before, seen from the first active lane of each side, and begin as far behind 128 bytes
 * cost what that one did. Of one thread; all zeros is an empty one. */
struct pattern_copy_memo {
    uint32_t used, next;
    struct pattern_copy_way {
        uint32_t to[32];                  /* as `offset` of pattern_shared_way */
        uint64_t from[32];                /* of pattern_global_way */
        uint32_t lanes, to_low, from_low; /* low: of the first ones, modulo 128 */
        struct pattern_copy cost;
    } way[PATTERN_WAYS];
};

/* What pattern_copy() says. */
struct pattern_copy pattern_copy_again(struct pattern_copy_memo *memo, const uint32_t to[32],
                                       const uint64_t from[32], uint32_t lanes);

#endif
