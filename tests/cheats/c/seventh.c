/* seventh.c - is wrong in every seventh call.
 *
 * expect: wrong
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    static int calls;
    (void)stream;
    if (++calls % 7 == 0)
        memset(a->o, 0, cheat_q_elems(a) * sizeof(float));
    else
        cheat_attend(a);
    return 0;
}
