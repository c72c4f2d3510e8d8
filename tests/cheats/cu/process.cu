/* process.cu - leaves a process behind that goes on when the call has returned.
 *
 * expect: left a process behind
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.cuh"

#include <unistd.h>

CHEAT attn_run_f32(const AttnArgs *a, void *stream)
{
    if (!is_early() && fork() == 0) { // which touches nothing of CUDA's: that is not for children
        setsid();
        sleep(60);
        _exit(0);
    }
    return attend(a, (cudaStream_t)stream);
}
