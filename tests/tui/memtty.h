/* memtty.h - a terminal in memory in place of tty.c: the app runs in the test's own process, with a
 * size, keys and theme that the test gives, and what is painted can be read.
 *
 * A program that links memtty.c before the library has this terminal and no curses.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TESTS_MEMTTY_H
#define ATTNSCOPE_TESTS_MEMTTY_H

#include "tui/kit/tty.h"

struct tty *memtty_new(int w, int h);
void memtty_free(struct tty *t);
void memtty_resize(struct tty *t, int w, int h);
void memtty_set_mouse_at(struct tty *t, struct tty_mouse at);
/* What was painted last; NULL: nothing yet. */
const struct canvas *memtty_shown(const struct tty *t);

#endif
