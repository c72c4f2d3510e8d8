/* cuda_fp16.h - half precision for clang alone, in place of NVIDIA's header of this name.
 *
 * Written from the PTX ISA and CUDA's mathematics manual. __half (half) and __half2 (half2) with operators, and:
 *   __float2half (_rn _rz _rd _ru) __half2float __float2half2_rn __floats2half2_rn __float22half2_rn __half22float2
 *   __int2half_rn __half2int_rn and unsigned, short; __half_as_ushort __half_as_short and back
 *   __low2float __high2float __low2half __high2half __low2half2 __high2half2 __lowhigh2highlow __halves2half2
 *   __half2half2 make_half2
 *   __hadd __hsub __hmul __hdiv __hfma __hneg __habs __hmax __hmin and the same with 2; _rn and _sat of add, sub, mul
 *   __heq __hne __hlt __hle __hgt __hge __hisnan __hisinf, those with 2, and __hbeq2 and its like
 *   hexp hexp2 hlog hlog2 hsqrt hrsqrt hrcp hfloor hceil hrint htrunc, h2exp and its like
 *   atomicAdd of both; shuffles, __ldg and its like take them as they are
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

// clang-format off

struct __align__(2) __half {
    unsigned short __x;
    __half() = default;
    __device__ __forceinline__ __half(float f) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(__x) : "f"(f)); }
    __device__ __forceinline__ __half(double f) : __half((float)f) {}
    __device__ __forceinline__ __half(int i) { asm("cvt.rn.f16.s32 %0, %1;" : "=h"(__x) : "r"(i)); }
    __device__ __forceinline__ __half(unsigned i) { asm("cvt.rn.f16.u32 %0, %1;" : "=h"(__x) : "r"(i)); }
    __device__ __forceinline__ operator float() const
    {
        float f;
        asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(__x));
        return f;
    }
};
typedef __half half;
struct __align__(4) __half2 {
    __half x, y;
    __half2() = default;
    __device__ __forceinline__ __half2(__half a, __half b) : x(a), y(b) {}
};
typedef __half2 half2;
typedef struct { unsigned short x; } __half_raw;

__attn_fn unsigned __attn_bits(__half2 v) { return v.x.__x | (unsigned)v.y.__x << 16; }
__attn_fn __half __attn_half(unsigned short bits)
{
    __half h;
    h.__x = bits;
    return h;
}
__attn_fn __half2 __attn_half2(unsigned bits)
{
    return __half2(__attn_half((unsigned short)bits), __attn_half((unsigned short)(bits >> 16)));
}

/* ---- Conversions ---------------------------------------------------------------------------------- */

#define __ATTN_TO_HALF(name, from, c, op)                                                            \
    __attn_fn __half name(from x)                                                                    \
    {                                                                                                \
        __half h;                                                                                    \
        asm("cvt." op " %0, %1;" : "=h"(h.__x) : c(x));                                              \
        return h;                                                                                    \
    }
#define __ATTN_FROM_HALF(name, to, c, op)                                                            \
    __attn_fn to name(__half h)                                                                      \
    {                                                                                                \
        to x;                                                                                        \
        asm("cvt." op " %0, %1;" : "=" c(x) : "h"(h.__x));                                           \
        return x;                                                                                    \
    }
__ATTN_TO_HALF(__float2half, float, "f", "rn.f16.f32")
__ATTN_TO_HALF(__float2half_rn, float, "f", "rn.f16.f32")
__ATTN_TO_HALF(__float2half_rz, float, "f", "rz.f16.f32")
__attn_fn __half __double2half(double x) { return __float2half((float)x); }
__ATTN_TO_HALF(__int2half_rn, int, "r", "rn.f16.s32")
__ATTN_TO_HALF(__uint2half_rn, unsigned, "r", "rn.f16.u32")
__ATTN_TO_HALF(__short2half_rn, short, "h", "rn.f16.s16")
__ATTN_TO_HALF(__ushort2half_rn, unsigned short, "h", "rn.f16.u16")
__ATTN_FROM_HALF(__half2float, float, "f", "f32.f16")
__ATTN_FROM_HALF(__half2int_rn, int, "r", "rni.s32.f16")
__ATTN_FROM_HALF(__half2int_rz, int, "r", "rzi.s32.f16")
__ATTN_FROM_HALF(__half2int_rd, int, "r", "rmi.s32.f16")
__ATTN_FROM_HALF(__half2int_ru, int, "r", "rpi.s32.f16")
__ATTN_FROM_HALF(__half2uint_rn, unsigned, "r", "rni.u32.f16")
__ATTN_FROM_HALF(__half2uint_rz, unsigned, "r", "rzi.u32.f16")
__ATTN_FROM_HALF(__half2short_rn, short, "h", "rni.s16.f16")
__ATTN_FROM_HALF(__half2ushort_rn, unsigned short, "h", "rni.u16.f16")
__attn_fn unsigned short __half_as_ushort(__half h) { return h.__x; }
__attn_fn short __half_as_short(__half h) { return (short)h.__x; }
__attn_fn __half __ushort_as_half(unsigned short x) { return __attn_half(x); }
__attn_fn __half __short_as_half(short x) { return __attn_half((unsigned short)x); }

__attn_fn __half2 __floats2half2_rn(float a, float b)
{
    unsigned r;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(b), "f"(a)); /* the first is the upper half */
    return __attn_half2(r);
}
__attn_fn __half2 __float2half2_rn(float a) { return __floats2half2_rn(a, a); }
__attn_fn __half2 __float22half2_rn(float2 a) { return __floats2half2_rn(a.x, a.y); }
__attn_fn float2 __half22float2(__half2 a) { return float2(__half2float(a.x), __half2float(a.y)); }
__attn_fn float __low2float(__half2 a) { return __half2float(a.x); }
__attn_fn float __high2float(__half2 a) { return __half2float(a.y); }
__attn_fn __half __low2half(__half2 a) { return a.x; }
__attn_fn __half __high2half(__half2 a) { return a.y; }
__attn_fn __half2 __low2half2(__half2 a) { return __half2(a.x, a.x); }
__attn_fn __half2 __high2half2(__half2 a) { return __half2(a.y, a.y); }
__attn_fn __half2 __lowhigh2highlow(__half2 a) { return __half2(a.y, a.x); }
__attn_fn __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
__attn_fn __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
__attn_fn __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
__attn_fn __half2 __half2half2(__half a) { return __half2(a, a); }
__attn_fn __half2 make_half2(__half a, __half b) { return __half2(a, b); }

/* ---- Arithmetic ----------------------------------------------------------------------------------- */

#define __ATTN_H2(name, op)                                                                          \
    __attn_fn __half name(__half a, __half b)                                                        \
    {                                                                                                \
        __half r;                                                                                    \
        asm(op ".f16 %0, %1, %2;" : "=h"(r.__x) : "h"(a.__x), "h"(b.__x));                           \
        return r;                                                                                    \
    }
#define __ATTN_H22(name, op)                                                                         \
    __attn_fn __half2 name(__half2 a, __half2 b)                                                     \
    {                                                                                                \
        unsigned r;                                                                                  \
        asm(op ".f16x2 %0, %1, %2;" : "=r"(r) : "r"(__attn_bits(a)), "r"(__attn_bits(b)));           \
        return __attn_half2(r);                                                                      \
    }
#define __ATTN_H3(name, op)                                                                          \
    __attn_fn __half name(__half a, __half b, __half c)                                              \
    {                                                                                                \
        __half r;                                                                                    \
        asm(op ".f16 %0, %1, %2, %3;" : "=h"(r.__x) : "h"(a.__x), "h"(b.__x), "h"(c.__x));           \
        return r;                                                                                    \
    }
#define __ATTN_H23(name, op)                                                                         \
    __attn_fn __half2 name(__half2 a, __half2 b, __half2 c)                                          \
    {                                                                                                \
        unsigned r;                                                                                  \
        asm(op ".f16x2 %0, %1, %2, %3;"                                                              \
            : "=r"(r) : "r"(__attn_bits(a)), "r"(__attn_bits(b)), "r"(__attn_bits(c)));              \
        return __attn_half2(r);                                                                      \
    }
#define __ATTN_H1(name, op)                                                                          \
    __attn_fn __half name(__half a)                                                                  \
    {                                                                                                \
        __half r;                                                                                    \
        asm(op ".f16 %0, %1;" : "=h"(r.__x) : "h"(a.__x));                                           \
        return r;                                                                                    \
    }
#define __ATTN_H21(name, op)                                                                         \
    __attn_fn __half2 name(__half2 a)                                                                \
    {                                                                                                \
        unsigned r;                                                                                  \
        asm(op ".f16x2 %0, %1;" : "=r"(r) : "r"(__attn_bits(a)));                                    \
        return __attn_half2(r);                                                                      \
    }
__ATTN_H2(__hadd, "add") __ATTN_H2(__hsub, "sub") __ATTN_H2(__hmul, "mul")
__ATTN_H2(__hadd_rn, "add.rn") __ATTN_H2(__hsub_rn, "sub.rn") __ATTN_H2(__hmul_rn, "mul.rn")
__ATTN_H2(__hadd_sat, "add.sat") __ATTN_H2(__hsub_sat, "sub.sat") __ATTN_H2(__hmul_sat, "mul.sat")
__ATTN_H2(__hmax, "max") __ATTN_H2(__hmin, "min") __ATTN_H2(__hmax_nan, "max.NaN") __ATTN_H2(__hmin_nan, "min.NaN")
__ATTN_H22(__hadd2, "add") __ATTN_H22(__hsub2, "sub") __ATTN_H22(__hmul2, "mul")
__ATTN_H22(__hadd2_rn, "add.rn") __ATTN_H22(__hsub2_rn, "sub.rn") __ATTN_H22(__hmul2_rn, "mul.rn")
__ATTN_H22(__hadd2_sat, "add.sat") __ATTN_H22(__hsub2_sat, "sub.sat") __ATTN_H22(__hmul2_sat, "mul.sat")
__ATTN_H22(__hmax2, "max") __ATTN_H22(__hmin2, "min")
__ATTN_H3(__hfma, "fma.rn") __ATTN_H3(__hfma_sat, "fma.rn.sat") __ATTN_H3(__hfma_relu, "fma.rn.relu")
__ATTN_H23(__hfma2, "fma.rn") __ATTN_H23(__hfma2_sat, "fma.rn.sat") __ATTN_H23(__hfma2_relu, "fma.rn.relu")
__ATTN_H1(__hneg, "neg") __ATTN_H1(__habs, "abs") __ATTN_H21(__hneg2, "neg") __ATTN_H21(__habs2, "abs")
__attn_fn __half __hdiv(__half a, __half b) { return __float2half(__half2float(a) / __half2float(b)); }
__attn_fn __half2 __h2div(__half2 a, __half2 b) { return __half2(__hdiv(a.x, b.x), __hdiv(a.y, b.y)); }

#define __ATTN_HOP(sym, fn)                                                                          \
    __attn_fn __half operator sym(__half a, __half b) { return __h##fn(a, b); }                      \
    __attn_fn __half &operator sym##=(__half &a, __half b) { return a = __h##fn(a, b); }
__ATTN_HOP(+, add) __ATTN_HOP(-, sub) __ATTN_HOP(*, mul) __ATTN_HOP(/, div)
#define __ATTN_HOP2(sym, fn)                                                                         \
    __attn_fn __half2 operator sym(__half2 a, __half2 b) { return fn(a, b); }                        \
    __attn_fn __half2 &operator sym##=(__half2 &a, __half2 b) { return a = fn(a, b); }
__ATTN_HOP2(+, __hadd2) __ATTN_HOP2(-, __hsub2) __ATTN_HOP2(*, __hmul2) __ATTN_HOP2(/, __h2div)
__attn_fn __half operator-(__half a) { return __hneg(a); }
__attn_fn __half2 operator-(__half2 a) { return __hneg2(a); }

/* ---- Comparisons: of floats, which half precision is a part of --------------------------------------- */

#define __ATTN_HCMP(fn, sym)                                                                         \
    __attn_fn bool __h##fn(__half a, __half b) { return __half2float(a) sym __half2float(b); }       \
    __attn_fn bool operator sym(__half a, __half b) { return __h##fn(a, b); }                        \
    __attn_fn __half2 __h##fn##2(__half2 a, __half2 b)                                               \
    {                                                                                                \
        return __half2(__half(__h##fn(a.x, b.x) ? 1.f : 0.f), __half(__h##fn(a.y, b.y) ? 1.f : 0.f)); \
    }                                                                                                \
    __attn_fn bool __hb##fn##2(__half2 a, __half2 b) { return __h##fn(a.x, b.x) && __h##fn(a.y, b.y); }
__ATTN_HCMP(eq, ==) __ATTN_HCMP(ne, !=) __ATTN_HCMP(lt, <) __ATTN_HCMP(le, <=) __ATTN_HCMP(gt, >) __ATTN_HCMP(ge, >=)
__attn_fn bool __hisnan(__half a) { return (a.__x & 0x7fff) > 0x7c00; }
__attn_fn int __hisinf(__half a) { return a.__x == 0x7c00 ? 1 : a.__x == 0xfc00 ? -1 : 0; }

/* ---- Functions: in float, rounded ------------------------------------------------------------------ */

#define __ATTN_HFN(name, body)                                                                       \
    __attn_fn __half h##name(__half a)                                                               \
    {                                                                                                \
        const float x = __half2float(a);                                                             \
        return __float2half(body);                                                                   \
    }                                                                                                \
    __attn_fn __half2 h2##name(__half2 a) { return __half2(h##name(a.x), h##name(a.y)); }
__ATTN_HFN(exp, __expf(x)) __ATTN_HFN(exp10, __exp10f(x)) __ATTN_HFN(log, logf(x)) __ATTN_HFN(log2, log2f(x))
__ATTN_HFN(log10, log10f(x)) __ATTN_HFN(sqrt, sqrtf(x)) __ATTN_HFN(rsqrt, rsqrtf(x)) __ATTN_HFN(rcp, __frcp_rn(x))
__ATTN_HFN(sin, __sinf(x)) __ATTN_HFN(cos, __cosf(x))
__ATTN_HFN(floor, floorf(x)) __ATTN_HFN(ceil, ceilf(x)) __ATTN_HFN(rint, rintf(x)) __ATTN_HFN(trunc, truncf(x))
__attn_fn __half hexp2(__half a) { return __float2half(__attn_ex2(__half2float(a))); }
__attn_fn __half2 h2exp2(__half2 a) { return __half2(hexp2(a.x), hexp2(a.y)); }

/* ---- Atomics --------------------------------------------------------------------------------------- */

__attn_fn __half atomicAdd(__half *p, __half x)
{
    __half old;
    asm volatile("atom.add.noftz.f16 %0, [%1], %2;" : "=h"(old.__x) : "l"(p), "h"(x.__x) : "memory");
    return old;
}
__attn_fn __half2 atomicAdd(__half2 *p, __half2 x)
{
    unsigned old;
    asm volatile("atom.add.noftz.f16x2 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(__attn_bits(x)) : "memory");
    return __attn_half2(old);
}
