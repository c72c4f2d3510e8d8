/* cvt.h - conversions that have no body of their own, a lane at a time.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_EXEC_CVT_H
#define ATTNSCOPE_SIM_EXEC_CVT_H

#include <stdbool.h>

#include "sim/code.h"

/* `x` (and `y` for two halves) as they lie in their slots; returns what lies in the destination's, extended
 * to 64 bits with its sign when the destination's type has one (c->sub). */
uint64_t cvt_lane(const struct code *c, uint64_t x, uint64_t y);

/* f16 and bf16, to nearest even; exact the other way. */
float cvt_from_f16(uint32_t h);
uint32_t cvt_to_f16(float x);
float cvt_from_bf16(uint32_t h);
uint32_t cvt_to_bf16(float x);

#endif
