/* roof.h - kernels under rooflines: rows for every device, phase and kernel, and the figure of them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_ROOF_H
#define ATTNSCOPE_COMMAND_ROOF_H

#include "command/ask/ceiling.h"
#include "command/ask/request.h"
#include "draw/chart.h"
#include "plan/row.h"

enum { ROOF_DEVICES = 6, ROOF_PHASES = 2 };

/* The two uses of one shape: prefill has as many queries as keys, decode one. */
struct roof_phase {
    const char *name; /* "prefill" "decode"; "given" for any other number of queries */
    struct shape shape;
};
/* The shape as it is first, then the other phase. */
void roof_phases(const struct shape *s, struct roof_phase out[ROOF_PHASES]);

struct roof_row {
    struct plan_row
        plan; /* of a kernel; without one of the device: its peak, ridge and bandwidth */
    char *phase;
    double roof_tflops, reach_tflops, measured_tflops, of_reach_pct;
    char *measured_origin;
    double counted_bytes, counted_intensity, counted_reach_tflops; /* by the simulator */
    /* The second roof, see command/ask/ceiling.h. */
    double ceiling_tflops, ceiling_clock_mhz, ceiling_gbs, ceiling_reach_tflops, of_ceiling_pct;
    char *ceiling_held, *ceiling_time;
    int64_t ceiling_threads;
};
extern const struct row_type roof_row_type;

struct roofs {
    bool on_cpu;           /* of this machine's CPU alone: devices[0] is host_device */
    struct host_roof host; /* which is made of this; its runs stand at compulsory_intensity */
    struct device host_device;
    const struct device *devices[ROOF_DEVICES];
    int ndevices;
    struct roof_phase phases[ROOF_PHASES];
    int nphases; /* 1: the shape as it is */
    int nkernels;
    double held_tflops[ROOF_DEVICES],
        held_gbs[ROOF_DEVICES]; /* second roofs, of the type's fastest units */
    struct rowset rows;         /* by device, phase, kernel; see roof_row() */
};

/* Computes all rows. `r` is a request for plans; without devices, for the roof of this machine's CPU, one of the C
 * kernels. ST_USAGE as plan_row(). Clear it whatever the
 * status. Live results of the session are looked up for each row. */
enum status roofs_make(struct session *s, const struct request *r,
                       const struct device *const *devices, int ndevices, int nphases,
                       struct roofs *out, struct err *err);
void roofs_clear(struct roofs *x);
/* A row of roof_row_type, a struct roof_row; NULL where there are no rows. Borrowed. */
const struct row *roof_row(const struct roofs *x, int device, int phase, int kernel);
/* 'A' for kernel 0 and this shape, 'a' for it in the other phase. */
char roof_letter(int phase, int kernel);

/* The devices' roofs for a type and, under the first, points of all kernels and phases; `show` says for
 * each kernel whether it has a letter (NULL: all), the others are dots. cur: the kernel at the cursor, -1 none; its ideal is
 * drawn, and without a cursor everybody's. The caller owns it. */
struct chart *roofs_chart(const struct roofs *x, enum dtype t, const bool *show, int cur);

#endif
