/* cache.h - a sectored, set-associative cache before DRAM: the L2 of a simulated GPU, or an L1.
 *
 * Lines of 128 bytes with four sectors of 32; 16 ways; the line that was not used for longest leaves
 * (the hardware's rule is not documented). Sets are picked by a hash of the line, as hardware does in its own
 * way, so that strides of powers of two use all of them. Write-back: a written byte stays until its
 * line leaves. A write does not read: bytes that were written are known, and a sector is read from
 * DRAM only when somebody reads bytes of it that nobody wrote.
 *
 * One thread a cache. What several threads simulate reaches the one L2 of a run in the order of blocks
 * (struct cache_feed), so figures are the same for any number of threads. On hardware blocks run at
 * the same time and their accesses mix: hits between blocks that follow each other are right only
 * when the cache is much larger, or much smaller, than what the blocks in flight use. Exact
 * whatever the order: sectors asked for, and `unique` (the bytes that any cache must read).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_CACHE_H
#define ATTNSCOPE_SIM_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/pattern.h"

enum cache_op {
    CACHE_READ,
    CACHE_WRITE,
    CACHE_ATOMIC, /* reads and writes, done at the L2 */
    CACHE_COUNT
};

/* In sectors unless the name says bytes. */
struct cache_counts {
    uint64_t asked[CACHE_COUNT];
    uint64_t hits[CACHE_COUNT]; /* asked for and there; a write is if its line was */
    uint64_t unique;            /* distinct sectors asked for */
    uint64_t unique_read; /* of these, read before they were written as a whole: compulsory reads */
    uint64_t dram_read_bytes;
    uint64_t dram_written_bytes; /* by lines that left */
    uint64_t dirty_bytes;        /* that are still in the cache: written to DRAM some day */
};

struct cache;
struct cache *cache_new(size_t bytes); /* rounded down to whole sets, at least one set (2 KiB) */
/* One that leaves `unique` and `unique_read` at 0, and so needs no memory for them: an L1. */
struct cache *cache_new_plain(size_t bytes);
void cache_free(struct cache *c);
void cache_clear(struct cache *c); /* empty, all counts 0 */
size_t cache_bytes(const struct cache *c);
size_t cache_set(const struct cache *c, uint64_t line); /* that keeps line number address / 128 */

/* One sector: `sector` is its address / 32, bit i of `bytes` its byte i. Did it hit? */
bool cache_sector(struct cache *c, enum cache_op op, uint64_t sector, uint32_t bytes);
/* `n` of them, one after the other, from `sector` on. */
void cache_sectors(struct cache *c, enum cache_op op, uint64_t sector, uint32_t bytes, uint32_t n);
/* All sectors of one access of a warp, one after the other; `first` is the address of its first active lane. */
void cache_access(struct cache *c, enum cache_op op, uint64_t first,
                  const struct pattern_global *p);
/* The numbers of its sectors, [p->sectors]. */
void cache_numbers(uint64_t first, const struct pattern_global *p, uint64_t sector[32]);
/* These sectors, one after the other; bytes NULL: all of each. */
void cache_these(struct cache *c, enum cache_op op, const uint64_t *sector, const uint32_t *bytes,
                 unsigned n);
/* Reads as cache_access() does; returns how many sectors were not there, and which, in their order. */
unsigned cache_missing(struct cache *c, uint64_t first, const struct pattern_global *p,
                       uint64_t missing[32]);
void cache_forget(struct cache *c, uint64_t sector); /* is not there any more, nor written back */
struct cache_counts cache_counts(const struct cache *c);

/* Blocks of several threads in front of one cache. Each block's accesses are kept until its turn comes,
 * in the order of its number; a block that keeps too much waits for its turn and then goes through.
 * A feed with an L1 of l1_bytes (0: none) lets each block's reads pass an L1 of its own, empty at its start; writes and
 * atomics go around it and take the sector out of it. An SM's L1 belongs to all of its blocks; a block here has its share.
 * So what it finds there hangs on nothing but the block, and counts are equal for any number of threads; that a block
 * finds what another of its SM has loaded is left out. */
struct cache_feed;
struct cache_feed *cache_feed_new(size_t l2_bytes, size_t l1_bytes);
void cache_feed_free(struct cache_feed *f);
/* At most so many runs of sectors (16 bytes each) that a block keeps until its turn, and eight times
 * as many that ended blocks keep. 0: the default. Before the first block. */
void cache_feed_limit(struct cache_feed *f, size_t runs);

/* One thread's view of the feed. */
struct cache_port;
/* `blocks`: of a cluster, which are run together, each with an L1. */
struct cache_port *cache_port_new(struct cache_feed *f, unsigned blocks);
void cache_port_free(struct cache_port *p);
/* Blocks are numbered 0, 1, 2 ... in the order in which they are taken by threads: every number is begun
 * once, and a thread never waits inside a block for a higher number's. */
void cache_port_begin(struct cache_port *p, uint64_t number);
/* Returns how many of the sectors hit the L1. `rank`: of the block in its cluster. `around`: not through the L1
 * (ld.global.cg, cp.async.cg). */
unsigned cache_port_access(struct cache_port *p, unsigned rank, enum cache_op op, bool around,
                           uint64_t first, const struct pattern_global *g);
void cache_port_end(struct cache_port *p);
/* Nobody waits for a turn any more; counts mean nothing from then on. From any thread. */
void cache_feed_stop(struct cache_feed *f);
/* When all blocks have ended: the L2's counts. l1_asked and l1_hits (may be NULL): reads through the L1s. */
struct cache_counts cache_feed_counts(const struct cache_feed *f, uint64_t *l1_asked,
                                      uint64_t *l1_hits);

#endif
