/* dtype.c - the three element types and their exact conversions.
 *
 * The scalar functions are plain integer arithmetic. The bulk conversions of f16 use the CPU's
 * own instructions where it has them; both give the same bits for every input, NaN included
 * (a signalling NaN becomes quiet, as IEEE asks of a conversion).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "spec/dtype.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"

#if defined __x86_64__ || defined __i386__
#include <immintrin.h>
#define HAVE_F16C 1
#else
#define HAVE_F16C 0
#endif

static const struct {
    const char *name;
    size_t size;
    double epsilon;
} types[DTYPE_COUNT] = {
    [DTYPE_F16] = {"f16", 2, 0x1p-10},
    [DTYPE_BF16] = {"bf16", 2, 0x1p-7},
    [DTYPE_F32] = {"f32", 4, 0x1p-23},
};

static const struct {
    const char *name;
    enum dtype type;
} spellings[] = {
    {"f16", DTYPE_F16},     {"bf16", DTYPE_BF16}, {"f32", DTYPE_F32},       {"fp16", DTYPE_F16},
    {"float16", DTYPE_F16}, {"half", DTYPE_F16},  {"bfloat16", DTYPE_BF16}, {"fp32", DTYPE_F32},
    {"float32", DTYPE_F32}, {"float", DTYPE_F32},
};
enum { NSPELLINGS = sizeof spellings / sizeof *spellings };

const char *dtype_name(enum dtype t)
{
    return types[t].name;
}

size_t dtype_size(enum dtype t)
{
    return types[t].size;
}

double dtype_epsilon(enum dtype t)
{
    return types[t].epsilon;
}

static const char *spelling_at(const void *ctx, size_t i)
{
    (void)ctx;
    return i < NSPELLINGS ? spellings[i].name : NULL;
}

enum status dtype_parse(const char *text, enum dtype *out, struct err *err)
{
    for (int i = 0; i < NSPELLINGS; i++)
        if (strcasecmp(text, spellings[i].name) == 0) {
            *out = spellings[i].type;
            return ST_OK;
        }
    if (!err) /* asked of every word of a line, and of every kernel of a list */
        return ST_USAGE;
    const char *near = str_nearest(text, spelling_at, NULL);
    return err_set(err, ST_USAGE, "unknown dtype \"%.40s\"; write f16, bf16 or f32%s%s%s", text,
                   near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
}

static uint32_t float_bits(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static float bits_float(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* Drops the `n` lowest bits of `u`, rounding to nearest, ties to even. 0 < n < 32; no overflow. */
static uint32_t drop_bits(uint32_t u, int n)
{
    const uint32_t half = (UINT32_C(1) << (n - 1)) - 1;
    return (u + half + (u >> n & 1)) >> n;
}

uint16_t f16_from_float(float x)
{
    const uint32_t bits = float_bits(x), a = bits & 0x7FFFFFFF;
    const uint32_t sign = bits >> 16 & 0x8000;
    if (a > 0x7F800000) /* NaN: quiet, with the upper payload */
        return (uint16_t)(sign | 0x7E00 | (a >> 13 & 0x3FF));
    if (a >= 0x477FF000) /* 65520 and above round to infinity */
        return (uint16_t)(sign | 0x7C00);
    if (a >= 0x38800000) /* normal: rebias the exponent from 127 to 15, keep 10 of 23 bits */
        return (uint16_t)(sign | drop_bits(a - ((127 - 15) << 23), 13));
    if (a < 0x33000000) /* below half of the smallest subnormal, 2^-25 */
        return (uint16_t)sign;
    /* Subnormal: the significand counts units of 2^-24. */
    const int shift = 126 - (int)(a >> 23);
    return (uint16_t)(sign | drop_bits((a & 0x7FFFFF) | 0x800000, shift));
}

float f16_to_float(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000) << 16, magnitude = h & 0x7FFF;
    if (magnitude > 0x7C00)
        return bits_float(sign | 0x7FC00000 | magnitude << 13);
    if (magnitude == 0x7C00)
        return bits_float(sign | 0x7F800000);
    if (magnitude < 0x400) { /* subnormal: units of 2^-24, exact in float */
        const float x = (float)magnitude * 0x1p-24f;
        return bits_float(sign | float_bits(x));
    }
    return bits_float(sign | ((magnitude << 13) + ((127 - 15) << 23)));
}

uint16_t bf16_from_float(float x)
{
    const uint32_t bits = float_bits(x);
    if ((bits & 0x7FFFFFFF) > 0x7F800000)
        return (uint16_t)(bits >> 16 | 0x40);
    /* A carry out of the significand is the next exponent, up to infinity, as it should be. */
    return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

float bf16_to_float(uint16_t h)
{
    uint32_t bits = (uint32_t)h << 16;
    if ((h & 0x7FFF) > 0x7F80)
        bits |= 0x400000;
    return bits_float(bits);
}

/* The double rounded to odd at 24 bits: what is cut off leaves a trace in the last bit, so that a
 * second rounding, to at most 22 bits, sees on which side of a tie the value was. */
static float to_float_odd(double x)
{
    const uint64_t dropped = UINT64_C(0x1FFFFFFF); /* 52 - 23 bits */
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    if ((u & dropped) && !isnan(x))
        u = (u & ~dropped) | (dropped + 1);
    memcpy(&x, &u, sizeof x);
    return (float)x;
}

uint16_t f16_from_double(double x)
{
    return f16_from_float(to_float_odd(x));
}

uint16_t bf16_from_double(double x)
{
    /* bf16 has float's exponents, so here the conversion to a subnormal float would round. */
    if (fabs(x) < 0x1p-126)
        return (uint16_t)((signbit(x) ? 0x8000 : 0) | (int)rint(fabs(x) * 0x1p133));
    return bf16_from_float(to_float_odd(x));
}

#if HAVE_F16C
__attribute__((target("avx,f16c"))) static size_t f16_to_float_f16c(const uint16_t *src, float *dst,
                                                                    size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m128i h = _mm_loadu_si128((const __m128i *)(const void *)(src + i));
        _mm256_storeu_ps(dst + i, _mm256_cvtph_ps(h));
    }
    return i;
}

__attribute__((target("avx,f16c"))) static size_t f16_from_float_f16c(const float *src,
                                                                      uint16_t *dst, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m128i h = _mm256_cvtps_ph(_mm256_loadu_ps(src + i), _MM_FROUND_TO_NEAREST_INT);
        _mm_storeu_si128((__m128i *)(void *)(dst + i), h);
    }
    return i;
}

/* Asked by way of AVX2: clang 14 has no name for F16C here, and every CPU with AVX2 has it. */
static bool has_f16c(void)
{
    return __builtin_cpu_supports("avx2");
}
#endif

static void f16_to_floats(const uint16_t *src, float *dst, size_t n)
{
    size_t i = 0;
#if HAVE_F16C
    if (has_f16c())
        i = f16_to_float_f16c(src, dst, n);
#endif
    for (; i < n; i++)
        dst[i] = f16_to_float(src[i]);
}

static void f16_from_floats(const float *src, uint16_t *dst, size_t n)
{
    size_t i = 0;
#if HAVE_F16C
    if (has_f16c())
        i = f16_from_float_f16c(src, dst, n);
#endif
    for (; i < n; i++)
        dst[i] = f16_from_float(src[i]);
}

static void bf16_to_floats(const uint16_t *src, float *dst, size_t n)
{
    for (size_t i = 0; i < n; i++)
        dst[i] = bf16_to_float(src[i]);
}

static void bf16_from_floats(const float *src, uint16_t *dst, size_t n)
{
    for (size_t i = 0; i < n; i++)
        dst[i] = bf16_from_float(src[i]);
}

void dtype_to_float(enum dtype t, const void *src, float *dst, size_t n)
{
    if (t == DTYPE_F16)
        f16_to_floats(src, dst, n);
    else if (t == DTYPE_BF16)
        bf16_to_floats(src, dst, n);
    else if (n)
        memmove(dst, src, n * sizeof *dst);
}

void dtype_from_float(enum dtype t, const float *src, void *dst, size_t n)
{
    if (t == DTYPE_F16)
        f16_from_floats(src, dst, n);
    else if (t == DTYPE_BF16)
        bf16_from_floats(src, dst, n);
    else if (n)
        memmove(dst, src, n * sizeof *src);
}

double dtype_get(enum dtype t, const void *src, size_t i)
{
    if (t == DTYPE_F16)
        return f16_to_float(((const uint16_t *)src)[i]);
    if (t == DTYPE_BF16)
        return bf16_to_float(((const uint16_t *)src)[i]);
    return ((const float *)src)[i];
}

void dtype_set(enum dtype t, void *dst, size_t i, double value)
{
    if (t == DTYPE_F16)
        ((uint16_t *)dst)[i] = f16_from_double(value);
    else if (t == DTYPE_BF16)
        ((uint16_t *)dst)[i] = bf16_from_double(value);
    else
        ((float *)dst)[i] = (float)value;
}
