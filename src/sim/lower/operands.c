/* operands.c - words of opcodes, registers, constants, addresses; see lower.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/lower/lower.h"
#include "sim/special.h"

/* ---- Words ---- */
bool lower_word(struct lower *l, const char *word)
{
    if (!l->words || strcmp(*l->word, word) != 0)
        return false;
    l->word++;
    l->words--;
    return true;
}

int lower_choice(struct lower *l, const char *const *list)
{
    for (int i = 0; list[i]; i++)
        if (lower_word(l, list[i]))
            return i;
    return -1;
}

enum ptx_type lower_type(struct lower *l)
{
    const enum ptx_type t = l->words ? ptx_type_of(*l->word) : PTX_NO_TYPE;
    if (t != PTX_NO_TYPE) {
        l->word++;
        l->words--;
    }
    return t;
}

void lower_skip_hints(struct lower *l)
{
    static const char *const hints[] = {"L1::", "L2::", "evict", NULL};
    for (;;) {
        bool any = false;
        for (int i = 0; hints[i] && l->words; i++)
            if (!strncmp(*l->word, hints[i], strlen(hints[i]))) {
                l->word++;
                l->words--;
                any = true;
            }
        if (!any)
            return;
    }
}

enum status lower_end(struct lower *l)
{
    return l->words ? lower_refuse(l, "the simulator does not know .%s here", *l->word) : ST_OK;
}

/* ---- Operands ---- */
uint32_t lower_temp(struct lower *l)
{
    const uint32_t slot = l->place->nslots + 2 * l->temps++;
    if (slot + 2 > l->p->slots)
        l->p->slots = slot + 2;
    return slot * SIM_SLOT;
}

const struct ptx_operand *lower_operand(const struct lower *l, int at)
{
    return at < l->i->noperands ? &l->f->operands[l->i->operand + (uint32_t)at] : NULL;
}

bool lower_is_wide(const struct lower *l, const struct ptx_operand *o)
{
    return o && o->kind == PTX_REG && ptx_type_bytes(l->f->regs[o->reg].type) == 8;
}

static bool wants_wide(char letter)
{
    return letter == 'd' || letter == 'D';
}

static enum status slot_of(struct lower *l, const struct ptx_operand *o, char letter, uint32_t *ref)
{
    const struct ptx_reg *r = &l->f->regs[o->reg];
    const int bytes = ptx_type_bytes(r->type);
    if (!bytes || bytes > 8)
        return lower_refuse(l, "%s cannot stand here", r->name);
    if ((bytes == 8) != wants_wide(letter))
        return lower_refuse(l, "%s has %d bits, which this instruction does not take here", r->name,
                            8 * bytes);
    const uint32_t slot = l->place->slot[o->reg];
    *ref = (slot == PLACE_NONE ? l->place->nslots : slot) * SIM_SLOT;
    return ST_OK;
}

/* Bits of an immediate as the letter wants them. */
static uint64_t immediate(const struct ptx_operand *o, char letter)
{
    double d;
    float f;
    uint32_t u;
    const bool real = letter == 'W' || letter == 'D';
    if (o->imm_kind == PTX_IMM_F64) {
        memcpy(&d, &o->imm, sizeof d);
        if (wants_wide(letter))
            return o->imm;
        f = (float)d;
        memcpy(&u, &f, sizeof u);
        return u;
    }
    if (o->imm_kind == PTX_IMM_F32) {
        u = (uint32_t)o->imm;
        if (letter != 'D')
            return u;
        memcpy(&f, &u, sizeof f);
        d = f;
        memcpy(&u, &f, sizeof u);
        uint64_t v;
        memcpy(&v, &d, sizeof v);
        return v;
    }
    (void)real;
    return letter == 'h' || letter == 'H' ? o->imm & 0xffff : o->imm;
}

static int special_of(const char *name, int *bits)
{
    static const struct {
        const char *name;
        int bits;
    } all[] = {
#define X(id, name, bits) {name, bits},
        SIM_SPECIALS(X)
#undef X
    };
    for (int i = 0; i < SPECIAL_COUNT; i++)
        if (!strcmp(name, all[i].name)) {
            *bits = all[i].bits;
            return i;
        }
    return -1;
}

/* Into a temporary, by a step of its own; 32 bits widen, 64 narrow. */
static enum status special(struct lower *l, const struct ptx_operand *o, char letter, uint32_t *ref)
{
    int bits;
    if (!strcmp(o->name, "WARP_SZ")) {
        *ref = lower_constant(l, 32, wants_wide(letter));
        return ST_OK;
    }
    const int s = special_of(o->name, &bits);
    if (s < 0)
        return lower_refuse(l, "the simulator does not know the register %s", o->name);
    *ref = lower_temp(l);
    struct code *c = lower_emit(l, OP_SPECIAL, SIM_PIPE_other);
    c->sub = (uint8_t)s;
    c->kind = wants_wide(letter);
    c->d = *ref;
    return ST_OK;
}

enum status lower_source(struct lower *l, const struct ptx_operand *o, char letter, uint32_t *ref)
{
    uint64_t addr;
    int variable;
    enum sim_space space;
    if (!o)
        return lower_refuse(l, "an operand is missing");
    switch (o->kind) {
    case PTX_REG:
        return slot_of(l, o, letter, ref);
    case PTX_IMM:
        *ref = lower_constant(l, immediate(o, letter), wants_wide(letter));
        return ST_OK;
    case PTX_SPECIAL:
        return special(l, o, letter, ref);
    case PTX_VARIABLE: {
        const enum status st = lower_variable(l, o->variable, &addr, &variable, &space);
        if (st == ST_OK)
            *ref = lower_constant_of(l, addr + (uint64_t)o->offset, wants_wide(letter), variable);
        return st;
    }
    default:
        return lower_refuse(l, "the simulator does not know operands of this form here");
    }
}

enum status lower_dest(struct lower *l, const struct ptx_operand *o, char letter, uint32_t *ref)
{
    if (o && o->kind == PTX_SINK) {
        *ref = SIM_NO_REF;
        return ST_OK;
    }
    if (!o || o->kind != PTX_REG)
        return lower_refuse(l, "the result wants a register");
    return slot_of(l, o, letter, ref);
}

enum status lower_pred_source(struct lower *l, const struct ptx_operand *o, uint16_t *ref)
{
    if (o && o->kind == PTX_IMM) {
        *ref = o->imm ? PRED_TRUE * 2 : PRED_TRUE * 2 + 1;
        return ST_OK;
    }
    if (!o || o->kind != PTX_REG || l->f->regs[o->reg].type != PTX_PRED)
        return lower_refuse(l, "a predicate is missing");
    const uint32_t mask = l->place->slot[o->reg];
    *ref = (uint16_t)((mask == PLACE_NONE ? PRED_SINK : PRED_FIRST + mask) * 2 + o->negated);
    return ST_OK;
}

enum status lower_pred_dest(struct lower *l, const struct ptx_operand *o, uint16_t *index)
{
    uint16_t ref;
    if (o && o->kind == PTX_SINK) {
        *index = PRED_SINK;
        return ST_OK;
    }
    if (!o || o->kind != PTX_REG)
        return lower_refuse(l, "the result wants a predicate");
    const enum status st = lower_pred_source(l, o, &ref);
    *index = ref / 2;
    return st;
}

/* ---- Variables and addresses ---- */
uint32_t lower_program_variable(struct lower *l, const struct ptx_variable *v)
{
    for (uint32_t i = 0; i < l->p->nvariable; i++)
        if (l->p->variable[i].from == v)
            return i;
    xgrow((void **)&l->p->variable, &l->variable_cap, l->p->nvariable + 1u, sizeof *l->p->variable);
    l->p->variable[l->p->nvariable] =
        (struct program_variable){.name = v->name,
                                  .bytes = v->bytes,
                                  .align = v->align,
                                  .data = v->data,
                                  .ndata = v->ndata,
                                  .is_const = v->space == PTX_SPACE_CONST,
                                  .from = v};
    return l->p->nvariable++;
}

static uint64_t *shared_place(struct lower *l, const struct ptx_variable *v)
{
    for (uint32_t i = 0; i < l->module->nvariables; i++)
        if (l->module->variables[i] == v)
            return &l->shared_at[i];
    for (uint32_t i = 0; i < l->f->nvariables; i++)
        if (l->f->variables[i] == v)
            return &l->shared_at[l->module->nvariables + i];
    return NULL;
}

#define SHARED_MAX (1u << 20)

/* Static shared memory in the order of its first use; dynamic begins behind all of it: marked now, placed at the end. */
static enum status place_shared(struct lower *l, const struct ptx_variable *v, uint64_t *addr)
{
    uint64_t *at = shared_place(l, v);
    if (!at)
        return lower_refuse(l, "%s is no variable of this kernel", v->name);
    if (!*at) {
        struct sim_facts *f = &l->p->facts;
        const uint64_t from = (f->static_shared + (uint64_t)v->align - 1) / v->align * v->align;
        if (v->bytes > SHARED_MAX || from + v->bytes > SHARED_MAX || v->align > 1024)
            return lower_refuse(l, "%s makes shared memory larger than any GPU has", v->name);
        f->static_shared = (uint32_t)(from + v->bytes);
        *at = from + 1;
        l->p->shared = xrealloc(l->p->shared, (l->p->nshared + 1u) * sizeof *l->p->shared);
        l->p->shared[l->p->nshared++] =
            (struct program_shared){v->name, (uint32_t)from, (uint32_t)v->bytes};
    }
    *addr = *at - 1;
    return ST_OK;
}

#define VARIABLES_MAX 4096 /* of a module; they are searched one after another */

static bool is_entry_param(const struct lower *l, const struct ptx_variable *v)
{
    for (uint32_t i = 0; i < l->f->nparams; i++)
        if (l->f->params[i] == v)
            return true;
    return false;
}

enum status lower_variable(struct lower *l, const struct ptx_variable *v, uint64_t *addr,
                           int *reloc, enum sim_space *space)
{
    *reloc = -1;
    *addr = v->offset;
    switch (v->space) {
    case PTX_SPACE_SHARED:
        *space = SIM_SHARED;
        if (v->is_unsized ||
            (v->is_extern && !v->bytes)) { /* its place is known when all others have theirs */
            *addr = l->p->dynamic_offset;
            return ST_OK;
        }
        return place_shared(l, v, addr);
    case PTX_SPACE_LOCAL:
        *space = SIM_LOCAL;
        return ST_OK;
    case PTX_SPACE_PARAM:
        *space = is_entry_param(l, v) ? SIM_PARAM : SIM_LOCAL;
        if (*space == SIM_LOCAL) /* of a call: behind the local variables */
            *addr += l->p->facts.local_bytes;
        return ST_OK;
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_CONST:
        if (l->p->nvariable >= VARIABLES_MAX)
            return lower_refuse(l, "the kernel names more than %d variables", VARIABLES_MAX);
        *space = v->space == PTX_SPACE_CONST ? SIM_CONST : SIM_GLOBAL;
        *reloc = (int)lower_program_variable(l, v);
        *addr = 0;
        return ST_OK;
    default:
        return lower_refuse(l, "%s has no address", v->name);
    }
}

/* A variable's address in a constant of 64 bits, generic if asked; the offset goes with the instruction. */
enum status lower_address(struct lower *l, const struct ptx_operand *o, struct code_memory *mem,
                          uint32_t *ref, bool generic)
{
    if (!o || o->kind != PTX_ADDRESS || o->nitems)
        return lower_refuse(l, "an address is missing");
    mem->offset = o->offset;
    mem->wide_addr = true;
    if (o->variable) {
        uint64_t addr;
        int variable;
        enum sim_space space;
        const enum status st = lower_variable(l, o->variable, &addr, &variable, &space);
        if (st != ST_OK)
            return st;
        if (o->reg >= 0)
            return lower_refuse(l, "an address of a variable and a register");
        if (generic || (mem->space == SIM_PARAM && space == SIM_LOCAL))
            mem->space =
                space; /* a variable without a space of its own in the instruction, or of a call */
        *ref = lower_constant_of(l, addr, true, variable);
        return ST_OK;
    }
    if (o->reg < 0) {
        *ref = lower_constant(l, 0, true);
        return ST_OK;
    }
    const struct ptx_operand reg = {.kind = PTX_REG, .reg = o->reg};
    mem->wide_addr = ptx_type_bytes(l->f->regs[o->reg].type) == 8;
    return slot_of(l, &reg, mem->wide_addr ? 'd' : 'w', ref);
}
