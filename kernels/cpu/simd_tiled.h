/* simd_tiled.h - one query tile of cpu_tiled: a template, compiled once per instruction set.
 *
 * Queries lie across the lanes. For NR = PANEL * LANES queries ("a lane block") and a tile of BC
 * keys the two products are the same shape:
 *
 *   S^T[key][query]  = K[key][d]    * Q^T[d][query]      contraction over d
 *   O^T[d][query]   += V^T[d][key]  * P^T[key][query]    contraction over keys
 *
 * so one register block of MICRO_ROWS x PANEL vectors serves both: its left operand is read a
 * scalar at a time straight from K or V as they lie in memory (nothing is packed), its right one in
 * whole vectors from a small buffer in L1. A lane is a query, so that maximum, sum and rescale of
 * the softmax are plain vector operations, never reductions across lanes.
 *
 * Softmax at 9 instructions a vector of scores (AVX-512; 12 elsewhere) beside 2 D multiply-adds:
 *   - Q^T is packed once, multiplied by scale * log2(e): scores come out as exponents of 2;
 *   - accumulators start at -ref instead of 0, so the subtraction costs nothing, and 2^x is taken
 *     while the scores are still in registers;
 *   - ref need not be the maximum. Any value near it does, as float exponents are wide: it is the
 *     maximum over the first keys, and stays. Should later scores exceed it so far that a tile's sum
 *     passes SUM_LIMIT (checked once per tile and lane), ref is raised to the true maximum, O and l
 *     are rescaled, and the tile is done again. So the usual tile has no maximum and no rescale.
 *
 * Include simd_vec.h first.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
ISA_BEGIN

enum { NR = PANEL * LANES, MR = MICRO_ROWS, GUESS_KEYS = MICRO_ROWS };

/* A tile's sum of 2^(s - ref) above this asks for a better ref. Small enough to leave O^T, which grows
 * by as much, 110 binary orders of magnitude for V. */
#define SUM_LIMIT 65536.0f
#define LOG2E     1.4426950408889634
#define LN2       0.6931471805599453

INLINE int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* acc[r][j] += sum over i of a[r * rs + i * is] * b[i * NR + j]: the one inner loop. */
INLINE void micro_product(vf acc[MR][PANEL], int mr, int nv, const float *a, int64_t rs, int64_t is,
                          const float *b, int64_t n)
{
    UNROLL_BY(4)
    for (int64_t i = 0; i < n; i++, a += is, b += NR) {
        vf right[PANEL];
        UNROLL
        for (int j = 0; j < nv; j++)
            right[j] = vload(b + j * LANES);
        UNROLL
        for (int r = 0; r < mr; r++) {
            const float left = a[r * rs];
            UNROLL
            for (int j = 0; j < nv; j++)
                acc[r][j] += right[j] * left;
        }
    }
}

/* A register block begins at 0, or where a block of rows of NR floats has stopped, and goes there. */
INLINE void block_zero(vf acc[MR][PANEL], int mr, int nv)
{
    UNROLL
    for (int r = 0; r < mr; r++) {
        UNROLL
        for (int j = 0; j < nv; j++)
            acc[r][j] = (vf){0};
    }
}

INLINE void block_load(vf acc[MR][PANEL], int mr, int nv, const float *x)
{
    UNROLL
    for (int r = 0; r < mr; r++) {
        UNROLL
        for (int j = 0; j < nv; j++)
            acc[r][j] = vload(x + r * NR + j * LANES);
    }
}

INLINE void block_store(vf acc[MR][PANEL], int mr, int nv, float *x)
{
    UNROLL
    for (int r = 0; r < mr; r++) {
        UNROLL
        for (int j = 0; j < nv; j++)
            vstore(x + r * NR + j * LANES, acc[r][j]);
    }
}

/* s = scores, as they are. */
INLINE void micro_raw(int mr, int nv, const float *k, int64_t ks, const float *qt, int64_t D,
                      float *s)
{
    vf acc[MR][PANEL];
    block_zero(acc, mr, nv);
    micro_product(acc, mr, nv, k, ks, 1, qt, D);
    block_store(acc, mr, nv, s);
}

/* p = 2^(scores - ref), added to sum. Meanwhile the rows at `soon` are asked for, a line of each every LINE steps: few requests
 * are under way at once, and what the product waits for is not behind many. */
INLINE void micro_exp(int mr, int nv, const float *k, int64_t ks, const float *qt, const float *ref,
                      int64_t D, float *p, float *sum, const struct ahead *soon)
{
    vf acc[MR][PANEL];
    UNROLL
    for (int r = 0; r < mr; r++) {
        UNROLL
        for (int j = 0; j < nv; j++)
            acc[r][j] = -vload(ref + j * LANES);
    }
    for (int64_t d = 0; d < D; d += LINE) {
        if (soon) {
            UNROLL
            for (int r = 0; r < mr; r++)
                __builtin_prefetch(soon->row + r * soon->stride + d / LINE * soon->line, 0, 2);
        }
        micro_product(acc, mr, nv, k + d, ks, 1, qt + d * NR, least(LINE, D - d));
    }
    UNROLL
    for (int j = 0; j < nv; j++) {
        vf total = vload(sum + j * LANES);
        UNROLL
        for (int r = 0; r < mr; r++) {
            vf e = vexp2(acc[r][j]);
            vstore(p + r * NR + j * LANES, e);
            total += e;
        }
        vstore(sum + j * LANES, total);
    }
}

/* o += p * v for `mr` columns of V, from `column` on, and n keys. Rows at `soon` are asked for in the same way: each column of
 * V stands for one line of every LINE rows, so that all columns together have asked for all lines. */
INLINE void micro_output(int mr, int nv, const float *v, int64_t vs, const float *p, int64_t n,
                         float *o, const struct ahead *soon, int64_t column)
{
    vf acc[MR][PANEL];
    block_load(acc, mr, nv, o);
    for (int64_t i = 0; i < n; i += LINE) {
        if (soon && i + LINE <= soon->rows) {
            UNROLL
            for (int r = 0; r < mr; r++)
                __builtin_prefetch(soon->row + (i + (column + r) % LINE) * soon->stride +
                                       (column + r) / LINE * soon->line,
                                   0, 2);
        }
        micro_product(acc, mr, nv, v + i * vs, 1, vs, p + i * NR, least(LINE, n - i));
    }
    block_store(acc, mr, nv, o);
}

/* The block sizes are compile-time constants of each copy: MR rows or a remainder, PANEL vectors
 * or fewer when the last queries do not fill a lane block. */
typedef void raw_fn(const float *k, int64_t ks, const float *qt, int64_t D, float *s);
typedef void exp_fn(const float *k, int64_t ks, const float *qt, const float *ref, int64_t D,
                    float *p, float *sum, const struct ahead *soon);
typedef void output_fn(const float *v, int64_t vs, const float *p, int64_t n, float *o,
                       const struct ahead *soon, int64_t column);

#define MICRO(mr, nv)                                                                             \
    static void raw_##mr##_##nv(const float *k, int64_t ks, const float *qt, int64_t D, float *s) \
    {                                                                                             \
        micro_raw(mr, nv, k, ks, qt, D, s);                                                       \
    }                                                                                             \
    static void exp_##mr##_##nv(const float *k, int64_t ks, const float *qt, const float *ref,    \
                                int64_t D, float *p, float *sum, const struct ahead *soon)        \
    {                                                                                             \
        micro_exp(mr, nv, k, ks, qt, ref, D, p, sum, soon);                                       \
    }                                                                                             \
    static void output_##mr##_##nv(const float *v, int64_t vs, const float *p, int64_t n,         \
                                   float *o, const struct ahead *soon, int64_t column)            \
    {                                                                                             \
        micro_output(mr, nv, v, vs, p, n, o, soon, column);                                       \
    }
#define MICRO_ALL(nv) MICRO(1, nv) MICRO(2, nv) MICRO(3, nv) MICRO(4, nv) MICRO(5, nv) MICRO(6, nv)
#define ROW(f, nv)                                                             \
    {                                                                          \
        f##_1_##nv, f##_2_##nv, f##_3_##nv, f##_4_##nv, f##_5_##nv, f##_6_##nv \
    }

MICRO_ALL(1)
MICRO_ALL(2)
#if PANEL == 4
MICRO_ALL(3)
MICRO_ALL(4)
#define PANELS(f)                                  \
    {                                              \
        ROW(f, 1), ROW(f, 2), ROW(f, 3), ROW(f, 4) \
    }
#else
#define PANELS(f)            \
    {                        \
        ROW(f, 1), ROW(f, 2) \
    }
#endif
static raw_fn *const raw_table[PANEL][MR] = PANELS(raw);
static exp_fn *const exp_table[PANEL][MR] = PANELS(exp);
static output_fn *const output_table[PANEL][MR] = PANELS(output);

/* A lane block: NR queries and what the online softmax keeps of them. */
struct lanes {
    float *
        qt; /* [D][NR] Q^T times scale * log2(e); lanes without a query hold 0. Pairs: as simd_pairs.h has it */
    float *ot;                   /* [D][NR] O^T, not yet divided by l */
    float *ref;                  /* [NR] what is subtracted from the scores */
    float *l;                    /* [NR] sum of 2^(s - ref) */
    int32_t *end;                /* [NR] keys that the lane's query sees */
    int64_t row, rows;           /* of the tile: the first lane's; lanes in use */
    int64_t least_end, most_end; /* keys that the first and the last lane see, of the whole block */
    int nv;                      /* vectors in use */
    float scale;                 /* that Q^T does not hold yet */
};

/* A K/V tile as the products want it; here floats. */
struct kv_tile {
    const void *k, *v;
    int64_t k_stride, v_stride; /* in elements */
    int64_t first, n;           /* its keys */
    struct ahead *ahead;        /* V, then what is next, asked for meanwhile; or NULL */
    void *spare;                /* memory for BC x D floats, where an engine wants some */
    int64_t lower; /* bytes from the first part of k, or v, to the second, where there are two */
};

struct tile_buffers;

/* Who does the two products. What the online softmax around them does is the same for all. */
struct engine {
    int unit; /* vectors of queries that it takes at once: a block is divided between such */
    /* Fills qt from the queries from `row` on; scale is set. */
    void (*pack)(struct lanes *x, const struct tiled_job *j, int64_t row, float *buf);
    /* Keys [first, end), BC at most. */
    struct kv_tile (*load)(const struct tiled_job *j, const struct tile_buffers *b, int64_t first,
                           int64_t end);
    /* Of the first n keys of the tile: scores, scaled, to s [n][NR]; */
    void (*scores)(const struct lanes *x, const struct kv_tile *t, int64_t n, int64_t D, float *s);
    /* 2^(score - ref) to p as `output` wants it, and their sums to sum [NR], which is 0. `edge`: with 0 for what a
     * causal mask hides; */
    void (*exp)(const struct lanes *x, const struct kv_tile *t, int64_t n, int64_t D, bool edge,
                float *p, float *sum);
    /* O^T += V^T P^T. */
    void (*output)(struct lanes *x, const struct kv_tile *t, int64_t n, int64_t D, const float *p);
};

static void tile_scores(const struct lanes *x, const struct kv_tile *t, int64_t n, int64_t D,
                        float *s)
{
    const float *k = t->k;
    for (int64_t i = 0; i < n; i += MR)
        raw_table[x->nv - 1][least(MR, n - i) - 1](k + i * t->k_stride, t->k_stride, x->qt, D,
                                                   s + i * NR);
}

/* Edge tiles of a causal mask: zeroes what the mask hides and sums again. `first` is the key of
 * p's first row. */
static void tile_mask(const struct lanes *x, int64_t first, int64_t n, float *p, float *sum)
{
    for (int c = 0; c < x->nv * LANES; c += LANES) {
        vi end = *(const vi *)(x->end + c);
        vf total = {0};
        for (int64_t i = 0; i < n; i++) {
            vf e = vselect(end > (int32_t)(first + i), vload(p + i * NR + c), (vf){0});
            vstore(p + i * NR + c, e);
            total += e;
        }
        vstore(sum + c, total);
    }
}

/* P^T of a tile and its sums. */
static void tile_exp(const struct lanes *x, const struct kv_tile *t, int64_t n, int64_t D,
                     bool edge, float *p, float *sum)
{
    const float *k = t->k;
    struct ahead soon = t->ahead ? t->ahead[0] : (struct ahead){0};
    for (int64_t i = 0; i < n; i += MR, soon.row += MR * soon.stride)
        exp_table[x->nv - 1][least(MR, n - i) - 1](k + i * t->k_stride, t->k_stride, x->qt, x->ref,
                                                   D, p + i * NR, sum,
                                                   i + MR <= soon.rows ? &soon : NULL);
    if (edge)
        tile_mask(x, t->first, n, p, sum);
}

/* O^T += V^T P^T. */
static void tile_output(struct lanes *x, const struct kv_tile *t, int64_t n, int64_t D,
                        const float *p)
{
    const float *v = t->v;
    for (int64_t d = 0; d < D; d += MR)
        output_table[x->nv - 1][least(MR, D - d) - 1](v + d, t->v_stride, p, n, x->ot + d * NR,
                                                      t->ahead ? &t->ahead[1] : NULL, d);
}

/* Raises ref to the maximum over n keys, of those that each lane sees, and rescales what was summed
 * under the old one, of the lanes whose sum is too large: a query's result has nothing of its neighbours'. Leaves ref finite: a
 * lane without a key gets 0. */
static void raise_ref(const struct engine *e, struct lanes *x, const struct kv_tile *t, int64_t n,
                      int64_t D, float *p, const float *sum)
{
    e->scores(x, t, n, D, p);
    for (int c = 0; c < x->nv * LANES; c += LANES) {
        const vi fits = vload(sum + c) <= SUM_LIMIT;
        vf old = vload(x->ref + c), best = old;
        vi end = *(const vi *)(x->end + c);
        for (int64_t i = 0; i < n; i++)
            best = vmax(best, vselect(end > (int32_t)(t->first + i), vload(p + i * NR + c), old));
        best = vselect(best == -INFINITY, (vf){0}, best);
        best = vselect(fits, old, best);
        vf alpha = vselect(fits, vsplat(1), vexp2(old - best));
        vstore(x->ref + c, best);
        vstore(x->l + c, vload(x->l + c) * alpha);
        for (int64_t d = 0; d < D; d++)
            vstore(x->ot + d * NR + c, vload(x->ot + d * NR + c) * alpha);
    }
}

/* The first ref, of all lanes. */
static void guess_ref(const struct engine *e, struct lanes *x, const struct kv_tile *t, int64_t n,
                      int64_t D, float *p)
{
    float none_fits[NR] __attribute__((aligned(64)));
    for (int c = 0; c < NR; c++)
        none_fits[c] = INFINITY;
    raise_ref(e, x, t, n, D, p, none_fits);
}

static bool sums_too_large(const struct lanes *x, const float *sum)
{
    bool large = false;
    for (int64_t c = 0; c < x->nv * LANES; c++)
        large |= !(sum[c] <= SUM_LIMIT);
    return large;
}

INLINE void enter(const struct tiled_job *j, enum tiled_phase phase)
{
    if (j->watch)
        j->watch->enter(j->watch, phase);
}

/* One K/V tile, of which the lanes see at most n keys. p is the P^T buffer [BC][NR]. */
static void tile_step(const struct engine *e, const struct tiled_job *j, struct lanes *x,
                      const struct kv_tile *t, int64_t n, float *p)
{
    float sum[NR] __attribute__((aligned(64)));
    const bool edge = t->first + n > x->least_end;
    const int64_t D = j->D;
    enter(j, TILED_SCORES);
    if (j->watch)
        e->scores(x, t, n, D, p);
    enter(j, TILED_EXP);
    for (int again = 0;; again++) {
        memset(sum, 0, sizeof sum);
        e->exp(x, t, n, D, edge, p, sum);
        if (again || !sums_too_large(x, sum))
            break;
        raise_ref(e, x, t, n, D, p, sum);
    }
    for (int c = 0; c < x->nv * LANES; c++)
        x->l[c] += sum[c];
    enter(j, TILED_OUTPUT);
    e->output(x, t, n, D, p);
}

/* Keys that query `row` of the tile sees. */
INLINE int64_t row_end(const struct tiled_job *j, int64_t row)
{
    int64_t end = j->first_end + row * j->end_step;
    return end < 0 ? 0 : least(end, j->Sk);
}

/* Splits the job's scratch memory. With base NULL it only counts: the result is the size. */
struct scratch {
    float *at;
    size_t used; /* floats */
};

static float *take(struct scratch *s, int64_t floats)
{
    float *p = s->at ? s->at + s->used : NULL;
    s->used += ((size_t)floats + 15) / 16 * 16;
    return p;
}

struct tile_buffers {
    struct lanes
        *lanes; /* [blocks][PANEL]: a block that is divided has a part for each first vector */
    float *p, *k, *v, *rows;
};

static void take_lanes(struct scratch *s, int64_t D, struct lanes *x)
{
    x->qt = take(s, D * NR);
    x->ot = take(s, D * NR);
    x->ref = take(s, NR);
    x->l = take(s, NR);
    x->end = (int32_t *)(void *)take(s, NR);
}

/* As large for every tile of a launch, so that what a thread has lent lies where nothing else will. */
static size_t split_scratch(const struct tiled_job *j, float *base, bool lanes,
                            struct tile_buffers *out)
{
    struct scratch s = {.at = base};
    struct lanes counted;
    const int64_t blocks = (j->room + NR - 1) / NR;
    out->lanes = (struct lanes *)(void *)take(&s, blocks * PANEL * (int64_t)(sizeof counted / 4));
    for (int64_t b = 0; b < blocks; b++)
        take_lanes(&s, j->D, lanes ? &out->lanes[b * PANEL] : &counted);
    out->p = take(&s, j->BC * NR);
    out->k = take(&s, j->BC * j->D);
    out->v = take(&s, j->BC * j->D);
    out->rows = take(&s, NR * j->D);
    return s.used * sizeof(float);
}

static size_t tiled_scratch(const struct tiled_job *j)
{
    struct tile_buffers none;
    return split_scratch(j, NULL, false, &none);
}

/* `n` rows of a tensor from row `first` on, as floats: in place when it is f32, else converted into
 * `buf`. *out_stride is from row to row of the result. */
static const float *rows_floats(const struct tiled_job *j, const void *base, int64_t stride,
                                int64_t first, int64_t n, float *buf, int64_t *out_stride)
{
    *out_stride = stride;
    if (j->dtype == DTYPE_F32)
        return (const float *)base + first * stride;
    const uint16_t *rows = (const uint16_t *)base + first * stride;
    if (stride == j->D) /* no gaps between rows */
        math_to_float(j->dtype, rows, buf, n * j->D);
    else
        for (int64_t i = 0; i < n; i++)
            math_to_float(j->dtype, rows + i * stride, buf + i * j->D, j->D);
    *out_stride = j->D;
    return buf;
}

/* dst[c][r] = src[r][c], in blocks of LANES x LANES and an edge. Where `times` is not NULL, a constant of each copy, src[r][c]
 * is multiplied by times[c], or by the first of LANES that are all the same where `same` is true. */
INLINE void transpose_times(const float *src, int64_t src_stride, float *dst, int64_t dst_stride,
                            int64_t rows, int64_t cols, const float *times, bool same)
{
    const int64_t whole_rows = rows / LANES * LANES, whole_cols = cols / LANES * LANES;
    for (int64_t r = 0; r < whole_rows; r += LANES)
        for (int64_t c = 0; c < whole_cols; c += LANES) {
            vf m[LANES];
            for (int i = 0; i < LANES; i++)
                m[i] = vload(src + (r + i) * src_stride + c);
            for (int i = 0; times && i < LANES; i++)
                m[i] *= vload(times + (same ? 0 : c));
            vtranspose(m);
            for (int i = 0; i < LANES; i++)
                vstore(dst + (c + i) * dst_stride + r, m[i]);
        }
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = r < whole_rows ? whole_cols : 0; c < cols; c++)
            dst[c * dst_stride + r] =
                times ? src[r * src_stride + c] * times[same ? 0 : c] : src[r * src_stride + c];
}

/* Q^T with the scale of the scores in it. */
static void tile_pack(struct lanes *x, const struct tiled_job *j, int64_t row, float *buf)
{
    float scale[LANES];
    vstore(scale, vsplat((float)(j->scale * LOG2E)));
    int64_t stride;
    const float *q = rows_floats(j, j->q, j->q_stride, row, x->rows, buf, &stride);
    transpose_times(q, stride, x->qt, NR, x->rows, j->D, scale, true);
    x->scale = 1;
}

/* Takes the queries from `row` on into a lane block. */
static void lanes_load(const struct engine *e, struct lanes *x, const struct tiled_job *j,
                       int64_t row, float *buf)
{
    x->row = row;
    x->rows = least(NR, j->rows - row);
    x->least_end = row_end(j, row);
    x->most_end = row_end(j, row + x->rows - 1);
    x->nv = (int)((x->rows + LANES - 1) / LANES);
    memset(x->ot, 0, (size_t)(j->D * NR) * sizeof(float));
    for (int c = 0; c < NR; c++) {
        x->ref[c] = -INFINITY;
        x->l[c] = 0;
        x->end[c] = (int32_t)row_end(j, row + least(c, x->rows - 1));
    }
    if (x->rows < NR)
        memset(x->qt, 0, (size_t)(j->D * NR) * sizeof(float));
    e->pack(x, j, row, buf);
}

/* O = O^T / l, transposed back. A row without a key has l = 0 and gives 0. */
static void lanes_store(struct lanes *x, const struct tiled_job *j, float *buf)
{
    const int64_t row = x->row;
    for (int c = 0; c < x->nv * LANES; c++)
        x->ref[c] = x->end[c] > 0 ? x->ref[c] : -INFINITY;
    if (j->lse)
        for (int64_t c = 0; c < x->rows; c++)
            j->lse[row + c] = (float)((x->ref[c] + log2((double)x->l[c])) * LN2);
    for (int c = 0; c < x->nv * LANES; c += LANES) {
        vi keys = *(const vi *)(x->end + c) > 0;
        vstore(x->l + c, vselect(keys, 1 / vload(x->l + c), (vf){0}));
    }
    const bool direct = j->dtype == DTYPE_F32;
    transpose_times(x->ot, NR, direct ? (float *)j->o + row * j->o_stride : buf,
                    direct ? j->o_stride : j->D, j->D, x->rows, x->l, false);
    if (direct)
        return;
    for (int64_t c = 0; c < x->rows; c++)
        math_from_float(j->dtype, buf + c * j->D, (uint16_t *)j->o + (row + c) * j->o_stride, j->D);
}

/* Keys [first, first + n), n at most BC. */
static struct kv_tile tile_load(const struct tiled_job *j, const struct tile_buffers *b,
                                int64_t first, int64_t end)
{
    struct kv_tile t = {.first = first, .n = least(j->BC, end - first)};
    t.k = rows_floats(j, j->k, j->k_stride, first, t.n, b->k, &t.k_stride);
    t.v = rows_floats(j, j->v, j->v_stride, first, t.n, b->v, &t.v_stride);
    return t;
}

static const struct engine in_floats = {.unit = 1,
                                        .pack = tile_pack,
                                        .load = tile_load,
                                        .scores = tile_scores,
                                        .exp = tile_exp,
                                        .output = tile_output};

/* ---- a tile, or what is left of one ---- */

/* Lane blocks x, x + PANEL, ..., `n` of them, which have met the keys before `next`. */
struct rest {
    struct lanes *x;
    int64_t n, next;
};

/* What is left of so little is done before another thread has it. */
#define LEND_FLOPS 2e6

/* Leaves half of the blocks to the result, or of one block half of the vectors, of which it has more than e->unit. */
static struct rest halve(const struct engine *e, struct rest *mine)
{
    struct lanes *x = mine->x;
    const int keep = (x->nv + 2 * e->unit - 1) / (2 * e->unit) * e->unit;
    if (mine->n > 1) {
        const int64_t n = (mine->n + 1) / 2;
        const struct rest other = {x + n * PANEL, mine->n - n, mine->next};
        mine->n = n;
        return other;
    }
    struct lanes *half = x + keep;
    const int64_t c = keep * LANES;
    *half = *x;
    half->qt += c, half->ot += c, half->ref += c, half->l += c, half->end += c;
    half->row += c, half->rows -= c, half->nv -= keep;
    x->rows = c, x->nv = keep;
    return (struct rest){half, 1, mine->next};
}

/* Hands half of the queries to a thread that has nothing to do, if there is one. A query is a lane, which knows nothing of the
 * others: it meets the same keys in the same order wherever it is, so its result has the same bits. */
static void lend(const struct engine *e, const struct tiled_job *j, struct rest *mine, int64_t end)
{
    int64_t vectors = 0;
    for (int64_t i = 0; i < mine->n; i++)
        vectors += mine->x[i * PANEL].nv;
    if (vectors <= e->unit ||
        4.0 * (double)(vectors * LANES) * (double)(end - mine->next) * (double)j->D < LEND_FLOPS)
        return;
    const int taker = j->lender->find(j->lender);
    if (taker < 0)
        return;
    const struct rest other = halve(e, mine);
    j->lender->hand(
        j->lender, taker,
        &(struct tiled_rest){.job = *j, .x = other.x, .n = other.n, .next = other.next});
}

/* The blocks' keys up to `end`, then their results. K/V tiles outside, lane blocks inside: a tile that was converted or has
 * just come into L2 serves all of them. The first of them asks for what comes next: V, the next K, in the end O's rows, which
 * will be written. */
static void go_on(const struct engine *e, const struct tiled_job *j, const struct tile_buffers *b,
                  struct rest r)
{
    const int64_t end = row_end(j, j->rows - 1);
    while (r.next < end) {
        const int64_t first = r.next;
        enter(j, TILED_LOAD);
        struct kv_tile t = e->load(j, b, first, end);
        const int64_t next = first + t.n, more = least(j->BC, end - next);
        const bool copied = t.v == b->v; /* then this tile's V was read already */
        struct ahead ahead[2];
        ahead[0] = rows_ahead(j->dtype, j->v, j->v_stride, copied ? next : first,
                              copied ? more : t.n, j->D);
        ahead[1] = more > 0 ? rows_ahead(j->dtype, j->k, j->k_stride, next, more, j->D)
                            : rows_ahead(j->dtype, j->o, j->o_stride, 0, j->rows, j->D);
        t.ahead = ahead;
        for (int64_t i = 0; i < r.n; i++, t.ahead = NULL) {
            struct lanes *x = &r.x[i * PANEL];
            const int64_t seen = least(t.n, x->most_end - first);
            if (seen <= 0)
                continue;
            enter(j, TILED_EXP);
            if (first == 0)
                guess_ref(e, x, &t, least(GUESS_KEYS, seen), j->D, b->p);
            tile_step(e, j, x, &t, seen, b->p);
        }
        r.next = next;
        if (j->lender)
            lend(e, j, &r, end);
    }
    enter(j, TILED_STORE);
    for (int64_t i = 0; i < r.n; i++)
        lanes_store(&r.x[i * PANEL], j, b->rows);
}

static void tiled_by(const struct engine *e, const struct tiled_job *j)
{
    struct tile_buffers b;
    struct rest r = {.n = (j->rows + NR - 1) / NR};
    split_scratch(j, j->scratch, true, &b);
    r.x = b.lanes;
    enter(j, TILED_PACK);
    struct ahead queries = rows_ahead(j->dtype, j->q, j->q_stride, 0, j->rows, j->D);
    ask_for(&queries, j->rows);
    for (int64_t i = 0; i < r.n; i++)
        lanes_load(e, &r.x[i * PANEL], j, i * NR, b.rows);
    go_on(e, j, &b, r);
}

/* The lanes stay where their first thread has them; the buffers are this thread's. */
static void rest_by(const struct engine *e, const struct tiled_rest *rest)
{
    struct tile_buffers b;
    split_scratch(&rest->job, rest->job.scratch, false, &b);
    go_on(e, &rest->job, &b, (struct rest){rest->x, rest->n, rest->next});
}

static void tiled(const struct tiled_job *j)
{
    tiled_by(&in_floats, j);
}

static void tiled_rest(const struct tiled_rest *r)
{
    rest_by(&in_floats, r);
}

ISA_END
