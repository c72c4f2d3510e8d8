/* after_calls.cu - works for some calls, and then returns at once.
 *
 * expect: not written when it returned|less than a launch takes
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.cuh"

CHEAT attn_run_f32(const AttnArgs *a, void *stream)
{
    return is_early() ? attend(a, (cudaStream_t)stream) : 0;
}
