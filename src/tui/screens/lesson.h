/* lesson.h - the Lessons screen, as far as others need it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_LESSON_H
#define ATTNSCOPE_TUI_LESSON_H

#include "tui/app/app.h"

extern const struct screen_ops lessons_screen;

/* If the line is `lesson NAME [step=N] [--restart]`, shows the screen, opens the lesson and returns true. A
 * line with anything else in it is left to the command. */
bool lesson_take_line(struct app *a, const char *line);

#endif
