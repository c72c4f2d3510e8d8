/* attn_args.h - the one argument every kernel takes, on every backend.
 *
 * The C mirror of struct AttnArgs in kernels/cuda/attn.cuh; both sides assert the same size and
 * offsets. Strides are in elements; D is contiguous. O has Q's shape. Workspace buffers are in the
 * order of the descriptor's @workspace lines.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_KERNEL_ATTN_ARGS_H
#define ATTNSCOPE_KERNEL_ATTN_ARGS_H

#include <stddef.h>
#include <stdint.h>

enum { ATTN_WS_MAX = 8 };

struct AttnArgs {
    const void *q, *k, *v;
    void *o;
    float *lse; /* B*H*Sq natural-log sums, which a check judges; NULL in timed runs */
    void *ws
        [ATTN_WS_MAX]; /* workspace buffers, uninitialised unless the descriptor says zero or once */
    int64_t q_stride[3]; /* b, h, s */
    int64_t k_stride[3];
    int64_t v_stride[3];
    int64_t o_stride[3];
    uint64_t seed;
    int32_t B, H, Hkv, Sq, Sk, D;
    int32_t causal; /* query i sees keys 0 .. i + Sk - Sq */
    float scale;    /* usually 1/sqrt(D) */
};

_Static_assert(sizeof(struct AttnArgs) == 240, "AttnArgs must match kernels/cuda/attn.cuh");
_Static_assert(offsetof(struct AttnArgs, q_stride) == 104, "AttnArgs layout");
_Static_assert(offsetof(struct AttnArgs, scale) == 236, "AttnArgs layout");

/* What every launch and every call is given: kernels with @pages (kernels/cuda/pages.cuh) read on, all others end at
 * the first part. With a table K and V are pools of pages, and the first stride of each leads from one page to the
 * next: key j of batch b is row j % page of page table[b * pages + j / page]. */
struct PagedArgs {
    struct AttnArgs attn;
    const int32_t *table; /* the block table, [B][pages]; NULL: K and V are contiguous */
    int32_t page, pages;  /* keys of a page; entries of a row of the table, ceil(Sk / page) */
};

_Static_assert(sizeof(struct PagedArgs) == 256, "PagedArgs must match kernels/cuda/pages.cuh");
_Static_assert(offsetof(struct PagedArgs, table) == 240, "PagedArgs layout");

#endif
