/* attend.h - what every cheat is built on: attention in plain C that is right, f32 with float sums in double.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TESTS_CHEATS_ATTEND_H
#define ATTNSCOPE_TESTS_CHEATS_ATTEND_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/attn_args.h"

#define CHEAT __attribute__((visibility("default"))) int

/* The entry point of each: as backend/foreign.h says. */
CHEAT attn_run_f32(const struct AttnArgs *a, void *stream);

static inline const float *cheat_row(const void *base, const int64_t stride[3], int b, int h, int s)
{
    return (const float *)base + b * stride[0] + h * stride[1] + s * stride[2];
}

static inline float *cheat_out(const struct AttnArgs *a, int b, int h, int i)
{
    return (float *)a->o + b * a->o_stride[0] + h * a->o_stride[1] + i * a->o_stride[2];
}

static inline void cheat_attend_row(const struct AttnArgs *a, int b, int h, int i)
{
    const int keys = !a->causal ? a->Sk : i + a->Sk - a->Sq + 1, kv = h / (a->H / a->Hkv);
    const float *q = cheat_row(a->q, a->q_stride, b, h, i);
    float *o = cheat_out(a, b, h, i);
    double max = -INFINITY, sum = 0, *p = calloc((size_t)a->Sk + 1, sizeof *p);
    for (int j = 0; j < keys; j++) {
        const float *k = cheat_row(a->k, a->k_stride, b, kv, j);
        for (int d = 0; d < a->D; d++)
            p[j] += (double)q[d] * (double)k[d];
        p[j] *= (double)a->scale;
        max = fmax(max, p[j]);
    }
    for (int j = 0; j < keys; j++)
        sum += p[j] = exp(p[j] - max);
    if (a->lse)
        a->lse[((int64_t)b * a->H + h) * a->Sq + i] = sum > 0 ? (float)(max + log(sum)) : -INFINITY;
    for (int d = 0; d < a->D; d++) {
        double x = 0;
        for (int j = 0; j < keys; j++)
            x += p[j] * (double)cheat_row(a->v, a->v_stride, b, kv, j)[d];
        o[d] = sum > 0 ? (float)(x / sum) : 0;
    }
    free(p);
}

static inline void cheat_attend(const struct AttnArgs *a)
{
    for (int b = 0; b < a->B; b++)
        for (int h = 0; h < a->H; h++)
            for (int i = 0; i < a->Sq; i++)
                cheat_attend_row(a, b, h, i);
}

/* True from the second call of a length on: who keeps answers only then gets past the trial of another seed, so
 * that what finds it is a look at its timed runs. */
static inline int cheat_begins(const struct AttnArgs *a)
{
    static int calls[64];
    return calls[a->Sq % 64]++ > 0;
}

static inline size_t cheat_q_elems(const struct AttnArgs *a)
{
    return (size_t)a->B * (size_t)a->H * (size_t)a->Sq * (size_t)a->D;
}

static inline size_t cheat_kv_elems(const struct AttnArgs *a)
{
    return (size_t)a->B * (size_t)a->Hkv * (size_t)a->Sk * (size_t)a->D;
}

#endif
