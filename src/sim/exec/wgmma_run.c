/* wgmma_run.c - products of a warpgroup: a warp does its 16 rows of 64 when it waits for them. See flight.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "sim/exec/flight.h"
#include "sim/exec/pace.h"
#include "sim/flow.h"
#include "sim/place.h"
#include "sim/ptx.h"
#include "sim/wgmma.h"

static uint32_t *slot(const struct warp *w, uint32_t ref)
{
    return (uint32_t *)(void *)(w->base[ref & 1] + (ref & ~1u));
}

static const struct code_wgmma *wgmma_of(const struct warp *w, uint32_t code)
{
    const struct sim_program *p = w->block->program;
    return &p->wgmma[p->code[code].imm];
}

static void complain(struct warp *w, const struct code *c, const char *what)
{
    block_fault(w->block, w, c, -1, SIM_FAULT_WGMMA, SIM_NOWHERE, 0, 0, 1, "%s", what);
}

/* ---- the product ---- */

/* Who works on it: one product of a warp. */
struct work {
    struct warp *w;
    const struct code *c;
    const struct code_wgmma *x;
    const struct wgmma_flight *f;
};

static const uint8_t zeros[16];

/* 16 bytes of an operand; outside of the block's memory zeros, reported. */
static const uint8_t *chunk(const struct work *k, uint32_t at)
{
    const struct block *b = k->w->block;
    if (at > b->block_bytes || 16 > b->block_bytes - at) {
        block_fault(k->w->block, k->w, k->c, -1, SIM_FAULT_BOUNDS_READ, SIM_SHARED, at, 16, 1, "%s",
                    "an operand of it");
        return zeros;
    }
    const uint32_t here = at + k->w->rank * b->stride;
    if (!written_all(b->shared_written, here, 16))
        block_fault(k->w->block, k->w, k->c, -1, SIM_FAULT_UNWRITTEN, SIM_SHARED, here, 16, 1, "%s",
                    "an operand of it");
    return b->shared + here;
}

/* 8 x 8 elements from (row, k) on, as ldmatrix has them. */
static void load(const struct work *k, const struct wgmma_operand *o, bool beside, uint32_t row,
                 uint32_t col, uint32_t out[32])
{
    const void *line[8];
    uint32_t at[8], *const to[1] = {out};
    wgmma_eight(o, beside, row, col, at);
    for (int i = 0; i < 8; i++)
        line[i] = chunk(k, at[i]);
    tensor_ldmatrix(1, beside, line, to);
}

/* The warp's 16 rows of A: rows 0 and 8 of k 0, then of k 8. */
static void load_left(const struct work *k, uint32_t a[4][32])
{
    const struct wgmma_operand from = wgmma_operand(k->f->descriptor[0]);
    const uint32_t first = (uint32_t)(k->w->id % k->w->block->block_warps % 4) * 16;
    for (uint32_t j = 0; j < 4; j++)
        load(k, &from, k->x->a_beside, first + j % 2 * 8, j / 2 * 8, a[j]);
}

static void negate(uint32_t (*reg)[32], int n)
{
    for (int r = 0; r < n; r++)
        for (int i = 0; i < 32; i++)
            reg[r][i] ^= 0x80008000u;
}

static void do_product(const struct work *k)
{
    enum { BLOCKS = 32 }; /* of n 256 */
    const struct code_wgmma *x = k->x;
    const struct wgmma_operand right = wgmma_operand(k->f->descriptor[1]);
    const int blocks = x->n / 8, regs = blocks * x->mma.regs[TENSOR_D];
    uint32_t a[4][32] __attribute__((aligned(64))), b[2 * BLOCKS][32] __attribute__((aligned(64)));
    uint32_t zero[32] __attribute__((aligned(64))) = {0};
    uint32_t *pa[4] = {a[0], a[1], a[2], a[3]}, *pb[2 * BLOCKS], *d[WGMMA_D_MAX], *c[WGMMA_D_MAX];
    if (x->a_shared)
        load_left(k, a);
    else
        memcpy(a, k->f->a, sizeof a);
    if (x->a_negated)
        negate(a, 4);
    for (int i = 0; i < 2 * blocks; i++) {
        load(k, &right, x->b_beside, (uint32_t)i / 2 * 8, (uint32_t)i % 2 * 8, b[i]);
        pb[i] = b[i];
    }
    if (x->b_negated)
        negate(b, 2 * blocks);
    for (int r = 0; r < regs; r++) {
        d[r] = slot(k->w, x->d[r]);
        c[r] = k->f->add ? d[r] : zero;
    }
    tensor_mma_beside(&x->mma, worker_of(k->w)->adder, blocks, d, pa, pb, c);
}

static void finish(struct warp *w, uint32_t n)
{
    const struct sim_program *p = w->block->program;
    for (uint32_t i = 0; i < n; i++) {
        const struct wgmma_flight *f = &w->wgmma[i];
        const struct work k = {.w = w, .c = &p->code[f->code], .x = wgmma_of(w, f->code), .f = f};
        do_product(&k);
    }
    w->wgmmas -= n;
    memmove(w->wgmma, w->wgmma + n, w->wgmmas * sizeof *w->wgmma);
}

/* ---- issue ---- */

/* All lanes give the same; false: they do not. */
static bool descriptor(const struct warp *w, uint32_t ref, uint64_t *out)
{
    const uint64_t *v = (const uint64_t *)(const void *)slot(w, ref);
    bool same = true;
    for (int i = 1; i < 32; i++)
        same &= v[i] == v[0];
    *out = v[0];
    return same;
}

static bool operands(struct warp *w, const struct code *c, const struct code_wgmma *x,
                     struct wgmma_flight *f)
{
    const uint32_t add = w->pred[x->add >> 1] ^ -(uint32_t)(x->add & 1);
    bool same = descriptor(w, x->descriptor[1], &f->descriptor[1]);
    if (x->a_shared)
        same &= descriptor(w, x->descriptor[0], &f->descriptor[0]);
    else
        for (int r = 0; r < 4; r++)
            memcpy(f->a[r], slot(w, x->a[r]), sizeof f->a[r]);
    f->add = add & 1;
    if (!same || (add && ~add)) {
        complain(w, c, "lanes of a warp give different descriptors, or do not all add");
        return false;
    }
    for (int i = x->a_shared ? 0 : 1; i < 2; i++)
        if (wgmma_operand(f->descriptor[i]).base) {
            complain(w, c, "the simulator does not know descriptors with a base offset");
            return false;
        }
    return true;
}

static bool whole_group(struct warp *w, const struct code *c, uint32_t m)
{
    if (m != SIM_FULL) {
        complain(w, c, "not all lanes of the warp come to it");
        return false;
    }
    const int warp = w->id % w->block->block_warps;
    if (warp / 4 * 4 + 4 > w->block->block_warps) {
        complain(w, c, "its warpgroup has fewer than four warps");
        return false;
    }
    return true;
}

/* ---- for the hazard detector: each warp reads its rows of A, and a quarter of B that the four have together ---- */

static void watch_operand(struct warp *w, const struct code *c, uint64_t descriptor, bool beside,
                          uint32_t row, uint32_t rows)
{
    const struct wgmma_operand o = wgmma_operand(descriptor);
    const uint32_t all = rows * 2; /* pieces of 16 bytes: of each row two, k 0 and k 8 */
    for (uint32_t i = 0; i < all; i += 32) {
        const uint32_t n = all - i < 32 ? all - i : 32;
        uint32_t addr[32] = {0};
        for (uint32_t l = 0; l < n; l++) {
            const uint32_t x = i + l, line = x / 2, k = x % 2 * 8;
            addr[l] = (beside ? wgmma_address(&o, true, row + line / 8 * 8, k + line % 8)
                              : wgmma_address(&o, false, row + line, k)) +
                      w->rank * w->block->stride;
        }
        const struct hazard_access a = {.warp = (uint32_t)(w->block->nwarps + w->id),
                                        .mask = n == 32 ? SIM_FULL : (1u << n) - 1,
                                        .insn = c->insn,
                                        .bytes = 16,
                                        .act = HAZARD_READ,
                                        .collective = true};
        hazard_shared(worker_of(w)->hazard, &a, addr);
    }
}

static void watch(struct warp *w, const struct code *c, const struct code_wgmma *x,
                  const struct wgmma_flight *f)
{
    struct hazard_block *h = worker_of(w)->hazard;
    const uint32_t agent = (uint32_t)(w->block->nwarps + w->id),
                   of_four = (uint32_t)(w->id % w->block->block_warps % 4);
    hazard_agent_begin(h, agent, SIM_FULL, (uint32_t)w->id, SIM_FULL);
    if (x->a_shared)
        watch_operand(w, c, f->descriptor[0], x->a_beside, of_four * 16, 16);
    for (uint32_t n = of_four * 8; n < (uint32_t)x->n; n += 32)
        watch_operand(w, c, f->descriptor[1], x->b_beside, n, 8);
}

/* Of 128 bytes the right operand takes n / 4, which the four warps read together, the left one 16 where it is in shared memory:
 * what Nsight Compute counts of an H200 (tests/sim/counters_90a.tsv). Swizzled operands have no conflicts. */
static void count_product(struct warp *w, const struct code *c, const struct code_wgmma *x)
{
    struct worker *t = worker_of(w);
    const uint64_t reads = (uint64_t)x->n / 4 + (x->a_shared ? 16 : 0);
    COUNT(t, c, tensor_ops, (uint64_t)x->n / 8);
    if (w->id % w->block->block_warps % 4)
        return;
    COUNT(t, c, smem_wavefronts, reads);
    COUNT(t, c, smem_wavefronts_ideal, reads);
    pace_turn(w); /* they are no work of the warp's */
}

void warp_wgmma(struct warp *w, const struct code *c, uint32_t m)
{
    const struct sim_program *p = w->block->program;
    const struct code_wgmma *x = &p->wgmma[c->imm];
    if (!m || !whole_group(w, c, m))
        return;
    if (x->unfenced == WGMMA_NEVER_FENCED)
        block_fault(w->block, w, c, -1, SIM_FAULT_WGMMA_FENCE, SIM_NOWHERE, 0, 0, 1, "%s",
                    "there was none since the kernel began");
    else if (x->unfenced)
        block_fault(w->block, w, c, -1, SIM_FAULT_WGMMA_FENCE, SIM_NOWHERE, 0, 0, 1,
                    "PTX line %" PRIu32 " %s one", x->unfenced_line,
                    x->unfenced == WGMMA_READ ? "read" : "wrote");
    if (w->wgmmas == WGMMA_FLIGHTS)
        finish(w, 1);
    struct wgmma_flight *f = &w->wgmma[w->wgmmas];
    f->code = (uint32_t)(c - w->block->worker->program->code);
    f->group = 0;
    if (!operands(w, c, x, f))
        return;
    pace_product(w, f, x);
    count_product(w, c, x);
    w->wgmmas++;
    w->wgmmas_done++;
    if (worker_of(w)->hazard)
        watch(w, c, x, f);
}

void warp_wgmma_commit(struct warp *w, const struct code *c, uint32_t m)
{
    if (!m || !whole_group(w, c, m))
        return;
    struct hazard_block *h = worker_of(w)->hazard;
    const uint32_t mark = h ? hazard_agent_mark(h, (uint32_t)(w->block->nwarps + w->id)) : 0;
    w->wgmma_groups++;
    for (uint32_t i = 0; i < w->wgmmas; i++)
        if (!w->wgmma[i].group) {
            w->wgmma[i].group = w->wgmma_groups;
            w->wgmma[i].mark = mark;
        }
}

void warp_wgmma_wait(struct warp *w, const struct code *c, uint32_t m)
{
    uint32_t n = 0;
    if (!m || !whole_group(w, c, m))
        return;
    const uint32_t done = w->wgmma_groups > c->imm ? w->wgmma_groups - c->imm : 0;
    while (n < w->wgmmas && w->wgmma[n].group && w->wgmma[n].group <= done)
        n++;
    if (n && worker_of(w)->hazard)
        hazard_agent_done(worker_of(w)->hazard, (uint32_t)(w->block->nwarps + w->id),
                          w->wgmma[n - 1].mark, (uint32_t)w->id);
    if (n) {
        pace_products_done(w, &w->wgmma[n - 1]);
        finish(w, n);
    }
}

/* ---- registers ---- */

/* A register of the instruction that a wgmma under way has. */
struct touching {
    const struct warp *w;
    const struct wgmma_flight *f;
    int32_t reg;
};
static void see_register(void *ctx, int32_t reg, enum flow_use use)
{
    struct touching *t = ctx;
    const struct sim_program *p = t->w->block->program;
    const struct code_wgmma *x = wgmma_of(t->w, t->f->code);
    const uint32_t at = p->place_of[reg] * SIM_SLOT;
    const int n = x->n / 8 * x->mma.regs[TENSOR_D];
    if (p->place_of[reg] == PLACE_NONE || ptx_type_bytes(p->function->regs[reg].type) != 4)
        return;
    for (int i = 0; i < n; i++)
        if (x->d[i] == at)
            t->reg = reg;
    for (int i = 0; i < 4 && !x->a_shared && use == FLOW_WRITES; i++)
        if (x->a[i] == at)
            t->reg = reg;
}

void warp_wgmma_touch(struct warp *w, const struct code *c, uint32_t m)
{
    const struct sim_program *p = w->block->program;
    if (!m || !w->wgmmas)
        return;
    for (uint32_t i = 0; i < w->wgmmas; i++) {
        struct touching t = {.w = w, .f = &w->wgmma[i], .reg = -1};
        flow_registers(p->function, &p->function->insns[c->insn], see_register, &t);
        if (t.reg < 0)
            continue;
        const struct sim_insn at = p->insn[p->code[t.f->code].insn];
        block_fault(w->block, w, c, __builtin_ctz(m), SIM_FAULT_WGMMA_REGISTER, SIM_NOWHERE, 0, 0,
                    (uint32_t)__builtin_popcount(m),
                    "%s is of the wgmma of PTX line %d (line %d), which no wgmma.wait_group has "
                    "waited for",
                    p->function->regs[t.reg].name, at.ptx_line, at.at.line);
        return;
    }
}

/* ---- setmaxnreg ---- */

/* Registers of a lane at launch: as many as a kernel of so many threads may have, one block on a multiprocessor. PTX does
 * not say what ptxas gives; that is the most. */
static uint32_t launch_registers(const struct block *b)
{
    const uint32_t most = 65536 / ((b->threads + 31) / 32 * 32) / 8 * 8;
    return most > 255 ? 255 : most;
}

void warp_setmaxnreg(struct warp *w, const struct code *c, uint32_t m)
{
    const uint32_t before = w->registers ? w->registers : launch_registers(w->block);
    if (!m || !whole_group(w, c, m))
        return;
    if (c->kind ? c->imm < before : c->imm > before)
        block_fault(w->block, w, c, -1, SIM_FAULT_SETMAXNREG, SIM_NOWHERE, 0, 0, 1,
                    "from %" PRIu32 " to %" PRIu32 " registers is no %s", before, c->imm,
                    c->kind ? "increase" : "decrease");
    w->registers = c->imm;
    w->registers_code = (uint32_t)(c - w->block->worker->program->code);
}

/* What the warps of a block hold in the end: nobody gives back later. */
static void check_registers(struct block *b, int first)
{
    const uint32_t launch = launch_registers(b), all = launch * 32 * (uint32_t)b->block_warps;
    uint32_t sum = 0;
    const struct warp *asks = NULL;
    for (int i = first; i < first + b->block_warps; i++) {
        const struct warp *w = &b->warp[i];
        sum += 32 * (w->registers ? w->registers : launch);
        if (w->registers > launch && !asks)
            asks = w;
    }
    if (asks && sum > all)
        block_fault(b, asks, &b->program->code[asks->registers_code], -1, SIM_FAULT_SETMAXNREG,
                    SIM_NOWHERE, 0, 0, 1,
                    "all warps together want %" PRIu32 ", the block has %" PRIu32
                    ": they wait for ever",
                    sum, all);
}

/* The four warps of a warpgroup made the same products. */
static void check_products(struct block *b, int first)
{
    const struct warp *w = &b->warp[first];
    bool same = true;
    for (int k = 1; k < 4; k++)
        same &= w[k].wgmmas_done == w->wgmmas_done;
    if (same)
        return;
    uint32_t at = 0;
    const struct code *c = b->program->code;
    while (c[at].op != OP_WGMMA && (c[at].op != OP_OBSERVED || c[at].pipe != SIM_PIPE_tensor))
        at++;
    block_fault(b, w, &b->program->code[at], -1, SIM_FAULT_WGMMA, SIM_NOWHERE, 0, 0, 1,
                "the warps of a warpgroup made %" PRIu32 ", %" PRIu32 ", %" PRIu32 " and %" PRIu32
                " products",
                w->wgmmas_done, w[1].wgmmas_done, w[2].wgmmas_done, w[3].wgmmas_done);
}

void warpgroups_end(struct block *b)
{
    for (int i = 0; i < b->nwarps && !b->ended; i += b->block_warps) {
        check_registers(b, i);
        for (int k = 0; k + 4 <= b->block_warps && b->program->nwgmma; k += 4)
            check_products(b, i + k);
    }
}
