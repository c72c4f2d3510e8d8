/* lower.h - from PTX as parsed to code: what the files that lower have in common.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_LOWER_LOWER_H
#define ATTNSCOPE_SIM_LOWER_LOWER_H

#include "sim/code.h"
#include "sim/flow.h"
#include "sim/lower/merge.h"
#include "sim/place.h"
#include "sim/ptx.h"

struct lower {
    struct ptx_module *module;
    const struct ptx_function *f;
    struct flow *flow;
    struct place *place;
    struct sim_program *p;
    struct err *err;

    const struct ptx_insn *i; /* the instruction that is lowered */
    uint32_t index;
    uint32_t first;          /* its first code */
    uint32_t temps;          /* temporary slots that it has taken */
    const char *const *word; /* words of its opcode behind the base that are not consumed yet */
    int words;

    struct merged *merged; /* by instruction; NULL: none is */
    uint32_t *code_of;     /* by instruction: its first code */
    size_t code_cap, memory_cap, tensor_cap, constant_cap, variable_cap, targets_cap, wgmma_cap,
        bulk_cap, send_cap;
    struct wgmma_uses *uses; /* NULL: no wgmma in it */
    uint32_t *constant_at;   /* hash table of constants, by slot + 1 */
    uint32_t constant_mask;
    uint64_t *
        shared_at; /* by variable of the module, then of the function: offset + 1 in shared memory */
};

/* Refuses the instruction: PTX line, source line, its text, and why. Returns ST_USAGE. */
enum status lower_refuse(struct lower *l, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- Words of the opcode ---- */
bool lower_word(struct lower *l, const char *word); /* consumes the next one if it is this */
/* Consumes the next one if it is in the list, which NULL ends; its place in it, -1: no. */
int lower_choice(struct lower *l, const char *const *list);
enum ptx_type lower_type(struct lower *l); /* consumes a type; PTX_NO_TYPE: there is none */
void lower_skip_hints(struct lower *l);    /* cache and eviction hints, which cost nothing here */
enum status lower_end(struct lower *l);    /* refuses words that are left */

/* ---- Operands: `at` counts from 0. ---- */
const struct ptx_operand *lower_operand(const struct lower *l, int at); /* NULL: there is none */
/* Slots. Letters as in isa.h: h w d H W D. Refuses a register of another size. */
enum status lower_source(struct lower *l, const struct ptx_operand *o, char letter, uint32_t *ref);
enum status lower_dest(struct lower *l, const struct ptx_operand *o, char letter,
                       uint32_t *ref); /* sink: SIM_NO_REF */
enum status lower_pred_source(struct lower *l, const struct ptx_operand *o, uint16_t *ref);
enum status lower_pred_dest(struct lower *l, const struct ptx_operand *o, uint16_t *index);
uint32_t lower_constant(struct lower *l, uint64_t value, bool wide);
/* The same with the address of a variable of the program added at each run; -1: none. */
uint32_t lower_constant_of(struct lower *l, uint64_t value, bool wide, int variable);
uint32_t lower_temp(struct lower *l); /* a wide temporary slot of this instruction */
bool lower_is_wide(const struct lower *l, const struct ptx_operand *o); /* a register of 64 bits */
/* What an address stands for beside its register: a variable's place and the offset. */
enum status lower_address(struct lower *l, const struct ptx_operand *o, struct code_memory *mem,
                          uint32_t *ref, bool generic);
/* The address of a variable in its own space; `reloc` gets the index of a variable of the program, or -1. */
enum status lower_variable(struct lower *l, const struct ptx_variable *v, uint64_t *addr,
                           int *reloc, enum sim_space *space);
uint32_t lower_program_variable(struct lower *l, const struct ptx_variable *v);

/* ---- Code ---- */
/* Appends; guard, instruction and, from the second on, quietness are added. The first is counted for `pipe`. */
struct code *lower_emit(struct lower *l, enum sim_op op, enum sim_pipe pipe);
/* A wait that leaves n groups under way is noted; n. */
uint32_t lower_groups(struct lower *l, uint32_t n);
uint32_t lower_memory(struct lower *l, const struct code_memory *m);
uint32_t lower_tensor_new(struct lower *l, const struct code_tensor *t);

/* lower_data.c. Consumes what a reduction does and to which type: ".add.noftz.f16". */
enum status lower_reduction(struct lower *l, struct code_memory *m);

/* ---- Families. ST_OK with *known false: not of this file. ---- */
enum status lower_data(struct lower *l, bool *known); /* mov cvt cvta setp set ld st atom red ... */
enum status lower_warp(struct lower *l, bool *known); /* bra ret bar shfl vote call ... */
enum status lower_tensor(struct lower *l, bool *known); /* mma wmma ldmatrix stmatrix */
enum status lower_async(struct lower *l, bool *known);  /* cp.async mbarrier */
enum status lower_hopper(struct lower *l,
                         bool *known); /* wgmma cp.async.bulk setmaxnreg fence.proxy */

#endif
