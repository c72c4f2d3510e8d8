/* editor.h - a text editor on a file.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_EDITOR_H
#define ATTNSCOPE_COMMAND_EDITOR_H

#include "command/session.h"

/* $VISUAL, else $EDITOR, else on a terminal one that is found. ST_USAGE when there is none. */
enum status editor_find(char ***words, struct err *err);
/* Runs it on the file, with the terminal lent to it. */
enum status editor_run(struct session *s, char *const *words, const char *path, struct err *err);

#endif
