/* tensor_generic.c - tensor products in plain C, for any processor.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "sim/half.h"
#include "sim/tensor_isa.h"

ISA_BEGIN

#define TENSOR_W 4
typedef float vf __attribute__((vector_size(16)));
#define INLINE_VF static inline __attribute__((always_inline))

INLINE_VF vf vf_load(const float *p)
{
    vf x;
    memcpy(&x, p, sizeof x);
    return x;
}
#define vf_each(p)     vf_load(p)
#define vf_store(p, x) memcpy(p, &(x), sizeof(vf))
#define vf_quad(x, i)  vf_same(x, i)

INLINE_VF vf vf_same(vf x, int i)
{
    return (vf){x[i], x[i], x[i], x[i]};
}

INLINE_VF vf vf_fma(vf a, vf b, vf c)
{
    return (vf){fmaf(a[0], b[0], c[0]), fmaf(a[1], b[1], c[1]), fmaf(a[2], b[2], c[2]),
                fmaf(a[3], b[3], c[3])};
}

#define vf_exact(a, b, c) ((a) * (b) + (c))

INLINE_VF vf vf_half(const uint32_t *p, int part)
{
    vf x = {0};
    for (int i = 0; i < TENSOR_W; i++)
        x[i] = half_to_float((uint16_t)(p[i] >> 16 * part));
    return x;
}

INLINE_VF vf vf_top(const uint32_t *p, uint32_t mask, unsigned shift)
{
    vf x = {0};
    for (int i = 0; i < TENSOR_W; i++)
        x[i] = bits_float(p[i] << shift & mask);
    return x;
}

INLINE_VF void vf_pack(vf x, vf y, uint32_t *p)
{
    for (int i = 0; i < TENSOR_W; i++)
        p[i] = half_from_float(x[i]) | (uint32_t)half_from_float(y[i]) << 16;
}

INLINE_VF vf vf_nan(vf x)
{
    for (int i = 0; i < TENSOR_W; i++)
        if (x[i] != x[i])
            x[i] = bits_float(0x7fffffff);
    return x;
}

typedef int32_t vi4 __attribute__((vector_size(16)));
typedef int16_t vs8 __attribute__((vector_size(16)));
#define vs_most(x, y) larger(x, y)

INLINE_VF vs8 larger(vs8 x, vs8 y)
{
    const vs8 above = x > y;
    return (x & above) | (y & ~above);
}

INLINE_VF vs8 vs_where(vs8 x, vs8 y, vs8 a, vs8 b)
{
    const vs8 is = x == y;
    return (a & is) | (b & ~is);
}

INLINE_VF vi4 vi_where(vi4 x, vi4 y, vi4 a, vi4 b)
{
    const vi4 is = x == y;
    return (a & is) | (b & ~is);
}

/* As wide as a float may be after all that is cut off of it: those of others do not matter. */
INLINE_VF vi4 vi_whole(vf x)
{
    vi4 whole = {0};
    for (int i = 0; i < TENSOR_W; i++)
        whole[i] = fabsf(x[i]) < 0x1p31f ? (int32_t)x[i] : INT32_MIN;
    return whole;
}

INLINE_VF vf vi_cut(vi4 x)
{
    vf cut = {0};
    for (int i = 0; i < TENSOR_W; i++) {
        const uint32_t size = x[i] < 0 ? -(uint32_t)x[i] : (uint32_t)x[i];
        const int drop = size >> 24 ? 8 - __builtin_clz(size) : 0;
        cut[i] = (float)(size >> drop << drop);
        cut[i] = x[i] < 0 ? -cut[i] : cut[i];
    }
    return cut;
}

INLINE_VF int vi_any(vi4 x)
{
    return (x[0] | x[1] | x[2] | x[3]) != 0;
}

#include "sim/tensor_body.h"

ISA_END

const struct tensor_set tensor_generic = {
    .name = "generic",
    .block = {PRODUCTS(KIND_F16), PRODUCTS(KIND_BF16), PRODUCTS(KIND_TF32)},
};
