/* timeline.h - blocks over SMs: rows are SMs, x is time, a letter is what a block works on.
 *
 * Where there are more SMs than lines, a line stands for several; then a cell shows the block that
 * has most of it, in capitals where at least half of the slots are filled, small where fewer are.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_DRAW_TIMELINE_H
#define ATTNSCOPE_DRAW_TIMELINE_H

#include "draw/canvas.h"
#include "plan/schedule.h"

/* What letters tell apart. */
enum timeline_mark { MARK_TILE, MARK_HEAD, MARK_SPLIT, MARK_WAVE, MARK_COUNT };
extern const char *const timeline_marks[]; /* "tile" ...; NULL ends */

struct timeline_view {
    double begin_us, end_us; /* what the width shows */
    int row;                 /* first row shown */
    int per_line;            /* rows on a line; 0: all rows fit */
    enum timeline_mark mark;
};

enum { TIMELINE_LABEL = 11 }; /* columns left of the time */

/* Rows on a line so that all fit into `lines`. */
int timeline_fit(const struct schedule *s, int lines);
/* The mark that says most about these blocks: splits, else tiles, else heads. */
enum timeline_mark timeline_best_mark(const struct schedule *s);
/* The blocks; the last line shows how many slots are filled at each moment. r.h >= 2. Returns the
 * lines that it took, fewer than r.h on a small device. */
int fig_timeline(struct canvas *c, struct rect r, const struct schedule *s,
                 const struct timeline_view *v);
/* One line below: the times of the view, at TIMELINE_LABEL and right of it. */
void fig_time_axis(struct canvas *c, struct rect r, double begin_us, double end_us);
/* "A..P: the 16 query tiles in order; + combine" */
void timeline_legend(const struct schedule *s, enum timeline_mark mark, struct str *out);
/* "128 blocks, 116 slots, 1.10 waves, 42.1 us; SMs busy 88%, tail 45%, longest/mean block 1.9" */
void timeline_summary(const struct schedule *s, struct str *out);

#endif
