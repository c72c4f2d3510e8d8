/* charts.h - a stop as pictures: lanes of the last access at banks or sectors, shared memory cell by cell, what warps did last.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_DEBUG_CHARTS_H
#define ATTNSCOPE_COMMAND_DEBUG_CHARTS_H

#include "command/debug/words.h"
#include "draw/chart.h"

/* The caller owns each; NULL: the stop has nothing of the kind. */
struct chart *debug_lanes_chart(const struct debugger *d);
struct chart *debug_window_chart(const struct debugger *d);
struct chart *debug_trail_chart(const struct debugger *d);
/* Those that there are. */
void debug_charts(const struct debugger *d, struct charts *out);

/* What a word shows, as the view of `l` asks; pictures are `width` columns wide. */
void debug_picture(const struct debug_line *l, int width, struct str *out);

#endif
