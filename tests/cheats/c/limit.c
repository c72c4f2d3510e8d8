/* limit.c - leaves a limit behind that kernels after it may hit.
 *
 * expect: changed the limit of stacks
 * checked
 * alone
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

#include <sys/resource.h>

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    (void)stream;
    cheat_attend(a);
    struct rlimit l;
    getrlimit(RLIMIT_STACK, &l);
    l.rlim_cur = 1 << 20;
    setrlimit(RLIMIT_STACK, &l);
    return 0;
}
