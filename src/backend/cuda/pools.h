/* pools.h - K and V in pages on the device: the block table, and what puts a tensor into its pool.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CUDA_POOLS_H
#define ATTNSCOPE_BACKEND_CUDA_POOLS_H

#include "backend/cuda/gpu.h"
#include "spec/pages.h"

/* Of a shape without pages all is 0, and nothing is to be called but pools_close(). */
struct pools {
    struct shape shape;
    cu_pointer memory; /* of what follows */
    cu_pointer table;  /* as kernels are given it */
    cu_pointer owners, differs;
    int32_t *copy; /* of the table, on the host */
    cu_module code;
    cu_function kernel;
};

/* Close them whatever the status. ST_FAIL also where the driver cannot compile the kernel that fills pools. */
enum status pools_open(struct gpu *g, const struct shape *s, uint64_t seed, struct pools *out,
                       struct err *err);
void pools_close(struct gpu *g, struct pools *p);
/* Queues the filling of a pool with the contiguous tensor `from`, for the kernel `who`. */
enum status pools_fill(struct gpu *g, const struct pools *p, cu_pointer from, cu_pointer pool,
                       const char *who, struct err *err);
/* *intact becomes false where the pool is not what that leaves, or the table has changed. Waits for the stream. */
enum status pools_look(struct gpu *g, const struct pools *p, cu_pointer from, cu_pointer pool,
                       bool *intact, struct err *err);

#endif
