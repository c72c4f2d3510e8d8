/* blocked.c - leaves signals blocked, from its fifth call on.
 *
 * expect: left signal [0-9]+ .*blocked
 * alone
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

#include <signal.h>

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    (void)stream;
    cheat_attend(a);
    static int calls;
    sigset_t all;
    sigfillset(&all);
    if (++calls >= 5)
        pthread_sigmask(SIG_BLOCK, &all, NULL);
    return 0;
}
