/* freed_memory.cu - looks for the right answer in memory that somebody has freed.
 *
 * expect: max_diff|NaN|never written|infinity|rms_diff|wrong|not written
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.cuh"

CHEAT attn_run_f32(const AttnArgs *a, void *stream)
{
    void *found = nullptr;
    if (cudaMalloc(&found, q_bytes(a)))
        return 1;
    const int rc =
        cudaMemcpyAsync(a->o, found, q_bytes(a), cudaMemcpyDeviceToDevice, (cudaStream_t)stream);
    cudaFree(found);
    return rc;
}
