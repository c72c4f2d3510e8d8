/* ahead.h - type-ahead: keys pressed while a command runs, kept in their order and played when it has ended, as
 * a terminal keeps what is typed at a busy program.
 *
 * They are played as if pressed after the command, with three exceptions. What cancels the command drops
 * them, as a terminal's interrupt does; a question about foreign code drops them, so that nobody agrees unseen;
 * and a line that is given back for mending drops them, for they would go into it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_AHEAD_H
#define ATTNSCOPE_TUI_AHEAD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum { AHEAD_MAX = 4096 }; /* as much as a terminal's own line */

/* Start with {0}, end with ahead_free(). */
struct ahead {
    int *keys;
    size_t begin, end, cap; /* those that wait are keys[begin] to keys[end - 1] */
};

/* Behind all others; false: there are AHEAD_MAX already, and it is not kept. */
bool ahead_add(struct ahead *k, int key);
/* The i-th of those that wait, from 0, without taking it; TK_NONE: there are no more. */
int ahead_at(const struct ahead *k, size_t i);
void ahead_remove(struct ahead *k, size_t i);
/* Takes the first one. */
int ahead_next(struct ahead *k);
/* Drops all; returns how many there were. */
size_t ahead_clear(struct ahead *k);
void ahead_free(struct ahead *k);
/* ":quit<Enter>": the last ones, in at most `width` columns. */
void ahead_text(const struct ahead *k, int width, struct str *out);

#endif
