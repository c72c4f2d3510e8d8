/* process.c - has a process of its own do the work, in memory that both have, and returns.
 *
 * expect: left a process behind
 * alone
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

#include <sys/mman.h>
#include <unistd.h>

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    static int calls;
    (void)stream;
    cheat_attend(a);
    if (++calls > 2 && fork() == 0) { /* which goes on to work for later calls */
        setsid();
        sleep(60);
        _exit(0);
    }
    return 0;
}
