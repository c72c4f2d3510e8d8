/* serve_extra.h - stamps of blocks, and hardware counters.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_JOB_SERVE_EXTRA_H
#define ATTNSCOPE_JOB_SERVE_EXTRA_H

#include "job/launch.h"

/* JOB_TRACE, JOB_PROFILE: entry i, which has been checked, into l->traces. What there is of a profile
 * when counting fails is kept, too: the plan. */
enum status launch_trace(struct launch *l, int i, struct err *err);
enum status launch_profile(struct launch *l, int i, struct err *err);

/* JOB_LOOK: entry i, which nobody has run, into l->traces. */
enum status launch_look(struct launch *l, int i, struct err *err);

/* JOB_DEBUG: holds a block of entry i and answers asks until nobody asks any more. */
enum status launch_debug(struct launch *l, int i, struct err *err);

#endif
