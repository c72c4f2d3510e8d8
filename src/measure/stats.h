/* stats.h - medians, quartiles, spread, and the block bootstrap behind a verdict.
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

/* What n samples in time are worth for their median: n over the autocorrelation time of being above or
 * below it. */
double stats_independent(const double *x, size_t n);

struct ratio {
    double mid, lo, hi; /* median of a/b and its 95 % interval */
};
enum speed { SPEED_FASTER, SPEED_SLOWER, SPEED_SAME, SPEED_AMBIGUOUS };
extern const char *const stats_verdicts[]; /* "FASTER" ..., by enum */

/* Why a winner is not called one. */
enum doubt {
    DOUBT_NONE,
    DOUBT_FEW,    /* neighbouring times hang together: too few independent pairs are left */
    DOUBT_HALVES, /* the first half of the run and the second do not agree */
    DOUBT_CHANCE, /* kernels swapped by chance come out as far apart too often */
};

/* Two kernels that took turns. */
struct judgement {
    struct ratio ratio;
    enum speed verdict;
    enum doubt doubt;   /* why `verdict` is AMBIGUOUS although the interval has a winner */
    double independent; /* blocks of pairs that the bootstrap drew from; 0: no pair was usable */
};
/* a_i / b_i over n interleaved pairs, in the order they were taken; deterministic for a seed.
 *
 * The pairs are what removes drift: both members of a pair saw the same clock and the same
 * neighbours. The interval is a block bootstrap of the median (Kuensch 1989): 2000 resamples made of
 * blocks as long as neighbouring pairs say the same, three times the autocorrelation time of being
 * above or below the median; their 2.5 and 97.5 % quantiles, wider by Student's t where blocks are
 * few. Beyond 1000 pairs, neighbours are first merged into 1000 group medians, which bounds the
 * work. All NaN when no pair is usable (times that are not positive and finite). Fewer than 9 pairs
 * cannot carry a bootstrap: lo and hi are then the extremes, widened by their distance; below 3 pairs
 * they are NaN.
 *
 * The verdict is that of the interval, and a winner must stand three trials besides: nine blocks or
 * more; both halves of the run on its side; and kernels swapped by chance, block by block, come out
 * as far beyond 1 % in at most 1 of 200. Where every single pair says so, and by more than the pairs
 * differ among them, no trial is needed. */
struct judgement stats_pairs(const double *a, const double *b, size_t n, uint64_t seed);
struct ratio stats_ratio(const double *a, const double *b, size_t n, uint64_t seed); /* its ratio */
/* The same interval for two series that were not taken in turns, such as those of two recordings: the
 * ratio of their medians, both resampled in blocks. It knows the noise within each series, not what
 * changed between them. `mid` is known from one sample each on; below 6 on either side lo and hi are
 * NaN. */
struct ratio stats_ratio_apart(const double *a, size_t na, const double *b, size_t nb,
                               uint64_t seed);
/* FASTER when the whole interval is below 0.99, SLOWER above 1.01, SAME when it lies within those
 * limits, else AMBIGUOUS; an unknown interval is AMBIGUOUS. */
enum speed stats_verdict_of(struct ratio r);
const char *stats_verdict(struct ratio r); /* its word */
/* "the two halves ...", in the middle of a sentence; NULL for DOUBT_NONE. */
const char *stats_doubt(enum doubt doubt);

/* Who is measured when: order[0..count-1] of a round. By chance, from the seed; every second round is
 * the one before in reverse, so that nobody is first more often and a steady drift cancels. */
void stats_turns(uint64_t seed, size_t round, int count, int *order);

#endif
