/* elements.h - f16, bf16 and f32 as the fakes' arithmetic needs them; dtype is ATTN_DTYPE.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TESTS_ELEMENTS_H
#define ATTNSCOPE_TESTS_ELEMENTS_H

#include <math.h>
#include <stdint.h>

static inline float get_element(const void *p, int64_t i, int dtype)
{
    union {
        uint32_t u;
        float f;
    } x;
    if (dtype == 2)
        return ((const float *)p)[i];
    const uint32_t h = ((const uint16_t *)p)[i];
    if (dtype == 1) {
        x.u = h << 16;
        return x.f;
    }
    x.u = (h & 0x7fff) << 13; /* its exponent is 112 too small, also where it is 0 */
    return h & 0x8000 ? x.f * -0x1p112f : x.f * 0x1p112f;
}

/* Values of ordinary size: nothing here overflows or vanishes. */
static inline void put_element(void *p, int64_t i, int dtype, float v)
{
    union {
        float f;
        uint32_t u;
    } x = {v};
    if (dtype == 2) {
        ((float *)p)[i] = v;
        return;
    }
    if (dtype == 1) {
        ((uint16_t *)p)[i] = (uint16_t)((x.u + 0x7fff + (x.u >> 16 & 1)) >> 16);
        return;
    }
    const float a = fabsf(v);
    int e;
    if (!(a < 65520)) { /* infinite there, or no number */
        ((uint16_t *)p)[i] = (uint16_t)((isnan(a) ? 0x7e00 : 0x7c00) | (v < 0 ? 0x8000 : 0));
        return;
    }
    (void)frexpf(a, &e); /* a = m 2^e, m in [0.5, 1) */
    e = a == 0 || e < -13 ? -13 : e;
    const float units = nearbyintf(ldexpf(a, 11 - e)); /* ulps; 2048 carries into the exponent */
    const uint32_t bits =
        units < 1024 ? (uint32_t)units : (uint32_t)((e + 13) << 10) + (uint32_t)units;
    ((uint16_t *)p)[i] = (uint16_t)(bits | (v < 0 ? 0x8000 : 0));
}

#endif
