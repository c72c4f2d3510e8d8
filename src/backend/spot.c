/* spot.c - see spot.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/spot.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

static const double share = 0.15;     /* of the right row, that an error may be */
static const double rounded = 0x1p-6; /* of values of one sign, where they cancel */

static float dot(const float *a, const float *b, int64_t n)
{
    float sum[8] = {0};
    for (int64_t i = 0; i < n; i++)
        sum[i % 8] += a[i] * b[i];
    return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

static const void *element(const struct spot *s, const void *tensor, int64_t at)
{
    return (const char *)tensor + (size_t)at * dtype_size(s->dtype);
}

/* What was met on the way. */
struct seen {
    double sum, squares; /* of the weights, unnormalised */
    float largest;       /* |V| */
};

/* want = softmax(q K) V of one query; `row` is room for a row. */
static struct seen attend(const struct spot *s, const float *q, float *row, float *want)
{
    const float scale = (float)(1 / sqrt((double)s->D));
    struct seen seen = {0};
    float max = -INFINITY;
    for (int64_t d = 0; d < s->D; d++)
        want[d] = 0;
    for (int64_t j = 0; j < s->keys; j++) {
        dtype_to_float(s->dtype, element(s, s->k, j * s->k_stride), row, (size_t)s->D);
        const float score = scale * dot(q, row, s->D);
        const float old = score > max ? expf(max - score) : 1,
                    p = score > max ? 1 : expf(score - max);
        max = fmaxf(max, score);
        seen.sum = seen.sum * (double)old + (double)p;
        seen.squares = seen.squares * (double)(old * old) + (double)(p * p);
        dtype_to_float(s->dtype, element(s, s->v, j * s->v_stride), row, (size_t)s->D);
        for (int64_t d = 0; d < s->D; d++) {
            want[d] = want[d] * old + p * row[d];
            seen.largest = fmaxf(seen.largest, fabsf(row[d]));
        }
    }
    for (int64_t d = 0; d < s->D && seen.sum > 0; d++)
        want[d] /= (float)seen.sum;
    return seen;
}

static bool is_close(const float *want, const float *got, int64_t n, double floor)
{
    double error = 0, norm = 0;
    for (int64_t d = 0; d < n; d++) {
        if (!isfinite(want[d]))
            return true;
        error += ((double)got[d] - want[d]) * ((double)got[d] - want[d]);
        norm += (double)want[d] * want[d];
    }
    return sqrt(error) <= share * sqrt(norm) + floor * sqrt((double)n); /* false for NaN */
}

bool spot_is_right(const struct spot *s)
{
    float *space = xmalloc(4 * (size_t)s->D * sizeof *space);
    float *query = space, *key = space + s->D, *want = key + s->D, *got = want + s->D;
    dtype_to_float(s->dtype, s->q, query, (size_t)s->D);
    const struct seen seen = attend(s, query, key, want);
    dtype_to_float(s->dtype, s->o, got, (size_t)s->D);
    const double floor =
        seen.sum > 0 ? rounded * (double)seen.largest * sqrt(seen.squares) / seen.sum : 0;
    const bool right = is_close(want, got, s->D, floor);
    free(space);
    return right;
}

struct spot spot_of_row(const struct shape *s, const void *q, const void *k, const void *v,
                        const void *o, int64_t row)
{
    const int64_t i = row % s->Sq, h = row / s->Sq % s->H, b = row / s->Sq / s->H;
    const struct strides of_q = shape_strides(s, s->H, s->Sq),
                         of_k = shape_strides(s, s->Hkv, s->Sk);
    struct spot p = {.dtype = s->dtype,
                     .D = s->D,
                     .keys = shape_row_keys(s, i),
                     .k_stride = of_k.s,
                     .v_stride = of_k.s};
    const int64_t query = b * of_q.b + h * of_q.h + i * of_q.s,
                  head = b * of_k.b + h / (s->H / s->Hkv) * of_k.h;
    p.q = element(&p, q, query);
    p.o = element(&p, o, query);
    p.k = element(&p, k, head);
    p.v = element(&p, v, head);
    return p;
}
