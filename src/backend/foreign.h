/* foreign.h - kernels that are C functions in shared libraries of the user's.
 *
 *     int attn_run(const AttnArgs *args, void *stream);      0: done
 *
 * On the CUDA backend the addresses in args are the device's and stream is a CUstream, which is a
 * cudaStream_t too: the function puts its work into the stream and returns. On the CPU backend they
 * are the host's, stream is NULL, and the work is done when the function returns.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_FOREIGN_H
#define ATTNSCOPE_BACKEND_FOREIGN_H

#include "kernel/attn_args.h"
#include "kernel/descriptor.h"

typedef int foreign_fn(const struct AttnArgs *args, void *stream);

/* Opens @library of the descriptor, or finds it open, and takes the function for this dtype:
 * SYMBOL_f16 and its like if the library has it, else SYMBOL. A file that has changed is opened
 * anew. Libraries stay open until the process ends: they may have threads. ST_FAIL with the loader's
 * reason. Only for the worker. */
enum status foreign_open(const struct kernel_desc *d, enum dtype dtype, foreign_fn **fn,
                         struct err *err);
/* Calls it. ST_FAIL with the kernel's name when it returns anything but 0. */
enum status foreign_call(const struct kernel_desc *d, foreign_fn *fn, const struct AttnArgs *args,
                         void *stream, struct err *err);

#endif
