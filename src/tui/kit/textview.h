/* textview.h - text that is longer than its place: wrapped, scrolled, with a role for each line.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_TEXTVIEW_H
#define ATTNSCOPE_TUI_TEXTVIEW_H

#include "draw/canvas.h"
#include "tui/kit/keys.h"

struct text_line {
    char *text;
    enum role role;
    int row; /* of a line as added: its first row after wrapping */
};

/* Start with {0}, end with textview_clear(). */
struct textview {
    struct text_line *lines, *rows; /* as added; as wrapped to `width` columns */
    int nlines, nrows;
    size_t cap, rows_cap;
    int show;             /* from 1: line to bring to the top at the next drawing, 0: none */
    int width, top, page; /* first row shown; rows of the last drawing */
    int found;            /* from 1: row to point out, 0: none */
    int veil;             /* from 1: line from which nothing is shown, 0: all is */
    int measure; /* prose (ROLE_NORMAL, ROLE_TITLE) is wrapped at this width on wider places; 0: no limit */
};

void textview_clear(struct textview *v);
/* Drops the lines from `nlines` on. */
void textview_truncate(struct textview *v, int nlines);
/* Is there text below what was drawn last? */
bool textview_more(const struct textview *v);
/* Appends text, which is sanitised here; tabs are expanded. */
void textview_add(struct textview *v, enum role role, const char *text);
/* Hides the lines from `line` on, and says so in their place; -1: shows all. They stay. */
void textview_veil(struct textview *v, int line);
/* Puts the lines of `text` in the place of `drop` lines from `at` on; what is at the top stays there.
 * Returns how many they are. */
int textview_replace(struct textview *v, int at, int drop, enum role role, const char *text);
/* Columns of the widest line. */
int textview_widest(const struct textview *v);
/* Rows at this width. */
int textview_rows(struct textview *v, int width);
void textview_draw(struct textview *v, struct canvas *c, struct rect r);
/* At the next drawing, line `line` is at the top, or as near as the end allows. */
void textview_show(struct textview *v, int line);
/* The next row (dir 1) or previous one (-1) with this text goes to the top, around the end; dir 0: the
 * top row counts too. It is drawn as found until the next scrolling. False: nowhere. */
bool textview_find(struct textview *v, const char *text, int dir);
/* Scrolling; false for the sides. */
bool textview_move(struct textview *v, enum move m);

#endif
