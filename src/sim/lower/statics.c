/* statics.c - the table of what PTX instructions become.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/statics.h"

#include <string.h>

/* The first row that matches is the instruction's. Lists are words between blanks; NULL: any. */
struct row {
    const char *kind;
    const char *bases; /* the opcode's first word is one of these */
    const char *types; /* its last one is one of these */
    const char *with;  /* one of these is among the others */
    double fma, alu, imul, half, xu, fp64, lsu, tensor, cbu, other;
};

#define INTS64 "s64 u64 b64"
#define HALVES "f16 f16x2 bf16 bf16x2"
#define MEMORY                                                                                   \
    "ld st ldu atom red cp shfl vote match redux ldmatrix stmatrix mbarrier prefetch prefetchu " \
    "multimem activemask elect"

/* clang-format off */
static const struct row rows[] = {
    {"kernel parameter", "ld st", NULL, "param", .alu = 0.75, .other = 1.5},
    {"barrier", "bar barrier", NULL, NULL, .cbu = 1},
    {"fence", "membar fence", NULL, NULL, .other = 1},
    {"control of the block", "setmaxnreg griddepcontrol nanosleep pmevent", NULL, NULL, .other = 1},
    {"cp.async group", "cp", NULL, "commit_group wait_group wait_all", .other = 1},
    {"memory, shuffle, vote", MEMORY, NULL, NULL, .lsu = 1},
    {"wmma product", "wmma", NULL, "mma", .tensor = 2},
    {"wmma accumulator in memory", "wmma", NULL, "store c", .lsu = 4},
    {"wmma fragment from memory", "wmma", NULL, NULL, .lsu = 1},
    {"wgmma group", "wgmma", NULL, "fence commit_group wait_group", .other = 1},
    {"tensor product", "mma wgmma", NULL, NULL, .tensor = 1},
    {"predicate", "and or xor not mov", "pred", NULL, .alu = 0},
    {"exp2, tanh of halves", "ex2 tanh", HALVES, NULL, .xu = 1},
    {"halves to f32", "cvt", "f16 f16x2", NULL, .half = 1},
    {"bf16 to f32", "cvt", "bf16 bf16x2", NULL, .imul = 1},
    {"arithmetic of halves", NULL, HALVES, NULL, .half = 1},
    {"f32 rounded to halves", "cvt", "f32", HALVES " tf32", .alu = 1},
    {"f32 add, multiply, fma", "fma mul add sub", "f32", NULL, .fma = 1},
    {"f32 sign", "neg abs copysign", "f32", NULL, .fma = 0},
    {"min, max", "min max", NULL, NULL, .alu = 1},
    {"exp2, log2, flushed", "ex2 lg2", NULL, "ftz", .xu = 1},
    {"exp2, log2, denormals kept", "ex2 lg2", NULL, NULL, .fma = 2.7, .alu = 1.6, .xu = 1.1},
    {"1/x rounded", "rcp", "f32", "rn rz rm rp", .fma = 4.4, .alu = 3.1, .imul = 1, .xu = 1, .cbu = 3.3},
    {"f32 division, root, rounded", "div sqrt", "f32", "rn rz rm rp", .fma = 5.8, .alu = 3.2, .xu = 1.3, .cbu = 3},
    {"f32 division, about", "div", "f32", NULL, .fma = 2.7, .alu = 1.6, .xu = 1.1},
    {"special function", "rcp sqrt rsqrt sin cos tanh", "f32", NULL, .xu = 1},
    {"integer division", "div rem", "s32 u32 s16 u16 " INTS64, NULL, .alu = 12.5, .imul = 6.1, .xu = 3},
    {"f32 compare", "setp set", "f32", NULL, .alu = 1.2},
    {"64-bit compare", "setp set", INTS64, NULL, .alu = 1.9},
    {"f64", NULL, "f64", NULL, .fp64 = 1},
    {"integer compare", "setp set", NULL, NULL, .alu = 0.25},
    {"branch", "bra brx", NULL, NULL, .alu = 0.7, .cbu = 1.75},
    {"call", "call", NULL, NULL, .cbu = 1},
    {"end", "ret exit trap", NULL, NULL, .cbu = 0},
    {"bits of another type, halves of a word", "mov", "b16 b32 b64", NULL, .alu = 0.05},
    {"move", "mov", NULL, NULL, .alu = 0.45},
    {"wide multiply", "mul mad", NULL, "wide", .imul = 1.2},
    {"64-bit multiply", "mul mad", INTS64, NULL, .imul = 2},
    {"integer multiply", "mul mad mul24 mad24", NULL, NULL, .imul = 1.2},
    {"address space", "cvta", NULL, NULL, .alu = 0},
    {"64 bits cut", "cvt", INTS64, "u32 s32 u16 s16", .alu = 0},
    {"widened to 64 bits", "cvt", NULL, "s64 u64", .alu = 1.2, .imul = 0.6},
    {"f32 clamped or rounded", "cvt", "f32", "f32", .fma = 1},
    {"integer and f32", "cvt", "f32", NULL, .xu = 1},
    {"integer and f32", "cvt", NULL, "f32", .xu = 1},
    {"select", "selp slct", NULL, NULL, .alu = 0.1},
    {"64-bit integer", NULL, INTS64, NULL, .alu = 1.1, .imul = 0.75},
    {"integer", NULL, NULL, NULL, .alu = 0.4, .imul = 0.4},
};
/* The begin and the end of every kernel: its stack pointer, thread indices, EXIT. */
static const struct row around = {.alu = 1.2, .imul = 1.2, .cbu = 0.9, .other = 5.3};
/* clang-format on */

static bool in_list(const char *list, const char *word)
{
    const size_t n = strlen(word);
    for (const char *p = list; (p = strstr(p, word)); p += n)
        if ((p == list || p[-1] == ' ') && (!p[n] || p[n] == ' '))
            return true;
    return false;
}

static bool matches(const struct row *r, const struct ptx_opcode *op)
{
    bool with = !r->with;
    if (r->bases && !in_list(r->bases, op->parts[0]))
        return false;
    if (r->types && !in_list(r->types, op->parts[op->nparts - 1]))
        return false;
    for (int i = 1; i < op->nparts - !!r->types && !with; i++)
        with = in_list(r->with, op->parts[i]);
    return with;
}

static const struct row *row_of(const struct ptx_opcode *op)
{
    const struct row *r = rows;
    while (!matches(r, op)) /* the last one takes all */
        r++;
    return r;
}

static void add(const struct row *r, double times, struct statics *s)
{
    const double costs[SIM_PIPE_COUNT] = {
#define X(name, what) [SIM_PIPE_##name] = r->name,
        SIM_PIPES(X)
#undef X
    };
    for (int p = 0; p < SIM_PIPE_COUNT; p++) {
        s->pipe[p] += costs[p] * times;
        s->total += costs[p] * times;
    }
}

void statics_add(const struct ptx_opcode *op, double times, struct statics *s)
{
    add(row_of(op), times, s);
}

struct statics statics_count(const struct ptx_function *f)
{
    struct statics s = {.total = 0};
    for (uint32_t i = 0; i < f->ninsns; i++)
        statics_add(f->insns[i].op, 1, &s);
    add(&around, 1, &s);
    return s;
}

const char *statics_kind(const struct ptx_opcode *op)
{
    return row_of(op)->kind;
}
