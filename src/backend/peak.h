/* peak.h - how fast this machine's cores and memory are, measured: the CPU's roofline.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_PEAK_H
#define ATTNSCOPE_BACKEND_PEAK_H

#include <stdint.h>

#include "backend/pool.h"
#include "base/record.h"

/* Field names are those of the JSON object; record_init, record_clear and record_to_json apply. */
struct peak {
    char *isa;       /* "AVX-512" */
    int64_t threads; /* behind the figures "all" and those of memory */
    /* One thread, f32 multiply-adds, two FLOPs each: between bouts of attention, at the clock that
     * real work leaves the core; and with nothing else going on, at the highest clock. */
    double fma_gflops, fma_burst_gflops;
    double fma_gflops_all; /* all threads together, nothing else going on */
    /* Reading from each level of the caches, one thread. NaN where its size is unknown. */
    double l1_gbytes_per_s, l2_gbytes_per_s, l3_gbytes_per_s;
    double dram_gbytes_per_s; /* reading, all threads, lines that no cache holds */
    double copy_gbytes_per_s; /* memcpy, all threads, bytes read plus bytes written */
    double clock_mhz;         /* of scalar code, just after; vector code often runs slower */
    double spread_pct;        /* how far the tries' FMA rates are apart; NaN: there was one */
    double other_cores;       /* that other programs used meanwhile; NaN: unknown. The caller's */
};
extern const struct field peak_fields[];

struct cpu_simd; /* backend/cpu/cpu_simd.h */

/* Takes about a second. `out` is overwritten without being cleared. Figures that cannot be measured
 * are NaN; ST_FAIL only without memory for the buffers. */
enum status peak_measure(const struct cpu_simd *simd, struct pool *pool, struct peak *out,
                         struct err *err);

/* Takes over what is larger in `more`, a further try, for whatever disturbs a rate lowers it; clears it.
 * spread_pct grows to how far the two are apart. */
void peak_merge(struct peak *best, struct peak *more);

#endif
