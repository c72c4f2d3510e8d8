/* cmd_run.h - what the measuring verbs share with run.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_CMD_RUN_H
#define ATTNSCOPE_COMMAND_CMD_RUN_H

#include "command/ask/measure.h"
#include "command/ask/request.h"

/* Makes the request, wants a kernel, finishes the call. `timed`: of one shape, for its times; then "auto" is settled by timing
 * where that is needed. */
enum status run_prepare(struct session *s, struct cmd_call *c, const char *output, bool timed,
                        struct request *r, struct err *err);
/* Measures r, on every shape of the file `shapes` if there is one; then its simulated rows are there, too. */
enum status run_request(struct session *s, struct cmd_call *c, const struct request *r,
                        const struct measure_how *how, const char *shapes, struct measured *out,
                        struct err *err);
/* For a table that leaves the program: on what a row was measured, in words. */
void run_environment(struct str *out, const struct run_row *row);

/* How a verb shows what was measured. */
struct run_look {
    const struct columns *cols; /* of rows with times, or of checks */
    const char *ratio_field;    /* with a file of shapes, its geometric means; NULL: none */
    const char *ratio_title;
    void (*order)(struct run_rows *rows); /* of the table; NULL: as asked */
    /* Sentences below the table in a text; NULL: none. */
    void (*below)(const struct session *s, const struct run_rows *rows, struct str *out);
};
/* Shows the rows and remembers them. Where the simulator speaks for kernels (ask/simulate.h), live rows are handed out
 * first, as soon as they are there; then it is asked, its rows are added to m and stand in a table of their own. */
void run_show(struct session *s, struct cmd_call *c, const struct request *r,
              const struct measure_how *how, const char *shapes, const struct run_look *look,
              struct measured *m);

#endif
