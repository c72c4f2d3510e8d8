/* simd_decode_pairs.h - decode_splitkv's two products in bf16, two multiply-adds in each lane of an instruction.
 *
 * See simd_decode.h for the whole, simd_pairs.h for the instruction. Nothing becomes a float on its way:
 *
 *   scores   pairs (d, d + 1) of a key lie side by side in memory, and so do those of Q, which stays as it is;
 *            the scale comes to the scores
 *   output   a pair is of two keys, so their rows of V are zipped in registers; P, too, is rounded to bf16 and zipped
 *
 * Cost with 4 rows, for 64 bytes of K or of V: 4 of these, where floats take 8 multiply-adds, 2 loads and 4
 * conversions; and one zip a vector of V, for each 2 rows that read it: within parts of 128 bits, which beside
 * multiply-adds is free on a Zen 4, where a shuffle over the whole vector is not (40 GB/s out of L2, not 36). Include simd_decode.h and simd_pairs.h first.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
ISA_BEGIN

enum { PAIRS = 2 * LANES }; /* elements in a vector of pairs */

/* n < PAIRS: the first n elements and zeros. */
INLINE vi load_pairs(const char *p, int64_t n)
{
    if (n >= PAIRS)
        return (vi)_mm512_loadu_si512((const void *)p);
    return (vi)_mm512_maskz_loadu_epi16((__mmask32)((1u << n) - 1), p);
}

INLINE vf dot_pairs(vf acc, vi a, vi b)
{
    return (vf)_mm512_dpbf16_ps((__m512)acc, (__m512bh)a, (__m512bh)b);
}

/* Q as it lies in memory, 0 behind D, where floats of it have been. */
static void load_pair_rows(const struct decode_job *j, struct row_block *x)
{
    const int64_t pitch = decode_pitch(j->D);
    memset(x->q, 0, (size_t)(x->rows * pitch) * sizeof(float));
    for (int64_t r = 0; r < decode_least(x->rows, j->rows - x->first); r++) {
        const int64_t row = j->row + x->first + r;
        const int64_t at = row / j->queries * j->head_stride + row % j->queries * j->q_stride;
        memcpy((char *)x->q + 2 * r * pitch, velement(DTYPE_BF16, j->q, at), (size_t)(2 * j->D));
    }
}

/* sum[row] += the products of a vector of a key, from d on, of which `width` elements are there. */
INLINE void dots_pairs(vf *sum, int rows, const char *q, int64_t pitch, const char *key, int64_t d,
                       int64_t width)
{
    vi y = load_pairs(key + 2 * d, width);
    KEEP(y);
    UNROLL
    for (int r = 0; r < rows; r++)
        sum[r] = dot_pairs(sum[r], y, load_pairs(q + 2 * (r * pitch + d), PAIRS));
}

/* The dot products of a key with each row; q has pairs. A dots_fn. */
INLINE void dots_pairs_key(vf *out, enum dtype t, int rows, const float *q, const char *key,
                           int64_t D)
{
    (void)t;
    const int64_t pitch = decode_pitch(D);
    vf sum[DECODE_ROWS] = {0};
    int64_t d = 0;
    for (; d + PAIRS <= D; d += PAIRS)
        dots_pairs(sum, rows, (const char *)q, pitch, key, d, PAIRS);
    if (d < D)
        dots_pairs(sum, rows, (const char *)q, pitch, key, d, D - d);
    UNROLL
    for (int r = 0; r < rows; r++)
        out[r] = sum[r];
}

/* s[key][row], floats, become s[key / 2][row], pairs of keys, in place. */
INLINE void pair_weights(int rows, int64_t n, float *s)
{
    vi even = {0};
    for (int i = 0; i < LANES; i++)
        even[i] = i / rows * 2 * rows + i % rows;
    const vi odd = even + rows;
    float *to = s;
    for (int64_t i = 0; i < n * rows; i += 2 * LANES, to += LANES) {
        const __m512 a = (__m512)vload(s + i), b = (__m512)vload(s + i + LANES);
        vstore(to, (vf)make_pairs((vf)_mm512_permutex2var_ps(a, (__m512i)even, b),
                                  (vf)_mm512_permutex2var_ps(a, (__m512i)odd, b)));
    }
}

/* The elements of two rows in turn, within each part of 128 bits: of its 8 columns lo has the first 4, hi the others. */
INLINE void zip_parts(vi a, vi b, vi *lo, vi *hi)
{
    *lo = (vi)_mm512_unpacklo_epi16((__m512i)a, (__m512i)b);
    *hi = (vi)_mm512_unpackhi_epi16((__m512i)a, (__m512i)b);
}

/* Columns of O, which lie as zip_parts() leaves them, in their own order. */
static void order_columns(const struct decode_job *j, struct row_block *x)
{
    const __m512i low = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
    const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(LANES / 2));
    float *const end = x->o + x->rows * decode_pitch(j->D);
    for (float *o = x->o; o < end; o += 2 * LANES) {
        const __m512 lo = (__m512)vload(o), hi = (__m512)vload(o + LANES);
        vstore(o, (vf)_mm512_permutex2var_ps(lo, low, hi));
        vstore(o + LANES, (vf)_mm512_permutex2var_ps(lo, high, hi));
    }
}

/* o += p * v for `nv` vectors of pairs from column d on, of which `width` elements are there; p has weights of `of` rows. */
INLINE void weigh_pairs(int rows, int of, int nv, const float *p, const struct decode_tile *tile,
                        int64_t d, int64_t width, float *o, int64_t pitch)
{
    vf acc[DECODE_ROWS][2 * PANEL];
    const char *v = velement(DTYPE_BF16, tile->v, d);
    const int64_t step = 2 * tile->vs;
    UNROLL
    for (int r = 0; r < rows; r++) {
        UNROLL_BY(8)
        for (int j = 0; j < 2 * nv; j++)
            acc[r][j] = vload(o + r * pitch + d + j * LANES);
    }
    for (int64_t i = 0; i < tile->n; i += 2, v += 2 * step, p += of) {
        const bool both = i + 1 < tile->n;
        vi weight[DECODE_ROWS];
        UNROLL
        for (int r = 0; r < rows; r++) {
            int32_t pair;
            memcpy(&pair, p + r, sizeof pair);
            weight[r] = pair - (vi){0};
        }
        if (tile->next && d == 0)
            ask_for(tile->next, 2);
        UNROLL
        for (int j = 0; j < nv; j++) {
            const vi a = load_pairs(v + 4 * j * LANES, width),
                     b = both ? load_pairs(v + step + 4 * j * LANES, width) : (vi){0};
            vi lo, hi;
            zip_parts(a, b, &lo, &hi);
            KEEP(lo);
            KEEP(hi);
            UNROLL
            for (int r = 0; r < rows; r++) {
                acc[r][2 * j] = dot_pairs(acc[r][2 * j], lo, weight[r]);
                acc[r][2 * j + 1] = dot_pairs(acc[r][2 * j + 1], hi, weight[r]);
            }
        }
    }
    UNROLL
    for (int r = 0; r < rows; r++) {
        UNROLL_BY(8)
        for (int j = 0; j < 2 * nv; j++)
            vstore(o + r * pitch + d + j * LANES, acc[r][j]);
    }
}

/* o += p * v for the keys of a chunk: two rows at a time read V in order, as those of floats do. */
INLINE void pair_chunk(int rows, const float *p, const struct decode_tile *chunk, int64_t D,
                       float *o)
{
    const int some = rows > 2 ? 2 : rows;
    const int64_t pitch = decode_pitch(D);
    int64_t d = 0;
    for (; d + PANEL * PAIRS <= D; d += PANEL * PAIRS)
        for (int r = 0; r < rows; r += some)
            weigh_pairs(some, rows, PANEL, p + r, chunk, d, PAIRS, o + r * pitch, pitch);
    for (; d + PANEL / 2 * PAIRS <= D; d += PANEL / 2 * PAIRS)
        weigh_pairs(rows, rows, PANEL / 2, p, chunk, d, PAIRS, o, pitch);
    for (; d < D; d += PAIRS)
        weigh_pairs(rows, rows, 1, p, chunk, d, D - d, o, pitch);
}

INLINE void pair_output_of(int rows, const float *p, const struct decode_tile *tile, int64_t D,
                           float *o)
{
    struct decode_tile chunk = *tile;
    for (int64_t i = 0; i < tile->n; i += CHUNK, p += CHUNK / 2 * rows) {
        chunk.v = velement(DTYPE_BF16, tile->v, i * tile->vs);
        chunk.n = decode_least(CHUNK, tile->n - i);
        pair_chunk(rows, p, &chunk, D, o);
    }
}

INLINE void meet_pair_columns(int rows, int64_t D, const struct decode_job *j, struct row_block *x,
                              struct decode_tile *tile, int64_t first, struct ahead ahead[2],
                              float *s)
{
    look_ahead(tile, ahead);
    decode_scores(dots_pairs_key, DTYPE_BF16, rows, x, tile, D,
                  (float)(j->scale * 1.4426950408889634), s);
    decode_softmax(rows, 0, j, x, first, tile->n, s);
    pair_weights(rows, tile->n, s);
    look_ahead(tile, ahead ? ahead + 1 : NULL);
    pair_output_of(rows, s, tile, D, x->o);
}

INLINE void meet_pairs(int rows, const struct decode_job *j, struct row_block *x,
                       struct decode_tile *tile, int64_t first, struct ahead ahead[2], float *s)
{
    if (j->D == 128)
        meet_pair_columns(rows, 128, j, x, tile, first, ahead, s);
    else if (j->D == 64)
        meet_pair_columns(rows, 64, j, x, tile, first, ahead, s);
    else
        meet_pair_columns(rows, j->D, j, x, tile, first, ahead, s);
}

#define MEET_PAIRS(rows)                                                                          \
    static void meet_pairs_##rows(const struct decode_job *j, struct row_block *x,                \
                                  struct decode_tile *tile, int64_t first, struct ahead ahead[2], \
                                  float *s)                                                       \
    {                                                                                             \
        meet_pairs(rows, j, x, tile, first, ahead, s);                                            \
    }
MEET_PAIRS(1)
MEET_PAIRS(2)
MEET_PAIRS(4)

/* Floats and f16 as everywhere. */
static void decode_pairs(const struct decode_job *j)
{
    static const struct decode_way pairs = {
        load_pair_rows, {meet_pairs_1, meet_pairs_2, meet_pairs_4}, order_columns};
    decode_by(j, j->dtype == DTYPE_BF16 ? &pairs : &decode_ways[j->dtype]);
}

ISA_END
