/* prompt.h - the command line inside the screen: readline's editing, history and inputrc, drawn on
 * our canvas. Also edits a single value.
 *
 * readline keeps one line per process, so there is one prompt.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_PROMPT_H
#define ATTNSCOPE_TUI_PROMPT_H

#include "command/session.h"
#include "draw/canvas.h"

/* Called with the accepted line (borrowed). */
typedef void prompt_done(void *ctx, const char *line);

/* Opens with `initial` in the line. `complete`: offer command completion and history. The history
 * file is read the first time. */
void prompt_open(struct session *s, const char *label, const char *initial, bool complete,
                 prompt_done *done, void *ctx);
/* The first character typed replaces what is in the line, as in a form; other keys keep it. */
void prompt_select(void);
void prompt_close(void);
bool prompt_is_open(void);
const char *prompt_keys(void);  /* for the footer: what Enter, Tab and Esc do while it is open */
void prompt_set_cursor(int at); /* byte offset */
void prompt_key(int key);
/* Draws into the row r.y and candidates above it; returns the cursor's column. */
int prompt_draw(struct canvas *c, struct rect r);

#endif
