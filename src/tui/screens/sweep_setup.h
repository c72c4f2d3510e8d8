/* sweep_setup.h - what is swept, as rows of text that arrows step and Enter types: one axis or two, their
 * values, the metric. The kernels are those that are marked, or what Explore shows.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_SWEEP_SETUP_H
#define ATTNSCOPE_TUI_SWEEP_SETUP_H

#include "command/ask/sweep.h"
#include "tui/app/app.h"

enum { ROW_AXIS1, ROW_VALUES1, ROW_AXIS2, ROW_VALUES2, ROW_METRIC, SETUP_ROWS };

struct sweep_setup {
    struct app *app;
    char axis[SWEEP_AXES][32], values[SWEEP_AXES][96]; /* axis[1] "": none */
    char metric[40];
};

/* Where a newcomer begins, with the kernels as they are now. */
void sweep_setup_default(struct sweep_setup *x);
/* "fa2,naive". */
void sweep_setup_names(const struct sweep_setup *x, struct str *out);
/* One step (-1, 1) on row `row`; true if something changed. */
bool sweep_setup_step(struct sweep_setup *x, int row, int dir);
/* Takes typed text for a row; a message when it is no value for it. */
void sweep_setup_type(struct sweep_setup *x, int row, const char *text);
/* Axes and metric as a call of sweep has them; what it has not stays, but the axes go together. */
void sweep_setup_take(struct sweep_setup *x, const struct cmd_call *c);
/* Label and value of a row. */
const char *sweep_setup_row(const struct sweep_setup *x, int row, const char **value);
/* The sweep that it describes; to be cleared whatever the status. */
enum status sweep_setup_make(const struct sweep_setup *x, struct sweep *out, struct err *err);

/* The command of the sweep that was made of it, with what differs from the defaults. */
void sweep_setup_command(const struct sweep_setup *x, const struct sweep *w, struct str *out);

#endif
