/* honest.c - no cheat: it must pass, and have a time.
 *
 * expect: pass
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    (void)stream;
    cheat_attend(a);
    return 0;
}
