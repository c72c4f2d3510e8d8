/* sim_view.h - what the simulator counted of a kernel, and what it found, as a pane.
 *
 * Plain data in, a canvas out: nothing here knows the session or the worker. Its figures are SIM, but for the time that a
 * model makes of them, which says MODEL and for which GPU; they stand in no pane with others.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_SIM_VIEW_H
#define ATTNSCOPE_TUI_SIM_VIEW_H

#include "draw/canvas.h"
#include "measure/row.h"

struct sim_view {
    const struct run_row *row;     /* counts, check; NULL: none yet */
    const struct run_row *watched; /* the run in which hazards were looked for; NULL: in none */
    bool old;                      /* of older settings */
    const char *cannot;            /* why it cannot be simulated, or NULL */
    const char *activity;          /* what is being done, or waited for; NULL */
    const char *failure;           /* why the last one gave nothing, or NULL */
    const char *line_key;          /* the key that shows a hazard's line; NULL: there is no line */
    bool blank, roomy;             /* hide figures; a blank line between lines */
};

enum {
    SIM_VIEW_ROWS = 7
}; /* what it has to say at most on a line of 60 columns, without a hazard's sentence */

/* "PASS  no hazard": what matters most, for a title. Nothing where nothing is known. */
void sim_view_headline(const struct sim_view *v, struct str *out);
/* "  MODEL 46.5 us on L4, off by 26 %": for a line that has nothing before it; nothing where nothing is predicted. */
void sim_view_model(const struct sim_view *v, struct str *out);
/* "no hazard in 3 of 128 blocks", "2 hazards", "races not looked for"; "" unknown. */
void sim_view_hazards(const struct run_row *watched, struct str *out);
/* One line is a digest; from two on there are counts with their ideals. */
void sim_view_draw(struct canvas *c, struct rect r, const struct sim_view *v);

#endif
