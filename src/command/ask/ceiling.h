/* ceiling.h - what was measured of a GPU itself (doctor --peak), beside its data sheet: the second roof.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_CEILING_H
#define ATTNSCOPE_COMMAND_CEILING_H

#include "command/session.h"
#include "kernel/registry.h"
#include "measure/row.h"

/* The roof as measured; NaN and NULL unknown. */
struct held_roof {
    const struct peak
        *peak; /* borrowed until the next doctor --peak; NULL: nobody measured this GPU */
    const struct ceiling *rate; /* of the units; NULL: not measured */
    double tflops, gbs;         /* of the units at the clock asked for, and of DRAM */
    bool own;                   /* measured here, not shipped */
    double instead_of; /* own: the shipped TFLOP/s that it stands in the place of; NaN: none */
};
/* Of a GPU for kernels of a type on these units ("tensor", "tf32", "fp32"), at an SM clock (NaN: at the one
 * that was held when it was measured). */
struct held_roof ceiling_roof(struct session *s, const struct device *gpu, enum dtype dtype,
                              const char *unit, double clock_mhz);
/* "measured here 2026-11-22: 817 TFLOP/s at 1695 MHz (held by power), 4405 GB/s, ridge 185 FLOP/B";
 * nothing where nothing was measured. */
void ceiling_roof_text(const struct held_roof *r, struct str *out);

/* The roof of this machine's CPU, which has no data sheet: what doctor --peak measured with the same threads. */
struct host_roof {
    char *device;            /* as its runs name it */
    const struct peak *peak; /* borrowed as above; NULL: nobody measured it with these threads */
    double tflops,
        gbs; /* multiply-adds in f32, or in bf16 where there are instructions for them, and memory; NaN: not
                         * measured */
};
/* Of kernels of a type. `threads` 0: all that may be used. Clear it. */
struct host_roof host_roof(struct session *s, int threads, enum dtype dtype);
void host_roof_clear(struct host_roof *r);
/* "noisy: tries 18 % apart, ...": of a CPU that others used meanwhile; nothing where it was quiet. */
void ceiling_noise_text(const struct peak *p, struct str *out);
/* "measured here 2026-11-22: 0.211 TFLOP/s, 18.6 GB/s of 2 threads at once, ridge 11.3 FLOP/B", and its noise; or how to
 * measure it. */
void host_roof_text(const struct host_roof *r, struct str *out);

/* "ceiling: fa2: 150 %, so what doctor --peak measured was too low ...", a line, where a share is more than a measurement is
 * uncertain by; else nothing. */
void ceiling_doubt_text(const char *kernel, double of_ceiling_pct, struct str *out);

/* Fills of_ceiling_pct of a row that kernel k gave on a GPU, or on a CPU that doctor --peak measured with the same
 * threads. */
void ceiling_fill(struct session *s, const struct kernel *k, const struct shape *shape,
                  struct run_row *row);

#endif
