/* low_precision.c - computes in 16 bits and says 32.
 *
 * expect: max_diff|rms_diff
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

static float narrow(float x)
{
    unsigned bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x1000) & 0xffffe000; /* ten bits of mantissa */
    memcpy(&x, &bits, sizeof x);
    return x;
}

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    (void)stream;
    cheat_attend(a);
    for (size_t i = 0; i < cheat_q_elems(a); i++)
        ((float *)a->o)[i] = narrow(((float *)a->o)[i]);
    return 0;
}
