/* explore_planned.h - the planned panes, for explore_view.c.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_EXPLORE_PLANNED_H
#define ATTNSCOPE_TUI_EXPLORE_PLANNED_H

#include "tui/screens/explore_view.h"

void planned_smem(struct canvas *c, struct rect r, const struct explore_view *v);
void planned_occ(struct canvas *c, struct rect r, const struct explore_view *v);
void planned_roof(struct canvas *c, struct rect r, const struct explore_view *v);
void planned_why(struct canvas *c, struct rect r, const struct explore_view *v);
/* Append the pane's title with its headline figure. */
void planned_smem_title(const struct explore_view *v, struct str *s);
void planned_occ_title(const struct explore_view *v, struct str *s);
void planned_roof_title(const struct explore_view *v, struct str *s);

#endif
