/* guard.c - writes behind its output, but not in its first calls.
 *
 * expect: behind its output|after the output
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    static int calls;
    (void)stream;
    cheat_attend(a);
    if (++calls > 4)
        ((float *)a->o)[cheat_q_elems(a) + 1] = 1;
    return 0;
}
