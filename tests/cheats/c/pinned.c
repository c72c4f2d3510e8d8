/* pinned.c - leaves the thread that calls it on one core, where kernels with threads are slower.
 *
 * expect: bound to 1 of [0-9]+ cores
 * checked
 * alone
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

#include <sched.h>

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    (void)stream;
    cheat_attend(a);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    return 0;
}
