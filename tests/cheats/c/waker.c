/* waker.c - has a thread that wakes for moments, between looks, to sweep the caches of whoever is measured beside it.
 *
 * expect: a thread of its (wakes again and again|works on)
 * alone
 * cpu
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

#include <pthread.h>
#include <unistd.h>

static void *sweep(void *unused)
{
    enum { BYTES = 2 << 20, LINE = 64 };
    volatile char *p = malloc(BYTES);
    for (;;) {
        usleep(3000);
        for (int i = 0; p && i < BYTES; i += LINE)
            p[i] = (char)(p[i] + 1);
    }
    return unused;
}

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    static int started;
    pthread_t id;
    (void)stream;
    cheat_attend(a);
    if (!started++ && pthread_create(&id, NULL, sweep, NULL) == 0)
        pthread_detach(id);
    return 0;
}
