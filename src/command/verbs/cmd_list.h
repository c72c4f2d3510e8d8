/* cmd_list.h - what lists of kernels say alike.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_CMD_LIST_H
#define ATTNSCOPE_COMMAND_CMD_LIST_H

#include <jansson.h>

#include "kernel/registry.h"

/* The sides that a kernel has, ["cpu", "cuda"]. The caller owns it. */
json_t *kernel_sides_json(const struct kernel *k);
/* The types that it takes, ["f16", "f32"]. The caller owns it. */
json_t *kernel_dtypes_json(const struct kernel_desc *d);

#endif
