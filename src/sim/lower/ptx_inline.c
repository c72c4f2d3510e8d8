/* ptx_inline.c - calls of functions that have a body, replaced by the body.
 *
 * PTX passes by value through variables of .param: the caller stores arguments into its own, the
 * function loads them from its parameters. Inlined, both are the caller's. The same goes for
 * what it returns. Each call gets registers and labels of its own; frames (.local, parameters of inner
 * calls) begin behind those of all callers, so that calls one after another share theirs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "sim/lower/ptx_store.h"
#include "sim/ptx.h"

/* Against texts whose functions call others twice each, and those others ... */
enum { MAX_INLINED_OPERANDS = 8 << 20, MAX_TABLE_LABELS = 4 << 20, MAX_LOCATIONS = 4 << 20 };

/* A variable of the function that is inlined, and what stands for it. */
struct stand_in {
    const struct ptx_variable *of, *now;
};

/* One function on its way into the result. */
struct frame {
    const struct ptx_function *f;
    const struct frame *caller;
    uint32_t depth, location;                /* of the call, 0: none */
    uint32_t reg, label, targets, end_label; /* first ones of this frame */
    uint64_t local_at, call_at;
    struct grow stand_ins; /* by the original's address */
    uint32_t serial;
};

/* A location with the call's hung below, as the frame `serial` made it. */
struct hung {
    uint32_t serial, now;
};

struct inliner {
    struct ptx_module *m;
    struct err *err;
    struct grow regs, insns, operands, labels, targets, variables, locations;
    struct grow shared; /* variables that all calls of a function share */
    struct hung *hung;  /* by the module's location */
    uint32_t frames, table_labels;
    uint64_t local_bytes, call_bytes;
    uint32_t line; /* of the call, for sentences */
};

static bool fail_at(struct inliner *l, uint32_t line, const char *what, const char *name)
{
    err_set(l->err, ST_USAGE, "PTX line %u: the call of %.60s %s", line, name, what);
    return false;
}

/* The function that a call names, and where its list of arguments is (operand index; 0: none). */
static const struct ptx_function *callee(const struct ptx_function *f, const struct ptx_insn *i,
                                         const struct ptx_operand **returns,
                                         const struct ptx_operand **args)
{
    *returns = *args = NULL;
    if (strcmp(i->op->parts[0], "call") != 0)
        return NULL;
    const struct ptx_function *to = NULL;
    for (uint32_t k = 0; k < i->noperands; k++) {
        const struct ptx_operand *o = &f->operands[i->operand + k];
        if (o->kind == PTX_FUNCTION)
            to = o->function;
        else if (o->kind == PTX_LIST)
            *(to ? args : returns) = o;
    }
    return to;
}

static bool has_calls(const struct ptx_function *f)
{
    const struct ptx_operand *a, *b;
    for (uint32_t i = 0; i < f->ninsns; i++) {
        const struct ptx_function *to = callee(f, &f->insns[i], &a, &b);
        if (to && to->has_body)
            return true;
    }
    return false;
}

/* ---- Variables. ---- */

static uint64_t align_up(uint64_t at, uint64_t align)
{
    return (at + align - 1) / align * align;
}

/* Copies of the body's variables at this frame's place. Static shared memory is the function's own, one
 * for all its calls. */
static void copy_variables(struct inliner *l, struct frame *k)
{
    for (uint32_t i = 0; i < k->f->nvariables; i++) {
        struct ptx_variable *v = k->f->variables[i];
        if (v->space == PTX_SPACE_LOCAL || v->space == PTX_SPACE_PARAM) {
            struct ptx_variable *copy = arena_alloc(l->m->store->arena, sizeof *copy);
            *copy = *v;
            copy->offset += v->space == PTX_SPACE_LOCAL ? k->local_at : k->call_at;
            *(struct stand_in *)ptx_grow_add(&k->stand_ins, sizeof(struct stand_in)) =
                (struct stand_in){v, copy};
            *(struct ptx_variable **)ptx_grow_add(&l->variables, sizeof v) = copy;
        } else {
            *(struct ptx_variable **)ptx_grow_add(&l->shared, sizeof v) = v;
        }
    }
}

static int by_original(const void *a, const void *b)
{
    const struct stand_in *x = a, *y = b;
    return (x->of > y->of) - (x->of < y->of);
}

static const struct ptx_variable *stand_in(const struct frame *k, const struct ptx_variable *v)
{
    const struct stand_in key = {.of = v};
    const struct stand_in *found =
        v && k->stand_ins.n
            ? bsearch(&key, k->stand_ins.items, k->stand_ins.n, sizeof key, by_original)
            : NULL;
    return found ? found->now : v;
}

/* Has each parameter stand for the caller's variable in the list. */
static bool bind_list(struct inliner *l, struct frame *k, struct ptx_variable *const *params,
                      uint32_t n, const struct ptx_operand *list)
{
    const struct frame *caller = k->caller;
    if ((list ? list->nitems : 0) != n)
        return fail_at(l, l->line, "has another number of parameters than the function",
                       k->f->name);
    for (uint32_t i = 0; i < n; i++) {
        const struct ptx_operand *o = &caller->f->operands[list->item + i];
        if (o->kind != PTX_VARIABLE || o->offset)
            return fail_at(l, l->line, "passes something else than a variable of .param",
                           k->f->name);
        if (o->variable->bytes < params[i]->bytes)
            return fail_at(l, l->line, "passes fewer bytes than the function takes", k->f->name);
        *(struct stand_in *)ptx_grow_add(&k->stand_ins, sizeof(struct stand_in)) =
            (struct stand_in){params[i], stand_in(caller, o->variable)};
    }
    return true;
}

/* ---- Instructions. ---- */

static struct ptx_location *location_at(const struct inliner *l, uint32_t i)
{
    return (struct ptx_location *)l->locations.items + i;
}

/* The location with the call's hung below the place where its chain ends, which is the function's. */
static uint32_t location(struct inliner *l, const struct frame *k, uint32_t at)
{
    uint32_t chain[PTX_MAX_NESTING], n = 0, below = k->location;
    if (!k->caller || !at || l->locations.n > MAX_LOCATIONS)
        return at && !k->caller ? at : k->location;
    if (l->hung[at].serial == k->serial)
        return l->hung[at].now;
    for (uint32_t i = at; i && n < PTX_MAX_NESTING; i = location_at(l, i)->inlined_at)
        chain[n++] = i;
    while (n--) {
        struct ptx_location copy = *location_at(l, chain[n]);
        if (!copy.inlined_at)
            copy.function = k->f->name;
        copy.inlined_at = below;
        below = (uint32_t)l->locations.n;
        *(struct ptx_location *)ptx_grow_add(&l->locations, sizeof copy) = copy;
    }
    l->hung[at] = (struct hung){k->serial, below};
    return below;
}

static void map_operand(const struct frame *k, struct ptx_operand *o)
{
    if (o->reg >= 0)
        o->reg += (int32_t)k->reg;
    switch (o->kind) {
    case PTX_VARIABLE:
    case PTX_ADDRESS:
        o->variable = stand_in(k, o->variable);
        break;
    case PTX_LABEL:
        o->label += k->label;
        break;
    case PTX_TARGETS:
        o->targets += k->targets;
        break;
    default:
        break;
    }
}

static bool copy_operands(struct inliner *l, const struct frame *k, struct ptx_insn *i)
{
    const struct ptx_operand *from = k->f->operands; /* NULL: no instruction of it has any */
    struct grow *pool = &l->operands;
    struct ptx_operand all[PTX_MAX_OPERANDS];
    for (uint32_t n = 0; n < i->noperands; n++) {
        all[n] = from[i->operand + n];
        const uint32_t item_of = all[n].item;
        map_operand(k, &all[n]);
        all[n].item = (uint32_t)pool->n;
        for (uint32_t j = 0; j < all[n].nitems; j++) {
            struct ptx_operand *item = ptx_grow_add(pool, sizeof *item);
            *item = from[item_of + j];
            map_operand(k, item);
        }
    }
    i->operand = (uint32_t)pool->n;
    for (uint32_t n = 0; n < i->noperands; n++)
        *(struct ptx_operand *)ptx_grow_add(pool, sizeof *all) = all[n];
    return pool->n < MAX_INLINED_OPERANDS;
}

static bool add_insn(struct inliner *l, const struct frame *k, struct ptx_insn i)
{
    if (l->insns.n == PTX_MAX_INSNS || !copy_operands(l, k, &i))
        return fail_at(l, i.line, "and others make too long a program when they are inlined",
                       k->f->name);
    if (i.guard >= 0)
        i.guard += (int32_t)k->reg;
    *(struct ptx_insn *)ptx_grow_add(&l->insns, sizeof i) = i;
    return true;
}

/* A branch to a label of the result. */
static bool add_branch(struct inliner *l, const struct frame *k, struct ptx_insn i, bool when,
                       uint32_t label)
{
    i.op = ptx_store_opcode(l->m, "bra", 3);
    i.guard_negated ^= !when;
    i.noperands = 0;
    if (!add_insn(l, k, i))
        return false;
    struct ptx_insn *last = (struct ptx_insn *)l->insns.items + l->insns.n - 1;
    last->operand = (uint32_t)l->operands.n;
    last->noperands = 1;
    *(struct ptx_operand *)ptx_grow_add(&l->operands, sizeof(struct ptx_operand)) =
        (struct ptx_operand){.kind = PTX_LABEL,
                             .reg = -1,
                             .label = label,
                             .name = ((struct ptx_label *)l->labels.items)[label].name};
    return true;
}

/* ---- Frames. ---- */

/* A label behind the call; its instruction is known when it is there. */
static uint32_t add_label(struct inliner *l)
{
    static const char name[] = "$L__end_of_call";
    *(struct ptx_label *)ptx_grow_add(&l->labels, sizeof(struct ptx_label)) = (struct ptx_label){
        .name = ptx_store_atom(l->m->store, name, sizeof name - 1)->text, .line = l->line};
    return (uint32_t)l->labels.n - 1;
}

static void copy_tables(struct inliner *l, const struct frame *k)
{
    const struct ptx_function *f = k->f;
    for (uint32_t i = 0; i < f->nlabels; i++)
        *(struct ptx_label *)ptx_grow_add(&l->labels, sizeof *f->labels) = f->labels[i];
    for (uint32_t i = 0; i < f->ntargets; i++) {
        uint32_t *labels = arena_alloc(l->m->store->arena, f->targets[i].n * sizeof *labels);
        for (uint32_t j = 0; j < f->targets[i].n; j++)
            labels[j] = f->targets[i].labels[j] + k->label;
        l->table_labels += f->targets[i].n;
        *(struct ptx_targets *)ptx_grow_add(&l->targets, sizeof *f->targets) =
            (struct ptx_targets){.labels = labels, .n = f->targets[i].n};
    }
}

/* Whether another frame of `f` is within the limits. */
static bool has_room(const struct inliner *l, const struct ptx_function *f)
{
    return l->regs.n + f->nregs <= PTX_MAX_REGS && l->labels.n + f->nlabels < PTX_MAX_INSNS &&
           l->variables.n + l->shared.n + f->nvariables <= PTX_MAX_INSNS &&
           (!f->ntargets || l->table_labels < MAX_TABLE_LABELS);
}

static bool frame_begin(struct inliner *l, struct frame *k)
{
    const struct ptx_function *f = k->f;
    k->reg = (uint32_t)l->regs.n;
    k->label = (uint32_t)l->labels.n;
    k->targets = (uint32_t)l->targets.n;
    k->serial = ++l->frames;
    if (!has_room(l, f))
        return fail_at(l, l->line, "and others make too long a program when they are inlined",
                       f->name);
    for (uint32_t i = 0; i < f->nregs; i++)
        *(struct ptx_reg *)ptx_grow_add(&l->regs, sizeof *f->regs) = f->regs[i];
    copy_tables(l, k);
    k->end_label = k->caller ? add_label(l) : 0;
    copy_variables(l, k);
    if (k->stand_ins.n)
        qsort(k->stand_ins.items, k->stand_ins.n, sizeof(struct stand_in), by_original);
    const uint64_t local = k->local_at + f->local_bytes, call = k->call_at + f->call_bytes;
    l->local_bytes = local > l->local_bytes ? local : l->local_bytes;
    l->call_bytes = call > l->call_bytes ? call : l->call_bytes;
    return true;
}

static bool inline_frame(struct inliner *l, struct frame *k);

static bool is_running(const struct frame *k, const struct ptx_function *f)
{
    for (; k; k = k->caller)
        if (k->f == f)
            return true;
    return false;
}

/* The body of `to` in the place of the call `i` of frame `k`. */
static bool inline_call(struct inliner *l, struct frame *k, const struct ptx_insn *i,
                        const struct ptx_function *to, const struct ptx_operand *returns,
                        const struct ptx_operand *args)
{
    l->line = i->line;
    if (is_running(k, to))
        return fail_at(l, i->line, "is recursive: that cannot be simulated", to->name);
    if (k->depth + 1 == PTX_MAX_NESTING)
        return fail_at(l, i->line, "is nested too deep", to->name);
    struct frame inner = {.f = to,
                          .caller = k,
                          .depth = k->depth + 1,
                          .location = location(l, k, i->location),
                          .local_at = align_up(k->local_at + k->f->local_bytes, 16),
                          .call_at = align_up(k->call_at + k->f->call_bytes, 16)};
    struct ptx_insn around = *i;
    around.location = inner.location;
    bool ok = bind_list(l, &inner, to->params, to->nparams, args) &&
              bind_list(l, &inner, to->returns, to->nreturns, returns) && frame_begin(l, &inner);
    if (ok && i->guard >= 0) /* lanes that do not call go around */
        ok = add_branch(l, k, around, false, inner.end_label);
    ok = ok && inline_frame(l, &inner);
    ptx_grow_free(&inner.stand_ins);
    return ok;
}

static bool inline_insn(struct inliner *l, struct frame *k, uint32_t at)
{
    const struct ptx_operand *returns, *args;
    struct ptx_insn i = k->f->insns[at];
    const struct ptx_function *to = callee(k->f, &i, &returns, &args);
    if (to && to->has_body)
        return inline_call(l, k, &i, to, returns, args);
    i.location = location(l, k, i.location);
    if (k->caller && strcmp(i.op->parts[0], "ret") == 0) {
        /* The last one goes on where it stands. */
        return (at + 1 == k->f->ninsns && i.guard < 0) || add_branch(l, k, i, true, k->end_label);
    }
    return add_insn(l, k, i);
}

/* Instructions of the frame; its labels get the places where they are now. Recursion is bounded by
 * PTX_MAX_NESTING. */
static bool inline_frame(struct inliner *l, struct frame *k)
{
    const struct ptx_function *f = k->f;
    uint32_t *now = xmalloc(((size_t)f->ninsns + 1) * sizeof *now);
    bool ok = true;
    for (uint32_t i = 0; i < f->ninsns && ok; i++) {
        now[i] = (uint32_t)l->insns.n;
        ok = inline_insn(l, k, i);
    }
    now[f->ninsns] = (uint32_t)l->insns.n;
    struct ptx_label *labels = l->labels.items;
    for (uint32_t i = 0; i < f->nlabels && ok; i++)
        labels[k->label + i].insn = now[f->labels[i].insn];
    if (k->caller && ok)
        labels[k->end_label].insn = (uint32_t)l->insns.n;
    free(now);
    return ok;
}

/* In the order of the text; one variable is equal to itself alone. */
static int by_line(const void *a, const void *b)
{
    const struct ptx_variable *const *x = a, *const *y = b;
    if ((*x)->line != (*y)->line)
        return (*x)->line < (*y)->line ? -1 : 1;
    const int names = strcmp((*x)->name, (*y)->name);
    return names ? names : (*x > *y) - (*x < *y);
}

/* Adds the shared ones, each once. */
static void add_shared(struct inliner *l)
{
    struct ptx_variable **all = l->shared.items;
    if (l->shared.n)
        qsort(all, l->shared.n, sizeof *all, by_line);
    for (size_t i = 0; i < l->shared.n; i++)
        if (!i || all[i] != all[i - 1])
            *(struct ptx_variable **)ptx_grow_add(&l->variables, sizeof *all) = all[i];
}

static struct ptx_function *take(struct inliner *l, const struct ptx_function *f)
{
    struct ptx_store *s = l->m->store;
    struct ptx_function *out = arena_alloc(s->arena, sizeof *out);
    *out = *f;
    out->nregs = (uint32_t)l->regs.n;
    out->ninsns = (uint32_t)l->insns.n;
    out->noperands = (uint32_t)l->operands.n;
    out->nlabels = (uint32_t)l->labels.n;
    out->ntargets = (uint32_t)l->targets.n;
    out->nvariables = (uint32_t)l->variables.n;
    out->regs = ptx_grow_take(&l->regs, 0, sizeof(struct ptx_reg), s);
    out->insns = ptx_grow_take(&l->insns, 0, sizeof(struct ptx_insn), s);
    out->operands = ptx_grow_take(&l->operands, 0, sizeof(struct ptx_operand), s);
    out->labels = ptx_grow_take(&l->labels, 0, sizeof(struct ptx_label), s);
    out->targets = ptx_grow_take(&l->targets, 0, sizeof(struct ptx_targets), s);
    out->variables = ptx_grow_take(&l->variables, 0, sizeof(struct ptx_variable *), s);
    out->local_bytes = l->local_bytes;
    out->call_bytes = l->call_bytes;
    l->m->nlocations = (uint32_t)l->locations.n;
    l->m->locations = ptx_grow_take(&l->locations, 0, sizeof(struct ptx_location), s);
    return out;
}

enum status ptx_inline(struct ptx_module *m, const struct ptx_function *f,
                       const struct ptx_function **out, struct err *err)
{
    *out = f;
    if (!has_calls(f))
        return ST_OK;
    struct inliner l = {
        .m = m, .err = err, .line = f->line, .hung = xcalloc(m->nlocations, sizeof(struct hung))};
    for (uint32_t i = 0; i < m->nlocations; i++)
        *(struct ptx_location *)ptx_grow_add(&l.locations, sizeof *m->locations) = m->locations[i];
    struct frame top = {.f = f};
    const bool ok = frame_begin(&l, &top) && inline_frame(&l, &top);
    if (ok) {
        add_shared(&l);
        *out = take(&l, f);
    }
    struct grow *all[] = {&l.regs,    &l.insns,     &l.operands,  &l.labels,
                          &l.targets, &l.variables, &l.locations, &l.shared};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ptx_grow_free(all[i]);
    ptx_grow_free(&top.stand_ins);
    free(l.hung);
    return ok ? ST_OK : ST_USAGE;
}
