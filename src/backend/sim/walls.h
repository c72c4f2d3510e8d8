/* walls.h - what a caged process gives up, once and for all: files, system calls, memory, time.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_SIM_WALLS_H
#define ATTNSCOPE_BACKEND_SIM_WALLS_H

#include <stdbool.h>
#include <stddef.h>

/* Has this machine Landlock, and filters of system calls? Limits every machine has. */
bool walls_have_files(void);
bool walls_have_calls(void);

/* Closes every descriptor from this one on. */
bool walls_close_from(int fd);
/* Memory beyond what the process has now, processor seconds; no core, no file of any size. */
bool walls_limit(size_t bytes, int cpu_s);
/* No file, no socket, no other process, no new program, no code that was data. False: what the machine has
 * could not be put up. */
bool walls_enter(void);

#endif
