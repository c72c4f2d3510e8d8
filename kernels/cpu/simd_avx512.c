/* simd_avx512.c - the CPU kernels' vector code for AVX-512: alone, with dot products of bf16 pairs, with the matrix unit.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#if defined __x86_64__
#define SIMD_AVX512
#include "simd_vec.h"

#include "simd_math.h"
#include "simd_tiled.h"
#include "simd_decode.h"
#include "simd_pairs.h"
#include "simd_decode_pairs.h"
#define AMX_PLAYED 1
#include "simd_amx.h"
#undef AMX_PLAYED
#define AMX_PLAYED 0
#include "simd_amx.h"

#define AVX512_FUNCTIONS                                                                   \
    .lanes = LANES, .scores = math_scores, .add_rows = math_add_rows, .scale = math_scale, \
    .max = math_max, .exp2_sum = math_exp2_sum, .to_float = math_to_float,                 \
    .from_float = math_from_float, .tiled_scratch = tiled_scratch,                         \
    .decode_scratch = decode_scratch, .fma_burst = peak_fma, .read_burst = peak_read

const struct cpu_simd cpu_simd_avx512 = {.name = "avx512",
                                         .title = "AVX-512",
                                         .tiled = tiled,
                                         .tiled_rest = tiled_rest,
                                         .decode = decode,
                                         AVX512_FUNCTIONS};

const struct cpu_simd cpu_simd_avx512_bf16 = {.name = "avx512_bf16",
                                              .title = "AVX-512 BF16",
                                              .tiled = tiled_pairs,
                                              .tiled_rest = tiled_rest_pairs,
                                              .decode = decode_pairs,
                                              .dot_burst = peak_pairs,
                                              AVX512_FUNCTIONS};

const struct cpu_simd cpu_simd_amx = {.name = "amx",
                                      .title = "AMX",
                                      .tiled = tiled_amx,
                                      .tiled_rest = tiled_rest_amx,
                                      .decode = decode_pairs,
                                      .dot_burst = peak_tiles_amx,
                                      .f16_share = AMX_F16_SHARE,
                                      AVX512_FUNCTIONS};

const struct cpu_simd cpu_simd_amx_played = {.name = "amx_played",
                                             .title = "AMX played",
                                             .tiled = tiled_played,
                                             .tiled_rest = tiled_rest_played,
                                             .decode = decode_pairs,
                                             .dot_burst = peak_tiles_played,
                                             .f16_share = AMX_F16_SHARE,
                                             AVX512_FUNCTIONS};
#else
typedef int simd_avx512_is_for_x86_64; /* ISO C wants a declaration */
#endif
