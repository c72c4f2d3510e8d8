/* keys.h - what a key press is inside the program: a Unicode code point, a control code, or one of
 * the named keys below, only tty.c knows curses' own codes; and where the keys that move lead.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_KEYS_H
#define ATTNSCOPE_TUI_KEYS_H

#define KEY_CTRL(c) ((c)&31)

enum {
    TK_NONE = -1,
    TK_TAB = 9,
    TK_ENTER = 13,
    TK_ESC = 27,
    TK_UP = 0x200000, /* above every code point */
    TK_DOWN,
    TK_LEFT,
    TK_RIGHT,
    TK_PGUP,
    TK_PGDN,
    TK_HOME,
    TK_END,
    TK_BTAB,
    TK_BACKSPACE,
    TK_DELETE,
    TK_F1,
    TK_F5,
    TK_F10,
    TK_F2,
    TK_MOUSE, /* tty_mouse() tells where */
    TK_OTHER, /* a key we have no name for */
};

/* Lists, texts, figures and values all answer to these, from keys and from the wheel. */
enum move {
    MOVE_UP,
    MOVE_DOWN,
    MOVE_LEFT,
    MOVE_RIGHT,
    MOVE_PAGE_UP,
    MOVE_PAGE_DOWN,
    MOVE_FIRST,
    MOVE_LAST,
};

#endif
