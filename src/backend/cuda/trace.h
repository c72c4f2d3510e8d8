/* trace.h - when and on which SM every block of a kernel ran.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CUDA_TRACE_H
#define ATTNSCOPE_BACKEND_CUDA_TRACE_H

#include "backend/cuda/slot.h"

/* The kernel's source with stamps at the begin and end of every block, which the caller frees; NULL with
 * a sentence when an entry point is not found. */
char *trace_source(const struct kernel_desc *d, struct err *err);
/* Loads a traced build beside slot s and runs it twice; see struct backend_ops. */
enum status slot_trace(struct slot *s, const struct trace_watch *watch, struct block_trace *out,
                       struct err *err);

#endif
