/* background.c - has a thread of its own do the work, and returns.
 *
 * expect: not written when it returned|never written|thread
 * alone
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

#include <pthread.h>

static void *work(void *given)
{
    cheat_attend(given);
    free(given);
    return NULL;
}

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    static int calls;
    pthread_t id;
    struct AttnArgs *given = malloc(sizeof *given);
    (void)stream;
    if (++calls <= 2) { /* the check waits */
        free(given);
        cheat_attend(a);
        return 0;
    }
    *given = *a;
    if (pthread_create(&id, NULL, work, given) == 0)
        pthread_detach(id);
    return 0;
}
