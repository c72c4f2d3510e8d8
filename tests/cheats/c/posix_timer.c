/* posix_timer.c - the same by timer_create(), from its fifth call on.
 *
 * expect: left a timer running
 * alone
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

#include <signal.h>
#include <time.h>

static void waste(int signal)
{
    for (volatile int i = 0; i < 20000; i++)
        (void)signal;
}

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    (void)stream;
    cheat_attend(a);
    static int calls;
    timer_t id;
    struct sigevent how = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
    const struct itimerspec often = {{0, 500000}, {0, 500000}};
    signal(SIGUSR2, waste);
    if (++calls == 5 && timer_create(CLOCK_MONOTONIC, &how, &id) == 0)
        timer_settime(id, 0, &often, NULL);
    return 0;
}
