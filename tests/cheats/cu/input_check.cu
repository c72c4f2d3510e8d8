/* input_check.cu - writes to its inputs when it is checked.
 *
 * expect: overwrote its inputs
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.cuh"

CHEAT attn_run_f32(const AttnArgs *a, void *stream)
{
    const int rc = attend(a, (cudaStream_t)stream);
    return rc ? rc
              : cudaMemsetAsync((void *)a->q, 0, 4,
                                (cudaStream_t)stream); // the next one is to fail
}
