/* input.c - the seeded generator. Its formulas are in input.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "spec/input.h"

#if defined __x86_64__
#include <immintrin.h>
#endif

#include "base/status.h"

const char *const input_names[] = {"normal", "uniform", "large", "outlier", "mean", "ramp", NULL};

const char *const tensor_names[] = {"Q", "K", "V"};

_Static_assert(sizeof input_names / sizeof *input_names == INPUT_FILES + 1,
               "every kind but files has a name");

static const float scale_normal = 0x1.66534ap-18f, scale_large = 0x1.931db4p-16f,
                   scale_outlier = 0x1.bfe81ep-14f;

/* Counters are worked on in groups, one array per word, so that the compiler may vectorise. Every
 * counter gives two elements. */
enum { PAIRS = 32, GROUP = 2 * PAIRS };

struct words {
    uint32_t w[4][PAIRS];
};

static inline __attribute__((always_inline)) void philox(uint32_t c[4], uint32_t k0, uint32_t k1)
{
#pragma GCC unroll 10
    for (int round = 0; round < 10; round++) {
        const uint64_t p0 = UINT64_C(0xD2511F53) * c[0], p1 = UINT64_C(0xCD9E8D57) * c[2];
        c[0] = (uint32_t)(p1 >> 32) ^ c[1] ^ k0;
        c[1] = (uint32_t)p1;
        c[2] = (uint32_t)(p0 >> 32) ^ c[3] ^ k1;
        c[3] = (uint32_t)p0;
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
}

void input_words(uint64_t seed, enum tensor_id t, uint32_t stream, uint64_t pair, uint32_t w[4])
{
    w[0] = (uint32_t)pair;
    w[1] = (uint32_t)(pair >> 32);
    w[2] = (uint32_t)t;
    w[3] = stream;
    philox(w, (uint32_t)seed, (uint32_t)(seed >> 32));
}

static void words_plain(uint64_t seed, enum tensor_id t, uint32_t stream, uint64_t first_pair,
                        struct words *out)
{
    const uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int i = 0; i < PAIRS; i++) {
        const uint64_t pair = first_pair + (uint64_t)i;
        uint32_t c[4] = {(uint32_t)pair, (uint32_t)(pair >> 32), (uint32_t)t, stream};
        philox(c, k0, k1);
        for (int j = 0; j < 4; j++)
            out->w[j][i] = c[j];
    }
}

#if defined __x86_64__
#define AVX2 __attribute__((target("avx2")))

/* The lower halves of four lanes, which is where a word is; what lies above it is of no account. */
AVX2 static inline void keep_words(__m256i lanes, uint32_t *to)
{
    const __m256i lower = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
    _mm_storeu_si128((__m128i *)to,
                     _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(lanes, lower)));
}

/* As words_plain(), four pairs at a time: a product of 32 bits fills its lane. */
AVX2 static void words_avx2(uint64_t seed, enum tensor_id t, uint32_t stream, uint64_t first_pair,
                            struct words *out)
{
    const __m256i m0 = _mm256_set1_epi64x(0xD2511F53), m1 = _mm256_set1_epi64x(0xCD9E8D57);
    for (int i = 0; i < PAIRS; i += 4) {
        const __m256i pair =
            _mm256_add_epi64(_mm256_set1_epi64x((long long)(first_pair + (uint64_t)i)),
                             _mm256_setr_epi64x(0, 1, 2, 3));
        __m256i c0 = pair, c1 = _mm256_srli_epi64(pair, 32), c2 = _mm256_set1_epi64x((long long)t),
                c3 = _mm256_set1_epi64x(stream);
        uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
        for (int round = 0; round < 10; round++) {
            const __m256i p0 = _mm256_mul_epu32(m0, c0), p1 = _mm256_mul_epu32(m1, c2);
            c0 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p1, 32), c1),
                                  _mm256_set1_epi64x(k0));
            c2 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p0, 32), c3),
                                  _mm256_set1_epi64x(k1));
            c1 = p1;
            c3 = p0;
            k0 += 0x9E3779B9;
            k1 += 0xBB67AE85;
        }
        keep_words(c0, &out->w[0][i]);
        keep_words(c1, &out->w[1][i]);
        keep_words(c2, &out->w[2][i]);
        keep_words(c3, &out->w[3][i]);
    }
}
#endif

static void make_words(uint64_t seed, enum tensor_id t, uint32_t stream, uint64_t first_pair,
                       struct words *out)
{
#if defined __x86_64__
    if (__builtin_cpu_supports("avx2")) {
        words_avx2(seed, t, stream, first_pair, out);
        return;
    }
#endif
    words_plain(seed, t, stream, first_pair, out);
}

/* Without the popcnt instruction, which the oldest x86-64 lacks, the builtin is a call. */
static inline uint32_t popcount(uint32_t x)
{
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    x = (x + (x >> 4)) & 0x0F0F0F0F;
    return (x * 0x01010101) >> 24;
}

static inline int32_t bell(uint32_t a, uint32_t b)
{
    return (int32_t)(65536 * popcount(a) + (b >> 16) + (b & 0xFFFF)) - 1114111;
}

/* Where in the group element `i` finds its first word. */
static inline uint32_t word_a(const struct words *w, int i)
{
    return w->w[i % 2 * 2][i / 2];
}

static void group_bell(const struct words *w, int32_t shift, float scale, float out[GROUP])
{
    for (int i = 0; i < PAIRS; i++) {
        out[2 * i] = (float)(bell(w->w[0][i], w->w[1][i]) + shift) * scale;
        out[2 * i + 1] = (float)(bell(w->w[2][i], w->w[3][i]) + shift) * scale;
    }
}

static void group_uniform(const struct words *w, float out[GROUP])
{
    for (int i = 0; i < GROUP; i++)
        out[i] = (float)((int32_t)word_a(w, i) >> 8) * 0x1p-23f;
}

static void group_outliers(const struct words *w, uint64_t seed, enum tensor_id t,
                           uint64_t first_pair, float out[GROUP])
{
    struct words choice;
    float far[GROUP];
    make_words(seed, t, 1, first_pair, &choice);
    group_bell(w, 0, scale_normal, out);
    group_bell(w, 0, scale_outlier, far);
    for (int i = 0; i < GROUP; i++)
        if (word_a(&choice, i) < 4294967) /* 2^32 / 1000 */
            out[i] = far[i];
}

/* The elements 2 * first_pair and on. */
static void group_values(enum input_kind kind, uint64_t seed, enum tensor_id t, uint64_t first_pair,
                         float out[GROUP])
{
    struct words w;
    make_words(seed, t, 0, first_pair, &w);
    if (kind == INPUT_UNIFORM)
        group_uniform(&w, out);
    else if (kind == INPUT_OUTLIER)
        group_outliers(&w, seed, t, first_pair, out);
    else if (kind == INPUT_MEAN)
        group_bell(&w, 93642, scale_normal, out);
    else if (kind == INPUT_LARGE && t != TENSOR_V)
        group_bell(&w, 0, scale_large, out);
    else
        group_bell(&w, 0, scale_normal, out);
}

static void ramp_values(enum tensor_id t, const struct shape *s, uint64_t first, size_t n,
                        float *out)
{
    const uint64_t D = (uint64_t)s->D, rows = (uint64_t)(t == TENSOR_Q ? s->Sq : s->Sk);
    uint64_t d = first % D, row = first / D % rows;
    for (size_t i = 0; i < n; i++) {
        out[i] = (float)(16 * (row % 16) + d % 16) * 0x1p-8f;
        if (++d == D) {
            d = 0;
            row = row + 1 == rows ? 0 : row + 1;
        }
    }
}

void input_values(enum input_kind kind, uint64_t seed, enum tensor_id t, const struct shape *s,
                  uint64_t first, size_t n, float *out)
{
    if (kind == INPUT_RAMP) {
        ramp_values(t, s, first, n, out);
        return;
    }
    if (kind >= INPUT_FILES)
        fatal("input_values: kind %d has no generator", (int)kind);
    size_t done = 0;
    for (; done + GROUP <= n && (first + done) % 2 == 0; done += GROUP)
        group_values(kind, seed, t, (first + done) / 2, out + done);
    while (done < n) { /* an odd beginning, or an end shorter than a group */
        float group[GROUP];
        const size_t skip = (first + done) % 2;
        const size_t take = n - done < GROUP - skip ? n - done : GROUP - skip;
        group_values(kind, seed, t, (first + done) / 2, group);
        for (size_t i = 0; i < take; i++)
            out[done + i] = group[skip + i];
        done += take;
    }
}
