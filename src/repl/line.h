/* line.h - reading one line with readline: completion from the command table, history in the state
 * folder. The only file here that knows readline.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_REPL_LINE_H
#define ATTNSCOPE_REPL_LINE_H

#include "command/session.h"

/* Sets readline up and loads the history. */
void line_open(struct session *s);
/* One line without its end, owned by the caller; NULL at the end of the input. */
char *line_read(const char *prompt);
/* Adds a line to the history and its file; repetitions are dropped, and lines that begin with a
 * blank are not kept. */
void line_remember(const char *line);
void line_close(void);

#endif
