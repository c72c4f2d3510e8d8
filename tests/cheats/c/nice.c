/* nice.c - leaves the thread that calls it at the lowest priority, so that whoever comes after it waits longer.
 *
 * expect: with nice 19
 * checked
 * alone
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

#include <sys/resource.h>

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    (void)stream;
    cheat_attend(a);
    setpriority(PRIO_PROCESS, 0, 19);
    return 0;
}
