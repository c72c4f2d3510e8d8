/* attend.h - what the fake driver's kernels compute.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TESTS_ATTEND_H
#define ATTNSCOPE_TESTS_ATTEND_H

#include "backend/ring_args.h"
#include "kernel/attn_args.h"

/* O from Q, K and V; dtype is ATTN_DTYPE, `stored` the same of O. A query without a key gives 0. */
void fake_attend(const struct AttnArgs *a, int dtype, int stored);
/* The same out of pages, where there is a block table. */
void fake_attend_pages(const struct PagedArgs *a, int dtype, int stored);
/* A part of type `parts` into the answer so far, as kernels/ring/merge.cu does. */
void fake_merge(const struct ring_merge_args *m, int dtype, int parts);

#endif
