/* kernel_add.h - an engineer's own code, taken in where it lies.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_KERNEL_ADD_H
#define ATTNSCOPE_COMMAND_KERNEL_ADD_H

#include "command/session.h"

enum status kernel_add(struct session *s, struct cmd_call *c, struct err *err);
/* The path of NAME.ending in the user's folder of kernels; NULL: there is none. The caller frees it. */
char *kernel_file(const char *name, const char *ending, struct err *err);
/* ST_FAIL: "cannot link PATH: " and errno's reason. */
enum status kernel_cannot(const char *what, const char *path, struct err *err);
/* The user's kernels as rows; `only`: this one alone, or NULL. */
enum status kernel_print_own(struct session *s, struct cmd_call *c, const struct kernel *only);

#endif
