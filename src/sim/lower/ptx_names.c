/* ptx_names.c - words of PTX, and instructions printed with them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/lower/ptx_names.h"

#include <inttypes.h>
#include <string.h>

#include "sim/ptx.h"

static const struct {
    const char *name;
    int bytes;
} types[PTX_NTYPES] = {
    [PTX_NO_TYPE] = {"", 0},      [PTX_PRED] = {"pred", 0},   [PTX_B8] = {"b8", 1},
    [PTX_B16] = {"b16", 2},       [PTX_B32] = {"b32", 4},     [PTX_B64] = {"b64", 8},
    [PTX_B128] = {"b128", 16},    [PTX_U8] = {"u8", 1},       [PTX_U16] = {"u16", 2},
    [PTX_U32] = {"u32", 4},       [PTX_U64] = {"u64", 8},     [PTX_S8] = {"s8", 1},
    [PTX_S16] = {"s16", 2},       [PTX_S32] = {"s32", 4},     [PTX_S64] = {"s64", 8},
    [PTX_F16] = {"f16", 2},       [PTX_F16X2] = {"f16x2", 4}, [PTX_BF16] = {"bf16", 2},
    [PTX_BF16X2] = {"bf16x2", 4}, [PTX_F32] = {"f32", 4},     [PTX_F64] = {"f64", 8},
};

enum ptx_type ptx_type_of(const char *word)
{
    for (int t = PTX_PRED; t < PTX_NTYPES; t++)
        if (strcmp(types[t].name, word) == 0)
            return (enum ptx_type)t;
    return PTX_NO_TYPE;
}

const char *ptx_type_name(enum ptx_type t)
{
    return types[t].name;
}

int ptx_type_bytes(enum ptx_type t)
{
    return types[t].bytes;
}

static const char *const spaces[] = {
    [PTX_SPACE_REG] = "reg",       [PTX_SPACE_PARAM] = "param",   [PTX_SPACE_LOCAL] = "local",
    [PTX_SPACE_SHARED] = "shared", [PTX_SPACE_GLOBAL] = "global", [PTX_SPACE_CONST] = "const",
};

const char *ptx_space_name(enum ptx_space s)
{
    return spaces[s];
}

bool ptx_space_of(const char *word, enum ptx_space *out)
{
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (strcmp(spaces[i], word) == 0) {
            *out = (enum ptx_space)i;
            return true;
        }
    return false;
}

/* Special registers, chapter 10. `xyz`: with a component; `numbered`: %envreg0 to %envreg31 and the
 * like. */
static const struct {
    const char *name;
    bool xyz, numbered;
} specials[] = {
    {"%tid", true, false},
    {"%ntid", true, false},
    {"%ctaid", true, false},
    {"%nctaid", true, false},
    {"%clusterid", true, false},
    {"%nclusterid", true, false},
    {"%cluster_ctaid", true, false},
    {"%cluster_nctaid", true, false},
    {"%cluster_ctarank", false, false},
    {"%cluster_nctarank", false, false},
    {"%is_explicit_cluster", false, false},
    {"%laneid", false, false},
    {"%warpid", false, false},
    {"%nwarpid", false, false},
    {"%smid", false, false},
    {"%nsmid", false, false},
    {"%gridid", false, false},
    {"%lanemask_eq", false, false},
    {"%lanemask_le", false, false},
    {"%lanemask_lt", false, false},
    {"%lanemask_ge", false, false},
    {"%lanemask_gt", false, false},
    {"%clock", false, false},
    {"%clock_hi", false, false},
    {"%clock64", false, false},
    {"%globaltimer", false, false},
    {"%globaltimer_lo", false, false},
    {"%globaltimer_hi", false, false},
    {"%total_smem_size", false, false},
    {"%aggr_smem_size", false, false},
    {"%dynamic_smem_size", false, false},
    {"%reserved_smem_offset_begin", false, false},
    {"%reserved_smem_offset_end", false, false},
    {"%reserved_smem_offset_cap", false, false},
    {"%reserved_smem_offset_", false, true},
    {"%current_graph_exec", false, false},
    {"%envreg", false, true},
    {"%pm", false, true},
};

bool ptx_is_special(const char *name)
{
    const size_t len = strcspn(name, ".");
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
        const size_t n = strlen(specials[i].name);
        if (strncmp(name, specials[i].name, n) != 0)
            continue;
        const size_t ndigits = strspn(name + n, "0123456789");
        if (specials[i].numbered && ndigits && n + ndigits == len)
            return true;
        if (n == len && specials[i].xyz == (name[n] == '.'))
            return true;
    }
    return false;
}

bool ptx_opcode_has(const struct ptx_opcode *op, const char *word)
{
    for (int i = 1; i < op->nparts; i++)
        if (strcmp(op->parts[i], word) == 0)
            return true;
    return false;
}

static void print_offset(int64_t offset, struct str *out)
{
    if (offset)
        str_addf(out, "+%" PRId64, offset);
}

static void print_imm(const struct ptx_operand *o, struct str *out)
{
    switch (o->imm_kind) {
    case PTX_IMM_F32:
        str_addf(out, "0f%08" PRIX64, o->imm);
        break;
    case PTX_IMM_F64:
        str_addf(out, "0d%016" PRIX64, o->imm);
        break;
    default:
        str_addf(out, "%" PRId64, (int64_t)o->imm);
    }
}

/* What has no items. */
static void print_scalar(const struct ptx_function *f, const struct ptx_operand *o, struct str *out)
{
    switch (o->kind) {
    case PTX_REG:
        str_addf(out, "%s%s", o->negated ? "!" : "", f->regs[o->reg].name);
        break;
    case PTX_IMM:
        print_imm(o, out);
        break;
    case PTX_VARIABLE:
        str_add(out, o->variable->name);
        print_offset(o->offset, out);
        break;
    case PTX_FUNCTION:
        str_add(out, o->function->name);
        break;
    case PTX_SINK:
        str_addc(out, '_');
        break;
    default: /* special, label, targets, prototype */
        str_add(out, o->name);
    }
}

static void print_items(const struct ptx_function *f, const struct ptx_operand *o,
                        const char *between, struct str *out)
{
    for (uint32_t i = 0; i < o->nitems; i++) {
        str_add(out, i ? between : "");
        print_scalar(f, &f->operands[o->item + i], out);
    }
}

static void print_address(const struct ptx_function *f, const struct ptx_operand *o,
                          struct str *out)
{
    str_addc(out, '[');
    if (o->reg >= 0)
        str_add(out, f->regs[o->reg].name);
    else if (o->variable)
        str_add(out, o->variable->name);
    if (o->reg >= 0 || o->variable)
        print_offset(o->offset, out);
    else
        str_addf(out, "%" PRId64, o->offset);
    if (o->nitems) {
        str_add(out, ", {");
        print_items(f, o, ", ", out);
        str_addc(out, '}');
    }
    str_addc(out, ']');
}

static void print_operand(const struct ptx_function *f, const struct ptx_operand *o,
                          struct str *out)
{
    static const char *const around[][3] = {
        [PTX_VECTOR] = {"{", ", ", "}"}, [PTX_LIST] = {"(", ", ", ")"}, [PTX_PAIR] = {"", "|", ""}};
    if (o->kind == PTX_ADDRESS) {
        print_address(f, o, out);
    } else if (o->kind == PTX_VECTOR || o->kind == PTX_LIST || o->kind == PTX_PAIR) {
        str_add(out, around[o->kind][0]);
        print_items(f, o, around[o->kind][1], out);
        str_add(out, around[o->kind][2]);
    } else {
        print_scalar(f, o, out);
    }
}

void ptx_print(const struct ptx_function *f, const struct ptx_insn *i, struct str *out)
{
    if (i->guard >= 0)
        str_addf(out, "@%s%s ", i->guard_negated ? "!" : "", f->regs[i->guard].name);
    str_add(out, i->op->text);
    for (uint32_t k = 0; k < i->noperands; k++) {
        str_add(out, k ? ", " : " ");
        print_operand(f, &f->operands[i->operand + k], out);
    }
    str_addc(out, ';');
}
