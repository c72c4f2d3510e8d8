/* lower_warp.c - control, barriers, what lanes do together, calls, and what costs nothing; see lower.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/lower/lower.h"

#define TRY(call)                       \
    do {                                \
        const enum status st_ = (call); \
        if (st_ != ST_OK)               \
            return st_;                 \
    } while (0)

/* ---- Branches ---- */
static enum status lower_bra(struct lower *l)
{
    lower_word(l, "uni");
    TRY(lower_end(l));
    const struct ptx_operand *o = lower_operand(l, 0);
    if (!o || o->kind != PTX_LABEL)
        return lower_refuse(l, "a label is missing");
    struct code *c = lower_emit(l, OP_BRA, SIM_PIPE_cbu);
    c->target = l->f->labels[o->label].insn; /* an instruction until all have their place */
    return ST_OK;
}

static enum status lower_brx(struct lower *l)
{
    const struct ptx_operand *o = lower_operand(l, 1);
    lower_word(l, "idx");
    lower_word(l, "uni");
    TRY(lower_end(l));
    if (!o || o->kind != PTX_TARGETS)
        return lower_refuse(l, "a table of targets is missing");
    const struct ptx_targets *t = &l->f->targets[o->targets];
    struct program_targets made = {.n = t->n, .to = xcalloc(t->n + 1u, sizeof *made.to)};
    for (uint32_t i = 0; i < t->n; i++)
        made.to[i] = l->f->labels[t->labels[i]].insn;
    xgrow((void **)&l->p->targets, &l->targets_cap, l->p->ntargets + 1u, sizeof made);
    l->p->targets[l->p->ntargets++] = made;
    uint32_t a;
    TRY(lower_source(l, lower_operand(l, 0), 'w', &a));
    struct code *c = lower_emit(l, OP_BRX, SIM_PIPE_cbu);
    c->a = a;
    c->imm = l->p->ntargets - 1;
    return ST_OK;
}

/* ---- Barriers of the block ---- */
static enum status bar_operands(struct lower *l, int first, uint32_t *a, uint32_t *b, bool counted)
{
    TRY(lower_source(l, lower_operand(l, first), 'w', a));
    *b = SIM_NO_REF;
    return counted ? lower_source(l, lower_operand(l, first + 1), 'w', b) : ST_OK;
}

static enum status lower_bar_red(struct lower *l)
{
    static const char *const kinds[] = {"popc", "and", "or", NULL};
    static const uint8_t subs[] = {BAR_RED_POPC, BAR_RED_AND, BAR_RED_OR};
    const int kind = lower_choice(l, kinds);
    lower_word(l, "aligned");
    lower_type(l);
    TRY(lower_end(l));
    const int n = l->i->noperands;
    if (kind < 0 || (n != 3 && n != 4))
        return lower_refuse(l, "the simulator does not know this reduction");
    uint32_t a, b, d = SIM_NO_REF;
    uint16_t pa, pd = PRED_SINK;
    TRY(bar_operands(l, 1, &a, &b, n == 4));
    TRY(lower_pred_source(l, lower_operand(l, n - 1), &pa));
    if (kind)
        TRY(lower_pred_dest(l, lower_operand(l, 0), &pd));
    else
        TRY(lower_dest(l, lower_operand(l, 0), 'w', &d));
    if (!kind && d == SIM_NO_REF)
        d = lower_temp(l);
    struct code *c = lower_emit(l, OP_BAR, SIM_PIPE_cbu);
    c->sub = subs[kind];
    c->a = a, c->b = b, c->d = d, c->pa = pa, c->pd = pd;
    l->p->insn[l->index].barrier = true;
    return ST_OK;
}

static enum status lower_member_mask(struct lower *l, enum sim_op op, int at)
{
    uint32_t mask;
    TRY(lower_source(l, lower_operand(l, at), 'w', &mask));
    struct code *c = lower_emit(l, op, SIM_PIPE_cbu);
    c->imm = mask;
    return ST_OK;
}

/* barrier.cluster.arrive, .wait: 9.7.13.4 */
static enum status lower_cluster_bar(struct lower *l)
{
    const bool arrive = lower_word(l, "arrive");
    if (!arrive && !lower_word(l, "wait"))
        return lower_refuse(l, "the simulator does not know this barrier");
    const bool relaxed = arrive && lower_word(l, "relaxed");
    if (!relaxed)
        lower_word(l, arrive ? "release" : "acquire");
    lower_word(l, "aligned");
    TRY(lower_end(l));
    struct code *c = lower_emit(l, OP_BAR, SIM_PIPE_cbu);
    c->sub = arrive ? BAR_CLUSTER_ARRIVE : BAR_CLUSTER_WAIT;
    c->kind = !relaxed;
    c->a = c->b = SIM_NO_REF;
    l->p->insn[l->index].barrier = !arrive;
    return ST_OK;
}

static enum status lower_bar(struct lower *l)
{
    if (lower_word(l, "cluster"))
        return lower_cluster_bar(l);
    lower_word(l, "cta");
    if (lower_word(l, "warp")) {
        if (!lower_word(l, "sync") || l->words)
            return lower_refuse(l, "the simulator does not know this barrier");
        return lower_member_mask(l, OP_WARP_SYNC, 0);
    }
    if (lower_word(l, "red"))
        return lower_bar_red(l);
    const bool arrive = lower_word(l, "arrive");
    if (!arrive && !lower_word(l, "sync"))
        return lower_refuse(l, "the simulator does not know this barrier");
    lower_word(l, "aligned");
    TRY(lower_end(l));
    const int n = l->i->noperands;
    if (n < 1 + arrive || n > 2)
        return lower_refuse(l, "it has %d operands", n);
    uint32_t a, b;
    TRY(bar_operands(l, 0, &a, &b, n == 2));
    struct code *c = lower_emit(l, OP_BAR, SIM_PIPE_cbu);
    c->sub = arrive ? BAR_ARRIVE : BAR_SYNC;
    c->a = a, c->b = b;
    l->p->insn[l->index].barrier = !arrive;
    return ST_OK;
}

/* ---- Lanes together ---- */
static enum status lower_shfl(struct lower *l)
{
    static const char *const kinds[] = {"up", "down", "bfly", "idx", NULL};
    if (!lower_word(l, "sync"))
        return lower_refuse(l, "shuffles without .sync are gone since sm_70");
    const int kind = lower_choice(l, kinds);
    if (kind < 0 || !lower_word(l, "b32") || l->words || l->i->noperands != 5)
        return lower_refuse(l, "the simulator does not know this shuffle");
    const struct ptx_operand *d = lower_operand(l, 0), *r = d;
    uint32_t to, a, b, e, mask;
    uint16_t p = PRED_SINK;
    if (d->kind == PTX_PAIR) {
        r = &l->f->operands[d->item];
        TRY(lower_pred_dest(l, &l->f->operands[d->item + 1], &p));
    }
    TRY(lower_dest(l, r, 'w', &to));
    TRY(lower_source(l, lower_operand(l, 1), 'w', &a));
    TRY(lower_source(l, lower_operand(l, 2), 'w', &b));
    TRY(lower_source(l, lower_operand(l, 3), 'w', &e));
    TRY(lower_source(l, lower_operand(l, 4), 'w', &mask));
    struct code *c = lower_emit(l, OP_SHFL, SIM_PIPE_lsu);
    c->kind = (uint8_t)kind;
    c->d = to, c->pd = p, c->a = a, c->b = b, c->c = e, c->imm = mask;
    return ST_OK;
}

static enum status lower_vote(struct lower *l)
{
    static const char *const kinds[] = {"all", "any", "uni", "ballot", NULL};
    if (!lower_word(l, "sync"))
        return lower_refuse(l, "votes without .sync are gone since sm_70");
    const int kind = lower_choice(l, kinds);
    lower_word(l, kind == 3 ? "b32" : "pred");
    TRY(lower_end(l));
    if (kind < 0 || l->i->noperands != 3)
        return lower_refuse(l, "the simulator does not know this vote");
    uint32_t d = SIM_NO_REF, mask;
    uint16_t pd = PRED_SINK, pa;
    if (kind == 3)
        TRY(lower_dest(l, lower_operand(l, 0), 'w', &d));
    else
        TRY(lower_pred_dest(l, lower_operand(l, 0), &pd));
    TRY(lower_pred_source(l, lower_operand(l, 1), &pa));
    TRY(lower_source(l, lower_operand(l, 2), 'w', &mask));
    struct code *c = lower_emit(l, OP_VOTE, SIM_PIPE_alu);
    c->kind = (uint8_t)kind;
    c->d = kind == 3 && d == SIM_NO_REF ? lower_temp(l) : d;
    c->pd = pd, c->pa = pa, c->imm = mask;
    return ST_OK;
}

static enum status lower_match(struct lower *l)
{
    const bool all = lower_word(l, "all");
    if ((!all && !lower_word(l, "any")) || !lower_word(l, "sync"))
        return lower_refuse(l, "the simulator does not know this match");
    const bool wide = lower_word(l, "b64");
    if (!wide)
        lower_word(l, "b32");
    TRY(lower_end(l));
    const struct ptx_operand *d = lower_operand(l, 0), *r = d;
    uint32_t to, a, mask;
    uint16_t p = PRED_SINK;
    if (d && d->kind == PTX_PAIR) {
        r = &l->f->operands[d->item];
        TRY(lower_pred_dest(l, &l->f->operands[d->item + 1], &p));
    }
    TRY(lower_dest(l, r, 'w', &to));
    TRY(lower_source(l, lower_operand(l, 1), wide ? 'd' : 'w', &a));
    TRY(lower_source(l, lower_operand(l, 2), 'w', &mask));
    struct code *c = lower_emit(l, OP_MATCH, SIM_PIPE_alu);
    c->kind = (uint8_t)(all | wide << 1);
    c->d = to, c->pd = p, c->a = a, c->imm = mask;
    return ST_OK;
}

static enum status lower_redux(struct lower *l)
{
    static const char *const ops[] = {"add", "min", "max", "and", "or", "xor", NULL};
    static const uint8_t subs[] = {ATOM_ADD, ATOM_MIN, ATOM_MAX, ATOM_AND, ATOM_OR, ATOM_XOR};
    const int op = lower_word(l, "sync") ? lower_choice(l, ops) : -1;
    const enum ptx_type t = lower_type(l);
    TRY(lower_end(l));
    if (op < 0 || (t != PTX_U32 && t != PTX_S32 && t != PTX_B32) || l->i->noperands != 3)
        return lower_refuse(l, "the simulator does not know this reduction");
    uint32_t d, a, mask;
    TRY(lower_dest(l, lower_operand(l, 0), 'w', &d));
    TRY(lower_source(l, lower_operand(l, 1), 'w', &a));
    TRY(lower_source(l, lower_operand(l, 2), 'w', &mask));
    struct code *c = lower_emit(l, OP_REDUX, SIM_PIPE_alu);
    c->sub = subs[op];
    c->kind = t == PTX_S32;
    c->d = d == SIM_NO_REF ? lower_temp(l) : d;
    c->a = a, c->imm = mask;
    return ST_OK;
}

static enum status lower_elect(struct lower *l)
{
    const struct ptx_operand *d = lower_operand(l, 0);
    if (!lower_word(l, "sync") || l->words || !d || d->kind != PTX_PAIR)
        return lower_refuse(l, "the simulator does not know this election");
    uint32_t to, mask;
    uint16_t p;
    TRY(lower_dest(l, &l->f->operands[d->item], 'w', &to));
    TRY(lower_pred_dest(l, &l->f->operands[d->item + 1], &p));
    TRY(lower_source(l, lower_operand(l, 1), 'w', &mask));
    struct code *c = lower_emit(l, OP_ELECT, SIM_PIPE_alu);
    c->d = to, c->pd = p, c->imm = mask;
    return ST_OK;
}

static enum status lower_activemask(struct lower *l)
{
    uint32_t d;
    lower_word(l, "b32");
    TRY(lower_end(l));
    TRY(lower_dest(l, lower_operand(l, 0), 'w', &d));
    lower_emit(l, OP_ACTIVEMASK, SIM_PIPE_alu)->d = d == SIM_NO_REF ? lower_temp(l) : d;
    return ST_OK;
}

static enum status lower_fence(struct lower *l)
{
    struct code *c = lower_emit(l, OP_FENCE, SIM_PIPE_lsu);
    c->kind = ptx_opcode_has(l->i->op, "cta");
    return ST_OK;
}

/* ---- Calls of what has no body: vprintf and __assertfail ---- */

/* Where parameter `k` of the call lies in local memory. */
static enum status call_param(struct lower *l, const struct ptx_operand *list, uint32_t k,
                              uint32_t *at)
{
    const struct ptx_operand *o = k < list->nitems ? &l->f->operands[list->item + k] : NULL;
    if (!o || o->kind != PTX_VARIABLE || o->variable->space != PTX_SPACE_PARAM)
        return lower_refuse(l, "the simulator does not know calls with these parameters");
    *at = (uint32_t)(o->variable->offset + l->p->facts.local_bytes);
    return ST_OK;
}

static enum status lower_call(struct lower *l)
{
    const struct ptx_function *f = NULL;
    const struct ptx_operand *args = NULL, *result = NULL;
    for (int k = 0; k < l->i->noperands; k++) {
        const struct ptx_operand *o = lower_operand(l, k);
        if (o->kind == PTX_FUNCTION)
            f = o->function;
        else if (o->kind == PTX_LIST && f)
            args = o;
        else if (o->kind == PTX_LIST)
            result = o;
    }
    const char *name = f ? f->name : "a function behind a pointer";
    if (!f || !args || (strcmp(name, "vprintf") != 0 && strcmp(name, "__assertfail") != 0))
        return lower_refuse(l, "the simulator cannot call %s: it has no body here", name);
    uint32_t at[5] = {0};
    const bool print = !strcmp(name, "vprintf");
    for (uint32_t k = 0; k < (print ? 2u : 4u); k++)
        TRY(call_param(l, args, k, &at[k]));
    if (print && result && result->nitems) { /* one more: 0 is none */
        TRY(call_param(l, result, 0, &at[3]));
        at[3]++;
    }
    struct code *c = lower_emit(l, print ? OP_PRINTF : OP_ASSERT, SIM_PIPE_other);
    c->a = at[0], c->b = at[1], c->c = at[2], c->imm = at[3];
    l->p->facts.uses_printf |= print;
    return ST_OK;
}

/* Instructions that change nothing that can be seen here. */
static bool does_nothing(const struct lower *l)
{
    static const char *const bases[] = {"prefetch", "prefetchu",      "applypriority",
                                        "discard",  "griddepcontrol", "nanosleep",
                                        "pmevent",  "brkpt",          NULL};
    const char *base = l->i->op->parts[0];
    for (int i = 0; bases[i]; i++)
        if (!strcmp(base, bases[i]))
            return true;
    return false;
}

/* mapa.shared::cluster.u32 d, a, rank: the rank counted from 1 above CLUSTER_ADDR_BITS of the address. */
static enum status lower_mapa(struct lower *l)
{
    uint32_t a, rank, d;
    if (!lower_word(l, "shared::cluster") || lower_type(l) != PTX_U32)
        return lower_refuse(l, "the simulator knows mapa.shared::cluster.u32 alone");
    TRY(lower_end(l));
    TRY(lower_source(l, lower_operand(l, 1), 'w', &a));
    TRY(lower_source(l, lower_operand(l, 2), 'w', &rank));
    TRY(lower_dest(l, lower_operand(l, 0), 'w', &d));
    const uint32_t own = lower_temp(l), high = lower_temp(l);
    struct code *c = lower_emit(l, OP_AND32, SIM_PIPE_alu);
    c->a = a, c->b = lower_constant(l, (1u << CLUSTER_ADDR_BITS) - 1, false), c->d = own;
    c = lower_emit(l, OP_ADD32, SIM_PIPE_alu);
    c->a = rank, c->b = lower_constant(l, 1, false), c->d = high;
    c = lower_emit(l, OP_SHL32, SIM_PIPE_alu);
    c->a = high, c->b = lower_constant(l, CLUSTER_ADDR_BITS, false), c->d = high;
    c = lower_emit(l, OP_OR32, SIM_PIPE_alu);
    c->a = own, c->b = high, c->d = d == SIM_NO_REF ? own : d;
    l->p->maps = true;
    return ST_OK;
}

/* A policy is a number that only caches look at. */
static enum status lower_policy(struct lower *l)
{
    uint32_t d;
    TRY(lower_dest(l, lower_operand(l, 0), 'd', &d));
    struct code *c = lower_emit(l, OP_MOV64, SIM_PIPE_other);
    c->d = d == SIM_NO_REF ? lower_temp(l) : d;
    return ST_OK;
}

/* Words that the simulator knows by name and cannot do, with the reason. */
static const char *reason(const char *base)
{
    static const struct {
        const char *base, *why;
    } all[] = {
        {"tcgen05", "tcgen05 is of Blackwell, which the simulator does not have"},
        {"getctarank", "the simulator does not know whose shared memory an address is in"},
        {"alloca", "the simulator's stack does not grow"},
        {"stacksave", "the simulator's stack does not grow"},
        {"stackrestore", "the simulator's stack does not grow"},
        {"tex", "the simulator has no textures"},
        {"suld", "the simulator has no surfaces"},
        {"sust", "the simulator has no surfaces"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(base, all[i].base))
            return all[i].why;
    return NULL;
}

enum status lower_warp(struct lower *l, bool *known)
{
    static const struct {
        const char *base;
        enum status (*lower)(struct lower *l);
    } all[] = {
        {"bra", lower_bra},      {"brx", lower_brx},
        {"bar", lower_bar},      {"barrier", lower_bar},
        {"shfl", lower_shfl},    {"vote", lower_vote},
        {"match", lower_match},  {"redux", lower_redux},
        {"elect", lower_elect},  {"activemask", lower_activemask},
        {"membar", lower_fence}, {"fence", lower_fence},
        {"call", lower_call},    {"createpolicy", lower_policy},
        {"mapa", lower_mapa},
    };
    const char *base = l->i->op->parts[0];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(base, all[i].base))
            return all[i].lower(l);
    if (!strcmp(base, "ret") || !strcmp(base, "exit"))
        lower_emit(l, OP_EXIT, SIM_PIPE_cbu);
    else if (!strcmp(base, "trap"))
        lower_emit(l, OP_TRAP, SIM_PIPE_cbu);
    else if (does_nothing(l))
        lower_emit(l, OP_NOP, SIM_PIPE_other);
    else if (reason(base))
        return lower_refuse(l, "%s", reason(base));
    else
        *known = false;
    return ST_OK;
}
