/* observe.c - see observe.h, and sim/observe.h for what is kept.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/exec/observe.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/exec/worker.h"
#include "sim/flow.h"
#include "sim/observe.h"
#include "sim/place.h"
#include "sim/ptx.h"

#define UNSEEN UINT32_MAX

struct observer {
    const struct sim_program *plain;
    struct sim_program program; /* the same with code of its own */
    const struct sim_memory *memory;
    const struct sim_observe *what;
    uint32_t *number; /* by instruction: its number among those that are looked at */
    uint32_t watched;
    int warps;
    uint64_t *turns; /* [warp][number]: executions so far */
    struct sim_seen *seen;
    size_t n, cap, most;
    bool cut;
    bool asleep;
    bool open; /* the last of `seen` may have further steps */
    struct block *block;
};

/* ---- Begin and end ---- */

/* Numbers the instructions that are looked at. */
static enum status number_insns(struct observer *o, struct err *err)
{
    const size_t n = o->plain->facts.insns;
    o->number = xcalloc(n + 1, sizeof *o->number);
    for (size_t i = 0; i < n; i++)
        o->number[i] = o->what->insn[i] ? o->watched++ : UNSEEN;
    return o->watched <= SIM_OBSERVE_INSNS
               ? ST_OK
               : err_set(err, ST_USAGE, "%s: %u instructions cannot be looked at at once",
                         o->plain->facts.entry, o->watched);
}

static void patch(struct observer *o)
{
    const struct sim_program *p = o->plain;
    o->program = *p;
    o->program.code = xcalloc(p->ncode + 1u, sizeof *p->code);
    memcpy(o->program.code, p->code, p->ncode * sizeof *p->code);
    for (uint32_t k = 0; k < p->ncode; k++) {
        struct code *c = &o->program.code[k];
        if (c->insn < p->facts.insns && o->number[c->insn] != UNSEEN && c->op < OP_CONTROL)
            c->op = OP_OBSERVED;
    }
}

static void observer_free(struct observer *o)
{
    free(o->program.code);
    free(o->number);
    free(o->turns);
    free(o);
}

enum status observer_new(const struct sim_program *p, const struct sim_memory *m,
                         const struct sim_launch *l, const struct sim_observe *what,
                         struct observer **out, struct err *err)
{
    const uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    const int warps = (int)((l->block[0] * l->block[1] * l->block[2] + 31) / 32);
    *out = NULL;
    if (what->block >= blocks || what->warp >= warps || what->warp < SIM_ANY_WARP)
        return err_set(err, ST_USAGE,
                       "%s: there is no block %llu, warp %d in %llu blocks of %d warps",
                       p->facts.entry, (unsigned long long)what->block, what->warp,
                       (unsigned long long)blocks, warps);
    struct observer *o = xcalloc(1, sizeof *o);
    *o = (struct observer){.plain = p,
                           .memory = m,
                           .what = what,
                           .warps = warps,
                           .most = what->most ? what->most : SIM_OBSERVE_MOST};
    const enum status st = number_insns(o, err);
    if (st != ST_OK) {
        observer_free(o);
        return st;
    }
    o->turns = xcalloc((size_t)warps * o->watched + 1, sizeof *o->turns);
    patch(o);
    *out = o;
    return ST_OK;
}

const struct sim_program *observer_program(const struct observer *o)
{
    return &o->program;
}

void observer_take(struct observer *o, struct sim_seen **seen, size_t *n, bool *cut)
{
    *seen = o->seen;
    *n = o->n;
    *cut = o->cut;
    observer_free(o);
}

void observer_wake(struct observer *o, bool awake)
{
    for (size_t i = 0; i < o->n; i++) {
        free(o->seen[i].access);
        free(o->seen[i].reg);
    }
    o->n = 0;
    o->open = o->cut = false;
    o->asleep = !awake;
}

const struct sim_seen *observer_last(const struct observer *o)
{
    return o->n ? &o->seen[o->n - 1] : NULL;
}

void observer_drop(struct observer *o)
{
    if (!o)
        return;
    sim_seen_free(o->seen, o->n);
    observer_free(o);
}

void sim_seen_free(struct sim_seen *seen, size_t n)
{
    for (size_t i = 0; seen && i < n; i++) {
        free(seen[i].access);
        free(seen[i].reg);
    }
    free(seen);
}

/* ---- Registers ---- */

static uint64_t register_value(const struct observer *o, const struct warp *w, int32_t reg,
                               int lane)
{
    const enum ptx_type type = o->plain->function->regs[reg].type;
    const uint32_t at = o->plain->place_of[reg];
    if (at == PLACE_NONE)
        return 0;
    if (type == PTX_PRED)
        return w->pred[PRED_FIRST + at] >> lane & 1;
    const char *slot = w->base[0] + (size_t)at * SIM_SLOT;
    if (ptx_type_bytes(type) == 8)
        return ((const uint64_t *)(const void *)slot)[lane];
    return ((const uint32_t *)(const void *)slot)[lane];
}

/* The registers of an instruction, each once. */
struct listing {
    const struct observer *o;
    struct sim_seen *seen;
    int32_t id[64];
};
static void list_register(void *ctx, int32_t reg, enum flow_use use)
{
    struct listing *l = ctx;
    const struct ptx_reg *r = &l->o->plain->function->regs[reg];
    size_t k = 0;
    while (k < l->seen->regs && l->id[k] != reg)
        k++;
    if (k == sizeof l->id / sizeof *l->id || ptx_type_bytes(r->type) > 8)
        return;
    if (k == l->seen->regs) {
        l->id[l->seen->regs++] = reg;
        l->seen->reg = xrealloc(l->seen->reg, l->seen->regs * sizeof *l->seen->reg);
        l->seen->reg[k] = (struct sim_register){.name = r->name, .type = ptx_type_name(r->type)};
    }
    l->seen->reg[k].read |= use == FLOW_READS;
    l->seen->reg[k].written |= use == FLOW_WRITES;
}

static bool is_address(const struct ptx_function *f, const struct ptx_insn *i, int32_t reg)
{
    for (uint32_t k = 0; k < i->noperands; k++) {
        const struct ptx_operand *o = &f->operands[i->operand + k];
        if (o->kind == PTX_ADDRESS && o->reg == reg)
            return true;
    }
    return false;
}

static void read_registers(const struct observer *o, const struct warp *w, struct sim_seen *s,
                           bool first)
{
    struct sim_seen fresh = {.regs = 0};
    struct listing l = {.o = o, .seen = first ? s : &fresh};
    const struct ptx_function *f = o->plain->function;
    flow_registers(f, &f->insns[s->insn], list_register, &l);
    for (size_t k = 0; k < s->regs && first; k++)
        s->reg[k].address = is_address(f, &f->insns[s->insn], l.id[k]);
    for (size_t k = 0; k < s->regs; k++)
        for (int lane = 0; lane < 32; lane++) {
            const uint64_t v = register_value(o, w, l.id[k], lane);
            if (first)
                s->reg[k].before[lane] = v;
            s->reg[k].after[lane] = v;
        }
    free(fresh.reg);
}

/* ---- One instruction ---- */

/* Is this execution one to keep? Counts it. */
static bool wanted(struct observer *o, const struct warp *w, const struct code *c, uint64_t *turn)
{
    const struct sim_observe *what = o->what;
    if (o->asleep || w->block->index != what->block || (what->warp >= 0 && w->id != what->warp))
        return false;
    *turn = ++o->turns[(size_t)w->id * o->watched + o->number[c->insn]];
    if (*turn <= what->skip || (what->each && *turn - what->skip > what->each))
        return false;
    o->cut |= o->n >= o->most;
    return o->n < o->most;
}

static void begin_seen(struct observer *o, const struct warp *w, const struct code *c, uint32_t m,
                       uint64_t turn)
{
    xgrow((void **)&o->seen, &o->cap, o->n + 1, sizeof *o->seen);
    struct sim_seen *s = &o->seen[o->n++];
    *s = (struct sim_seen){.insn = c->insn,
                           .block = w->block->index,
                           .warp = w->id,
                           .turn = turn,
                           .active = w->path[w->depth - 1].mask,
                           .mask = m};
    read_registers(o, w, s, true);
    o->open = true;
}

enum sim_op observed_op(const struct observer *o, const struct code *c)
{
    return (enum sim_op)(c->op == OP_OBSERVED ? o->plain->code[c - o->program.code].op : c->op);
}

enum sim_op observe_begin(struct observer *o, struct warp *w, const struct code *c, uint32_t m)
{
    uint64_t turn;
    o->block = w->block;
    if (!(c->flags & SIM_QUIET)) {
        o->open = false;
        if (wanted(o, w, c, &turn))
            begin_seen(o, w, c, m, turn);
    } else if (o->open) { /* a further step, of another instruction or not */
        const struct sim_seen *s = &o->seen[o->n - 1];
        o->open = s->insn == c->insn && s->warp == w->id && s->block == w->block->index;
    }
    worker_of(w)->seeing = o->open;
    return observed_op(o, c);
}

/* Whose value each lane got. PTX 9.7.9, shfl.sync; as the operation's own body. */
static void see_shuffle(const struct warp *w, const struct code *c, uint32_t m, struct sim_seen *s)
{
    const uint32_t *step = (const uint32_t *)(const void *)(w->base[c->b & 1] + (c->b & ~1u)),
                   *bound = (const uint32_t *)(const void *)(w->base[c->c & 1] + (c->c & ~1u));
    s->shuffles = true;
    for (int lane = 0; lane < 32; lane++) {
        const int by = (int)(step[lane] & 31), seg = (int)(bound[lane] >> 8 & 31),
                  clamp = (int)(bound[lane] & 31), lowest = lane & seg,
                  limit = lowest | (clamp & ~seg);
        const int j = c->kind == 0   ? lane - by
                      : c->kind == 1 ? lane + by
                      : c->kind == 2 ? lane ^ by
                                     : lowest | (by & ~seg);
        const bool there = c->kind == 0 ? j >= limit : j <= limit;
        s->from[lane] = m >> lane & 1 ? there ? j & 31 : lane : -1;
    }
}

static void see_words(const struct observer *o, const struct sim_access *a, uint64_t word[32])
{
    for (int lane = 0; lane < 32; lane++) {
        if (!(a->mask >> lane & 1) || a->bytes > 8)
            continue;
        if (a->space == SIM_SHARED)
            memcpy(&word[lane], o->block->shared + a->addr[lane], a->bytes);
        else
            (void)sim_memory_read(o->memory, a->addr[lane], &word[lane], a->bytes);
    }
}

void observe_end(struct observer *o, struct warp *w, const struct code *c, enum sim_op op,
                 uint32_t m)
{
    worker_of(w)->seeing = false;
    if (!o->open)
        return;
    struct sim_seen *s = &o->seen[o->n - 1];
    if (op == OP_SHFL)
        see_shuffle(w, c, m, s);
    for (size_t i = 0; i < s->accesses; i++)
        if (s->access[i].write && s->access[i].fetches)
            see_words(o, &s->access[i], s->access[i].left);
    read_registers(o, w, s, false);
}

/* ---- Its accesses ---- */

static struct sim_access *add_access(struct observer *o)
{
    struct sim_seen *s = &o->seen[o->n - 1];
    s->access = xrealloc(s->access, (s->accesses + 1) * sizeof *s->access);
    return &s->access[s->accesses++];
}

void observe_shared(struct observer *o, const uint32_t addr[32], uint32_t m, uint32_t bytes,
                    enum pattern_kind kind, uint64_t wavefronts, uint64_t ideal)
{
    struct sim_access *a = add_access(o);
    const struct sim_seen *s = &o->seen[o->n - 1];
    const bool stores = !strncmp(o->plain->insn[s->insn].name, "st", 2); /* stmatrix */
    *a = (struct sim_access){.space = SIM_SHARED,
                             .write = kind == PATTERN_STORE || kind == PATTERN_ATOMIC ||
                                      (kind == PATTERN_ROWS && stores),
                             .fetches = kind == PATTERN_LOAD || kind == PATTERN_ATOMIC ||
                                        (kind == PATTERN_ROWS && !stores),
                             .mask = m,
                             .bytes = bytes,
                             .kind = kind,
                             .cost = (uint32_t)wavefronts,
                             .ideal = (uint32_t)ideal};
    for (int lane = 0; lane < 32; lane++)
        a->addr[lane] = m >> lane & 1 ? addr[lane] : 0;
    if (a->write && a->fetches)
        see_words(o, a, a->found);
}

void observe_global(struct observer *o, const uint64_t addr[32], uint32_t m, uint32_t bytes,
                    bool write, bool fetches, uint64_t sectors, uint64_t ideal)
{
    struct sim_access *a = add_access(o);
    *a = (struct sim_access){.space = SIM_GLOBAL,
                             .write = write,
                             .fetches = fetches,
                             .mask = m,
                             .bytes = bytes,
                             .cost = (uint32_t)sectors,
                             .ideal = (uint32_t)ideal};
    for (int lane = 0; lane < 32; lane++)
        a->addr[lane] = m >> lane & 1 ? addr[lane] : 0;
    if (a->write && a->fetches)
        see_words(o, a, a->found);
}
