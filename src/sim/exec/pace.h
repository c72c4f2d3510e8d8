/* pace.h - when the warps of a block do what they do, where warpgroups work beside each other (wgmma): each warp has a clock,
 * in cycles of a multiprocessor of CC 9.0 that has no other block.
 *
 * The simulator runs warps one after another; what they wait for takes their clocks along: the end of a phase of an mbarrier is
 * the latest of its arrivals and bytes, who waits for it goes on from there. What a quarter of the multiprocessor can do once at a
 * time (tensor cores, issue and exp2) is given out by a calendar: a later one in the simulation fills what others have left free.
 * So a copy, a product and a softmax run beside each other as far as the kernel lets them, and what is left of a block's cycles
 * is what it waits.
 *
 * Cycles: wgmma m64nNk16 n/2 for 16-bit operands (4096 FLOP a cycle), more where its operands come from shared memory faster
 * than at 128 bytes; instructions one a quarter and cycle, f32 alike, integers two, exp2 and conversions eight. Latencies:
 * flight.h's engine 650 and its bytes at the share that an SM has of the L2; see pace.c. Nothing was fitted.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_EXEC_PACE_H
#define ATTNSCOPE_SIM_EXEC_PACE_H

#include "sim/exec/worker.h"

struct pace;

/* NULL where the program has no wgmma, or where nothing is counted. */
struct pace *pace_new(const struct sim_program *p, const struct block *b);
void pace_free(struct pace *p); /* NULL is fine, here and below */
void pace_begin(struct block *b);
/* A warp's turn begins: what was executed until now was others', or is no work of warps. */
void pace_turn(struct warp *w);
void pace_turn_ends(struct warp *w);

/* Each of these is told before its act. */
void pace_product(struct warp *w, struct wgmma_flight *f, const struct code_wgmma *x);
void pace_products_done(struct warp *w, const struct wgmma_flight *last);
/* A copy is asked for: when its bytes will be there. */
double pace_copy(struct warp *w, uint32_t where, uint32_t bytes);
void pace_landed(struct block *b, uint32_t barrier, double at);
void pace_arrive(struct warp *w, uint32_t barrier);
void pace_phase_ends(struct block *b, uint32_t barrier);
void pace_ask(struct warp *w, uint32_t barrier, uint32_t parity, bool yes);
/* bar.sync and bar.arrive; `key` tells barriers of the block, or of the cluster, apart. */
enum { PACE_MEETING = 16 * SIM_CLUSTER_MAX };
void pace_meet(struct warp *w, uint32_t key);
void pace_open(struct block *b, uint32_t key);
void pace_leave(struct warp *w, uint32_t key);

/* Cycles of the block so far: the latest of its warps' clocks, what they have done until now included. */
double pace_cycles(const struct block *b);

#endif
