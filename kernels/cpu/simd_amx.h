/* simd_amx.h - cpu_tiled's two products in bf16 and f16 by the matrix unit of Xeons (AMX).
 *
 * The unit has eight tiles of 16 rows of 64 bytes. One instruction, tdpbf16ps, adds to a tile C of 16 x 16 floats the
 * product of A, 16 rows of 16 pairs of bf16, with B, 16 rows of pairs for 16 columns: 16 x 16 x 32 multiply-adds in 16
 * cycles, sixteen times what two vector units do in f32. Rows of A are broadcast against rows of B pair by pair, so a
 * tile is 16 x 16 steps of simd_pairs.h, and what that kernel feeds its instruction with fits here, too:
 *
 *   S^T[32 keys][32 queries]  = K[32 keys][32 d ...]     . Q^T pairs     K as it lies in memory
 *   O^T[32 d][32 queries]    += V^T[32 d][32 keys ...]   . P^T pairs     V^T: a tile's pairs, transposed once for all
 *                                                                        queries
 *
 * Two tiles of A and two of B make four products: half the loads of one at a time, and all eight tiles are in use.
 *
 * Cost of 32 keys and 64 queries at D = 64: 32 tile products, 512 cycles; but their 128 vectors of scores are 12
 * instructions each for the softmax, some 800 cycles of two ports. So the unit makes the next group's scores while vectors
 * take this one's powers of 2. What binds beside them is tiles on their way: O^T is loaded and stored once for all groups of
 * a K/V tile, so more keys a tile help, and V^T is made once for all queries of a block, so more queries do, too
 * (kernels/h200.md has times).
 *
 * The unit knows no f16, but an f16 is the sum of two bf16, exactly: 11 bits are 8 and 3 more. So in f16 all operands are
 * there twice, K Q^T is four products, of which nothing is lost, and V^T P^T three, where P^T is rounded to 16 bits, finer
 * than the f16 that comes out: 112 tile products in the place of 32, and a fifth of the time to split
 * operands; together 1.1 to 1.6 times as fast as floats. (An infinite f16 has
 * no second part, and becomes NaN.)
 *
 * AMX_PLAYED 1 compiles the same with tiles in memory and products by AVX512-BF16, for processors without the unit: a
 * test, not a kernel. D must be a multiple of 32, and so must BC.
 *
 * Include simd_pairs.h first.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#undef ISA_TARGET
#undef AMX
#undef TILES
#undef TILES_PASSED
#undef TILES_HERE
#undef TILE_ZERO
#undef TILE_LOAD
#undef TILE_STORE
#undef TILE_DOT

#if AMX_PLAYED
#define ISA_TARGET             "avx512f,avx512dq,avx512bw,avx512vl,avx512bf16,fma,f16c,avx2"
#define AMX(name)              name##_played
#define TILES                  float tiles[8][16 * 16];
#define TILES_PASSED           float(*tiles)[16 * 16],
#define TILES_HERE             tiles,
#define TILE_ZERO(i)           memset(tiles[i], 0, sizeof tiles[i])
#define TILE_LOAD(i, p, step)  played_load(tiles[i], p, step)
#define TILE_STORE(i, p, step) played_store(tiles[i], p, step)
#define TILE_DOT(c, a, b)      played_dot(tiles[c], tiles[a], tiles[b])
#else
#define ISA_TARGET "avx512f,avx512dq,avx512bw,avx512vl,avx512bf16,fma,f16c,avx2,amx-tile,amx-bf16"
#define AMX(name)  name##_amx
#define TILES      /* the registers */
#define TILES_PASSED
#define TILES_HERE
#define TILE_ZERO(i)           _tile_zero(i)
#define TILE_LOAD(i, p, step)  _tile_loadd(i, p, (size_t)(step))
#define TILE_STORE(i, p, step) _tile_stored(i, p, (size_t)(step))
#define TILE_DOT(c, a, b)      _tile_dpbf16ps(c, a, b)
#endif
/* Before tiles are loaded and after they were stored: gcc's intrinsics do not say that they touch memory. */
#undef TILES_FENCE
#define TILES_FENCE __asm__ volatile("" ::: "memory")

/* Two products of 16 bits are two tile products in bf16, four and three in f16. */
#ifndef AMX_F16_SHARE
#define AMX_F16_SHARE (2.0 / 7)
#endif
#ifndef GROUP
#define GROUP 32 /* keys, columns of D and queries of four products */
#endif

ISA_BEGIN

#if AMX_PLAYED
enum { TILE_ROWS = 16 };

static void played_load(float *tile, const void *p, int64_t step)
{
    for (int r = 0; r < TILE_ROWS; r++)
        memcpy(tile + r * LANES, (const char *)p + r * step, LANES * sizeof *tile);
}

static void played_store(const float *tile, void *p, int64_t step)
{
    for (int r = 0; r < TILE_ROWS; r++)
        memcpy((char *)p + r * step, tile + r * LANES, LANES * sizeof *tile);
}

static void played_dot(float *c, const float *a, const float *b)
{
    for (int r = 0; r < TILE_ROWS; r++) {
        vf sum = vload(c + r * LANES);
        for (int k = 0; k < LANES; k++)
            sum = dot_pair(sum, (vi)vload(b + k * LANES), (const char *)(a + r * LANES + k));
        vstore(c + r * LANES, sum);
    }
}
#endif

/* Tiles 0 to 3 are C, 4 and 5 A, 6 and 7 B. Adds the products of A, 32 rows `as` bytes apart, and B, 16 rows of pairs
 * `bs` bytes apart, over `steps` steps of 32 in the sum. */
#define TILE_PRODUCTS(a, as, a_step, b, bs, b_step, steps) \
    for (int64_t step_ = 0; step_ < (steps); step_++) {    \
        const char *a_ = (a) + step_ * (a_step);           \
        const char *b_ = (b) + step_ * (b_step);           \
        TILE_LOAD(4, a_, as);                              \
        TILE_LOAD(6, b_, bs);                              \
        TILE_LOAD(7, b_ + 64, bs);                         \
        TILE_LOAD(5, a_ + 16 * (as), as);                  \
        TILE_DOT(0, 4, 6);                                 \
        TILE_DOT(1, 4, 7);                                 \
        TILE_DOT(2, 5, 6);                                 \
        TILE_DOT(3, 5, 7);                                 \
    }

/* Of a group's 32 keys, `ks` bytes apart, and 32 queries from q on: s [32][NR] = the scores, as they are; each part of the keys
 * with each of the queries'. Steps [from, to) of `all`, so that others' work may come between. */
INLINE void AMX(block_scores)(TILES_PASSED int parts, const struct lanes *x, const char *k,
                              int64_t ks, int64_t lower, int64_t D, int q, int64_t from, int64_t to,
                              int64_t all, float *s)
{
    const int64_t row = NR * (int64_t)sizeof *s, steps = D / 32;
    TILES_FENCE;
    if (from == 0) {
        TILE_ZERO(0);
        TILE_ZERO(1);
        TILE_ZERO(2);
        TILE_ZERO(3);
    }
    for (int64_t i = from; i < to; i++) {
        const int64_t part = i / steps, step = i % steps;
        const char *keys = k + part / parts * lower + 64 * step;
        const char *queries =
            (const char *)(x->qt + part % parts * (D / 2 * NR) + q) + 16 * row * step;
        TILE_PRODUCTS(keys, ks, 64, queries, row, 16 * row, 1)
    }
    if (to == all) {
        TILE_STORE(0, s + q, row);
        TILE_STORE(1, s + q + LANES, row);
        TILE_STORE(2, s + 16 * NR + q, row);
        TILE_STORE(3, s + 16 * NR + q + LANES, row);
    }
    TILES_FENCE;
}

INLINE void AMX(group_scores)(int parts, const struct lanes *x, const char *k, int64_t ks,
                              int64_t lower, int64_t D, float *s)
{
    const int64_t all = parts * parts * (D / 32);
    TILES
    for (int q = 0; q < x->nv * LANES; q += GROUP)
        AMX(block_scores)(TILES_HERE parts, x, k, ks, lower, D, q, 0, all, all, s);
}

/* From the first part of P^T to the second, in floats. */
INLINE int64_t AMX(p_lower)(int64_t n)
{
    return (n + GROUP - 1) / GROUP * GROUP / 2 * NR;
}

/* O^T += V^T P^T: `groups` of 32 keys, V^T [D][32] of each. The product of two second parts is below what the second
 * part of P^T is rounded by. */
INLINE void AMX(groups_output)(int parts, struct lanes *x, const struct kv_tile *t, int64_t groups,
                               int64_t D, const float *p)
{
    const int64_t row = NR * (int64_t)sizeof *p;
    TILES
    TILES_FENCE;
    for (int64_t d = 0; d < D; d += GROUP) {
        ask_next(t, GROUP, D);
        for (int q = 0; q < x->nv * LANES; q += GROUP) {
            float *o = x->ot + d * NR + q;
            TILE_LOAD(0, o, row);
            TILE_LOAD(1, o + LANES, row);
            TILE_LOAD(2, o + 16 * NR, row);
            TILE_LOAD(3, o + 16 * NR + LANES, row);
            for (int i = 0; i < 2 * parts - 1; i++) {
                const char *v = (const char *)t->v + 64 * d + i / 2 * t->lower;
                const char *weights = (const char *)(p + i % 2 * AMX(p_lower)(groups * GROUP) + q);
                TILE_PRODUCTS(v, 64, 64 * D, weights, row, 16 * row, groups)
            }
            TILE_STORE(0, o, row);
            TILE_STORE(1, o + LANES, row);
            TILE_STORE(2, o + 16 * NR, row);
            TILE_STORE(3, o + 16 * NR + LANES, row);
        }
    }
    TILES_FENCE;
}

/* The group's 32 rows of K: where they lie; the last ones of a tile in t->spare, where 32 may be read. Scores of rows behind
 * the last key are made of whatever is there, and nobody looks at them. */
static const char *AMX(group_keys)(const struct kv_tile *t, int64_t i, int64_t D, int64_t *ks)
{
    void *buf = t->spare;
    const uint16_t *k = (const uint16_t *)t->k + i * t->k_stride;
    *ks = 2 * t->k_stride;
    if (!buf || i + GROUP <= t->n)
        return (const char *)k;
    for (int64_t r = 0; r < t->n - i; r++)
        memcpy((char *)buf + 2 * r * D, k + r * t->k_stride, (size_t)(2 * D));
    *ks = 2 * D;
    return buf;
}

/* p = pairs of 2^(s * scale - ref) of 32 keys and a vector of queries, added to sum. */
INLINE void AMX(column_exp)(int parts, const struct lanes *x, int c, const float *s, float *p,
                            int64_t lower, float *sum)
{
    const vf m = vload(x->ref + c);
    vf total = vload(sum + c);
    UNROLL_BY(4)
    for (int r = 0; r < GROUP; r += 2) {
        const vf even = vexp2_short(vload(s + r * NR + c) * x->scale - m);
        const vf odd = vexp2_short(vload(s + (r + 1) * NR + c) * x->scale - m);
        put_pairs(parts, even, odd, p + r / 2 * NR + c, lower);
        total += even + odd;
    }
    vstore(sum + c, total);
}

/* The same of all queries, where only `rows` are keys, from `first` on, and the mask hides some of them from some queries. */
INLINE void AMX(group_edge)(int parts, const struct lanes *x, float *s, int64_t first, int64_t rows,
                            float *p, int64_t lower, float *sum)
{
    for (int64_t i = 0; i < rows * NR; i += LANES)
        vstore(s + i, vload(s + i) * x->scale);
    for (int64_t r = 0; r < GROUP; r += 2, p += NR) {
        const int64_t n = least(2, rows - r);
        if (n > 0)
            pairs_edge(parts, x, s + r * NR, first + r, n, p, lower, sum);
        for (int i = 0; i < parts && n <= 0; i++)
            memset(p + i * lower, 0, NR * sizeof *p);
    }
}

/* ---- the engine ---- */

/* D f16 as two rows of bf16. */
INLINE void AMX(split_row)(const uint16_t *x, int64_t D, uint16_t *hi, uint16_t *lo)
{
    for (int64_t d = 0; d < D; d += LANES) {
        vf upper, lower;
        split(vload_f16(x + d), &upper, &lower);
        const __m512i u = _mm512_srli_epi32((__m512i)upper, 16);
        const __m512i l = _mm512_srli_epi32((__m512i)lower, 16);
        _mm256_storeu_si256((void *)(hi + d), _mm512_cvtepi32_epi16(u));
        _mm256_storeu_si256((void *)(lo + d), _mm512_cvtepi32_epi16(l));
    }
}

/* Pairs of two rows of f16, in two parts; odd NULL: with zeros. */
INLINE void AMX(split_pairs)(const uint16_t *even, const uint16_t *odd, int64_t D, float *hi,
                             float *lo)
{
    for (int64_t d = 0; d < D; d += LANES) {
        vf e, e_lo, o = (vf){0}, o_lo = (vf){0};
        split(vload_f16(even + d), &e, &e_lo);
        if (odd)
            split(vload_f16(odd + d), &o, &o_lo);
        vstore(hi + d, (vf)zip_upper(e, o));
        vstore(lo + d, (vf)zip_upper(e_lo, o_lo));
    }
}

/* qt = two times [D / 2][NR] pairs. */
static void AMX(amx_pack_f16)(struct lanes *x, const struct tiled_job *j, int64_t row, float *buf)
{
    const uint16_t *q = (const uint16_t *)j->q + row * j->q_stride;
    uint16_t *hi = (uint16_t *)(void *)buf, *lo = hi + NR * j->D;
    for (int64_t r = 0; r < x->rows; r++)
        AMX(split_row)(q + r * j->q_stride, j->D, hi + r * j->D, lo + r * j->D);
    transpose(buf, j->D / 2, x->qt, NR, x->rows, j->D / 2);
    transpose(buf + NR * j->D / 2, j->D / 2, x->qt + j->D / 2 * NR, NR, x->rows, j->D / 2);
    x->scale = (float)(j->scale * LOG2E);
}

/* V^T of n keys, a group after the other, each [D][32], with zeros behind the last key; the second part `lower` bytes behind
 * the first. A group's pairs of keys are made first, and transposed while they are in L1. */
INLINE void AMX(load_values)(int parts, const struct tiled_job *j, const struct tile_buffers *b,
                             int64_t first, int64_t n, int64_t lower)
{
    const int64_t D = j->D, half = GROUP / 2;
    const uint16_t *v = (const uint16_t *)j->v + first * j->v_stride;
    float *hi = b->rows, *lo = hi + half * D;
    for (int64_t i = 0; i < n; i += GROUP) {
        const int64_t keys = least(GROUP, n - i);
        if (keys < GROUP)
            memset(hi, 0, (size_t)(parts * half * D) * sizeof *hi);
        for (int64_t r = 0; r < keys; r += 2, v += 2 * j->v_stride) {
            const uint16_t *odd = r + 1 < keys ? v + j->v_stride : NULL;
            if (parts == 1)
                zip_rows(v, odd, D, hi + r / 2 * D);
            else
                AMX(split_pairs)(v, odd, D, hi + r / 2 * D, lo + r / 2 * D);
        }
        for (int part = 0; part < parts; part++)
            transpose(hi + part * half * D, D, b->v + i / 2 * D + part * lower / 4, half, half, D);
    }
}

/* K where it lies, but for its last group, which goes to the spare buffer. */
static struct kv_tile AMX(amx_load)(const struct tiled_job *j, const struct tile_buffers *b,
                                    int64_t first, int64_t end)
{
    const struct kv_tile t = {.k = (const uint16_t *)j->k + first * j->k_stride,
                              .v = b->v,
                              .k_stride = j->k_stride,
                              .first = first,
                              .n = least(j->BC, end - first),
                              .spare = b->k};
    AMX(load_values)(1, j, b, first, t.n, 0);
    return t;
}

/* K [BC][D] twice. */
static struct kv_tile AMX(amx_load_f16)(const struct tiled_job *j, const struct tile_buffers *b,
                                        int64_t first, int64_t end)
{
    const int64_t D = j->D, whole = j->BC * D, n = least(j->BC, end - first);
    const uint16_t *k = (const uint16_t *)j->k + first * j->k_stride;
    uint16_t *hi = (uint16_t *)(void *)b->k, *lo = hi + whole;
    for (int64_t r = 0; r < n; r++)
        AMX(split_row)(k + r * j->k_stride, D, hi + r * D, lo + r * D);
    AMX(load_values)(2, j, b, first, n, 2 * whole);
    return (struct kv_tile){
        .k = b->k, .v = b->v, .k_stride = D, .first = first, .n = n, .lower = 2 * whole};
}

INLINE void AMX(parts_scores)(int parts, const struct lanes *x, const struct kv_tile *t, int64_t n,
                              int64_t D, float *out)
{
    float s[GROUP * NR] __attribute__((aligned(64)));
    for (int64_t i = 0; i < n; i += GROUP) {
        int64_t ks;
        const char *k = AMX(group_keys)(t, i, D, &ks);
        AMX(group_scores)(parts, x, k, ks, t->lower, D, s);
        for (int64_t at = 0; at < least(GROUP, n - i) * NR; at += LANES)
            vstore(out + i * NR + at, vload(s + at) * x->scale);
    }
}

/* The unit works while vectors do: a half of the products for two vectors of queries, of the next group's scores, comes
 * before each vector of this group's powers of 2. */
INLINE void AMX(parts_exp)(int parts, const struct lanes *x, const struct kv_tile *t, int64_t n,
                           int64_t D, bool edge, float *p, float *sum)
{
    const int64_t lower = AMX(p_lower)(n), all = parts * parts * (D / 32);
    float s[2][GROUP * NR] __attribute__((aligned(64)));
    int64_t ks;
    const char *k = AMX(group_keys)(t, 0, D, &ks);
    TILES
    AMX(group_scores)(parts, x, k, ks, t->lower, D, s[0]);
    for (int64_t i = 0; i < n; i += GROUP, p += GROUP / 2 * NR) {
        float *now = s[i / GROUP % 2], *next = s[(i / GROUP + 1) % 2];
        const bool whole = !edge && i + GROUP <= n;
        ask_v(t, GROUP);
        k = i + GROUP < n ? AMX(group_keys)(t, i + GROUP, D, &ks) : NULL;
        for (int v = 0; v < x->nv; v++) {
            const int64_t from = v % 2 ? all / 2 : 0, to = v % 2 || v + 1 == x->nv ? all : all / 2;
            if (k)
                AMX(block_scores)
            (TILES_HERE parts, x, k, ks, t->lower, D, v / 2 * GROUP, from, to, all, next);
            if (whole)
                AMX(column_exp)(parts, x, v * LANES, now, p, lower, sum);
        }
        if (!whole)
            AMX(group_edge)(parts, x, now, t->first + i, least(GROUP, n - i), p, lower, sum);
    }
}

#define AMX_ENGINE(name, parts, pack_, load_)                                                 \
    static void AMX(name##_scores)(const struct lanes *x, const struct kv_tile *t, int64_t n, \
                                   int64_t D, float *out)                                     \
    {                                                                                         \
        AMX(parts_scores)(parts, x, t, n, D, out);                                            \
    }                                                                                         \
    static void AMX(name##_exp)(const struct lanes *x, const struct kv_tile *t, int64_t n,    \
                                int64_t D, bool edge, float *p, float *sum)                   \
    {                                                                                         \
        AMX(parts_exp)(parts, x, t, n, D, edge, p, sum);                                      \
    }                                                                                         \
    static void AMX(name##_output)(struct lanes * x, const struct kv_tile *t, int64_t n,      \
                                   int64_t D, const float *p)                                 \
    {                                                                                         \
        AMX(groups_output)(parts, x, t, (n + GROUP - 1) / GROUP, D, p);                       \
    }                                                                                         \
    static const struct engine AMX(name) = {.unit = GROUP / LANES,                            \
                                            .pack = pack_,                                    \
                                            .load = load_,                                    \
                                            .scores = AMX(name##_scores),                     \
                                            .exp = AMX(name##_exp),                           \
                                            .output = AMX(name##_output)};
AMX_ENGINE(in_tiles, 1, pairs_pack, AMX(amx_load))
AMX_ENGINE(in_tiles_f16, 2, AMX(amx_pack_f16), AMX(amx_load_f16))

/* Eight tiles of 16 rows of 64 bytes, until they are given back. */
static void AMX(amx_begin)(void)
{
#if !AMX_PLAYED
    struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } __attribute__((aligned(64))) shape = {.palette = 1};
    for (int i = 0; i < 8; i++) {
        shape.row_bytes[i] = 64;
        shape.rows[i] = 16;
    }
    __asm__ volatile("" : "+m"(shape)); /* gcc's intrinsic names its first bytes alone */
    _tile_loadconfig(&shape);
#endif
}

static void AMX(amx_end)(void)
{
#if !AMX_PLAYED
    _tile_release();
#endif
}

/* Products of tiles that stay where they are, four sums at once. */
static double AMX(peak_tiles)(int64_t rounds)
{
    TILES
    AMX(amx_begin)();
    TILE_ZERO(0);
    TILE_ZERO(1);
    TILE_ZERO(2);
    TILE_ZERO(3);
    TILE_ZERO(4);
    TILE_ZERO(5);
    TILE_ZERO(6);
    TILE_ZERO(7);
    for (int64_t r = 0; r < rounds; r++) {
        TILE_DOT(0, 4, 6);
        TILE_DOT(1, 4, 7);
        TILE_DOT(2, 5, 6);
        TILE_DOT(3, 5, 7);
    }
    AMX(amx_end)();
    return 4.0 * 2 * 16 * 16 * 32 * (double)rounds;
}

/* In bf16 and f16 where tiles divide D and the keys. Else in floats: processors with the unit take four times as long for
 * an instruction on pairs as for one on floats. */
static const struct engine *AMX(engine_of)(const struct tiled_job *j)
{
    return j->dtype == DTYPE_F32 || j->D % GROUP || j->BC % GROUP ? &in_floats
           : j->dtype == DTYPE_BF16                               ? &AMX(in_tiles)
                                                                  : &AMX(in_tiles_f16);
}

static void AMX(tiled)(const struct tiled_job *j)
{
    const struct engine *e = AMX(engine_of)(j);
    if (e != &in_floats)
        AMX(amx_begin)();
    tiled_by(e, j);
    if (e != &in_floats)
        AMX(amx_end)();
}

static void AMX(tiled_rest)(const struct tiled_rest *r)
{
    const struct engine *e = AMX(engine_of)(&r->job);
    if (e != &in_floats)
        AMX(amx_begin)();
    rest_by(e, r);
    if (e != &in_floats)
        AMX(amx_end)();
}

ISA_END
