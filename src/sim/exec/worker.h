/* worker.h - a thread that runs blocks one after another, and what it gathers.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_EXEC_WORKER_H
#define ATTNSCOPE_SIM_EXEC_WORKER_H

#include "base/str.h"
#include "sim/exec/observe.h"
#include "sim/exec/warp.h"
#include "sim/hazard.h"

/* Of a code; the most frequent counts apart from the others. */
struct tally {
    uint64_t executions, lanes;
};

/* What this thread remembers of a code. Made at its first use. */
struct memo {
    struct pattern_shared_memo *shared;
    struct pattern_global_memo *global;
    const struct allocation *last;
};

struct fault_list {
    struct sim_fault *fault;
    size_t count, cap;
    uint64_t lost;
};

struct run;

struct worker {
    struct run *run;
    const struct sim_program *program;
    const struct sim_launch *launch;
    struct sim_memory *memory;
    warp_run_fn *warp_run;
    const struct tensor_adder *adder; /* of the launch's GPU; NULL: not known */
    bool counters;
    bool
        slow; /* accesses are looked at lane by lane: someone watches them, or nothing is counted */
    uint64_t max_instructions;
    uint32_t quantum;
    uint64_t seed;
    size_t max_printf;
    char *constants; /* of 32 lanes */
    const uint8_t *params;
    struct memo *memo; /* by code */
    struct pattern_copy_memo copies;
    struct tally *tally;           /* by code, of the block; without those that are in `runs` */
    struct tally *runs;            /* by code that a run of codes begins with, of the block */
    struct sim_counts *cost;       /* by instruction, of the block; executions and lanes stay 0 */
    struct sim_counts sum;         /* of the block, the same */
    uint64_t pipe[CODE_RUN_BYTES]; /* of the block; from SIM_PIPE_COUNT on: of no interest */
    uint64_t divergences, lanes;
    struct hazard_block *hazard;
    struct cache_port *port;
    struct observer *observer; /* NULL: nobody looks */
    bool seeing;               /* at the instruction that runs now */
    struct block block;
    char *registers, *local;
    uint32_t *predicates;
    struct fault_list faults; /* of the block */
    struct str printed;       /* by the block */
    bool printf_cut;

    /* phases, see phase.c */
    struct sim_phase *phase;
    size_t phases, phases_cap;
    struct sim_phase before;  /* the block's totals when its phase began */
    struct sim_course course; /* of the block */
};

static inline struct worker *worker_of(const struct warp *w)
{
    return w->block->worker;
}

/* An `add` to a count of the instruction and of the block. */
#define COUNT(worker, c, name, n)             \
    do {                                      \
        const uint64_t n_ = (n);              \
        (worker)->cost[(c)->insn].name += n_; \
        (worker)->sum.name += n_;             \
    } while (0)

/* The values of a special register. */
void warp_special(const struct warp *w, const struct code *c, uint64_t v[32]);

/* Resolves addresses one lane after the other, when not all are well: reports what is wrong, returns the
 * lanes that may go on. p[lane] of the others points to bytes that may be read. */
uint32_t access_shared_slow(struct warp *w, const struct code *c, const uint32_t addr[32],
                            uint32_t m, uint32_t size, uint32_t align, bool write);
uint32_t access_global_slow(struct warp *w, const struct code *c, const uint64_t addr[32],
                            uint32_t m, uint32_t size, uint32_t align, bool write, bool fetches,
                            uint8_t *p[32]);
/* Reports lanes that leave the array that the access is for, by `within` of the program; they take part all the same. Addresses
 * are of the cluster's memory. */
void access_within(struct warp *w, const struct code *c, uint32_t m, const uint32_t addr[32],
                   uint32_t size);
void access_unwritten(struct warp *w, const struct code *c, enum sim_space space, uint64_t addr,
                      uint32_t size, int lane);
/* Reports a write to what has a guard; does it take place? */
bool access_guarded(struct warp *w, const struct code *c, const struct allocation *al,
                    uint64_t addr, uint32_t size, int lane);

/* Plain C for rare instructions. An atomic's bytes lie at p[], of shared memory or `global`. */
void warp_atomic(struct warp *w, const struct code *c, const struct code_memory *mem, bool global,
                 uint32_t m, uint8_t *const p[32]);
/* The elements of n bytes of global memory, each changed by the one at `from`. */
void reduce_bytes(const struct code_memory *mem, uint8_t *to, const uint8_t *from, uint32_t n);
void warp_match(struct warp *w, const struct code *c, uint32_t m);
void warp_redux(struct warp *w, const struct code *c, uint32_t m);
void warp_printf(struct warp *w, const struct code *c, uint32_t m);
void warp_assert(struct warp *w, const struct code *c, uint32_t m);
void warp_isspacep(struct warp *w, const struct code *c, uint32_t m);
void warp_local(struct warp *w, const struct code *c, const struct code_memory *mem, uint32_t m,
                const uint64_t addr[32], bool write);
void warp_param(struct warp *w, const struct code *c, const struct code_memory *mem, uint32_t m,
                const uint64_t addr[32], bool write);

/* cp.async: bytes wait in the warp until they land. */
struct async_copy *async_issue(struct warp *w);
void async_commit(struct warp *w, uint32_t m);
void async_wait(struct warp *w, uint32_t m, uint32_t pending, bool uncommitted);

void warp_mbarrier(struct warp *w, const struct code *c, uint32_t m, const uint32_t addr[32]);
/* `bytes` of a copy have come to the mbarrier at an address of the cluster's memory. */
void mbarrier_bytes(struct block *b, uint32_t addr, uint32_t bytes);
/* What its phase still waits for. False: it is none. */
struct mbarrier_state {
    uint32_t missing, parity;
    int32_t bytes;
};
bool mbarrier_state(const struct block *b, uint32_t addr, struct mbarrier_state *out);

/* bar and barrier: true when the warp waits. */
bool barrier_arrive(struct warp *w, const struct code *c, uint32_t m);
void barrier_exit(struct block *b); /* lanes ended: others may have waited for them alone */

#endif
