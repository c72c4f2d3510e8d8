/* merge.c - see merge.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/lower/merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { REGISTERS_MAX = 1 << 18, WIDEST = 16, ELEMENTS = 4 };

/* Accesses that may be joined: shared loads, loads that stores do not hinder, ... */
enum kind { LOAD_SHARED, LOAD_GLOBAL, LOAD_CONSTANT, STORE_SHARED, STORE_GLOBAL, KINDS };

/* One load or store of the piece. */
struct access {
    uint32_t insn;
    int32_t guard; /* register, -1: none */
    bool negated;
    uint8_t element, bytes; /* of an element; of all */
    int32_t base;           /* register, -1: none */
    struct address_low low; /* of its address */
    struct address_sum sum;
};

struct list {
    struct access *at;
    size_t n, cap;
};

/* An access of so many bytes says where a register points to, for the whole piece. */
struct said {
    uint32_t piece, stamp; /* how often the piece had written the register */
    uint32_t bytes;
    int64_t at; /* a multiple of `bytes` from it */
};

struct merger {
    const struct ptx_function *f;
    struct addresses *addresses;
    struct merged *out;
    bool any;
    struct list open[KINDS];
    struct said *said; /* by register */
    uint32_t *written; /* by register: how often this piece has written it, and which piece */
    uint32_t *piece;
    uint32_t number;
    uint32_t *stamps; /* by instruction: how often its base had been written */
};

static bool is(const struct ptx_insn *i, const char *base)
{
    return !strcmp(i->op->parts[0], base);
}

static bool has(const struct ptx_insn *i, const char *word)
{
    return ptx_opcode_has(i->op, word);
}

/* ---- What an instruction is ---- */

static uint8_t vector_of(const struct ptx_insn *i)
{
    return has(i, "v8") ? 8 : has(i, "v4") ? 4 : has(i, "v2") ? 2 : 1;
}

static uint32_t element_of(const struct ptx_insn *i)
{
    return (uint32_t)ptx_type_bytes(ptx_type_of(i->op->parts[i->op->nparts - 1]));
}

static uint32_t bytes_of(const struct ptx_insn *i)
{
    return element_of(i) * vector_of(i);
}

static const struct ptx_operand *address_of(const struct merger *m, const struct ptx_insn *i)
{
    const uint32_t k = is(i, "ld") ? 1 : 0;
    const struct ptx_operand *o = k < i->noperands ? &m->f->operands[i->operand + k] : NULL;
    return o && o->kind == PTX_ADDRESS && !o->nitems ? o : NULL;
}

static bool is_shared(const struct ptx_insn *i)
{
    return has(i, "shared") || has(i, "shared::cta");
}

/* KINDS: it is no plain load or store of shared or global memory. */
static enum kind kind_of(const struct merger *m, const struct ptx_insn *i)
{
    static const char *const ordered[] = {"volatile", "relaxed", "acquire", "release", "mmio"};
    const bool load = is(i, "ld");
    if ((!load && !is(i, "st")) || !address_of(m, i))
        return KINDS;
    for (size_t k = 0; k < sizeof ordered / sizeof *ordered; k++)
        if (has(i, ordered[k]))
            return KINDS;
    if (is_shared(i))
        return load ? LOAD_SHARED : STORE_SHARED;
    if (!has(i, "global"))
        return KINDS;
    return !load ? STORE_GLOBAL : has(i, "nc") ? LOAD_CONSTANT : LOAD_GLOBAL;
}

/* Instructions behind which memory may be another. */
static bool orders_memory(const struct ptx_insn *i)
{
    static const char *const bases[] = {
        "bar",  "barrier", "membar",   "fence",    "atom", "red", "cp",
        "call", "wgmma",   "mbarrier", "stmatrix", "ld",   "st",  "griddepcontrol"};
    for (size_t k = 0; k < sizeof bases / sizeof *bases; k++)
        if (is(i, bases[k]))
            return true;
    return is(i, "wmma") && has(i, "store");
}

/* ---- Joining ---- */

static void join(struct merger *m, struct access *const part[], size_t n, int64_t from,
                 uint32_t bytes, bool loads)
{
    struct access *lead = part[0];
    for (size_t k = 1; k < n; k++)
        if (loads ? part[k]->insn < lead->insn : part[k]->insn > lead->insn)
            lead = part[k];
    for (size_t k = 0; k < n; k++)
        m->out[part[k]->insn] = (struct merged){
            .with = lead->insn, .from = (int32_t)(from - lead->sum.plus), .bytes = (uint8_t)bytes};
    m->any = true;
}

/* How far the address of an access is known to be aligned: address mod 2^bits. */
static struct address_low alignment(const struct merger *m, const struct access *a)
{
    struct address_low low = a->low;
    const struct said *s = a->base >= 0 ? &m->said[a->base] : NULL;
    if (!s || s->piece != m->number || s->stamp != m->stamps[a->insn] || s->bytes <= 1u << low.bits)
        return low;
    const struct ptx_operand *o = address_of(m, &m->f->insns[a->insn]);
    low.bits = (uint8_t)__builtin_ctz(s->bytes);
    low.value = (uint8_t)((uint64_t)(o->offset - s->at) & (s->bytes - 1));
    return low;
}

/* The accesses of a run, which are in the order of their addresses, that lie in [from, from + bytes). */
static size_t within(struct access *const run[], size_t n, int64_t from, uint32_t bytes)
{
    size_t k = 0;
    while (k < n && run[k]->sum.plus < from + bytes)
        k++;
    return k;
}

/* Which of a window's elements are asked for, by bits. */
static uint32_t elements(struct access *const part[], size_t n, int64_t from, uint32_t element)
{
    uint32_t bits = 0;
    for (size_t k = 0; k < n; k++)
        bits |= ((1u << (uint32_t)part[k]->bytes / element) - 1)
                << (uint32_t)(part[k]->sum.plus - from) / element;
    return bits;
}

static uint32_t longest(struct access *const part[], size_t n)
{
    uint32_t most = 0;
    for (size_t k = 0; k < n; k++)
        most = part[k]->bytes > most ? part[k]->bytes : most;
    return most;
}

/* A window and, if it is not one access, its halves. */
static void join_loads(struct merger *m, struct access *const part[], size_t n, int64_t from,
                       uint32_t bytes)
{
    const uint32_t element = n ? part[0]->element : 1, of = bytes / element;
    static const int enough[] = {0, 1, 2, 3, 3}; /* of so many elements */
    if (n < 2 || !of || longest(part, n) > bytes)
        return;
    if (__builtin_popcount(elements(part, n, from, element)) >= enough[of]) {
        join(m, part, n, from, bytes, true);
        return;
    }
    const size_t low = within(part, n, from, bytes / 2);
    join_loads(m, part, low, from, bytes / 2);
    join_loads(m, part + low, n - low, from + bytes / 2, bytes / 2);
}

/* Returns the bytes of the one store that the window is; 0: it is several. */
static uint32_t join_stores(struct merger *m, struct access *const part[], size_t n, int64_t from,
                            uint32_t bytes)
{
    if (n == 1 && part[0]->bytes == bytes && part[0]->sum.plus == from)
        return bytes;
    if (n < 2 || bytes / 2 < part[0]->element)
        return 0;
    const size_t low = within(part, n, from, bytes / 2);
    const uint32_t first = join_stores(m, part, low, from, bytes / 2),
                   second = join_stores(m, part + low, n - low, from + bytes / 2, bytes / 2);
    if (!first || !second || part[0]->bytes != part[n - 1]->bytes)
        return 0;
    join(m, part, n, from, bytes, false);
    return bytes;
}

/* A run: accesses that differ by constants alone, in the order of their addresses. */
static void join_run(struct merger *m, struct access *const run[], size_t n, bool loads)
{
    struct address_low known = {.bits = 0};
    const struct access *by = run[0];
    for (size_t k = 0; k < n; k++) {
        const struct address_low low = alignment(m, run[k]);
        if (low.bits > known.bits) {
            known = low;
            by = run[k];
        }
    }
    const uint32_t most = run[0]->element * ELEMENTS < WIDEST ? run[0]->element * ELEMENTS : WIDEST,
                   window = 1u << known.bits < most ? 1u << known.bits : most;
    const int64_t zero = by->sum.plus - known.value; /* here a window begins */
    for (size_t k = 0; k < n;) {
        const int64_t at = run[k]->sum.plus - zero,
                      from = zero + (int64_t)((uint64_t)at & ~(uint64_t)(window - 1));
        const size_t some = within(run + k, n - k, from, window);
        if (loads)
            join_loads(m, run + k, some, from, window);
        else
            join_stores(m, run + k, some, from, window);
        k += some;
    }
}

static int by_place(const void *x, const void *y)
{
    const struct access *a = *(struct access *const *)x, *b = *(struct access *const *)y;
    const int sums = address_order(&a->sum, &b->sum);
    if (a->guard != b->guard)
        return a->guard < b->guard ? -1 : 1;
    if (a->negated != b->negated)
        return a->negated - b->negated;
    if (a->element != b->element)
        return a->element - b->element;
    if (sums)
        return sums;
    if (a->sum.plus != b->sum.plus)
        return a->sum.plus < b->sum.plus ? -1 : 1;
    return a->insn < b->insn ? -1 : a->insn > b->insn;
}

static bool same_run(const struct access *a, const struct access *b)
{
    return a->guard == b->guard && a->negated == b->negated && a->element == b->element &&
           !address_order(&a->sum, &b->sum);
}

/* Nothing more can join what is open. */
static void settle(struct merger *m, enum kind kind)
{
    struct list *l = &m->open[kind];
    if (!l->n)
        return;
    struct access **order = xcalloc(l->n + 1, sizeof *order);
    for (size_t k = 0; k < l->n; k++)
        order[k] = &l->at[k];
    qsort(order, l->n, sizeof *order, by_place);
    for (size_t k = 0, end; k < l->n; k = end) {
        for (end = k + 1; end < l->n && same_run(order[k], order[end]); end++)
            ;
        if (end > k + 1)
            join_run(m, order + k, end - k, kind < STORE_SHARED);
    }
    free(order);
    l->n = 0;
}

static void settle_all(struct merger *m)
{
    for (int k = 0; k < KINDS; k++)
        settle(m, (enum kind)k);
}

/* ---- A piece ---- */

static uint32_t stamp_of(const struct merger *m, int32_t reg)
{
    return reg >= 0 && m->piece[reg] == m->number ? m->written[reg] : 0;
}

static void note_write(void *ctx, int32_t reg, enum flow_use use)
{
    struct merger *m = ctx;
    if (use != FLOW_WRITES)
        return;
    m->written[reg] = stamp_of(m, reg) + 1;
    m->piece[reg] = m->number;
}

/* Words of two and four u16 are loaded as words. */
static uint8_t joined_element(const struct ptx_insn *i)
{
    const uint32_t element = element_of(i), bytes = bytes_of(i);
    return (uint8_t)(element >= 4 ? element : bytes >= 4 ? 4 : bytes);
}

static struct access access_at(struct merger *m, uint32_t insn)
{
    const struct ptx_insn *i = &m->f->insns[insn];
    const struct ptx_operand *o = address_of(m, i);
    return (struct access){.insn = insn,
                           .guard = i->guard,
                           .negated = i->guard_negated,
                           .element = joined_element(i),
                           .bytes = (uint8_t)bytes_of(i),
                           .base = o->reg,
                           .low = addresses_low(m->addresses, o),
                           .sum = addresses_sum(m->addresses, o)};
}

/* A store may only be joined with the last ones, of the same window. */
static bool is_far(const struct list *l, const struct access *a)
{
    const struct access *last = l->n ? &l->at[l->n - 1] : NULL;
    return last && (!same_run(last, a) || last->sum.plus - a->sum.plus >= WIDEST ||
                    a->sum.plus - last->sum.plus >= WIDEST);
}

static void open_access(struct merger *m, uint32_t insn, enum kind kind)
{
    const struct ptx_insn *i = &m->f->insns[insn];
    struct list *l = &m->open[kind];
    if (element_of(i) < 2 || element_of(i) > 8 || bytes_of(i) > WIDEST)
        return;
    const struct access a = access_at(m, insn);
    if (kind >= STORE_SHARED && is_far(l, &a))
        settle(m, kind);
    xgrow((void **)&l->at, &l->cap, l->n + 1, sizeof *l->at);
    l->at[l->n++] = a;
}

static void take(struct merger *m, uint32_t insn)
{
    const struct ptx_insn *i = &m->f->insns[insn];
    const enum kind kind = kind_of(m, i);
    if (kind == KINDS) {
        if (orders_memory(i))
            settle_all(m);
        else if (is(i, "ldmatrix") || is(i, "wmma"))
            settle(m, STORE_SHARED);
    } else {
        if (kind == LOAD_SHARED || kind == STORE_SHARED)
            settle(m, kind == LOAD_SHARED ? STORE_SHARED : LOAD_SHARED);
        else if (kind != LOAD_CONSTANT)
            settle(m, kind == LOAD_GLOBAL ? STORE_GLOBAL : LOAD_GLOBAL);
        open_access(m, insn, kind);
    }
    addresses_pass(m->addresses, insn);
}

/* What the piece's accesses say of their registers. */
static void read_said(struct merger *m, uint32_t first, uint32_t end)
{
    m->number++;
    for (uint32_t n = first; n < end; n++) {
        const struct ptx_insn *i = &m->f->insns[n];
        const struct ptx_operand *o = is(i, "ld") || is(i, "st") ? address_of(m, i) : NULL;
        const uint32_t bytes = o ? bytes_of(i) : 0;
        if (o && o->reg >= 0) {
            struct said *s = &m->said[o->reg];
            m->stamps[n] = stamp_of(m, o->reg);
            const bool news = s->piece != m->number || s->stamp != m->stamps[n] || s->bytes < bytes;
            if (news && i->guard < 0 && bytes >= 4 && bytes <= WIDEST &&
                (is_shared(i) || has(i, "global")))
                *s = (struct said){m->number, m->stamps[n], bytes, o->offset};
        }
        flow_registers(m->f, i, note_write, m);
    }
}

static void take_piece(struct merger *m, uint32_t first, uint32_t end)
{
    read_said(m, first, end);
    addresses_begin(m->addresses);
    for (uint32_t n = first; n < end; n++)
        take(m, n);
    settle_all(m);
}

struct merged *merge_accesses(const struct ptx_function *f, const struct flow *flow,
                              address_place_fn *place, void *ctx)
{
    if (f->nregs > REGISTERS_MAX)
        return NULL;
    struct merger m = {.f = f,
                       .addresses = addresses_new(f, place, ctx),
                       .out = xcalloc(f->ninsns + 1u, sizeof *m.out),
                       .said = xcalloc(f->nregs + 1u, sizeof *m.said),
                       .written = xcalloc(f->nregs + 1u, sizeof *m.written),
                       .piece = xcalloc(f->nregs + 1u, sizeof *m.piece),
                       .stamps = xcalloc(f->ninsns + 1u, sizeof *m.stamps)};
    for (uint32_t b = 0; b + 1 < flow->nblocks; b++)
        take_piece(&m, flow->blocks[b].first, flow->blocks[b].end);
    addresses_free(m.addresses);
    for (int k = 0; k < KINDS; k++)
        free(m.open[k].at);
    free(m.said);
    free(m.written);
    free(m.piece);
    free(m.stamps);
    if (!m.any) {
        free(m.out);
        return NULL;
    }
    return m.out;
}
