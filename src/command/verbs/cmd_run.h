/* cmd_run.h - what the measuring verbs share with run.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_CMD_RUN_H
#define ATTNSCOPE_COMMAND_CMD_RUN_H

#include "command/ask/measure.h"
#include "command/ask/request.h"

/* Makes the request, wants a kernel, finishes the call. */
enum status run_prepare(struct session *s, struct cmd_call *c, const char *output,
                        struct request *r, struct err *err);
/* Measures r, on every shape of the file `shapes` if there is one. */
enum status run_request(struct session *s, struct cmd_call *c, const struct request *r,
                        const struct measure_how *how, const char *shapes, struct measured *out,
                        struct err *err);
/* For a table that leaves the program: on what a row was measured, in words. */
void run_environment(struct str *out, const struct run_row *row);
/* Heading, rows, and for a file of shapes the geometric means of `ratio_field`. */
void run_print(struct session *s, struct cmd_call *c, const struct request *r, const char *shapes,
               const struct measured *m, const struct columns *cols, const char *ratio_field,
               const char *ratio_title);

#endif
