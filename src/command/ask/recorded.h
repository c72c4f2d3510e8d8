/* recorded.h - which rows of a recording are asked for, and how they are shown.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_RECORDED_H
#define ATTNSCOPE_COMMAND_RECORDED_H

#include "command/session.h"

/* Adds the rows that fit the call's words behind the first (kernels, parts of a shape) and its pairs
 * (shape keys with lists and ranges, l2, backend, parameters): all where there are none. ST_NO when no
 * row fits. */
enum status recorded_rows(struct cmd_call *c, const struct recording *rec, struct rowset *rows,
                          struct err *err);

extern const struct columns recorded_columns;

#endif
