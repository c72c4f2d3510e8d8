/* tensor_cut.c - see tensor_cut.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/tensor_cut.h"

#include <stddef.h>

#include "sim/half.h"

enum { LOWEST = -133, F16_MIN = -14, F32_MIN = -126, F32_MAX = 127, F32_BITS = 23, F16_BITS = 10 };

const struct tensor_adder *tensor_adder_of(int cc)
{
    static const struct tensor_adder all[] = {
        {75, 16, 24}, {80, 16, 24}, {86, 16, 24}, {87, 16, 24}, {89, 16, 24}, {90, 32, 25},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].cc == cc)
            return &all[i];
    return NULL;
}

/* ---- A number as significand and exponent. ---- */

/* value = +-significand 2^(exponent - point). Subnormals have the exponent of the smallest normal number. */
struct number {
    bool negative, infinite, nan;
    uint32_t significand;
    int exponent;
};

/* Bits of a type with so many bits of mantissa and exponent. */
static struct number number(uint32_t u, int mantissa, int exponent)
{
    const uint32_t fraction = u & ((1u << mantissa) - 1);
    const int top = (1 << exponent) - 1, field = (int)(u >> mantissa) & top;
    return (struct number){
        .negative = u >> (mantissa + exponent) & 1,
        .infinite = field == top && !fraction,
        .nan = field == top && fraction,
        .significand = fraction | (field ? 1u << mantissa : 0),
        .exponent = (field ? field : 1) - (top >> 1),
    };
}

static struct number operand(enum tensor_kind kind, uint32_t u)
{
    return kind == KIND_F16    ? number(u & 0xffff, F16_BITS, 5)
           : kind == KIND_BF16 ? number(u & 0xffff, 7, 8)
                               : number(u >> 13, 10, 8);
}

static int operand_bits(enum tensor_kind kind)
{
    return kind == KIND_BF16 ? 7 : 10;
}

/* ---- A sum: a whole number of 2^unit. ---- */

struct sum {
    int64_t whole;
    bool infinite[2], nan; /* [negative] */
};

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* significand 2^(exponent - point) in units of 2^unit, cut off. */
static int64_t cut(const struct number *x, int point, int unit)
{
    const int left = x->exponent - point - unit;
    const uint64_t size = left >= 64   ? 0 /* of a significand that is 0 alone */
                          : left >= 0  ? (uint64_t)x->significand << left
                          : left > -64 ? (uint64_t)x->significand >> -left
                                       : 0;
    return x->negative ? -(int64_t)size : (int64_t)size;
}

static void add(struct sum *s, const struct number *x, int point, int unit)
{
    s->nan |= x->nan;
    s->infinite[x->negative] |= x->infinite;
    if (!x->nan && !x->infinite)
        s->whole += cut(x, point, unit);
}

static struct number times(const struct number *a, const struct number *b)
{
    const bool zero = (!a->significand && !a->infinite && !a->nan) ||
                      (!b->significand && !b->infinite && !b->nan),
               infinite = a->infinite || b->infinite;
    return (struct number){
        .negative = a->negative != b->negative,
        .nan = a->nan || b->nan || (infinite && zero),
        .infinite = infinite && !zero,
        .significand = a->significand * b->significand,
        .exponent = a->exponent + b->exponent,
    };
}

/* ---- The result. ---- */

static int top_bit(uint64_t x)
{
    return 63 - __builtin_clzll(x);
}

/* size 2^unit, towards 0; above the largest: infinity. */
static uint32_t to_f32(uint64_t size, int unit)
{
    if (!size)
        return 0;
    const int exponent = larger(top_bit(size) + unit, F32_MIN), shift = exponent - F32_BITS - unit;
    const uint64_t kept = shift >= 0 ? size >> shift : size << -shift;
    if (exponent > F32_MAX)
        return UINT32_C(0x7f800000);
    return ((uint32_t)(exponent + F32_MAX - 1) << F32_BITS) + (uint32_t)kept;
}

/* The same to the nearest f16, the even one of two. */
static uint32_t to_f16(uint64_t size, int unit)
{
    if (!size)
        return 0;
    const int exponent = larger(top_bit(size) + unit, F16_MIN), shift = exponent - F16_BITS - unit;
    uint64_t kept = size;
    if (shift > 63)
        kept = 0;
    else if (shift > 0) {
        const uint64_t rest = size & ((UINT64_C(1) << shift) - 1), middle = UINT64_C(1)
                                                                            << (shift - 1);
        kept = size >> shift;
        kept += rest > middle || (rest == middle && kept & 1);
    } else
        kept = size << -shift;
    const uint32_t bits = ((uint32_t)(exponent + 14) << F16_BITS) + (uint32_t)kept;
    return exponent > 15 || bits > 0x7c00 ? 0x7c00 : bits;
}

static uint32_t result(const struct sum *s, int unit, bool half)
{
    const bool infinite = s->infinite[0] || s->infinite[1];
    if (s->nan || (s->infinite[0] && s->infinite[1]))
        return half ? 0x7fff : 0x7fffffff;
    const bool negative = infinite ? s->infinite[1] : s->whole < 0;
    const uint64_t size = s->whole < 0 ? -(uint64_t)s->whole : (uint64_t)s->whole;
    const uint32_t sign = negative ? half ? 0x8000 : 0x80000000 : 0;
    if (infinite)
        return sign | (half ? 0x7c00 : 0x7f800000);
    const uint32_t bits = half ? to_f16(size, unit) : to_f32(size, unit);
    return bits ? sign | bits : 0; /* what becomes 0 is +0 */
}

uint32_t tensor_cut_sum(enum tensor_kind kind, int bits, int n, const uint32_t *a,
                        const uint32_t *b, uint32_t c, bool half)
{
    enum { MOST = 16 };
    struct number product[MOST];
    const struct number start = half ? number(c & 0xffff, F16_BITS, 5) : number(c, F32_BITS, 8);
    int most = start.significand ? start.exponent : LOWEST;
    for (int i = 0; i < n && i < MOST; i++) {
        const struct number x = operand(kind, a[i]), y = operand(kind, b[i]);
        product[i] = times(&x, &y);
        if (product[i].significand)
            most = larger(most, product[i].exponent);
    }
    struct sum s = {0};
    const int unit = most - bits;
    add(&s, &start, half ? F16_BITS : F32_BITS, unit);
    for (int i = 0; i < n && i < MOST; i++)
        add(&s, &product[i], 2 * operand_bits(kind), unit);
    return result(&s, unit, half);
}

/* ---- A block. ---- */

/* Row of A or column of B, `regs` registers from `first` on, `stride` apart: element k. */
static int line(enum tensor_kind kind, uint32_t *const *reg, int first, int stride, int regs,
                int at, uint32_t *out)
{
    const int parts = kind == KIND_TF32 ? 1 : 2;
    int n = 0;
    for (int r = 0; r < regs; r++)
        for (int lane = 4 * at; lane < 4 * at + 4; lane++)
            for (int part = 0; part < parts; part++) {
                const uint32_t word = reg[first + r * stride][lane];
                out[n++] = parts == 1 ? word : word >> 16 * part & 0xffff;
            }
    return n;
}

/* The element of the lane's registers for the upper or lower half of the rows, of an even column or the next. */
static uint32_t element(uint32_t *const *reg, bool pairs, int half, int part, int lane)
{
    return pairs ? reg[half][lane] >> 16 * part & 0xffff : reg[2 * half + part][lane];
}

/* Sums begin in f32 and are f16 at the end, or the other way round, where ptxas converts them (wmma). */
static uint32_t one(const struct tensor_block *s, enum tensor_kind kind, int regs, int half,
                    int row, int column)
{
    const int lane = 4 * row + column / 2;
    const bool halves = s->c_half && s->d_half;
    uint32_t sum = element(s->c, s->c_half, half, column % 2, lane);
    if (s->c_half && !halves)
        sum = float_bits(half_to_float((uint16_t)sum));
    for (int r = 0; r < regs; r += s->at_once) {
        const int take = regs - r < s->at_once ? regs - r : s->at_once;
        uint32_t a[16], b[16];
        const int n = line(kind, s->a, 2 * r + half, 2, take, row, a);
        (void)line(kind, s->b, r, 1, take, column, b);
        sum = tensor_cut_sum(kind, s->bits, n, a, b, sum, halves);
    }
    return s->d_half && !halves ? half_from_float(bits_float(sum)) : sum;
}

void tensor_cut_block(const struct tensor_block *s, enum tensor_kind kind, int regs)
{
    uint32_t out[4][32] = {{0}};
    for (int half = 0; half < 2; half++)
        for (int row = 0; row < 8; row++)
            for (int column = 0; column < 8; column++) {
                const int lane = 4 * row + column / 2, part = column % 2;
                const uint32_t sum = one(s, kind, regs, half, row, column);
                if (s->d_half)
                    out[half][lane] |= sum << 16 * part;
                else
                    out[2 * half + part][lane] = sum;
            }
    for (int r = 0; r < (s->d_half ? 2 : 4); r++)
        for (int lane = 0; lane < 32; lane++)
            s->d[r][lane] = out[r][lane];
}
