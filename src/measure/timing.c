/* timing.c - keeps samples, decides when there are enough.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/timing.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/number.h"
#include "measure/noise.h"
#include "measure/stats.h"

enum { WINDOW = 64, LOOK_EVERY = 16 };
static const double window_spread = 0.05;

struct series {
    double *x;
    size_t n, cap;
};

struct timing {
    struct timing_rule rule;
    struct series all;    /* every sample, in order */
    struct series clocks; /* their clocks, MHz or NaN */
    bool *low;            /* per sample: below the clock floor */
    size_t lowcap, nlow;
    size_t taken_back;    /* samples that are in none of these any more */
    struct series kept;   /* what counts */
    bool unstable;        /* low samples are kept from here on, and were put back */
    double mean, m2;      /* running mean and sum of squared deviations of `kept` (Welford) */
    double noise[WINDOW]; /* the last coefficients of variation */
    size_t nnoise;
    bool steady;
};

static void series_add(struct series *s, double v)
{
    xgrow((void **)&s->x, &s->cap, s->n + 1, sizeof *s->x);
    s->x[s->n++] = v;
}

struct timing *timing_new(const struct timing_rule *rule)
{
    struct timing *t = xcalloc(1, sizeof *t);
    t->rule = *rule;
    return t;
}

void timing_free(struct timing *t)
{
    if (!t)
        return;
    free(t->all.x);
    free(t->clocks.x);
    free(t->kept.x);
    free(t->low);
    free(t);
}

static double running_cv(const struct timing *t)
{
    if (t->kept.n < 2 || t->mean == 0)
        return NAN;
    return sqrt(t->m2 / (double)(t->kept.n - 1)) / t->mean;
}

/* Has the noise estimate stayed within 5 % over a whole window? */
static bool window_is_steady(const struct timing *t)
{
    if (t->nnoise < WINDOW)
        return false;
    double lo = INFINITY, hi = 0, sum = 0;
    for (int i = 0; i < WINDOW; i++) {
        lo = fmin(lo, t->noise[i]);
        hi = fmax(hi, t->noise[i]);
        sum += t->noise[i];
    }
    return hi - lo <= window_spread * sum / WINDOW;
}

static void keep(struct timing *t, double seconds)
{
    series_add(&t->kept, seconds);
    double delta = seconds - t->mean;
    t->mean += delta / (double)t->kept.n;
    t->m2 += delta * (seconds - t->mean);
    double cv = running_cv(t);
    if (!isnan(cv))
        t->noise[t->nnoise++ % WINDOW] = cv;
    if (t->kept.n % LOOK_EVERY == 0)
        t->steady = window_is_steady(t);
}

/* Starts `kept` over, with the low samples if these count. */
static void keep_anew(struct timing *t)
{
    t->kept.n = t->nnoise = 0;
    t->mean = t->m2 = 0;
    t->steady = false;
    for (size_t i = 0; i < t->all.n; i++)
        if (t->unstable || !t->low[i])
            keep(t, t->all.x[i]);
}

static bool clock_is_low(const struct timing *t, double clock_mhz, double usual_mhz)
{
    return t->rule.clock_floor > 0 &&
           clock_mhz < t->rule.clock_floor * usual_mhz; /* false for NaN */
}

/* So few samples say nothing yet about how many of them are low. */
static size_t samples_to_judge_clock(const struct timing *t)
{
    int64_t n = t->rule.n > 0 && t->rule.n < t->rule.min_n ? t->rule.n : t->rule.min_n;
    return n > 1 ? (size_t)n : 1;
}

void timing_add(struct timing *t, double seconds, double clock_mhz, double usual_mhz)
{
    if (t->all.n >= TIMING_MAX)
        return;
    bool low = clock_is_low(t, clock_mhz, usual_mhz);
    series_add(&t->all, seconds);
    series_add(&t->clocks, clock_mhz);
    xgrow((void **)&t->low, &t->lowcap, t->all.n, sizeof *t->low);
    t->low[t->all.n - 1] = low;
    t->nlow += low;
    if (!low || t->unstable)
        keep(t, seconds);
    else if (t->all.n >= samples_to_judge_clock(t) && 2 * t->nlow > t->all.n) {
        t->unstable = true;
        keep_anew(t);
    }
}

void timing_close(struct timing *t)
{
    if (t->unstable || 2 * t->nlow <= t->all.n)
        return;
    t->unstable = true;
    keep_anew(t);
}

size_t timing_mark(const struct timing *t)
{
    return t->all.n;
}

void timing_take_back(struct timing *t, size_t mark)
{
    if (mark >= t->all.n)
        return;
    for (size_t i = mark; i < t->all.n; i++)
        t->nlow -= t->low[i];
    t->taken_back += t->all.n - mark;
    t->all.n = t->clocks.n = mark;
    keep_anew(t);
}

const char *timing_done(const struct timing *t, double wall_s)
{
    size_t n = t->kept.n;
    if (t->all.n >= TIMING_MAX || (t->rule.n > 0 && n >= (size_t)t->rule.n))
        return "n";
    if (t->rule.n <= 0 && n >= 2 && (int64_t)n >= t->rule.min_n && wall_s >= t->rule.min_s) {
        if (running_cv(t) < t->rule.cv)
            return "cv";
        if (t->steady)
            return "steady";
    }
    return wall_s >= t->rule.max_s ? "time" : NULL;
}

double timing_median(const struct timing *t)
{
    return stats_of(t->kept.x, t->kept.n).median;
}

size_t timing_count(const struct timing *t)
{
    return t->kept.n;
}

const double *timing_samples(const struct timing *t)
{
    return t->kept.x;
}

bool timing_unstable(const struct timing *t)
{
    return t->unstable;
}

/* Median clock of the samples that count; NaN when none is known. */
static double median_clock(const struct timing *t)
{
    struct series s = {0};
    for (size_t i = 0; i < t->all.n; i++)
        if (!isnan(t->clocks.x[i]) && (t->unstable || !t->low[i]))
            series_add(&s, t->clocks.x[i]);
    double median = stats_of(s.x, s.n).median;
    free(s.x);
    return median;
}

static json_t *recent_us(const struct timing *t)
{
    json_t *a = json_array();
    size_t n = t->kept.n;
    for (size_t i = n > TIMING_RECENT ? n - TIMING_RECENT : 0; i < n; i++)
        json_array_append_new(a, json_real(t->kept.x[i] * 1e6));
    return a;
}

json_t *timing_samples_us(const struct timing *t, size_t max)
{
    json_t *a = json_array();
    const size_t n = t->kept.n, count = n < max ? n : max;
    for (size_t i = 0; i < count; i++) /* 0.1 ns is finer than any clock here */
        json_array_append_new(a, json_real(rint(t->kept.x[i * n / count] * 1e10) / 1e4));
    return a;
}

void timing_fill_noise(const struct timing *t, struct run_row *row)
{
    noise_fill(t->kept.x, t->kept.n, row);
}

void timing_fill(const struct timing *t, struct run_row *row)
{
    struct stats s = stats_of(t->kept.x, t->kept.n);
    row->median_us = s.median * 1e6;
    row->min_us = s.min * 1e6;
    row->q1_us = s.q1 * 1e6;
    row->q3_us = s.q3 * 1e6;
    row->mean_us = s.mean * 1e6;
    row->p95_us = s.p95 * 1e6;
    row->cv_pct = s.cv * 100;
    row->n = (int64_t)s.n;
    row->dropped = (int64_t)(t->all.n - t->kept.n + t->taken_back);
    row->sm_clock_mhz = median_clock(t);
    row->throttled_pct =
        isnan(row->sm_clock_mhz) ? REAL_UNKNOWN : 100 * (double)t->nlow / (double)t->all.n;
    json_decref(row->recent_us);
    row->recent_us = recent_us(t);
    if (t->unstable && !row->reason)
        row->reason =
            xasprintf("unstable: %zu of %zu samples ran below %.0f %% of the usual clock; "
                      "they were kept",
                      t->nlow, t->all.n, t->rule.clock_floor * 100);
}
