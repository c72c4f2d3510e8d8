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

#endif
