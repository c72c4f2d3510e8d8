/* cublas.h - what cuBLAS reaches: a ceiling for matrix products.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_PEER_CUBLAS_H
#define ATTNSCOPE_BACKEND_PEER_CUBLAS_H

#include "backend/cuda/bench.h"

/* Measures large products in every type. Without the library those figures stay unknown. */
enum status cublas_peak(struct bench *b, struct err *err);

#endif
