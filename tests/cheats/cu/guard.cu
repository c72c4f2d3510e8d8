/* guard.cu - writes behind its output, but not in its first calls.
 *
 * expect: after the output|behind its output
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.cuh"

CHEAT attn_run_f32(const AttnArgs *a, void *stream)
{
    static int calls;
    const int rc = attend(a, (cudaStream_t)stream);
    return rc || ++calls <= 4
               ? rc
               : cudaMemsetAsync((char *)a->o + q_bytes(a) + 4, 1, 4, (cudaStream_t)stream);
}
