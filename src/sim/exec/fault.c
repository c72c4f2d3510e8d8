/* fault.c - what goes wrong in a block: the first of each kind and instruction, and how often.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"
#include "sim/exec/worker.h"

static struct sim_fault *fault_of(struct fault_list *l, enum sim_fault_kind kind, uint64_t insn)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->fault[i].kind == kind && l->fault[i].insn == insn)
            return &l->fault[i];
    return NULL;
}

#define FAULTS_OF_A_BLOCK 256

void block_fault(struct block *b, const struct warp *w, const struct code *c, int lane,
                 enum sim_fault_kind kind, enum sim_space space, uint64_t addr, uint32_t bytes,
                 uint32_t lanes, const char *fmt, ...)
{
    struct fault_list *l = &b->worker->faults;
    struct sim_fault *f = fault_of(l, kind, c->insn);
    if (f) {
        f->count += lanes;
        return;
    }
    if (l->count >= FAULTS_OF_A_BLOCK) {
        l->lost += lanes;
        return;
    }
    xgrow((void **)&l->fault, &l->cap, l->count + 1, sizeof *l->fault);
    f = &l->fault[l->count++];
    if (space == SIM_SHARED && b->cluster > 1) /* as the block that has it counts */
        addr =
            addr >> CLUSTER_ADDR_BITS ? addr & ((1u << CLUSTER_ADDR_BITS) - 1) : addr % b->stride;
    *f = (struct sim_fault){.kind = kind,
                            .space = space,
                            .block = b->index + (w ? w->rank : 0),
                            .warp = w ? w->id % b->block_warps : -1,
                            .lane = lane,
                            .insn = c->insn,
                            .addr = addr,
                            .bytes = bytes,
                            .count = lanes};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(f->text, sizeof f->text, fmt, ap);
    va_end(ap);
}
