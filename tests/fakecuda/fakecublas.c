/* fakecublas.c - as much of cuBLAS as the peer cublas calls, over host memory and at once.
 *
 * Like cuBLAS it divides long sums, and adds the parts in the result's type where nobody forbids it.
 *
 * $FAKECUBLAS=N makes the N-th product fail with status 13.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "elements.h"
#include "fakecuda.h"

#define EXPORT __attribute__((visibility("default")))

static int products;
static bool reduces = true; /* parts of sums in the result's type */
static const struct fake_stream *current;

// clang-format off
#define CUBLAS(name, ...) EXPORT int name(__VA_ARGS__); int name(__VA_ARGS__)
// clang-format on

CUBLAS(cublasCreate_v2, void **h)
{
    *h = &products;
    return 0;
}

CUBLAS(cublasDestroy_v2, void *h)
{
    return h == &products ? 0 : 1;
}

CUBLAS(cublasSetMathMode, void *h, int mode)
{
    reduces = !(mode & 16);
    return h == &products && (mode & ~16) == 0 ? 0 : 1;
}

CUBLAS(cublasGetProperty, int which, int *value)
{
    *value = which + 1;
    return 0;
}

CUBLAS(cublasSetStream_v2, void *h, void *stream)
{
    current = stream;
    return h == &products && stream ? 0 : 1;
}

CUBLAS(cublasSetWorkspace_v2, void *h, void *p, size_t bytes)
{
    return h == &products && p && bytes >= 1 << 20 ? 0 : 1;
}

static int dtype_of(int type)
{
    return type == 0 ? 2 : type == 2 ? 0 : 1;
}

/* Column-major C = alpha op(A) B. */
struct product {
    int op_a, m, n, k, type_a, lda, type_b, ldb, type_c, ldc, batch;
    long long stride_a, stride_b, stride_c;
    float alpha;
    const void *a, *b;
    void *c;
    bool reduces;
};

enum { PART = 32 }; /* of a sum */

static void multiply(const void *ctx)
{
    const struct product *p = ctx;
    if (p->m >= 1024 && p->n >= 1024) /* nobody looks at the result of one that is for its time */
        return;
    for (int x = 0; x < p->batch; x++)
        for (int j = 0; j < p->n; j++)
            for (int i = 0; i < p->m; i++) {
                const long long at = x * p->stride_c + (long long)j * p->ldc + i;
                float sum = 0;
                for (int l = 0; l < p->k; l++) {
                    sum += get_element(p->a,
                                       x * p->stride_a + (p->op_a ? (long long)i * p->lda + l
                                                                  : (long long)l * p->lda + i),
                                       dtype_of(p->type_a)) *
                           get_element(p->b, x * p->stride_b + (long long)j * p->ldb + l,
                                       dtype_of(p->type_b));
                    if (p->reduces && l % PART == PART - 1) {
                        put_element(p->c, at, dtype_of(p->type_c), sum);
                        sum = get_element(p->c, at, dtype_of(p->type_c));
                    }
                }
                put_element(p->c, at, dtype_of(p->type_c), p->alpha * sum);
            }
}

CUBLAS(cublasGemmStridedBatchedEx, void *h, int op_a, int op_b, int m, int n, int k,
       const void *alpha, const void *a, int type_a, int lda, long long stride_a, const void *b,
       int type_b, int ldb, long long stride_b, const void *beta, void *c, int type_c, int ldc,
       long long stride_c, int batch, int compute, int algo)
{
    const char *fail = getenv("FAKECUBLAS");
    if (h != &products || op_b != 0 || *(const float *)beta != 0 ||
        (compute != 68 && compute != 77) || algo != -1)
        return 7;
    if (fail && ++products == atoi(fail))
        return 13;
    const struct product p = {op_a,  m,        n,        k,        type_a,
                              lda,   type_b,   ldb,      type_c,   ldc,
                              batch, stride_a, stride_b, stride_c, *(const float *)alpha,
                              a,     b,        c,        reduces};
    if (!current || !current->record(multiply, &p, sizeof p))
        multiply(&p);
    return 0;
}
