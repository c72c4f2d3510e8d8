/* scores.h - what a learner has predicted and done, as rows.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_LESSON_SCORES_H
#define ATTNSCOPE_LESSON_SCORES_H

#include "command/session.h"

struct prediction_row {
    char *time, *lesson, *step, *name;
    double guess, outcome;
    int right; /* 0, 1 */
    char *device, *version;
};
struct progress_row {
    char *time, *lesson, *step;
    char *state; /* "done", "skipped" */
};
/* As lesson export prints them, and packs have them. */
extern const struct row_type prediction_type, progress_type;

/* Adds predictions, oldest first; `lesson` NULL: of all lessons. `rows` is of prediction_type. ST_FAIL with a
 * sentence when the database cannot be read. */
enum status scores_predictions(struct sqlite3 *db, const char *lesson, struct rowset *rows,
                               struct err *err);
/* Adds steps that were done or skipped, of progress_type. Likewise. */
enum status scores_steps(struct sqlite3 *db, struct rowset *rows, struct err *err);

#endif
