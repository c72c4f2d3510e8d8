/* serve_share.h - a GPU that others use, too: turns among those who queue, and programs that know of no turns.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_JOB_SERVE_SHARE_H
#define ATTNSCOPE_JOB_SERVE_SHARE_H

#include "job/launch.h"

/* Waits until nobody else measures on the device; who watches is told of our place. False: the job was
 * cancelled meanwhile. At once where it is ours, or needs no lock. */
bool share_take(struct launch *l);
/* Between two kernels or rounds: if our turn is over and others wait, lets them. Returns the seconds that they had
 * the device, 0: our turn goes on, -1: the job was cancelled meanwhile. */
double share_give_way(struct launch *l);

/* Kernels of programs that do not queue, which share the device with ours by time slices. */
struct share_watch {
    double looked;   /* when, seconds_now() */
    double others_s; /* seconds of those looked at in which others' kernels ran */
    double known_s;  /* seconds that could be looked at; 0: whether others compute is not known */
    double waited_s; /* for them */
    char name[BACKEND_OTHERS_NAME]; /* the busiest of them, "" */
};
void share_watch_start(struct share_watch *w);
/* Looks at the time since the last look. True: kernels of others have run in it. `last`: nothing follows, so what the
 * driver is late to tell is waited for. */
bool share_is_met(struct launch *l, struct share_watch *w, bool last);
/* Waits until a look finds nobody's, for `limit_s` over all waits at most. False: somebody computes still. Also ends
 * when the job is to stop. */
bool share_wait_alone(struct launch *l, struct share_watch *w, double limit_s);

#endif
