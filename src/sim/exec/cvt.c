/* cvt.c - see cvt.h. PTX 9.7.9, cvt.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/exec/cvt.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

static float float_of(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static uint32_t bits_of(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

float cvt_from_f16(uint32_t h)
{
    const uint32_t mag = h & 0x7fff;
    const float x = mag >= 0x7c00 ? float_of(0x7f800000 | mag << 13)
                                  : ldexpf(float_of((mag << 13) + 0x38000000), 0);
    const float small = ldexpf((float)mag, -24);
    const float r = mag < 0x400 ? small : x;
    return h & 0x8000 ? -r : r;
}

float cvt_from_bf16(uint32_t h)
{
    return float_of(h << 16);
}

/* A real as the nearest multiple of `ulp` in the direction that the flags want. x / ulp is exact. */
static double to_multiple(double x, double ulp, uint32_t flags)
{
    const double n = x / ulp;
    const double r = flags & SIM_RZ     ? trunc(n)
                     : flags & SIM_RM   ? floor(n)
                     : flags & SIM_RP   ? ceil(n)
                     : flags & SIM_AWAY ? round(n)
                                        : nearbyint(n);
    return r * ulp;
}

/* Rounded to a format of `digits` bits, smallest exponent `low`, largest value `max`. */
static double to_format(double x, int digits, int low, double max, uint32_t flags)
{
    if (x == 0 || !isfinite(x))
        return x;
    int e;
    frexp(x, &e);
    const int ulp = (e < low ? low : e) - digits;
    const double r = copysign(to_multiple(x, ldexp(1, ulp), flags), x);
    if (fabs(r) <= max)
        return r;
    const bool stays = flags & SIM_RZ || (flags & SIM_RM && x > 0) || (flags & SIM_RP && x < 0);
    return copysign(stays ? max : INFINITY, x);
}

static uint32_t f16_bits(double x, uint32_t flags)
{
    if (x != x)
        return 0x7fff;
    const double r = to_format(x, 11, -13, 65504, flags), mag = fabs(r);
    const uint32_t sign = signbit(r) ? 0x8000 : 0;
    if (mag == INFINITY)
        return sign | 0x7c00;
    if (mag < 0x1p-14)
        return sign | (uint32_t)(mag * 0x1p24);
    return sign | ((bits_of((float)mag) - 0x38000000) >> 13);
}

static uint32_t bf16_bits(double x, uint32_t flags)
{
    if (x != x)
        return 0x7fff;
    return bits_of((float)to_format(x, 8, -125, 0x1.fep127, flags)) >> 16;
}

uint32_t cvt_to_f16(float x)
{
    return f16_bits(x, 0);
}

uint32_t cvt_to_bf16(float x)
{
    return bf16_bits(x, 0);
}

static double limited(double x, uint32_t flags)
{
    if (flags & SIM_SAT)
        x = x > 0 ? x < 1 ? x : 1 : 0;
    if (flags & SIM_RELU && x < 0)
        x = 0;
    return x;
}

/* Of the source as a real: f16, bf16, f32, f64. */
static double real_in(enum cvt_type t, uint64_t x, uint32_t flags)
{
    double r;
    switch (t) {
    case CV_F16:
        return cvt_from_f16((uint32_t)x & 0xffff);
    case CV_BF16:
        return cvt_from_bf16((uint32_t)x & 0xffff);
    case CV_F64:
        memcpy(&r, &x, sizeof r);
        return r;
    default:
        r = float_of((uint32_t)x);
    }
    return flags & SIM_FTZ && fabs(r) < 0x1p-126 ? copysign(0, r) : r;
}

static uint64_t real_out(enum cvt_type t, double r, uint32_t flags)
{
    uint64_t u;
    switch (t) {
    case CV_F16:
        return f16_bits(r, flags);
    case CV_BF16:
        return bf16_bits(r, flags);
    case CV_F64:
        memcpy(&u, &r, sizeof u);
        return u;
    default:
        break;
    }
    if (r != r)
        return 0x7fffffff;
    const float f = (float)to_format(r, 24, -125, 0x1.fffffep127, flags);
    return bits_of(flags & SIM_FTZ && fabsf(f) < 0x1p-126f ? copysignf(0, f) : f);
}

static bool is_real(enum cvt_type t)
{
    return t == CV_F16 || t == CV_BF16 || t == CV_F32 || t == CV_F64;
}

static bool is_signed(enum cvt_type t)
{
    return t == CV_S8 || t == CV_S16 || t == CV_S32 || t == CV_S64;
}

static int bits(enum cvt_type t)
{
    return t <= CV_S8 ? 8 : t <= CV_S16 ? 16 : t <= CV_S32 ? 32 : 64;
}

/* The low bits as the type has them, extended to 64. */
static uint64_t extended(enum cvt_type t, uint64_t x)
{
    const int n = 64 - bits(t);
    return is_signed(t) ? (uint64_t)((int64_t)(x << n) >> n) : x << n >> n;
}

/* A real as an integer, clamped to the type; NaN is 0, for 64 bits and of f64 the highest bit alone. */
static uint64_t integer_of(enum cvt_type from, enum cvt_type t, double r, uint32_t flags)
{
    if (r != r)
        return bits(t) == 64 || from == CV_F64 ? extended(t, (uint64_t)1 << (bits(t) - 1)) : 0;
    const double n = to_multiple(r, 1, flags);
    const double top = ldexp(1, bits(t) - is_signed(t));
    if (n >= top)
        return is_signed(t) ? ((uint64_t)1 << (bits(t) - 1)) - 1 : extended(t, UINT64_MAX);
    if (is_signed(t))
        return n <= -top ? (uint64_t)-1 << (bits(t) - 1) : (uint64_t)(int64_t)n;
    return n <= 0 ? 0 : (uint64_t)n;
}

/* A 64-bit integer does not fit a double: rounded by hand to `digits` bits, odd below, so that the next
 * rounding is the only one. */
static double real_of(enum cvt_type t, uint64_t x)
{
    const bool negative = is_signed(t) && x >> 63;
    uint64_t mag = negative ? 0 - x : x;
    if (mag >> 53) {
        const int n = 11 - __builtin_clzll(mag);
        if (n > 0 && mag & (((uint64_t)1 << n) - 1))
            mag = (mag >> n | 1) << n;
    }
    return negative ? -(double)mag : (double)mag;
}

static uint64_t integer_to_integer(const struct code *c, enum cvt_type to, uint64_t x)
{
    if (!(c->flags & SIM_SAT))
        return extended(to, x);
    const bool negative = is_signed((enum cvt_type)c->kind) && x >> 63;
    const uint64_t top =
        is_signed(to) ? ((uint64_t)1 << (bits(to) - 1)) - 1 : extended(to, UINT64_MAX);
    if (negative && !is_signed(to))
        return 0;
    if (negative)
        return (int64_t)x < -(int64_t)top - 1 ? ~top : x;
    return x > top ? top : x;
}

/* f64 of 53 bits from an integer: the one rounding is that of the flags. */
static double to_f64(double odd, enum cvt_type from, uint64_t x, uint32_t flags)
{
    (void)odd;
    const bool negative = is_signed(from) && x >> 63;
    const uint64_t mag = negative ? 0 - x : x;
    double r = (double)mag; /* to nearest */
    const bool above = r >= 0x1p64 || (uint64_t)r > mag, below = !above && (uint64_t)r < mag;
    const bool down =
        flags & SIM_RZ || (flags & SIM_RM && !negative) || (flags & SIM_RP && negative);
    const bool up = (flags & SIM_RP && !negative) || (flags & SIM_RM && negative);
    if (above && down)
        r = nextafter(r, 0);
    if (below && up)
        r = nextafter(r, INFINITY);
    return negative ? -r : r;
}

static uint64_t two_halves(const struct code *c, uint64_t x, uint64_t y)
{
    uint32_t h[2];
    const uint64_t in[2] = {y, x};
    for (int k = 0; k < 2; k++) {
        const double r = limited(real_in(CV_F32, in[k], c->flags), c->flags);
        h[k] = c->sub == CV_F16X2 ? f16_bits(r, c->flags) : bf16_bits(r, c->flags);
    }
    return h[0] | (uint64_t)h[1] << 16;
}

uint64_t cvt_lane(const struct code *c, uint64_t x, uint64_t y)
{
    const enum cvt_type from = (enum cvt_type)c->kind, to = (enum cvt_type)c->sub;
    if (to == CV_F16X2 || to == CV_BF16X2)
        return two_halves(c, x, y);
    if (!is_real(from)) {
        x = extended(from, x);
        if (!is_real(to))
            return integer_to_integer(c, to, x);
        if (to == CV_F64)
            return real_out(to, to_f64(0, from, x, c->flags), c->flags);
        return real_out(to, limited(real_of(from, x), c->flags), c->flags);
    }
    const double r = real_in(from, x, c->flags);
    if (!is_real(to))
        return integer_of(from, to, r, c->flags);
    if (from == to) /* to an integral value; without a rounding, a copy with its modifiers */
        return real_out(to,
                        limited(c->flags & (SIM_NEAR | SIM_RZ | SIM_RM | SIM_RP)
                                    ? copysign(to_multiple(r, 1, c->flags), r)
                                    : r,
                                c->flags),
                        c->flags & SIM_FTZ);
    return real_out(to, limited(r, c->flags), c->flags);
}
