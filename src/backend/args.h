/* args.h - what every backend puts into a kernel's argument, but for its addresses.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_ARGS_H
#define ATTNSCOPE_BACKEND_ARGS_H

#include "kernel/attn_args.h"
#include "spec/shape.h"

/* Sizes, strides of the shape's layout, scale and seed; pointers NULL. */
struct AttnArgs attn_args(const struct shape *p, uint64_t seed);
/* The same for a kernel that reads pages where it is `paged`, else for one whose K and V are contiguous. */
struct PagedArgs paged_args(const struct shape *p, uint64_t seed, bool paged);

/* A tensor as tensor maps have it: columns first, which lie side by side, then rows, heads, batches. */
struct tensor_view {
    const void *address;
    uint64_t dims[4], strides[3]; /* in elements */
};
struct tensor_view tensor_view(const struct AttnArgs *a, char tensor); /* 'Q' 'K' 'V' 'O' */

#endif
