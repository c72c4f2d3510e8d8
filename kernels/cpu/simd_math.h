/* simd_math.h - rows of floats: the vocabulary of the teaching kernels, once per instruction set.
 *
 * Include simd_vec.h first.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
ISA_BEGIN

INLINE float vsum(vf x)
{
#if defined SIMD_AVX512
    return _mm512_reduce_add_ps((__m512)x);
#else
    float total = x[0];
    for (int i = 1; i < LANES; i++)
        total += x[i];
    return total;
#endif
}

/* `mr` dot products at once: each row of k is added up in one vector. */
INLINE void dot_rows(int mr, const float *q, const float *k, int64_t stride, int64_t D, float scale,
                     float *out)
{
    vf sum[4];
    UNROLL
    for (int r = 0; r < mr; r++)
        sum[r] = (vf){0};
    int64_t d = 0;
    for (; d + LANES <= D; d += LANES) {
        const vf x = vload(q + d);
        UNROLL
        for (int r = 0; r < mr; r++)
            sum[r] += x * vload(k + r * stride + d);
    }
    if (d < D) {
        const vf x = vload_part(q + d, D - d);
        UNROLL
        for (int r = 0; r < mr; r++)
            sum[r] += x * vload_part(k + r * stride + d, D - d);
    }
    for (int r = 0; r < mr; r++)
        out[r] = vsum(sum[r]) * scale;
}

static void math_scores(const float *q, const float *k, int64_t stride, int64_t n, int64_t D,
                        float scale, float *out)
{
    int64_t j = 0;
    for (; j + 4 <= n; j += 4)
        dot_rows(4, q, k + j * stride, stride, D, scale, out + j);
    for (; j < n; j++)
        dot_rows(1, q, k + j * stride, stride, D, scale, out + j);
}

/* `nv` vectors of the sum stay in registers while all keys pass by. */
INLINE void add_columns(int nv, float *o, const float *p, const float *v, int64_t stride, int64_t n)
{
    vf acc[4];
    UNROLL
    for (int c = 0; c < nv; c++)
        acc[c] = vload(o + c * LANES);
    for (int64_t j = 0; j < n; j++) {
        const float weight = p[j];
        UNROLL
        for (int c = 0; c < nv; c++)
            acc[c] += vload(v + j * stride + c * LANES) * weight;
    }
    UNROLL
    for (int c = 0; c < nv; c++)
        vstore(o + c * LANES, acc[c]);
}

static void math_add_rows(float *o, const float *p, const float *v, int64_t stride, int64_t n,
                          int64_t D)
{
    int64_t d = 0;
    for (; d + 4 * LANES <= D; d += 4 * LANES)
        add_columns(4, o + d, p, v + d, stride, n);
    for (; d + LANES <= D; d += LANES)
        add_columns(1, o + d, p, v + d, stride, n);
    if (d < D) {
        vf acc = vload_part(o + d, D - d);
        for (int64_t j = 0; j < n; j++)
            acc += vload_part(v + j * stride + d, D - d) * p[j];
        vstore_part(o + d, acc, D - d);
    }
}

static void math_scale(float *y, float a, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] *= a;
}

static float math_max(const float *x, int64_t n)
{
    vf best = vsplat(-INFINITY);
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        best = vmax(best, vload(x + i));
    float m = -INFINITY;
    for (int j = 0; j < LANES; j++)
        m = best[j] > m ? best[j] : m;
    for (; i < n; i++)
        m = x[i] > m ? x[i] : m;
    return m;
}

static float math_exp2_sum(float *x, float shift, int64_t n)
{
    vf total = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        vf e = vexp2(vload(x + i) - shift);
        vstore(x + i, e);
        total += e;
    }
    if (i < n) {
        vf e = vexp2(vload_part(x + i, n - i) - shift);
        vstore_part(x + i, e, n - i);
        total += vload_part(x + i, n - i); /* without the lanes beyond */
    }
    return vsum(total);
}

/* --- conversions ------------------------------------------------------------------------------ */

INLINE uint16_t one_bf16_from_float(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    if ((u & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(u >> 16 | 0x40);
    return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

static void f16_to_floats(const uint16_t *src, float *dst, int64_t n)
{
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        vstore(dst + i, vload_f16(src + i));
    for (; i < n; i++)
        dst[i] = one_f16_to_float(src[i]);
}

static void bf16_to_floats(const uint16_t *src, float *dst, int64_t n)
{
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        vstore(dst + i, vload_bf16(src + i));
    for (; i < n; i++) {
        uint32_t u = (uint32_t)src[i] << 16;
        memcpy(dst + i, &u, sizeof u);
    }
}

static void math_to_float(enum dtype t, const void *src, float *dst, int64_t n)
{
    if (t == DTYPE_F32)
        memcpy(dst, src, (size_t)n * sizeof *dst);
    else if (t == DTYPE_F16)
        f16_to_floats(src, dst, n);
    else
        bf16_to_floats(src, dst, n);
}

static void f16_from_floats(const float *src, uint16_t *dst, int64_t n)
{
    int64_t i = 0;
#if defined SIMD_AVX512
    for (; i + 16 <= n; i += 16)
        _mm256_storeu_si256((void *)(dst + i),
                            _mm512_cvtps_ph(_mm512_loadu_ps(src + i), _MM_FROUND_TO_NEAREST_INT));
#elif defined SIMD_AVX2
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128((void *)(dst + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(src + i), _MM_FROUND_TO_NEAREST_INT));
#elif defined SIMD_NEON
    for (; i + 4 <= n; i += 4)
        vst1_u16(dst + i, vreinterpret_u16_f16(vcvt_f16_f32(vld1q_f32(src + i))));
#endif
    for (; i < n; i++)
        dst[i] = f16_from_float(src[i]);
}

static void math_from_float(enum dtype t, const float *src, void *dst, int64_t n)
{
    if (t == DTYPE_F32) {
        memcpy(dst, src, (size_t)n * sizeof *src);
    } else if (t == DTYPE_F16) {
        f16_from_floats(src, dst, n);
    } else {
        uint16_t *out = dst;
        for (int64_t i = 0; i < n; i++)
            out[i] = one_bf16_from_float(src[i]);
    }
}

/* --- peaks ------------------------------------------------------------------------------------ */

/* Hides a vector's value from the optimiser and demands it in a register. */
#if defined SIMD_NEON
#define PIN(x) __asm__ volatile("" : "+w"(x))
#elif defined SIMD_AVX512
#define PIN(x) __asm__ volatile("" : "+v"(x))
#elif defined SIMD_AVX2 || defined __SSE__
#define PIN(x) __asm__ volatile("" : "+x"(x))
#else
#define PIN(x) __asm__ volatile("" : "+m"(x))
#endif

/* Twelve chains cover two units of latency 4 or 5. Each is a variable of its own and its start is
 * pinned: in an array, or with starts that the compiler knows, the chains end up in memory, merged
 * or dropped, and the "peak" comes out several times too low or too high. */
#define CHAINS(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11)

static double peak_fma(int64_t rounds)
{
#define CHAIN_START(i)          \
    vf c##i = vsplat((float)i); \
    PIN(c##i);
#define CHAIN_STEP(i) c##i = c##i * a + b;
#define CHAIN_END(i)  PIN(c##i);
    vf a = vsplat(0.9999999f), b = vsplat(1e-7f);
    PIN(a);
    PIN(b);
    CHAINS(CHAIN_START)
    for (int64_t r = 0; r < rounds; r++) {
        CHAINS(CHAIN_STEP)
        CHAINS(CHAIN_STEP)
        CHAINS(CHAIN_STEP)
        CHAINS(CHAIN_STEP)
    }
    CHAINS(CHAIN_END)
    return 2.0 * LANES * 12 * 4 * (double)rounds;
}

/* Eight streams into eight registers, combined by the cheapest operation there is. */
#define STREAMS(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7)

static float peak_read(const float *x, int64_t n)
{
#define STREAM_START(i) vi s##i = {0};
#define STREAM_STEP(i)  s##i |= (vi)vload(x + at + i * LANES);
#define STREAM_END(i)   PIN(s##i);
    STREAMS(STREAM_START)
    for (int64_t at = 0; at < n; at += 8 * LANES) {
        STREAMS(STREAM_STEP)
    }
    STREAMS(STREAM_END)
    return ((vf)(s0 | s1 | s2 | s3 | s4 | s5 | s6 | s7))[0];
}

ISA_END
