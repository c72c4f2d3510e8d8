/* reference_sweep.c - rows evaluated in parallel.
 *
 * Work goes head by head (a key/value head with all query heads that share it), in batches of
 * heads whose keys and values are widened to float once; a pool block is a tile of query rows.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/reference_sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

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

static void judge_tile(struct sweep *w, int64_t block, const struct attend_kv *kv,
                       const struct attend_rows *rows, const struct tile_memory *m)
{
    const struct reference *r = w->r;
    struct sums *sum = &w->sums[block];
    int64_t n = rows->n * kv->D;
    double *value = r->value + w->tiles[block].from * kv->D;
    bool noise = w->noise_every > 0 && block % w->noise_every == 0;
    const struct attend_mode exact = {.single = false};
    attend(kv, rows, &exact, m->scratch, value, noise ? m->extra : NULL, r->shape.dtype);
    add_reference_sums(r, value, rows->n, sum);
    if (noise)
        add_noise_sums(m->extra, rows->n, kv->D, sum);
    for (int i = 0; i < w->nplain; i++) {
        attend(kv, rows, &w->plain[i], m->scratch, m->out, NULL, r->shape.dtype);
        add_plain_sums(m->out, value, n, i, sum);
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
    const struct attend_rows rows = {m.q, m.keys, (int)(t->to - t->from)};
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

void reference_sweep(struct sweep *w, struct sums *total)
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
