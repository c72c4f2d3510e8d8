/* bounce.h - device memory read by the host piece by piece, each piece by many threads.
 *
 * What a kernel has read and written is looked at after each checked run: hundreds of MB of large shapes. The bus brings
 * them into memory that the device may write itself, several times as fast as into any other; one thread adds them up, or
 * copies them to pages that are fresh, at a few GB/s, so all help.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CUDA_BOUNCE_H
#define ATTNSCOPE_BACKEND_CUDA_BOUNCE_H

#include "backend/cuda/gpu.h"

struct pool;

struct bounce {
    void *memory;
    bool pinned;       /* is it the driver's? */
    struct pool *pool; /* NULL: nothing was large yet */
};

/* Part of what lies on the device, from byte `at` of it on. Several threads call it side by side. */
typedef void bounce_part(void *ctx, const char *part, size_t at, size_t n);
/* Calls it for all `bytes` from `from` on. A copy that brought nothing is told: ST_FAIL. */
enum status bounce_read(struct bounce *b, struct gpu *g, const char *who, cu_pointer from,
                        size_t bytes, bounce_part *part, void *ctx, struct err *err);
/* The same into memory here. */
enum status bounce_copy(struct bounce *b, struct gpu *g, const char *who, cu_pointer from,
                        size_t bytes, void *to, struct err *err);
/* Of what lies here. */
void bounce_each(struct bounce *b, const void *from, size_t bytes, bounce_part *part, void *ctx);
/* As memcpy(). */
void bounce_move(struct bounce *b, void *to, const void *from, size_t bytes);
void bounce_close(struct bounce *b, struct gpu *g);

#endif
