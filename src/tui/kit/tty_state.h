/* tty_state.h - what the files that talk to curses share; for tty.c and tty_paint.c alone.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_TTY_STATE_H
#define ATTNSCOPE_TUI_TTY_STATE_H

#include <curses.h>
#include <stdint.h>

#include "tui/kit/outlet.h"
#include "tui/kit/tty.h"

struct tty {
    SCREEN *screen;
    FILE *file; /* what curses writes to; its descriptor is a copy of the terminal's */
    int memory; /* where it leads while curses paints; -1: there is none */
    struct outlet out;
    bool mouse, remote;
    struct tty_mouse at;
    const struct theme *theme;
    bool color;
    int w, h;
    struct canvas *shown; /* what the terminal has; NULL: unknown */
    cchar_t *line;        /* scratch for one row */
    cchar_t blank[ROLE_COUNT];
    attr_t attrs[ROLE_COUNT];
    short pairs[ROLE_COUNT];
};

/* What curses writes between the two goes to the outlet. */
void tty_begin_capture(struct tty *t);
void tty_end_capture(struct tty *t);
int64_t tty_now_ms(void);

#endif
