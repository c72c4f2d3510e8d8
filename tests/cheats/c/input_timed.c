/* input_timed.c - writes to its inputs, but not in its first calls.
 *
 * expect: overwrote its inputs
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    static int calls;
    (void)stream;
    cheat_attend(a);
    if (++calls > 4)
        ((float *)(uintptr_t)a->v)[1] += 1;
    return 0;
}
