/* poll.c - see poll.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/exec/poll.h"

#include "base/hash.h"
#include "sim/exec/worker.h"

enum { OTHERS = 64, LOOKS_MOST = 1 << 16 };

/* May the rest of the world see that it was done, or the warp itself by other things than registers? */
static bool has_effect(const struct worker *t, const struct code *c)
{
    const enum sim_op op = observed_op(t->observer, c);
    switch (op) {
    case OP_LD:
    case OP_LDMATRIX:
    case OP_MOVMATRIX:
    case OP_MMA:
    case OP_WMMA_LOAD:
    case OP_SHFL:
    case OP_VOTE:
    case OP_MATCH:
    case OP_REDUX:
    case OP_ELECT:
    case OP_ACTIVEMASK:
    case OP_WARP_SYNC:
    case OP_FENCE:
    case OP_MBARRIER_TEST: /* what comes by it is among the block's changes */
    case OP_WGMMA_FENCE:
    case OP_ISSPACEP:
    case OP_NOP:
    case OP_BRA:
    case OP_BRX:
    case OP_YIELD:
        return false;
    default:
        return op > OP_SPECIAL; /* what lies before it has no effects beyond its lanes */
    }
}

/* Lanes that have done such a thing in the block so far, but for code `own`: an atomic operation that finds the same value
 * twice with the same operands has changed nothing. */
static uint64_t effects_of(const struct worker *t, uint32_t own)
{
    const struct sim_program *p = t->program;
    uint64_t n = 0;
    for (uint32_t k = 0; k < p->ncode; k++) {
        if (k != own && has_effect(t, &p->code[k]))
            n += t->tally[k].lanes;
        for (uint32_t i = 0; t->runs[k].lanes && i < p->run[k].length; i++)
            n += k + i != own && has_effect(t, &p->code[k + i]) ? t->runs[k].lanes : 0;
    }
    return n;
}

/* All that decides what the warp does next, memory aside. */
static uint64_t state_of(const struct warp *w)
{
    const struct sim_program *p = w->block->program;
    const uint64_t parts[] = {hash_memory(w->base[0], (size_t)p->slots * SIM_SLOT),
                              hash_memory(w->pred, (size_t)p->predicates * sizeof *w->pred),
                              hash_memory(w->path, (size_t)w->depth * sizeof *w->path), w->live};
    return hash_memory(parts, sizeof parts);
}

/* Is the code the one that the warp is watched at? Of several places in a loop it is the first. */
static bool watched(struct warp *w, uint32_t code)
{
    struct poll *x = &w->poll;
    if (x->code != code && x->code && x->others++ < OTHERS)
        return false;
    if (x->code != code)
        x->visits = 0;
    x->code = code;
    x->others = 0;
    return true;
}

void warp_polls(struct warp *w, const struct code *c)
{
    struct poll *x = &w->poll;
    const uint32_t code = (uint32_t)(c - w->block->program->code) - 1;
    if (!watched(w, code) || ++x->visits < x->looks)
        return;
    const uint64_t state = state_of(w), effects = effects_of(worker_of(w), code);
    if (x->visits == x->looks) { /* this time and the next are compared */
        x->state = state;
        x->effects = effects;
        return;
    }
    if (state != x->state ||
        effects != x->effects) { /* work: it is looked at less and less often */
        x->looks = x->looks < LOOKS_MOST ? 2 * x->looks : LOOKS_MOST;
        x->visits = 0;
        return;
    }
    w->yields = x->vain = true;
    x->again = x->vain_code == code && x->vain_state == state && x->vain_effects == effects;
    x->vain_code = code;
    x->vain_state = state;
    x->vain_effects = effects;
}
