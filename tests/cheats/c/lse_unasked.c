/* lse_unasked.c - leaves keys out where nobody asks for its LSE: timed runs are such, and checked ones were not.
 *
 * expect: wrong|differ|error
 * checked
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    struct AttnArgs fewer = *a;
    (void)stream;
    if (!a->lse && !a->causal)
        fewer.Sk = a->Sk / 2;
    cheat_attend(&fewer);
    return 0;
}
