/* sweep_cell.h - the pane of the Sweep screen about one point: its value, what the plan says of it, and why.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_SWEEP_CELL_H
#define ATTNSCOPE_TUI_SWEEP_CELL_H

#include "command/ask/sweep.h"
#include "tui/screens/subject.h"

/* All borrowed. */
struct sweep_cell {
    const struct sweep *sweep;
    const struct subject *about; /* of the point: its plan */
    const int *at;               /* the point, along each axis */
    int kernel;                  /* of the sweep's request */
    bool hidden;                 /* measured values are not shown */
};

void sweep_cell_draw(const struct sweep_cell *x, struct canvas *c, struct rect r);
/* "fa2 BR=32 S=512  MODEL H100-SXM" */
void sweep_cell_title(const struct sweep_cell *x, struct str *s);

#endif
