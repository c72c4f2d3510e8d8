/* ahead.cu - computes what later calls will ask, when it is not yet asked: it has seen which addresses come in turn.
 *
 * expect: wrong|not written
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.cuh"

static AttnArgs seen[256];
static float *ready[256];
static bool is_ready[256];
static int nseen;

CHEAT attn_run_f32(const AttnArgs *a, void *stream)
{
    cudaStream_t s = (cudaStream_t)stream;
    if (!begins(a))
        return attend(a, s);
    int mine = -1;
    for (int i = 0; i < nseen; i++)
        if (seen[i].q == a->q && seen[i].Sq == a->Sq)
            mine = i;
    if (mine >= 0 && is_ready[mine]) {
        is_ready[mine] = false;
        return cudaMemcpyAsync(a->o, ready[mine], q_bytes(a), cudaMemcpyDeviceToDevice, s);
    }
    int rc = attend(a, s);
    if (mine < 0 && nseen < 256) {
        seen[nseen] = *a;
        rc |= cudaMalloc(&ready[nseen++], q_bytes(a));
    }
    for (int i = 0; i < nseen; i++)
        if (!is_ready[i] && seen[i].Sq == a->Sq) {
            AttnArgs later = seen[i];
            later.o = ready[i];
            rc |= attend(&later, s);
            is_ready[i] = true;
        }
    return rc;
}
