/* after_calls.c - works for some calls, and then returns at once.
 *
 * expect: not written when it returned|never written
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    static int calls;
    (void)stream;
    if (++calls <= 3)
        cheat_attend(a);
    return 0;
}
