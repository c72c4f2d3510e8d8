/* procstate.h - what code that runs in this process can change of it, so that whoever runs in it next is slower or
 * computes otherwise: the cores and the priority of its threads, timers whose signals interrupt it, limits, the
 * floating-point mode, what runtimes of threads read from the environment.
 *
 * Taken before somebody's code runs and compared afterwards, outside the timed window: about 20 us. A handler
 * where none was, and threads that sleep, slow nobody: runtimes of languages bring both. Not all can be put back, a
 * priority not without root, so who has found a change ends the process and starts another.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BASE_PROCSTATE_H
#define ATTNSCOPE_BASE_PROCSTATE_H

struct procstate;

/* How the calling thread rounds, and whether it takes tiny numbers for 0; a few ns. */
unsigned procstate_float_mode(void);

/* As it is now, for the calling thread and the process. The caller frees it. */
struct procstate *procstate_take(void);
/* From now on the other threads that there are belong to it, each as it is now. */
void procstate_add_threads(struct procstate *s);
/* The first difference as what somebody did: "it bound a thread to 1 of 2 cores". The caller frees it; NULL: there is
 * none. Only the thread that has taken it may ask. */
char *procstate_change(const struct procstate *s);
/* Puts back what can be, so that this process lives to tell: cores, priorities, timers, signals, limits, the
 * floating-point mode. */
void procstate_restore(const struct procstate *s);
void procstate_free(struct procstate *s);

#endif
