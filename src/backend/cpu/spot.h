/* spot.h - one row of an output, looked at: between samples there is time for no more.
 *
 * The judge looks at two outputs of a measurement; this at a row of every sample's, so that a kernel cannot
 * choose runs in which to be wrong.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CPU_SPOT_H
#define ATTNSCOPE_BACKEND_CPU_SPOT_H

#include <stdbool.h>
#include <stdint.h>

#include "spec/shape.h"

/* Is row `row` of `o` (number (b * H + h) * Sq + i) attention, roughly? Generous: what is within a tenth of the
 * largest value is right, and so is a row where the answer is not finite. */
bool spot_row_is_right(const struct shape *s, const void *q, const void *k, const void *v,
                       const void *o, int64_t row);

#endif
