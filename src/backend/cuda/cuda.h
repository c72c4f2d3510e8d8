/* cuda.h - the CUDA backend: kernels/cuda/ on an NVIDIA GPU, through the driver.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CUDA_H
#define ATTNSCOPE_BACKEND_CUDA_H

#include "backend/backend.h"

extern const struct backend_ops backend_cuda;

#endif
