/* theme.h - what a role looks like. Colour is never the only carrier: every state also has a word
 * or a glyph.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_THEME_H
#define ATTNSCOPE_TUI_THEME_H

#include "draw/canvas.h"

enum { STYLE_BOLD = 1, STYLE_DIM = 2, STYLE_REVERSE = 4, STYLE_UNDERLINE = 8 };

struct style {
    short fg; /* -1: the terminal's own; 0..7, or 8..15 where the terminal has them */
    unsigned char attrs;
};

struct theme {
    const char *name;
    struct style roles[ROLE_COUNT];
};

extern const struct theme themes[]; /* name NULL ends */

const struct theme *theme_find(const char *name); /* NULL if there is none */
const struct theme *theme_next(const struct theme *t);

#endif
