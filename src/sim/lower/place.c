/* place.c - liveness over the control flow, then linear scan over the text.
 *
 * Registers that live within one block only need no sets: a register takes part in the data flow
 * when some block reads it before it writes it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/place.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define NONE UINT32_MAX
static const size_t max_words = (64u << 20) / sizeof(uint64_t); /* of one of the two sets */

uint32_t place_slots(enum ptx_type t)
{
    const uint32_t bytes = (uint32_t)ptx_type_bytes(t);
    return t == PTX_PRED ? 0 : bytes <= 4 ? 1 : bytes / 4;
}

/* ---- Liveness. ---- */

struct live {
    const struct ptx_function *f;
    const struct flow *w;
    uint32_t *id;         /* by register: its bit in the sets, NONE: none */
    uint32_t *written_in; /* by register: the last block seen to write it, while blocks are read */
    uint32_t block, nids;
    size_t words;        /* of the set of one block */
    uint64_t *in, *kill; /* sets by block: live at its begin; written in it before any read */
    uint32_t *from,
        *to; /* by register: first and last instruction at which it lives; NONE: never */
};

static void note_crossing(void *ctx, int32_t reg, enum flow_use use)
{
    struct live *l = ctx;
    if (use == FLOW_WRITES)
        l->written_in[reg] = l->block;
    else if (l->written_in[reg] != l->block && l->id[reg] == NONE)
        l->id[reg] = l->nids++;
}

static void note_sets(void *ctx, int32_t reg, enum flow_use use)
{
    struct live *l = ctx;
    const uint32_t id = l->id[reg];
    if (id == NONE)
        return;
    const size_t at = l->block * l->words + id / 64;
    const uint64_t bit = UINT64_C(1) << id % 64;
    if (use == FLOW_WRITES)
        l->kill[at] |= bit & ~l->in[at];
    else if (!(l->kill[at] & bit))
        l->in[at] |= bit;
}

static void each_register(struct live *l, flow_visit_fn *visit)
{
    for (l->block = 0; l->block < l->w->nblocks; l->block++) {
        const struct flow_block *b = &l->w->blocks[l->block];
        for (uint32_t i = b->first; i < b->end; i++)
            flow_registers(l->f, &l->f->insns[i], visit, l);
    }
}

/* Adds to what is live at the begin of `b` what its successors need; true when that is news. */
static bool update(struct live *l, uint32_t b)
{
    const struct flow_block *k = &l->w->blocks[b];
    uint64_t *in = l->in + b * l->words, news = 0;
    const uint64_t *kill = l->kill + b * l->words;
    for (uint32_t n = 0; n < k->nnext; n++) {
        const uint64_t *next = l->in + k->next[n] * l->words;
        for (size_t i = 0; i < l->words; i++) {
            const uint64_t add = next[i] & ~kill[i] & ~in[i];
            news |= add;
            in[i] |= add;
        }
    }
    return news;
}

/* Blocks whose successors changed wait in a stack; it begins with all, the last of the text on top. */
static void solve(struct live *l)
{
    const uint32_t n = l->w->nblocks;
    uint32_t *stack = xmalloc(n * sizeof *stack), depth = n;
    uint8_t *waits = xmalloc(n);
    memset(waits, 1, n);
    for (uint32_t b = 0; b < n; b++)
        stack[b] = b;
    while (depth) {
        const uint32_t b = stack[--depth];
        const struct flow_block *k = &l->w->blocks[b];
        waits[b] = 0;
        if (!update(l, b))
            continue;
        for (uint32_t p = 0; p < k->nprev; p++)
            if (!waits[k->prev[p]]) {
                waits[k->prev[p]] = 1;
                stack[depth++] = k->prev[p];
            }
    }
    free(stack);
    free(waits);
}

/* ---- Where each register lives in the text. ---- */

static void extend(struct live *l, uint32_t reg, uint32_t insn)
{
    if (l->from[reg] == NONE)
        l->from[reg] = l->to[reg] = insn;
    l->from[reg] = insn < l->from[reg] ? insn : l->from[reg];
    l->to[reg] = insn > l->to[reg] ? insn : l->to[reg];
}

struct at_insn {
    struct live *l;
    uint32_t insn;
};

static void note_use(void *ctx, int32_t reg, enum flow_use use)
{
    (void)use;
    const struct at_insn *at = ctx;
    extend(at->l, (uint32_t)reg, at->insn);
}

/* Registers of a set live at an instruction. */
static void extend_set(struct live *l, const uint32_t *reg_of, const uint64_t *set, uint32_t insn)
{
    for (size_t i = 0; i < l->words; i++)
        for (uint64_t bits = set[i]; bits; bits &= bits - 1)
            extend(l, reg_of[i * 64 + (size_t)__builtin_ctzll(bits)], insn);
}

static void find_ranges(struct live *l)
{
    uint32_t *reg_of = xmalloc((l->nids + 1) * sizeof *reg_of);
    for (uint32_t r = 0; r < l->f->nregs; r++)
        if (l->id[r] != NONE)
            reg_of[l->id[r]] = r;
    memset(l->from, 0xFF, l->f->nregs * sizeof *l->from);
    for (uint32_t i = 0; i < l->f->ninsns; i++)
        flow_registers(l->f, &l->f->insns[i], note_use, &(struct at_insn){l, i});
    for (uint32_t b = 0; b + 1 < l->w->nblocks; b++) {
        const struct flow_block *k = &l->w->blocks[b];
        extend_set(l, reg_of, l->in + b * l->words, k->first);
        for (uint32_t n = 0; n < k->nnext; n++)
            extend_set(l, reg_of, l->in + k->next[n] * l->words, k->end - 1);
    }
    free(reg_of);
}

static enum status live_build(struct live *l, struct err *err)
{
    const size_t nregs = (size_t)l->f->nregs + 1;
    l->id = xmalloc(4 * nregs * sizeof *l->id);
    l->written_in = l->id + nregs;
    l->from = l->id + 2 * nregs;
    l->to = l->id + 3 * nregs;
    memset(l->id, 0xFF, 4 * nregs * sizeof *l->id);
    each_register(l, note_crossing);
    l->words = (l->nids + 63) / 64;
    if (l->words * l->w->nblocks > max_words)
        return err_set(err, ST_USAGE, "%.60s: %u registers live across %u blocks: too many",
                       l->f->name, l->nids, l->w->nblocks);
    l->in = xcalloc(l->words * l->w->nblocks + 1, sizeof *l->in);
    l->kill = xcalloc(l->words * l->w->nblocks + 1, sizeof *l->kill);
    each_register(l, note_sets);
    solve(l);
    find_ranges(l);
    return ST_OK;
}

static void live_free(struct live *l)
{
    free(l->id);
    free(l->in);
    free(l->kill);
}

/* ---- Linear scan. ---- */

enum { WORDS = PLACE_MAX_SLOTS / 64 };

enum { WIDTHS = 3 }; /* of 1, 2 and 4 slots */

/* Slots, or masks, of which some are taken. Lanes of a wide value stand where other lanes of narrow ones would, so
 * what once held one width never holds another: a lane elsewhere may still need its part. */
struct pool {
    uint64_t taken[WORDS],
        of[WIDTHS][WORDS]; /* `of`: which width they are for, once they were taken */
    uint32_t top;          /* behind the highest that was ever taken */
};

static int width_index(uint32_t n)
{
    return n == 4 ? 2 : n == 2 ? 1 : 0;
}

/* Bits from which `n` set ones begin, at multiples of `n`. */
static uint64_t runs_of(uint64_t bits, uint32_t n)
{
    if (n == 1)
        return bits;
    bits &= bits >> 1;
    return n == 2 ? bits & UINT64_C(0x5555555555555555)
                  : bits & bits >> 2 & UINT64_C(0x1111111111111111);
}

static uint64_t unused(const struct pool *p, uint32_t word)
{
    return ~(p->of[0][word] | p->of[1][word] | p->of[2][word]);
}

/* The first `n` together that are free and had this width before, or else none. */
static uint32_t find_run(const struct pool *p, uint32_t n)
{
    const uint64_t *own = p->of[width_index(n)];
    for (uint32_t fresh = 0; fresh < 2; fresh++)
        for (uint32_t i = 0; i < WORDS; i++) {
            const uint64_t runs = runs_of(fresh ? unused(p, i) : ~p->taken[i] & own[i], n);
            if (runs)
                return i * 64 + (uint32_t)__builtin_ctzll(runs);
        }
    return NONE;
}

static uint32_t pool_take(struct pool *p, uint32_t n)
{
    const uint32_t at = find_run(p, n);
    if (at == NONE)
        return NONE;
    for (uint32_t i = at; i < at + n; i++) {
        p->taken[i / 64] |= UINT64_C(1) << i % 64;
        p->of[width_index(n)][i / 64] |= UINT64_C(1) << i % 64;
    }
    p->top = at + n > p->top ? at + n : p->top;
    return at;
}

static void pool_give(struct pool *p, uint32_t at, uint32_t n)
{
    for (uint32_t i = at; i < at + n; i++)
        p->taken[i / 64] &= ~(UINT64_C(1) << i % 64);
}

/* Registers listed by instruction: those whose `key` is i are list[start[i]] and on. */
static void sort_by(const uint32_t *key, uint32_t n, uint32_t ninsns, uint32_t *start,
                    uint32_t *list)
{
    memset(start, 0, ((size_t)ninsns + 2) * sizeof *start);
    for (uint32_t r = 0; r < n; r++)
        if (key[r] != NONE)
            start[key[r] + 2]++;
    for (uint32_t i = 1; i < ninsns + 2; i++)
        start[i] += start[i - 1];
    for (uint32_t r = 0; r < n; r++)
        if (key[r] != NONE)
            list[start[key[r] + 1]++] = r;
}

struct scan {
    const struct ptx_function *f;
    struct place *p;
    struct pool slots, masks;
    uint32_t live;
};

static bool scan_begin(struct scan *s, uint32_t reg)
{
    const uint32_t n = place_slots(s->f->regs[reg].type);
    const uint32_t at = n ? pool_take(&s->slots, n) : pool_take(&s->masks, 1);
    s->p->slot[reg] = at;
    s->live += n;
    s->p->max_live = s->live > s->p->max_live ? s->live : s->p->max_live;
    return at != NONE;
}

static void scan_end(struct scan *s, uint32_t reg)
{
    const uint32_t n = place_slots(s->f->regs[reg].type);
    pool_give(n ? &s->slots : &s->masks, s->p->slot[reg], n ? n : 1);
    s->live -= n;
}

static bool scan_all(struct scan *s, const struct live *l)
{
    const uint32_t ninsns = s->f->ninsns, nregs = s->f->nregs;
    uint32_t *all = xmalloc((2 * ((size_t)ninsns + 3) + 2 * ((size_t)nregs + 1)) * sizeof *all);
    uint32_t *begin = all, *end = begin + ninsns + 3, *begins = end + ninsns + 3,
             *ends = begins + nregs + 1;
    sort_by(l->from, nregs, ninsns, begin, begins);
    sort_by(l->to, nregs, ninsns, end, ends);
    bool ok = true;
    for (uint32_t i = 0; i < ninsns && ok; i++) {
        for (uint32_t k = begin[i]; k < begin[i + 1] && ok; k++)
            ok = scan_begin(s, begins[k]);
        for (uint32_t k = end[i]; k < end[i + 1] && ok; k++)
            scan_end(s, ends[k]);
    }
    free(all);
    s->p->nslots = s->slots.top;
    s->p->nmasks = s->masks.top;
    return ok;
}

enum status place_new(const struct ptx_function *f, const struct flow *w, struct place **out,
                      struct err *err)
{
    struct live l = {.f = f, .w = w};
    struct place *p = xcalloc(1, sizeof *p);
    *out = NULL;
    p->slot = xmalloc(((size_t)f->nregs + 1) * sizeof *p->slot);
    memset(p->slot, 0xFF, ((size_t)f->nregs + 1) * sizeof *p->slot);
    enum status st = live_build(&l, err);
    if (st == ST_OK && !scan_all(&(struct scan){.f = f, .p = p}, &l))
        st = err_set(err, ST_USAGE, "%.60s: more than %d registers of 32 bits live at once",
                     f->name, PLACE_MAX_SLOTS);
    live_free(&l);
    if (st == ST_OK)
        *out = p;
    else
        place_free(p);
    return st;
}

void place_free(struct place *p)
{
    if (p)
        free(p->slot);
    free(p);
}
