/* peak.h - how fast a machine is, measured: the ceilings of its roofline, and the floors of a launch.
 *
 * One table names what can be measured, on a CPU or a GPU; a struct peak has the figures of one device,
 * each with the clock that was held meanwhile and, where that was low, why.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_PEAK_H
#define ATTNSCOPE_BACKEND_PEAK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/record.h"
#include "plan/device.h"

enum peak_id {
    PEAK_FMA,
    PEAK_FMA_BURST,
    PEAK_FMA_ALL,
    PEAK_TILE,
    PEAK_EXP2,
    PEAK_MMA_F16,
    PEAK_MMA_BF16,
    PEAK_MMA_TF32,
    PEAK_GEMM_F16,
    PEAK_GEMM_BF16,
    PEAK_GEMM_TF32,
    PEAK_GEMM_F32,
    PEAK_L1,
    PEAK_SMEM,
    PEAK_L2,
    PEAK_L3,
    PEAK_DRAM,
    PEAK_WRITE,
    PEAK_COPY,
    PEAK_CLOCK,
    PEAK_LAUNCH_ALONE,
    PEAK_LAUNCH_STREAM,
    PEAK_LAUNCH_GRAPH,
    PEAK_LAUNCH_STEP,
    PEAK_LAUNCH_HOST,
    PEAK_COUNT
};

/* What a figure is. */
struct peak_info {
    const char *name, *unit, *doc; /* "dram_gbytes_per_s", "GB/s", a sentence */
    bool least;                    /* a time, of which the least counts; else the greatest */
};
extern const struct peak_info peak_infos[PEAK_COUNT];

/* One figure; field names are those of the JSON object. NaN and NULL: unknown. */
struct ceiling {
    char *name;
    double value;         /* in the unit of its peak_info */
    double clock_mhz;     /* of a GPU's SMs, meanwhile: the median of what was read */
    double power_w;       /* that the device took */
    double temperature_c; /* highest */
    char *held;           /* "power": what kept the clock down meanwhile; see nvml.h */
    double spread_pct;    /* how far samples, or tries, are apart */
};
extern const struct field ceiling_fields[];

/* Field names of the JSON object, which also has the list "ceilings". */
struct peak {
    char *device, *backend; /* "NVIDIA H200", "cuda" */
    char *isa;              /* "AVX-512" of a CPU */
    char *driver;           /* of a GPU: "580.159.04" */
    char *time;             /* ISO 8601, UTC */
    char *reason;           /* why figures are missing that such a device has */
    int64_t threads;        /* of a CPU: behind the figures "all" and those of memory */
    json_t *turns;          /* of a CPU: see cpu_peak_together() */
    double
        other_cores; /* that other programs used meanwhile. Whoever measures a whole job fills it in */
    struct ceiling at[PEAK_COUNT]; /* value NaN: not measured */
};
extern const struct field peak_fields[];

void peak_init(struct peak *p); /* all unknown */
void peak_clear(struct peak *p);
/* The figure, for whoever measured it. */
struct ceiling *peak_put(struct peak *p, enum peak_id id, double value);
/* Takes over what is better in `more`, a further try, for whatever disturbs one makes it worse; clears it.
 * spread_pct of each grows to how far the two are apart. */
void peak_merge(struct peak *best, struct peak *more);

json_t *peak_to_json(const struct peak *p); /* the caller owns it */
/* `p` is overwritten. Figures that this program does not know are left out; ST_USAGE: it is no such object. */
enum status peak_from_json(struct peak *p, const json_t *o, struct err *err);

/* Whoever waits: told what is measured next and how long that may take; false ends the measuring early. */
struct peak_watch {
    bool (*next)(void *ctx, const char *what, double seconds);
    void *ctx;
};

/* The data sheet's figure for it, in the same unit; NaN: none is known. `clock_mhz` gets the clock at which
 * it holds; NaN: it does not depend on the SMs' clock. */
double peak_sheet(const struct device *d, enum peak_id id, double *clock_mhz);

/* TFLOP/s of the units that a kernel's products use (`unit`: as device_peak() names them): the better of ours
 * and cuBLAS's, at this SM clock instead of the one that it was measured at (NaN: as measured). `which` gets
 * the figure as it is. NaN and NULL: not measured. */
double peak_tflops(const struct peak *p, enum dtype dtype, const char *unit, double clock_mhz,
                   const struct ceiling **which);

#endif
