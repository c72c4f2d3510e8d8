/* sweep_walk.h - a measured sweep, point after point: which is under way, how long the rest takes, and what an
 * interrupted one had already.
 *
 * The store keeps every finished row as ever, and besides the line of a sweep that was begun until all of
 * its points are there. Given again, on the same machine and for the same code, the line goes on: after
 * Ctrl-C as after SIGKILL.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_SWEEP_WALK_H
#define ATTNSCOPE_COMMAND_SWEEP_WALK_H

#include "command/ask/measure.h"
#include "command/ask/sweep.h"
#include "store/store.h"

struct sweep_walk {
    struct session *session; /* borrowed, as sweep */
    struct sweep *sweep;
    struct measure_how how;
    char *line;               /* what is kept of it while it is not finished; NULL: nothing is */
    struct store_begun begun; /* when the line was first given */
    double *flops;            /* of each point; NaN: it cannot be */
    int before;               /* points that were measured before an interruption */
    int done, total;          /* points with all their rows; that can be measured */
    double spent_s, guessed_s;
    struct measured sum; /* counts and the first bad status of what was measured now; no rows */
};

/* `line` is the command that repeats the sweep. `fresh`: what was kept of an interrupted one is not taken. */
void sweep_walk_begin(struct sweep_walk *k, struct session *s, struct sweep *w,
                      const struct measure_how *how, const char *line, bool fresh);
/* Looks again at what is in the store, where others may have put rows meanwhile. */
void sweep_walk_renew(struct sweep_walk *k, const char *line);
/* Measures what is missing, until all is there, somebody cancels or something breaks. A point that was cut
 * short has no rows. */
void sweep_walk(struct sweep_walk *k);
/* Frees; a finished sweep is forgotten. */
void sweep_walk_end(struct sweep_walk *k);

/* About how long the points that are missing take, corrected by those that were measured; NaN: nothing is
 * known yet. */
double sweep_walk_left_s(const struct sweep_walk *k);

#endif
