/* neon_main.c - the CPU kernel cases as a program of its own, for another architecture: no CUnit, no
 * JSON, linked statically and run by an emulator (tests/unit/neon.sh).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>

#include "cpu_cases.h"

static int number;

static void report(int ok, const char *what)
{
    printf("%sok %d - %s\n", ok ? "" : "not ", ++number, what);
}

int main(void)
{
    struct cpu_cases_count counts[CPU_KERNELS_MAX];
    int kernels = 0;
    while (cpu_kernels[kernels].name)
        kernels++;
    printf("1..%d\n", kernels + 3);
    report(cpu_simd_table()[0]->lanes == 4 && cpu_simd_table()[0] != &cpu_simd_generic,
           "the best vector code here is NEON");
    report(cpu_cases_exp2_error(cpu_simd_table()[0]) < 2.5e-7, "2^x is right to 2.5e-7");
    report(cpu_cases_conversions(cpu_simd_table()[0]) == 0, "conversions agree to the bit");
    fflush(stdout);
    cpu_cases_run(true, counts);
    for (int k = 0; k < kernels; k++)
        report(counts[k].failed == 0 && counts[k].ran > 40, cpu_kernels[k].name);
    return 0;
}
