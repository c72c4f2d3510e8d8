/* once.h - a workspace that is cleared once, when it is allocated (@workspace NAME EXPR once): each call finds it clear
 * and leaves it so. Who does not is found behind a checked run and at the end of the timed ones.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_ONCE_H
#define ATTNSCOPE_BACKEND_ONCE_H

#include <stdint.h>

#include "base/status.h"

/* ST_OK where all these bytes of the workspace are 0; else ST_FAIL, and a sentence with the first that is not.
 * `kernel` NULL: who reads it says whose. */
enum status once_check(const char *kernel, const char *workspace, const void *bytes, uint64_t n,
                       struct err *err);

#endif
