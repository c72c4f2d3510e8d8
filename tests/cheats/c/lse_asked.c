/* lse_asked.c - is wrong where its LSE is asked for, as training does, and right where it is timed.
 *
 * expect: wrong|differ|error
 * checked
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    (void)stream;
    cheat_attend(a);
    if (a->lse)
        cheat_out(a, 0, 0, 0)[0] *= 2;
    return 0;
}
