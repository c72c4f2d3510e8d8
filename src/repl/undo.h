/* undo.h - who owns readline's undo lists.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_REPL_UNDO_H
#define ATTNSCOPE_REPL_UNDO_H

/* Before each key, of the line reader and of the full screen's prompt: takes the undo lists away from the
 * entries of the history. readline hands the list of a line to its entry and back, and frees it on either side:
 * with searches, operate-and-get-next and lines that were changed and left it frees some twice. Between two
 * keys the only owner is then the line that is being edited; a changed line that is left can no more be undone. */
void undo_disown(void);
/* Empties the line and forgets where in the history it was, for Ctrl-C. */
void undo_drop_line(void);

#endif
