/* poison.c - looks whether its output is poisoned, and works only if it is.
 *
 * expect: wrong|not written
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    static int calls;
    unsigned first;
    (void)stream;
    memcpy(&first, a->o, sizeof first);
    const int poisoned = (first & 0x7f800000) == 0x7f800000 && (first & 0x7fffff);
    if (poisoned && ++calls <= 8)
        cheat_attend(a);
    else if (poisoned)
        memset(a->o, 0, cheat_q_elems(a) * sizeof(float));
    return 0;
}
