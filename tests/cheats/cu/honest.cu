/* honest.cu - no cheat: it must pass, and have a time.
 *
 * expect: pass
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.cuh"

CHEAT attn_run_f32(const AttnArgs *a, void *stream)
{
    return attend(a, (cudaStream_t)stream);
}
