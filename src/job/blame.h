/* blame.h - how often processes have failed lately, counted for the kernel that was at it.
 *
 * A kernel that has taken FAULTS_MAX processes down within a minute is not run again until the minute is over;
 * others are. What was nobody's fault, such as a worker that does not start, is counted by itself, and stops
 * all.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_JOB_BLAME_H
#define ATTNSCOPE_JOB_BLAME_H

#include <stddef.h>

enum { FAULTS_MAX = 5 };

/* All zero: nothing has happened. Ends with blame_clear(). */
struct blame {
    struct offender *items;
    size_t count, cap;
};

/* A process failed at `now`, in seconds, and it was `kernel`; NULL: nobody. */
void blame_add(struct blame *b, const char *kernel, double now);
/* Seconds from `now` until `kernel` may run again (NULL: until a process may be started at all); 0: at once. */
double blame_wait(const struct blame *b, const char *kernel, double now);
void blame_clear(struct blame *b);

#endif
