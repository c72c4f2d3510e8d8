/* statics.h - what ptxas makes of PTX, in numbers: machine instructions by pipe.
 *
 * PTX is not what runs: ptxas fuses additions into multiplications and addresses, drops moves, and
 * makes many instructions of a division. One table says for each kind of PTX instruction how many
 * machine instructions it stands for on average, by pipe. Memory, tensor, barrier and shuffle
 * instructions are one to one or a known multiple; arithmetic is an estimate.
 *
 * The estimates were fitted (least squares of shares, held to what the instructions can be: no FFMA
 * for an integer addition) to the machine code of ptxas 13.0 for sm_80 and sm_90 from two thirds of
 * the ladder's kernels, f16 and f32, D 64; there the total of a kernel is off by 11 and 13 % (median), for the
 * other third by 9 and 7 %, each pipe by at most 6 % of the total. Static totals of kernels whose
 * loops ptxas unrolls (naive, row_full) are up to 40 % low: text that runs as often as before.
 *
 * Of what runs: against an H200's count of 108 launches (tests/sim/counters.tsv) 89 totals are within 15 %, with loads and
 * stores that ptxas joins counted once. Far off are loops that spin (float atomics, mbarriers), and loads of bf16 that it joins:
 * taking them apart again costs instructions that nobody counts here.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_STATICS_H
#define ATTNSCOPE_SIM_STATICS_H

#include "sim/ptx.h"
#include "sim/sim.h"

struct statics {
    double pipe[SIM_PIPE_COUNT]; /* machine instructions, by enum sim_pipe */
    double total;
};

/* Adds what `times` executions of the instruction stand for. With counts of executions instead of
 * ones, a run's machine instructions are estimated. */
void statics_add(const struct ptx_opcode *op, double times, struct statics *s);

/* The program text of a function, each instruction once, and what every kernel has besides. */
struct statics statics_count(const struct ptx_function *f);

/* What the instruction is taken for: "ex2 of f32, denormals kept". */
const char *statics_kind(const struct ptx_opcode *op);

#endif
