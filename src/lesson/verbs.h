/* verbs.h - the verbs of this folder's rooms.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_LESSON_VERBS_H
#define ATTNSCOPE_LESSON_VERBS_H

#include "command/command.h"

extern const struct cmd_entry cmd_audit, cmd_notes, cmd_trace;

#endif
