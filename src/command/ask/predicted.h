/* predicted.h - the time model over simulated rows: what would this run take on the GPU of gpu=, and why.
 *
 * A prediction is a row's own field beside its counts. It is never a median, never in a ranking of measured times, and
 * says how far off the model is on kernels that it was not fitted to.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_PREDICTED_H
#define ATTNSCOPE_COMMAND_PREDICTED_H

#include "command/ask/request.h"
#include "store/calibrations.h"

/* Fills the row's predicted_ fields from what was counted by phase, for the GPU of the request's gpu=, else the
 * session's. Nothing happens to a row without counts, or whose prediction is of that GPU already. `i`: its kernel in the
 * request. */
void predicted_fill(struct session *s, const struct request *r, int i, struct run_row *row);
/* The same, and anew where it is of that GPU already: registers came to be known (plans_serial() of plan_here.h). */
void predicted_renew(struct session *s, const struct request *r, int i, struct run_row *row);

/* The model's input of a row on a GPU: ST_NO with why there is none. `plan` and `run` are cleared by the caller whatever
 * the status. */
enum status predicted_run(struct session *s, const struct kernel_desc *d, const struct shape *shape,
                          const struct param_values *v, const struct device *gpu,
                          const json_t *phases, struct plan *plan, struct predict_run *run,
                          struct err *err);

/* Which of two rows would be faster, where predictions have to lie `apart` times from each other to be in the right order
 * in 95 of 100 pairs: -1 the first, 1 the second, 0: too close to tell, or not known, as for rows of two shapes or
 * GPUs. */
int predicted_rank(const struct run_row *a, const struct run_row *b, double apart);
/* Which of two predicted rows would be faster: -1 the first, 1 the second, 0: too close to tell, or not known, as for
 * rows of two shapes or GPUs. Near ones are those in which the model is wrong more than once in twenty. */
int predicted_order(struct session *s, const struct run_row *a, const struct run_row *b);
/* Fills predicted_ratio and predicted_verdict, over the first row that has a prediction. */
void predicted_compare(struct session *s, struct run_rows *rows);

/* The factors and errors that count for a GPU, and whose they are (may be NULL); what of the user's own is not used is
 * told. */
const struct calibration *predicted_factors(struct session *s, const struct device *gpu,
                                            struct whose *whose);
/* The same for a GPU by its name; of a name that is in no table, or NULL, those of no GPU. */
const struct calibration *predicted_calibration(struct session *s, const char *gpu,
                                                struct whose *whose);

#endif
