/* guard_far.c - writes 16 KiB behind its output, in each call.
 *
 * expect: [0-9]+ bytes after the output were overwritten
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    (void)stream;
    cheat_attend(a);
    ((float *)a->o)[cheat_q_elems(a) + (16 << 10) / sizeof(float)] = 1;
    return 0;
}
