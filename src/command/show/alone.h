/* alone.h - a kernel as one file for plain nvcc.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_SHOW_ALONE_H
#define ATTNSCOPE_COMMAND_SHOW_ALONE_H

#include "base/str.h"
#include "command/session.h"

/* Appends the CUDA source of k with everything that the compiler is otherwise given: the definitions of the
 * session's shape and parameters, the shared headers in place of their #include lines, and before it a
 * comment with nvcc's command and each launch. ST_NO when there is no CUDA source, or no plan. */
enum status source_alone(struct session *s, const struct kernel *k, struct str *out,
                         struct err *err);

#endif
