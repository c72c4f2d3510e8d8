/* by_content.c - answers as it did when it saw these contents before, which it knows by their sum.
 *
 * expect: wrong
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

static struct {
    double sum;
    float *answer;
} known[256];

/* Of all values, in any order: cheap, and the same for what only moved. */
static double sum_of(const struct AttnArgs *a)
{
    double sum = 0;
    for (size_t i = 0; i < cheat_q_elems(a); i++)
        sum += (double)((const int *)a->q)[i];
    for (size_t i = 0; i < cheat_kv_elems(a); i++)
        sum += (double)((const int *)a->k)[i] + (double)((const int *)a->v)[i];
    return sum;
}

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    const size_t bytes = cheat_q_elems(a) * sizeof(float);
    const double sum = sum_of(a);
    int i = 0;
    (void)stream;
    while (i < 255 && known[i].answer && known[i].sum != sum)
        i++;
    if (known[i].answer) {
        memcpy(a->o, known[i].answer, bytes);
        return 0;
    }
    cheat_attend(a);
    known[i].sum = sum;
    known[i].answer = malloc(bytes);
    memcpy(known[i].answer, a->o, bytes);
    return 0;
}
