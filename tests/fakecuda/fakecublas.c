/* fakecublas.c - as much of cuBLAS as the peer cublas calls, over host memory and at once.
 *
 * $FAKECUBLAS=N makes the N-th product fail with status 13.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>
#include <stdlib.h>

#include "elements.h"

#define EXPORT __attribute__((visibility("default")))

static int products;

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

CUBLAS(cublasGetProperty, int which, int *value)
{
    *value = which + 1;
    return 0;
}

CUBLAS(cublasSetStream_v2, void *h, void *stream)
{
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
CUBLAS(cublasGemmStridedBatchedEx, void *h, int op_a, int op_b, int m, int n, int k,
       const void *alpha, const void *a, int type_a, int lda, long long stride_a, const void *b,
       int type_b, int ldb, long long stride_b, const void *beta, void *c, int type_c, int ldc,
       long long stride_c, int batch, int compute, int algo)
{
    const char *fail = getenv("FAKECUBLAS");
    if (h != &products || op_b != 0 || *(const float *)beta != 0 || compute != 68 || algo != -1)
        return 7;
    if (fail && ++products == atoi(fail))
        return 13;
    for (int x = 0; x < batch; x++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++) {
                float sum = 0;
                for (int l = 0; l < k; l++)
                    sum += get_element(a,
                                       x * stride_a +
                                           (op_a ? (long long)i * lda + l : (long long)l * lda + i),
                                       dtype_of(type_a)) *
                           get_element(b, x * stride_b + (long long)j * ldb + l, dtype_of(type_b));
                put_element(c, x * stride_c + (long long)j * ldc + i, dtype_of(type_c),
                            *(const float *)alpha * sum);
            }
    return 0;
}
