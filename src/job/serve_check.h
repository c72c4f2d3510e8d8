/* serve_check.h - one checked run of a kernel.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_JOB_SERVE_CHECK_H
#define ATTNSCOPE_JOB_SERVE_CHECK_H

#include "job/launch.h"

/* Loads entry i, runs it once and sends its output. */
enum status launch_check(struct launch *l, int i, struct err *err);

/* Loads entry i alone. */
enum status launch_load(struct launch *l, int i, struct err *err);
/* After a run of entry i: ST_FAIL, with a sentence, if it has left a process behind, which is ended, or this process
 * otherwise than it was (base/procstate.h), which must end then. Where another can have done that, launch_goes_on() ends. The copy of
 * this process that a kernel made by fork() does not come back from here. */
enum status launch_look_behind(struct launch *l, int i, struct err *err);

/* Before the checked runs: each entry on another problem, of other contents and a neighbouring shape, and, where
 * that costs little, on its own shape of another seed,
 * whose verdict counts too. What does not support that shape is left out. A failure is the inputs'. */
enum status launch_try_others(struct launch *l, struct err *err);

/* Sends the output of run `run` of entry i's last sample to be judged, too, on the problem `p`; `what` names
 * it in sentences: "the last timed run". */
enum status launch_send_output(struct launch *l, int i, int run, const struct problem *p,
                               const char *what, struct err *err);

#endif
