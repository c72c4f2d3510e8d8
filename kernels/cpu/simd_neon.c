/* simd_neon.c - the CPU kernels' vector code for NEON.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#if defined __aarch64__
#define SIMD_NEON
#include "simd_vec.h"

#include "simd_math.h"
#include "simd_tiled.h"
#include "simd_decode.h"

const struct cpu_simd cpu_simd_neon = {
    .name = "neon",
    .title = "NEON",
    .lanes = LANES,
    .scores = math_scores,
    .add_rows = math_add_rows,
    .scale = math_scale,
    .max = math_max,
    .exp2_sum = math_exp2_sum,
    .to_float = math_to_float,
    .from_float = math_from_float,
    .tiled_scratch = tiled_scratch,
    .tiled = tiled,
    .tiled_rest = tiled_rest,
    .decode_scratch = decode_scratch,
    .decode = decode,
    .fma_burst = peak_fma,
    .read_burst = peak_read,
};
#else
typedef int simd_neon_is_for_aarch64; /* ISO C wants a declaration */
#endif
