/* stats.c - order statistics, spread, and a deterministic paired bootstrap.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { RESAMPLES = 2000, PAIRS_MAX = 1000, PAIRS_MIN = 6, PAIRS_FEW = 3 };

static int compare_doubles(const void *pa, const void *pb)
{
    double a = *(const double *)pa, b = *(const double *)pb;
    return (a > b) - (a < b);
}

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
    qsort(s, n, sizeof *s, compare_doubles);
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

/* splitmix64: small, and every seed is a good one. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* 0..n-1 for n < 2^32, by multiplication; the bias is below 2^-32 * n. */
static size_t random_below(uint64_t *state, size_t n)
{
    return (size_t)(((next_random(state) >> 32) * (uint64_t)n) >> 32);
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
        qsort(x + from, to - from, sizeof *x, compare_doubles);
        x[g] = quantile(x + from, to - from, 0.5);
    }
    return PAIRS_MAX;
}

/* Median of one resample of sorted values, found by counting how often each was drawn. */
static double resample_median(const double *sorted, size_t n, unsigned *count, uint64_t *state)
{
    memset(count, 0, n * sizeof *count);
    for (size_t i = 0; i < n; i++)
        count[random_below(state, n)]++;
    size_t seen = 0, i = 0;
    while ((seen += count[i]) * 2 < n)
        i++;
    double lower = sorted[i];
    if (seen * 2 == n) /* even n, and the middle falls between two drawn values */
        do
            i++;
        while (count[i] == 0);
    return (lower + sorted[i]) / 2;
}

static void bootstrap(const double *sorted, size_t n, uint64_t seed, struct ratio *r)
{
    double *medians = xmalloc(RESAMPLES * sizeof *medians);
    unsigned *count = xmalloc(n * sizeof *count);
    for (int i = 0; i < RESAMPLES; i++)
        medians[i] = resample_median(sorted, n, count, &seed);
    qsort(medians, RESAMPLES, sizeof *medians, compare_doubles);
    r->lo = quantile(medians, RESAMPLES, 0.025);
    r->hi = quantile(medians, RESAMPLES, 0.975);
    free(count);
    free(medians);
}

struct ratio stats_ratio(const double *a, const double *b, size_t n, uint64_t seed)
{
    struct ratio r = {NAN, NAN, NAN};
    double *x = xmalloc((n ? n : 1) * sizeof *x);
    size_t m = merge_neighbours(x, pair_ratios(a, b, n, x));
    if (m > 0) {
        qsort(x, m, sizeof *x, compare_doubles);
        r.mid = quantile(x, m, 0.5);
        /* Few pairs: what was seen, widened by its own spread on both sides, as a factor, so that a
         * ratio stays one. */
        double spread = x[m - 1] / x[0];
        if (m >= PAIRS_MIN)
            bootstrap(x, m, seed, &r);
        else if (m >= PAIRS_FEW && x[0] > 0)
            r = (struct ratio){r.mid, x[0] / spread, x[m - 1] * spread};
    }
    free(x);
    return r;
}

/* Sorted, and merged where there are too many. Caller frees. */
static double *series_copy(const double *x, size_t *n)
{
    double *s = xmalloc(*n * sizeof *s);
    memcpy(s, x, *n * sizeof *s);
    *n = merge_neighbours(s, *n);
    qsort(s, *n, sizeof *s, compare_doubles);
    return s;
}

static void bootstrap_apart(const double *a, size_t na, const double *b, size_t nb, uint64_t seed,
                            struct ratio *r)
{
    double *ratios = xmalloc(RESAMPLES * sizeof *ratios);
    unsigned *count = xmalloc((na > nb ? na : nb) * sizeof *count);
    for (int i = 0; i < RESAMPLES; i++) {
        const double top = resample_median(a, na, count, &seed);
        ratios[i] = top / resample_median(b, nb, count, &seed);
    }
    qsort(ratios, RESAMPLES, sizeof *ratios, compare_doubles);
    r->lo = quantile(ratios, RESAMPLES, 0.025);
    r->hi = quantile(ratios, RESAMPLES, 0.975);
    free(count);
    free(ratios);
}

struct ratio stats_ratio_apart(const double *a, size_t na, const double *b, size_t nb,
                               uint64_t seed)
{
    struct ratio r = {NAN, NAN, NAN};
    if (!na || !nb)
        return r;
    double *x = series_copy(a, &na), *y = series_copy(b, &nb);
    r.mid = quantile(x, na, 0.5) / quantile(y, nb, 0.5);
    if (na >= PAIRS_MIN && nb >= PAIRS_MIN)
        bootstrap_apart(x, na, y, nb, seed, &r);
    free(x);
    free(y);
    return r;
}

const char *stats_verdict(struct ratio r)
{
    if (r.hi < 0.99)
        return "FASTER";
    if (r.lo > 1.01)
        return "SLOWER";
    return r.lo >= 0.99 && r.hi <= 1.01 ? "SAME" : "AMBIGUOUS";
}
