/* observe.h - instructions looked at while they run: which lanes took part, at which addresses and at what cost, what
 * their registers held before and after.
 *
 *     bool *wanted = xcalloc(facts.insns, sizeof *wanted);
 *     wanted[17] = true;
 *     const struct sim_observe look = {.block = 0, .warp = 2, .insn = wanted, .each = 1};
 *     options.observe = &look;
 *     sim_run(...);                            result.seen[0 .. result.nseen - 1], in the order of execution
 *
 * What is looked at runs a slow body of its own; everything else runs as ever. Counts, faults and results are the
 * same with and without.
 *
 * What the warp's loop does itself cannot be looked at so: branches, barriers, exit. Accesses to local memory, to
 * parameters and of mbarriers have registers and no `access`.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_OBSERVE_H
#define ATTNSCOPE_SIM_OBSERVE_H

#include "sim/pattern.h"
#include "sim/sim.h"

enum { SIM_ANY_WARP = -1, SIM_OBSERVE_INSNS = 1 << 16, SIM_OBSERVE_MOST = 4096 };

/* All borrowed for the run. */
struct sim_observe {
    uint64_t block;   /* linear; one that is not run shows nothing */
    int warp;         /* of the block, or SIM_ANY_WARP */
    const bool *insn; /* [sim_facts.insns]: which; SIM_OBSERVE_INSNS at most */
    uint64_t skip;    /* executions of an instruction by a warp that pass unseen first */
    uint64_t each;    /* so many are kept then of each instruction and warp; 0: all */
    size_t most;      /* of all together; 0: SIM_OBSERVE_MOST */
};

/* One access of a warp to memory. An instruction has one as a rule; wmma has several, cp.async one in each space, and
 * generic addresses may be of both. */
struct sim_access {
    enum sim_space space; /* SIM_SHARED or SIM_GLOBAL */
    bool write, fetches;  /* an atomic does both */
    uint32_t mask;  /* lanes whose bytes were touched: those that are out of bounds were dropped */
    uint32_t bytes; /* of a lane */
    uint64_t addr[32];            /* in shared memory an offset; only of lanes in `mask` */
    enum pattern_kind kind;       /* of shared memory: how lanes are served together */
    uint32_t cost, ideal;         /* wavefronts of shared memory, or sectors of global memory */
    uint64_t found[32], left[32]; /* an atomic of at most 8 bytes: what lay there before its first
                                     lane, and lies there after its last */
};

/* A register that the instruction reads or writes; of 64 bits at most, those of more are left out. */
struct sim_register {
    const char *name, *type; /* "%f12", "f32"; "pred" has 0 and 1. Of the program */
    bool read, written;
    bool address; /* it is part of an address */
    uint64_t before[32], after[32];
};

/* One execution of an instruction by a warp. */
struct sim_seen {
    size_t insn;
    uint64_t block;
    int warp;
    uint64_t turn;   /* which execution of it by this warp, from 1 */
    uint32_t active; /* lanes that came here together */
    uint32_t mask;   /* those that took part: their guard is true */
    struct sim_access *access;
    size_t accesses;
    struct sim_register *reg; /* in the order of the operands */
    size_t regs;
    bool shuffles; /* shfl: */
    int from
        [32]; /* the lane whose value each got; its own where there was none to get; -1: took no part */
};

void sim_seen_free(struct sim_seen *seen, size_t n); /* NULL is fine */

#endif
