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
 * and of vectors of integers of as many bits, vi of 32 and vs of 16, which have C's operators
 *     vi_whole(x)                     a vf's whole parts, towards 0; of what has none any
 *     vi_cut(x)                       integers as a vf, cut off to 24 bits
 *     vs_most(x, y)                   the larger ones of two vs
 *     vs_where(x, y, a, b), vi_where  a where x is y, else b
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
#include "sim/tensor_cut.h"

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

/* ---- Sums as tensor cores have them: see tensor_cut.h. ----
 *
 * Exponents are pairs of 16 bits in a lane, its even column's low: sums of two and the largest of all are then half the work. With
 * the largest known, a product times 2^(bits - largest) becomes whole by being cut off, and whole numbers are added exactly.
 * That is done by adding to a float's exponent, which holds while exponents are from CUT_LOW to `bits` (then 0, whose
 * exponent field is nothing, stays below 1, and what f32 has no bits for is cut off anyway). Others, infinities and NaN
 * are left to tensor_cut_block(). */
typedef int32_t vi __attribute__((vector_size(4 * TENSOR_W)));
typedef uint32_t vu __attribute__((vector_size(4 * TENSOR_W)));
typedef int16_t vs __attribute__((vector_size(4 * TENSOR_W)));

enum { CUT_LOW = -90, CUT_ZERO = -8000, CUT_NONE = -4000, CUT_SPECIAL = 16000 };

INLINE vi vi_load(const void *p)
{
    vi x;
    memcpy(&x, p, sizeof x);
    return x;
}

/* The exponents of elements: of 0 below CUT_NONE, also with that of a number; of infinities and NaN far above. */
INLINE vs exponents16(enum tensor_kind kind, vs x)
{
    const int shift = kind == KIND_F16 ? 10 : 7, top = kind == KIND_F16 ? 31 : 255;
    const vs size = x & 0x7fff, field = size >> (int16_t)shift, none = {0};
    const vs e = vs_most(field, none + 1) - (int16_t)(top / 2);
    return vs_where(size, none, none + CUT_ZERO,
                    vs_where(field, none + (int16_t)top, none + CUT_SPECIAL, e));
}

/* Of floats, in each lane's low half. */
INLINE vi exponents32(vi x)
{
    const vi size = x & 0x7fffffff, field = size >> 23, none = {0};
    const vi e = (vi)vs_most((vs)field, (vs)(none + 1)) - 127;
    return vi_where(size, none, none + CUT_ZERO,
                    vi_where(field, none + 255, none + CUT_SPECIAL, e)) &
           0xffff;
}

INLINE vi paired(vi low, vi high)
{
    return (low & 0xffff) | (vi)((vu)high << 16);
}

/* A's exponents twice in every lane, and those of B's columns 2 j and 2 j + 1: as floats are kept in product(). */
struct cut_exponents {
    int32_t a[2][2][2][32] __attribute__((aligned(64)));
    int32_t b[2][2][16] __attribute__((aligned(64)));
};

INLINE void exponents_a(enum tensor_kind kind, const uint32_t *reg, int32_t part[2][32])
{
    UNROLL
    for (int v = 0; v < 32; v += TENSOR_W) {
        const vi word = vi_load(reg + v);
        if (kind == KIND_TF32) {
            const vi e = exponents32(word & (int32_t)UINT32_C(0xffffe000));
            const vi both = paired(e, e);
            memcpy(part[0] + v, &both, sizeof both);
            continue;
        }
        const vi e = (vi)exponents16(kind, (vs)word);
        const vi low = paired(e, e), high = (e & (int32_t)UINT32_C(0xffff0000)) | (vi)((vu)e >> 16);
        memcpy(part[0] + v, &low, sizeof low);
        memcpy(part[1] + v, &high, sizeof high);
    }
}

INLINE void exponents_b(enum tensor_kind kind, uint32_t turned[2][16], int32_t part[2][16])
{
    UNROLL
    for (int v = 0; v < 16; v += TENSOR_W) {
        const vi even = vi_load(turned[0] + v), odd = vi_load(turned[1] + v);
        if (kind == KIND_TF32) {
            const int32_t mask = (int32_t)UINT32_C(0xffffe000);
            const vi both = paired(exponents32(even & mask), exponents32(odd & mask));
            memcpy(part[0] + v, &both, sizeof both);
            continue;
        }
        const vi e = (vi)exponents16(kind, (vs)even), o = (vi)exponents16(kind, (vs)odd);
        const vi low = paired(e, o), high = (o & (int32_t)UINT32_C(0xffff0000)) | (vi)((vu)e >> 16);
        memcpy(part[0] + v, &low, sizeof low);
        memcpy(part[1] + v, &high, sizeof high);
    }
}

/* For k's of one register and part, i of every four lanes. */
#define LARGEST_STEP(i)                                                      \
    do {                                                                     \
        const vs y = (vs)vf_each((const float *)(const void *)bk + 4 * (i)); \
        UNROLL                                                               \
        for (int v = 0; v < 2; v++) {                                        \
            const vs x = (vs)vf_quad((vf)vi_load(ak + v * TENSOR_W), i);     \
            most[v] = vs_most(most[v], x + y);                               \
        }                                                                    \
    } while (0)

#define CUT_STEP(i)                                                           \
    do {                                                                      \
        const vf b0 = vf_each(bk + 4 * (i)), b1 = vf_each(bk + 16 + 4 * (i)); \
        UNROLL                                                                \
        for (int v = 0; v < 2; v++) {                                         \
            const vf x = vf_quad(vf_load(ak + v * TENSOR_W), i);              \
            sum[0][v] += vi_whole((vf)((vi)(x * b0) + up[0][v]));             \
            sum[1][v] += vi_whole((vf)((vi)(x * b1) + up[1][v]));             \
        }                                                                     \
    } while (0)

/* What is added at once: registers `from` to `to` of B, to sums `acc` of the lanes of two vectors from `lane` on, rows of half
 * h. False: not by these means. */
INLINE bool cut_once(enum tensor_kind kind, int bits, int from, int to, int h, int lane,
                     float (*a)[2][2][32], float (*b)[2][2][16],
                     const struct cut_exponents *exponents, vf acc[2][2])
{
    const int parts = kind == KIND_TF32 ? 1 : 2;
    vs most[2];
    vi up[2][2], sum[2][2], bad = {0};
    UNROLL
    for (int v = 0; v < 2; v++)
        most[v] = (vs)paired(exponents32((vi)acc[0][v]), exponents32((vi)acc[1][v]));
    UNROLL
    for (int r = from; r < to; r++)
        UNROLL
    for (int part = 0; part < parts; part++) {
        const int32_t *ak = exponents->a[r][h][part] + lane, *bk = exponents->b[r][part];
        LARGEST_STEP(0);
        LARGEST_STEP(1);
        LARGEST_STEP(2);
        LARGEST_STEP(3);
    }
    UNROLL
    for (int v = 0; v < 2; v++) {
        const vs low = (vs){0} + CUT_LOW, clipped = vs_most(most[v], low);
        bad |= (vi)((most[v] > (int16_t)bits) | ((clipped != most[v]) & (most[v] > CUT_NONE)));
        up[0][v] = (vi)((vu)(bits - ((vi)((vu)(vi)clipped << 16) >> 16)) << 23);
        up[1][v] = (vi)((vu)(bits - ((vi)clipped >> 16)) << 23);
        sum[0][v] = sum[1][v] = (vi){0};
    }
    UNROLL
    for (int r = from; r < to; r++)
        UNROLL
    for (int part = 0; part < parts; part++) {
        const float *ak = a[r][h][part] + lane, *bk = b[r][part][0];
        CUT_STEP(0);
        CUT_STEP(1);
        CUT_STEP(2);
        CUT_STEP(3);
    }
    UNROLL
    for (int p = 0; p < 2; p++)
        UNROLL
    for (int v = 0; v < 2; v++) {
        const vi start = vi_whole((vf)((vi)acc[p][v] + up[p][v]));
        const vi all = (vi)((vu)sum[p][v] + (vu)start);
        bad |= (all ^ sum[p][v]) & (all ^ start) & (int32_t)UINT32_C(0x80000000);
        acc[p][v] = (vf)vi_where(all, (vi){0}, (vi){0}, (vi)vi_cut(all) - up[p][v]);
    }
    return !vi_any(bad);
}

/* False: nothing is done. */
INLINE bool cut_product(enum tensor_kind kind, int regs, const struct tensor_block *s,
                        float (*a)[2][2][32], float (*b)[2][2][16],
                        const struct cut_exponents *exponents)
{
    float out[2][2][32] __attribute__((aligned(64)));
    for (int lane = 0; lane < 32; lane += 2 * TENSOR_W)
        for (int h = 0; h < 2; h++) {
            vf acc[2][2];
            for (int p = 0; p < 2; p++)
                for (int v = 0; v < 2; v++)
                    acc[p][v] = vf_load(
                        (const float *)(const void *)(s->c[2 * h + p] + lane + v * TENSOR_W));
            if (s->at_once >= regs) {
                if (!cut_once(kind, s->bits, 0, regs, h, lane, a, b, exponents, acc))
                    return false;
            } else
                for (int r = 0; r < regs; r++)
                    if (!cut_once(kind, s->bits, r, r + 1, h, lane, a, b, exponents, acc))
                        return false;
            for (int p = 0; p < 2; p++)
                for (int v = 0; v < 2; v++)
                    vf_store(out[h][p] + lane + v * TENSOR_W, acc[p][v]);
        }
    for (int r = 0; r < 4; r++)
        memcpy(s->d[r], out[r / 2][r % 2], sizeof out[0][0]);
    return true;
}

/* A as products take it: register of the same k, half of the rows, part. */
struct left {
    float x[2][2][2][32] __attribute__((aligned(64)));
};

INLINE void widen_left(enum tensor_kind kind, int regs, const struct tensor_block *s, bool cut,
                       struct left *a, struct cut_exponents *e)
{
    const int parts = kind == KIND_TF32 ? 1 : 2;
    for (int r = 0; r < regs; r++)
        for (int h = 0; h < 2; h++) {
            for (int part = 0; part < parts; part++)
                widen(kind, s->a[2 * r + h], 32, part, a->x[r][h][part]);
            if (cut)
                exponents_a(kind, s->a[2 * r + h], e->a[r][h]);
        }
}

/* Rounded to nearest, one after another. */
INLINE void add_product(enum tensor_kind kind, int regs, const struct tensor_block *s,
                        float (*a)[2][2][32], float (*b)[2][2][16])
{
    const int parts = kind == KIND_TF32 ? 1 : 2;
    const int step = 2 * 32; /* floats from one half of A's rows to the other */
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

/* A block of `regs` of B, twice as many of A, with `parts` elements in each. Lane 4 column + i of B has elements of rows
 * parts i, parts i + 1: b[register][part][column & 1][i][column / 2]. */
INLINE void product(enum tensor_kind kind, int regs, const struct tensor_block *s, struct left *a,
                    struct cut_exponents *e)
{
    const int parts = kind == KIND_TF32 ? 1 : 2;
    float b[2][2][2][16] __attribute__((aligned(64)));
    for (int r = 0; r < regs; r++) {
        uint32_t turned[2][16] __attribute__((aligned(64)));
        turn(s->b[r], turned);
        for (int part = 0; part < parts; part++) {
            widen(kind, turned[0], 16, part, b[r][part][0]);
            widen(kind, turned[1], 16, part, b[r][part][1]);
        }
        if (s->at_once)
            exponents_b(kind, turned, e->b[r]);
    }
    if (!s->at_once)
        add_product(kind, regs, s, a->x, b);
    else if (!cut_product(kind, regs, s, a->x, b, e))
        tensor_cut_block(s, kind, regs);
}

INLINE void products(enum tensor_kind kind, int regs, const struct tensor_block *s)
{
    const bool exactly = s->at_once && (s->c_half || s->d_half);
    struct left a;
    struct cut_exponents e;
    if (!exactly)
        widen_left(kind, regs, s, s->at_once, &a, &e);
    struct tensor_block beside;
    const struct tensor_block *one = s;
    for (int i = 0; i < s->count; i++) {
        if (i > 0) {
            beside = tensor_block_of(s, regs, i);
            one = &beside;
        }
        if (exactly)
            tensor_cut_block(one, kind, regs);
        else
            /* cppcheck-suppress uninitvar ; it is written there */
            product(kind, regs, one, &a, &e);
    }
}

#define PRODUCT(kind, regs)                                           \
    static void product_##kind##_##regs(const struct tensor_block *s) \
    {                                                                 \
        products(kind, regs, s);                                      \
    }
PRODUCT(KIND_F16, 1)
PRODUCT(KIND_F16, 2)
PRODUCT(KIND_BF16, 1)
PRODUCT(KIND_BF16, 2)
PRODUCT(KIND_TF32, 1)
PRODUCT(KIND_TF32, 2)

#define PRODUCTS(kind) [kind] = {product_##kind##_1, product_##kind##_2}
