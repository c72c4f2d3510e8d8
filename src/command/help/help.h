/* help.h - help texts, and the search through them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_HELP_H
#define ATTNSCOPE_COMMAND_HELP_H

#include "command/command.h"
#include "export/rows.h"

/* Prints what mentions all words of the call, best first; ST_USAGE when nothing does. */
enum status apropos(struct session *s, struct cmd_call *c, struct err *err);
extern const struct columns apropos_columns; /* of what it prints */
/* Fills a help text to `width` columns; 0: leaves it. */
void help_fit(struct str *out, int width);

#endif
