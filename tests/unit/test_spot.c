/* One row of an output, looked at: what is right in any precision gets through, what is not does not, however
 * many keys there are.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/spot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "measure/verify.h"
#include "spec/input.h"
#include "tap.h"

/* A problem, its inputs, and an output that is right, from plain arithmetic in double. */
struct made {
    struct problem p;
    struct tensors t;
    float *right; /* of every row */
    void *o;
};

static void attend(struct made *m, int64_t row, float *out)
{
    const struct shape *s = &m->p.shape;
    const struct spot at = spot_of_row(s, m->t.q, m->t.k, m->t.v, m->o, row);
    float *q = xcalloc((size_t)s->D, 4), *x = xcalloc((size_t)s->D, 4);
    double *w = xcalloc((size_t)s->Sk, sizeof *w), *acc = xcalloc((size_t)s->D, sizeof *acc);
    double max = -INFINITY, sum = 0;
    const size_t size = dtype_size(s->dtype);
    dtype_to_float(s->dtype, at.q, q, (size_t)s->D);
    for (int64_t j = 0; j < at.keys; j++) {
        dtype_to_float(s->dtype, (const char *)at.k + (size_t)(j * at.k_stride) * size, x,
                       (size_t)s->D);
        for (int64_t d = 0; d < s->D; d++)
            w[j] += (double)q[d] * (double)x[d];
        w[j] /= sqrt((double)s->D);
        max = fmax(max, w[j]);
    }
    for (int64_t j = 0; j < at.keys; j++) {
        dtype_to_float(s->dtype, (const char *)at.v + (size_t)(j * at.v_stride) * size, x,
                       (size_t)s->D);
        sum += w[j] = exp(w[j] - max);
        for (int64_t d = 0; d < s->D; d++)
            acc[d] += w[j] * (double)x[d];
    }
    for (int64_t d = 0; d < s->D; d++)
        out[d] = sum > 0 ? (float)(acc[d] / sum) : 0;
    free(q);
    free(x);
    free(w);
    free(acc);
}

static struct made make(const char *shape)
{
    struct made m = {.p = PROBLEM_DEFAULT};
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL_FATAL(shape_parse(shape, &m.p.shape, &err), ST_OK);
    CU_ASSERT_EQUAL_FATAL(tensors_make(&m.p, &m.t, &err), ST_OK);
    m.o = xcalloc(shape_q_elems(&m.p.shape), 4);
    m.right = xcalloc((size_t)m.p.shape.D, 4);
    return m;
}

static void unmake(struct made *m)
{
    tensors_free(&m->t);
    free(m->o);
    free(m->right);
    problem_clear(&m->p);
}

/* Is the row right if it is `share` of the right one, every element off by `noise` of its size? */
static bool judged(struct made *m, int64_t row, double share, double noise)
{
    const struct shape *s = &m->p.shape;
    const struct spot at = spot_of_row(s, m->t.q, m->t.k, m->t.v, m->o, row);
    attend(m, row, m->right);
    for (int64_t d = 0; d < s->D; d++)
        m->right[d] *= (float)(share * (1 + (d % 2 ? noise : -noise)));
    char *to = (char *)(uintptr_t)at.o;
    for (int64_t d = 0; d < s->D; d++)
        dtype_from_float(s->dtype, &m->right[d], to + (size_t)d * dtype_size(s->dtype), 1);
    return spot_is_right(&at);
}

static void test_rows(void)
{
    static const char *const shapes[] = {
        "B=1 H=2 S=20 D=8 f32",     "B=2 H=4 Hkv=2 S=100 D=64 f16 causal",
        "B=1 H=2 S=3000 D=64 bf16", "B=1 H=4 Hkv=1 Sq=3 Sk=500 D=33 f16 bshd",
        "B=1 H=1 S=1500 D=128 f16",
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct made m = make(shapes[i]);
        const struct shape *s = &m.p.shape;
        const int64_t rows = s->B * s->H * s->Sq;
        for (int64_t k = 0; k < 8; k++) {
            const int64_t row = rows - 1 - k * (rows - 1) / 8;
            CU_ASSERT(judged(&m, row, 1, 0));
            CU_ASSERT(judged(&m, row, 1, 0.01)); /* as rounding to 8 bits leaves it */
            CU_ASSERT(!judged(&m, row, 0, 0));   /* zeros */
            CU_ASSERT(!judged(&m, row, 2, 0));
            CU_ASSERT(!judged(&m, row, NAN, 0)); /* poison */
        }
        unmake(&m);
    }
}

/* Of another query, and so of inputs that were there before. */
static void test_stale(void)
{
    struct made m = make("B=1 H=2 S=1000 D=64 f16");
    const struct shape *s = &m.p.shape;
    int wrong = 0;
    for (int64_t row = 0; row < 50; row++) {
        struct spot at = spot_of_row(s, m.t.q, m.t.k, m.t.v, m.o, row);
        CU_ASSERT(judged(&m, row + 1, 1, 0)); /* leaves it in the output of the next row */
        at.o = spot_of_row(s, m.t.q, m.t.k, m.t.v, m.o, row + 1).o;
        wrong += !spot_is_right(&at);
    }
    CU_ASSERT_EQUAL(wrong, 50);
    unmake(&m);
}

/* A row that sees no key is zeros. */
static void test_no_keys(void)
{
    struct made m = make("B=1 H=1 Sq=200 Sk=77 D=16 f32 causal");
    struct spot at = spot_of_row(&m.p.shape, m.t.q, m.t.k, m.t.v, m.o, 3);
    CU_ASSERT_EQUAL(at.keys, 0);
    CU_ASSERT(spot_is_right(&at));
    ((float *)m.o)[3 * 16] = 0.01f;
    CU_ASSERT(!spot_is_right(&at));
    unmake(&m);
}

static const struct tap_test tests[] = {
    {"right rows and wrong ones", test_rows},
    {"another query's row is wrong", test_stale},
    {"a row without keys", test_no_keys},
};
TAP_MAIN("spot", tests)
