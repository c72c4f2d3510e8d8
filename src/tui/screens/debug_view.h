/* debug_view.h - a block held still, as the Source screen shows it: source, lanes, one picture; where there is room, all.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_DEBUG_VIEW_H
#define ATTNSCOPE_TUI_DEBUG_VIEW_H

#include "command/debug/debugger.h"
#include "tui/kit/codeview.h"

/* `code` has the kernel's text; its cursor is the user's. `picture`: which one where there is room for one alone. `bare`:
 * columns are scarce. */
void debug_view_draw(const struct debugger *d, struct codeview *code, struct canvas *c,
                     struct rect r, int picture, bool marks, bool bare);
int debug_view_pictures(void); /* how many there are */
/* The line of the kernel's text where the focus stands, from 1; 0: unknown, or it has ended. */
int debug_view_line(const struct debugger *d);
/* Everything of the stop as text, for `x`. */
void debug_view_explain(const struct debugger *d, struct str *out);

#endif
