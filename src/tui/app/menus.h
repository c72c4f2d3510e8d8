/* menus.h - the menus and texts that open over every screen: options, export, help, go to.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_MENUS_H
#define ATTNSCOPE_TUI_MENUS_H

#include "tui/app/app.h"

void menu_options(struct app *a);
void menu_export(struct app *a);
/* Asks whether the kernel that consent_wanted() names may run; nothing happens when it names none. */
void menu_consent(struct app *a);
/* The list of all that there is to go to. */
void menu_goto(struct app *a);
/* Keys of the screen, commands, colours and glyphs. */
void popup_help(struct app *a);

#endif
