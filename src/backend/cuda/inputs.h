/* inputs.h - Q, K and V on the device, which every kernel of a job reads.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CUDA_INPUTS_H
#define ATTNSCOPE_BACKEND_CUDA_INPUTS_H

#include "backend/backend.h"
#include "backend/cuda/gpu.h"

struct inputs {
    bool present;
    struct shape shape;
    uint64_t seed;
    cu_pointer q, k, v;
    uint64_t sum; /* of their bytes, as they were copied in */
    void *bounce; /* for reading them back */
};
/* Copies them in, in place of earlier ones, which no slot may use any more. */
enum status inputs_set(struct gpu *g, struct inputs *in, const struct problem *p,
                       const struct tensors *host, struct err *err);
void inputs_drop(struct gpu *g, struct inputs *in);
/* ST_OK if they are still what was copied in; else `who` has overwritten them, the GPU is spent, and the
 * sentence says so. */
enum status inputs_intact(struct gpu *g, const struct inputs *in, const char *who, struct err *err);
/* Bytes of Q, which are those of O; and of an output with its guards. */
size_t inputs_tensor_bytes(const struct inputs *in);
size_t inputs_output_bytes(const struct inputs *in);

#endif
