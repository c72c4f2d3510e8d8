/* lesson_list.h - the list of lessons: how long each takes, how far one is.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_LESSON_LIST_H
#define ATTNSCOPE_TUI_LESSON_LIST_H

#include "tui/kit/pane.h"

struct lesson;
struct sqlite3;

/* Moves the cursor as screen_ops.find does. */
bool lesson_list_find(struct list *l, const char *text, int dir);
/* With the problems that lesson files have, below. `db` has the tables of progress.h, or is NULL. */
void lesson_list_draw(struct list *l, struct sqlite3 *db, struct canvas *c, struct rect r);

/* "someone's 0123456789ab " of a lesson that is not of the course; its width, 0: it is. */
int lesson_list_mark(struct canvas *c, int x, int y, const struct lesson *l);

#endif
