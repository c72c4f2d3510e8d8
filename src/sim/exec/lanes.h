/* lanes.h - loops over the 32 lanes of a warp, built for one instruction set after the other.
 *
 * The file that includes this defines SIM_SET as the name of the set. A pragma has what follows compiled for it, so
 * that no other function in the program has its instructions, and optimised whatever the build's flags.
 * No product and sum are contracted: PTX says which are fused.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_EXEC_LANES_H
#define ATTNSCOPE_SIM_EXEC_LANES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#if defined __x86_64__
#include <immintrin.h>
#endif

#define PRAGMA(text) _Pragma(#text)
#define JOIN_(a, b)  a##_##b
#define JOIN_2(a, b) JOIN_(a, b)
#define IN_SET(name) JOIN_2(name, SIM_SET)
#if defined __clang__
#define EACH_LANE PRAGMA(clang loop vectorize(assume_safety)) for (int i = 0; i < 32; i++)
/* Where nothing is optimised, or a sanitizer looks at every access, loops stay as they are, which is no fault. */
#pragma clang diagnostic ignored "-Wpass-failed"
#else
#define EACH_LANE PRAGMA(GCC ivdep) for (int i = 0; i < 32; i++)
#endif
#define INLINE static inline __attribute__((always_inline))

typedef float f32 __attribute__((may_alias));
typedef double f64 __attribute__((may_alias));
typedef int32_t s32 __attribute__((may_alias));
typedef uint32_t u32 __attribute__((may_alias));
typedef int64_t s64 __attribute__((may_alias));
typedef uint64_t u64 __attribute__((may_alias));

#endif
