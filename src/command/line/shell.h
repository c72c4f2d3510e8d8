/* shell.h - other programs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_SHELL_H
#define ATTNSCOPE_COMMAND_SHELL_H

#include "command/session.h"

/* Runs sh -c `command` with `input` (NULL: none, or the terminal if that is the commands' own) as its
 * standard input. What it prints goes to the terminal or, where output is captured, to `out`.
 * ST_NO when it ends with another status than 0. */
enum status shell_run(const struct session *s, const char *command, const struct str *input,
                      struct str *out, struct err *err);

#endif
