/* serve_code.h - kernels compiled, and what that tells.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_JOB_SERVE_CODE_H
#define ATTNSCOPE_JOB_SERVE_CODE_H

#include "job/launch.h"

/* JOB_COMPILE: what its extra is. The caller owns it. */
enum status launch_compile(struct launch *l, json_t **extra, struct err *err);

/* Forgets what it knows of compilers. */
void launch_forget_makers(struct launch *l);

#endif
