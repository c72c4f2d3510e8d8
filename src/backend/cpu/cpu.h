/* cpu.h - the CPU backend: kernels/cpu/ on a thread pool.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CPU_H
#define ATTNSCOPE_BACKEND_CPU_H

#include "backend/backend.h"

/* ATTNSCOPE_CPU=amx|avx512_bf16|avx512|avx2|neon|generic, read when it opens, forces the vector code. */
extern const struct backend_ops backend_cpu;

#endif
