/* by_pointer.c - answers as it did when it saw these addresses before.
 *
 * expect: wrong
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

static struct {
    const void *q, *k, *v;
    int S;
    float *answer;
} known[256];

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    const size_t bytes = cheat_q_elems(a) * sizeof(float);
    int i = 0;
    (void)stream;
    while (i < 255 && known[i].answer &&
           (known[i].q != a->q || known[i].k != a->k || known[i].v != a->v || known[i].S != a->Sq))
        i++;
    if (known[i].answer) {
        memcpy(a->o, known[i].answer, bytes);
        return 0;
    }
    cheat_attend(a);
    if (!cheat_begins(a))
        return 0;
    known[i].q = a->q;
    known[i].k = a->k;
    known[i].v = a->v;
    known[i].S = a->Sq;
    known[i].answer = malloc(bytes);
    memcpy(known[i].answer, a->o, bytes);
    return 0;
}
