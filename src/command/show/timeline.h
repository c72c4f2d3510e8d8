/* timeline.h - one kernel's blocks over time for a request: from the model, or from a worker's
 * stamps. The verb and the screen share it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_TIMELINE_H
#define ATTNSCOPE_COMMAND_TIMELINE_H

#include "command/ask/measure.h"
#include "draw/timeline.h"
#include "plan/predict_course.h"

struct timeline {
    struct schedule schedule;
    struct courses courses;   /* of a simulated run: what its blocks do when */
    struct block_panel panel; /* the same as it is drawn, with kernel, device and words */
};
void timeline_clear(struct timeline *t);
/* The timelines of r as a picture, as far as a table keeps it. The caller owns it. */
struct chart *timeline_chart(const struct request *r, const struct timeline *t, int n);

/* What these options (NULL or "auto": not set) ask for: stamps where a backend is named, or a GPU is
 * present and no model of another one is asked for; else the model. */
bool timeline_wants_live(const char *backend, const char *gpu);
/* Kernel i by the model on this device; with the time that was recorded of it, where one was for this GPU,
 * shape and these parameters. */
void timeline_model(struct session *s, const struct request *r, int i, const struct device *dev,
                    struct timeline *out);
/* Gives it the clock of the time model: from a simulated run of a few blocks, which is waited for, for 2 s at most, or from the row of
 * one that was made elsewhere. Without one the panel's note says why. Nothing where the row is of another GPU, or predicts nothing. */
void timeline_predict(struct session *s, const struct request *r, int i, struct timeline *out);
void timeline_put_predicted(const struct run_row *row, struct timeline *out);
/* Kernel i by the time model, from a simulated run on this device: blocks in predicted microseconds with their phases.
 * timeline_simulate() runs those that stand for all and waits, `within_s` seconds at most; timeline_of_run() takes the row of a run. */
void timeline_simulate(struct session *s, const struct request *r, int i, const struct device *dev,
                       double within_s, struct timeline *out);
void timeline_of_run(struct session *s, const struct request *r, int i, const struct device *dev,
                     const struct run_row *row, struct timeline *out);
/* Begins to take the stamps of all kernels; ST_NO_GPU or ST_USAGE when none can run. */
enum status timeline_start(struct session *s, const struct request *r, struct measuring **job,
                           struct err *err);
/* Kernel i out of the ended job. */
void timeline_take(const struct measuring *job, int i, struct timeline *out);

#endif
