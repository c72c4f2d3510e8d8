/* serve_time.h - samples of every kernel, and the rows that come of them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_JOB_SERVE_TIME_H
#define ATTNSCOPE_JOB_SERVE_TIME_H

#include "job/launch.h"

/* Warms up and samples every entry that can run, and fills the rows. */
void launch_take_times(struct launch *l);

#endif
