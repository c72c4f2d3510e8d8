/* step_made.c - whether an instruction has made a NaN or an infinity of numbers that were none; see step.h.
 *
 * A register's own type says what is in it. One of plain bits is what the instruction takes it for: of "cvt.rn.f16x2.f32" the
 * first type is that of what is written, the last that of what is read.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "sim/exec/step_state.h"
#include "sim/ptx.h"

struct format {
    const char *type;
    uint64_t sign_less, infinity; /* of one of `parts` */
    int parts;                    /* side by side, of 16 bits */
};
static const struct format formats[] = {
    {"f32", 0x7fffffff, 0x7f800000, 1}, {"f64", INT64_MAX, UINT64_C(0x7ff0000000000000), 1},
    {"f16", 0x7fff, 0x7c00, 1},         {"bf16", 0x7fff, 0x7f80, 1},
    {"f16x2", 0x7fff, 0x7c00, 2},       {"bf16x2", 0x7fff, 0x7f80, 2},
};

static const struct format *format_of(const char *type)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(type, formats[i].type))
            return &formats[i];
    return NULL;
}

/* What an instruction takes plain bits for, which it reads or writes; NULL: for no floats. Fragments of products are not
 * looked into. */
static const struct format *format_by(const struct ptx_opcode *op, bool written)
{
    const char *found = NULL;
    for (int i = 1; i < op->nparts && !(written && found); i++)
        if (ptx_type_of(op->parts[i]) != PTX_NO_TYPE)
            found = op->parts[i];
    return found && !strstr(op->parts[0], "mma") ? format_of(found) : NULL;
}

static bool is_such(const struct format *f, uint64_t bits, bool infinity)
{
    bool any = false;
    for (int i = 0; i < f->parts; i++) {
        const uint64_t x = bits >> 16 * i & f->sign_less;
        any |= infinity ? x == f->infinity : x > f->infinity;
    }
    return any;
}

/* Of these lanes, those in which a register that was read, or has been written, is such a number. */
static uint32_t lanes_with(const struct sim_seen *seen, const struct ptx_opcode *op, bool written,
                           bool infinity)
{
    uint32_t lanes = 0;
    for (size_t i = 0; i < seen->regs; i++) {
        const struct sim_register *r = &seen->reg[i];
        const struct format *f = format_of(r->type);
        if (!f && r->type[0] == 'b' && !r->address)
            f = format_by(op, written);
        for (uint32_t left = f && (written ? r->written : r->read) ? seen->mask : 0; left;
             left &= left - 1) {
            const int lane = __builtin_ctz(left);
            if (is_such(f, written ? r->after[lane] : r->before[lane], infinity))
                lanes |= UINT32_C(1) << lane;
        }
    }
    return lanes;
}

/* Do lanes get what other lanes read? */
static bool exchanges(const struct ptx_opcode *op)
{
    return !strcmp(op->parts[0], "shfl") || strstr(op->parts[0], "mma");
}

/* An infinity that the text itself has, as a first maximum or for what is masked. */
static bool names_infinity(const struct ptx_function *f, const struct ptx_insn *i)
{
    for (uint32_t k = 0; k < i->noperands; k++) {
        const struct ptx_operand *o = &f->operands[i->operand + k];
        if (o->kind == PTX_IMM &&
            is_such(format_of(o->imm_kind == PTX_IMM_F64 ? "f64" : "f32"), o->imm, true))
            return true;
    }
    return false;
}

/* Infinities are handed on by loads, by moves, which may be of plain bits, and by who has one as a constant. */
static bool hands_on(const struct sim_seen *seen, const struct ptx_function *f,
                     const struct ptx_insn *i)
{
    return seen->accesses || !strcmp(i->op->parts[0], "mov") || names_infinity(f, i);
}

bool step_made(const struct sim_step *s, bool infinity)
{
    const struct sim_seen *seen = sim_step_seen(s);
    if (!seen)
        return false;
    const struct ptx_function *f = s->program->function;
    const struct ptx_insn *i = &f->insns[seen->insn];
    const uint32_t made = lanes_with(seen, i->op, true, infinity);
    if (!made || (infinity && hands_on(seen, f, i)))
        return false;
    const uint32_t had = lanes_with(seen, i->op, false, infinity);
    return exchanges(i->op) ? !had : (made & ~had) != 0;
}
