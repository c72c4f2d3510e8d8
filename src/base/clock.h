/* clock.h - time that only grows, and waiting by it: whatever is done to the wall clock, a wait is as long as it was meant.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BASE_CLOCK_H
#define ATTNSCOPE_BASE_CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Since some moment in the past, the same for all three. */
double seconds_now(void);
int64_t ms_now(void);
int64_t ns_now(void);

/* A condition whose waits of limited length go by this clock. */
void steady_cond_init(pthread_cond_t *c);
/* Waits for at most `seconds`, as pthread_cond_timedwait(). False: they are over. */
bool steady_cond_wait(pthread_cond_t *c, pthread_mutex_t *m, double seconds);

/* Waits until poll() has any of `events` of `fd`, whatever signals come; false at the deadline, in seconds_now(), which may
 * be INFINITY, or when it fails. */
bool fd_wait(int fd, short events, double deadline);

#endif
