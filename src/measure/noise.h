/* noise.h - what disturbed a series of times: spread, two modes, drift, a held clock, other programs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_MEASURE_NOISE_H
#define ATTNSCOPE_MEASURE_NOISE_H

#include "measure/load.h"
#include "measure/row.h"

/* Two groups of times with hardly any between them: each holds a tenth of the samples or more, and
 * they are further apart than four times their own spread. Split where the variance between the
 * groups' logarithms is largest (Otsu 1979). */
struct modes {
    int count;      /* 1 or 2; 0: too few samples to tell, fewer than 20 */
    double fast;    /* median of the faster, in the unit of x; NaN unless count is 2 */
    double slow;    /* of the slower */
    double slow_of; /* share of the samples in the slower, 0..1 */
};
struct modes noise_modes(const double *x, size_t n);

/* Median of the last quarter over that of the first, less one; NaN for fewer than 12 samples. */
double noise_drift(const double *x, size_t n);

/* Fills drift_pct, modes, mode_ratio, mode_pct and independent from the samples, in order. Earlier
 * values are replaced. */
void noise_fill(const double *x, size_t n, struct run_row *row);
/* Fills other_cores and steal_pct. */
void noise_fill_load(const struct load *l, struct run_row *row);
/* Fills `noise` from what is known in the row: "quiet", or what was seen in one line without an end;
 * leaves it unknown where there is no time. `gpu`: a busy machine matters only when no processor is
 * left. `cores`: of the machine. */
void noise_fill_line(bool gpu, double cores, struct run_row *row);
/* Was anything seen? False where nothing is known. */
bool noise_seen(const struct run_row *row);

#endif
