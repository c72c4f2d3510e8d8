/* tune_measure.h - tune ... measure: which parameters are fastest here, timed.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_TUNE_MEASURE_H
#define ATTNSCOPE_COMMAND_TUNE_MEASURE_H

#include "command/command.h"

/* Has the call the word "measure"? */
bool tune_measures(const struct cmd_call *c);
/* Times the combinations and keeps the best for "auto". */
enum status tune_measure(struct session *s, struct cmd_call *c, struct err *err);

#endif
