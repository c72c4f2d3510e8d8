/* one_shape.c - is right for lengths that are a multiple of 4, and says nothing of it.
 *
 * expect: neighbouring shape
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    struct AttnArgs less = *a;
    (void)stream;
    memset(a->o, 0, cheat_q_elems(a) * sizeof(float));
    less.Sk = a->Sk / 4 * 4;
    cheat_attend(&less);
    return 0;
}
