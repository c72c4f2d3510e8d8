/* errors.h - the picture of a failed check.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_DRAW_ERRORS_H
#define ATTNSCOPE_DRAW_ERRORS_H

#include "draw/chart.h"
#include "measure/row.h"

extern const struct chart_kind chart_errors;
/* Of a row's error_map; NULL: it has none. chart_free() frees it. */
struct chart *error_chart(const struct run_row *row);
/* "wrong rows of mine: 12.5 % of 2048; ..." and the map below it, in `width` columns and at most `lines` lines; nothing where
 * the row has no map. */
void error_map_text(const struct run_row *row, int width, int lines, enum glyphs glyphs,
                    struct str *out);

#endif
