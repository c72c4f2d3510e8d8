/* watcher.c - has a thread that waits for the next inputs and begins before it is asked.
 *
 * expect: a thread of its works on
 * alone
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

#include <pthread.h>

static const volatile float *volatile watched;

static void *watch(void *unused)
{
    double sum = 0;
    (void)unused;
    for (;;)
        sum += watched ? (double)*watched : 0;
    return NULL;
}

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    static int calls;
    pthread_t id;
    (void)stream;
    cheat_attend(a);
    watched = (const float *)a->q;
    if (++calls == 5 && pthread_create(&id, NULL, watch, NULL) == 0)
        pthread_detach(id);
    return 0;
}
