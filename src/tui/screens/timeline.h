/* timeline.h - the Timeline screen: blocks over SMs and time.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_TIMELINE_H
#define ATTNSCOPE_TUI_TIMELINE_H

#include "tui/app/app.h"

extern const struct screen_ops timeline_screen;

#endif
