/* plan_row.h - the plan of a request's kernel as a row (plan/row.h).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_PLAN_ROW_H
#define ATTNSCOPE_COMMAND_PLAN_ROW_H

#include "command/ask/request.h"
#include "plan/row.h"

struct plan_how {
    bool lists; /* the row has passes, buffers and workspaces, too, and the plan its formulas */
    struct session *session;      /* with what is known here of its registers: plan_here() */
    const struct plan_regs *regs; /* else: known from a compilation; NULL: those of the table */
};
/* Fills a row that is all unknown with the plan of kernel i; why it cannot run there is its reason. `how`
 * (may be NULL) is {0} by default. `plan` (may be NULL) is left filled for the caller to clear, also
 * where this fails. ST_USAGE on broken expressions. */
enum status plan_row(const struct request *r, int i, const struct device *dev,
                     const struct plan_how *how, struct plan *plan, struct plan_row *row,
                     struct err *err);

#endif
