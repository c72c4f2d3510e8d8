/* simd_decode.h - a piece of the keys for a few queries, as decode_splitkv runs it: a template, compiled once per
 * instruction set.
 *
 * One new query has no 64 neighbours to fill vector lanes with, as cpu_tiled's have. So here the lanes lie along
 * the head dimension, as K and V lie in memory, and what is reused is the loaded vector: ROWS queries, those of
 * the heads that share K and V, meet it while it is in a register. 16-bit elements become floats on the way from
 * memory to that register and are never stored.
 *
 *   scores   S[key][row]  = sum over d of K[key][d] * Q[row][d]     DOTS dot products side by side, added up across
 *                                                                  lanes by a tree of zips: 3 (DOTS - 1) instructions
 *   output   O[row][d]   += P[key][row] * V[key][d]                 one weight against a vector, no sums across lanes
 *
 * S is kept key by key, ROWS scores each, so that the softmax's maxima and sums, too, are those of whole vectors
 * (lane i belongs to row i % ROWS) until the end of a tile.
 *
 * Cost for each vector of K and V: its load (and conversion), ROWS multiply-adds each, and the tree. With 4 rows
 * a core of 3.7 GHz takes some 34 GB/s of f32 and 18 of f16; memory gives it 10 to 30. So memory counts, and the order in
 * which it is read: a processor fetches ahead what is read in order (32 GB/s), and not what is read from four rows in turn
 * (11). So keys are read one after the other, each whole. Further, while a tile's K is read, its V is asked for, and while
 * that is read, the next tile's K; a core has so few requests under way that this alone gives some 20.
 *
 * Include simd_vec.h first.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
ISA_BEGIN

enum {
    DOTS = PANEL == 4 ? 16 : 8, /* accumulators of a block of scores: ROWS x DOTS / ROWS keys */
    CHAINS = 8,                 /* sums of a key's products under way, for the latency */
    DECODE_ROWS = 4             /* of a row block at most */
};

INLINE int64_t decode_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

INLINE int64_t decode_pitch(int64_t D)
{
    return (D + 2 * LANES - 1) / (2 * LANES) * (2 * LANES);
}

/* Lane i of x[g] becomes the sum over all lanes of x[g * LANES + i]. A round adds the halves of two vectors and
 * leaves the sums of one in the even lanes, of the other in the odd ones. */
INLINE void add_up(vf x[DOTS])
{
    UNROLL
    for (int g = 0; g < DOTS / LANES; g++) {
        UNROLL
        for (int n = LANES / 2; n >= 1; n /= 2) {
            UNROLL_BY(8)
            for (int i = 0; i < n; i++) {
                vf lo, hi;
                vzip(x[g * LANES + i], x[g * LANES + i + n], &lo, &hi);
                x[g * LANES + i] = lo + hi;
            }
        }
        x[g] = x[g * LANES];
    }
}

/* The dot products of one key with each row: K is read in the order in which it lies in memory. CHAINS sums of products are
 * under way at a time. */
INLINE void dots_key(vf acc[DECODE_ROWS], enum dtype t, int rows, const float *q, int64_t pitch,
                     const char *key, int64_t D)
{
    const int64_t whole = D / LANES * LANES;
    vf part[DECODE_ROWS][CHAINS];
    const int chains = CHAINS / rows; /* of a row */
    UNROLL
    for (int r = 0; r < rows; r++) {
        UNROLL_BY(8)
        for (int c = 0; c < chains; c++)
            part[r][c] = (vf){0};
    }
    int64_t d = 0;
    for (; d + chains * LANES <= whole; d += chains * LANES) {
        UNROLL_BY(8)
        for (int c = 0; c < chains; c++) {
            const vf y = vload_as(t, velement(t, key, d + c * LANES));
            UNROLL
            for (int r = 0; r < rows; r++)
                part[r][c] += vload(q + r * pitch + d + c * LANES) * y;
        }
    }
    for (; d < D; d += LANES) {
        const char *at = velement(t, key, d);
        const vf y = d < whole ? vload_as(t, at) : vload_as_part(t, at, D - d);
        UNROLL
        for (int r = 0; r < rows; r++)
            part[r][0] += vload(q + r * pitch + d) * y;
    }
    UNROLL
    for (int r = 0; r < rows; r++) {
        acc[r] = part[r][0];
        UNROLL_BY(8)
        for (int c = 1; c < chains; c++)
            acc[r] += part[r][c];
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
};

/* s[key][row] for all keys, rounded up to whole blocks: the rest repeats the last key. */
INLINE void decode_scores(enum dtype t, int rows, const struct row_block *x,
                          const struct decode_tile *tile, int64_t D, float *s)
{
    const int64_t pitch = decode_pitch(D);
    for (int64_t j = 0; j < tile->n; j += DOTS / rows, s += DOTS) {
        vf acc[DOTS];
        UNROLL_BY(16)
        for (int k = 0; k < DOTS / rows; k++)
            dots_key(acc + k * rows, t, rows, x->q, pitch,
                     velement(t, tile->k, decode_least(j + k, tile->n - 1) * tile->ks), D);
        if (tile->next)
            ask_for(tile->next, DOTS / rows);
        add_up(acc);
        UNROLL
        for (int g = 0; g < DOTS / LANES; g++)
            vstore(s + g * LANES, acc[g]);
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
        if (tile->next && d == 0)
            ask_for(tile->next, 1);
        UNROLL_BY(8)
        for (int j = 0; j < nv; j++) {
            const char *at = velement(t, v, j * LANES);
            const vf y = part ? vload_as_part(t, at, part) : vload_as(t, at);
            UNROLL
            for (int r = 0; r < rows; r++)
                acc[r][j] += y * p[r];
        }
    }
    UNROLL
    for (int r = 0; r < rows; r++) {
        UNROLL_BY(8)
        for (int j = 0; j < nv; j++)
            vstore(o + r * pitch + d + j * LANES, acc[r][j]);
    }
}

INLINE void decode_output(enum dtype t, int rows, const float *p, const struct decode_tile *tile,
                          int64_t D, float *o)
{
    /* Floats need no conversion, so that two rows at a time may read V twice, the first time in order. */
    const int some = rows > 2 && t == DTYPE_F32 ? 2 : rows, nv = some > 2 ? PANEL : 2 * PANEL;
    const int64_t pitch = decode_pitch(D);
    int64_t d = 0;
    for (; d + nv * LANES <= D; d += nv * LANES)
        for (int r = 0; r < rows; r += some)
            weigh(t, some, rows, nv, p + r, tile, d, 0, o + r * pitch, pitch);
    for (; d + LANES <= D; d += LANES)
        weigh(t, rows, rows, 1, p, tile, d, 0, o, pitch);
    if (d < D)
        weigh(t, rows, rows, 1, p, tile, d, D - d, o, pitch);
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

/* Rows whose maximum rises: o and l are rescaled. Leaves m finite: a row without a key gets 0. */
static void decode_raise(struct row_block *x, vf top, int64_t pitch)
{
    float alpha[LANES];
    top = vselect(top == -INFINITY, (vf){0}, top);
    vstore(alpha, vexp2(vload(x->m) - top));
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

/* s = 2^(s - max); max, l and o follow. `first` is the tile's first key. */
static void decode_softmax(const struct decode_job *j, struct row_block *x, int64_t first,
                           int64_t n, float *s)
{
    const int64_t keys = DOTS / x->rows, all = (n + keys - 1) / keys * keys;
    const int64_t floats = all * x->rows;
    const bool edge = n < all || (j->end_step && first + n > j->first_end);
    if (edge)
        decode_hide(j, x, first, n, all, -INFINITY, s);
    vf top = vload(x->m);
    for (int64_t i = 0; i < floats; i += LANES)
        top = vmax(top, vload(s + i));
    top = rows_max(top, x->rows);
    if (memcmp(&top, x->m, sizeof top))
        decode_raise(x, top, decode_pitch(j->D));
    const vf m = vload(x->m);
    for (int64_t i = 0; i < floats; i += LANES)
        vstore(s + i, vexp2(vload(s + i) - m));
    if (edge)
        decode_hide(j, x, first, n, all, 0, s);
    vf l = vload(x->l);
    for (int64_t i = 0; i < floats; i += LANES)
        l += vload(s + i);
    vstore(x->l, l);
}

/* ---- a piece ---- */

/* One tile meets one row block. */
typedef void meet_fn(const struct decode_job *j, struct row_block *x, struct decode_tile *tile,
                     int64_t first, struct ahead ahead[2], float *s);

INLINE void meet(enum dtype t, int rows, const struct decode_job *j, struct row_block *x,
                 struct decode_tile *tile, int64_t first, struct ahead ahead[2], float *s)
{
    tile->next = ahead ? &ahead[0] : NULL;
    decode_scores(t, rows, x, tile, j->D, s);
    decode_softmax(j, x, first, tile->n, s);
    tile->next = ahead ? &ahead[1] : NULL;
    decode_output(t, rows, s, tile, j->D, x->o);
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
    const int64_t scores = (j->BC + DOTS) * DECODE_ROWS / LANES * LANES + LANES;
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
    meet_fn *meet[3]; /* 1, 2, 4 rows */
};

static const struct decode_way decode_ways[DTYPE_COUNT] = {
    [DTYPE_F16] = {load_float_rows, {meet_f16_1, meet_f16_2, meet_f16_4}},
    [DTYPE_BF16] = {load_float_rows, {meet_bf16_1, meet_bf16_2, meet_bf16_4}},
    [DTYPE_F32] = {load_float_rows, {meet_f32_1, meet_f32_2, meet_f32_4}},
};

/* Key tiles outside, row blocks inside: K and V come from memory once. */
static void decode_by(const struct decode_job *j, const struct decode_way *way)
{
    struct decode_buffers b;
    for (int64_t i = 0; i < decode_blocks(j); i++) {
        (void)decode_split(j, i, &b);
        decode_start(j, &b.x);
        way->load(j, &b.x);
    }
    for (int64_t first = j->first; first < j->end; first += j->BC) {
        struct decode_tile t = {.k = velement(j->dtype, j->k, first * j->k_stride),
                                .v = velement(j->dtype, j->v, first * j->v_stride),
                                .ks = j->k_stride,
                                .vs = j->v_stride,
                                .n = decode_least(j->BC, j->end - first)};
        const int64_t next = first + t.n;
        struct ahead ahead[2] = {rows_ahead(j->dtype, j->v, j->v_stride, first, t.n, j->D),
                                 rows_ahead(j->dtype, j->k, j->k_stride, next,
                                            decode_least(j->BC, j->end - next), j->D)};
        for (int64_t i = 0; i < decode_blocks(j); i++) {
            (void)decode_split(j, i, &b);
            way->meet[b.x.rows / 2](j, &b.x, &t, first, i ? NULL : ahead, b.s);
        }
    }
    for (int64_t i = 0; i < decode_blocks(j); i++) {
        (void)decode_split(j, i, &b);
        decode_leave(j, &b.x);
    }
}

static void decode(const struct decode_job *j)
{
    decode_by(j, &decode_ways[j->dtype]);
}

ISA_END
