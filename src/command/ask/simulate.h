/* simulate.h - where no GPU runs CUDA kernels, the simulator says what they do: one rule for verbs, screens and
 * lessons.
 *
 * It speaks for a request that names no backend, on a machine without a usable GPU, of every kernel with a CUDA
 * source, peers aside. Where the kernel has a C version, that is timed live as ever and the simulated row stands
 * BESIDE its row, takes no $N, and is ranked with nobody; a kernel with CUDA alone has the simulated row ALONE, in its
 * place among the others. Times come first: nothing is simulated while something is timed.
 *
 * Nobody asked for it by name, so it must not make anybody wait: hazards and the check come from a small shape
 * (simulate_shrink()), whose counts say what the shape that was asked for would take. Where that is little the whole
 * grid is run, else blocks that stand for the others; where neither ends soon, the row is that of the small shape, and
 * says so. What the check or a hazard fails on the small shape is the row, too.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_SIMULATE_H
#define ATTNSCOPE_COMMAND_SIMULATE_H

#include "command/ask/measure.h"

enum simulated { SIMULATED_NOT, SIMULATED_BESIDE, SIMULATED_ALONE };
/* Does the simulator speak for kernel i of r, and where does its row stand? */
enum simulated simulated(const struct request *r, int i);
/* The rule's two halves, for who has no request: where these options are set, and of this kernel, whatever its shape. */
bool simulator_stands_in(const struct options *o);
bool simulator_takes(const struct kernel *k);
/* For all kernels: is there one for which it does? */
bool simulated_any(const struct request *r);
/* Is it a row of the simulator? */
bool row_is_simulated(const struct run_row *row);

/* A small, ragged problem of the same kind that the first kernel takes: tiles that are not full, two heads. Parameters
 * that follow the shape follow it. False: there is none, and r is as it was. */
bool simulate_shrink(struct request *r);
/* The same unless the call says how large it is to be. A D that it names stays, so that a kernel which does not take it
 * is refused with its reason, and is not run with another. */
void simulate_size(const struct cmd_call *c, struct request *r);

/* A few blocks of kernel i of r, taken for all, without a look for hazards: counts and a predicted time. Waits for them,
 * `within_s` seconds at most, and keeps them nowhere. False: the simulator does not run it; else `row`, to be cleared, has
 * figures or its reason. */
bool simulate_few(struct session *s, const struct request *r, int i, double within_s,
                  struct run_row *row);
/* The same of these blocks. */
bool simulate_blocks(struct session *s, const struct request *r, int i, enum sim_blocks blocks,
                     double within_s, struct run_row *row);

/* Kernel i of r, in one or two measurements, for who has a loop of its own:
 *
 *     x = simulating_new(s, r, i, how);
 *     do wait for simulating_job(x); while (simulating_next(x));
 *     simulating_end(x, &row);
 *
 * `r` and what it names are copied; `how` is that of the live run. NULL: the simulator does not speak for it. */
struct simulating;
struct simulating *simulating_new(struct session *s, const struct request *r, int i,
                                  const struct measure_how *how);
/* The measurement under way, borrowed until simulating_next(); never NULL before that was false. */
struct measuring *simulating_job(const struct simulating *x);
/* It has ended: is there another? */
bool simulating_next(struct simulating *x);
/* Gives the row, with its reason where there are no figures, keeps it in the store and in a recording under way as
 * measure_finish() does, and frees. What still runs is cancelled. `row` is set without being cleared. The status is
 * ST_CANCELLED or ST_OK. */
enum status simulating_end(struct simulating *x, struct run_row *row);
void simulating_drop(struct simulating *x); /* cancels and forgets; NULL is allowed */

/* All kernels of r for which it speaks, after measure(): rows of those with CUDA alone replace their reasons in
 * m->rows (from row `first` on, of nkernels), the others are added to m->beside. Counts what ran and what failed. */
void simulate(struct session *s, const struct request *r, const struct measure_how *how,
              size_t first, struct measured *m);

#endif
