/* within.c - see within.h.
 *
 * Each register has one answer, joined from all instructions that write it, until none changes: answers only go up.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/lower/within.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/flow.h"

/* What a value is made of, from the least known upwards. */
enum made { MADE_NOT_YET, MADE_NUMBERS, MADE_OF_ONE, MADE_OF_ANY };
struct value {
    enum made made;
    const struct ptx_variable *of; /* MADE_OF_ONE */
};

struct within {
    const struct ptx_function *f;
    struct value *value; /* by register */
    bool kept;           /* an address goes to memory: what comes from there may be one */
    bool changed;
};

static const struct value numbers = {.made = MADE_NUMBERS}, any = {.made = MADE_OF_ANY};

static bool is(const struct ptx_insn *i, const char *base)
{
    return !strcmp(i->op->parts[0], base);
}

static bool is_address(struct value v)
{
    return v.made == MADE_OF_ONE || v.made == MADE_OF_ANY;
}

/* Either of the two. */
static struct value join(struct value x, struct value y)
{
    if (x.made == MADE_NOT_YET || y.made == MADE_NOT_YET)
        return x.made == MADE_NOT_YET ? y : x;
    return x.made == y.made && x.of == y.of ? x : any;
}

static struct value sum(struct value x, struct value y)
{
    if (x.made == MADE_NOT_YET || y.made == MADE_NOT_YET)
        return (struct value){.made = MADE_NOT_YET};
    if (x.made == MADE_NUMBERS || y.made == MADE_NUMBERS)
        return x.made == MADE_NUMBERS ? y : x;
    return any;
}

static struct value difference(struct value x, struct value y)
{
    return is_address(y) ? any : sum(x, y);
}

/* Of what no address should be: a product, a shuffled value. */
static struct value mixed(struct value x, struct value y)
{
    return is_address(x) || is_address(y) ? any : sum(x, y);
}

static struct value variable_value(const struct ptx_variable *v)
{
    if (v->space != PTX_SPACE_SHARED)
        return numbers;
    return v->is_unsized || v->is_extern || !v->bytes
               ? any
               : (struct value){.made = MADE_OF_ONE, .of = v};
}

static struct value operand_value(const struct within *w, const struct ptx_operand *o)
{
    struct value v = numbers;
    switch (o->kind) {
    case PTX_REG:
        return w->value[o->reg];
    case PTX_VARIABLE:
        return variable_value(o->variable);
    case PTX_ADDRESS:
        if (o->variable)
            return o->reg < 0 ? variable_value(o->variable) : any;
        return o->reg < 0 ? numbers : w->value[o->reg];
    case PTX_VECTOR:
    case PTX_PAIR:
    case PTX_LIST:
        for (uint32_t k = 0; k < o->nitems; k++)
            v = mixed(v, operand_value(w, &w->f->operands[o->item + k]));
        return v;
    default:
        return numbers;
    }
}

static struct value source(const struct within *w, const struct ptx_insn *i, uint32_t k)
{
    return operand_value(w, &w->f->operands[i->operand + k]);
}

/* A load, and an atomic: what is in memory, where a parameter is no address of shared memory. */
static bool fetches(const struct ptx_insn *i)
{
    return is(i, "ld") || is(i, "ldu") || is(i, "atom");
}

static struct value result(const struct within *w, const struct ptx_insn *i)
{
    const uint32_t n = i->noperands;
    if (fetches(i))
        return w->kept && !ptx_opcode_has(i->op, "param") ? any : numbers;
    if (is(i, "call"))
        return any;
    if ((is(i, "mov") || is(i, "cvta") || is(i, "cvt")) && n == 2)
        return source(w, i, 1);
    if ((is(i, "add") || is(i, "or")) && n == 3)
        return sum(source(w, i, 1), source(w, i, 2));
    if (is(i, "sub") && n == 3)
        return difference(source(w, i, 1), source(w, i, 2));
    if (is(i, "mad") && n == 4)
        return sum(mixed(source(w, i, 1), source(w, i, 2)), source(w, i, 3));
    if (is(i, "selp") && n == 4)
        return join(source(w, i, 1), source(w, i, 2));
    struct value v = numbers;
    for (uint32_t k = 1; k < n; k++)
        v = mixed(v, source(w, i, k));
    return v;
}

/* An address goes where it is not followed. */
static bool keeps(const struct within *w, const struct ptx_insn *i)
{
    bool kept = false;
    if (is(i, "call"))
        return true;
    if (!is(i, "st") && !is(i, "atom") && !is(i, "red"))
        return false;
    for (uint32_t k = 0; k < i->noperands; k++)
        if (w->f->operands[i->operand + k].kind != PTX_ADDRESS)
            kept |= is_address(source(w, i, k)) && !(is(i, "atom") && !k);
    return kept;
}

struct writing {
    struct within *w;
    struct value v;
};

static void write_register(void *ctx, int32_t reg, enum flow_use use)
{
    const struct writing *k = ctx;
    if (use != FLOW_WRITES)
        return;
    struct value *at = &k->w->value[reg];
    const struct value now = join(*at, k->v);
    k->w->changed |= now.made != at->made;
    *at = now;
}

/* Those of which nothing comes are of a loop's first round, or never written: numbers. */
static void settle(struct within *w)
{
    do {
        w->changed = false;
        for (uint32_t n = 0; n < w->f->ninsns; n++) {
            const struct ptx_insn *i = &w->f->insns[n];
            struct writing k = {.w = w, .v = i->noperands ? result(w, i) : numbers};
            flow_registers(w->f, i, write_register, &k);
            const bool kept = w->kept || keeps(w, i);
            w->changed |= kept != w->kept;
            w->kept = kept;
        }
    } while (w->changed);
}

static const struct ptx_variable *stays_in(const struct within *w, const struct ptx_insn *i)
{
    for (uint32_t k = 0; k < i->noperands; k++) {
        const struct ptx_operand *o = &w->f->operands[i->operand + k];
        if (o->kind == PTX_ADDRESS)
            return operand_value(w, o).of;
    }
    return NULL;
}

const struct ptx_variable **within_new(const struct ptx_function *f)
{
    struct within w = {.f = f, .value = xcalloc(f->nregs + 1u, sizeof *w.value)};
    const struct ptx_variable **of = xcalloc(f->ninsns + 1u, sizeof *of);
    settle(&w);
    for (uint32_t n = 0; n < f->ninsns; n++)
        of[n] = stays_in(&w, &f->insns[n]);
    free(w.value);
    return of;
}
