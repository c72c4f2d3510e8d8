/* tensor_body.h - the products of tensor_block.h for one instruction set; included once by a file of each.
 *
 * The file defines TENSOR_SET (the name of its table), TENSOR_W (floats in a vector), the type vf of W floats with
 * + and *, and for it
 *     vf_load, vf_store, vf_each(p)   p: 4 floats, repeated for every group of four lanes
 *     vf_quad(x, i)                   element i of each group of four lanes, for all of the group (i constant)
 *     vf_fma(a, b, c), vf_exact(a, b, c)   the latter where the product is exact without being fused
 *     vf_half(const uint32_t *p, int part), vf_top(p, mask, shift): pairs in a register as floats
 *     vf_pack(x, y, uint32_t *p)      f16 pairs of two vectors
 *     vf_nan(x)                       x with every NaN as the hardware writes it
 *
 * A product's lane (group g of four, t within it) keeps D's rows g and g+8, columns 2t and 2t+1. So for
 * each k the row of A is one float a group, and that of B the same 4 floats for every group: an element
 * of D is a chain of multiply-adds over k upwards, in every instruction set alike.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>
#if defined __SSE__
#include <xmmintrin.h>
#endif

#include "sim/half.h"
#include "sim/tensor_block.h"

#define INLINE static inline __attribute__((always_inline))

/* The elements `part` of `lanes` lanes of a register as floats. */
INLINE void widen(enum tensor_kind kind, const uint32_t *reg, int lanes, int part, float *out)
{
    UNROLL
    for (int v = 0; v < lanes / TENSOR_W; v++) {
        const uint32_t *p = reg + v * TENSOR_W;
        vf x;
        if (kind == KIND_F16)
            x = vf_half(p, part);
        else if (kind == KIND_BF16)
            x = part ? vf_top(p, UINT32_C(0xffff0000), 0) : vf_top(p, UINT32_C(0xffff0000), 16);
        else
            x = vf_top(p, UINT32_C(0xffffe000), 0);
        vf_store(out + v * TENSOR_W, x);
    }
}

#ifndef TENSOR_TURNS
/* A register of B, whose lane 4 column + i has row i of every four: turned[column & 1][i][column / 2]. */
INLINE void turn(const uint32_t *reg, uint32_t turned[2][16])
{
    for (int p = 0; p < 2; p++) {
        const uint32_t *from = reg + 4 * p; /* columns p, p + 2, ... are 8 lanes apart */
#if defined __SSE__
        const float *f = (const float *)(const void *)from;
        __m128 r0 = _mm_loadu_ps(f), r1 = _mm_loadu_ps(f + 8), r2 = _mm_loadu_ps(f + 16),
               r3 = _mm_loadu_ps(f + 24);
        _MM_TRANSPOSE4_PS(r0, r1, r2, r3);
        float *to = (float *)(void *)turned[p];
        _mm_storeu_ps(to, r0);
        _mm_storeu_ps(to + 4, r1);
        _mm_storeu_ps(to + 8, r2);
        _mm_storeu_ps(to + 12, r3);
#else
        for (int i = 0; i < 4; i++)
            for (int c = 0; c < 4; c++)
                turned[p][4 * i + c] = from[8 * c + i];
#endif
    }
}
#endif

/* One step of k: element `i` of A's groups by B's four floats, for two vectors of lanes. */
#define STEP(i)                                                                 \
    do {                                                                        \
        const vf b0 = vf_each(bk + 4 * (i)), b1 = vf_each(bk + 16 + 4 * (i));   \
        UNROLL                                                                  \
        for (int h = 0; h < 2; h++) {                                           \
            UNROLL                                                              \
            for (int v = 0; v < 2; v++) {                                       \
                const vf x = vf_quad(vf_load(ak + h * step + v * TENSOR_W), i); \
                acc[h][0][v] = kind == KIND_F16 ? vf_exact(x, b0, acc[h][0][v]) \
                                                : vf_fma(x, b0, acc[h][0][v]);  \
                acc[h][1][v] = kind == KIND_F16 ? vf_exact(x, b1, acc[h][1][v]) \
                                                : vf_fma(x, b1, acc[h][1][v]);  \
            }                                                                   \
        }                                                                       \
    } while (0)

INLINE void load_c(const struct tensor_block *s, int lane, vf acc[2][2][2])
{
    for (int h = 0; h < 2; h++)
        for (int p = 0; p < 2; p++)
            for (int v = 0; v < 2; v++) {
                const int at = lane + v * TENSOR_W;
                acc[h][p][v] = s->c_half
                                   ? vf_half(s->c[h] + at, p)
                                   : vf_load((const float *)(const void *)(s->c[2 * h + p] + at));
            }
}

INLINE void store_d(const struct tensor_block *s, int lane, vf acc[2][2][2])
{
    for (int h = 0; h < 2; h++)
        for (int v = 0; v < 2; v++) {
            const int at = lane + v * TENSOR_W;
            const vf x = vf_nan(acc[h][0][v]), y = vf_nan(acc[h][1][v]);
            if (s->d_half) {
                vf_pack(x, y, s->d[h] + at);
                continue;
            }
            vf_store((float *)(void *)(s->d[2 * h] + at), x);
            vf_store((float *)(void *)(s->d[2 * h + 1] + at), y);
        }
}

/* `regs` of B, twice as many of A, with `parts` elements in each. Lane 4 column + i of B has elements of rows
 * parts i, parts i + 1: b[register][part][column & 1][i][column / 2]. */
INLINE void product(enum tensor_kind kind, int regs, const struct tensor_block *s)
{
    const int parts = kind == KIND_TF32 ? 1 : 2;
    float a[2][2][2][32]
        __attribute__((aligned(64))); /* register of the same k, half of the rows, part */
    float b[2][2][2][16] __attribute__((aligned(64)));
    const int step = 2 * 32; /* floats from one half of A's rows to the other */
    for (int r = 0; r < regs; r++) {
        uint32_t turned[2][16] __attribute__((aligned(64)));
        turn(s->b[r], turned);
        for (int part = 0; part < parts; part++) {
            widen(kind, s->a[2 * r], 32, part, a[r][0][part]);
            widen(kind, s->a[2 * r + 1], 32, part, a[r][1][part]);
            widen(kind, turned[0], 16, part, b[r][part][0]);
            widen(kind, turned[1], 16, part, b[r][part][1]);
        }
    }
    for (int lane = 0; lane < 32; lane += 2 * TENSOR_W) {
        vf acc[2][2][2];
        load_c(s, lane, acc);
        UNROLL
        for (int r = 0; r < regs; r++) {
            const float *ak = a[r][0][0] + lane, *bk = b[r][0][0];
            if (parts == 1) {
                STEP(0);
                STEP(1);
                STEP(2);
                STEP(3);
                continue;
            }
            STEP(0);
            ak += 32, bk += 32;
            STEP(0);
            ak -= 32, bk -= 32;
            STEP(1);
            ak += 32, bk += 32;
            STEP(1);
            ak -= 32, bk -= 32;
            STEP(2);
            ak += 32, bk += 32;
            STEP(2);
            ak -= 32, bk -= 32;
            STEP(3);
            ak += 32, bk += 32;
            STEP(3);
        }
        store_d(s, lane, acc);
    }
}

#define PRODUCT(kind, regs)                                           \
    static void product_##kind##_##regs(const struct tensor_block *s) \
    {                                                                 \
        product(kind, regs, s);                                       \
    }
PRODUCT(KIND_F16, 1)
PRODUCT(KIND_F16, 2)
PRODUCT(KIND_BF16, 1)
PRODUCT(KIND_BF16, 2)
PRODUCT(KIND_TF32, 1)
PRODUCT(KIND_TF32, 2)

#define PRODUCTS(kind) [kind] = {product_##kind##_1, product_##kind##_2}
