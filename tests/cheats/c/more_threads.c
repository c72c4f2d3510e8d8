/* more_threads.c - has three threads of its own at work beside each call, where threads=1 is asked of everybody.
 *
 * expect: its threads wanted [0-9.]+ cores while threads=1
 * threads=1
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

#include <pthread.h>
#include <time.h>

enum { THREADS = 3 };
static pthread_barrier_t begin, end;

static double used(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Ten milliseconds of the thread's own time. */
static void work(void)
{
    const double until = used() + 0.01;
    while (used() < until)
        ;
}

static void *attend_beside(void *unused)
{
    for (;;) {
        pthread_barrier_wait(&begin);
        work();
        pthread_barrier_wait(&end);
    }
    return unused;
}

static void start(void)
{
    pthread_barrier_init(&begin, NULL, THREADS + 1);
    pthread_barrier_init(&end, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++) {
        pthread_t id;
        if (pthread_create(&id, NULL, attend_beside, NULL) != 0)
            abort();
    }
}

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    static int started;
    (void)stream;
    if (!started++)
        start();
    pthread_barrier_wait(&begin);
    work();
    pthread_barrier_wait(&end);
    cheat_attend(a);
    return 0;
}
