/* verbs.h - the verbs of this folder, and what they share.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_LESSON_VERBS_H
#define ATTNSCOPE_LESSON_VERBS_H

#include "command/session.h"

extern const struct cmd_entry cmd_trace, cmd_notes;

/* The results file with the tables of progress.h; NULL when it cannot be opened. */
struct sqlite3 *lesson_db(struct session *s);

#endif
