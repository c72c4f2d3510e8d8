/* sleeper.c - no cheat: threads that wait for the next call, as a library's pool does, are nobody's loss.
 *
 * expect: pass
 * alone
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;

static void *sleep_on(void *unused)
{
    pthread_mutex_lock(&lock);
    for (;;)
        pthread_cond_wait(&work, &lock);
    return unused;
}

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    static int started;
    pthread_t id;
    (void)stream;
    cheat_attend(a);
    for (; started < 3; started++)
        if (pthread_create(&id, NULL, sleep_on, NULL) == 0)
            pthread_detach(id);
    pthread_mutex_lock(&lock);
    pthread_cond_broadcast(&work);
    pthread_mutex_unlock(&lock);
    return 0;
}
