/* repl.h - reading commands line by line, from a terminal or a pipe.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_REPL_REPL_H
#define ATTNSCOPE_REPL_REPL_H

#include "command/session.h"

/* Reads until the end of the input or `quit`; returns the status of the last command. On a terminal
 * with readline: completion, history, and the shape as the prompt. */
enum status repl_main(struct session *s);

#endif
