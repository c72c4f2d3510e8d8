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

/* out->turns: GFLOP/s of one thread and of all, of multiply-adds alone and of cpu_tiled, all four in turn, again and again: what a
 * machine's threads take from each other is told from what the kernel loses. A second at most; NULL of a pool of one thread. */
void cpu_peak_together(const struct cpu_simd *simd, struct pool *pool, struct peak *out);

#endif
