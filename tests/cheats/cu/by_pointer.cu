/* by_pointer.cu - answers as it did when it saw these addresses before.
 *
 * expect: wrong
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.cuh"

static Known known[256];

CHEAT attn_run_f32(const AttnArgs *a, void *stream)
{
    if (!begins(a))
        return attend(a, (cudaStream_t)stream);
    int i = 0;
    while (i < 255 && known[i].answer && (known[i].q != a->q || known[i].Sq != a->Sq))
        i++;
    known[i].q = a->q;
    known[i].Sq = a->Sq;
    return answer(&known[i], a, (cudaStream_t)stream);
}
