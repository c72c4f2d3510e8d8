/* roof.h - kernels under rooflines: rows for every device, phase and kernel, and the figure of them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_ROOF_H
#define ATTNSCOPE_COMMAND_ROOF_H

#include "command/ask/request.h"
#include "draw/chart.h"

enum { ROOF_DEVICES = 6, ROOF_PHASES = 2 };

/* The two uses of one shape: prefill has as many queries as keys, decode one. */
struct roof_phase {
    const char *name; /* "prefill" "decode"; "given" for any other number of queries */
    struct shape shape;
};
/* The shape as it is first, then the other phase. */
void roof_phases(const struct shape *s, struct roof_phase out[ROOF_PHASES]);

/* What a row has besides fields of its plan. */
extern const struct field roof_row_fields[];

struct roofs {
    const struct device *devices[ROOF_DEVICES];
    int ndevices;
    struct roof_phase phases[ROOF_PHASES];
    int nphases; /* 1: the shape as it is */
    int nkernels;
    json_t *rows; /* by device, phase, kernel; see roof_row() */
};

/* Computes all rows. `r` is a request for plans. ST_USAGE as plan_row(). Clear it whatever the
 * status. Live results of the session are looked up for each row. */
enum status roofs_make(struct session *s, const struct request *r,
                       const struct device *const *devices, int ndevices, int nphases,
                       struct roofs *out, struct err *err);
void roofs_clear(struct roofs *x);
/* kernel, gpu, phase, shape, params, the plan's intensities and peaks, roof_tflops (with compulsory
 * bytes), reach_tflops (with those it requests), measured_tflops, of_reach_pct, measured_origin,
 * reason. Borrowed. */
json_t *roof_row(const struct roofs *x, int device, int phase, int kernel);
/* 'A' for kernel 0 and this shape, 'a' for it in the other phase. */
char roof_letter(int phase, int kernel);

/* The devices' roofs for a type and, under the first, points of all kernels and phases; `show` says for
 * each kernel whether it is drawn (NULL: all). cur: the kernel at the cursor, -1 none; its ideal is
 * drawn, and without a cursor everybody's. The caller owns it. */
struct chart *roofs_chart(const struct roofs *x, enum dtype t, const bool *show, int cur);

#endif
