/* popup.h - what opens over the screen: a scrollable text (help, command output, explanations) or a
 * menu whose rows have values.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_POPUP_H
#define ATTNSCOPE_TUI_POPUP_H

#include "tui/kit/pane.h"
#include "tui/kit/textview.h"

struct menu_row {
    char name[40], value[48];
    const char *doc; /* borrowed; one sentence */
    bool changed;    /* not the default */
};

/* A menu asks for its rows at each drawing. */
struct menu_ops {
    int (*count)(void *ctx);
    void (*row)(void *ctx, int i, struct menu_row *out);
    /* The next (1) or previous (-1) value; NULL: rows have none. */
    void (*change)(void *ctx, int i, int dir);
    void (*open)(void *ctx, int i); /* Enter */
};

struct popup {
    char *title; /* NULL: closed */
    struct textview text;
    const struct menu_ops *menu; /* NULL: a text */
    void *ctx;
    struct list list;
    struct rect frame; /* of the last drawing */
};

/* Opens it with foreign or own text; replaces what was open. Lines that do not begin with a blank
 * and end in a colon are headings. */
void popup_open(struct popup *p, const char *title, const char *text);
/* Adds a line of its own role to an open text. */
void popup_add(struct popup *p, enum role role, const char *text);
void popup_open_menu(struct popup *p, const char *title, const struct menu_ops *menu, void *ctx);
void popup_close(struct popup *p);
bool popup_is_open(const struct popup *p);
bool popup_is_menu(const struct popup *p);
/* Draws it over the middle of the canvas, above the last line, which is left to its footer. */
void popup_draw(struct popup *p, struct canvas *c);
/* Scrolls the text; in a menu moves the cursor, or steps the value of its row. */
void popup_move(struct popup *p, enum move m);
/* The menu's row at the cursor, chosen. */
void popup_open_row(struct popup *p);
/* As screen_ops.find. */
bool popup_find(struct popup *p, const char *text, int dir);
/* A press there: chooses the row, steps its value if it was chosen already; outside: closes. */
void popup_click(struct popup *p, int x, int y);

#endif
