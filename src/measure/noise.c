/* noise.c - see noise.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "measure/noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/str.h"
#include "measure/stats.h"

enum { MODES_MIN = 20, DRIFT_MIN = 12 };
static const double mode_share = 0.1;  /* that each mode holds at least */
static const double mode_apart = 4;    /* distance over spread */
static const double mode_near = 0.03;  /* closer ones are one */
static const double drift_seen = 0.03; /* and half of the middle half of the times */
static const double cv_seen_pct = 10;  /* a spread that is worth a word */
static const double steal_seen_pct = 1;
static const double load_seen = 0.1; /* of the processors */
static const double throttle_seen_pct = 1;

/* Logarithms in order of size; the caller frees. */
static double *sorted_logs(const double *x, size_t n)
{
    double *y = xmalloc(n * sizeof *y);
    for (size_t i = 0; i < n; i++)
        y[i] = log(x[i]);
    qsort(y, n, sizeof *y, number_order);
    return y;
}

/* How many of sorted values belong to the first of two groups. */
static size_t split_at(const double *y, size_t n)
{
    double total = 0, left = 0, best = -1;
    size_t at = 0;
    for (size_t i = 0; i < n; i++)
        total += y[i];
    for (size_t i = 1; i < n; i++) {
        left += y[i - 1];
        const double l = left / (double)i, r = (total - left) / (double)(n - i);
        const double between = (double)i * (double)(n - i) * (l - r) * (l - r);
        if (between > best) {
            best = between;
            at = i;
        }
    }
    return at;
}

/* Half the width that holds the middle 80 % of sorted values. */
static double reach(const double *y, size_t n)
{
    return (y[n - 1 - n / 10] - y[n / 10]) / 2;
}

struct modes noise_modes(const double *x, size_t n)
{
    struct modes m = {.count = n >= MODES_MIN, .fast = NAN, .slow = NAN, .slow_of = NAN};
    if (!m.count)
        return m;
    double *y = sorted_logs(x, n);
    const size_t k = split_at(y, n), few = (size_t)ceil(mode_share * (double)n);
    if (isfinite(y[0]) && isfinite(y[n - 1]) && k >= few && n - k >= few) {
        const double fast = y[k / 2], slow = y[k + (n - k) / 2];
        const double spread = (reach(y, k) + reach(y + k, n - k)) / 2;
        if (slow - fast > fmax(mode_apart * spread, mode_near))
            m = (struct modes){2, exp(fast), exp(slow), (double)(n - k) / (double)n};
    }
    free(y);
    return m;
}

double noise_drift(const double *x, size_t n)
{
    if (n < DRIFT_MIN)
        return NAN;
    const size_t quarter = n / 4;
    return stats_of(x + n - quarter, quarter).median / stats_of(x, quarter).median - 1;
}

void noise_fill(const double *x, size_t n, struct run_row *row)
{
    const struct modes m = noise_modes(x, n);
    row->drift_pct = 100 * noise_drift(x, n);
    row->modes = m.count ? m.count : INT_UNKNOWN;
    row->mode_ratio = m.slow / m.fast;
    row->mode_pct = 100 * m.slow_of;
    row->independent = n ? stats_independent(x, n) : REAL_UNKNOWN;
}

void noise_fill_load(const struct load *l, struct run_row *row)
{
    row->other_cores = l->other_cores;
    row->steal_pct = l->steal_pct;
}

/* ---- one line ---- */

static void part(struct str *out)
{
    if (out->len)
        str_add(out, "; ");
}

static void add_load(bool gpu, double cores, const struct run_row *row, struct str *out)
{
    char a[NUMBER_BUF], b[NUMBER_BUF];
    if (row->other_cores >= fmax(gpu ? cores - 1 : load_seen * cores, 0.2)) {
        part(out);
        str_addf(out, "others used %s of %s cores", number_fmt(a, row->other_cores, 2),
                 number_fmt(b, cores, 4));
    }
    if (row->steal_pct >= steal_seen_pct) {
        part(out);
        str_addf(out, "%s %% of the time was stolen by the hypervisor",
                 number_fmt(a, row->steal_pct, 2));
    }
}

static void add_clock(const struct run_row *row, struct str *out)
{
    char a[NUMBER_BUF];
    if (row->throttled_pct >= throttle_seen_pct) {
        part(out);
        str_addf(out, "the clock was held down in %s %% of the samples",
                 number_fmt(a, row->throttled_pct, 2));
    }
}

static void add_others(const struct run_row *row, struct str *out)
{
    char a[NUMBER_BUF];
    if (row->gpu_others_pct > 0) {
        part(out);
        str_addf(out,
                 "other programs had the GPU for %s %% of the time, whose samples were dropped",
                 number_fmt(a, row->gpu_others_pct, 2));
    }
}

/* Two modes explain a spread, and so does a drift. */
static void add_spread(const struct run_row *row, struct str *out)
{
    char a[NUMBER_BUF], b[NUMBER_BUF];
    const double middle = (row->q3_us - row->q1_us) / row->median_us;
    const bool two = row->modes == 2;
    const bool drifts = fabs(row->drift_pct) > 100 * fmax(drift_seen, middle / 2);
    if (two) {
        part(out);
        str_addf(out, "two modes: %s %% of the samples took %s times as long",
                 number_fmt(a, row->mode_pct, 2), number_fmt(b, row->mode_ratio, 3));
    }
    if (drifts) {
        part(out);
        str_addf(out, "times drifted by %s%s %%", row->drift_pct > 0 ? "+" : "",
                 number_fmt(a, row->drift_pct, 2));
    }
    if (row->cv_pct >= cv_seen_pct && !two) {
        part(out);
        str_addf(out, "CV %s %%", number_fmt(a, row->cv_pct, 2));
    }
}

void noise_fill_line(bool gpu, double cores, struct run_row *row)
{
    struct str line = {0};
    free(row->noise);
    row->noise = NULL;
    if (!(row->median_us > 0))
        return;
    add_load(gpu, cores, row, &line);
    add_clock(row, &line);
    add_others(row, &line);
    add_spread(row, &line);
    row->noise = line.len ? str_take(&line) : xstrdup("quiet");
    str_free(&line);
}

bool noise_seen(const struct run_row *row)
{
    return row->noise && strcmp(row->noise, "quiet") != 0;
}
