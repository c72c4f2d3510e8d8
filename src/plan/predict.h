/* predict.h - how long it would take: the time model. Counts of a simulated run and a GPU of the device table give
 * microseconds, and what they are made of.
 *
 * Pure arithmetic over what the simulator counted by phase (from barrier to barrier) of every launch:
 *
 *     a phase of a lone block takes as long as the chain of dependent instructions of its busiest warp, and the work
 *         of its other warps on the phase's busiest unit; S is the sum over phases
 *     M is what a block asks of the unit that the whole launch asks most of; the L2 is one, shared by the SMs that ask
 *     r blocks on an SM take T(r) = S + (r - 1) M: one waits, the others' work comes on top
 *     blocks go out in rounds of as many as are resident; where they differ in length (causal, splits) one by one,
 *         what is begun once a block being the same for all; what few blocks begin the last one takes whole
 *     a launch takes at least its sectors over the L2's bandwidth and its compulsory bytes over the DRAM's; work and memory
 *         hide each other but for where they are alike (the cube root of their cubes' sum)
 *     each launch costs a constant, the run another
 *
 * Where warpgroups work beside each other (wgmma), a phase takes the cycles that the simulation's clocks gave it
 * (sim/exec/pace.h), or what its busiest unit is asked for: products, copies and softmax overlap there as the kernel lets them.
 *
 * After Zhang & Owens (HPCA 2011: counts times throughputs, the slowest part leads) with what that leaves out,
 * latency that too few warps hide. Latencies are those of chain.h; rates are published ones, see predict_gpu.c.
 * Eight factors, of a device and never of a kernel, absorb what is not modelled; all 1: none was fitted. predict_fit.h finds them. The form was chosen, once for all GPUs, on recordings of an H200, of which a third of the
 * kernels and a third of the shapes were left out and judged it: HACKING.md has the figures.
 *
 * What it does not know: spills; L1 hits; what one block of many does within a phase that all begin (splitkv_atomic's last one combines); that warps
 * of different roles (fused_warp_spec) run beside each other.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_PLAN_PREDICT_H
#define ATTNSCOPE_PLAN_PREDICT_H

#include <jansson.h>

#include "plan/plan.h"
#include "sim/chain.h"

/* Factors: latencies of arithmetic, shared memory, global memory; of a lone warp's issue; the work of shared memory
 * and of tensor cores; bytes through the L2; the cost of launches. */
#define PREDICT_FACTORS(X)                                                        \
    X(alu, "latency of arithmetic")                                               \
    X(shared, "latency of shared memory")                                         \
    X(global, "latency of global memory")                                         \
    X(issue, "cycles between instructions of a warp that do not need each other") \
    X(smem, "cycles of a wavefront of shared memory")                             \
    X(tensor, "cycles of a product on tensor cores")                              \
    X(l2, "time of a byte through the L2")                                        \
    X(launch, "time of a launch")
enum predict_factor {
#define X(name, what) PREDICT_FACTOR_##name,
    PREDICT_FACTORS(X)
#undef X
        PREDICT_FACTOR_COUNT
};
const char *predict_factor_name(enum predict_factor f);
const char *predict_factor_what(enum predict_factor f);
struct predict_factors {
    double v[PREDICT_FACTOR_COUNT];
};
extern const struct predict_factors predict_unfitted; /* all 1 */

/* What time goes to. First the units of an SM that a launch can fill, then what a lone warp waits for, in the order
 * of enum chain_part, then the rest. */
#define PREDICT_UNITS(X)                                                      \
    X(issue, "instructions issued")                                           \
    X(fma, "f32 arithmetic")                                                  \
    X(alu, "integer arithmetic and logic")                                    \
    X(half, "f16 arithmetic")                                                 \
    X(xu, "exp2 and conversions")                                             \
    X(smem, "wavefronts of shared memory")                                    \
    X(l1, "sectors of global memory through the L1")                          \
    X(tensor, "tensor cores")                                                 \
    X(l2, "bandwidth of the L2")                                              \
    X(wait_alu, "waiting for results of arithmetic")                          \
    X(wait_xu, "waiting for exp2 and conversions")                            \
    X(wait_shared, "waiting for shared memory")                               \
    X(wait_shuffle, "waiting for shuffles and votes")                         \
    X(wait_global, "waiting for global memory")                               \
    X(wait_tensor, "waiting for tensor cores")                                \
    X(wait_barrier, "waiting at barriers")                                    \
    X(wait_issue, "too few warps to issue from")                              \
    X(wait_group, "warpgroups that wait for copies, products and each other") \
    X(dram, "bandwidth of DRAM")                                              \
    X(tail, "SMs idle at the end")                                            \
    X(launch, "launches")
enum predict_unit {
#define X(name, what) PREDICT_##name,
    PREDICT_UNITS(X)
#undef X
        PREDICT_UNIT_COUNT,
    PREDICT_PIPES = PREDICT_wait_alu, /* the first so many are units of an SM */
};
const char *predict_unit_name(enum predict_unit u); /* "wait_shared" */
const char *predict_unit_what(enum predict_unit u);
/* What the unit of that name is in words; a name that is none is its own words. Borrowed. */
const char *predict_unit_words(const char *name);

/* What the model knows of a GPU. */
enum { PREDICT_CLUSTER = 16 }; /* the largest */
struct predict_gpu {
    int sms;
    int room
        [PREDICT_CLUSTER +
         1]; /* multiprocessors that clusters of so many blocks have at once, one block on each; 0 unknown: all */
    double clock_mhz;
    double per_clk
        [PREDICT_PIPES]; /* what an SM does of it in a cycle: warp instructions, wavefronts, sectors,
                                      products of 16x8x16 */
    double imul_slots;   /* of the FMA pipe, for an integer product */
    double l2_alone;     /* sectors that an SM gets from the L2 in a cycle while few ask */
    double wgmma_per_clk;    /* products of wgmma; mma.sync reaches per_clk[PREDICT_tensor] */
    double l2_gbs, dram_gbs; /* as measured, not peaks; NaN unknown: no bound */
    double launch_us, run_us;
    struct predict_factors factors;
};
/* ST_NO: it is no CUDA device, or the table lacks a figure. Factors are all 1. */
enum status predict_gpu(const struct device *d, struct predict_gpu *out, struct err *why);

/* A phase of a launch, over all its blocks. */
struct predict_phase {
    double times;                    /* that it was begun */
    double chain[CHAIN_PARTS_COUNT]; /* cycles of warps */
    double trips;                    /* to global memory, one after the other, of warps */
    double machine[SIM_PIPE_COUNT];  /* machine instructions of warps */
    double executed, longest; /* warp instructions of PTX, and those of each block's busiest warp */
    double wavefronts, sectors, products;
    double cycles; /* of blocks, by the clocks of their warps: sim/exec/pace.h; 0: the chains say */
};
struct predict_pass {
    const char *name; /* borrowed */
    int64_t blocks, resident, warps;
    int64_t cluster;        /* blocks that meet; 1: none. 0 is taken for 1 */
    bool resident_is_bound; /* registers are not known: at most so many */
    double compulsory_bytes;
    double *length;              /* of each block over the mean, [blocks]; owned; NULL: all alike */
    struct predict_phase *phase; /* owned */
    int phases;
};
/* A run: what was counted, and how it would be launched on the GPU of a plan. */
struct predict_run {
    struct predict_pass pass[DESC_PASSES_MAX];
    int passes;
};
/* From `passes` as the simulator's answer has them (name, blocks, phases) and a plan for the GPU. ST_NO with a
 * sentence where there is nothing to predict from: a plan that cannot run there, a grid of other blocks, no chains.
 * Whatever the status, predict_run_clear(). The plan is borrowed. */
enum status predict_run(const json_t *passes, const struct plan *p, struct predict_run *out,
                        struct err *why);
void predict_run_clear(struct predict_run *r);

enum { PREDICT_PHASES_MAX = 256 }; /* of a launch */

/* A piece of the time. */
struct predict_part {
    int pass, phase; /* -1: of no phase, or of no launch */
    enum predict_unit unit;
    double us;
};
struct predicted_time {
    double us;
    struct predict_part *part; /* they add up to us; longest first; owned */
    size_t parts;
    enum predict_unit binds; /* what most of it goes to, over all passes and phases */
    double binds_us;
    double waves; /* of the longest launch: blocks over those that all SMs hold at once */
    double
        wait_us; /* in which blocks wait for themselves: more warps, or shorter chains, would help */
};
void predict(const struct predict_run *r, const struct predict_gpu *g, struct predicted_time *out);
/* The time alone, for who asks often. */
double predict_us(const struct predict_run *r, const struct predict_gpu *g);
void predicted_time_clear(struct predicted_time *p);
/* An array of {pass, phase, unit, us}, phase and pass null where there is none. */
json_t *predicted_parts_json(const struct predicted_time *p, const struct predict_run *r);

#endif
