/* tty.h - the terminal: curses started and left, keys read, a canvas painted.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_TTY_H
#define ATTNSCOPE_TUI_TTY_H

#include "base/status.h"
#include "draw/canvas.h"
#include "tui/kit/theme.h"

struct tty;
struct pollfd;

/* A press of the mouse's first button, or its wheel: by -1 (up) or 1. */
struct tty_mouse {
    int x, y, wheel;
};

/* ST_FAIL with a sentence when the terminal cannot show a screen. signals_install() comes first. */
enum status tty_open(const struct theme *theme, bool color, struct tty **out, struct err *err);
/* Gives the terminal back. */
void tty_close(struct tty *t);
/* Fills one entry for poll(): input, and output while some waits. */
void tty_poll(const struct tty *t, struct pollfd *fd);
/* Output may go on. */
void tty_flush(struct tty *t);
/* Milliseconds for which the terminal is behind, so that painting waits (an answer or room ends the
 * wait earlier: ask again after each event); 0: paint. */
int tty_behind_ms(struct tty *t);
/* Asks the terminal for its size; true if it changed. */
bool tty_resized(struct tty *t);
void tty_size(const struct tty *t, int *w, int *h);
/* The next key, TK_NONE when no more are there. Never blocks longer than the escape delay. */
int tty_key(struct tty *t);
/* Reports of the mouse, off at first. */
void tty_set_mouse(struct tty *t, bool on);
bool tty_has_mouse(const struct tty *t);
/* Where it was when tty_key() returned TK_MOUSE. */
struct tty_mouse tty_mouse(const struct tty *t);
/* Shows the canvas; only what changed is sent, and nothing waits for the terminal. Cursor at x, y;
 * hidden when x < 0. */
void tty_paint(struct tty *t, const struct canvas *c, int x, int y);
/* The next paint sends everything. */
void tty_redraw(struct tty *t);
void tty_set_theme(struct tty *t, const struct theme *theme);
const struct theme *tty_theme(const struct tty *t);
/* Leaves the screen for another program, and comes back. */
void tty_lend(struct tty *t);
void tty_reclaim(struct tty *t);
/* Leaves the screen, stops the process group as Ctrl-Z does, comes back. */
void tty_suspend(struct tty *t);
/* Bytes past curses, such as OSC 52. */
void tty_send(struct tty *t, const char *bytes, size_t len);
int tty_colors(const struct tty *t);
/* The terminal description in use; who calls into a library that looks it up again puts it back. */
void *tty_terminfo(void);
void tty_set_terminfo(void *terminfo);

#endif
