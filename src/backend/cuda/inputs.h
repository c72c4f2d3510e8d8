/* inputs.h - Q, K and V on the device, which every kernel of a job reads.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CUDA_INPUTS_H
#define ATTNSCOPE_BACKEND_CUDA_INPUTS_H

#include "backend/backend.h"
#include "backend/cuda/bounce.h"
#include "backend/cuda/pools.h"

enum { INPUTS_SETS_MAX = 64 };

/* One run's. */
struct input_set {
    cu_pointer at[3];   /* by enum tensor_id */
    cu_pointer pool[2]; /* K and V in pages, where the shape has pages; the source has none */
    size_t by[3];       /* bytes by which they are rotated, see input_turn_bytes() */
};

struct inputs {
    bool present;
    struct shape shape;
    uint64_t seed;
    cu_pointer whole, ring;  /* memory of the source, and of all sets */
    struct input_set source; /* the problem's own, which no kernel is given */
    struct input_set sets[INPUTS_SETS_MAX];
    int count;       /* sets; runs of one sample each have their own */
    uint64_t sum[3]; /* of the source's bytes, as they were copied in */
    struct pools pools;
    struct bounce *bounce; /* for reading them back: borrowed */
};
/* Copies them in, in place of earlier ones, which no slot may use any more. */
enum status inputs_set(struct gpu *g, struct inputs *in, const struct problem *p,
                       const struct tensors *host, struct err *err);
void inputs_drop(struct gpu *g, struct inputs *in);
/* Queues the filling of set i with the contents of a turn, 0: the problem's own, for the kernel `who`. */
enum status inputs_fill(struct gpu *g, struct inputs *in, int i, uint64_t turn, const char *who,
                        struct err *err);
/* ST_OK if set i still has what it was filled with and the source what was copied in; else `who` has
 * overwritten them, the GPU is spent, and the sentence says so. Reads them back. */
enum status inputs_intact(struct gpu *g, const struct inputs *in, int i, const char *who,
                          struct err *err);
/* Bytes of Q, which are those of O; and of an output with its guards. */
size_t inputs_tensor_bytes(const struct inputs *in);
size_t inputs_output_bytes(const struct inputs *in);

#endif
