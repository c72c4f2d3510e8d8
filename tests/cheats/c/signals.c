/* signals.c - has a thread that interrupts its caller a thousand times a second, by signals and no timer.
 *
 * expect: a thread of its (wakes again and again|works on)
 * alone
 * cpu
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static pthread_t whom;

static void waste(int signal)
{
    for (volatile int i = 0; i < 50000; i++)
        (void)signal;
}

static void *interrupt(void *unused)
{
    for (;;) {
        usleep(1000);
        pthread_kill(whom, SIGUSR1);
    }
    return unused;
}

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    static int started;
    pthread_t id;
    (void)stream;
    cheat_attend(a);
    whom = pthread_self();
    signal(SIGUSR1, waste);
    if (!started++ && pthread_create(&id, NULL, interrupt, NULL) == 0)
        pthread_detach(id);
    return 0;
}
