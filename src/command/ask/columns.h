/* columns.h - measured rows as tables: for the verbs that print them, and for rows that a screen measured.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_COLUMNS_H
#define ATTNSCOPE_COMMAND_COLUMNS_H

#include "export/rows.h"

extern const struct columns run_columns, compare_columns, counted_columns;

#endif
