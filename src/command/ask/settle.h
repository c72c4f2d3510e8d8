/* settle.h - what "auto" is where expected times lie too near each other: the few that may be fastest are timed, and kept for
 * this shape.
 *
 * `run` and `compare` do it before they take "auto", on a GPU: they are about to measure there anyway. Where one kernel is
 * expected to be faster beyond doubt, where the user has tuned the class, or this shape was timed before, nothing is timed.
 * Plans and screens never do it: they show what is expected.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_SETTLE_H
#define ATTNSCOPE_COMMAND_SETTLE_H

#include "command/ask/request.h"

/* For the problem and options of a request that has "auto" among its kernels. What was timed is told and kept, and
 * automatic_pick() finds it. ST_CANCELLED is all that stops the verb: without times what is expected has to do. */
enum status automatic_settle(struct session *s, const struct request *r, struct err *err);

#endif
