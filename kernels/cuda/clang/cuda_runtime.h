/* cuda_runtime.h - nothing: clang_cuda.h, which comes before every source, has what device code needs of NVIDIA's header
 * of this name.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
