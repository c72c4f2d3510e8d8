/* rounding.c - leaves its thread rounding upwards, so that who comes after it is wrong and is blamed.
 *
 * expect: left another rounding of floats behind
 * checked
 * alone
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

#include <fenv.h>

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    (void)stream;
    cheat_attend(a);
    fesetround(FE_UPWARD);
    return 0;
}
