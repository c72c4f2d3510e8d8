/* stats.h - medians, quartiles, spread, and the bootstrap behind a comparison's verdict.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_MEASURE_STATS_H
#define ATTNSCOPE_MEASURE_STATS_H

#include <stddef.h>
#include <stdint.h>

struct stats {
    double min, q1, median, q3, p95, max, mean, cv; /* cv: standard deviation over mean, 0..1 */
    size_t n;
};
/* All NaN when n is 0; cv is NaN for n 1 or a mean of 0. `sorted` scratch is allocated inside.
 * Quantiles interpolate between order statistics (type 7 of Hyndman and Fan, as R and NumPy do). */
struct stats stats_of(const double *x, size_t n);

struct ratio {
    double mid, lo, hi; /* median of a/b and its 95 % interval */
};
/* Paired bootstrap of median(a_i / b_i) over n interleaved pairs; deterministic for a seed.
 *
 * The pairs are what removes drift: both members of a pair saw the same clock and the same
 * neighbours. 2000 resamples; the interval is their 2.5 and 97.5 % quantiles. Beyond 1000 pairs,
 * neighbours are first merged into 1000 group medians, which bounds the work and also stops slow
 * drift from making the interval look narrower than it is. All NaN when no pair is usable (n 0, or
 * times that are not positive and finite). Fewer than 6 pairs cannot carry a 95 % interval: lo and
 * hi are then the extremes, widened by their distance; below 3 pairs they are NaN. */
struct ratio stats_ratio(const double *a, const double *b, size_t n, uint64_t seed);
/* The same for two series that were not taken in turns, such as those of two recordings: the ratio
 * of their medians, both resampled. It knows the noise within each series, not what changed between
 * them. `mid` is known from one sample each on; below 6 on either side lo and hi are NaN. */
struct ratio stats_ratio_apart(const double *a, size_t na, const double *b, size_t nb,
                               uint64_t seed);
/* "FASTER" when the whole interval is below 0.99, "SLOWER" above 1.01, "SAME" when it lies within
 * those limits, else "AMBIGUOUS"; an unknown interval is AMBIGUOUS. */
const char *stats_verdict(struct ratio r);

#endif
