/* trace.h - when and where each block of a kernel ran, as stamped by the device itself; of several GPUs, each step.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_TRACE_H
#define ATTNSCOPE_BACKEND_TRACE_H

#include <jansson.h>

#include "kernel/descriptor.h"

/* One frame of the wire takes the stamps of so many blocks. */
enum { TRACE_BLOCKS_MAX = 1 << 15, TRACE_PARTS_MAX = 1 << 10 };

struct stamp {
    int64_t begin_ns, end_ns;
    int32_t row;   /* SM, or thread; GPU */
    int32_t holds; /* of a GPU's step: whose keys and values it worked with */
};

struct block_trace {
    const char *unit;                /* "SM" "thread" "GPU" */
    int rows, lanes;                 /* of the device; lanes 0: not known */
    int64_t step_ns;                 /* the clock's resolution; 0: not known */
    int npasses;                     /* launches */
    int64_t blocks[DESC_PASSES_MAX]; /* of each */
    struct stamp *stamps;            /* by pass and block number; owned */
    struct stamp
        *parts; /* that blocks of the first pass handed over; `holds` is the block; owned */
    int64_t nparts;
    char *note; /* where the traced code differs from the usual, or NULL; owned */
};
/* Told before every run of the kernel: from there on silence is the kernel's, before it is the compiler's. */
struct trace_watch {
    void (*runs)(void *ctx);
    void *ctx;
};

void block_trace_clear(struct block_trace *t);
int64_t block_trace_count(const struct block_trace *t);
/* ST_NO with a sentence when there are more blocks than a trace holds. */
enum status block_trace_check(const char *kernel, int64_t blocks, struct err *err);
/* unit, rows, lanes, step_ns, blocks (by pass), row, begin_ns (from the first), ran_ns, note; of GPUs holds; parts, where there
 * are some: block, row, begin_ns, ran_ns of each. */
json_t *block_trace_to_json(const struct block_trace *t);

#endif
