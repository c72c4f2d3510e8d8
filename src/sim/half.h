/* half.h - f16 and bf16 bits as floats and back, in plain C, without tables.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_HALF_H
#define ATTNSCOPE_SIM_HALF_H

#include <stdint.h>
#include <string.h>

static inline uint32_t float_bits(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline float bits_float(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* Exact; subnormals are kept, a NaN keeps its payload. */
static inline float half_to_float(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = (uint32_t)(h & 0x7fff) << 13;
    if (rest >= UINT32_C(0x7c00) << 13) /* Inf, NaN */
        return bits_float(sign | rest | 0x7f800000);
    return bits_float(sign | float_bits(bits_float(rest) * 0x1p112f));
}

/* To nearest, ties to even; above the largest: infinity; NaN: 0x7fff as the hardware makes it. */
static inline uint16_t half_from_float(float x)
{
    const uint32_t u = float_bits(x), sign = u >> 16 & 0x8000, rest = u & 0x7fffffff;
    if (rest > 0x7f800000)
        return 0x7fff;
    if (rest >= 0x477ff000) /* 65520, half way to what would be the next */
        return (uint16_t)(sign | 0x7c00);
    if (rest < 0x38800000) /* a subnormal: the sum's last bit is 2^-24 */
        return (uint16_t)(sign | (float_bits(bits_float(rest) + 0.5f) - 0x3f000000));
    return (uint16_t)(sign | ((rest - 0x38000000 + 0xfff + (rest >> 13 & 1)) >> 13));
}

static inline float bfloat_to_float(uint16_t h)
{
    return bits_float((uint32_t)h << 16);
}

#endif
