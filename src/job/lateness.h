/* lateness.h - is another process's clock true? Its messages tell what time it is there; what passes between
 * two of them there must pass here, too, but for what a message came late. How long both sides waited for a
 * processor meanwhile, which is why honest messages are late on a busy machine, the kernel tells.
 *
 * Pure but for waited_for_core(). All times are seconds.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_JOB_LATENESS_H
#define ATTNSCOPE_JOB_LATENESS_H

#include <stdbool.h>
#include <sys/types.h>

enum { LATENESS_FRAMES = 3 };
struct lateness {
    double ours, theirs; /* at the first message */
    double passed;       /* by ours, from then to the last */
    double heard, told;  /* the last: when by ours, and what it said */
    double waited;       /* for a processor, at the last */
    double explained;    /* by waiting, of the last one's lateness */
    double late
        [LATENESS_FRAMES]; /* of the last messages: how much less passed by theirs that no waiting explains */
    int frames;
    bool unsure; /* we were not there to hear */
};

/* A message came at `ours` and says that it is `theirs` there. `waited` is for how long both have waited for a
 * processor so far; NaN: that is not known, and nothing is explained by it. */
void lateness_hear(struct lateness *l, double ours, double theirs, double waited);
/* Is the other clock untrue? One message may come late, but not all of the last ones. *told: what it said had passed. */
bool lateness_found(const struct lateness *l, double *told);

/* For how long the main thread of process `pid`, or for 0 the calling thread, was ready to run and no processor
 * was free, since it began: Linux's /proc/PID/schedstat. NaN where that is not told. */
double waited_for_core(pid_t pid);

#endif
