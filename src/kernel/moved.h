/* moved.h - what a kernel's former parameters are called now. A kernel holds one idea; what else it tried has
 * become kernels of its own.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_KERNEL_MOVED_H
#define ATTNSCOPE_KERNEL_MOVED_H

#include <stdbool.h>

#include "base/status.h"

/* What a kernel with a parameter that it once had, set to this value, is now: a kernel, with parameters where it
 * takes some, "wmma_split DSPLIT=4". NULL: it never had it. */
const char *param_moved_to(const char *kernel, const char *param, const char *value);
/* Did this kernel once have this parameter? Then the sentence says what it is now with this value. */
bool param_moved(const char *kernel, const char *param, const char *value, struct err *err);

#endif
