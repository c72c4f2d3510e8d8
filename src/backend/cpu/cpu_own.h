/* cpu_own.h - C kernels of the user's: compiled, kept in the cache, and loaded into this process.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CPU_OWN_H
#define ATTNSCOPE_BACKEND_CPU_OWN_H

#include "backend/cpu/cpu_kernel.h"
#include "kernel/descriptor.h"

/* The function attn_<name> of a descriptor of code CODE_C: compiled by the system's C compiler, or found
 * in the cache, or open already. What is open stays open until the process ends. ST_NO when it does not
 * compile or there is no compiler, ST_FAIL when the compiler was stopped or the code cannot be loaded;
 * the sentence begins with the kernel's name. Only for the worker. */
enum status cpu_own_open(const struct kernel_desc *d, cpu_kernel_fn **fn, struct err *err);

#endif
