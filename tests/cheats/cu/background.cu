/* background.cu - has a thread of its own launch the work, and returns.
 *
 * expect: not written|wrong|busy after its stream|a thread of its works on
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.cuh"

#include <thread>

CHEAT attn_run_f32(const AttnArgs *a, void *stream)
{
    static cudaStream_t mine;
    if (is_early())
        return attend(a, (cudaStream_t)stream);
    if (!mine && cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking))
        return 1;
    std::thread([given = *a] { attend(&given, mine); }).detach();
    return 0;
}
