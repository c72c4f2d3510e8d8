/* strip.h - knobs in one line, for screens that need their width: up and down choose, left and right
 * turn.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_STRIP_H
#define ATTNSCOPE_TUI_STRIP_H

#include "draw/canvas.h"
#include "tui/screens/knobs.h"

/* "B 1  H 8  [S 1k]  D 64 ...": the chosen knob in brackets and always in view; `focus`: arrows
 * go to it. Returns the columns used. */
int strip_draw(struct canvas *c, struct rect r, const struct knobs *k, int cur, bool focus);

#endif
