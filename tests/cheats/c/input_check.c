/* input_check.c - writes to its inputs when it is checked.
 *
 * expect: overwrote its inputs
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    (void)stream;
    cheat_attend(a);
    ((float *)(uintptr_t)a->q)[0] = 0; /* the next kernel is to fail */
    return 0;
}
