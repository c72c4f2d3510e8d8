/* verify.c - judges an output against a reference; the rules are in verify.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/mem.h"
#include "base/number.h"
#include "measure/reference.h"

enum { BLOCK_ROWS = 128 };
static const double few_elements = 4096;

/* ---- limits ---- */

struct limits {
    double rms, max;
    double probe;     /* part of max: see verify.h */
    double allowance; /* part of max: for few elements */
};

/* Half the distance between neighbouring values of the type at x. */
static double half_ulp(enum dtype t, double x)
{
    static const int lowest[] = {[DTYPE_F16] = -14, [DTYPE_BF16] = -126, [DTYPE_F32] = -126};
    int exponent = x > 0 && isfinite(x) ? ilogb(x) : lowest[t];
    return ldexp(dtype_epsilon(t), (exponent < lowest[t] ? lowest[t] : exponent) - 1);
}

/* With few elements, rms errors and their limits are averages of few terms: 1 for so few that
 * nothing averages out, falling as the root of their number (the elements of a row share one P), 0
 * when there are many. The noise may come out at 2 sigma for a single term (3 for f32, whose errors are less even). */
static double fewness(const struct reference *r)
{
    if (r->effective >= few_elements)
        return 0;
    return fmin(1, sqrt(32 / fmax(r->effective, 1)));
}

static struct limits limits_f32(const struct reference *r)
{
    double few = fewness(r);
    struct limits l = {
        .rms = 2.5 * r->plain_rms + 0x1p-22 * r->rms + 3 * few * r->noise_rms,
        .probe = 0x1p-21 * r->max,
        .allowance = few > 0 ? 4 * r->noise_max : 0,
    };
    l.max = 3 * r->plain_max + l.probe + l.allowance;
    return l;
}

/* A right kernel's rms error is that of rounding the output and that of rounding P, added as
 * squares; 1.15 covers how P's mantissas happen to lie. Usually the two are about equal, and 1.6 x
 * rounding is the larger limit. One roundoff of rms(ref) is the most that rounding the output may
 * do to few elements. */
static struct limits limits_half(const struct reference *r)
{
    double few = fewness(r), roundoff = dtype_epsilon(r->shape.dtype) / 2 * r->rms;
    double both = 1.15 * sqrt(r->rounding_rms * r->rounding_rms + r->noise_rms * r->noise_rms);
    struct limits l = {
        .rms = fmax(1.6 * r->rounding_rms, both) + few * (roundoff + 2 * r->noise_rms),
        .probe = half_ulp(r->shape.dtype, r->max),
        .allowance = few > 0 ? 4 * r->noise_max : 0,
    };
    l.max = 2 * r->plain_max + l.probe + l.allowance;
    return l;
}

static struct limits limits_of(const struct reference *r)
{
    return r->shape.dtype == DTYPE_F32 ? limits_f32(r) : limits_half(r);
}

/* ---- one pass over the output ---- */

/* A place in the output: row number and column; row -1 is nowhere. */
struct place {
    int64_t row, col;
};
static const struct place nowhere = {-1, 0};

struct fault {
    int64_t count;
    struct place first;
    double got, want, limit; /* at `first` */
};

/* What a block of rows found. Merged in block order: the result does not depend on threads. */
struct findings {
    double n, sum, square, max; /* judged elements: count, sum |e|, sum e^2, largest |e| */
    struct place worst;
    struct fault unwritten, nonfinite;
    struct fault screened; /* outside the screen's or the hull's limits */
};

struct inspection {
    const struct reference *r;
    const char *output; /* without the guard */
    double screen_limit;
    struct findings *blocks;
};

static void note_fault(struct fault *f, struct place at, double got, double want, double limit)
{
    if (f->count++ == 0)
        *f = (struct fault){1, at, got, want, limit};
}

static bool is_poison(enum dtype t, const char *element)
{
    return t == DTYPE_F32 ? memcmp(element, output_poison_f32, sizeof output_poison_f32) == 0
                          : memcmp(element, output_poison_f16, sizeof output_poison_f16) == 0;
}

static void judge_element(struct findings *f, struct place at, double got, double want)
{
    if (!isfinite(want))
        return; /* the inputs overflow here: nothing to hold it against */
    if (!isfinite(got)) {
        note_fault(&f->nonfinite, at, got, want, 0);
        return;
    }
    double e = fabs(got - want);
    f->n++;
    f->sum += e;
    f->square += e * e;
    if (e > f->max || f->worst.row < 0) {
        f->max = e;
        f->worst = at;
    }
}

/* A row without a float64 answer, against its float32 one. */
static void screen_row(const struct inspection *in, struct findings *f, int64_t row,
                       const float *got)
{
    int64_t D = in->r->shape.D;
    const float *want = in->r->screen + row * D;
    double largest = 0;
    for (int64_t d = 0; d < D; d++)
        if (isfinite(want[d]))
            largest = fmax(largest, fabs((double)want[d]));
    double limit = in->screen_limit + 2 * half_ulp(in->r->shape.dtype, largest);
    for (int64_t d = 0; d < D; d++) {
        if (!isfinite(want[d]))
            continue;
        if (!isfinite(got[d]))
            note_fault(&f->nonfinite, (struct place){row, d}, got[d], want[d], 0);
        else if (fabs((double)got[d] - want[d]) > limit)
            note_fault(&f->screened, (struct place){row, d}, got[d], want[d], limit);
    }
}

/* A row that has not even that: a weighted mean lies between the extremes. */
static void hull_row(const struct inspection *in, struct findings *f, int64_t row, const float *got)
{
    const struct shape *s = &in->r->shape;
    struct row_place at = row_place_of(s, row);
    const float *lo = in->r->hull + (at.b * s->Hkv + at.h / (s->H / s->Hkv)) * 2 * s->D;
    const float *hi = lo + s->D;
    bool empty = shape_row_keys(s, at.i) == 0;
    for (int64_t d = 0; d < s->D; d++) {
        double low = empty ? 0 : lo[d], high = empty ? 0 : hi[d];
        double slack = 4 * half_ulp(s->dtype, fmax(fabs(low), fabs(high)));
        if (!isfinite(low) || !isfinite(high))
            continue;
        if (!isfinite(got[d]))
            note_fault(&f->nonfinite, (struct place){row, d}, got[d], (low + high) / 2, 0);
        else if (got[d] < low - slack || got[d] > high + slack)
            note_fault(&f->screened, (struct place){row, d}, got[d], got[d] < low ? low : high,
                       slack);
    }
}

/* Index of `row` among the judged rows, or of the next one. */
static int64_t judged_index(const struct reference *r, int64_t row)
{
    if (!r->rows)
        return row;
    int64_t lo = 0, hi = r->judged;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (r->rows[mid] < row)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Looks for poison; true if the row has any. */
static bool find_unwritten(const struct reference *r, struct findings *f, int64_t row,
                           const char *bytes)
{
    size_t size = dtype_size(r->shape.dtype);
    int64_t before = f->unwritten.count;
    for (int64_t d = 0; d < r->shape.D; d++)
        if (is_poison(r->shape.dtype, bytes + (size_t)d * size))
            note_fault(&f->unwritten, (struct place){row, d}, NAN, NAN, 0);
    return f->unwritten.count > before;
}

static void inspect_row(const struct inspection *in, struct findings *f, int64_t row,
                        int64_t *judged, float *got)
{
    const struct reference *r = in->r;
    const struct shape *s = &r->shape;
    struct strides st = shape_strides(s, s->H, s->Sq);
    struct row_place at = row_place_of(s, row);
    int64_t element = at.b * st.b + at.h * st.h + at.i * st.s;
    const char *bytes = in->output + (size_t)element * dtype_size(s->dtype);
    bool is_judged = *judged < r->judged && (r->rows ? r->rows[*judged] : *judged) == row;
    const double *want = r->value + *judged * s->D;
    *judged += is_judged;
    if (find_unwritten(r, f, row, bytes))
        return;
    dtype_to_float(s->dtype, bytes, got, (size_t)s->D);
    if (is_judged)
        for (int64_t d = 0; d < s->D; d++)
            judge_element(f, (struct place){row, d}, (double)got[d], want[d]);
    else if (r->screen)
        screen_row(in, f, row, got);
    else if (r->hull)
        hull_row(in, f, row, got);
}

static void inspect_block(void *ctx, int64_t block, int thread)
{
    (void)thread;
    const struct inspection *in = ctx;
    struct findings *f = &in->blocks[block];
    int64_t first = block * BLOCK_ROWS, last = first + BLOCK_ROWS;
    int64_t judged = judged_index(in->r, first);
    float *got = xmalloc((size_t)in->r->shape.D * sizeof *got);
    f->worst = nowhere;
    for (int64_t row = first; row < last && row < in->r->total; row++)
        inspect_row(in, f, row, &judged, got);
    free(got);
}

static void merge_fault(struct fault *to, const struct fault *from)
{
    int64_t count = to->count + from->count;
    if (to->count == 0)
        *to = *from;
    to->count = count;
}

static void merge_findings(struct findings *to, const struct findings *from)
{
    to->n += from->n;
    to->sum += from->sum;
    to->square += from->square;
    if (from->worst.row >= 0 && (to->worst.row < 0 || from->max > to->max)) {
        to->max = from->max;
        to->worst = from->worst;
    }
    merge_fault(&to->unwritten, &from->unwritten);
    merge_fault(&to->nonfinite, &from->nonfinite);
    merge_fault(&to->screened, &from->screened);
}

static struct findings inspect(const struct reference *r, const char *output, struct pool *pool)
{
    int64_t blocks = (r->total + BLOCK_ROWS - 1) / BLOCK_ROWS;
    double plain = r->shape.dtype == DTYPE_F32 ? 6 * r->plain_max : 4 * r->plain_max;
    struct inspection in = {.r = r, .output = output, .screen_limit = plain + 8 * r->screen_error};
    struct findings all = {.worst = nowhere};
    in.blocks = xcalloc((size_t)blocks, sizeof *in.blocks);
    run_blocks(pool, blocks, inspect_block, &in);
    for (int64_t i = 0; i < blocks; i++)
        merge_findings(&all, &in.blocks[i]);
    free(in.blocks);
    return all;
}

/* ---- guard bands ---- */

struct guard {
    int64_t before, after; /* bytes that are not as they were */
};

static struct guard inspect_guards(const char *guarded, size_t bytes)
{
    struct guard g = {0};
    const unsigned char *before = (const unsigned char *)guarded;
    const unsigned char *after = before + OUTPUT_GUARD_BYTES + bytes;
    for (int i = 0; i < OUTPUT_GUARD_BYTES; i++) {
        g.before += before[i] != output_guard_byte;
        g.after += after[i] != output_guard_byte;
    }
    return g;
}

/* ---- the verdict in words ---- */

static char *place_text(const struct shape *s, struct place p, char buf[96])
{
    struct row_place at = row_place_of(s, p.row);
    snprintf(buf, 96, "b%lld h%lld row %lld col %lld", (long long)at.b, (long long)at.h,
             (long long)at.i, (long long)p.col);
    return buf;
}

static char *guard_reason(struct guard g)
{
    if (g.before && g.after)
        return xasprintf("%lld bytes before and %lld bytes after the output were overwritten",
                         (long long)g.before, (long long)g.after);
    return xasprintf("%lld byte%s %s the output %s overwritten", (long long)(g.before + g.after),
                     g.before + g.after == 1 ? "" : "s", g.before ? "before" : "after",
                     g.before + g.after == 1 ? "was" : "were");
}

static char *unwritten_reason(const struct reference *r, const struct fault *f, const char *at)
{
    return xasprintf("%lld of %lld elements %s never written, the first at %s", (long long)f->count,
                     (long long)(r->total * r->shape.D), f->count == 1 ? "was" : "were", at);
}

static char *nonfinite_reason(const struct fault *f, const char *at)
{
    const char *what = isnan(f->got) ? "a NaN" : "an infinity";
    if (f->count == 1)
        return xasprintf("%s where the reference has %.3g, at %s", what, f->want, at);
    return xasprintf("%s where the reference has %.3g, at %s; %lld such elements", what, f->want,
                     at, (long long)f->count);
}

static char *max_reason(const struct reference *r, const struct findings *f, const struct limits *l,
                        const char *at)
{
    bool single = r->shape.dtype == DTYPE_F32;
    char few[64] = "";
    if (l->allowance > 0)
        snprintf(few, sizeof few, " + %.2g (few elements)", l->allowance);
    return xasprintf("max_diff %.2g at %s is over %d x %.2g (plain) + %.2g (%s)%s", f->max, at,
                     single ? 3 : 2, r->plain_max, l->probe,
                     single ? "2^-21 of the largest value" : "rounding probe", few);
}

static char *rms_reason(const struct reference *r, const struct findings *f, double rms,
                        const struct limits *l, const char *at)
{
    if (r->shape.dtype == DTYPE_F32)
        return xasprintf("rms_diff %.2g is over %.2g, 2.5 times that of a plain evaluation; the "
                         "largest error, %.2g, is at %s",
                         rms, l->rms, f->max, at);
    return xasprintf("rms_diff %.2g is over %.2g; merely rounding the right answer gives %.2g; the "
                     "largest error, %.2g, is at %s",
                     rms, l->rms, r->rounding_rms, f->max, at);
}

static char *screened_reason(const struct reference *r, const struct fault *f, const char *at)
{
    if (r->screen)
        return xasprintf("%.3g at %s is %.2g away from a float32 evaluation's %.3g, over %.2g",
                         f->got, at, fabs(f->got - f->want), f->want, f->limit);
    return xasprintf("%.3g at %s lies outside the values it is a mean of; the nearest is %.3g",
                     f->got, at, f->want);
}

/* The first rule that is broken, most telling first; NULL if none. */
static char *find_reason(const struct reference *r, struct guard g, const struct findings *f)
{
    struct limits l = limits_of(r);
    const struct shape *s = &r->shape;
    double rms = f->n > 0 ? sqrt(f->square / f->n) : 0;
    char at[96];
    if (g.before || g.after)
        return guard_reason(g);
    if (f->unwritten.count)
        return unwritten_reason(r, &f->unwritten, place_text(s, f->unwritten.first, at));
    if (f->nonfinite.count)
        return nonfinite_reason(&f->nonfinite, place_text(s, f->nonfinite.first, at));
    if (f->n > 0 && !(f->max <= l.max))
        return max_reason(r, f, &l, place_text(s, f->worst, at));
    if (f->n > 0 && !(rms <= l.rms))
        return rms_reason(r, f, rms, &l, place_text(s, f->worst, at));
    if (f->screened.count)
        return screened_reason(r, &f->screened, place_text(s, f->screened.first, at));
    return NULL;
}

static json_t *place_json(const struct shape *s, struct place p)
{
    if (p.row < 0)
        return NULL;
    struct row_place at = row_place_of(s, p.row);
    return json_pack("{s:I, s:I, s:I, s:I}", "b", (json_int_t)at.b, "h", (json_int_t)at.h, "row",
                     (json_int_t)at.i, "col", (json_int_t)p.col);
}

/* a / b; unknown when b is 0, unless both are: then the error is what was expected. */
static double ratio_or_unknown(double a, double b)
{
    return b > 0 ? a / b : a == 0 ? 1 : REAL_UNKNOWN;
}

static void set_text(char **to, char *owned)
{
    free(*to);
    *to = owned;
}

/* Judged rows for which the reference has no finite answer. */
static int64_t unknown_rows(const struct reference *r)
{
    int64_t n = 0;
    for (int64_t i = 0; i < r->judged; i++) {
        bool finite = true;
        for (int64_t d = 0; d < r->shape.D; d++)
            finite = finite && isfinite(r->value[i * r->shape.D + d]);
        n += !finite;
    }
    return n;
}

/* What can be judged is right, and the rest cannot be. */
static void leave_open(const struct reference *r, struct run_row *row)
{
    set_text(&row->check, NULL);
    set_text(
        &row->reason,
        xasprintf("the reference itself is not finite in %lld of %lld rows: whether the output "
                  "is right there is unknown",
                  (long long)unknown_rows(r), (long long)r->judged));
}

void verify_output(const struct reference *r, const void *guarded_output, struct pool *pool,
                   struct run_row *row)
{
    const char *output = (const char *)guarded_output + OUTPUT_GUARD_BYTES;
    struct guard g =
        inspect_guards(guarded_output, shape_q_elems(&r->shape) * dtype_size(r->shape.dtype));
    struct findings f = inspect(r, output, pool);
    row->max_diff = f.n > 0 ? f.max : REAL_UNKNOWN;
    row->mean_diff = f.n > 0 ? f.sum / f.n : REAL_UNKNOWN;
    row->rms_diff = f.n > 0 ? sqrt(f.square / f.n) : REAL_UNKNOWN;
    row->baseline_max_diff = r->plain_max;
    row->error_ratio = ratio_or_unknown(row->max_diff, r->plain_max);
    row->rounding_ratio = ratio_or_unknown(row->rms_diff, r->rounding_rms);
    json_decref(row->worst);
    row->worst = place_json(&r->shape, f.worst);
    row->checked_rows = r->judged;
    row->total_rows = r->total;
    set_text(&row->reason, find_reason(r, g, &f));
    set_text(&row->check, xstrdup(row->reason ? "fail" : "pass"));
    if (!row->reason && unknown_rows(r))
        leave_open(r, row);
}

/* ---- LSE ---- */

size_t lse_guarded_bytes(const struct shape *s)
{
    return (size_t)(s->B * s->H * s->Sq) * sizeof(float) + 2 * OUTPUT_GUARD_BYTES;
}

/* What is wrong with an LSE; of rows, the first is kept. */
struct lse_findings {
    int64_t unwritten, first_unwritten;
    int64_t nonfinite, first_nonfinite;
    double max; /* largest error */
    int64_t worst;
};

/* Every row is there; those that have an answer are right. */
static struct lse_findings inspect_lse(const struct reference *r, const char *lse)
{
    struct lse_findings f = {0};
    for (int64_t row = 0, at = 0; row < r->total; row++) {
        const bool judged = at < r->judged && (!r->rows || r->rows[at] == row);
        const double want = judged ? r->lse[at++] : NAN;
        float got; /* behind an output of 16 bits it may lie anywhere */
        memcpy(&got, lse + (size_t)row * sizeof got, sizeof got);
        if (is_poison(DTYPE_F32, lse + (size_t)row * sizeof got)) {
            f.first_unwritten = f.unwritten++ ? f.first_unwritten : row;
        } else if (isnan(want)) {
            continue;
        } else if (!isfinite(want) || !isfinite(got)) {
            if ((double)got != want)
                f.first_nonfinite = f.nonfinite++ ? f.first_nonfinite : row;
        } else if (fabs((double)got - want) > f.max) {
            f.max = fabs((double)got - want);
            f.worst = row;
        }
    }
    return f;
}

static double lse_limit(const struct reference *r)
{
    static const double probes[DTYPE_COUNT] = {
        [DTYPE_F16] = 0x1p-12, [DTYPE_BF16] = 0x1p-9, [DTYPE_F32] = 0x1p-21};
    return 3 * r->lse_plain + probes[r->shape.dtype] * fmax(r->lse_max, 1);
}

static char *lse_reason(const struct reference *r, struct guard g, const struct lse_findings *f)
{
    const struct row_place at = row_place_of(&r->shape, f->unwritten   ? f->first_unwritten
                                                        : f->nonfinite ? f->first_nonfinite
                                                                       : f->worst);
    char where[96];
    snprintf(where, sizeof where, "b%lld h%lld row %lld", (long long)at.b, (long long)at.h,
             (long long)at.i);
    if (g.before || g.after)
        return xasprintf("%lld bytes around its LSE were overwritten",
                         (long long)(g.before + g.after));
    if (f->unwritten)
        return xasprintf("its LSE was not written in %lld of %lld rows, the first %s",
                         (long long)f->unwritten, (long long)r->total, where);
    if (f->nonfinite)
        return xasprintf("its LSE is infinite or NaN where it should not be, or finite where a row "
                         "sees no key, in %lld rows, the first %s",
                         (long long)f->nonfinite, where);
    if (f->max <= lse_limit(r))
        return NULL;
    return xasprintf("its LSE is off by %.2g at %s, over 3 x %.2g (plain) + %.2g (rounding)",
                     f->max, where, r->lse_plain, lse_limit(r) - 3 * r->lse_plain);
}

void verify_lse(const struct reference *r, const void *guarded_lse, struct run_row *row)
{
    const struct guard g = inspect_guards(guarded_lse, (size_t)r->total * sizeof(float));
    const struct lse_findings f = inspect_lse(r, (const char *)guarded_lse + OUTPUT_GUARD_BYTES);
    row->lse_max_diff = REAL_UNKNOWN;
    if (f.unwritten == r->total && !g.before && !g.after)
        return;
    char *reason = lse_reason(r, g, &f);
    row->lse_max_diff = f.nonfinite || f.unwritten ? REAL_UNKNOWN : f.max;
    if (reason && !run_row_failed(row)) {
        set_text(&row->check, xstrdup("fail"));
        set_text(&row->reason, reason);
        return;
    }
    free(reason);
}

/* ---- two outputs ---- */

enum { PAIR_CHUNK = 1024, PAIR_BLOCK = 64 * PAIR_CHUNK };

/* Two outputs without their guards, and the largest difference within each block of elements. */
struct pair {
    enum dtype dtype;
    const char *a, *b;
    size_t n;
    double *max; /* NaN: one has a NaN where the other has none */
};

static double chunk_difference(enum dtype t, const char *a, const char *b, size_t n)
{
    float x[PAIR_CHUNK], y[PAIR_CHUNK];
    double max = 0;
    if (memcmp(a, b, n * dtype_size(t)) == 0)
        return 0;
    dtype_to_float(t, a, x, n);
    dtype_to_float(t, b, y, n);
    for (size_t i = 0; i < n; i++) {
        if (isnan(x[i]) != isnan(y[i]))
            return NAN;
        if (x[i] != y[i] && !isnan(x[i]))
            max = fmax(max, fabs((double)x[i] - (double)y[i]));
    }
    return max;
}

/* NaN, once it is there, stays. */
static double larger(double a, double b)
{
    return isnan(a) || a > b ? a : b;
}

static void compare_block(void *ctx, int64_t block, int thread)
{
    const struct pair *p = ctx;
    const size_t size = dtype_size(p->dtype), from = (size_t)block * PAIR_BLOCK,
                 end = p->n - from < PAIR_BLOCK ? p->n : from + PAIR_BLOCK;
    (void)thread;
    for (size_t i = from; i < end; i += PAIR_CHUNK) {
        const size_t n = end - i < PAIR_CHUNK ? end - i : PAIR_CHUNK;
        p->max[block] =
            larger(p->max[block], chunk_difference(p->dtype, p->a + i * size, p->b + i * size, n));
    }
}

double verify_pair(const struct problem *p, const void *guarded_a, const void *guarded_b,
                   struct pool *pool)
{
    struct pair pair = {.dtype = p->shape.dtype,
                        .a = (const char *)guarded_a + OUTPUT_GUARD_BYTES,
                        .b = (const char *)guarded_b + OUTPUT_GUARD_BYTES,
                        .n = shape_q_elems(&p->shape)};
    const size_t blocks = (pair.n + PAIR_BLOCK - 1) / PAIR_BLOCK;
    double max = 0;
    pair.max = xcalloc(blocks, sizeof *pair.max);
    run_blocks(pool, (int64_t)blocks, compare_block, &pair);
    for (size_t i = 0; i < blocks; i++)
        max = larger(max, pair.max[i]);
    free(pair.max);
    return isnan(max) ? REAL_UNKNOWN : max;
}

/* Eight units in the last place of the largest value: sums of f32 in another order, rounded to the type, differ
 * by less unless they cancel. */
static double rounding_of(enum dtype t, double largest)
{
    static const double ulps[DTYPE_COUNT] = {
        [DTYPE_F16] = 0x1p-8, [DTYPE_BF16] = 0x1p-5, [DTYPE_F32] = 0x1p-19};
    return ulps[t] * largest;
}

struct rerun verify_rerun(const struct shape *s, const void *guarded_a, const void *guarded_b)
{
    enum { CHUNK = 1024 };
    const size_t n = shape_q_elems(s), size = dtype_size(s->dtype);
    const char *a = (const char *)guarded_a + OUTPUT_GUARD_BYTES,
               *b = (const char *)guarded_b + OUTPUT_GUARD_BYTES;
    struct rerun r = {.is_rounding = true};
    double largest = 0;
    if (memcmp(a, b, n * size) == 0) /* as it should be: of large outputs the rest takes long */
        return r;
    float x[CHUNK], y[CHUNK];
    for (size_t i = 0; i < n; i += CHUNK) {
        const size_t m = n - i < CHUNK ? n - i : CHUNK;
        dtype_to_float(s->dtype, a + i * size, x, m);
        dtype_to_float(s->dtype, b + i * size, y, m);
        for (size_t k = 0; k < m; k++) {
            largest = fmax(largest, fabs((double)x[k]));
            if (memcmp(a + (i + k) * size, b + (i + k) * size, size) == 0)
                continue;
            r.differ++;
            if (isnan(x[k]) != isnan(y[k]) || isnan(r.max_diff))
                r.max_diff = NAN;
            else if (!isnan(x[k]))
                r.max_diff = fmax(r.max_diff, fabs((double)x[k] - (double)y[k]));
        }
    }
    r.is_rounding = r.max_diff <= rounding_of(s->dtype, largest);
    return r;
}
