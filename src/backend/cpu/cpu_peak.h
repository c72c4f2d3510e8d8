/* cpu_peak.h - the ceilings of a CPU.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CPU_PEAK_H
#define ATTNSCOPE_BACKEND_CPU_PEAK_H

#include "backend/cpu/cpu_simd.h"
#include "backend/peak.h"
#include "backend/pool.h"

/* One try, about a second. `out` is overwritten without being cleared. Figures that cannot be measured stay
 * unknown; ST_FAIL only without memory for the buffers. */
enum status cpu_peak(const struct cpu_simd *simd, struct pool *pool, struct peak *out,
                     struct err *err);

#endif
