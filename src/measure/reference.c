/* reference.c - the right answers: which rows get one, many rows evaluated in parallel, and what their
 * figures come to.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "measure/attend.h"

enum { PLAIN_MAX = 8 }; /* orders of evaluation tried at most */

/* What a tile of judged rows contributes. Merged in tile order, so that results do not depend on
 * the number of threads. */
struct sums {
    double n, max, square; /* finite reference values */
    double rounding,
        rounding_square; /* sum over rows of a row's squared error, and of its square */
    double noise_n, noise_max, noise, noise_square; /* variances; noise_square: of row sums */
    double plain_n[PLAIN_MAX], plain_max[PLAIN_MAX], plain[PLAIN_MAX];
    double lse_max, lse_plain;
};

/* Some rows of one key/value head, [from, to) in the list of rows. */
struct tile {
    int64_t kv_head, from, to;
};

struct sweep {
    struct reference *r;
    const struct tensors *t;
    struct pool *pool;
    const int64_t *rows; /* numbers, or NULL for all */
    int64_t nrows;
    bool screen; /* fill r->screen, else r->value and the sums */
    struct attend_mode plain[PLAIN_MAX];
    int nplain;
    int64_t noise_every; /* every n-th tile; 0: none */

    /* Inside of it: the batch. */
    int64_t head0, nheads;
    float *k, *v; /* nheads x Sk x D */
    struct tile *tiles;
    size_t ntiles, captiles;
    struct sums *sums; /* one per tile */
};

/* ---- many rows in parallel ---- */

enum { WIDEN_ROWS = 256 };                 /* keys a pool block widens */
static const double batch_elems = 8 << 20; /* keys widened at a time */

/* The scale that kernels get: a float. */
static double scale_of(const struct shape *s)
{
    return (double)(float)(1 / sqrt((double)s->D));
}

static int64_t rows_per_kv_head(const struct shape *s)
{
    return s->H / s->Hkv * s->Sq;
}

static size_t align64(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

static int64_t row_number(const struct sweep *w, int64_t at)
{
    return w->rows ? w->rows[at] : at;
}

/* Widens WIDEN_ROWS keys and values of one head of the batch. */
static void widen_block(void *ctx, int64_t block, int thread)
{
    (void)thread;
    const struct sweep *w = ctx;
    const struct shape *s = &w->r->shape;
    int64_t per_head = (s->Sk + WIDEN_ROWS - 1) / WIDEN_ROWS;
    int64_t local = block / per_head, head = w->head0 + local;
    int64_t first = block % per_head * WIDEN_ROWS;
    int64_t last = first + WIDEN_ROWS < s->Sk ? first + WIDEN_ROWS : s->Sk;
    struct strides st = shape_strides(s, s->Hkv, s->Sk);
    size_t size = dtype_size(s->dtype);
    for (int64_t j = first; j < last; j++) {
        size_t from = (size_t)(head / s->Hkv * st.b + head % s->Hkv * st.h + j * st.s) * size;
        int64_t to = (local * s->Sk + j) * s->D;
        dtype_to_float(s->dtype, (const char *)w->t->k + from, w->k + to, (size_t)s->D);
        dtype_to_float(s->dtype, (const char *)w->t->v + from, w->v + to, (size_t)s->D);
    }
}

static void widen_query(const struct sweep *w, int64_t row, float *to)
{
    const struct shape *s = &w->r->shape;
    struct strides st = shape_strides(s, s->H, s->Sq);
    struct row_place at = row_place_of(s, row);
    size_t from = (size_t)(at.b * st.b + at.h * st.h + at.i * st.s) * dtype_size(s->dtype);
    dtype_to_float(s->dtype, (const char *)w->t->q + from, to, (size_t)s->D);
}

static double round_to_type(enum dtype t, double x)
{
    switch (t) {
    case DTYPE_F16:
        return (double)f16_to_float(f16_from_double(x));
    case DTYPE_BF16:
        return (double)bf16_to_float(bf16_from_double(x));
    default:
        return (double)(float)x;
    }
}

static void add_reference_sums(const struct reference *r, const double *value, int64_t n,
                               struct sums *sum)
{
    int64_t D = r->shape.D;
    for (int64_t row = 0; row < n; row++) {
        double rounding = 0;
        for (int64_t d = 0; d < D; d++) {
            double x = value[row * D + d], e = round_to_type(r->shape.dtype, x) - x;
            if (!isfinite(x) || !isfinite(e))
                continue;
            sum->n++;
            sum->max = fmax(sum->max, fabs(x));
            sum->square += x * x;
            rounding += e * e;
        }
        sum->rounding += rounding;
        sum->rounding_square += rounding * rounding;
    }
}

static void add_plain_sums(const double *plain, const double *value, int64_t n, int which,
                           struct sums *sum)
{
    for (int64_t i = 0; i < n; i++) {
        double e = fabs(plain[i] - value[i]);
        if (!isfinite(e))
            continue;
        sum->plain_n[which]++;
        sum->plain_max[which] = fmax(sum->plain_max[which], e);
        sum->plain[which] += e * e;
    }
}

static void add_noise_sums(const double *variance, int64_t n, int64_t D, struct sums *sum)
{
    for (int64_t row = 0; row < n; row++) {
        double noise = 0;
        for (int64_t i = row * D; i < (row + 1) * D; i++)
            if (isfinite(variance[i])) {
                sum->noise_n++;
                sum->noise_max = fmax(sum->noise_max, variance[i]);
                noise += variance[i];
            }
        sum->noise += noise;
        sum->noise_square += noise * noise;
    }
}

/* Buffers of one pool block, in one allocation. */
struct tile_memory {
    float *q;
    int64_t *keys;
    double *out, *extra;
    void *scratch;
};

static struct tile_memory tile_memory_in(struct sweep *w, const struct attend_kv *kv, int64_t n,
                                         int thread, void **owned)
{
    size_t elems = (size_t)(n * kv->D);
    size_t q = align64(elems * sizeof(float)), keys = align64((size_t)n * sizeof(int64_t));
    size_t out = align64(elems * sizeof(double));
    size_t all = align64(q + keys + 2 * out + attend_scratch(kv, (int)n));
    char *base = w->pool ? pool_scratch(w->pool, thread, all) : aligned_alloc(64, all);
    if (!base)
        fatal("out of memory (%zu bytes for the reference)", all);
    *owned = w->pool ? NULL : base;
    return (struct tile_memory){
        .q = (float *)(void *)base,
        .keys = (int64_t *)(void *)(base + q),
        .out = (double *)(void *)(base + q + keys),
        .extra = (double *)(void *)(base + q + keys + out),
        .scratch = base + q + keys + 2 * out,
    };
}

static void store_screen(struct sweep *w, const struct tile *t, const double *out)
{
    float *to = w->r->screen + t->from * w->r->shape.D; /* a screen sweep covers all rows */
    for (int64_t i = 0; i < (t->to - t->from) * w->r->shape.D; i++)
        to[i] = (float)out[i];
}

static void add_lse_sums(const double *plain, const double *lse, int64_t n, struct sums *sum)
{
    for (int64_t i = 0; i < n; i++)
        if (isfinite(lse[i])) {
            const double e = fabs(plain[i] - lse[i]);
            sum->lse_max = fmax(sum->lse_max, fabs(lse[i]));
            sum->lse_plain = isfinite(e) ? fmax(sum->lse_plain, e) : sum->lse_plain;
        }
}

static void judge_tile(struct sweep *w, int64_t block, const struct attend_kv *kv,
                       const struct attend_rows *rows, const struct tile_memory *m)
{
    const struct reference *r = w->r;
    struct sums *sum = &w->sums[block];
    int64_t n = rows->n * kv->D;
    double *value = r->value + w->tiles[block].from * kv->D;
    bool noise = w->noise_every > 0 && block % w->noise_every == 0;
    double *lse = r->lse + w->tiles[block].from;
    struct attend_rows with_lse = *rows;
    with_lse.lse = lse;
    const struct attend_mode exact = {.single = false};
    attend(kv, &with_lse, &exact, m->scratch, value, noise ? m->extra : NULL, r->shape.dtype);
    add_reference_sums(r, value, rows->n, sum);
    if (noise)
        add_noise_sums(m->extra, rows->n, kv->D, sum);
    with_lse.lse = m->extra; /* the noise in it is summed up */
    for (int i = 0; i < w->nplain; i++) {
        attend(kv, &with_lse, &w->plain[i], m->scratch, m->out, NULL, r->shape.dtype);
        add_plain_sums(m->out, value, n, i, sum);
        add_lse_sums(m->extra, lse, rows->n, sum);
    }
}

static void tile_block(void *ctx, int64_t block, int thread)
{
    struct sweep *w = ctx;
    const struct shape *s = &w->r->shape;
    const struct tile *t = &w->tiles[block];
    int64_t head = (t->kv_head - w->head0) * s->Sk * s->D;
    const struct attend_kv kv = {w->k + head, w->v + head, s->Sk, s->D, scale_of(s)};
    void *owned;
    struct tile_memory m = tile_memory_in(w, &kv, t->to - t->from, thread, &owned);
    for (int64_t i = t->from; i < t->to; i++) {
        int64_t row = row_number(w, i);
        widen_query(w, row, m.q + (i - t->from) * s->D);
        m.keys[i - t->from] = shape_row_keys(s, row % s->Sq);
    }
    const struct attend_rows rows = {.q = m.q, .keys = m.keys, .n = (int)(t->to - t->from)};
    if (w->screen) {
        const struct attend_mode single = {.single = true};
        attend(&kv, &rows, &single, m.scratch, m.out, NULL, s->dtype);
        store_screen(w, t, m.out);
    } else {
        judge_tile(w, block, &kv, &rows, &m);
    }
    free(owned);
}

/* Cuts the rows of the batch's heads into tiles; *at walks through the list of rows. */
static void cut_tiles(struct sweep *w, int64_t *at)
{
    const struct shape *s = &w->r->shape;
    const struct attend_kv kv = {.Sk = s->Sk, .D = s->D};
    int most = attend_rows_max(&kv);
    w->ntiles = 0;
    for (int64_t head = w->head0; head < w->head0 + w->nheads; head++) {
        int64_t end = (head + 1) * rows_per_kv_head(s);
        while (*at < w->nrows && row_number(w, *at) < end) {
            int64_t to = *at;
            while (to < w->nrows && to - *at < most && row_number(w, to) < end)
                to++;
            xgrow((void **)&w->tiles, &w->captiles, w->ntiles + 1, sizeof *w->tiles);
            w->tiles[w->ntiles++] = (struct tile){head, *at, to};
            *at = to;
        }
    }
}

static void merge_sums(struct sums *to, const struct sums *from)
{
    to->n += from->n;
    to->max = fmax(to->max, from->max);
    to->square += from->square;
    to->rounding += from->rounding;
    to->rounding_square += from->rounding_square;
    to->noise_n += from->noise_n;
    to->noise_max = fmax(to->noise_max, from->noise_max);
    to->noise += from->noise;
    to->noise_square += from->noise_square;
    to->lse_max = fmax(to->lse_max, from->lse_max);
    to->lse_plain = fmax(to->lse_plain, from->lse_plain);
    for (int i = 0; i < PLAIN_MAX; i++) {
        to->plain_n[i] += from->plain_n[i];
        to->plain_max[i] = fmax(to->plain_max[i], from->plain_max[i]);
        to->plain[i] += from->plain[i];
    }
}

/* Smallest and largest value of each column of one head. */
static void hull_block(void *ctx, int64_t block, int thread)
{
    (void)thread;
    const struct sweep *w = ctx;
    const struct shape *s = &w->r->shape;
    float *lo = w->r->hull + (w->head0 + block) * 2 * s->D, *hi = lo + s->D;
    const float *v = w->v + block * s->Sk * s->D;
    for (int64_t d = 0; d < s->D; d++) {
        lo[d] = INFINITY;
        hi[d] = -INFINITY;
    }
    for (int64_t j = 0; j < s->Sk; j++)
        for (int64_t d = 0; d < s->D; d++) {
            lo[d] = v[j * s->D + d] < lo[d] ? v[j * s->D + d] : lo[d];
            hi[d] = v[j * s->D + d] > hi[d] ? v[j * s->D + d] : hi[d];
        }
}

static void run_batch(struct sweep *w, int64_t *at, struct sums *total)
{
    const struct shape *s = &w->r->shape;
    cut_tiles(w, at);
    if (w->ntiles == 0 && !w->r->hull)
        return;
    run_blocks(w->pool, w->nheads * ((s->Sk + WIDEN_ROWS - 1) / WIDEN_ROWS), widen_block, w);
    if (w->r->hull)
        run_blocks(w->pool, w->nheads, hull_block, w);
    w->sums = xcalloc(w->ntiles + 1, sizeof *w->sums);
    run_blocks(w->pool, (int64_t)w->ntiles, tile_block, w);
    for (size_t i = 0; i < w->ntiles; i++)
        merge_sums(total, &w->sums[i]);
    free(w->sums);
}

/* Fills r->screen, or r->value, r->hull if it is there, and *total. The caller has set the members
 * above the batch's, and zeroed *total. */
static void run_sweep(struct sweep *w, struct sums *total)
{
    const struct shape *s = &w->r->shape;
    int64_t heads = s->B * s->Hkv, elems = s->Sk * s->D, at = 0;
    int64_t batch = (int64_t)(batch_elems / (double)elems);
    batch = batch < 1 ? 1 : batch > heads ? heads : batch;
    w->k = xmalloc((size_t)(batch * elems) * sizeof *w->k);
    w->v = xmalloc((size_t)(batch * elems) * sizeof *w->v);
    for (w->head0 = 0; w->head0 < heads; w->head0 += batch) {
        w->nheads = heads - w->head0 < batch ? heads - w->head0 : batch;
        run_batch(w, &at, total);
    }
    free(w->k);
    free(w->v);
    free(w->tiles);
}

/* ---- which rows, and what they come to ---- */

enum {
    SAMPLES_MIN = 128, /* judged rows, when not all are */
    SAMPLES_MAX = 8192,
    NOISE_TILES = 16, /* tiles whose noise is computed, on large problems */
};
static const double value_elems_max = 64 << 20;   /* 512 MiB of float64 answers */
static const double screen_elems_max = 256 << 20; /* 1 GiB of float32 ones */
static const double screen_factor = 20;           /* float32 work allowed, in max_flops */
static const double noise_flops = 2e8;            /* up to here the noise is computed everywhere */

/* ---- geometry ---- */

struct row_place row_place_of(const struct shape *s, int64_t row)
{
    int64_t head = row / s->Sq;
    return (struct row_place){head / s->H, head % s->H, row % s->Sq};
}

/* ---- pools, or none ---- */

void run_blocks(struct pool *pool, int64_t blocks, pool_body *body, void *ctx)
{
    if (pool)
        pool_run(pool, blocks, body, ctx);
    else
        for (int64_t i = 0; i < blocks; i++)
            body(ctx, i, 0);
}

/* ---- which rows are judged ---- */

static void choose_rows(struct reference *r, const struct problem *p, double max_flops)
{
    const struct shape *s = &r->shape;
    r->judged = r->total;
    if (shape_flops(s) <= max_flops && (double)shape_q_elems(s) <= value_elems_max)
        return;
    double want = max_flops / 2 / (4.0 * (double)s->Sk * (double)s->D);
    want = fmin(fmax(want, SAMPLES_MIN), SAMPLES_MAX);
    if (want < (double)r->total)
        r->judged = sample_rows(p, (int64_t)want, &r->rows);
}

/* ---- the reference ---- */

/* The plain evaluations: one for half types; for f32 the more orders, the fewer the elements. */
static int plain_modes(const struct reference *r, struct attend_mode *modes)
{
    enum dtype type = r->shape.dtype;
    if (type != DTYPE_F32) {
        modes[0] = (struct attend_mode){.single = true, .rounded = true, .to = type};
        return 1;
    }
    static const struct attend_mode orders[PLAIN_MAX] = {
        {.single = true, .chained = true},
        {.single = true, .base2 = true, .backward = true},
        {.single = true},
        {.single = true, .backward = true},
        {.single = true, .base2 = true},
        {.single = true, .base2 = true, .chained = true},
        {.single = true, .chained = true, .backward = true},
        {.single = true, .base2 = true, .chained = true, .backward = true},
    };
    int64_t elems = r->judged * r->shape.D;
    int n = elems < 4096 ? PLAIN_MAX : elems < 65536 ? 3 : 2;
    memcpy(modes, orders, (size_t)n * sizeof *modes);
    return n;
}

/* How many elements carry the error. If a few rows carry most of it (because all others are
 * exact, say), only those count: the participation ratio of the rows' squared errors. For half
 * types it is the rounding of the output that is averaged, for f32 the noise; where that was
 * computed for some rows only, they stand for all. */
static double effective_elements(const struct reference *r, const struct sums *s)
{
    double D = (double)r->shape.D;
    if (r->shape.dtype != DTYPE_F32)
        return s->rounding_square > 0 ? s->rounding * s->rounding / s->rounding_square * D : 0;
    double share = s->noise_n > 0 ? s->n / s->noise_n : 1;
    return s->noise_square > 0 ? s->noise * s->noise / s->noise_square * D * share : 0;
}

static double root_mean(double sum, double n)
{
    return n > 0 ? sqrt(sum / n) : 0;
}

static void take_sums(struct reference *r, const struct sums *s)
{
    r->max = s->max;
    r->lse_max = s->lse_max;
    r->lse_plain = s->lse_plain;
    r->rms = root_mean(s->square, s->n);
    r->rounding_rms = root_mean(s->rounding, s->n);
    r->effective = effective_elements(r, s);
    r->noise_max = sqrt(s->noise_max);
    r->noise_rms = root_mean(s->noise, s->noise_n);
    for (int i = 0; i < PLAIN_MAX; i++) {
        r->plain_max = fmax(r->plain_max, s->plain_max[i]);
        r->plain_rms = fmax(r->plain_rms, root_mean(s->plain[i], s->plain_n[i]));
    }
}

static void measure_screen(struct reference *r)
{
    int64_t D = r->shape.D;
    for (int64_t i = 0; i < r->judged; i++)
        for (int64_t d = 0; d < D; d++) {
            double e = fabs((double)r->screen[r->rows[i] * D + d] - r->value[i * D + d]);
            if (isfinite(e))
                r->screen_error = fmax(r->screen_error, e);
        }
}

static bool can_screen(const struct shape *s, double max_flops)
{
    return shape_flops(s) <= screen_factor * max_flops &&
           (double)shape_q_elems(s) <= screen_elems_max;
}

/* Something to hold the other rows against. The hull is filled by the sweep over judged rows. */
static void make_screen(struct reference *r, const struct tensors *t, struct pool *pool)
{
    struct sweep w = {.r = r, .t = t, .pool = pool, .nrows = r->total, .screen = true};
    struct sums unused = {0};
    r->screen = xmalloc((size_t)(r->total * r->shape.D) * sizeof *r->screen);
    run_sweep(&w, &unused);
    measure_screen(r);
}

enum status reference_new(const struct problem *p, const struct tensors *t, struct pool *pool,
                          double max_flops, struct reference **out, struct err *err)
{
    *out = NULL;
    enum status st = shape_check(&p->shape, err);
    if (st != ST_OK)
        return st;
    if (max_flops <= 0)
        max_flops = REFERENCE_FLOPS;
    struct reference *r = xcalloc(1, sizeof *r);
    r->shape = p->shape;
    r->total = p->shape.B * p->shape.H * p->shape.Sq;
    choose_rows(r, p, max_flops);
    r->value = xmalloc((size_t)(r->judged * r->shape.D) * sizeof *r->value);
    r->lse = xmalloc((size_t)r->judged * sizeof *r->lse);
    bool screen = r->rows && can_screen(&r->shape, max_flops);
    if (r->rows && !screen)
        r->hull = xmalloc((size_t)(2 * p->shape.B * p->shape.Hkv * p->shape.D) * sizeof *r->hull);

    struct sweep w = {.r = r, .t = t, .pool = pool, .rows = r->rows, .nrows = r->judged};
    w.nplain = plain_modes(r, w.plain);
    w.noise_every = shape_flops(&p->shape) <= noise_flops ? 1 : 1 + r->judged / 48 / NOISE_TILES;
    struct sums total = {0};
    run_sweep(&w, &total);
    take_sums(r, &total);
    if (screen)
        make_screen(r, t, pool);
    *out = r;
    return ST_OK;
}

void reference_free(struct reference *r)
{
    if (!r)
        return;
    free(r->rows);
    free(r->value);
    free(r->lse);
    free(r->screen);
    free(r->hull);
    free(r);
}

int64_t reference_rows(const struct reference *r)
{
    return r->judged;
}

double reference_estimate(const struct problem *p, int threads, double max_flops)
{
    if (max_flops <= 0)
        max_flops = REFERENCE_FLOPS;
    const double slowest = 0.5e9; /* FLOP/s of a thread without vector units, in a busy machine */
    double flops =
        fmin(shape_flops(&p->shape), max_flops) * (p->shape.dtype == DTYPE_F32 ? 3 : 2.5);
    if (shape_flops(&p->shape) > max_flops && can_screen(&p->shape, max_flops))
        flops += shape_flops(&p->shape);
    return 1 + flops / slowest / (threads > 0 ? threads : 1);
}
