/* tensor.c - products: which there are, where their elements are, and how they are done.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/tensor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/half.h"
#include "sim/tensor_block.h"
#include "sim/tensor_cut.h"

/* ---- Names. ---- */

static const struct {
    const char *name;
    int bits;
} types[TENSOR_TYPE_COUNT] = {
    [TENSOR_F16] = {"f16", 16}, [TENSOR_BF16] = {"bf16", 16}, [TENSOR_TF32] = {"tf32", 32},
    [TENSOR_F32] = {"f32", 32}, [TENSOR_F64] = {"f64", 64},   [TENSOR_S8] = {"s8", 8},
    [TENSOR_U8] = {"u8", 8},    [TENSOR_S32] = {"s32", 32},
};

bool tensor_type_parse(const char *name, enum tensor_type *t)
{
    name += *name == '.';
    for (int i = 0; i < TENSOR_TYPE_COUNT; i++) {
        if (!strcmp(name, types[i].name)) {
            *t = (enum tensor_type)i;
            return true;
        }
    }
    return false;
}

/* A letter and a number from 1 to 64. */
static const char *parse_side(const char *p, char letter, int *out)
{
    if (!p || *p++ != letter || *p < '1' || *p > '9')
        return NULL;
    int n = 0;
    for (; *p >= '0' && *p <= '9' && n <= 64; p++)
        n = 10 * n + (*p - '0');
    *out = n;
    return n <= 64 ? p : NULL;
}

bool tensor_shape_parse(const char *name, int *m, int *n, int *k)
{
    const char *p = parse_side(name + (*name == '.'), 'm', m);
    p = parse_side(p, 'n', n);
    p = parse_side(p, 'k', k);
    return p && !*p;
}

int tensor_parts(enum tensor_type t)
{
    return types[t].bits < 32 ? 32 / types[t].bits : 1;
}

/* ---- Which products there are. ---- */

#define T(x)     TENSOR_##x
#define ANY_INT8 TENSOR_S8 /* s8 and u8, each of A and B for itself */

static const struct product {
    bool wmma;
    int m, n, k;
    enum tensor_type d, ab, c;
    int hmma;
} products[] = {
    {false, 16, 8, 16, T(F32), T(F16), T(F32), 1},
    {false, 16, 8, 16, T(F16), T(F16), T(F16), 1},
    {false, 16, 8, 16, T(F32), T(BF16), T(F32), 1},
    {false, 16, 8, 8, T(F32), T(F16), T(F32), 1},
    {false, 16, 8, 8, T(F16), T(F16), T(F16), 1},
    {false, 16, 8, 8, T(F32), T(BF16), T(F32), 1},
    {false, 16, 8, 8, T(F32), T(TF32), T(F32), 1},
    {false, 16, 8, 4, T(F32), T(TF32), T(F32), 1},
    {false, 8, 8, 16, T(S32), ANY_INT8, T(S32), 1},
    {false, 16, 8, 16, T(S32), ANY_INT8, T(S32), 1},
    {false, 16, 8, 32, T(S32), ANY_INT8, T(S32), 1},
    {false, 8, 8, 4, T(F64), T(F64), T(F64), 1},
    {false, 16, 8, 4, T(F64), T(F64), T(F64), 1},
    {false, 16, 8, 8, T(F64), T(F64), T(F64), 1},
    {false, 16, 8, 16, T(F64), T(F64), T(F64), 1},
    {true, 16, 16, 16, T(F32), T(F16), T(F32), 2},
    {true, 16, 16, 16, T(F16), T(F16), T(F16), 2},
    {true, 16, 16, 16, T(F32), T(F16), T(F16), 2},
    {true, 16, 16, 16, T(F16), T(F16), T(F32), 2},
    {true, 16, 16, 16, T(F32), T(BF16), T(F32), 2},
    {true, 32, 8, 16, T(F32), T(F16), T(F32), 2},
    {true, 32, 8, 16, T(F16), T(F16), T(F16), 2},
    {true, 32, 8, 16, T(F32), T(F16), T(F16), 2},
    {true, 32, 8, 16, T(F16), T(F16), T(F32), 2},
    {true, 32, 8, 16, T(F32), T(BF16), T(F32), 2},
    {true, 8, 32, 16, T(F32), T(F16), T(F32), 2},
    {true, 8, 32, 16, T(F16), T(F16), T(F16), 2},
    {true, 8, 32, 16, T(F32), T(F16), T(F16), 2},
    {true, 8, 32, 16, T(F16), T(F16), T(F32), 2},
    {true, 8, 32, 16, T(F32), T(BF16), T(F32), 2},
    {true, 16, 16, 8, T(F32), T(TF32), T(F32), 4},
};

static bool is_int8(enum tensor_type t)
{
    return t == TENSOR_S8 || t == TENSOR_U8;
}

static bool fits(const struct product *p, const struct tensor_mma *op)
{
    const enum tensor_type a = op->type[TENSOR_A], b = op->type[TENSOR_B];
    return p->wmma == op->wmma && p->m == op->m && p->n == op->n && p->k == op->k &&
           p->d == op->type[TENSOR_D] && p->c == op->type[TENSOR_C] &&
           (p->ab == ANY_INT8 ? is_int8(a) && is_int8(b) : p->ab == a && p->ab == b) &&
           (!op->satfinite || p->d == TENSOR_S32);
}

/* Registers of a fragment without copies. */
static int distinct_regs(const struct tensor_mma *op, enum tensor_operand which)
{
    const int rows = which == TENSOR_B ? op->k : op->m, cols = which == TENSOR_A ? op->k : op->n;
    return rows * cols / 32 / tensor_parts(op->type[which]);
}

static int all_regs(const struct tensor_mma *op, enum tensor_operand which)
{
    const bool copies =
        op->wmma && (which == TENSOR_A || which == TENSOR_B) && op->type[which] == TENSOR_F16;
    return copies ? 8 : distinct_regs(op, which);
}

/* ---- Where elements are. ---- */

/* mma.sync: groups of four lanes have a row of A, C and D and a column of B; the lanes of a group have
 * neighbouring elements along it. */
static struct tensor_place place_mma(const struct tensor_mma *op, enum tensor_operand which,
                                     int lane, int reg, int part)
{
    const int group = lane >> 2, t = lane % 4, parts = tensor_parts(op->type[which]),
              halves = op->m > 8 ? 2 : 1;
    switch (which) {
    case TENSOR_A:
        return (struct tensor_place){group + 8 * (reg % halves),
                                     parts * t + part + 4 * parts * (reg / halves)};
    case TENSOR_B:
        return (struct tensor_place){parts * t + part + 4 * parts * reg, group};
    case TENSOR_C:
    case TENSOR_D:
        break;
    }
    if (parts == 2)
        return (struct tensor_place){group + 8 * reg, 2 * t + part};
    return (struct tensor_place){group + 8 * (reg >> 1), 2 * t + (reg & 1)};
}

/* The mma.sync that two of make a wmma: as many registers of C and D each, and of A or of B. */
static struct tensor_mma half_of(const struct tensor_mma *op)
{
    struct tensor_mma half = *op;
    half.wmma = false;
    half.m = 16;
    half.n = 8;
    return half;
}

static struct tensor_place turned(struct tensor_place p)
{
    return (struct tensor_place){p.col, p.row};
}

static struct tensor_place place_wmma(const struct tensor_mma *op, enum tensor_operand which,
                                      int lane, int reg, int part)
{
    const bool turn = op->m == 8; /* (B^T A^T)^T */
    const enum tensor_operand role = !turn               ? which
                                     : which == TENSOR_A ? TENSOR_B
                                     : which == TENSOR_B ? TENSOR_A
                                                         : which;
    struct tensor_mma half = half_of(op);
    half.type[role] = op->type[which];
    const int regs = distinct_regs(&half, role);
    reg %= distinct_regs(op, which);
    struct tensor_place p = place_mma(&half, role, lane, reg % regs, part);
    const int second = reg / regs; /* of the two products */
    if (op->m == 16)
        p.col += 8 * second;
    else
        p.row += 16 * second;
    return turn ? turned(p) : p;
}

struct tensor_place tensor_place(const struct tensor_mma *op, enum tensor_operand which, int lane,
                                 int reg, int part)
{
    return op->wmma ? place_wmma(op, which, lane, reg, part)
                    : place_mma(op, which, lane, reg, part);
}

/* ---- Products element by element: f64 and integers. ---- */

static int64_t int8_element(const struct tensor_mma *op, enum tensor_operand which, uint32_t word,
                            int part)
{
    const uint8_t byte = (uint8_t)(word >> 8 * part);
    return op->type[which] == TENSOR_S8 ? (int8_t)byte : byte;
}

static int32_t int_result(const struct tensor_mma *op, int64_t sum)
{
    if (op->satfinite)
        return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : (int32_t)sum;
    return (int32_t)(uint32_t)(uint64_t)sum;
}

static void run_int8(const struct tensor_mma *op, const struct tensor_adder *adder,
                     uint32_t *const d[], uint32_t *const a[], uint32_t *const b[],
                     uint32_t *const c[])
{
    (void)adder; /* exact, or fused */
    int64_t ma[16][32], mb[32][8], mc[16][8];
    for (int lane = 0; lane < 32; lane++) {
        for (int r = 0; r < op->regs[TENSOR_A]; r++)
            for (int part = 0; part < 4; part++) {
                const struct tensor_place p = place_mma(op, TENSOR_A, lane, r, part);
                ma[p.row][p.col] = int8_element(op, TENSOR_A, a[r][lane], part);
            }
        for (int r = 0; r < op->regs[TENSOR_B]; r++)
            for (int part = 0; part < 4; part++) {
                const struct tensor_place p = place_mma(op, TENSOR_B, lane, r, part);
                mb[p.row][p.col] = int8_element(op, TENSOR_B, b[r][lane], part);
            }
        for (int r = 0; r < op->regs[TENSOR_C]; r++) {
            const struct tensor_place p = place_mma(op, TENSOR_C, lane, r, 0);
            mc[p.row][p.col] = (int32_t)c[r][lane];
        }
    }
    for (int row = 0; row < op->m; row++)
        for (int col = 0; col < 8; col++)
            for (int k = 0; k < op->k; k++)
                mc[row][col] += ma[row][k] * mb[k][col];
    for (int lane = 0; lane < 32; lane++)
        for (int r = 0; r < op->regs[TENSOR_D]; r++) {
            const struct tensor_place p = place_mma(op, TENSOR_D, lane, r, 0);
            d[r][lane] = (uint32_t)int_result(op, mc[p.row][p.col]);
        }
}

static double f64_element(uint32_t *const reg[], int r, int lane)
{
    double x;
    memcpy(&x, reg[r] + 2 * (ptrdiff_t)lane, sizeof x);
    return x;
}

static void run_f64(const struct tensor_mma *op, const struct tensor_adder *adder,
                    uint32_t *const d[], uint32_t *const a[], uint32_t *const b[],
                    uint32_t *const c[])
{
    (void)adder; /* exact, or fused */
    double ma[16][16], mb[16][8], mc[16][8];
    for (int lane = 0; lane < 32; lane++) {
        for (int r = 0; r < op->regs[TENSOR_A]; r++) {
            const struct tensor_place p = place_mma(op, TENSOR_A, lane, r, 0);
            ma[p.row][p.col] = f64_element(a, r, lane);
        }
        for (int r = 0; r < op->regs[TENSOR_B]; r++) {
            const struct tensor_place p = place_mma(op, TENSOR_B, lane, r, 0);
            mb[p.row][p.col] = f64_element(b, r, lane);
        }
        for (int r = 0; r < op->regs[TENSOR_C]; r++) {
            const struct tensor_place p = place_mma(op, TENSOR_C, lane, r, 0);
            mc[p.row][p.col] = f64_element(c, r, lane);
        }
    }
    for (int row = 0; row < op->m; row++)
        for (int col = 0; col < 8; col++)
            for (int k = 0; k < op->k; k++)
                mc[row][col] = fma(ma[row][k], mb[k][col], mc[row][col]);
    for (int lane = 0; lane < 32; lane++)
        for (int r = 0; r < op->regs[TENSOR_D]; r++) {
            const struct tensor_place p = place_mma(op, TENSOR_D, lane, r, 0);
            memcpy(d[r] + 2 * (ptrdiff_t)lane, &mc[p.row][p.col], sizeof(double));
        }
}

/* ---- Products in blocks of 16 x 8. ---- */

/* Registers of B, 16 bytes of k each. Of tf32 ptxas makes products of four k each of wmma's (HMMA.1684, sm_80 to sm_90). */
static int at_once(const struct tensor_mma *op, const struct tensor_adder *adder)
{
    if (!adder)
        return 0;
    return op->wmma && op->type[TENSOR_A] == TENSOR_TF32 ? 1 : adder->bytes / 16;
}

void tensor_mma_beside(const struct tensor_mma *op, const struct tensor_adder *adder, int count,
                       uint32_t *const d[], uint32_t *const a[], uint32_t *const b[],
                       uint32_t *const c[])
{
    const struct tensor_block s = {
        .a = a,
        .b = b,
        .c = c,
        .d = d,
        .count = count,
        .c_half = op->type[TENSOR_C] == TENSOR_F16,
        .d_half = op->type[TENSOR_D] == TENSOR_F16,
        .at_once = at_once(op, adder),
        .bits = adder ? adder->bits : 0,
    };
    op->block(&s);
}

static void run_mma(const struct tensor_mma *op, const struct tensor_adder *adder,
                    uint32_t *const d[], uint32_t *const a[], uint32_t *const b[],
                    uint32_t *const c[])
{
    tensor_mma_beside(op, adder, 1, d, a, b, c);
}

/* Two blocks. Their results wait until both have read: d may be anything's registers. */
static void run_wmma(const struct tensor_mma *op, const struct tensor_adder *adder,
                     uint32_t *const d[], uint32_t *const a[], uint32_t *const b[],
                     uint32_t *const c[])
{
    uint32_t sum[TENSOR_REGS_MAX][32] __attribute__((aligned(64)));
    uint32_t *to[TENSOR_REGS_MAX];
    for (int r = 0; r < TENSOR_REGS_MAX; r++)
        to[r] = sum[r];
    const int c_regs = op->regs[TENSOR_C] / 2, d_regs = op->regs[TENSOR_D] / 2;
    if (op->m == 16)
        tensor_mma_beside(op, adder, 2, to, a, b, c);
    else
        for (int half = 0; half < 2; half++)
            tensor_mma_beside(op, adder, 1, to + half * d_regs, (op->m == 8 ? b : a) + 4 * half,
                              op->m == 8 ? a : b, c + half * c_regs);
    for (int r = 0; r < 2 * d_regs; r++)
        memcpy(d[r], sum[r], sizeof sum[r]);
}

/* ---- Instruction sets. ---- */

static bool usable(const struct tensor_set *set)
{
#if defined __x86_64__
    if (set == &tensor_avx512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
    if (set == &tensor_avx2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    return set == &tensor_generic;
}

/* Best first. Every processor with AVX2 has f16 conversions. */
static const struct tensor_set *const sets[] = {
#if defined __x86_64__
    &tensor_avx512,
    &tensor_avx2,
#endif
    &tensor_generic,
};

static enum tensor_kind kind_of(const struct tensor_mma *op)
{
    switch (op->type[TENSOR_A]) {
    case TENSOR_BF16:
        return KIND_BF16;
    case TENSOR_TF32:
        return KIND_TF32;
    default:
        return KIND_F16;
    }
}

bool tensor_mma_use(struct tensor_mma *op, const char *isa)
{
    if (!op->block)
        return false;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        if ((isa && strcmp(isa, sets[i]->name)) || !usable(sets[i]))
            continue;
        const bool one = !op->wmma && op->regs[TENSOR_B] == 1;
        op->block = sets[i]->block[kind_of(op)][one ? 0 : 1];
        return true;
    }
    return false;
}

static void choose_run(struct tensor_mma *op)
{
    if (op->type[TENSOR_D] == TENSOR_S32) {
        op->run = run_int8;
    } else if (op->type[TENSOR_D] == TENSOR_F64) {
        op->run = run_f64;
    } else {
        op->run = op->wmma ? run_wmma : run_mma;
        op->block = tensor_generic.block[0][0];
        tensor_mma_use(op, NULL);
    }
}

/* "m16n8k16 .f32.f16.f16.f32, ..." of those that have the shape; all shapes if none has. */
static void list_products(const struct tensor_mma *op, char *text, size_t size)
{
    size_t len = 0;
    text[0] = 0;
    for (int all = 0; all < 2 && !len; all++) {
        for (size_t i = 0; i < sizeof products / sizeof *products && len < size; i++) {
            const struct product *p = &products[i];
            const bool same = p->m == op->m && p->n == op->n && p->k == op->k;
            if (p->wmma != op->wmma || (!all && !same))
                continue;
            const char *ab = p->ab == ANY_INT8 ? "{s8,u8}" : types[p->ab].name;
            len += (size_t)snprintf(text + len, size - len, "%sm%dn%dk%d .%s.%s.%s.%s",
                                    len ? ", " : "", p->m, p->n, p->k, types[p->d].name, ab, ab,
                                    types[p->c].name);
        }
    }
}

enum status tensor_mma_make(struct tensor_mma *op, bool wmma, int m, int n, int k,
                            enum tensor_type d, enum tensor_type a, enum tensor_type b,
                            enum tensor_type c, bool satfinite, struct err *err)
{
    *op = (struct tensor_mma){
        .m = m, .n = n, .k = k, .type = {a, b, c, d}, .wmma = wmma, .satfinite = satfinite};
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        if (!fits(&products[i], op))
            continue;
        for (int which = TENSOR_A; which <= TENSOR_D; which++)
            op->regs[which] = all_regs(op, (enum tensor_operand)which);
        op->hmma = products[i].hmma;
        choose_run(op);
        return ST_OK;
    }
    char known[320];
    list_products(op, known, sizeof known);
    return err_set(err, ST_USAGE,
                   "%s m%dn%dk%d%s .%s.%s.%s.%s is not among the products known here: %s",
                   wmma ? "wmma.mma" : "mma.sync", m, n, k, satfinite ? ".satfinite" : "",
                   types[d].name, types[a].name, types[b].name, types[c].name, known);
}
