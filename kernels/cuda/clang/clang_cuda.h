/* clang_cuda.h - CUDA's language for clang alone: what nvcc declares before a source begins, for device code
 * compiled to PTX on a machine without a CUDA toolkit. Included before every source that clang compiles here;
 * cuda_fp16.h, cuda_bf16.h, mma.h, cuda_pipeline.h and assert.h beside it stand for NVIDIA's of these names.
 *
 * Written from the PTX ISA and CUDA's programming guide. Names that sources may use:
 *   __global__ __device__ __host__ __shared__ __constant__ __launch_bounds__ __forceinline__ __noinline__ __align__
 *   threadIdx blockIdx blockDim gridDim warpSize, dim3
 *   {char,uchar,short,ushort,int,uint,long,ulong,longlong,ulonglong,float,double}{1,2,3,4} and make_*
 *   __syncthreads (_count _and _or) __syncwarp __threadfence (_block _system) __nanosleep __trap
 *   __shfl_sync _up _down _xor, __any_sync __all_sync __ballot_sync __activemask __match_any_sync __match_all_sync
 *   __reduce_{add,min,max,and,or,xor}_sync
 *   atomic{Add,Sub,Exch,Min,Max,Inc,Dec,CAS,And,Or,Xor}, atomicAdd_block
 *   __ldg __ldca __ldcg __ldcs __ldcv __stwb __stcg __stcs __stwt, __cvta_generic_to_shared and _global, __isShared
 *   expf exp2f exp10f expm1f logf log2f log10f log1pf powf sqrtf rsqrtf tanhf sinf cosf sincosf fmodf fmaf fmaxf
 *   fminf fabsf floorf ceilf truncf rintf nearbyintf roundf lrintf ldexpf copysignf fdividef isnan isinf isfinite signbit, and
 *   exp log sqrt ... of a float; sqrt fma fabs fmax fmin floor ceil of a double; min max abs
 *   __expf __exp10f __logf __log2f __log10f __powf __sinf __cosf __tanf __sincosf __fdividef __saturatef __frcp_rn
 *   __frsqrt_rn __f{add,sub,mul,div,sqrt,maf}_{rn,rz,ru,rd}, __float2int_rn and its like, __float_as_int and its like
 *   __popc __clz __ffs __brev (and ll) __mulhi __umulhi __mul24 __byte_perm __funnelshift_l __funnelshift_r __dp4a
 *   clock clock64 printf assert, __builtin_* of clang
 * What is not here: double beyond the few above, textures, surfaces, cooperative groups, malloc, dynamic parallelism.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#ifndef __CUDACC__
#define __CUDACC__ 1
#endif

typedef __SIZE_TYPE__ size_t;

#define __host__               __attribute__((host))
#define __device__             __attribute__((device))
#define __global__             __attribute__((global))
#define __shared__             __attribute__((shared))
#define __constant__           __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__        __inline__ __attribute__((always_inline))
#define __noinline__           __attribute__((noinline))
#define __align__(n)           __attribute__((aligned(n)))
#define __builtin_align__(n)   __align__(n)

/* Of every function here. */
#define __attn_fn static __device__ __forceinline__

// clang-format off

/* ---- Vectors ------------------------------------------------------------------------------------
 * Members have addresses, and sources may give the types operators, as with nvcc. Copies go through clang's own
 * vector types: one access of 8 or 16 bytes, where a plain struct would become several. */

#define __ATTN_VECTOR(T, name)                                                                      \
    struct name##1 {                                                                                \
        T x;                                                                                        \
    };                                                                                              \
    struct name##3 {                                                                                \
        T x, y, z;                                                                                  \
    };                                                                                              \
    __ATTN_WIDE(T, name##2, 2, 2 * sizeof(T), (T x, T y = 0), (x, y), __ATTN_2)                     \
    __ATTN_WIDE(T, name##4, 4, 4 * sizeof(T) > 16 ? 16 : 4 * sizeof(T),                             \
                (T x, T y = 0, T z = 0, T w = 0), (x, y, z, w), __ATTN_4)                           \
    __attn_fn name##1 make_##name##1(T x) { return {x}; }                                           \
    __attn_fn name##2 make_##name##2(T x, T y) { return {x, y}; }                                   \
    __attn_fn name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                           \
    __attn_fn name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
#define __ATTN_2(T) T x, y;
#define __ATTN_4(T) T x, y, z, w;
#define __ATTN_VALUES(...) {__VA_ARGS__}
#define __ATTN_WIDE(T, name, n, bytes, params, values, members)                                     \
    struct __align__(bytes) name {                                                                  \
        typedef T __vector __attribute__((ext_vector_type(n), aligned(bytes)));                     \
        union {                                                                                     \
            struct {                                                                                \
                members(T)                                                                          \
            };                                                                                      \
            __vector __v;                                                                           \
        };                                                                                          \
        name() = default;                                                                           \
        __device__ __host__ constexpr name params : __v __ATTN_VALUES values {}                     \
        __device__ __host__ __forceinline__ name(const name &o) { __v = o.__v; }                    \
        __device__ __host__ __forceinline__ name &operator=(const name &o)                          \
        {                                                                                           \
            __v = o.__v;                                                                            \
            return *this;                                                                           \
        }                                                                                           \
    };

__ATTN_VECTOR(signed char, char)
__ATTN_VECTOR(unsigned char, uchar)
__ATTN_VECTOR(short, short)
__ATTN_VECTOR(unsigned short, ushort)
__ATTN_VECTOR(int, int)
__ATTN_VECTOR(unsigned, uint)
__ATTN_VECTOR(long, long)
__ATTN_VECTOR(unsigned long, ulong)
__ATTN_VECTOR(long long, longlong)
__ATTN_VECTOR(unsigned long long, ulonglong)
__ATTN_VECTOR(float, float)
__ATTN_VECTOR(double, double)

struct dim3 {
    unsigned x, y, z;
    __device__ __host__ constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    __device__ __host__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __device__ __host__ constexpr operator uint3() const { return {x, y, z}; }
};

/* ---- Who am I ----------------------------------------------------------------------------------- */

#define __ATTN_INDEX(name, reg, T)                                                                   \
    struct __attn_##name {                                                                           \
        __declspec(property(get = __x)) unsigned x;                                                  \
        __declspec(property(get = __y)) unsigned y;                                                  \
        __declspec(property(get = __z)) unsigned z;                                                  \
        static __device__ __forceinline__ unsigned __x() { return __nvvm_read_ptx_sreg_##reg##_x(); } \
        static __device__ __forceinline__ unsigned __y() { return __nvvm_read_ptx_sreg_##reg##_y(); } \
        static __device__ __forceinline__ unsigned __z() { return __nvvm_read_ptx_sreg_##reg##_z(); } \
        __device__ __forceinline__ operator T() const { return T{__x(), __y(), __z()}; }             \
    };                                                                                               \
    extern const __device__ __attribute__((weak)) __attn_##name name;
__ATTN_INDEX(threadIdx, tid, uint3)
__ATTN_INDEX(blockIdx, ctaid, uint3)
__ATTN_INDEX(blockDim, ntid, dim3)
__ATTN_INDEX(gridDim, nctaid, dim3)
constexpr int warpSize = 32;

/* ---- Bits --------------------------------------------------------------------------------------- */

#define __ATTN_CAST(name, to, from) __attn_fn to name(from x) { return __builtin_bit_cast(to, x); }
__ATTN_CAST(__float_as_int, int, float)
__ATTN_CAST(__float_as_uint, unsigned, float)
__ATTN_CAST(__int_as_float, float, int)
__ATTN_CAST(__uint_as_float, float, unsigned)
__ATTN_CAST(__double_as_longlong, long long, double)
__ATTN_CAST(__longlong_as_double, double, long long)

__attn_fn int __popc(unsigned x) { return __builtin_popcount(x); }
__attn_fn int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
__attn_fn int __clz(int x)
{
    int n;
    asm("clz.b32 %0, %1;" : "=r"(n) : "r"(x));
    return n;
}
__attn_fn int __clzll(long long x)
{
    int n;
    asm("clz.b64 %0, %1;" : "=r"(n) : "l"(x));
    return n;
}
__attn_fn unsigned __brev(unsigned x)
{
    unsigned r;
    asm("brev.b32 %0, %1;" : "=r"(r) : "r"(x));
    return r;
}
__attn_fn unsigned long long __brevll(unsigned long long x)
{
    unsigned long long r;
    asm("brev.b64 %0, %1;" : "=l"(r) : "l"(x));
    return r;
}
__attn_fn int __ffs(int x) { return x ? 32 - __clz((int)((unsigned)x & -(unsigned)x)) : 0; }
__attn_fn int __ffsll(long long x)
{
    return x ? 64 - __clzll((long long)((unsigned long long)x & -(unsigned long long)x)) : 0;
}
__attn_fn int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
__attn_fn unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
__attn_fn int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
__attn_fn unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
__attn_fn unsigned __byte_perm(unsigned a, unsigned b, unsigned s)
{
    unsigned r;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(s));
    return r;
}
__attn_fn unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n)
{
    unsigned r;
    asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(lo), "r"(hi), "r"(n));
    return r;
}
__attn_fn unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n)
{
    unsigned r;
    asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(lo), "r"(hi), "r"(n));
    return r;
}
__attn_fn int __dp4a(int a, int b, int c)
{
    int r;
    asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}

/* ---- Conversions and arithmetic with a rounding of one's choice ----------------------------------- */

#define __ATTN_CVT(name, to, tc, from, fc, op)                                                       \
    __attn_fn to name(from x)                                                                        \
    {                                                                                                \
        to r;                                                                                        \
        asm("cvt." op " %0, %1;" : "=" tc(r) : fc(x));                                               \
        return r;                                                                                    \
    }
#define __ATTN_CVT_4(name, to, tc, from, fc, i, types)                                               \
    __ATTN_CVT(name##_rn, to, tc, from, fc, "rn" i types) __ATTN_CVT(name##_rz, to, tc, from, fc, "rz" i types) \
    __ATTN_CVT(name##_ru, to, tc, from, fc, "rp" i types) __ATTN_CVT(name##_rd, to, tc, from, fc, "rm" i types)
__ATTN_CVT_4(__float2int, int, "r", float, "f", "i", ".s32.f32")
__ATTN_CVT_4(__float2uint, unsigned, "r", float, "f", "i", ".u32.f32")
__ATTN_CVT_4(__float2ll, long long, "l", float, "f", "i", ".s64.f32")
__ATTN_CVT_4(__double2int, int, "r", double, "d", "i", ".s32.f64")
__ATTN_CVT_4(__int2float, float, "f", int, "r", "", ".f32.s32")
__ATTN_CVT_4(__uint2float, float, "f", unsigned, "r", "", ".f32.u32")
__ATTN_CVT_4(__ll2float, float, "f", long long, "l", "", ".f32.s64")
__ATTN_CVT_4(__double2float, float, "f", double, "d", "", ".f32.f64")

#ifdef ATTNSCOPE_FTZ
#define __ATTN_F32 ".ftz.f32"
#else
#define __ATTN_F32 ".f32"
#endif
#define __ATTN_OP(name, op) __attn_fn float name(float a, float b)                                   \
    {                                                                                                \
        float r;                                                                                     \
        asm(op __ATTN_F32 " %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));                                \
        return r;                                                                                    \
    }
/* Of one operand, with its type, as conversions have two. */
#define __ATTN_OP1(name, op) __attn_fn float name(float a)                                           \
    {                                                                                                \
        float r;                                                                                     \
        asm(op " %0, %1;" : "=f"(r) : "f"(a));                                                       \
        return r;                                                                                    \
    }
#define __ATTN_OP3(name, op) __attn_fn float name(float a, float b, float c)                         \
    {                                                                                                \
        float r;                                                                                     \
        asm(op __ATTN_F32 " %0, %1, %2, %3;" : "=f"(r) : "f"(a), "f"(b), "f"(c));                    \
        return r;                                                                                    \
    }
#define __ATTN_OP_4(m, name, op, type)                                                               \
    m(name##_rn, op ".rn" type) m(name##_rz, op ".rz" type) m(name##_ru, op ".rp" type) m(name##_rd, op ".rm" type)
__ATTN_OP_4(__ATTN_OP, __fadd, "add", )
__ATTN_OP_4(__ATTN_OP, __fsub, "sub", )
__ATTN_OP_4(__ATTN_OP, __fmul, "mul", )
__ATTN_OP_4(__ATTN_OP, __fdiv, "div", )
__ATTN_OP_4(__ATTN_OP1, __fsqrt, "sqrt", __ATTN_F32)
__ATTN_OP_4(__ATTN_OP1, __frcp, "rcp", __ATTN_F32)
__ATTN_OP_4(__ATTN_OP3, __fmaf, "fma", )
__ATTN_OP(__fdividef, "div.approx")
__ATTN_OP(fdividef, "div.approx")
__ATTN_OP1(__frsqrt_rn, "rsqrt.approx" __ATTN_F32)
__attn_fn float __saturatef(float x) { return __nvvm_saturate_f(x); }

/* ---- Mathematics of float ------------------------------------------------------------------------- */

__ATTN_OP1(__attn_ex2, "ex2.approx" __ATTN_F32)
__ATTN_OP1(__attn_ex2_ftz, "ex2.approx.ftz.f32")
__ATTN_OP1(__attn_lg2, "lg2.approx" __ATTN_F32)
__ATTN_OP1(rsqrtf, "rsqrt.approx" __ATTN_F32)
__ATTN_OP1(__sinf, "sin.approx" __ATTN_F32)
__ATTN_OP1(__cosf, "cos.approx" __ATTN_F32)
__ATTN_OP1(floorf, "cvt.rmi.f32.f32")
__ATTN_OP1(ceilf, "cvt.rpi.f32.f32")
__ATTN_OP1(truncf, "cvt.rzi.f32.f32")
__ATTN_OP1(rintf, "cvt.rni.f32.f32")
__ATTN_OP1(nearbyintf, "cvt.rni.f32.f32")
__attn_fn double fma(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
__attn_fn double __attn_round(double x)
{
    double r;
    asm("cvt.rni.f64.f64 %0, %1;" : "=d"(r) : "d"(x));
    return r;
}
__attn_fn float __tanf(float x) { return __fdividef(__sinf(x), __cosf(x)); }
__attn_fn void __sincosf(float x, float *s, float *c)
{
    *s = __sinf(x);
    *c = __cosf(x);
}
__attn_fn float __expf(float x) { return __attn_ex2(x * 1.4426950408889634f); }
__attn_fn float __exp10f(float x) { return __attn_ex2(x * 3.3219280948873623f); }
__attn_fn float __log2f(float x) { return __attn_lg2(x); }
__attn_fn float __logf(float x) { return __attn_lg2(x) * 0.69314718055994531f; }
__attn_fn float __log10f(float x) { return __attn_lg2(x) * 0.30102999566398120f; }
__attn_fn float __powf(float x, float y) { return __attn_ex2(y * __attn_lg2(x)); }

__attn_fn float fmaf(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
__attn_fn float fmaxf(float a, float b) { return __nvvm_fmax_f(a, b); }
__attn_fn float fminf(float a, float b) { return __nvvm_fmin_f(a, b); }
__attn_fn float fabsf(float x) { return __nvvm_fabs_f(x); }
__attn_fn float copysignf(float x, float y)
{
    return __uint_as_float((__float_as_uint(x) & 0x7fffffffu) | (__float_as_uint(y) & 0x80000000u));
}
__attn_fn float roundf(float x) { return truncf(x + copysignf(fabsf(x) < 8388608.f ? 0.49999997f : 0.f, x)); }
__attn_fn long lrintf(float x) { return __float2int_rn(x); }
__attn_fn bool isnan(float x) { return x != x; }
__attn_fn bool isinf(float x) { return fabsf(x) == __int_as_float(0x7f800000); }
__attn_fn bool isfinite(float x) { return fabsf(x) < __int_as_float(0x7f800000); }
__attn_fn bool signbit(float x) { return __float_as_int(x) < 0; }

#if defined ATTNSCOPE_FAST_MATH || defined ATTNSCOPE_FAST_SQRT
__ATTN_OP1(sqrtf, "sqrt.approx" __ATTN_F32)
#else
__ATTN_OP1(sqrtf, "sqrt.rn" __ATTN_F32)
#endif

/* 2^n for -252 <= n <= 254, by two factors, so that a result may be denormal. */
__attn_fn float __attn_scale(float x, int n)
{
    const int half = n / 2;
    return x * __int_as_float((half + 127) << 23) * __int_as_float((n - half + 127) << 23);
}
__attn_fn float ldexpf(float x, int n) { return __attn_scale(x, n < -252 ? -252 : n > 254 ? 254 : n); }

__attn_fn float exp2f(float x) { return __attn_ex2(x); }
/* e^x = 2^n 2^f with n + f = x log2(e), f within a half: the product's low part counts. 2 ulp. */
__attn_fn float __attn_exp(float x)
{
    const float t = fminf(fmaxf(x, -105.f), 90.f); /* NaN becomes a bound: put back below */
    const float n = rintf(t * 1.4426950216293335f);
    const float f = fmaf(t, 1.9259629911266175e-8f, fmaf(t, 1.4426950216293335f, -n));
    return isnan(x) ? x : __attn_scale(__attn_ex2_ftz(f), (int)n);
}
/* ln x: mantissa within 3/4 .. 3/2, and the series of 2 artanh(s) with s = (m - 1) / (m + 1), |s| < 1/5. */
__attn_fn float __attn_log(float x, float *whole)
{
    const bool tiny = x < 1.17549435e-38f;
    const float y = tiny ? x * 8388608.f : x;
    const int e = (__float_as_int(y) - 0x3f400000) & (int)0xff800000;
    const float m = __int_as_float(__float_as_int(y) - e), f = m - 1.f;
    const float s = __fdividef(f, 2.f + f), z = s * s;
    const float p = fmaf(z, fmaf(z, fmaf(z, fmaf(z, .18181818f, .22222222f), .28571429f), .4f), .66666667f);
    *whole = (float)(e >> 23) - (tiny ? 23.f : 0.f);
    return f - s * (f - z * p); /* = 2s + s z p, whose large part is exact */
}
__attn_fn float __attn_log_ends(float x, float y)
{
    if (x == 0.f)
        return -__int_as_float(0x7f800000);
    return x < 0.f ? __int_as_float(0x7fffffff) : x < __int_as_float(0x7f800000) ? y : x;
}
__attn_fn float __attn_ln(float x)
{
    float e;
    const float l = __attn_log(x, &e);
    return __attn_log_ends(x, fmaf(e, 0.69314718246459961f, fmaf(e, -1.9046542121259336e-9f, l)));
}
__attn_fn float __attn_log2(float x)
{
    float e;
    const float l = __attn_log(x, &e);
    return __attn_log_ends(x, e + fmaf(l, 1.9259629911266175e-8f, l * 1.4426950216293335f));
}
#ifdef ATTNSCOPE_FAST_MATH
__attn_fn float expf(float x) { return __expf(x); }
__attn_fn float logf(float x) { return __logf(x); }
__attn_fn float log2f(float x) { return __log2f(x); }
__attn_fn float log10f(float x) { return __log10f(x); }
#else
__attn_fn float expf(float x) { return __attn_exp(x); }
__attn_fn float logf(float x) { return __attn_ln(x); }
__attn_fn float log2f(float x) { return __attn_log2(x); }
__attn_fn float log10f(float x) { return __attn_ln(x) * 0.43429448190325182f; }
#endif
/* 10^x likewise. */
__attn_fn float exp10f(float x)
{
    const float t = fminf(fmaxf(x, -46.f), 39.f), n = rintf(t * 3.3219280242919922f);
    const float f = fmaf(t, 7.0595369550119e-8f, fmaf(t, 3.3219280242919922f, -n));
    return isnan(x) ? x : __attn_scale(__attn_ex2_ftz(f), (int)n);
}
/* Near 0 by series: 1 + x loses what counts there. */
__attn_fn float expm1f(float x)
{
    const float p = x * fmaf(x, fmaf(x, fmaf(x, fmaf(x, fmaf(x, .0013888889f, .0083333333f), .041666667f), .16666667f), .5f), 1.f);
    return fabsf(x) < .3f ? p : __attn_exp(x) - 1.f;
}
__attn_fn float log1pf(float x)
{
    const float u = 1.f + x;
    return u == 1.f || isinf(x) ? x : __attn_ln(u) * __fdividef(x, u - 1.f);
}
/* |x|^y = 2^(y log2 |x|), whose whole part is taken off while it is exact. */
__attn_fn float __attn_pow(float x, float y)
{
    float e;
    const float l = __attn_log(x, &e), l2 = fmaf(l, 1.9259629911266175e-8f, l * 1.4426950216293335f);
    const float t = y * (e + l2);
    if (isnan(x) || isnan(y))
        return x + y;
    if (x == 0.f || isinf(x) || isinf(y) || !(fabsf(t) < 160.f))
        return __attn_ex2(y * __attn_log_ends(x, e + l2));
    const float n = rintf(t);
    return __attn_scale(__attn_ex2_ftz(fmaf(y, l2, fmaf(y, e, -n))), (int)n);
}
/* With the sign of an odd whole y. */
__attn_fn float powf(float x, float y)
{
    if (y == 0.f || x == 1.f)
        return 1.f;
    const float r = __attn_pow(fabsf(x), y);
    const bool whole = truncf(y) == y, odd = whole && truncf(y * .5f) != y * .5f;
    return x >= 0.f || isnan(x) ? r : !whole ? __int_as_float(0x7fffffff) : odd ? -r : r;
}
__attn_fn float tanhf(float x)
{
    const float a = fabsf(x), e = expm1f(-2.f * a);
    return copysignf(__fdividef(-e, 2.f + e), x);
}
/* x - n pi/2 in three steps, in double where x is large, then a series of sine or cosine within pi/4. */
__attn_fn float __attn_sine(float x, int quarter)
{
    float n = rintf(x * .63661977f);
    float r = fmaf(n, -5.3903029534742e-15f, fmaf(n, -7.5497894159e-08f, fmaf(n, -1.57079625129700f, x)));
    int q = (int)n;
    if (fabsf(x) > 30000.f) {
        const double m = __attn_round(x * .63661977236758134);
        r = (float)fma(m, -6.1232339957367660e-17, fma(m, -1.5707963267948966, (double)x));
        q = (int)((long long)m & 3);
    }
    q = (q + quarter) & 3;
    const float z = r * r;
    const float s = fmaf(r * z, fmaf(z, fmaf(z, fmaf(z, 2.7557319e-6f, -1.9841270e-4f), 8.3333333e-3f), -.16666667f), r);
    const float c = fmaf(z, fmaf(z, fmaf(z, fmaf(z, 2.4801587e-5f, -1.3888889e-3f), .041666667f), -.5f), 1.f);
    const float v = q & 1 ? c : s;
    return q & 2 ? -v : v;
}
#ifdef ATTNSCOPE_FAST_MATH
__attn_fn float sinf(float x) { return __sinf(x); }
__attn_fn float cosf(float x) { return __cosf(x); }
#else
__attn_fn float sinf(float x) { return __attn_sine(x, 0); }
__attn_fn float cosf(float x) { return __attn_sine(x, 1); }
#endif
__attn_fn void sincosf(float x, float *s, float *c)
{
    *s = sinf(x);
    *c = cosf(x);
}
__attn_fn float fmodf(float x, float y) { return fmaf(-truncf(x / y), y, x); }
__attn_fn float fdimf(float x, float y) { return x > y ? x - y : 0.f; }

/* By C++'s names, and what there is of double. */
#define __ATTN_PLAIN(name) __attn_fn float name(float x) { return name##f(x); }
__ATTN_PLAIN(exp) __ATTN_PLAIN(exp2) __ATTN_PLAIN(expm1) __ATTN_PLAIN(log) __ATTN_PLAIN(log2) __ATTN_PLAIN(log10) __ATTN_PLAIN(log1p)
__ATTN_PLAIN(sqrt) __ATTN_PLAIN(rsqrt) __ATTN_PLAIN(tanh) __ATTN_PLAIN(sin) __ATTN_PLAIN(cos) __ATTN_PLAIN(fabs)
__ATTN_PLAIN(floor) __ATTN_PLAIN(ceil) __ATTN_PLAIN(trunc) __ATTN_PLAIN(round) __ATTN_PLAIN(rint)
__attn_fn float pow(float x, float y) { return powf(x, y); }
__attn_fn float fma(float a, float b, float c) { return fmaf(a, b, c); }
__attn_fn float fmax(float a, float b) { return fmaxf(a, b); }
__attn_fn float fmin(float a, float b) { return fminf(a, b); }
__attn_fn double sqrt(double x) { return __nvvm_sqrt_rn_d(x); }
__attn_fn double fabs(double x) { return __nvvm_fabs_d(x); }
__attn_fn double floor(double x) { return __nvvm_floor_d(x); }
__attn_fn double ceil(double x) { return __nvvm_ceil_d(x); }
__attn_fn double fmax(double a, double b) { return __nvvm_fmax_d(a, b); }
__attn_fn double fmin(double a, double b) { return __nvvm_fmin_d(a, b); }

#define __ATTN_ORDER(T)                                                                              \
    __attn_fn constexpr T min(T a, T b) { return b < a ? b : a; }                                    \
    __attn_fn constexpr T max(T a, T b) { return a < b ? b : a; }
__ATTN_ORDER(int)
__ATTN_ORDER(unsigned)
__ATTN_ORDER(long)
__ATTN_ORDER(unsigned long)
__ATTN_ORDER(long long)
__ATTN_ORDER(unsigned long long)
/* Of two types, that which both become. */
__attn_fn constexpr unsigned min(int a, unsigned b) { return min((unsigned)a, b); }
__attn_fn constexpr unsigned min(unsigned a, int b) { return min(a, (unsigned)b); }
__attn_fn constexpr unsigned max(int a, unsigned b) { return max((unsigned)a, b); }
__attn_fn constexpr unsigned max(unsigned a, int b) { return max(a, (unsigned)b); }
__attn_fn float min(float a, float b) { return fminf(a, b); }
__attn_fn float max(float a, float b) { return fmaxf(a, b); }
__attn_fn double min(double a, double b) { return fmin(a, b); }
__attn_fn double max(double a, double b) { return fmax(a, b); }
__attn_fn constexpr int abs(int x) { return x < 0 ? -x : x; }
__attn_fn constexpr long abs(long x) { return x < 0 ? -x : x; }
__attn_fn constexpr long long abs(long long x) { return x < 0 ? -x : x; }
__attn_fn float abs(float x) { return fabsf(x); }

/* ---- Barriers, fences, waiting -------------------------------------------------------------------- */

__attn_fn int __syncthreads_count(int p) { return __nvvm_bar0_popc(p); }
__attn_fn int __syncthreads_and(int p) { return __nvvm_bar0_and(p); }
__attn_fn int __syncthreads_or(int p) { return __nvvm_bar0_or(p); }
__attn_fn void __syncwarp(unsigned mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
__attn_fn void __threadfence_block() { __nvvm_membar_cta(); }
__attn_fn void __threadfence() { __nvvm_membar_gl(); }
__attn_fn void __threadfence_system() { __nvvm_membar_sys(); }
__attn_fn void __nanosleep(unsigned ns) { asm volatile("nanosleep.u32 %0;" ::"r"(ns)); }
__attn_fn void __trap() { asm volatile("trap;"); }
__attn_fn void __brkpt() { asm volatile("brkpt;"); }
__attn_fn int clock()
{
    int t;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory");
    return t;
}
__attn_fn long long clock64()
{
    long long t;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
    return t;
}

/* ---- Warps ---------------------------------------------------------------------------------------- */

/* A shuffle of anything of 1, 2, 4, 8 or 16 bytes, a register at a time. */
template <int bytes> struct __attn_words {
    unsigned w[(bytes + 3) / 4];
};
#define __ATTN_SHUFFLE(name, kind, Arg, clamp)                                                       \
    template <class T> __attn_fn T name(unsigned mask, T x, Arg at, int width = 32)                  \
    {                                                                                                \
        __attn_words<sizeof(T)> v = {};                                                              \
        __builtin_memcpy(&v, &x, sizeof x);                                                          \
        for (unsigned &w : v.w)                                                                      \
            w = (unsigned)__nvvm_shfl_sync_##kind##_i32((int)mask, (int)w, (int)at, (32 - width) << 8 | (clamp)); \
        __builtin_memcpy(&x, &v, sizeof x);                                                          \
        return x;                                                                                    \
    }
__ATTN_SHUFFLE(__shfl_sync, idx, int, 31)
__ATTN_SHUFFLE(__shfl_up_sync, up, unsigned, 0)
__ATTN_SHUFFLE(__shfl_down_sync, down, unsigned, 31)
__ATTN_SHUFFLE(__shfl_xor_sync, bfly, int, 31)

__attn_fn int __any_sync(unsigned mask, int p) { return __nvvm_vote_any_sync(mask, p); }
__attn_fn int __all_sync(unsigned mask, int p) { return __nvvm_vote_all_sync(mask, p); }
__attn_fn int __uni_sync(unsigned mask, int p) { return __nvvm_vote_uni_sync(mask, p); }
__attn_fn unsigned __ballot_sync(unsigned mask, int p) { return __nvvm_vote_ballot_sync(mask, p); }
__attn_fn unsigned __activemask()
{
    unsigned m;
    asm volatile("activemask.b32 %0;" : "=r"(m));
    return m;
}
template <class T> __attn_fn unsigned __match_any_sync(unsigned mask, T x)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "of 4 or 8 bytes");
    if constexpr (sizeof(T) == 4)
        return __nvvm_match_any_sync_i32(mask, __builtin_bit_cast(int, x));
    else
        return (unsigned)__nvvm_match_any_sync_i64(mask, __builtin_bit_cast(long long, x));
}
template <class T> __attn_fn unsigned __match_all_sync(unsigned mask, T x, int *p)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "of 4 or 8 bytes");
    if constexpr (sizeof(T) == 4)
        return __nvvm_match_all_sync_i32p(mask, __builtin_bit_cast(int, x), p);
    else
        return (unsigned)__nvvm_match_all_sync_i64p(mask, __builtin_bit_cast(long long, x), p);
}
#define __ATTN_REDUX(name, T, op)                                                                    \
    __attn_fn T name(unsigned mask, T x)                                                             \
    {                                                                                                \
        T r;                                                                                         \
        asm volatile("redux.sync." op " %0, %1, %2;" : "=r"(r) : "r"(x), "r"(mask));                 \
        return r;                                                                                    \
    }
__ATTN_REDUX(__reduce_add_sync, int, "add.s32")
__ATTN_REDUX(__reduce_add_sync, unsigned, "add.u32")
__ATTN_REDUX(__reduce_min_sync, int, "min.s32")
__ATTN_REDUX(__reduce_min_sync, unsigned, "min.u32")
__ATTN_REDUX(__reduce_max_sync, int, "max.s32")
__ATTN_REDUX(__reduce_max_sync, unsigned, "max.u32")
__ATTN_REDUX(__reduce_and_sync, unsigned, "and.b32")
__ATTN_REDUX(__reduce_or_sync, unsigned, "or.b32")
__ATTN_REDUX(__reduce_xor_sync, unsigned, "xor.b32")

/* ---- Atomics: relaxed, of the whole device unless the name says otherwise -------------------------- */

#define __ATTN_ATOM(name, T, c, op)                                                                  \
    __attn_fn T name(T *p, T x)                                                                      \
    {                                                                                                \
        T old;                                                                                       \
        asm volatile("atom." op " %0, [%1], %2;" : "=" c(old) : "l"(p), c(x) : "memory");            \
        return old;                                                                                  \
    }
#define __ATTN_ATOMS(name, op, i, u, ul)                                                             \
    __ATTN_ATOM(name, int, "r", op i) __ATTN_ATOM(name, unsigned, "r", op u)                         \
    __ATTN_ATOM(name, unsigned long long, "l", op ul)
__attn_fn int atomicAdd(int *p, int x) { return __nvvm_atom_add_gen_i(p, x); }
__attn_fn unsigned atomicAdd(unsigned *p, unsigned x) { return __nvvm_atom_add_gen_i((int *)p, (int)x); }
__attn_fn unsigned long long atomicAdd(unsigned long long *p, unsigned long long x)
{
    return __nvvm_atom_add_gen_ll((long long *)p, (long long)x);
}
__attn_fn float atomicAdd(float *p, float x) { return __nvvm_atom_add_gen_f(p, x); }
__attn_fn double atomicAdd(double *p, double x) { return __nvvm_atom_add_gen_d(p, x); }
__attn_fn int atomicSub(int *p, int x) { return atomicAdd(p, -x); }
__attn_fn unsigned atomicSub(unsigned *p, unsigned x) { return atomicAdd(p, 0u - x); }
__attn_fn int atomicExch(int *p, int x) { return __nvvm_atom_xchg_gen_i(p, x); }
__attn_fn unsigned atomicExch(unsigned *p, unsigned x) { return __nvvm_atom_xchg_gen_i((int *)p, (int)x); }
__attn_fn unsigned long long atomicExch(unsigned long long *p, unsigned long long x)
{
    return __nvvm_atom_xchg_gen_ll((long long *)p, (long long)x);
}
__attn_fn float atomicExch(float *p, float x)
{
    return __int_as_float(__nvvm_atom_xchg_gen_i((int *)p, __float_as_int(x)));
}
__attn_fn int atomicCAS(int *p, int old, int x) { return __nvvm_atom_cas_gen_i(p, old, x); }
__attn_fn unsigned atomicCAS(unsigned *p, unsigned old, unsigned x)
{
    return __nvvm_atom_cas_gen_i((int *)p, (int)old, (int)x);
}
__attn_fn unsigned long long atomicCAS(unsigned long long *p, unsigned long long old, unsigned long long x)
{
    return __nvvm_atom_cas_gen_ll((long long *)p, (long long)old, (long long)x);
}
__attn_fn unsigned short atomicCAS(unsigned short *p, unsigned short old, unsigned short x)
{
    unsigned short r;
    asm volatile("atom.cas.b16 %0, [%1], %2, %3;" : "=h"(r) : "l"(p), "h"(old), "h"(x) : "memory");
    return r;
}
__ATTN_ATOMS(atomicMin, "min.", "s32", "u32", "u64")
__ATTN_ATOMS(atomicMax, "max.", "s32", "u32", "u64")
__ATTN_ATOMS(atomicAnd, "and.", "b32", "b32", "b64")
__ATTN_ATOMS(atomicOr, "or.", "b32", "b32", "b64")
__ATTN_ATOMS(atomicXor, "xor.", "b32", "b32", "b64")
__ATTN_ATOM(atomicInc, unsigned, "r", "inc.u32")
__ATTN_ATOM(atomicDec, unsigned, "r", "dec.u32")
__ATTN_ATOM(atomicAdd_block, int, "r", "cta.add.u32")
__ATTN_ATOM(atomicAdd_block, unsigned, "r", "cta.add.u32")
__ATTN_ATOM(atomicAdd_block, float, "f", "cta.add.f32")

/* ---- Memory --------------------------------------------------------------------------------------- */

/* A load or store of 1, 2, 4, 8 or 16 bytes with an operator of PTX. */
#define __ATTN_LOAD(name, op)                                                                        \
    template <class T> __attn_fn T name(const T *p)                                                  \
    {                                                                                                \
        T x;                                                                                         \
        if constexpr (sizeof(T) == 16) {                                                             \
            uint4 v;                                                                                 \
            asm volatile(op ".v4.u32 {%0, %1, %2, %3}, [%4];"                                        \
                         : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p) : "memory");          \
            __builtin_memcpy(&x, &v, sizeof x);                                                      \
        } else if constexpr (sizeof(T) == 8) {                                                       \
            unsigned long long v;                                                                    \
            asm volatile(op ".u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");                         \
            __builtin_memcpy(&x, &v, sizeof x);                                                      \
        } else if constexpr (sizeof(T) == 4) {                                                       \
            unsigned v;                                                                              \
            asm volatile(op ".u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");                         \
            __builtin_memcpy(&x, &v, sizeof x);                                                      \
        } else if constexpr (sizeof(T) == 2) {                                                       \
            unsigned short v;                                                                        \
            asm volatile(op ".u16 %0, [%1];" : "=h"(v) : "l"(p) : "memory");                         \
            __builtin_memcpy(&x, &v, sizeof x);                                                      \
        } else {                                                                                     \
            static_assert(sizeof(T) == 1, "of 1, 2, 4, 8 or 16 bytes");                              \
            unsigned v;                                                                              \
            asm volatile(op ".u8 %0, [%1];" : "=r"(v) : "l"(p) : "memory");                          \
            __builtin_memcpy(&x, &v, sizeof x);                                                      \
        }                                                                                            \
        return x;                                                                                    \
    }
#define __ATTN_STORE(name, op)                                                                       \
    template <class T> __attn_fn void name(T *p, T x)                                                \
    {                                                                                                \
        if constexpr (sizeof(T) == 16) {                                                             \
            uint4 v;                                                                                 \
            __builtin_memcpy(&v, &x, sizeof x);                                                      \
            asm volatile(op ".v4.u32 [%0], {%1, %2, %3, %4};"                                        \
                         ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");               \
        } else if constexpr (sizeof(T) == 8) {                                                       \
            unsigned long long v;                                                                    \
            __builtin_memcpy(&v, &x, sizeof x);                                                      \
            asm volatile(op ".u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");                           \
        } else if constexpr (sizeof(T) == 4) {                                                       \
            unsigned v;                                                                              \
            __builtin_memcpy(&v, &x, sizeof x);                                                      \
            asm volatile(op ".u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");                           \
        } else if constexpr (sizeof(T) == 2) {                                                       \
            unsigned short v;                                                                        \
            __builtin_memcpy(&v, &x, sizeof x);                                                      \
            asm volatile(op ".u16 [%0], %1;" ::"l"(p), "h"(v) : "memory");                           \
        } else {                                                                                     \
            static_assert(sizeof(T) == 1, "of 1, 2, 4, 8 or 16 bytes");                              \
            unsigned v = 0;                                                                          \
            __builtin_memcpy(&v, &x, sizeof x);                                                      \
            asm volatile(op ".u8 [%0], %1;" ::"l"(p), "r"(v) : "memory");                            \
        }                                                                                            \
    }
__ATTN_LOAD(__ldg, "ld.global.nc")
__ATTN_LOAD(__ldca, "ld.global.ca")
__ATTN_LOAD(__ldcg, "ld.global.cg")
__ATTN_LOAD(__ldcs, "ld.global.cs")
__ATTN_LOAD(__ldlu, "ld.global.lu")
__ATTN_LOAD(__ldcv, "ld.global.cv")
__ATTN_STORE(__stwb, "st.global.wb")
__ATTN_STORE(__stcg, "st.global.cg")
__ATTN_STORE(__stcs, "st.global.cs")
__ATTN_STORE(__stwt, "st.global.wt")

__attn_fn size_t __cvta_generic_to_shared(const void *p)
{
    size_t a;
    asm("cvta.to.shared.u64 %0, %1;" : "=l"(a) : "l"(p));
    return a;
}
__attn_fn size_t __cvta_generic_to_global(const void *p)
{
    size_t a;
    asm("cvta.to.global.u64 %0, %1;" : "=l"(a) : "l"(p));
    return a;
}
__attn_fn bool __isShared(const void *p) { return __nvvm_isspacep_shared(p); }
__attn_fn bool __isGlobal(const void *p) { return __nvvm_isspacep_global(p); }

/* ---- What the host would print -------------------------------------------------------------------- */

/* clang makes vprintf of it, as nvcc does. */
extern "C" __device__ int printf(const char *format, ...);
extern "C" __device__ __attribute__((noreturn)) void __assertfail(const char *condition, const char *file,
                                                                  unsigned line, const char *function, size_t size);
#ifdef NDEBUG
#define assert(e) ((void)0)
#else
#define assert(e) ((e) ? (void)0 : __assertfail(#e, __FILE__, __LINE__, __func__, 1))
#endif
