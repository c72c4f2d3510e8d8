/* step_figure.h - a picture of the explorer within a step, as text of a given width.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_LESSON_STEP_FIGURE_H
#define ATTNSCOPE_LESSON_STEP_FIGURE_H

#include "lesson/text/parsed.h"

/* Appends the figure in lines of at most `width` columns, computed within the call. */
enum status step_figure_draw(struct session *s, const struct item *it, int width, struct str *out,
                             struct err *err);

/* Waits for what the figure needs compiled, while the front end still may: with session.paints its drawing
 * waits for nothing. */
void step_figure_prepare(struct session *s, const struct item *it);

#endif
