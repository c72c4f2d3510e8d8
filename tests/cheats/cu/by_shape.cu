/* by_shape.cu - answers as it did when it saw this shape before.
 *
 * expect: wrong
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.cuh"

static Known known[16];

CHEAT attn_run_f32(const AttnArgs *a, void *stream)
{
    if (!begins(a))
        return attend(a, (cudaStream_t)stream);
    int i = 0;
    while (
        i < 15 && known[i].answer &&
        (known[i].B != a->B || known[i].H != a->H || known[i].Sq != a->Sq || known[i].Sk != a->Sk))
        i++;
    known[i].B = a->B;
    known[i].H = a->H;
    known[i].Sq = a->Sq;
    known[i].Sk = a->Sk;
    return answer(&known[i], a, (cudaStream_t)stream);
}
