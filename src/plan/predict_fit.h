/* predict_fit.h - the time model held against measured times: how far off it is, and the factors that bring it nearest.
 *
 * A fit is judged on what it has not seen: cross_validate() leaves out a fifth of the kernels, or of the shapes, at a
 * time, fits the rest and predicts what was left out. Only that error is one to expect of a new kernel.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_PLAN_PREDICT_FIT_H
#define ATTNSCOPE_PLAN_PREDICT_FIT_H

#include "plan/predict.h"

struct fit_sample {
    char *kernel, *params, *shape; /* owned */
    double us;                     /* measured */
    struct predict_gpu gpu;        /* its clock is that of the measurement */
    struct predict_run run;        /* owned */
};
void fit_sample_clear(struct fit_sample *s);

/* The predicted time of each of `s` with these factors, into us[n]. */
void fit_predict(const struct fit_sample *s, size_t n, const struct predict_factors *f, double *us);

/* The factors with the least mean error, searched one after the other from `from`, each within 8 times either way. Of
 * ratios: twice as long is as wrong as half; nothing counts more than sqrt(e) times off, so that what the model does not
 * understand does not lead. `use` NULL: all samples; else those that are true. */
struct predict_factors fit_factors(const struct fit_sample *s, size_t n, const bool *use,
                                   const struct predict_factors *from);

enum fit_by { FIT_BY_KERNEL, FIT_BY_SHAPE };
/* The predictions of each sample, by factors that were fitted without its kernel, or without its shape. */
void cross_validate(const struct fit_sample *s, size_t n, enum fit_by by,
                    const struct predict_factors *from, double *us);

/* How far off. All NaN without samples. */
struct fit_error {
    size_t n;
    double median_pct; /* half of all are off by less: of the ratio, whichever way it goes */
    double most_pct;   /* nine tenths are */
    double ratio;      /* predicted over measured, median */
    /* Pairs of one shape whose measured times are 1.2 times apart or more. */
    size_t pairs;
    double order_pct; /* predicted in the right order */
    double
        apart; /* the least ratio of predicted times from which on 95 of 100 pairs, near ones included, are
                         in the right order; NaN: there is none */
};
struct fit_error fit_error(const struct fit_sample *s, size_t n, const double *us);

#endif
