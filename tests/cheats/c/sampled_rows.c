/* sampled_rows.c - computes the rows that a check is likely to look at, and guesses the others.
 *
 * expect: wrong|float32|mean|max_diff
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    (void)stream;
    for (int b = 0; b < a->B; b++)
        for (int h = 0; h < a->H; h++)
            for (int i = 0; i < a->Sq; i++)
                if (i == 0 || i == a->Sq - 1 || i % 16 == 0 || i % 16 == 15)
                    cheat_attend_row(a, b, h, i);
                else
                    memcpy(cheat_out(a, b, h, i),
                           cheat_row(a->v, a->v_stride, b, h / (a->H / a->Hkv), 0),
                           (size_t)a->D * sizeof(float));
    return 0;
}
