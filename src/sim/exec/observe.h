/* observe.h - a run's eyes: a program in which the wanted instructions are OP_OBSERVED, and what they were seen to do.
 *
 * The block that is looked at is run by one thread, so nobody else writes here.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_EXEC_OBSERVE_H
#define ATTNSCOPE_SIM_EXEC_OBSERVE_H

#include "sim/code.h"
#include "sim/pattern.h"

struct observer;
struct sim_observe;
struct sim_seen;
struct sim_memory;
struct warp;

/* ST_USAGE: a block or warp that the launch does not have, or too many instructions. All borrowed until
 * observer_take(). */
enum status observer_new(const struct sim_program *p, const struct sim_memory *m,
                         const struct sim_launch *launch, const struct sim_observe *what,
                         struct observer **out, struct err *err);
/* What the threads run. */
const struct sim_program *observer_program(const struct observer *o);
/* What was seen, the caller's; frees the observer. */
void observer_take(struct observer *o, struct sim_seen **seen, size_t *n, bool *cut);

/* Sleeps, and then sees nothing; or awakes, having forgotten all that it saw. One that nobody puts to sleep is awake. */
void observer_wake(struct observer *o, bool awake);
/* What it saw last since it awoke; NULL: nothing. Its own. */
const struct sim_seen *observer_last(const struct observer *o);
void observer_drop(struct observer *o); /* with all that it saw; NULL is fine */

/* Around a code of an observed instruction; the operation that it really is. */
enum sim_op observe_begin(struct observer *o, struct warp *w, const struct code *c, uint32_t m);
void observe_end(struct observer *o, struct warp *w, const struct code *c, enum sim_op op,
                 uint32_t m);
/* The operation that a code really is: for bodies that ask which they are. Without an observer (NULL) it is what it says. */
enum sim_op observed_op(const struct observer *o, const struct code *c);
/* Its accesses, while the worker is `seeing`. */
void observe_shared(struct observer *o, const uint32_t addr[32], uint32_t m, uint32_t bytes,
                    enum pattern_kind kind, uint64_t wavefronts, uint64_t ideal);
void observe_global(struct observer *o, const uint64_t addr[32], uint32_t m, uint32_t bytes,
                    bool write, bool fetches, uint64_t sectors, uint64_t ideal);

#endif
