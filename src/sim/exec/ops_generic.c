/* ops_generic.c - the bodies of all instructions for any machine.
 *
 * The pragmas stand here and in no macro: gcc 12 forgets targets that come from one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#define SIM_SET generic
#include <stddef.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sim/exec/lanes.h"

#if defined __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* at -O1 no loop is vectorised */
#elif defined __GNUC__
#pragma GCC push_options
#ifdef __OPTIMIZE__ /* at -O0 gcc 12 loses the target to this pragma */
#pragma GCC optimize("O3,no-math-errno,no-trapping-math,fp-contract=off")
#endif
#endif

#include "sim/exec/bodies.h"

#if !defined __clang__ && defined __GNUC__
#pragma GCC pop_options
#endif
