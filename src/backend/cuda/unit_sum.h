/* unit_sum.h - a sum over bytes by which inputs are known again.
 *
 * Of two-byte units, from number `first` on: each counts by its place, so that an exchange shows; and parts may be added in
 * any order, for a rotated tensor is read in two. An odd byte at the end counts for nothing.
 *
 *     sum of (unit[i] + 1) * (2 * (first + i) + 1), modulo 2^64
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CUDA_UNIT_SUM_H
#define ATTNSCOPE_BACKEND_CUDA_UNIT_SUM_H

#include <stddef.h>
#include <stdint.h>

uint64_t unit_sum(const void *data, size_t len, uint64_t first);

#endif
