/* serve_check.h - one checked run of a kernel.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_JOB_SERVE_CHECK_H
#define ATTNSCOPE_JOB_SERVE_CHECK_H

#include "job/launch.h"

/* Loads entry i, runs it once and sends its output. */
enum status launch_check(struct launch *l, int i, struct err *err);

#endif
