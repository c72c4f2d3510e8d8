/* chain.h - how long a warp waits for itself: chains of instructions that need each other's results.
 *
 * A straight piece of a function (no way in but at its begin, no barrier within) ends when its last instruction starts:
 * the longest chain of dependent instructions before it, each with its latency, at least a cycle of issue for each
 * machine instruction (statics.h), and those that need what came from memory behind its arrival. What it has begun goes on:
 * results, loads and groups of copies (cp.async) are waited for where they are needed, over branches, rounds of loops and
 * barriers. So loads that are begun together are one trip, however many there are.
 *
 * What ptxas does (13.0, as the machine code of the ladder's kernels shows), and the machine:
 *   - it orders a piece freely, so the order of its text counts for nothing but for loads behind stores to the same space;
 *   - a branch around at most 20 instructions becomes predicates: what it skips is of the piece before it, and so is what follows;
 *   - straight loops of at most 40 machine instructions are unrolled by four, unless .pragma "nounroll" forbids it: four
 *     rounds are one piece;
 *   - code that lies in no loop of at most 768 machine instructions (12 KiB) is not in the nearest cache of instructions: a
 *     lone warp gets one every two cycles.
 * Of a loop the first rounds are looked at, and the last of those taken for all further ones. A piece counts as often as its
 * first instruction was run.
 *
 * The sums are warp cycles by phase, what a block does from one block-wide barrier to the next, and by what the
 * chain waits for. They are estimates from PTX for CC 9.0: a model scales them for its device.
 *
 * Latencies, in cycles: arithmetic 4 for each machine instruction, exp2 and its kin 22, shared memory 28 and 2 for
 * each further wavefront, that of another block of the cluster 200, an f32 atomic on shared memory 80 for each lane (a loop of
 * compare and swap), shuffles 24, votes 12, the L2 262 and one for each sector, a fence beyond the block 262, mma.sync 33, a barrier 24,
 * the meeting of a cluster 200. Source: published dependent-issue
 * micro-benchmarks of sm_80 and sm_90, rounded; what they are good for is measured by the model that uses them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_CHAIN_H
#define ATTNSCOPE_SIM_CHAIN_H

#include "sim/sim.h"
#include "sim/statics.h"

/* Cycles that a trip to DRAM takes beyond one to the L2. */
enum { CHAIN_DRAM_MORE = 600 - 262 };

/* What a chain waits for. */
#define CHAIN_PARTS(X)                                         \
    X(alu, "results of arithmetic")                            \
    X(xu, "exp2, reciprocals, conversions")                    \
    X(shared, "shared memory and ldmatrix")                    \
    X(shuffle, "shuffles and votes")                           \
    X(global, "global memory, as if all of it were in the L2") \
    X(tensor, "products of tensor cores")                      \
    X(barrier, "barriers")                                     \
    X(issue, "nothing: the piece has more instructions than its chain has cycles")
enum chain_part {
#define X(name, what) CHAIN_##name,
    CHAIN_PARTS(X)
#undef X
        CHAIN_PARTS_COUNT
};
const char *chain_part_name(enum chain_part p); /* "shared" */

/* One phase, summed over all warps that ran it. */
struct chain_phase {
    double cycles[CHAIN_PARTS_COUNT]; /* of warps */
    double
        trips; /* to global memory, one after the other: CHAIN_DRAM_MORE cycles each where all comes from DRAM */
    struct statics machine; /* machine instructions of warps, by pipe */
};

/* The phases of a run: `insn` as sim_result has them, `phase[phases]` its phases; out[phases]. ST_FAIL: the control
 * flow makes no sense, which no program that was run has. */
enum status chain_phases(const struct sim_program *p, const struct sim_counts *insn,
                         const struct sim_phase *phase, size_t phases, struct chain_phase *out,
                         struct err *err);

#endif
