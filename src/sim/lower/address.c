/* address.c - see address.h.
 *
 * Low bits are found for the whole function at once, each register's from all instructions that write it. Sums are found
 * piece by piece; a register that one instruction writes, from others that one instruction writes, is a sum of them
 * wherever that instruction stands.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/lower/address.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { PASSES_MAX = 16, DEEP = 24, NOT_YET = UINT8_MAX };
#define NONE UINT32_MAX

/* How a register's sum stands that holds everywhere. */
enum known_state { KNOWN_NOT, KNOWN_NOW, KNOWN };

struct addresses {
    const struct ptx_function *f;
    address_place_fn *place;
    void *ctx;
    struct address_low *low; /* by register */
    uint32_t *writer; /* by register: the instruction that writes it; NONE: none or several */
    uint8_t *state;   /* by register, enum known_state */
    struct address_sum *known, *here; /* by register: anywhere; in the piece, if it is of it */
    uint32_t *piece;                  /* by register: the piece that `here` is of */
    uint32_t number;
    uint32_t
        fresh; /* atoms that are no register's: values of registers that are written several times */
};

static const struct ptx_operand *operand(const struct addresses *a, const struct ptx_insn *i,
                                         uint32_t k)
{
    return &a->f->operands[i->operand + k];
}

static bool is(const struct ptx_insn *i, const char *base)
{
    return !strcmp(i->op->parts[0], base);
}

static bool has(const struct ptx_insn *i, const char *word)
{
    return ptx_opcode_has(i->op, word);
}

/* ---- Low bits ---- */

static const struct address_low nothing = {.bits = 0};

static struct address_low low_of(unsigned bits, uint64_t value)
{
    if (bits > ADDRESS_LOW_BITS)
        bits = ADDRESS_LOW_BITS;
    return (struct address_low){(uint8_t)bits, (uint8_t)(value & ((1u << bits) - 1))};
}

static struct address_low either(struct address_low x, struct address_low y)
{
    if (x.bits == NOT_YET || y.bits == NOT_YET)
        return x.bits == NOT_YET ? y : x;
    const unsigned bits = x.bits < y.bits ? x.bits : y.bits,
                   differ = (unsigned)(x.value ^ y.value) | 1u << bits;
    return low_of((unsigned)__builtin_ctz(differ), x.value);
}

static struct address_low low_sum(struct address_low x, struct address_low y, int sign)
{
    return low_of(x.bits < y.bits ? x.bits : y.bits,
                  (uint64_t)x.value + (uint64_t)((int64_t)sign * y.value));
}

/* Zeros below the lowest one, as far as they are known. */
static unsigned zeros(struct address_low x)
{
    return (unsigned)__builtin_ctz((unsigned)x.value | 1u << x.bits);
}

static struct address_low low_product(struct address_low x, struct address_low y)
{
    const unsigned a = x.bits + zeros(y), b = y.bits + zeros(x);
    return low_of(a < b ? a : b, (uint64_t)x.value * y.value);
}

/* Bits below the first that is not known of the result; a bit of `and` is known where one side is known to be 0. */
static struct address_low low_logic(const struct ptx_insn *i, struct address_low x,
                                    struct address_low y)
{
    unsigned n = 0, v = 0;
    for (; n < ADDRESS_LOW_BITS; n++) {
        const bool kx = n<x.bits, ky = n<y.bits, bx = x.value>> n & 1, by = y.value >> n & 1;
        const bool zero = (kx && !bx) || (ky && !by), one = (kx && bx) || (ky && by);
        if (!(kx && ky) && !(is(i, "and") && zero) && !(is(i, "or") && one))
            break;
        const unsigned bit = is(i, "and") ? !zero : is(i, "or") ? one : bx ^ by;
        v |= bit << n;
    }
    return low_of(n, v);
}

static struct address_low low_operand(const struct addresses *a, const struct ptx_operand *o)
{
    switch (o->kind) {
    case PTX_REG:
        return a->low[o->reg];
    case PTX_IMM:
        return o->imm_kind == PTX_IMM_INT ? low_of(ADDRESS_LOW_BITS, o->imm) : nothing;
    case PTX_VARIABLE:
        return low_sum(a->place(a->ctx, o->variable), low_of(ADDRESS_LOW_BITS, (uint64_t)o->offset),
                       1);
    default:
        return nothing;
    }
}

static bool is_copy(const struct ptx_insn *i)
{
    return is(i, "mov") || is(i, "cvta") || is(i, "cvt");
}

/* Results of which nothing is known: of loads, shuffles, divisions, minima, shifts to the right, as ptxas has it. */
static struct address_low low_result(const struct addresses *a, const struct ptx_insn *i)
{
    struct address_low x[4] = {nothing, nothing, nothing, nothing};
    for (uint32_t k = 1; k < i->noperands && k <= 4; k++)
        x[k - 1] = low_operand(a, operand(a, i, k));
    for (int k = 0; k < 4; k++)
        if (x[k].bits == NOT_YET)
            return x[k];
    if (is_copy(i) && i->noperands == 2)
        return x[0];
    if (is(i, "add") || is(i, "sub"))
        return low_sum(x[0], x[1], is(i, "add") ? 1 : -1);
    if (is(i, "neg"))
        return low_sum(low_of(ADDRESS_LOW_BITS, 0), x[0], -1);
    if ((is(i, "mul") || is(i, "mad")) && !has(i, "hi")) {
        const struct address_low product = low_product(x[0], x[1]);
        return is(i, "mul") ? product : low_sum(product, x[2], 1);
    }
    if (is(i, "shl") && operand(a, i, 2)->kind == PTX_IMM && operand(a, i, 2)->imm < 64)
        return low_of(x[0].bits + (unsigned)operand(a, i, 2)->imm,
                      (uint64_t)x[0].value << operand(a, i, 2)->imm);
    if (is(i, "and") || is(i, "or") || is(i, "xor"))
        return low_logic(i, x[0], x[1]);
    if (is(i, "selp"))
        return either(x[0], x[1]);
    if (is(i, "bfi") && operand(a, i, 3)->kind == PTX_IMM && operand(a, i, 3)->imm < x[1].bits)
        return low_of((unsigned)operand(a, i, 3)->imm, x[1].value);
    return is(i, "bfi") ? low_of(x[1].bits < x[2].bits ? x[1].bits : x[2].bits, x[1].value)
                        : nothing;
}

static bool is_number(enum ptx_type t)
{
    const int bytes = ptx_type_bytes(t);
    return (bytes == 4 || bytes == 8) && t != PTX_F32 && t != PTX_F64 && t != PTX_F16X2 &&
           t != PTX_BF16X2;
}

struct writing {
    struct addresses *a;
    uint32_t insn;
    struct address_low low;
    bool changed;
};

static void lower_bits(void *ctx, int32_t reg, enum flow_use use)
{
    struct writing *w = ctx;
    if (use != FLOW_WRITES)
        return;
    const struct address_low was = w->a->low[reg];
    struct address_low now = either(was, w->low);
    /* Of what meets from several ways ptxas knows zeros alone. */
    if (now.bits != NOT_YET && w->a->writer[reg] == NONE)
        now = low_of(zeros(now), 0);
    w->changed |= now.bits != was.bits;
    w->a->low[reg] = now;
}

/* Does the instruction's result go to one register that may be part of an address? */
static bool makes_number(const struct addresses *a, const struct ptx_insn *i)
{
    return i->noperands >= 2 && operand(a, i, 0)->kind == PTX_REG &&
           is_number(a->f->regs[operand(a, i, 0)->reg].type);
}

/* From "not written yet" downwards until nothing changes; what does not settle is not known. */
static void find_low(struct addresses *a)
{
    struct writing w = {.a = a, .changed = true};
    memset(a->low, 0xff, a->f->nregs * sizeof *a->low);
    for (int pass = 0; w.changed && pass < PASSES_MAX; pass++) {
        w.changed = false;
        for (uint32_t i = 0; i < a->f->ninsns; i++) {
            w.low = makes_number(a, &a->f->insns[i]) ? low_result(a, &a->f->insns[i]) : nothing;
            flow_registers(a->f, &a->f->insns[i], lower_bits, &w);
        }
    }
    for (uint32_t r = 0; r < a->f->nregs; r++)
        if (w.changed || a->low[r].bits == NOT_YET)
            a->low[r] = nothing;
}

struct address_low addresses_low(struct addresses *a, const struct ptx_operand *o)
{
    struct address_low x = low_of(ADDRESS_LOW_BITS, (uint64_t)o->offset);
    if (o->variable)
        x = low_sum(x, a->place(a->ctx, o->variable), 1);
    return o->reg >= 0 ? low_sum(x, a->low[o->reg], 1) : x;
}

/* ---- Sums ---- */

int address_order(const struct address_sum *a, const struct address_sum *b)
{
    if (a->terms != b->terms)
        return a->terms < b->terms ? -1 : 1;
    for (uint32_t i = 0; i < a->terms; i++) {
        if (a->term[i].atom != b->term[i].atom)
            return a->term[i].atom < b->term[i].atom ? -1 : 1;
        if (a->term[i].times != b->term[i].times)
            return a->term[i].times < b->term[i].times ? -1 : 1;
    }
    return 0;
}

static int64_t wrapping(int64_t a, int64_t times, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)times * (uint64_t)b);
}

/* x += times * y; false: too many terms, x is spoilt. */
static bool add_to(struct address_sum *x, const struct address_sum *y, int64_t times)
{
    struct address_sum out = {.plus = wrapping(x->plus, times, y->plus)};
    uint32_t i = 0, k = 0;
    while (i < x->terms || k < y->terms) {
        const bool first = k == y->terms || (i < x->terms && x->term[i].atom <= y->term[k].atom),
                   second = i == x->terms || (k < y->terms && y->term[k].atom <= x->term[i].atom);
        const uint32_t atom = first ? x->term[i].atom : y->term[k].atom;
        int64_t n = first ? x->term[i++].times : 0;
        n = second ? wrapping(n, times, y->term[k++].times) : n;
        if (!n)
            continue;
        if (out.terms == ADDRESS_TERMS)
            return false;
        out.term[out.terms].atom = atom;
        out.term[out.terms++].times = n;
    }
    *x = out;
    return true;
}

static struct address_sum atom(uint32_t number)
{
    struct address_sum s = {.terms = 1};
    s.term[0].atom = number;
    s.term[0].times = 1;
    return s;
}

static struct address_sum sum_of(struct addresses *a, int32_t reg, bool anywhere, int deep);

/* Of a source; a variable is an atom behind all registers' and instructions'. */
static bool sum_operand(struct addresses *a, const struct ptx_operand *o, bool anywhere, int deep,
                        struct address_sum *s)
{
    *s = (struct address_sum){.terms = 0};
    switch (o->kind) {
    case PTX_REG:
        if (!is_number(a->f->regs[o->reg].type) || (anywhere && a->writer[o->reg] == NONE))
            return false;
        *s = sum_of(a, o->reg, anywhere, deep);
        return true;
    case PTX_IMM:
        s->plus = (int64_t)o->imm;
        return o->imm_kind == PTX_IMM_INT;
    case PTX_VARIABLE:
        *s = atom(NONE - o->variable->line); /* of the PTX: lines with variables differ */
        s->plus = o->offset;
        return true;
    default:
        return false;
    }
}

/* The factor of a product, or of a shift; 0: it is no number. */
static int64_t factor(const struct addresses *a, const struct ptx_insn *i)
{
    const struct ptx_operand *o = operand(a, i, 2);
    if (o->kind != PTX_IMM || o->imm_kind != PTX_IMM_INT)
        return 0;
    return is(i, "shl") ? o->imm < 32 ? INT64_C(1) << o->imm : 0 : (int64_t)o->imm;
}

/* What the instruction makes as a sum; false: it is none. */
static bool sum_result(struct addresses *a, const struct ptx_insn *i, bool anywhere, int deep,
                       struct address_sum *s)
{
    struct address_sum y;
    if (i->guard >= 0 || !makes_number(a, i) || deep > DEEP ||
        !sum_operand(a, operand(a, i, 1), anywhere, deep, s))
        return false;
    const bool wide = has(i, "wide");
    if ((is(i, "mov") || is(i, "cvta")) && i->noperands == 2)
        return true;
    if (i->noperands < 3 || wide || has(i, "hi"))
        return false;
    if (is(i, "add") || is(i, "sub"))
        return sum_operand(a, operand(a, i, 2), anywhere, deep, &y) &&
               add_to(s, &y, is(i, "add") ? 1 : -1);
    if (!is(i, "shl") && !is(i, "mul") && !is(i, "mad"))
        return false;
    const int64_t n = factor(a, i);
    const struct address_sum x = *s;
    *s = (struct address_sum){.terms = 0};
    if (!n || !add_to(s, &x, n))
        return false;
    return !is(i, "mad") ||
           (sum_operand(a, operand(a, i, 3), anywhere, deep, &y) && add_to(s, &y, 1));
}

/* Of a register that is written once, of registers that are written once: the same wherever it is read. */
static struct address_sum sum_anywhere(struct addresses *a, int32_t reg, int deep)
{
    struct address_sum s;
    if (a->state[reg] == KNOWN)
        return a->known[reg];
    if (a->state[reg] == KNOWN_NOW || a->writer[reg] == NONE)
        return atom((uint32_t)reg);
    a->state[reg] = KNOWN_NOW;
    if (!sum_result(a, &a->f->insns[a->writer[reg]], true, deep + 1, &s))
        s = atom((uint32_t)reg);
    a->state[reg] = KNOWN;
    return a->known[reg] = s;
}

static struct address_sum sum_of(struct addresses *a, int32_t reg, bool anywhere, int deep)
{
    return !anywhere && a->piece[reg] == a->number ? a->here[reg] : sum_anywhere(a, reg, deep);
}

struct address_sum addresses_sum(struct addresses *a, const struct ptx_operand *o)
{
    struct address_sum s = {.plus = o->offset}, y;
    if (o->variable) {
        y = atom(NONE - o->variable->line);
        add_to(&s, &y, 1);
    }
    if (o->reg >= 0) {
        y = sum_of(a, o->reg, false, 0);
        if (!add_to(&s, &y, 1)) {
            y = atom((uint32_t)o->reg);
            add_to(&s, &y, 1);
        }
    }
    return s;
}

/* ---- Pieces ---- */

void addresses_begin(struct addresses *a)
{
    a->number++;
}

static void note_written(void *ctx, int32_t reg, enum flow_use use)
{
    struct writing *w = ctx;
    struct addresses *a = w->a;
    if (use != FLOW_WRITES)
        return;
    a->piece[reg] = a->number;
    a->here[reg] = a->writer[reg] == w->insn ? atom((uint32_t)reg) : atom(a->f->nregs + a->fresh++);
}

void addresses_pass(struct addresses *a, uint32_t insn)
{
    const struct ptx_insn *i = &a->f->insns[insn];
    struct writing w = {.a = a, .insn = insn};
    struct address_sum s;
    const bool known = sum_result(a, i, false, 0, &s);
    flow_registers(a->f, i, note_written, &w);
    if (known)
        a->here[operand(a, i, 0)->reg] = s;
}

static void note_writer(void *ctx, int32_t reg, enum flow_use use)
{
    struct writing *w = ctx;
    if (use != FLOW_WRITES)
        return;
    struct addresses *a = w->a;
    a->writer[reg] = a->piece[reg]++ ? NONE : w->insn;
}

static void find_writers(struct addresses *a)
{
    struct writing w = {.a = a};
    memset(a->writer, 0xff, a->f->nregs * sizeof *a->writer);
    for (w.insn = 0; w.insn < a->f->ninsns; w.insn++)
        flow_registers(a->f, &a->f->insns[w.insn], note_writer, &w);
    memset(a->piece, 0, a->f->nregs * sizeof *a->piece);
}

struct addresses *addresses_new(const struct ptx_function *f, address_place_fn *place, void *ctx)
{
    struct addresses *a = xcalloc(1, sizeof *a);
    const size_t n = f->nregs + 1u;
    *a = (struct addresses){.f = f,
                            .place = place,
                            .ctx = ctx,
                            .low = xcalloc(n, sizeof *a->low),
                            .writer = xcalloc(n, sizeof *a->writer),
                            .state = xcalloc(n, sizeof *a->state),
                            .known = xcalloc(n, sizeof *a->known),
                            .here = xcalloc(n, sizeof *a->here),
                            .piece = xcalloc(n, sizeof *a->piece)};
    find_writers(a);
    find_low(a);
    return a;
}

void addresses_free(struct addresses *a)
{
    if (!a)
        return;
    free(a->low);
    free(a->writer);
    free(a->state);
    free(a->known);
    free(a->here);
    free(a->piece);
    free(a);
}
