/* reference.c - the right answers: which rows get one, and what their figures come to.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "measure/reference_sweep.h"

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
    reference_sweep(&w, &unused);
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
    bool screen = r->rows && can_screen(&r->shape, max_flops);
    if (r->rows && !screen)
        r->hull = xmalloc((size_t)(2 * p->shape.B * p->shape.Hkv * p->shape.D) * sizeof *r->hull);

    struct sweep w = {.r = r, .t = t, .pool = pool, .rows = r->rows, .nrows = r->judged};
    w.nplain = plain_modes(r, w.plain);
    w.noise_every = shape_flops(&p->shape) <= noise_flops ? 1 : 1 + r->judged / 48 / NOISE_TILES;
    struct sums total = {0};
    reference_sweep(&w, &total);
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
