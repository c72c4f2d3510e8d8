/* cuda_bf16.h - bfloat16 for clang alone, in place of NVIDIA's header of this name.
 *
 * Written from the PTX ISA and CUDA's mathematics manual. __nv_bfloat16 (nv_bfloat16) and __nv_bfloat162 with operators,
 * and the names of cuda_fp16.h with bfloat16 in half's place: __float2bfloat16 (_rn _rz) __bfloat162float
 * __floats2bfloat162_rn __float22bfloat162_rn __bfloat1622float2 __low2float __halves2bfloat162 __bfloat162bfloat162
 * __bfloat16_as_ushort __ushort_as_bfloat16, __hadd ... __hfma2 __hmax, comparisons, hexp ... as there.
 *
 * sm_80 multiplies and adds bfloat16 by fma alone: a + b is a 1 + b, a b is a b - 0.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

// clang-format off

struct __align__(2) __nv_bfloat16 {
    unsigned short __x;
    __nv_bfloat16() = default;
    __device__ __forceinline__ __nv_bfloat16(float f) { asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(__x) : "f"(f)); }
    __device__ __forceinline__ __nv_bfloat16(double f) : __nv_bfloat16((float)f) {}
    __device__ __forceinline__ __nv_bfloat16(int i) : __nv_bfloat16((float)i) {}
    __device__ __forceinline__ __nv_bfloat16(unsigned i) : __nv_bfloat16((float)i) {}
    __device__ __forceinline__ operator float() const { return __uint_as_float((unsigned)__x << 16); }
};
typedef __nv_bfloat16 nv_bfloat16;
struct __align__(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;
    __nv_bfloat162() = default;
    __device__ __forceinline__ __nv_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) : x(a), y(b) {}
};
typedef __nv_bfloat162 nv_bfloat162;

__attn_fn unsigned __attn_bits(__nv_bfloat162 v) { return v.x.__x | (unsigned)v.y.__x << 16; }
__attn_fn __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits)
{
    __nv_bfloat16 h;
    h.__x = bits;
    return h;
}
__attn_fn __nv_bfloat162 __attn_bfloat162(unsigned bits)
{
    return __nv_bfloat162(__ushort_as_bfloat16((unsigned short)bits), __ushort_as_bfloat16((unsigned short)(bits >> 16)));
}
__attn_fn unsigned short __bfloat16_as_ushort(__nv_bfloat16 h) { return h.__x; }
__attn_fn short __bfloat16_as_short(__nv_bfloat16 h) { return (short)h.__x; }
__attn_fn __nv_bfloat16 __short_as_bfloat16(short x) { return __ushort_as_bfloat16((unsigned short)x); }

/* ---- Conversions ---------------------------------------------------------------------------------- */

__attn_fn __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
__attn_fn __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
__attn_fn __nv_bfloat16 __float2bfloat16_rz(float x)
{
    __nv_bfloat16 h;
    asm("cvt.rz.bf16.f32 %0, %1;" : "=h"(h.__x) : "f"(x));
    return h;
}
__attn_fn __nv_bfloat16 __double2bfloat16(double x) { return __nv_bfloat16((float)x); }
__attn_fn __nv_bfloat16 __int2bfloat16_rn(int x) { return __nv_bfloat16((float)x); }
__attn_fn __nv_bfloat16 __uint2bfloat16_rn(unsigned x) { return __nv_bfloat16((float)x); }
__attn_fn float __bfloat162float(__nv_bfloat16 h) { return (float)h; }
__attn_fn int __bfloat162int_rn(__nv_bfloat16 h) { return __float2int_rn((float)h); }
__attn_fn int __bfloat162int_rz(__nv_bfloat16 h) { return __float2int_rz((float)h); }
__attn_fn __nv_bfloat162 __floats2bfloat162_rn(float a, float b)
{
    unsigned r;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(b), "f"(a)); /* the first is the upper half */
    return __attn_bfloat162(r);
}
__attn_fn __nv_bfloat162 __float2bfloat162_rn(float a) { return __floats2bfloat162_rn(a, a); }
__attn_fn __nv_bfloat162 __float22bfloat162_rn(float2 a) { return __floats2bfloat162_rn(a.x, a.y); }
__attn_fn float2 __bfloat1622float2(__nv_bfloat162 a) { return float2((float)a.x, (float)a.y); }
__attn_fn float __low2float(__nv_bfloat162 a) { return (float)a.x; }
__attn_fn float __high2float(__nv_bfloat162 a) { return (float)a.y; }
__attn_fn __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
__attn_fn __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
__attn_fn __nv_bfloat162 __low2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162(a.x, a.x); }
__attn_fn __nv_bfloat162 __high2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162(a.y, a.y); }
__attn_fn __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 a) { return __nv_bfloat162(a.y, a.x); }
__attn_fn __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
__attn_fn __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return __nv_bfloat162(a, a); }
__attn_fn __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }

/* ---- Arithmetic ----------------------------------------------------------------------------------- */

#define __ATTN_B3(name, op)                                                                          \
    __attn_fn __nv_bfloat16 name(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c)                  \
    {                                                                                                \
        __nv_bfloat16 r;                                                                             \
        asm(op ".bf16 %0, %1, %2, %3;" : "=h"(r.__x) : "h"(a.__x), "h"(b.__x), "h"(c.__x));          \
        return r;                                                                                    \
    }                                                                                                \
    __attn_fn __nv_bfloat162 name##2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c)           \
    {                                                                                                \
        unsigned r;                                                                                  \
        asm(op ".bf16x2 %0, %1, %2, %3;"                                                             \
            : "=r"(r) : "r"(__attn_bits(a)), "r"(__attn_bits(b)), "r"(__attn_bits(c)));              \
        return __attn_bfloat162(r);                                                                  \
    }
#define __ATTN_B2(name, op)                                                                          \
    __attn_fn __nv_bfloat16 name(__nv_bfloat16 a, __nv_bfloat16 b)                                   \
    {                                                                                                \
        __nv_bfloat16 r;                                                                             \
        asm(op ".bf16 %0, %1, %2;" : "=h"(r.__x) : "h"(a.__x), "h"(b.__x));                          \
        return r;                                                                                    \
    }                                                                                                \
    __attn_fn __nv_bfloat162 name##2(__nv_bfloat162 a, __nv_bfloat162 b)                             \
    {                                                                                                \
        unsigned r;                                                                                  \
        asm(op ".bf16x2 %0, %1, %2;" : "=r"(r) : "r"(__attn_bits(a)), "r"(__attn_bits(b)));          \
        return __attn_bfloat162(r);                                                                  \
    }
#define __ATTN_B1(name, op)                                                                          \
    __attn_fn __nv_bfloat16 name(__nv_bfloat16 a)                                                    \
    {                                                                                                \
        __nv_bfloat16 r;                                                                             \
        asm(op ".bf16 %0, %1;" : "=h"(r.__x) : "h"(a.__x));                                          \
        return r;                                                                                    \
    }                                                                                                \
    __attn_fn __nv_bfloat162 name##2(__nv_bfloat162 a)                                               \
    {                                                                                                \
        unsigned r;                                                                                  \
        asm(op ".bf16x2 %0, %1;" : "=r"(r) : "r"(__attn_bits(a)));                                   \
        return __attn_bfloat162(r);                                                                  \
    }
__ATTN_B3(__hfma, "fma.rn") __ATTN_B3(__hfma_relu, "fma.rn.relu")
__ATTN_B2(__hmax, "max") __ATTN_B2(__hmin, "min") __ATTN_B1(__hneg, "neg") __ATTN_B1(__habs, "abs")
__attn_fn __nv_bfloat16 __attn_b(unsigned short bits) { return __ushort_as_bfloat16(bits); }
__attn_fn __nv_bfloat162 __attn_b2(unsigned short bits) { return __nv_bfloat162(__attn_b(bits), __attn_b(bits)); }
/* 0x3f80 is 1, 0xbf80 is -1, 0x8000 is -0 */
__attn_fn __nv_bfloat16 __hadd(__nv_bfloat16 a, __nv_bfloat16 b) { return __hfma(a, __attn_b(0x3f80), b); }
__attn_fn __nv_bfloat16 __hsub(__nv_bfloat16 a, __nv_bfloat16 b) { return __hfma(b, __attn_b(0xbf80), a); }
__attn_fn __nv_bfloat16 __hmul(__nv_bfloat16 a, __nv_bfloat16 b) { return __hfma(a, b, __attn_b(0x8000)); }
__attn_fn __nv_bfloat162 __hadd2(__nv_bfloat162 a, __nv_bfloat162 b) { return __hfma2(a, __attn_b2(0x3f80), b); }
__attn_fn __nv_bfloat162 __hsub2(__nv_bfloat162 a, __nv_bfloat162 b) { return __hfma2(b, __attn_b2(0xbf80), a); }
__attn_fn __nv_bfloat162 __hmul2(__nv_bfloat162 a, __nv_bfloat162 b) { return __hfma2(a, b, __attn_b2(0x8000)); }
__attn_fn __nv_bfloat16 __hdiv(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a / (float)b); }
__attn_fn __nv_bfloat162 __h2div(__nv_bfloat162 a, __nv_bfloat162 b)
{
    return __nv_bfloat162(__hdiv(a.x, b.x), __hdiv(a.y, b.y));
}

#define __ATTN_BOP(sym, fn)                                                                          \
    __attn_fn __nv_bfloat16 operator sym(__nv_bfloat16 a, __nv_bfloat16 b) { return __h##fn(a, b); } \
    __attn_fn __nv_bfloat16 &operator sym##=(__nv_bfloat16 &a, __nv_bfloat16 b) { return a = __h##fn(a, b); }
__ATTN_BOP(+, add) __ATTN_BOP(-, sub) __ATTN_BOP(*, mul) __ATTN_BOP(/, div)
#define __ATTN_BOP2(sym, fn)                                                                         \
    __attn_fn __nv_bfloat162 operator sym(__nv_bfloat162 a, __nv_bfloat162 b) { return fn(a, b); }   \
    __attn_fn __nv_bfloat162 &operator sym##=(__nv_bfloat162 &a, __nv_bfloat162 b) { return a = fn(a, b); }
__ATTN_BOP2(+, __hadd2) __ATTN_BOP2(-, __hsub2) __ATTN_BOP2(*, __hmul2) __ATTN_BOP2(/, __h2div)
__attn_fn __nv_bfloat16 operator-(__nv_bfloat16 a) { return __hneg(a); }
__attn_fn __nv_bfloat162 operator-(__nv_bfloat162 a) { return __hneg2(a); }

#define __ATTN_BCMP(fn, sym)                                                                         \
    __attn_fn bool __h##fn(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a sym (float)b; }       \
    __attn_fn bool operator sym(__nv_bfloat16 a, __nv_bfloat16 b) { return __h##fn(a, b); }          \
    __attn_fn bool __hb##fn##2(__nv_bfloat162 a, __nv_bfloat162 b) { return __h##fn(a.x, b.x) && __h##fn(a.y, b.y); }
__ATTN_BCMP(eq, ==) __ATTN_BCMP(ne, !=) __ATTN_BCMP(lt, <) __ATTN_BCMP(le, <=) __ATTN_BCMP(gt, >) __ATTN_BCMP(ge, >=)
__attn_fn bool __hisnan(__nv_bfloat16 a) { return (a.__x & 0x7fff) > 0x7f80; }

#define __ATTN_BFN(name, body)                                                                       \
    __attn_fn __nv_bfloat16 h##name(__nv_bfloat16 a)                                                 \
    {                                                                                                \
        const float x = (float)a;                                                                    \
        return __nv_bfloat16(body);                                                                  \
    }                                                                                                \
    __attn_fn __nv_bfloat162 h2##name(__nv_bfloat162 a) { return __nv_bfloat162(h##name(a.x), h##name(a.y)); }
__ATTN_BFN(exp, __expf(x)) __ATTN_BFN(exp10, __exp10f(x)) __ATTN_BFN(log, logf(x)) __ATTN_BFN(log2, log2f(x))
__ATTN_BFN(log10, log10f(x)) __ATTN_BFN(sqrt, sqrtf(x)) __ATTN_BFN(rsqrt, rsqrtf(x)) __ATTN_BFN(rcp, __frcp_rn(x))
__ATTN_BFN(floor, floorf(x)) __ATTN_BFN(ceil, ceilf(x)) __ATTN_BFN(rint, rintf(x)) __ATTN_BFN(trunc, truncf(x))
__attn_fn __nv_bfloat16 hexp2(__nv_bfloat16 a) { return __nv_bfloat16(__attn_ex2((float)a)); }
__attn_fn __nv_bfloat162 h2exp2(__nv_bfloat162 a) { return __nv_bfloat162(hexp2(a.x), hexp2(a.y)); }
