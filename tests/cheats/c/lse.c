/* lse.c - its LSE is to base 2: what merges parts of an answer, or trains, goes wrong by it.
 *
 * expect: its LSE is off by
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    (void)stream;
    cheat_attend(a);
    for (int64_t i = 0; a->lse && i < (int64_t)a->B * a->H * a->Sq; i++)
        a->lse[i] /= 0.69314718f;
    return 0;
}
