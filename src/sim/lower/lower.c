/* lower.c - a kernel of a PTX module to a program; see lower.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/lower/lower.h"
#include "sim/lower/wgmma_uses.h"
#include "sim/lower/within.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

#define CODES_MAX (8u << 20)
#define LOCAL_MAX (512u << 10)
#define PARAM_MAX (32u << 10)

/* One operand of a row goes where the body looks for it. */
static enum status row_operand(struct lower *l, struct code *c, char letter,
                               const struct ptx_operand *o, int at, int *source)
{
    uint32_t ref = 0;
    enum status st;
    if (letter == 'p' && !at)
        return lower_pred_dest(l, o, &c->pd);
    if (letter == 'p')
        return lower_pred_source(
            l, o,
            (*source)++ && c->op != OP_SELP16 && c->op != OP_SELP32 && c->op != OP_SELP64 ? &c->pb
                                                                                          : &c->pa);
    if (letter == 'i') {
        if (!o || o->kind != PTX_IMM)
            return lower_refuse(l, "the table wants a number");
        c->imm = (uint32_t)o->imm;
        return ST_OK;
    }
    if (!at) {
        st = lower_dest(l, o, letter, &ref);
        if (st == ST_OK && ref == SIM_NO_REF)
            ref = lower_temp(l);
        c->d = ref;
        return st;
    }
    st = lower_source(l, o, letter, &ref);
    uint32_t *const to[] = {&c->a, &c->b, &c->c, &c->imm};
    *to[(*source)++] = ref;
    return st;
}

static enum status lower_row(struct lower *l, const struct isa_row *row, uint32_t flags)
{
    const int n = (int)strlen(row->operands);
    if (l->i->noperands != n)
        return lower_refuse(l, "it has %d operands and wants %d", l->i->noperands, n);
    struct code made = {.op = row->op, .pd = PRED_SINK, .pq = PRED_SINK};
    const uint32_t zero = lower_constant(l, 0, true);
    made.a = made.b = made.c = zero;
    made.imm = 0;
    int source = 0;
    for (int i = 0; i < n; i++) {
        const enum status st =
            row_operand(l, &made, row->operands[i], lower_operand(l, i), i, &source);
        if (st != ST_OK)
            return st;
    }
    struct code *c = lower_emit(l, (enum sim_op)row->op, (enum sim_pipe)row->pipe);
    c->flags |= (uint16_t)flags;
    c->sub = row->sub;
    c->kind = row->kind;
    c->a = made.a, c->b = made.b, c->c = made.c, c->d = made.d, c->imm = made.imm;
    c->pd = made.pd, c->pa = made.pa, c->pb = made.pb;
    return ST_OK;
}

static enum status lower_one(struct lower *l)
{
    uint32_t flags;
    const struct ptx_opcode *op = l->i->op;
    static enum status (*const families[])(struct lower *, bool *) = {
        lower_hopper, lower_data, lower_warp, lower_tensor, lower_async};
    for (size_t k = 0; k < sizeof families / sizeof *families; k++) {
        bool known = true;
        l->word = op->parts + 1;
        l->words = op->nparts - 1;
        const enum status st = families[k](l, &known);
        if (known || st != ST_OK)
            return st;
    }
    const struct isa_row *row = isa_find(op->nparts, op->parts, &flags);
    if (!row)
        return lower_refuse(l, "the simulator does not know this instruction");
    return lower_row(l, row, flags);
}

/* ---- Facts and places ---- */
static const char *file_name(const struct ptx_module *m, uint32_t index)
{
    return index < m->nfiles ? m->files[index].name : NULL; /* PTX_NO_FILE is beyond */
}

static void copy_places(struct lower *l)
{
    const struct ptx_module *m = l->module;
    l->p->places = xcalloc(m->nlocations + 1u, sizeof *l->p->places);
    for (uint32_t i = 0; i < m->nlocations; i++) {
        const struct ptx_location *at = &m->locations[i];
        l->p->places[i] =
            (struct sim_place){.file = at->line ? file_name(m, at->file) : NULL,
                               .line = (int)at->line,
                               .function = at->function,
                               .inlined_at = at->inlined_at ? &l->p->places[at->inlined_at] : NULL};
    }
}

static void copy_insns(struct lower *l)
{
    struct sim_program *p = l->p;
    p->insn = xcalloc(l->f->ninsns + 1u, sizeof *p->insn);
    for (uint32_t i = 0; i < l->f->ninsns; i++) {
        const struct ptx_insn *x = &l->f->insns[i];
        p->insn[i] = (struct sim_insn){
            .name = x->op->text, .ptx_line = (int)x->line, .pipe = SIM_PIPE_other, .part_of = i};
        if (x->location < l->module->nlocations)
            p->insn[i].at = p->places[x->location];
    }
    p->facts.insns = l->f->ninsns;
}

static enum status fill_facts(struct lower *l)
{
    const struct ptx_function *f = l->f;
    struct sim_facts *facts = &l->p->facts;
    if (f->local_bytes > LOCAL_MAX || f->call_bytes > LOCAL_MAX || f->param_bytes > PARAM_MAX)
        return err_set(l->err, ST_USAGE, "%s: more local memory or parameters than a GPU has",
                       f->name);
    facts->entry = f->name;
    facts->target = l->module->target;
    facts->param_bytes = (uint32_t)f->param_bytes;
    facts->local_bytes = ((uint32_t)f->local_bytes + 15) / 16 * 16;
    l->p->call_bytes = (uint32_t)f->call_bytes;
    const uint32_t *t = f->required_threads[0] ? f->required_threads : f->max_threads;
    const uint64_t threads = (uint64_t)t[0] * (t[1] ? t[1] : 1) * (t[2] ? t[2] : 1);
    facts->max_threads = threads <= 1024 ? (uint32_t)threads : 0;
    return ST_OK;
}

/* Static shared memory that the kernel names comes first, so that the place of the dynamic one is known. */
static enum status place_variables(struct lower *l)
{
    l->shared_at =
        xcalloc((size_t)l->module->nvariables + l->f->nvariables + 1, sizeof *l->shared_at);
    uint32_t align = 16;
    for (uint32_t n = 0; n < l->f->ninsns; n++) {
        l->i = &l->f->insns[n];
        for (uint32_t k = 0; k < l->f->noperands && k < l->i->noperands; k++) {
            const struct ptx_operand *o = &l->f->operands[l->i->operand + k];
            const struct ptx_variable *v =
                o->kind == PTX_VARIABLE || o->kind == PTX_ADDRESS ? o->variable : NULL;
            if (!v || v->space != PTX_SPACE_SHARED)
                continue;
            align = v->align > align && v->align <= 1024 ? v->align : align;
            uint64_t addr;
            if (!v->is_unsized && !(v->is_extern && !v->bytes)) {
                int reloc;
                enum sim_space space;
                const enum status st = lower_variable(l, v, &addr, &reloc, &space);
                if (st != ST_OK)
                    return st;
            }
        }
    }
    l->p->facts.shared_align = align;
    l->p->dynamic_offset = (l->p->facts.static_shared + align - 1) / align * align;
    return ST_OK;
}

/* Where a variable lies, for merge.h: those of the module are as aligned as they say. */
static struct address_low place_of_variable(void *ctx, const struct ptx_variable *v)
{
    struct lower *l = ctx;
    uint64_t addr = 0;
    int reloc = -1;
    enum sim_space space = SIM_NOWHERE;
    if (v->space != PTX_SPACE_SHARED) {
        const unsigned bits = (unsigned)__builtin_ctz(v->align | 1u << ADDRESS_LOW_BITS);
        return (struct address_low){.bits = (uint8_t)bits};
    }
    if (lower_variable(l, v, &addr, &reloc, &space) != ST_OK)
        return (struct address_low){.bits = 0};
    return (struct address_low){.bits = 4, .value = addr % 16}; /* as ptxas: to 16 bytes */
}

static void merge_memory(struct lower *l)
{
    l->merged = merge_accesses(l->f, l->flow, place_of_variable, l);
    for (uint32_t n = 0; l->merged && n < l->f->ninsns; n++)
        l->p->insn[n].part_of = l->merged[n].bytes ? l->merged[n].with : n;
}

/* ---- The whole ---- */

/* Instructions that variables' initial values point to: of other variables. */
static void add_pointed_variables(struct lower *l)
{
    for (uint32_t i = 0; i < l->p->nvariable; i++) {
        const struct ptx_variable *v = l->p->variable[i].from;
        for (uint32_t k = 0; k < v->nrelocs; k++)
            if (v->relocs[k].variable)
                lower_program_variable(l, v->relocs[k].variable);
    }
}

/* Branches know their instruction until all have their place. */
static void fix_targets(struct lower *l)
{
    struct sim_program *p = l->p;
    for (uint32_t k = 0; k < p->ncode; k++) {
        struct code *c = &p->code[k];
        if (c->op != OP_BRA && c->op != OP_BRX)
            continue;
        if (c->op == OP_BRA)
            c->target = l->code_of[c->target];
        c->join = l->code_of[flow_meeting(l->flow, c->insn)];
        p->code[c->join].flags |= SIM_JOIN;
    }
    for (uint32_t k = 0; k < p->ntargets; k++)
        for (uint32_t j = 0; j < p->targets[k].n; j++)
            p->targets[k].to[j] = l->code_of[p->targets[k].to[j]];
}

static bool is_plain(const struct code *c)
{
    return c->op < OP_CONTROL && !c->guard;
}

/* From the last on: each run is a code and the run behind it. */
static void find_runs(struct sim_program *p)
{
    p->run = xcalloc(p->ncode + 1u, sizeof *p->run);
    for (uint32_t k = p->ncode; k-- > 0;) {
        const struct code *c = &p->code[k];
        struct code_run *r = &p->run[k];
        if (!is_plain(c))
            continue;
        if (k + 1 < p->ncode && !(c[1].flags & SIM_JOIN) && r[1].length < UINT8_MAX)
            *r = r[1];
        r->pipe[c->pipe]++;
        r->instructions += !(c->flags & SIM_QUIET);
        r->length++;
    }
}

static enum status lower_all(struct lower *l)
{
    for (uint32_t n = 0; n < l->f->ninsns; n++) {
        l->i = &l->f->insns[n];
        l->index = n;
        l->first = l->p->ncode;
        l->temps = 1; /* the first is for results that nobody reads */
        l->code_of[n] = l->p->ncode;
        if (l->uses && wgmma_uses_touch(l->uses, n)) { /* counted as its first step */
            lower_emit(l, OP_WGMMA_TOUCH, SIM_PIPE_other);
            l->p->code[l->p->ncode - 1].flags |= SIM_QUIET;
            l->p->code[l->p->ncode - 1].pipe = SIM_PIPE_COUNT;
            l->first = l->p->ncode;
        }
        const enum status st = lower_one(l);
        if (st != ST_OK)
            return st;
        if (l->p->ncode > CODES_MAX)
            return lower_refuse(l, "the kernel is too long");
        if (l->p->ncode == l->first) /* it does nothing: it is counted */
            lower_emit(l, OP_NOP, SIM_PIPE_other);
    }
    l->i = NULL;
    l->index = l->f->ninsns;
    l->first = UINT32_MAX;
    l->code_of[l->f->ninsns] = l->p->ncode;
    lower_emit(l, OP_EXIT, SIM_PIPE_other);
    add_pointed_variables(l);
    fix_targets(l);
    find_runs(l->p);
    return ST_OK;
}

/* Accesses by the variable that they are for. */
static void find_within(struct lower *l)
{
    struct sim_program *p = l->p;
    if (!p->nshared)
        return;
    const struct ptx_variable **of = within_new(l->f);
    p->within = xcalloc(l->f->ninsns + 1u, sizeof *p->within);
    for (uint32_t i = 0; i < l->f->ninsns; i++)
        for (uint32_t k = 0; of[i] && k < p->nshared; k++)
            if (p->shared[k].name == of[i]->name)
                p->within[i] = k + 1;
    free(of);
}

static enum status lower_function(struct lower *l)
{
    struct sim_program *p = l->p;
    enum status st = flow_new(l->f, &l->flow, l->err);
    if (st == ST_OK)
        st = place_new(l->f, l->flow, &l->place, l->err);
    if (st == ST_OK)
        st = fill_facts(l);
    if (st != ST_OK)
        return st;
    p->slots = l->place->nslots + 2;
    p->predicates = PRED_FIRST + l->place->nmasks;
    if (p->predicates > UINT16_MAX / 2)
        return err_set(l->err, ST_USAGE, "%s: too many predicates", l->f->name);
    l->code_of = xcalloc(l->f->ninsns + 1u, sizeof *l->code_of);
    copy_places(l);
    copy_insns(l);
    st = place_variables(l);
    if (st == ST_OK) {
        find_within(l);
        merge_memory(l);
        l->uses = wgmma_uses_new(l->f, l->flow);
        st = lower_all(l);
    }
    p->place_of = l->place->slot; /* registers may be looked at */
    l->place->slot = NULL;
    p->facts.slots = (int)l->place->nslots;
    p->facts.predicates = (int)l->place->nmasks;
    return st;
}

static const struct ptx_function *first_kernel(const struct ptx_module *m)
{
    for (uint32_t i = 0; i < m->nfunctions; i++)
        if (m->functions[i]->is_entry && m->functions[i]->has_body)
            return m->functions[i];
    return NULL;
}

/* It may be there by another name, such as that of C++. */
static enum status no_kernel(const struct ptx_module *m, const char *entry, struct err *err)
{
    const struct ptx_function *other = first_kernel(m);
    return entry && other
               ? err_set(err, ST_USAGE, "the PTX has no kernel %s; it has %s", entry, other->name)
               : err_set(err, ST_USAGE, "the PTX has no kernel %s", entry ? entry : "at all");
}

static enum status pick_entry(const struct ptx_module *m, const char *entry,
                              const struct ptx_function **out, struct err *err)
{
    *out = entry ? ptx_function(m, entry) : NULL;
    for (uint32_t i = 0; !entry && i < m->nfunctions; i++) {
        if (!m->functions[i]->is_entry)
            continue;
        if (*out)
            return err_set(err, ST_USAGE, "the PTX has several kernels, %s and %s: name one",
                           (*out)->name, m->functions[i]->name);
        *out = m->functions[i];
    }
    if (!*out || !(*out)->is_entry || !(*out)->has_body)
        return no_kernel(m, entry, err);
    return ST_OK;
}

enum status sim_program_new(const char *ptx, size_t len, const char *entry,
                            struct sim_program **out, struct err *err)
{
    struct sim_program *p = xcalloc(1, sizeof *p);
    struct lower l = {.p = p, .err = err};
    const struct ptx_function *f = NULL;
    *out = NULL;
    enum status st = ptx_parse(ptx, len, &p->module, err);
    if (st == ST_OK)
        st = pick_entry(p->module, entry, &f, err);
    if (st == ST_OK)
        st = ptx_inline(p->module, f, &l.f, err);
    if (st == ST_OK) {
        p->text = xstrndup(ptx, len);
        p->text_len = strlen(p->text);
        p->text_hash = hash_bytes(HASH_START, ptx, len);
        p->function = l.f;
        l.module = p->module;
        st = lower_function(&l);
    }
    flow_free(l.flow);
    place_free(l.place);
    wgmma_uses_free(l.uses);
    free(l.code_of);
    free(l.merged);
    free(l.constant_at);
    free(l.shared_at);
    if (st == ST_OK)
        *out = p;
    else
        sim_program_free(p);
    return st;
}

void sim_program_free(struct sim_program *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->ntargets; i++)
        free(p->targets[i].to);
    free(p->targets);
    free(p->text);
    free(p->shared);
    free(p->within);
    free(p->place_of);
    free(p->code);
    free(p->run);
    free(p->insn);
    free(p->places);
    free(p->memory);
    free(p->tensor);
    free(p->wgmma);
    free(p->bulk);
    free(p->send);
    free(p->constant);
    free(p->variable);
    ptx_free(p->module);
    free(p);
}
