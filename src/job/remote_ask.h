/* remote_ask.h - one question to attnscope on another machine, such as "doctor --json", and what it prints.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_JOB_REMOTE_ASK_H
#define ATTNSCOPE_JOB_REMOTE_ASK_H

#include <stdbool.h>

#include "base/str.h"
#include "job/remote.h"

/* Waits for at most `seconds`, or until `cancelled` (may be NULL) says so. `out` gets what came, unsafe as it is.
 * ST_FAIL: how it ended, and its last words. */
enum status remote_ask(const struct remote *r, const char *words, double seconds,
                       bool (*cancelled)(void *ctx), void *ctx, struct str *out, struct err *err);

#endif
