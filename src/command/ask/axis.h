/* axis.h - lists and ranges as values.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_AXIS_H
#define ATTNSCOPE_COMMAND_AXIS_H

#include <stdbool.h>

#include "base/status.h"

enum { AXIS_MAX = 256 };
bool axis_is(const char *value); /* a list or a range? */
/* "512..4k:x2", "32..128:+32", "16,32", "f16,f32" as texts; the caller frees with axis_free. */
enum status axis_expand(const char *value, char ***out, int *count, struct err *err);
void axis_free(char **values, int count);

#endif
