/* pane.h - what panes of every screen look like: frame with title and focus mark; a list with a
 * cursor that keys, search and mouse move.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_PANE_H
#define ATTNSCOPE_TUI_PANE_H

#include "draw/canvas.h"
#include "tui/kit/keys.h"

enum { FULL_W = 80, FULL_H = 24, MIN_W = 40, MIN_H = 12 };

/* Draws the frame; the title of the focused pane carries a mark, also without colour. Neighbours may
 * share borders. Where columns are scarce (`bare`) there is a line above and no sides. Returns the
 * inside. */
struct rect pane_frame(struct canvas *c, struct rect r, const char *title, bool focus, bool bare);

/* A list of n rows with a cursor. Start with {0}; draw with list_place() and list_row_at(). */
struct list {
    int n, cur;
    int top, pitch; /* first row shown; lines per row */
    struct rect r;  /* where it was drawn last */
};

/* Says where it is drawn and keeps the cursor in view; `roomy`: a blank line between rows if all
 * rows fit so. The number of rows that are visible. */
int list_place(struct list *l, struct rect r, int n, bool roomy);
/* Where row i (0 is the first visible one) goes; draw there the row l->top + i. */
struct rect list_row_at(const struct list *l, int i);
/* From row *at of n, where `page` rows are in view, to where the move leads, perhaps outside. False:
 * sideways, and *at stays. */
bool move_row(enum move m, int n, int page, int *at);
/* Up, down and paging; false for the sides. The cursor stays inside. */
bool list_move(struct list *l, enum move m);
/* The row at this place of the canvas, -1: none. */
int list_at(const struct list *l, int x, int y);
/* " 3-12/40 " on the upper border when not all rows are visible. */
void list_draw_range(const struct list *l, struct canvas *c);
/* Where a search goes: the next row from the cursor for which `has` is true, as screen_ops.find.
 * -1: none. */
int list_find(int n, int cur, int dir, bool (*has)(const void *ctx, int i, const char *text),
              const void *ctx, const char *text);
/* Does `text` contain `word`, whatever their case? */
bool str_finds(const char *text, const char *word);

#endif
