/* flush.h - puts the inputs out of the L2.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CUDA_FLUSH_H
#define ATTNSCOPE_BACKEND_CUDA_FLUSH_H

#include "backend/cuda/gpu.h"

/* All zero: not needed yet. */
struct flush {
    cu_pointer buffer; /* at least twice the L2 */
    size_t bytes;
    cu_module code;     /* NULL: none yet, or the driver has no compiler for it */
    cu_function kernel; /* reads the buffer; NULL: it is overwritten instead */
    const char *
        doubt; /* why cold samples are not what they should be, as the last flush found; NULL: they are */
};
/* The reader, for tests: attnscope_sweep(base, items of 16 bytes), any grid. */
extern const char flush_ptx[];
size_t flush_bytes(const struct gpu *g); /* that a flush reads */
/* Queues one into stream 0. Without memory for it the caches stay as they are; `doubt` says so then. */
void flush_queue(struct gpu *g, struct flush *f);
void flush_free(struct gpu *g, struct flush *f);

#endif
