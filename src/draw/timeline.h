/* timeline.h - blocks over SMs: rows are SMs, x is time, a letter is what a block works on.
 *
 * A block begins with an edge, so that one can be told from the next of its letter. Where there are
 * more slots than lines, SMs that do the same share one, with the letters of all ("|A-H----"). Where
 * they do not, a line stands for several SMs; then a cell shows the block that has most of it, in
 * capitals where at least half of the slots are filled, small where fewer are.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_DRAW_TIMELINE_H
#define ATTNSCOPE_DRAW_TIMELINE_H

#include "draw/canvas.h"
#include "draw/chart.h"
#include "plan/schedule.h"

extern const char *const timeline_marks[]; /* what letters tell apart: "tile" ...; NULL ends */

enum { TIMELINE_LABEL = 11 }; /* columns left of the time */

/* Room for n blocks of so many passes. */
void block_spans(struct block_panel *p, int npasses, int n);
/* Fills the panel's blocks and figures from a schedule; `most` > 0: only the first rows, so that no
 * more blocks are on them. Kernel, device and words are the caller's. */
void block_take(struct block_panel *p, const struct schedule *s, int64_t most);

/* Rows on a line so that all fit into `lines`. */
int timeline_fit(const struct block_panel *p, int lines);
/* The mark that says most about these blocks: splits, else tiles or heads, whichever there are more of. It is the grid's: the same on
 * every GPU, in every picture. */
enum timeline_mark timeline_best_mark(const struct block_panel *p);
/* The blocks; the last line shows how many slots are filled at each moment. r.h >= 2. Returns the
 * lines that it took, fewer than r.h on a small device. */
int fig_timeline(struct canvas *c, struct rect r, const struct block_panel *p,
                 const struct timeline_view *v);
/* One line below: the times of the view, at TIMELINE_LABEL and right of it. `p`: a panel, whose model has blocks, or the
 * microseconds that were recorded or predicted of the whole; NULL: of stamps. */
void fig_time_axis(struct canvas *c, struct rect r, double begin_us, double end_us,
                   const struct block_panel *p);
/* "fa2  LIVE  NVIDIA H200": a heading of the picture. */
void timeline_heading(const struct block_panel *p, struct str *out);
/* "A..P: the 16 query tiles in order; + combine" */
void timeline_legend(const struct block_panel *p, enum timeline_mark mark, struct str *out);
/* "128 blocks, 116 slots, 1.10 waves, 42.1 us; SMs busy 88%, tail 45%, longest/mean block 1.9"; for the model
 * "ends at 2", in blocks, instead of a time, and the recorded one, where there is one */
void timeline_summary(const struct block_panel *p, struct str *out);
/* A panel may be one block, a row by itself, with a note that says which: its unit is this. */
#define TIMELINE_BLOCK "block"
bool timeline_one_block(const struct block_panel *p);

#endif
