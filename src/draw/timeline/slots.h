/* slots.h - which slots of a device share a line of a timeline.
 *
 * Where there are more slots than lines, SMs that do the same, block for block, share one: a line for
 * a hundred of them says more than a hundred lines. Where they do not, a line stands for so many SMs
 * in order.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_DRAW_TIMELINE_SLOTS_H
#define ATTNSCOPE_DRAW_TIMELINE_SLOTS_H

#include "draw/chart.h"

/* Neighbouring rows and, of each, neighbouring slots. */
struct slot_line {
    int row, rows, lane, lanes;
    bool alike; /* all of its slots begin and end their blocks in the same columns */
};
struct slot_lines {
    struct slot_line *v;
    int n;
    int from, rows, lanes; /* of the panel; rows from the first one shown */
    int *of;               /* the line of each slot, row by row; -1: none */
};

/* Time as columns: `columns` of them from begin_us on. */
struct slot_scale {
    double begin_us, column_us;
    int columns;
};
/* The column that a moment falls into, at least 0 and at most `columns`. */
int slot_column(const struct slot_scale *s, double us);

/* Lines for the panel's rows from `from` on. Slots that do the same in these columns share a line; false, and nothing to clear, where that takes
 * more than `most` lines. */
bool slots_alike(struct slot_lines *out, const struct block_panel *p, int from,
                 const struct slot_scale *s, int most);
/* `per` rows on each line, or each slot on its own where all of them fit; `most` lines at most. */
void slots_even(struct slot_lines *out, const struct block_panel *p, int from, int per, int most);
/* Rows whose slots do the same share a line, each with all of its slots. */
void slots_rows(struct slot_lines *out, const struct block_panel *p, const struct slot_scale *s);
void slots_clear(struct slot_lines *l);

/* The line of a block; -1: not shown. */
int slots_line(const struct slot_lines *l, const struct block_span *b);
/* Is it the first line of its rows, which has their name? */
bool slots_leads(const struct slot_lines *l, int line);

#endif
