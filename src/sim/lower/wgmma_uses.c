/* wgmma_uses.c - see wgmma_uses.h: two facts of each register of a wgmma, carried forward through the blocks of a function
 * until nothing changes.
 *
 * `age`: how many groups were committed since the last wgmma that has it, at least; LANDED: it is waited for. A wait for all but N
 * groups lands what is more than N old. `used`: an instruction that wrote or read it since the last wgmma.fence, 0: none. The
 * first wgmma of a kernel wants a fence, too.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/lower/wgmma_uses.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { LANDED = 255, AGE_MOST = 254 };
#define READ_ONLY  (1u << 31)
#define FROM_START (READ_ONLY - 1) /* no fence since the kernel's begin */

struct fact {
    uint8_t age;
    uint32_t used; /* instruction + 1, with READ_ONLY where none wrote it */
};

struct wgmma_uses {
    const struct ptx_function *f;
    const struct flow *flow;
    uint32_t *number; /* by register: its number among those of wgmmas, from 1 */
    uint32_t n;
    struct fact *in;     /* [block][register] */
    struct fact *now;    /* [register], of the block that is passed */
    bool *touch;         /* [insn] */
    uint32_t *unfenced;  /* [insn] */
    bool telling, found; /* the last pass; something was found of the instruction */
    uint32_t insn;
};

static bool is_wgmma(const struct ptx_insn *i, const char *what)
{
    return !strcmp(i->op->parts[0], "wgmma") && i->op->nparts > 1 && !strcmp(i->op->parts[1], what);
}

static void number_register(void *ctx, int32_t reg, enum flow_use use)
{
    struct wgmma_uses *u = ctx;
    (void)use;
    if (ptx_type_bytes(u->f->regs[reg].type) == 4 && !u->number[reg])
        u->number[reg] = ++u->n;
}

/* ---- one instruction ---- */

static void pass_mma_register(void *ctx, int32_t reg, enum flow_use use)
{
    struct wgmma_uses *u = ctx;
    (void)use;
    if (!u->number[reg])
        return;
    struct fact *x = &u->now[u->number[reg] - 1];
    if (u->telling && x->used && !u->unfenced[u->insn])
        u->unfenced[u->insn] = x->used;
    x->age = 0;
}

static void pass_register(void *ctx, int32_t reg, enum flow_use use)
{
    struct wgmma_uses *u = ctx;
    if (!u->number[reg])
        return;
    struct fact *x = &u->now[u->number[reg] - 1];
    u->found |= x->age != LANDED;
    if (use == FLOW_WRITES)
        x->used = u->insn + 1;
    else if (!x->used || x->used == FROM_START)
        x->used = (u->insn + 1) | READ_ONLY;
}

static void each_fact(struct wgmma_uses *u, const struct ptx_insn *i)
{
    const bool fence = is_wgmma(i, "fence"), commit = is_wgmma(i, "commit_group");
    const struct ptx_operand *o = i->noperands ? &u->f->operands[i->operand] : NULL;
    const uint64_t pending = o && o->kind == PTX_IMM ? o->imm : 0;
    for (uint32_t r = 0; r < u->n; r++) {
        struct fact *x = &u->now[r];
        if (fence)
            x->used = 0;
        else if (commit)
            x->age += x->age < AGE_MOST;
        else if (x->age != LANDED && x->age > pending)
            x->age = LANDED;
    }
}

static void pass(struct wgmma_uses *u, uint32_t insn)
{
    const struct ptx_insn *i = &u->f->insns[insn];
    u->insn = insn;
    u->found = false;
    if (is_wgmma(i, "mma_async"))
        flow_registers(u->f, i, pass_mma_register, u);
    else if (!strcmp(i->op->parts[0], "wgmma"))
        each_fact(u, i);
    else
        flow_registers(u->f, i, pass_register, u);
    if (u->telling)
        u->touch[insn] = u->found;
}

/* ---- all of them ---- */

/* What may be true on either way. */
static bool meet(struct fact *into, const struct fact *from, uint32_t n)
{
    bool changed = false;
    for (uint32_t r = 0; r < n; r++) {
        if (from[r].age < into[r].age) {
            into[r].age = from[r].age;
            changed = true;
        }
        if (from[r].used && !into[r].used) {
            into[r].used = from[r].used;
            changed = true;
        }
    }
    return changed;
}

static void pass_block(struct wgmma_uses *u, uint32_t b)
{
    const struct flow_block *block = &u->flow->blocks[b];
    memcpy(u->now, u->in + (size_t)b * u->n, u->n * sizeof *u->now);
    for (uint32_t i = block->first; i < block->end; i++)
        pass(u, i);
}

/* Facts only ever move one way, 256 + 1 steps at most. */
static void settle(struct wgmma_uses *u)
{
    bool changed = true;
    bool *dirty = xcalloc(u->flow->nblocks + 1u, sizeof *dirty);
    memset(dirty, true, u->flow->nblocks);
    while (changed) {
        changed = false;
        for (uint32_t b = 0; b < u->flow->nblocks; b++) {
            if (!dirty[b])
                continue;
            dirty[b] = false;
            pass_block(u, b);
            const struct flow_block *block = &u->flow->blocks[b];
            for (uint32_t k = 0; k < block->nnext; k++)
                if (meet(u->in + (size_t)block->next[k] * u->n, u->now, u->n))
                    changed = dirty[block->next[k]] = true;
        }
    }
    free(dirty);
}

struct wgmma_uses *wgmma_uses_new(const struct ptx_function *f, const struct flow *w)
{
    struct wgmma_uses *u = xcalloc(1, sizeof *u);
    *u = (struct wgmma_uses){.f = f, .flow = w};
    u->number = xcalloc(f->nregs + 1u, sizeof *u->number);
    for (uint32_t i = 0; i < f->ninsns; i++)
        if (is_wgmma(&f->insns[i], "mma_async"))
            flow_registers(f, &f->insns[i], number_register, u);
    if (!u->n || (uint64_t)u->n * w->nblocks > UINT64_C(1)
                                                   << 24) { /* nobody writes such a kernel */
        wgmma_uses_free(u);
        return NULL;
    }
    u->in = xcalloc((size_t)w->nblocks * u->n, sizeof *u->in);
    u->now = xcalloc(u->n, sizeof *u->now);
    u->touch = xcalloc(f->ninsns + 1u, sizeof *u->touch);
    u->unfenced = xcalloc(f->ninsns + 1u, sizeof *u->unfenced);
    for (size_t i = 0; i < (size_t)w->nblocks * u->n; i++)
        u->in[i].age = LANDED;
    for (uint32_t r = 0; r < u->n && w->nblocks; r++)
        u->in[r].used = FROM_START;
    settle(u);
    u->telling = true;
    for (uint32_t b = 0; b < w->nblocks; b++)
        pass_block(u, b);
    return u;
}

void wgmma_uses_free(struct wgmma_uses *u)
{
    if (!u)
        return;
    free(u->number);
    free(u->in);
    free(u->now);
    free(u->touch);
    free(u->unfenced);
    free(u);
}

bool wgmma_uses_touch(const struct wgmma_uses *u, uint32_t insn)
{
    return u->touch[insn];
}

enum wgmma_unfenced wgmma_uses_unfenced(const struct wgmma_uses *u, uint32_t insn, uint32_t *by)
{
    const uint32_t used = u->unfenced[insn];
    *by = used && used != FROM_START ? (used & ~READ_ONLY) - 1 : 0;
    return !used                ? WGMMA_FENCED
           : used == FROM_START ? WGMMA_NEVER_FENCED
           : used & READ_ONLY   ? WGMMA_READ
                                : WGMMA_WRITTEN;
}
