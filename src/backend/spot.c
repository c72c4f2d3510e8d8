/* spot.c - see spot.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/spot.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

#ifndef __clang__
#pragma GCC optimize("O3")
#endif

static const double share = 0.15;     /* of the right row, that an error may be */
static const double rounded = 0x1p-6; /* of values of one sign, where they cancel */

/* Sums and maxima go in lanes, which the compiler makes vectors of; rows are widened CHUNK at a time. */
enum { LANES = 16, CHUNK = 32 };

static float dot(const float *restrict a, const float *restrict b, int64_t n)
{
    float lane[LANES] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++)
            lane[l] += a[i + l] * b[i + l];
    for (; i < n; i++)
        sum += a[i] * b[i];
    for (int l = 0; l < LANES; l++)
        sum += lane[l];
    return sum;
}

/* to += p * row. */
static void add_scaled(float *restrict to, const float *restrict row, float p, int64_t n)
{
    for (int64_t d = 0; d < n; d++)
        to[d] += p * row[d];
}

/* lane[] = the largest so far of those that take turns in it. */
static void take_largest(float lane[LANES], const float *restrict x, int64_t n)
{
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++)
            lane[l] = fabsf(x[i + l]) > lane[l] ? fabsf(x[i + l]) : lane[l];
    for (; i < n; i++)
        lane[0] = fabsf(x[i]) > lane[0] ? fabsf(x[i]) : lane[0];
}

static const void *element(const struct spot *s, const void *tensor, int64_t at)
{
    return (const char *)tensor + (size_t)at * dtype_size(s->dtype);
}

/* n rows of K or V from row j on, one behind the other. */
static void widen(const struct spot *s, const void *tensor, int64_t stride, int64_t j, int64_t n,
                  float *rows)
{
    if (stride == s->D) {
        dtype_to_float(s->dtype, element(s, tensor, j * stride), rows, (size_t)(n * s->D));
        return;
    }
    for (int64_t i = 0; i < n; i++)
        dtype_to_float(s->dtype, element(s, tensor, (j + i) * stride), rows + i * s->D,
                       (size_t)s->D);
}

/* What was met on the way. */
struct seen {
    double sum, squares; /* of the weights, unnormalised */
    float largest;       /* |V| */
};

/* Keys j..j+n-1, with the weights relative to *max, which rises. */
static void attend_chunk(const struct spot *s, int64_t j, int64_t n, const float *q, float *rows,
                         float *max, float *want, float lane[LANES], struct seen *seen)
{
    const float scale = (float)(1 / sqrt((double)s->D)), before = *max;
    float score[CHUNK];
    widen(s, s->k, s->k_stride, j, n, rows);
    for (int64_t i = 0; i < n; i++) {
        score[i] = scale * dot(q, rows + i * s->D, s->D);
        *max = score[i] > *max ? score[i] : *max;
    }
    const float old = *max > before ? expf(before - *max) : 1;
    seen->sum *= (double)old;
    seen->squares *= (double)(old * old);
    for (int64_t d = 0; d < s->D; d++)
        want[d] *= old;
    widen(s, s->v, s->v_stride, j, n, rows);
    take_largest(lane, rows, n * s->D);
    for (int64_t i = 0; i < n; i++) {
        const float p = score[i] == *max ? 1 : expf(score[i] - *max);
        seen->sum += (double)p;
        seen->squares += (double)(p * p);
        add_scaled(want, rows + i * s->D, p, s->D);
    }
}

/* want = softmax(q K) V of one query; `rows` is room for CHUNK of them. */
static struct seen attend(const struct spot *s, const float *q, float *rows, float *want)
{
    struct seen seen = {0};
    float max = -INFINITY, lane[LANES] = {0};
    for (int64_t d = 0; d < s->D; d++)
        want[d] = 0;
    for (int64_t j = 0; j < s->keys; j += CHUNK)
        attend_chunk(s, j, s->keys - j < CHUNK ? s->keys - j : CHUNK, q, rows, &max, want, lane,
                     &seen);
    for (int l = 0; l < LANES; l++)
        seen.largest = fmaxf(seen.largest, lane[l]);
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
    float *space = xmalloc((3 + CHUNK) * (size_t)s->D * sizeof *space);
    float *query = space, *want = query + s->D, *got = want + s->D, *rows = got + s->D;
    dtype_to_float(s->dtype, s->q, query, (size_t)s->D);
    const struct seen seen = attend(s, query, rows, want);
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
