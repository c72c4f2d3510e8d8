/* Element types: every f16 and bf16 pattern, ties, subnormals, and no double rounding.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "spec/dtype.h"

static uint32_t bits_of(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static float float_of(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* The value of a pattern with `e` exponent and `m` significand bits, computed the slow way. */
static double value_of(unsigned pattern, int e, int m)
{
    const int exponent = (int)(pattern >> m & ((1u << e) - 1)), bias = (1 << (e - 1)) - 1;
    const double fraction = pattern & ((1u << m) - 1);
    const double sign = pattern >> 15 ? -1 : 1;
    if (exponent == (1 << e) - 1)
        return fraction != 0 ? NAN : sign * INFINITY;
    if (exponent == 0)
        return sign * ldexp(fraction, 1 - bias - m);
    return sign * ldexp(fraction + ldexp(1, m), exponent - bias - m);
}

static void test_every_pattern(void)
{
    size_t wrong = 0;
    for (unsigned p = 0; p < 0x10000; p++) {
        const uint16_t h = (uint16_t)p;
        const double f16 = value_of(p, 5, 10), bf16 = value_of(p, 8, 7);
        if (isnan(f16))
            wrong += !isnan(f16_to_float(h)) || f16_from_float(f16_to_float(h)) != (h | 0x200);
        else
            wrong += f16_to_float(h) != f16 || f16_from_float(f16_to_float(h)) != h ||
                     f16_from_double(f16) != h || !signbit(f16_to_float(h)) != !(p >> 15);
        if (isnan(bf16))
            wrong += !isnan(bf16_to_float(h)) || bf16_from_float(bf16_to_float(h)) != (h | 0x40);
        else
            wrong += bf16_to_float(h) != bf16 || bf16_from_float(bf16_to_float(h)) != h ||
                     bf16_from_double(bf16) != h || !signbit(bf16_to_float(h)) != !(p >> 15);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(isnan(f16_to_float(f16_from_double(NAN))));
    CU_ASSERT(isnan(bf16_to_float(bf16_from_double(NAN))));
}

/* Between two neighbours: a hair below the middle goes down, a hair above up, the middle to even. */
static void check_between(double (*back)(unsigned), uint16_t (*from_double)(double),
                          uint16_t (*from_float)(float), unsigned p, size_t *wrong)
{
    const double lo = back(p), hi = back(p + 1);
    const double middle = isinf(hi) ? lo + (lo - back(p - 1)) / 2 : lo + (hi - lo) / 2;
    const unsigned even = p & 1 ? p + 1 : p;
    for (int sign = 0; sign < 2; sign++) {
        const double s = sign ? -1 : 1;
        const unsigned b = sign ? 0x8000 : 0;
        *wrong += from_double(s * middle) != (even | b);
        *wrong += from_double(s * nextafter(middle, 0)) != (p | b);
        *wrong += from_double(s * nextafter(middle, INFINITY)) != ((p + 1) | b);
        /* The middle has one bit more than the type and so is exact in float. */
        *wrong += from_float((float)(s * middle)) != (even | b);
        *wrong += from_float(nextafterf((float)(s * middle), 0)) != (p | b);
        *wrong += from_float(nextafterf((float)(s * middle), sign ? -INFINITY : INFINITY)) !=
                  ((p + 1) | b);
    }
}

static double f16_value(unsigned p)
{
    return value_of(p, 5, 10);
}

static double bf16_value(unsigned p)
{
    return value_of(p, 8, 7);
}

static void test_ties(void)
{
    size_t wrong = 0;
    for (unsigned p = 0; p < 0x7C00; p++)
        check_between(f16_value, f16_from_double, f16_from_float, p, &wrong);
    CU_ASSERT_EQUAL(wrong, 0);
    for (unsigned p = 0; p < 0x7F80; p++)
        check_between(bf16_value, bf16_from_double, bf16_from_float, p, &wrong);
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(f16_from_double(1e300), 0x7C00);
    CU_ASSERT_EQUAL(f16_from_double(-1e300), 0xFC00);
    CU_ASSERT_EQUAL(bf16_from_double(1e300), 0x7F80);
    CU_ASSERT_EQUAL(bf16_from_double(5e-324), 0);
    CU_ASSERT_EQUAL(f16_from_double(-5e-324), 0x8000);
}

/* 1 + 2^-11 + 2^-40 rounds up; by way of float it would become the tie 1 + 2^-11 and go down. */
static void test_no_double_rounding(void)
{
    CU_ASSERT_EQUAL(f16_from_double(1 + 0x1p-11 + 0x1p-40), 0x3C01);
    CU_ASSERT_EQUAL(f16_from_float((float)(1 + 0x1p-11 + 0x1p-40)), 0x3C00);
    CU_ASSERT_EQUAL(bf16_from_double(1 + 0x1p-8 + 0x1p-40), 0x3F81);
    CU_ASSERT_EQUAL(bf16_from_double(0x1p-134 + 0x1p-170), 0x0001);
    CU_ASSERT_EQUAL(bf16_from_double(0x1p-134), 0x0000);
}

#if defined __FLT16_MANT_DIG__ && (defined __F16C__ || defined __aarch64__ || __GNUC__ >= 12)
#define HAVE_FLOAT16 1
#else
#define HAVE_FLOAT16 0
#endif

/* Against the compiler's own type, over floats of every exponent. */
static void test_against_the_compiler(void)
{
#if HAVE_FLOAT16
    size_t wrong = 0;
    for (uint64_t u = 0; u < UINT64_C(1) << 32; u += 4093) {
        const float x = float_of((uint32_t)u);
        const _Float16 h = (_Float16)x;
        uint16_t want;
        memcpy(&want, &h, sizeof want);
        wrong += isnan(x) ? !isnan(f16_to_float(f16_from_float(x))) : f16_from_float(x) != want;
    }
    CU_ASSERT_EQUAL(wrong, 0);
#endif
}

/* Bulk and scalar conversions give the same bits, NaN payloads included, at every alignment. */
static void test_bulk(void)
{
    enum { N = 1031 };
    float in[N], out[N];
    uint16_t h[N];
    size_t wrong = 0;
    uint32_t x = 12345;
    for (int round = 0; round < 400; round++) {
        const int first = round % 9, n = N - first - round % 7;
        for (int i = 0; i < N; i++) {
            x = x * 1664525 + 1013904223;
            in[i] = float_of(i % 3 ? 0x30000000 + (x >> 3) : x);
        }
        dtype_from_float(DTYPE_F16, in + first, h + first, (size_t)n);
        for (int i = first; i < first + n; i++)
            wrong += h[i] != f16_from_float(in[i]);
        dtype_to_float(DTYPE_F16, h + first, out + first, (size_t)n);
        for (int i = first; i < first + n; i++)
            wrong += bits_of(out[i]) != bits_of(f16_to_float(h[i]));
        dtype_from_float(DTYPE_BF16, in + first, h + first, (size_t)n);
        dtype_to_float(DTYPE_BF16, h + first, out + first, (size_t)n);
        for (int i = first; i < first + n; i++)
            wrong +=
                h[i] != bf16_from_float(in[i]) || bits_of(out[i]) != bits_of(bf16_to_float(h[i]));
        dtype_from_float(DTYPE_F32, in + first, out + first, (size_t)n);
        wrong += memcmp(in + first, out + first, (size_t)n * sizeof *in) != 0;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    uint16_t all[0x10000];
    static float wide[0x10000];
    for (unsigned p = 0; p < 0x10000; p++)
        all[p] = (uint16_t)p;
    dtype_to_float(DTYPE_F16, all, wide, 0x10000);
    for (unsigned p = 0; p < 0x10000; p++)
        wrong += bits_of(wide[p]) != bits_of(f16_to_float((uint16_t)p));
    CU_ASSERT_EQUAL(wrong, 0);
    dtype_to_float(DTYPE_F32, NULL, NULL, 0);
}

static void test_elements(void)
{
    union {
        float f[4];
        uint16_t h[8];
    } a = {{0}};
    for (enum dtype t = 0; t < DTYPE_COUNT; t++) {
        memset(&a, 0, sizeof a);
        dtype_set(t, &a, 2, -1.5);
        CU_ASSERT_EQUAL(dtype_get(t, &a, 2), -1.5);
        CU_ASSERT_EQUAL(dtype_get(t, &a, 1), 0);
        CU_ASSERT_EQUAL(dtype_get(t, &a, 3), 0);
        dtype_set(t, &a, 0, 1);
        dtype_set(t, &a, 1, 1 + dtype_epsilon(t));
        CU_ASSERT_EQUAL(dtype_get(t, &a, 1) - dtype_get(t, &a, 0), dtype_epsilon(t));
        dtype_set(t, &a, 1, 1 + dtype_epsilon(t) / 2);
        CU_ASSERT_EQUAL(dtype_get(t, &a, 1), 1);
    }
    CU_ASSERT(dtype_size(DTYPE_F16) == 2 && dtype_size(DTYPE_BF16) == 2 &&
              dtype_size(DTYPE_F32) == 4);
}

static void test_parse(void)
{
    static const struct {
        const char *text;
        enum dtype type;
    } legal[] = {
        {"f16", DTYPE_F16},   {"fp16", DTYPE_F16},  {"float16", DTYPE_F16},
        {"half", DTYPE_F16},  {"bf16", DTYPE_BF16}, {"bfloat16", DTYPE_BF16},
        {"f32", DTYPE_F32},   {"fp32", DTYPE_F32},  {"float32", DTYPE_F32},
        {"float", DTYPE_F32}, {"F16", DTYPE_F16},
    };
    struct err err = ERR_INIT;
    for (size_t i = 0; i < sizeof legal / sizeof *legal; i++) {
        enum dtype t = DTYPE_COUNT;
        CU_ASSERT_EQUAL(dtype_parse(legal[i].text, &t, &err), ST_OK);
        CU_ASSERT_EQUAL(t, legal[i].type);
    }
    for (enum dtype t = 0; t < DTYPE_COUNT; t++) {
        enum dtype back = DTYPE_COUNT;
        CU_ASSERT_EQUAL(dtype_parse(dtype_name(t), &back, &err), ST_OK);
        CU_ASSERT_EQUAL(back, t);
    }
    enum dtype t = DTYPE_F32;
    CU_ASSERT_EQUAL(dtype_parse("bf61", &t, &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "\"bf61\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "did you mean bf16?"));
    CU_ASSERT_EQUAL(dtype_parse("int8", &t, &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "f16, bf16 or f32"));
    CU_ASSERT_EQUAL(t, DTYPE_F32);
}

static const struct tap_test tests[] = {
    {"all 65 536 patterns of both types", test_every_pattern},
    {"ties go to even, hairs do not", test_ties},
    {"doubles are rounded once", test_no_double_rounding},
    {"agrees with the compiler's _Float16", test_against_the_compiler},
    {"bulk is the same as one by one", test_bulk},
    {"single elements", test_elements},
    {"names", test_parse},
};

TAP_MAIN("dtype", tests)
