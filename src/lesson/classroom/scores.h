/* scores.h - what a learner has predicted and done, as rows.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_LESSON_SCORES_H
#define ATTNSCOPE_LESSON_SCORES_H

#include "command/session.h"

/* Predictions, oldest first; `lesson` NULL: of all lessons. Each an object with time, lesson, step,
 * name, guess, outcome, right (bool), device, version; unknown is null. The caller owns it; NULL
 * with a sentence when the database cannot be read. */
json_t *scores_predictions(struct sqlite3 *db, const char *lesson, struct err *err);
/* Steps that were done or skipped: objects with time, lesson, step, state. Likewise. */
json_t *scores_steps(struct sqlite3 *db, struct err *err);

#endif
