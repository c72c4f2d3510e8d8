/* hazard.h - which accesses of a launch are not ordered: data races and copies that nobody waited for.
 *
 * The executor tells what warps do, in the order in which it does it; this finds pairs of accesses of which one
 * writes, that touch the same byte and that nothing orders. Units are threads. It is the happens-before relation that
 * counts, not what happened to come first: a barrier that is missing is found though warps run one after another.
 *
 * What orders (PTX ISA, "Memory Consistency Model", "bar", "bar.warp.sync", "cp.async", "mbarrier"):
 *   - a thread's own instructions, in their order;
 *   - bar.sync, bar.red, barrier.sync: what a thread did before it arrives comes before what those that wait do behind
 *     it; bar.arrive gives and does not receive; barriers with other ids or with fewer threads order those threads;
 *   - bar.warp.sync (__syncwarp): the lanes of its mask. Lanes of a warp are unordered without it;
 *   - an mbarrier: arrivals of a phase come before what those do who saw it complete;
 *   - a release (a fence, then a strong write; or st.release, atom.acq_rel, ...) and the acquire that reads its value
 *     (or that of a read-modify-write in between); at .cta scope only within a block;
 *   - cp.async is a write of its own, that is ordered behind its issue and before the wait for its group by the thread
 *     that issued it (or before the completed phase of the mbarrier that cp.async.mbarrier.arrive named). Others
 *     need the wait and then a barrier;
 *   - a bulk store of the copy engine (cp.async.bulk from shared to global memory) reads its source between its issue and the
 *     wait for its group by the thread that issued it, and is a write of global memory of its own that is there behind
 *     the wait for all of it (wait_group); wait_group.read waits for its reads alone. Others need the wait and then
 *     a barrier, or a release.
 * What does not: shfl.sync, vote.sync, match.sync, redux.sync, activemask, mma.sync, wmma and ldmatrix. The manual gives
 * them no effect on memory, though lanes wait for each other there. Accesses of ldmatrix and wmma are weak, and which
 * lane makes which part of them is nobody's business: each lane of the warp counts as if it made them all. Only a
 * store of a whole warp (wmma.store) behind its load (wmma.load) of the same bytes is no race: lanes meet at the store, and
 * then all have read. So a tile may be loaded, added to and stored.
 *
 * Decisions beyond the manual's letter:
 *   - Lanes of one instruction that write the same bytes alike are no hazard (the CUDA guide says that one of them
 *     does it); unlike, they are HAZARD_LANES. Equal values of different instructions are a race, but marked
 *     (`same_value`) where every one of them was so: harmless on today's hardware, undefined in PTX.
 *   - A release publishes what its thread has learnt through barriers until the write, not only until the fence:
 *     `__threadfence(); __syncthreads(); if (!tid) atomicAdd(...)` orders what all threads did before their fence.
 *   - Strong accesses (atom, red, ld/st .relaxed .acquire .release .volatile) do not race with each other, whatever
 *     their scopes and sizes.
 *   - The copies of cp.async read global memory at their issue.
 *
 * Exact for shared memory: a byte is reported if and only if two accesses to it are unordered (of several hazards at a
 * byte at least the first is). In global memory bytes remember three accesses, of as many blocks as can be: no false
 * alarm, nearly all races.
 * A cluster is told as one block: of all threads, with the shared memory of all, barriers of each block with ids of their
 * own and the cluster's barrier as an mbarrier, whose arrivals give and whose waits take.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_HAZARD_H
#define ATTNSCOPE_SIM_HAZARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HAZARD_LANES_OF_WARP = 32,
    HAZARD_THREADS_MAX = 8192,       /* of a cluster, with agents */
    HAZARD_SHARED_MAX = 4 << 20,     /* bytes of a block's shared memory */
    HAZARD_INSN_MAX = (1 << 20) - 1, /* instructions from here on are all called by this number */
    HAZARD_BARRIERS = 256,           /* 16 of each block of a cluster */
};

/* enumerator, name in rows, what is missing, in words */
#define HAZARD_KINDS(X)                                                                          \
    X(LANES, "race_lanes", "lanes of one instruction write different values to the same bytes")  \
    X(WARP, "race_warp", "lanes of one warp use the same bytes with no __syncwarp between them") \
    X(BLOCK, "race_block", "warps of one block use the same bytes with no barrier between them") \
    X(GRID, "race_grid", "blocks use the same bytes with nothing that orders them")              \
    X(WAIT, "missing_wait",                                                                      \
      "bytes are used while an asynchronous copy of them may still be under way")                \
    X(OPERAND, "wgmma_operand", "bytes are written while a wgmma may still read them")           \
    X(SOURCE, "copy_source", "bytes are written while a bulk store may still read them")         \
    X(PROXY, "missing_proxy_fence",                                                              \
      "bytes that threads wrote are read by a wgmma, or sent by the copy engine, with no "       \
      "fence.proxy.async in between")
enum hazard_kind {
#define X(id, name, what) HAZARD_##id,
    HAZARD_KINDS(X)
#undef X
        HAZARD_KIND_COUNT
};
const char *hazard_kind_name(enum hazard_kind k); /* "race_warp" */
const char *hazard_kind_what(enum hazard_kind k);
/* Of each thread's groups of copies the last so many are known: a wait that lets as many or more be under way orders nothing
 * here. What then may be no hazard has a sentence about that, behind its own; NULL: none. `left`: the most groups that a wait of
 * the kernel leaves under way. Constant. */
enum { HAZARD_GROUPS = 32 };
const char *hazard_hint(enum hazard_kind k, uint32_t left);

/* What an access does. Strong ones do not race with each other. */
enum hazard_act {
    HAZARD_READ,
    HAZARD_WRITE,
    HAZARD_STRONG_READ,  /* ld.relaxed, ld.acquire, ld.volatile */
    HAZARD_STRONG_WRITE, /* st.relaxed, st.release, st.volatile */
    HAZARD_ATOMIC,       /* atom, red: reads and writes */
    HAZARD_COPY,         /* cp.async: writes shared memory between its issue and the wait */
    HAZARD_ACTS
};

enum hazard_scope { HAZARD_SCOPE_CTA, HAZARD_SCOPE_GPU }; /* .gpu, .sys and .cluster are GPU */

/* One side of a hazard. */
struct hazard_party {
    uint64_t block; /* linear */
    int warp, lane; /* lane -1: the warp as a whole (wmma.store) */
    uint32_t insn;  /* HAZARD_INSN_MAX: that one or a later one */
    enum hazard_act act;
};

/* Hazards of one kind between one pair of instructions. */
struct hazard_report {
    enum hazard_kind kind;
    bool shared;              /* else global memory */
    struct hazard_party a, b; /* a came first in the simulation; of the first occurrence */
    uint64_t
        addr; /* first byte of the first occurrence: offset in shared memory, or an address of global memory */
    uint32_t bytes;  /* that both touch, there */
    uint64_t count;  /* occurrences: lanes of b, summed */
    bool same_value; /* they wrote what was there, every time */
};

/* ---- Of a launch: what its blocks have in common. Functions may be called by several threads. ---- */

struct hazards;

struct hazard_options {
    uint32_t threads;      /* of a block, 1..HAZARD_THREADS_MAX */
    uint32_t shared_bytes; /* of a block, at most HAZARD_SHARED_MAX */
    uint32_t max_reports;  /* of each kind, distinct pairs of instructions that are kept; 0: 64 */
    uint64_t max_bytes;    /* of host memory for what happened to global memory; 0: 256 MiB */
    bool movable;          /* all that is known can be put back, see hazards_piece() */
    uint32_t agents;       /* warps of those who are no threads, see hazard_agent_begin() */
    bool
        sends; /* and one more for each warp of threads: its bulk stores, see hazard_send_commit() */
};

struct hazards *hazards_new(const struct hazard_options *o);
void hazards_free(struct hazards *h); /* NULL is fine; after its blocks */
/* Of a movable one the pieces of memory that hold all that it and its blocks know: number i at *at, its bytes; 0: there
 * is none. Who copies them can go back to that moment by writing the bytes to the same addresses, as long as nothing
 * ran on other threads. */
size_t hazards_piece(const struct hazards *h, size_t i, void **at);
/* Where piece i is, or was at another moment. */
void *hazards_piece_at(const struct hazards *h, size_t i);

/* After all blocks have ended: the reports, by instruction of b, then of a. The caller frees *out; it and *n may be
 * empty. *lost: occurrences of further pairs than max_reports. *unchecked: bytes of global accesses that were not looked
 * at, for want of memory. lost and unchecked may be NULL. */
void hazards_take(struct hazards *h, struct hazard_report **out, size_t *n, uint64_t *lost,
                  uint64_t *unchecked);

/* ---- Of a block in flight: one for each thread that runs blocks, used again for the next. ---- */

struct hazard_block;

struct hazard_block *hazard_block_new(struct hazards *h);
void hazard_block_free(struct hazard_block *b); /* NULL is fine */
/* `shared`: the block's shared memory, read when a write meets an earlier one; NULL: values are not compared. */
void hazard_block_begin(struct hazard_block *b, uint64_t block, const void *shared);
void hazard_block_end(struct hazard_block *b);
/* How many distinct ones its block has so far, before its end. */
size_t hazard_block_count(const struct hazard_block *b);
/* They, as hazards_take() gives them; the caller frees *out. */
void hazard_block_list(const struct hazard_block *b, struct hazard_report **out, size_t *n);

/* Who wrote a byte of shared memory last: one of the block, and how many times since then all threads have met. */
struct hazard_writer {
    uint32_t warp, insn, age;
};
bool hazard_writer(const struct hazard_block *b, uint32_t addr, struct hazard_writer *out);

/* ---- What warps do. Masks are of lanes that take part; warps count from 0. ---- */

/* The values of a write, for the comparison: part i of lane l is the `bytes` bytes (1, 2, 4, 8) at
 * part[i] + l * stride. */
struct hazard_values {
    const void *part[4];
    uint8_t parts, bytes, stride;
};

struct hazard_access {
    uint32_t warp, mask, insn;
    uint32_t bytes; /* of a lane, 1..128; any alignment */
    enum hazard_act act;
    bool collective; /* wmma, ldmatrix: mask says whose addresses there are; all lanes of the warp
                                           take part */
    bool
        engine; /* a bulk store of these lanes: the copy engine reads shared memory, where what threads wrote is seen
                    through a fence of the proxy, and writes global memory */
    bool acquire, release;              /* of strong accesses: .acquire, .release, .acq_rel */
    enum hazard_scope scope;            /* of strong accesses; for plain ones it says nothing */
    const struct hazard_values *values; /* of writes; NULL: not known, taken as unlike */
};

/* Before the access takes place. Addresses of lanes outside the mask are not read. Bytes outside of shared_bytes are
 * left out: that is the executor's fault to report. A HAZARD_COPY's source is told by another call, as HAZARD_READ of
 * global memory. `addr` of global memory is whatever tells bytes apart for the whole launch. */
void hazard_shared(struct hazard_block *b, const struct hazard_access *a, const uint32_t addr[32]);
void hazard_global(struct hazard_block *b, const struct hazard_access *a, const uint64_t addr[32]);

/* membar, fence: by each lane of the mask. */
void hazard_fence(struct hazard_block *b, uint32_t warp, uint32_t mask, enum hazard_scope scope);
/* bar.warp.sync, when all lanes of the mask are there. */
void hazard_warp_sync(struct hazard_block *b, uint32_t warp, uint32_t mask);
/* Lanes arrive at barrier `id` (below HAZARD_BARRIERS) of the block; `waits`: bar.sync and bar.red, else bar.arrive. Then,
 * when it opens, those that wait go on. */
void hazard_barrier_arrive(struct hazard_block *b, uint32_t id, uint32_t warp, uint32_t mask,
                           bool waits);
void hazard_barrier_open(struct hazard_block *b, uint32_t id);

/* cp.async.commit_group; cp.async.wait_group `pending` (0: none may be under way). cp.async.wait_all is
 * hazard_copy_commit() and hazard_copy_wait(..., 0). */
void hazard_copy_commit(struct hazard_block *b, uint32_t warp, uint32_t mask);
void hazard_copy_wait(struct hazard_block *b, uint32_t warp, uint32_t mask, uint32_t pending);

/* cp.async.bulk.commit_group of stores, and cp.async.bulk.wait_group `pending`; `read`: wait_group.read, which says nothing
 * of what is written. Groups are each lane's own. */
void hazard_send_commit(struct hazard_block *b, uint32_t warp, uint32_t mask);
void hazard_send_wait(struct hazard_block *b, uint32_t warp, uint32_t mask, uint32_t pending,
                      bool read);

/* mbarrier objects in shared memory, by offset; addr[lane] says which object a lane means. `copies`: cp.async.mbarrier.arrive, which
 * arrives when the copies that the lane has issued so far have come. The arrival that completes a phase is told
 * first, then the completion. A wait or test that came out true is one for the phase that completed last. init and inval
 * forget what was. That a thread uses an object only behind its init is told by accesses: init and inval write its 8 bytes, the others
 * touch them as atomics do. */
void hazard_mbarrier_init(struct hazard_block *b, uint32_t addr);
void hazard_mbarrier_arrive(struct hazard_block *b, uint32_t warp, uint32_t mask,
                            const uint32_t addr[32], bool copies);
void hazard_mbarrier_complete(struct hazard_block *b, uint32_t addr);
void hazard_mbarrier_wait(struct hazard_block *b, uint32_t warp, uint32_t mask,
                          const uint32_t addr[32]);

/* ---- Agents: who is no thread and makes accesses, while threads go on. They are told as warps of 32 lanes behind the
 * block's own, by the same functions, a lane for each that goes its own way; what they write are copies. No barrier waits
 * for them, and what they do is known only to who waited for it.
 *   - the copy engine: a lane for each mbarrier that it reports to. hazard_agent_begin() at the issue, its writes,
 *     hazard_agent_mark(), and when the bytes have come hazard_agent_arrive() with that mark;
 *   - wgmma: a warp for each warp; all its lanes read together. hazard_agent_begin() at the issue, its reads,
 *     hazard_agent_mark() at the commit, hazard_agent_done() with that mark at the wait.
 * Bulk stores have agents too, a lane for each thread: their accesses are told as the thread's (`engine`), which is who must
 * know what was done there before, and are remembered as the agent's. ---- */

/* The agent's lanes come behind what the lanes of `mask` have done so far. */
void hazard_agent_begin(struct hazard_block *b, uint32_t agent, uint32_t lanes, uint32_t warp,
                        uint32_t mask);
uint32_t hazard_agent_mark(struct hazard_block *b, uint32_t agent);
/* All lanes of `warp` come behind what the agent did up to the mark. */
void hazard_agent_done(struct hazard_block *b, uint32_t agent, uint32_t clock, uint32_t warp);
/* What a lane of the agent did up to the mark comes before the end of the mbarrier's phase. */
void hazard_agent_arrive(struct hazard_block *b, uint32_t agent, uint32_t lane, uint32_t clock,
                         uint32_t addr);
/* fence.proxy.async: what threads wrote before is seen by agents. That of any thread counts for all, so that no order of
 * fence and barrier is held to be a hazard that is none. */
void hazard_proxy_fence(struct hazard_block *b);

/* The clock of what the warp's lanes do now; and whether a lane of `n` warps from `first` on comes, as far as it has come,
 * behind what a lane did at one. */
uint32_t hazard_clock(const struct hazard_block *b, uint32_t warp);
bool hazard_known(const struct hazard_block *b, uint32_t first, uint32_t n, uint32_t warp,
                  uint32_t lane, uint32_t clock);

/* Lanes that have ended: barriers of the block need not wait for them any more. */
void hazard_exit(struct hazard_block *b, uint32_t warp, uint32_t mask);

#endif
