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

/* Where points run. Two hosts that ssh finds at one place are one machine: what is timed on both would be in each
 * other's way. */
struct walk_machine {
    char *dest;  /* where ssh goes; NULL: this machine */
    char *names; /* of its hosts, "box" or "box, box2"; "here" */
};

struct sweep_walk {
    struct session *session; /* borrowed, as sweep */
    struct sweep *sweep;
    struct measure_how how;
    char *line;               /* what is kept of it while it is not finished; NULL: nothing is */
    struct store_begun begun; /* when the line was first given */
    double *flops;            /* of each point; NaN: it cannot be */
    struct walk_machine *machines;
    int nmachines;
    int *machine;    /* of each point that can be */
    int before;      /* points that were measured before an interruption */
    int done, total; /* points with all their rows; that can be measured */
    double spent_s, guessed_s;
    struct measured sum; /* counts and the first bad status of what was measured now; no rows */
};

/* `line` is the command that repeats the sweep. `fresh`: what was kept of an interrupted one is not taken. */
void sweep_walk_begin(struct sweep_walk *k, struct session *s, struct sweep *w,
                      const struct measure_how *how, const char *line, bool fresh);
/* Looks again at what is in the store, where others may have put rows meanwhile. */
void sweep_walk_renew(struct sweep_walk *k, const char *line);
/* Measures what is missing, one point after the other, until all is there, somebody cancels or something breaks. A point
 * that was cut short has no rows. Of several machines: lanes_walk(). */
void sweep_walk(struct sweep_walk *k);
/* Frees; a finished sweep is forgotten. */
void sweep_walk_end(struct sweep_walk *k);

/* About how long the points that are missing take, corrected by those that were measured, where machines work beside
 * each other; NaN: nothing is known yet. */
double sweep_walk_left_s(const struct sweep_walk *k);
/* Is it a point that can be measured, and is not yet? */
bool sweep_walk_lacks(const struct sweep_walk *k, int point);
/* Takes what came of a point, which took that long. */
void sweep_walk_take(struct sweep_walk *k, int point, const struct measured *m, double seconds);
/* Appends where on the axes a point is, " S=2k BR=32". */
void sweep_walk_place(const struct sweep_walk *k, int point, struct str *out);

#endif
