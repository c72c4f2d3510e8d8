/* cpu_cases.h - the CPU kernels against float64, without CUnit: it also runs cross-compiled.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TESTS_CPU_CASES_H
#define ATTNSCOPE_TESTS_CPU_CASES_H

#include "backend/cpu/cpu_kernel.h"

enum { CPU_KERNELS_MAX = 16 };
/* Of one kernel, in the order of cpu_kernels. */
struct cpu_cases_count {
    int ran, failed;
};

/* Runs every kernel with every shape, dtype and instruction set that this machine has; says on stderr
 * which cases fail, with the command line that repeats them. `quick` leaves out the large shapes
 * (for emulators). */
void cpu_cases_run(bool quick, struct cpu_cases_count counts[CPU_KERNELS_MAX]);

/* Largest relative error of 2^x over a grid of x in [-100, 100]. */
double cpu_cases_exp2_error(const struct cpu_simd *s);

/* How many of all 2^16 patterns, and of as many roundings, differ from spec/dtype.h. */
int cpu_cases_conversions(const struct cpu_simd *s);

#endif
