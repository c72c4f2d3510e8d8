/* costs.h - what each line of a kernel's source costs of a counter, as the simulator counted it: shared by `profile
 * by=line heat=` and the Source screen.
 *
 * What was inlined in a line is the line's. Passes are added up.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_COSTS_H
#define ATTNSCOPE_COMMAND_COSTS_H

#include "backend/counters.h"
#include "command/ask/measure.h"
#include "draw/chart.h"

/* Counters that lines have and that add up, in the order of the table; NULL behind the last. */
const struct counter *cost_counter_at(size_t i);
/* Of that name, of those; NULL: it is none. */
const struct counter *cost_counter(const char *field);
const char *cost_counter_name(const void *unused, size_t i); /* str_list_fn */

struct costs {
    double *line; /* by number from 1 on; [0]: of no line of the source */
    int lines;
    double total, most;
};
/* Of a profile as backend_ops.profile leaves it; all zero where it has no lines. costs_clear() frees. */
void costs_read(const json_t *profile, const struct kernel_desc *d, const struct counter *of,
                struct costs *out);
void costs_clear(struct costs *c);

/* The source with its costs as a picture, from the first to the last line that has any. The caller owns it; NULL: no
 * line has any. */
struct chart *costs_chart(const json_t *profile, const struct run_row *run,
                          const struct kernel_desc *d, const struct counter *of);

/* What a screen counts by itself: kernel k of the session's shape, blocks that stand for the others where they can, else
 * a small shape. */
enum status costs_start(struct session *s, const struct kernel *k, struct measuring **job,
                        struct err *err);

#endif
