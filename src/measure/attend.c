/* attend.c - instances of the book's attention for each instruction set, and the choice of one.
 *
 * GCC's vector extensions carry the arithmetic; a target attribute on each function selects the
 * instruction set, so the file needs no special compiler flags and builds with gcc and clang.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/attend.h"

#include <math.h>
#include <string.h>

enum {
    ROWS_MAX = 48,   /* a multiple of every TILE_M */
    VECTOR_MAX = 16, /* the most lanes of any instance: rows of scratch are multiples of it */
};

/* 64 Ki elements in L2 at a time, whatever the head dimension. */
static long keys_per_block(int64_t D)
{
    long keys = 32768 / (D > 0 ? (long)D : 1) / VECTOR_MAX * VECTOR_MAX;
    return keys < VECTOR_MAX ? VECTOR_MAX : keys > 512 ? 512 : keys;
}

static long round_up(long n, long unit)
{
    return (n + unit - 1) / unit * unit;
}

/* Distance between neighbouring values of `type` (f16, bf16) at x > 0: for every weight of a row, hence by its bits. */
static double ulp_at(double x, enum dtype type)
{
    enum { BITS = 52, BIAS = 1023 };
    const int lowest = type == DTYPE_F16 ? -14 : -126, below = type == DTYPE_F16 ? 10 : 7;
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int exponent = (int)(bits >> BITS) - BIAS;
    bits = (uint64_t)((exponent < lowest ? lowest : exponent) - below + BIAS) << BITS;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* 1/n!; the argument of the series is at most ln 2 / 2. */
static const double exp_taylor[] = {
    1.0,
    1.0,
    1.0 / 2,
    1.0 / 6,
    1.0 / 24,
    1.0 / 120,
    1.0 / 720,
    1.0 / 5040,
    1.0 / 40320,
    1.0 / 362880,
    1.0 / 3628800,
    1.0 / 39916800,
    1.0 / 479001600,
    1.0 / 6227020800,
};

#if defined __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

#define JOIN_(a, b) a##_##b
#define JOIN(a, b)  JOIN_(a, b)

#define EXP_LOG2E 0x1.71547652b82fep+0
#define EXP_LN2   0x1.62e42fefa39efp-1

// clang-format off

/* ---- float64 ---- */
#define REAL double
#define INT  int64_t
#define UINT uint64_t
#define EXP_MAGIC    0x1.8p52
#define EXP_LN2_HI   0x1.62e42fee00000p-1 /* few enough bits that k * HI is exact */
#define EXP_LN2_LO   0x1.a39ef35793c76p-33
#define EXP_DEGREE   13
#define EXP_BIAS     1023
#define EXP_MANTISSA 52
#define EXP_LOWEST   -1022.0

#if defined __x86_64__
#define TARGET __attribute__((target("avx512f,avx512dq,avx2,fma")))
#define FN(name) JOIN(name, d512)
#define LANES 8
#define TILE_M 6
#define TILE_V 4
#include "measure/attend.inc.h"
#undef TARGET
#define TARGET __attribute__((target("avx2,fma")))
#define FN(name) JOIN(name, d256)
#define LANES 4
#define TILE_M 4
#define TILE_V 3
#include "measure/attend.inc.h"
#undef TARGET
#endif
#define TARGET
#define FN(name) JOIN(name, d128)
#define LANES 2
#define TILE_M 4
#define TILE_V 2
#include "measure/attend.inc.h"
#undef TARGET

/* ---- float32 ---- */
#undef REAL
#undef INT
#undef UINT
#undef EXP_MAGIC
#undef EXP_LN2_HI
#undef EXP_LN2_LO
#undef EXP_DEGREE
#undef EXP_BIAS
#undef EXP_MANTISSA
#undef EXP_LOWEST
#define ATTEND_SINGLE
#define REAL float
#define INT  int32_t
#define UINT uint32_t
#define EXP_MAGIC    0x1.8p23f
#define EXP_LN2_HI   0x1.62e400p-1f
#define EXP_LN2_LO   0x1.7f7d1cp-20f
#define EXP_DEGREE   7
#define EXP_BIAS     127
#define EXP_MANTISSA 23
#define EXP_LOWEST   -126.0f

#if defined __x86_64__
#define TARGET __attribute__((target("avx512f,avx512dq,avx2,fma")))
#define FN(name) JOIN(name, s512)
#define LANES 16
#define TILE_M 6
#define TILE_V 4
#include "measure/attend.inc.h"
#undef TARGET
#define TARGET __attribute__((target("avx2,fma")))
#define FN(name) JOIN(name, s256)
#define LANES 8
#define TILE_M 4
#define TILE_V 3
#include "measure/attend.inc.h"
#undef TARGET
#endif
#define TARGET
#define FN(name) JOIN(name, s128)
#define LANES 4
#define TILE_M 4
#define TILE_V 2
#include "measure/attend.inc.h"
#undef TARGET

// clang-format on

typedef void attend_fn(const struct attend_kv *, const struct attend_rows *,
                       const struct attend_mode *, void *, double *, double *, enum dtype);

static const struct instance {
    attend_fn *in_double, *in_single;
} instances[] = {
    {attend_d128, attend_s128},
#if defined __x86_64__
    {attend_d256, attend_s256},
    {attend_d512, attend_s512},
#endif
};

static const struct instance *best_instance(void)
{
#if defined __x86_64__
    __builtin_cpu_init();
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        return &instances[2];
    if (avx2)
        return &instances[1];
#endif
    return &instances[0];
}

int attend_rows_max(const struct attend_kv *kv)
{
    int64_t longest = kv->Sk > kv->D ? kv->Sk : kv->D;
    int64_t rows = (INT64_C(4) << 20) / (longest > 0 ? longest : 1); /* at most 4 Mi scores */
    return rows > ROWS_MAX ? ROWS_MAX : rows < 4 ? 4 : (int)rows;
}

size_t attend_scratch(const struct attend_kv *kv, int n)
{
    size_t m = (size_t)round_up(n, 12), wide = (size_t)round_up(kv->Sk, VECTOR_MAX);
    size_t columns = (size_t)round_up(kv->D, VECTOR_MAX);
    size_t keys = (size_t)keys_per_block(kv->D);
    return sizeof(double) * (m * (wide + 2 * columns) + VECTOR_MAX + keys * columns);
}

void attend(const struct attend_kv *kv, const struct attend_rows *rows,
            const struct attend_mode *mode, void *scratch, double *out, double *noise,
            enum dtype noise_type)
{
    const struct instance *best = best_instance();
    attend_fn *run = mode->single ? best->in_single : best->in_double;
    run(kv, rows, mode, scratch, out, noise, noise_type);
}
