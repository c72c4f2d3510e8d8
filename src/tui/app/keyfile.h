/* keyfile.h - <config>/attnscope/keys: other keys for the actions of the key table.
 *
 *     # key    action    screens (all when there are none)
 *     Ctrl-P   up
 *     F6       run       explore compare
 *     x        none
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_KEYFILE_H
#define ATTNSCOPE_TUI_KEYFILE_H

#include "tui/app/keymap.h"

enum { KEYFILE_BINDINGS = 512 };

struct keyfile {
    struct binding table[KEYFILE_BINDINGS];
    struct str problems; /* a sentence a line, with file and line number */
};

/* Applies `text` (which is changed) to the built-in table. A key that was bound before moves to its
 * new action; an action that loses its last key so is named as a problem, as are unknown words and
 * keys bound twice in the file. What is right still holds. `name` is for the problems. */
struct keyfile *keyfile_parse(const char *name, char *text);
/* Reads the file; NULL when there is none. */
struct keyfile *keyfile_load(void);
void keyfile_free(struct keyfile *k);

#endif
