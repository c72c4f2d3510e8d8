/* guard_before.c - writes 16 KiB before its output, in each call.
 *
 * expect: bytes before the output were overwritten
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    (void)stream;
    cheat_attend(a);
    ((float *)a->o)[-((16 << 10) / (long)sizeof(float))] = 1;
    return 0;
}
