/* pinned_others.c - puts every thread of the program but its caller on one core, at its fifth call.
 *
 * expect: bound to 1 of [0-9]+ cores
 * alone
 * cpu
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

#include <dirent.h>
#include <sched.h>
#include <unistd.h>

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    (void)stream;
    cheat_attend(a);
    static int calls;
    cpu_set_t one;
    DIR *d = ++calls >= 5 ? opendir("/proc/self/task") : NULL;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    for (struct dirent *e; d && (e = readdir(d));)
        if (atoi(e->d_name) > 0 && atoi(e->d_name) != getpid())
            sched_setaffinity(atoi(e->d_name), sizeof one, &one);
    if (d)
        closedir(d);
    return 0;
}
