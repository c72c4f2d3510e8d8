/* source.h - the Source screen: a kernel's text, and what a step of the ladder changed.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_SOURCE_H
#define ATTNSCOPE_TUI_SOURCE_H

#include "tui/app/app.h"

extern const struct screen_ops source_screen;

#endif
