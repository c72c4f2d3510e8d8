/* by_shape.c - answers as it did when it saw this shape before.
 *
 * expect: wrong
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

static struct {
    int B, H, Sq, Sk;
    float *answer;
} known[16];

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    const size_t bytes = cheat_q_elems(a) * sizeof(float);
    int i = 0;
    (void)stream;
    while (
        i < 15 && known[i].answer &&
        (known[i].B != a->B || known[i].H != a->H || known[i].Sq != a->Sq || known[i].Sk != a->Sk))
        i++;
    if (known[i].answer) {
        memcpy(a->o, known[i].answer, bytes);
        return 0;
    }
    cheat_attend(a);
    if (!cheat_begins(a))
        return 0;
    known[i].B = a->B;
    known[i].H = a->H;
    known[i].Sq = a->Sq;
    known[i].Sk = a->Sk;
    known[i].answer = malloc(bytes);
    memcpy(known[i].answer, a->o, bytes);
    return 0;
}
