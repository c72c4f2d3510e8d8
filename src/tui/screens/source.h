/* source.h - the Source screen, for screens that lead to a line of it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_SOURCE_H
#define ATTNSCOPE_TUI_SOURCE_H

#include "tui/app/app.h"

/* Shows the screen with the CUDA text of this kernel, the cursor on a line of it, from 1. */
void source_show_line(struct app *a, const struct kernel *k, int line);

#endif
