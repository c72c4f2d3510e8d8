/* input_timed.cu - writes to its inputs, but not in its first calls.
 *
 * expect: overwrote its inputs
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.cuh"

CHEAT attn_run_f32(const AttnArgs *a, void *stream)
{
    static int calls;
    const int rc = attend(a, (cudaStream_t)stream);
    return rc || ++calls <= 4 ? rc : cudaMemsetAsync((void *)a->v, 1, 8, (cudaStream_t)stream);
}
