/* code.h - a lowered program: what the executor reads. Immutable once made, shared by threads.
 *
 * A register is a slot of 32 lanes of 32 bits (128 bytes); 64-bit values take two neighbouring slots, 32 lanes of
 * 64 bits. 8 and 16 bits lie in the low bits of a slot, above them zeros. Operands are references: the
 * byte offset of a slot, with bit 0 set in the pool of constants and clear in the warp's registers.
 * Predicates are masks of lanes, referred to as 2 * index + negated.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_CODE_H
#define ATTNSCOPE_SIM_CODE_H

#include "sim/isa.h"
#include "sim/pattern.h"
#include "sim/tensor.h"

#define SIM_LANES  32
#define SIM_FULL   UINT32_MAX
#define SIM_SLOT   128u
#define SIM_NO_REF UINT32_MAX
#define SIM_VECTOR 8 /* registers of one operand */

/* Predicates that every program has. */
enum { PRED_TRUE, PRED_SINK, PRED_CARRY, PRED_TEMP, PRED_FIRST };

/* Windows of the generic address space; allocations lie below. */
#define SIM_SHARED_WINDOW 0x7f0000000000ull
#define SIM_LOCAL_WINDOW  0x7f1000000000ull
#define SIM_PARAM_WINDOW  0x7f2000000000ull
#define SIM_WINDOW_BYTES  0x1000000000ull

/* Types of CVT: `kind` of the source, `sub` of the destination. */
enum cvt_type {
    CV_U8,
    CV_S8,
    CV_U16,
    CV_S16,
    CV_U32,
    CV_S32,
    CV_U64,
    CV_S64,
    CV_F16,
    CV_BF16,
    CV_F32,
    CV_F64,
    CV_F16X2,
    CV_BF16X2
};
static inline bool cvt_is_wide(enum cvt_type t)
{
    return t == CV_U64 || t == CV_S64 || t == CV_F64;
}

/* Which bytes an instruction touches, and how they become registers. */
struct code_memory {
    uint8_t space;                /* enum sim_space; SIM_NOWHERE: generic */
    uint8_t bytes;                /* of an element: 1, 2, 4, 8 */
    uint8_t count;                /* of elements: 1, 2, 4, 8 */
    bool is_signed;               /* extend with the sign */
    bool wide_addr;               /* the address register has 64 bits */
    bool wide_reg;                /* data registers have 64 bits */
    bool half_reg;                /* the destination has 16 bits */
    bool around;                  /* not through the L1 */
    bool is_volatile, is_ordered; /* .relaxed, .acquire, .release: no race of their own */
    bool cta;                     /* its scope is the block */
    uint8_t ordering;             /* bit 0 acquire, bit 1 release */
    int64_t offset;
    uint32_t reg[SIM_VECTOR];      /* references; SIM_NO_REF: sink */
    uint8_t atom;                  /* enum sim_atom */
    uint8_t atom_type;             /* enum ptx_type-like, see lower */
    struct pattern_extent machine; /* what the machine moves at once, see lower/merge.h */
};

enum sim_atom {
    ATOM_ADD,
    ATOM_MIN,
    ATOM_MAX,
    ATOM_INC,
    ATOM_DEC,
    ATOM_CAS,
    ATOM_EXCH,
    ATOM_AND,
    ATOM_OR,
    ATOM_XOR
};
enum sim_atom_type {
    ATOM_B32,
    ATOM_B64,
    ATOM_S32,
    ATOM_U32,
    ATOM_S64,
    ATOM_U64,
    ATOM_F32,
    ATOM_F64,
    ATOM_F16,
    ATOM_F16X2,
    ATOM_BF16,
    ATOM_BF16X2,
    ATOM_B16
};

/* An address in shared memory that mapa made: the rank of a block of the cluster, counted from 1, above 24 bits. */
enum { CLUSTER_ADDR_BITS = 24 };
/* Memories of a cluster's blocks lie behind each other at multiples of this: patterns of swizzles are of addresses. */
enum { CLUSTER_ALIGN = 1024 };

/* `sub` of BAR */
enum sim_bar {
    BAR_SYNC,
    BAR_ARRIVE,
    BAR_RED_AND,
    BAR_RED_OR,
    BAR_RED_POPC,
    BAR_CLUSTER_ARRIVE, /* kind: it orders memory */
    BAR_CLUSTER_WAIT,
};

struct code_tensor {
    struct tensor_mma mma;
    struct tensor_wmma wmma;
    uint32_t d[8], a[8], b[8], c[8]; /* references */
    int matrices;
    bool trans;
};

/* What happened to its registers with no wgmma.fence in between. */
enum wgmma_unfenced { WGMMA_FENCED, WGMMA_WRITTEN, WGMMA_READ, WGMMA_NEVER_FENCED };

/* wgmma.mma_async: 64 x n x k of a warpgroup. */
enum { WGMMA_D_MAX = 128 };
struct code_wgmma {
    struct tensor_mma mma; /* m16n8 of one warp, n / 8 times */
    int n;
    bool a_shared;             /* else `a` are registers */
    bool a_beside, b_beside;   /* see wgmma.h */
    bool a_negated, b_negated; /* imm-scale of -1 */
    uint16_t add;              /* predicate reference: D is added to; else it is overwritten */
    uint32_t d[WGMMA_D_MAX], a[4], descriptor[2]; /* references; of A and B */
    enum wgmma_unfenced unfenced;
    uint32_t unfenced_line; /* in PTX, of who did so */
};

/* cp.async.bulk. Operands of its code: a in shared memory, b the mbarrier, c the bytes (not of a tensor). */
enum bulk_way { BULK_LOAD, BULK_STORE };
struct code_bulk {
    struct code_memory shared, barrier; /* the places in shared memory */
    struct code_memory reduces; /* cp.reduce: what is done to an element; bytes 0: it is stored */
    uint8_t way;                /* enum bulk_way */
    uint8_t rank;               /* of a tensor; 0: plain bytes */
    uint8_t map_space;          /* enum sim_space of the tensor map; SIM_NOWHERE: generic */
    bool multicast;  /* to the same place of those blocks of the cluster that `blocks` names */
    uint32_t blocks; /* reference to their bits */
    uint32_t global; /* reference to 64 bits: the tensor map, or where the bytes are */
    int64_t offset;  /* of it */
    uint32_t coordinate[5];
};

/* st.async: a's place in shared memory of a block of the cluster, b's an mbarrier of the same block. */
struct code_send {
    struct code_memory to, barrier;
    uint8_t count; /* words of 4 bytes, 1, 2 or 4 */
    uint32_t value[4];
};

struct code {
    uint16_t op;
    uint16_t flags;
    uint16_t guard; /* predicate reference; 0: always */
    uint8_t pipe;   /* SIM_PIPE_COUNT: not counted */
    uint8_t sub, kind;
    uint8_t compare, boolean;
    uint8_t pad;
    uint16_t pd, pq; /* indices of destinations */
    uint16_t pa, pb; /* references of sources */
    uint32_t d, a, b, c;
    uint32_t target; /* of a branch; index in memory, tensor or targets tables */
    uint32_t join;   /* where the sides of a branch meet; the number of codes: at the end */
    uint32_t insn;   /* which instruction it is of */
    uint32_t imm;
};

/* Codes from one on that a warp does one after the other with the same lanes: none is guarded, branches or waits, and
 * behind the first no lanes meet. They are counted at once; the whole is added as one vector of bytes. */
struct code_run {
    uint8_t pipe[14];     /* codes of each; from SIM_PIPE_COUNT on those that are not counted */
    uint8_t instructions; /* that begin in it */
    uint8_t length;       /* codes; 0: it is none */
};
enum { CODE_RUN_BYTES = 16 };
_Static_assert(SIM_PIPE_COUNT < 14 && sizeof(struct code_run) == CODE_RUN_BYTES, "a byte for each");

struct program_constant { /* 8 bytes a lane when wide */
    uint64_t value;
    bool wide;
    bool second;  /* the upper half of the wide one before it */
    int variable; /* index in variables: its address is added; -1: none */
};

struct program_variable { /* of module scope, global or const */
    const char *name;
    uint64_t bytes, align;
    const uint8_t *data;
    uint64_t ndata;
    bool is_const;
    const struct ptx_variable *from;
};

struct program_shared { /* a static variable in shared memory */
    const char *name;
    uint32_t at, bytes;
};

struct program_targets {
    uint32_t n;
    uint32_t *to;
};

struct ptx_module;
struct ptx_function;

struct sim_program {
    struct sim_facts facts;
    char *text; /* the PTX */
    uint64_t text_hash;
    size_t text_len;
    struct ptx_module *module;
    const struct ptx_function *function;
    struct code *code;
    struct code_run *run; /* that begins with each code */
    uint32_t ncode;
    struct sim_insn *insn;
    struct sim_place *places;
    char *names;
    struct code_memory *memory;
    uint32_t nmemory;
    struct code_tensor *tensor;
    uint32_t ntensor;
    struct code_wgmma *wgmma;
    uint32_t nwgmma;
    struct code_bulk *bulk;
    uint32_t nbulk;
    struct code_send *send;
    uint32_t nsend;
    bool
        async_proxy; /* it has wgmma, copies of the copy engine, or stores that an mbarrier counts */
    bool sends;      /* bulk stores among them */
    struct program_targets *targets;
    uint32_t ntargets;
    struct program_constant *constant;
    uint32_t nconstant; /* slots: a wide one takes two, the second entry is empty */
    struct program_variable *variable;
    uint32_t nvariable;
    struct program_shared *shared;
    uint32_t nshared;
    uint32_t *
        within; /* by instruction: which of `shared` its address is to stay in, + 1; 0: not known */
    uint32_t *place_of; /* by register of `function`: its slot, or its mask; PLACE_NONE */
    uint32_t slots;     /* of a lane */
    uint32_t predicates;
    uint32_t dynamic_offset; /* where dynamic shared memory begins */
    uint32_t call_bytes;     /* of parameters of calls */
    bool maps;               /* it makes addresses in other blocks of its cluster */
};

#endif
