/* roofline_point.h - one kernel under the roof as the Roofline screen has it below its figure: its intensities, the roof
 * there, what was measured, in columns by phase, and what they mean in a sentence or two.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_ROOFLINE_POINT_H
#define ATTNSCOPE_TUI_ROOFLINE_POINT_H

#include "command/show/roof.h"
#include "tui/kit/pane.h"

/* Kernel `k` of the roofs; `blank`: what was measured is hidden. */
void roofline_point_draw(const struct roofs *roofs, int k, bool blank, struct canvas *c,
                         struct rect r);

#endif
