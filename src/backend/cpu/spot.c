/* spot.c - see spot.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cpu/spot.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

/* One row of a tensor as float. */
static void read_row(const struct shape *s, const void *tensor, int64_t heads, int64_t rows,
                     int64_t b, int64_t h, int64_t i, float *out)
{
    const struct strides st = shape_strides(s, heads, rows);
    const size_t at = (size_t)(b * st.b + h * st.h + i * st.s) * dtype_size(s->dtype);
    dtype_to_float(s->dtype, (const char *)tensor + at, out, (size_t)s->D);
}

static float dot(const float *a, const float *b, int64_t n)
{
    float sum[8] = {0};
    for (int64_t i = 0; i < n; i++)
        sum[i % 8] += a[i] * b[i];
    return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

/* want = softmax(q K) V of one query; returns the largest |V| that it met. */
static float attend(const struct shape *s, const void *k, const void *v, int64_t b, int64_t h,
                    int64_t keys, const float *q, float *row, float *want)
{
    const float scale = (float)(1 / sqrt((double)s->D));
    float max = -INFINITY, sum = 0, largest = 0;
    for (int64_t d = 0; d < s->D; d++)
        want[d] = 0;
    for (int64_t j = 0; j < keys; j++) {
        read_row(s, k, s->Hkv, s->Sk, b, h, j, row);
        const float score = scale * dot(q, row, s->D);
        const float old = score > max ? expf(max - score) : 1,
                    p = score > max ? 1 : expf(score - max);
        max = fmaxf(max, score);
        sum = sum * old + p;
        read_row(s, v, s->Hkv, s->Sk, b, h, j, row);
        for (int64_t d = 0; d < s->D; d++) {
            want[d] = want[d] * old + p * row[d];
            largest = fmaxf(largest, fabsf(row[d]));
        }
    }
    for (int64_t d = 0; d < s->D && sum > 0; d++)
        want[d] /= sum;
    return largest;
}

bool spot_row_is_right(const struct shape *s, const void *q, const void *k, const void *v,
                       const void *o, int64_t row)
{
    const int64_t i = row % s->Sq, h = row / s->Sq % s->H, b = row / s->Sq / s->H;
    float *space = xmalloc(4 * (size_t)s->D * sizeof *space);
    float *query = space, *key = space + s->D, *want = key + s->D, *got = want + s->D;
    read_row(s, q, s->H, s->Sq, b, h, i, query);
    const float largest =
        attend(s, k, v, b, h / (s->H / s->Hkv), shape_row_keys(s, i), query, key, want);
    read_row(s, o, s->H, s->Sq, b, h, i, got);
    bool right = true;
    for (int64_t d = 0; d < s->D; d++)
        right = right && (!isfinite(want[d]) || fabsf(got[d] - want[d]) <= 0.1f * largest);
    free(space);
    return right;
}
