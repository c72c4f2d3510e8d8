/* codeview.h - text of a program on a canvas: line numbers, marks in the margin, syntax by roles, a
 * cursor line; a plain text or a diff of two.
 *
 * Nothing here knows the session: tests draw a fixed text and compare.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_CODEVIEW_H
#define ATTNSCOPE_TUI_CODEVIEW_H

#include "kernel/lex.h"
#include "tui/kit/pane.h"

struct code_line {
    char mark; /* ' ' '-' '+' */
    int number;
    unsigned does; /* enum lex_mark */
    bool in_comment;
    const char *at;
    int len;
};

/* What stands between the number of a line and its text; of lines that are gone the number is below 0. */
struct codeview_margin {
    int w;
    void (*draw)(const void *ctx, struct canvas *c, int x, int y, int number);
    const void *ctx;
};

/* Start with {0}, end with codeview_clear(). */
struct codeview {
    enum lex_lang lang;
    char *texts[2]; /* owned, sanitised, tabs expanded: the text, and of a diff the older one */
    struct code_line *lines;
    int nlines;
    bool is_diff;
    struct list list; /* cursor and place */
    int left;         /* columns scrolled off */
    int widest;
    const struct codeview_margin *margin; /* borrowed until the next drawing; NULL: none */
};

void codeview_clear(struct codeview *v);
/* Shows a text, or what changed from `old` (NULL: no diff) to it; the cursor goes to the top of a new
 * text, to the first change of a diff. False: too long for a diff, the text is shown plain. */
bool codeview_set(struct codeview *v, enum lex_lang lang, const char *text, size_t len,
                  const char *old, size_t old_len);
/* `marks`: show the margin. */
void codeview_draw(struct codeview *v, struct canvas *c, struct rect r, bool marks);
/* Cursor, pages, left and right; true. */
bool codeview_move(struct codeview *v, enum move m);
/* The next (1) or previous (-1) run of changed lines; false when there is none. */
bool codeview_change(struct codeview *v, int dir);
bool codeview_find(struct codeview *v, const char *text, int dir);

#endif
