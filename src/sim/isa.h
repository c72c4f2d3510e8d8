/* isa.h - the instructions: what the executor does, and which PTX form means which of them.
 *
 * SIM_OPS lists operations; exec/ops_body.h has the body of each. The table of isa.c has a row for each form of
 * PTX that stands for one operation on its operands as they are; families whose words make the operation
 * (setp, cvt, ld, atom, mma ...) are lowered by a function of their own, named by base in lower/.
 *
 * Source: NVIDIA, Parallel Thread Execution ISA 9.0, chapter 9.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_ISA_H
#define ATTNSCOPE_SIM_ISA_H

#include <stdint.h>

#include "sim/sim.h"

// clang-format off

/* Integer operations exist for slots of 16, 32 and 64 bits. */
#define SIM_INT_OPS(X, n) \
    X(ADD##n) X(SUB##n) X(MUL##n) X(MULHI_S##n) X(MULHI_U##n) X(MAD##n) X(MADHI_S##n) \
    X(MADHI_U##n) X(DIV_S##n) X(DIV_U##n) X(REM_S##n) X(REM_U##n) X(MIN_S##n) X(MIN_U##n) \
    X(MAX_S##n) X(MAX_U##n) X(AND##n) X(OR##n) X(XOR##n) X(NOT##n) X(CNOT##n) X(NEG##n) \
    X(ABS##n) X(SHL##n) X(SHR_S##n) X(SHR_U##n) X(SELP##n) X(SETP_S##n) X(SETP_U##n) X(MOV##n)

#define SIM_REAL_OPS(X, n) \
    X(ADD_F##n) X(SUB_F##n) X(MUL_F##n) X(FMA_F##n) X(DIV_F##n) X(RCP_F##n) X(SQRT_F##n) \
    X(MIN_F##n) X(MAX_F##n) X(NEG_F##n) X(ABS_F##n) X(COPYSIGN_F##n) X(SETP_F##n) X(TESTP_F##n)

/* Bodies without effects beyond their lanes. */
#define SIM_LANE_OPS(X) \
    SIM_INT_OPS(X, 16) SIM_INT_OPS(X, 32) SIM_INT_OPS(X, 64) \
    SIM_REAL_OPS(X, 32) SIM_REAL_OPS(X, 64) \
    X(SAT_ADD32) X(SAT_SUB32) \
    X(MULWIDE_S16) X(MULWIDE_U16) X(MULWIDE_S32) X(MULWIDE_U32) \
    X(MADWIDE_S16) X(MADWIDE_U16) X(MADWIDE_S32) X(MADWIDE_U32) \
    X(MUL24_S) X(MUL24_U) X(MAD24_S) X(MAD24_U) X(SAD_S) X(SAD_U) X(DP4A) X(DP2A) \
    X(BFE_S32) X(BFE_U32) X(BFE_S64) X(BFE_U64) X(BFI32) X(BFI64) X(BREV32) X(BREV64) \
    X(CLZ32) X(CLZ64) X(POPC32) X(POPC64) X(BFIND) X(LOP3) X(PRMT) X(SHF_L) X(SHF_R) X(BMSK) \
    X(SLCT_S32) X(SLCT_F32) X(SLCT_S64) X(SLCT_F64) X(ADDC) X(SUBC) \
    X(RSQRT_F32) X(DIV_APPROX_F32) X(EX2_F32) X(LG2_F32) X(SIN_F32) X(COS_F32) X(TANH_F32) X(RSQRT_F64) \
    X(HALF) X(SETP_HALF) X(CVT) X(CVT_S64_S32) X(CVT_U64_U32) X(CVT_B32_B64) X(CVT_F32_F16) \
    X(CVT_F32_BF16) X(CVT_F16_F32) X(CVT_BF16_F32) X(CVT_F16X2_F32) X(CVT_BF16X2_F32) \
    X(CVT_F32_S32) X(CVT_S32_F32) X(CVT_TF32_F32) \
    X(PACK16) X(PACK32) X(UNPACK16) X(UNPACK32) \
    X(PRED_AND) X(PRED_OR) X(PRED_XOR) X(PRED_NOT) X(PRED_MOV) X(SPECIAL)

/* Memory, warps, tensor: they look at the block, and may report faults. */
#define SIM_WARP_OPS(X) \
    X(LD) X(ST) X(ATOM) X(CP_ASYNC) X(CP_ASYNC_COMMIT) X(CP_ASYNC_WAIT) \
    X(CP_ASYNC_MBARRIER) X(LDMATRIX) X(STMATRIX) X(MOVMATRIX) X(MMA) X(WMMA_LOAD) X(WMMA_STORE) \
    X(SHFL) X(VOTE) X(MATCH) X(REDUX) X(ELECT) X(ACTIVEMASK) X(WARP_SYNC) X(FENCE) \
    X(MBARRIER_INIT) X(MBARRIER_INVAL) X(MBARRIER_ARRIVE) X(MBARRIER_TEST) \
    X(WGMMA) X(WGMMA_FENCE) X(WGMMA_COMMIT) X(WGMMA_WAIT) X(WGMMA_TOUCH) X(BULK_COPY) \
    X(BULK_COMMIT) X(BULK_WAIT) X(SEND) X(PROXY_FENCE) X(SETMAXNREG) \
    X(ISSPACEP) X(PRINTF) X(NOP) X(OBSERVED)

/* What the warp's loop does itself: where to go on, and when to wait. */
#define SIM_CONTROL_OPS(X) \
    X(BRA) X(BRX) X(EXIT) X(BAR) X(TRAP) X(ASSERT) X(YIELD)
// clang-format on

enum sim_op {
#define X(name) OP_##name,
    SIM_LANE_OPS(X) SIM_WARP_OPS(X) OP_CONTROL, /* from here on the loop's own */
    SIM_CONTROL_OPS(X)
#undef X
        OP_COUNT
};

/* Modifiers of an instruction, in `flags` of its code. */
enum {
    SIM_FTZ = 1 << 0, /* f32: subnormal inputs and results are zeros of their sign */
    SIM_SAT = 1 << 1, /* f32: clamp to 0 .. 1, NaN to 0; integers: clamp */
    SIM_RZ = 1 << 2,  /* rounding other than to nearest even */
    SIM_RM = 1 << 3,
    SIM_RP = 1 << 4,
    SIM_NAN = 1 << 5,   /* min, max: NaN when one is */
    SIM_RELU = 1 << 6,  /* half: negative results and NaN are 0 (NaN: canonical NaN) */
    SIM_CC_IN = 1 << 7, /* addc, subc */
    SIM_CC_OUT = 1 << 8,
    SIM_XORSIGN = 1 << 9, /* min, max: of magnitudes, with the xor of the signs */
    SIM_NEAR = 1 << 10,   /* cvt: to the nearest integer (rni) */
    SIM_AWAY = 1 << 11,   /* cvt.rna */
    SIM_QUIET = 1 << 12,  /* a step of an instruction that is counted at its first */
    SIM_JOIN = 1 << 13,   /* lanes that parted may meet here */
    SIM_WRAP = 1 << 14,   /* shf.wrap; bmsk.wrap */
    SIM_REAL_FLAGS = SIM_FTZ | SIM_SAT | SIM_RZ | SIM_RM | SIM_RP,
};

enum sim_compare {
    CMP_EQ,
    CMP_NE,
    CMP_LT,
    CMP_LE,
    CMP_GT,
    CMP_GE,
    CMP_EQU,
    CMP_NEU,
    CMP_LTU,
    CMP_LEU,
    CMP_GTU,
    CMP_GEU,
    CMP_NUM,
    CMP_NAN,
};
enum sim_bool { BOOL_NONE, BOOL_AND, BOOL_OR, BOOL_XOR };

/* What HALF computes, in `sub` */
enum sim_half {
    HALF_ADD,
    HALF_SUB,
    HALF_MUL,
    HALF_FMA,
    HALF_MIN,
    HALF_MAX,
    HALF_NEG,
    HALF_ABS,
    HALF_EX2,
    HALF_TANH
};
enum sim_half_type { HALF_F16, HALF_BF16, HALF_F16X2, HALF_BF16X2 };

/* Signatures: a letter for each operand, the destination first.
 *   h w d   16, 32, 64 bits        p   predicate        H W D   the same, f16/f32/f64 immediates
 * An immediate may stand for every source. */
struct isa_row {
    const char *form; /* "add.s32": words that SIM_ flags stand for are left out */
    uint16_t op;
    uint16_t allow;    /* flags that may be given */
    uint16_t fixed;    /* flags that it always has */
    uint8_t pipe, sub; /* enum sim_pipe; for `sub` of the code */
    uint8_t kind;      /* for `kind` of the code */
    const char *operands;
};

/* The row of an opcode's words ("fma" "rn" "f32"), and its flags. NULL: no such row, or a modifier that it does
 * not take. */
const struct isa_row *isa_find(int nparts, const char *const *parts, uint32_t *flags);

#endif
