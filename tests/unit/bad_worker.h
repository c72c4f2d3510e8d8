/* bad_worker.h - a worker that speaks the protocol and misbehaves on request.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TESTS_BAD_WORKER_H
#define ATTNSCOPE_TESTS_BAD_WORKER_H

#include <stdbool.h>

/* Plays `role` on descriptor `fd`. What goes wrong is named by the variable BAD_WORKER; nothing
 * when it is unset. Returns the exit status. */
int bad_worker(const char *role, int fd);

#endif
