/* ops_avx2.c - the bodies of all instructions for AVX2.
 *
 * The pragmas stand here and in no macro: gcc 12 forgets targets that come from one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#if defined __x86_64__
#define SIM_SET avx2
#define ISA_AVX2
#include <stddef.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sim/exec/lanes.h"

#if defined __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* at -O1 no loop is vectorised */
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c,bmi,bmi2,popcnt,lzcnt"))), \
                             apply_to = function)
#elif defined __GNUC__
#pragma GCC push_options
#ifdef __OPTIMIZE__ /* at -O0 gcc 12 loses the target to this pragma */
#pragma GCC optimize("O3,no-math-errno,no-trapping-math,fp-contract=off")
#endif
#pragma GCC target("avx2,fma,f16c,bmi,bmi2,popcnt,lzcnt")
#endif

#include "sim/exec/bodies.h"

#if defined __clang__
#pragma clang attribute pop
#elif defined __GNUC__
#pragma GCC pop_options
#endif
#else
typedef int no_ops_avx2; /* a file needs a declaration */
#endif
