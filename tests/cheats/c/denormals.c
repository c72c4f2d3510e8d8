/* denormals.c - leaves its thread taking tiny numbers for 0, which is faster and less exact, from its fifth call on.
 *
 * expect: left another rounding of floats
 * alone
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

#include <fenv.h>

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    (void)stream;
    cheat_attend(a);
    static int calls;
#if defined __x86_64__
    if (++calls >= 5)
        __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040u);
#else
    if (++calls >= 5)
        fesetround(FE_UPWARD);
#endif
    return 0;
}
