/* automatic.h - which kernel "auto" is: the one that `tune ... measure` found fastest here for shapes like this.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_AUTOMATIC_H
#define ATTNSCOPE_COMMAND_AUTOMATIC_H

#include "command/session.h"

/* Where a run with these options is: "H200", or the processor and how many of its threads. The caller frees. */
char *automatic_device(struct session *s, const struct options *o);
/* Who runs it; NULL: this build has no such backend. */
const struct backend_info *automatic_runner(const struct options *o);
/* The kernel and, in *own, its parameters, "BR=32@BC=64", which the caller frees; NULL: the defaults. ST_USAGE with what to
 * type where nothing was tuned for such a shape, or the kernels have changed since. */
enum status automatic_pick(struct session *s, const struct problem *p, const struct options *o,
                           const struct kernel **k, char **own, struct err *err);

#endif
