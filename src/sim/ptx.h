/* ptx.h - PTX text as parsed: modules, variables, functions, registers, instructions.
 *
 * A parser, no judge: an instruction nobody knows is kept as it is, and who lowers it names it. What
 * is refused is refused with its line: names that are not declared, text that is no PTX, numbers of
 * things beyond the limits below. The text is foreign; names in a module are printable ASCII,
 * those of files are not.
 *
 * Everything of a module lives as long as the module. All strings are interned: equal texts within
 * one module are one pointer.
 *
 * Source: NVIDIA, Parallel Thread Execution ISA 9.0, chapters 4 (syntax), 5 (state spaces), 7
 * (functions), 10 (special registers), 11 (directives).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_PTX_H
#define ATTNSCOPE_SIM_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"

/* Limits against hostile text; far beyond what compilers write. */
enum {
    PTX_MAX_TEXT = 16 << 20, /* bytes */
    PTX_MAX_INSNS = 1 << 20, /* in one function, also after inlining */
    PTX_MAX_REGS = 1 << 20,  /* used ones of one function */
    PTX_MAX_NESTING = 32,    /* of scopes, braces of an initialiser, inlined calls */
    PTX_MAX_NAME = 4096,     /* bytes */
    PTX_MAX_ITEMS = 256,     /* of one vector or list; wgmma takes 128 registers */
    PTX_MAX_OPERANDS = 32,   /* of one instruction */
    PTX_MAX_PARTS = 24,      /* of one opcode, between dots */
    PTX_MAX_INIT = 16 << 20, /* bytes of one variable's initialiser */
};

enum ptx_type {
    PTX_NO_TYPE,
    PTX_PRED,
    PTX_B8,
    PTX_B16,
    PTX_B32,
    PTX_B64,
    PTX_B128,
    PTX_U8,
    PTX_U16,
    PTX_U32,
    PTX_U64,
    PTX_S8,
    PTX_S16,
    PTX_S32,
    PTX_S64,
    PTX_F16,
    PTX_F16X2,
    PTX_BF16,
    PTX_BF16X2,
    PTX_F32,
    PTX_F64,
    PTX_NTYPES
};
/* "f16x2" gives PTX_F16X2, a word that is no type PTX_NO_TYPE. */
enum ptx_type ptx_type_of(const char *word);
const char *ptx_type_name(enum ptx_type t);
int ptx_type_bytes(enum ptx_type t); /* 0 for PTX_NO_TYPE and PTX_PRED */

enum ptx_space {
    PTX_SPACE_REG,   /* a register, no variable has it */
    PTX_SPACE_PARAM, /* of the function itself, or of a call that it makes */
    PTX_SPACE_LOCAL,
    PTX_SPACE_SHARED,
    PTX_SPACE_GLOBAL,
    PTX_SPACE_CONST,
};
const char *ptx_space_name(enum ptx_space s); /* "shared" */

struct ptx_variable;
struct ptx_function;

/* An address that stands in a variable's initial value. */
struct ptx_reloc {
    uint64_t offset;                     /* of its first byte in the variable */
    int bytes;                           /* 1 to 8 */
    const struct ptx_variable *variable; /* either, the other is NULL */
    const struct ptx_function *function;
    int64_t addend;
    int shift;    /* of the address's bits before they are stored: `0xFF00(x)` has 8 */
    bool generic; /* generic(x): the generic address, not that within its space */
};

struct ptx_variable {
    const char *name;
    enum ptx_space space;
    enum ptx_type type; /* of an element */
    uint32_t align;     /* bytes, a power of two, at least the element's */
    uint64_t elements;  /* 1 for a scalar; 0 with `is_unsized` */
    uint64_t bytes;     /* element times elements */
    bool is_array;      /* parameters: a struct by value is an array of b8 */
    bool is_unsized;    /* `x[]`: dynamic shared memory */
    bool is_extern, is_visible;
    /* Parameters of a function: in its parameter block. PTX_SPACE_LOCAL and the parameters of calls
     * (PTX_SPACE_PARAM within a body): in `local_bytes` and `call_bytes` of the function. Shared,
     * global and constant variables have 0: who lowers an entry places those that it uses. */
    uint64_t offset;
    /* Initial value: the first `ndata` bytes, zeros follow; NULL when none was given. */
    const uint8_t *data;
    uint64_t ndata;
    const struct ptx_reloc *relocs;
    uint32_t nrelocs;
    uint32_t line; /* of the PTX */
};

/* "mma.sync.aligned.m16n8k16...": interned, so that each form is looked up once a module. */
struct ptx_opcode {
    const char *text;
    uint32_t id;              /* its index in `opcodes` of the module */
    int nparts;               /* between dots; `L1::no_allocate` is one */
    const char *const *parts; /* parts[0] is the base: "mma" */
};
/* Whether one of the parts after the base is `word`. */
bool ptx_opcode_has(const struct ptx_opcode *op, const char *word);

enum ptx_operand_kind {
    PTX_REG,       /* `reg` */
    PTX_SPECIAL,   /* `name` with its component: "%tid.x" */
    PTX_IMM,       /* `imm`, `imm_kind` */
    PTX_VARIABLE,  /* `variable` + `offset`: its address, as in mov and cvta */
    PTX_FUNCTION,  /* `function`: what is called */
    PTX_LABEL,     /* `label`, `name` */
    PTX_TARGETS,   /* `targets`: index of a .branchtargets table */
    PTX_PROTOTYPE, /* `name` of a .callprototype or .calltargets */
    PTX_ADDRESS, /* [reg + offset], [variable + offset] or [offset]; items: coordinates of a tensor */
    PTX_VECTOR, /* {a, b}: items */
    PTX_PAIR,   /* p|q: two items */
    PTX_LIST,   /* (a, b) of a call: items */
    PTX_SINK,   /* _ */
};

enum ptx_imm_kind {
    PTX_IMM_INT, /* `imm` is the number in two's complement */
    PTX_IMM_F32, /* the low 32 bits of `imm` are the float's: 0f3F800000 */
    PTX_IMM_F64, /* the bits of the double: 0d3FF0000000000000, 1.0 */
};

struct ptx_operand {
    uint8_t kind;     /* enum ptx_operand_kind */
    uint8_t imm_kind; /* enum ptx_imm_kind */
    bool negated;     /* !p: PTX_REG of a predicate */
    int32_t reg; /* index in `regs` of the function; -1: none (PTX_ADDRESS without a register) */
    uint32_t item, nitems; /* in `operands` of the function, `item` is the first */
    union {
        int64_t offset; /* PTX_ADDRESS, PTX_VARIABLE */
        uint64_t imm;   /* PTX_IMM */
        uint32_t label; /* PTX_LABEL: index in `labels` */
        uint32_t targets;
    };
    union {
        const char *name; /* PTX_SPECIAL, PTX_LABEL, PTX_TARGETS, PTX_PROTOTYPE */
        const struct ptx_variable *variable; /* PTX_VARIABLE, PTX_ADDRESS; NULL: none */
        const struct ptx_function *function;
    };
};

/* Where a line of CUDA stands (.loc). Index 0 of `locations` is "unknown", with line 0. */
#define PTX_NO_FILE UINT32_MAX
struct ptx_location {
    uint32_t file;   /* index in `files` of the module; PTX_NO_FILE: no .file names it */
    uint32_t line;   /* from 1; 0: unknown */
    uint32_t column; /* from 1; 0: unknown */
    /* When the line came here by inlining: the function that it is of, as the assembler calls it,
     * NULL if unknown, and the index of the location of the call, which may be inlined, too; 0 when
     * it was not inlined. Always less than the location's own index: chains end. */
    const char *function;
    uint32_t inlined_at;
};

struct ptx_insn {
    const struct ptx_opcode *op;
    int32_t guard; /* register of `@p`, -1: none */
    bool guard_negated;
    uint16_t noperands;
    uint32_t operand;  /* the first, in `operands` of the function */
    uint32_t line;     /* of the PTX, from 1 */
    uint32_t location; /* in `locations` of the module, 0: unknown */
};

struct ptx_reg {
    const char *name; /* "%f12"; names of inner scopes and of inlined functions may repeat */
    enum ptx_type type;
};

struct ptx_label {
    const char *name;
    uint32_t insn; /* the instruction behind it; `ninsns` at the end of the function */
    uint32_t line;
    bool nounroll; /* .pragma "nounroll" stands behind it: of the loop that it begins */
};

/* .branchtargets */
struct ptx_targets {
    const uint32_t *labels; /* indices in `labels` */
    uint32_t n;
};

struct ptx_function {
    const char *name;
    bool is_entry; /* .entry, not .func */
    bool is_extern, is_visible;
    bool has_body; /* else declared alone: vprintf, __assertfail */
    uint32_t line;

    /* Parameters in order with their offsets in the parameter block, and of a .func what it
     * returns (offsets in a block of its own). */
    struct ptx_variable *const *params;
    uint32_t nparams;
    uint64_t param_bytes;
    struct ptx_variable *const *returns;
    uint32_t nreturns;

    /* Variables declared in the body: local depots, parameters of calls, static shared memory. */
    struct ptx_variable *const *variables;
    uint32_t nvariables;
    uint64_t local_bytes, call_bytes; /* what PTX_SPACE_LOCAL and PTX_SPACE_PARAM need together */

    const struct ptx_reg *regs; /* those that are used */
    uint32_t nregs;
    const struct ptx_insn *insns;
    uint32_t ninsns;
    const struct ptx_operand *operands; /* the pool of all instructions */
    uint32_t noperands;
    const struct ptx_label *labels;
    uint32_t nlabels;
    const struct ptx_targets *targets;
    uint32_t ntargets;

    /* Directives; 0: not given. */
    uint32_t max_threads[3], required_threads[3], min_blocks, max_regs, cluster[3];
};

struct ptx_file {
    uint32_t index;   /* as .loc calls it */
    const char *name; /* as the text has it, foreign bytes */
};

struct ptx_module {
    int version;        /* 90 for `.version 9.0` */
    int sm;             /* 80 for `.target sm_80` */
    const char *target; /* "sm_90a" */
    int address_bits;   /* 64 */
    struct ptx_file *files;
    uint32_t nfiles;
    /* At module scope, in order: global, constant, static and extern shared. */
    struct ptx_variable **variables;
    uint32_t nvariables;
    struct ptx_function **functions; /* entries and functions, in order; each name once */
    uint32_t nfunctions;
    const struct ptx_opcode **opcodes; /* by their `id` */
    uint32_t nopcodes;
    const struct ptx_location *locations;
    uint32_t nlocations;
    struct ptx_store *store; /* the parser's */
};

/* Parses `len` bytes; a 0 at the very end is no part of the text. ST_USAGE with a sentence that names
 * the line, and *out NULL, when it is no PTX; err's mark is the place. ptx_free() frees it. */
enum status ptx_parse(const char *text, size_t len, struct ptx_module **out, struct err *err);
void ptx_free(struct ptx_module *m);

/* The function of that name, NULL when there is none. */
const struct ptx_function *ptx_function(const struct ptx_module *m, const char *name);

/* `f` with every call of a .func that has a body replaced by the body, whatever is called within
 * included; calls of functions without a body, or through a register, stay. Their locations are hung
 * below those of the calls: m->locations grows and moves. The module owns *out; it is `f` itself when
 * there is nothing to do. ST_USAGE: recursion, or more than the limits. */
enum status ptx_inline(struct ptx_module *m, const struct ptx_function *f,
                       const struct ptx_function **out, struct err *err);

/* Appends the instruction as PTX, without a line end: "@!%p1 ld.global.v2.f32 {%f1, %f2}, [%rd1+8];".
 * Harmless on a terminal. */
void ptx_print(const struct ptx_function *f, const struct ptx_insn *i, struct str *out);

#endif
