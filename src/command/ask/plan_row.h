/* plan_row.h - a kernel's plan as a row.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_PLAN_ROW_H
#define ATTNSCOPE_COMMAND_PLAN_ROW_H

#include "command/ask/request.h"

/* The plan of kernel i of a request, as an object with kernel, gpu, shape, params, reason added.
 * `plan` (may be NULL) is left filled for the caller to clear. ST_USAGE on broken expressions. */
enum status plan_row(const struct request *r, int i, const struct device *dev, struct plan *plan,
                     json_t **row, struct err *err);
/* The same with registers known from a compilation; NULL: those of the table. */
enum status plan_row_with(const struct request *r, int i, const struct device *dev,
                          const struct plan_regs *regs, struct plan *plan, json_t **row,
                          struct err *err);

#endif
