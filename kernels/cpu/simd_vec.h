/* simd_vec.h - one vector vocabulary over four instruction sets.
 *
 * A simd_<isa>.c file defines SIMD_AVX512, SIMD_AVX2, SIMD_NEON or SIMD_GENERIC, includes this
 * header, then the templates. The compiler's vector extension supplies + - * and contracts a
 * product and a sum into a fused multiply-add; only what it cannot say is an intrinsic.
 *
 *   vf          a vector of LANES floats          vi   the same with 32-bit integers
 *   PANEL       vectors in a register block's row: MICRO_ROWS x PANEL accumulators
 *   vexp2(x)    2^x, relative error about 1.2e-7, any x <= 127; above, a huge number or infinity
 *   vload_as(t, p)  LANES elements of dtype t as floats
 *
 * The functions are compiled for their instruction set by a pragma, not by flags, so that one set
 * of build flags serves every file and no other function in the program uses the instructions.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined SIMD_AVX512 || defined SIMD_AVX2
#include <immintrin.h>
#elif defined SIMD_NEON
#include <arm_neon.h>
#endif

#include "backend/cpu/cpu_simd.h"

#if defined SIMD_AVX512
#define ISA_TARGET "avx512f,avx512dq,avx512bw,avx512vl,fma,f16c,avx2"
#define LANES      16
#define PANEL      4 /* 6 x 4 accumulators of 32 registers */
#elif defined SIMD_AVX2
#define ISA_TARGET "avx2,fma,f16c"
#define LANES      8
#define PANEL      2 /* 6 x 2 accumulators of 16 registers */
#elif defined SIMD_NEON
#define LANES 4
#define PANEL 4
#else
#define LANES 4
#define PANEL 2
#endif
#define MICRO_ROWS 6

#define PRAGMA(text) _Pragma(#text)
#if defined __clang__
#ifdef ISA_TARGET
#define ISA_BEGIN_(t) PRAGMA(clang attribute push(__attribute__((target(t))), apply_to = function))
#define ISA_BEGIN     ISA_BEGIN_(ISA_TARGET)
#define ISA_END       PRAGMA(clang attribute pop)
#endif
#else
#ifdef __OPTIMIZE__ /* at -O0 gcc 12 loses the target to this pragma */
#define ISA_OPTIMIZE PRAGMA(GCC optimize("O3"))
#else
#define ISA_OPTIMIZE
#endif
#ifdef ISA_TARGET
#define ISA_TARGET_(t) PRAGMA(GCC target(t))
#define ISA_BEGIN      PRAGMA(GCC push_options) ISA_OPTIMIZE ISA_TARGET_(ISA_TARGET)
#else
#define ISA_BEGIN PRAGMA(GCC push_options) ISA_OPTIMIZE
#endif
#define ISA_END PRAGMA(GCC pop_options)
#endif
#ifndef ISA_BEGIN
#define ISA_BEGIN
#define ISA_END
#endif

/* Before a loop of at most 6 rounds whose arrays must stay in registers. Not where each access is checked: there clang
 * takes minutes over as many copies of the checks, and nobody looks at the time. */
#if defined __SANITIZE_ADDRESS__
#define CHECKED
#elif defined __clang__
#if __has_feature(address_sanitizer)
#define CHECKED
#endif
#endif
#if defined CHECKED
#define UNROLL
#define UNROLL_BY(n)
#elif defined __clang__
#define UNROLL       PRAGMA(clang loop unroll(full))
#define UNROLL_BY(n) PRAGMA(clang loop unroll_count(n))
#else
#define UNROLL       PRAGMA(GCC unroll 6)
#define UNROLL_BY(n) PRAGMA(GCC unroll n)
#endif

#define INLINE static inline __attribute__((always_inline))

ISA_BEGIN

typedef float vf __attribute__((vector_size(4 * LANES), may_alias));
typedef float vf_any __attribute__((vector_size(4 * LANES), may_alias, aligned(4)));
typedef int32_t vi __attribute__((vector_size(4 * LANES), may_alias));

INLINE vf vload(const float *p)
{
    return *(const vf_any *)p;
}

INLINE void vstore(float *p, vf x)
{
    *(vf_any *)p = x;
}

/* The first n < LANES floats at p and zeros; the first n floats of x to p. Touches nothing else. */
INLINE vf vload_part(const float *p, int64_t n)
{
#if defined SIMD_AVX512
    return (vf)_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
#else
    vf x = {0};
    memcpy(&x, p, (size_t)n * sizeof *p);
    return x;
#endif
}

INLINE void vstore_part(float *p, vf x, int64_t n)
{
#if defined SIMD_AVX512
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), (__m512)x);
#else
    memcpy(p, &x, (size_t)n * sizeof *p);
#endif
}

INLINE vf vsplat(float x)
{
    return x - (vf){0};
}

/* mask ? a : b, for the result of a comparison */
INLINE vf vselect(vi mask, vf a, vf b)
{
    return (vf)((mask & (vi)a) | (~mask & (vi)b));
}

INLINE vf vmax(vf a, vf b)
{
#if defined SIMD_AVX512
    return (vf)_mm512_max_ps((__m512)a, (__m512)b);
#elif defined SIMD_AVX2
    return (vf)_mm256_max_ps((__m256)a, (__m256)b);
#elif defined SIMD_NEON
    return (vf)vmaxq_f32((float32x4_t)a, (float32x4_t)b);
#else
    return vselect((vi)(a > b), a, b);
#endif
}

/* As vmax: of a NaN and a number, the second operand wins. */
INLINE vf vmin(vf a, vf b)
{
#if defined SIMD_AVX512
    return (vf)_mm512_min_ps((__m512)a, (__m512)b);
#elif defined SIMD_AVX2
    return (vf)_mm256_min_ps((__m256)a, (__m256)b);
#elif defined SIMD_NEON
    return (vf)vminq_f32((float32x4_t)a, (float32x4_t)b);
#else
    return vselect((vi)(a < b), a, b);
#endif
}

/* 2^f for a fraction: minimax polynomial of degree 5, relative error 7.5e-8 before rounding. */
INLINE vf poly5(vf f, float c0, float c1, float c2, float c3, float c4, float c5)
{
    vf p = vsplat(c5) * f + c4;
    p = p * f + c3;
    p = p * f + c2;
    p = p * f + c1;
    return p * f + c0;
}

#if defined SIMD_AVX512
/* f = x - floor(x) in one instruction, times 2^floor(x) in another; both know about infinities and
 * underflow, so nothing needs clamping: 7 instructions for 16 values. */
INLINE vf vexp2(vf x)
{
    vf f = (vf)_mm512_reduce_ps((__m512)x, 0x09);
    vf p = poly5(f, 9.999999404e-01f, 6.931530833e-01f, 2.401536107e-01f, 5.582631752e-02f,
                 8.989339694e-03f, 1.877576695e-03f);
    return (vf)_mm512_scalef_ps((__m512)p, (__m512)x);
}
#else
/* Adding 1.5 * 2^23 leaves round(x) in the low mantissa bits; shifted up, it is the exponent. */
INLINE vf vexp2(vf x)
{
    const float magic = 12582912.0f;
    x = vmin(vsplat(127), vmax(vsplat(-126), x)); /* in this order a NaN stays a NaN */
    vf t = x + magic;
    vf f = x - (t - magic);
    vf p = poly5(f, 1.000000119e+00f, 6.931469440e-01f, 2.402212024e-01f, 5.550713092e-02f,
                 9.675540961e-03f, 1.327647245e-03f);
    return (vf)((vi)p + ((vi)t << 23));
}
#endif

/* Exponent and mantissa move in place, times 2^112, which makes subnormals right, too; infinities and NaNs get
 * their exponent set by hand. */
INLINE float one_f16_to_float(uint16_t h)
{
    union {
        uint32_t u;
        float f;
    } x = {.u = (uint32_t)(h & 0x7fff) << 13};
    x.f *= 0x1p112f;
    if ((h & 0x7c00) == 0x7c00)
        x.u |= 0x7f800000;
    x.u |= (uint32_t)(h & 0x8000) << 16;
    return x.f;
}

INLINE vf vload_f16(const uint16_t *p)
{
#if defined SIMD_AVX512
    return (vf)_mm512_cvtph_ps(_mm256_loadu_si256((const void *)p));
#elif defined SIMD_AVX2
    return (vf)_mm256_cvtph_ps(_mm_loadu_si128((const void *)p));
#elif defined SIMD_NEON
    return (vf)vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)));
#else
    vf x = {0};
    for (int i = 0; i < LANES; i++)
        x[i] = one_f16_to_float(p[i]);
    return x;
#endif
}

/* A bf16 is the upper half of a float. */
INLINE vf vload_bf16(const uint16_t *p)
{
#if defined SIMD_AVX512
    const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)p));
    return (vf)_mm512_slli_epi32(wide, 16);
#elif defined SIMD_AVX2
    const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)p));
    return (vf)_mm256_slli_epi32(wide, 16);
#elif defined SIMD_NEON
    return (vf)vshll_n_u16(vld1_u16(p), 16);
#else
    vi x = {0};
    for (int i = 0; i < LANES; i++)
        x[i] = (int32_t)((uint32_t)p[i] << 16);
    return (vf)x;
#endif
}

/* `t` is a constant of each copy. */
INLINE vf vload_as(enum dtype t, const void *p)
{
    return t == DTYPE_F32 ? vload(p) : t == DTYPE_F16 ? vload_f16(p) : vload_bf16(p);
}

/* The first n < LANES elements and zeros. */
INLINE vf vload_as_part(enum dtype t, const void *p, int64_t n)
{
    uint16_t x[LANES] = {0};
    if (t == DTYPE_F32)
        return vload_part(p, n);
    memcpy(x, p, (size_t)n * sizeof *x);
    return vload_as(t, x);
}

/* Bytes of an element, and where element `index` of a tensor is. */
INLINE int64_t vbytes(enum dtype t)
{
    return t == DTYPE_F32 ? 4 : 2;
}

INLINE const char *velement(enum dtype t, const void *base, int64_t index)
{
    return (const char *)base + index * vbytes(t);
}

/* Rows that will be read soon, or written, asked for a few at a time, so that they come while something is computed. */
struct ahead {
    const char *row;
    int64_t rows, stride, bytes; /* that are left; from row to row; of a row */
    int64_t all;                 /* rows, in the beginning */
    int64_t line;                /* bytes of LINE elements */
};

enum { LINE = 16 /* floats of a cache line */ };

INLINE struct ahead rows_ahead(enum dtype t, const void *base, int64_t stride, int64_t first,
                               int64_t n, int64_t D)
{
    return (struct ahead){.row = velement(t, base, first * stride),
                          .rows = n < 0 ? 0 : n,
                          .all = n < 0 ? 0 : n,
                          .stride = stride * vbytes(t),
                          .line = LINE * vbytes(t),
                          .bytes = D * vbytes(t)};
}

INLINE void ask_for(struct ahead *x, int64_t rows)
{
    enum { LINE_BYTES = 64 };
    for (; rows > 0 && x->rows > 0; rows--, x->rows--, x->row += x->stride)
        for (int64_t at = 0; at < x->bytes; at += LINE_BYTES)
            __builtin_prefetch(x->row + at, 0, 2);
}

/* The first rows, `bytes` of them at most, into L1. They stay ahead. */
INLINE void ask_now(const struct ahead *x, int64_t bytes)
{
    enum { LINE_BYTES = 64 };
    const char *row = x->row;
    for (int64_t r = 0; r < x->rows && (r + 1) * x->bytes <= bytes; r++, row += x->stride)
        for (int64_t at = 0; at < x->bytes; at += LINE_BYTES)
            __builtin_prefetch(row + at, 0, 3);
}

/* The lanes of a and b in turn: a0 b0 a1 b1 ... */
INLINE void vzip(vf a, vf b, vf *lo, vf *hi)
{
#if defined SIMD_AVX512
    const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
    *lo = (vf)_mm512_permutex2var_ps((__m512)a, low, (__m512)b);
    *hi = (vf)_mm512_permutex2var_ps((__m512)a, high, (__m512)b);
#elif defined SIMD_AVX2
    __m256 l = _mm256_unpacklo_ps((__m256)a, (__m256)b),
           h = _mm256_unpackhi_ps((__m256)a, (__m256)b);
    *lo = (vf)_mm256_permute2f128_ps(l, h, 0x20);
    *hi = (vf)_mm256_permute2f128_ps(l, h, 0x31);
#elif defined SIMD_NEON
    *lo = (vf)vzip1q_f32((float32x4_t)a, (float32x4_t)b);
    *hi = (vf)vzip2q_f32((float32x4_t)a, (float32x4_t)b);
#else
    *lo = (vf){a[0], b[0], a[1], b[1]};
    *hi = (vf){a[2], b[2], a[3], b[3]};
#endif
}

/* Each 128-bit part of the result has the sums of that part of a, b, c and d. */
INLINE vf vquad(vf a, vf b, vf c, vf d)
{
#if defined SIMD_AVX512
    const __m512 ab = _mm512_add_ps(_mm512_unpacklo_ps((__m512)a, (__m512)b),
                                    _mm512_unpackhi_ps((__m512)a, (__m512)b));
    const __m512 cd = _mm512_add_ps(_mm512_unpacklo_ps((__m512)c, (__m512)d),
                                    _mm512_unpackhi_ps((__m512)c, (__m512)d));
    return (vf)_mm512_add_ps(_mm512_shuffle_ps(ab, cd, 0x44), _mm512_shuffle_ps(ab, cd, 0xee));
#elif defined SIMD_AVX2
    const __m256 ab = _mm256_hadd_ps((__m256)a, (__m256)b),
                 cd = _mm256_hadd_ps((__m256)c, (__m256)d);
    return (vf)_mm256_hadd_ps(ab, cd);
#elif defined SIMD_NEON
    return (vf)vpaddq_f32(vpaddq_f32((float32x4_t)a, (float32x4_t)b),
                          vpaddq_f32((float32x4_t)c, (float32x4_t)d));
#else
    return (vf){a[0] + a[1] + a[2] + a[3], b[0] + b[1] + b[2] + b[3], c[0] + c[1] + c[2] + c[3],
                d[0] + d[1] + d[2] + d[3]};
#endif
}

/* Part i of the result, of 128 bits, is the sum of the parts of x[i]. */
INLINE vf vjoin(const vf x[LANES / 4])
{
#if defined SIMD_AVX512
    const __m512 a = (__m512)x[0], b = (__m512)x[1], c = (__m512)x[2], d = (__m512)x[3];
    const __m512 ab = _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x88), /* even parts */
                                    _mm512_shuffle_f32x4(a, b, 0xdd));
    const __m512 cd =
        _mm512_add_ps(_mm512_shuffle_f32x4(c, d, 0x88), _mm512_shuffle_f32x4(c, d, 0xdd));
    return (vf)_mm512_add_ps(_mm512_shuffle_f32x4(ab, cd, 0x88),
                             _mm512_shuffle_f32x4(ab, cd, 0xdd));
#elif defined SIMD_AVX2
    const __m256 a = (__m256)x[0], b = (__m256)x[1];
    return (vf)_mm256_add_ps(_mm256_permute2f128_ps(a, b, 0x20),
                             _mm256_permute2f128_ps(a, b, 0x31));
#else
    return x[0];
#endif
}

/* Of the result of a comparison: is it true in all lanes? */
INLINE bool vall(vi mask)
{
#if defined SIMD_AVX512
    return _mm512_movepi32_mask((__m512i)mask) == 0xffff;
#elif defined SIMD_AVX2
    return _mm256_movemask_ps((__m256)mask) == 0xff;
#else
    int32_t all = -1;
    for (int i = 0; i < LANES; i++)
        all &= mask[i];
    return all != 0;
#endif
}

/* x, a vector, is in a register from here on. Where several multiply-adds want it gcc else loads it for each. */
#if defined SIMD_AVX512
#define KEEP(x) __asm__("" : "+v"(x))
#elif defined SIMD_AVX2
#define KEEP(x) __asm__("" : "+x"(x))
#elif defined SIMD_NEON
#define KEEP(x) __asm__("" : "+w"(x))
#else
#define KEEP(x) ((void)(x))
#endif

/* Rows become columns. Each round of zips moves one bit of the row number into the column number
 * and one the other way; log2(LANES) rounds swap them. */
INLINE void vtranspose(vf m[LANES])
{
    for (int s = 1; s < LANES; s *= 2) {
        vf t[LANES];
        for (int i = 0; i < LANES / 2; i++)
            vzip(m[i], m[i + LANES / 2], &t[2 * i], &t[2 * i + 1]);
        for (int i = 0; i < LANES; i++)
            m[i] = t[i];
    }
}

ISA_END
