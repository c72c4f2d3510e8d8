/* behind.cu - is a call behind: it does the work of the call before.
 *
 * expect: wrong|not written|busy after
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.cuh"

// It has the arguments of the call before, and works for that.
CHEAT attn_run_f32(const AttnArgs *a, void *stream)
{
    static AttnArgs before;
    if (is_early())
        return attend(a, (cudaStream_t)stream);
    const int rc = before.q ? attend(&before, (cudaStream_t)stream) : 0;
    before = *a;
    return rc;
}
