/* compare_rec.h - recordings side by side.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_COMPARE_REC_H
#define ATTNSCOPE_COMMAND_COMPARE_REC_H

#include "command/session.h"

/* Does `compare` name recordings instead of kernels? */
bool names_recordings(struct session *s, const struct cmd_call *c);
enum status compare_recordings(struct session *s, struct cmd_call *c, struct err *err);
extern const struct columns pair_columns; /* of what it prints */

#endif
