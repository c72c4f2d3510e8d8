/* looked.h - a line of a kernel looked at while it runs, as rows and as a picture: lanes at the banks, sectors of loads, numbers
 * of many lanes becoming one. Verbs and screens share it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_LOOKED_H
#define ATTNSCOPE_COMMAND_LOOKED_H

#include "backend/look.h"
#include "command/ask/measure.h"
#include "draw/chart.h"
#include "export/rows.h"

/* What the simulator saw; looked_clear() frees. */
struct looked {
    enum look_view view;
    json_t *seen; /* as backend_ops.look leaves it; from a worker: nothing of it is sure */
    const struct kernel_desc *d; /* has the source, whose lines are shown */
    char *kernel, *shape, *params, *device, *ptx;
};

/* Runs the request's first kernel on the simulator and waits; the request's backend does not matter. ST_USAGE with the
 * worker's sentence: there is no such line. `out` must be cleared whatever the status. */
enum status looked_ask(struct session *s, const struct request *r, const struct look_at *l,
                       struct looked *out, struct err *err);
void looked_clear(struct looked *l);

/* Two or three lines: kernel and shape; the source line; what was executed and what it cost. */
void looked_heading(const struct looked *l, struct str *out);
/* Rows of the view, `most` at most (0: all): a lane, a load or a step each. */
void looked_rows(const struct looked *l, int64_t most, struct rowset *rows);
/* The caller owns it; NULL: nothing to draw. */
struct chart *looked_chart(const struct looked *l);

/* By enum look_view. */
const struct columns *looked_columns(enum look_view v);
extern const struct columns trace_banks_columns, trace_access_columns, trace_reduce_columns;

#endif
