/* prompt.h - the command line inside the screen: readline's editing, history and inputrc, drawn on
 * our canvas. Also edits a single value.
 *
 * It also picks from a list that follows what is typed.
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
/* One line of a list to pick from; borrowed until the list is asked again. */
struct choice {
    const char *kind, *name, *doc;
};
struct choices {
    /* Finds what fits `text`, best first; returns how many there are. */
    int (*find)(void *ctx, const char *text);
    void (*at)(void *ctx, int i, struct choice *out);
    void (*take)(void *ctx, int i); /* Enter, or a press on it; the prompt is closed by then */
    void (*closed)(void *ctx);      /* always, and last */
};
/* Opens with an empty line and the choices above it; `choices` and `ctx` are borrowed until closed(). */
void prompt_pick(struct session *s, const char *label, const struct choices *choices, void *ctx);
/* A press on the choices, as they were drawn last; false: not on them. */
bool prompt_click(int x, int y);
/* The wheel, while choices are open. */
void prompt_wheel(int by);
/* The first character typed replaces what is in the line, as in a form; other keys keep it. */
void prompt_select(void);
void prompt_close(void);
bool prompt_is_open(void);
const char *prompt_keys(void);  /* for the footer: what Enter, Tab and Esc do while it is open */
void prompt_set_cursor(int at); /* byte offset */
void prompt_key(int key);
/* Draws into the row r.y and candidates or choices above it; returns the cursor's column. */
int prompt_draw(struct canvas *c, struct rect r);

#endif
