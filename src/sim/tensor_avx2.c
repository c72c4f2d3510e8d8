/* tensor_avx2.c - tensor products with AVX2, fused multiply-add and f16 conversions.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#if defined __x86_64__
#include <immintrin.h>
#include <stdint.h>

#define ISA_TARGET "avx2,fma,f16c"
#include "sim/tensor_isa.h"

ISA_BEGIN

#define TENSOR_W 8
typedef __m256 vf;
#define INLINE_VF static inline __attribute__((always_inline))

#define vf_load(p)      _mm256_loadu_ps(p)
#define vf_store(p, x)  _mm256_storeu_ps(p, x)
#define vf_each(p)      _mm256_broadcast_ps((const __m128 *)(const void *)(p))
#define vf_quad(x, i)   _mm256_permute_ps(x, (i)*0x55)
#define vf_fma(a, b, c) _mm256_fmadd_ps(a, b, c)
#define vf_exact        vf_fma

/* The low 16 bits of each of 8 integers. */
INLINE_VF __m128i narrow(__m256i x)
{
    const __m256i low = _mm256_and_si256(x, _mm256_set1_epi32(0xffff));
    return _mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
}

INLINE_VF vf vf_half(const uint32_t *p, int part)
{
    const __m256i pairs = _mm256_loadu_si256((const __m256i *)(const void *)p);
    return _mm256_cvtph_ps(narrow(part ? _mm256_srli_epi32(pairs, 16) : pairs));
}

INLINE_VF vf vf_top(const uint32_t *p, uint32_t mask, int shift)
{
    const __m256i x =
        _mm256_slli_epi32(_mm256_loadu_si256((const __m256i *)(const void *)p), shift);
    return _mm256_castsi256_ps(_mm256_and_si256(x, _mm256_set1_epi32((int)mask)));
}

INLINE_VF void vf_pack(vf x, vf y, uint32_t *p)
{
    const __m256i low = _mm256_cvtepu16_epi32(_mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT)),
                  top = _mm256_cvtepu16_epi32(_mm256_cvtps_ph(y, _MM_FROUND_TO_NEAREST_INT));
    _mm256_storeu_si256((__m256i *)(void *)p, _mm256_or_si256(low, _mm256_slli_epi32(top, 16)));
}

INLINE_VF vf vf_nan(vf x)
{
    const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
    return _mm256_blendv_ps(x, nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}

#define vi_whole(x)   ((vi)_mm256_cvttps_epi32(x))
#define vs_most(x, y) ((vs)_mm256_max_epi16((__m256i)(x), (__m256i)(y)))
#define vs_where(x, y, a, b)                            \
    ((vs)_mm256_blendv_epi8((__m256i)(b), (__m256i)(a), \
                            _mm256_cmpeq_epi16((__m256i)(x), (__m256i)(y))))
#define vi_where(x, y, a, b)                            \
    ((vi)_mm256_blendv_epi8((__m256i)(b), (__m256i)(a), \
                            _mm256_cmpeq_epi32((__m256i)(x), (__m256i)(y))))
#define vi_any(x) !_mm256_testz_si256((__m256i)(x), (__m256i)(x))

/* A conversion rounds to nearest: one that went beyond steps back, by the float's last bit. */
#define vi_cut(x) cut8((__m256i)(x))
INLINE_VF vf cut8(__m256i x)
{
    const __m256i size = _mm256_abs_epi32(x);
    const vf near = _mm256_cvtepi32_ps(size);
    const __m256i back = _mm256_cvttps_epi32(near), /* of 2^31 negative */
        beyond = _mm256_or_si256(_mm256_cmpgt_epi32(back, size), _mm256_srai_epi32(back, 31));
    return _mm256_castsi256_ps(
        _mm256_or_si256(_mm256_add_epi32(_mm256_castps_si256(near), beyond),
                        _mm256_and_si256(x, _mm256_set1_epi32((int)UINT32_C(0x80000000)))));
}

#include "sim/tensor_body.h"

ISA_END

const struct tensor_set tensor_avx2 = {
    .name = "avx2",
    .block = {PRODUCTS(KIND_F16), PRODUCTS(KIND_BF16), PRODUCTS(KIND_TF32)},
};
#else
typedef int tensor_avx2_is_for_x86_64; /* ISO C wants a declaration */
#endif
