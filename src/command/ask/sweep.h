/* sweep.h - one figure over one or two axes: the grid of points, what each needs, and its rows.
 *
 * A point is one value of each axis; it has a row for every kernel. Nothing here waits: points of
 * planned metrics are computed, requests of measured ones are handed out and their rows taken
 * back, by the verb `sweep` one after another and by the Sweep screen as its jobs end.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_SWEEP_H
#define ATTNSCOPE_COMMAND_SWEEP_H

#include "command/ask/request.h"
#include "draw/chart.h"

enum { SWEEP_AXES = 2, SWEEP_CELLS = 4096 };

struct sweep_axis {
    char *key;
    char **values; /* as texts */
    int count;
    char *given;                /* "256..4k:x2" */
    const struct device **gpus; /* of the key gpu: what its values name; else NULL */
    const struct field *place; /* of host and device, where a point runs: their option; else NULL */
};
/* What its values are called in rows: the key, but device_index of device. */
const char *sweep_axis_field(const struct sweep_axis *a);

struct sweep {
    struct session *session; /* borrowed */
    struct request base;     /* what the points have in common */
    struct sweep_axis axes[SWEEP_AXES];
    int naxes, npoints;
    char *metric;
    bool measured;               /* only a run gives it */
    bool paired;                 /* the kernels take turns: rows have ratios over the first */
    bool recorded;               /* measured on a GPU that is not here: recordings have its rows */
    const struct device *device; /* of planned and recorded ones; with an axis gpu the first */
    bool *mine;                  /* of each point: is it to be measured here? NULL: all are */
    struct row **rows;           /* npoints x base.nkernels; NULL: not known yet */
    struct row_type *cell, *blocked; /* of its rows: kernel and axes first, then what a run or a
                                        plan has; of a point that is not possible, its reason */
};

/* The figure of a sweep that names none: over a base ("ratio"), or not. */
const char *sweep_usual_metric(bool based);

/* From a parsed call of the verb; finishes the call. *out must be cleared whatever the status. */
enum status sweep_make(struct session *s, struct cmd_call *c, struct sweep *out, struct err *err);
/* The same for who has no call: kernels as one word, "fa2,naive", and SWEEP_AXES axes at most. */
struct sweep_words {
    const char *key, *values; /* "BC", "32..128:x2" */
};
enum status sweep_of(struct session *s, const char *kernels, const struct sweep_words *axes,
                     int naxes, const char *metric, struct sweep *out, struct err *err);
/* Is it a metric that the simulator counts, or makes of its counts? Without a backend it runs, with a GPU or without. */
bool sweep_is_counted(const char *metric);
void sweep_clear(struct sweep *w);

/* Indexes on the axes of a point, and back; the second axis runs fastest. */
void sweep_at(const struct sweep *w, int point, int at[SWEEP_AXES]);
int sweep_point(const struct sweep *w, int i, int j);
/* The row of a point, NULL: not known yet. Borrowed. */
const struct row *sweep_row(const struct sweep *w, int point, int kernel);
/* Has a point a row of every kernel? */
bool sweep_has(const struct sweep *w, int point);
/* Forgets the rows of a point. */
void sweep_drop(struct sweep *w, int point);
/* The run that a row of this sweep is of; NULL: it is of none, or of a point that is not possible. */
const struct run_row *sweep_run(const struct sweep *w, const struct row *row);
/* The metric in a row; NaN when unknown, not possible, or of a run that failed its check. */
double sweep_value(const struct sweep *w, const struct row *row);

/* Between what a value of it lies: the quartiles of a median, the 95 % interval of a ratio. False: other
 * metrics have none, or it is not known. */
bool sweep_spread(const struct sweep *w, const struct row *row, double *lo, double *hi);
/* The request of a point; the caller clears it. ST_NO with the reason when no kernel
 * can have such a point; then there is nothing to clear. */
enum status sweep_request(const struct sweep *w, int point, struct request *out, struct err *err);
/* The GPU of a point; NULL: of a metric that is measured here. */
const struct device *sweep_device(const struct sweep *w, int point);
/* Fills the rows that need no run: all of a planned or recorded metric, and those of impossible points. True
 * if the point has all its rows. */
bool sweep_compute(struct sweep *w, int point);
/* Asks for the code of a point of a planned metric that hangs on registers, where they are not known: see
 * plan_want(). sweep_compute() then knows them once they are compiled. */
void sweep_want(const struct sweep *w, int point, const void *owner);
/* Fills the rows of a measured point whose kernels cannot run, before anything has run. */
void sweep_foresee(struct sweep *w, int point);
/* The row of a point becomes this run's, which is copied without its samples. */
void sweep_put(struct sweep *w, int point, int kernel, const struct run_row *run);
/* The same of a measurement with a row for each kernel. */
void sweep_take(struct sweep *w, int point, const struct run_rows *rows);

/* ---- as pictures ---- */

/* What stands in a row's way; NULL for a row that is not known yet or has its value. */
const struct chart_block *sweep_block(const struct sweep *w, const struct row *row);
/* Appends the shape without the words that an axis sets. */
void sweep_shape(const struct sweep *w, struct str *out);
/* Where its figures come from, as its rows say: "live"; NULL: they differ. Without a row, what they will
 * be. */
const char *sweep_origin(const struct sweep *w);
/* All of it as a line plot (one axis) or as heat maps, the first axis downward; rows that are not
 * known yet are points that are not. The caller owns it. */
struct chart *sweep_chart(const struct sweep *w);

#endif
