/* How tensor cores add: sums that an H200 made, the rule once more in doubles, and that each part of it is seen in
 * those sums; every instruction set, operands of every size, infinities and NaN among them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/half.h"
#include "sim/tensor.h"
#include "sim/tensor_cut.h"

enum { K_MOST = 16 };

/* Measured: a row of A, a column of B, what they were added to, and the sum. */
struct measured {
    enum tensor_type type; /* of the operands */
    bool half;             /* sums are f16 */
    int n;
    uint32_t a[K_MOST], b[K_MOST], c, d;
};

static const struct measured measured[] = {
#include "tensor_sums.inc"
};
enum { MEASURED = sizeof measured / sizeof *measured };

/* ---- The rule in doubles, and rules that are wrong in one point. ---- */

struct rule {
    const char *name;
    int bits;          /* behind the point of the largest */
    int at_once;       /* products; 0: all */
    bool to_nearest;   /* terms are rounded, not cut off */
    bool last_nearest; /* an f32's last bit is */
    bool own_exponent; /* of a product, not the sum of its factors' */
    bool normal;       /* exponents of subnormal numbers are their own */
    bool sum_whole;    /* what is added to is not cut off */
    bool half_cut;     /* f16 sums are cut off, too */
    int lowest;        /* exponent of what is added to when it is 0, and of all else; 0: -133 */
};

static const struct rule h200 = {.bits = 25};

static double value(enum tensor_type t, uint32_t u)
{
    return t == TENSOR_F16    ? half_to_float((uint16_t)u)
           : t == TENSOR_BF16 ? bfloat_to_float((uint16_t)u)
           : t == TENSOR_TF32 ? bits_float(u & UINT32_C(0xffffe000))
                              : bits_float(u);
}

static int exponent(double x, int least)
{
    int e;
    (void)frexp(x, &e);
    return e - 1 > least ? e - 1 : least;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static double cut(const struct rule *r, double x, int unit)
{
    x = ldexp(x, -unit);
    return ldexp(r->to_nearest ? rint(x) : trunc(x), unit);
}

static uint32_t f32_of(double x, bool nearest)
{
    if (x == 0)
        return 0;
    const int e = exponent(x, -126);
    const double whole = ldexp(x, 23 - e),
                 kept = ldexp(nearest ? rint(whole) : trunc(whole), e - 23);
    if (kept == 0)
        return 0;
    return float_bits(fabs(kept) >= 0x1p128 ? (float)copysign(INFINITY, x) : (float)kept);
}

static uint32_t f16_of(double x, bool nearest)
{
    if (x == 0)
        return 0;
    const int e = exponent(x, -14);
    const double whole = ldexp(x, 10 - e),
                 kept = ldexp(nearest ? rint(whole) : trunc(whole), e - 10);
    if (kept == 0)
        return 0;
    return half_from_float(fabs(kept) >= 65536 ? (float)copysign(INFINITY, x) : (float)kept);
}

static uint32_t added(const struct rule *r, enum tensor_type t, bool half, int n, const uint32_t *a,
                      const uint32_t *b, uint32_t c)
{
    const int least = t == TENSOR_F16 ? -14 : -126;
    const double start = value(half ? TENSOR_F16 : TENSOR_F32, c);
    double check = start, sum = 0, product[K_MOST];
    int most = r->lowest ? r->lowest : -133;
    if (start != 0 && isfinite(start))
        most = larger(most, exponent(start, half ? -14 : -126));
    for (int i = 0; i < n; i++) {
        const double x = value(t, a[i]), y = value(t, b[i]);
        product[i] = x * y;
        check += product[i];
        if (product[i] == 0 || isnan(product[i]))
            continue;
        const int low = r->normal ? -1000 : least;
        const int e =
            r->own_exponent ? exponent(product[i], -1000) : exponent(x, low) + exponent(y, low);
        most = larger(most, e);
    }
    if (isnan(check))
        return half ? 0x7fff : 0x7fffffff;
    if (isinf(check))
        return half ? half_from_float((float)check) : float_bits((float)check);
    for (int i = 0; i < n; i++)
        sum += cut(r, product[i], most - r->bits);
    sum += r->sum_whole ? start : cut(r, start, most - r->bits);
    return half ? f16_of(sum, !r->half_cut) : f32_of(sum, r->last_nearest);
}

static uint32_t sum_by(const struct rule *r, enum tensor_type t, bool half, int n,
                       const uint32_t *a, const uint32_t *b, uint32_t c)
{
    const int each = r->at_once ? r->at_once : n;
    for (int i = 0; i < n; i += each)
        c = added(r, t, half, n - i < each ? n - i : each, a + i, b + i, c);
    return c;
}

/* ---- What was measured. ---- */

static enum tensor_kind kind_of(enum tensor_type t)
{
    return t == TENSOR_F16 ? KIND_F16 : t == TENSOR_BF16 ? KIND_BF16 : KIND_TF32;
}

static void test_measured(void)
{
    const struct tensor_adder *adder = tensor_adder_of(90);
    CU_ASSERT_PTR_NOT_NULL_FATAL(adder);
    for (int i = 0; i < MEASURED; i++) {
        const struct measured *m = &measured[i];
        const uint32_t own =
            tensor_cut_sum(kind_of(m->type), adder->bits, m->n, m->a, m->b, m->c, m->half);
        const uint32_t plain = sum_by(&h200, m->type, m->half, m->n, m->a, m->b, m->c);
        if (own != m->d || plain != m->d)
            printf("# sum %d: %08x measured, %08x here, %08x by doubles\n", i, m->d, own, plain);
        CU_ASSERT_EQUAL(own, m->d);
        CU_ASSERT_EQUAL(plain, m->d);
    }
}

/* A rule that differs in one point has at least one measured sum wrong: so the vectors hold every point. */
static void test_every_point(void)
{
    static const struct rule wrong[] = {
        {.name = "24 bits", .bits = 24},
        {.name = "26 bits", .bits = 26},
        {.name = "four at once", .bits = 25, .at_once = 4},
        {.name = "eight at once", .bits = 25, .at_once = 8},
        {.name = "one at once", .bits = 25, .at_once = 1},
        {.name = "terms to nearest", .bits = 25, .to_nearest = true},
        {.name = "f32 to nearest", .bits = 25, .last_nearest = true},
        {.name = "a product's own exponent", .bits = 25, .own_exponent = true},
        {.name = "subnormal numbers' own exponents", .bits = 25, .normal = true},
        {.name = "what is added to stays whole", .bits = 25, .sum_whole = true},
        {.name = "no bits below 2^-151", .bits = 25, .lowest = -126},
        {.name = "bits below 2^-158", .bits = 25, .lowest = -1000},
        {.name = "f16 cut off", .bits = 25, .half_cut = true},
    };
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
        int other = 0;
        for (int i = 0; i < MEASURED; i++) {
            const struct measured *m = &measured[i];
            other += sum_by(&wrong[w], m->type, m->half, m->n, m->a, m->b, m->c) != m->d;
        }
        printf("# %s: %d of %d sums differ\n", wrong[w].name, other, MEASURED);
        CU_ASSERT(other > 0);
    }
}

/* ---- Instructions. ---- */

static uint64_t state = 88172645463325252u;

static uint32_t any32(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state * UINT64_C(2685821657736338717) >> 32);
}

struct fragment {
    uint32_t word[TENSOR_REGS_MAX][32] __attribute__((aligned(64)));
    uint32_t *reg[TENSOR_REGS_MAX];
};

static void fragment_init(struct fragment *f)
{
    for (int r = 0; r < TENSOR_REGS_MAX; r++)
        f->reg[r] = f->word[r];
}

struct matrix {
    uint32_t at[32][32];
};

/* An element's bits, of a fragment or into it; some have a place in several registers. */
static void take(const struct tensor_mma *op, enum tensor_operand w, struct fragment *f,
                 struct matrix *m, bool into)
{
    const int parts = tensor_parts(op->type[w]);
    for (int lane = 0; lane < 32; lane++)
        for (int e = 0; e < op->regs[w] * parts; e++) {
            const struct tensor_place p = tensor_place(op, w, lane, e / parts, e % parts);
            uint32_t *word = &f->reg[e / parts][lane], *at = &m->at[p.row][p.col];
            const int shift = parts == 2 ? 16 * (e % 2) : 0;
            const uint32_t mask = parts == 2 ? UINT32_C(0xffff) << shift : UINT32_MAX;
            if (into)
                *word = (*word & ~mask) | *at << shift;
            else
                *at = (*word & mask) >> shift;
        }
}

static uint32_t packed(enum tensor_type t, float x)
{
    return t == TENSOR_F16    ? half_from_float(x)
           : t == TENSOR_BF16 ? float_bits(x) >> 16
                              : float_bits(x);
}

/* Of a kind: numbers about 1, with exponents from -spread to spread, mostly zeros, or any bits at all. */
enum { ABOUT_ONE, SPREAD, SPARSE, BITS, LARGE_SUM, FILLS };

static uint32_t drawn(enum tensor_type t, int fill, bool is_sum)
{
    const uint32_t u = any32();
    float x = (float)(int32_t)u * 0x1p-30f;
    if (fill == BITS)
        return t == TENSOR_F16 || t == TENSOR_BF16 ? u >> 16 : u;
    if (fill == SPREAD)
        x = ldexpf(x, (int)(any32() % 41) - 20);
    if (fill == SPARSE && any32() % 4)
        x = any32() % 2 ? 0.f : -0.f;
    if (fill == LARGE_SUM && is_sum)
        x = ldexpf(x, (int)(any32() % 30));
    return packed(t, x);
}

static void fill(const struct tensor_mma *op, enum tensor_operand w, int how, struct matrix *m,
                 struct fragment *f)
{
    for (int row = 0; row < 32; row++)
        for (int col = 0; col < 32; col++)
            m->at[row][col] = drawn(op->type[w], how, w == TENSOR_C);
    fragment_init(f);
    take(op, w, f, m, true);
}

/* In the order of k; wmma's sums of two types are converted by instructions of their own. */
static uint32_t wanted(const struct tensor_mma *op, const struct rule *r, const uint32_t *a,
                       const uint32_t *b, uint32_t c)
{
    const bool from = op->type[TENSOR_C] == TENSOR_F16, to = op->type[TENSOR_D] == TENSOR_F16;
    if (from && !to)
        c = float_bits(half_to_float((uint16_t)c));
    c = sum_by(r, op->type[TENSOR_A], from && to, op->k, a, b, c);
    return to && !from ? half_from_float(bits_float(c)) : c;
}

static int wrong_sums(const struct tensor_mma *op, const struct tensor_adder *adder, int how)
{
    static struct fragment fa, fb, fc, fd;
    static struct matrix a, b, c, d;
    const int element_bytes = op->type[TENSOR_A] == TENSOR_TF32 ? 4 : 2,
              bytes = op->wmma && element_bytes == 4 ? 16 : adder->bytes;
    const struct rule r = {.bits = adder->bits, .at_once = bytes / element_bytes};
    fill(op, TENSOR_A, how, &a, &fa);
    fill(op, TENSOR_B, how, &b, &fb);
    fill(op, TENSOR_C, how, &c, &fc);
    fragment_init(&fd);
    tensor_mma_run(op, adder, fd.reg, fa.reg, fb.reg, fc.reg);
    take(op, TENSOR_D, &fd, &d, false);
    int bad = 0;
    for (int row = 0; row < op->m; row++)
        for (int col = 0; col < op->n; col++) {
            uint32_t column[K_MOST];
            for (int k = 0; k < op->k; k++)
                column[k] = b.at[k][col];
            bad += wanted(op, &r, a.at[row], column, c.at[row][col]) != d.at[row][col];
        }
    return bad;
}

#define T(x) TENSOR_##x
static const struct {
    bool wmma;
    int m, n, k;
    enum tensor_type d, ab, c;
} products[] = {
    {false, 16, 8, 16, T(F32), T(F16), T(F32)},  {false, 16, 8, 16, T(F16), T(F16), T(F16)},
    {false, 16, 8, 16, T(F32), T(BF16), T(F32)}, {false, 16, 8, 8, T(F32), T(F16), T(F32)},
    {false, 16, 8, 8, T(F16), T(F16), T(F16)},   {false, 16, 8, 8, T(F32), T(BF16), T(F32)},
    {false, 16, 8, 8, T(F32), T(TF32), T(F32)},  {false, 16, 8, 4, T(F32), T(TF32), T(F32)},
    {true, 16, 16, 16, T(F32), T(F16), T(F32)},  {true, 16, 16, 16, T(F16), T(F16), T(F16)},
    {true, 16, 16, 16, T(F32), T(F16), T(F16)},  {true, 16, 16, 16, T(F16), T(F16), T(F32)},
    {true, 32, 8, 16, T(F32), T(BF16), T(F32)},  {true, 8, 32, 16, T(F32), T(F16), T(F32)},
    {true, 16, 16, 8, T(F32), T(TF32), T(F32)},
};
enum { PRODUCTS = sizeof products / sizeof *products };

static struct tensor_mma make(int i)
{
    struct tensor_mma op;
    struct err err = ERR_INIT;
    if (tensor_mma_make(&op, products[i].wmma, products[i].m, products[i].n, products[i].k,
                        products[i].d, products[i].ab, products[i].ab, products[i].c, false,
                        &err) != ST_OK) {
        printf("# %s\n", err.text);
        abort();
    }
    return op;
}

static void test_products(void)
{
    static const char *const isas[] = {"generic", "avx2", "avx512"};
    static const int capabilities[] = {75, 80, 86, 89, 90};
    for (int i = 0; i < PRODUCTS; i++) {
        struct tensor_mma op = make(i);
        for (int s = 0; s < 3; s++) {
            if (!tensor_mma_use(&op, isas[s]))
                continue;
            for (size_t g = 0; g < sizeof capabilities / sizeof *capabilities; g++)
                for (int how = 0; how < FILLS; how++)
                    for (int times = 0; times < 4; times++) {
                        const int bad = wrong_sums(&op, tensor_adder_of(capabilities[g]), how);
                        if (bad)
                            printf("# product %d, %s, sm_%d, operands %d: %d\n", i, isas[s],
                                   capabilities[g], how, bad);
                        CU_ASSERT_EQUAL(bad, 0);
                    }
        }
    }
}

/* The largest significands of all signs the same: the sum needs 32 bits and a sign. */
static void test_largest(void)
{
    static const char *const isas[] = {"generic", "avx2", "avx512"};
    struct tensor_mma op = make(0);
    for (int s = 0; s < 3; s++) {
        if (!tensor_mma_use(&op, isas[s]))
            continue;
        for (int negative = 0; negative < 2; negative++) {
            static struct fragment a, b, c;
            uint32_t row[K_MOST], column[K_MOST];
            fragment_init(&a);
            fragment_init(&b);
            fragment_init(&c);
            const uint32_t sum = UINT32_C(0x3fffffff) | (uint32_t)negative << 31;
            for (int k = 0; k < K_MOST; k++)
                row[k] = 0x3fffu | (uint32_t)negative << 15, column[k] = 0x3fff;
            for (int r = 0; r < 4; r++)
                for (int lane = 0; lane < 32; lane++) {
                    a.word[r][lane] = row[0] | row[0] << 16;
                    b.word[r][lane] = column[0] | column[0] << 16;
                    c.word[r][lane] = sum;
                }
            tensor_mma_run(&op, tensor_adder_of(90), c.reg, a.reg, b.reg, c.reg);
            CU_ASSERT_EQUAL(c.word[3][31], sum_by(&h200, TENSOR_F16, false, 16, row, column, sum));
        }
    }
}

static void test_adders(void)
{
    const struct tensor_adder *a = tensor_adder_of(89), *h = tensor_adder_of(90);
    CU_ASSERT_PTR_NOT_NULL_FATAL(a);
    CU_ASSERT_PTR_NOT_NULL_FATAL(h);
    CU_ASSERT_EQUAL(a->bits, 24);
    CU_ASSERT_EQUAL(a->bytes, 16);
    CU_ASSERT_EQUAL(h->bits, 25);
    CU_ASSERT_EQUAL(h->bytes, 32);
    CU_ASSERT_PTR_NULL(tensor_adder_of(0));
    CU_ASSERT_PTR_NULL(tensor_adder_of(70));
    CU_ASSERT_PTR_NULL(tensor_adder_of(100));
}

static const struct tap_test tests[] = {
    {"sums that an H200 made", test_measured},
    {"each point of the rule is seen in them", test_every_point},
    {"every product, instruction set and kind of GPU, against doubles", test_products},
    {"the largest sums", test_largest},
    {"whose rule is known", test_adders},
};

TAP_MAIN("tensor_cut", tests)
