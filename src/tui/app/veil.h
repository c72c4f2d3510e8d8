/* veil.h - what commands print while measured values are hidden.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_APP_VEIL_H
#define ATTNSCOPE_TUI_APP_VEIL_H

#include "command/session.h"

/* May the output of a line hold what was measured or recorded? `ever` is rows.ever before it ran. */
bool veil_measured(const struct session *s, const char *line, size_t ever);
/* Is there a measured or recorded figure in this row? */
bool veil_row(const struct row *row);

#endif
