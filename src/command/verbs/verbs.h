/* verbs.h - the verbs of this room, of desk and of edit.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_VERBS_H
#define ATTNSCOPE_COMMAND_VERBS_H

#include "command/command.h"

/* A further verb is a file in one of them that defines cmd_NAME, and its name in command/local.mk: there in the list of
 * verbs, in the order in which help has them, and in that of files. VERBS_TABLE(X) is X(NAME) for each. */
#include "verb_table.h"

#define DECLARE_VERB(name) extern const struct cmd_entry cmd_##name;
VERBS_TABLE(DECLARE_VERB)
#undef DECLARE_VERB

#endif
