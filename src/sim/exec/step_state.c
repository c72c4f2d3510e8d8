/* step_state.c - looking into a block that is held still, see step.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/exec/step_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "sim/exec/flight.h"
#include "sim/flow.h"
#include "sim/place.h"
#include "sim/ptx.h"

/* ---- Warps ---- */

bool step_next(const struct sim_step *s, const struct warp *w, struct path *top)
{
    const struct code *code = s->program->code;
    for (int d = w->depth; d > 0; d--) {
        *top = w->path[d - 1];
        if (top->pc < s->program->ncode &&
            !(code[top->pc].flags & SIM_JOIN && top->pc == top->join))
            return true;
    }
    return false;
}

static size_t insn_at(const struct sim_step *s, uint32_t pc)
{
    const size_t n = s->program->facts.insns;
    if (pc >= s->program->ncode)
        return n;
    return s->program->code[pc].insn < n ? s->program->code[pc].insn : n;
}

size_t step_next_insn(const struct sim_step *s, const struct warp *w)
{
    struct path top;
    return step_next(s, w, &top) ? insn_at(s, top.pc) : s->program->facts.insns;
}

int sim_step_warps(const struct sim_step *s)
{
    return s->worker.block.nwarps;
}

struct sim_warp sim_step_warp(const struct sim_step *s, int warp)
{
    const struct warp *w = &s->worker.block.warp[warp];
    struct path top = {0};
    const bool lives = step_next(s, w, &top);
    struct sim_warp x = {.waits = !w->depth                 ? SIM_WAITS_ENDED
                                  : w->wait == WAIT_BARRIER ? SIM_WAITS_BARRIER
                                  : s->turn[warp].asked     ? SIM_WAITS_MBARRIER
                                                            : SIM_WAITS_NOT,
                         .barrier = w->barrier,
                         .live = w->live,
                         .active = lives ? top.mask : 0,
                         .insn = step_next_insn(s, w),
                         .steps = w->executed,
                         .depth = w->depth};
    if (x.waits == SIM_WAITS_BARRIER)
        x.insn = insn_at(s, w->waits_at);
    const struct flight *f = s->worker.block.flight;
    for (size_t i = 0; i < w->copies; i++)
        x.copies += w->copy[i].mask != 0;
    for (uint32_t i = 0; f && i < f->copies; i++)
        x.copies += f->copy[i].warp == warp;
    x.products = w->wgmmas;
    x.asks = w->asks;
    x.asks_parity = w->asks_parity;
    return x;
}

struct sim_path sim_step_path(const struct sim_step *s, int warp, int level)
{
    const struct warp *w = &s->worker.block.warp[warp];
    if (level < 0 || level >= w->depth)
        return (struct sim_path){s->program->facts.insns, s->program->facts.insns, 0};
    const struct path *p = &w->path[level];
    return (struct sim_path){insn_at(s, p->pc), insn_at(s, p->join), p->mask};
}

struct sim_barrier sim_step_barrier(const struct sim_step *s, int id)
{
    if (id < 0 || id > 15)
        return (struct sim_barrier){0};
    const struct barrier *b = &s->worker.block.barrier[0][id];
    return (struct sim_barrier){b->arrived, b->expected};
}

/* The i-th of those that warps asked in vain, as they come in the warps' order. */
static bool asked_mbarrier(const struct sim_step *s, size_t i, uint32_t *addr)
{
    const struct warp *w = s->worker.block.warp;
    for (int k = 0; k < s->worker.block.nwarps; k++) {
        bool first = s->turn[k].asked && w[k].depth;
        for (int before = 0; first && before < k; before++)
            first = !s->turn[before].asked || !w[before].depth || w[before].asks != w[k].asks;
        if (first && !i--) {
            *addr = w[k].asks;
            return true;
        }
    }
    return false;
}

size_t sim_step_mbarriers(const struct sim_step *s)
{
    const struct flight *f = s->worker.block.flight;
    uint32_t addr;
    size_t n = f ? f->barriers : 0;
    while (!f && asked_mbarrier(s, n, &addr))
        n++;
    return n;
}

struct sim_mbarrier sim_step_mbarrier(const struct sim_step *s, size_t i)
{
    const struct flight *f = s->worker.block.flight;
    struct mbarrier_state state = {0};
    uint32_t addr;
    if (f ? i >= f->barriers : !asked_mbarrier(s, i, &addr))
        return (struct sim_mbarrier){0};
    addr = f ? f->barrier[i].addr : addr;
    (void)mbarrier_state(&s->worker.block, addr, &state);
    return (struct sim_mbarrier){addr, state.parity, state.missing, state.bytes};
}

/* The i-th of those that the copy engine makes for the warp. */
static struct sim_copy engine_copy(const struct sim_step *s, int warp, size_t i)
{
    const struct flight *all = s->worker.block.flight;
    for (uint32_t k = 0; all && k < all->copies; k++) {
        const struct bulk_flight *f = &all->copy[k];
        if (f->warp != warp || i--)
            continue;
        struct sim_copy x = {.engine = true,
                             .stores = !f->loads,
                             .barrier = f->barrier,
                             .insn = s->program->code[f->code].insn,
                             .mask = 1u << f->lane,
                             .bytes = f->bytes,
                             .group = -1};
        x.to[f->lane] = f->shared;
        return x;
    }
    return (struct sim_copy){.insn = s->program->facts.insns};
}

struct sim_copy sim_step_copy(const struct sim_step *s, int warp, size_t i)
{
    const struct warp *w = &s->worker.block.warp[warp];
    for (size_t k = 0; k < w->copies; k++) {
        const struct async_copy *a = &w->copy[k];
        if (!a->mask || i--)
            continue;
        struct sim_copy x = {.insn = a->insn, .mask = a->mask, .bytes = a->bytes};
        const int first = __builtin_ctz(a->mask);
        memcpy(x.to, a->to, sizeof x.to);
        x.group = a->group[first] ? (int)(w->commits[first] - a->group[first]) : -1;
        return x;
    }
    return engine_copy(s, warp, i);
}

void sim_program_leaders(const struct sim_program *p, bool *out)
{
    const size_t n = p->facts.insns;
    memset(out, 0, n * sizeof *out);
    if (n)
        out[0] = true;
    for (uint32_t k = 0; k < p->ncode; k++) {
        const struct code *c = &p->code[k];
        if (c->op != OP_BRA && c->op != OP_BRX)
            continue;
        const struct program_targets *t = c->op == OP_BRX ? &p->targets[c->imm] : NULL;
        for (uint32_t i = 0; i < (t ? t->n : 1); i++) {
            const uint32_t to = t ? t->to[i] : c->target;
            if (to < p->ncode && p->code[to].insn < n)
                out[p->code[to].insn] = true;
        }
        if (c->insn + 1 < n)
            out[c->insn + 1] = true;
    }
}

/* ---- Registers ---- */

const char *const step_kinds[] = {"",     "u16", "s16",    "u32",   "s32", "u64", "s64",
                                  "bf16", "f16", "bf16x2", "f16x2", "f64", "f32"};
enum { KINDS = sizeof step_kinds / sizeof *step_kinds };

/* The first type among an instruction's words, or the last; 0: none that says more than its bits. */
static uint8_t kind_named(const char *name, bool last)
{
    uint8_t found = 0;
    for (const char *at = strchr(name, '.'); at; at = strchr(at + 1, '.')) {
        const size_t len = strcspn(at + 1, ".");
        for (uint8_t k = 1; k < KINDS; k++)
            if (strlen(step_kinds[k]) == len && !strncmp(at + 1, step_kinds[k], len)) {
                if (!last)
                    return k;
                found = k;
            }
    }
    return found;
}

static int kind_bits(uint8_t kind)
{
    const char *digits = step_kinds[kind] + strcspn(step_kinds[kind], "0123456789");
    const int bits = atoi(digits);
    return strchr(digits, 'x') ? 32 : bits < 32 ? 16 : bits;
}

struct kinds {
    struct sim_step *s;
    const struct ptx_insn *insn;
    uint8_t written, read; /* what the instruction says of its results, and of its operands */
};

static void note_kind(void *ctx, int32_t reg, enum flow_use use)
{
    const struct kinds *k = ctx;
    const struct ptx_function *f = k->s->program->function;
    const uint8_t kind = use == FLOW_WRITES ? k->written : k->read;
    for (uint32_t i = 0; i < k->insn->noperands; i++) {
        const struct ptx_operand *o = &f->operands[k->insn->operand + i];
        if (o->kind == PTX_ADDRESS && o->reg == reg)
            return;
    }
    if (8 * ptx_type_bytes(f->regs[reg].type) == kind_bits(kind) && kind > k->s->kind[reg])
        k->s->kind[reg] = kind;
}

/* What registers hold, as the words of the instructions that write and read them say; those of the matrix units mix
 * types, and say it of their results alone. */
void step_list_kinds(struct sim_step *s)
{
    const struct sim_program *p = s->program;
    s->kind = xcalloc(p->function->nregs + 1u, sizeof *s->kind);
    for (size_t i = 0; i < p->facts.insns && i < p->function->ninsns; i++) {
        const char *name = p->insn[i].name;
        const bool matrix = !strncmp(name, "mma", 3) || !strncmp(name, "wmma", 4);
        struct kinds k = {.s = s,
                          .insn = &p->function->insns[i],
                          .written = kind_named(name, false),
                          .read = matrix ? 0 : kind_named(name, true)};
        flow_registers(p->function, k.insn, note_kind, &k);
    }
}

uint32_t sim_step_regs(const struct sim_step *s)
{
    return s->program->function->nregs;
}

struct sim_reg sim_step_reg(const struct sim_step *s, uint32_t reg)
{
    const struct ptx_reg *r = &s->program->function->regs[reg];
    const int bytes = ptx_type_bytes(r->type);
    return (struct sim_reg){.name = r->name,
                            .type = r->type == PTX_PRED ? "pred" : ptx_type_name(r->type),
                            .kind = r->type == PTX_PRED ? "pred" : step_kinds[s->kind[reg]],
                            .bits = r->type == PTX_PRED ? 1
                                    : bytes > 4         ? 8 * bytes
                                                        : 32,
                            .slot = s->program->place_of[reg]};
}

bool sim_step_register(const struct sim_step *s, int warp, uint32_t reg, uint64_t lanes[32],
                       size_t *insn)
{
    const struct sim_program *p = s->program;
    const struct warp *w = &s->worker.block.warp[warp];
    const enum ptx_type type = p->function->regs[reg].type;
    const uint32_t at = p->place_of[reg];
    if (at == PLACE_NONE || ptx_type_bytes(type) > 8)
        return false;
    const size_t place = type == PTX_PRED ? p->slots + PRED_FIRST + (size_t)at : at;
    if (place >= step_places(s))
        return false;
    const struct owner o = s->owner[(size_t)warp * step_places(s) + place];
    if (o.reg != reg)
        return false;
    const char *slot = w->base[0] + (size_t)at * SIM_SLOT;
    for (int i = 0; i < 32; i++)
        lanes[i] = type == PTX_PRED            ? w->pred[PRED_FIRST + at] >> i & 1
                   : ptx_type_bytes(type) == 8 ? ((const uint64_t *)(const void *)slot)[i]
                                               : ((const uint32_t *)(const void *)slot)[i];
    if (insn)
        *insn = o.insn;
    return true;
}

static int newest_first(const void *x, const void *y)
{
    const struct sim_written *a = x, *b = y;
    return a->step != b->step ? (a->step < b->step) - (a->step > b->step)
                              : (a->reg > b->reg) - (a->reg < b->reg);
}

size_t sim_step_written(const struct sim_step *s, int warp, struct sim_written *list, size_t most)
{
    const struct owner *o = s->owner + (size_t)warp * step_places(s);
    struct sim_written *all = xcalloc(step_places(s) + 1, sizeof *all);
    uint64_t lanes[32];
    size_t n = 0;
    for (size_t i = 0; i < step_places(s); i++)
        if (o[i].reg != STEP_NOBODY && (!i || o[i - 1].reg != o[i].reg) &&
            sim_step_register(s, warp, o[i].reg, lanes, NULL))
            all[n++] = (struct sim_written){o[i].reg, o[i].insn, o[i].step};
    qsort(all, n, sizeof *all, newest_first);
    if (list)
        memcpy(list, all, (n < most ? n : most) * sizeof *list);
    free(all);
    return n;
}

bool sim_step_named(const struct sim_step *s, int warp, uint32_t name, struct sim_named *out)
{
    if (name >= s->namings.names || s->namings.lost[name])
        return false;
    *out = s->named[(size_t)warp * s->namings.names + name];
    return out->known != 0;
}

bool sim_step_done(const struct sim_step *s, uint64_t step, struct sim_done *out)
{
    const size_t at = (size_t)(step % DONE_MOST);
    if (!step || step > s->now || at >= s->done_cap || s->done[at].step != step)
        return false;
    *out = s->done[at];
    return true;
}

/* ---- Memory ---- */

bool sim_step_writer(const struct sim_step *s, uint64_t addr, struct sim_writer *out)
{
    struct hazard_writer w;
    if (!s->worker.hazard || addr >= s->worker.block.shared_bytes ||
        !hazard_writer(s->worker.hazard, (uint32_t)addr, &w))
        return false;
    *out = (struct sim_writer){.insn = w.insn, .warp = (int)w.warp, .age = w.age};
    return true;
}

uint32_t sim_step_shared_bytes(const struct sim_step *s)
{
    return s->worker.block.shared_bytes;
}

bool sim_step_shared(const struct sim_step *s, uint64_t addr, uint32_t bytes, void *data,
                     bool *written)
{
    const struct block *b = &s->worker.block;
    if (addr > b->shared_bytes || bytes > b->shared_bytes - addr)
        return false;
    memcpy(data, b->shared + addr, bytes);
    for (uint32_t i = 0; written && i < bytes; i++)
        written[i] = b->shared_written[(addr + i) >> 6] >> ((addr + i) & 63) & 1;
    return true;
}

uint64_t sim_step_shared_written(const struct sim_step *s, uint64_t addr, uint64_t bytes)
{
    const struct block *b = &s->worker.block;
    uint64_t n = 0;
    const uint64_t end = addr + bytes < b->shared_bytes ? addr + bytes : b->shared_bytes;
    while (addr < end) {
        const uint64_t bit = addr & 63, take = end - addr < 64 - bit ? end - addr : 64 - bit;
        const uint64_t mask = take == 64 ? UINT64_MAX : ((UINT64_C(1) << take) - 1) << bit;
        n += (uint64_t)__builtin_popcountll(b->shared_written[addr >> 6] & mask);
        addr += take;
    }
    return n;
}

static bool shared_value(const struct sim_step *s, const struct sim_value *v, void *out)
{
    bool written[32], all = true;
    if (!sim_step_shared(s, v->addr, v->bytes, out, written))
        return false;
    for (uint32_t i = 0; i < v->bytes; i++)
        all &= written[i];
    return all;
}

bool sim_step_value(const struct sim_step *s, const struct sim_value *v, void *out)
{
    uint64_t lanes[32];
    if (v->bytes > 32)
        return false;
    if (v->space == SIM_SHARED)
        return shared_value(s, v, out);
    if (v->space == SIM_GLOBAL)
        return sim_memory_read(s->memory, v->addr, out, v->bytes) &&
               !sim_memory_unwritten(s->memory, v->addr, v->bytes);
    struct sim_named named;
    if (v->warp >= 0 && v->warp < s->worker.block.nwarps && v->lane >= 0 && v->lane < 32 &&
        v->named) {
        if (v->bytes > 4 || !sim_step_named(s, v->warp, v->reg, &named) ||
            !(named.known >> v->lane & 1))
            return false;
        memcpy(out, &named.lanes[v->lane], v->bytes);
        return true;
    }
    if (v->warp < 0 || v->warp >= s->worker.block.nwarps || v->lane < 0 || v->lane > 31 ||
        v->named || v->bytes > 8 || v->reg >= sim_step_regs(s) ||
        !sim_step_register(s, v->warp, v->reg, lanes, NULL))
        return false;
    memcpy(out, &lanes[v->lane], v->bytes);
    return true;
}

/* ---- What was done and found ---- */

const struct sim_seen *sim_step_seen(const struct sim_step *s)
{
    return s->awake ? observer_last(s->observer) : NULL;
}

uint64_t sim_step_now(const struct sim_step *s)
{
    return s->now;
}

uint64_t sim_step_end(const struct sim_step *s)
{
    return s->end;
}

bool sim_step_ended(const struct sim_step *s)
{
    return s->ended;
}

size_t sim_step_faults(const struct sim_step *s, const struct sim_fault **list)
{
    *list = s->worker.faults.fault;
    return s->worker.faults.count;
}

void sim_step_hazards(const struct sim_step *s, struct hazard_report **out, size_t *n)
{
    *out = NULL;
    *n = 0;
    if (s->worker.hazard)
        hazard_block_list(s->worker.hazard, out, n);
}

const char *sim_step_printed(const struct sim_step *s, size_t *len)
{
    *len = s->worker.printed.len;
    return str_text(&s->worker.printed);
}

/* ---- The whole, as a number ---- */

static uint64_t hash_warp(uint64_t h, const struct sim_step *s, const struct warp *w)
{
    const int32_t words[] = {w->depth, (int32_t)w->wait, w->wait ? w->barrier : 0};
    h = hash_bytes(h, words, sizeof words);
    h = hash_bytes(h, &w->live, sizeof w->live);
    h = hash_bytes(h, &w->executed, sizeof w->executed);
    h = hash_bytes(h, w->path, (size_t)w->depth * sizeof *w->path);
    h = hash_bytes(h, w->base[0], (size_t)s->program->slots * SIM_SLOT);
    h = hash_bytes(h, w->pred, s->program->predicates * sizeof *w->pred);
    for (size_t i = 0; i < w->copies; i++)
        h = hash_bytes(h, &w->copy[i].mask, sizeof w->copy[i].mask);
    for (uint32_t i = 0; i < w->wgmmas; i++)
        h = hash_bytes(h, w->wgmma[i].descriptor, sizeof w->wgmma[i].descriptor);
    return h;
}

uint64_t sim_step_digest(const struct sim_step *s)
{
    const struct block *b = &s->worker.block;
    uint64_t h = hash_bytes(HASH_START, &s->now, sizeof s->now);
    for (int i = 0; i < b->nwarps; i++)
        h = hash_warp(h, s, &b->warp[i]);
    for (uint32_t i = 0; b->flight && i < b->flight->copies; i++)
        h = hash_bytes(h, &b->flight->copy[i].shared, sizeof b->flight->copy[i].shared);
    h = hash_bytes(h, b->barrier, sizeof b->barrier);
    h = hash_bytes(h, b->shared, b->shared_bytes);
    h = hash_bytes(h, b->shared_written, b->shared_bytes / 8);
    for (size_t i = 0; i < s->memory->count; i++) {
        const struct allocation *a = &s->memory->all[i];
        h = hash_bytes(h, a->host, a->bytes);
        h = hash_bytes(h, a->written, a->bytes / 64 * 8);
    }
    const size_t found[] = {s->worker.faults.count,
                            s->worker.hazard ? hazard_block_count(s->worker.hazard) : 0};
    return hash_bytes(h, found, sizeof found);
}
