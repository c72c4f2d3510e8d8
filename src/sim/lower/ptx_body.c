/* ptx_body.c - a function's body: scopes, registers, labels, instructions.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "sim/lower/ptx_names.h"
#include "sim/lower/ptx_read.h"

enum { NOT_RESOLVED = UINT32_MAX, MAX_OPERANDS_IN_ALL = 8 << 20 };

/* ---- Registers. ---- */

static bool bind_range(struct reader *r, struct atom *name, enum ptx_type type)
{
    uint64_t n;
    if (!ptx_read_uint(r, INT32_MAX, &n) || !ptx_read_sign(r, '>'))
        return false;
    struct binding *b = ptx_store_bind(r->s, name, BIND_RANGE);
    if (!b)
        return ptx_read_fail(r, "%.60s is declared twice", name->text);
    b->type = type;
    b->count = (uint32_t)n;
    return true;
}

static bool add_reg(struct reader *r, struct atom *name, enum ptx_type type, struct binding *b)
{
    struct making *k = &r->making;
    if (!b)
        return ptx_read_fail(r, "%.60s is declared twice", name->text);
    if (k->regs.n == PTX_MAX_REGS)
        return ptx_read_fail(r, "more than %d registers in %.60s", PTX_MAX_REGS, k->f->name);
    b->index = (uint32_t)k->regs.n;
    *(struct ptx_reg *)ptx_grow_add(&k->regs, sizeof(struct ptx_reg)) =
        (struct ptx_reg){.name = name->text, .type = type};
    return true;
}

/* ".reg .b32 %r<12>, a, b;" behind .reg */
static bool read_regs(struct reader *r)
{
    char word[16] = "";
    if (r->lex.kind == PLEX_DOT && r->lex.len <= sizeof word)
        memcpy(word, r->lex.at + 1, r->lex.len - 1);
    const enum ptx_type type = ptx_type_of(word);
    if (type == PTX_NO_TYPE)
        return ptx_read_expected(r, "a register's type");
    ptx_lex_next(&r->lex);
    do {
        struct atom *name = ptx_read_name(r);
        if (!name)
            return false;
        const bool ok = ptx_read_take(r, '<')
                            ? bind_range(r, name, type)
                            : add_reg(r, name, type, ptx_store_bind(r->s, name, BIND_REG));
        if (!ok)
            return false;
    } while (ptx_read_take(r, ','));
    return ptx_read_sign(r, ';');
}

/* What a name stands for; registers of a range come into being when they are first named. NULL: fails
 * (*failed) or nothing. */
static struct binding *lookup(struct reader *r, struct atom *a, bool *failed)
{
    struct binding *b = a->top;
    const struct binding *range = ptx_store_range(a);
    *failed = false;
    if (b && b->kind == BIND_RANGE) /* "%r" alone is no register */
        b = NULL;
    if (!range || (b && b->depth >= range->depth))
        return b;
    b = ptx_store_bind_at(r->s, a, BIND_REG, range->depth);
    *failed = !add_reg(r, a, range->type, b);
    return *failed ? NULL : b;
}

static bool undeclared(struct reader *r, const struct atom *a)
{
    const bool reg = a->text[0] == '%';
    return ptx_read_fail(r, "%s%.60s is not declared", reg ? "the register " : "", a->text);
}

/* A register of the atom, -1 after a failure. */
static int32_t reg_of(struct reader *r, struct atom *a)
{
    bool failed;
    const struct binding *b = a ? lookup(r, a, &failed) : NULL;
    if (!a || failed)
        return -1;
    if (!b)
        undeclared(r, a);
    else if (b->kind != BIND_REG)
        ptx_read_fail(r, "%.60s is no register", a->text);
    return b && b->kind == BIND_REG ? (int32_t)b->index : -1;
}

/* ---- Operands. ---- */

static bool read_imm(struct reader *r, struct ptx_operand *o)
{
    enum ptx_lex_number kind;
    uint64_t bits;
    o->kind = PTX_IMM;
    if (r->lex.kind == PLEX_NUMBER && ptx_lex_number(&r->lex, &kind, &bits) && kind != PLEX_INT) {
        o->imm_kind = kind == PLEX_F32 ? PTX_IMM_F32 : PTX_IMM_F64;
        o->imm = bits;
        ptx_lex_next(&r->lex);
        return true;
    }
    const struct ptx_lex before = r->lex;
    if (ptx_read_take(r, '-') && r->lex.kind == PLEX_NUMBER &&
        ptx_lex_number(&r->lex, &kind, &bits) && kind == PLEX_F64) { /* -1.5 */
        o->imm_kind = PTX_IMM_F64;
        o->imm = bits ^ UINT64_C(1) << 63;
        ptx_lex_next(&r->lex);
        return true;
    }
    r->lex = before;
    int64_t v;
    if (!ptx_read_int(r, &v))
        return false;
    o->imm = (uint64_t)v;
    return true;
}

static void as_binding(const struct binding *b, struct ptx_operand *o)
{
    switch (b->kind) {
    case BIND_REG:
        o->kind = PTX_REG;
        o->reg = (int32_t)b->index;
        break;
    case BIND_VARIABLE:
        o->kind = PTX_VARIABLE;
        o->variable = b->variable;
        break;
    case BIND_FUNCTION:
        o->kind = PTX_FUNCTION;
        o->function = b->function;
        break;
    default: /* labels and tables may be hidden by later ones of this scope */
        o->kind = PTX_LABEL;
        o->label = NOT_RESOLVED;
        o->name = b->atom->text;
    }
}

/* A name that is an operand. `in_list`: labels cannot stand there. */
static bool read_named(struct reader *r, bool in_list, struct ptx_operand *o)
{
    bool failed;
    const struct ptx_lex before = r->lex;
    struct atom *a = ptx_read_name(r);
    if (!a)
        return false;
    const struct binding *b = lookup(r, a, &failed);
    if (failed)
        return false;
    if (b && !(in_list && b->kind >= BIND_LABEL)) {
        as_binding(b, o);
    } else if (strcmp(a->text, "_") == 0) {
        o->kind = PTX_SINK;
    } else if (strcmp(a->text, "WARP_SZ") == 0) {
        o->kind = PTX_IMM;
        o->imm = 32;
    } else if (ptx_is_special(a->text)) {
        o->kind = PTX_SPECIAL;
        o->name = a->text;
    } else if (in_list || a->text[0] == '%') {
        r->lex = before;
        return undeclared(r, a);
    } else {
        o->kind = PTX_LABEL;
        o->label = NOT_RESOLVED;
        o->name = a->text;
    }
    if (o->kind == PTX_VARIABLE && (ptx_read_is_sign(r, '+') || ptx_read_is_sign(r, '-')))
        return ptx_read_int(r, &o->offset);
    return true;
}

/* One value without items. */
static bool read_scalar(struct reader *r, bool in_list, struct ptx_operand *o)
{
    *o = (struct ptx_operand){.reg = -1};
    if (ptx_read_take(r, '!')) {
        o->kind = PTX_REG;
        o->negated = true;
        o->reg = reg_of(r, ptx_read_name(r));
        return o->reg >= 0;
    }
    return r->lex.kind == PLEX_NAME ? read_named(r, in_list, o) : read_imm(r, o);
}

static bool add_item(struct reader *r, struct ptx_operand *whole, const struct ptx_operand *item)
{
    struct grow *pool = &r->making.operands;
    if (pool->n >= MAX_OPERANDS_IN_ALL)
        return ptx_read_fail(r, "more than %d operands in one function", MAX_OPERANDS_IN_ALL);
    if (whole->nitems == PTX_MAX_ITEMS)
        return ptx_read_fail(r, "more than %d values in one operand", PTX_MAX_ITEMS);
    if (!whole->nitems++)
        whole->item = (uint32_t)pool->n;
    *(struct ptx_operand *)ptx_grow_add(pool, sizeof *item) = *item;
    return true;
}

/* "a, b}" behind the opening sign, to the closing one. */
static bool read_items(struct reader *r, char close, struct ptx_operand *whole)
{
    struct ptx_operand item;
    if (ptx_read_take(r, close))
        return true;
    do
        if (!read_scalar(r, true, &item) || !add_item(r, whole, &item))
            return false;
    while (ptx_read_take(r, ','));
    return ptx_read_sign(r, close);
}

/* "[%rd1+-8]", "[x]", "[4096]", "[map, {%r1, %r2}]" behind the bracket. */
static bool read_address(struct reader *r, struct ptx_operand *o)
{
    *o = (struct ptx_operand){.kind = PTX_ADDRESS, .reg = -1};
    if (r->lex.kind == PLEX_NAME) {
        struct ptx_operand base = {.reg = -1};
        if (!read_named(r, true, &base))
            return false;
        if (base.kind != PTX_REG && base.kind != PTX_VARIABLE)
            return ptx_read_fail(r, "an address that is neither a register nor a variable");
        o->reg = base.reg;
        o->variable = base.kind == PTX_VARIABLE ? base.variable : NULL;
        o->offset = base.kind == PTX_VARIABLE ? base.offset : 0;
        if (base.kind == PTX_REG && (ptx_read_is_sign(r, '+') || ptx_read_is_sign(r, '-')) &&
            !ptx_read_int(r, &o->offset))
            return false;
    } else if (!ptx_read_int(r, &o->offset)) {
        return false;
    }
    if (ptx_read_take(r, ',') && !(ptx_read_sign(r, '{') && read_items(r, '}', o)))
        return false;
    return ptx_read_sign(r, ']');
}

static bool read_operand(struct reader *r, struct ptx_operand *o)
{
    *o = (struct ptx_operand){.reg = -1};
    if (ptx_read_take(r, '['))
        return read_address(r, o);
    if (ptx_read_take(r, '{')) {
        o->kind = PTX_VECTOR;
        return read_items(r, '}', o);
    }
    /* A list of a call; a parenthesis before a number is an expression. */
    if (ptx_read_is_sign(r, '(')) {
        const struct ptx_lex before = r->lex;
        ptx_lex_next(&r->lex);
        if (r->lex.kind == PLEX_NAME || ptx_read_is_sign(r, ')')) {
            o->kind = PTX_LIST;
            return read_items(r, ')', o);
        }
        r->lex = before;
    }
    if (!read_scalar(r, false, o))
        return false;
    if (!ptx_read_take(r, '|'))
        return true;
    struct ptx_operand pair = {.kind = PTX_PAIR, .reg = -1}, second;
    if (o->kind != PTX_REG && o->kind != PTX_SINK)
        return ptx_read_fail(r, "only registers stand beside a '|'");
    if (!read_scalar(r, true, &second) || !add_item(r, &pair, o) || !add_item(r, &pair, &second))
        return false;
    *o = pair;
    return true;
}

/* ---- Labels. ---- */

static void forward(struct reader *r, struct forward what)
{
    what.line = r->lex.at_line;
    *(struct forward *)ptx_grow_add(&r->forwards, sizeof what) = what;
}

static bool add_label(struct reader *r, struct atom *a, uint32_t line)
{
    struct making *k = &r->making;
    struct binding *b = ptx_store_bind(r->s, a, BIND_LABEL);
    if (!b)
        return ptx_read_fail(r, "%.60s is declared twice", a->text);
    b->index = (uint32_t)k->labels.n;
    *(struct ptx_label *)ptx_grow_add(&k->labels, sizeof(struct ptx_label)) =
        (struct ptx_label){.name = a->text, .insn = (uint32_t)k->insns.n, .line = line};
    return true;
}

/* Gives a forward what its name stands for; false: the name is no label of the scope that ends. */
static bool resolve(struct reader *r, const struct forward *w)
{
    const struct binding *b = w->atom->top;
    if (!b || b->depth != r->s->depth || b->kind < BIND_LABEL)
        return false;
    if (w->in_table) {
        *w->in_targets = b->kind == BIND_LABEL ? b->index : NOT_RESOLVED;
        return b->kind == BIND_LABEL;
    }
    struct ptx_operand *o = (struct ptx_operand *)r->making.operands.items + w->operand;
    o->kind = b->kind == BIND_LABEL     ? PTX_LABEL
              : b->kind == BIND_TARGETS ? PTX_TARGETS
                                        : PTX_PROTOTYPE;
    o->label = b->index;
    return true;
}

/* Forwards from `from` on that the ending scope knows; the others are the outer one's. */
static void resolve_all(struct reader *r, size_t from)
{
    struct forward *all = r->forwards.items;
    size_t kept = from;
    for (size_t i = from; i < r->forwards.n; i++)
        if (!resolve(r, &all[i]))
            all[kept++] = all[i];
    r->forwards.n = kept;
}

/* ".branchtargets a, b;" behind the word */
static bool read_targets(struct reader *r, struct atom *name)
{
    struct grow list = {0};
    do {
        struct atom *a = ptx_read_name(r);
        if (!a) {
            ptx_grow_free(&list);
            return false;
        }
        *(struct atom **)ptx_grow_add(&list, sizeof a) = a;
    } while (ptx_read_take(r, ','));
    uint32_t *labels = arena_alloc(r->s->arena, list.n * sizeof *labels);
    for (size_t i = 0; i < list.n; i++)
        forward(r, (struct forward){.atom = ((struct atom **)list.items)[i],
                                    .in_table = true,
                                    .in_targets = &labels[i]});
    struct binding *b = ptx_store_bind(r->s, name, BIND_TARGETS);
    const uint32_t n = (uint32_t)list.n;
    ptx_grow_free(&list);
    if (!b)
        return ptx_read_fail(r, "%.60s is declared twice", name->text);
    b->index = (uint32_t)r->making.targets.n;
    *(struct ptx_targets *)ptx_grow_add(&r->making.targets, sizeof(struct ptx_targets)) =
        (struct ptx_targets){.labels = labels, .n = n};
    return ptx_read_sign(r, ';');
}

/* A label, or the name of a table or a prototype; its colon is read. */
static bool read_label(struct reader *r, struct atom *a, uint32_t line)
{
    if (ptx_read_take_word(r, ".branchtargets"))
        return read_targets(r, a);
    if (ptx_read_is(r, ".callprototype") || ptx_read_is(r, ".calltargets")) {
        if (!ptx_store_bind(r->s, a, BIND_PROTOTYPE))
            return ptx_read_fail(r, "%.60s is declared twice", a->text);
        return ptx_read_past(r, ';');
    }
    return add_label(r, a, line);
}

/* ---- Instructions. ---- */

static bool read_operands(struct reader *r, struct ptx_insn *i)
{
    struct ptx_operand all[PTX_MAX_OPERANDS];
    struct grow *pool = &r->making.operands;
    if (ptx_read_take(r, ';'))
        return true;
    do {
        if (i->noperands == PTX_MAX_OPERANDS)
            return ptx_read_fail(r, "more than %d operands", PTX_MAX_OPERANDS);
        if (!read_operand(r, &all[i->noperands++]))
            return false;
    } while (ptx_read_take(r, ','));
    if (pool->n >= MAX_OPERANDS_IN_ALL)
        return ptx_read_fail(r, "more than %d operands in one function", MAX_OPERANDS_IN_ALL);
    i->operand = (uint32_t)pool->n;
    for (int k = 0; k < i->noperands; k++) {
        if (all[k].kind == PTX_LABEL)
            forward(r,
                    (struct forward){.atom = ptx_store_atom(r->s, all[k].name, strlen(all[k].name)),
                                     .operand = (uint32_t)pool->n});
        *(struct ptx_operand *)ptx_grow_add(pool, sizeof *all) = all[k];
    }
    return ptx_read_sign(r, ';');
}

/* "@!%p1" behind the @ */
static bool read_guard(struct reader *r, struct ptx_insn *i)
{
    i->guard_negated = ptx_read_take(r, '!');
    i->guard = reg_of(r, ptx_read_name(r));
    if (i->guard < 0)
        return false;
    const struct ptx_reg *regs = r->making.regs.items;
    return regs[i->guard].type == PTX_PRED ||
           ptx_read_fail(r, "%.60s guards and is no predicate", regs[i->guard].name);
}

static bool read_insn(struct reader *r)
{
    struct making *k = &r->making;
    struct ptx_insn i = {.guard = -1, .line = r->lex.at_line, .location = r->location};
    if (ptx_read_take(r, '@') && !read_guard(r, &i))
        return false;
    if (r->lex.kind != PLEX_NAME || r->lex.at[0] == '%')
        return ptx_read_expected(r, "an instruction");
    if (k->insns.n == PTX_MAX_INSNS)
        return ptx_read_fail(r, "more than %d instructions in %.60s", PTX_MAX_INSNS, k->f->name);
    char text[256];
    const size_t len = ptx_lex_opcode(&r->lex, text, sizeof text);
    i.op = len ? ptx_store_opcode(r->m, text, len) : NULL;
    if (!i.op)
        return ptx_read_fail(r, "the instruction before this has too long a name");
    if (!read_operands(r, &i))
        return false;
    *(struct ptx_insn *)ptx_grow_add(&k->insns, sizeof i) = i;
    return true;
}

/* What a pragma says of the loop whose label stands right before it; others are nothing to us. */
static bool read_pragma(struct reader *r)
{
    struct making *k = &r->making;
    struct ptx_label *labels = k->labels.items,
                     *last = k->labels.n ? &labels[k->labels.n - 1] : NULL;
    if (last && last->insn == k->insns.n)
        last->nounroll |= ptx_read_is(r, "\"nounroll\"");
    return ptx_read_past(r, ';');
}

static bool read_directive(struct reader *r)
{
    if (ptx_read_take_word(r, ".reg"))
        return read_regs(r);
    if (ptx_read_take_word(r, ".loc"))
        return ptx_read_loc(r);
    if (ptx_read_take_word(r, ".file"))
        return ptx_read_file(r);
    if (ptx_read_take_word(r, ".pragma"))
        return read_pragma(r);
    return ptx_read_variables(r, (struct linkage){0});
}

/* A scope within the body: what it declared is gone behind it, and so are parameters of calls. */
struct scope {
    size_t forwards;
    uint64_t call_bytes;
};

static bool open_scope(struct reader *r, struct scope *scopes, uint32_t *depth)
{
    if (*depth == PTX_MAX_NESTING)
        return ptx_read_fail(r, "scopes are nested deeper than %d", PTX_MAX_NESTING);
    scopes[(*depth)++] =
        (struct scope){.forwards = r->forwards.n, .call_bytes = r->making.call_now};
    ptx_store_open(r->s);
    return ptx_read_sign(r, '{');
}

static void close_scope(struct reader *r, const struct scope *scopes, uint32_t *depth)
{
    --*depth;
    resolve_all(r, scopes[*depth].forwards);
    r->making.call_now = scopes[*depth].call_bytes;
    ptx_store_close(r->s);
}

static bool read_statement(struct reader *r)
{
    struct ptx_lex *l = &r->lex;
    if (ptx_read_take(r, ';'))
        return true;
    if (l->kind == PLEX_DOT)
        return read_directive(r);
    if (l->kind == PLEX_NAME) {
        const struct ptx_lex before = *l;
        if (ptx_lex_label(l)) {
            if (before.len > PTX_MAX_NAME)
                return ptx_read_fail(r, "a name of %zu bytes", before.len);
            return read_label(r, ptx_store_atom(r->s, before.at, before.len), before.at_line);
        }
    }
    return read_insn(r);
}

static bool read_scopes(struct reader *r)
{
    struct scope scopes[PTX_MAX_NESTING];
    uint32_t depth = 0;
    if (!open_scope(r, scopes, &depth))
        return false;
    while (depth) {
        const bool open = ptx_read_is_sign(r, '{');
        if (ptx_read_take(r, '}'))
            close_scope(r, scopes, &depth);
        else if (!(open ? open_scope(r, scopes, &depth) : read_statement(r)))
            return false;
    }
    return true;
}

static void take(struct reader *r, struct making *k)
{
    struct ptx_function *f = k->f;
    f->nregs = (uint32_t)k->regs.n;
    f->ninsns = (uint32_t)k->insns.n;
    f->noperands = (uint32_t)k->operands.n;
    f->nlabels = (uint32_t)k->labels.n;
    f->ntargets = (uint32_t)k->targets.n;
    f->nvariables = (uint32_t)k->variables.n;
    f->regs = ptx_grow_take(&k->regs, 0, sizeof(struct ptx_reg), r->s);
    f->insns = ptx_grow_take(&k->insns, 0, sizeof(struct ptx_insn), r->s);
    f->operands = ptx_grow_take(&k->operands, 0, sizeof(struct ptx_operand), r->s);
    f->labels = ptx_grow_take(&k->labels, 0, sizeof(struct ptx_label), r->s);
    f->targets = ptx_grow_take(&k->targets, 0, sizeof(struct ptx_targets), r->s);
    f->variables = ptx_grow_take(&k->variables, 0, sizeof(struct ptx_variable *), r->s);
}

bool ptx_read_body(struct reader *r, struct ptx_function *f)
{
    r->making.f = f;
    r->making.call_now = 0;
    r->location = 0;
    r->forwards.n = 0;
    if (!read_scopes(r))
        return false;
    if (r->forwards.n) {
        const struct forward *w = r->forwards.items;
        r->lex.at_line = w->line;
        return undeclared(r, w->atom);
    }
    take(r, &r->making);
    r->making.f = NULL;
    return true;
}
