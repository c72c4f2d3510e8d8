/* explore_explain.h - what `x` says on Explore: the figures of the pane in focus, each with its value and
 * what it means, or its formula with the values put in.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_EXPLORE_EXPLAIN_H
#define ATTNSCOPE_TUI_EXPLORE_EXPLAIN_H

#include "tui/screens/explore_view.h"

/* Appends the text for v->focus; false: there is nothing to explain, and `out` says why. */
bool explore_explain_pane(const struct explore_view *v, struct str *out);

#endif
