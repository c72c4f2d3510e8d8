/* gpu_lock.h - one measurement at a time on a GPU, among all users of the machine.
 *
 * Beside a busy neighbour a kernel takes twice as long, so measurements queue: each holds an flock
 * on a file that is named after the GPU. The file is empty and nobody needs to write to it, so it
 * gives nothing away and takes nothing in; the system lets go of the lock when its holder ends,
 * however it does. Who else waits cannot be known, only how many and in which order. (In /tmp, because a
 * folder of one user's is closed to the others. $ATTNSCOPE_GPU_LOCK names another folder, or "off".)
 *
 * A measurement may be long, so it is asked between two kernels or rounds whether its turn is over: after
 * $ATTNSCOPE_GPU_TURN seconds, else 10, it steps back while others wait, and goes on when it is first again.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_JOB_GPU_LOCK_H
#define ATTNSCOPE_JOB_GPU_LOCK_H

#include <stdbool.h>

#include "base/status.h"

struct gpu_lock;

/* Opens the lock of the GPU called `name`, "0000:01:00.0", without taking it; of several with commas between them
 * all, which are taken one after another in that order. Everybody names them in one order, so that nobody has what
 * another one waits for who has what he waits for. ST_OK with *out NULL when locks are off; ST_FAIL when a file cannot
 * be had: then there is no queue. */
enum status gpu_lock_open(const char *name, struct gpu_lock **out, struct err *err);
void gpu_lock_free(struct gpu_lock *l); /* lets go of it */

/* Where a waiter stands. */
struct gpu_place {
    int ahead;  /* others that wait and come first; -1: unknown */
    int others; /* all others that wait; -1: unknown */
    double
        wait_s; /* until it is our turn, going by the turns that have passed meanwhile, before the first by how
                       long one may be; NaN: a turn takes longer than it may, so nobody knows */
};

/* Takes it, first come first served; of several the first, then the next. Every half second of waiting calls `waiting`; false from there gives
 * up. True when it is held. For NULL at once. */
bool gpu_lock_take(struct gpu_lock *l, bool (*waiting)(void *ctx, const struct gpu_place *p),
                   void *ctx);
void gpu_lock_release(struct gpu_lock *l);
/* Seconds since it was taken; 0: it is not held; infinite for NULL. */
double gpu_lock_held_s(const struct gpu_lock *l);
/* Has it been held for a whole turn, and somebody waits? */
bool gpu_lock_is_due(const struct gpu_lock *l);
/* Lets go of it and comes back when who was first has it, so that taking it again means waiting. */
void gpu_lock_pass(struct gpu_lock *l);

/* For doctor: the i-th lock file that exists; false behind the last. `name` of the GPU; is it held,
 * and how many wait (-1: unknown)? Takes nothing. */
struct gpu_lock_state {
    char name[64];
    bool held;
    int waiting;
};
bool gpu_lock_look(int i, struct gpu_lock_state *out);

#endif
