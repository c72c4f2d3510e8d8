/* attnlib.c - a library as an engineer would bring it: attention in plain C, f32, on host memory.
 *
 * The functions besides attn_run_f32 are what a broken library does.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "kernel/attn_args.h"

#define EXPORT __attribute__((visibility("default")))

static const float *row(const void *base, const int64_t stride[3], int b, int h, int s)
{
    return (const float *)base + b * stride[0] + h * stride[1] + s * stride[2];
}

static void one_row(const struct AttnArgs *a, int b, int h, int i)
{
    const int keys = !a->causal ? a->Sk : i + a->Sk - a->Sq + 1, kv = h / (a->H / a->Hkv);
    const float *q = row(a->q, a->q_stride, b, h, i);
    float *o = (float *)a->o + b * a->o_stride[0] + h * a->o_stride[1] + i * a->o_stride[2];
    double max = -INFINITY, sum = 0, *p = calloc((size_t)a->Sk + 1, sizeof *p);
    for (int j = 0; j < keys; j++) {
        const float *k = row(a->k, a->k_stride, b, kv, j);
        for (int d = 0; d < a->D; d++)
            p[j] += (double)q[d] * (double)k[d];
        p[j] *= (double)a->scale;
        max = fmax(max, p[j]);
    }
    for (int j = 0; j < keys; j++)
        sum += p[j] = exp(p[j] - max);
    for (int d = 0; d < a->D; d++) {
        double x = 0;
        for (int j = 0; j < keys; j++)
            x += p[j] * (double)row(a->v, a->v_stride, b, kv, j)[d];
        o[d] = sum > 0 ? (float)(x / sum) : 0;
    }
    free(p);
}

EXPORT int attn_run_f32(const struct AttnArgs *a, void *stream);
EXPORT int attn_wrong(const struct AttnArgs *a, void *stream);
EXPORT int attn_refuses(const struct AttnArgs *a, void *stream);
EXPORT int attn_crashes(const struct AttnArgs *a, void *stream);

int attn_run_f32(const struct AttnArgs *a, void *stream)
{
    (void)stream;
    for (int b = 0; b < a->B; b++)
        for (int h = 0; h < a->H; h++)
            for (int i = 0; i < a->Sq; i++)
                one_row(a, b, h, i);
    return 0;
}

int attn_wrong(const struct AttnArgs *a, void *stream)
{
    attn_run_f32(a, stream);
    *(float *)a->o += 1;
    return 0;
}

int attn_refuses(const struct AttnArgs *a, void *stream)
{
    (void)a;
    (void)stream;
    return 7;
}

int attn_crashes(const struct AttnArgs *a, void *stream)
{
    (void)a;
    (void)stream;
    abort();
}
