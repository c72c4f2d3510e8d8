/* warp.h - a warp and its block while they run.
 *
 * A block is run by one thread: its warps in turn, each until it waits, ends or has had its quantum. Between two
 * instructions everything that a lane has is here, to be looked into.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_EXEC_WARP_H
#define ATTNSCOPE_SIM_EXEC_WARP_H

#include "sim/cache.h"
#include "sim/sim.h"
#include "sim/code.h"
#include "sim/exec/memory.h"
#include "sim/pattern.h"

struct block;

/* Lanes that go the same way. The topmost of the stack runs; where it comes to `join`, it is done
 * and the one below goes on. Masks shrink from bottom to top, or part: at most 2 * 32 + 1. */
struct path {
    uint32_t pc, join, mask;
};
#define PATHS_MAX 72

enum warp_wait {
    WAIT_NOTHING,
    WAIT_BARRIER,
    WAIT_CLUSTER,
    WAIT_ENDED,
};

/* A cp.async that was issued: bytes that lie here until the thread waits for them. */
struct async_copy {
    uint32_t mask;  /* lanes whose copy has not landed */
    uint32_t bytes; /* 4, 8, 16 */
    uint32_t insn;
    uint32_t group[32]; /* of each lane; 0: not committed */
    uint32_t to[32];
    uint8_t data[32][16];
};

/* A wgmma that was issued: what it needs that may not be there any more when somebody waits for it. */
struct wgmma_flight {
    uint32_t code;
    uint32_t group; /* 0: not committed */
    bool add;
    uint32_t mark; /* hazard_agent_mark() of its group */
    double ends;   /* see pace.h */
    uint64_t descriptor[2];
    uint32_t a[4][32];
};
/* What a warp did last to the shared memory of another block of its cluster. */
struct guest {
    uint32_t lanes;       /* 0: nothing */
    uint32_t code, clock; /* hazard_clock() */
};

enum { WGMMA_FLIGHTS = 128 }; /* beyond that the oldest is done at once */

struct warp {
    char *base[2]; /* registers, constants; indexed by bit 0 of a reference */
    uint32_t *pred;
    struct block *block;
    uint32_t live;    /* lanes that exist and have not ended */
    uint32_t exist;   /* lanes that exist */
    int id;           /* among all warps of the block, or of the cluster */
    uint32_t rank;    /* of its block in the cluster */
    uint64_t arrived; /* the cluster's meeting that it has arrived at last, counted from 1 */
    uint64_t waited;  /* and that it has waited for */
    bool
        init_fenced; /* by fence.mbarrier_init, which makes a relaxed arrival there tell of its mbarriers */
    struct guest guest[SIM_CLUSTER_MAX]; /* by rank of the host */
    int depth;                           /* of `path`, 0 when all have ended */
    struct path path[PATHS_MAX];
    enum warp_wait wait;
    uint32_t waits_at;     /* code that it waits in */
    int barrier;           /* number */
    uint32_t barrier_mask; /* lanes that reached it */
    bool yields;           /* its turn ends: it asked in vain for an mbarrier */
    uint32_t asks;         /* which, and for which phase */
    uint32_t asks_parity;
    uint64_t executed;
    uint64_t phase_from;     /* `executed` when the block's phase began */
    char *local;             /* [word][lane] */
    uint32_t *local_written; /* lanes that wrote a word */
    struct async_copy *copy; /* in order of issue */
    size_t copies, copies_cap;
    uint32_t commits[32];
    struct wgmma_flight *wgmma; /* [WGMMA_FLIGHTS], in order of issue; NULL: the program has none */
    uint32_t wgmmas, wgmma_groups;
    uint32_t wgmmas_done;     /* and issued, all together */
    uint32_t bulk_groups[32]; /* that each lane has committed */
    uint32_t registers;       /* of a lane, by setmaxnreg; 0: as at launch */
    uint32_t registers_code;
};

struct barrier {
    uint32_t arrived;  /* threads, in whole warps */
    uint32_t expected; /* threads; 0: all that live */
    uint32_t popc;     /* of bar.red */
    bool some_true, some_false;
};

struct worker;

/* The block that runs, or the cluster: then warps, shared memory and barriers are those of all its blocks, one behind
 * the other. */
struct block {
    const struct sim_program *program;
    const struct sim_launch *launch;
    struct worker *worker;
    uint64_t index;
    uint32_t ctaid[3];
    uint32_t threads; /* of a block */
    int nwarps;
    uint32_t cluster;     /* blocks; 1: it is alone */
    int block_warps;      /* of one of them */
    uint32_t block_bytes; /* of one's shared memory; the next one's begins `stride` behind it */
    uint32_t stride;
    struct warp *warp;
    uint8_t *shared;
    uint64_t *shared_written; /* a bit for every byte */
    uint32_t shared_bytes;
    struct barrier barrier[SIM_CLUSTER_MAX][16]; /* of each block */
    uint32_t meeting_warps; /* that have arrived at the cluster's meeting under way */
    uint64_t meetings;      /* that are over */
    uint64_t executed;
    uint64_t changes;      /* of memory that a spinning warp may wait for */
    bool ended;            /* by trap, assert, deadlock */
    int64_t phase;         /* instruction of the barrier that began it, -1: none */
    struct flight *flight; /* of the copy engine; NULL: the program asks nothing of it */
    struct pace *pace;     /* NULL: nobody asks when */
};

/* What the worker does for the instructions; all are called with the code that runs. */
void block_fault(struct block *b, const struct warp *w, const struct code *c, int lane,
                 enum sim_fault_kind kind, enum sim_space space, uint64_t addr, uint32_t bytes,
                 uint32_t lanes, const char *fmt, ...) __attribute__((format(printf, 10, 11)));

/* Runs the warp until it waits, ends, yields, or has executed `quantum` more. */
typedef void warp_run_fn(struct warp *w, uint64_t quantum);
void warp_run_generic(struct warp *w, uint64_t quantum);
void warp_run_avx2(struct warp *w, uint64_t quantum);
void warp_run_avx512(struct warp *w, uint64_t quantum);

#endif
