/* row.h - one measurement of one kernel: the fields of `run`, `check`, `compare`.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_MEASURE_ROW_H
#define ATTNSCOPE_MEASURE_ROW_H

#include "base/rowset.h"

/* Its members, with their types and meanings: run_fields.h. */
struct run_row {
#define RUN_TEXT                     char *
#define RUN_INT                      int64_t
#define RUN_REAL                     double
#define RUN_BOOL                     int
#define RUN_JSON                     json_t *
#define RUN_FIELD(type_, name_, ...) RUN_##type_ name_;
#include "measure/run_fields.h"
#undef RUN_TEXT
#undef RUN_INT
#undef RUN_REAL
#undef RUN_BOOL
#undef RUN_JSON
};
enum { ROW_SAMPLES_MAX = 1000 };

extern const struct field run_fields[];
extern const struct row_type run_type;

/* A run's rows, in order; owned. Start with {0}. */
struct run_rows {
    struct run_row *v;
    size_t n, cap;
};
/* Appends a row and takes over what it owns. */
void run_rows_take(struct run_rows *rows, struct run_row *row);
/* Appends those of `more`, which is empty afterwards. */
void run_rows_append(struct run_rows *rows, struct run_rows *more);
void run_rows_clear(struct run_rows *rows);
/* Makes `to`, a row that is all unknown, a copy without the samples. */
void run_row_share(const struct run_row *from, struct run_row *to);
/* For who hands them out: copies without the samples, of run_type. The caller clears the set. */
void run_rows_share(const struct run_rows *rows, struct rowset *out);

/* Did it pass its check? False also where there is none. */
bool run_row_passed(const struct run_row *row);
/* Did it fail it? */
bool run_row_failed(const struct run_row *row);
/* Did several GPUs share it? Then its time says nothing of one. */
bool run_row_is_shared(const struct run_row *row);

/* Lets go of what no reader gets: the samples, and what was counted by phase. */
void run_row_drop_samples(struct run_row *row);

/* The row as its reader gets it: an object of all fields but the samples. The caller owns it. */
json_t *run_row_result(const struct run_row *row);

#endif
