/* simd_pairs.h - cpu_tiled's two products in bf16, two multiply-adds in each lane of an instruction (AVX512-BF16).
 *
 * vdpbf16ps adds to a float the products of a pair of bf16 with another pair, exact but for the sum. So what was a
 * scalar against a vector of queries becomes a pair against a vector of pairs, and each product has half the steps:
 *
 *   S^T[key][query]  = K[key][2d, 2d + 1]  . Q^T[2d, 2d + 1][query]
 *   O^T[d][query]   += V^T[d][2i, 2i + 1]  . P^T[2i, 2i + 1][query]
 *
 * A pair of K lies side by side in memory and is broadcast from there: K is neither packed nor converted. Pairs of V
 * are of two keys, so a tile's rows are zipped once for all its queries, where the float kernel converts them. Q stays
 * as it is, unrounded, so the scale is applied to the scores, one instruction more a vector; P is rounded to bf16 as
 * its pairs are made, two instructions for two vectors, which is what bf16 kernels of GPUs do, too; so its powers of 2
 * need no more than 18 bits.
 *
 * Cost at D = 64: 64 of these for a vector of scores instead of 128, beside some 10 for the softmax.
 *
 * Include simd_tiled.h first; D must be even.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#undef ISA_TARGET
#define ISA_TARGET "avx512f,avx512dq,avx512bw,avx512vl,avx512bf16,fma,f16c,avx2"
ISA_BEGIN

/* As they are, whatever the 32 bits mean. */
static void transpose(const float *src, int64_t src_stride, float *dst, int64_t dst_stride,
                      int64_t rows, int64_t cols)
{
    transpose_times(src, src_stride, dst, dst_stride, rows, cols, NULL, false);
}

/* Rows that come next are asked for many at a time: during exp(), of n keys; during output(), of n columns. */
INLINE void ask_v(const struct kv_tile *t, int64_t n)
{
    if (t->ahead)
        ask_for(&t->ahead[0], n);
}

INLINE void ask_next(const struct kv_tile *t, int64_t n, int64_t D)
{
    if (t->ahead)
        ask_for(&t->ahead[1], (t->ahead[1].all * n + D - 1) / D);
}

INLINE vf dot_pair(vf acc, vi right, const char *left)
{
    int32_t pair;
    memcpy(&pair, left, sizeof pair);
    return (vf)_mm512_dpbf16_ps((__m512)acc, (__m512bh)right, (__m512bh)_mm512_set1_epi32(pair));
}

/* acc[r][j] += sum over i of the pair at a + r * rs + i * is, in bytes, and those of b[i][j]: the one inner loop. */
INLINE void pair_product(vf acc[MR][PANEL], int mr, int nv, const char *a, int64_t rs, int64_t is,
                         const float *b, int64_t n)
{
    UNROLL_BY(4)
    for (int64_t i = 0; i < n; i++, a += is, b += NR) {
        vi right[PANEL];
        UNROLL
        for (int j = 0; j < nv; j++)
            right[j] = (vi)vload(b + j * LANES);
        UNROLL
        for (int r = 0; r < mr; r++) {
            UNROLL
            for (int j = 0; j < nv; j++)
                acc[r][j] = dot_pair(acc[r][j], right[j], a + r * rs);
        }
    }
}

INLINE void pair_scores(vf acc[MR][PANEL], int mr, int nv, const char *k, int64_t ks,
                        const float *qt, int64_t D)
{
    block_zero(acc, mr, nv);
    pair_product(acc, mr, nv, k, 2 * ks, 4, qt, D / 2);
}

/* 2^x, relative error 2.7e-6: enough for what is rounded to 8 or 16 bits, and an instruction less than vexp2(). */
INLINE vf vexp2_short(vf x)
{
    const vf f = (vf)_mm512_reduce_ps((__m512)x, 0x09);
    vf p = vsplat(1.353416778e-02f) * f + 5.201146007e-02f;
    p = p * f + 2.414427549e-01f;
    p = p * f + 6.930038333e-01f;
    return (vf)_mm512_scalef_ps((__m512)(p * f + 1.000002623f), (__m512)x);
}

/* x = hi + lo, both of them bf16 in the upper halves of lanes: exactly for an f16, whose 11 bits are the 8 of hi and 3
 * more; of any float lo is still to be rounded, which leaves 16 bits of it. */
INLINE void split(vf x, vf *hi, vf *lo)
{
    *hi = (vf)((vi)x & (int32_t)0xffff0000);
    *lo = x - *hi;
}

/* Pairs of what is bf16 already. */
INLINE vi zip_upper(vf even, vf odd)
{
    return (vi)_mm512_srli_epi32((__m512i)even, 16) | ((vi)odd & (int32_t)0xffff0000);
}

/* Two rows of P^T, rounded: lane c holds the pair of query c, `even` in its lower half. */
INLINE vi make_pairs(vf even, vf odd)
{
    const __m512i both = (__m512i)_mm512_cvtne2ps_pbh((__m512)odd, (__m512)even);
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i zipped = _mm512_or_si512(lanes, _mm512_slli_epi32(lanes, 16));
    return (vi)_mm512_permutexvar_epi16(_mm512_or_si512(zipped, _mm512_set1_epi32(16 << 16)), both);
}

/* Two rows of P^T to p: rounded; or in two parts, the second of which goes `lower` floats behind. */
INLINE void put_pairs(int parts, vf even, vf odd, float *p, int64_t lower)
{
    vf even_lo, odd_lo;
    if (parts == 1) {
        vstore(p, (vf)make_pairs(even, odd));
        return;
    }
    split(even, &even, &even_lo);
    split(odd, &odd, &odd_lo);
    vstore(p, (vf)zip_upper(even, odd));
    vstore(p + lower, (vf)make_pairs(even_lo, odd_lo));
}

INLINE void pair_raw(int mr, int nv, const char *k, int64_t ks, const float *qt, float scale,
                     int64_t D, float *s)
{
    vf acc[MR][PANEL];
    pair_scores(acc, mr, nv, k, ks, qt, D);
    UNROLL
    for (int r = 0; r < mr; r++) {
        UNROLL
        for (int j = 0; j < nv; j++)
            vstore(s + r * NR + j * LANES, acc[r][j] * scale);
    }
}

/* p = pairs of 2^(scores * scale - ref), added to sum. An odd last key is one of a pair with 0. */
INLINE void pair_exp(int mr, int nv, const char *k, int64_t ks, const float *qt, float scale,
                     const float *ref, int64_t D, float *p, float *sum)
{
    vf acc[MR][PANEL];
    pair_scores(acc, mr, nv, k, ks, qt, D);
    UNROLL
    for (int j = 0; j < nv; j++) {
        const vf m = vload(ref + j * LANES);
        vf total = vload(sum + j * LANES);
        UNROLL
        for (int r = 0; r < mr; r += 2) {
            const vf even = vexp2_short(acc[r][j] * scale - m);
            vf odd = (vf){0};
            if (r + 1 < mr)
                odd = vexp2_short(acc[r + 1][j] * scale - m);
            put_pairs(1, even, odd, p + r / 2 * NR + j * LANES, 0);
            total += even + odd;
        }
        vstore(sum + j * LANES, total);
    }
}

/* o += p * v for `mr` columns of V and n pairs of keys. */
INLINE void pair_output(int mr, int nv, const char *v, int64_t vs, const float *p, int64_t n,
                        float *o)
{
    vf acc[MR][PANEL];
    block_load(acc, mr, nv, o);
    pair_product(acc, mr, nv, v, 4, vs, p, n);
    block_store(acc, mr, nv, o);
}

typedef void pair_raw_fn(const char *k, int64_t ks, const float *qt, float scale, int64_t D,
                         float *s);
typedef void pair_exp_fn(const char *k, int64_t ks, const float *qt, float scale, const float *ref,
                         int64_t D, float *p, float *sum);
typedef void pair_output_fn(const char *v, int64_t vs, const float *p, int64_t n, float *o);

#undef MICRO
#define MICRO(mr, nv)                                                                         \
    static void pair_raw_##mr##_##nv(const char *k, int64_t ks, const float *qt, float scale, \
                                     int64_t D, float *s)                                     \
    {                                                                                         \
        pair_raw(mr, nv, k, ks, qt, scale, D, s);                                             \
    }                                                                                         \
    static void pair_exp_##mr##_##nv(const char *k, int64_t ks, const float *qt, float scale, \
                                     const float *ref, int64_t D, float *p, float *sum)       \
    {                                                                                         \
        pair_exp(mr, nv, k, ks, qt, scale, ref, D, p, sum);                                   \
    }                                                                                         \
    static void pair_output_##mr##_##nv(const char *v, int64_t vs, const float *p, int64_t n, \
                                        float *o)                                             \
    {                                                                                         \
        pair_output(mr, nv, v, vs, p, n, o);                                                  \
    }

MICRO_ALL(1)
MICRO_ALL(2)
MICRO_ALL(3)
MICRO_ALL(4)
static pair_raw_fn *const pair_raw_table[PANEL][MR] = PANELS(pair_raw);
static pair_exp_fn *const pair_exp_table[PANEL][MR] = PANELS(pair_exp);
static pair_output_fn *const pair_output_table[PANEL][MR] = PANELS(pair_output);

/* ---- the engine ---- */

/* qt = [D / 2][NR] pairs. */
static void pairs_pack(struct lanes *x, const struct tiled_job *j, int64_t row, float *buf)
{
    const uint16_t *q = (const uint16_t *)j->q + row * j->q_stride;
    for (int64_t r = 0; r < x->rows; r++)
        memcpy((char *)buf + r * 2 * j->D, q + r * j->q_stride, (size_t)(2 * j->D));
    transpose(buf, j->D / 2, x->qt, NR, x->rows, j->D / 2);
    x->scale = (float)(j->scale * LOG2E);
}

/* The pair a[d], b[d] to place d of out; b NULL: zeros. */
static void zip_rows(const uint16_t *a, const uint16_t *b, int64_t D, float *out)
{
    int64_t d = 0;
    for (; b && d + LANES <= D; d += LANES) {
        const vi even = (vi)vload_bf16(a + d), odd = (vi)vload_bf16(b + d);
        vstore(out + d, (vf)((vi)_mm512_srli_epi32((__m512i)even, 16) | odd));
    }
    for (; d < D; d++) {
        const uint32_t pair = a[d] | (b ? (uint32_t)b[d] << 16 : 0);
        memcpy(out + d, &pair, sizeof pair);
    }
}

/* K where it lies; V in pairs of keys, [(n + 1) / 2][D]. */
static struct kv_tile pairs_load(const struct tiled_job *j, const struct tile_buffers *b,
                                 int64_t first, int64_t end)
{
    struct kv_tile t = {.first = first, .n = least(j->BC, end - first)};
    const uint16_t *v = (const uint16_t *)j->v + first * j->v_stride;
    t.k = (const uint16_t *)j->k + first * j->k_stride;
    t.k_stride = j->k_stride;
    t.v = b->v;
    t.v_stride = j->D;
    for (int64_t i = 0; i < t.n; i += 2, v += 2 * j->v_stride)
        zip_rows(v, i + 1 < t.n ? v + j->v_stride : NULL, j->D, b->v + i / 2 * j->D);
    return t;
}

static void pairs_scores(const struct lanes *x, const struct kv_tile *t, int64_t n, int64_t D,
                         float *s)
{
    const char *k = t->k;
    for (int64_t i = 0; i < n; i += MR)
        pair_raw_table[x->nv - 1][least(MR, n - i) - 1](k + 2 * i * t->k_stride, t->k_stride, x->qt,
                                                        x->scale, D, s + i * NR);
}

/* The same as pair_exp() for `rows` keys from `first` on, some of which the mask hides from some: their scores are
 * there. Zeroed before they are rounded, so that sums are those of what is not. */
INLINE void pairs_edge(int parts, const struct lanes *x, const float *s, int64_t first,
                       int64_t rows, float *p, int64_t lower, float *sum)
{
    for (int c = 0; c < x->nv * LANES; c += LANES) {
        const vi end = *(const vi *)(x->end + c);
        const vf m = vload(x->ref + c);
        vf e[MR + 1], total = vload(sum + c);
        for (int64_t r = 0; r < rows; r++) {
            e[r] = vselect(end > (int32_t)(first + r), vexp2_short(vload(s + r * NR + c) - m),
                           (vf){0});
            total += e[r];
        }
        e[rows] = (vf){0};
        for (int64_t r = 0; r < rows; r += 2)
            put_pairs(parts, e[r], e[r + 1], p + r / 2 * NR + c, lower);
        vstore(sum + c, total);
    }
}

static void pairs_exp(const struct lanes *x, const struct kv_tile *t, int64_t n, int64_t D,
                      bool edge, float *p, float *sum)
{
    float s[MR * NR] __attribute__((aligned(64)));
    for (int64_t i = 0; i < n; i += MR) {
        const char *k = (const char *)t->k + 2 * i * t->k_stride;
        const int64_t rows = least(MR, n - i);
        float *at = p + i / 2 * NR;
        ask_v(t, MR);
        if (!edge) {
            pair_exp_table[x->nv - 1][rows - 1](k, t->k_stride, x->qt, x->scale, x->ref, D, at,
                                                sum);
            continue;
        }
        pair_raw_table[x->nv - 1][rows - 1](k, t->k_stride, x->qt, x->scale, D, s);
        pairs_edge(1, x, s, t->first + i, rows, at, 0, sum);
    }
}

static void pairs_output(struct lanes *x, const struct kv_tile *t, int64_t n, int64_t D,
                         const float *p)
{
    const char *v = t->v;
    for (int64_t d = 0; d < D; d += MR) {
        ask_next(t, MR, D);
        pair_output_table[x->nv - 1][least(MR, D - d) - 1](v + 4 * d, 4 * t->v_stride, p,
                                                           (n + 1) / 2, x->ot + d * NR);
    }
}

static const struct engine in_pairs = {.unit = 1,
                                       .pack = pairs_pack,
                                       .load = pairs_load,
                                       .scores = pairs_scores,
                                       .exp = pairs_exp,
                                       .output = pairs_output};

/* As peak_fma(), of pairs. */
static double peak_pairs(int64_t rounds)
{
#define PAIR_STEP(i) c##i = (vf)_mm512_dpbf16_ps((__m512)c##i, (__m512bh)a, (__m512bh)b);
    vf a = (vf){0}, b = (vf){0};
    PIN(a);
    PIN(b);
    CHAINS(CHAIN_START)
    for (int64_t r = 0; r < rounds; r++) {
        CHAINS(PAIR_STEP)
        CHAINS(PAIR_STEP)
    }
    CHAINS(CHAIN_END)
    return 4.0 * LANES * 12 * 2 * (double)rounds;
}

/* In bf16 pairs; anything else, and an odd D, in floats. */
static const struct engine *pairs_or_floats(const struct tiled_job *j)
{
    return j->dtype == DTYPE_BF16 && j->D % 2 == 0 ? &in_pairs : &in_floats;
}

static void tiled_pairs(const struct tiled_job *j)
{
    tiled_by(pairs_or_floats(j), j);
}

static void tiled_rest_pairs(const struct tiled_rest *r)
{
    rest_by(pairs_or_floats(&r->job), r);
}

ISA_END
