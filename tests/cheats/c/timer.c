/* timer.c - leaves a timer behind whose signals interrupt whoever comes after it.
 *
 * expect: left an interval timer running
 * checked
 * alone
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

#include <signal.h>
#include <sys/time.h>

static void waste(int signal)
{
    for (volatile int i = 0; i < 20000; i++)
        (void)signal;
}

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    (void)stream;
    cheat_attend(a);
    const struct itimerval often = {{0, 500}, {0, 500}};
    signal(SIGALRM, waste);
    setitimer(ITIMER_REAL, &often, NULL);
    return 0;
}
