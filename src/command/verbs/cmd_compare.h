/* cmd_compare.h - a comparison, for other verbs that make one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_CMD_COMPARE_H
#define ATTNSCOPE_COMMAND_CMD_COMPARE_H

#include "command/ask/measure.h"
#include "command/ask/request.h"
#include "command/verbs/cmd_run.h"

/* How rows with ratios are shown: passing ones by time, with a sentence of verdict for each. */
extern const struct run_look compare_look;
/* Measures the request's kernels in turn, prints rows and verdicts. */
enum status compare_request(struct session *s, struct cmd_call *c, struct request *r,
                            const struct measure_how *how, const char *shapes, struct err *err);

#endif
