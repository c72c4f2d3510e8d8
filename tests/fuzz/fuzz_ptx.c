/* PTX: what is refused is refused with a sentence and a place inside the text; what parses holds
 * together (indices, names, chains of locations), can be printed, inlined, cut into blocks, and its
 * registers get places that fit.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include <string.h>

#include "base/str.h"
#include "sim/place.h"

#define HEAD ".version 9.0\n.target sm_80\n.address_size 64\n"

const char *const fuzz_seeds[] = {
    HEAD ".extern .shared .align 16 .b8 smem[];\n.visible .entry k(.param .align 8 .b8 p[240])\n"
         ".maxntid 256, 1, 1\n{\n.reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 "
         "%f<9>;\n.loc 1 5 1\nmov.b64 %rd1, p;\nld.param.u32 %r1, [p+16];\nmov.u32 %r2, %tid.x;\n"
         "setp.lt.s32 %p1, %r1, 5;\n@%p1 bra $L1;\n"
         "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+-8];\n$L1:\n"
         "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, "
         "%r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4};\n@!%p2 bra $L1;\nret;\n}\n"
         ".file 1 \"k.cu\"\n",
    HEAD
    ".func (.param .b32 r) f(.param .b32 a)\n{\n.reg .b32 %r<3>; .local .b8 d[8];\n"
    "ld.param.b32 %r1, [a];\nst.param.b32 [r], %r1;\nret;\n}\n.entry k()\n{\n.reg .b32 %r<3>;\n"
    "{\n.param .b32 x; .param .b32 y;\nst.param.b32 [x], %r1;\ncall.uni (y), f, (x);\n"
    "ld.param.b32 %r2, [y];\n}\nret;\n}\n",
    HEAD ".global .align 4 .b8 $s[4] = {104, 105, 10};\n.global .u64 t[2] = {generic($s), $s+1};\n"
         ".const .f32 c[2][2] = {{0f3F800000, 1.5}, {-2, 0x10}};\n"
         ".global .b8 m[2] = {0xFF($s), 0xFF00($s)};\n.shared .b16 z;\n",
    HEAD ".entry k()\n{\n.reg .pred %p<3>; .reg .b32 %r<4>;\nt: .branchtargets A, B;\n"
         "brx.idx %r1, t;\nA: { .reg .b32 q; L: mov.b32 q, %r1; @%p1 bra L; }\n"
         "B: shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1;\n@%p2 exit;\nbra A;\n}\n",
    HEAD
    ".entry k()\n{\n.reg .b32 %a;\n.loc 2 7 3, function_name $L__info_string0, inlined_at 1 2 3\n"
    "mov.b32 %a, 0d3FF0000000000000;\nret;\n}\n.file 1 \"a\"\n.file 2 \"b\", 1, 2\n"
    ".section .debug_str\n{\n$L__info_string0:\n.b8 97,98,0\n}\n",
    HEAD
    ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n.entry k(.param .u64 "
    ".ptr .global .align 16 x)\n{\n.local .align 8 .b8 depot[24];\n.reg .b64 %SP;\n"
    "mov.u64 %SP, depot;\n{ .param .b64 a; .param .b64 b; .param .b32 r;\n"
    "call.uni (r), vprintf, (a, b); }\ncall %SP, (x), pr;\npr: .callprototype _ (.param .b64 "
    "_);\n}\n",
    NULL,
};
const char *const fuzz_tokens[] = {
    ".version 9.0\n",
    ".target sm_90a\n",
    ".entry ",
    ".func ",
    ".visible ",
    ".extern ",
    ".weak ",
    ".param ",
    ".reg ",
    ".pred ",
    ".b32 ",
    ".b64 ",
    ".b8 ",
    ".f32 ",
    ".b128 ",
    ".local ",
    ".shared ",
    ".global ",
    ".const ",
    ".align 16 ",
    ".align ",
    ".loc 1 2 3",
    "inlined_at ",
    "function_name ",
    ".file 1 \"x\"",
    ".section ",
    ".pragma ",
    ".branchtargets ",
    ".callprototype ",
    ".maxntid ",
    "call ",
    "bra ",
    "brx.idx ",
    "ret;",
    "exit;",
    "mov.b32 ",
    "st.param.b32 ",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ";",
    ",",
    ":",
    "::",
    "|",
    "@",
    "@!",
    "!",
    "_",
    "+",
    "-",
    "=",
    "%r1",
    "%rd1",
    "%p1",
    "%r<99999999>",
    "%tid.x",
    "%",
    "$L1",
    "L: ",
    "f",
    "k",
    "p",
    "generic(",
    "0xFF(",
    "0f",
    "0f3F800000",
    "0d",
    "1e5",
    "-1",
    "0x",
    "18446744073709551616",
    "2147483647",
    "1099511627776",
    "//",
    "/*",
    "*/",
    "\"",
    "#",
    "@@",
    "\n",
    "\\x00",
    "\\xff",
    "\r",
    "\t",
    NULL,
};

static int check_refusal(const struct err *err, const struct ptx_module *m, size_t size)
{
    if (m)
        return fuzz_broken("a module comes with an error");
    if (!*err->text || err->at < 0 || err->len < 0 || (size_t)err->at + (size_t)err->len > size)
        return fuzz_broken("mark %d+%d in %zu bytes: %s", err->at, err->len, size, err->text);
    for (const char *c = err->text; *c; c++)
        if (*c < ' ' || *c > '~')
            return fuzz_broken("byte %d in a sentence", *c);
    return 0;
}

static int check_name(const char *name)
{
    if (!name || !*name)
        return fuzz_broken("no name");
    for (const char *c = name; *c; c++)
        if (*c <= ' ' || *c > '~')
            return fuzz_broken("byte %d in a name", *c);
    return 0;
}

static int check_variable(const struct ptx_variable *v)
{
    if (v->ndata > v->bytes || (v->ndata && !v->data) || !v->align || v->align & (v->align - 1) ||
        v->offset % v->align)
        return fuzz_broken("the variable %s", v->name);
    for (uint32_t i = 0; i < v->nrelocs; i++)
        if (v->relocs[i].offset + (uint64_t)v->relocs[i].bytes > v->ndata ||
            !v->relocs[i].variable == !v->relocs[i].function)
            return fuzz_broken("an address in %s", v->name);
    return check_name(v->name);
}

static int check_operand(const struct ptx_function *f, const struct ptx_operand *o)
{
    const bool reg = o->kind == PTX_REG;
    if (o->reg < -1 || o->reg >= (int32_t)f->nregs || (reg && o->reg < 0))
        return fuzz_broken("register %d of %u", o->reg, f->nregs);
    if (o->nitems > PTX_MAX_ITEMS || (o->nitems && o->item + o->nitems > f->noperands))
        return fuzz_broken("items %u+%u of %u", o->item, o->nitems, f->noperands);
    if (o->kind == PTX_LABEL && (o->label >= f->nlabels || check_name(o->name)))
        return fuzz_broken("label %u of %u", o->label, f->nlabels);
    if (o->kind == PTX_TARGETS && o->targets >= f->ntargets)
        return fuzz_broken("table %u of %u", o->targets, f->ntargets);
    if ((o->kind == PTX_VARIABLE || o->kind == PTX_FUNCTION || o->kind == PTX_SPECIAL) && !o->name)
        return fuzz_broken("an operand of kind %d without a symbol", o->kind);
    return 0;
}

/* One of several values is a single one. */
static int check_item(const struct ptx_function *f, const struct ptx_operand *o)
{
    if (o->nitems || o->kind >= PTX_ADDRESS)
        return o->kind == PTX_SINK ? 0 : fuzz_broken("a value of kind %d in an operand", o->kind);
    return check_operand(f, o);
}

static int check_insn(const struct ptx_module *m, const struct ptx_function *f,
                      const struct ptx_insn *i, struct str *text)
{
    if (i->location >= m->nlocations || i->guard >= (int32_t)f->nregs ||
        m->opcodes[i->op->id] != i->op || i->operand + i->noperands > f->noperands)
        return fuzz_broken("the instruction of line %u", i->line);
    for (uint32_t k = 0; k < i->noperands; k++) {
        const struct ptx_operand *o = &f->operands[i->operand + k];
        if (check_operand(f, o))
            return 1;
        for (uint32_t n = 0; n < o->nitems; n++)
            if (check_item(f, &f->operands[o->item + n]))
                return 1;
    }
    str_clear(text);
    ptx_print(f, i, text);
    return 0;
}

static int check_place(const struct ptx_function *f, const struct flow *w)
{
    struct err err = ERR_INIT;
    struct place *p;
    int broken = 0;
    if (place_new(f, w, &p, &err) != ST_OK)
        return *err.text ? 0 : fuzz_broken("no places, and no sentence");
    for (uint32_t r = 0; r < f->nregs && !broken; r++) {
        const uint32_t n = place_slots(f->regs[r].type), at = p->slot[r];
        if (at != PLACE_NONE && (n ? at + n > p->nslots || at % n : at >= p->nmasks))
            broken = fuzz_broken("%s has place %u", f->regs[r].name, at);
    }
    place_free(p);
    return broken;
}

static int check_flow(const struct ptx_function *f)
{
    struct err err = ERR_INIT;
    struct flow *w;
    int broken = 0;
    if (flow_new(f, &w, &err) != ST_OK)
        return *err.text ? 0 : fuzz_broken("no flow, and no sentence");
    for (uint32_t b = 0; b < w->nblocks && !broken; b++) {
        const struct flow_block *k = &w->blocks[b];
        if (k->meet >= w->nblocks || k->loop >= (int32_t)w->nblocks || k->first > k->end)
            broken = fuzz_broken("block %u", b);
        for (uint32_t n = 0; n < k->nnext; n++)
            if (k->next[n] >= w->nblocks)
                broken = fuzz_broken("block %u goes to %u", b, k->next[n]);
    }
    for (uint32_t i = 0; i < f->ninsns && !broken; i++)
        if (flow_meeting(w, i) > f->ninsns)
            broken = fuzz_broken("lanes of %u meet nowhere", i);
    broken = broken || check_place(f, w);
    flow_free(w);
    return broken;
}

static int check_function(const struct ptx_module *m, const struct ptx_function *f)
{
    struct str text = {0};
    int broken = check_name(f->name);
    for (uint32_t i = 0; i < f->nvariables && !broken; i++)
        broken = check_variable(f->variables[i]);
    for (uint32_t i = 0; i < f->nparams && !broken; i++)
        broken = check_variable(f->params[i]);
    for (uint32_t i = 0; i < f->nlabels && !broken; i++)
        if (f->labels[i].insn > f->ninsns)
            broken = fuzz_broken("%s is at %u", f->labels[i].name, f->labels[i].insn);
    for (uint32_t i = 0; i < f->ninsns && !broken; i++)
        broken = check_insn(m, f, &f->insns[i], &text);
    str_free(&text);
    return broken || check_flow(f);
}

static int check_module(struct ptx_module *m)
{
    int broken = 0;
    for (uint32_t i = 0; i < m->nvariables && !broken; i++)
        broken = check_variable(m->variables[i]);
    for (uint32_t i = 0; i < m->nfunctions && !broken; i++) {
        struct err err = ERR_INIT;
        const struct ptx_function *f = m->functions[i];
        broken = check_function(m, f);
        if (broken)
            continue;
        if (ptx_inline(m, f, &f, &err) != ST_OK)
            broken = *err.text ? 0 : fuzz_broken("not inlined, and no sentence");
        else if (f != m->functions[i])
            broken = check_function(m, f);
    }
    for (uint32_t i = 1; i < m->nlocations && !broken; i++)
        if (m->locations[i].inlined_at >= i ||
            (m->locations[i].file >= m->nfiles && m->locations[i].file != PTX_NO_FILE))
            broken = fuzz_broken("location %u", i);
    return broken;
}

int fuzz_one(const uint8_t *data, size_t size)
{
    struct ptx_module *m = (struct ptx_module *)data; /* must be overwritten */
    struct err err = ERR_INIT;
    const enum status st = ptx_parse((const char *)data, size, &m, &err);
    if (st == ST_USAGE)
        return check_refusal(&err, m, size);
    if (st != ST_OK)
        return fuzz_broken("status %d", st);
    const int broken = check_module(m);
    ptx_free(m);
    return broken;
}
