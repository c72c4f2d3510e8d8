/* stats.c - order statistics, spread, and a deterministic block bootstrap.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/stats.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/number.h"

enum {
    RESAMPLES = 2000,
    PAIRS_MAX = 1000, /* more are merged */
    PAIRS_MIN = 9,    /* for a bootstrap, and for a swap by chance to be rare */
    PAIRS_SOME = 6,   /* the same for series apart */
    PAIRS_FEW = 3,    /* for any interval */
    LAGS_MAX = 500,   /* further back nobody looks */
    BLOCKS_MIN = 9,   /* independent pieces behind a winner: 2 to the 8th is more than 200 */
};
static const double SAME_WITHIN = 0.01; /* below it two times are the same */
static const double CHANCE_MAX = 0.005; /* that noise made a winner */

/* Type 7: the quantile at position (n-1)q, counted from 0, of sorted values. */
static double quantile(const double *sorted, size_t n, double q)
{
    double at = (double)(n - 1) * q;
    size_t i = (size_t)at;
    if (i + 1 >= n)
        return sorted[n - 1];
    return sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}

static double *sorted_copy(const double *x, size_t n)
{
    double *s = xmalloc(n * sizeof *s);
    memcpy(s, x, n * sizeof *s);
    qsort(s, n, sizeof *s, number_order);
    return s;
}

static double mean_of(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)n;
}

/* Around the mean, in a second pass: no cancellation however small the spread. */
static double deviation_of(const double *x, size_t n, double mean)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return sqrt(sum / (double)(n - 1));
}

struct stats stats_of(const double *x, size_t n)
{
    if (n == 0)
        return (struct stats){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0};
    double *s = sorted_copy(x, n);
    double mean = mean_of(x, n);
    struct stats r = {
        .min = s[0],
        .q1 = quantile(s, n, 0.25),
        .median = quantile(s, n, 0.5),
        .q3 = quantile(s, n, 0.75),
        .p95 = quantile(s, n, 0.95),
        .max = s[n - 1],
        .mean = mean,
        .cv = n > 1 && mean != 0 ? deviation_of(x, n, mean) / fabs(mean) : NAN,
        .n = n,
    };
    free(s);
    return r;
}

/* 0..n-1 for n < 2^32, by multiplication; the bias is below 2^-32 * n. */
static size_t random_below(uint64_t *state, size_t n)
{
    return (size_t)(((random_next(state) >> 32) * (uint64_t)n) >> 32);
}

/* Ratios of the usable pairs, in order. */
static size_t pair_ratios(const double *a, const double *b, size_t n, double *out)
{
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(a[i]) && isfinite(b[i]) && a[i] > 0 && b[i] > 0)
            out[m++] = a[i] / b[i];
    return m;
}

/* Replaces n > PAIRS_MAX values by the medians of PAIRS_MAX runs of neighbours. */
static size_t merge_neighbours(double *x, size_t n)
{
    if (n <= PAIRS_MAX)
        return n;
    for (size_t g = 0; g < PAIRS_MAX; g++) {
        size_t from = g * n / PAIRS_MAX, to = (g + 1) * n / PAIRS_MAX;
        qsort(x + from, to - from, sizeof *x, number_order);
        x[g] = quantile(x + from, to - from, 0.5);
    }
    return PAIRS_MAX;
}

/* ---- a series in time, and how much of it is independent ---- */

/* Values by size, and where in that order each moment's value stands. */
struct ranked {
    double *sorted;
    size_t *rank;
    size_t n, block; /* moments that are drawn together */
};

struct place {
    double x;
    size_t at;
};

static int compare_places(const void *pa, const void *pb)
{
    const struct place *a = pa, *b = pb;
    return a->x != b->x ? (a->x > b->x) - (a->x < b->x) : (a->at > b->at) - (a->at < b->at);
}

/* Lag-k autocovariance of signs, whose mean is `mean`; of lag 0 their variance. */
static double sign_covariance(const signed char *s, size_t n, double mean, size_t k)
{
    double sum = 0;
    for (size_t i = 0; i + k < n; i++)
        sum += (s[i] - mean) * (s[i + k] - mean);
    return sum / (double)n;
}

static double ranked_median(const struct ranked *r)
{
    return quantile(r->sorted, r->n, 0.5);
}

/* How many neighbours say what one says, for a median: the integrated autocorrelation time of being
 * above or below it, summed over pairs of lags while these are positive (Geyer 1992). At least 1. What
 * equals the median is neither: of a coarse clock many do, and their order among each other is that of time. */
static double correlation_time(const struct ranked *r)
{
    const size_t n = r->n, most = n / 4 < LAGS_MAX ? n / 4 : LAGS_MAX;
    const double median = ranked_median(r);
    signed char *s = xmalloc(n);
    double mean = 0, time = 1;
    for (size_t i = 0; i < n; i++) {
        const double x = r->sorted[r->rank[i]];
        s[i] = (signed char)((x > median) - (x < median));
        mean += s[i] / (double)n;
    }
    const double variance = sign_covariance(s, n, mean, 0);
    for (size_t k = 1; k + 1 <= most && variance > 0; k += 2) {
        const double two = sign_covariance(s, n, mean, k) + sign_covariance(s, n, mean, k + 1);
        if (two <= 0)
            break;
        time += 2 * two / variance;
    }
    free(s);
    return time;
}

/* Blocks three correlation times long keep what neighbours have in common; where these are hardly
 * related it is one at a time, and never fewer than four blocks. */
static size_t block_length(const struct ranked *r)
{
    const double time = correlation_time(r);
    const size_t most = r->n / 4 > 1 ? r->n / 4 : 1;
    const size_t want = time < 1.5 ? 1 : (size_t)ceil(3 * time);
    return want < most ? want : most;
}

static struct ranked ranked_new(const double *x, size_t n)
{
    struct ranked r = {
        .sorted = xmalloc(n * sizeof *r.sorted), .rank = xmalloc(n * sizeof *r.rank), .n = n};
    struct place *p = xmalloc(n * sizeof *p);
    for (size_t i = 0; i < n; i++)
        p[i] = (struct place){x[i], i};
    qsort(p, n, sizeof *p, compare_places);
    for (size_t i = 0; i < n; i++) {
        r.sorted[i] = p[i].x;
        r.rank[p[i].at] = i;
    }
    free(p);
    r.block = block_length(&r);
    return r;
}

static void ranked_free(struct ranked *r)
{
    free(r->sorted);
    free(r->rank);
}

double stats_independent(const double *x, size_t n)
{
    struct ranked r = ranked_new(x, n);
    const double worth = (double)n / correlation_time(&r);
    ranked_free(&r);
    return worth;
}

/* Blocks that a resample is put together from. */
static double blocks_of(const struct ranked *r)
{
    return (double)r->n / (double)r->block;
}

/* ---- the interval ---- */

/* Median of one resample, found by counting how often each rank was drawn. Blocks begin anywhere and
 * go round the end. */
static double resample_median(const struct ranked *r, unsigned *count, uint64_t *state)
{
    const size_t n = r->n;
    memset(count, 0, n * sizeof *count);
    for (size_t i = 0; i < n;) {
        size_t at = random_below(state, n);
        for (size_t k = 0; k < r->block && i < n; k++, i++)
            count[r->rank[at + k < n ? at + k : at + k - n]]++;
    }
    size_t seen = 0, i = 0;
    while ((seen += count[i]) * 2 < n)
        i++;
    double lower = r->sorted[i];
    if (seen * 2 == n) /* even n, and the middle falls between two drawn values */
        do
            i++;
        while (count[i] == 0);
    return (lower + r->sorted[i]) / 2;
}

/* Student's t over the normal at 97.5 %, by the Cornish-Fisher series: what few blocks do not know of
 * their own spread. */
static double few_blocks_factor(double blocks)
{
    const double z = 1.959964, v = fmax(blocks - 1, 2);
    return 1 + (z * z + 1) / (4 * v) + (5 * z * z * z * z + 16 * z * z + 3) / (96 * v * v);
}

/* The 2.5 and 97.5 % quantiles of RESAMPLES ratios (sorted here), around r->mid. */
static void take_interval(double *ratios, double blocks, struct ratio *r)
{
    const double wider = few_blocks_factor(blocks);
    qsort(ratios, RESAMPLES, sizeof *ratios, number_order);
    r->lo = r->mid * pow(fmin(quantile(ratios, RESAMPLES, 0.025) / r->mid, 1), wider);
    r->hi = r->mid * pow(fmax(quantile(ratios, RESAMPLES, 0.975) / r->mid, 1), wider);
}

static void bootstrap(const struct ranked *x, uint64_t seed, struct ratio *r)
{
    double *medians = xmalloc(RESAMPLES * sizeof *medians);
    unsigned *count = xmalloc(x->n * sizeof *count);
    for (int i = 0; i < RESAMPLES; i++)
        medians[i] = resample_median(x, count, &seed);
    take_interval(medians, blocks_of(x), r);
    free(count);
    free(medians);
}

/* Few pairs: what was seen, widened by its own spread on both sides, as a factor, so that a ratio
 * stays one. With a spread that is scaled so, three to eight pairs of the same kernel lie wholly on
 * one side less than once in a hundred (Student's t at 1 %). */
static struct ratio few_pairs(const struct ranked *x)
{
    const double lo = x->sorted[0], hi = x->sorted[x->n - 1];
    const double spread = x->n > PAIRS_FEW ? hi / lo : pow(hi / lo, 2.5);
    struct ratio r = {ranked_median(x), NAN, NAN};
    if (x->n >= PAIRS_FEW && lo > 0) {
        r.lo = lo / spread;
        r.hi = hi * spread;
    }
    return r;
}

/* ---- could noise have made it? ---- */

static void swap_doubles(double *a, double *b)
{
    const double t = *a;
    *a = *b;
    *b = t;
}

/* The k-th smallest; x is reordered. */
static double select_kth(double *x, size_t n, size_t k)
{
    size_t lo = 0, hi = n - 1;
    while (lo < hi) {
        const double pivot = x[lo + (hi - lo) / 2];
        size_t i = lo, j = hi;
        for (;;) {
            while (x[i] < pivot)
                i++;
            while (x[j] > pivot)
                j--;
            if (i >= j)
                break;
            swap_doubles(&x[i++], &x[j--]);
        }
        if (k <= j)
            hi = j;
        else
            lo = j + 1;
    }
    return x[k];
}

/* Had chance decided in each block of pairs which kernel was which, how often would the one that is
 * ahead be as far ahead of 1 %? `x` are logarithms of ratios; `sign` -1: they say faster. */
static double chance_of(const double *x, size_t n, size_t block, int sign, uint64_t seed)
{
    enum { SWAPS = 1000 };
    double *y = xmalloc(n * sizeof *y), *z = xmalloc(n * sizeof *z);
    int as_far = 1;
    for (size_t i = 0; i < n; i++)
        y[i] = z[i] = sign * x[i] - log(1 + SAME_WITHIN);
    const double seen = select_kth(z, n, n / 2);
    for (int t = 0; t < SWAPS; t++) {
        for (size_t i = 0; i < n;) {
            const double side = random_next(&seed) >> 63 ? 1 : -1;
            for (size_t k = 0; k < block && i < n; k++, i++)
                z[i] = side * y[i];
        }
        as_far += select_kth(z, n, n / 2) >= seen;
    }
    free(y);
    free(z);
    return (double)as_far / (SWAPS + 1);
}

static double median_of(const double *x, size_t n)
{
    double *copy = sorted_copy(x, n), m = quantile(copy, n, 0.5);
    free(copy);
    return m;
}

/* Do both halves of the run lie on the side of the whole? */
static bool halves_agree(const double *x, size_t n, int sign)
{
    return sign * median_of(x, n / 2) > 0 && sign * median_of(x + n / 2, n - n / 2) > 0;
}

/* Does every single pair lie on that side of 1 %, and their median further from 1 than four in five of
 * them lie apart? Such a winner needs no trial. */
static bool is_plain(const struct ranked *r, int sign)
{
    const double nearest = sign > 0 ? r->sorted[0] : r->sorted[r->n - 1];
    const double apart = log(quantile(r->sorted, r->n, 0.9) / quantile(r->sorted, r->n, 0.1));
    return sign * log(nearest) > log(1 + SAME_WITHIN) && sign * log(ranked_median(r)) > apart;
}

static enum doubt doubt_of(const double *ratios, const struct ranked *r, int sign, uint64_t seed)
{
    const size_t n = r->n;
    enum doubt doubt = DOUBT_NONE;
    if (n < PAIRS_MIN || is_plain(r, sign))
        return DOUBT_NONE;
    double *x = xmalloc(n * sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = log(ratios[i]);
    if (blocks_of(r) < BLOCKS_MIN)
        doubt = DOUBT_FEW;
    else if (!halves_agree(x, n, sign))
        doubt = DOUBT_HALVES;
    else if (chance_of(x, n, r->block, sign, seed) > CHANCE_MAX)
        doubt = DOUBT_CHANCE;
    free(x);
    return doubt;
}

/* ---- the answers ---- */

/* The interval of merged pair ratios in time. */
static struct ratio ratio_of(const struct ranked *x, uint64_t seed)
{
    struct ratio r = few_pairs(x);
    if (x->n >= PAIRS_MIN)
        bootstrap(x, seed, &r);
    return r;
}

struct ratio stats_ratio(const double *a, const double *b, size_t n, uint64_t seed)
{
    return stats_pairs(a, b, n, seed).ratio;
}

struct judgement stats_pairs(const double *a, const double *b, size_t n, uint64_t seed)
{
    struct judgement j = {.ratio = {NAN, NAN, NAN}, .verdict = SPEED_AMBIGUOUS};
    double *x = xmalloc((n ? n : 1) * sizeof *x);
    size_t m = merge_neighbours(x, pair_ratios(a, b, n, x));
    if (m > 0) {
        struct ranked ranked = ranked_new(x, m);
        j.ratio = ratio_of(&ranked, seed);
        j.verdict = stats_verdict_of(j.ratio);
        j.independent = blocks_of(&ranked);
        if (j.verdict == SPEED_FASTER || j.verdict == SPEED_SLOWER)
            j.doubt = doubt_of(x, &ranked, j.verdict == SPEED_FASTER ? -1 : 1, seed);
        if (j.doubt)
            j.verdict = SPEED_AMBIGUOUS;
        ranked_free(&ranked);
    }
    free(x);
    return j;
}

static void bootstrap_apart(const struct ranked *a, const struct ranked *b, uint64_t seed,
                            struct ratio *r)
{
    double *ratios = xmalloc(RESAMPLES * sizeof *ratios);
    unsigned *count = xmalloc((a->n > b->n ? a->n : b->n) * sizeof *count);
    for (int i = 0; i < RESAMPLES; i++) {
        const double top = resample_median(a, count, &seed);
        ratios[i] = top / resample_median(b, count, &seed);
    }
    take_interval(ratios, fmin(blocks_of(a), blocks_of(b)), r);
    free(count);
    free(ratios);
}

/* In time, merged where there are too many. */
static struct ranked series_ranked(const double *x, size_t n)
{
    double *copy = xmalloc(n * sizeof *copy);
    memcpy(copy, x, n * sizeof *copy);
    struct ranked r = ranked_new(copy, merge_neighbours(copy, n));
    free(copy);
    return r;
}

struct ratio stats_ratio_apart(const double *a, size_t na, const double *b, size_t nb,
                               uint64_t seed)
{
    struct ratio r = {NAN, NAN, NAN};
    if (!na || !nb)
        return r;
    struct ranked x = series_ranked(a, na), y = series_ranked(b, nb);
    r.mid = ranked_median(&x) / ranked_median(&y);
    if (x.n >= PAIRS_SOME && y.n >= PAIRS_SOME)
        bootstrap_apart(&x, &y, seed, &r);
    ranked_free(&x);
    ranked_free(&y);
    return r;
}

const char *const stats_verdicts[] = {
    [SPEED_FASTER] = "FASTER",
    [SPEED_SLOWER] = "SLOWER",
    [SPEED_SAME] = "SAME",
    [SPEED_AMBIGUOUS] = "AMBIGUOUS",
};

enum speed stats_verdict_of(struct ratio r)
{
    if (r.hi < 1 - SAME_WITHIN)
        return SPEED_FASTER;
    if (r.lo > 1 + SAME_WITHIN)
        return SPEED_SLOWER;
    return r.lo >= 1 - SAME_WITHIN && r.hi <= 1 + SAME_WITHIN ? SPEED_SAME : SPEED_AMBIGUOUS;
}

const char *stats_verdict(struct ratio r)
{
    return stats_verdicts[stats_verdict_of(r)];
}

const char *stats_doubt(enum doubt doubt)
{
    static const char *const texts[] = {
        [DOUBT_NONE] = NULL,
        [DOUBT_FEW] = "the times hang together so much that few of them count",
        [DOUBT_HALVES] = "the two halves of the run do not agree who is faster",
        [DOUBT_CHANCE] = "noise could make it: with the kernels swapped by chance it comes out so "
                         "in more than 1 of 200",
    };
    return texts[doubt];
}

void stats_turns(uint64_t seed, size_t round, int count, int *order)
{
    uint64_t state = seed ^ (0x2545f4914f6cdd1du * (uint64_t)(round / 2 + 1));
    for (int i = 0; i < count; i++)
        order[i] = i;
    for (int i = count - 1; i > 0; i--) {
        const int k = (int)random_below(&state, (size_t)i + 1), t = order[i];
        order[i] = order[k];
        order[k] = t;
    }
    for (int i = 0; round % 2 && i < count / 2; i++) {
        const int t = order[i];
        order[i] = order[count - 1 - i];
        order[count - 1 - i] = t;
    }
}
