/* flow.h - where control goes in a function, and where lanes that parted meet again.
 *
 * A branch that lanes take differently parts them; they meet at its immediate post-dominator, the
 * first instruction that every way from the branch to the end comes through. A function with
 * several ends has them meet behind the last instruction.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_FLOW_H
#define ATTNSCOPE_SIM_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/ptx.h"

/* How an instruction leaves its place. */
enum flow_kind {
    FLOW_NEXT,   /* to the next instruction */
    FLOW_BRANCH, /* bra: to a label, with a guard also to the next */
    FLOW_INDEX,  /* brx.idx: to one of a table's labels */
    FLOW_END,    /* ret, exit, trap: lanes end; with a guard the others go on */
};
enum flow_kind flow_kind(const struct ptx_insn *i);

/* What an instruction does with one of its registers. */
enum flow_use {
    FLOW_READS,
    FLOW_WRITES,
};
typedef void flow_visit_fn(void *ctx, int32_t reg, enum flow_use use);
/* Calls `visit` for every register that the instruction names: guard, addresses and vector elements
 * included; reads before writes. A guarded write leaves the lanes without the guard as they were: it
 * comes as a read and a write. The first operand is written unless it is an address, or the
 * instruction has no result (bar.sync, nanosleep, ...); of a call it is the list before the function. */
void flow_registers(const struct ptx_function *f, const struct ptx_insn *i, flow_visit_fn *visit,
                    void *ctx);

struct flow_block {
    uint32_t first, end;  /* instructions first <= i < end */
    uint32_t nnext;       /* successors */
    const uint32_t *next; /* blocks; the last one (`nblocks - 1`) is the empty end of all ways */
    uint32_t nprev;
    const uint32_t *prev;
    uint32_t meet; /* immediate post-dominator, a block; itself for the end */
    /* Loops: `loop` is the header of the innermost one around, its own for a header, -1 for none; nested
     * `depth` deep. Of a loop with several entries the one that is met first is the header. */
    int32_t loop;
    uint32_t depth;
    bool reached; /* from the function's begin */
};

struct flow {
    struct flow_block *blocks; /* in the order of the text */
    uint32_t nblocks;          /* the last is the end */
    uint32_t *block_of;        /* by instruction; at `ninsns` the end */
    struct flow_store *store;
};

/* ST_USAGE with the PTX line when a branch has no label to go to. flow_free() frees it. */
enum status flow_new(const struct ptx_function *f, struct flow **out, struct err *err);
void flow_free(struct flow *w);

/* Where the lanes that this instruction parts meet again: an instruction, `ninsns` for the end. */
uint32_t flow_meeting(const struct flow *w, uint32_t insn);

#endif
