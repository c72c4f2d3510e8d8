/* environment.c - leaves runtimes of threads that are loaded after it with one thread.
 *
 * expect: changed a variable of the environment
 * checked
 * alone
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    (void)stream;
    cheat_attend(a);
    setenv("OMP_NUM_THREADS", "1", 1);
    return 0;
}
