/* lesson_lines.h - lines of a source of which a lesson's question wants one: a list with a cursor, which
 * shows the whole of the one at the cursor where lines are cut.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_LESSON_LINES_H
#define ATTNSCOPE_TUI_LESSON_LINES_H

#include "tui/kit/pane.h"

/* Start with {0}. */
struct lesson_lines {
    char **text;
    int n, first;     /* how many; the number of the first one */
    bool picking;     /* they are shown in the text's place */
    struct list pick; /* cursor among them */
};

/* Takes a copy of n lines; the cursor stands at the first. */
void lesson_lines_set(struct lesson_lines *v, const char *const *text, int n, int first);
void lesson_lines_clear(struct lesson_lines *v);
void lesson_lines_draw(struct lesson_lines *v, struct canvas *c, struct rect r);

#endif
