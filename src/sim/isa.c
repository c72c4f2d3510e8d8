/* isa.c - see isa.h: the table.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/isa.h"

#include <stddef.h>
#include <string.h>

#define F  SIM_REAL_FLAGS
#define FS (SIM_FTZ | SIM_SAT)

/* Rows of an integer type: n bits, its letter. */
#define INTS(n, w)                                                          \
    {"add.u" #n, OP_ADD##n, 0, 0, SIM_PIPE_alu, 0, 0, w w w},               \
        {"add.s" #n, OP_ADD##n, 0, 0, SIM_PIPE_alu, 0, 0, w w w},           \
        {"sub.u" #n, OP_SUB##n, 0, 0, SIM_PIPE_alu, 0, 0, w w w},           \
        {"sub.s" #n, OP_SUB##n, 0, 0, SIM_PIPE_alu, 0, 0, w w w},           \
        {"mul.lo.u" #n, OP_MUL##n, 0, 0, SIM_PIPE_imul, 0, 0, w w w},       \
        {"mul.lo.s" #n, OP_MUL##n, 0, 0, SIM_PIPE_imul, 0, 0, w w w},       \
        {"mul.hi.u" #n, OP_MULHI_U##n, 0, 0, SIM_PIPE_imul, 0, 0, w w w},   \
        {"mul.hi.s" #n, OP_MULHI_S##n, 0, 0, SIM_PIPE_imul, 0, 0, w w w},   \
        {"mad.lo.u" #n, OP_MAD##n, 0, 0, SIM_PIPE_imul, 0, 0, w w w w},     \
        {"mad.lo.s" #n, OP_MAD##n, 0, 0, SIM_PIPE_imul, 0, 0, w w w w},     \
        {"mad.hi.u" #n, OP_MADHI_U##n, 0, 0, SIM_PIPE_imul, 0, 0, w w w w}, \
        {"mad.hi.s" #n, OP_MADHI_S##n, 0, 0, SIM_PIPE_imul, 0, 0, w w w w}, \
        {"div.u" #n, OP_DIV_U##n, 0, 0, SIM_PIPE_alu, 0, 0, w w w},         \
        {"div.s" #n, OP_DIV_S##n, 0, 0, SIM_PIPE_alu, 0, 0, w w w},         \
        {"rem.u" #n, OP_REM_U##n, 0, 0, SIM_PIPE_alu, 0, 0, w w w},         \
        {"rem.s" #n, OP_REM_S##n, 0, 0, SIM_PIPE_alu, 0, 0, w w w},         \
        {"min.u" #n, OP_MIN_U##n, 0, 0, SIM_PIPE_alu, 0, 0, w w w},         \
        {"min.s" #n, OP_MIN_S##n, 0, 0, SIM_PIPE_alu, 0, 0, w w w},         \
        {"max.u" #n, OP_MAX_U##n, 0, 0, SIM_PIPE_alu, 0, 0, w w w},         \
        {"max.s" #n, OP_MAX_S##n, 0, 0, SIM_PIPE_alu, 0, 0, w w w},         \
        {"and.b" #n, OP_AND##n, 0, 0, SIM_PIPE_alu, 0, 0, w w w},           \
        {"or.b" #n, OP_OR##n, 0, 0, SIM_PIPE_alu, 0, 0, w w w},             \
        {"xor.b" #n, OP_XOR##n, 0, 0, SIM_PIPE_alu, 0, 0, w w w},           \
        {"not.b" #n, OP_NOT##n, 0, 0, SIM_PIPE_alu, 0, 0, w w},             \
        {"cnot.b" #n, OP_CNOT##n, 0, 0, SIM_PIPE_alu, 0, 0, w w},           \
        {"neg.s" #n, OP_NEG##n, 0, 0, SIM_PIPE_alu, 0, 0, w w},             \
        {"abs.s" #n, OP_ABS##n, 0, 0, SIM_PIPE_alu, 0, 0, w w},             \
        {"shl.b" #n, OP_SHL##n, 0, 0, SIM_PIPE_alu, 0, 0, w w "w"},         \
        {"shr.b" #n, OP_SHR_U##n, 0, 0, SIM_PIPE_alu, 0, 0, w w "w"},       \
        {"shr.u" #n, OP_SHR_U##n, 0, 0, SIM_PIPE_alu, 0, 0, w w "w"},       \
        {"shr.s" #n, OP_SHR_S##n, 0, 0, SIM_PIPE_alu, 0, 0, w w "w"},       \
        {"selp.b" #n, OP_SELP##n, 0, 0, SIM_PIPE_alu, 0, 0, w w w "p"},     \
        {"selp.u" #n, OP_SELP##n, 0, 0, SIM_PIPE_alu, 0, 0, w w w "p"},     \
    {                                                                       \
        "selp.s" #n, OP_SELP##n, 0, 0, SIM_PIPE_alu, 0, 0, w w w "p"        \
    }

/* Rows of a half type: its word, enum sim_half_type. */
#define HALVES(t, k)                                                                  \
    {"add." t, OP_HALF, FS, 0, SIM_PIPE_half, HALF_ADD, k, "www"},                    \
        {"sub." t, OP_HALF, FS, 0, SIM_PIPE_half, HALF_SUB, k, "www"},                \
        {"mul." t, OP_HALF, FS, 0, SIM_PIPE_half, HALF_MUL, k, "www"},                \
        {"fma." t, OP_HALF, FS | SIM_RELU, 0, SIM_PIPE_half, HALF_FMA, k, "wwww"},    \
        {"min." t, OP_HALF, SIM_FTZ | SIM_NAN, 0, SIM_PIPE_half, HALF_MIN, k, "www"}, \
        {"max." t, OP_HALF, SIM_FTZ | SIM_NAN, 0, SIM_PIPE_half, HALF_MAX, k, "www"}, \
        {"neg." t, OP_HALF, SIM_FTZ, 0, SIM_PIPE_half, HALF_NEG, k, "ww"},            \
        {"abs." t, OP_HALF, SIM_FTZ, 0, SIM_PIPE_half, HALF_ABS, k, "ww"},            \
        {"ex2." t, OP_HALF, SIM_FTZ, 0, SIM_PIPE_xu, HALF_EX2, k, "ww"},              \
    {                                                                                 \
        "tanh." t, OP_HALF, SIM_FTZ, 0, SIM_PIPE_xu, HALF_TANH, k, "ww"               \
    }

/* The words rn, approx and full are not in forms: what they ask for is what is done anyway, or closer. */
static const struct isa_row rows[] = {
    INTS(16, "h"),
    INTS(32, "w"),
    INTS(64, "d"),
    {"mul.wide.s16", OP_MULWIDE_S16, 0, 0, SIM_PIPE_imul, 0, 0, "whh"},
    {"mul.wide.u16", OP_MULWIDE_U16, 0, 0, SIM_PIPE_imul, 0, 0, "whh"},
    {"mul.wide.s32", OP_MULWIDE_S32, 0, 0, SIM_PIPE_imul, 0, 0, "dww"},
    {"mul.wide.u32", OP_MULWIDE_U32, 0, 0, SIM_PIPE_imul, 0, 0, "dww"},
    {"mad.wide.s16", OP_MADWIDE_S16, 0, 0, SIM_PIPE_imul, 0, 0, "whhw"},
    {"mad.wide.u16", OP_MADWIDE_U16, 0, 0, SIM_PIPE_imul, 0, 0, "whhw"},
    {"mad.wide.s32", OP_MADWIDE_S32, 0, 0, SIM_PIPE_imul, 0, 0, "dwwd"},
    {"mad.wide.u32", OP_MADWIDE_U32, 0, 0, SIM_PIPE_imul, 0, 0, "dwwd"},
    {"mul24.lo.s32", OP_MUL24_S, 0, 0, SIM_PIPE_imul, 0, 0, "www"},
    {"mul24.lo.u32", OP_MUL24_U, 0, 0, SIM_PIPE_imul, 0, 0, "www"},
    {"mad24.lo.s32", OP_MAD24_S, 0, 0, SIM_PIPE_imul, 0, 0, "wwww"},
    {"mad24.lo.u32", OP_MAD24_U, 0, 0, SIM_PIPE_imul, 0, 0, "wwww"},
    {"sad.s32", OP_SAD_S, 0, 0, SIM_PIPE_alu, 0, 0, "wwww"},
    {"sad.u32", OP_SAD_U, 0, 0, SIM_PIPE_alu, 0, 0, "wwww"},
    {"dp4a.u32.u32", OP_DP4A, 0, 0, SIM_PIPE_imul, 0, 0, "wwww"},
    {"dp4a.s32.u32", OP_DP4A, 0, 0, SIM_PIPE_imul, 0, 1, "wwww"},
    {"dp4a.u32.s32", OP_DP4A, 0, 0, SIM_PIPE_imul, 0, 2, "wwww"},
    {"dp4a.s32.s32", OP_DP4A, 0, 0, SIM_PIPE_imul, 0, 3, "wwww"},
    {"dp2a.lo.u32.u32", OP_DP2A, 0, 0, SIM_PIPE_imul, 0, 0, "wwww"},
    {"dp2a.lo.s32.u32", OP_DP2A, 0, 0, SIM_PIPE_imul, 0, 1, "wwww"},
    {"dp2a.lo.u32.s32", OP_DP2A, 0, 0, SIM_PIPE_imul, 0, 2, "wwww"},
    {"dp2a.lo.s32.s32", OP_DP2A, 0, 0, SIM_PIPE_imul, 0, 3, "wwww"},
    {"dp2a.hi.u32.u32", OP_DP2A, 0, 0, SIM_PIPE_imul, 0, 4, "wwww"},
    {"dp2a.hi.s32.u32", OP_DP2A, 0, 0, SIM_PIPE_imul, 0, 5, "wwww"},
    {"dp2a.hi.u32.s32", OP_DP2A, 0, 0, SIM_PIPE_imul, 0, 6, "wwww"},
    {"dp2a.hi.s32.s32", OP_DP2A, 0, 0, SIM_PIPE_imul, 0, 7, "wwww"},
    {"bfe.s32", OP_BFE_S32, 0, 0, SIM_PIPE_alu, 0, 0, "wwww"},
    {"bfe.u32", OP_BFE_U32, 0, 0, SIM_PIPE_alu, 0, 0, "wwww"},
    {"bfe.s64", OP_BFE_S64, 0, 0, SIM_PIPE_alu, 0, 0, "ddww"},
    {"bfe.u64", OP_BFE_U64, 0, 0, SIM_PIPE_alu, 0, 0, "ddww"},
    {"bfi.b32", OP_BFI32, 0, 0, SIM_PIPE_alu, 0, 0, "wwwww"},
    {"bfi.b64", OP_BFI64, 0, 0, SIM_PIPE_alu, 0, 0, "dddww"},
    {"brev.b32", OP_BREV32, 0, 0, SIM_PIPE_alu, 0, 0, "ww"},
    {"brev.b64", OP_BREV64, 0, 0, SIM_PIPE_alu, 0, 0, "dd"},
    {"clz.b32", OP_CLZ32, 0, 0, SIM_PIPE_alu, 0, 0, "ww"},
    {"clz.b64", OP_CLZ64, 0, 0, SIM_PIPE_alu, 0, 0, "wd"},
    {"popc.b32", OP_POPC32, 0, 0, SIM_PIPE_alu, 0, 0, "ww"},
    {"popc.b64", OP_POPC64, 0, 0, SIM_PIPE_alu, 0, 0, "wd"},
    {"bfind.u32", OP_BFIND, 0, 0, SIM_PIPE_alu, 0, 0, "ww"},
    {"bfind.s32", OP_BFIND, 0, 0, SIM_PIPE_alu, 0, 1, "ww"},
    {"bfind.u64", OP_BFIND, 0, 0, SIM_PIPE_alu, 0, 2, "wd"},
    {"bfind.s64", OP_BFIND, 0, 0, SIM_PIPE_alu, 0, 3, "wd"},
    {"bfind.shiftamt.u32", OP_BFIND, 0, 0, SIM_PIPE_alu, 0, 4, "ww"},
    {"bfind.shiftamt.s32", OP_BFIND, 0, 0, SIM_PIPE_alu, 0, 5, "ww"},
    {"bfind.shiftamt.u64", OP_BFIND, 0, 0, SIM_PIPE_alu, 0, 6, "wd"},
    {"bfind.shiftamt.s64", OP_BFIND, 0, 0, SIM_PIPE_alu, 0, 7, "wd"},
    {"lop3.b32", OP_LOP3, 0, 0, SIM_PIPE_alu, 0, 0, "wwwwi"},
    {"prmt.b32", OP_PRMT, 0, 0, SIM_PIPE_alu, 0, 0, "wwww"},
    {"prmt.b32.f4e", OP_PRMT, 0, 0, SIM_PIPE_alu, 0, 1, "wwww"},
    {"prmt.b32.b4e", OP_PRMT, 0, 0, SIM_PIPE_alu, 0, 2, "wwww"},
    {"prmt.b32.rc8", OP_PRMT, 0, 0, SIM_PIPE_alu, 0, 3, "wwww"},
    {"prmt.b32.ecl", OP_PRMT, 0, 0, SIM_PIPE_alu, 0, 4, "wwww"},
    {"prmt.b32.ecr", OP_PRMT, 0, 0, SIM_PIPE_alu, 0, 5, "wwww"},
    {"prmt.b32.rc16", OP_PRMT, 0, 0, SIM_PIPE_alu, 0, 6, "wwww"},
    {"shf.l.clamp.b32", OP_SHF_L, 0, 0, SIM_PIPE_alu, 0, 0, "wwww"},
    {"shf.l.wrap.b32", OP_SHF_L, 0, SIM_WRAP, SIM_PIPE_alu, 0, 0, "wwww"},
    {"shf.r.clamp.b32", OP_SHF_R, 0, 0, SIM_PIPE_alu, 0, 0, "wwww"},
    {"shf.r.wrap.b32", OP_SHF_R, 0, SIM_WRAP, SIM_PIPE_alu, 0, 0, "wwww"},
    {"bmsk.clamp.b32", OP_BMSK, 0, 0, SIM_PIPE_alu, 0, 0, "www"},
    {"bmsk.wrap.b32", OP_BMSK, 0, SIM_WRAP, SIM_PIPE_alu, 0, 0, "www"},
    {"slct.b32.s32", OP_SLCT_S32, 0, 0, SIM_PIPE_alu, 0, 0, "wwww"},
    {"slct.u32.s32", OP_SLCT_S32, 0, 0, SIM_PIPE_alu, 0, 0, "wwww"},
    {"slct.s32.s32", OP_SLCT_S32, 0, 0, SIM_PIPE_alu, 0, 0, "wwww"},
    {"slct.f32.s32", OP_SLCT_S32, 0, 0, SIM_PIPE_alu, 0, 0, "wWWw"},
    {"slct.b32.f32", OP_SLCT_F32, 0, 0, SIM_PIPE_alu, 0, 0, "wwwW"},
    {"slct.u32.f32", OP_SLCT_F32, 0, 0, SIM_PIPE_alu, 0, 0, "wwwW"},
    {"slct.s32.f32", OP_SLCT_F32, 0, 0, SIM_PIPE_alu, 0, 0, "wwwW"},
    {"slct.f32.f32", OP_SLCT_F32, 0, 0, SIM_PIPE_alu, 0, 0, "wWWW"},
    {"slct.b64.s32", OP_SLCT_S64, 0, 0, SIM_PIPE_alu, 0, 0, "dddw"},
    {"slct.u64.s32", OP_SLCT_S64, 0, 0, SIM_PIPE_alu, 0, 0, "dddw"},
    {"slct.s64.s32", OP_SLCT_S64, 0, 0, SIM_PIPE_alu, 0, 0, "dddw"},
    {"slct.f64.s32", OP_SLCT_S64, 0, 0, SIM_PIPE_alu, 0, 0, "dDDw"},
    {"slct.b64.f32", OP_SLCT_F64, 0, 0, SIM_PIPE_alu, 0, 0, "dddW"},
    {"slct.f64.f32", OP_SLCT_F64, 0, 0, SIM_PIPE_alu, 0, 0, "dDDW"},
    {"add.sat.s32", OP_SAT_ADD32, 0, 0, SIM_PIPE_alu, 0, 0, "www"},
    {"sub.sat.s32", OP_SAT_SUB32, 0, 0, SIM_PIPE_alu, 0, 0, "www"},
    {"add.cc.u32", OP_ADDC, 0, SIM_CC_OUT, SIM_PIPE_alu, 0, 0, "www"},
    {"add.cc.s32", OP_ADDC, 0, SIM_CC_OUT, SIM_PIPE_alu, 0, 0, "www"},
    {"addc.u32", OP_ADDC, 0, SIM_CC_IN, SIM_PIPE_alu, 0, 0, "www"},
    {"addc.s32", OP_ADDC, 0, SIM_CC_IN, SIM_PIPE_alu, 0, 0, "www"},
    {"addc.cc.u32", OP_ADDC, 0, SIM_CC_IN | SIM_CC_OUT, SIM_PIPE_alu, 0, 0, "www"},
    {"addc.cc.s32", OP_ADDC, 0, SIM_CC_IN | SIM_CC_OUT, SIM_PIPE_alu, 0, 0, "www"},
    {"sub.cc.u32", OP_SUBC, 0, SIM_CC_OUT, SIM_PIPE_alu, 0, 0, "www"},
    {"sub.cc.s32", OP_SUBC, 0, SIM_CC_OUT, SIM_PIPE_alu, 0, 0, "www"},
    {"subc.u32", OP_SUBC, 0, SIM_CC_IN, SIM_PIPE_alu, 0, 0, "www"},
    {"subc.s32", OP_SUBC, 0, SIM_CC_IN, SIM_PIPE_alu, 0, 0, "www"},
    {"subc.cc.u32", OP_SUBC, 0, SIM_CC_IN | SIM_CC_OUT, SIM_PIPE_alu, 0, 0, "www"},
    {"subc.cc.s32", OP_SUBC, 0, SIM_CC_IN | SIM_CC_OUT, SIM_PIPE_alu, 0, 0, "www"},

    {"add.f32", OP_ADD_F32, F, 0, SIM_PIPE_fma, 0, 0, "WWW"},
    {"sub.f32", OP_SUB_F32, F, 0, SIM_PIPE_fma, 0, 0, "WWW"},
    {"mul.f32", OP_MUL_F32, F, 0, SIM_PIPE_fma, 0, 0, "WWW"},
    {"fma.f32", OP_FMA_F32, F, 0, SIM_PIPE_fma, 0, 0, "WWWW"},
    {"mad.f32", OP_FMA_F32, F, 0, SIM_PIPE_fma, 0, 0, "WWWW"},
    {"div.f32", OP_DIV_F32, F & ~SIM_SAT, 0, SIM_PIPE_xu, 0, 0, "WWW"},
    {"div.approx.f32", OP_DIV_APPROX_F32, SIM_FTZ, 0, SIM_PIPE_xu, 0, 0, "WWW"},
    {"rcp.f32", OP_RCP_F32, F & ~SIM_SAT, 0, SIM_PIPE_xu, 0, 0, "WW"},
    {"sqrt.f32", OP_SQRT_F32, F & ~SIM_SAT, 0, SIM_PIPE_xu, 0, 0, "WW"},
    {"rsqrt.f32", OP_RSQRT_F32, SIM_FTZ, 0, SIM_PIPE_xu, 0, 0, "WW"},
    {"ex2.f32", OP_EX2_F32, SIM_FTZ, 0, SIM_PIPE_xu, 0, 0, "WW"},
    {"lg2.f32", OP_LG2_F32, SIM_FTZ, 0, SIM_PIPE_xu, 0, 0, "WW"},
    {"sin.f32", OP_SIN_F32, SIM_FTZ, 0, SIM_PIPE_xu, 0, 0, "WW"},
    {"cos.f32", OP_COS_F32, SIM_FTZ, 0, SIM_PIPE_xu, 0, 0, "WW"},
    {"tanh.f32", OP_TANH_F32, 0, 0, SIM_PIPE_xu, 0, 0, "WW"},
    {"min.f32", OP_MIN_F32, SIM_FTZ | SIM_NAN | SIM_XORSIGN, 0, SIM_PIPE_alu, 0, 0, "WWW"},
    {"max.f32", OP_MAX_F32, SIM_FTZ | SIM_NAN | SIM_XORSIGN, 0, SIM_PIPE_alu, 0, 0, "WWW"},
    {"neg.f32", OP_NEG_F32, SIM_FTZ, 0, SIM_PIPE_fma, 0, 0, "WW"},
    {"abs.f32", OP_ABS_F32, SIM_FTZ, 0, SIM_PIPE_fma, 0, 0, "WW"},
    {"copysign.f32", OP_COPYSIGN_F32, 0, 0, SIM_PIPE_alu, 0, 0, "WWW"},
    {"selp.f32", OP_SELP32, 0, 0, SIM_PIPE_alu, 0, 0, "WWWp"},
    {"testp.finite.f32", OP_TESTP_F32, 0, 0, SIM_PIPE_alu, 0, 0, "pW"},
    {"testp.infinite.f32", OP_TESTP_F32, 0, 0, SIM_PIPE_alu, 0, 1, "pW"},
    {"testp.number.f32", OP_TESTP_F32, 0, 0, SIM_PIPE_alu, 0, 2, "pW"},
    {"testp.notanumber.f32", OP_TESTP_F32, 0, 0, SIM_PIPE_alu, 0, 3, "pW"},
    {"testp.normal.f32", OP_TESTP_F32, 0, 0, SIM_PIPE_alu, 0, 4, "pW"},
    {"testp.subnormal.f32", OP_TESTP_F32, 0, 0, SIM_PIPE_alu, 0, 5, "pW"},

    {"add.f64", OP_ADD_F64, 0, 0, SIM_PIPE_fp64, 0, 0, "DDD"},
    {"sub.f64", OP_SUB_F64, 0, 0, SIM_PIPE_fp64, 0, 0, "DDD"},
    {"mul.f64", OP_MUL_F64, 0, 0, SIM_PIPE_fp64, 0, 0, "DDD"},
    {"fma.f64", OP_FMA_F64, 0, 0, SIM_PIPE_fp64, 0, 0, "DDDD"},
    {"mad.f64", OP_FMA_F64, 0, 0, SIM_PIPE_fp64, 0, 0, "DDDD"},
    {"div.f64", OP_DIV_F64, 0, 0, SIM_PIPE_fp64, 0, 0, "DDD"},
    {"rcp.f64", OP_RCP_F64, SIM_FTZ, 0, SIM_PIPE_fp64, 0, 0, "DD"},
    {"sqrt.f64", OP_SQRT_F64, 0, 0, SIM_PIPE_fp64, 0, 0, "DD"},
    {"rsqrt.f64", OP_RSQRT_F64, SIM_FTZ, 0, SIM_PIPE_fp64, 0, 0, "DD"},
    {"min.f64", OP_MIN_F64, 0, 0, SIM_PIPE_fp64, 0, 0, "DDD"},
    {"max.f64", OP_MAX_F64, 0, 0, SIM_PIPE_fp64, 0, 0, "DDD"},
    {"neg.f64", OP_NEG_F64, 0, 0, SIM_PIPE_fp64, 0, 0, "DD"},
    {"abs.f64", OP_ABS_F64, 0, 0, SIM_PIPE_fp64, 0, 0, "DD"},
    {"copysign.f64", OP_COPYSIGN_F64, 0, 0, SIM_PIPE_fp64, 0, 0, "DDD"},
    {"selp.f64", OP_SELP64, 0, 0, SIM_PIPE_alu, 0, 0, "DDDp"},
    {"testp.finite.f64", OP_TESTP_F64, 0, 0, SIM_PIPE_alu, 0, 0, "pD"},
    {"testp.infinite.f64", OP_TESTP_F64, 0, 0, SIM_PIPE_alu, 0, 1, "pD"},
    {"testp.number.f64", OP_TESTP_F64, 0, 0, SIM_PIPE_alu, 0, 2, "pD"},
    {"testp.notanumber.f64", OP_TESTP_F64, 0, 0, SIM_PIPE_alu, 0, 3, "pD"},
    {"testp.normal.f64", OP_TESTP_F64, 0, 0, SIM_PIPE_alu, 0, 4, "pD"},
    {"testp.subnormal.f64", OP_TESTP_F64, 0, 0, SIM_PIPE_alu, 0, 5, "pD"},

    HALVES("f16", HALF_F16),
    HALVES("bf16", HALF_BF16),
    HALVES("f16x2", HALF_F16X2),
    HALVES("bf16x2", HALF_BF16X2),

    {"and.pred", OP_PRED_AND, 0, 0, SIM_PIPE_alu, 0, 0, "ppp"},
    {"or.pred", OP_PRED_OR, 0, 0, SIM_PIPE_alu, 0, 0, "ppp"},
    {"xor.pred", OP_PRED_XOR, 0, 0, SIM_PIPE_alu, 0, 0, "ppp"},
    {"not.pred", OP_PRED_NOT, 0, 0, SIM_PIPE_alu, 0, 0, "pp"},
    {"mov.pred", OP_PRED_MOV, 0, 0, SIM_PIPE_alu, 0, 0, "pp"},
};

static const struct {
    const char *word;
    uint16_t flag;
} modifiers[] = {
    {"rn", 0},
    {"approx", 0},
    {"full", 0},
    {"ftz", SIM_FTZ},
    {"sat", SIM_SAT},
    {"rz", SIM_RZ},
    {"rm", SIM_RM},
    {"rp", SIM_RP},
    {"NaN", SIM_NAN},
    {"relu", SIM_RELU},
    {"xorsign", SIM_XORSIGN},
};

/* Whether the word is left out of forms; `flags` gets what it stands for. */
static bool is_modifier(const char *word, const char *base, const char *type, uint32_t *flags)
{
    if (!strcmp(word, "sat") && !strcmp(type, "s32"))
        return false; /* add.sat.s32 is an operation of its own */
    if (!strcmp(word, "abs"))
        return *flags & SIM_XORSIGN; /* .xorsign.abs */
    if (!strcmp(word, "approx") && !strcmp(base, "div"))
        return false; /* of large divisors it is another operation */
    for (size_t i = 0; i < sizeof modifiers / sizeof *modifiers; i++)
        if (!strcmp(word, modifiers[i].word)) {
            *flags |= modifiers[i].flag;
            return true;
        }
    return false;
}

const struct isa_row *isa_find(int nparts, const char *const *parts, uint32_t *flags)
{
    char form[64] = "";
    size_t len = 0;
    *flags = 0;
    for (int i = 0; i < nparts; i++) {
        if (i && is_modifier(parts[i], parts[0], parts[nparts - 1], flags))
            continue;
        const size_t n = strlen(parts[i]);
        if (len + n + 2 > sizeof form)
            return NULL;
        if (i)
            form[len++] = '.';
        memcpy(form + len, parts[i], n + 1);
        len += n;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(form, rows[i].form)) {
            if (*flags & ~(uint32_t)rows[i].allow)
                return NULL;
            *flags |= rows[i].fixed;
            return &rows[i];
        }
    return NULL;
}
