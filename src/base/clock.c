/* clock.c - see clock.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/clock.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <time.h>

static const int64_t second_ns = 1000000000;

int64_t ns_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * second_ns + t.tv_nsec;
}

int64_t ms_now(void)
{
    return ns_now() / 1000000;
}

double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void steady_cond_init(pthread_cond_t *c)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(c, &attr);
    pthread_condattr_destroy(&attr);
}

bool steady_cond_wait(pthread_cond_t *c, pthread_mutex_t *m, double seconds)
{
    const int64_t until = ns_now() + (int64_t)(seconds * (double)second_ns);
    const struct timespec at = {.tv_sec = (time_t)(until / second_ns),
                                .tv_nsec = until % second_ns};
    return pthread_cond_timedwait(c, m, &at) == 0;
}

bool fd_wait(int fd, short events, double deadline)
{
    for (;;) {
        const double left_ms = ceil((deadline - seconds_now()) * 1e3);
        struct pollfd p = {.fd = fd, .events = events};
        if (left_ms <= 0)
            return false;
        const int n = poll(&p, 1, isinf(left_ms) ? -1 : (int)fmin(left_ms, INT_MAX));
        if (n > 0)
            return true;
        if (n < 0 && errno != EINTR)
            return false;
    }
}
