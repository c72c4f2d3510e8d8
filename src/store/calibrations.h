/* calibrations.h - the time model's factors, by GPU, and how far off the model is: kept in the user's folder, and shipped
 * for GPUs that recordings are shipped of.
 *
 * A file is one JSON object of calibration_fields: <data>/calibrations/NAME.json, or lessons/recordings/NAME.factors
 * inside the program. Texts of files are sanitized; a file that is none, is of another GPU than its name says, or has a factor out of range or no
 * error, is not used, which is told.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_STORE_CALIBRATIONS_H
#define ATTNSCOPE_STORE_CALIBRATIONS_H

#include "base/whose.h"
#include "plan/predict_fit.h"
#include "store/recording.h"

struct calibration {
    char *gpu;       /* its name in the table of devices */
    char *time;      /* when it was fitted */
    char *recording; /* to what; NULL: to nothing, the model as it is */
    int64_t configurations, kernels, shapes;
    struct predict_factors factors;
    double unfitted_pct,
        fitted_pct; /* median errors: all factors 1, and of what was fitted itself */
    double kernels_pct,
        kernels_most_pct; /* of kernels that were left out; nine tenths are less off */
    double shapes_pct;    /* of shapes that were left out */
    double order_pct;     /* pairs 1.2 times apart in the right order, kernels left out */
    double
        apart; /* predicted ratio from which on 95 of 100 pairs are in the right order, kernels left out */
};
extern const struct field calibration_fields[];
void calibration_clear(struct calibration *c);

struct calibrations;
/* Both are borrowed and outlive it. Nothing is read before the first question. */
struct calibrations *calibrations_new(const struct library *l, const struct device_table *devices);
void calibrations_free(struct calibrations *c);

/* That of a GPU: fitted here, else shipped (while lessons look, what is shipped), else of no GPU: factors of 1, and
 * the errors that the model had so on the GPU it was tried on. *whose (may be NULL): whose they are. Never NULL;
 * borrowed until calibrations_keep(). */
const struct calibration *calibrations_find(struct calibrations *c, const struct device *gpu,
                                            struct whose *whose);
/* Which of the user's files are not used and why, a line each, for the user's eyes; the caller frees it. NULL: none, or
 * it was asked before. */
char *calibrations_refused(struct calibrations *c);
/* Was the model fitted to this GPU? */
bool calibration_is_fitted(const struct calibration *c);

/* Keeps it in place of what is there of that GPU; *path: where, the caller frees it. */
enum status calibrations_keep(struct calibrations *c, const struct calibration *x, char **path,
                              struct err *err);
/* Forgets the user's own of this GPU. ST_NO: there is none. */
enum status calibrations_drop(struct calibrations *c, const struct device *gpu, struct err *err);

#endif
