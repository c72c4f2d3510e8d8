/* compare_counters.h - what kernels did, by the simulator, side by side: counts and their ratios to the baseline's.
 *
 * Counts say in what kernels differ. Which is faster they do not say; the time that the model makes of them, with bars of
 * what it goes to, says it where the times lie further apart than the model errs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_COMPARE_COUNTERS_H
#define ATTNSCOPE_TUI_COMPARE_COUNTERS_H

#include "tui/screens/compare_view.h"

/* The counters that can be chosen: fields of a run; NULL behind the last. */
const struct counter *compare_counter_at(int i);
/* The one of this field; -1: there is none. */
int compare_counter_index(const char *field);
/* Its value in a simulated run, NaN unknown. */
double compare_counter_value(const struct run_row *row, const struct counter *counter);

/* Asks which; `take` gets its place. */
struct session;
void compare_counter_choose(struct session *s, void (*take)(void *ctx, int counter), void *ctx);

/* A line for each entry that takes part; the chosen counter first, then what has room. */
void compare_draw_counters(struct canvas *c, struct rect r, const struct compare_view *v);
void compare_counters_title(const struct compare_view *v, struct str *out);

#endif
