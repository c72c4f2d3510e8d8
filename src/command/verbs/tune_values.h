/* tune_values.h - which values of a parameter are worth trying, where nobody has said.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_TUNE_VALUES_H
#define ATTNSCOPE_COMMAND_TUNE_VALUES_H

#include "kernel/descriptor.h"
#include "plan/plan.h"

enum { TUNE_VALUES_MAX = 64 };

/* Parameters that are a side of tiles, as kernels name them, and of what: NULL behind the last. */
struct tune_side {
    const char *name;
    bool keys; /* of Sk; else of the rows of Sq */
};
extern const struct tune_side tune_sides[];

/* Is a tile of this side as long as the shape, and not refused by `gpu` (NULL: none)? A longer one computes nothing more. False for
 * what is no side. */
bool tune_covers(const struct kernel_desc *d, int param, const struct shape *s,
                 const struct device *gpu, int64_t value);

/* The values of a number, in order: doubled from the smallest on, the largest, and the default for the shape, up to the first
 * that covers the shape. Either way from the default the list ends with the first that `gpu` refuses, be the other
 * sides as they are by default or as small as they can be: its reason is that of all behind it. */
int tune_values(const struct kernel_desc *d, int param, const struct shape *s,
                const struct device *gpu, int64_t out[TUNE_VALUES_MAX]);

#endif
