/* simd_decode.h - a piece of the keys for a few queries, as decode_splitkv runs it: a template, compiled once per
 * instruction set.
 *
 * One new query has no 64 neighbours to fill vector lanes with, as cpu_tiled's have. So here the lanes lie along
 * the head dimension, as K and V lie in memory, and what is reused is the loaded vector: ROWS queries, those of
 * the heads that share K and V, meet it while it is in a register. 16-bit elements become floats on the way from
 * memory to that register and are never stored.
 *
 *   scores   S[key][row]  = sum over d of K[key][d] * Q[row][d]     four dot products at a time are added up across lanes
 *   output   O[row][d]   += P[key][row] * V[key][d]                 one weight against a vector, no sums across lanes
 *
 * S is kept key by key, ROWS scores each, so that the softmax's maxima and sums, too, are those of whole vectors
 * (lane i belongs to row i % ROWS) until the end of a tile.
 *
 * Cost: ROWS multiply-adds for each vector of K and of V, which on a Zen 4 is a cycle each: 59 GB/s of f32 with 4 rows,
 * 29 of f16 (its conversion has units of its own). Memory gives a core some 32 GB/s, to who reads line after line with
 * never a pause: then the processor itself fetches ahead, more than prefetch instructions can have under way. All else
 * follows from that:
 *
 *   - A key is read whole, then the next: two in turn, which would share the loads of Q, get 12 GB/s.
 *   - V is read whole, too: sums of 4 rows by D=128 are twice the registers, so 2 rows take CHUNK keys, which the other 2
 *     then find in L1. CHUNK is so small that the processor's window spans it: the next keys are on their way meanwhile.
 *     With f16 a second conversion costs more than that gains.
 *   - D = 64 and 128 have code of their own, without ends of loops: 1.2 times as fast.
 *   - Where O's columns come by in more than one pass (IN_ORDER), or more than one block of rows, the processor does not
 *     see it: K and V are asked for ahead. Else only the first lines of what comes next are, and tiles are short, so that
 *     going from K to V and back finds it still ahead.
 *   - The softmax's m is no maximum but at most SLACK below one: it follows a score only beyond that, so that weights are
 *     up to 2^SLACK, and fewer tiles rescale what is there. Sums of floats were as exact as with the maximum, within 1.5 %
 *     of the error on normal, outlying, large and rising scores. Pairs of bf16 have no slack: there the largest
 *     weight, 1, is one that rounding keeps (with it 1.2 times the error, 2.6 times on large scores).
 *
 * Measured on a core of an AMD EPYC (Zen 4, AVX-512), D=128, 4 rows, out of memory. By a harness of the kernel alone, inputs
 * in huge pages, in turn with reading, which has 30 to 33 GB/s: f32 88 % of that, pairs of bf16 69 to 74 %, f16 57 to 66 %, where
 * it was 76, 68 and 60 % with neither slack, short tiles, first lines nor, for bf16, a zip within parts of 128 bits. By the
 * program, `run decode_splitkv Sq=1 Sk=32k H=32 Hkv=8 D=128 threads=1`, old and new in turn, medians of 5 to 7: f32 22 to 25 GB/s,
 * bf16 20.4 to 21.3, f16 15.0 to 17.7. f16 is bound by its multiply-adds, 29.5 GB/s at best. One row of f32 at D=64 got slower,
 * 84 % for 90.
 * In pages of 4 KB page walks bind: reading has 16 GB/s, and so has decoding.
 *
 * Include simd_vec.h first.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
ISA_BEGIN

enum {
    DECODE_ROWS = 4,             /* of a row block at most */
    SPAN = 4,                    /* vectors of a key without a branch between them */
    CHAINS = 4,                  /* sums at most that make one, so that each rounds less */
    CHUNK = 16,                  /* keys whose V meets a part of the rows, then the others */
    SLACK = 4,                   /* a score that is at most so much over m leaves it as it is */
    STRETCH = 8192,              /* bytes of K, then of V, where both are read in order */
    START = 512,                 /* of them, asked for before the processor would */
    IN_ORDER = 2 * PANEL * LANES /* columns of O in one pass: V is read in the order of memory */
};

INLINE int64_t decode_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

INLINE int64_t decode_pitch(int64_t D)
{
    return (D + 2 * LANES - 1) / (2 * LANES) * (2 * LANES);
}

/* sum[row][c % chains] += the products of vector c of `span`, of a key, from d on, or of the last `part` elements. */
INLINE void dots_span(vf sum[DECODE_ROWS][CHAINS], enum dtype t, int rows, int chains, int span,
                      const float *q, int64_t pitch, const char *key, int64_t d, int64_t part)
{
    UNROLL
    for (int c = 0; c < span; c++) {
        const char *at = velement(t, key, d + c * LANES);
        vf y = part ? vload_as_part(t, at, part) : vload_as(t, at);
        KEEP(y);
        UNROLL
        for (int r = 0; r < rows; r++)
            sum[r][c % chains] += vload(q + r * pitch + d + c * LANES) * y;
    }
}

/* The dot products of a key with each row. */
INLINE void dots_key(vf *out, enum dtype t, int rows, const float *q, const char *key, int64_t D)
{
    /* A sum of few products is exact enough as one. */
    const int few = __builtin_constant_p(D) && D <= 8 * LANES, chains = few        ? 1
                                                                        : rows > 2 ? 2
                                                                                   : CHAINS;
    const int64_t pitch = decode_pitch(D);
    vf sum[DECODE_ROWS][CHAINS] = {{{0}}};
    int64_t d = 0;
    for (; d + SPAN * LANES <= D; d += SPAN * LANES)
        dots_span(sum, t, rows, chains, SPAN, q, pitch, key, d, 0);
    for (; d + LANES <= D; d += LANES)
        dots_span(sum, t, rows, chains, 1, q, pitch, key, d, 0);
    if (d < D)
        dots_span(sum, t, rows, chains, 1, q, pitch, key, d, D - d);
    UNROLL
    for (int r = 0; r < rows; r++) {
        out[r] = sum[r][0];
        UNROLL
        for (int c = 1; c < chains; c++)
            out[r] += sum[r][c];
    }
}

/* A row block's place in the scratch memory, and a K/V tile as it lies in memory. */
struct row_block {
    float *q, *o;  /* [rows][pitch]; q times scale * log2(e), o not yet divided by l */
    float *m, *l;  /* [LANES]: of row i % rows; l in parts */
    int64_t first; /* its first row, among all */
    int rows;      /* 1, 2 or 4; the last of them may be none: q = 0 */
};

struct decode_tile {
    const char *k, *v;
    int64_t ks, vs;     /* from key to key, in elements */
    int64_t n;          /* keys */
    struct ahead *next; /* what to ask for meanwhile; NULL: nothing */
    bool in_order;      /* the processor fetches ahead by itself */
};

/* Key j, or the last one. */
INLINE const char *tile_key(enum dtype t, const struct decode_tile *tile, int64_t j)
{
    return velement(t, tile->k, decode_least(j, tile->n - 1) * tile->ks);
}

/* The dot products of a key with each row: of floats here, of pairs in simd_decode_pairs.h. */
typedef void dots_fn(vf *out, enum dtype t, int rows, const float *q, const char *key, int64_t D);

/* s[key][row], times scale, for all keys, rounded up to whole vectors: the rest repeats the last key. */
INLINE void decode_scores(dots_fn dots, enum dtype t, int rows, const struct row_block *x,
                          const struct decode_tile *tile, int64_t D, float scale, float *s)
{
    for (int64_t j = 0; j < tile->n; j += LANES / rows, s += LANES) {
        vf quad[LANES / 4];
        UNROLL
        for (int g = 0; g < LANES / 4; g++) {
            vf dot[4];
            UNROLL
            for (int k = 0; k < 4 / rows; k++)
                dots(dot + k * rows, t, rows, x->q, tile_key(t, tile, j + g * 4 / rows + k), D);
            quad[g] = vquad(dot[0], dot[1], dot[2], dot[3]);
        }
        if (tile->next)
            ask_for(tile->next, LANES / rows);
        vstore(s, vjoin(quad) * scale);
    }
}

/* o += p * v for `nv` vectors of columns from d on, or the last `part` columns. */
INLINE void weigh(enum dtype t, int rows, int of, int nv, const float *p,
                  const struct decode_tile *tile, int64_t d, int64_t part, float *o, int64_t pitch)
{
    vf acc[DECODE_ROWS][2 * PANEL];
    const char *v = velement(t, tile->v, d);
    const int64_t step = tile->vs * vbytes(t);
    UNROLL
    for (int r = 0; r < rows; r++) {
        UNROLL_BY(8)
        for (int j = 0; j < nv; j++)
            acc[r][j] = vload(o + r * pitch + d + j * LANES);
    }
    for (int64_t i = 0; i < tile->n; i++, v += step, p += of) {
        vf weight[DECODE_ROWS];
        UNROLL
        for (int r = 0; r < rows; r++)
            weight[r] = vsplat(p[r]);
        if (tile->next && d == 0)
            ask_for(tile->next, 1);
        UNROLL_BY(8)
        for (int j = 0; j < nv; j++) {
            const char *at = velement(t, v, j * LANES);
            vf y = part ? vload_as_part(t, at, part) : vload_as(t, at);
            KEEP(y);
            UNROLL
            for (int r = 0; r < rows; r++)
                acc[r][j] += y * weight[r];
        }
    }
    UNROLL
    for (int r = 0; r < rows; r++) {
        UNROLL_BY(8)
        for (int j = 0; j < nv; j++)
            vstore(o + r * pitch + d + j * LANES, acc[r][j]);
    }
}

/* o += p * v for the keys of a chunk: as many columns at a time as there are registers for. */
INLINE void output_chunk(enum dtype t, int rows, const float *p, const struct decode_tile *chunk,
                         int64_t D, float *o)
{
    /* Floats need no conversion, so that two rows at a time may read V twice, the first time in order. */
    const int some = rows > 2 && t == DTYPE_F32 ? 2 : rows;
    const int64_t pitch = decode_pitch(D);
    int64_t d = 0;
    for (; some <= 2 && d + 2 * PANEL * LANES <= D; d += 2 * PANEL * LANES)
        for (int r = 0; r < rows; r += some)
            weigh(t, some, rows, 2 * PANEL, p + r, chunk, d, 0, o + r * pitch, pitch);
    for (; d + PANEL * LANES <= D; d += PANEL * LANES)
        weigh(t, rows, rows, PANEL, p, chunk, d, 0, o, pitch);
    for (; d + LANES <= D; d += LANES)
        weigh(t, rows, rows, 1, p, chunk, d, 0, o, pitch);
    if (d < D)
        weigh(t, rows, rows, 1, p, chunk, d, D - d, o, pitch);
}

INLINE void decode_output(enum dtype t, int rows, const float *p, const struct decode_tile *tile,
                          int64_t D, float *o)
{
    struct decode_tile chunk = *tile;
    for (int64_t i = 0; i < tile->n; i += CHUNK, p += CHUNK * rows) {
        chunk.v = velement(t, tile->v, i * tile->vs);
        chunk.n = decode_least(CHUNK, tile->n - i);
        output_chunk(t, rows, p, &chunk, D, o);
    }
}

/* ---- softmax of a tile ---- */

/* The largest of the lanes of each row, in all of them. */
INLINE vf rows_max(vf x, int rows)
{
    for (int step = rows; step < LANES; step *= 2) {
        float twice[2 * LANES];
        vstore(twice, x);
        vstore(twice + LANES, x);
        x = vmax(x, vload(twice + step));
    }
    return x;
}

/* Rows whose maximum rises: o and l are rescaled; the others are as they were. Leaves m finite: a row without a key gets 0. */
static void decode_raise(struct row_block *x, vf top, int64_t pitch)
{
    float alpha[LANES];
    const vf old = vload(x->m);
    top = vselect(top == -INFINITY, (vf){0}, top);
    vstore(alpha, vselect(top == old, vsplat(1), vexp2(old - top)));
    vstore(x->l, vload(x->l) * vload(alpha));
    vstore(x->m, top);
    for (int r = 0; r < x->rows; r++)
        for (int64_t d = 0; d < pitch; d += LANES)
            vstore(x->o + r * pitch + d, vload(x->o + r * pitch + d) * alpha[r]);
}

/* Scores that the mask hides, and those behind the tile's last key, become `value`. */
static void decode_hide(const struct decode_job *j, const struct row_block *x, int64_t first,
                        int64_t n, int64_t all, float value, float *s)
{
    for (int r = 0; r < x->rows; r++) {
        const int64_t end =
            j->first_end + (j->row + x->first + r) % j->queries * j->end_step - first;
        for (int64_t i = end < 0 ? 0 : decode_least(end, n); i < all; i++)
            s[i * x->rows + r] = value;
    }
}

/* s = 2^(s - m); m, l and o follow where a score is over m by more than `slack`. `first` is the tile's first key. */
INLINE void decode_softmax(int rows, float slack, const struct decode_job *j, struct row_block *x,
                           int64_t first, int64_t n, float *s)
{
    const int64_t keys = LANES / rows, all = (n + keys - 1) / keys * keys, floats = all * rows;
    const bool edge = n < all || (j->end_step && first + n > j->first_end);
    if (edge)
        decode_hide(j, x, first, n, all, -INFINITY, s);
    vf top = vload(x->m);
    for (int64_t i = 0; i < floats; i += LANES)
        top = vmax(top, vload(s + i));
    if (!vall(top <= vload(x->m) + slack))
        decode_raise(x, rows_max(top, rows), decode_pitch(j->D));
    const vf m = vload(x->m);
    vf l = vload(x->l), hidden = l;
    for (int64_t i = 0; i < floats; i += LANES) {
        const vf e = vexp2(vload(s + i) - m);
        vstore(s + i, e);
        l += e;
    }
    if (edge) {
        decode_hide(j, x, first, n, all, 0, s);
        l = hidden;
        for (int64_t i = 0; i < floats; i += LANES)
            l += vload(s + i);
    }
    vstore(x->l, l);
}

/* ---- a piece ---- */

/* One tile meets one row block. Ahead are V of the tile and K of the next one; NULL: not to be asked for. */
typedef void meet_fn(const struct decode_job *j, struct row_block *x, struct decode_tile *tile,
                     int64_t first, struct ahead ahead[2], float *s);

/* x is what is read next: asked for meanwhile; or where it begins, if the rest comes by itself. */
INLINE void look_ahead(struct decode_tile *tile, struct ahead *x)
{
    tile->next = tile->in_order ? NULL : x;
    if (x && tile->in_order)
        ask_now(x, START);
}

INLINE void meet_columns(enum dtype t, int rows, int64_t D, const struct decode_job *j,
                         struct row_block *x, struct decode_tile *tile, int64_t first,
                         struct ahead ahead[2], float *s)
{
    look_ahead(tile, ahead);
    decode_scores(dots_key, t, rows, x, tile, D, 1, s);
    decode_softmax(rows, SLACK, j, x, first, tile->n, s);
    look_ahead(tile, ahead ? ahead + 1 : NULL);
    decode_output(t, rows, s, tile, D, x->o);
}

/* The head dimensions that models have are constants of their own copies. */
INLINE void meet(enum dtype t, int rows, const struct decode_job *j, struct row_block *x,
                 struct decode_tile *tile, int64_t first, struct ahead ahead[2], float *s)
{
    if (j->D == 128)
        meet_columns(t, rows, 128, j, x, tile, first, ahead, s);
    else if (j->D == 64)
        meet_columns(t, rows, 64, j, x, tile, first, ahead, s);
    else
        meet_columns(t, rows, j->D, j, x, tile, first, ahead, s);
}

#define MEET(name, t, rows)                                                           \
    static void meet_##name##_##rows(const struct decode_job *j, struct row_block *x, \
                                     struct decode_tile *tile, int64_t first,         \
                                     struct ahead ahead[2], float *s)                 \
    {                                                                                 \
        meet(t, rows, j, x, tile, first, ahead, s);                                   \
    }
#define MEET_ALL(name, t) MEET(name, t, 1) MEET(name, t, 2) MEET(name, t, 4)
MEET_ALL(f16, DTYPE_F16)
MEET_ALL(bf16, DTYPE_BF16)
MEET_ALL(f32, DTYPE_F32)

/* Blocks of 4 rows, then one of what is left. */
static int block_rows(int64_t left)
{
    return left >= 3 ? 4 : (int)left;
}

struct decode_buffers {
    float *s;
    struct row_block x;
};

/* Of block `b` alone; the scores are shared. Returns the floats used by `blocks` blocks. */
static int64_t decode_split(const struct decode_job *j, int64_t b, struct decode_buffers *out)
{
    const int64_t pitch = decode_pitch(j->D);
    const int64_t scores = ((j->BC + LANES) * DECODE_ROWS + LANES - 1) / LANES * LANES;
    const int64_t each = 2 * DECODE_ROWS * pitch + 2 * LANES;
    const int64_t before = scores + b * each, first = b * DECODE_ROWS;
    float *p = j->scratch ? j->scratch + before : NULL;
    out->s = j->scratch;
    out->x = (struct row_block){.first = first, .rows = block_rows(j->rows - first)};
    if (p) {
        out->x.q = p;
        out->x.o = p + DECODE_ROWS * pitch;
        out->x.m = out->x.o + DECODE_ROWS * pitch;
        out->x.l = out->x.m + LANES;
    }
    return before + each;
}

static int64_t decode_blocks(const struct decode_job *j)
{
    return (j->rows + DECODE_ROWS - 1) / DECODE_ROWS;
}

static size_t decode_scratch(const struct decode_job *j)
{
    struct decode_buffers none;
    struct decode_job counted = *j;
    counted.scratch = NULL;
    return (size_t)decode_split(&counted, decode_blocks(j) - 1, &none) * sizeof(float);
}

static void decode_start(const struct decode_job *j, struct row_block *x)
{
    memset(x->o, 0, (size_t)(x->rows * decode_pitch(j->D)) * sizeof(float));
    for (int i = 0; i < LANES; i++) {
        x->m[i] = -INFINITY;
        x->l[i] = 0;
    }
}

/* Row r of all is query r % queries of head r / queries. */
static void load_float_rows(const struct decode_job *j, struct row_block *x)
{
    const int64_t pitch = decode_pitch(j->D);
    const float scale = (float)(j->scale * 1.4426950408889634);
    memset(x->q, 0, (size_t)(x->rows * pitch) * sizeof(float));
    for (int64_t r = 0; r < decode_least(x->rows, j->rows - x->first); r++) {
        const int64_t row = j->row + x->first + r;
        const int64_t at = row / j->queries * j->head_stride + row % j->queries * j->q_stride;
        math_to_float(j->dtype, velement(j->dtype, j->q, at), x->q + r * pitch, j->D);
        math_scale(x->q + r * pitch, scale, j->D);
    }
}

static void decode_leave(const struct decode_job *j, const struct row_block *x)
{
    const int64_t pitch = decode_pitch(j->D);
    for (int64_t r = 0; r < decode_least(x->rows, j->rows - x->first); r++) {
        const int64_t row = j->row + x->first + r;
        float l = 0, *o = x->o + r * pitch;
        for (int i = (int)r; i < LANES; i += x->rows)
            l += x->l[i];
        if (l > 0)
            math_scale(o, 1 / l, j->D);
        memcpy(j->o + row * j->o_stride, o, (size_t)j->D * sizeof *o);
        j->lse[row * j->lse_stride] = l > 0 ? x->m[r] + (float)log2((double)l) : -INFINITY;
    }
}

/* What a type does in its own way: rows of Q into the scratch memory; tiles, by how many rows they meet. */
struct decode_way {
    void (*load)(const struct decode_job *j, struct row_block *x);
    meet_fn *meet[3];                                               /* 1, 2, 4 rows */
    void (*order)(const struct decode_job *j, struct row_block *x); /* of columns of O; or NULL */
};

static const struct decode_way decode_ways[DTYPE_COUNT] = {
    [DTYPE_F16] = {.load = load_float_rows, .meet = {meet_f16_1, meet_f16_2, meet_f16_4}},
    [DTYPE_BF16] = {.load = load_float_rows, .meet = {meet_bf16_1, meet_bf16_2, meet_bf16_4}},
    [DTYPE_F32] = {.load = load_float_rows, .meet = {meet_f32_1, meet_f32_2, meet_f32_4}},
};

/* Keys of a tile that is read in order: the sooner V goes on after K, and K after V, the further ahead the processor is. */
static int64_t stretch_keys(const struct decode_job *j)
{
    return block_rows(j->rows) == 4 ? CHUNK : STRETCH / (j->D * vbytes(j->dtype));
}

/* Key tiles outside, row blocks inside: K and V come from memory once. */
static void decode_by(const struct decode_job *j, const struct decode_way *way)
{
    const bool in_order = j->D <= IN_ORDER && decode_blocks(j) == 1;
    const int64_t BC = in_order ? decode_least(j->BC, stretch_keys(j)) : j->BC;
    struct decode_buffers b;
    for (int64_t i = 0; i < decode_blocks(j); i++) {
        (void)decode_split(j, i, &b);
        decode_start(j, &b.x);
        way->load(j, &b.x);
    }
    for (int64_t first = j->first; first < j->end; first += BC) {
        struct decode_tile t = {.k = velement(j->dtype, j->k, first * j->k_stride),
                                .v = velement(j->dtype, j->v, first * j->v_stride),
                                .ks = j->k_stride,
                                .vs = j->v_stride,
                                .n = decode_least(BC, j->end - first),
                                .in_order = in_order};
        const int64_t next = first + t.n;
        struct ahead ahead[2] = {
            rows_ahead(j->dtype, j->v, j->v_stride, first, t.n, j->D),
            rows_ahead(j->dtype, j->k, j->k_stride, next, decode_least(BC, j->end - next), j->D)};
        for (int64_t i = 0; i < decode_blocks(j); i++) {
            (void)decode_split(j, i, &b);
            way->meet[b.x.rows / 2](j, &b.x, &t, first, i ? NULL : ahead, b.s);
        }
    }
    for (int64_t i = 0; i < decode_blocks(j); i++) {
        (void)decode_split(j, i, &b);
        if (way->order)
            way->order(j, &b.x);
        decode_leave(j, &b.x);
    }
}

static void decode(const struct decode_job *j)
{
    decode_by(j, &decode_ways[j->dtype]);
}

ISA_END
