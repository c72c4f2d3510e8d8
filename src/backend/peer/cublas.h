/* cublas.h - what cuBLAS reaches: a ceiling for matrix products.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_PEER_CUBLAS_H
#define ATTNSCOPE_BACKEND_PEER_CUBLAS_H

#include "backend/cuda/bench.h"

/* X(ours, NVIDIA's, value), of cuBLAS 11 and newer; tests/unit/test_cuda_abi.c compares with cublas_v2.h where there is one. */
// clang-format off
#define CUBLAS_NUMBERS(X)                                                     \
    X(OP_N,         CUBLAS_OP_N,                                        0)    \
    X(OP_T,         CUBLAS_OP_T,                                        1)    \
    X(COMPUTE_F32,  CUBLAS_COMPUTE_32F,                                68)    \
    X(COMPUTE_TF32, CUBLAS_COMPUTE_32F_FAST_TF32,                      77)    \
    X(ALGO_DEFAULT, CUBLAS_GEMM_DEFAULT,                               -1)    \
    X(SUMS_IN_F32,  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION,  16)    \
    X(TYPE_F32,     CUDA_R_32F,                                         0)    \
    X(TYPE_F16,     CUDA_R_16F,                                         2)    \
    X(TYPE_BF16,    CUDA_R_16BF,                                       14)
// clang-format on

/* Measures large products in every type. Without the library those figures stay unknown. */
enum status cublas_peak(struct bench *b, struct err *err);

#endif
