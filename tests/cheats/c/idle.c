/* idle.c - leaves its thread to run only when nobody else wants the core, from its fifth call on.
 *
 * expect: scheduling policy SCHED_IDLE
 * alone
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

#include <sched.h>

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    (void)stream;
    cheat_attend(a);
    static int calls;
    const struct sched_param none = {0};
    if (++calls >= 5)
        sched_setscheduler(0, SCHED_IDLE, &none);
    return 0;
}
