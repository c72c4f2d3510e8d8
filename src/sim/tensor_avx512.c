/* tensor_avx512.c - tensor products with AVX-512.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#if defined __x86_64__
#include <immintrin.h>
#include <stdint.h>

#define ISA_TARGET "avx512f,avx512dq,avx512bw,avx512vl,fma,f16c,avx2"
#include "sim/tensor_isa.h"

ISA_BEGIN

#define TENSOR_W 16
typedef __m512 vf;
#define INLINE_VF static inline __attribute__((always_inline))

#define vf_load(p)      _mm512_loadu_ps(p)
#define vf_store(p, x)  _mm512_storeu_ps(p, x)
#define vf_each(p)      _mm512_broadcast_f32x4(_mm_loadu_ps(p))
#define vf_quad(x, i)   _mm512_permute_ps(x, (i)*0x55)
#define vf_fma(a, b, c) _mm512_fmadd_ps(a, b, c)
#define vf_exact        vf_fma

INLINE_VF vf vf_half(const uint32_t *p, int part)
{
    const __m512i pairs = _mm512_loadu_si512(p);
    return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(part ? _mm512_srli_epi32(pairs, 16) : pairs));
}

INLINE_VF vf vf_top(const uint32_t *p, uint32_t mask, unsigned shift)
{
    const __m512i x = _mm512_slli_epi32(_mm512_loadu_si512(p), shift);
    return _mm512_castsi512_ps(_mm512_and_si512(x, _mm512_set1_epi32((int)mask)));
}

INLINE_VF void vf_pack(vf x, vf y, uint32_t *p)
{
    const __m512i low = _mm512_cvtepu16_epi32(_mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT)),
                  top = _mm512_cvtepu16_epi32(_mm512_cvtps_ph(y, _MM_FROUND_TO_NEAREST_INT));
    _mm512_storeu_si512(p, _mm512_or_si512(low, _mm512_slli_epi32(top, 16)));
}

INLINE_VF vf vf_nan(vf x)
{
    const __m512 nan = _mm512_castsi512_ps(_mm512_set1_epi32(0x7fffffff));
    return _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), nan);
}

#define vi_whole(x)   ((vi)_mm512_cvttps_epi32(x))
#define vi_cut(x)     _mm512_cvt_roundepi32_ps((__m512i)(x), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)
#define vs_most(x, y) ((vs)_mm512_max_epi16((__m512i)(x), (__m512i)(y)))
#define vs_where(x, y, a, b)                                                                      \
    ((vs)_mm512_mask_mov_epi16((__m512i)(b), _mm512_cmpeq_epi16_mask((__m512i)(x), (__m512i)(y)), \
                               (__m512i)(a)))
#define vi_where(x, y, a, b)                                                                      \
    ((vi)_mm512_mask_mov_epi32((__m512i)(b), _mm512_cmpeq_epi32_mask((__m512i)(x), (__m512i)(y)), \
                               (__m512i)(a)))
#define vi_any(x) _mm512_test_epi32_mask((__m512i)(x), (__m512i)(x))

/* As tensor_body.h has it, by one exchange among 32 lanes for each half. */
#define TENSOR_TURNS
INLINE_VF void turn(const uint32_t *reg, uint32_t turned[2][16])
{
    const __m512i even =
                      _mm512_setr_epi32(0, 8, 16, 24, 1, 9, 17, 25, 2, 10, 18, 26, 3, 11, 19, 27),
                  odd = _mm512_add_epi32(even, _mm512_set1_epi32(4)), low = _mm512_loadu_si512(reg),
                  top = _mm512_loadu_si512(reg + 16);
    _mm512_storeu_si512(turned[0], _mm512_permutex2var_epi32(low, even, top));
    _mm512_storeu_si512(turned[1], _mm512_permutex2var_epi32(low, odd, top));
}

#include "sim/tensor_body.h"

ISA_END

const struct tensor_set tensor_avx512 = {
    .name = "avx512",
    .block = {PRODUCTS(KIND_F16), PRODUCTS(KIND_BF16), PRODUCTS(KIND_TF32)},
};
#else
typedef int tensor_avx512_is_for_x86_64; /* ISO C wants a declaration */
#endif
