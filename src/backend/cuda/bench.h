/* bench.h - the ceilings of a GPU: kernels/peak/, launched and timed one after another.
 *
 * Each figure is the median of samples that go on until the chip has settled, for a card that is cold or has
 * rested does more than it can keep up. While a sample runs, clock and power are read, and what keeps the clock
 * down.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CUDA_BENCH_H
#define ATTNSCOPE_BACKEND_CUDA_BENCH_H

#include "backend/cuda/gpu.h"
#include "backend/peak.h"

enum { BENCH_SAMPLES = 64, BENCH_FUNCTIONS = 24 };

struct bench {
    struct gpu *gpu;
    const struct peak_watch *watch;
    struct peak *out;
    cu_event begin, end;
    cu_module module; /* NULL: no code, and out->reason says why */
    cu_pointer memory;
    size_t bytes;   /* of it */
    uint32_t *gate; /* the stream waits until the host writes `turn` here; NULL: no such thing */
    uint32_t turn;
    bool gating;  /* samples use it */
    bool stopped; /* by the watch */
};

/* Puts `count` runs of the work into stream 0. */
typedef enum status bench_queue(struct bench *b, void *ctx, int count, struct err *err);

/* Measures a figure of out->at[id]: `work` a run, in the unit of the figure times a second (1e12 FLOP and so
 * on); for a time in microseconds it is 0. */
enum status bench_measure(struct bench *b, enum peak_id id, const char *what, bench_queue *queue,
                          void *ctx, double work, struct err *err);

/* Compiles the kernels, takes memory, and measures all that needs no library. Close it whatever the status. */
enum status bench_open(struct bench *b, struct gpu *g, const struct peak_watch *watch,
                       struct peak *out, struct err *err);
enum status bench_run(struct bench *b, struct err *err);
void bench_close(struct bench *b);
/* Fills the memory with random elements of a type. */
enum status bench_fill(struct bench *b, enum dtype dtype, struct err *err);

#endif
