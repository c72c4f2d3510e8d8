/* keyfile.h - <config>/attnscope/keys: other keys for what rows of the key table do, and keys for
 * commands of one's own.
 *
 *     # key    function or command   screens (all when there are none)
 *     Ctrl-P   up
 *     F6       run                   explore compare
 *     x        none
 *     F7       :run fa2 S=4k
 *     F8       sweep                 :set D=128; set B=8
 *
 * A colon begins a command, which goes to the end of the line: its screens stand before it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_KEYFILE_H
#define ATTNSCOPE_TUI_KEYFILE_H

#include "tui/app/keymap.h"

/* Applies `text` (which is changed) to the table. A key that was bound before moves to its new row; a
 * function that loses its last key so is named as a problem, as are unknown words and keys bound
 * twice in the file. What is right still holds. `name` is for the problems, a sentence a line. */
void keyfile_apply(struct keymap *m, const char *name, char *text, struct str *problems);
/* The same for the user's file, if there is one. */
void keyfile_load(struct keymap *m, struct str *problems);

#endif
