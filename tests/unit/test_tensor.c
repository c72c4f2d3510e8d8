/* Tensor instructions: layouts by the formulas of the PTX manual, products against plain ones, bit for bit, in
 * every instruction set of the machine; wmma through memory, and as what ptxas makes of it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/half.h"
#include "sim/tensor.h"

static uint64_t state = 88172645463325252u;

static uint64_t any64(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * UINT64_C(2685821657736338717);
}

static uint32_t any(uint32_t below)
{
    return (uint32_t)(any64() >> 33) % below;
}

/* ---- Conversions. ---- */

static double half_value(uint16_t h)
{
    const int e = h >> 10 & 31, f = h & 1023;
    const double x = e ? ldexp(1024 + f, e - 25) : ldexp(f, -24);
    return h & 0x8000 ? -x : x;
}

/* The nearest of all f16 values, the even one of two. */
static uint16_t nearest_half(double x)
{
    const uint16_t sign = signbit(x) ? 0x8000 : 0;
    x = fabs(x);
    int low = 0, high = 0x7c00; /* as a number, Inf is what would come after the largest: 65536 */
    while (high - low > 1) {
        const int mid = (low + high) / 2;
        if (half_value((uint16_t)mid) <= x)
            low = mid;
        else
            high = mid;
    }
    const double down = x - half_value((uint16_t)low),
                 up = (high == 0x7c00 ? 65536 : half_value((uint16_t)high)) - x;
    return (uint16_t)(sign | (down < up || (down == up && low % 2 == 0) ? low : high));
}

static void test_half(void)
{
    int bad = 0;
    for (uint32_t h = 0; h < 65536; h++) {
        const float x = half_to_float((uint16_t)h);
        if ((h & 0x7c00) == 0x7c00) {
            bad += h & 0x3ff ? !isnan(x) : !isinf(x) || !!signbit(x) != (h >= 0x8000);
            bad += half_from_float(x) != (h & 0x3ff ? 0x7fff : h);
        } else {
            bad += (double)x != half_value((uint16_t)h) || half_from_float(x) != h;
        }
    }
    CU_ASSERT_EQUAL(bad, 0);
    for (int i = 0; i < 20000; i++) {
        const float x = ldexpf((float)((int)any(1u << 25) - (1 << 24)), (int)any(44) - 50);
        const uint16_t at = (uint16_t)any(0x7c00);
        const float tie = (float)((half_value(at) + half_value(at ? at - 1 : 1)) / 2);
        bad += half_from_float(x) != nearest_half(x);
        bad += half_from_float(tie) != nearest_half(tie);
    }
    CU_ASSERT_EQUAL(bad, 0);
    CU_ASSERT_EQUAL(half_from_float(65519.996f), 0x7bff);
    CU_ASSERT_EQUAL(half_from_float(-65520), 0xfc00);
    CU_ASSERT_EQUAL(half_from_float(0x1p-25f), 0);
    CU_ASSERT_EQUAL(half_from_float(0x1.000002p-25f), 1);
}

static void test_names(void)
{
    int m = 0, n = 0, k = 0;
    enum tensor_type t = TENSOR_F16;
    CU_ASSERT(tensor_shape_parse("m16n8k16", &m, &n, &k) && m == 16 && n == 8 && k == 16);
    CU_ASSERT(tensor_shape_parse(".m8n32k4", &m, &n, &k) && m == 8 && n == 32 && k == 4);
    CU_ASSERT(!tensor_shape_parse("m16n8", &m, &n, &k));
    CU_ASSERT(!tensor_shape_parse("m16n8k16x", &m, &n, &k));
    CU_ASSERT(!tensor_shape_parse("m99999999999n8k16", &m, &n, &k));
    CU_ASSERT(!tensor_shape_parse("m016n8k16", &m, &n, &k));
    CU_ASSERT(!tensor_shape_parse("", &m, &n, &k));
    CU_ASSERT(tensor_type_parse(".bf16", &t) && t == TENSOR_BF16);
    CU_ASSERT(tensor_type_parse("s32", &t) && t == TENSOR_S32);
    CU_ASSERT(!tensor_type_parse("f8", &t) && !tensor_type_parse("", &t));
    struct tensor_mma op;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(tensor_mma_make(&op, false, 16, 8, 16, TENSOR_F32, TENSOR_F16, TENSOR_BF16,
                                    TENSOR_F32, false, &err),
                    ST_USAGE);
    CU_ASSERT(strstr(err.text, "m16n8k16 .f32.f16.bf16.f32") &&
              strstr(err.text, ".f16.f16.f16.f16"));
    CU_ASSERT_EQUAL(tensor_mma_make(&op, true, 4, 4, 4, TENSOR_F32, TENSOR_F16, TENSOR_F16,
                                    TENSOR_F32, false, &err),
                    ST_USAGE);
    CU_ASSERT(strstr(err.text, "m16n16k16") != NULL);
    CU_ASSERT_EQUAL(tensor_mma_make(&op, false, 16, 8, 16, TENSOR_F32, TENSOR_F16, TENSOR_F16,
                                    TENSOR_F32, true, &err),
                    ST_USAGE); /* satfinite is of integers */
}

/* ---- Layouts: element i of a fragment, as "Matrix fragments for mma.m..n..k.." of the manual says. ---- */

static struct tensor_place manual(const struct tensor_mma *op, enum tensor_operand which, int lane,
                                  int i)
{
    const int group = lane >> 2, in_group = lane % 4, m = op->m, k = op->k;
    const enum tensor_type t = op->type[which];
    const bool bits16 = t == TENSOR_F16 || t == TENSOR_BF16;
    int row = -1, col = -1;
    if (which == TENSOR_A && bits16 && k == 16) {
        row = (i >= 0 && i < 2) || (i >= 4 && i < 6) ? group : group + 8;
        col = in_group * 2 + (i & 1) + (i >= 4 ? 8 : 0);
    } else if (which == TENSOR_A && bits16 && k == 8) {
        row = i < 2 ? group : group + 8;
        col = in_group * 2 + (i & 1);
    } else if (which == TENSOR_A && t == TENSOR_TF32 && k == 8) {
        row = i == 0 || i == 2 ? group : group + 8;
        col = i < 2 ? in_group : in_group + 4;
    } else if (which == TENSOR_A && t == TENSOR_TF32 && k == 4) {
        row = i == 0 ? group : group + 8;
        col = in_group;
    } else if (which == TENSOR_A && t == TENSOR_F64 && m == 8) {
        row = group;
        col = in_group;
    } else if (which == TENSOR_A && t == TENSOR_F64 && k == 4) {
        row = i == 0 ? group : group + 8;
        col = in_group;
    } else if (which == TENSOR_A && t == TENSOR_F64) { /* k8 and k16 */
        row = i % 2 == 0 ? group : group + 8;
        col = i % 2 == 0 ? i * 2 + in_group : i * 2 - 2 + in_group;
    } else if (which == TENSOR_A && m == 8) { /* m8n8k16 of 8 bits */
        row = group;
        col = in_group * 4 + i;
    } else if (which == TENSOR_A && k == 16) { /* 8 bits */
        row = i < 4 ? group : group + 8;
        col = in_group * 4 + (i & 3);
    } else if (which == TENSOR_A && k == 32) {
        row = (i >= 0 && i < 4) || (i >= 8 && i < 12) ? group : group + 8;
        col = i < 8 ? in_group * 4 + (i & 3) : in_group * 4 + (i & 3) + 16;
    } else if (which == TENSOR_B && bits16) {
        row = i < 2 ? in_group * 2 + (i & 1) : in_group * 2 + (i & 1) + 8;
        col = group;
    } else if (which == TENSOR_B && t == TENSOR_TF32) {
        row = i == 0 ? in_group : in_group + 4;
        col = group;
    } else if (which == TENSOR_B && t == TENSOR_F64) {
        row = in_group + i * 4;
        col = group;
    } else if (which == TENSOR_B) { /* 8 bits */
        row = i < 4 ? in_group * 4 + (i & 3) : in_group * 4 + (i & 3) + 16;
        col = group;
    } else if (m == 8) {
        row = group;
        col = in_group * 2 + (i & 1);
    } else {
        row = i < 2 ? group : group + 8;
        col = in_group * 2 + (i & 1);
    }
    return (struct tensor_place){row, col};
}

struct kind {
    bool wmma;
    int m, n, k;
    enum tensor_type d, a, b, c;
};

#define T(x) TENSOR_##x
static const struct kind kinds[] = {
    {false, 16, 8, 16, T(F32), T(F16), T(F16), T(F32)},
    {false, 16, 8, 16, T(F16), T(F16), T(F16), T(F16)},
    {false, 16, 8, 16, T(F32), T(BF16), T(BF16), T(F32)},
    {false, 16, 8, 8, T(F32), T(F16), T(F16), T(F32)},
    {false, 16, 8, 8, T(F16), T(F16), T(F16), T(F16)},
    {false, 16, 8, 8, T(F32), T(BF16), T(BF16), T(F32)},
    {false, 16, 8, 8, T(F32), T(TF32), T(TF32), T(F32)},
    {false, 16, 8, 4, T(F32), T(TF32), T(TF32), T(F32)},
    {false, 8, 8, 16, T(S32), T(S8), T(S8), T(S32)},
    {false, 16, 8, 16, T(S32), T(U8), T(S8), T(S32)},
    {false, 16, 8, 32, T(S32), T(S8), T(U8), T(S32)},
    {false, 16, 8, 32, T(S32), T(U8), T(U8), T(S32)},
    {false, 8, 8, 4, T(F64), T(F64), T(F64), T(F64)},
    {false, 16, 8, 4, T(F64), T(F64), T(F64), T(F64)},
    {false, 16, 8, 8, T(F64), T(F64), T(F64), T(F64)},
    {false, 16, 8, 16, T(F64), T(F64), T(F64), T(F64)},
    {true, 16, 16, 16, T(F32), T(F16), T(F16), T(F32)},
    {true, 16, 16, 16, T(F16), T(F16), T(F16), T(F16)},
    {true, 16, 16, 16, T(F32), T(F16), T(F16), T(F16)},
    {true, 16, 16, 16, T(F16), T(F16), T(F16), T(F32)},
    {true, 16, 16, 16, T(F32), T(BF16), T(BF16), T(F32)},
    {true, 32, 8, 16, T(F32), T(F16), T(F16), T(F32)},
    {true, 32, 8, 16, T(F16), T(F16), T(F16), T(F16)},
    {true, 32, 8, 16, T(F32), T(BF16), T(BF16), T(F32)},
    {true, 8, 32, 16, T(F32), T(F16), T(F16), T(F32)},
    {true, 8, 32, 16, T(F16), T(F16), T(F16), T(F16)},
    {true, 8, 32, 16, T(F32), T(BF16), T(BF16), T(F32)},
    {true, 16, 16, 8, T(F32), T(TF32), T(TF32), T(F32)},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static struct tensor_mma make(const struct kind *k, bool satfinite)
{
    struct tensor_mma op;
    struct err err = ERR_INIT;
    if (tensor_mma_make(&op, k->wmma, k->m, k->n, k->k, k->d, k->a, k->b, k->c, satfinite, &err) !=
        ST_OK) {
        printf("# %s\n", err.text);
        abort();
    }
    return op;
}

static int rows_of(const struct tensor_mma *op, enum tensor_operand which)
{
    return which == TENSOR_B ? op->k : op->m;
}

static int cols_of(const struct tensor_mma *op, enum tensor_operand which)
{
    return which == TENSOR_A ? op->k : op->n;
}

/* Every element has one place (with copies: as many as there are), and mma.sync's is the manual's. */
static void test_layouts(void)
{
    int bad = 0;
    for (int i = 0; i < KINDS; i++) {
        const struct tensor_mma op = make(&kinds[i], false);
        for (int w = TENSOR_A; w <= TENSOR_D; w++) {
            const enum tensor_operand which = (enum tensor_operand)w;
            const int rows = rows_of(&op, which), cols = cols_of(&op, which),
                      parts = tensor_parts(op.type[which]);
            int seen[32][32] = {{0}};
            for (int lane = 0; lane < 32; lane++)
                for (int e = 0; e < op.regs[which] * parts; e++) {
                    const struct tensor_place p =
                        tensor_place(&op, which, lane, e / parts, e % parts);
                    if (p.row < 0 || p.row >= rows || p.col < 0 || p.col >= cols) {
                        bad++;
                        continue;
                    }
                    seen[p.row][p.col]++;
                    const struct tensor_place q = op.wmma ? p : manual(&op, which, lane, e);
                    bad += p.row != q.row || p.col != q.col;
                }
            const int copies = 32 * op.regs[which] * parts / (rows * cols);
            for (int r = 0; r < rows; r++)
                for (int c = 0; c < cols; c++)
                    bad += seen[r][c] != copies;
        }
    }
    CU_ASSERT_EQUAL(bad, 0);
}

/* ---- Products of mma.sync against plain ones. ---- */

union value {
    float f;
    double d;
    int64_t i;
};

struct matrix {
    union value at[32][32];
};

/* Registers, 64 bits wide so that f64 fits. */
struct fragment {
    uint32_t word[TENSOR_REGS_MAX][64] __attribute__((aligned(64)));
    uint32_t *reg[TENSOR_REGS_MAX];
};

static void fragment_init(struct fragment *f)
{
    for (int r = 0; r < TENSOR_REGS_MAX; r++) {
        f->reg[r] = f->word[r];
        for (int i = 0; i < 64; i++)
            f->word[r][i] = (uint32_t)any64();
    }
}

static float any_float(int exponents)
{
    const float x =
        ldexpf((float)((int)any(1u << 24) - (1 << 23)), (int)any((uint32_t)exponents) - 24);
    return any(16) ? x : 0;
}

/* A value that the type has, so that packing it loses nothing. */
static union value any_value(enum tensor_type t)
{
    union value v = {0};
    switch (t) {
    case TENSOR_F16:
        v.f = half_to_float(half_from_float(any(4) ? any_float(3) : any_float(16)));
        break;
    case TENSOR_BF16:
        v.f = bits_float(float_bits(any_float(9)) & 0xffff0000u);
        break;
    case TENSOR_TF32:
        v.f = bits_float(float_bits(any_float(9)) & 0xffffe000u);
        break;
    case TENSOR_F32:
        v.f = any_float(5);
        break;
    case TENSOR_F64:
        v.d = (double)(int64_t)any64() / 1e18;
        break;
    case TENSOR_S8:
        v.i = (int8_t)any(256);
        break;
    case TENSOR_U8:
        v.i = any(256);
        break;
    default:
        v.i = (int32_t)any64();
        break;
    }
    return v;
}

static void pack(enum tensor_type t, uint32_t *reg, int lane, int part, union value v)
{
    uint32_t *w = reg + lane;
    switch (t) {
    case TENSOR_F16:
        *w = (*w & ~(0xffffu << 16 * part)) | (uint32_t)half_from_float(v.f) << 16 * part;
        break;
    case TENSOR_BF16:
        *w = (*w & ~(0xffffu << 16 * part)) | float_bits(v.f) >> 16 << 16 * part;
        break;
    case TENSOR_TF32:
        *w = float_bits(v.f) | any(0x2000); /* nobody looks at these bits */
        break;
    case TENSOR_F32:
        *w = float_bits(v.f);
        break;
    case TENSOR_F64:
        memcpy(reg + 2 * (ptrdiff_t)lane, &v.d, sizeof v.d);
        break;
    case TENSOR_S32:
        *w = (uint32_t)v.i;
        break;
    default:
        *w = (*w & ~(0xffu << 8 * part)) | ((uint32_t)v.i & 0xff) << 8 * part;
        break;
    }
}

static void fill(const struct tensor_mma *op, enum tensor_operand which, struct matrix *m,
                 struct fragment *f)
{
    const int parts = tensor_parts(op->type[which]);
    for (int r = 0; r < rows_of(op, which); r++)
        for (int c = 0; c < cols_of(op, which); c++)
            m->at[r][c] = any_value(op->type[which]);
    fragment_init(f);
    for (int lane = 0; lane < 32; lane++)
        for (int e = 0; e < op->regs[which] * parts; e++) {
            const struct tensor_place p = manual(op, which, lane, e);
            pack(op->type[which], f->reg[e / parts], lane, e % parts, m->at[p.row][p.col]);
        }
}

/* The element as the manual has it: a sum over k, here from the first k to the last. */
static union value plain(const struct tensor_mma *op, const struct matrix *a,
                         const struct matrix *b, const struct matrix *c, int row, int col)
{
    union value v = c->at[row][col];
    for (int k = 0; k < op->k; k++) {
        if (op->type[TENSOR_D] == TENSOR_S32)
            v.i += a->at[row][k].i * b->at[k][col].i;
        else if (op->type[TENSOR_D] == TENSOR_F64)
            v.d = fma(a->at[row][k].d, b->at[k][col].d, v.d);
        else
            v.f = fmaf(a->at[row][k].f, b->at[k][col].f, v.f);
    }
    if (op->type[TENSOR_D] == TENSOR_S32)
        v.i = !op->satfinite    ? (int32_t)(uint32_t)v.i
              : v.i > INT32_MAX ? INT32_MAX
              : v.i < INT32_MIN ? INT32_MIN
                                : v.i;
    return v;
}

static bool holds(const struct tensor_mma *op, const struct fragment *f, int lane, int e,
                  union value v)
{
    const int parts = tensor_parts(op->type[TENSOR_D]);
    const uint32_t *reg = f->reg[e / parts];
    if (op->type[TENSOR_D] == TENSOR_F64)
        return !memcmp(reg + 2 * (ptrdiff_t)lane, &v.d, sizeof v.d);
    if (op->type[TENSOR_D] == TENSOR_F16)
        return (uint16_t)(reg[lane] >> 16 * (e % 2)) == half_from_float(v.f);
    if (op->type[TENSOR_D] == TENSOR_S32)
        return (int32_t)reg[lane] == v.i;
    return reg[lane] == float_bits(v.f);
}

static int wrong_products(struct tensor_mma *op, int times)
{
    static struct matrix a, b, c;
    static struct fragment fa, fb, fc, fd;
    const int parts = tensor_parts(op->type[TENSOR_D]);
    int bad = 0;
    for (int i = 0; i < times; i++) {
        fill(op, TENSOR_A, &a, &fa);
        fill(op, TENSOR_B, &b, &fb);
        fill(op, TENSOR_C, &c, &fc);
        fragment_init(&fd);
        tensor_mma_run(op, NULL, fd.reg, fa.reg, fb.reg, fc.reg);
        for (int lane = 0; lane < 32; lane++)
            for (int e = 0; e < op->regs[TENSOR_D] * parts; e++) {
                const struct tensor_place p = manual(op, TENSOR_D, lane, e);
                bad += !holds(op, &fd, lane, e, plain(op, &a, &b, &c, p.row, p.col));
            }
    }
    return bad;
}

static const char *const isas[] = {"generic", "avx2", "avx512"};

static void test_products(void)
{
    for (int i = 0; i < KINDS; i++) {
        if (kinds[i].wmma)
            continue;
        for (int s = 0; s < 2; s++) {
            if (s && kinds[i].d != TENSOR_S32)
                continue;
            struct tensor_mma op = make(&kinds[i], s);
            CU_ASSERT_EQUAL(wrong_products(&op, 20), 0);
            for (int k = 0; k < 3; k++)
                if (tensor_mma_use(&op, isas[k]))
                    CU_ASSERT_EQUAL(wrong_products(&op, 20), 0);
        }
    }
    struct tensor_mma op = make(&kinds[0], false);
    CU_ASSERT(tensor_mma_use(&op, "generic"));
    CU_ASSERT(!tensor_mma_use(&op, "mmx"));
    CU_ASSERT(tensor_mma_use(&op, NULL));
}

/* Integer sums at the limits: they wrap, or stay there. */
static void test_satfinite(void)
{
    static struct fragment a, b, c, d;
    const struct kind *k = &kinds[11]; /* u8 by u8: sums only grow */
    fragment_init(&a);
    fragment_init(&b);
    fragment_init(&c);
    fragment_init(&d);
    memset(a.word, 0xff, sizeof a.word);
    memset(b.word, 0xff, sizeof b.word);
    for (int r = 0; r < 4; r++)
        for (int lane = 0; lane < 32; lane++)
            c.word[r][lane] = 0x7fffffff;
    const struct tensor_mma wrap = make(k, false), clamp = make(k, true);
    tensor_mma_run(&wrap, NULL, d.reg, a.reg, b.reg, c.reg);
    CU_ASSERT_EQUAL(d.word[3][31], 0x7fffffffu + 32u * 255 * 255);
    tensor_mma_run(&clamp, NULL, d.reg, a.reg, b.reg, c.reg);
    CU_ASSERT_EQUAL(d.word[3][31], 0x7fffffff);
}

/* ---- Special values; registers that are the same. ---- */

static void test_special(void)
{
    static struct fragment a, b, c, d;
    static const uint16_t inf = 0x7c00, one = 0x3c00, tiny = 1;
    for (int k = 0; k < 3; k++) {
        struct tensor_mma op = make(&kinds[0], false), half = make(&kinds[1], false);
        if (!tensor_mma_use(&op, isas[k]) || !tensor_mma_use(&half, isas[k]))
            continue;
        fragment_init(&a);
        fragment_init(&b);
        memset(a.word, 0, sizeof a.word);
        memset(b.word, 0, sizeof b.word);
        fragment_init(&c);
        memset(c.word, 0, sizeof c.word);
        fragment_init(&d);
        a.word[0][0] = inf;    /* row 0, k 0 */
        a.word[0][4] = tiny;   /* row 1 */
        a.word[1][0] = 0x7bff; /* row 8: the largest */
        for (int col = 0; col < 8; col++)
            b.word[0][4 * col] = col == 0 ? 0 : col == 1 ? one : 0x7bff; /* k 0, column col */
        c.word[0][1] = float_bits(-INFINITY);                            /* row 0, column 2 */
        tensor_mma_run(&op, NULL, d.reg, a.reg, b.reg, c.reg);
        CU_ASSERT_EQUAL(d.word[0][0], 0x7fffffff);           /* inf * 0 */
        CU_ASSERT_EQUAL(d.word[1][0], float_bits(INFINITY)); /* inf * 1 */
        CU_ASSERT_EQUAL(d.word[0][1], 0x7fffffff);           /* inf - inf */
        CU_ASSERT_EQUAL(d.word[1][4], float_bits(0x1p-24f)); /* a subnormal of f16 */
        CU_ASSERT_EQUAL(d.word[2][1], float_bits(65504.0f * 65504.0f));
        memset(c.word, 0, sizeof c.word);
        tensor_mma_run(&half, NULL, d.reg, a.reg, b.reg, c.reg);
        CU_ASSERT_EQUAL(d.word[0][0], 0x7fffu | (uint32_t)inf << 16);
        CU_ASSERT_EQUAL(d.word[1][1], inf | (uint32_t)inf << 16); /* too large for f16 */
        CU_ASSERT_EQUAL(d.word[0][4], 1u << 16);
    }
}

/* d may be any of the others' registers, in any order. */
static void test_same_registers(void)
{
    int bad = 0;
    for (int i = 0; i < KINDS; i++) {
        if (kinds[i].d == TENSOR_F64)
            continue;
        for (int k = 0; k < 3; k++) {
            struct tensor_mma op = make(&kinds[i], false);
            if (!tensor_mma_use(&op, isas[k]) && k)
                continue;
            static struct fragment a, b, c, d;
            for (int how = 0; how < 4; how++) {
                fragment_init(&a);
                fragment_init(&b);
                fragment_init(&c);
                fragment_init(&d);
                for (int r = 0; r < TENSOR_REGS_MAX; r++) /* small numbers of every type */
                    for (int lane = 0; lane < 32; lane++) {
                        a.word[r][lane] &= 0x3fff3fff;
                        b.word[r][lane] &= 0x3fff3fff;
                        c.word[r][lane] &= 0x3fff3fff;
                    }
                tensor_mma_run(&op, NULL, d.reg, a.reg, b.reg, c.reg);
                uint32_t *to[TENSOR_REGS_MAX];
                for (int r = 0; r < op.regs[TENSOR_D]; r++) {
                    to[r] = how == 0   ? c.reg[op.regs[TENSOR_D] - 1 - r]
                            : how == 1 ? a.reg[r]
                            : how == 2 ? b.reg[op.regs[TENSOR_D] - 1 - r]
                                       : c.reg[r];
                }
                tensor_mma_run(&op, NULL, to, a.reg, b.reg, c.reg);
                for (int r = 0; r < op.regs[TENSOR_D]; r++)
                    bad += memcmp(to[r], d.reg[r], 128) != 0;
            }
        }
    }
    CU_ASSERT_EQUAL(bad, 0);
}

/* ---- ldmatrix and stmatrix. ---- */

static void test_ldmatrix(void)
{
    uint16_t memory[32][24]; /* rows of 16 bytes, 48 bytes apart */
    for (int i = 0; i < 32; i++)
        for (int j = 0; j < 24; j++)
            memory[i][j] = (uint16_t)(100 * i + j);
    int bad = 0;
    for (int matrices = 1; matrices <= 4; matrices *= 2) {
        for (int trans = 0; trans < 2; trans++) {
            const void *row[32];
            void *to[32];
            uint16_t out[32][8];
            memset(out, 0, sizeof out);
            for (int i = 0; i < 32; i++) {
                row[i] = i == 5 ? NULL : memory[i] + 8;
                to[i] = i == 6 ? NULL : out[i];
            }
            static struct fragment f;
            fragment_init(&f);
            tensor_ldmatrix(matrices, trans, row, f.reg);
            for (int m = 0; m < matrices; m++)
                for (int lane = 0; lane < 32; lane++)
                    for (int e = 0; e < 2; e++) {
                        const int i = lane / 4, j = 2 * (lane % 4) + e;
                        const int r = 8 * m + (trans ? j : i), c = trans ? i : j;
                        bad += (uint16_t)(f.word[m][lane] >> 16 * e) !=
                               (r == 5 ? 0 : memory[r][8 + c]);
                    }
            tensor_stmatrix(matrices, trans, to, f.reg);
            for (int i = 0; i < 32; i++)
                for (int j = 0; j < 8; j++)
                    bad +=
                        out[i][j] != (i >= 8 * matrices || i == 5 || i == 6 ? 0 : memory[i][8 + j]);
        }
    }
    CU_ASSERT_EQUAL(bad, 0);
}

/* ---- wmma through memory. ---- */

struct tile {
    unsigned char bytes[64 * 64 * 4];
};

static size_t size_of(enum tensor_type t)
{
    return t == TENSOR_F16 || t == TENSOR_BF16 ? 2 : 4;
}

static size_t at(const struct tensor_wmma *w, int ld, int row, int col)
{
    return size_of(w->type) * (size_t)(w->col ? col * ld + row : row * ld + col);
}

static union value tile_get(const struct tensor_wmma *w, const struct tile *t, int ld, int row,
                            int col)
{
    union value v = {0};
    const unsigned char *p = t->bytes + at(w, ld, row, col);
    if (size_of(w->type) == 4) {
        memcpy(&v.f, p, 4);
        return v;
    }
    uint16_t h;
    memcpy(&h, p, 2);
    v.f = w->type == TENSOR_F16 ? half_to_float(h) : bfloat_to_float(h);
    return v;
}

static void tile_fill(const struct tensor_wmma *w, struct tile *t, int ld, int rows, int cols)
{
    memset(t->bytes, 0xff, sizeof t->bytes); /* NaN, wherever nobody should read */
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++) {
            const union value v = any_value(w->type);
            const uint16_t h =
                w->type == TENSOR_F16 ? half_from_float(v.f) : (uint16_t)(float_bits(v.f) >> 16);
            memcpy(t->bytes + at(w, ld, r, c),
                   size_of(w->type) == 4 ? (const void *)&v.f : (const void *)&h, size_of(w->type));
        }
}

static void load(const struct tensor_wmma *w, const struct tile *t, int ld, struct fragment *f)
{
    fragment_init(f);
    for (int i = 0; i < w->count; i++) {
        uint64_t offset[32];
        const void *from[32];
        tensor_wmma_offsets(w, i, ld, offset);
        for (int lane = 0; lane < 32; lane++)
            from[lane] = w->access[i].mask >> lane & 1 ? t->bytes + offset[lane] : NULL;
        tensor_wmma_load(w, i, from, f->reg);
    }
}

static void store(const struct tensor_wmma *w, struct tile *t, int ld, struct fragment *f)
{
    for (int i = 0; i < w->count; i++) {
        uint64_t offset[32];
        void *to[32];
        tensor_wmma_offsets(w, i, ld, offset);
        for (int lane = 0; lane < 32; lane++)
            to[lane] = w->access[i].mask >> lane & 1 ? t->bytes + offset[lane] : NULL;
        tensor_wmma_store(w, i, to, f->reg);
    }
}

static struct tensor_wmma wmma(const struct kind *k, enum tensor_operand which, enum tensor_type t,
                               bool col)
{
    struct tensor_wmma w;
    struct err err = ERR_INIT;
    if (tensor_wmma_make(&w, which, k->m, k->n, k->k, t, col, &err) != ST_OK) {
        printf("# %s\n", err.text);
        abort();
    }
    return w;
}

/* D = A B + C from memory to memory; layouts by the bits of `cols`. */
static int wrong_wmma(const struct kind *k, int cols, const char *isa)
{
    static struct tile ta, tb, tc, td;
    static struct fragment fa, fb, fc, fd;
    struct tensor_mma op = make(k, false);
    if (!tensor_mma_use(&op, isa))
        return 0;
    const struct tensor_wmma a = wmma(k, TENSOR_A, k->a, cols & 1),
                             b = wmma(k, TENSOR_B, k->b, cols & 2),
                             c = wmma(k, TENSOR_C, k->c, cols & 4),
                             d = wmma(k, TENSOR_D, k->d, cols & 8);
    const int ld = 40;
    tile_fill(&a, &ta, ld, k->m, k->k);
    tile_fill(&b, &tb, ld + 8, k->k, k->n);
    tile_fill(&c, &tc, ld + 16, k->m, k->n);
    memset(td.bytes, 0x5a, sizeof td.bytes);
    load(&a, &ta, ld, &fa);
    load(&b, &tb, ld + 8, &fb);
    load(&c, &tc, ld + 16, &fc);
    fragment_init(&fd);
    tensor_mma_run(&op, NULL, fd.reg, fa.reg, fb.reg, fc.reg);
    store(&d, &td, ld, &fd);
    int bad = a.regs != op.regs[TENSOR_A] || b.regs != op.regs[TENSOR_B] ||
              c.regs != op.regs[TENSOR_C] || d.regs != op.regs[TENSOR_D];
    static struct tile want;
    memset(want.bytes, 0x5a, sizeof want.bytes); /* nothing beside the matrix is written */
    for (int row = 0; row < k->m; row++)
        for (int col = 0; col < k->n; col++) {
            float sum = tile_get(&c, &tc, ld + 16, row, col).f;
            for (int i = 0; i < k->k; i++) {
                float x = tile_get(&a, &ta, ld, row, i).f, y = tile_get(&b, &tb, ld + 8, i, col).f;
                sum = fmaf(x, y, sum);
            }
            const uint16_t h = half_from_float(sum);
            memcpy(want.bytes + at(&d, ld, row, col),
                   k->d == TENSOR_F16 ? (const void *)&h : (const void *)&sum, size_of(k->d));
        }
    return bad + (memcmp(td.bytes, want.bytes, sizeof want.bytes) != 0);
}

static void test_wmma(void)
{
    int bad = 0, tried = 0;
    for (int i = 0; i < KINDS; i++) {
        if (!kinds[i].wmma)
            continue;
        for (int cols = 0; cols < 16; cols++)
            for (int k = 0; k < 3; k++, tried++)
                bad += wrong_wmma(&kinds[i], cols, isas[k]);
    }
    CU_ASSERT_EQUAL(bad, 0);
    CU_ASSERT_EQUAL(tried, 12 * 16 * 3);
    struct tensor_wmma w;
    CU_ASSERT_EQUAL(tensor_wmma_make(&w, TENSOR_A, 16, 16, 16, TENSOR_S8, false, NULL), ST_USAGE);
    CU_ASSERT_EQUAL(tensor_wmma_make(&w, TENSOR_A, 16, 8, 16, TENSOR_F16, false, NULL), ST_USAGE);
    CU_ASSERT_EQUAL(tensor_wmma_make(&w, TENSOR_C, 16, 16, 16, TENSOR_BF16, false, NULL), ST_USAGE);
}

/* What ptxas (CUDA 13, sm_80 and sm_90 alike) makes of loads and stores of shared memory, counted in cubins:
 * ldmatrix by its matrices, else shared loads by their bytes. */
static const struct {
    const char *shape;
    enum tensor_operand which;
    enum tensor_type type;
    bool col;
    int count, bytes, matrices;
    bool trans;
} ptxas[] = {
    {"m16n16k16", TENSOR_A, T(F16), false, 1, 16, 4, false},
    {"m16n16k16", TENSOR_A, T(F16), true, 1, 16, 4, true},
    {"m16n16k16", TENSOR_B, T(F16), false, 1, 16, 4, true},
    {"m16n16k16", TENSOR_B, T(F16), true, 1, 16, 4, false},
    {"m16n16k16", TENSOR_C, T(F32), false, 4, 8, 0, false},
    {"m16n16k16", TENSOR_C, T(F32), true, 8, 4, 0, false},
    {"m16n16k16", TENSOR_D, T(F32), false, 4, 8, 0, false},
    {"m16n16k16", TENSOR_D, T(F32), true, 8, 4, 0, false},
    {"m16n16k16", TENSOR_C, T(F16), false, 4, 4, 0, false},
    {"m16n16k16", TENSOR_D, T(F16), true, 4, 4, 0, true},
    {"m32n8k16", TENSOR_A, T(BF16), false, 2, 16, 4, false},
    {"m32n8k16", TENSOR_A, T(BF16), true, 2, 16, 4, true},
    {"m32n8k16", TENSOR_B, T(BF16), false, 1, 16, 2, true},
    {"m32n8k16", TENSOR_B, T(BF16), true, 1, 16, 2, false},
    {"m32n8k16", TENSOR_C, T(F32), false, 4, 8, 0, false},
    {"m32n8k16", TENSOR_D, T(F32), true, 8, 4, 0, false},
    {"m32n8k16", TENSOR_C, T(F16), true, 4, 4, 0, true},
    {"m8n32k16", TENSOR_A, T(F16), false, 1, 16, 2, false},
    {"m8n32k16", TENSOR_A, T(F16), true, 1, 16, 2, true},
    {"m8n32k16", TENSOR_B, T(F16), false, 2, 16, 4, true},
    {"m8n32k16", TENSOR_B, T(F16), true, 2, 16, 4, false},
    {"m8n32k16", TENSOR_C, T(F32), false, 8, 4, 0, false},
    {"m8n32k16", TENSOR_D, T(F32), true, 4, 8, 0, false},
    {"m8n32k16", TENSOR_C, T(F16), false, 4, 4, 0, true},
    {"m8n32k16", TENSOR_D, T(F16), true, 4, 4, 0, false},
    {"m16n16k8", TENSOR_A, T(TF32), false, 4, 4, 0, false},
    {"m16n16k8", TENSOR_B, T(TF32), true, 4, 4, 0, false},
    {"m16n16k8", TENSOR_C, T(F32), false, 4, 8, 0, false},
};

static void test_accesses(void)
{
    for (size_t i = 0; i < sizeof ptxas / sizeof *ptxas; i++) {
        int m, n, k;
        struct tensor_wmma w;
        CU_ASSERT(tensor_shape_parse(ptxas[i].shape, &m, &n, &k));
        CU_ASSERT_EQUAL(
            tensor_wmma_make(&w, ptxas[i].which, m, n, k, ptxas[i].type, ptxas[i].col, NULL),
            ST_OK);
        CU_ASSERT_EQUAL(w.count, ptxas[i].count);
        for (int j = 0; j < w.count; j++) {
            const struct tensor_access *a = &w.access[j];
            CU_ASSERT_EQUAL(a->bytes, ptxas[i].bytes);
            CU_ASSERT_EQUAL(a->ldmatrix, ptxas[i].matrices > 0);
            CU_ASSERT_EQUAL(a->trans, ptxas[i].trans);
            CU_ASSERT_EQUAL(__builtin_popcount(a->mask),
                            ptxas[i].matrices ? 8 * ptxas[i].matrices : 32);
        }
    }
    for (int i = 0; i < KINDS; i++) {
        const struct tensor_mma op = make(&kinds[i], false);
        CU_ASSERT_EQUAL(op.hmma, !op.wmma ? 1 : kinds[i].a == TENSOR_TF32 ? 4 : 2);
    }
}

/* No check: how long a product takes here. */
static void test_speed(void)
{
    static struct fragment a, b, c;
    fragment_init(&a);
    fragment_init(&b);
    fragment_init(&c);
    for (int r = 0; r < TENSOR_REGS_MAX; r++)
        for (int lane = 0; lane < 32; lane++) {
            a.word[r][lane] &= 0x33ff33ff;
            b.word[r][lane] &= 0x33ff33ff;
            c.word[r][lane] &= 0x3fffffff;
        }
    for (int k = 0; k < 3; k++) {
        struct tensor_mma op = make(&kinds[0], false);
        if (!tensor_mma_use(&op, isas[k]))
            continue;
        struct timespec from, to;
        const int n = 20000;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
        for (int i = 0; i < n; i++)
            tensor_mma_run(&op, NULL, c.reg, a.reg, b.reg, c.reg);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
        const double ns =
            1e9 * (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec);
        printf("# m16n8k16 f16, %s: %.0f ns\n", isas[k], ns / n);
        CU_ASSERT(isfinite(bits_float(c.word[0][0])));
    }
}

static const struct tap_test tests[] = {
    {"f16 in plain C: every value, ties, limits", test_half},
    {"names, and what is refused", test_names},
    {"every element has its place, mma.sync's that of the manual", test_layouts},
    {"mma.sync against plain products, bit for bit", test_products},
    {"integer sums wrap or stay at the limit", test_satfinite},
    {"infinities, NaN, subnormals", test_special},
    {"results go to registers of operands", test_same_registers},
    {"ldmatrix and stmatrix", test_ldmatrix},
    {"wmma from memory to memory, all layouts", test_wmma},
    {"accesses of wmma are those of ptxas", test_accesses},
    {"speed", test_speed},
};

TAP_MAIN("tensor", tests)
