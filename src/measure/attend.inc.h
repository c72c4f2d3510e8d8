/* attend.inc.h - the body of attend(), included once per instruction set and precision.
 *
 * The includer defines
 *   FN(name)   the name of a function or type of this instance
 *   TARGET     attributes that select the instruction set
 *   REAL, INT, UINT  double, int64_t, uint64_t; or float, int32_t, uint32_t
 *   LANES      elements of a vector register
 *   TILE_M, TILE_V   rows, and vectors of columns, that the inner product keeps in registers
 *   EXP_...    constants of the exponential, see attend.c
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */

typedef REAL FN(vec) __attribute__((vector_size(LANES * sizeof(REAL)), may_alias));
typedef INT FN(ivec) __attribute__((vector_size(LANES * sizeof(REAL)), may_alias));
typedef UINT FN(uvec) __attribute__((vector_size(LANES * sizeof(REAL)), may_alias));

/* C[TILE_M][nv vectors] (+)= A[TILE_M][K] B[K][nv vectors]; B and C 64-byte aligned in rows that
 * are multiples of LANES. `chained` continues the sums that are in C, else the block's own sum is
 * formed first and added to C at the end. */
static inline __attribute__((always_inline)) TARGET void FN(micro)(const int nv, bool chained,
                                                                   long K, const REAL *a, long lda,
                                                                   const REAL *b, long ldb, REAL *c,
                                                                   long ldc)
{
    FN(vec) acc[TILE_M][TILE_V];
    UNROLL for (int i = 0; i < TILE_M; i++) UNROLL for (int j = 0; j < nv; j++) acc[i][j] =
        chained ? *(const FN(vec) *)(c + i * ldc + j * LANES) : (FN(vec)){0};
    for (long k = 0; k < K; k++) {
        FN(vec) bv[TILE_V];
        UNROLL for (int j = 0; j < nv; j++) bv[j] = *(const FN(vec) *)(b + k * ldb + j * LANES);
        UNROLL for (int i = 0; i < TILE_M; i++)
        {
            const REAL x = a[i * lda + k];
            UNROLL for (int j = 0; j < nv; j++) acc[i][j] += x * bv[j];
        }
    }
    UNROLL for (int i = 0; i < TILE_M; i++) UNROLL for (int j = 0; j < nv; j++)
    {
        FN(vec) *to = (FN(vec) *)(c + i * ldc + j * LANES);
        if (!chained)
            acc[i][j] += *to;
        *to = acc[i][j];
    }
}

/* The same for M rows (a multiple of TILE_M) and N columns (a multiple of LANES). */
static TARGET void FN(multiply)(bool chained, int M, long N, long K, const REAL *a, long lda,
                                const REAL *b, long ldb, REAL *c, long ldc)
{
    for (int i = 0; i < M; i += TILE_M) {
        long n = 0;
        for (; n + TILE_V * LANES <= N; n += TILE_V * LANES)
            FN(micro)(TILE_V, chained, K, a + i * lda, lda, b + n, ldb, c + i * ldc + n, ldc);
        for (; n < N; n += LANES)
            FN(micro)(1, chained, K, a + i * lda, lda, b + n, ldb, c + i * ldc + n, ldc);
    }
}

/* 2^y for base2, e^y else; y <= 0 or NaN, which stays NaN; 0 below the smallest normal number. */
static inline TARGET FN(vec) FN(exponential)(FN(vec) y, bool base2)
{
    FN(vec) scaled = y;
    if (!base2)
        scaled *= (REAL)EXP_LOG2E;
    FN(vec) shifted = scaled + (REAL)EXP_MAGIC; /* rounds to an integer in the low bits */
    FN(vec) k = shifted - (REAL)EXP_MAGIC;
    FN(vec) r = (y - k * (REAL)EXP_LN2_HI) - k * (REAL)EXP_LN2_LO;
    if (base2)
        r = (y - k) * (REAL)EXP_LN2;
    FN(vec) p = r * (REAL)exp_taylor[EXP_DEGREE] + (REAL)exp_taylor[EXP_DEGREE - 1];
    UNROLL for (int i = EXP_DEGREE - 2; i >= 0; i--) p = p * r + (REAL)exp_taylor[i];
    FN(vec) power = (FN(vec))(((FN(uvec))shifted + EXP_BIAS) << EXP_MANTISSA);
    FN(ivec) tiny = scaled < (REAL)EXP_LOWEST;
    return (FN(vec))(~tiny & (FN(ivec))(p * power));
}

#ifdef ATTEND_SINGLE
/* Rounds to bf16 or f16, to nearest even, staying in float; saturates at the largest value. */
static inline TARGET FN(vec) FN(round_to)(FN(vec) x, enum dtype to)
{
    const int drop = to == DTYPE_BF16 ? 16 : 13; /* mantissa bits that go */
    const float largest = to == DTYPE_BF16 ? 0x1.fep127f : 65504.0f;
    const FN(ivec) sign_bit = (FN(ivec)){0} + INT32_MIN;
    FN(ivec) bits = (FN(ivec))x, sign = bits & sign_bit, magnitude = bits & ~sign_bit;
    FN(ivec) nan = x != x;
    FN(ivec) up = magnitude + ((1 << (drop - 1)) - 1) + ((magnitude >> drop) & 1);
    FN(ivec) result = up & ~((1 << drop) - 1);
    if (to == DTYPE_F16) { /* below 2^-14 the spacing is 2^-24, that of floats near 0.75 */
        FN(vec) small = ((FN(vec))magnitude + 0.75f) - 0.75f;
        FN(ivec) subnormal = (FN(vec))magnitude < 0x1p-14f;
        result = (subnormal & (FN(ivec))small) | (~subnormal & result);
    }
    FN(ivec) over = (FN(vec))result > largest;
    result = (over & (FN(ivec))((FN(vec)){0} + largest)) | (~over & result);
    return (FN(vec))((nan & bits) | (~nan & (result | sign)));
}
#endif

static inline TARGET FN(vec) FN(maybe_round)(FN(vec) x, const struct attend_mode *mode)
{
#ifdef ATTEND_SINGLE
    if (mode->rounded)
        return FN(round_to)(x, mode->to);
#endif
    (void)mode;
    return x;
}

static inline TARGET REAL FN(max_of)(FN(vec) v)
{
    REAL m = v[0];
    for (int i = 1; i < LANES; i++)
        m = v[i] > m ? v[i] : m;
    return m;
}

static inline TARGET REAL FN(sum_of)(FN(vec) v)
{
    REAL s = v[0];
    for (int i = 1; i < LANES; i++)
        s += v[i];
    return s;
}

/* Scores of one row, scaled; positions outside [from, to) become -inf. Returns the largest. */
static TARGET REAL FN(scale_row)(REAL *s, long width, long from, long to, REAL scale,
                                 const struct attend_mode *mode)
{
    FN(vec) top = (FN(vec)){0} - (REAL)INFINITY;
    for (long i = 0; i < from; i++)
        s[i] = -(REAL)INFINITY;
    for (long i = to; i < width; i++)
        s[i] = -(REAL)INFINITY;
    for (long i = 0; i < width; i += LANES) {
        FN(vec) *v = (FN(vec) *)(s + i);
        *v = FN(maybe_round)(*v * scale, mode);
        if (i < from || i + LANES > to) /* rounding saturates: put -inf back */
            for (int l = 0; l < LANES; l++)
                if (i + l < from || i + l >= to)
                    (*v)[l] = -(REAL)INFINITY;
        FN(ivec) above = *v > top;
        top = (FN(vec))((above & (FN(ivec)) * v) | (~above & (FN(ivec))top));
    }
    return FN(max_of)(top);
}

/* Scores to probabilities, in place; with base2 they stay unnormalised. Returns their sum before
 * the division. */
static TARGET REAL FN(softmax_row)(REAL *s, long width, REAL top, const struct attend_mode *mode)
{
    FN(vec) sums = {0};
    for (long i = 0; i < width; i += LANES) {
        FN(vec) *v = (FN(vec) *)(s + i);
        *v = FN(exponential)(*v - top, mode->base2);
        sums += *v;
    }
    REAL sum = FN(sum_of)(sums);
    if (mode->base2)
        return sum;
    for (long i = 0; i < width; i += LANES) {
        FN(vec) *v = (FN(vec) *)(s + i);
        *v = FN(maybe_round)(*v / sum, mode);
    }
    return sum;
}

/* Where key j of `span` keys stands in the packed order. */
static inline long FN(place)(long j, long span, bool backward)
{
    return backward ? span - 1 - j : j;
}

/* Packs keys at places [p0, p0+np) as B[D][ldb], so that a vector holds one dimension of
 * neighbouring keys. */
static TARGET void FN(pack_keys)(const struct attend_kv *kv, long span, bool backward, long p0,
                                 long np, REAL *b, long ldb)
{
    for (long p = 0; p < ldb; p++) {
        const float *k = kv->k + FN(place)(p0 + p, span, backward) * kv->D;
        for (long d = 0; d < kv->D; d++)
            b[d * ldb + p] = p < np ? (REAL)k[d] : 0;
    }
}

/* Packs values at places [p0, p0+np) as B[np][ldb], squared if asked. */
static TARGET void FN(pack_values)(const struct attend_kv *kv, long span, bool backward,
                                   bool square, long p0, long np, REAL *b, long ldb)
{
    for (long p = 0; p < np; p++) {
        const float *v = kv->v + FN(place)(p0 + p, span, backward) * kv->D;
        for (long d = 0; d < kv->D; d++)
            b[p * ldb + d] = square ? (REAL)v[d] * (REAL)v[d] : (REAL)v[d];
        for (long d = kv->D; d < ldb; d++)
            b[p * ldb + d] = 0;
    }
}

/* The parts of the scratch memory. */
struct FN(work) {
    int m;        /* rows, rounded up to TILE_M */
    long span;    /* keys that any row sees */
    long width;   /* span, rounded up to vectors: row length of s */
    long columns; /* D, rounded up to vectors: row length of o */
    REAL *q;      /* m x D */
    REAL *s;      /* m x width: scores, then probabilities */
    REAL *o;      /* m x columns */
    REAL *block;  /* packed keys or values */
};

static struct FN(work)
    FN(lay_out)(const struct attend_kv *kv, const struct attend_rows *rows, void *scratch)
{
    struct FN(work) w = {.m = (int)round_up(rows->n, TILE_M)};
    for (int r = 0; r < rows->n; r++)
        w.span = rows->keys[r] > w.span ? rows->keys[r] : w.span;
    w.width = round_up(w.span, VECTOR_MAX);
    w.columns = round_up(kv->D, VECTOR_MAX);
    w.s = scratch;
    w.o = w.s + w.m * w.width;
    w.q = w.o + w.m * w.columns;
    w.block = w.q + round_up((long)w.m * kv->D, VECTOR_MAX);
    memset(w.s, 0, (size_t)(w.block - w.s) * sizeof(REAL));
    for (long i = 0; i < rows->n * kv->D; i++)
        w.q[i] = (REAL)rows->q[i];
    return w;
}

static TARGET void FN(all_scores)(const struct attend_kv *kv, const struct attend_mode *mode,
                                  const struct FN(work) * w)
{
    long block = keys_per_block(kv->D);
    for (long p = 0; p < w->span; p += block) {
        long np = w->span - p < block ? w->span - p : block, ldb = round_up(np, VECTOR_MAX);
        FN(pack_keys)(kv, w->span, mode->backward, p, np, w->block, ldb);
        /* Dimensions in chunks, each with a sum of its own, unless one running sum is wanted. */
        long chunk = mode->chained ? kv->D : 32;
        for (long d = 0; d < kv->D; d += chunk) {
            long nd = kv->D - d < chunk ? kv->D - d : chunk;
            FN(multiply)
            (mode->chained, w->m, ldb, nd, w->q + d, kv->D, w->block + d * ldb, ldb, w->s + p,
             w->width);
        }
    }
}

static TARGET void FN(weighted_sum)(const struct attend_kv *kv, const struct attend_mode *mode,
                                    bool square, const struct FN(work) * w)
{
    long block = keys_per_block(kv->D);
    memset(w->o, 0, (size_t)w->m * (size_t)w->columns * sizeof(REAL));
    for (long p = 0; p < w->span; p += block) {
        long np = w->span - p < block ? w->span - p : block;
        FN(pack_values)(kv, w->span, mode->backward, square, p, np, w->block, w->columns);
        FN(multiply)
        (mode->chained, w->m, w->columns, np, w->s + p, w->width, w->block, w->columns, w->o,
         w->columns);
    }
}

static TARGET void FN(softmax)(const struct attend_kv *kv, const struct attend_rows *rows,
                               const struct attend_mode *mode, const struct FN(work) * w,
                               REAL *sums, REAL *tops)
{
    REAL scale = (REAL)(mode->base2 ? kv->scale * 1.4426950408889634074 : kv->scale);
    for (int r = 0; r < rows->n; r++) {
        REAL *s = w->s + r * w->width;
        long hidden = w->span - rows->keys[r]; /* keys at the far end that this row does not see */
        long from = mode->backward ? hidden : 0, to = mode->backward ? w->span : rows->keys[r];
        tops[r] = FN(scale_row)(s, w->width, from, to, scale, mode);
        sums[r] = 1;
        if (rows->keys[r] > 0)
            sums[r] = FN(softmax_row)(s, w->width, tops[r], mode);
        else
            memset(s, 0, (size_t)w->width * sizeof *s);
    }
}

/* The row sums as logarithms of what they are without the largest score taken off. */
static void FN(log_sums)(const struct attend_rows *rows, const struct attend_mode *mode,
                         const REAL *sums, const REAL *tops)
{
    for (int r = 0; r < rows->n; r++) {
        const double sum = (double)sums[r], top = (double)tops[r];
        rows->lse[r] = rows->keys[r] <= 0 ? -INFINITY
                       : mode->base2      ? (top + log2(sum)) * EXP_LN2
                                          : top + log(sum);
    }
}

/* Rounds the finished outputs and hands them out. */
static TARGET void FN(finish)(const struct attend_kv *kv, const struct attend_rows *rows,
                              const struct attend_mode *mode, const struct FN(work) * w,
                              const REAL *sums, double *out)
{
    for (int r = 0; r < rows->n; r++) {
        REAL *o = w->o + r * w->columns;
        for (long d = 0; d < w->columns; d += LANES) {
            FN(vec) *v = (FN(vec) *)(o + d);
            if (mode->base2)
                *v /= sums[r];
            *v = FN(maybe_round)(*v, mode);
        }
        for (long d = 0; d < kv->D; d++)
            out[r * kv->D + d] = (double)o[d];
    }
}

#ifndef ATTEND_SINGLE
/* Replaces each probability by the variance of its error, see attend.h. */
static TARGET void FN(error_variance)(const struct attend_rows *rows, const struct FN(work) * w,
                                      const REAL *sums, const REAL *tops, enum dtype type)
{
    for (int r = 0; r < rows->n; r++) {
        REAL score = fabs(tops[r]) > 1 ? fabs(tops[r]) : 1;
        for (long i = 0; i < w->width; i++) {
            REAL *p = w->s + r * w->width + i, e = 0;
            if (type == DTYPE_F32)
                e = 0x1p-24 * score * *p;
            else if (*p > 0)
                e = ulp_at(*p * sums[r], type) / sums[r] * 0.28867513459481287; /* 1/sqrt 12 */
            *p = e * e;
        }
    }
}

/* Adds times x sum_j variance_j v_j (v_j^2 if square) to the noise; times is 1 if `o` is NULL,
 * else -2 o, element by element. */
static TARGET void FN(add_noise)(const struct attend_kv *kv, const struct attend_rows *rows,
                                 const struct attend_mode *mode, const struct FN(work) * w,
                                 const double *o, double *noise)
{
    FN(weighted_sum)(kv, mode, o == NULL, w);
    for (int r = 0; r < rows->n; r++)
        for (long d = 0; d < kv->D; d++) {
            long at = r * kv->D + d;
            noise[at] += w->o[r * w->columns + d] * (o ? -2 * o[at] : 1);
        }
}

/* The last term of sum_j variance_j (v_j - o)^2, whose square is written out. */
static TARGET void FN(add_square)(const struct attend_kv *kv, const struct attend_rows *rows,
                                  const struct FN(work) * w, const double *o, double *noise)
{
    for (int r = 0; r < rows->n; r++) {
        REAL total = 0;
        for (long i = 0; i < w->width; i++)
            total += w->s[r * w->width + i];
        for (long d = 0; d < kv->D; d++) {
            long at = r * kv->D + d;
            noise[at] = fmax(0, noise[at] + total * o[at] * o[at]);
        }
    }
}
#endif

static TARGET void FN(attend)(const struct attend_kv *kv, const struct attend_rows *rows,
                              const struct attend_mode *mode, void *scratch, double *out,
                              double *noise, enum dtype noise_type)
{
    REAL sums[ROWS_MAX], tops[ROWS_MAX];
    struct FN(work) w = FN(lay_out)(kv, rows, scratch);
    FN(all_scores)(kv, mode, &w);
    FN(softmax)(kv, rows, mode, &w, sums, tops);
    if (rows->lse)
        FN(log_sums)(rows, mode, sums, tops);
    FN(weighted_sum)(kv, mode, false, &w);
    FN(finish)(kv, rows, mode, &w, sums, out);
#ifndef ATTEND_SINGLE
    if (!noise)
        return;
    memset(noise, 0, (size_t)rows->n * (size_t)kv->D * sizeof *noise);
    FN(error_variance)(rows, &w, sums, tops, noise_type);
    FN(add_noise)(kv, rows, mode, &w, NULL, noise);
    if (noise_type == DTYPE_F32) {
        FN(add_noise)(kv, rows, mode, &w, out, noise);
        FN(add_square)(kv, rows, &w, out, noise);
    }
#else
    (void)noise, (void)noise_type;
#endif
}

#undef FN
#undef LANES
#undef TILE_M
#undef TILE_V
