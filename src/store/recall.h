/* recall.h - what was recorded of a kernel on a GPU: the one index over all recordings, by kernel, device,
 * parameters, caches and shape.
 *
 * It is made when a GPU is first asked about: only recordings whose header names that GPU are read then,
 * and of a row only its figures are kept, some 300 bytes. A recording that was opened counts at once,
 * with all of its devices. What is found follows library_look(): a lesson sees what is shipped.
 *
 * Times that failed their check, that are no times of a GPU, or that were computed are left out.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_STORE_RECALL_H
#define ATTNSCOPE_STORE_RECALL_H

#include "plan/device.h"
#include "spec/shape.h"
#include "store/recording.h"

struct recall;

/* One recorded time; its texts live as long as the index. */
struct recall_row {
    const char *kernel, *params, *l2, *input, *device;
    const char *gpu;       /* the device's name in the table of devices */
    const char *hash;      /* of the kernel's source then; NULL: not known, as of a library */
    const char *time;      /* "2026-11-22T13:33:08Z"; "" unknown */
    const char *recording; /* "h200" */
    enum library_place place;
    int source; /* in the library */
    struct shape shape;
    double median_us, min_us, q1_us, q3_us, p95_us, cv_pct, tflops, gbytes_per_s, error_ratio;
    int64_t n, regs; /* regs: a thread's, of the code that ran; INT_UNKNOWN */
};

struct recall_query {
    const char *kernel;
    const struct device *gpu;
    const char *params; /* all of them, in any order: "BR=64 BC=64" */
    const char *l2;     /* "cold" or "hot" */
    const char *input;  /* "normal"; NULL: any */
    const char *hash;   /* of today's source; NULL: unknown */
    struct shape shape;
};

struct recalled {
    const struct recall_row *row; /* NULL: nothing fits */
    double
        distance; /* of its shape from the one asked for, see recall_distance(); 0: it is that shape */
    bool old;     /* the kernel's source has changed since */
};

/* Both are borrowed and outlive it. */
struct recall *recall_new(struct library *l, const struct device_table *devices);
void recall_free(struct recall *r);

/* The row of this kernel with these parameters and caches on that GPU, of this shape, else of the nearest.
 * Where several recordings have it: one of today's source before an older one's, what was opened before the
 * user's own before what is shipped, then the newest. */
struct recalled recall_find(struct recall *r, const struct recall_query *q);
/* Has any recording in sight a row of this GPU? */
bool recall_has_gpu(struct recall *r, const struct device *gpu);

/* Every shape in sight of which there are times on that GPU, in the order of kernels; some come twice. */
void recall_shapes(struct recall *r, const struct device *gpu,
                   void (*seen)(void *ctx, const struct shape *shape), void *ctx);

/* How many times a size must be doubled or halved to come from one shape to the other: B, H, the heads of a
 * group, S (the larger step of Sq and Sk) and D added up. INFINITY: dtype, mask or layout differ. */
double recall_distance(const struct shape *a, const struct shape *b);

/* What there is to look up in one recording: times, and the kernels and GPUs they are of. */
struct recall_summary {
    int rows, kernels, gpus;
};
struct recall_summary recall_summary(const struct recording *rec,
                                     const struct device_table *devices);

#endif
